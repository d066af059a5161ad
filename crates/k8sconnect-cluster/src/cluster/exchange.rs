//! One request to the server: its attempts, until there is an answer to go by or no time is left.
//!
//! Deadlines, retries and the renewal of credentials are here. Not here: which attempt is followed by
//! another (`retry`), and what other requests have learnt of the server (`circuit_breaker`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use k8sconnect_core::rejection::Status;
use tokio::time::{Instant, sleep, timeout_at};

use super::Cluster;
use crate::call::{Call, Reply};
use crate::credentials::Credential;
use crate::error::{BadAnswer, Error, Excess, NetworkError, TlsError};
use crate::exec;
use crate::retry::{Answered, Attempts};
use crate::transport::{self, Failure};

pub(super) struct Exchange<'a> {
    cluster: &'a Cluster,
    call: &'a Call,
    began: Instant,
    /// What one attempt may take at most, and all of them where nobody set a deadline.
    limit: Duration,
    attempts: Attempts,
    /// The last answer that put the request off.
    put_off: Option<Box<Status>>,
    /// Whether another credential has been tried.
    is_renewed: bool,
    /// Whether an attempt may have reached the server and was not answered.
    may_have_arrived: bool,
}

/// How an attempt ended.
type Ended = Result<Answered, Failure>;

/// What a write may take when nobody set a deadline.
const WRITE: Duration = Duration::from_secs(60);
/// After this time the log says that a request is still being tried.
const LOG_AFTER: Duration = Duration::from_secs(5);

impl<'a> Exchange<'a> {
    pub(super) fn new(cluster: &'a Cluster, call: &'a Call) -> Self {
        let began = Instant::now();
        let limit = if call.method == Method::GET { cluster.shared.read } else { WRITE };
        let deadline = cluster.deadline.unwrap_or(began + limit);
        Self {
            cluster,
            call,
            began,
            limit,
            attempts: Attempts { repeat: call.repeat, started: began, deadline, made: 0 },
            put_off: None,
            is_renewed: false,
            may_have_arrived: false,
        }
    }

    pub(super) async fn run(mut self) -> Result<Answered, Error> {
        loop {
            // Another request may have given the server up since this one was last sent. What that
            // one ended with says nothing of a write that may have arrived.
            if !self.may_be_written()
                && let Some(error) = self.cluster.shared.breaker.server_error(self.cluster.deadline)
            {
                let host = self.cluster.host();
                tracing::debug!(%host, request = self.call.label(), "circuit open");
                return Err(error);
            }
            let by = self.credential_deadline();
            let current = self.cluster.shared.credentials.current(by);
            let credential = self.credentials(current).await?;
            let ended = self.attempt(&credential).await?;
            self.note(&ended)?;
            if let Ok(Answered::Reply(reply)) = &ended {
                self.refuse(reply)?;
                if reply.status == 401 {
                    self.renew(&credential, reply).await?;
                    continue;
                }
            }
            match self.pause_after(&ended) {
                Some(pause) => self.pause(pause).await?,
                None => return self.end(ended),
            }
        }
    }

    /// Gets another credential than the refused one, once.
    async fn renew(&mut self, refused: &Credential, reply: &Reply) -> Result<(), Error> {
        let credentials = &self.cluster.shared.credentials;
        if !self.is_renewed {
            let renewing = credentials.renew(refused, self.credential_deadline());
            self.is_renewed = self.credentials(renewing).await?;
            if self.is_renewed {
                return Ok(());
            }
        }
        let status = Box::new(reply.refusal());
        let plugin = credentials.plugin().map(ToOwned::to_owned);
        Err(Error::Unauthorized { host: self.cluster.server(), plugin, status })
    }

    /// Credentials come within the handle's deadline, or within what a plugin may take.
    fn credential_deadline(&self) -> Instant {
        self.cluster.deadline.unwrap_or_else(|| Instant::now() + exec::LIMIT)
    }

