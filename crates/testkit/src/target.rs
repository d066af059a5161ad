//! Which object is meant, and the manifests that tests write.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::client::{Client, Scope, group_version_path};

/// One object by its names. A namespaced kind without a namespace is in `default`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub api_version: String,
    pub kind: String,
    pub namespace: Option<String>,
    pub name: String,
}

impl Target {
    pub fn new<'a>(
        api_version: &str,
        kind: &str,
        namespace: impl Into<Option<&'a str>>,
        name: &str,
    ) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.into().map(str::to_owned),
            name: name.to_owned(),
        }
    }

    /// The object that a manifest, or an answer of the server, speaks of.
    pub fn of(object: &Value) -> Result<Self> {
        let text = |value: &Value, field: &str| {
            value
                .as_str()
                .map(str::to_owned)
                .with_context(|| format!("the manifest has no `{field}`"))
        };
        let metadata = &object["metadata"];
        Ok(Self {
            api_version: text(&object["apiVersion"], "apiVersion")?,
            kind: text(&object["kind"], "kind")?,
            namespace: metadata["namespace"].as_str().map(str::to_owned),
            name: text(&metadata["name"], "metadata.name")?,
        })
    }

    /// The path of the collection, and that of the object.
    pub(crate) async fn paths(&self, client: &Client) -> Result<(String, String)> {
        let resource = client.resource(&self.api_version, &self.kind).await?;
        let root = group_version_path(&self.api_version);
        let collection = match resource.scope {
            Scope::Cluster => format!("{root}/{}", resource.plural),
            Scope::Namespaced => {
                let namespace = self.namespace.as_deref().unwrap_or("default");
                format!("{root}/namespaces/{namespace}/{}", resource.plural)
            }
        };
        let object = format!("{collection}/{}", self.name);
        Ok((collection, object))
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, namespace, name, .. } = self;
        match namespace {
            Some(namespace) => write!(f, "{kind} `{namespace}/{name}`"),
            None => write!(f, "{kind} `{name}`"),
        }
    }
}

/// What tests may write an object as: a JSON value, or YAML text of one document.
pub trait Manifest {
    fn object(self) -> Result<Value>;
}

impl Manifest for Value {
    fn object(self) -> Result<Value> {
        Ok(self)
    }
}

impl Manifest for &Value {
    fn object(self) -> Result<Value> {
        Ok(self.clone())
    }
}

impl Manifest for &str {
    fn object(self) -> Result<Value> {
        let mut documents = k8sconnect_core::yaml::parse_stream(self)
            .map_err(|error| anyhow::anyhow!("the manifest is not YAML: {error:?}"))?;
        match (documents.pop(), documents.len()) {
            (Some(document), 0) => Ok(document.value),
            (_, others) => bail!("one document is needed, not {}", others + 1),
        }
    }
}

impl Manifest for String {
    fn object(self) -> Result<Value> {
        self.as_str().object()
    }
}
