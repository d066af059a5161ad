//! The way to the server: name lookup, TCP, and a proxy where one is asked for.
//!
//! TLS is laid over whatever this gives. An explicit proxy is used for every host, as client-go
//! does; without one the environment decides, by kubectl's rules. Failures of
//! the lookup and of the proxy get types of their own, so that they can be told from failures of
//! the server.

use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{DefaultServerNameResolver, HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiAddrs, GaiResolver, Name};
use hyper_util::client::legacy::connect::proxy::SocksV5;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use k8sconnect_core::scrub::Sensitive;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::connection::{Tls, check_port};
use crate::error::{ConnectionError, InvalidValue, Known, NetworkError, Proxy};
use crate::secret::Secret;
use crate::tls;
use tunnel::Tunnel;

mod environment;
mod tunnel;

/// TLS where it is that with a proxy; that with the server is laid over it elsewhere.
pub(crate) type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;
type BoxError = Box<dyn StdError + Send + Sync>;
type Pending<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

#[derive(Clone)]
pub(crate) struct Route {
    path: Path,
    progress: Progress,
    proxy: Option<Proxy>,
}

#[derive(Clone)]
enum Path {
    Direct(Tcp),
    Tunnel(Tunnel<Tcp>),
    /// The proxy itself is spoken to in TLS, within which runs the server's own.
    SecureTunnel(Tunnel<HttpsConnector<Tcp>>),
    Socks(SocksV5<Tcp>),
}

/// How far the latest connection has come, for whoever gives it up.
#[derive(Clone, Default)]
struct Progress(Arc<AtomicU8>);

const ACCEPTED: u8 = 1;
const THROUGH: u8 = 2;

/// Who fell silent when a connection came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// Nobody accepted it.
    Nobody,
    /// The proxy accepted it.
    Proxy(Proxy),
    Server,
}

/// Long enough for a slow link, short enough that a black hole is told before a deadline.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const KEEP_ALIVE: Duration = Duration::from_secs(60);

impl Route {
    pub(crate) fn to(
        server: &Uri,
        proxy: Option<&Secret>,
        tls: &Tls,
    ) -> Result<Self, ConnectionError> {
        let progress = Progress::default();
        let tcp = Tcp::new(progress.clone());
        let intercept = match proxy {
            None => environments(server, environment::proxy_for(server))?,
            Some(proxy) => {
                let found = intercept(server, proxy).map_err(|problem| problem.of("proxy-url"))?;
                Some((found, None))
            }
        };
        let (path, proxy) = match intercept {
            None => (Path::Direct(tcp), None),
            Some((proxy, variable)) => {
                let address = address(proxy.uri());
                (Path::through(&proxy, tcp, tls)?, Some(Proxy { address, variable }))
            }
        };
        Ok(Self { path, progress, proxy })
    }

    /// Begins to note how far a connection comes.
    pub(crate) fn set_out(&self) {
        self.progress.0.store(0, Ordering::Relaxed);
    }

    /// Who keeps silent, of a connection that takes too long.
    pub(crate) fn silence(&self) -> Silence {
        match (self.progress.0.load(Ordering::Relaxed), &self.proxy) {
            (ACCEPTED, Some(proxy)) => Silence::Proxy(proxy.clone()),
            (ACCEPTED | THROUGH, _) => Silence::Server,
            _ => Silence::Nobody,
        }
    }

    /// The cause of a failed connection, with the proxy where one had let it pass: the proxy may have
    /// closed it.
    pub(crate) fn place(&self, cause: NetworkError) -> NetworkError {
        match (cause, &self.proxy) {
            (NetworkError::Closed, Some(proxy)) => NetworkError::ClosedBehind(proxy.clone()),
            (cause, _) => cause,
        }
    }

    /// Whether a proxy can be used at all, before anything is asked of it.
    pub(crate) fn check(proxy: &Secret) -> Result<(), InvalidValue> {
        let intercept = intercept(&Uri::from_static("https://host"), proxy)?;
        intercept.uri().authority().map_or(Ok(()), check_port)?;
        match intercept.uri().scheme_str() {
            Some("http" | "https" | "socks5" | "socks5h") => Ok(()),
            _ => Err(InvalidValue::ProxyScheme),
        }
    }
}

/// A proxy's address, as far as it may be shown.
fn address(proxy: &Uri) -> String {
    let host = proxy.host().unwrap_or_default();
    let scheme = proxy.scheme_str().unwrap_or("http");
    match proxy.port_u16() {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    }
}

