//! Things that only come to be in the same run: kinds, namespaces, bodies, clusters.

use testkit::{Target, Tool};

use crate::workspace::{CONFIG_MAP, Workspace, never_says, says};

fn definition(group: &str) -> String {
    format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.{group}}}
spec:
  group: {group}
  names: {{kind: Widget, plural: widgets, singular: widget}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {{type: object, x-kubernetes-preserve-unknown-fields: true}}
"
    )
}

fn widget(group: &str, name: &str) -> String {
    format!(
        "
apiVersion: {group}/v1
kind: Widget
metadata: {{name: {name}, namespace: NS}}
spec: {{size: 3}}
"
    )
}

#[tokio::test]
async fn a_kind_and_thirty_of_it_fit_in_one_apply() {
    let at = Workspace::new(Tool::Terraform).await;
    let group = format!("{}.example.com", at.namespace.name());
    let bodies: Vec<_> =
        (0..30).map(|n| (format!("w{n}"), widget(&group, &format!("w{n}")))).collect();
    let crd = definition(&group);
    let mut objects: Vec<_> = bodies.iter().map(|(n, b)| (n.as_str(), b.as_str())).collect();
    objects.push(("definition", &crd));
    at.objects(&objects).init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "cannot be planned in full yet");
    says(&plan.text, &format!("does not serve `Widget` of `{group}/v1` at the moment"));
    // No `depends_on`: enough hands for all of them, so that nobody waits for his turn.
    at.runner.apply_with(&["-parallelism=40"]).await.unwrap().successful().unwrap();
    at.plan_empty().await;
    at.destroy().await;
}

/// Terraform works on ten at a time, first come, first served: the definition, which needs
/// something else first, stands in line behind all those that wait for it.
#[tokio::test]
async fn thirty_that_wait_for_their_kind_make_room_for_it_and_the_next_run_makes_them_all() {
    let at = Workspace::new(Tool::Terraform).await;
    let group = format!("{}.example.com", at.namespace.name());
    let mut resources: Vec<_> = (0..30)
        .map(|n| at.resource(&format!("w{n}"), &widget(&group, &format!("w{n}")), ""))
        .collect();
    resources.push(at.resource("settings", CONFIG_MAP, ""));
    let behind = "depends_on = [k8sconnect_object.settings]";
    resources.push(at.resource("definition", &definition(&group), behind));
    at.runner.write("main.tf", &resources.join("\n")).unwrap();
    at.init().await;
    let started = std::time::Instant::now();
    let run = at.runner.apply().await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "made room for others and was not created");
    says(&run.text, "Run again");
    says(&run.text, "depends_on");
    never_says(&run.text, "cannot be created yet");
    let took = started.elapsed();
    assert!(took.as_secs() < 120, "{took:?}, and `apply_timeout` is five minutes");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn a_kind_that_never_comes_names_depends_on() {
    let at = Workspace::new(Tool::Terraform).await;
    let body = widget("never.example.com", "w");
    at.object_with("w", &body, "apply_timeout = \"2s\"").init().await;
    let run = at.runner.apply().await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "cannot be created yet");
    says(&run.text, "Apply waited 2 seconds");
    says(&run.text, "depends_on");
}

#[tokio::test]
async fn a_namespace_and_its_content_fit_in_one_apply() {
    let at = Workspace::new(Tool::Terraform).await;
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: NS-own\n";
    let content = CONFIG_MAP.replace("namespace: NS", "namespace: NS-own");
    at.objects(&[("content", &content), ("namespace", namespace)]).init().await;
    at.apply().await;
    at.plan_empty().await;
    let name = format!("{}-own", at.namespace.name());
    let target = Target::new("v1", "ConfigMap", name.as_str(), "settings");
    assert!(at.cluster.read(&target).await.unwrap().is_some());
    at.destroy().await;
}

#[tokio::test]
async fn an_ordinary_refusal_fails_at_once() {
    let at = Workspace::new(Tool::Terraform).await;
    let group = format!("{}.example.com", at.namespace.name());
    let bad = CONFIG_MAP.replace("kind: ConfigMap", "kind: ConfigMapp");
    at.objects(&[("definition", &definition(&group)), ("bad", &bad)]).init().await;
    let started = std::time::Instant::now();
    let plan = at.plan_fails().await;
    says(&plan.text, "there is no such kind");
    assert!(started.elapsed().as_secs() < 20);
}

#[tokio::test]
async fn a_body_and_a_cluster_known_only_at_apply_plan_and_apply_in_one_run() {
    let at = Workspace::new(Tool::Terraform).await;
    let configuration = format!(
        r#"
resource "terraform_data" "late" {{
  input = {{ word = "hello", kubeconfig = file("kubeconfig") }}
}}

resource "k8sconnect_object" "settings" {{
  cluster   = {{ kubeconfig = terraform_data.late.output.kubeconfig }}
  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata: {{name: settings, namespace: {}}}
    data: {{greeting: "${{terraform_data.late.output.word}}"}}
  YAML
}}
"#,
        at.namespace.name()
    );
    at.runner.write("main.tf", &configuration).unwrap();
    at.init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "managed_state_projection = (known after apply)");
    says(&plan.text, "is known only after apply, so that the API server cannot be asked");
    at.apply().await;
    at.plan_empty().await;

    // Unknown again on an object that exists: an update in place, never a replacement.
    at.runner.write("main.tf", &configuration.replace("\"hello\"", "\"good day\"")).unwrap();
    let plan = at.plan_changes().await;
    says(&plan.text, "0 to add, 2 to change, 0 to destroy");
    at.apply().await;
    at.plan_empty().await;
    let target = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    let live = at.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["data"]["greeting"], "good day");
    at.destroy().await;
}

