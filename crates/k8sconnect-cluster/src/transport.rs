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

use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
use tokio::time::{Instant, timeout};
use tower_service::Service;

use crate::connection::{ClientCertificate, Connection};
use crate::credentials::Credential;
use crate::error::{ConnectionError, InvalidValue, NetworkError};
use crate::retry::Failure;
use crate::route::{self, Route, Silence};
use crate::tls;

/// The client of a connection, and the one for a certificate that a plugin brought: another
/// certificate needs other connections.
pub(crate) struct Transports {
    connection: Connection,
    own: Arc<Transport>,
    brought: Mutex<Option<(ClientCertificate, Arc<Transport>)>>,
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
    route: Route,
    server: Uri,
    client: OnceCell<Client<Handover, Full<Bytes>>>,
    /// Whether the server is shown a certificate.
    shows_certificate: bool,
    /// Whether it has answered, which it does not if it takes offence at that.
    has_answered: AtomicBool,
    /// How long the first connection may take.
    patience: Duration,
    /// When it last came to nothing, and why. Whoever waited has done so for all who came meanwhile:
    /// each of them would only wait as long, one after the other. For silence he has done so for
    /// all who ask within the time that he waited.
    in_vain: Mutex<Option<(Instant, NetworkError)>>,
}

type Stream = MaybeHttpsStream<route::Stream>;

const HANDSHAKE_LIMIT: Duration = Duration::from_secs(20);
/// A load balancer that forgot the connection says nothing; pings notice.
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_LIMIT: Duration = Duration::from_secs(15);
/// Warnings travel in headers, and a bad manifest may have many.
const LARGEST_HEADERS: u32 = 1 << 20;

impl Transport {
    fn new(
        connection: &Connection,
        identity: Option<&ClientCertificate>,
    ) -> Result<Self, ConnectionError> {
        let server = connection.host.uri("/").map_err(|_| InvalidValue::NotUrl.of("server"))?;
        let names: Arc<dyn ResolveServerName + Send + Sync> = match &connection.tls.server_name {
            None => Arc::new(DefaultServerNameResolver::default()),
            Some(name) => {
                let name = ServerName::try_from(name.clone())
                    .map_err(|_| InvalidValue::ServerName.of("tls-server-name"))?;
                Arc::new(FixedServerNameResolver::new(name))
            }
        };
        let config = tls::client_config(&connection.tls, identity)?;
        let route = Route::to(&server, connection.proxy.as_ref(), &connection.tls)?;
        let connector = HttpsConnector::new(route.clone(), config, false, names);
        let (client, in_vain) = (OnceCell::new(), Mutex::default());
        Ok(Self {
            connector,
            route,
            server,
            client,
            shows_certificate: identity.is_some(),
            has_answered: AtomicBool::new(false),
            patience: HANDSHAKE_LIMIT,
            in_vain,
        })
    }

