//! The UID of the namespace `kube-system`: stored with every resource, read once per connection and
//! process, compared before anything else is asked. A proxy answers for that namespace.

use http::StatusCode;
use serde_json::{Value as Json, json};
use testkit::proxy::{Fate, Proxy, Reply, Rule, Turn, Which};
use testkit::{Filter, Target};
use tfplugin::Value;
use tfplugin::harness::{Action, Core, State};

use super::{ANOTHER, NOT_FOUND, settings};
use crate::patch::{PATCH, refused, said};
use crate::waiting::WAIT;
use crate::world::{OBJECT, World, value};

const KUBE_SYSTEM: &str = "/api/v1/namespaces/kube-system";
const DIFFERENT: &str = "leads to another cluster";
const UNREADABLE: &str = "could not be identified";

/// An object of ours, a patch of helm's object and a wait for that one, behind a proxy.
struct Front {
    world: World,
    proxy: Proxy,
}

impl Front {
    async fn new() -> Self {
        let world = World::new().await;
        world.cluster.act_as("helm").apply(world.config_map("theirs")).await.unwrap();
        Self { proxy: Proxy::before(world.cluster).await.unwrap(), world }
    }

    /// A provider that has just been started.
    async fn core(&self) -> Core {
        let core = self.world.core();
        let cluster = json!({ "kubeconfig": self.proxy.kubeconfig() });
        core.configure(value(&json!({ "cluster": cluster }))).await.unwrap();
        core
    }

    fn object(&self, name: &str) -> Value {
        value(&json!({ "yaml_body": self.world.config_map(name) }))
    }

    fn configs(&self) -> [(&'static str, Value); 3] {
        let theirs = json!({ "api_version": "v1", "kind": "ConfigMap", "name": "theirs",
            "namespace": self.world.namespace.name() });
        let patch = json!({ "target": theirs, "patch": "data: {extra: one}" });
        let wait = json!({ "object_ref": theirs, "wait_for": { "field": "data.greeting" } });
        [(OBJECT, self.object("settings")), (PATCH, value(&patch)), (WAIT, value(&wait))]
    }

    /// The same configurations, changed so that each is an update.
    fn changed(&self) -> [(&'static str, Value); 3] {
        self.configs().map(|(kind, config)| {
            let (name, text) = match kind {
                OBJECT => {
                    ("yaml_body", self.world.config_map("settings").replace("hello", "bonjour"))
                }
                PATCH => ("patch", "data: {extra: two}".to_owned()),
                _ => {
                    let Value::Known(tfplugin::Data::Object(mut all)) = config else { panic!() };
                    all.insert("triggers".to_owned(), value(&json!({ "a": "b" })));
                    return (kind, Value::Known(tfplugin::Data::Object(all)));
                }
            };
            let Value::Known(tfplugin::Data::Object(mut all)) = config else { panic!() };
            all.insert(name.to_owned(), Value::from(text));
            (kind, Value::Known(tfplugin::Data::Object(all)))
        })
    }

    async fn created(&self) -> Vec<(&'static str, State)> {
        let core = self.core().await;
        let mut states = Vec::new();
        for (kind, config) in self.configs() {
            states.push((kind, core.create(kind, &config).await.unwrap()));
        }
        states
    }

    async fn created_alone(&self, name: &str) -> (&'static str, State) {
        let core = self.core().await;
        (OBJECT, core.create(OBJECT, &self.object(name)).await.unwrap())
    }

    /// What is answered from now on to who asks which cluster this is.
    fn answers(&self, turn: Turn, reply: Reply) {
        self.proxy.rule(Rule::new(Which::at(KUBE_SYSTEM), turn, Fate::Answer(reply)));
    }

    /// As if the connection led to another cluster.
    fn leads_elsewhere(&self) {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "kube-system", "uid": "another"}});
        self.answers(Turn::Every, Reply::json(StatusCode::OK, &namespace));
    }

    fn forbids(&self) {
        let words = "namespaces \"kube-system\" is forbidden";
        self.answers(Turn::Every, Reply::refusal(StatusCode::FORBIDDEN, "Forbidden", words));
    }

    /// The paths of all requests that `work` makes.
    async fn asked<T>(&self, work: impl Future<Output = T>) -> (T, Vec<String>) {
        let before = self.proxy.requests().len();
        let output = work.await;
        let requests = self.proxy.requests().split_off(before);
        (output, requests.into_iter().map(|one| one.path).collect())
    }

    async fn live(&self, name: &str) -> Option<Json> {
        let target = Target::new("v1", "ConfigMap", self.world.namespace.name(), name);
        self.world.cluster.read(&target).await.unwrap()
    }

    /// Deletes our object and restores it, as a backup tool does: with our id and another UID.
    async fn restore_a_copy(&self) {
        let mut copy = self.live("settings").await.unwrap();
        self.world.cluster.delete(&settings(&self.world)).await.unwrap();
        for field in ["uid", "resourceVersion", "managedFields", "creationTimestamp"] {
            copy["metadata"].as_object_mut().unwrap().remove(field);
        }
        self.world.cluster.act_as("backup").create(copy).await.unwrap();
    }
}

