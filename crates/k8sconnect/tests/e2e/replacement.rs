//! Changes that an object cannot take: proved before anything is destroyed.

use serde_json::json;
use testkit::{Product, Target, Tool};

use crate::workspace::{CONFIG_MAP, DEPLOYMENT, Workspace, never_says, says};

/// Applies, changes, and expects the change to be planned and carried out as a replacement.
async fn replaces(body: &str, from: &str, to: &str, field: &str) {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("it", body)]).init().await;
    at.apply().await;
    at.plan_empty().await;
    let before = uid(&at).await;
    assert!(body.contains(from));
    at.objects(&[("it", &body.replace(from, to))]);
    let plan = at.plan_changes().await;
    says(&plan.text, "must be replaced");
    says(&plan.text, "cannot change once the object exists");
    says(&plan.text, field);
    says(&plan.text, "The API server said (HTTP 422):");
    says(&plan.text, "To keep it, restore the old values in `yaml_body`");
    says(&plan.text, "1 to add, 0 to change, 1 to destroy");
    at.apply().await;
    at.plan_empty().await;
    assert_ne!(uid(&at).await, before);
    at.destroy().await;
}

async fn uid(at: &Workspace) -> String {
    let state = at.runner.show().await.unwrap();
    let values = &state["values"]["root_module"]["resources"][0]["values"];
    values["uid"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_selector_is_replaced() {
    replaces(DEPLOYMENT, "{app: web}", "{app: web, tier: front}", "spec.selector").await;
}

#[tokio::test]
async fn the_template_of_a_job_is_replaced() {
    let job = "
apiVersion: batch/v1
kind: Job
metadata: {name: it, namespace: NS}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: \"busybox:1\"}]
";
    replaces(job, "busybox:1", "busybox:2", "spec.template").await;
}

#[tokio::test]
async fn the_cluster_ip_of_a_service_is_replaced() {
    let service = "
apiVersion: v1
kind: Service
metadata: {name: it, namespace: NS}
spec:
  clusterIP: None
  selector: {app: web}
  ports: [{port: 80}]
";
    replaces(service, "clusterIP: None", "type: ClusterIP\n  clusterIP: 10.96.77.77", "clusterIP")
        .await;
}

#[tokio::test]
async fn a_claim_and_a_stateful_set_are_replaced() {
    let claim = "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: it, namespace: NS}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
";
    replaces(claim, "ReadWriteOnce", "ReadWriteMany", "spec").await;
    let set = "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: it, namespace: NS}
spec:
  serviceName: one
  replicas: 0
  selector: {matchLabels: {app: it}}
  template:
    metadata: {labels: {app: it}}
    spec: {containers: [{name: a, image: a}]}
";
    replaces(set, "serviceName: one", "serviceName: two", "spec").await;
}

#[tokio::test]
async fn a_rule_of_a_custom_kind_is_as_good_as_the_servers_own() {
    let at = Workspace::new(Tool::Terraform).await;
    let group = format!("{}.example.com", at.namespace.name());
    let definition = format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: vaults.{group}}}
spec:
  group: {group}
  names: {{kind: Vault, plural: vaults}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              labels: {{type: object, additionalProperties: {{type: string}}}}
              region:
                type: string
                x-kubernetes-validations:
                - {{rule: self == oldSelf, message: a vault stays where it is}}
              size: {{type: integer}}
"
    );
    let vault = format!(
        "
apiVersion: {group}/v1
kind: Vault
metadata: {{name: it, namespace: NS}}
spec: {{region: north, size: 1, labels: {{a: b}}}}
"
    );
    at.objects(&[("definition", &definition), ("vault", &vault)]).init().await;
    at.runner.apply_with(&["-parallelism=20"]).await.unwrap().successful().unwrap();
    at.plan_empty().await;
    // A map whose last key goes is refused by the server too, and is no reason to replace.
    let emptied = vault.replace("labels: {a: b}", "labels: {}");
    at.objects(&[("definition", &definition), ("vault", &emptied)]);
    let plan = at.plan_fails().await;
    says(&plan.text, "cannot combine the change with its other fields");
    let without = vault.replace(", labels: {a: b}", "");
    at.objects(&[("definition", &definition), ("vault", &without)]);
    at.apply().await;
    at.plan_empty().await;
    at.objects(&[("definition", &definition), ("vault", &vault.replace("north", "south"))]);
    let plan = at.plan_changes().await;
    says(&plan.text, "must be replaced");
    says(&plan.text, "a vault stays where it is");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn a_mistake_is_no_reason_to_replace() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("web", DEPLOYMENT)]).init().await;
    at.apply().await;
    at.objects(&[("web", &DEPLOYMENT.replace("replicas: 2", "replicas: -2"))]);
    let plan = at.plan_fails().await;
    says(&plan.text, "is refused by the API server");
    never_says(&plan.text, "replace");
    at.objects(&[("web", DEPLOYMENT)]);
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn what_cannot_be_proved_offers_taint_and_taint_works() {
    let at = Workspace::new(Tool::Terraform).await;
    // The port is the old object's own: a creation beside it is refused for another reason.
    let service = "
apiVersion: v1
kind: Service
metadata: {name: it, namespace: NS}
spec:
  type: NodePort
  clusterIP: 10.96.77.71
  selector: {app: web}
  ports: [{port: 80, nodePort: 30871}]
";
    at.objects(&[("it", service)]).init().await;
    at.apply().await;
    at.objects(&[("it", &service.replace("10.96.77.71", "10.96.77.72"))]);
    let plan = at.plan_fails().await;
    says(&plan.text, "cannot be changed like this");
    says(&plan.text, "provided port is already allocated");
    // `-replace` would not do: Terraform first asks for an ordinary plan, and stops at its error.
    says(&plan.text, "terraform taint ADDRESS");
    at.runner.run(&["taint", "k8sconnect_object.it"]).await.unwrap().successful().unwrap();
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn replace_under_the_same_name_makes_the_object_anew() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let before = uid(&at).await;
    let run = at.runner.apply_with(&["-replace=k8sconnect_object.settings"]).await.unwrap();
    run.successful().unwrap();
    at.plan_empty().await;
    assert_ne!(uid(&at).await, before);
    at.destroy().await;
}

