//! Whether, and when, a request is sent again.
//!
//! Three things decide: what the request does when it happens twice, how the last attempt ended,
//! and how much time there is. A 500 is never repeated, because server-side apply answers a typo
//! with one; save where the store behind the server says that it changed its leader. Whether a write
//! that got one was carried out is looked for afterwards, in `aftermath`. A server that was never
//! reached in this process gets a few seconds and no more: it is more likely misspelt than restarting,
//! and nobody should wait half a minute to be told.

use std::time::Duration;

use tokio::time::Instant;

use crate::error::NetworkError;
use crate::standing::Regard;

/// What happens if the server carries a request out twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Nothing: a read, an apply, a deletion bound to a uid.
    Harmless,
    /// Something else than once: repeated only when the server cannot have begun.
    OnlyIfUnsent,
}

/// How an attempt failed to bring an answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The request did not leave, or the server said that it did not take it.
    Unsent(NetworkError),
    /// Nothing was tried, since somebody waited in vain a moment ago.
    Remembered(NetworkError),
    /// It may have arrived; the answer did not.
    Lost(NetworkError),
    /// No answer in the time an attempt may take.
    Late,
}

/// How an attempt ended, as far as repeating it is concerned.
#[derive(Clone, Copy)]
pub(crate) enum Ending<'a> {
    Answered {
        status: u16,
        retry_after: Option<Duration>,
    },
    /// The server's store changed its leader meanwhile; whether anything was done is not known.
    LeaderChanged,
    Failed(&'a Failure),
}

/// The attempts of one request.
pub(crate) struct Attempts {
    repeat: Repeat,
    started: Instant,
    deadline: Instant,
    made: u32,
}

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// What a server gets that was never reached.
pub(crate) const STRANGER: Duration = Duration::from_secs(5);

impl Attempts {
    pub(crate) fn new(repeat: Repeat, started: Instant, deadline: Instant) -> Self {
        Self { repeat, started, deadline, made: 0 }
    }

    pub(crate) fn made(&self) -> u32 {
        self.made
    }

    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Begins and ends so much later.
    pub(crate) fn postpone(&mut self, by: Duration) {
        self.started += by;
        self.deadline += by;
    }

    pub(crate) fn begin(&mut self) {
        self.made += 1;
    }

    /// How long to pause before the next attempt; `None` ends it.
    pub(crate) fn pause(
        &self,
        ending: Ending<'_>,
        server: Regard,
        now: Instant,
    ) -> Option<Duration> {
        if !self.may_repeat(ending) {
            return None;
        }
        let deadline = match (ending, server) {
            // Whoever waited in vain did so for all. Each pause would only bring the same memory
            // back.
            (Ending::Failed(Failure::Remembered(_)), Regard::Stranger) => return None,
            (Ending::Failed(_), Regard::GivenUp) => return None,
            (Ending::Failed(_), Regard::Stranger) => self.deadline.min(self.started + STRANGER),
            _ => self.deadline,
        };
        let asked = match ending {
            Ending::Answered { retry_after, .. } => retry_after,
            Ending::LeaderChanged | Ending::Failed(_) => None,
        };
        let pause = asked.unwrap_or_default().max(self.back_off());
        // A server may ask for more time than a clock can tell.
        now.checked_add(pause).filter(|end| *end < deadline).map(|_| pause)
    }

    /// Whether another attempt would be made, if there were time.
    pub(crate) fn may_repeat(&self, ending: Ending<'_>) -> bool {
        match (ending, self.repeat) {
            // The server refused to begin, so that repeating is safe for any verb.
            (Ending::Answered { status: 429, .. }, _) => true,
            (Ending::Answered { status, .. }, Repeat::Harmless) => matches!(status, 502..=504),
            (Ending::Answered { .. }, Repeat::OnlyIfUnsent) => false,
            (Ending::LeaderChanged, repeat) => repeat == Repeat::Harmless,
            (Ending::Failed(Failure::Unsent(cause) | Failure::Remembered(cause)), _) => {
                !cause.is_lasting()
            }
            (Ending::Failed(Failure::Lost(cause)), Repeat::Harmless) => !cause.is_lasting(),
            (Ending::Failed(Failure::Late), Repeat::Harmless) => true,
            (Ending::Failed(_), Repeat::OnlyIfUnsent) => false,
        }
    }

    /// Doubling, with the upper half of it left to chance, so that ten resources refused at once
    /// do not come back at once.
    fn back_off(&self) -> Duration {
        let doubled = FIRST_PAUSE.saturating_mul(1 << self.made.saturating_sub(1).min(10));
        doubled.min(LONGEST_PAUSE).mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::TlsError;

    fn after(repeat: Repeat, ending: Ending<'_>) -> Option<Duration> {
        let now = Instant::now();
        let mut attempts = Attempts::new(repeat, now, now + Duration::from_secs(30));
        attempts.begin();
        attempts.pause(ending, Regard::Known, now)
    }

    fn answered(status: u16) -> Ending<'static> {
        Ending::Answered { status, retry_after: None }
    }

