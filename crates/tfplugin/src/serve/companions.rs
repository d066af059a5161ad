//! The services that Terraform's plugin machinery expects beside the provider.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tonic::codegen::BoxStream;
use tonic::transport::Server;
use tonic::transport::server::Router;
use tonic::{Request, Response, Status, Streaming};

use crate::proto::plugin as proto;
use proto::grpc_broker_server::{GrpcBroker, GrpcBrokerServer};
use proto::grpc_controller_server::{GrpcController, GrpcControllerServer};
use proto::grpc_stdio_server::{GrpcStdio, GrpcStdioServer};

/// The default of HTTP/2 is 64 KiB, which makes large states crawl.
const STREAM_WINDOW: u32 = 1024 * 1024;

/// Time for the answer to leave before the process ends. Terraform waits two seconds for that.
const PARTING: Duration = Duration::from_millis(50);

/// The moment at which Terraform asks us to end.
pub(super) struct Shutdown(Arc<Notify>);

impl Shutdown {
    /// Waits until we were asked to end and the answer has had time to leave.
    pub(super) async fn asked(&self) {
        self.0.notified().await;
        tokio::time::sleep(PARTING).await;
    }
}

/// A server with everything but the provider itself.
pub(super) async fn companions() -> (Shutdown, Router) {
    let asked = Arc::new(Notify::new());
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_service_status("plugin", tonic_health::ServingStatus::Serving).await;
    let router = Server::builder()
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(STREAM_WINDOW * 4)
        .add_service(GrpcControllerServer::new(Controller(Arc::clone(&asked))))
        .add_service(GrpcStdioServer::new(Silent))
        .add_service(GrpcBrokerServer::new(Silent))
        .add_service(health);
    (Shutdown(asked), router)
}

struct Controller(Arc<Notify>);

#[tonic::async_trait]
impl GrpcController for Controller {
    async fn shutdown(
        &self,
        _: Request<proto::Nothing>,
    ) -> Result<Response<proto::Nothing>, Status> {
        self.0.notify_one();
        Ok(Response::new(proto::Nothing {}))
    }
}

/// Streams that stay open and empty: the host opens them at once and warns if they end.
struct Silent;

#[tonic::async_trait]
impl GrpcStdio for Silent {
    async fn stream_stdio(
        &self,
        _: Request<proto::Nothing>,
    ) -> Result<Response<BoxStream<proto::StdioData>>, Status> {
        Ok(Response::new(Box::pin(tokio_stream::pending())))
    }
}

#[tonic::async_trait]
impl GrpcBroker for Silent {
    async fn start_stream(
        &self,
        _: Request<Streaming<proto::ConnInfo>>,
    ) -> Result<Response<BoxStream<proto::ConnInfo>>, Status> {
        Ok(Response::new(Box::pin(tokio_stream::pending())))
    }
}