    /// Waits for credentials. Where nobody set a deadline the server has its time, whatever time the
    /// credentials took.
    async fn credentials<T>(
        &mut self,
        coming: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let asked = Instant::now();
        let came = tokio::select! {
            biased;
            () = self.cluster.shared.stop.over() => return Err(self.interrupted()),
            came = coming => came?,
        };
        if self.cluster.deadline.is_none() {
            self.attempts.started += asked.elapsed();
            self.attempts.deadline += asked.elapsed();
        }
        Ok(came)
    }

    /// An error is one that no other attempt can help.
    async fn attempt(&mut self, credential: &Credential) -> Result<Ended, Error> {
        let sent = Instant::now();
        let leaves = AtomicBool::new(false);
        let by = self.attempts.deadline.min(sent + self.limit);
        let ended = tokio::select! {
            ended = timeout_at(by, self.ask(credential, &leaves)) => match ended {
                Ok(ended) => ended?,
                Err(_) => Err(Failure::Late),
            },
            () = self.stopped(&leaves) => {
                if leaves.load(Ordering::Relaxed) {
                    self.attempts.made += 1;
                }
                return Err(self.interrupted());
            }
        };
        self.attempts.made += 1;
        self.log(&ended, sent.elapsed());
        Ok(ended)
    }

    async fn ask(&self, credential: &Credential, leaves: &AtomicBool) -> Result<Ended, Error> {
        let request = self.cluster.request(self.call, credential)?;
        let transport = self.cluster.shared.transports.of(credential)?;
        Ok(match transport.send(request, leaves).await {
            Ok(response) if self.call.is_watch() && response.status().is_success() => {
                Ok(Answered::Stream(response.into_body()))
            }
            Ok(response) => transport::read(response, self.call.largest).await.map(Answered::Reply),
            Err(failure) => Err(failure),
        })
    }

    /// Waits until the user's wish to stop ends an attempt. A write that has left is waited for.
    async fn stopped(&self, leaves: &AtomicBool) {
        self.cluster.shared.stop.over().await;
        if self.call.is_write() && leaves.load(Ordering::Relaxed) {
            std::future::pending().await
        }
    }

    /// Notes what came of an attempt. An error where another request has already waited in vain for
    /// the group.
    fn note(&mut self, ended: &Ended) -> Result<(), Error> {
        let breaker = &self.cluster.shared.breaker;
        match ended {
            Ok(Answered::Reply(reply)) if reply.puts_off() => {
                self.put_off = Some(Box::new(reply.refusal()));
                breaker.put_off();
                return breaker
                    .group_error(&self.call.path, self.cluster.deadline)
                    .map_or(Ok(()), Err);
            }
            Ok(_) => breaker.served(&self.call.path),
            Err(Failure::Lost(_) | Failure::Late) => self.may_have_arrived = true,
            Err(Failure::Unsent(_) | Failure::TooMuch(_)) => {}
        }
        Ok(())
    }

    /// An error for an answer that no other credential and no repeating can help.
    fn refuse(&self, reply: &Reply) -> Result<(), Error> {
        let connection = &self.cluster.shared.connection;
        let (host, is_encrypted) = (self.cluster.server(), connection.host.is_encrypted());
        let status = || Box::new(reply.refusal());
        match reply.status {
            // Over plain HTTP it is a proxy on the way that authenticates, as `kubectl proxy` does.
            401 | 403 if is_encrypted && connection.is_anonymous() => {
                Err(Error::Anonymous { host, user: connection.user.clone(), status: status() })
            }
            // Only the text names the user that the server took the request for.
            403 if is_encrypted
                && self.cluster.shared.credentials.impersonation().is_empty()
                && reply.refusal().message.contains("\"system:anonymous\"") =>
            {
                Err(Error::CredentialsIgnored { host, status: status() })
            }
            // No API server asks for this; a proxy does that stands where the server should.
            407 => Err(self.cluster.bad_answer(self.call, BadAnswer::Status(407))),
            _ if !is_encrypted && reply.wants_tls() => {
                let (cause, attempts) = (NetworkError::Tls(TlsError::WantsTls), self.attempts.made);
                Err(Error::Unreachable { host, cause, attempts })
            }
            _ => Ok(()),
        }
    }