/// What the environment means for a server, with the variable. A proxy that is named there and cannot
/// be used is an error: whoever named it does not want to go without.
fn environments(
    server: &Uri,
    found: Option<(&'static str, Secret)>,
) -> Result<Option<(Intercept, Option<&'static str>)>, ConnectionError> {
    let Some((name, proxy)) = found else { return Ok(None) };
    let intercept = Route::check(&proxy).and_then(|()| intercept(server, &proxy));
    Ok(Some((intercept.map_err(|problem| problem.of(name))?, Some(name))))
}

impl Path {
    fn through(proxy: &Intercept, tcp: Tcp, tls: &Tls) -> Result<Self, ConnectionError> {
        match proxy.uri().scheme_str() {
            Some("http") => Ok(Self::Tunnel(tunnel(proxy, tcp))),
            Some("https") => {
                let names = Arc::new(DefaultServerNameResolver::default());
                let tls = HttpsConnector::new(tcp, tls::proxy_config(tls)?, true, names);
                Ok(Self::SecureTunnel(tunnel(proxy, tls)))
            }
            Some(scheme @ ("socks5" | "socks5h")) => {
                let socks = SocksV5::new(proxy.uri().clone(), tcp).local_dns(scheme == "socks5");
                Ok(Self::Socks(match proxy.raw_auth() {
                    Some((user, password)) => socks.with_auth(user.into(), password.into()),
                    None => socks,
                }))
            }
            _ => Err(InvalidValue::ProxyScheme.of("proxy-url")),
        }
    }
}

fn tunnel<C>(proxy: &Intercept, connector: C) -> Tunnel<C> {
    Tunnel { proxy: proxy.uri().clone(), login: proxy.basic_auth().cloned(), connector }
}

/// What an explicit proxy means for a server: every host goes through it.
fn intercept(server: &Uri, proxy: &Secret) -> Result<Intercept, InvalidValue> {
    let rules = Matcher::builder().all(proxy.expose()).build();
    let intercept = rules.intercept(server);
    let intercept = intercept.ok_or_else(|| match proxy.expose().split_once("://") {
        Some((_, "" | "/")) => InvalidValue::NoHost,
        Some(_) => InvalidValue::ProxyScheme,
        None => InvalidValue::NotUrl,
    })?;
    // The host is named where the proxy does not answer.
    match intercept.uri().host().and_then(Sensitive::of) {
        Some(content) => Err(InvalidValue::Sensitive(content)),
        None => Ok(intercept),
    }
}

impl Service<Uri> for Route {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pending<Self::Response, BoxError>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match &mut self.path {
            Path::Direct(tcp) => tcp.poll_ready(context).map_err(Into::into),
            // The proxies' own readiness is that of the TCP below, which is always ready.
            Path::Tunnel(_) | Path::SecureTunnel(_) | Path::Socks(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let progress = self.progress.clone();
        let proxy = self.proxy.clone();
        let by_proxy = move |cause| match proxy {
            Some(proxy) => Known(NetworkError::Proxy(proxy, Box::new(cause))).into(),
            None => BoxError::from(Known(cause)),
        };
        let connecting: Self::Future = match &mut self.path {
            Path::Direct(tcp) => {
                let connecting = tcp.call(server);
                Box::pin(async { Ok(Stream::Http(connecting.await?)) })
            }
            Path::Tunnel(tunnel) => {
                let opening = tunnel.open(&server);
                Box::pin(async { Ok(Stream::Http(opening.await.map_err(by_proxy)?)) })
            }
            Path::SecureTunnel(tunnel) => {
                let opening = tunnel.open(&server);
                Box::pin(async { opening.await.map_err(by_proxy) })
            }
            Path::Socks(socks) => {
                let connecting = socks.call(server);
                Box::pin(async {
                    let refused = |error| by_proxy(NetworkError::of(&error));
                    Ok(Stream::Http(connecting.await.map_err(refused)?))
                })
            }
        };
        Box::pin(async move {
            let stream = connecting.await?;
            progress.0.store(THROUGH, Ordering::Relaxed);
            Ok(stream)
        })
    }
}

/// Plain TCP, to the server or to a proxy before it.
#[derive(Clone)]
struct Tcp {
    connector: HttpConnector<Lookup>,
    progress: Progress,
}

impl Tcp {
    fn new(progress: Progress) -> Self {
        let mut connector = HttpConnector::new_with_resolver(Lookup(GaiResolver::new()));
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_keepalive(Some(KEEP_ALIVE));
        connector.set_connect_timeout(Some(CONNECT_LIMIT));
        Self { connector, progress }
    }
}

impl Service<Uri> for Tcp {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Pending<Self::Response, BoxError>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let (connecting, progress) = (self.connector.call(server), self.progress.clone());
        Box::pin(async move {
            let stream = connecting.await?;
            progress.0.store(ACCEPTED, Ordering::Relaxed);
            Ok(stream)
        })
    }
}

/// The system's resolver, with its failures marked as such.
#[derive(Clone)]
pub(crate) struct Lookup(GaiResolver);

impl Service<Name> for Lookup {
    type Response = GaiAddrs;
    type Error = Known;
    type Future = Pending<GaiAddrs, Known>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Known>> {
        self.0.poll_ready(context).map_err(not_found)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let looking = self.0.call(name);
        Box::pin(async { looking.await.map_err(not_found) })
    }
}

fn not_found(error: std::io::Error) -> Known {
    Known(NetworkError::NameNotFound(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_of_another_kind_is_refused_with_its_cause() {
        let server = Uri::from_static("https://k.example");
        let cause = |proxy: &str| intercept(&server, &Secret::from(proxy)).err();
        assert_eq!(cause("ftp://proxy.example"), Some(InvalidValue::ProxyScheme));
        assert_eq!(cause("http://"), Some(InvalidValue::NoHost));
        assert_eq!(cause("not a url"), Some(InvalidValue::NotUrl));
    }

    #[test]
    fn a_proxy_in_the_environment_that_cannot_be_used_is_refused_with_its_variable() {
        let server = Uri::from_static("https://k.example");
        let refused =
            |proxy: &str| environments(&server, Some(("HTTPS_PROXY", Secret::from(proxy)))).err();
        let unknown = InvalidValue::ProxyScheme.of("HTTPS_PROXY");
        for scheme in ["gopher", "socks4"] {
            assert_eq!(refused(&format!("{scheme}://p.example")).as_ref(), Some(&unknown));
        }
        assert_eq!(refused("p.example:3128"), None);
    }
}
