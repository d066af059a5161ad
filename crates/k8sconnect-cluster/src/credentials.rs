//! The credentials of requests, and how they are renewed.
//!
//! Tokens and passwords stay the same while the process lives. A token file is read again every minute.
//! A plugin runs once for all requests, and again when its credential has expired or the server refused
//! it. Requests that ask while it runs wait for it and take its result. A failure is kept for a moment
//! too, so that a plugin that fails or hangs does not do so once for each object.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{HeaderName, HeaderValue};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, timeout_at};

use crate::circuit_breaker::{CircuitBreaker, Part};
use crate::connection::{Auth, ClientCertificate, Connection, Impersonation};
use crate::error::{ConnectionError, Error, InvalidValue, PluginError};
use crate::exec::{self, PluginCredential};
use crate::file::{self, Unreadable};
use crate::secret::Secret;
use crate::stop::Stop;

/// What one request shows. The generation tells a renewed one from the one it replaced.
#[derive(Clone)]
pub(crate) struct Credential {
    pub(crate) authorization: Option<HeaderValue>,
    /// A client certificate that came with the credential rather than with the connection.
    pub(crate) identity: Option<ClientCertificate>,
    generation: u64,
    expires: Option<SystemTime>,
    fetched: Instant,
    reason: Reason,
}

/// Why a credential was fetched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// There was none, or it had expired.
    Need,
    /// The server refused the one before it.
    Refusal,
}

pub(crate) struct Credentials {
    auth: Auth,
    impersonation: Vec<(HeaderName, HeaderValue)>,
    cached: Mutex<Option<Credential>>,
    breaker: Arc<CircuitBreaker>,
    stop: Stop,
}

/// A token file is renewed well before its token expires.
const TOKEN_FILE_LIFE: Duration = Duration::from_secs(60);
/// A credential with less time than this may expire on the way.
const MARGIN: Duration = Duration::from_secs(10);
/// A plugin does not run again so soon after it failed, after its credential had expired from the start,
/// or after the server refused the second credential too.
const LULL: Duration = Duration::from_secs(10);

impl Credentials {
    pub(crate) fn new(
        connection: &Connection,
        breaker: Arc<CircuitBreaker>,
        stop: Stop,
    ) -> Result<Self, ConnectionError> {
        let impersonation = connection.impersonation.as_ref().map(impersonation).transpose()?;
        // Checked here, so that a token with a line break is reported before any request.
        fixed(&connection.auth)?;
        let (auth, cached) = (connection.auth.clone(), Mutex::default());
        Ok(Self { auth, impersonation: impersonation.unwrap_or_default(), cached, breaker, stop })
    }

    /// The command that brings the credentials, where one does.
    pub(crate) fn plugin(&self) -> Option<&str> {
        match &self.auth {
            Auth::Exec(plugin) => Some(&plugin.command),
            Auth::None | Auth::Token(_) | Auth::TokenFile { .. } | Auth::Basic { .. } => None,
        }
    }

    pub(crate) fn impersonation(&self) -> &[(HeaderName, HeaderValue)] {
        &self.impersonation
    }

    /// The credential to send, by the deadline of the request that asks.
    pub(crate) async fn current(&self, deadline: Instant) -> Result<Credential, Error> {
        let mut cached = self.cached(deadline).await?;
        match &*cached {
            Some(credential) if !credential.is_stale() => Ok(credential.clone()),
            other => {
                let generation = other.as_ref().map_or(0, |it| it.generation + 1);
                self.fetch_into(&mut cached, generation, Reason::Need, deadline).await
            }
        }
    }

