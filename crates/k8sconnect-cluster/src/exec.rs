//! Credential plugins: a command that prints a token, a client certificate, or both.
//!
//! The contract is `client.authentication.k8s.io`: the request goes in by an environment
//! variable, the answer comes out on stdout. Nobody sits at a terminal here, so the plugin is
//! told so and gets no stdin. It has bounded time and bounded output; its arguments and its
//! environment are never shown, and of what it writes to stderr only the end, for its own words
//! are what explains a failed login best; what looks like a credential in it is cut out.

use std::time::{Duration, SystemTime};

use k8sconnect_core::scrub::{self, quoted};
use k8sconnect_core::{time, yaml};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::child::{self, Bounds, Ended, Printed, Unended};
use crate::connection::{Exec, Identity};
use crate::error::ConnectionError;
use crate::secret::Secret;
use crate::tls;

/// What a plugin brought.
pub(crate) struct Brought {
    pub(crate) token: Option<Secret>,
    pub(crate) identity: Option<Identity>,
    pub(crate) expires: Option<SystemTime>,
}

/// What a plugin may take where a request has no deadline of its own.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
const LARGEST_OUTPUT: u64 = 1 << 20;
const LONGEST_COMPLAINT: usize = 2000;

pub(crate) const VERSIONS: [&str; 2] =
    ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

pub(crate) async fn run(plugin: &Exec, limit: Duration) -> Result<Brought, ConnectionError> {
    let failed = |why: String, advice: &str| ConnectionError::Plugin {
        command: plugin.command.clone(),
        why,
        advice: advice.to_owned(),
    };
    let bounds = Bounds { time: limit, output: LARGEST_OUTPUT };
    let ended =
        child::run(&mut command(plugin), bounds).await.map_err(|unended| match unended {
            Unended::TooLong(stderr) => {
                let said = complaint(&stderr, plugin);
                failed(format!("{}{said}", not_ended_after(limit)), WAITING_FOR_LOGIN)
            }
            Unended::Missing => {
                let hint = plugin.install_hint.as_deref();
                let usual = match plugin.command.contains(char::is_whitespace) {
                    true => "`command` is the program alone: its arguments go into `args`.",
                    false => "Install it, or write its full path into `command`.",
                };
                let advice = hint.unwrap_or(usual);
                failed("there is no such command on this machine".into(), advice)
            }
            Unended::Unrunnable(error) => {
                failed(format!("it could not be run: {error}"), "Check that it may be executed.")
            }
        })?;
    let Ended { status, stdout, stderr } = ended;
    if !status.success() {
        let why = format!("it ended with {status}{}", complaint(&stderr, plugin));
        return Err(failed(why, "Run it by hand to see what it lacks; often a login has expired."));
    }
    read(plugin, &stdout.bytes)
        .map_err(|why| failed(why, "Check that it is a credential plugin, and its version."))
}

pub(crate) const WAITING_FOR_LOGIN: &str = "Check that it does not wait for somebody to log in.";

pub(crate) fn not_ended_after(time: Duration) -> String {
    format!("it had not ended after {:.0} seconds", time.as_secs_f64())
}

fn command(plugin: &Exec) -> Command {
    let mut spec = json!({ "interactive": false });
    if let Some(cluster) = &plugin.cluster {
        spec["cluster"] = cluster.clone();
    }
    let told = json!({ "apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec });
    let mut command = child::command(&plugin.command);
    command
        .args(plugin.args.iter().map(Secret::expose))
        .envs(plugin.env.iter().map(|(name, value)| (name, value.expose())))
        .env("KUBERNETES_EXEC_INFO", told.to_string());
    command
}

/// The end of what it wrote, without any secret it was given.
fn complaint(stderr: &Printed, plugin: &Exec) -> String {
    let secrets = plugin.args.iter().chain(plugin.env.iter().map(|(_, value)| value));
    let text = scrub::without_these(&stderr.words(), secrets.map(Secret::expose));
    let skipped = text.chars().count().saturating_sub(LONGEST_COMPLAINT);
    let end = text.chars().skip(skipped).collect::<String>();
    if end.is_empty() { String::new() } else { format!(", saying: {end}") }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    status: Option<Given>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<Value>,
}

/// What it printed is not quoted, not even when it cannot be read: it may be the token.
fn read(plugin: &Exec, output: &[u8]) -> Result<Brought, String> {
    let answer = answer(output)?;
    if answer.kind != "ExecCredential" || answer.api_version != plugin.api_version {
        return Err(format!(
            "it was asked for an `ExecCredential` of `{}` and printed a {} of {}",
            plugin.api_version,
            quoted(&answer.kind),
            quoted(&answer.api_version)
        ));
    }
    let given = answer.status.ok_or("it printed no `status`")?;
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let identity = match (filled(given.client_certificate_data), filled(given.client_key_data)) {
        (Some(certificate), Some(key)) => {
            let identity = Identity { certificate, key: key.into() };
            tls::certified("clientCertificateData", "clientKeyData", &identity)
                .map_err(|error| format!("{}: {}", error.what(), error.why()))?;
            Some(identity)
        }
        (None, None) => None,
        _ => return Err("it printed half of a client certificate and its key".into()),
    };
    let token = filled(given.token).map(Secret::from);
    if token.is_none() && identity.is_none() {
        return Err("it printed neither a token nor a client certificate".into());
    }
    let expires = match given.expiration_timestamp {
        None | Some(Value::Null) => None,
        Some(stamp) => {
            let stamp = stamp.as_str().and_then(time::parse);
            Some(stamp.ok_or("its `expirationTimestamp` is not a time")?)
        }
    };
    Ok(Brought { token, identity, expires })
}

/// In JSON as a rule; kubectl takes YAML too, and the mark that some programs begin a text with.
fn answer(output: &[u8]) -> Result<Answer, String> {
    let text = output.strip_prefix("\u{feff}".as_bytes()).unwrap_or(output);
    if text.trim_ascii().is_empty() {
        return Err("it printed nothing".into());
    }
    let by_yaml = || {
        let documents = yaml::parse_stream(std::str::from_utf8(text).ok()?).ok()?;
        let [only] = documents.as_slice() else { return None };
        serde_json::from_value(only.value.clone()).ok()
    };
    let answer = serde_json::from_slice(text).ok().or_else(by_yaml);
    answer.ok_or_else(|| "what it printed is not an `ExecCredential` in JSON or YAML".into())
}

#[cfg(test)]
mod tests;