#[tokio::test]
async fn create_before_destroy_works_where_names_differ() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let lifecycle = "lifecycle { create_before_destroy = true }";
        at.object_with("settings", CONFIG_MAP, lifecycle).init().await;
        at.apply().await;
        let renamed = CONFIG_MAP.replace("name: settings", "name: renamed");
        at.object_with("settings", &renamed, lifecycle);
        let plan = at.plan_changes().await;
        says(&plan.text, "+/- create replacement and then destroy");
        at.apply().await;
        at.plan_empty().await;
        let old = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
        assert_eq!(at.cluster.read(&old).await.unwrap(), None);
        at.destroy().await;
    }
}

#[tokio::test]
async fn every_part_of_an_identity_replaces_and_leaves_no_orphan() {
    let at = Workspace::new(Tool::Terraform).await;
    let kind = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kind, namespace: NS}}";
    let home = "{apiVersion: v1, kind: ConfigMap, metadata: {name: NS-home, namespace: NS}}";
    let version = "
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: version, namespace: NS}
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
";
    at.objects(&[("kind", kind), ("home", home), ("version", version)]).init().await;
    at.apply().await;
    at.plan_empty().await;
    at.objects(&[
        ("kind", &kind.replace("ConfigMap", "Secret")),
        ("home", &home.replace("namespace: NS", "namespace: default")),
        ("version", &version.replace("autoscaling/v1", "autoscaling/v2")),
    ]);
    let plan = at.plan_changes().await;
    says(&plan.text, "3 to add, 0 to change, 3 to destroy");
    says(&plan.text, "kind: ConfigMap -> Secret");
    let ns = at.namespace.name().to_owned();
    says(&plan.text, &format!("metadata.namespace: {ns} -> default"));
    says(&plan.text, "apiVersion: autoscaling/v1 -> autoscaling/v2");
    at.apply().await;
    at.plan_empty().await;
    let own = format!("{ns}-home");
    for old in [
        Target::new("v1", "ConfigMap", ns.as_str(), "kind"),
        Target::new("v1", "ConfigMap", ns.as_str(), own.as_str()),
    ] {
        assert_eq!(at.cluster.read(&old).await.unwrap(), None, "{old:?}");
    }
    at.destroy().await;
    for gone in [
        Target::new("v1", "Secret", ns.as_str(), "kind"),
        Target::new("v1", "ConfigMap", "default", own.as_str()),
        Target::new("autoscaling/v2", "HorizontalPodAutoscaler", ns.as_str(), "version"),
    ] {
        assert_eq!(at.cluster.read(&gone).await.unwrap(), None, "{gone:?}");
    }
}