/// Where private state has the UID of the cluster: the entry, and the pointer in it.
fn place(kind: &str) -> (&'static str, &'static str) {
    match kind {
        OBJECT => ("object", "/cluster"),
        PATCH => ("patch", "/cluster"),
        _ => ("wait", "/last/cluster"),
    }
}

fn uid(kind: &str, state: &State) -> Option<String> {
    let (entry, field) = place(kind);
    let stored = state.private.get::<Json>(entry).unwrap()?;
    stored.pointer(field)?.as_str().map(str::to_owned)
}

/// The same state without it, as where the UID could not be read at the apply.
pub(crate) fn without_uid(kind: &str, state: &State) -> State {
    let mut state = state.clone();
    let (entry, field) = place(kind);
    let mut stored = state.private.get::<Json>(entry).unwrap().unwrap();
    *stored.pointer_mut(field).unwrap() = Json::Null;
    state.private.set(entry, &stored).unwrap();
    assert_eq!(uid(kind, &state), None);
    state
}

#[tokio::test]
async fn another_uid_keeps_state_at_refresh_and_stops_every_other_operation_before_it_acts() {
    let front = Front::new().await;
    let states = front.created().await;
    let mut plans = Vec::new();
    for ((kind, state), (_, changed)) in states.iter().zip(front.changed()) {
        let home = front.core().await;
        let change = home.plan(kind, &changed, Some(state)).await.unwrap();
        plans.push((change, home.plan_destroy(kind, state).await.unwrap()));
    }
    front.leads_elsewhere();
    for (((kind, state), (_, changed)), (change, end)) in
        states.iter().zip(front.changed()).zip(plans)
    {
        let core = front.core().await;
        let read = core.read(kind, state).await.unwrap();
        assert!(said(&read.diagnostics).contains(DIFFERENT), "{kind}: {:?}", read.diagnostics);
        let kept = read.present().unwrap();
        assert_eq!(kept.value, state.value, "{kind}");
        assert_eq!(uid(kind, &kept), uid(kind, state), "{kind}");
        let told = refused(core.plan(kind, &changed, Some(&kept)).await);
        assert!(told.contains(DIFFERENT) && told.contains("state rm ADDRESS"), "{kind}: {told}");

        // Without a refresh, in processes of their own.
        let core = front.core().await;
        let (planned, asked) = front.asked(core.plan(kind, &changed, Some(state))).await;
        assert!(refused(planned).contains(DIFFERENT), "{kind}");
        assert_eq!(asked, [KUBE_SYSTEM], "{kind}: the plan");
        let core = front.core().await;
        let (applied, asked) = front.asked(core.apply(kind, &changed, Some(state), &change)).await;
        assert!(refused(applied).contains(DIFFERENT), "{kind}");
        assert_eq!(asked, [KUBE_SYSTEM], "{kind}: the apply");
        let core = front.core().await;
        let (planned, asked) = front.asked(core.plan_destroy(kind, state)).await;
        let core = front.core().await;
        let end = core.apply(kind, &Value::Null, Some(state), &end);
        let (ended, more) = front.asked(end).await;
        if *kind == WAIT {
            // There is nothing of it in any cluster.
            assert!(planned.is_ok() && ended.is_ok() && asked.is_empty() && more.is_empty());
            continue;
        }
        for told in [refused(planned), refused(ended)] {
            assert!(told.contains(DIFFERENT) && told.contains("Nothing was changed"), "{told}");
        }
        assert_eq!([asked, more], [[KUBE_SYSTEM], [KUBE_SYSTEM]], "{kind}: the destroy");
    }
}

#[tokio::test]
async fn a_refresh_stores_a_uid_that_is_missing_and_the_guard_works_from_then_on() {
    let front = Front::new().await;
    for (kind, state) in front.created().await {
        let bare = without_uid(kind, &state);
        let read = front.core().await.read(kind, &bare).await.unwrap();
        assert!(read.diagnostics.is_empty(), "{kind}: {:?}", read.diagnostics);
        let read = read.present().unwrap();
        assert_eq!(uid(kind, &read), uid(kind, &state), "{kind}");
        assert_eq!(read.value, state.value, "{kind}");
        let (_, config) = front.configs().into_iter().find(|(one, _)| *one == kind).unwrap();
        let core = front.core().await;
        let read = core.read(kind, &read).await.unwrap().present().unwrap();
        let plan = core.plan(kind, &config, Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::NoOp, "{kind}");
    }
    let (kind, state) = front.created_alone("guarded").await;
    let read = front.core().await.read(kind, &without_uid(kind, &state)).await.unwrap();
    front.leads_elsewhere();
    let told = refused(front.core().await.plan_destroy(kind, &read.present().unwrap()).await);
    assert!(told.contains(DIFFERENT), "{told}");
}

