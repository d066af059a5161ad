//! Opens a connection to the server: name lookup, TCP, a proxy where one is to be used, TLS.
//!
//! Not here: which proxy that is (`proxy`), whom TLS trusts (`tls`), and what is sent (`transport`).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::uri::Scheme;
use http::{HeaderValue, Uri};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::GaiResolver;
use hyper_util::client::legacy::connect::proxy::SocksV5;
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tower::ServiceExt;
use tower::util::MapErr;

use crate::connection::{ClientCertificate, Connection};
use crate::error::{ConnectionError, InvalidValue, Known, NetworkError, Proxy};
use crate::{proxy, tls};

pub(crate) type Stream = MaybeHttpsStream<Way>;
/// What leads to the server: TCP, or a proxy, spoken to in TLS or not.
type Way = MaybeHttpsStream<TokioIo<TcpStream>>;
type Tcp = HttpConnector<MapErr<GaiResolver, fn(io::Error) -> Known>>;

pub(crate) struct Connector {
    server: Uri,
    tcp: Tcp,
    proxy: Option<(Intercept, Proxy)>,
    to_proxy: Arc<ClientConfig>,
    to_server: Arc<ClientConfig>,
    /// The name that the server's certificate must carry, where it is not the host's.
    server_name: Option<String>,
    /// How long a connection may take to come about.
    pub(crate) limit: Duration,
}

/// For name lookup, TCP, the proxy and TLS together.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);
/// Long enough for a slow link, short enough that a black hole is reported before a deadline.
const TCP_LIMIT: Duration = Duration::from_secs(10);
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// Far more than a proxy has to say.
const LARGEST_PROXY_ANSWER: usize = 1 << 16;

impl Connector {
    pub(crate) fn new(
        connection: &Connection,
        identity: Option<&ClientCertificate>,
    ) -> Result<Self, ConnectionError> {
        let server = connection.host.uri("/").map_err(|_| InvalidValue::NotUrl.of("server"))?;
        let server_name = connection.tls.server_name.clone();
        if let Some(name) = &server_name {
            ServerName::try_from(name.as_str())
                .map_err(|_| InvalidValue::ServerName.of("tls-server-name"))?;
        }
        let lookup: fn(io::Error) -> Known =
            |error| Known(NetworkError::NameNotFound(error.to_string()));
        let mut tcp = Tcp::new_with_resolver(GaiResolver::new().map_err(lookup));
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEP_ALIVE));
        tcp.set_connect_timeout(Some(TCP_LIMIT));
        let to_server = Arc::new(tls::client_config(&connection.tls, identity)?);
        let proxy = proxy::choose(&server, connection.proxy.as_ref())?;
        let to_proxy = match &proxy {
            Some(_) => Arc::new(tls::proxy_config(&connection.tls)?),
            None => to_server.clone(),
        };
        Ok(Self { server, tcp, proxy, to_proxy, to_server, server_name, limit: LIMIT })
    }

    /// A stream on which the server can be spoken to.
    pub(crate) async fn connect(&self) -> Result<Stream, NetworkError> {
        let until = Instant::now() + self.limit;
        let way = match &self.proxy {
            None => {
                let connecting = timeout_at(until, self.tcp(&self.server)).await;
                Way::Http(connecting.unwrap_or(Err(NetworkError::NotAccepted))?)
            }
            Some((intercept, proxy)) => {
                match timeout_at(until, self.through(intercept, proxy)).await {
                    Ok(way) => way?,
                    Err(_) => {
                        return Err(NetworkError::Proxy(
                            proxy.clone(),
                            Box::new(NetworkError::NoAnswer),
                        ));
                    }
                }
            }
        };
        if self.server.scheme() == Some(&Scheme::HTTP) {
            return Ok(Stream::Http(way));
        }
        let name = self.server_name.as_deref().unwrap_or(host(&self.server));
        let encrypting = timeout_at(until, encrypt(&self.to_server, name, way)).await;
        match (encrypting.unwrap_or(Err(NetworkError::NoAnswer)), &self.proxy) {
            // The proxy may be the one that closed it.
            (Err(NetworkError::Closed), Some((_, proxy))) => {
                Err(NetworkError::ClosedBehind(proxy.clone()))
            }
            (ended, _) => ended,
        }
    }

    async fn tcp(&self, to: &Uri) -> Result<TokioIo<TcpStream>, NetworkError> {
        self.tcp.clone().oneshot(to.clone()).await.map_err(|error| NetworkError::of(&error))
    }

    async fn through(&self, intercept: &Intercept, proxy: &Proxy) -> Result<Way, NetworkError> {
        let failed = |cause| NetworkError::Proxy(proxy.clone(), Box::new(cause));
        let uri = intercept.uri();
        if let Some(scheme @ ("socks5" | "socks5h")) = uri.scheme_str() {
            let mut socks =
                SocksV5::new(uri.clone(), self.tcp.clone()).local_dns(scheme == "socks5");
            if let Some((user, password)) = intercept.raw_auth() {
                socks = socks.with_auth(user.into(), password.into());
            }
            let stream = socks.oneshot(self.server.clone()).await;
            return Ok(Way::Http(stream.map_err(|error| failed(NetworkError::of(&error)))?));
        }
        let tcp = self.tcp(uri).await.map_err(failed)?;
        let mut way = match uri.scheme() == Some(&Scheme::HTTPS) {
            true => encrypt(&self.to_proxy, host(uri), tcp).await.map_err(failed)?,
            false => Way::Http(tcp),
        };
        tunnel(&mut way, &self.server, intercept.basic_auth()).await.map_err(failed)?;
        Ok(way)
    }
}

