//! `sensitive_fields`: values that are shown nowhere, and whose changes still are.

use serde_json::{Value, json};
use testkit::{Target, Tool};

use crate::workspace::{CONFIG_MAP, DEPLOYMENT, Workspace, never_says, says};

async fn projection(at: &Workspace) -> Value {
    let shown = at.runner.show().await.unwrap();
    shown["values"]["root_module"]["resources"][0]["values"]["managed_state_projection"].clone()
}

#[tokio::test]
async fn a_hidden_field_stands_as_a_hash_and_its_drift_is_told_without_its_value() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("settings", CONFIG_MAP, r#"sensitive_fields = ["data.greeting"]"#).init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "\"data.greeting\" = (known after apply)");
    at.apply().await;
    at.plan_empty().await;
    let held = projection(&at).await;
    assert!(held["data.greeting"].as_str().unwrap().starts_with("(sensitive, hash "), "{held}");
    assert_eq!(held[r#"data["app.conf"]"#], "workers = 2\n");

    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let edit = json!({"data": {"greeting": "bonjour"}});
    at.cluster.act_as("kubectl-edit").merge_patch(&target, edit).await.unwrap();
    let plan = at.plan_changes().await;
    says(&plan.text, "1 field changed outside of Terraform");
    says(&plan.text, "`kubectl-edit` (Update, ");
    never_says(&plan.text, "bonjour");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn hiding_a_field_and_showing_it_again_changes_nothing_in_the_cluster() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let before = at.cluster.read(&target).await.unwrap().unwrap();
    let body = CONFIG_MAP.replace("hello", "bonjour");
    at.objects(&[("settings", &body)]);
    at.apply().await;
    let shown = at.cluster.read(&target).await.unwrap().unwrap();

    at.object_with("settings", &body, r#"sensitive_fields = ["data.greeting"]"#);
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    // Terraform prints what state holds, which the guide on secrets owns up to.
    says(&plan.text, r#""bonjour" ->"#);
    never_says(&plan.text, "Warning");
    at.apply().await;
    at.plan_empty().await;
    let hidden = projection(&at).await;
    assert!(hidden["data.greeting"].as_str().unwrap().starts_with("(sensitive"), "{hidden}");

    at.objects(&[("settings", &body)]);
    let plan = at.plan_changes().await;
    says(&plan.text, r#"-> "bonjour""#);
    never_says(&plan.text, "Warning");
    at.apply().await;
    at.plan_empty().await;
    assert_eq!(projection(&at).await["data.greeting"], "bonjour");
    let after = at.cluster.read(&target).await.unwrap().unwrap();
    assert_ne!(before["metadata"]["resourceVersion"], shown["metadata"]["resourceVersion"]);
    assert_eq!(shown, after, "nothing but what state says was to change");
    at.destroy().await;
}

#[tokio::test]
async fn entries_that_hide_nothing_or_cannot_hide_are_told() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("settings", CONFIG_MAP, r#"sensitive_fields = ["data.greting"]"#).init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "nothing is hidden by 1 entry of `sensitive_fields`");
    says(&plan.text, "data.greting");
    let wrong = r#"sensitive_fields = ["metadata.name", "data[0]"]"#;
    at.object_with("settings", CONFIG_MAP, wrong);
    let plan = at.plan_fails().await;
    says(&plan.text, "`metadata.name` cannot be used: it identifies the object");
    says(&plan.text, "not by its position");
    // The key of an item stands in every path below it.
    let key = r#"sensitive_fields = ["spec.template.spec.containers[*].name"]"#;
    at.object_with("web", DEPLOYMENT, key);
    let plan = at.plan_fails().await;
    says(&plan.text, "1 field cannot be hidden");
    says(&plan.text, "spec.template.spec.containers[*].name");
}

#[tokio::test]
async fn what_is_hidden_may_be_known_only_at_apply() {
    let at = Workspace::new(Tool::Terraform).await;
    let main = format!(
        "resource \"terraform_data\" \"path\" {{\n  input = \"data.greeting\"\n}}\n\
         resource \"k8sconnect_object\" \"settings\" {{\n  \
         cluster = {{ kubeconfig = file(\"kubeconfig\") }}\n  \
         sensitive_fields = [terraform_data.path.output]\n  yaml_body = <<-YAML\n{}\nYAML\n}}\n",
        CONFIG_MAP.replace("NS", at.namespace.name()).trim_end()
    );
    at.runner.write("main.tf", &main).unwrap();
    at.init().await;
    let plan = at.plan_changes().await;
    never_says(&plan.text, r#""data.greeting" ="#);
    says(&plan.text, "managed_state_projection = (known after apply)");
    at.apply().await;
    at.plan_empty().await;
    let shown = at.runner.show().await.unwrap().to_string();
    says(&shown, "(sensitive, hash ");
    at.destroy().await;
}
