//! The user's request to stop (Ctrl-C), for everything in this crate that takes time.
//!
//! What only waits ends at once: pauses before another attempt, watches, credential plugins. A
//! request may take a moment more, since it often belongs to a write that has just been answered.
//! A write that has been sent is heard out, because its result must come into state. No request
//! begins after that moment.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Asks all that share it to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(watch::Sender<Option<Instant>>);

/// How long requests may go on after the user asked to stop.
const GRACE: Duration = Duration::from_secs(1);

impl Stop {
    /// Only the first call counts.
    pub(crate) fn ask(&self) {
        self.0.send_if_modified(|asked| match asked {
            Some(_) => false,
            None => asked.replace(Instant::now()).is_none(),
        });
    }

    /// Waits until the user asks to stop, and says when that was.
    pub(crate) async fn asked(&self) -> Instant {
        let mut told = self.0.subscribe();
        // The sender is here, so that waiting cannot fail.
        let asked = told.wait_for(Option::is_some).await;
        asked.ok().and_then(|when| *when).unwrap_or_else(Instant::now)
    }

    /// Waits until no request may go on.
    pub(crate) async fn over(&self) {
        sleep_until(self.asked().await + GRACE).await;
    }
}
