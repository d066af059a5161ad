//! What is shown to the server, and how it is renewed.
//!
//! Tokens and passwords stand for as long as the process does; a token file is read again now and
//! then; a plugin is run once for everyone, and again when what it gave has expired or the server
//! stopped accepting it. Whoever asks while somebody renews waits for that, and takes its result; a
//! failure too, and for a moment after, so that what fails or hangs does not do so for each object.

use std::path::Path;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{HeaderName, HeaderValue};
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, timeout_at};

use crate::connection::{Auth, Connection, Identity, Impersonation};
use crate::error::ConnectionError;
use crate::stop::Stop;
use crate::{exec, file};

/// What one request shows. The generation tells a renewed one from the one it replaced.
#[derive(Clone)]
pub(crate) struct Credential {
    pub(crate) authorization: Option<HeaderValue>,
    /// A client certificate that came with the credential rather than with the connection.
    pub(crate) identity: Option<Identity>,
    generation: u64,
    expires: Option<SystemTime>,
    fetched: Instant,
    cause: Cause,
}

/// Why a credential was fetched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// There was none, or it had grown stale.
    Need,
    /// The server refused the one before it.
    Refusal,
}

pub(crate) struct Credentials {
    auth: Auth,
    impersonation: Vec<(HeaderName, HeaderValue)>,
    held: Mutex<Held>,
    stop: Stop,
}

/// What the last fetch came to.
#[derive(Default)]
struct Held {
    current: Option<Credential>,
    failure: Option<(Instant, ConnectionError)>,
}

/// Whoever mounts a token file renews it well before it expires.
const TOKEN_FILE_LIFE: Duration = Duration::from_secs(60);
/// What has less than this to live may expire on the way.
const MARGIN: Duration = Duration::from_secs(10);
/// A plugin is not run again so soon after it failed, after what it gave was stale from the start,
/// or after what it gave in place of something refused was refused as well.
const LULL: Duration = Duration::from_secs(10);

impl Credentials {
    pub(crate) fn new(connection: &Connection, stop: Stop) -> Result<Self, ConnectionError> {
        let impersonation = match &connection.impersonation {
            Some(other) => headers_of(other)?,
            None => Vec::new(),
        };
        // Checked here, so that a token with a line break is told before anything is asked.
        fixed(&connection.auth)?;
        Ok(Self { auth: connection.auth.clone(), impersonation, held: Mutex::default(), stop })
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

    /// What to show, by the deadline of the request that asks.
    pub(crate) async fn current(&self, deadline: Instant) -> Result<Credential, ConnectionError> {
        let mut held = self.held_by(deadline).await?;
        match &held.current {
            Some(credential) if !credential.is_stale() => Ok(credential.clone()),
            other => {
                let generation = other.as_ref().map_or(0, |it| it.generation + 1);
                self.fetch_into(&mut held, generation, Cause::Need, deadline).await
            }
        }
    }

    /// Whoever holds it may be fetching, and take longer than others have.
    async fn held_by(&self, deadline: Instant) -> Result<MutexGuard<'_, Held>, ConnectionError> {
        let came = Instant::now();
        let held = timeout_at(deadline, self.held.lock()).await;
        held.map_err(|_| ConnectionError::Plugin {
            command: self.plugin().unwrap_or_default().to_owned(),
            why: exec::not_ended_after(came.elapsed()),
            advice: exec::WAITING_FOR_LOGIN.to_owned(),
        })
    }

    /// Gets another credential than `refused`, which may have happened already. `false`: there is
    /// no way to get another.
    pub(crate) async fn renew(
        &self,
        refused: &Credential,
        deadline: Instant,
    ) -> Result<bool, ConnectionError> {
        let mut held = self.held_by(deadline).await?;
        let generation = refused.generation + 1;
        if held.current.as_ref().is_some_and(|it| it.generation != refused.generation) {
            return Ok(true);
        }
        match &self.auth {
            Auth::None | Auth::Token(_) | Auth::Basic { .. } => Ok(false),
            Auth::TokenFile { .. } => {
                let cause = Cause::Refusal;
                let renewed = self.fetch_into(&mut held, generation, cause, deadline).await?;
                Ok(renewed.authorization != refused.authorization)
            }
            Auth::Exec(_) if refused.cause == Cause::Refusal && refused.is_young() => Ok(false),
            Auth::Exec(_) => {
                self.fetch_into(&mut held, generation, Cause::Refusal, deadline).await?;
                Ok(true)
            }
        }
    }

    async fn fetch_into(
        &self,
        held: &mut Held,
        generation: u64,
        cause: Cause,
        deadline: Instant,
    ) -> Result<Credential, ConnectionError> {
        if let Some((when, failure)) = &held.failure
            && when.elapsed() < LULL
        {
            return Err(failure.clone());
        }
        held.failure = None;
        match self.fetch(generation, cause, deadline).await {
            Ok(credential) => Ok(held.current.insert(credential).clone()),
            Err(failure) => {
                // A file costs nothing to look at again, and who has little time has proved nothing.
                if let Auth::Exec(_) = &self.auth
                    && Instant::now() < deadline
                {
                    held.failure = Some((Instant::now(), failure.clone()));
                }
                Err(failure)
            }
        }
    }

