//! What stands beside the API server, and fails: webhooks that it must ask, and API servers of
//! others that it speaks for.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use testkit::sweep::configuration;
use testkit::{ControlPlane, Target, TestNamespace, Webhook};
use tfplugin::Value;
use tfplugin::harness::{Action, Core, Failure, PlanOutcome, State};

use crate::world::{OBJECT, World, value};

/// A webhook that must be asked about the ConfigMaps of a test, until it is lifted.
struct Asked<'a> {
    world: &'a World,
    target: Target,
}

impl<'a> Asked<'a> {
    async fn about(world: &'a World, webhook: &Webhook) -> Self {
        Self::when(world, webhook, "*").await
    }

    async fn when(world: &'a World, webhook: &Webhook, operation: &str) -> Self {
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": format!("{}-webhook", world.namespace)},
            "webhooks": [{
                "name": "policy.example.com", "failurePolicy": "Fail",
                "sideEffects": "NoneOnDryRun", "admissionReviewVersions": ["v1"],
                "timeoutSeconds": 1, "clientConfig": webhook.client_config(),
                "namespaceSelector": {"matchLabels":
                    {"kubernetes.io/metadata.name": world.namespace.name()}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation],
                    "resources": ["configmaps"]}],
            }],
        });
        world.cluster.act_as("security").apply(&configuration).await.unwrap();
        Self { world, target: Target::of(&configuration).unwrap() }
    }

    async fn lift(self) {
        self.world.cluster.delete(&self.target).await.unwrap();
    }
}

/// What comes of reading and planning, once it is as awaited: a webhook takes a moment to be in
/// force, and another to be forgotten.
async fn planned(
    world: &World,
    config: &Value,
    state: &State,
    awaited: impl Fn(&Result<PlanOutcome, Failure>) -> bool,
) -> Result<PlanOutcome, Failure> {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let core = world.core();
        let read = core.read(OBJECT, state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, config, Some(&read)).await;
        if awaited(&plan) {
            return plan;
        }
        assert!(Instant::now() < deadline, "{plan:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// An object, and the configuration that would change it.
async fn about_to_change(world: &World) -> (State, Value) {
    let body = world.config_map("settings");
    let state = world.create(&body).await.unwrap();
    (state, world.config(&body.replace("hello", "good day")))
}

async fn changes_in_the_end(world: &World, config: &Value, state: &State) {
    let calm = |plan: &Result<PlanOutcome, Failure>| {
        plan.as_ref().is_ok_and(|plan| plan.diagnostics.is_empty())
    };
    let plan = planned(world, config, state, calm).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    let state = world.core().update(OBJECT, config, state).await.unwrap();
    world.core().destroy(OBJECT, &state).await.unwrap();
}

#[tokio::test]
async fn a_webhook_that_hangs_lets_the_plan_go_on_and_fails_the_write_with_nothing_lost() {
    let world = World::new().await;
    let (state, config) = about_to_change(&world).await;
    let webhook = Webhook::silent(world.cluster).await.unwrap();
    let asked = Asked::about(&world, &webhook).await;
    let warned = |plan: &Result<PlanOutcome, Failure>| match plan {
        Ok(plan) => !plan.diagnostics.is_empty(),
        Err(_) => true,
    };
    let plan = planned(&world, &config, &state, warned).await.unwrap();
    let said = format!("{:?}", plan.diagnostics);
    assert!(said.contains("which must be asked, cannot be reached"), "{said}");
    let failure = world.core().apply(OBJECT, &config, Some(&state), &plan).await.unwrap_err();
    assert!(failure.to_string().contains("needs a webhook that does not answer"), "{failure}");
    assert_eq!(failure.stored().map(|kept| &kept.value), Some(&state.value));
    asked.lift().await;
    changes_in_the_end(&world, &config, &state).await;
}

/// Found by fresh eyes: the plan said nothing, and the old object was deleted before the new one
/// failed; and of a change that nobody could prove, the advice was to delete the object.
#[tokio::test]
async fn a_webhook_that_hangs_for_new_objects_is_told_before_an_old_one_goes() {
    let world = World::new().await;
    let fixed = |text: &str| {
        let ns = world.namespace.name();
        json!({"apiVersion": "v1", "kind": "ConfigMap", "immutable": true, "data": {"a": text},
            "metadata": {"name": "fixed", "namespace": ns}})
    };
    let config = |body: Json| world.config(&body.to_string());
    let state = world.core().create(OBJECT, &config(fixed("one"))).await.unwrap();
    let mut renamed = fixed("one");
    renamed["metadata"]["name"] = json!("renamed");
    let webhook = Webhook::silent(world.cluster).await.unwrap();
    let asked = Asked::when(&world, &webhook, "CREATE").await;
    let told = |plan: &Result<PlanOutcome, Failure>| match plan {
        Ok(plan) => format!("{:?}", plan.diagnostics),
        Err(failure) => failure.to_string(),
    };
    let hangs = |plan: &Result<PlanOutcome, Failure>| told(plan).contains("webhook");
    let plan = planned(&world, &config(renamed), &state, hangs).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let said = told(&Ok(plan));
    assert!(said.contains("which must be asked, cannot be reached"), "{said}");
    let said = told(&planned(&world, &config(fixed("two")), &state, hangs).await);
    assert!(said.contains("failed calling webhook"), "{said}");
    assert!(!said.contains("taint"), "{said}");
    asked.lift().await;
}

/// What the plan knew must not become unknown.
#[tokio::test]
async fn a_webhook_that_hangs_only_when_it_is_applied_is_an_error_with_nothing_lost() {
    let world = World::new().await;
    let (state, config) = about_to_change(&world).await;
    let plan = planned(&world, &config, &state, Result::is_ok).await.unwrap();
    let webhook = Webhook::silent(world.cluster).await.unwrap();
    let asked = Asked::about(&world, &webhook).await;
    let hangs = |plan: &Result<PlanOutcome, Failure>| {
        plan.as_ref().is_ok_and(|plan| !plan.diagnostics.is_empty())
    };
    planned(&world, &config, &state, hangs).await.unwrap();
    let failure = world.core().apply(OBJECT, &config, Some(&state), &plan).await.unwrap_err();
    assert!(failure.to_string().contains("needs a webhook that does not answer"), "{failure}");
    assert_eq!(failure.stored().map(|kept| &kept.value), Some(&state.value));
    asked.lift().await;
    changes_in_the_end(&world, &config, &state).await;
}

#[tokio::test]
async fn a_webhook_that_refuses_dry_runs_is_a_plan_error_in_its_words_with_nothing_lost() {
    let world = World::new().await;
    let (state, config) = about_to_change(&world).await;
    let words = "this policy cannot be asked in a dry run";
    let webhook = Webhook::refusing_dry_runs(world.cluster, words).await.unwrap();
    let asked = Asked::about(&world, &webhook).await;
    let failure = planned(&world, &config, &state, Result::is_err).await.unwrap_err();
    let said = failure.to_string();
    assert!(said.contains(words) && said.contains("policy.example.com"), "{said}");
    asked.lift().await;
    changes_in_the_end(&world, &config, &state).await;
}

/// An extension API server whose backend is gone, as a metrics server often is.
async fn a_broken_extension(cluster: &ControlPlane) -> Target {
    let service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": "v1beta1.broken.example.com"},
        "spec": {
            "group": "broken.example.com", "version": "v1beta1", "groupPriorityMinimum": 100,
            "versionPriority": 100, "insecureSkipTLSVerify": true,
            "service": {"name": "nobody", "namespace": "default"},
        },
    });
    cluster.act_as("operator").apply(&service).await.unwrap();
    let down = |seen: Option<&Json>| {
        let conditions = seen.and_then(|object| object["status"]["conditions"].as_array());
        conditions.into_iter().flatten().any(|one| one["status"] == "False")
    };
    let target = Target::of(&service).unwrap();
    cluster.wait_until(&target, Duration::from_secs(30), down).await.unwrap();
    target
}

