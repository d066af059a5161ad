//! That the user asked to stop: what waits gives up, what was sent is heard out.
//!
//! A write that is under way keeps its answer, however long it takes, for what it did must come
//! into state. Everything else ends: pauses before another attempt, plugins, and reads that do not
//! come to an end shortly.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

/// Asks all that share it to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(watch::Sender<bool>);

/// What a read may still take: one that belongs to a write is worth a moment.
const GRACE: Duration = Duration::from_secs(3);

impl Stop {
    pub(crate) fn ask(&self) {
        self.0.send_replace(true);
    }

    /// Waits until it is asked for.
    pub(crate) async fn asked(&self) {
        // The sender is here, so that waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|asked| *asked).await;
    }

    /// The same, and a moment more.
    pub(crate) async fn asked_a_while_ago(&self) {
        self.asked().await;
        sleep(GRACE).await;
    }
}
