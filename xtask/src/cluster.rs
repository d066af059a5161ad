//! `cluster`: the control plane that the tests run on, to try things by hand, until it is told to
//! end.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use testkit::{ControlPlane, Parts};
use tokio::signal::unix::{SignalKind, signal};

use crate::screen::{heading, line, seconds};

pub(crate) async fn run() -> Result<ExitCode> {
    let started = Instant::now();
    heading("Starting etcd, the API server, controllers, a scheduler and a node by kwok");
    let mut told_to_end = signal(SignalKind::terminate())?;
    let cluster = ControlPlane::start(Parts::Full).await?;
    let kubeconfig = cluster.folder().join("kubeconfig");
    std::fs::write(&kubeconfig, cluster.kubeconfig())?;
    line(&format!("up at {} after {}", cluster.url(), seconds(started.elapsed())));
    line(&format!("export KUBECONFIG={}", kubeconfig.display()));
    line("Ctrl-C ends it, and leaves nothing behind");
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = told_to_end.recv() => {}
    }
    Ok(ExitCode::SUCCESS)
}
