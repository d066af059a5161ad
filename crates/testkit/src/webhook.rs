//! An admission webhook that says no, as a company's policy engine would, or nothing at all, as one
//! that hangs, or that rewrites objects: a real server that the API server asks over TLS, dry-runs
//! included.

use std::convert::Infallible;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::client::on_runtime;
use crate::control_plane::ControlPlane;
use crate::proxy::identity_speaking;

/// Ends when dropped.
pub struct Webhook {
    url: String,
    authority: String,
    work: AbortHandle,
}

impl Webhook {
    /// One that refuses whatever it is asked about, in these words and with these causes.
    pub async fn refusing(
        control_plane: &ControlPlane,
        message: &str,
        causes: Value,
    ) -> Result<Self> {
        let refusal = json!({
            "code": 422, "reason": "Invalid", "message": message, "details": { "causes": causes },
        });
        Self::minded(control_plane, Mind::Refuse(refusal)).await
    }

    /// One that refuses what is only tried, and lets everything else pass.
    pub async fn refusing_dry_runs(control_plane: &ControlPlane, message: &str) -> Result<Self> {
        let refusal = json!({ "code": 400, "reason": "BadRequest", "message": message });
        Self::minded(control_plane, Mind::RefuseDryRuns(refusal)).await
    }

    /// One that takes every question and answers none.
    pub async fn silent(control_plane: &ControlPlane) -> Result<Self> {
        Self::minded(control_plane, Mind::Keep).await
    }

    /// One that changes whatever it is asked about by these operations of a JSON patch.
    pub async fn rewriting(control_plane: &ControlPlane, operations: &Value) -> Result<Self> {
        let patch = STANDARD.encode(operations.to_string());
        Self::minded(control_plane, Mind::Rewrite(patch)).await
    }

    async fn minded(control_plane: &ControlPlane, mind: Mind) -> Result<Self> {
        let tls = identity_speaking(control_plane.folder(), &[b"http/1.1"])?;
        let (url, work) = on_runtime(async move {
            let listener = TcpListener::bind(("127.0.0.1", 0))
                .await
                .context("no port could be had for the webhook")?;
            let url = format!("https://{}/", listener.local_addr()?);
            Ok((url, tokio::spawn(serve(listener, tls, mind)).abort_handle()))
        })
        .await?;
        Ok(Self { url, authority: STANDARD.encode(control_plane.ca()), work })
    }

    /// What a configuration says of how to reach it.
    pub fn client_config(&self) -> Value {
        json!({ "url": self.url, "caBundle": self.authority })
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// What it does with what it is asked.
#[derive(Clone)]
enum Mind {
    /// With this status.
    Refuse(Value),
    RefuseDryRuns(Value),
    /// By this patch, in base64.
    Rewrite(String),
    Keep,
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, mind: Mind) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(talk(stream, tls.clone(), mind.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn talk(stream: TcpStream, tls: TlsAcceptor, mind: Mind) {
    let Ok(stream) = tls.accept(stream).await else { return };
    let service = service_fn(move |request| {
        let mind = mind.clone();
        async move {
            match mind {
                Mind::Keep => std::future::pending().await,
                Mind::Refuse(_) | Mind::RefuseDryRuns(_) | Mind::Rewrite(_) => {
                    Ok::<_, Infallible>(answer(request, &mind).await)
                }
            }
        }
    });
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// A review goes back with the uid that it came with.
async fn answer(request: Request<Incoming>, mind: &Mind) -> Response<Full<Bytes>> {
    let asked: Value = match request.into_body().collect().await {
        Ok(body) => serde_json::from_slice(&body.to_bytes()).unwrap_or(Value::Null),
        Err(_) => Value::Null,
    };
    let asked = &asked["request"];
    let mut verdict = json!({ "uid": asked["uid"], "allowed": true });
    match mind {
        Mind::RefuseDryRuns(_) if asked["dryRun"] != true => {}
        Mind::Refuse(refusal) | Mind::RefuseDryRuns(refusal) => {
            verdict["allowed"] = json!(false);
            verdict["status"] = refusal.clone();
        }
        Mind::Rewrite(patch) => {
            verdict["patchType"] = json!("JSONPatch");
            verdict["patch"] = json!(patch);
        }
        Mind::Keep => {}
    }
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": verdict,
    });
    let mut response = Response::new(Full::new(Bytes::from(review.to_string())));
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    response
}
