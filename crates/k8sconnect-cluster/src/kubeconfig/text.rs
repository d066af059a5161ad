//! A kubeconfig as it is written.
//!
//! Fields that have no say in how to get in (namespaces, preferences) are passed over, as every
//! reader of kubeconfigs does.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use k8sconnect_core::recent::Recent;
use k8sconnect_core::{scrub, yaml};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Base;
use crate::error::ConnectionError;

pub(super) fn parse(text: &str) -> Result<Kubeconfig, ConnectionError> {
    // The same text leads every object to its cluster.
    static RECENT: Recent<Kubeconfig> = Recent::new();
    RECENT.of(text, read).map(Arc::unwrap_or_clone)
}

fn read(text: &str) -> Result<Kubeconfig, ConnectionError> {
    let refused = |why: String| ConnectionError::BadKubeconfig { file: None, why };
    let documents = yaml::parse_stream(text)
        .map_err(|error| refused(format!("it is not YAML at {}", error.position)))?;
    let value = match documents.as_slice() {
        [only] => only.value.clone(),
        [] => return Ok(Kubeconfig { is_empty: true, ..Kubeconfig::default() }),
        many => {
            return Err(refused(format!("it holds {} documents, not one", many.len())));
        }
    };
    if value.is_null() {
        return Ok(Kubeconfig { is_empty: true, ..Kubeconfig::default() });
    }
    if !value.is_object() {
        return Err(match value.as_str().and_then(mistaken) {
            Some(error) => error,
            None => refused("it is not a map with `clusters`, `users` and `contexts`".into()),
        });
    }
    // serde's complaints quote the offending value, which may be a credential.
    serde_json::from_value(value.clone()).map_err(|_| {
        let which = misshapen(&value).unwrap_or_else(|| "an entry in it".into());
        refused(format!("{which} has another shape than a kubeconfig's"))
    })
}

/// What a bare text was given for.
fn mistaken(text: &str) -> Option<ConnectionError> {
    let packed: String = text.split_ascii_whitespace().collect();
    let unpacked = BASE64.decode(packed).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    if unpacked.is_some_and(|text| text.contains("clusters")) {
        return Some(ConnectionError::Packed { file: None });
    }
    let is_path = text.contains(std::path::is_separator) || text.ends_with(".yaml");
    (is_path && !text.contains(char::is_whitespace)).then_some(ConnectionError::PathForText)
}

/// The entry that cannot be read, by its list and its name.
fn misshapen(config: &Value) -> Option<String> {
    fn first<T>(config: &Value, list: &str) -> Option<String>
    where
        T: Default + DeserializeOwned,
    {
        let entries = match &config[list] {
            Value::Null => return None,
            Value::Array(entries) => entries,
            _ => return Some(format!("`{list}`")),
        };
        let reads = |entry: &Value| serde_json::from_value::<Named<T>>(entry.clone()).is_ok();
        let entry = entries.iter().find(|entry| !reads(entry))?;
        Some(match entry["name"].as_str() {
            Some(name) => format!("the entry {} in `{list}`", scrub::quoted(name)),
            None => format!("an entry without a name in `{list}`"),
        })
    }
    first::<ContextEntry>(config, "contexts")
        .or_else(|| first::<ClusterEntry>(config, "clusters"))
        .or_else(|| first::<UserEntry>(config, "users"))
}

/// kubectl writes `null` for an empty list, and people for an empty entry.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Kubeconfig {
    /// There is nothing but spaces and comments.
    #[serde(skip)]
    pub(super) is_empty: bool,
    pub(super) current_context: Option<String>,
    #[serde(default, deserialize_with = "nullable")]
    pub(super) contexts: Vec<Named<ContextEntry>>,
    #[serde(default, deserialize_with = "nullable")]
    pub(super) clusters: Vec<Named<ClusterEntry>>,
    #[serde(default, deserialize_with = "nullable")]
    pub(super) users: Vec<Named<UserEntry>>,
}

impl Kubeconfig {
    /// A text without anything in it is none, where there is no other beside it.
    pub(super) fn filled(self) -> Result<Self, ConnectionError> {
        if self.is_empty {
            let why = "it is empty".into();
            return Err(ConnectionError::BadKubeconfig { file: None, why });
        }
        Ok(self)
    }
}

/// Lists in a kubeconfig are maps in disguise: a name, and the value under the entry's own word.
#[derive(Clone, Default, Deserialize)]
#[serde(bound = "T: Default + Deserialize<'de>")]
pub(super) struct Named<T> {
    pub(super) name: String,
    #[serde(alias = "context", alias = "cluster", alias = "user", alias = "extension")]
    #[serde(default, deserialize_with = "nullable")]
    pub(super) value: T,
    /// Where it stands, if that is a file.
    #[serde(skip)]
    pub(super) file: Option<PathBuf>,
    /// The folder of that file, from which relative paths start.
    #[serde(skip)]
    pub(super) folder: Option<PathBuf>,
}

impl<T> Named<T> {
    pub(super) fn base(&self) -> Base<'_> {
        self.folder.as_deref().map_or(Base::None, Base::Folder)
    }

    /// What is wrong with this entry.
    pub(super) fn blamed(&self, what: &'static str, error: ConnectionError) -> ConnectionError {
        let name = self.name.clone();
        let file = self.file.as_ref().map(|file| file.display().to_string());
        ConnectionError::Entry { what, name, file, error: Box::new(error) }
    }
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
    pub(super) auth_provider: Option<AuthProvider>,
    pub(super) exec: Option<ExecEntry>,
    #[serde(rename = "as")]
    pub(super) as_user: Option<String>,
    pub(super) as_uid: Option<String>,
    pub(super) as_groups: Option<Vec<String>>,
    pub(super) as_user_extra: Option<BTreeMap<String, Vec<String>>>,
}

#[derive(Clone, Deserialize)]
pub(super) struct AuthProvider {
    pub(super) name: String,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExecEntry {
    #[serde(default)]
    pub(super) api_version: String,
    #[serde(default)]
    pub(super) command: String,
    pub(super) args: Option<Vec<String>>,
    pub(super) env: Option<Vec<EnvEntry>>,
    pub(super) install_hint: Option<String>,
    pub(super) interactive_mode: Option<String>,
    #[serde(default)]
    pub(super) provide_cluster_info: bool,
}

#[derive(Clone, Deserialize)]
pub(super) struct EnvEntry {
    pub(super) name: String,
    pub(super) value: String,
}

fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
