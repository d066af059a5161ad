//! The proxy's own server: connections, and the walk of one request through the rules.

use std::convert::Infallible;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use anyhow::{Context, Result};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::Script;
use super::forward::{Body, Upstream, truncated};
use super::record::Recorded;
use super::rule::{Action, Due, Fate, Reply, Tally};
use super::shared::{Shared, TURNED_AWAY};

/// The server's certificate serves for the proxy as well: it is for the same address.
pub(crate) fn identity_of(folder: &Path) -> Result<TlsAcceptor> {
    identity_speaking(folder, &[b"h2", b"http/1.1"])
}

pub(crate) fn identity_speaking(folder: &Path, protocols: &[&[u8]]) -> Result<TlsAcceptor> {
    let missing = || format!("`{}` holds no certificate of an API server", folder.display());
    let read = |name: &str| std::fs::read(folder.join(name)).with_context(missing);
    identity(&read("apiserver.crt")?, &read("apiserver.key")?, protocols)
}

/// Of a certificate and its key, both PEM.
pub(super) fn identity(certificate: &[u8], key: &[u8], protocols: &[&[u8]]) -> Result<TlsAcceptor> {
    let certificates =
        CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(key)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(certificates, key)?;
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Serves until dropped, and every connection with it.
pub(super) async fn serve(
    listener: TcpListener,
    tls: TlsAcceptor,
    upstream: Arc<Upstream>,
    script: Arc<Script>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let open = script.accept();
                let line = Line {
                    upstream: Arc::clone(&upstream),
                    script: Arc::clone(&script),
                    broken: Arc::new(Notify::new()),
                    leaving: Arc::new(Notify::new()),
                    closed: Arc::new(Notify::new()),
                };
                let talk = connection(stream, tls.clone(), line);
                connections.spawn(async move {
                    talk.await;
                    drop(open);
                });
            }
            // Ended ones are forgotten; with none there is nothing to wait for.
            Some(_) = connections.join_next() => {}
        }
    }
}

/// What the requests of one connection share.
#[derive(Clone)]
struct Line {
    upstream: Arc<Upstream>,
    script: Arc<Script>,
    /// Told when a rule breaks the connection.
    broken: Arc<Notify>,
    /// Told when a rule has it take nothing more.
    leaving: Arc<Notify>,
    /// Told when a rule has it turn away even what is under way.
    closed: Arc<Notify>,
}

/// A client that is no good, or goes away, is no trouble of the proxy's.
async fn connection(stream: TcpStream, tls: TlsAcceptor, line: Line) {
    let Ok((stream, handle)) = with_handle(stream) else { return };
    let Ok(stream) = tls.accept(stream).await else { return };
    let broken = Arc::clone(&line.broken);
    tokio::select! {
        () = talk(stream, line) => {}
        () = broken.notified() => {
            // The last handle to be closed then sends a reset instead of a farewell.
            let _ = handle.set_zero_linger();
        }
    }
}

/// The stream, and a second handle on its socket.
fn with_handle(stream: TcpStream) -> std::io::Result<(TcpStream, TcpStream)> {
    stream.set_nodelay(true)?;
    let stream = stream.into_std()?;
    let handle = stream.try_clone()?;
    Ok((TcpStream::from_std(stream)?, TcpStream::from_std(handle)?))
}

async fn talk(stream: TlsStream<TcpStream>, line: Line) {
    let speaks_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let (leaving, closed) = (Arc::clone(&line.leaving), Arc::clone(&line.closed));
    let service = service_fn(move |request| {
        let line = line.clone();
        async move { line.answer(request).await }
    });
    let stream = Shared::new(stream);
    let io = TokioIo::new(stream.clone());
    if speaks_http2 {
        let builder = http2::Builder::new(TokioExecutor::new());
        let mut talk = Box::pin(builder.serve_connection(io, service));
        tokio::select! {
            _ = talk.as_mut() => return,
            () = closed.notified() => {
                drop(talk);
                return stream.say(TURNED_AWAY).await;
            }
            () = leaving.notified() => talk.as_mut().graceful_shutdown(),
        }
        let _ = talk.await;
    } else {
        let mut talk = pin!(http1::Builder::new().serve_connection(io, service));
        tokio::select! {
            _ = talk.as_mut() => return,
            () = closed.notified() => return,
            () = leaving.notified() => talk.as_mut().graceful_shutdown(),
        }
        let _ = talk.await;
    }
}

impl Line {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let (parts, body) = request.into_parts();
        let Ok(body) = body.collect().await else {
            return Ok(trouble("the request broke off"));
        };
        let (recorded, due) = self.script.admit(Recorded::of(&parts));
        for Due { fate, tally } in &due {
            match fate {
                Fate::Delay(time) => tokio::time::sleep(*time).await,
                Fate::Answer(reply) => return Ok(reply.response()),
                Fate::Invent(inventor) => return Ok(inventor.answer(&recorded).response()),
                Fate::Flood(flood) => return Ok(flood.response()),
                Fate::ResetBefore => return self.reset().await,
                Fate::GoAway => self.leaving.notify_one(),
                Fate::TurnAway => {
                    self.closed.notify_one();
                    return std::future::pending().await;
                }
                Fate::Before(action) => {
                    if let Err(response) = run(action, &recorded, tally).await {
                        return Ok(response);
                    }
                }
                Fate::Pass
                | Fate::AnswerAfter(_)
                | Fate::ResetAfter
                | Fate::Truncate(_)
                | Fate::After(_) => {}
            }
        }
        let mut response = match self.upstream.forward(&parts, body.to_bytes()).await {
            Ok(response) => response,
            Err(problem) => {
                return Ok(trouble(&format!("the API server did not answer: {problem}")));
            }
        };
        for Due { fate, tally } in &due {
            match fate {
                Fate::ResetAfter => return self.reset().await,
                Fate::AnswerAfter(reply) => return Ok(reply.response()),
                Fate::Truncate(after) => response = truncated(response, *after),
                Fate::After(action) => {
                    if let Err(response) = run(action, &recorded, tally).await {
                        return Ok(response);
                    }
                }
                Fate::Pass
                | Fate::Delay(_)
                | Fate::Answer(_)
                | Fate::Invent(_)
                | Fate::Flood(_)
                | Fate::ResetBefore
                | Fate::GoAway
                | Fate::TurnAway
                | Fate::Before(_) => {}
            }
        }
        Ok(response)
    }

    /// Never answers: the connection goes, and this with it.
    async fn reset(&self) -> Result<Response<Body>, Infallible> {
        self.broken.notify_one();
        std::future::pending().await
    }
}

async fn run(action: &Action, request: &Recorded, tally: &Tally) -> Result<(), Response<Body>> {
    action.run(request).await.map_err(|why| {
        let response = trouble(&format!("the action of a rule failed: {why}"));
        tally.note(why);
        response
    })
}

/// 500, which no client repeats: what is wrong with a test shall show.
fn trouble(message: &str) -> Response<Body> {
    Reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message).response()
}