#[tokio::test]
async fn what_does_not_say_which_object_is_meant_never_replaces() {
    let at = Workspace::new(Tool::Terraform).await;
    let role = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NS-role}
rules: []
";
    let map = "
apiVersion: v1
kind: ConfigMap
metadata: {name: NS-map, labels: {a: b}, annotations: {a: b}}
data: {a: b}
";
    at.objects(&[("role", role), ("map", map)]).init().await;
    at.apply().await;
    // A namespace says nothing of a kind that has none, and `default` is what is not written.
    let named = |body: &str, namespace: &str| {
        body.replace("metadata: {", &format!("metadata: {{namespace: {namespace}, "))
    };
    let (role, map) = (named(role, "shop"), named(map, "default"));
    at.objects(&[("role", &role), ("map", &map)]);
    at.plan_empty().await;
    at.objects(&[("role", &role), ("map", &map.replace("a: b", "a: c"))]);
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    never_says(&plan.text, "must be replaced");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn under_one_name_create_before_destroy_is_refused_and_nothing_is_lost() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let map = format!("{CONFIG_MAP}immutable: true\n");
        // Whoever depends on a resource passes the setting on to it.
        let written = |map: &str, arguments: &str, lifecycle: &str| {
            let ours = at.resource("settings", map, arguments);
            let after = CONFIG_MAP.replace("name: settings", "name: after");
            let after = after.replace("hello", "${k8sconnect_object.settings.uid}");
            let after = at.resource("after", &after, lifecycle);
            at.runner.write("main.tf", &format!("{ours}\n{after}")).unwrap();
        };
        let first = "lifecycle { create_before_destroy = true }";
        written(&map, "", first);
        at.init().await;
        at.apply().await;
        let changed = map.replace("hello", "goodbye");
        for arguments in ["", "adopt = true"] {
            written(&changed, arguments, first);
            says(&at.plan_changes().await.text, "+/- create replacement and then destroy");
            let refused = at.runner.apply().await.unwrap();
            assert!(!refused.succeeded());
            says(
                &refused.text,
                "`create_before_destroy` makes the new one before the old one goes",
            );
            // State is as it was.
            written(&map, "", first);
            at.plan_empty().await;
        }
        let mut adopt = "";
        if tool.product() == Product::OpenTofu {
            // It does not say when it applies. Where nothing but the user asks for the replacement,
            // its second plan is refused, and leaves the old object set aside. The way out that
            // the next plan names works.
            let replace = "-replace=k8sconnect_object.settings";
            assert!(!at.runner.apply_with(&[replace]).await.unwrap().succeeded());
            says(&at.plan_fails().await.text, "If the old object is shown as deposed");
            let address = "k8sconnect_object.settings";
            at.runner.state(&["rm", address]).await.unwrap().successful().unwrap();
            adopt = "adopt = true";
            written(&map, adopt, first);
            at.apply().await;
        }
        written(&changed, adopt, "");
        at.apply().await;
        at.plan_empty().await;
        at.destroy().await;
    }
}

/// Of the second half of a replacement Terraform shows errors only; found by fresh eyes, who lost the
/// old object before they heard of it.
#[tokio::test]
async fn what_is_to_be_said_of_a_successor_is_said_before_the_old_one_goes() {
    for tool in [Tool::Terraform, Tool::OpenTofu] {
        let at = Workspace::new(tool).await;
        at.object_with("it", CONFIG_MAP, "adopt = true").init().await;
        at.apply().await;
        let elsewhere = CONFIG_MAP.replace("namespace: NS", "namespace: NS-not-there");
        at.object_with("it", &elsewhere, "adopt = true");
        let plan = at.plan_changes().await;
        says(&plan.text, "will be replaced by another object");
        says(&plan.text, "cannot be planned in full yet");

        let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"greeting": "theirs"},
            "metadata": {"name": "other", "namespace": at.namespace.name()}});
        at.cluster.act_as("helm").apply(&other).await.unwrap();
        at.object_with("it", &CONFIG_MAP.replace("name: settings", "name: other"), "adopt = true");
        let plan = at.plan_changes().await;
        says(&plan.text, "will be taken over");
        says(&plan.text, "1 field will be taken from other managers");
        says(&plan.text, "`helm`");
        at.apply().await;
        at.plan_empty().await;
        at.destroy().await;
    }
}
