//! An admission webhook or policy that rewrites one field, as one that points images at a mirror does.
//! It can be changed and lifted, and each time it is in force when the call returns.

use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};

use crate::assets::KubernetesVersion;
use crate::control_plane::ControlPlane;
use crate::target::Target;
use crate::webhook::Webhook;

const PATIENCE: Duration = Duration::from_secs(60);

/// The first minor version of Kubernetes with a policy that the control plane switches on.
const OLDEST_POLICY_MINOR: u32 = 34;

const API: &str = "admissionregistration.k8s.io";

/// The name of the ConfigMap by which is seen what is in force.
const PROBE: &str = "probe";

/// By what an object is rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    Webhook,
    /// A MutatingAdmissionPolicy, from Kubernetes 1.34 on.
    Policy,
}

impl Means {
    pub const ALL: [Self; 2] = [Self::Webhook, Self::Policy];
}

/// Puts another value in the place of one written value of `data.greeting`, and of nothing else, in
/// the ConfigMap that a test names. A second ConfigMap, the probe, shows what is in force.
pub struct Rewriter<'a> {
    control_plane: &'a ControlPlane,
    means: Means,
    namespace: String,
    name: String,
    written: String,
    /// Those before the latest may still be asked for a moment.
    webhooks: Vec<Webhook>,
}

impl<'a> Rewriter<'a> {
    /// `None` where the server is too old to know such means.
    pub async fn impose(
        control_plane: &'a ControlPlane,
        means: Means,
        target: &Target,
        [written, value]: [&str; 2],
    ) -> Result<Option<Self>> {
        let namespace = target.namespace.clone().unwrap_or_default();
        let (name, written) = (target.name.clone(), written.to_owned());
        let mut it = Self { control_plane, means, namespace, name, written, webhooks: Vec::new() };
        if it.version().await?.is_none() {
            let minor = KubernetesVersion::wanted()?.version().minor;
            ensure!(minor < OLDEST_POLICY_MINOR, "the server was started without `{means:?}`");
            return Ok(None);
        }
        it.change(value).await?;
        Ok(Some(it))
    }

    /// Puts another value in its place from here on.
    pub async fn change(&mut self, value: &str) -> Result<()> {
        let objects = match self.means {
            Means::Webhook => vec![self.webhook(value).await?],
            Means::Policy => self.policy(value).await?,
        };
        for object in objects {
            self.control_plane.act_as("security").apply(object).await?;
        }
        self.comes_out(value).await
    }

    pub async fn lift(self) -> Result<()> {
        for kind in self.kinds() {
            let version = self.version().await?.unwrap_or_default();
            let target = Target::new(&format!("{API}/{version}"), kind, None, &self.own_name());
            self.control_plane.delete(&target).await?;
        }
        self.comes_out(PROBE).await
    }

    fn kinds(&self) -> &'static [&'static str] {
        match self.means {
            Means::Webhook => &["MutatingWebhookConfiguration"],
            Means::Policy => &["MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"],
        }
    }

    /// The version in which the server has the kinds, if it has them.
    async fn version(&self) -> Result<Option<&'static str>> {
        let plural = match self.means {
            Means::Webhook => "mutatingwebhookconfigurations",
            Means::Policy => "mutatingadmissionpolicies",
        };
        for version in ["v1", "v1beta1"] {
            let path = format!("/apis/{API}/{version}");
            let answer = self.control_plane.client().read(&path).await?;
            if answer.body["resources"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|it| it["name"] == plural)
            {
                return Ok(Some(version));
            }
        }
        Ok(None)
    }

    fn own_name(&self) -> String {
        format!("{}-{}", self.namespace, self.name)
    }

    fn rules(&self) -> Value {
        json!([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                "resources": ["configmaps"]}])
    }

    fn selector(&self) -> Value {
        json!({"matchLabels": {"kubernetes.io/metadata.name": self.namespace}})
    }

    fn condition(&self) -> Value {
        let (name, written) = (&self.name, &self.written);
        let expression = format!(
            "object.metadata.name in ['{name}', '{PROBE}'] && \
             has(object.data) && 'greeting' in object.data && \
             object.data.greeting in ['{written}', '{PROBE}']"
        );
        json!([{"name": "written", "expression": expression}])
    }

    async fn webhook(&mut self, value: &str) -> Result<Value> {
        let operations = json!([{"op": "replace", "path": "/data/greeting", "value": value}]);
        let webhook = Webhook::rewriting(self.control_plane, &operations).await?;
        let client = webhook.client_config();
        self.webhooks.push(webhook);
        Ok(json!({
            "apiVersion": format!("{API}/v1"), "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": self.own_name()},
            "webhooks": [{
                "name": "mirror.example.com", "failurePolicy": "Fail", "sideEffects": "None",
                "admissionReviewVersions": ["v1"], "timeoutSeconds": 5, "clientConfig": client,
                "namespaceSelector": self.selector(), "matchConditions": self.condition(),
                "rules": self.rules(),
            }],
        }))
    }

    async fn policy(&self, value: &str) -> Result<Vec<Value>> {
        let version = format!("{API}/{}", self.version().await?.unwrap_or_default());
        let name = self.own_name();
        let operation =
            format!("[JSONPatch{{op: 'replace', path: '/data/greeting', value: '{value}'}}]");
        let policy = json!({
            "matchConstraints": {"namespaceSelector": self.selector(), "resourceRules": self.rules()},
            "matchConditions": self.condition(), "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": operation}}],
        });
        let object = |kind: &str, spec: Value| json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec});
        Ok(vec![
            object("MutatingAdmissionPolicy", policy),
            object("MutatingAdmissionPolicyBinding", json!({"policyName": name})),
        ])
    }

    /// Waits until the probe comes out with this value.
    async fn comes_out(&self, value: &str) -> Result<()> {
        let probe = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"greeting": PROBE},
            "metadata": {"name": PROBE, "namespace": self.namespace}});
        let rival = self.control_plane.act_as("security").force();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = rival.try_apply(probe.clone()).await?;
            if answer.accepted().is_ok_and(|made| made["data"]["greeting"] == value) {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("what rewrites ConfigMaps in `{}` did not change", self.namespace);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
