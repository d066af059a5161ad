//! The user of a kubeconfig: its credentials, and whom it acts as.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::text::{ClusterEntry, ExecEntry, Named, UserEntry, filled};
use super::{Base, Problems};
use crate::connection::{Auth, ClientCertificate, Exec, Impersonation, Trust};
use crate::error::{ConnectionError, InvalidValue};
use crate::secret::Secret;
use crate::{credentials, inline, tls};

type Resolved = (Option<ClientCertificate>, Auth, Option<Impersonation>);

/// `told`: what a plugin learns that asks for its cluster.
pub(super) fn resolve(
    entry: &Named<UserEntry>,
    told: (&ClusterEntry, Option<&Trust>),
    problems: &mut Problems,
) -> Option<Resolved> {
    let (user, base, mut found) = (&entry.value, Base::of(entry), Problems::default());
    let identity = identity(user, &base, &mut found);
    let auth = found.take(auth(user, &base)).and_then(|auth| match (auth, &user.exec) {
        (Some(auth), _) => Some(auth),
        (None, Some(exec)) => plugin(exec, told, &base, &mut found).map(Auth::Exec),
        (None, None) => Some(Auth::None),
    });
    let impersonation = found.take(impersonation(user));
    problems.of_entry("user", entry, found);
    Some((identity?, auth?, impersonation?))
}

fn identity(
    user: &UserEntry,
    base: &Base,
    found: &mut Problems,
) -> Option<Option<ClientCertificate>> {
    const CERTIFICATE: [&str; 2] = ["client-certificate", "client-certificate-data"];
    const KEY: [&str; 2] = ["client-key", "client-key-data"];
    let (path, data) = (&user.client_certificate, &user.client_certificate_data);
    let check = |pem: &str| tls::certificates(pem).map(|_| pem.to_owned());
    let certificate = found.take(base.pem(CERTIFICATE, [path, data], check));
    let check = |pem: &str| tls::key(&pem.into()).map(|_| Secret::from(pem));
    let key = base.pem(KEY, [&user.client_key, &user.client_key_data], check);
    let key = found.take(key);
    let alone = |field, lacks| Err(ConnectionError::Alone { field, lacks });
    found.take(match (certificate?, key?) {
        (Some((_, certificate)), Some((field, key))) => {
            inline::pair(certificate, key).map(Some).map_err(|problem| problem.of(field))
        }
        (None, None) => Ok(None),
        (Some((field, _)), None) => alone(field, KEY[0]),
        (None, Some((field, _))) => alone(field, CERTIFICATE[0]),
    })
}

/// The credentials, where they are in the kubeconfig or in a file. The order is client-go's: a token
/// file beats a token, which is taken where the file cannot be read; a plugin comes last.
fn auth(user: &UserEntry, base: &Base) -> Result<Option<Auth>, ConnectionError> {
    if let Some(provider) = &user.auth_provider {
        return Err(ConnectionError::AuthProvider { name: provider.name.clone() });
    }
    let token = filled(&user.token).map(Secret::from);
    let auth = match (filled(&user.token_file), token, &user.username, &user.password) {
        (Some(path), otherwise, _, _) => {
            Auth::TokenFile { path: base.path("tokenFile", path)?, otherwise }
        }
        (None, Some(token), _, _) => Auth::Token(token),
        (None, None, Some(username), Some(password)) => {
            Auth::Basic { username: username.clone(), password: password.as_str().into() }
        }
        (None, None, Some(_), None) => {
            return Err(ConnectionError::Alone { field: "username", lacks: "password" });
        }
        (None, None, None, Some(_)) => {
            return Err(ConnectionError::Alone { field: "password", lacks: "username" });
        }
        (None, None, None, None) => return Ok(None),
    };
    credentials::fixed(&auth).map(|_| Some(auth))
}

fn plugin(
    exec: &ExecEntry,
    told: (&ClusterEntry, Option<&Trust>),
    base: &Base,
    found: &mut Problems,
) -> Option<Exec> {
    let before = found.0.len();
    let version = inline::plugin_version(&exec.api_version);
    let api_version = found.value("exec.apiVersion", version);
    if exec.interactive_mode.as_deref() == Some("Always") {
        found.0.push(InvalidValue::NeedsTerminal.of("exec.interactiveMode"));
    }
    let command = inline::plugin_command(&exec.command);
    let command = found.value("exec.command", command).and_then(|command| {
        // A bare name is looked up in PATH; one with a slash is a path like any other.
        match command.contains(std::path::is_separator) {
            true => Some(found.take(base.path("exec.command", &command))?.display().to_string()),
            false => Some(command),
        }
    });
    let args = exec.args.iter().flatten();
    let args = args.map(|arg| inline::plugin_argument(arg)).collect::<Result<_, _>>();
    let args = found.value("exec.args", args);
    let env = exec.env.iter().flatten();
    let env = env.map(|it| inline::plugin_variable(&it.name, &it.value));
    let env = found.value("exec.env", env.collect::<Result<_, _>>());
    let cluster = exec.provide_cluster_info.then(|| cluster_info(told));
    let install_hint = filled(&exec.install_hint).map(ToOwned::to_owned);
    let (api_version, command, args, env) = (api_version?, command?, args?, env?);
    let exec = Exec { api_version, command, args, env, install_hint, cluster };
    (found.0.len() == before).then_some(exec)
}

/// `spec.cluster`, for a plugin that asked for it.
fn cluster_info((cluster, trust): (&ClusterEntry, Option<&Trust>)) -> Value {
    let own = |it: &&Named<Value>| it.name == "client.authentication.k8s.io/exec";
    let config = cluster.extensions.iter().flatten().find(own).map(|config| &config.value);
    let authority = match trust {
        Some(Trust::Authorities(pem)) => Some(BASE64.encode(pem)),
        _ => None,
    };
    let mut info = json!({
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify.then_some(true),
        "certificate-authority-data": authority,
        "proxy-url": cluster.proxy_url,
        "config": config,
    });
    if let Value::Object(info) = &mut info {
        info.retain(|_, value| !value.is_null());
    }
    info
}

fn impersonation(user: &UserEntry) -> Result<Option<Impersonation>, ConnectionError> {
    let groups = user.as_groups.clone().unwrap_or_default();
    let extra = user.as_user_extra.clone().unwrap_or_default();
    let Some(name) = filled(&user.as_user) else {
        let parts = [
            ("as-uid", user.as_uid.is_some()),
            ("as-groups", !groups.is_empty()),
            ("as-user-extra", !extra.is_empty()),
        ];
        return match parts.into_iter().find(|(_, is_set)| *is_set) {
            Some((field, _)) => Err(ConnectionError::Alone { field, lacks: "as" }),
            None => Ok(None),
        };
    };
    let each = |(key, values): (String, Vec<String>)| {
        values.into_iter().map(move |value| (key.clone(), value))
    };
    let (user, uid) = (name.to_owned(), user.as_uid.clone());
    let extra = extra.into_iter().flat_map(each).collect();
    let other = Impersonation { user, uid, groups, extra };
    credentials::impersonation(&other)?;
    Ok(Some(other))
}
