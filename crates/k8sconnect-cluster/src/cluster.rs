//! One cluster, as one user: a client, its credentials, and what it has learnt of the kinds.
//!
//! Everything that is asked goes through [`Cluster::send`], which is where deadlines, retries and
//! the renewal of credentials live; the verbs only say what to ask and read the answer. A
//! [`Cluster`] is a cheap handle: [`Cluster::until`] gives another one to the same cluster that
//! stops at a chosen time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};
use http_body_util::Full;
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::call::{Call, Reply};
use crate::connection::{Connection, Host};
use crate::credentials::{Credential, Credentials};
use crate::encode::encode;
use crate::error::{ConnectionError, Error, Excess, Server, Trouble};
use crate::exec;
use crate::kinds::Kinds;
use crate::retry::{Attempts, Ending, Failure};
use crate::standing::{Patience, Standing};
use crate::stop::Stop;
use crate::transport::Transports;
use crate::watch::Lines;
use answer::Attempt;

mod answer;

#[derive(Clone)]
pub struct Cluster {
    shared: Arc<Shared>,
    /// What whoever asked for this handle calls the cluster.
    called: Option<String>,
    deadline: Option<Instant>,
}

struct Shared {
    host: Host,
    credentials: Credentials,
    transports: Transports,
    kinds: Kinds,
    fingerprint: OnceCell<Option<String>>,
    nobody: Option<Nobody>,
    standing: Standing,
    /// What a read may take when nobody set a deadline.
    read: Duration,
    watches: Arc<Semaphore>,
    stop: Stop,
}

/// A connection that shows the server nothing, and what the kubeconfig calls its user.
struct Nobody {
    user: Option<String>,
}

/// What an attempt may take when nobody set a deadline, and at most when somebody did.
const READ: Duration = Duration::from_secs(30);
const WRITE: Duration = Duration::from_secs(60);
/// What the opening of a watch may take, all tries together.
const OPENING: Duration = Duration::from_secs(5);
/// A server lets a connection have a hundred requests at once, and a watch is one for as long as it
/// is open. These many leave room for all else.
const WATCHES: usize = 64;
const TELL_AFTER: Duration = Duration::from_secs(5);
const AGENT: &str = concat!("k8sconnect/", env!("CARGO_PKG_VERSION"));

impl Cluster {
    pub(crate) fn new(connection: &Connection, stop: Stop) -> Result<Self, ConnectionError> {
        // Over plain HTTP it is a proxy on the way that logs in, as `kubectl proxy` does.
        let nobody = (connection.is_anonymous() && connection.host.is_encrypted())
            .then(|| Nobody { user: connection.user.clone() });
        let shared = Shared {
            nobody,
            host: connection.host.clone(),
            credentials: Credentials::new(connection, stop.clone())?,
            transports: Transports::new(connection)?,
            kinds: Kinds::default(),
            fingerprint: OnceCell::new(),
            standing: Standing::default(),
            read: READ,
            watches: Arc::new(Semaphore::new(WATCHES)),
            stop,
        };
        Ok(Self { shared: Arc::new(shared), called: connection.called.clone(), deadline: None })
    }

