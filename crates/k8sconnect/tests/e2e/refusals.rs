//! What cannot be, said before anything is touched.

use serde_json::{Value, json};
use testkit::Tool;

use crate::workspace::{CONFIG_MAP, DEPLOYMENT, Policy, Workspace, never_says, says};

#[tokio::test]
async fn a_misspelt_field_is_a_plan_error_that_names_it() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("web", &DEPLOYMENT.replace("replicas:", "replcas:"))]).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, ".spec.replcas: field not declared in schema");
    says(&plan.text, "does not fit its schema");
}

#[tokio::test]
async fn a_misspelt_kind_names_the_nearest() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("web", &DEPLOYMENT.replace("kind: Deployment", "kind: Deploymnet"))])
        .init()
        .await;
    let plan = at.plan_fails().await;
    says(&plan.text, "Did you mean `Deployment`?");
}

#[tokio::test]
async fn an_object_of_others_is_not_taken_over() {
    let at = Workspace::new(Tool::Terraform).await;
    let theirs = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": at.namespace.name()},
        "data": {"whose": "theirs"},
    });
    at.cluster.act_as("helm").apply(theirs).await.unwrap();
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "exists already");
    says(&plan.text, "held by `helm`");
}

#[tokio::test]
async fn a_broken_body_is_told_with_all_its_problems() {
    let at = Workspace::new(Tool::Terraform).await;
    let body = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: 3\nstatus: {}\n";
    at.objects(&[("broken", body)]).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "2 problems found");
    says(&plan.text, "line 4: `metadata.name` is not text");
    says(&plan.text, "line 5: `status` is written by the API server");
}

#[tokio::test]
async fn a_missing_namespace_lets_the_plan_go_on_and_says_why() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", &CONFIG_MAP.replace("namespace: NS", "namespace: NS-later"))])
        .init()
        .await;
    let plan = at.plan_changes().await;
    says(&plan.text, "cannot be planned in full yet");
    says(&plan.text, "does not exist at the moment");
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_loses_nothing() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let alive = at.cluster.kubeconfig();
    let dead = alive.replace(at.cluster.url(), "https://127.0.0.1:1");
    at.kubeconfig(&dead);
    let plan = at.plan_fails().await;
    says(&plan.text, "Cannot reach the API server");

    // A way that state takes and that leads nowhere from then on.
    at.kubeconfig(&alive);
    let main = std::fs::read_to_string(at.runner.directory().join("main.tf")).unwrap();
    let by_path = main.replace("kubeconfig = file(\"kubeconfig\")", "config_path = \"kubeconfig\"");
    at.runner.write("main.tf", &by_path).unwrap();
    at.apply().await;
    at.kubeconfig(&dead);
    let plan = at.plan_fails().await;
    says(&plan.text, "Cannot reach the API server");
    says(&plan.text, "apply once with `-refresh=false`");
    // It may be gone for good, and the resource with it.
    at.runner.write("main.tf", "").unwrap();
    let plan = at.plan_fails().await;
    says(&plan.text, "remove the resource from state with `terraform state rm ADDRESS`");
    let state = at.runner.state(&["list"]).await.unwrap();
    says(&state.text, "k8sconnect_object.settings");

    // The configuration knows another way.
    at.runner.write("alive", &alive).unwrap();
    at.runner.write("main.tf", &by_path.replace("\"kubeconfig\"", "\"alive\"")).unwrap();
    at.runner.apply_with(&["-refresh=false"]).await.unwrap().successful().unwrap();
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn an_admission_policy_speaks_in_the_plan() {
    let at = Workspace::new(Tool::Terraform).await;
    let message = "the key `forbidden` is not welcome here";
    let expression = "!('forbidden' in object.data)";
    let policy = Policy::impose(&at, &["CREATE", "UPDATE"], expression, message).await;
    let rival = at.cluster.act_as("security");
    let probe = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "probe", "namespace": at.namespace.name()}, "data": {"forbidden": "x"},
    });
    // A policy takes a moment to bite.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while rival.try_apply(probe.clone()).await.unwrap().accepted().is_ok() {
        assert!(std::time::Instant::now() < deadline, "the policy never came into force");
    }
    let bad = CONFIG_MAP.replace("greeting: hello", "forbidden: hello");
    at.objects(&[("settings", &bad)]).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "the key `forbidden` is not welcome here");
    policy.lift().await;
}

