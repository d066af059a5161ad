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
    stop: watch::Receiver<bool>,
    capabilities: Capabilities,
}

impl Context {
    /// A context that is never stopped, for calling resource code outside a server.
    pub fn unstoppable(capabilities: Capabilities) -> Self {
        let (_, stop) = watch::channel(false);
        Self { stop, capabilities }
    }

    pub(crate) fn new(stop: watch::Receiver<bool>, capabilities: Capabilities) -> Self {
        Self { stop, capabilities }
    }

    /// Waits until the user asks to stop, for ever if that does not happen. Give up waiting
    /// then, but finish what was begun to write: the answer is still stored.
    pub async fn stopped(&self) {
        let mut stop = self.stop.clone();
        if stop.wait_for(|stopped| *stopped).await.is_err() {
            // The sender is gone, so nobody can ask to stop any more.
            std::future::pending::<()>().await;
        }
    }

    /// Whether the user has asked to stop.
    pub fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// What the calling program understands.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }
}

#[cfg(test)]
mod tests {
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
}