    async fn fetch(
        &self,
        generation: u64,
        cause: Cause,
        deadline: Instant,
    ) -> Result<Credential, ConnectionError> {
        let none = Credential {
            authorization: None,
            identity: None,
            generation,
            expires: None,
            fetched: Instant::now(),
            cause,
        };
        match &self.auth {
            Auth::None | Auth::Token(_) | Auth::Basic { .. } => {
                Ok(Credential { authorization: fixed(&self.auth)?, ..none })
            }
            Auth::TokenFile { path, otherwise } => {
                let token = match (token_in(path), otherwise) {
                    (Ok(token), _) => token,
                    (Err(_), Some(token)) => token.expose().to_owned(),
                    (Err(error), None) => return Err(error),
                };
                let expires = Some(SystemTime::now() + TOKEN_FILE_LIFE + MARGIN);
                Ok(Credential { authorization: Some(bearer(token.trim())?), expires, ..none })
            }
            Auth::Exec(plugin) => {
                let limit = exec::LIMIT.min(deadline.saturating_duration_since(Instant::now()));
                let brought = tokio::select! {
                    biased;
                    _ = self.stop.asked() => return Err(ConnectionError::Plugin {
                        command: plugin.command.clone(),
                        why: "it was not waited for, since you asked to stop".into(),
                        advice: "Run again.".into(),
                    }),
                    brought = exec::run(plugin, limit) => brought?,
                };
                let unusable = |error: ConnectionError| ConnectionError::Plugin {
                    command: plugin.command.clone(),
                    why: format!("of the token that it printed: {}", error.why()),
                    advice: "Run it by hand, and see what stands in its `status.token`.".into(),
                };
                let token = brought.token.as_ref();
                let token = token.map(|token| bearer(token.expose()).map_err(unusable));
                Ok(Credential {
                    authorization: token.transpose()?,
                    identity: brought.identity,
                    expires: brought.expires,
                    fetched: Instant::now(),
                    ..none
                })
            }
        }
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

/// Whether what stands in the connection itself can be sent.
pub(crate) fn check(auth: &Auth) -> Result<(), ConnectionError> {
    fixed(auth).map(|_| ())
}

/// The same of whoever is to be acted as.
pub(crate) fn check_other(other: &Impersonation) -> Result<(), ConnectionError> {
    headers_of(other).map(|_| ())
}

fn token_in(path: &Path) -> Result<String, ConnectionError> {
    let (field, shown) = ("tokenFile", path.display().to_string());
    match file::read(path, file::LARGEST_PART) {
        Err(cause) => Err(ConnectionError::UnreadableFile { field, path: shown, cause }),
        Ok(token) if token.trim().is_empty() => {
            Err(ConnectionError::EmptyFile { field, path: shown })
        }
        Ok(token) => Ok(token),
    }
}

fn fixed(auth: &Auth) -> Result<Option<HeaderValue>, ConnectionError> {
    match auth {
        Auth::Token(token) | Auth::TokenFile { otherwise: Some(token), .. } => {
            bearer(token.expose().trim()).map(Some)
        }
        Auth::Basic { username, password } => {
            let pair = BASE64.encode(format!("{username}:{}", password.expose()));
            header("password", &format!("Basic {pair}")).map(Some)
        }
        Auth::None | Auth::TokenFile { otherwise: None, .. } | Auth::Exec(_) => Ok(None),
    }
}

pub(crate) fn bearer(token: &str) -> Result<HeaderValue, ConnectionError> {
    header("token", &format!("Bearer {token}"))
}

/// Marked sensitive, which keeps it out of every `Debug` and out of HTTP/2's header tables.
fn header(field: &'static str, text: &str) -> Result<HeaderValue, ConnectionError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ConnectionError::BadValue {
        field,
        why: "it holds a character that no HTTP header may hold, such as a line break".into(),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn headers_of(other: &Impersonation) -> Result<Vec<(HeaderName, HeaderValue)>, ConnectionError> {
    let Impersonation { user, uid, groups, extra } = other;
    let mut named = vec![("impersonate-user".to_owned(), user)];
    named.extend(uid.iter().map(|uid| ("impersonate-uid".to_owned(), uid)));
    named.extend(groups.iter().map(|group| ("impersonate-group".to_owned(), group)));
    named.extend(extra.iter().map(|(key, value)| {
        // Header names know no slash; the server takes it percent-encoded.
        (format!("impersonate-extra-{}", crate::address::segment(&key.to_lowercase())), value)
    }));
    let header = |(name, value): (String, &String)| {
        let name = HeaderName::try_from(name);
        let value = HeaderValue::from_str(value);
        name.ok().zip(value.ok()).ok_or_else(|| ConnectionError::BadValue {
            field: "as",
            why: "it holds a character that no HTTP header may hold".into(),
        })
    };
    named.into_iter().map(header).collect()
}

#[cfg(test)]
mod tests;
