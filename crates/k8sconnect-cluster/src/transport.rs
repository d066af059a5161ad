//! The HTTP client below everything, and its one connection.
//!
//! A pooled client cannot know that a server speaks HTTP/2 before it has connected, so fifty
//! requests at once would open fifty connections. Here the first connection is made alone, the
//! protocol is read off it, and the client is built for that protocol with the connection handed
//! over to it: over HTTP/2 everything then shares one. A server, or a proxy before it, that only
//! speaks HTTP/1.1 is spoken to in that.
//!
//! Answers are not asked for compressed: the server compresses only what is larger than 128 KiB,
//! which single objects never are, and lists are asked for in pages.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::{DefaultServerNameResolver, FixedServerNameResolver, HttpsConnector};
use hyper_rustls::{MaybeHttpsStream, ResolveServerName};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::Connection as _;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::ServerName;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tower_service::Service;

use crate::connection::{Connection, Identity};
use crate::credentials::Credential;
use crate::error::{ConnectionError, Trouble};
use crate::retry::Failure;
use crate::route::{self, Route};
use crate::tls;

/// The client of a connection, and the one for a certificate that a plugin brought: another
/// certificate needs other connections.
pub(crate) struct Transports {
    connection: Connection,
    own: Arc<Transport>,
    brought: Mutex<Option<(Identity, Arc<Transport>)>>,
}

impl Transports {
    pub(crate) fn new(connection: &Connection) -> Result<Self, ConnectionError> {
        let own = Transport::new(connection, connection.tls.identity.as_ref())?;
        Ok(Self { connection: connection.clone(), own: Arc::new(own), brought: Mutex::default() })
    }

    pub(crate) fn of(&self, credential: &Credential) -> Result<Arc<Transport>, ConnectionError> {
        let Some(identity) = &credential.identity else {
            return Ok(self.own.clone());
        };
        let mut brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        match &*brought {
            Some((known, transport)) if known == identity => Ok(transport.clone()),
            _ => {
                let transport = Arc::new(Transport::new(&self.connection, Some(identity))?);
                *brought = Some((identity.clone(), transport.clone()));
                Ok(transport)
            }
        }
    }
}

pub(crate) struct Transport {
    connector: HttpsConnector<Route>,
    server: Uri,
    client: OnceCell<Client<Handover, Full<Bytes>>>,
}

type Stream = MaybeHttpsStream<route::Stream>;

const HANDSHAKE_LIMIT: Duration = Duration::from_secs(20);
/// A load balancer that forgot the connection says nothing; pings notice.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_LIMIT: Duration = Duration::from_secs(15);
/// Warnings travel in headers, and a bad manifest may have many.
const LARGEST_HEADERS: u32 = 1 << 20;

impl Transport {
    fn new(connection: &Connection, identity: Option<&Identity>) -> Result<Self, ConnectionError> {
        let bad_host = |error: http::Error| ConnectionError::BadHost { why: error.to_string() };
        let server = connection.host.uri("/").map_err(bad_host)?;
        let names: Arc<dyn ResolveServerName + Send + Sync> = match &connection.tls.server_name {
            None => Arc::new(DefaultServerNameResolver::default()),
            Some(name) => {
                let unusable = |_| ConnectionError::BadValue {
                    field: "tls-server-name",
                    why: "it is neither a DNS name nor an IP address".into(),
                };
                let name = ServerName::try_from(name.clone()).map_err(unusable)?;
                Arc::new(FixedServerNameResolver::new(name))
            }
        };
        let config = tls::client_config(&connection.tls, identity)?;
        let route = Route::to(&server, connection.proxy.as_ref(), &connection.tls)?;
        let connector = HttpsConnector::new(route, config, false, names);
        Ok(Self { connector, server, client: OnceCell::new() })
    }

    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Failure> {
        let client = self.client.get_or_try_init(|| self.open()).await.map_err(Failure::Unsent)?;
        client.request(request).await.map_err(|error| {
            let trouble = Trouble::of(&error);
            if error.is_connect() { Failure::Unsent(trouble) } else { Failure::Lost(trouble) }
        })
    }

    async fn open(&self) -> Result<Client<Handover, Full<Bytes>>, Trouble> {
        let connecting = self.connector.clone().call(self.server.clone());
        let stream = match timeout(HANDSHAKE_LIMIT, connecting).await {
            Ok(connected) => connected.map_err(|error| Trouble::of(error.as_ref()))?,
            Err(_) => return Err(Trouble::Silent),
        };
        let http2 = stream.connected().is_negotiated_h2();
        let ready = Arc::new(Mutex::new(Some(stream)));
        let connector = Handover { connector: self.connector.clone(), ready };
        Ok(Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .http2_only(http2)
            .http2_keep_alive_interval(PING_EVERY)
            .http2_keep_alive_timeout(PING_LIMIT)
            .http2_max_header_list_size(LARGEST_HEADERS)
            .build(connector))
    }
}

/// A connector whose first connection is already there.
#[derive(Clone)]
struct Handover {
    connector: HttpsConnector<Route>,
    ready: Arc<Mutex<Option<Stream>>>,
}

impl Service<Uri> for Handover {
    type Response = Stream;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.connector.poll_ready(context)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
        match ready {
            Some(stream) => Box::pin(std::future::ready(Ok(stream))),
            None => {
                let connecting = self.connector.call(server);
                Box::pin(async { timeout(HANDSHAKE_LIMIT, connecting).await? })
            }
        }
    }
}
