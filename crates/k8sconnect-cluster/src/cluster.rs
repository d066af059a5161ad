//! The handle to one cluster, as one user: a client, its credentials, and what it has learnt.
//!
//! Everything that is asked goes through [`Cluster::send`] or [`Cluster::open`], each of which is one
//! `exchange` with the server. The verbs are methods of the handle too, in modules of their own, which
//! use this one and are not used by it. A [`Cluster`] is cheap to clone: [`Cluster::until`] gives
//! another handle to the same cluster that stops at a chosen time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http_body_util::Full;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use crate::call::{Call, Reply};
use crate::circuit_breaker::CircuitBreaker;
use crate::connection::{Connection, Host};
use crate::credentials::{Credential, Credentials};
use crate::encode::encode;
use crate::error::{BadAnswer, ConnectionError, Error, Excess, Server};
use crate::kinds::Kinds;
use crate::retry::Answered;
use crate::stop::Stop;
use crate::transport::Transports;
use exchange::Exchange;

mod exchange;

#[derive(Clone)]
pub struct Cluster {
    pub(crate) shared: Arc<Shared>,
    /// What whoever asked for this handle calls the cluster.
    called: Option<String>,
    pub(crate) deadline: Option<Instant>,
}

/// What identifies a cluster: the UID of its namespace `kube-system`.
#[derive(Clone, Debug)]
pub enum ClusterUid {
    Known(String),
    /// The server refused this read, or failed at it. Other requests may well be answered.
    Unreadable(Error),
}

pub(crate) struct Shared {
    connection: Connection,
    credentials: Credentials,
    transports: Transports,
    pub(crate) kinds: Kinds,
    pub(crate) cluster_uid: OnceCell<ClusterUid>,
    breaker: Arc<CircuitBreaker>,
    /// What a read may take when nobody set a deadline.
    pub(crate) read: Duration,
    watches: Arc<Semaphore>,
    stop: Stop,
}

/// What a read may take when nobody set a deadline, and one attempt at most when somebody did.
const READ: Duration = Duration::from_secs(30);
/// What the opening of a watch may take, all tries together.
const OPENING: Duration = Duration::from_secs(5);
/// A server lets a connection have a hundred requests at once, and a watch is one for as long as it
/// is open. These many leave room for all else.
const WATCHES: usize = 64;
const AGENT: &str = concat!("k8sconnect/", env!("CARGO_PKG_VERSION"));

impl Cluster {
    pub(crate) fn new(connection: &Connection, stop: Stop) -> Result<Self, ConnectionError> {
        let breaker = Arc::<CircuitBreaker>::default();
        let shared = Shared {
            connection: connection.clone(),
            credentials: Credentials::new(connection, breaker.clone(), stop.clone())?,
            transports: Transports::new(connection)?,
            kinds: Kinds::default(),
            cluster_uid: OnceCell::new(),
            breaker,
            read: READ,
            watches: Arc::new(Semaphore::new(WATCHES)),
            stop,
        };
        Ok(Self { shared: Arc::new(shared), called: connection.called.clone(), deadline: None })
    }

    pub fn host(&self) -> &Host {
        &self.shared.connection.host
    }

