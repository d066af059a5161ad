//! One request to the server: its attempts, until there is an answer to go by or no time is left.
//!
//! Deadlines, retries and the renewal of credentials live here. Which attempt is followed by another
//! is judged in `retry`, and what others have learnt of the server in `standing`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use tokio::time::{Instant, sleep, timeout_at};

use super::answer::{self, Attempt};
use super::{Answered, Cluster, Nobody};
use crate::call::{Call, Reply};
use crate::credentials::Credential;
use crate::error::{BadAnswer, Error, NetworkError, TlsError};
use crate::exec;
use crate::retry::{Attempts, Ending, Failure};
use crate::standing::Patience;

pub(super) struct Exchange<'a> {
    cluster: &'a Cluster,
    call: &'a Call,
    reading: Reading,
    began: Instant,
    /// What one attempt may take at most, and all of them where nobody set a deadline.
    time: Duration,
    whose: Patience,
    attempts: Attempts,
    renewal: Renewal,
    arrival: Arrival,
}

/// What is wanted of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Whole,
    /// A success is handed over unread.
    Stream,
}

/// Whether another credential has been tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Renewal {
    Possible,
    Done,
}

/// Whether one of the attempts may have reached the server, though none was answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Never,
    Maybe,
}

/// The same for what is no read.
const WRITE: Duration = Duration::from_secs(60);
const TELL_AFTER: Duration = Duration::from_secs(5);

impl<'a> Exchange<'a> {
    pub(super) fn new(cluster: &'a Cluster, call: &'a Call, reading: Reading) -> Self {
        let began = Instant::now();
        let time = if call.method == Method::GET { cluster.shared.read } else { WRITE };
        let deadline = cluster.deadline.unwrap_or(began + time);
        Self {
            cluster,
            call,
            reading,
            began,
            time,
            whose: cluster.deadline.map_or(Patience::Usual, Patience::Until),
            attempts: Attempts::new(call.repeat, began, deadline),
            renewal: Renewal::Possible,
            arrival: Arrival::Never,
        }
    }

