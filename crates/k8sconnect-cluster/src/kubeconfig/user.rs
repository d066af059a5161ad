//! Who a user of a kubeconfig is: what is shown to the server, and in whose place it acts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::text::{ClusterEntry, ExecEntry, Named, UserEntry};
use super::{Base, Taker};
use crate::connection::{Auth, Exec, Identity, Impersonation};
use crate::error::ConnectionError;
use crate::exec::VERSIONS;
use crate::secret::Secret;
use crate::{credentials, tls};

pub(super) fn identity(user: &UserEntry, base: Base<'_>, take: &mut Taker<'_>) -> Option<Identity> {
    const CERTIFICATE: [&str; 2] = ["client-certificate", "client-certificate-data"];
    const KEY: [&str; 2] = ["client-key", "client-key-data"];
    let data = user.client_certificate_data.as_deref();
    let certificate = base.pem(CERTIFICATE, data, user.client_certificate.as_deref());
    let certificate = certificate.and_then(|found| match found {
        Some((field, pem)) => tls::certificates(field, &pem).map(|_| Some((field, pem))),
        None => Ok(None),
    });
    let key = base.pem(KEY, user.client_key_data.as_deref(), user.client_key.as_deref());
    let key = key.and_then(|found| match found {
        Some((field, pem)) => {
            let pem = Secret::from(pem);
            tls::key(field, &pem).map(|_| Some((field, pem)))
        }
        None => Ok(None),
    });
    let (certificate, key) = (take.or_note(certificate), take.or_note(key));
    match (certificate?, key?) {
        (Some((certificate_field, certificate)), Some((field, key))) => {
            let identity = Identity { certificate, key };
            // A pair that does not belong together is told before anything is asked.
            take.or_note(tls::certified(certificate_field, field, &identity))?;
            Some(identity)
        }
        (None, None) => None,
        (Some((field, _)), None) => {
            take.or_note(Err(ConnectionError::Alone { field, lacks: KEY[0] }))
        }
        (None, Some((field, _))) => {
            take.or_note(Err(ConnectionError::Alone { field, lacks: CERTIFICATE[0] }))
        }
    }
}

pub(super) fn auth(
    cluster: &ClusterEntry,
    authority: Option<&str>,
    user: &Named<UserEntry>,
    take: &mut Taker<'_>,
) -> Option<Auth> {
    let (user, base) = (&user.value, user.base());
    let auth = match login(user, base) {
        Ok(Login::Fixed(auth)) => credentials::check(&auth).map(|()| auth),
        Ok(Login::Plugin(exec)) => {
            return plugin(exec, cluster, authority, base, take).map(Auth::Exec);
        }
        Err(error) => Err(error),
    };
    take.or_note(auth)
}

/// How a user logs in.
enum Login<'a> {
    Fixed(Auth),
    Plugin(&'a ExecEntry),
}

fn login<'a>(user: &'a UserEntry, base: Base<'_>) -> Result<Login<'a>, ConnectionError> {
    if let Some(provider) = &user.auth_provider {
        let exec = match provider.name.as_str() {
            "gcp" => "`gke-gcloud-auth-plugin`",
            "azure" => "`kubelogin`",
            "oidc" => "`kubelogin` (`kubectl oidc-login`)",
            _ => "the plugin its vendor offers",
        };
        return Err(ConnectionError::AuthProvider { name: provider.name.clone(), exec });
    }
    // The order is client-go's: a token file beats a token, which is taken where the file cannot be
    // read; a plugin comes last.
    let token = user.token.clone().filter(|token| !token.is_empty()).map(Secret::from);
    if let Some(path) = user.token_file.as_deref().filter(|path| !path.is_empty()) {
        let path = base.path("tokenFile", path)?;
        return Ok(Login::Fixed(Auth::TokenFile { path, otherwise: token }));
    }
    if let Some(token) = token {
        return Ok(Login::Fixed(Auth::Token(token)));
    }
    match (&user.username, &user.password) {
        (Some(username), Some(password)) => {
            let (username, password) = (username.clone(), password.clone().into());
            Ok(Login::Fixed(Auth::Basic { username, password }))
        }
        (Some(_), None) => Err(ConnectionError::Alone { field: "username", lacks: "password" }),
        (None, Some(_)) => Err(ConnectionError::Alone { field: "password", lacks: "username" }),
        (None, None) => Ok(match &user.exec {
            Some(exec) => Login::Plugin(exec),
            None => Login::Fixed(Auth::None),
        }),
    }
}