/// The host of an address, an IPv6 address without its brackets.
fn host(uri: &Uri) -> &str {
    uri.host().unwrap_or_default().trim_matches(['[', ']'])
}

async fn encrypt<T>(
    config: &Arc<ClientConfig>,
    name: &str,
    stream: T,
) -> Result<MaybeHttpsStream<T>, NetworkError>
where
    T: hyper::rt::Read + hyper::rt::Write + Unpin,
{
    let name = ServerName::try_from(name.to_owned()).map_err(|error| NetworkError::of(&error))?;
    let stream = TlsConnector::from(config.clone()).connect(name, TokioIo::new(stream)).await;
    stream.map(Into::into).map_err(|error| NetworkError::of(&error))
}

/// Has an HTTP proxy connect us with the server. Written here, because the client library does not say
/// what a proxy answered: a 503 passes, a 302 leads to somebody's login page.
async fn tunnel(
    way: &mut Way,
    server: &Uri,
    login: Option<&HeaderValue>,
) -> Result<(), NetworkError> {
    let usual = if server.scheme() == Some(&Scheme::HTTP) { 80 } else { 443 };
    let port = server.port_u16().unwrap_or(usual);
    let server = format!("{}:{port}", server.host().unwrap_or_default());
    let mut request = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n").into_bytes();
    if let Some(login) = login {
        request.extend([b"Proxy-Authorization: ", login.as_bytes(), b"\r\n"].concat());
    }
    request.extend_from_slice(b"\r\n");
    let failed = |error: io::Error| NetworkError::of(&error);
    let mut stream = TokioIo::new(way);
    stream.write_all(&request).await.map_err(failed)?;
    // Read no further than the end of the head: what follows is the server's, which does not speak
    // before it is spoken to. Of a refusal there may be a page to follow.
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() <= LARGEST_PROXY_ANSWER {
        if stream.read_buf(&mut head).await.map_err(failed)? == 0 {
            return Err(NetworkError::Closed);
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    match status.ok_or(NetworkError::NotHttp)? {
        200..300 => Ok(()),
        status => Err(NetworkError::ProxyStatus(status)),
    }
}
