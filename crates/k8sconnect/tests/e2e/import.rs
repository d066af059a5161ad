//! Objects that were there before Terraform was.

mod every_kind;

use serde_json::{Value, json};
use testkit::{PlanOutcome, Target, Tool};

use crate::workspace::{CONFIG_MAP, DEPLOYMENT, Workspace, never_says, says};

const KUBECTL: &str = "kubectl-client-side-apply";

/// A workspace whose imports go to the test's cluster.
async fn workspace(tool: Tool) -> Workspace {
    let mut at = Workspace::new(tool).await;
    let kubeconfig = at.runner.directory().join("kubeconfig");
    at.runner.env("KUBECONFIG", kubeconfig.to_str().unwrap());
    at
}

async fn make(at: &Workspace, manager: &str, body: &str) -> Value {
    let body = body.replace("NS", at.namespace.name());
    at.cluster.act_as(manager).create(body.as_str()).await.unwrap()
}

/// What state holds of the one resource in it.
async fn state(at: &Workspace) -> Value {
    let shown = at.runner.show().await.unwrap();
    shown["values"]["root_module"]["resources"][0]["values"].clone()
}

async fn import(at: &Workspace, id: &str) {
    let id = id.replace("NS", at.namespace.name());
    let run = at.runner.import("k8sconnect_object.it", &id).await.unwrap();
    run.successful().unwrap_or_else(|error| panic!("{id}: {error}"));
}

async fn forget(at: &Workspace) {
    at.runner.state(&["rm", "k8sconnect_object.it"]).await.unwrap().successful().unwrap();
}