    #[test]
    fn a_500_is_never_repeated() {
        assert!(after(Repeat::Harmless, answered(500)).is_none());
        assert!(after(Repeat::OnlyIfUnsent, answered(500)).is_none());
    }

    #[test]
    fn a_leader_change_is_sat_out_only_where_twice_does_no_harm() {
        assert!(after(Repeat::Harmless, Ending::LeaderChanged).is_some());
        assert!(after(Repeat::OnlyIfUnsent, Ending::LeaderChanged).is_none());
    }

    #[test]
    fn a_busy_server_is_asked_again_whatever_the_verb() {
        assert!(after(Repeat::Harmless, answered(429)).is_some());
        assert!(after(Repeat::OnlyIfUnsent, answered(429)).is_some());
    }

    #[test]
    fn gateway_errors_are_repeated_only_where_twice_does_no_harm() {
        for status in [502, 503, 504] {
            assert!(after(Repeat::Harmless, answered(status)).is_some(), "{status}");
            assert!(after(Repeat::OnlyIfUnsent, answered(status)).is_none(), "{status}");
        }
    }

    #[test]
    fn answers_and_refusals_end_it() {
        for status in [200, 201, 202, 400, 401, 403, 404, 405, 409, 410, 422] {
            assert!(after(Repeat::Harmless, answered(status)).is_none(), "{status}");
        }
    }

    #[test]
    fn a_lost_answer_is_repeated_only_where_twice_does_no_harm() {
        let lost = Failure::Lost(NetworkError::Closed);
        assert!(after(Repeat::Harmless, Ending::Failed(&lost)).is_some());
        assert!(after(Repeat::OnlyIfUnsent, Ending::Failed(&lost)).is_none());
        assert!(after(Repeat::Harmless, Ending::Failed(&Failure::Late)).is_some());
        assert!(after(Repeat::OnlyIfUnsent, Ending::Failed(&Failure::Late)).is_none());
        let unsent = Failure::Unsent(NetworkError::Refused);
        assert!(after(Repeat::OnlyIfUnsent, Ending::Failed(&unsent)).is_some());
    }

    #[test]
    fn a_certificate_does_not_get_better_by_asking_again() {
        let failure = Failure::Unsent(NetworkError::Tls(TlsError::UnknownAuthority));
        assert!(after(Repeat::Harmless, Ending::Failed(&failure)).is_none());
    }

    #[test]
    fn the_server_is_obeyed_when_it_says_how_long() {
        let three = Duration::from_secs(3);
        let ending = Ending::Answered { status: 429, retry_after: Some(three) };
        assert!(after(Repeat::Harmless, ending).is_some_and(|pause| pause >= three));
    }

    #[test]
    fn no_pause_reaches_past_the_deadline() {
        let hour = Some(Duration::from_secs(3600));
        let ending = Ending::Answered { status: 429, retry_after: hour };
        assert!(after(Repeat::Harmless, ending).is_none());
    }

    #[test]
    fn a_pause_that_no_clock_can_tell_ends_it() {
        let ending = Ending::Answered { status: 429, retry_after: Some(Duration::MAX) };
        assert!(after(Repeat::Harmless, ending).is_none());
        let ending =
            Ending::Answered { status: 503, retry_after: Some(Duration::from_secs(u64::MAX)) };
        assert!(after(Repeat::Harmless, ending).is_none());
    }

    #[test]
    fn a_server_never_reached_is_given_up_within_seconds() {
        let now = Instant::now();
        let attempts = Attempts::new(Repeat::Harmless, now, now + Duration::from_secs(30));
        let refused = Failure::Unsent(NetworkError::Refused);
        let later = now + Duration::from_secs(6);
        assert!(attempts.pause(Ending::Failed(&refused), Regard::Known, later).is_some());
        assert!(attempts.pause(Ending::Failed(&refused), Regard::Stranger, later).is_none());
    }

    #[test]
    fn what_was_waited_for_in_vain_by_another_is_not_waited_for_again() {
        let now = Instant::now();
        let attempts = Attempts::new(Repeat::Harmless, now, now + Duration::from_secs(30));
        let remembered = Failure::Remembered(NetworkError::NoAnswer);
        assert!(attempts.pause(Ending::Failed(&remembered), Regard::Stranger, now).is_none());
        // A server that has answered before may do so again.
        assert!(attempts.pause(Ending::Failed(&remembered), Regard::Known, now).is_some());
        let refused = Failure::Unsent(NetworkError::Refused);
        assert!(attempts.pause(Ending::Failed(&refused), Regard::GivenUp, now).is_none());
    }

    #[test]
    fn pauses_grow_and_stay_bounded() {
        let now = Instant::now();
        let mut attempts = Attempts::new(Repeat::Harmless, now, now + Duration::from_secs(600));
        let mut longest = Duration::ZERO;
        for _ in 0..40 {
            attempts.begin();
            longest = longest.max(attempts.pause(answered(503), Regard::Known, now).unwrap());
        }
        assert!(longest > FIRST_PAUSE && longest <= LONGEST_PAUSE, "{longest:?}");
    }
}
