//! The provider as Terraform and OpenTofu start it.

use std::process::ExitCode;

use k8sconnect::{ADDRESS, K8sConnect};
use tfplugin::{Options, serve};

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    serve(K8sConnect::default(), Options { address: ADDRESS, name: "k8sconnect" }).await
}
