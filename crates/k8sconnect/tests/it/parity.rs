//! After an apply, values and owners are those that `kubectl apply --server-side --force-conflicts` of the
//! same body leaves. The random search for differences is `tests/sweeps/twins.rs`.

use serde_json::{Value as Json, json};
use testkit::kubectl::Kubectl;
use testkit::twins::{body_of_twin, differences, owners, values};
use testkit::{Manifest, Target, TestNamespace};
use tfplugin::harness::{Action, State};

use crate::patch::said;
use crate::world::{OBJECT, World, besides_the_credential};

/// An object of the provider, and its twin in another namespace that `kubectl` applies.
struct Twins {
    world: World,
    second: TestNamespace,
    kubectl: Kubectl,
    body: Json,
    state: Option<State>,
}

/// The plan of one apply with its warnings, and the differences between the twins after it.
#[derive(Debug)]
struct Step {
    action: Action,
    warnings: String,
    differences: Vec<String>,
}

impl Twins {
    /// Both are created. `GROUP` stands for the group of a kind of the test's own.
    async fn new(body: Json) -> Self {
        let world = World::new().await;
        let second = TestNamespace::new(world.cluster).await.unwrap();
        let kubectl = Kubectl::new(world.cluster).await.unwrap();
        let group = format!("{}.example.com", world.namespace);
        let text = body.to_string().replace("GROUP", &group);
        let mut twins = Self { world, second, kubectl, body: text.object().unwrap(), state: None };
        if body["apiVersion"] == "GROUP/v1" {
            let definition = include_str!("../sweeps/twins/sample.yaml").replace("GROUP", &group);
            twins.world.create(&definition).await.unwrap();
            twins.world.await_served(&definition.object().unwrap()).await;
        }
        twins.body["metadata"]["name"] = json!("it");
        let step = twins.apply().await;
        assert_eq!(step.differences, [""; 0], "after the creation");
        twins
    }

    fn namespaces(&self) -> [&str; 2] {
        [self.world.namespace.name(), self.second.name()]
    }

    fn in_namespace(&self, namespace: &str, content: &Json) -> Json {
        let mut object = self.body.clone();
        object["metadata"]["namespace"] = json!(namespace);
        for (name, value) in content.as_object().unwrap() {
            object[name] = value.clone();
        }
        object
    }

    fn targets(&self) -> [Target; 2] {
        self.namespaces().map(|it| Target::of(&self.in_namespace(it, &json!({}))).unwrap())
    }

    /// Another manager applies by force.
    async fn other_applies(&self, manager: &str, content: Json) {
        for namespace in self.namespaces() {
            let object = self.in_namespace(namespace, &content);
            self.world.cluster.act_as(manager).force().apply(object).await.unwrap();
        }
    }

    async fn other_patches(&self, manager: &str, patch: Json) {
        for target in self.targets() {
            self.world.cluster.act_as(manager).merge_patch(&target, patch.clone()).await.unwrap();
        }
    }

    async fn other_scales(&self, replicas: u32) {
        for target in self.targets() {
            self.world.cluster.act_as("kubectl").scale(&target, replicas).await.unwrap();
        }
    }

    /// Plans and applies in processes of their own, and has `kubectl` apply the same to the twin.
    async fn apply(&mut self) -> Step {
        let [namespace, second] = self.namespaces();
        let config = self.world.config(&self.in_namespace(namespace, &json!({})).to_string());
        let core = self.world.core();
        let prior = match &self.state {
            Some(state) => core.read(OBJECT, state).await.unwrap().state,
            None => None,
        };
        let plan = core.plan(OBJECT, &config, prior.as_ref()).await.unwrap();
        let applied =
            self.world.core().apply(OBJECT, &config, prior.as_ref(), &plan).await.unwrap();
        let [ours, theirs] = self.targets();
        let live = self.world.cluster.read(&ours).await.unwrap().unwrap();
        let body = body_of_twin(&self.body, second, Some(&live));
        self.kubectl.apply(&body, "k8sconnect").await.unwrap().unwrap();
        let twin = self.world.cluster.read(&theirs).await.unwrap().unwrap();
        let mut found = differences(&values(&live), &values(&twin));
        let (held, wanted) = (owners(&live), owners(&twin));
        found.extend(
            held.iter().filter(|it| !wanted.contains(it)).map(|it| format!("provider {it}")),
        );
        found.extend(
            wanted.iter().filter(|it| !held.contains(it)).map(|it| format!("kubectl {it}")),
        );
        self.state = applied.state;
        let warnings = said(&besides_the_credential(plan.diagnostics));
        Step { action: plan.action, warnings, differences: found }
    }

    /// The next apply is an in-place update that names the manager and leaves the twins equal. The plan
    /// after it is empty.
    async fn update_names(&mut self, manager: &str) -> Step {
        let step = self.apply().await;
        assert_eq!(step.action, Action::Update, "{step:#?}");
        assert!(step.warnings.contains(&format!("`{manager}`")), "{step:#?}");
        assert_eq!(step.differences, [""; 0], "{step:#?}");
        let next = self.apply().await;
        assert_eq!(
            (next.action, next.warnings.as_str()),
            (Action::NoOp, ""),
            "{step:#?}\n{next:#?}"
        );
        assert_eq!(next.differences, [""; 0], "{next:#?}");
        step
    }
}