    pub(super) async fn run(mut self) -> Result<Answered, Error> {
        if let Some(error) = self.cluster.shared.standing.foregone(self.whose) {
            let host = self.cluster.host();
            tracing::debug!(%host, request = self.call.label(), "given up");
            return Err(error);
        }
        loop {
            let credential = self.credential().await?;
            let ended = self.attempt(&credential).await?;
            self.note(&ended)?;
            if let Ok(Attempt { answered: Answered::Reply(reply), .. }) = &ended {
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

    /// The credential for the next attempt, within the handle's deadline or what a plugin may take.
    async fn credential(&mut self) -> Result<Credential, Error> {
        let asked = Instant::now();
        let by = self.credential_deadline();
        let credential = tokio::select! {
            biased;
            () = self.cluster.shared.stop.over() => return Err(self.interrupted()),
            credential = self.cluster.shared.credentials.current(by) => credential?,
        };
        self.postpone(asked);
        Ok(credential)
    }

    /// Gets another credential than the refused one, once.
    async fn renew(&mut self, refused: &Credential, reply: &Reply) -> Result<(), Error> {
        let credentials = &self.cluster.shared.credentials;
        if self.renewal == Renewal::Possible {
            let asked = Instant::now();
            let by = self.credential_deadline();
            let renewed = tokio::select! {
                biased;
                () = self.cluster.shared.stop.over() => return Err(self.interrupted()),
                renewed = credentials.renew(refused, by) => renewed?,
            };
            self.postpone(asked);
            if renewed {
                self.renewal = Renewal::Done;
                return Ok(());
            }
        }
        let status = Box::new(reply.refusal());
        let plugin = credentials.plugin().map(ToOwned::to_owned);
        Err(Error::Unauthorized { host: self.cluster.server(), plugin, status })
    }

    fn credential_deadline(&self) -> Instant {
        self.cluster.deadline.unwrap_or_else(|| Instant::now() + exec::LIMIT)
    }

    /// Where nobody set a deadline the server has its time, whatever time the credential took.
    fn postpone(&mut self, asked: Instant) {
        if self.cluster.deadline.is_none() {
            self.attempts.postpone(asked.elapsed());
        }
    }

    /// The outer error is one that no repeating can help; the inner may pass.
    async fn attempt(
        &mut self,
        credential: &Credential,
    ) -> Result<Result<Attempt, Failure>, Error> {
        let sent = Instant::now();
        let leaves = AtomicBool::new(false);
        let by = self.attempts.deadline().min(sent + self.time);
        let ended = tokio::select! {
            ended = timeout_at(by, self.ask(credential, &leaves)) => match ended {
                Ok(ended) => ended?,
                Err(_) => Err(Failure::Late),
            },
            () = self.stopped(&leaves) => {
                if leaves.load(Ordering::Relaxed) {
                    self.attempts.begin();
                }
                return Err(self.interrupted());
            }
        };
        self.attempts.begin();
        self.log(&ended, sent.elapsed());
        Ok(ended)
    }

    async fn ask(
        &self,
        credential: &Credential,
        leaves: &AtomicBool,
    ) -> Result<Result<Attempt, Failure>, Error> {
        let request = self.cluster.request(self.call, credential)?;
        let transport = self.cluster.shared.transports.of(credential)?;
        let response = match transport.send(request, leaves).await {
            Ok(response) => response,
            Err(failure) => return Ok(Err(failure)),
        };
        if self.reading == Reading::Stream && response.status().is_success() {
            let answered = Answered::Stream(response.into_body());
            return Ok(Ok(Attempt { answered, retry_after: None }));
        }
        let read = answer::read(response, self.call.largest).await;
        read.map_err(|excess| self.cluster.too_much(self.call, excess))
    }

    /// Waits until the user's wish to stop ends an attempt. A write that has left is heard out.
    async fn stopped(&self, leaves: &AtomicBool) {
        self.cluster.shared.stop.over().await;
        if self.call.is_write() && leaves.load(Ordering::Relaxed) {
            std::future::pending().await
        }
    }

    /// Has others know what came of it. An error where they know more.
    fn note(&mut self, ended: &Result<Attempt, Failure>) -> Result<(), Error> {
        let standing = &self.cluster.shared.standing;
        match ended {
            Ok(Attempt { answered: Answered::Reply(reply), .. }) if reply.is_passing() => {
                standing.put_off();
                standing.closed(&self.call.path, self.whose).map_or(Ok(()), Err)
            }
            Ok(_) => {
                standing.served(&self.call.path);
                Ok(())
            }
            Err(Failure::Lost(_) | Failure::Late) => {
                self.arrival = Arrival::Maybe;
                Ok(())
            }
            Err(Failure::Unsent(_) | Failure::Remembered(_)) => Ok(()),
        }
    }

    /// An error for an answer that no other credential and no repeating can help.
    fn refuse(&self, reply: &Reply) -> Result<(), Error> {
        let host = self.cluster.server();
        let status = || Box::new(reply.refusal());
        match (reply.status, &self.cluster.shared.nobody) {
            (401 | 403, Some(Nobody { user })) => {
                Err(Error::Anonymous { host, user: user.clone(), status: status() })
            }
            (403, None) if self.is_taken_for_nobody(reply) => {
                Err(Error::CredentialsIgnored { host, status: status() })
            }
            // No API server asks for this; a proxy does that stands where the server should.
            (407, _) => Err(self.cluster.bad_answer(self.call, BadAnswer::Status(407))),
            _ if !self.cluster.host().is_encrypted() && reply.wants_tls() => {
                let (cause, attempts) =
                    (NetworkError::Tls(TlsError::WantsTls), self.attempts.made());
                Err(Error::Unreachable { host, cause, attempts })
            }
            _ => Ok(()),
        }
    }

    /// Whether the server knows nothing of a login that was sent. The name of whom it took us for
    /// stands in its words alone.
    fn is_taken_for_nobody(&self, reply: &Reply) -> bool {
        self.cluster.host().is_encrypted()
            && self.cluster.shared.credentials.impersonation().is_empty()
            && reply.refusal().message.contains("\"system:anonymous\"")
    }

    /// How long to pause before the next attempt; `None` ends it.
    fn pause_after(&self, ended: &Result<Attempt, Failure>) -> Option<Duration> {
        let regard = self.cluster.shared.standing.regard(self.whose);
        self.attempts.pause(ending_of(ended), regard, Instant::now())
    }

    async fn pause(&self, pause: Duration) -> Result<(), Error> {
        if self.began.elapsed() > TELL_AFTER {
            tracing::warn!(
                host = %self.cluster.host(),
                request = self.call.label(),
                attempts = self.attempts.made(),
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
    fn end(self, ended: Result<Attempt, Failure>) -> Result<Answered, Error> {
        let is_out_of_time = self.attempts.may_repeat(ending_of(&ended));
        let error = match ended {
            Ok(Attempt { answered: Answered::Reply(reply), retry_after })
                if reply.is_passing()
                    && (self.attempts.made() > 1
                        || retry_after.is_some_and(|asked| asked >= self.time)) =>
            {
                Error::NotReady {
                    host: self.cluster.server(),
                    status: Box::new(reply.refusal()),
                    attempts: self.attempts.made(),
                    waited: self.began.elapsed(),
                    asked: retry_after,
                }
            }
            Ok(Attempt { answered, .. }) => return Ok(answered),
            Err(failure) => self.failed(failure),
        };
        if is_out_of_time {
            let standing = &self.cluster.shared.standing;
            standing.gave_up(&self.call.path, &error, self.began.elapsed(), self.whose);
        }
        Err(error)
    }

    fn failed(&self, failure: Failure) -> Error {
        let (host, request) = (self.cluster.server(), self.call.label());
        let attempts = self.attempts.made();
        match failure {
            Failure::Late => Error::Timeout { host, request, waited: self.began.elapsed() },
            Failure::Unsent(cause) | Failure::Remembered(cause) | Failure::Lost(cause) => {
                match self.arrival == Arrival::Maybe && self.call.is_write() {
                    true => Error::AnswerLost { host, request, cause, attempts },
                    false => Error::Unreachable { host, cause, attempts },
                }
            }
        }
    }

    fn interrupted(&self) -> Error {
        let (host, request) = (self.cluster.server(), self.call.label());
        Error::Interrupted { host, request, attempts: self.attempts.made() }
    }

    fn log(&self, ended: &Result<Attempt, Failure>, took: Duration) {
        let status = match ended {
            Ok(Attempt { answered: Answered::Reply(reply), .. }) => reply.status,
            Ok(_) => 200,
            Err(_) => 0,
        };
        tracing::debug!(
            host = %self.cluster.host(),
            request = self.call.label(),
            status,
            ms = took.as_millis() as u64,
            attempt = self.attempts.made(),
            failure = ended.as_ref().err().map(tracing::field::debug),
            "request"
        );
    }
}

fn ending_of(ended: &Result<Attempt, Failure>) -> Ending<'_> {
    match ended {
        Ok(Attempt { answered: Answered::Reply(reply), .. }) if reply.lost_its_leader() => {
            Ending::LeaderChanged
        }
        Ok(Attempt { answered: Answered::Reply(reply), retry_after }) => {
            Ending::Answered { status: reply.status, retry_after: *retry_after }
        }
        Ok(_) => Ending::Answered { status: 200, retry_after: None },
        Err(failure) => Ending::Failed(failure),
    }
}
