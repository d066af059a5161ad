//! Another spelling is not another object.

use testkit::Tool;

use crate::workspace::{DEPLOYMENT, Workspace, says};

#[tokio::test]
async fn comments_key_order_quoting_and_quantities_plan_empty() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("web", DEPLOYMENT)]).init().await;
    at.apply().await;
    let respelled = "
# The same, written by somebody else.
kind: \"Deployment\"
apiVersion: apps/v1
metadata: {namespace: NS, name: web}
spec:
  template:
    spec:
      containers:
      - resources: {limits: {cpu: \"1\"}}   # one whole core
        ports: [{containerPort: 0x50}]
        image: 'nginx:1.29'
        name: web
    metadata: {labels: {app: web}}
  selector: {matchLabels: {app: web}}
  replicas: 2
";
    at.objects(&[("web", respelled)]);
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn another_order_of_items_is_a_change() {
    let at = Workspace::new(Tool::Terraform).await;
    let env = |first: &str, second: &str| {
        DEPLOYMENT.replace(
            "        image: nginx:1.29",
            &format!(
                "        image: nginx:1.29\n        env:\n        \
                 - {{name: {first}, value: x}}\n        - {{name: {second}, value: x}}"
            ),
        )
    };
    at.objects(&[("web", &env("A", "B"))]).init().await;
    at.apply().await;
    at.plan_empty().await;
    at.objects(&[("web", &env("B", "A"))]);
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn a_shell_variable_in_a_script_is_just_text() {
    let at = Workspace::new(Tool::Terraform).await;
    let body = "
apiVersion: v1
kind: ConfigMap
metadata: {name: script, namespace: NS}
data:
  run.sh: |
    echo $${HOME} %%{if}
";
    at.objects(&[("script", body)]).init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "echo ${HOME} %{if}");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}
