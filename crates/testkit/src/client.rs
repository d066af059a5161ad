//! A plain HTTP client for the API server, for what tests do *beside* the provider. It
//! shares no code with `k8sconnect-cluster` on purpose: it is the referee, and a fault of
//! the client under test must not hide itself by appearing on both sides.
//!
//! Requests run on a runtime of the testkit's own, so that a connection opened by one
//! test outlives that test's runtime.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::Value;
use tokio::runtime::Runtime;

pub(crate) const JSON: &str = "application/json";

/// Beyond the server's own limit for a request.
const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Clone)]
pub(crate) struct Client {
    url: String,
    token: String,
    http: HyperClient<HttpsConnector<HttpConnector>, Full<Bytes>>,
    resources: Arc<Mutex<HashMap<(String, String), Resource>>>,
}

/// How a kind is addressed.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub(crate) plural: String,
    pub(crate) scope: Scope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Namespaced,
    Cluster,
}

/// A request before it is sent.
pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) user_agent: &'a str,
    pub(crate) content_type: &'a str,
    pub(crate) body: Option<&'a Value>,
}

/// An answer of the API server, whatever its status.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub body: Value,
}

impl Answer {
    /// The object, or an error that quotes the server.
    pub fn accepted(self) -> Result<Value> {
        if self.status.is_success() {
            return Ok(self.body);
        }
        let said =
            self.body["message"].as_str().map_or_else(|| self.body.to_string(), str::to_owned);
        bail!("the API server answered {}: {said}", self.status)
    }
}

/// The way to a server whose certificate this authority has signed, by HTTP/2.
pub(crate) fn connector(ca: &str) -> Result<HttpsConnector<HttpConnector>> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca.as_bytes()) {
        roots.add(certificate?)?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    // Else a body is held back until the server has acknowledged the head: 40 ms.
    tcp.set_nodelay(true);
    let tls = HttpsConnectorBuilder::new().with_tls_config(tls).https_only().enable_http2();
    Ok(tls.wrap_connector(tcp))
}

impl Client {
    pub(crate) fn new(url: &str, ca: &str, token: &str) -> Result<Self> {
        Ok(Self {
            url: url.to_owned(),
            token: token.to_owned(),
            http: HyperClient::builder(TokioExecutor::new()).build(connector(ca)?),
            resources: Arc::default(),
        })
    }

    pub(crate) async fn send(&self, call: Call<'_>) -> Result<Answer> {
        let what = format!("{} {}", call.method, call.path);
        let body = call.body.map(Value::to_string).unwrap_or_default();
        let request = Request::builder()
            .method(call.method)
            .uri(format!("{}{}", self.url, call.path))
            .header("authorization", format!("Bearer {}", self.token))
            .header("user-agent", call.user_agent)
            .header("accept", JSON)
            .header("content-type", call.content_type)
            .body(Full::new(Bytes::from(body)))?;
        let http = self.http.clone();
        let answered = on_runtime(async move {
            let response = http.request(request).await?;
            let status = response.status();
            let bytes = response.into_body().collect().await?.to_bytes();
            anyhow::Ok((status, bytes))
        });
        let (status, bytes) = tokio::time::timeout(PATIENCE, answered)
            .await
            .with_context(|| format!("{what} was not answered within {} s", PATIENCE.as_secs()))?
            .with_context(|| what.clone())?;
        // Some answers (a missing group version, `/readyz`) are plain text.
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        Ok(Answer { status, body })
    }

    pub(crate) async fn read(&self, path: &str) -> Result<Answer> {
        self.send(Call {
            method: Method::GET,
            path,
            user_agent: "testkit",
            content_type: JSON,
            body: None,
        })
        .await
    }

    /// Found once and kept; a kind that is not served is asked for again next time,
    /// because its CRD may arrive.
    pub(crate) async fn resource(&self, api_version: &str, kind: &str) -> Result<Resource> {
        let key = (api_version.to_owned(), kind.to_owned());
        if let Some(known) = self.resources().get(&key) {
            return Ok(known.clone());
        }
        let list = self.read(&group_version_path(api_version)).await?;
        let entry = list.body["resources"].as_array().into_iter().flatten().find(|entry| {
            entry["kind"] == kind && entry["name"].as_str().is_some_and(|n| !n.contains('/'))
        });
        let Some(entry) = entry else {
            bail!("`{kind}` of `{api_version}` is not served");
        };
        let resource = Resource {
            plural: entry["name"].as_str().unwrap_or_default().to_owned(),
            scope: if entry["namespaced"] == true { Scope::Namespaced } else { Scope::Cluster },
        };
        self.resources().insert(key, resource.clone());
        Ok(resource)
    }

    fn resources(&self) -> std::sync::MutexGuard<'_, HashMap<(String, String), Resource>> {
        self.resources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn group_version_path(api_version: &str) -> String {
    if api_version.contains('/') {
        format!("/apis/{api_version}")
    } else {
        format!("/api/{api_version}")
    }
}

/// Runs a future on the testkit's own runtime, from whichever runtime awaits it.
pub(crate) async fn on_runtime<T: Send + 'static>(
    future: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    runtime()?.spawn(future).await.context("a task of the testkit ended early")?
}

/// Starts a future that nobody waits for.
pub(crate) fn in_background(future: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = runtime() {
        runtime.spawn(future);
    }
}

/// Runs blocking work away from the caller's runtime.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    runtime()?.spawn_blocking(work).await.context("a task of the testkit ended early")?
}

fn runtime() -> Result<&'static Runtime> {
    // Made by one thread only: a second one that came too late could not be dropped where it was
    // made, in the middle of another runtime.
    static RUNTIME: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("testkit")
            .enable_all()
            .build()
    });
    RUNTIME
        .as_ref()
        .map_err(|problem| anyhow::anyhow!("the testkit's runtime cannot be started: {problem}"))
}
