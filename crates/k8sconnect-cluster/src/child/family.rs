//! A command and all that it started, ended together.
//!
//! On Unix they are a process group of their own, so that one signal reaches them all. Elsewhere
//! only the command itself is ended, by whoever waits for it.

use tokio::process::{Child, Command};

/// Ends the family when it is dropped.
pub(super) struct Family {
    #[cfg(unix)]
    group: Option<nix::unistd::Pid>,
}

#[cfg(unix)]
impl Family {
    /// Has the command be the first of a family.
    pub(super) fn found_by(command: &mut Command) {
        command.process_group(0);
    }

    pub(super) fn of(child: &Child) -> Self {
        let first = child.id().and_then(|id| i32::try_from(id).ok());
        Self { group: first.map(nix::unistd::Pid::from_raw) }
    }

    /// Lets whoever is left live. To be called as soon as the first has ended, for its number may
    /// then become that of somebody else.
    pub(super) fn leave(mut self) {
        self.group = None;
    }
}

#[cfg(unix)]
impl Drop for Family {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // All that can go wrong is that nobody is left.
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

#[cfg(not(unix))]
impl Family {
    pub(super) fn found_by(_: &mut Command) {}

    pub(super) fn of(_: &Child) -> Self {
        Self {}
    }

    pub(super) fn leave(self) {}
}
