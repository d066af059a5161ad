//! What a write left behind that the server did not own up to.
//!
//! A server whose store takes too long answers with a failure, and may have carried the write out all
//! the same; so may one that could not be heard to the end. The object itself tells, and is looked at
//! once. What it shows is for those to judge who know what they wrote.

use std::time::Duration;

use tokio::time::Instant;

use crate::address::Location;
use crate::cluster::Cluster;
use crate::error::Error;
use crate::objects::Found;
use crate::targets::Targets;

/// The write had its time already; whoever waits for its end waits no second time.
const PATIENCE: Duration = Duration::from_secs(10);

impl Cluster {
    /// What is there after a write that ended so; `None` where the write was certainly not carried
    /// out, where the user asked to stop, and where nobody answers.
    pub async fn aftermath(&self, at: &Location, error: &Error) -> Option<Found> {
        if !error.may_be_done() || matches!(error, Error::Interrupted { .. }) {
            return None;
        }
        self.until(Instant::now() + PATIENCE).get(at).await.ok()
    }
}

impl Targets {
    /// See [`Cluster::aftermath`].
    pub async fn aftermath(&self, at: &Location, error: &Error) -> Option<Found> {
        self.cluster().aftermath(at, error).await
    }
}