#[tokio::test]
async fn an_extension_that_is_down_is_no_trouble_for_any_other_kind() {
    // Of its own: the shared one's namespaces could not go while the extension is down.
    let cluster = ControlPlane::another().await;
    let namespace = TestNamespace::new(cluster).await.unwrap();
    let extension = a_broken_extension(cluster).await;
    let provider = async || {
        let core = Core::new(k8sconnect::K8sConnect::default());
        let block = json!({ "cluster": { "kubeconfig": cluster.kubeconfig() } });
        core.configure(value(&block)).await.unwrap();
        core
    };
    let body = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {namespace}}}\n\
         data: {{x: hello}}\n"
    );
    let config = configuration(&cluster.kubeconfig(), &body);
    let state = provider().await.create(OBJECT, &config).await.unwrap();
    // By names that have to be looked for among all that is served.
    for kind in ["configmap", "cm", "ConfigMap"] {
        let imported = provider().await.import(OBJECT, &format!("{namespace}/{kind}/a")).await;
        let uid = imported.unwrap_or_else(|failure| panic!("{kind}: {failure}"));
        assert_eq!(uid.attribute("uid"), state.attribute("uid"), "{kind}");
    }
    let missing = provider().await.import(OBJECT, &format!("{namespace}/gizmo/a")).await;
    let told = missing.unwrap_err().to_string();
    assert!(told.contains("broken.example.com"), "what could not be asked is not named: {told}");
    provider().await.destroy(OBJECT, &state).await.unwrap();
    cluster.delete(&extension).await.unwrap();
}
