//! Connections to the socket, with TLS or without.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

/// A peer that says nothing for this long is not Terraform.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(30);

/// Connections whose TLS handshake, if there is one, is done. Each handshake has its own task, so
/// that a stalled peer keeps nobody else waiting.
pub(super) fn accept(
    listener: UnixListener,
    tls: Option<TlsAcceptor>,
) -> impl Stream<Item = std::io::Result<Connection>> {
    let (ready, incoming) = mpsc::channel(8);
    tokio::spawn(async move {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(problem) => {
                    tracing::warn!(%problem, "a connection could not be accepted");
                    // Most often there are no file descriptors left; some may come free.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let (ready, tls) = (ready.clone(), tls.clone());
            tokio::spawn(async move {
                let connection = match tls {
                    None => Connection(Box::pin(stream)),
                    Some(tls) => {
                        match tokio::time::timeout(HANDSHAKE_LIMIT, tls.accept(stream)).await {
                            Ok(Ok(stream)) => Connection(Box::pin(stream)),
                            Ok(Err(problem)) => {
                                tracing::warn!(%problem, "a client was refused");
                                return;
                            }
                            Err(_) => return,
                        }
                    }
                };
                // Without a receiver the server has ended, and the process is about to.
                let _ = ready.send(Ok(connection)).await;
            });
        }
    });
    ReceiverStream::new(incoming)
}

trait Duplex: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Duplex for T {}

/// One connection.
pub(super) struct Connection(Pin<Box<dyn Duplex>>);

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.0.as_mut().poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.0.as_mut().poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.0.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.0.as_mut().poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        self.0.as_mut().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }
}