#[tokio::test]
async fn a_uid_that_is_forbidden_is_one_warning_for_twenty_objects() {
    let front = Front::new().await;
    let core = front.core().await;
    let mut states = Vec::new();
    for n in 0..20 {
        let config = front.object(&format!("object-{n}"));
        states.push((core.create(OBJECT, &config).await.unwrap(), config));
    }
    front.forbids();
    let core = front.core().await;
    let steady = async {
        let refreshed = states.iter().map(async |(state, config)| {
            let read = core.read(OBJECT, state).await.unwrap();
            let plan = core.plan(OBJECT, config, read.state.as_ref()).await.unwrap();
            assert_eq!(plan.action, Action::NoOp);
            said(&read.diagnostics) + &said(&plan.diagnostics)
        });
        let mut all = Vec::new();
        for one in refreshed {
            all.push(one.await);
        }
        all
    };
    let (told, asked) = front.asked(steady).await;
    let told: Vec<_> = told.into_iter().filter(|told| !told.is_empty()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(UNREADABLE) && told[0].contains("is forbidden"), "{told:?}");
    assert!(told[0].contains("Grant the credentials `get`"), "{told:?}");
    assert_eq!(asked.iter().filter(|path| *path == KUBE_SYSTEM).count(), 1);
    assert_eq!(asked.len(), states.len() + 1, "{asked:?}");
}

#[tokio::test]
async fn an_object_that_is_not_found_in_an_unidentified_cluster_stays_in_state() {
    let front = Front::new().await;
    let states = front.created().await;
    let destroys = front.core().await;
    let mut ends = Vec::new();
    for (kind, state) in &states[..2] {
        ends.push(destroys.plan_destroy(kind, state).await.unwrap());
    }
    front.forbids();
    for name in ["settings", "theirs"] {
        let target = Target::new("v1", "ConfigMap", front.world.namespace.name(), name);
        front.world.cluster.delete(&target).await.unwrap();
    }
    // Also where state never knew the UID.
    for forget in [false, true] {
        for (n, ((kind, state), (_, config))) in states.iter().zip(front.configs()).enumerate() {
            let state = if forget { without_uid(kind, state) } else { state.clone() };
            let core = front.core().await;
            let read = core.read(kind, &state).await.unwrap();
            assert!(said(&read.diagnostics).contains(NOT_FOUND), "{kind}: {read:?}");
            let kept = read.present().unwrap();
            assert_eq!(kept.value, state.value, "{kind}");
            let Some(end) = ends.get(n) else {
                // A wait has nothing to lose, and waits again.
                let plan = core.plan(kind, &config, Some(&kept)).await.unwrap();
                assert_eq!(plan.action, Action::Update);
                continue;
            };
            for told in [
                refused(core.plan(kind, &config, Some(&kept)).await),
                refused(core.plan_destroy(kind, &kept).await),
                refused(front.core().await.apply(kind, &Value::Null, Some(&state), end).await),
            ] {
                assert!(told.contains(NOT_FOUND), "{kind}: {told}");
                assert!(told.contains("Grant the credentials `get`"), "{kind}: {told}");
                assert!(told.contains("state rm ADDRESS"), "{kind}: {told}");
            }
        }
    }
}

#[tokio::test]
async fn a_restored_copy_is_neither_taken_nor_deleted_while_the_cluster_is_not_confirmed() {
    let front = Front::new().await;
    let (_, state) = front.created_alone("settings").await;
    front.restore_a_copy().await;
    let copy = front.live("settings").await;
    let unrecorded = without_uid(OBJECT, &state);
    for round in ["unrecorded", "unreadable"] {
        let state = if round == "unrecorded" { &unrecorded } else { &state };
        let end = front.core().await.plan_destroy(OBJECT, state).await.unwrap();
        let core = front.core().await;
        let read = core.read(OBJECT, state).await.unwrap();
        assert!(said(&read.diagnostics).contains(ANOTHER), "{round}: {read:?}");
        let kept = read.present().unwrap();
        assert_eq!(kept.value, state.value, "{round}");
        assert_eq!(uid(OBJECT, &kept), uid(OBJECT, state), "{round}: nothing was confirmed");
        let config = front.object("settings");
        for told in [
            refused(core.plan(OBJECT, &config, Some(&kept)).await),
            refused(core.plan_destroy(OBJECT, &kept).await),
            refused(front.core().await.apply(OBJECT, &Value::Null, Some(state), &end).await),
        ] {
            assert!(told.contains(ANOTHER), "{round}: {told}");
        }
        assert_eq!(front.live("settings").await, copy, "{round}");
        front.forbids();
    }
}

