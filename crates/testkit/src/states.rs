//! A place for one Terraform state behind HTTP, as a team's is: Terraform's `http` backend.
//!
//! With a state in a file, Terraform writes and compares the whole of it for every object that it
//! applies, and its own time grows with the square of their number.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

use crate::client::on_runtime;

/// Ends when dropped, and the state with it.
pub struct StateStore {
    address: String,
    work: AbortHandle,
}

type State = Arc<Mutex<Option<Bytes>>>;

impl StateStore {
    pub async fn start() -> Result<Self> {
        on_runtime(async {
            let listener = TcpListener::bind(("127.0.0.1", 0))
                .await
                .context("no port could be had for the state")?;
            let address = format!("http://{}/", listener.local_addr()?);
            Ok(Self { address, work: tokio::spawn(serve(listener)).abort_handle() })
        })
        .await
    }

    /// What a configuration says to have its state here.
    pub fn backend(&self) -> String {
        format!("terraform {{\n  backend \"http\" {{ address = {:?} }}\n}}\n", self.address)
    }
}

impl Drop for StateStore {
    fn drop(&mut self) {
        self.work.abort();
    }
}

async fn serve(listener: TcpListener) {
    let state = State::default();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let state = state.clone();
                let service = service_fn(move |request| answer(request, state.clone()));
                let talk = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                connections.spawn(talk);
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn answer(
    request: Request<Incoming>,
    state: State,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let held = || state.lock().unwrap_or_else(PoisonError::into_inner);
    let (status, body) = match *request.method() {
        Method::GET => match held().clone() {
            Some(body) => (StatusCode::OK, body),
            None => (StatusCode::NO_CONTENT, Bytes::new()),
        },
        Method::POST => match request.into_body().collect().await {
            Ok(body) => {
                *held() = Some(body.to_bytes());
                (StatusCode::OK, Bytes::new())
            }
            Err(_) => (StatusCode::BAD_REQUEST, Bytes::new()),
        },
        _ => (StatusCode::METHOD_NOT_ALLOWED, Bytes::new()),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    Ok(response)
}
