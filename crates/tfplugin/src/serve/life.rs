//! What ends the process besides being told to, and what does not.
//!
//! An interrupt reaches the whole process group: Terraform handles it and calls `StopProvider`,
//! and a provider that died of it would leave its writes half done. A killed Terraform tells
//! nobody, so we watch whether our parent is still the one that started us. (The kernel's own
//! signal for that follows the thread that started us, and Go's threads come and go.)

use std::io::Write as _;
use std::os::unix::process::parent_id;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Who decides when the process ends.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Keeper {
    /// The program that started it.
    Parent,
    /// A developer at a terminal.
    Developer,
}

pub(super) struct Life {
    parent: u32,
    interrupt: Signal,
    terminate: Signal,
}

impl Life {
    /// From here on an interrupt no longer ends the process by itself.
    pub(super) fn begin() -> std::io::Result<Self> {
        Ok(Self {
            parent: parent_id(),
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for a reason to end that is not a request over the connection.
    pub(super) async fn end(&mut self, keeper: Keeper) {
        match keeper {
            Keeper::Parent => tokio::select! {
                () = orphaned(self.parent) => tracing::info!("the parent process is gone"),
                _ = self.terminate.recv() => {}
            },
            Keeper::Developer => tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.terminate.recv() => {}
            },
        }
    }
}

async fn orphaned(parent: u32) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    while parent_id() == parent {
        ticks.tick().await;
    }
}

/// Makes a panic a line that Terraform recognises: it then shows the user what follows.
pub(super) fn report_panics() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let message = (payload.downcast_ref::<&str>().copied())
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("without a message");
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        // Empty unless RUST_BACKTRACE asks for it.
        let trace = std::backtrace::Backtrace::capture();
        let _ = writeln!(std::io::stderr(), "panic: {message}\n\nat {place}\n{trace}");
    }));
}