    /// Another request may be fetching, and take longer than this one has.
    async fn cached(&self, deadline: Instant) -> Result<MutexGuard<'_, Option<Credential>>, Error> {
        let came = Instant::now();
        let cached = timeout_at(deadline, self.cached.lock()).await;
        cached.map_err(|_| {
            let command = self.plugin().unwrap_or_default().to_owned();
            let (after, stderr) = (came.elapsed(), String::new());
            let problem = PluginError::TimedOut { after, stderr };
            ConnectionError::Plugin { command, problem }.into()
        })
    }

    /// Gets another credential than `refused`, which may have happened already. `false`: there is
    /// no way to get another.
    pub(crate) async fn renew(
        &self,
        refused: &Credential,
        deadline: Instant,
    ) -> Result<bool, Error> {
        let mut cached = self.cached(deadline).await?;
        if cached.as_ref().is_some_and(|it| it.generation != refused.generation) {
            return Ok(true);
        }
        let is_final = match &self.auth {
            Auth::None | Auth::Token(_) | Auth::Basic { .. } => true,
            Auth::TokenFile { .. } => false,
            Auth::Exec(_) => refused.reason == Reason::Refusal && refused.is_young(),
        };
        if is_final {
            return Ok(false);
        }
        let generation = refused.generation + 1;
        let renewed = self.fetch_into(&mut cached, generation, Reason::Refusal, deadline).await?;
        Ok(self.plugin().is_some() || renewed.authorization != refused.authorization)
    }

    async fn fetch_into(
        &self,
        cached: &mut Option<Credential>,
        generation: u64,
        reason: Reason,
        deadline: Instant,
    ) -> Result<Credential, Error> {
        self.breaker.error(&Part::Plugin).map_or(Ok(()), Err)?;
        match self.fetch(deadline).await {
            Ok(PluginCredential { authorization, identity, expires }) => {
                let fetched = Instant::now();
                let credential =
                    Credential { authorization, identity, generation, expires, fetched, reason };
                Ok(cached.insert(credential).clone())
            }
            Err(failure) => {
                let failure = Error::from(failure);
                // Reading a file again costs nothing, and a request with little time proves nothing.
                if self.plugin().is_some() && Instant::now() < deadline {
                    self.breaker.open(Part::Plugin, LULL, failure.clone());
                }
                Err(failure)
            }
        }
    }

    async fn fetch(&self, deadline: Instant) -> Result<PluginCredential, ConnectionError> {
        let (authorization, expires) = match &self.auth {
            Auth::None | Auth::Token(_) | Auth::Basic { .. } => (fixed(&self.auth)?, None),
            Auth::TokenFile { path, otherwise } => {
                let token = match (token_in(path), otherwise) {
                    (Err(_), Some(token)) => token.clone(),
                    (token, _) => token?,
                };
                let expires = SystemTime::now() + TOKEN_FILE_LIFE + MARGIN;
                (fixed(&Auth::Token(token))?, Some(expires))
            }
            Auth::Exec(plugin) => {
                let limit = exec::LIMIT.min(deadline.saturating_duration_since(Instant::now()));
                let brought = tokio::select! {
                    biased;
                    _ = self.stop.asked() => Err(PluginError::Interrupted),
                    brought = exec::run(plugin, limit) => brought,
                };
                let command = plugin.command.clone();
                return brought.map_err(|problem| ConnectionError::Plugin { command, problem });
            }
        };
        Ok(PluginCredential { authorization, identity: None, expires })
    }
}

impl Credential {
    fn is_stale(&self) -> bool {
        let late = self.expires.is_some_and(|expires| SystemTime::now() + MARGIN >= expires);
        late && !self.is_young()
    }

    fn is_young(&self) -> bool {
        self.fetched.elapsed() < LULL
    }
}

fn token_in(path: &Path) -> Result<Secret, ConnectionError> {
    let token = match file::read(path, file::LARGEST_PART) {
        Ok(token) if token.trim().is_empty() => Err(Unreadable::Empty),
        token => token.map(Secret::from),
    };
    let (field, path) = ("tokenFile", path.display().to_string());
    token.map_err(|cause| ConnectionError::UnreadableFile { field, path, cause })
}

/// The header of credentials that are in the connection itself.
pub(crate) fn fixed(auth: &Auth) -> Result<Option<HeaderValue>, ConnectionError> {
    match auth {
        Auth::Token(token) | Auth::TokenFile { otherwise: Some(token), .. } => {
            token.header("Bearer").map(Some).map_err(|problem| problem.of("token"))
        }
        Auth::Basic { username, password } => {
            let pair = Secret::from(BASE64.encode(format!("{username}:{}", password.expose())));
            pair.header("Basic").map(Some).map_err(|problem| problem.of("password"))
        }
        Auth::None | Auth::TokenFile { otherwise: None, .. } | Auth::Exec(_) => Ok(None),
    }
}

pub(crate) fn impersonation(
    other: &Impersonation,
) -> Result<Vec<(HeaderName, HeaderValue)>, ConnectionError> {
    let Impersonation { user, uid, groups, extra } = other;
    let mut named = vec![("impersonate-user".to_owned(), user)];
    named.extend(uid.iter().map(|uid| ("impersonate-uid".to_owned(), uid)));
    named.extend(groups.iter().map(|group| ("impersonate-group".to_owned(), group)));
    named.extend(extra.iter().map(|(key, value)| {
        // Header names know no slash; the server takes it percent-encoded.
        (format!("impersonate-extra-{}", crate::address::segment(&key.to_lowercase())), value)
    }));
    let header = |(name, value): (String, &String)| {
        let name = HeaderName::try_from(name).ok();
        name.zip(HeaderValue::from_str(value).ok()).ok_or_else(|| InvalidValue::Header.of("as"))
    };
    named.into_iter().map(header).collect()
}

#[cfg(test)]
mod tests;