#[tokio::test]
async fn a_full_quota_and_a_missing_permission_speak_in_the_plan() {
    let at = Workspace::new(Tool::Terraform).await;
    at.cluster
        .act_as("admin")
        .apply(json!({
            "apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": {"name": "none", "namespace": at.namespace.name()},
            "spec": {"hard": {"count/secrets": "0"}},
        }))
        .await
        .unwrap();
    let target = testkit::Target::new("v1", "ResourceQuota", at.namespace.name(), "none");
    let within = std::time::Duration::from_secs(30);
    let counted = |seen: Option<&serde_json::Value>| {
        seen.is_some_and(|quota| !quota["status"]["used"].is_null())
    };
    at.cluster.wait_until(&target, within, counted).await.unwrap();
    let secret = "
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: NS}
stringData: {password: hunter2hunter2}
";
    at.objects(&[("s", secret)]).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "may not be written");
    says(&plan.text, "exceeded quota");

    at.kubeconfig(&at.cluster.kubeconfig_for("nobody-in-particular", None).unwrap());
    at.objects(&[("settings", CONFIG_MAP)]);
    let plan = at.plan_fails().await;
    says(&plan.text, "nobody-in-particular");
    says(&plan.text, "cannot patch resource \"configmaps\"");
}

#[tokio::test]
async fn a_value_that_the_server_refuses_is_told_with_its_field() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("web", &DEPLOYMENT.replace("replicas: 2", "replicas: -2"))]).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "is refused by the API server");
    says(&plan.text, "spec.replicas: Invalid value: -2");
    says(&plan.text, "must be greater than or equal to 0");
}

/// The configuration of a webhook that is asked about the ConfigMaps of a test.
fn webhook_configuration(at: &Workspace, name: &str, client: &Value) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{
            "name": "policy.example.com", "failurePolicy": "Fail", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "timeoutSeconds": 1, "clientConfig": client,
            "namespaceSelector": {"matchLabels":
                {"kubernetes.io/metadata.name": at.namespace.name()}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"],
                "resources": ["configmaps"]}],
        }],
    })
}

