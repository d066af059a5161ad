//! What a request brings beside its values: the stop signal and what the client can do.

use tokio::sync::watch;

/// What the calling program understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Write-only attributes may be used (Terraform 1.11, OpenTofu 1.11 and later).
    pub write_only_attributes_allowed: bool,
    /// The provider may put a change off to a later plan. It says nothing else: Terraform Stacks set
    /// it in plans and in applies.
    pub deferral_allowed: bool,
    /// The private state of a plan comes back when Terraform plans again to apply it (Terraform 1.16
    /// and later). See [`PlannedPrivate`](crate::PlannedPrivate).
    pub store_planned_private: bool,
}

/// The circumstances of one request.
#[derive(Clone, Debug)]
pub struct Context {
    /// `None`: nobody can ask to stop.
    stop: Option<watch::Receiver<bool>>,
    capabilities: Capabilities,
}

impl Context {
    /// A context that is never stopped, for calling resource code outside a server.
    pub fn unstoppable(capabilities: Capabilities) -> Self {
        Self { stop: None, capabilities }
    }

    pub(crate) fn new(stop: watch::Receiver<bool>, capabilities: Capabilities) -> Self {
        Self { stop: Some(stop), capabilities }
    }

    /// Waits until the user asks to stop, or until the server that would report that is gone. Give up
    /// waiting then, but finish what was begun to write: the answer is still stored.
    pub async fn stopped(&self) {
        match self.stop.clone() {
            // An error means that the sender is gone, and the process is about to end.
            Some(mut stop) => drop(stop.wait_for(|stopped| *stopped).await),
            None => std::future::pending().await,
        }
    }

    /// Whether the user has asked to stop, or the server is gone.
    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| *stop.borrow() || stop.has_changed().is_err())
    }

    /// What the calling program understands.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn wakes_those_who_wait_when_the_user_stops() {
        let (stop, receiver) = watch::channel(false);
        let context = Context::new(receiver, Capabilities::default());
        assert!(!context.is_stopped());
        let waiting = tokio::spawn({
            let context = context.clone();
            async move { context.stopped().await }
        });
        stop.send_replace(true);
        waiting.await.unwrap();
        assert!(context.is_stopped());
    }

    #[tokio::test]
    async fn wakes_those_who_wait_when_the_server_is_gone() {
        let (stop, receiver) = watch::channel(false);
        let context = Context::new(receiver, Capabilities::default());
        drop(stop);
        let stopped = tokio::time::timeout(Duration::from_secs(20), context.stopped());
        assert!(stopped.await.is_ok() && context.is_stopped());
        assert!(!Context::unstoppable(Capabilities::default()).is_stopped());
    }
}