    pub fn host(&self) -> &Host {
        &self.shared.host
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

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// What a read may take where nobody set a deadline.
    pub(crate) fn patience(&self) -> Duration {
        self.shared.read
    }

    pub(crate) fn kinds(&self) -> &Kinds {
        &self.shared.kinds
    }

    pub(crate) fn known_fingerprint(&self) -> &OnceCell<Option<String>> {
        &self.shared.fingerprint
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
        match Box::pin(self.converse(call, Reading::Whole)).await? {
            Answered::Reply(reply) => Ok(reply),
            Answered::Stream(_) => Err(self.bad_answer(call, "a stream that was not asked for")),
        }
    }

    /// Opens a watch: a 200 is handed over unread, anything else is read as usual. `None` where
    /// whoever asks must do without: so many are open already, or none comes about. Something on the
    /// way may let reads pass and no watch; patience is for reads, which also tell whether anybody
    /// is there.
    pub(crate) async fn open(&self, call: &Call) -> Result<Option<Opened>, Error> {
        let Ok(place) = Arc::clone(&self.shared.watches).try_acquire_owned() else {
            return Ok(None);
        };
        let soon = Instant::now() + OPENING;
        let hasty = self.until(self.deadline.map_or(soon, |deadline| deadline.min(soon)));
        match Box::pin(hasty.converse(call, Reading::Stream)).await {
            Ok(Answered::Reply(reply)) => Ok(Some(Opened::Reply(reply))),
            Ok(Answered::Stream(body)) => {
                Ok(Some(Opened::Watch(Lines::new(self.clone(), call.label(), body, place))))
            }
            Err(Error::Unreachable { .. } | Error::Timeout { .. } | Error::NotReady { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Callers box it: each function between a request and Terraform's call has room for the futures
    /// of all requests that it makes, and in a debug build one replacement would fill a thread's stack.
    async fn converse(&self, call: &Call, reading: Reading) -> Result<Answered, Error> {
        let started = Instant::now();
        let patience = if call.method == Method::GET { self.shared.read } else { WRITE };
        let whose = self.deadline.map_or(Patience::Usual, Patience::Until);
        if let Some(error) = self.shared.standing.foregone(whose) {
            tracing::debug!(host = %self.host(), request = call.label(), "given up a moment ago");
            return Err(error);
        }
        let deadline = self.deadline.unwrap_or(started + patience);
        let mut attempts = Attempts::new(call.repeat, started, deadline);
        let mut renewed = false;
        let mut arrived = Arrival::Never;
        loop {
            let asked = Instant::now();
            let credential = self.credential(call, &attempts).await?;
            if self.deadline.is_none() {
                // The server has its time, whatever time the plugin takes, which has a limit too.
                attempts.postpone(asked.elapsed());
            }
            attempts.begin();
            let sent = Instant::now();
            let leaves = AtomicBool::new(false);
            let attempt = self.attempt(call, &credential, reading, &leaves);
            let ended = tokio::select! {
                ended = timeout_at(attempts.deadline().min(sent + patience), attempt) => {
                    match ended {
                        Ok(ended) => ended?,
                        Err(_) => Err(Failure::Late),
                    }
                }
                () = self.stopped_before(call, &leaves) => {
                    return Err(self.interrupted(call, &attempts));
                }
            };
            self.log(call, &ended, sent.elapsed(), attempts.made());
            if let Err(Failure::Lost(_) | Failure::Late) = &ended {
                arrived = Arrival::Maybe;
            }
            match &ended {
                Ok(Attempt { answered: Answered::Reply(reply), .. }) if reply.is_passing() => {
                    self.shared.standing.put_off();
                    if let Some(error) = self.shared.standing.closed(&call.path, whose) {
                        return Err(error);
                    }
                }
                Ok(_) => self.shared.standing.served(&call.path),
                Err(_) => {}
            }

            let ending = match &ended {
                Ok(Attempt { answered: Answered::Reply(reply), .. })
                    if matches!(reply.status, 401 | 403)
                        && let Some(Nobody { user }) = &self.shared.nobody =>
                {
                    let (host, user) = (self.server(), user.clone());
                    let status = Box::new(reply.refusal());
                    return Err(Error::Anonymous { host, user, status });
                }
                Ok(Attempt { answered: Answered::Reply(reply), .. }) if reply.status == 401 => {
                    if !renewed && self.renew(call, &credential, &mut attempts).await? {
                        renewed = true;
                        continue;
                    }
                    let status = Box::new(reply.refusal());
                    let plugin = self.shared.credentials.plugin().map(ToOwned::to_owned);
                    let host = self.server();
                    return Err(Error::Unauthorized { host, plugin, status });
                }
                Ok(Attempt { answered: Answered::Reply(reply), .. })
                    if reply.status == 403 && self.is_taken_for_nobody(reply) =>
                {
                    let status = Box::new(reply.refusal());
                    return Err(Error::LoginIgnored { host: self.server(), status });
                }
                Ok(Attempt { answered: Answered::Reply(reply), .. })
                    if !self.host().is_encrypted() && reply.wants_tls() =>
                {
                    let (host, trouble) = (self.server(), Trouble::WantsTls);
                    return Err(Error::Unreachable { host, trouble, attempts: attempts.made() });
                }
                // No API server asks for this; a proxy does that stands where the server should.
                Ok(Attempt { answered: Answered::Reply(reply), .. }) if reply.status == 407 => {
                    return Err(self.bad_answer(call, "a proxy's wish for a login (HTTP 407)"));
                }
                Ok(Attempt { answered: Answered::Reply(reply), .. }) if reply.lost_its_leader() => {
                    Ending::LeaderChanged
                }
                Ok(Attempt { answered: Answered::Reply(reply), retry_after }) => {
                    Ending::Answered { status: reply.status, retry_after: *retry_after }
                }
                Ok(_) => Ending::Answered { status: 200, retry_after: None },
                Err(failure) => Ending::Failed(failure),
            };
            let regard = self.shared.standing.regard(whose);
            let out_of_time = attempts.may_repeat(ending);
            let given_up = |error: Error| {
                if out_of_time {
                    self.shared.standing.gave_up(&call.path, &error, started.elapsed(), whose);
                }
                error
            };
            match (attempts.pause(ending, regard, Instant::now()), ended) {
                (Some(pause), _) => {
                    if started.elapsed() > TELL_AFTER {
                        tracing::warn!(
                            host = %self.host(),
                            "`{}` has been tried {} times for {:.0} s; trying again",
                            call.label(),
                            attempts.made(),
                            started.elapsed().as_secs_f64(),
                        );
                    }
                    tokio::select! {
                        biased;
                        _ = self.shared.stop.asked() => {
                            return Err(self.interrupted(call, &attempts));
                        }
                        () = sleep(pause) => {}
                    }
                }
                (None, Ok(Attempt { answered: Answered::Reply(reply), retry_after }))
                    if reply.is_passing()
                        && (attempts.made() > 1
                            || retry_after.is_some_and(|asked| asked >= patience)) =>
                {
                    let status = Box::new(reply.refusal());
                    let (attempts, waited) = (attempts.made(), started.elapsed());
                    let host = self.server();
                    let asked = retry_after;
                    let put_off = Error::NotReady { host, status, attempts, waited, asked };
                    return Err(given_up(put_off));
                }
                (None, Ok(Attempt { answered, .. })) => return Ok(answered),
                (None, Err(failure)) => {
                    let waited = started.elapsed();
                    return Err(given_up(self.failed(call, failure, arrived, &attempts, waited)));
                }
            }
        }
    }

    /// Waits until the user's wish to stop ends a request. A write that has left is heard out.
    async fn stopped_before(&self, call: &Call, leaves: &AtomicBool) {
        self.shared.stop.over().await;
        if call.is_write() && leaves.load(Ordering::Relaxed) {
            std::future::pending().await
        }
    }

    /// The credential for the next attempt, within the handle's deadline or what a plugin may take.
    async fn credential(&self, call: &Call, attempts: &Attempts) -> Result<Credential, Error> {
        tokio::select! {
            biased;
            () = self.shared.stop.over() => Err(self.interrupted(call, attempts)),
            credential = self.shared.credentials.current(self.credential_deadline()) => {
                Ok(credential?)
            }
        }
    }

    /// Gets another credential than the refused one; `false` if there is no way to get one.
    async fn renew(
        &self,
        call: &Call,
        refused: &Credential,
        attempts: &mut Attempts,
    ) -> Result<bool, Error> {
        let asked = Instant::now();
        let renewed = tokio::select! {
            biased;
            () = self.shared.stop.over() => return Err(self.interrupted(call, attempts)),
            renewed = self.shared.credentials.renew(refused, self.credential_deadline()) => {
                renewed?
            }
        };
        if self.deadline.is_none() {
            attempts.postpone(asked.elapsed());
        }
        Ok(renewed)
    }

    fn credential_deadline(&self) -> Instant {
        self.deadline.unwrap_or_else(|| Instant::now() + exec::LIMIT)
    }

    /// Whether the server knows nothing of a login that was sent. The name of whom it took us for
    /// stands in its words alone.
    fn is_taken_for_nobody(&self, reply: &Reply) -> bool {
        self.host().is_encrypted()
            && self.shared.nobody.is_none()
            && self.shared.credentials.impersonation().is_empty()
            && reply.refusal().message.contains("\"system:anonymous\"")
    }

    /// The outer error is one that no repeating can help; the inner may pass.
    async fn attempt(
        &self,
        call: &Call,
        credential: &Credential,
        reading: Reading,
        leaves: &AtomicBool,
    ) -> Result<Result<Attempt, Failure>, Error> {
        let request = self.request(call, credential)?;
        let transport = self.shared.transports.of(credential)?;
        let response = match transport.send(request, leaves).await {
            Ok(response) => response,
            Err(failure) => return Ok(Err(failure)),
        };
        if reading == Reading::Stream && response.status().is_success() {
            let answered = Answered::Stream(response.into_body());
            return Ok(Ok(Attempt { answered, retry_after: None }));
        }
        match answer::read(response, call.largest).await {
            Ok(attempt) => Ok(attempt),
            Err(excess) => Err(self.too_much(call, excess)),
        }
    }

    fn request(&self, call: &Call, credential: &Credential) -> Result<Request<Full<Bytes>>, Error> {
        let unbuildable = |why: &dyn std::fmt::Display| {
            self.bad_answer(call, &format!("nothing, since it could not be sent: {why}"))
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

    fn log(&self, call: &Call, ended: &Result<Attempt, Failure>, took: Duration, attempt: u32) {
        let status = match ended {
            Ok(Attempt { answered: Answered::Reply(reply), .. }) => reply.status,
            Ok(_) => 200,
            Err(_) => 0,
        };
        tracing::debug!(
            host = %self.host(),
            request = call.label(),
            status,
            ms = took.as_millis() as u64,
            attempt,
            failure = ended.as_ref().err().map(tracing::field::debug),
            "request"
        );
    }

    fn interrupted(&self, call: &Call, tried: &Attempts) -> Error {
        let host = self.server();
        Error::Interrupted { host, request: call.label(), attempts: tried.made() }
    }

    fn failed(
        &self,
        call: &Call,
        failure: Failure,
        arrived: Arrival,
        tried: &Attempts,
        waited: Duration,
    ) -> Error {
        let (host, attempts) = (self.server(), tried.made());
        match failure {
            Failure::Unsent(trouble) | Failure::Remembered(trouble) | Failure::Lost(trouble) => {
                if arrived == Arrival::Maybe && call.is_write() {
                    let request = call.label();
                    return Error::AnswerLost { host, request, trouble, attempts };
                }
                Error::Unreachable { host, trouble, attempts }
            }
            Failure::Late => Error::Timeout { host, request: call.label(), waited },
        }
    }

    /// Reads a success as `T`, and anything else as a refusal.
    pub(crate) fn decode<T: DeserializeOwned>(
        &self,
        call: &Call,
        reply: &Reply,
    ) -> Result<T, Error> {
        match reply.status {
            200..300 => serde_json::from_slice(&reply.body)
                .map_err(|error| self.bad_answer(call, &format!("unreadable JSON ({error})"))),
            300..400 => Err(self.bad_answer(call, &format!("a redirect ({})", reply.status))),
            _ => Err(Error::Refused(Box::new(reply.refusal()))),
        }
    }

    pub(crate) fn too_much(&self, call: &Call, excess: Excess) -> Error {
        Error::TooMuch { host: self.server(), request: call.label(), excess }
    }

    pub(crate) fn bad_answer(&self, call: &Call, why: &str) -> Error {
        let host = self.server();
        Error::BadAnswer { host, request: call.label(), why: why.into() }
    }
}

/// Whether one of the attempts may have reached the server, though none was answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Never,
    Maybe,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Whole,
    Stream,
}

/// An answer to the wish to watch.
pub(crate) enum Opened {
    Reply(Reply),
    Watch(Lines),
}

enum Answered {
    Reply(Reply),
    Stream(Incoming),
}

#[cfg(test)]
mod tests;