    /// Connects first if nobody has, and tells `leaves` when the request is on its way.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        leaves: &AtomicBool,
    ) -> Result<Response<Incoming>, Failure> {
        let came = Instant::now();
        let client = self.client.get_or_try_init(|| self.open(came)).await?;
        leaves.store(true, Ordering::Relaxed);
        match client.request(request).await {
            Ok(response) => {
                self.has_answered.store(true, Ordering::Relaxed);
                Ok(response)
            }
            Err(error) => {
                let cause = self.cause(&error);
                Err(match error.is_connect() || was_turned_away(&error) {
                    true => Failure::Unsent(cause),
                    false => Failure::Lost(cause),
                })
            }
        }
    }

    fn cause(&self, error: &(dyn StdError + 'static)) -> NetworkError {
        let cause = NetworkError::of(error);
        match self.shows_certificate && !self.has_answered.load(Ordering::Relaxed) {
            true => cause.after_certificate(),
            false => cause,
        }
    }

    async fn open(&self, came: Instant) -> Result<Client<Handover, Full<Bytes>>, Failure> {
        if let Some((when, cause)) = &*self.in_vain() {
            if cause.is_silence() && when.elapsed() < self.patience {
                return Err(Failure::Remembered(cause.clone()));
            }
            if *when >= came {
                return Err(Failure::Unsent(cause.clone()));
            }
        }
        self.route.set_out();
        let connecting = self.connector.clone().call(self.server.clone());
        let connected = match timeout(self.patience, connecting).await {
            Ok(connected) => {
                connected.map_err(|error| self.route.place(self.cause(error.as_ref())))
            }
            Err(_) => Err(match self.route.silence() {
                Silence::Nobody => NetworkError::NotAccepted,
                Silence::Proxy(proxy) => {
                    NetworkError::Proxy(proxy, Box::new(NetworkError::NoAnswer))
                }
                Silence::Server => NetworkError::NoAnswer,
            }),
        };
        let stream = connected.map_err(|cause| {
            *self.in_vain() = Some((Instant::now(), cause.clone()));
            Failure::Unsent(cause)
        })?;
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

    fn in_vain(&self) -> MutexGuard<'_, Option<(Instant, NetworkError)>> {
        self.in_vain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the server said that it has not begun with a request: a server that rolls over winds its
/// connections up, and names the last request that it takes.
fn was_turned_away(error: &(dyn StdError + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.filter_map(|error| error.downcast_ref::<h2::Error>()).any(|error| {
        let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
        error.is_remote() && (error.is_go_away() || refused)
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Proxy;

    const PATIENCE: Duration = Duration::from_millis(300);

    /// A connection to a port that accepts, behind which nobody sits: the server's, or a proxy's.
    fn to_nobody(proxy: Option<&str>) -> (std::net::TcpListener, Transport) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut connection = Connection::to(format!("https://{address}").parse().unwrap());
        if let Some(scheme) = proxy {
            connection.host = "https://127.0.0.1:6443".parse().unwrap();
            connection.proxy = Some(format!("{scheme}://joe:hunter2@{address}").into());
        }
        let transport = Transport::new(&connection, None).unwrap();
        (listener, Transport { patience: PATIENCE, ..transport })
    }

    async fn cause(transport: &Transport) -> NetworkError {
        let request = Request::new(Full::default());
        match transport.send(request, &AtomicBool::default()).await.unwrap_err() {
            Failure::Unsent(cause) | Failure::Remembered(cause) => cause,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn whoever_accepts_and_then_says_nothing_is_waited_for_once() {
        for proxy in [None, Some("http"), Some("https"), Some("socks5")] {
            let (listener, transport) = to_nobody(proxy);
            let began = Instant::now();
            let all = [&transport; 4].map(cause);
            let [first, second, third, fourth] = all;
            let all = tokio::join!(first, second, third, fourth);
            assert!(began.elapsed() < PATIENCE * 2, "{proxy:?}: {:?}", began.elapsed());
            assert_eq!((&all.1, &all.2, &all.3), (&all.0, &all.0, &all.0));
            let address = listener.local_addr().unwrap();
            let proxy = proxy.map(|scheme| format!("{scheme}://{address}"));
            let silent = match proxy {
                None => NetworkError::NoAnswer,
                Some(address) => {
                    let proxy = Proxy { address, variable: None };
                    NetworkError::Proxy(proxy, Box::new(NetworkError::NoAnswer))
                }
            };
            assert_eq!(all.0, silent);
        }
    }

    #[tokio::test]
    async fn a_connection_that_is_closed_behind_a_proxy_is_told_with_the_proxy() {
        use std::io::{Read, Write};
        for (answer, lets_pass) in [("", false), ("HTTP/1.1 200 OK\r\n\r\n", true)] {
            let (listener, transport) = to_nobody(Some("http"));
            let address = listener.local_addr().unwrap();
            std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let _asked = stream.read(&mut [0; 1024]).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
            });
            let proxy = Proxy { address: format!("http://{address}"), variable: None };
            let expected = match lets_pass {
                true => NetworkError::ClosedBehind(proxy),
                false => NetworkError::Proxy(proxy, Box::new(NetworkError::Closed)),
            };
            assert_eq!(cause(&transport).await, expected);
        }
    }

    #[tokio::test]
    async fn a_server_that_comes_to_itself_is_asked_again() {
        let (_listener, transport) = to_nobody(None);
        assert_eq!(cause(&transport).await, NetworkError::NoAnswer);
        let began = Instant::now();
        assert_eq!(cause(&transport).await, NetworkError::NoAnswer);
        assert!(began.elapsed() < PATIENCE);
        let request = Request::new(Full::default());
        let remembered = transport.send(request, &AtomicBool::default()).await.unwrap_err();
        assert!(matches!(remembered, Failure::Remembered(_)), "{remembered:?}");
        tokio::time::sleep(PATIENCE).await;
        let began = Instant::now();
        assert_eq!(cause(&transport).await, NetworkError::NoAnswer);
        assert!(began.elapsed() >= PATIENCE, "it was given another chance");
    }
}