/// A webhook passes causes of its own through, with a field and a reason, which prove nothing about
/// the field.
#[tokio::test]
async fn a_webhook_that_says_no_is_a_plan_error_in_its_words_and_never_a_replacement() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let causes = json!([{"field": "data.greeting", "reason": "FieldValueInvalid",
                         "message": "field is immutable"}]);
    let words = "greetings are frozen until Monday";
    let webhook = testkit::Webhook::refusing(at.cluster, words, causes).await.unwrap();
    let name = format!("{}-webhook", at.namespace.name());
    let configuration = webhook_configuration(&at, &name, &webhook.client_config());
    at.cluster.act_as("security").apply(configuration.clone()).await.unwrap();
    at.objects(&[("settings", &CONFIG_MAP.replace("hello", "good day"))]);
    // The configuration takes a moment to be in force.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let refused = loop {
        let plan = at.runner.plan().await.unwrap();
        if plan.outcome == testkit::PlanOutcome::Failed {
            break plan;
        }
        assert!(std::time::Instant::now() < deadline, "{}", plan.text);
    };
    says(&refused.text, words);
    says(&refused.text, "policy.example.com");
    assert!(!refused.text.contains("must be replaced"), "{}", refused.text);
    let target = testkit::Target::of(&configuration).unwrap();
    at.cluster.delete(&target).await.unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !at.runner.apply().await.unwrap().succeeded() {
        assert!(std::time::Instant::now() < deadline, "the webhook never went out of force");
    }
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn a_webhook_that_cannot_be_reached_does_not_stop_the_plan() {
    let at = Workspace::new(Tool::Terraform).await;
    let name = format!("{}-webhook", at.namespace.name());
    at.cluster
        .act_as("operator")
        .apply(webhook_configuration(&at, &name, &json!({"url": "https://127.0.0.1:1/"})))
        .await
        .unwrap();
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    // The configuration takes a moment to be in force.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let plan = loop {
        let plan = at.plan_changes().await;
        if plan.text.contains("cannot be planned in full yet") {
            break plan;
        }
        assert!(std::time::Instant::now() < deadline, "{}", plan.text);
    };
    says(&plan.text, "which must be asked, cannot be reached");
    let run = at.runner.apply().await.unwrap();
    assert!(!run.succeeded());
    says(&run.text, "needs a webhook that does not answer");
    let target = testkit::Target::new(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        None,
        &name,
    );
    at.cluster.delete(&target).await.unwrap();
    // Back in order, the same configuration goes through.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !at.runner.apply().await.unwrap().succeeded() {
        assert!(std::time::Instant::now() < deadline, "the webhook never went out of force");
    }
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn the_servers_own_warnings_stand_on_the_object_that_caused_them() {
    let at = Workspace::new(Tool::Terraform).await;
    let namespace = testkit::Target::new("v1", "Namespace", None, at.namespace.name());
    let label = json!({"metadata": {"labels": {"pod-security.kubernetes.io/warn": "restricted"}}});
    at.cluster.act_as("security").merge_patch(&namespace, label).await.unwrap();
    at.objects(&[("web", DEPLOYMENT)]).init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "the API server warns");
    says(&plan.text, "would violate PodSecurity");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn credentials_that_may_not_read_lose_nothing() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    at.kubeconfig(&at.cluster.kubeconfig_for("may-do-nothing", None).unwrap());
    // Such credentials do not come into state.
    let plan = at.plan_fails().await;
    says(&plan.text, "could not be read, so nothing can be planned for it");
    says(&plan.text, "may-do-nothing");
    at.kubeconfig(&at.cluster.kubeconfig());
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn what_only_the_provider_sets_cannot_be_configured() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("settings", CONFIG_MAP, "id = \"mine\"\n  uid = \"mine\"").init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "This attribute cannot be configured");
    says(&plan.text, "`uid` is for the provider to set");
    at.object_with("settings", CONFIG_MAP, r#"ignore_fields = ["kind"]"#);
    let plan = at.plan_fails().await;
    says(&plan.text, "`kind` cannot be used: it identifies the object");
}

#[tokio::test]
async fn two_addresses_cannot_make_one_object_also_where_they_would_adopt_it() {
    let at = Workspace::new(Tool::Terraform).await;
    let twice = |terms: &str| {
        let text = at.resource("settings", CONFIG_MAP, &format!("for_each = var.keys\n  {terms}"));
        let text = text.replace("greeting: hello", "greeting: ${each.key}");
        let keys = "variable \"keys\" {\n  type = set(string)\n  default = [\"a\", \"b\"]\n}\n";
        at.runner.write("main.tf", &format!("{keys}{text}")).unwrap();
    };
    twice("");
    at.init().await;
    says(&at.plan_fails().await.text, "is made by two addresses in the same run");
    twice("adopt = true");
    let plan = at.plan_fails().await;
    says(&plan.text, "is made by two addresses in the same run");
    never_says(&plan.text, "not in this state");
    // Two that want the very same are told apart once one of them is made.
    let text = std::fs::read_to_string(at.runner.directory().join("main.tf")).unwrap();
    at.runner.write("main.tf", &text.replace("${each.key}", "hello")).unwrap();
    let run = at.runner.apply().await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "is made by two addresses in the same run");
}
