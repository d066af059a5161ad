//! A kubeconfig as it is written.
//!
//! Fields that have no say in how to get in (namespaces, preferences) are passed over, as every
//! reader of kubeconfigs does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use k8sconnect_core::recent::Recent;
use k8sconnect_core::yaml;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{ConnectionError, KubeconfigError};
use crate::inline::from_base64;

/// `None`: there is nothing but spaces and comments in it.
pub(super) fn parse(text: &str) -> Result<Option<Kubeconfig>, KubeconfigError> {
    // The same text leads every object to its cluster.
    static RECENT: Recent<Option<Kubeconfig>> = Recent::new();
    RECENT.of(text, read).map(Arc::unwrap_or_clone)
}

fn read(text: &str) -> Result<Option<Kubeconfig>, KubeconfigError> {
    let documents =
        yaml::parse_stream(text).map_err(|error| KubeconfigError::NotYaml(error.position))?;
    let config = match documents.as_slice() {
        [] => return Ok(None),
        [only] => &only.value,
        many => return Err(KubeconfigError::SeveralDocuments(many.len())),
    };
    match config {
        Value::Null => Ok(None),
        Value::Object(_) => Ok(Some(Kubeconfig {
            current_context: Deserialize::deserialize(&config["current-context"])
                .map_err(|_| KubeconfigError::Shape { list: "current-context", entry: None })?,
            contexts: entries(config, "contexts")?,
            clusters: entries(config, "clusters")?,
            users: entries(config, "users")?,
        })),
        Value::String(text) => Err(mistaken(text)),
        _ => Err(KubeconfigError::NotAMap),
    }
}

/// What a bare text was given for.
fn mistaken(text: &str) -> KubeconfigError {
    let is_path = text.contains(std::path::is_separator) || text.ends_with(".yaml");
    match from_base64(text) {
        Some(text) if text.contains("clusters") => KubeconfigError::Base64,
        _ if is_path && !text.contains(char::is_whitespace) => KubeconfigError::Path,
        _ => KubeconfigError::NotAMap,
    }
}

fn entries<T>(config: &Value, list: &'static str) -> Result<Vec<Named<T>>, KubeconfigError>
where
    T: Default + DeserializeOwned,
{
    let entries = match &config[list] {
        // kubectl writes `null` for an empty list.
        Value::Null => return Ok(Vec::new()),
        Value::Array(entries) => entries,
        _ => return Err(KubeconfigError::Shape { list, entry: None }),
    };
    let read = |entry: &Value| {
        // serde's complaints quote the offending value, which may be a credential.
        serde_json::from_value(entry.clone()).map_err(|_| {
            let name = entry["name"].as_str().unwrap_or_default();
            KubeconfigError::Shape { list, entry: Some(name.to_owned()) }
        })
    };
    entries.iter().map(read).collect()
}

#[derive(Clone)]
pub(super) struct Kubeconfig {
    pub(super) current_context: Option<String>,
    pub(super) contexts: Vec<Named<ContextEntry>>,
    pub(super) clusters: Vec<Named<ClusterEntry>>,
    pub(super) users: Vec<Named<UserEntry>>,
}

/// Lists in a kubeconfig are maps in disguise: a name, and the value under the entry's own word; for a
/// variable of a plugin that is `value`.
#[derive(Clone, Default, Deserialize)]
#[serde(bound = "T: Default + Deserialize<'de>")]
pub(super) struct Named<T> {
    pub(super) name: String,
    #[serde(alias = "context", alias = "cluster", alias = "user", alias = "extension")]
    #[serde(default, deserialize_with = "nullable")]
    pub(super) value: T,
    /// Where it is, if that is a file: relative paths start from its folder.
    #[serde(skip)]
    pub(super) file: Option<PathBuf>,
}

impl<T> Named<T> {
    /// What is wrong with this entry.
    pub(super) fn blamed(&self, what: &'static str, error: ConnectionError) -> ConnectionError {
        let name = self.name.clone();
        let file = self.file.as_ref().map(|file| file.display().to_string());
        ConnectionError::Entry { what, name, file, error: Box::new(error) }
    }
}

/// The text of a field that is there and not empty.
pub(super) fn filled(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContextEntry {
    pub(super) cluster: String,
    pub(super) user: Option<String>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct ClusterEntry {
    pub(super) server: Option<String>,
    pub(super) certificate_authority: Option<String>,
    pub(super) certificate_authority_data: Option<String>,
    pub(super) tls_server_name: Option<String>,
    pub(super) insecure_skip_tls_verify: bool,
    pub(super) proxy_url: Option<String>,
    pub(super) extensions: Option<Vec<Named<Value>>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct UserEntry {
    pub(super) client_certificate: Option<String>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key: Option<String>,
    pub(super) client_key_data: Option<String>,
    pub(super) token: Option<String>,
    #[serde(rename = "tokenFile")]
    pub(super) token_file: Option<String>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) auth_provider: Option<Named<Value>>,
    pub(super) exec: Option<ExecEntry>,
    #[serde(rename = "as")]
    pub(super) as_user: Option<String>,
    pub(super) as_uid: Option<String>,
    pub(super) as_groups: Option<Vec<String>>,
    pub(super) as_user_extra: Option<BTreeMap<String, Vec<String>>>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExecEntry {
    #[serde(default)]
    pub(super) api_version: String,
    #[serde(default)]
    pub(super) command: String,
    pub(super) args: Option<Vec<String>>,
    pub(super) env: Option<Vec<Named<String>>>,
    pub(super) install_hint: Option<String>,
    pub(super) interactive_mode: Option<String>,
    #[serde(default)]
    pub(super) provide_cluster_info: bool,
}

fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
