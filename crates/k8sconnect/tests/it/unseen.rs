//! What nobody could look at: refused credentials, and clusters that the provider block calls by
//! another name than state does.

use serde_json::{Value as Json, json};
use testkit::{Filter, Target};
use tfplugin::Value;
use tfplugin::harness::{Action, Core, State};

use crate::patch::{PATCH, said};
use crate::waiting::WAIT;
use crate::world::{OBJECT, World, value};

/// An object of ours, a patch of one that others made, and a wait for that one.
struct Story {
    world: World,
    states: Vec<(&'static str, State)>,
}

impl Story {
    /// Made by a provider block, by resources that name their cluster so.
    async fn new(provider: &dyn Fn(&Json) -> Json, names: &Json) -> Self {
        let world = World::new().await;
        let theirs = world.config_map("theirs");
        world.cluster.act_as("helm").apply(theirs.as_str()).await.unwrap();
        let core = core(&world, &provider(&world.by_token())).await;
        let mut states = Vec::new();
        for (kind, config) in configs(&world, names) {
            states.push((kind, core.create(kind, &config).await.unwrap()));
        }
        Self { world, states }
    }

    async fn by_default() -> Self {
        Self::new(&|cluster| json!({ "cluster": cluster }), &json!({})).await
    }

    fn configs(&self, names: &Json) -> [(&'static str, Value); 3] {
        configs(&self.world, names)
    }
}

async fn core(world: &World, provider: &Json) -> Core {
    let core = world.core();
    core.configure(value(provider)).await.unwrap();
    core
}

fn configs(world: &World, names: &Json) -> [(&'static str, Value); 3] {
    let of = |attributes: Json| {
        let mut all = attributes;
        let more = names.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(more);
        value(&all)
    };
    let theirs = json!({ "api_version": "v1", "kind": "ConfigMap", "name": "theirs",
        "namespace": world.namespace.name() });
    [
        (OBJECT, of(json!({ "yaml_body": world.config_map("ours") }))),
        (PATCH, of(json!({ "target": theirs, "patch": "data: {extra: one}" }))),
        (WAIT, of(json!({ "object_ref": theirs, "wait_for": { "field": "data.greeting" } }))),
    ]
}

/// The same place for somebody who is not let in, and for somebody who may do nothing there.
fn refused(world: &World) -> [Json; 2] {
    let mut unknown = world.by_token();
    unknown["token"] = json!("of-an-hour-ago");
    let nobody = format!("nobody-of-{}", world.namespace);
    [unknown, json!({ "kubeconfig": world.cluster.kubeconfig_for(&nobody, None).unwrap() })]
}

#[tokio::test]
async fn a_plan_by_credentials_that_may_not_look_is_an_error_and_never_no_changes() {
    let story = Story::by_default().await;
    for cluster in refused(&story.world) {
        let core = core(&story.world, &json!({ "cluster": cluster })).await;
        let written = story.states.iter().zip(story.configs(&json!({})));
        for ((kind, state), (_, config)) in written.filter(|((kind, _), _)| *kind != WAIT) {
            let read = core.read(kind, state).await.unwrap();
            let told = format!("{:?}", read.diagnostics);
            assert!(told.contains("could not be refreshed"), "{kind}: {told}");
            let kept = read.present().unwrap();
            assert_eq!(kept.value, state.value, "{kind}");
            let refused = core.plan(kind, &config, Some(&kept)).await.unwrap_err().to_string();
            assert!(refused.contains("nothing can be planned for it"), "{kind}: {refused}");
            assert!(refused.contains("Nothing was changed"), "{kind}: {refused}");

            if *kind == OBJECT {
                let renamed = json!({ "yaml_body": story.world.config_map("renamed") });
                let refused = core.plan(kind, &value(&renamed), Some(&kept)).await.unwrap_err();
                let refused = refused.to_string();
                assert!(refused.contains("nothing can be planned for it"), "renamed: {refused}");
            }

            // A later process that does not read finds the note, and looks.
            let later = self::core(&story.world, &json!({ "cluster": cluster })).await;
            let refused = later.plan(kind, &config, Some(&kept)).await.unwrap_err().to_string();
            assert!(refused.contains("nothing can be planned for it"), "{kind}: {refused}");
            let home = json!({ "cluster": story.world.by_token() });
            let home = self::core(&story.world, &home).await;
            let looks = async { home.plan(kind, &config, Some(&kept)).await.unwrap() };
            let here = Filter::in_namespace(story.world.namespace.name());
            let (plan, asked) = story.world.cluster.count_during(here, looks).await.unwrap();
            assert_eq!(plan.action, Action::NoOp, "{kind}");
            let asked: Vec<_> = asked.iter().map(testkit::Request::in_short).collect();
            assert_eq!(asked, ["get"], "{kind}");
        }
    }
}

/// A destroy begins with a refresh and an ordinary plan, and a wait has nothing to lose.
#[tokio::test]
async fn a_wait_that_nobody_can_look_at_is_kept_and_stands_in_no_ones_way() {
    let story = Story::by_default().await;
    let (_, state) = &story.states[2];
    let [_, _, (_, config)] = story.configs(&json!({}));
    let [unknown, nobody] = refused(&story.world);
    let mut dead = story.world.by_token();
    dead["host"] = json!("https://127.0.0.1:1");
    for (cluster, why) in [
        (unknown, "Use credentials in the provider block"),
        (nobody, "Grant the credentials `get` on the object"),
        (dead, "Nothing listens there"),
    ] {
        let core = core(&story.world, &json!({ "cluster": cluster })).await;
        let read = core.read(WAIT, state).await.unwrap();
        let told = format!("{:?}", read.diagnostics);
        assert!(told.contains("could not be refreshed") && told.contains(why), "{told}");
        let kept = read.present().unwrap();
        assert_eq!(kept.value, state.value);
        let plan = core.plan(WAIT, &config, Some(&kept)).await.unwrap();
        assert_eq!(plan.action, Action::NoOp);
        core.destroy(WAIT, &kept).await.unwrap();

        // A later process that does not read finds the note, and looks.
        let home = self::core(&story.world, &json!({ "cluster": story.world.by_token() })).await;
        let looks = async { home.plan(WAIT, &config, Some(&kept)).await.unwrap() };
        let here = Filter::in_namespace(story.world.namespace.name());
        let (plan, asked) = story.world.cluster.count_during(here, looks).await.unwrap();
        assert_eq!((plan.action, asked.len()), (Action::NoOp, 1));
    }
}

#[tokio::test]
async fn what_went_while_nobody_could_look_is_told_and_planned_anew_by_the_next_refresh() {
    let story = Story::by_default().await;
    let [unknown, _] = refused(&story.world);
    let blind = core(&story.world, &json!({ "cluster": unknown })).await;
    let (_, state) = &story.states[0];
    let kept = blind.read(OBJECT, state).await.unwrap().present().unwrap();
    let target = Target::new("v1", "ConfigMap", story.world.namespace.name(), "ours");
    story.world.cluster.delete(&target).await.unwrap();

    let home = core(&story.world, &json!({ "cluster": story.world.by_token() })).await;
    let [(_, config), ..] = story.configs(&json!({}));
    let refused = home.plan(OBJECT, &config, Some(&kept)).await.unwrap_err().to_string();
    assert!(refused.contains("not found through the connection in the configuration"), "{refused}");
    assert!(refused.contains("plan again"), "{refused}");
    assert!(home.read(OBJECT, &kept).await.unwrap().state.is_none());
}

/// A provider block and what resources name of it, before and after.
type Naming = (fn(&Json) -> Json, fn(&Json) -> Json);

const RENAMINGS: [(&str, Naming, Naming); 3] = [
    (
        "a cluster gets another name",
        (|at| json!({ "clusters": { "old": at } }), |_| json!({ "cluster_name": "old" })),
        (|at| json!({ "clusters": { "new": at } }), |_| json!({ "cluster_name": "new" })),
    ),
    (
        "the default goes, and the resource has its own",
        (|at| json!({ "cluster": at }), |_| json!({})),
        (|_| json!({}), |at| json!({ "cluster": at })),
    ),
    (
        "from a name to its own",
        (|at| json!({ "clusters": { "old": at } }), |_| json!({ "cluster_name": "old" })),
        (|_| json!({}), |at| json!({ "cluster": at })),
    ),
];

#[tokio::test]
async fn a_cluster_that_is_named_otherwise_from_now_on_is_an_update_in_place() {
    for (what, before, after) in RENAMINGS {
        let story = Story::new(&before.0, &before.1(&Json::Null)).await;
        let at = story.world.by_token();
        let core = core(&story.world, &after.0(&at)).await;
        let configs = story.configs(&after.1(&at));
        for ((kind, state), (_, config)) in story.states.iter().zip(configs) {
            let read = core.read(kind, state).await.unwrap();
            let told = format!("{:?}", read.diagnostics);
            assert!(told.contains("does not have it any more"), "{what}, {kind}: {told}");
            let kept = read.present().unwrap();
            let plan = core.plan(kind, &config, Some(&kept)).await.unwrap();
            assert_eq!(plan.action, Action::Update, "{what}, {kind}");
            let moved = core.apply(kind, &config, Some(&kept), &plan).await.unwrap();
            let moved = moved.present().unwrap();
            let read = core.read(kind, &moved).await.unwrap();
            assert!(read.diagnostics.is_empty(), "{what}, {kind}: {:?}", read.diagnostics);
            let plan = core.plan(kind, &config, read.state.as_ref()).await.unwrap();
            assert_eq!(plan.action, Action::NoOp, "{what}, {kind}");
        }
    }
}

#[tokio::test]
async fn what_is_to_end_in_a_cluster_that_is_not_named_any_more_says_which_way_is_missing() {
    let (_, before, after) = RENAMINGS[0];
    let story = Story::new(&before.0, &before.1(&Json::Null)).await;
    let at = story.world.by_token();
    let core = core(&story.world, &after.0(&at)).await;
    for (kind, state) in &story.states[..2] {
        let kept = core.read(kind, state).await.unwrap().present().unwrap();
        let refused = core.plan_destroy(kind, &kept).await.unwrap_err().to_string();
        assert!(refused.contains("No connection to the cluster of"), "{kind}: {refused}");
        assert!(refused.contains("Add the cluster `old` to `clusters`"), "{kind}: {refused}");
    }
    // A replacement deletes too.
    let mut names = after.1(&at);
    names["yaml_body"] = json!(story.world.config_map("another"));
    let [(_, config), ..] = story.configs(&names);
    let refused = core.plan(OBJECT, &config, Some(&story.states[0].1)).await.unwrap_err();
    assert!(refused.to_string().contains("Add the cluster `old` to `clusters`"), "{refused}");
}

#[tokio::test]
async fn what_is_to_end_by_a_kubeconfig_that_is_gone_is_refused_at_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, testkit::ControlPlane::shared().await.kubeconfig()).unwrap();
    let by_path = json!({ "config_path": path.display().to_string() });
    let in_state = Story::new(&|_| json!({}), &json!({ "cluster": by_path })).await;
    let in_block = Story::new(&|_| json!({ "cluster": by_path }), &json!({})).await;
    let mut plans = Vec::new();
    for (story, provider) in [(&in_state, json!({})), (&in_block, json!({ "cluster": by_path }))] {
        let core = core(&story.world, &provider).await;
        for (kind, state) in &story.states[..2] {
            plans.push(core.plan_destroy(kind, state).await.unwrap());
        }
    }
    std::fs::remove_file(&path).unwrap();
    let mut plans = plans.into_iter();
    for (story, provider, whose) in [
        (&in_state, json!({}), "the `cluster` in state, which cannot be used"),
        (&in_block, json!({ "cluster": by_path }), "the provider block, which cannot be used"),
    ] {
        let core = core(&story.world, &provider).await;
        for (kind, state) in &story.states[..2] {
            let planned = core.plan_destroy(kind, state).await.unwrap_err().to_string();
            let plan = plans.next().unwrap();
            let applied = core.apply(kind, &Value::Null, Some(state), &plan).await;
            let applied = applied.unwrap_err().to_string();
            let name = if *kind == OBJECT { "ours" } else { "theirs" };
            for told in [planned, applied] {
                assert!(told.contains("No connection to the cluster of ConfigMap"), "{told}");
                assert!(told.contains(&format!("{}/{name}", story.world.namespace)), "{told}");
                assert!(told.contains(whose) && told.contains("Correct this"), "{told}");
                assert!(told.contains(&path.display().to_string()), "{told}");
                assert!(told.contains("stays in state"), "{told}");
                assert!(told.contains("state rm ADDRESS"), "{told}");
            }
        }
    }
}

/// Everything by the path of a kubeconfig, which lets nobody in any more.
async fn locked_out(folder: &tempfile::TempDir) -> Story {
    let path = folder.path().join("config");
    let cluster = testkit::ControlPlane::shared().await;
    std::fs::write(&path, cluster.kubeconfig()).unwrap();
    let by_path = json!({ "cluster": { "config_path": path.display().to_string() } });
    let story = Story::new(&|_| json!({}), &by_path).await;
    let [_, nobody] = refused(&story.world);
    std::fs::write(&path, nobody["kubeconfig"].as_str().unwrap()).unwrap();
    story
}

#[tokio::test]
async fn a_replacement_after_a_refresh_that_could_not_look_is_not_called_unread() {
    let folder = tempfile::tempdir().unwrap();
    let story = locked_out(&folder).await;
    let core = core(&story.world, &json!({})).await;
    let kept = core.read(OBJECT, &story.states[0].1).await.unwrap().present().unwrap();
    let at = story.world.by_token();
    let renamed = story.world.config_at(&at, &story.world.config_map("renamed"));
    let plan = core.plan(OBJECT, &renamed, Some(&kept)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let told = said(&plan.diagnostics);
    assert!(!told.contains("without having been read"), "{told}");
}

#[tokio::test]
async fn a_change_is_shown_though_the_refresh_could_not_look() {
    let folder = tempfile::tempdir().unwrap();
    let story = locked_out(&folder).await;
    let at = story.world.by_token();
    let (body, (_, state)) = (story.world.config_map("ours"), &story.states[0]);
    let body = format!("{body}  farewell: bye\n");
    let added = story.world.config_at(&at, &body);
    let greeting = story.world.config_at(&at, &body.replace("hello", "good morning"));
    let shown = |plan: &tfplugin::harness::PlanOutcome, path: &str| {
        let map = plan.planned.attribute("managed_state_projection").unwrap();
        let Value::Known(tfplugin::Data::Map(map)) = map else { panic!("{map:?}") };
        map[path].clone()
    };
    let core = core(&story.world, &json!({})).await;
    let kept = core.read(OBJECT, state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &greeting, Some(&kept)).await.unwrap();
    assert_eq!(shown(&plan, "data.greeting"), Value::from("good morning"));

    // What another changed meanwhile, and is put right along with it, state cannot show.
    let rival = story.world.cluster.act_as("rival");
    let target = Target::new("v1", "ConfigMap", story.world.namespace.name(), "ours");
    rival.merge_patch(&target, json!({"data": {"greeting": "theirs"}})).await.unwrap();
    let core = self::core(&story.world, &json!({})).await;
    let kept = core.read(OBJECT, state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &added, Some(&kept)).await.unwrap();
    assert_eq!(shown(&plan, "data.greeting"), Value::Unknown);
    assert_eq!(shown(&plan, "data.farewell"), Value::from("bye"));
    let applying = self::core(&story.world, &json!({})).await;
    let made = applying.apply(OBJECT, &added, Some(&kept), &plan).await.unwrap().present();
    let read = core.read(OBJECT, &made.unwrap()).await.unwrap();
    let plan = core.plan(OBJECT, &added, read.state.as_ref()).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
}
