//! The provider as Terraform and OpenTofu start it.

use std::process::ExitCode;

use k8sconnect::{ADDRESS, K8sConnect};
use mimalloc::MiMalloc;
use tfplugin::{Options, serve};

/// A plan takes trees of values apart and puts them together; a fifth of its processor time goes
/// with the system's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    serve(K8sConnect::default(), Options { address: ADDRESS, name: "k8sconnect" }).await
}