#[tokio::test]
async fn an_imported_object_is_taken_over_in_place_and_a_dropped_field_goes() {
    let at = workspace(Tool::Terraform).await;
    let before = make(&at, KUBECTL, DEPLOYMENT).await;
    at.objects(&[("it", DEPLOYMENT)]).init().await;
    import(&at, "NS/deployment/web").await;
    let imported = state(&at).await;
    assert_eq!(imported["cluster"]["kubeconfig"], Value::Null, "no credential comes into state");
    assert!(imported["cluster"]["config_path"].as_str().unwrap().ends_with("/kubeconfig"));
    assert_eq!(imported["managed_state_projection"], Value::Null);

    let plan = at.plan_changes().await;
    says(&plan.text, "was imported and will be taken over as it is");
    says(&plan.text, "Managers of some or all of them now: `kubectl-client-side-apply`");
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    at.apply().await;
    at.plan_empty().await;
    let target = Target::new("apps/v1", "Deployment", at.namespace.name(), "web");
    let after = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
    assert_eq!(before["spec"], after["spec"]);

    let without = DEPLOYMENT.replace("        ports:\n        - containerPort: 80\n", "");
    at.objects(&[("it", &without)]).apply().await;
    at.plan_empty().await;
    let after = at.cluster.read(&target).await.unwrap().unwrap();
    let container = &after["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container.get("ports"), None, "nobody else held it");
    at.destroy().await;
}

#[tokio::test]
async fn generated_configuration_takes_over_and_changes_no_value() {
    for tool in Tool::ALL {
        let at = workspace(tool).await;
        let before = make(&at, KUBECTL, DEPLOYMENT).await;
        let block = "import {\n  to = k8sconnect_object.it\n  id = \"NS/Deployment/web\"\n}\n";
        let block = block.replace("NS", at.namespace.name());
        at.runner.write("import.tf", &block).unwrap();
        at.init().await;
        let plan = at.runner.plan_with(&["-generate-config-out=generated.tf"]).await.unwrap();
        assert_eq!(plan.outcome, PlanOutcome::Changes, "{}", plan.text);
        says(&plan.text, "1 to import, 0 to add, 1 to change, 0 to destroy");
        says(&plan.text, "will be taken over as it is");
        // A saved plan does not hold the configuration that it generated: that is used from now on.
        let plan = at.plan_changes().await;
        says(&plan.text, "1 to import, 0 to add, 1 to change, 0 to destroy");
        at.runner.apply_planned().await.unwrap().successful().unwrap();
        at.plan_empty().await;
        let target = Target::new("apps/v1", "Deployment", at.namespace.name(), "web");
        let after = at.cluster.read(&target).await.unwrap().unwrap();
        assert_eq!(before["spec"], after["spec"], "{tool:?}");
        assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
        at.destroy().await;
    }
}

#[tokio::test]
async fn a_kind_goes_by_every_name_that_kubectl_takes() {
    let at = workspace(Tool::Terraform).await;
    make(&at, KUBECTL, DEPLOYMENT).await;
    at.objects(&[("it", DEPLOYMENT)]).init().await;
    for id in [
        "NS/Deployment/web",
        "NS/deploy/web",
        "NS/deployments/web",
        "NS/deployment.apps/web",
        "NS/deployment.v1.apps/web?context=testkit",
        "testkit:NS:apps/v1/Deployment:web",
    ] {
        import(&at, id).await;
        let imported = state(&at).await;
        let body = imported["yaml_body"].as_str().unwrap();
        assert!(body.starts_with("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n"), "{body}");
        forget(&at).await;
    }
    for id in ["namespace/NS", "testkit:v1/Namespace:NS"] {
        import(&at, id).await;
        assert_eq!(state(&at).await["object_ref"]["namespace"], Value::Null);
        forget(&at).await;
    }

    let unknown = at.runner.import("k8sconnect_object.it", "deplyo/web").await.unwrap();
    assert_ne!(unknown.code, 0);
    says(&unknown.text, "The cluster has no kind `deplyo`");
    let absent = at.runner.import("k8sconnect_object.it", "cm/nobody").await.unwrap();
    says(&absent.text, "ConfigMap `default/nobody` does not exist");
    let no_id = at.runner.import("k8sconnect_object.it", "web").await.unwrap();
    says(&no_id.text, "`web` names no object to import");
}

#[tokio::test]
async fn a_manager_chooses_the_fields_and_the_others_keep_theirs() {
    let at = workspace(Tool::Terraform).await;
    make(&at, KUBECTL, CONFIG_MAP).await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let theirs = json!({"data": {"theirs": "yes"}});
    at.cluster.act_as("somebody").merge_patch(&target, theirs).await.unwrap();
    let ours = CONFIG_MAP.replace("  greeting: hello\n", "  greeting: hello\n  theirs: \"yes\"\n");
    let ours =
        ours.replace("  app.conf: |\n    workers = 2\n", "").replace("  greeting: hello\n", "");
    at.objects(&[("it", &ours)]).init().await;
    import(&at, "NS/cm/settings?manager=somebody").await;
    let body = state(&at).await["yaml_body"].as_str().unwrap().to_owned();
    assert!(body.contains("theirs") && !body.contains("greeting"), "{body}");
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    let after = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(after["data"]["greeting"], "hello");
    forget(&at).await;

    import(&at, "NS/cm/settings?unowned").await;
    let body = state(&at).await["yaml_body"].as_str().unwrap().to_owned();
    assert!(!body.contains("theirs") && !body.contains("greeting"), "{body}");
    forget(&at).await;
    let id = format!("{}/cm/settings?manager=nobody", at.namespace.name());
    let none = at.runner.import("k8sconnect_object.it", &id).await.unwrap();
    says(&none.text, "Its fields are held by");
}

#[tokio::test]
async fn values_of_a_secret_stay_in_the_cluster_unless_asked_for() {
    const SECRET: &str = "
apiVersion: v1
kind: Secret
metadata:
  name: keys
  namespace: NS
stringData:
  password: hunter2
";
    let at = workspace(Tool::Terraform).await;
    make(&at, KUBECTL, SECRET).await;
    let bare = SECRET.replace("stringData:\n  password: hunter2\n", "type: Opaque\n");
    at.objects(&[("it", &bare)]).init().await;
    import(&at, "NS/secret/keys").await;
    never_says(&state(&at).await.to_string(), "aHVudGVyMg");
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    let target = Target::new("v1", "Secret", at.namespace.name(), "keys");
    let after = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(after["data"]["password"], "aHVudGVyMg==");
    forget(&at).await;

    at.objects(&[("it", SECRET)]);
    import(&at, "NS/secret/keys?values").await;
    says(state(&at).await["yaml_body"].as_str().unwrap(), "aHVudGVyMg==");
    let plan = at.plan_changes().await;
    says(&plan.text, "will be taken over as it is");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn of_several_contexts_one_must_be_named() {
    let mut at = workspace(Tool::Terraform).await;
    make(&at, KUBECTL, CONFIG_MAP).await;
    at.objects(&[("it", CONFIG_MAP)]).init().await;
    let other = "apiVersion: v1\nkind: Config\ncurrent-context: elsewhere\n\
                 contexts: [{name: elsewhere, context: {cluster: nowhere}}]\n\
                 clusters: [{name: nowhere, cluster: {server: https://127.0.0.1:1}}]\n";
    at.runner.write("other", other).unwrap();
    let folder = at.runner.directory();
    let list = [folder.join("other"), folder.join("missing"), folder.join("kubeconfig")];
    let list = std::env::join_paths(list).unwrap().into_string().unwrap();
    at.runner.env("KUBECONFIG", &list);
    let id = format!("{}/cm/settings", at.namespace.name());
    let unnamed = at.runner.import("k8sconnect_object.it", &id).await.unwrap();
    assert_ne!(unnamed.code, 0);
    says(&unnamed.text, "does not say which cluster is meant");
    says(&unnamed.text, "elsewhere");

    at.runner.env("KUBECONFIG", &at.cluster.kubeconfig());
    let by_text = at.runner.import("k8sconnect_object.it", &id).await.unwrap();
    assert_ne!(by_text.code, 0);
    says(&by_text.text, "`KUBECONFIG` holds the text of a kubeconfig, not its path");
    never_says(&by_text.text, "certificate-authority-data");
    at.runner.env("KUBECONFIG", &list);

    import(&at, "NS/cm/settings?context=testkit").await;
    let path = state(&at).await["cluster"]["config_path"].as_str().unwrap().to_owned();
    assert!(path.ends_with("/kubeconfig") && !path.contains("other"), "{path}");
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn an_import_is_never_followed_by_a_replacement() {
    let at = workspace(Tool::Terraform).await;
    let before = make(&at, KUBECTL, DEPLOYMENT).await;
    at.objects(&[("it", &DEPLOYMENT.replace("name: web\n  namespace", "name: shop\n  namespace"))]);
    at.init().await;
    import(&at, "NS/deployment/web").await;
    let plan = at.plan_fails().await;
    says(&plan.text, "was imported, and `yaml_body` describes another object");
    says(&plan.text, "metadata.name: web -> shop");

    at.objects(&[("it", &DEPLOYMENT.replace("app: web", "app: shop"))]);
    let plan = at.plan_fails().await;
    says(&plan.text, "field is immutable");
    says(&plan.text, "it is never replaced for this");

    at.objects(&[("it", &DEPLOYMENT.replace("replicas: 2", "replicas: 3"))]);
    let plan = at.plan_changes().await;
    says(&plan.text, "was imported and 1 field will change");
    at.apply().await;
    at.plan_empty().await;
    let target = Target::new("apps/v1", "Deployment", at.namespace.name(), "web");
    let after = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
    assert_eq!(after["spec"]["replicas"], 3);
    at.destroy().await;
}

#[tokio::test]
async fn an_object_without_a_field_of_its_own_is_taken_over_too() {
    let account = "
apiVersion: v1
kind: ServiceAccount
metadata:
  name: robot
  namespace: NS
";
    let at = workspace(Tool::Terraform).await;
    make(&at, KUBECTL, account).await;
    at.objects(&[("it", account)]).init().await;
    import(&at, "NS/sa/robot").await;
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    let target = Target::new("v1", "ServiceAccount", at.namespace.name(), "robot");
    let after = at.cluster.read(&target).await.unwrap().unwrap();
    let id = &after["metadata"]["annotations"]["k8sconnect.terraform.io/terraform-id"];
    assert_eq!(*id, state(&at).await["id"]);
    at.destroy().await;
}

#[tokio::test]
async fn unowned_fields_are_taken_and_the_applier_keeps_the_rest() {
    let at = workspace(Tool::Terraform).await;
    let body = DEPLOYMENT.replace("NS", at.namespace.name());
    at.cluster.act_as("flux").apply(body.as_str()).await.unwrap();
    let block = "import {\n  to = k8sconnect_object.it\n  id = \"NS/deploy/web?unowned\"\n}\n";
    at.runner.write("import.tf", &block.replace("NS", at.namespace.name())).unwrap();
    at.init().await;
    let plan = at.runner.plan_with(&["-generate-config-out=generated.tf"]).await.unwrap();
    says(&plan.text, "will be taken over as it is");
    never_says(&plan.text, "containerPort");
    at.apply().await;
    at.plan_empty().await;
    let projection = state(&at).await["managed_state_projection"].clone();
    assert_eq!(projection["spec.revisionHistoryLimit"], "10", "{projection}");
    assert_eq!(projection.get("spec.replicas"), None, "it is flux's");
    at.destroy().await;
}

#[tokio::test]
async fn an_object_of_a_lost_state_is_imported_again() {
    let at = workspace(Tool::Terraform).await;
    at.objects(&[("it", CONFIG_MAP)]).init().await;
    at.apply().await;
    let former = state(&at).await["id"].as_str().unwrap().to_owned();
    forget(&at).await;
    import(&at, "NS/cm/settings").await;
    let plan = at.plan_changes().await;
    says(&plan.text, &format!("It bears the k8sconnect id `{former}`"));
    at.apply().await;
    at.plan_empty().await;
    assert_ne!(state(&at).await["id"], former.as_str());
    at.destroy().await;
}

#[tokio::test]
async fn the_example_imports_as_its_comment_says() {
    let settings = "
apiVersion: v1
kind: ConfigMap
metadata:
  name: imported-settings
  namespace: NS
data:
  greeting: hello
";
    let mut at = workspace(Tool::Terraform).await;
    make(&at, KUBECTL, settings).await;
    std::fs::remove_file(at.runner.directory().join("head.tf")).unwrap();
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/import");
    at.runner.copy_from(&examples).unwrap();
    let kubeconfig = at.runner.directory().join("kubeconfig");
    let namespace = at.namespace.name().to_owned();
    at.runner.variable("kubeconfig_path", kubeconfig.to_str().unwrap());
    at.runner.variable("namespace", &namespace);
    at.init().await;
    let id = format!("{namespace}/configmap/imported-settings");
    let run = at.runner.import("k8sconnect_object.settings", &id).await.unwrap();
    run.successful().unwrap();
    let plan = at.plan_changes().await;
    says(&plan.text, "will be taken over as it is");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn an_object_is_imported_by_its_identity() {
    imported_by_identity(Tool::OpenTofu).await;
}

#[tokio::test]
async fn an_object_is_imported_by_its_identity_under_terraform_too() {
    imported_by_identity(Tool::NEWEST_TERRAFORM).await;
}

async fn imported_by_identity(tool: Tool) {
    let at = workspace(tool).await;
    make(&at, KUBECTL, CONFIG_MAP).await;
    let block = "import {\n  to = k8sconnect_object.it\n  identity = {\n    api_version = \"v1\"\n    \
                 kind = \"ConfigMap\"\n    namespace = \"NS\"\n    name = \"settings\"\n  }\n}\n";
    at.runner.write("import.tf", &block.replace("NS", at.namespace.name())).unwrap();
    at.objects(&[("it", CONFIG_MAP)]).init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "1 to import, 0 to add, 1 to change, 0 to destroy");
    at.apply().await;
    at.plan_empty().await;
    let shown = at.runner.show().await.unwrap();
    let identity = &shown["values"]["root_module"]["resources"][0]["identity"];
    assert_eq!(identity["kind"], "ConfigMap", "{shown}");
    assert_eq!(identity["context"], "testkit", "the context that the import used");
    at.destroy().await;
}

#[tokio::test]
async fn an_identity_stays_when_the_way_to_the_cluster_changes() {
    let at = workspace(Tool::OpenTofu).await;
    at.objects(&[("it", CONFIG_MAP)]).init().await;
    at.apply().await;
    at.plan_empty().await;
    let main = std::fs::read_to_string(at.runner.directory().join("main.tf")).unwrap();
    let other = "config_path = \"kubeconfig\", context = \"testkit\"";
    at.runner.write("main.tf", &main.replace("kubeconfig = file(\"kubeconfig\")", other)).unwrap();
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    let shown = at.runner.show().await.unwrap();
    let identity = &shown["values"]["root_module"]["resources"][0]["identity"];
    assert_eq!(identity["name"], "settings", "{shown}");
    at.objects(&[("it", &CONFIG_MAP.replace("name: settings", "name: renamed"))]).apply().await;
    at.plan_empty().await;
    at.destroy().await;
}
