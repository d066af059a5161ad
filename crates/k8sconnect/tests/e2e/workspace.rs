//! A configuration of ours in a folder of its own, and the namespace that it writes to.

use serde_json::json;
use testkit::{ControlPlane, Plan, PlanOutcome, Run, Runner, Target, TestNamespace, Tool};

pub(crate) struct Workspace {
    pub(crate) cluster: &'static ControlPlane,
    pub(crate) namespace: TestNamespace,
    pub(crate) runner: Runner,
}

const HEAD: &str = r#"
terraform {
  required_providers {
    k8sconnect = { source = "k8sconnect/k8sconnect" }
  }
}
"#;

impl Workspace {
    pub(crate) async fn new(tool: Tool) -> Self {
        let cluster = ControlPlane::shared().await;
        let namespace = TestNamespace::new(cluster).await.unwrap();
        let runner = Runner::new(tool).await.unwrap();
        runner.write("kubeconfig", &cluster.kubeconfig()).unwrap();
        let at = Self { cluster, namespace, runner };
        at.head();
        at
    }

    /// Says where the provider comes from.
    pub(crate) fn head(&self) -> &Self {
        self.runner.write("head.tf", HEAD).unwrap();
        self
    }

    /// Another kubeconfig for the same cluster.
    pub(crate) fn kubeconfig(&self, text: &str) -> &Self {
        self.runner.write("kubeconfig", text).unwrap();
        self
    }

    /// Writes one resource for each body; `NS` in a body stands for the test's namespace.
    pub(crate) fn objects(&self, bodies: &[(&str, &str)]) -> &Self {
        let resources: Vec<_> =
            bodies.iter().map(|(name, body)| self.resource(name, body, "")).collect();
        self.runner.write("main.tf", &resources.join("\n")).unwrap();
        self
    }

    /// Writes one resource with further arguments.
    pub(crate) fn object_with(&self, name: &str, body: &str, arguments: &str) -> &Self {
        self.runner.write("main.tf", &self.resource(name, body, arguments)).unwrap();
        self
    }

    /// One resource, as text.
    pub(crate) fn resource(&self, name: &str, body: &str, arguments: &str) -> String {
        let body = body.replace("NS", self.namespace.name());
        format!(
            "resource \"k8sconnect_object\" \"{name}\" {{\n  \
             cluster = {{ kubeconfig = file(\"kubeconfig\") }}\n  {arguments}\n  \
             yaml_body = <<-YAML\n{}\nYAML\n}}\n",
            body.trim_end()
        )
    }

    pub(crate) async fn init(&self) -> &Self {
        self.runner.init().await.unwrap().successful().unwrap();
        self
    }

    pub(crate) async fn apply(&self) -> Run {
        self.runner.apply().await.unwrap().successful().unwrap()
    }

    pub(crate) async fn destroy(&self) -> Run {
        self.runner.destroy().await.unwrap().successful().unwrap()
    }

    /// Whether the tool hands the private state of a plan to its apply: Terraform 1.16 and later.
    pub(crate) async fn hands_over(&self) -> bool {
        let version = self.runner.run(&["version"]).await.unwrap().stdout;
        let minor = version.strip_prefix("Terraform v1.").and_then(|rest| rest.split('.').next());
        minor.is_some_and(|minor| minor.parse::<u32>().unwrap() >= 16)
    }

    /// A plan that must find something to do.
    pub(crate) async fn plan_changes(&self) -> Plan {
        self.plan(PlanOutcome::Changes).await
    }

    pub(crate) async fn plan_empty(&self) -> Plan {
        self.plan(PlanOutcome::NoChanges).await
    }

    pub(crate) async fn plan_fails(&self) -> Plan {
        self.plan(PlanOutcome::Failed).await
    }

    async fn plan(&self, expected: PlanOutcome) -> Plan {
        let plan = self.runner.plan().await.unwrap();
        assert_eq!(plan.outcome, expected, "{}", plan.text);
        plan
    }
}

/// An admission policy for the ConfigMaps of a workspace's namespace.
pub(crate) struct Policy<'a> {
    at: &'a Workspace,
    name: String,
}

impl<'a> Policy<'a> {
    /// Refuses the operations for which the expression is false. It takes a moment to bite: let
    /// the caller try until it does.
    pub(crate) async fn impose(
        at: &'a Workspace,
        operations: &[&str],
        expression: &str,
        message: &str,
    ) -> Self {
        let name = format!("{}-policy", at.namespace.name());
        let version = "admissionregistration.k8s.io/v1";
        let spec = json!({
            "matchConstraints": {
                "namespaceSelector": {"matchLabels":
                    {"kubernetes.io/metadata.name": at.namespace.name()}},
                "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                    "operations": operations, "resources": ["configmaps"]}],
            },
            "validations": [{"expression": expression, "message": message}],
        });
        let bound = json!({"policyName": name, "validationActions": ["Deny"]});
        for (kind, spec) in Self::KINDS.into_iter().zip([spec, bound]) {
            let object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name},
                                "spec": spec});
            at.cluster.act_as("security").apply(object).await.unwrap();
        }
        Self { at, name }
    }

    pub(crate) async fn lift(self) {
        for kind in Self::KINDS.into_iter().rev() {
            let target =
                Target::new("admissionregistration.k8s.io/v1", kind, None, self.name.as_str());
            self.at.cluster.delete(&target).await.unwrap();
        }
    }

    const KINDS: [&'static str; 2] =
        ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];
}

/// Whether the words were said, wherever Terraform broke its lines.
#[track_caller]
pub(crate) fn says(text: &str, words: &str) {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(text).contains(&flat(words)), "`{words}` was not said:\n{text}");
}

/// Of warnings, the one that most workspaces deserve does not count: their resources describe the cluster
/// themselves, with a credential.
#[track_caller]
pub(crate) fn never_says(text: &str, words: &str) {
    let text = text.replace(&format!("Warning: {STORED_CREDENTIAL}"), "");
    assert!(!text.contains(words), "`{words}` was said:\n{text}");
}

pub(crate) const STORED_CREDENTIAL: &str =
    "A `cluster` outside of the provider block puts a credential into state";

pub(crate) const CONFIG_MAP: &str = "
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: NS
data:
  greeting: hello
  app.conf: |
    workers = 2
";

pub(crate) const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: NS
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1.29
        ports:
        - containerPort: 80
        resources:
          limits: {cpu: 1000m}
";
