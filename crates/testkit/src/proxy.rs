//! A proxy in front of the real API server that can interfere: it answers in the server's
//! place, breaks connections, cuts answers short, or lets something happen between two
//! requests of the client under test. What no rule speaks of passes through untouched,
//! watches included, so that everything else a test sees is still the server's own doing.
//!
//! It is no man in the middle: it bears the server's own certificate, and the client's token
//! goes through it as it came. Certificates of clients do not, as they never do through a
//! proxy that ends TLS: only [`Proxy::kubeconfig`] leads through it.

mod forward;
mod record;
mod rule;
mod serve;
mod shared;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;

use crate::client::on_runtime;
use crate::control_plane::{ControlPlane, Validity};
use forward::Upstream;
pub use record::Recorded;
pub use rule::{Action, Fate, Flood, Inventor, Reply, Rule, Tally, Turn, Which};
pub(crate) use serve::{identity_of, identity_speaking};

/// How long after the end of its client a connection may stay open: the tasks that close it run on
/// their own.
const CLOSING: Duration = Duration::from_secs(10);

/// Ends, with every connection through it, when dropped.
pub struct Proxy {
    url: String,
    kubeconfig: String,
    script: Arc<Script>,
    work: AbortHandle,
}

impl Proxy {
    pub async fn before(control_plane: &ControlPlane) -> Result<Self> {
        Self::speaking(control_plane, identity_of(control_plane.folder())?).await
    }

    /// One that knows no HTTP/2, as some that end TLS before a server.
    pub async fn before_without_http2(control_plane: &ControlPlane) -> Result<Self> {
        let tls = serve::identity_speaking(control_plane.folder(), &[b"http/1.1"])?;
        Self::speaking(control_plane, tls).await
    }

    /// One whose certificate's time is over or has not come.
    pub async fn before_with_certificate(
        control_plane: &ControlPlane,
        validity: Validity,
    ) -> Result<Self> {
        let (certificate, key) = control_plane.server_certificate(validity)?;
        let protocols: [&[u8]; 2] = [b"h2", b"http/1.1"];
        let tls = serve::identity(certificate.as_bytes(), key.as_bytes(), &protocols)?;
        Self::speaking(control_plane, tls).await
    }

    async fn speaking(control_plane: &ControlPlane, tls: TlsAcceptor) -> Result<Self> {
        let upstream = Upstream::new(control_plane.url(), control_plane.ca())?;
        let script = Arc::new(Script::default());
        let shared = Arc::clone(&script);
        // On the testkit's runtime, as the connections of its client: the proxy may serve a
        // client that outlives the runtime of the test that made it.
        let (url, work) = on_runtime(async move {
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
                .await
                .context("no port could be had for the proxy")?;
            let url = format!("https://{}", listener.local_addr()?);
            let serving = serve::serve(listener, tls, Arc::new(upstream), shared);
            Ok((url, tokio::spawn(serving).abort_handle()))
        })
        .await?;
        let kubeconfig = control_plane.kubeconfig().replace(control_plane.url(), &url);
        Ok(Self { url, kubeconfig, script, work })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// For an administrator, by token, through the proxy.
    pub fn kubeconfig(&self) -> String {
        self.kubeconfig.clone()
    }

    /// Adds a rule, which counts requests from now on. The answer tells what became of it.
    pub fn rule(&self, rule: Rule) -> Tally {
        let tally = rule.tally();
        self.script.content().rules.push(rule);
        tally
    }

    /// Lets everything pass again. What was recorded stays.
    pub fn forget_rules(&self) {
        self.script.content().rules.clear();
    }

    /// Every request so far, in the order of arrival, whatever became of it.
    pub fn requests(&self) -> Vec<Recorded> {
        self.script.content().requests.clone()
    }

    /// How many connections it has accepted.
    pub fn connections(&self) -> usize {
        self.script.content().connections
    }

    /// How many of them are open.
    pub fn open_connections(&self) -> usize {
        *self.script.open.borrow()
    }

    /// Waits until no more than so many connections are open.
    pub async fn closed_down_to(&self, most: usize) -> Result<()> {
        let mut open = self.script.open.subscribe();
        let closed = tokio::time::timeout(CLOSING, open.wait_for(|open| *open <= most)).await;
        if closed.is_err() {
            bail!("{} connections to the proxy are open, not {most}", self.open_connections());
        }
        Ok(())
    }

    /// The requests for one path that arrived after the first `earlier` of all.
    pub fn requests_since(&self, earlier: usize, path: &str) -> Vec<Recorded> {
        let mut requests = self.requests();
        requests.drain(..earlier.min(requests.len()));
        requests.retain(|request| request.path == path);
        requests
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// What was asked, and what is to happen.
#[derive(Default)]
struct Script {
    content: Mutex<Content>,
    /// How many connections are open.
    open: watch::Sender<usize>,
}

#[derive(Default)]
struct Content {
    rules: Vec<Rule>,
    requests: Vec<Recorded>,
    connections: usize,
}

impl Script {
    fn accept(self: &Arc<Self>) -> Open {
        self.content().connections += 1;
        self.open.send_modify(|open| *open += 1);
        Open(Arc::clone(self))
    }

    /// Records a request, and answers with what the due rules do to it, in their order.
    fn admit(&self, mut request: Recorded) -> (Recorded, Vec<rule::Due>) {
        let mut content = self.content();
        request.sequence = content.requests.len() as u64 + 1;
        content.requests.push(request.clone());
        let due = content.rules.iter_mut().filter_map(|rule| rule.meet(&request)).collect();
        (request, due)
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection while it is open.
struct Open(Arc<Script>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}
