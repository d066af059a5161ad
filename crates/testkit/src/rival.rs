//! Somebody else who writes to the cluster: kubectl, an autoscaler, another controller.
//! Every write carries the rival's field manager, so that ownership moves as it does in
//! a real cluster.

use anyhow::Result;
use http::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Call, Client, JSON};
use crate::control_plane::ControlPlane;
use crate::target::{Manifest, Target};

/// A writer with a field manager of its own. See [`ControlPlane::act_as`].
#[derive(Clone)]
pub struct Rival {
    client: Client,
    manager: String,
    conflicts: Conflicts,
    subresource: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conflicts {
    Refuse,
    Force,
}

impl ControlPlane {
    /// Writes as `manager` from here on.
    pub fn act_as(&self, manager: &str) -> Rival {
        Rival {
            client: self.client().clone(),
            manager: manager.to_owned(),
            conflicts: Conflicts::Refuse,
            subresource: None,
        }
    }
}

impl Rival {
    /// Takes fields from whoever holds them (server-side apply only).
    pub fn force(mut self) -> Self {
        self.conflicts = Conflicts::Force;
        self
    }

    /// Writes to `status`, `scale` or another subresource.
    pub fn subresource(mut self, name: &str) -> Self {
        self.subresource = Some(name.to_owned());
        self
    }

    /// Server-side apply.
    pub async fn apply(&self, manifest: impl Manifest) -> Result<Value> {
        self.try_apply(manifest).await?.accepted()
    }

    /// Server-side apply, with the server's answer as it is: for tests of refusals.
    pub async fn try_apply(&self, manifest: impl Manifest) -> Result<Answer> {
        let object = manifest.object()?;
        let target = Target::of(&object)?;
        let force = match self.conflicts {
            Conflicts::Refuse => "",
            Conflicts::Force => "&force=true",
        };
        let (_, path) = target.paths(&self.client).await?;
        self.send(Method::PATCH, &path, force, "application/apply-patch+yaml", Some(&object)).await
    }

    pub async fn create(&self, manifest: impl Manifest) -> Result<Value> {
        let object = manifest.object()?;
        let (collection, _) = Target::of(&object)?.paths(&self.client).await?;
        self.send(Method::POST, &collection, "", JSON, Some(&object)).await?.accepted()
    }

    /// Replaces the whole object, as `kubectl replace` does; a manifest without a
    /// resource version takes the live one.
    pub async fn update(&self, manifest: impl Manifest) -> Result<Value> {
        let mut object = manifest.object()?;
        let (_, path) = Target::of(&object)?.paths(&self.client).await?;
        if object["metadata"]["resourceVersion"].is_null() {
            let live = self.client.read(&path).await?.accepted()?;
            object["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
        }
        self.send(Method::PUT, &path, "", JSON, Some(&object)).await?.accepted()
    }

    pub async fn merge_patch(&self, target: &Target, patch: Value) -> Result<Value> {
        self.patch(target, "application/merge-patch+json", &patch).await
    }

    /// `patch` is the list of operations.
    pub async fn json_patch(&self, target: &Target, patch: Value) -> Result<Value> {
        self.patch(target, "application/json-patch+json", &patch).await
    }

    /// What `kubectl edit` and `kubectl set` send: lists merge by their keys.
    pub async fn strategic_patch(&self, target: &Target, patch: Value) -> Result<Value> {
        self.patch(target, "application/strategic-merge-patch+json", &patch).await
    }

    /// Scales as an autoscaler does, through the `scale` subresource.
    pub async fn scale(&self, target: &Target, replicas: u32) -> Result<Value> {
        self.clone()
            .subresource("scale")
            .merge_patch(target, json!({ "spec": { "replicas": replicas } }))
            .await
    }

    async fn patch(&self, target: &Target, content_type: &str, patch: &Value) -> Result<Value> {
        let (_, path) = target.paths(&self.client).await?;
        self.send(Method::PATCH, &path, "", content_type, Some(patch)).await?.accepted()
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        query: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<Answer> {
        let below = self.subresource.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
        let path = format!("{path}{below}?fieldManager={}{query}", self.manager);
        self.client
            .send(Call {
                method,
                path: &path,
                user_agent: &format!("testkit-rival/{}", self.manager),
                content_type,
                body,
            })
            .await
    }
}
