//! Carries out one write of the tables.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{ControlPlane, Target};

use super::super::tables::How;

#[derive(Clone)]
pub(super) struct Meddler {
    pub(super) cluster: &'static ControlPlane,
    pub(super) target: Target,
    /// The body of ours that a stranger is modelled on.
    pub(super) ours: Value,
    pub(super) how: How,
    pub(super) stranger: Arc<Mutex<Option<Value>>>,
}

type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

impl Meddler {
    pub(super) async fn meddle(self) -> Outcome {
        let Self { cluster, target, .. } = &self;
        let rival = cluster.act_as("rival");
        match self.how {
            How::Merge(patch) => rival.merge_patch(target, patch()).await.map(drop)?,
            How::Strategic(patch) => rival.strategic_patch(target, patch()).await.map(drop)?,
            How::Json(patch) => rival.json_patch(target, patch()).await.map(drop)?,
            How::Status(patch) => {
                let rival = rival.subresource("status");
                rival.strategic_patch(target, patch()).await.map(drop)?;
            }
            How::Scale(replicas) => rival.scale(target, replicas).await.map(drop)?,
            How::Apply(manager, fields) => {
                let named = merged(fields(), &self.names());
                cluster.act_as(manager).force().apply(named).await.map(drop)?;
            }
            How::Delete => self.delete().await?,
            How::Create(more) => {
                self.delete().await?;
                let made = rival.create(merged(self.ours.clone(), &more())).await?;
                *self.stranger.lock().unwrap() = Some(made);
            }
            How::Restore => {
                let mut copy = cluster.read(target).await?.ok_or("there is nothing to restore")?;
                let metadata = copy["metadata"].as_object_mut().ok_or("it has no metadata")?;
                metadata.retain(|name, _| {
                    matches!(name.as_str(), "name" | "namespace" | "labels" | "annotations")
                });
                self.delete().await?;
                cluster.act_as("velero").create(copy).await.map(drop)?;
            }
        }
        Ok(())
    }

    async fn delete(&self) -> Outcome {
        self.cluster.delete(&self.target).await?;
        let gone = |seen: Option<&Value>| seen.is_none();
        self.cluster.wait_until(&self.target, Duration::from_secs(30), gone).await?;
        Ok(())
    }

    fn names(&self) -> Value {
        json!({
            "apiVersion": self.target.api_version, "kind": self.target.kind,
            "metadata": { "name": self.target.name, "namespace": self.target.namespace },
        })
    }
}

/// `more` put into `into`, key by key.
fn merged(mut into: Value, more: &Value) -> Value {
    match (&mut into, more) {
        (Value::Object(fields), Value::Object(more)) => {
            for (name, value) in more {
                let field = fields.entry(name).or_insert(Value::Null);
                *field = merged(field.take(), value);
            }
            into
        }
        _ => more.clone(),
    }
}
