//! Credential plugins: a command that prints a token, a client certificate, or both.
//!
//! The contract is `client.authentication.k8s.io`: the request goes in by an environment
//! variable, the answer comes out on stdout. There is no terminal, so the plugin is told so and gets
//! no stdin. It has bounded time and bounded output. Its stdout, its arguments and its environment are
//! never part of an error, not even when they cannot be read: they may hold the token. Of its stderr
//! the end is, without what looks like a credential: it explains a failed login best.

use std::time::{Duration, SystemTime};

use http::HeaderValue;
use k8sconnect_core::{scrub, time, yaml};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::child::{self, Bounds, Printed, Unended};
use crate::connection::{ClientCertificate, Exec};
use crate::error::PluginError;
use crate::secret::Secret;
use crate::tls;

pub(crate) struct PluginCredential {
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) identity: Option<ClientCertificate>,
    pub(crate) expires: Option<SystemTime>,
}

/// What a plugin may take where a request has no deadline of its own.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
const LARGEST_OUTPUT: u64 = 1 << 20;
const LONGEST_STDERR: usize = 2000;

pub(crate) const VERSIONS: [&str; 2] =
    ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

pub(crate) async fn run(plugin: &Exec, limit: Duration) -> Result<PluginCredential, PluginError> {
    let bounds = Bounds { time: limit, output: LARGEST_OUTPUT };
    let ended =
        child::run(&mut command(plugin), bounds).await.map_err(|unended| match unended {
            Unended::TooLong(stderr) => {
                PluginError::TimedOut { after: limit, stderr: shown(&stderr, plugin) }
            }
            Unended::Missing => PluginError::NotFound { hint: plugin.install_hint.clone() },
            Unended::Unrunnable(error) => PluginError::Unrunnable(error.to_string()),
        })?;
    match ended.status.success() {
        true => read(plugin, &ended.stdout.bytes),
        false => {
            Err(PluginError::Failed { status: ended.status, stderr: shown(&ended.stderr, plugin) })
        }
    }
}

fn command(plugin: &Exec) -> Command {
    let mut spec = json!({ "interactive": false });
    if let Some(cluster) = &plugin.cluster {
        spec["cluster"] = cluster.clone();
    }
    let info = json!({ "apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec });
    let mut command = child::command(&plugin.command);
    command
        .args(plugin.args.iter().map(Secret::expose))
        .envs(plugin.env.iter().map(|(name, value)| (name, value.expose())))
        .env("KUBERNETES_EXEC_INFO", info.to_string());
    command
}

/// The end of what it wrote, without any secret it was given.
fn shown(stderr: &Printed, plugin: &Exec) -> String {
    let secrets = plugin.args.iter().chain(plugin.env.iter().map(|(_, value)| value));
    let text = scrub::without_these(&stderr.words(), secrets.map(Secret::expose));
    let skipped = text.chars().count().saturating_sub(LONGEST_STDERR);
    text.chars().skip(skipped).collect()
}

fn read(plugin: &Exec, output: &[u8]) -> Result<PluginCredential, PluginError> {
    let is_asked_for =
        |it: &Value| it["kind"] == "ExecCredential" && it["apiVersion"] == *plugin.api_version;
    let printed = parse(output).filter(is_asked_for).ok_or_else(|| {
        PluginError::NotExecCredential { api_version: plugin.api_version.clone() }
    })?;
    let status = &printed["status"];
    let filled = |name: &str| status[name].as_str().filter(|text| !text.is_empty());
    let unusable = |error| PluginError::Value(Box::new(error));
    let identity = match (filled("clientCertificateData"), filled("clientKeyData")) {
        (Some(certificate), Some(key)) => {
            let pair = ClientCertificate { certificate: certificate.to_owned(), key: key.into() };
            tls::certified(["clientCertificateData", "clientKeyData"], &pair).map_err(unusable)?;
            Some(pair)
        }
        (None, None) => None,
        _ => return Err(PluginError::NoCredential),
    };
    let token = filled("token").map(|token| Secret::from(token).header("Bearer"));
    let authorization = token.transpose().map_err(|problem| unusable(problem.of("token")))?;
    if authorization.is_none() && identity.is_none() {
        return Err(PluginError::NoCredential);
    }
    let expires = match &status["expirationTimestamp"] {
        Value::Null => None,
        stamp => Some(stamp.as_str().and_then(time::parse).ok_or(PluginError::Expiration)?),
    };
    Ok(PluginCredential { authorization, identity, expires })
}

/// In JSON as a rule; kubectl takes YAML too, and the mark that some programs begin a text with.
fn parse(output: &[u8]) -> Option<Value> {
    let text = output.strip_prefix("\u{feff}".as_bytes()).unwrap_or(output);
    serde_json::from_slice(text).ok().or_else(|| {
        let documents = yaml::parse_stream(std::str::from_utf8(text).ok()?).ok()?;
        let [only] = documents.as_slice() else { return None };
        Some(only.value.clone())
    })
}

#[cfg(test)]
mod tests;
