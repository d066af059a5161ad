//! The way to the server: name lookup, TCP, and a proxy where one is asked for.
//!
//! TLS is laid over whatever this gives. An explicit proxy is used for every host, as client-go
//! does; without one the environment decides, by kubectl's rules. Failures of
//! the lookup and of the proxy get types of their own, so that they can be told from failures of
//! the server.

use std::error::Error as StdError;
use std::fmt;
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
use k8sconnect_core::scrub::Content;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::connection::Tls;
use crate::error::{ConnectionError, Proxy, ProxyOrigin, Trouble};
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
            Some(proxy) => Some((intercept("proxy-url", server, proxy)?, ProxyOrigin::Given)),
        };
        let (path, proxy) = match intercept {
            None => (Path::Direct(tcp), None),
            Some((proxy, origin)) => {
                let address = address(proxy.uri());
                (Path::through(&proxy, tcp, tls)?, Some(Proxy { address, origin }))
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

    /// The trouble of a connection that came to nothing, with the proxy where one had let it pass:
    /// it may be the one that hung up.
    pub(crate) fn place(&self, trouble: Trouble) -> Trouble {
        match (trouble, &self.proxy) {
            (Trouble::Closed, Some(proxy)) => Trouble::ClosedBehind(proxy.clone()),
            (trouble, _) => trouble,
        }
    }

    /// Whether a proxy can be used at all, before anything is asked of it.
    pub(crate) fn check(field: &'static str, proxy: &Secret) -> Result<(), ConnectionError> {
        let intercept = intercept(field, &Uri::from_static("https://host"), proxy)?;
        // What follows the name is a port, or nothing that was meant.
        if let Some(authority) = intercept.uri().authority() {
            let address = authority.as_str().rsplit('@').next().unwrap_or_default();
            let after = address.get(authority.host().len()..).unwrap_or_default();
            if !after.is_empty() && authority.port_u16().is_none_or(|port| port == 0) {
                let why = "its port is not a number from 1 to 65535".into();
                return Err(ConnectionError::BadValue { field, why });
            }
        }
        match intercept.uri().scheme_str() {
            Some("http" | "https" | "socks5" | "socks5h") => Ok(()),
            _ => Err(unknown_scheme(field)),
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

/// What the environment means for a server. A proxy that is named there and cannot be used is not
/// passed over: whoever named it does not want to go without.
fn environments(
    server: &Uri,
    found: Option<(&'static str, Secret)>,
) -> Result<Option<(Intercept, ProxyOrigin)>, ConnectionError> {
    let Some((name, proxy)) = found else { return Ok(None) };
    Route::check(name, &proxy)?;
    let origin = match name {
        "HTTP_PROXY" => ProxyOrigin::Http,
        _ => ProxyOrigin::Https,
    };
    Ok(Some((intercept(name, server, &proxy)?, origin)))
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
            _ => Err(unknown_scheme("proxy-url")),
        }
    }
}

fn tunnel<C>(proxy: &Intercept, connector: C) -> Tunnel<C> {
    Tunnel { proxy: proxy.uri().clone(), login: proxy.basic_auth().cloned(), connector }
}

/// What an explicit proxy means for a server: every host goes through it.
fn intercept(
    field: &'static str,
    server: &Uri,
    proxy: &Secret,
) -> Result<Intercept, ConnectionError> {
    let rules = Matcher::builder().all(proxy.expose()).build();
    let bad = |why: &str| ConnectionError::BadValue { field, why: why.into() };
    let intercept = rules.intercept(server);
    let intercept = intercept.ok_or_else(|| match proxy.expose().split_once("://") {
        Some((_, "" | "/")) => bad("it names no host"),
        Some(_) => unknown_scheme(field),
        None => bad("it is not a URL"),
    })?;
    // The host is named where the proxy does not answer.
    match intercept.uri().host().and_then(Content::of) {
        Some(content) => Err(bad(&format!("its host looks like {content}"))),
        None => Ok(intercept),
    }
}

fn unknown_scheme(field: &'static str) -> ConnectionError {
    let why = "only `http`, `https`, `socks5` and `socks5h` proxies are known".into();
    ConnectionError::BadValue { field, why }
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
        let by_proxy = move |refusal| match proxy {
            Some(proxy) => ProxyFailed { proxy, refusal }.into(),
            None => BoxError::from("there is no proxy"),
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
                    let refused = |error| by_proxy(Refusal::below(&error));
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

/// The proxy, and not the server, was the trouble.
#[derive(Debug)]
pub(crate) struct ProxyFailed {
    pub(crate) proxy: Proxy,
    pub(crate) refusal: Refusal,
}

#[derive(Debug)]
pub(crate) enum Refusal {
    /// It wants to know who we are, or does not believe it.
    Login,
    Status(u16),
    /// It could not be talked to.
    Below(Trouble),
}

impl Refusal {
    fn below(error: &(dyn StdError + 'static)) -> Self {
        Self::Below(Trouble::of(error))
    }
}

impl fmt::Display for ProxyFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy `{}`: {:?}", self.proxy.address, self.refusal)
    }
}

impl StdError for ProxyFailed {}

/// The system's resolver, with its failures marked as such.
#[derive(Clone)]
pub(crate) struct Lookup(GaiResolver);

impl Service<Name> for Lookup {
    type Response = GaiAddrs;
    type Error = LookupFailed;
    type Future = Pending<GaiAddrs, LookupFailed>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), LookupFailed>> {
        self.0.poll_ready(context).map_err(LookupFailed)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let looking = self.0.call(name);
        Box::pin(async { looking.await.map_err(LookupFailed) })
    }
}

#[derive(Debug)]
pub(crate) struct LookupFailed(pub(crate) std::io::Error);

impl fmt::Display for LookupFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl StdError for LookupFailed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_of_another_kind_is_told_with_the_kinds_that_are_known() {
        let server = Uri::from_static("https://k.example");
        let told = |proxy: &str| {
            intercept("proxy_url", &server, &Secret::from(proxy.to_owned())).err().unwrap().why()
        };
        assert!(told("ftp://proxy.example").contains("`socks5h`"), "{}", told("ftp://p"));
        assert!(told("http://").contains("names no host"), "{}", told("http://"));
        assert!(told("not a url").contains("not a URL"), "{}", told("not a url"));
    }

    #[test]
    fn a_proxy_in_the_environment_that_cannot_be_used_is_told_with_its_variable() {
        let server = Uri::from_static("https://k.example");
        let told = |proxy: &str| {
            let found = ("HTTPS_PROXY", Secret::from(proxy.to_owned()));
            environments(&server, Some(found)).err().map(|error| error.to_string())
        };
        for unknown in ["gopher://p.example", "socks4://p.example"] {
            let error = told(unknown).unwrap();
            assert!(error.contains("`HTTPS_PROXY`") && error.contains("`NO_PROXY`"), "{error}");
        }
        assert_eq!(told("p.example:3128"), None);
    }
}