    /// How long to pause before the next attempt; `None` ends it.
    fn pause_after(&self, ended: &Ended) -> Option<Duration> {
        let limit = self.cluster.shared.breaker.limit(self.cluster.deadline);
        self.attempts.pause(ended, limit, Instant::now())
    }

    async fn pause(&self, pause: Duration) -> Result<(), Error> {
        if self.began.elapsed() > LOG_AFTER {
            tracing::warn!(
                host = %self.cluster.host(),
                request = self.call.label(),
                attempts = self.attempts.made,
                seconds = self.began.elapsed().as_secs(),
                "trying again"
            );
        }
        tokio::select! {
            biased;
            _ = self.cluster.shared.stop.asked() => Err(self.interrupted()),
            () = sleep(pause) => Ok(()),
        }
    }

    /// What the last attempt comes to.
    fn end(mut self, ended: Ended) -> Result<Answered, Error> {
        let is_out_of_time = self.attempts.may_repeat(&ended);
        let error = match ended {
            Ok(Answered::Reply(reply)) => {
                let asked = reply.retry_after.filter(|asked| *asked >= self.limit);
                match self.put_off.take() {
                    Some(status)
                        if reply.puts_off() && (self.attempts.made > 1 || asked.is_some()) =>
                    {
                        self.not_ready(status, reply.retry_after)
                    }
                    _ => return Ok(Answered::Reply(reply)),
                }
            }
            Ok(stream) => return Ok(stream),
            Err(failure) => self.failed(failure),
        };
        if is_out_of_time {
            let waited = self.began.elapsed();
            self.cluster.shared.breaker.gave_up(
                &self.call.path,
                &error,
                waited,
                self.cluster.deadline,
            );
        }
        Err(error)
    }

    fn not_ready(&self, status: Box<Status>, asked: Option<Duration>) -> Error {
        let (host, attempts) = (self.cluster.server(), self.attempts.made);
        Error::NotReady { host, status, attempts, waited: self.began.elapsed(), asked }
    }

    fn failed(&mut self, failure: Failure) -> Error {
        let (host, request) = (self.cluster.server(), self.call.label());
        let attempts = self.attempts.made;
        match (failure, self.put_off.take()) {
            (Failure::TooMuch(limit), _) => {
                self.cluster.too_much(self.call, Excess::Answer { limit })
            }
            // The earlier answers explain more than the time that ran out on the last attempt. A write
            // may have been carried out by that one, which a 429 would rule out.
            (Failure::Late, Some(status)) if !self.call.is_write() || status.code != 429 => {
                self.not_ready(status, None)
            }
            (Failure::Late, _) => Error::Timeout { host, request, waited: self.began.elapsed() },
            (Failure::Unsent(cause) | Failure::Lost(cause), _) => match self.may_be_written() {
                true => Error::AnswerLost { host, request, cause, attempts },
                false => Error::Unreachable { host, cause, attempts },
            },
        }
    }

    fn may_be_written(&self) -> bool {
        self.may_have_arrived && self.call.is_write()
    }

    fn interrupted(&self) -> Error {
        let (host, request) = (self.cluster.server(), self.call.label());
        Error::Interrupted { host, request, attempts: self.attempts.made }
    }

    fn log(&self, ended: &Ended, took: Duration) {
        let status = match ended {
            Ok(Answered::Reply(reply)) => reply.status,
            Ok(Answered::Stream(_)) => 200,
            Err(_) => 0,
        };
        tracing::debug!(
            host = %self.cluster.host(),
            request = self.call.label(),
            status,
            ms = took.as_millis() as u64,
            attempt = self.attempts.made,
            failure = ended.as_ref().err().map(tracing::field::debug),
            "request"
        );
    }
}