fn binding(subject: Json) -> Json {
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"});
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "roleRef": role,
        "subjects": [subject]})
}

#[tokio::test]
async fn an_atomic_list_with_a_default_is_owned_as_after_kubectl_when_another_manager_applies_it_too()
 {
    let mut twins = Twins::new(binding(json!({"kind": "User", "name": "u"}))).await;
    twins.other_applies("argo", json!({})).await;
    twins.update_names("argo").await;
}

#[tokio::test]
async fn an_atomic_list_with_null_for_a_default_is_owned_as_after_kubectl_when_another_manager_applies_it_too()
 {
    let subject = json!({"kind": "User", "name": "u", "apiGroup": null});
    let mut twins = Twins::new(binding(subject)).await;
    twins.other_applies("argo", json!({})).await;
    twins.update_names("argo").await;
}

#[tokio::test]
async fn an_atomic_list_with_a_respelled_quantity_is_owned_as_after_kubectl_when_another_manager_applies_it_too()
 {
    let target = json!({"type": "AverageValue", "averageValue": "0.5"});
    let scaled = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "nobody"});
    let mut twins = Twins::new(json!({"apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler", "spec": {"maxReplicas": 3, "scaleTargetRef": scaled,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]}}))
    .await;
    twins.other_applies("argo", json!({})).await;
    twins.update_names("argo").await;
}

#[tokio::test]
async fn a_field_that_others_changed_and_set_back_is_co_owned_after_the_next_apply() {
    let mut twins = Twins::new(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"mode": "fast", "other": "1"}}),
    )
    .await;
    twins.other_patches("alice", json!({"data": {"mode": "slow"}})).await;
    twins.other_applies("argo", json!({"data": {"mode": "fast"}})).await;
    let step = twins.update_names("argo").await;
    assert!(step.warnings.contains("data.mode"), "{step:#?}");
    // The field stays when the other manager no longer applies it.
    twins.other_applies("argo", json!({"data": {}})).await;
    let step = twins.apply().await;
    assert_eq!((step.action, step.warnings.as_str()), (Action::NoOp, ""), "{step:#?}");
    assert_eq!(step.differences, [""; 0]);
}

#[tokio::test]
async fn replicas_that_others_scaled_away_and_back_are_co_owned_after_the_next_apply() {
    let mut twins = Twins::new(
        json!({"apiVersion": "GROUP/v1", "kind": "Sample", "spec": {"size": 1, "word": "sand"}}),
    )
    .await;
    twins.other_scales(3).await;
    twins.other_scales(1).await;
    let step = twins.update_names("kubectl").await;
    assert!(step.warnings.contains("spec.size"), "{step:#?}");
}

#[tokio::test]
async fn an_empty_list_or_map_that_others_removed_with_its_parent_is_written_again() {
    for spec in [json!({"defItems": []}), json!({})] {
        let mut twins =
            Twins::new(json!({"apiVersion": "GROUP/v1", "kind": "Sample", "spec": spec})).await;
        twins.other_patches("alice", json!({"spec": null})).await;
        let step = twins.apply().await;
        assert_eq!(step.action, Action::Update, "{spec}: {step:#?}");
        assert_eq!(step.differences, [""; 0], "{spec}: {step:#?}");
        let next = twins.apply().await;
        assert_eq!((next.action, next.warnings.as_str()), (Action::NoOp, ""), "{spec}: {next:#?}");
    }
}

#[tokio::test]
async fn the_manager_that_replaced_a_schemaless_list_by_a_map_is_named() {
    let mut twins =
        Twins::new(json!({"apiVersion": "GROUP/v1", "kind": "Sample", "spec": {"any": [1]}})).await;
    twins.other_applies("argo", json!({"spec": {"any": {"k": "v"}}})).await;
    let step = twins.update_names("argo").await;
    assert!(!step.warnings.contains("nobody"), "{step:#?}");
}

#[tokio::test]
async fn a_map_that_others_wrote_in_place_of_null_is_shown_with_its_value() {
    let mut twins =
        Twins::new(json!({"apiVersion": "GROUP/v1", "kind": "Sample", "spec": {"any": null}}))
            .await;
    twins.other_patches("alice", json!({"spec": {"any": {"k": "v"}}})).await;
    twins.body["spec"]["any"] = json!([1]);
    let step = twins.update_names("alice").await;
    assert!(!step.warnings.contains("is now (absent)"), "{step:#?}");
}

#[tokio::test]
async fn a_secret_that_is_emptied_announces_no_takeover_of_the_whole_data() {
    let mut twins =
        Twins::new(json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"k": "v1"}})).await;
    twins.other_applies("argo", json!({})).await;
    twins.body["stringData"] = json!({});
    let step = twins.apply().await;
    assert_eq!(step.differences, [""; 0], "{step:#?}");
    assert!(step.warnings.contains("data.k held by `argo`"), "{step:#?}");
    assert!(!step.warnings.contains("data held by"), "{step:#?}");
}