fn plugin(
    exec: &ExecEntry,
    cluster: &ClusterEntry,
    authority: Option<&str>,
    base: Base<'_>,
    take: &mut Taker<'_>,
) -> Option<Exec> {
    let before = take.0.len();
    let mut unusable = |field, why: &str| {
        take.0.push(ConnectionError::BadValue { field, why: why.into() });
    };
    if !VERSIONS.contains(&exec.api_version.as_str()) {
        let why = format!("it must be `{}` or `{}`", VERSIONS[0], VERSIONS[1]);
        unusable("exec.apiVersion", &why);
    }
    if exec.command.is_empty() {
        unusable("exec.command", "it is empty");
    }
    if exec.interactive_mode.as_deref() == Some("Always") {
        let why = "the plugin wants to talk to somebody at a terminal, and here is none";
        unusable("exec.interactiveMode", why);
    }
    // A bare name is looked up in PATH; one with a slash is a path like any other.
    let command = if exec.command.contains(std::path::is_separator) {
        take.or_note(base.path("exec.command", &exec.command))?.display().to_string()
    } else {
        exec.command.clone()
    };
    let env = exec.env.iter().flatten();
    let exec = Exec {
        api_version: exec.api_version.clone(),
        command,
        args: exec.args.iter().flatten().map(|arg| Secret::new(arg.as_str())).collect(),
        env: env.map(|it| (it.name.clone(), Secret::new(it.value.as_str()))).collect(),
        install_hint: exec.install_hint.clone().filter(|hint| !hint.is_empty()),
        cluster: exec.provide_cluster_info.then(|| told(cluster, authority)),
    };
    (take.0.len() == before).then_some(exec)
}

/// `spec.cluster`, for a plugin that asked for it.
fn told(cluster: &ClusterEntry, authority: Option<&str>) -> Value {
    let mut told = json!({ "server": cluster.server });
    if let Some(name) = &cluster.tls_server_name {
        told["tls-server-name"] = name.as_str().into();
    }
    if cluster.insecure_skip_tls_verify {
        told["insecure-skip-tls-verify"] = true.into();
    }
    if let Some(pem) = authority {
        told["certificate-authority-data"] = BASE64.encode(pem).into();
    }
    if let Some(proxy) = &cluster.proxy_url {
        told["proxy-url"] = proxy.as_str().into();
    }
    let own = |it: &&Named<Value>| it.name == "client.authentication.k8s.io/exec";
    if let Some(config) = cluster.extensions.iter().flatten().find(own) {
        told["config"] = config.value.clone();
    }
    told
}

pub(super) fn impersonation(user: &UserEntry) -> Result<Option<Impersonation>, ConnectionError> {
    let groups = user.as_groups.clone().unwrap_or_default();
    let extra = user.as_user_extra.clone().unwrap_or_default();
    let more = user.as_uid.is_some() || !groups.is_empty() || !extra.is_empty();
    match &user.as_user {
        Some(name) if !name.is_empty() => {
            let each = |(key, values): (String, Vec<String>)| {
                values.into_iter().map(move |value| (key.clone(), value))
            };
            let other = Impersonation {
                user: name.clone(),
                uid: user.as_uid.clone(),
                groups,
                extra: extra.into_iter().flat_map(each).collect(),
            };
            credentials::check_other(&other)?;
            Ok(Some(other))
        }
        _ if more => {
            let field = match (&user.as_uid, groups.is_empty()) {
                (Some(_), _) => "as-uid",
                (None, false) => "as-groups",
                (None, true) => "as-user-extra",
            };
            Err(ConnectionError::Alone { field, lacks: "as" })
        }
        _ => Ok(None),
    }
}