async fn an_identity_known_only_at_apply(tool: Tool) {
    let at = Workspace::new(tool).await;
    let configuration = |name: &str| {
        format!(
            r#"
resource "terraform_data" "late" {{
  input = "{name}"
}}

resource "k8sconnect_object" "settings" {{
  cluster   = {{ kubeconfig = file("kubeconfig") }}
  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata: {{name: "${{terraform_data.late.output}}", namespace: {}}}
    data: {{greeting: hello}}
  YAML
}}
"#,
            at.namespace.name()
        )
    };
    at.runner.write("main.tf", &configuration("one")).unwrap();
    at.init().await;
    at.apply().await;
    at.plan_empty().await;

    at.runner.write("main.tf", &configuration("two")).unwrap();
    let run = at.runner.apply().await.unwrap();
    assert!(!run.succeeded(), "{}", run.text);
    says(&run.text, "Run apply again: it will plan the replacement");
    let target = |name| Target::new("v1", "ConfigMap", at.namespace.name(), name);
    assert!(at.cluster.read(&target("one")).await.unwrap().is_some(), "nothing was written");
    assert!(at.cluster.read(&target("two")).await.unwrap().is_none(), "nothing was written");

    at.apply().await;
    at.plan_empty().await;
    assert!(at.cluster.read(&target("one")).await.unwrap().is_none(), "no orphan is left");
    assert!(at.cluster.read(&target("two")).await.unwrap().is_some());
    at.destroy().await;
}

#[tokio::test]
async fn an_identity_known_only_at_apply_writes_nothing_and_says_so() {
    an_identity_known_only_at_apply(Tool::Terraform).await;
}

#[tokio::test]
async fn an_identity_known_only_at_apply_writes_nothing_under_opentofu_either() {
    an_identity_known_only_at_apply(Tool::OpenTofu).await;
}

#[tokio::test]
async fn a_replacement_can_be_planned_without_a_refresh() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    at.objects(&[("settings", &CONFIG_MAP.replace("name: settings", "name: renamed"))]);
    at.runner.apply_with(&["-refresh=false"]).await.unwrap().successful().unwrap();
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn a_kind_of_a_neighbour_of_kubernetes_may_come_later() {
    let at = Workspace::new(Tool::Terraform).await;
    let body = widget("gateway.networking.k8s.io", "w");
    at.object_with("w", &body, "apply_timeout = \"2s\"").init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "cannot be planned in full yet");
}

#[tokio::test]
async fn a_kind_that_a_served_group_lacks_is_waited_for_and_named() {
    let at = Workspace::new(Tool::Terraform).await;
    let group = format!("{}.example.com", at.namespace.name());
    at.objects(&[("definition", &definition(&group))]).init().await;
    at.apply().await;
    let body = widget(&group, "w").replace("kind: Widget", "kind: Widgets");
    let both = format!(
        "{}\n{}",
        std::fs::read_to_string(at.runner.directory().join("main.tf")).unwrap(),
        {
            at.object_with("w", &body, "apply_timeout = \"2s\"");
            std::fs::read_to_string(at.runner.directory().join("main.tf")).unwrap()
        }
    );
    at.runner.write("main.tf", &both).unwrap();
    let run = at.runner.apply().await.unwrap();
    assert!(!run.succeeded());
    says(&run.text, "cannot be created yet");
    says(&run.text, "Did you mean `Widget`?");
    says(&run.text, "depends_on");
    at.destroy().await;
}

#[tokio::test]
async fn a_definition_of_another_scope_is_followed_by_its_objects_old_and_new() {
    for tool in [Tool::Terraform, Tool::OpenTofu] {
        let at = Workspace::new(tool).await;
        let group = format!("{}.example.com", at.namespace.name());
        let along = "depends_on = [k8sconnect_object.definition]\n  \
                     lifecycle { replace_triggered_by = [k8sconnect_object.definition.uid] }";
        let write = |definition: &str, names: &[&str]| {
            let mut main = vec![at.resource("definition", definition, "")];
            main.extend(names.iter().map(|name| at.resource(name, &widget(&group, name), along)));
            at.runner.write("main.tf", &main.join("\n")).unwrap();
        };
        write(&definition(&group), &["a", "b"]);
        at.init().await;
        at.apply().await;
        write(&definition(&group).replace("Namespaced", "Cluster"), &["a", "b", "c"]);
        let run = at.apply().await;
        says(&run.text, "4 added, 0 changed, 3 destroyed");
        at.plan_empty().await;
        at.destroy().await;
    }
}
