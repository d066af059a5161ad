//! The HTTP client of a cluster, and its one connection.
//!
//! A pooled client cannot know that a server speaks HTTP/2 before it has connected, so fifty
//! requests at once would open fifty connections. Here the first connection is made alone, the
//! protocol is read off it, and the client is built for that protocol with the connection handed
//! over to it: over HTTP/2 everything then shares one. A server, or a proxy before it, that only
//! speaks HTTP/1.1 is spoken to in that.
//!
//! Answers are not asked for compressed: the server compresses only what is larger than 128 KiB,
//! which single objects never are, and lists are asked for in pages. Not here: which requests are
//! repeated (`retry`), and how a connection is opened (`connector`).

use std::error::Error as StdError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::Connection as _;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use k8sconnect_core::{footprint, time};
use tokio::sync::OnceCell;
use tower::service_fn;
use tower::util::BoxCloneSyncService;

use crate::call::Reply;
use crate::connection::{ClientCertificate, Connection};
use crate::connector::{Connector, Stream};
use crate::credentials::Credential;
use crate::error::{ConnectionError, Known, NetworkError};
use crate::warnings::warnings;

/// How an attempt failed to bring a reply.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The request did not leave, or the server said that it did not take it.
    Unsent(NetworkError),
    /// It may have arrived; the answer did not.
    Lost(NetworkError),
    /// No answer in the time an attempt may take.
    Late,
    /// The answer has more bytes than this.
    TooMuch(usize),
}

/// The client for the latest client certificate: a plugin may bring one, and another certificate
/// needs other connections.
pub(crate) struct Transports {
    connection: Connection,
    latest: Mutex<(Option<ClientCertificate>, Arc<Transport>)>,
}

impl Transports {
    pub(crate) fn new(connection: &Connection) -> Result<Self, ConnectionError> {
        let identity = connection.tls.identity.clone();
        let transport = Arc::new(Transport::new(connection, identity.as_ref())?);
        Ok(Self { connection: connection.clone(), latest: Mutex::new((identity, transport)) })
    }

    pub(crate) fn of(&self, credential: &Credential) -> Result<Arc<Transport>, ConnectionError> {
        let identity = credential.identity.as_ref().or(self.connection.tls.identity.as_ref());
        let mut latest = lock(&self.latest);
        if latest.0.as_ref() != identity {
            let transport = Arc::new(Transport::new(&self.connection, identity)?);
            *latest = (identity.cloned(), transport);
        }
        Ok(latest.1.clone())
    }
}

pub(crate) struct Transport {
    connector: Arc<Connector>,
    /// The attempt to connect that is being made, or has succeeded. Requests that wait for the same
    /// attempt share its failure; a request that comes later makes another attempt.
    opening: Mutex<Arc<Opening>>,
    /// Whether the server is shown a certificate.
    shows_certificate: bool,
    /// Whether it has answered, which it does not if it refuses the certificate.
    has_answered: AtomicBool,
}

