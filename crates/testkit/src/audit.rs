//! What was asked of the API server, from its own audit log: the only witness that cannot
//! be fooled by a client's counting of itself. One entry per request, written when it is
//! complete; the requests of the controllers are left out by the audit policy.

use std::fs::File;
use std::future::Future;
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::control_plane::ControlPlane;

/// One request that the API server has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// As Kubernetes names it: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`.
    pub verb: String,
    /// The path with its query.
    pub uri: String,
    pub namespace: Option<String>,
    pub user: String,
    pub user_agent: String,
    pub persistence: Persistence,
    pub code: u16,
}

/// Whether a request meant to change the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    DryRun,
    /// Also every read.
    Real,
}

impl Request {
    /// Whether it could have changed the cluster.
    pub fn writes(&self) -> bool {
        self.persistence == Persistence::Real
            && !matches!(self.verb.as_str(), "get" | "list" | "watch")
    }

    /// The path without its query.
    pub fn path(&self) -> &str {
        self.uri.split('?').next().unwrap_or(&self.uri)
    }

    /// Whether the provider identified the cluster with it. It does so once per connection and
    /// process, whatever else it asks.
    pub fn identifies_cluster(&self) -> bool {
        self.verb == "get" && self.path() == "/api/v1/namespaces/kube-system"
    }

    /// A request in short, for asserting on a whole list: `patch (dry-run)`.
    pub fn in_short(&self) -> String {
        match self.persistence {
            Persistence::DryRun => format!("{} (dry-run)", self.verb),
            Persistence::Real => self.verb.clone(),
        }
    }
}

/// Which requests are meant. The testkit's own reads and its rivals are never among them. Those that
/// identify the cluster are counted by [`Filter::cluster_identity`] alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    namespace: Option<String>,
    user: Option<String>,
    purpose: Purpose,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Purpose {
    #[default]
    AllElse,
    ClusterIdentity,
}

impl Filter {
    /// Requests for objects in a namespace, or for the namespace itself.
    pub fn in_namespace(name: &str) -> Self {
        Self { namespace: Some(name.to_owned()), ..Self::default() }
    }

    /// Requests of one user: the way to count discovery and cluster-scoped objects too
    /// while other tests run. See [`ControlPlane::kubeconfig_for`].
    pub fn by_user(name: &str) -> Self {
        Self { user: Some(name.to_owned()), ..Self::default() }
    }

    /// The requests by which one user's process identified the cluster.
    pub fn cluster_identity(user: &str) -> Self {
        Self { purpose: Purpose::ClusterIdentity, ..Self::by_user(user) }
    }

    fn admits(&self, request: &Request) -> bool {
        let ours = request.user_agent.starts_with("testkit");
        let purpose = match request.identifies_cluster() {
            true => Purpose::ClusterIdentity,
            false => Purpose::AllElse,
        };
        let fits = |wanted: &Option<String>, actual: Option<&str>| {
            wanted.as_deref().is_none_or(|name| actual == Some(name))
        };
        !ours
            && purpose == self.purpose
            && fits(&self.namespace, request.namespace.as_deref())
            && fits(&self.user, Some(&request.user))
    }
}

impl From<&str> for Filter {
    fn from(namespace: &str) -> Self {
        Self::in_namespace(namespace)
    }
}

impl ControlPlane {
    /// Every request so far that `filter` admits, in the order of completion.
    pub async fn requests(&self, filter: impl Into<Filter>) -> Result<Vec<Request>> {
        let filter = filter.into();
        self.settle().await?;
        Ok(self.entries_from(0)?.into_iter().filter(|request| filter.admits(request)).collect())
    }

    /// Runs `work` and answers with its output and the requests it caused.
    pub async fn count_during<T>(
        &self,
        filter: impl Into<Filter>,
        work: impl Future<Output = T>,
    ) -> Result<(T, Vec<Request>)> {
        let filter = filter.into();
        let start = self.settle().await?;
        let output = work.await;
        self.settle().await?;
        let requests = self
            .entries_from(start)?
            .into_iter()
            .filter(|request| filter.admits(request))
            .collect();
        Ok((output, requests))
    }

