//! A part of the control plane lost in the middle of an apply of many objects, by real Terraform.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use http::Method;
use serde_json::{Value as Json, json};

use super::judge;
use super::life;
use super::sweep::Verdict;
use crate::control_plane::{ControlPlane, Parts};
use crate::terraform::{PlanOutcome, Run, Runner, Tool};

/// So many objects are applied.
const MANY: usize = 100;
/// When so many are there, the part is lost.
const MIDDLE: usize = 30;
const NAMESPACE: &str = "outage";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// Killed, and started again.
    ApiServer,
    /// Of three members the one that leads is killed, and stays away.
    EtcdLeader,
}

impl Outage {
    pub const ALL: [Self; 2] = [Self::ApiServer, Self::EtcdLeader];

    pub fn name(self) -> &'static str {
        match self {
            Self::ApiServer => "api-server",
            Self::EtcdLeader => "etcd-leader",
        }
    }

    fn parts(self) -> Parts {
        match self {
            Self::ApiServer => Parts::ApiServer,
            Self::EtcdLeader => Parts::Quorum,
        }
    }

    async fn happen(self, cluster: &ControlPlane) -> Result<()> {
        match self {
            Self::ApiServer => {
                cluster.kill_api_server()?;
                cluster.revive_api_server().await
            }
            Self::EtcdLeader => cluster.kill_etcd_leader().await.map(drop),
        }
    }

    /// On a control plane of its own.
    pub async fn try_it(self, tool: Tool, provider: &Path) -> Result<Verdict> {
        let cluster = ControlPlane::start(self.parts()).await?;
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace",
                                "metadata": { "name": NAMESPACE } });
        cluster.act_as("testkit").create(namespace).await?;
        let runner = Runner::with_provider(tool, Some(provider)).await?;
        life::ready(&runner, &cluster.kubeconfig()).await?;
        runner.write("many.tf.json", &many().to_string())?;

        let lost = async {
            loop {
                let there = names(&cluster).await?.len();
                if there >= MIDDLE {
                    self.happen(&cluster).await?;
                    return anyhow::Ok(there);
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let (applied, there) = tokio::join!(runner.apply(), lost);
        let (applied, there) = (applied?, there?);
        ensure!(there < MANY, "the apply was over before anything was lost");
        let mut problems = Vec::new();
        judge::words(&applied.text, &mut problems);
        if !applied.succeeded() {
            expect(runner.apply().await?, "run again, it fails", &mut problems);
        }
        let plan = runner.plan().await?;
        if plan.outcome != PlanOutcome::NoChanges {
            problems.push(format!("the last plan is not empty: {}", plan.text));
        }
        let there = names(&cluster).await?;
        let held = runner.state(&["list"]).await?.successful()?.stdout.lines().count();
        if (there.len(), held) != (MANY, MANY) {
            problems.push(format!("{} objects are there, and {held} in state", there.len()));
        }
        expect(runner.destroy().await?, "it cannot be destroyed", &mut problems);
        let left = names(&cluster).await?;
        if !left.is_empty() {
            problems.push(format!("left over: {left:?}"));
        }
        Ok(match (problems.is_empty(), applied.succeeded()) {
            (false, _) => Verdict::Broken(problems),
            (true, true) => Verdict::SatOut,
            (true, false) => Verdict::Told(applied.text),
        })
    }
}

fn expect(run: Run, otherwise: &str, problems: &mut Vec<String>) {
    if !run.succeeded() {
        problems.push(format!("{otherwise}: {}", run.text));
    }
}

fn many() -> Json {
    let body = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "it-${each.key}", "namespace": NAMESPACE },
        "data": { "number": "${each.key}" },
    });
    let each = format!("${{toset([for n in range({MANY}) : tostring(n)])}}");
    json!({ "resource": { "k8sconnect_object": { "many": {
        "for_each": each, "yaml_body": body.to_string(),
    } } } })
}

/// The objects that are there.
async fn names(cluster: &ControlPlane) -> Result<Vec<String>> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let list = cluster.request(Method::GET, &path, "application/json", None).await?.accepted()?;
    let Some(items) = list["items"].as_array() else { bail!("the server lists nothing") };
    let name = |item: &Json| item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    Ok(items.iter().map(name).collect())
}