    /// The same cluster, with all that is asked through the returned handle ended by `deadline`;
    /// until then what may be repeated is repeated.
    #[must_use]
    pub fn until(&self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self.clone() }
    }

    /// The same cluster, as another part of the configuration calls it.
    #[must_use]
    pub(crate) fn called(&self, name: Option<&str>) -> Self {
        Self { called: name.map(str::to_owned), ..self.clone() }
    }

    #[cfg(test)]
    pub(crate) fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// How errors name it.
    pub(crate) fn server(&self) -> Server {
        Server { host: self.host().to_string(), called: self.called.clone() }
    }

    /// Whether the handle's deadline has passed.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Waits for something that is no request. `None`: the handle's deadline came first. An error if
    /// the user asks to stop; `request` is then shown as the request that the waiting was about.
    pub(crate) async fn wait<T>(
        &self,
        request: impl FnOnce() -> String,
        coming: impl Future<Output = T>,
    ) -> Result<Option<T>, Error> {
        if self.is_late() {
            // A timer does not notice where nobody ever pauses.
            return Ok(None);
        }
        let late = async {
            match self.deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        // In this order: what always has something to say would otherwise never be left.
        tokio::select! {
            biased;
            _ = self.shared.stop.asked() => {
                Err(Error::Interrupted { host: self.server(), request: request(), attempts: 1 })
            }
            () = late => Ok(None),
            came = coming => Ok(Some(came)),
        }
    }

    /// Sends one request and brings back whatever the server answered, refusals included; only a
    /// 401 that new credentials do not mend is an error.
    pub async fn send(&self, call: &Call) -> Result<Reply, Error> {
        match self.exchange(call).await? {
            Answered::Reply(reply) => Ok(reply),
            Answered::Stream(_) => Err(self.bad_answer(call, BadAnswer::Shape)),
        }
    }

    /// Opens a watch: a 200 is handed over unread, anything else is read as usual. With it comes the
    /// room that the stream takes while it is open. `None` where the caller must do without: so many
    /// are open already, or none comes about. Something on the way may let reads pass and no watch;
    /// patience is for reads, which also tell whether the server is there.
    pub(crate) async fn open(
        &self,
        call: &Call,
    ) -> Result<Option<(Answered, OwnedSemaphorePermit)>, Error> {
        let Ok(place) = Arc::clone(&self.shared.watches).try_acquire_owned() else {
            return Ok(None);
        };
        let soon = Instant::now() + OPENING;
        let hasty = self.until(self.deadline.map_or(soon, |deadline| deadline.min(soon)));
        match hasty.exchange(call).await {
            Ok(answered) => Ok(Some((answered, place))),
            Err(Error::Unreachable { .. } | Error::Timeout { .. } | Error::NotReady { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// On the heap: each function between a request and Terraform's call has room for the futures of
    /// all requests that it makes, and in a debug build one replacement would fill a thread's stack.
    async fn exchange(&self, call: &Call) -> Result<Answered, Error> {
        Box::pin(Exchange::new(self, call).run()).await
    }

    fn request(&self, call: &Call, credential: &Credential) -> Result<Request<Full<Bytes>>, Error> {
        let unbuildable = |why: &dyn std::fmt::Display| {
            self.bad_answer(call, BadAnswer::NotSent(why.to_string()))
        };
        let uri = self.host().uri(&call.path_and_query()).map_err(|e| unbuildable(&e))?;
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(uri)
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, call.accept);
        if let Some(authorization) = &credential.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        for (name, value) in self.shared.credentials.impersonation() {
            request = request.header(name.clone(), value.clone());
        }
        let body = match &call.body {
            None => Bytes::new(),
            Some((content, body)) => {
                request = request.header(CONTENT_TYPE, content.media_type());
                encode(body).map_err(|e| unbuildable(&e))?.into()
            }
        };
        request.body(Full::new(body)).map_err(|e| unbuildable(&e))
    }

    /// Reads a success as `T`, and anything else as a refusal.
    pub(crate) fn decode<T: DeserializeOwned>(
        &self,
        call: &Call,
        reply: &Reply,
    ) -> Result<T, Error> {
        match reply.status {
            200..300 => serde_json::from_slice(&reply.body)
                .map_err(|error| self.bad_answer(call, BadAnswer::Json(error.to_string()))),
            300..400 => Err(self.bad_answer(call, BadAnswer::Status(reply.status))),
            _ => Err(Error::Refused(Box::new(reply.refusal()))),
        }
    }

    /// Sends one request that is answered with an object.
    pub(crate) async fn send_for_object(&self, call: &Call) -> Result<Answer, Error> {
        let reply = self.send(call).await?;
        self.object_of(call, reply)
    }

    pub(crate) fn object_of(&self, call: &Call, reply: Reply) -> Result<Answer, Error> {
        let object: Value = self.decode(call, &reply)?;
        if !object.is_object() {
            return Err(self.bad_answer(call, BadAnswer::Shape));
        }
        Ok(Answer { object, warnings: reply.warnings })
    }

    pub(crate) fn too_much(&self, call: &Call, excess: Excess) -> Error {
        Error::TooMuch { host: self.server(), request: call.label(), excess }
    }

    pub(crate) fn bad_answer(&self, call: &Call, answer: BadAnswer) -> Error {
        Error::BadAnswer { host: self.server(), request: call.label(), answer }
    }
}

/// An object as the server has it (or, in a dry-run, would have it), and what it said beside.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub object: Value,
    pub warnings: Vec<String>,
}

#[cfg(test)]
mod tests;
