//! What plan and apply know of each other: nothing before Terraform 1.16, which hands the private state of
//! a plan to its apply. And what a plan without a refresh asks.

use serde_json::json;
use testkit::{Filter, Target, Tool};

use crate::workspace::{CONFIG_MAP, Workspace, never_says, says};

fn settings(at: &Workspace) -> Target {
    Target::new("v1", "ConfigMap", at.namespace.name(), "settings")
}

/// Whose requests nobody else's test sends.
fn by_own_user(at: &Workspace) -> Filter {
    let user = format!("user-of-{}", at.namespace);
    at.kubeconfig(&at.cluster.kubeconfig_for(&user, Some("system:masters")).unwrap());
    Filter::by_user(&user)
}

const PATCHES: [(&str, &str); 3] = [
    ("patch", "yamlencode({ data = { a = \"ours\" } })"),
    ("merge_patch", "jsonencode({ data = { b = \"ours\", gone = null } })"),
    ("json_patch", "jsonencode([{ op = \"replace\", path = \"/data/c\", value = \"ours\" }])"),
];

#[tokio::test]
async fn without_a_refresh_an_unchanged_configuration_plans_nothing_and_asks_nothing() {
    for tool in [Tool::Terraform, Tool::OpenTofu, Tool::NEWEST_TERRAFORM] {
        let at = Workspace::new(tool).await;
        let target = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "theirs", "namespace": at.namespace.name()},
            "data": {"a": "helm", "b": "helm", "c": "helm", "gone": "helm"}});
        at.cluster.act_as("helm").apply(target).await.unwrap();
        let user = by_own_user(&at);
        let patches = PATCHES.map(|(attribute, text)| {
            format!(
                "resource \"k8sconnect_patch\" \"{attribute}\" {{\n  \
                 cluster = {{ kubeconfig = file(\"kubeconfig\") }}\n  target = {{ api_version = \
                 \"v1\", kind = \"ConfigMap\", name = \"theirs\", namespace = \"{}\" }}\n  \
                 {attribute} = {text}\n}}\n",
                at.namespace.name()
            )
        });
        let object = at.resource("settings", CONFIG_MAP, "");
        at.runner.write("main.tf", &format!("{object}\n{}", patches.join("\n"))).unwrap();
        at.init().await.apply().await;
        let unrefreshed = at.runner.plan_with(&["-refresh=false"]);
        let (plan, asked) = at.cluster.count_during(user, unrefreshed).await.unwrap();
        let plan = plan.unwrap();
        assert_eq!(plan.outcome, testkit::PlanOutcome::NoChanges, "{}", plan.text);
        assert!(asked.is_empty(), "{tool:?}: {asked:?}");
        let identity = Filter::cluster_identity(&format!("user-of-{}", at.namespace));
        let unrefreshed = at.runner.plan_with(&["-refresh=false"]);
        let (_, asked) = at.cluster.count_during(identity, unrefreshed).await.unwrap();
        assert!(asked.is_empty(), "{tool:?}: {asked:?}");
        never_says(&plan.text, "Warning");
        at.plan_empty().await;
        at.destroy().await;
    }
}

#[tokio::test]
async fn a_saved_plan_is_applied_without_its_warnings_though_the_object_changed_meanwhile() {
    let at = Workspace::new(Tool::NEWEST_TERRAFORM).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await.apply().await;
    let rival = at.cluster.act_as("rival");
    rival.merge_patch(&settings(&at), json!({"data": {"greeting": "theirs"}})).await.unwrap();
    at.objects(&[("settings", &CONFIG_MAP.replace("workers = 2", "workers = 3"))]);
    let plan = at.plan_changes().await;
    says(&plan.text, "1 field changed outside of Terraform");
    let seen = json!({"metadata": {"annotations": {"seen": "yes"}}});
    at.cluster.act_as("controller").merge_patch(&settings(&at), seen).await.unwrap();
    let applied = at.runner.apply_planned().await.unwrap().successful().unwrap();
    never_says(&applied.text, "Warning");
    at.plan_empty().await;

    // What is new since the plan is reported.
    rival.merge_patch(&settings(&at), json!({"data": {"greeting": "theirs"}})).await.unwrap();
    at.plan_changes().await;
    rival.merge_patch(&settings(&at), json!({"data": {"greeting": "again"}})).await.unwrap();
    let applied = at.runner.apply_planned().await.unwrap().successful().unwrap();
    says(&applied.text, "is now again will be hello");
    at.plan_empty().await;
    let state = std::fs::read(at.runner.directory().join("terraform.tfstate")).unwrap();
    let state: serde_json::Value = serde_json::from_slice(&state).unwrap();
    let private = state["resources"][0]["instances"][0]["private"].as_str().unwrap();
    let private = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, private);
    let private = tfplugin::Private::from_bytes(&private.unwrap()).unwrap();
    assert!(!private.contains("plan"), "the record of the plan is in state");
    at.destroy().await;
}

