//! A control plane of which a part is lost, as by a power cut, and comes back.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{ControlPlane, PATIENCE, pause};
use crate::assets::Asset;

impl ControlPlane {
    /// Kills the API server (-9).
    pub fn kill_api_server(&self) -> Result<()> {
        self.lose(Asset::KubeApiserver.binary())
    }

    /// Starts it again, on the same port, and waits until it is ready.
    pub async fn revive_api_server(&self) -> Result<()> {
        self.bring_back(Asset::KubeApiserver.binary())?;
        let deadline = Instant::now() + PATIENCE;
        while !self.is_ready().await {
            if Instant::now() > deadline {
                bail!("the API server does not come back");
            }
            pause().await;
        }
        Ok(())
    }

    /// Kills (-9) that member of etcd which leads. Answers with its name.
    pub async fn kill_etcd_leader(&self) -> Result<&'static str> {
        let leader = self.etcd_leader().await?;
        self.lose(leader)?;
        Ok(leader)
    }

    async fn etcd_leader(&self) -> Result<&'static str> {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            for (name, port) in &self.members {
                let status = etcd_status(*port).await?;
                if status["leader"].is_string() && status["leader"] == status["header"]["member_id"]
                {
                    return Ok(name);
                }
            }
            if Instant::now() > deadline {
                bail!("no member of etcd leads");
            }
            pause().await;
        }
    }

    fn bring_back(&self, name: &str) -> Result<()> {
        self.household().context("another process holds this control plane")?.revive(name)
    }

    fn lose(&self, name: &str) -> Result<()> {
        self.household().context("another process holds this control plane")?.kill(name)
    }
}

/// What a member says of itself.
async fn etcd_status(port: u16) -> Result<Value> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let ask = "POST /v3/maintenance/status HTTP/1.0\r\nHost: etcd\r\n\
               Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    stream.write_all(ask.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (_, body) = answer.split_once("\r\n\r\n").context("etcd answers without a body")?;
    serde_json::from_str(body).context("etcd does not answer in JSON")
}
