//! A namespace of a test's own, so that tests share a control plane without meeting.

use anyhow::Result;
use serde_json::json;

use crate::client::{Call, Client, JSON, in_background};
use crate::control_plane::ControlPlane;

/// Deleted when dropped, without waiting for it to go.
pub struct TestNamespace {
    name: String,
    client: Client,
}

impl TestNamespace {
    /// Ready for use: on a full control plane its service account is there, so that pods
    /// are admitted at once.
    pub async fn new(control_plane: &ControlPlane) -> Result<Self> {
        let name = format!("test-{:010x}", fastrand::u64(..1 << 40));
        control_plane
            .act_as("testkit")
            .create(
                json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }),
            )
            .await?;
        let made = Self { name, client: control_plane.client().clone() };
        control_plane.await_service_account(&made.name).await?;
        Ok(made)
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Display for TestNamespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Drop for TestNamespace {
    fn drop(&mut self) {
        let client = self.client.clone();
        let path = format!("/api/v1/namespaces/{}", self.name);
        in_background(async move {
            let _ = client
                .send(Call {
                    method: http::Method::DELETE,
                    path: &path,
                    user_agent: "testkit",
                    content_type: JSON,
                    body: None,
                })
                .await;
        });
    }
}