#[tokio::test]
async fn a_creation_is_known_to_be_applied_and_repeats_no_warning() {
    let at = Workspace::new(Tool::NEWEST_TERRAFORM).await;
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": at.namespace.name()},
        "data": {"greeting": "theirs"}});
    at.cluster.act_as("helm").apply(theirs).await.unwrap();
    at.object_with("settings", CONFIG_MAP, "adopt = true").init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "exists already and will be taken over");
    says(&plan.text, "held by `helm`");
    let applied = at.runner.apply_planned().await.unwrap().successful().unwrap();
    never_says(&applied.text, "Warning");
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn an_apply_reports_what_it_takes_by_a_body_that_its_plan_did_not_know() {
    let at = Workspace::new(Tool::NEWEST_TERRAFORM).await;
    let main = |input: &str| {
        let body = CONFIG_MAP.replace("hello", "${terraform_data.late.output}");
        let resource = at.resource("settings", &body, "");
        let late = format!("resource \"terraform_data\" \"late\" {{\n  input = \"{input}\"\n}}\n");
        at.runner.write("main.tf", &format!("{late}{resource}")).unwrap();
    };
    main("one");
    at.init().await.apply().await;
    let rival = at.cluster.act_as("rival");
    rival.merge_patch(&settings(&at), json!({"data": {"greeting": "theirs"}})).await.unwrap();
    main("two");
    says(&at.plan_changes().await.text, "1 field changed by others may be set back");
    let applied = at.runner.apply_planned().await.unwrap().successful().unwrap();
    says(&applied.text, "was one is now theirs will be two");
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn a_plan_without_a_refresh_warns_and_its_apply_does_not() {
    let at = Workspace::new(Tool::NEWEST_TERRAFORM).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await.apply().await;
    let rival = at.cluster.act_as("rival");
    rival.merge_patch(&settings(&at), json!({"data": {"greeting": "theirs"}})).await.unwrap();
    at.objects(&[("settings", &CONFIG_MAP.replace("workers = 2", "workers = 3"))]);
    let plan = at.runner.plan_with(&["-refresh=false"]).await.unwrap();
    says(&plan.text, "1 field changed outside of Terraform");
    let applied = at.runner.apply_planned().await.unwrap().successful().unwrap();
    never_says(&applied.text, "Warning");
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn a_target_known_only_at_apply_is_refused_in_our_words() {
    let at = Workspace::new(Tool::NEWEST_TERRAFORM).await;
    for name in ["one", "two"] {
        let target = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "helm"},
            "metadata": {"name": name, "namespace": at.namespace.name()}});
        at.cluster.act_as("helm").apply(target).await.unwrap();
    }
    let main = |name: &str| {
        let text = format!(
            "resource \"terraform_data\" \"late\" {{\n  input = \"{name}\"\n}}\nresource \
             \"k8sconnect_patch\" \"it\" {{\n  cluster = {{ kubeconfig = file(\"kubeconfig\") \
             }}\n  target = {{ api_version = \"v1\", kind = \"ConfigMap\", name = \
             terraform_data.late.output, namespace = \"{}\" }}\n  patch = yamlencode({{ data = \
             {{ a = \"ours\" }} }})\n}}\n",
            at.namespace.name()
        );
        at.runner.write("main.tf", &text).unwrap();
    };
    main("one");
    at.init().await.apply().await;
    main("two");
    let refused = at.runner.apply().await.unwrap();
    assert!(!refused.succeeded(), "{}", refused.text);
    says(&refused.text, "would have to move to ConfigMap");
    never_says(&refused.text, "inconsistent final plan");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}