type Opening = OnceCell<Result<Http, NetworkError>>;
type Http = Client<BoxCloneSyncService<Uri, Stream, Known>, Full<Bytes>>;

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
        Ok(Self {
            connector: Arc::new(Connector::new(connection, identity)?),
            opening: Mutex::default(),
            shows_certificate: identity.is_some(),
            has_answered: AtomicBool::new(false),
        })
    }

    /// Connects first if nobody has, and notes in `leaves` when the request is on its way.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        leaves: &AtomicBool,
    ) -> Result<Response<Incoming>, Failure> {
        let client = self.client().await.map_err(Failure::Unsent)?;
        leaves.store(true, Ordering::Relaxed);
        match client.request(request).await {
            Ok(response) => {
                self.has_answered.store(true, Ordering::Relaxed);
                Ok(response)
            }
            Err(error) => {
                let cause = self.place(NetworkError::of(&error));
                Err(match error.is_connect() || was_turned_away(&error) {
                    true => Failure::Unsent(cause),
                    false => Failure::Lost(cause),
                })
            }
        }
    }

    async fn client(&self) -> Result<Http, NetworkError> {
        let opening = lock(&self.opening).clone();
        let opened = opening.get_or_init(|| self.open()).await;
        if opened.is_err() {
            let mut current = lock(&self.opening);
            if Arc::ptr_eq(&current, &opening) {
                *current = Arc::default();
            }
        }
        opened.clone()
    }

    async fn open(&self) -> Result<Http, NetworkError> {
        let stream = self.connector.connect().await.map_err(|cause| self.place(cause))?;
        let http2 = stream.connected().is_negotiated_h2();
        let (ready, connector) = (Arc::new(Mutex::new(Some(stream))), self.connector.clone());
        // A connector whose first connection is already there.
        let handover = service_fn(move |_: Uri| {
            let (ready, connector) = (lock(&ready).take(), connector.clone());
            async move {
                match ready {
                    Some(stream) => Ok(stream),
                    None => connector.connect().await.map_err(Known),
                }
            }
        });
        Ok(Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .http2_only(http2)
            .http2_keep_alive_interval(PING_EVERY)
            .http2_keep_alive_timeout(PING_LIMIT)
            .http2_max_header_list_size(LARGEST_HEADERS)
            .build(BoxCloneSyncService::new(handover)))
    }

    fn place(&self, cause: NetworkError) -> NetworkError {
        match self.shows_certificate && !self.has_answered.load(Ordering::Relaxed) {
            true => cause.after_certificate(),
            false => cause,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

/// A response, read to its end. A server that never stops sending costs `largest` bytes of memory and
/// no more, and what it sent costs a multiple of that at most once it is read as JSON. How long the reading may take is for the caller to judge.
pub(crate) async fn read(response: Response<Incoming>, largest: usize) -> Result<Reply, Failure> {
    let (head, mut incoming) = response.into_parts();
    let mut body = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|error| Failure::Lost(NetworkError::of(&error)))?;
        // Trailers are no data.
        let data = frame.into_data().unwrap_or_default();
        if body.len() + data.len() > largest {
            return Err(Failure::TooMuch(largest));
        }
        body.extend_from_slice(&data);
    }
    if footprint::exceeds(&body, largest) {
        return Err(Failure::TooMuch(largest));
    }
    let retry_after = retry_after(&head.headers, SystemTime::now());
    let warnings = warnings(&head.headers);
    Ok(Reply { status: head.status.as_u16(), warnings, body: body.into(), retry_after })
}

/// For how long to wait before asking again: so many seconds, or until a time. That is the server's
/// own, or that of whoever stands before it, and so is the one to subtract from it.
fn retry_after(headers: &HeaderMap, here: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let asked = text(RETRY_AFTER)?;
    match asked.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let now = text(DATE).and_then(time::parse_http).unwrap_or(here);
            Some(time::parse_http(asked)?.duration_since(now).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

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
        let mut transport = Transport::new(&connection, None).unwrap();
        Arc::get_mut(&mut transport.connector).unwrap().limit = PATIENCE;
        (listener, transport)
    }

    async fn cause(transport: &Transport) -> NetworkError {
        let request = Request::new(Full::default());
        match transport.send(request, &AtomicBool::default()).await.unwrap_err() {
            Failure::Unsent(cause) => cause,
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

    #[test]
    fn a_server_says_how_long_to_wait_in_seconds_or_by_the_clock() {
        let here = SystemTime::UNIX_EPOCH + Duration::from_secs(10);
        let asked = |retry: &'static str, date: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, http::HeaderValue::from_static(retry));
            if let Some(date) = date {
                headers.insert(DATE, http::HeaderValue::from_static(date));
            }
            retry_after(&headers, here).map(|wait| wait.as_secs())
        };
        assert_eq!(asked("7", None), Some(7));
        assert_eq!(asked("Thu, 01 Jan 1970 00:00:15 GMT", None), Some(5));
        let date = "Thu, 01 Jan 1970 00:00:12 GMT";
        assert_eq!(asked("Thu, 01 Jan 1970 00:00:15 GMT", Some(date)), Some(3), "by its own clock");
        assert_eq!(asked("Thu, 01 Jan 1970 00:00:01 GMT", None), Some(0), "past");
        assert_eq!(asked("soon", None), None);
    }
}