    /// Waits until everything that was answered before is in the log, and answers with
    /// the log's length then. An entry is written when the handler returns, which a client
    /// may overtake by a hair; a request of our own, seen in the log, is the proof.
    async fn settle(&self) -> Result<u64> {
        let mark = format!("/version?testkit-mark={:016x}", fastrand::u64(..));
        // The mark is behind all that is in the log before it is sent.
        let start = std::fs::metadata(self.audit_log()).map_or(0, |log| log.len());
        self.client().read(&mark).await?.accepted()?;
        for _ in 0..200 {
            let bytes = self.log_from(start)?;
            let is_mark = |line: &&[u8]| line.windows(mark.len()).any(|it| it == mark.as_bytes());
            let mut end = start;
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                end += line.len() as u64;
                if line.ends_with(b"\n") && is_mark(&line) {
                    return Ok(end);
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        bail!(
            "the audit log `{}` does not show a request that was answered 2 seconds ago",
            self.audit_log().display()
        )
    }

    fn log_from(&self, start: u64) -> Result<Vec<u8>> {
        let path = self.audit_log();
        let mut file = File::open(&path)
            .with_context(|| format!("the audit log `{}` cannot be read", path.display()))?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn entries_from(&self, start: u64) -> Result<Vec<Request>> {
        // The last line may still be growing, also in the middle of a character.
        let bytes = self.log_from(start)?;
        Ok(String::from_utf8_lossy(&bytes).lines().filter_map(entry).collect())
    }
}

fn entry(line: &str) -> Option<Request> {
    let value: Value = serde_json::from_str(line).ok()?;
    if value["stage"] != "ResponseComplete" {
        return None;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let uri = text(&value["requestURI"]);
    let persistence =
        if uri.contains("dryRun=All") { Persistence::DryRun } else { Persistence::Real };
    Some(Request {
        verb: text(&value["verb"]),
        namespace: value["objectRef"]["namespace"].as_str().map(str::to_owned),
        user: text(&value["user"]["username"]),
        user_agent: text(&value["userAgent"]),
        code: u16::try_from(value["responseStatus"]["code"].as_u64().unwrap_or(0)).unwrap_or(0),
        uri,
        persistence,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/configmaps/x?dryRun=All&fieldManager=m","verb":"patch","user":{"username":"u"},"userAgent":"k8sconnect/0.1.0","objectRef":{"namespace":"a"},"responseStatus":{"code":201}}"#;

    #[test]
    fn a_dry_run_is_no_write() {
        let request = entry(LINE).unwrap();
        assert_eq!(request.in_short(), "patch (dry-run)");
        assert!(!request.writes());
        assert_eq!(request.path(), "/api/v1/namespaces/a/configmaps/x");
        let real = entry(&LINE.replace("dryRun=All&", "")).unwrap();
        assert!(real.writes());
    }

    #[test]
    fn a_filter_admits_its_namespace_and_user_and_never_the_testkit() {
        let request = entry(LINE).unwrap();
        assert!(Filter::in_namespace("a").admits(&request));
        assert!(!Filter::in_namespace("b").admits(&request));
        assert!(Filter::by_user("u").admits(&request));
        assert!(!Filter::by_user("v").admits(&request));
        let uri = "/api/v1/namespaces/kube-system".into();
        let identity = Request { verb: "get".into(), uri, ..request.clone() };
        assert!(!Filter::by_user("u").admits(&identity));
        assert!(Filter::cluster_identity("u").admits(&identity));
        assert!(!Filter::cluster_identity("u").admits(&request));
        let own = Request { user_agent: "testkit-rival/hpa".into(), ..request };
        assert!(!Filter::default().admits(&own));
    }

    #[test]
    fn a_line_that_is_still_being_written_is_no_request() {
        assert_eq!(entry(&LINE[..LINE.len() - 20]), None);
    }
}