#[tokio::test]
async fn a_restored_copy_in_the_confirmed_cluster_is_kept_and_can_be_destroyed() {
    let front = Front::new().await;
    let (_, state) = front.created_alone("settings").await;
    front.restore_a_copy().await;
    let core = front.core().await;
    let read = core.read(OBJECT, &state).await.unwrap();
    assert!(said(&read.diagnostics).contains("was recreated with our mark"), "{read:?}");
    core.destroy(OBJECT, &read.present().unwrap()).await.unwrap();
    assert_eq!(front.live("settings").await, None);
}

#[tokio::test]
async fn a_uid_that_failed_to_be_read_at_the_apply_is_stored_by_the_next_refresh() {
    let front = Front::new().await;
    front.answers(Turn::Nth(1), Reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, "", "broken"));
    let core = front.core().await;
    let plan = core.plan(OBJECT, &front.object("settings"), None).await.unwrap();
    assert!(said(&plan.diagnostics).contains(UNREADABLE), "{:?}", plan.diagnostics);
    let made = core.apply(OBJECT, &front.object("settings"), None, &plan).await.unwrap();
    let state = made.present().unwrap();
    assert_eq!(uid(OBJECT, &state), None);

    let read = front.core().await.read(OBJECT, &state).await.unwrap();
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let state = read.present().unwrap();
    assert!(uid(OBJECT, &state).is_some());
    front.leads_elsewhere();
    let told = refused(front.core().await.plan_destroy(OBJECT, &state).await);
    assert!(told.contains(DIFFERENT), "{told}");
}

#[tokio::test]
async fn the_uid_is_read_once_for_each_connection_and_process() {
    let world = World::new().await;
    world.cluster.act_as("helm").apply(world.config_map("theirs")).await.unwrap();
    let theirs = json!({ "api_version": "v1", "kind": "ConfigMap", "name": "theirs",
        "namespace": world.namespace.name() });
    let cluster = json!({ "kubeconfig": world.kubeconfig() });
    let patch = json!({ "target": theirs, "patch": "data: {extra: one}", "cluster": cluster });
    let wait = json!({ "object_ref": theirs, "wait_for": { "field": "data.greeting" },
        "cluster": cluster });
    let configs = [
        (OBJECT, world.config(&world.config_map("a"))),
        (OBJECT, world.config(&world.config_map("b"))),
        (PATCH, value(&patch)),
        (WAIT, value(&wait)),
    ];
    let counted = async |what: &str, reads: usize, step: Step, states: Vec<State>| {
        let core = world.core();
        let work = async {
            let mut after = Vec::new();
            for (n, (kind, config)) in configs.iter().enumerate() {
                after.extend(step.of(&core, kind, config, states.get(n)).await);
            }
            after
        };
        let identity = Filter::cluster_identity(&world.user);
        let (after, asked) = world.cluster.count_during(identity, work).await.unwrap();
        assert_eq!(asked.len(), reads, "{what}: {asked:?}");
        after
    };
    let states = counted("create", 1, Step::Create, vec![]).await;
    let states = counted("refresh and plan", 1, Step::Plan, states).await;
    let states = counted("plan nothing without a refresh", 0, Step::PlanAlone, states).await;
    counted("destroy", 1, Step::Destroy, states).await;
}

/// What one process does for each of several resources.
#[derive(Clone, Copy)]
enum Step {
    Create,
    Plan,
    PlanAlone,
    Destroy,
}

impl Step {
    async fn of(
        self,
        core: &Core,
        kind: &str,
        config: &Value,
        state: Option<&State>,
    ) -> Option<State> {
        match self {
            Self::Create => Some(core.create(kind, config).await.unwrap()),
            Self::Plan => {
                let read = core.read(kind, state.unwrap()).await.unwrap().state;
                core.plan(kind, config, read.as_ref()).await.unwrap();
                read
            }
            // Of a wait nothing is stored that would do without a look.
            Self::PlanAlone if kind == WAIT => state.cloned(),
            Self::PlanAlone => {
                core.plan(kind, config, state).await.unwrap();
                state.cloned()
            }
            Self::Destroy => {
                core.destroy(kind, state.unwrap()).await.unwrap();
                None
            }
        }
    }
}
