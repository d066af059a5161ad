//! The schema of a custom kind, for whoever has to know the rules that the server judges by. It is
//! not kept: nobody asks for it but on rare paths.

use k8sconnect_core::identity::Gvk;
use serde_json::Value;

use crate::address::{Kind, Location, Scope, group_version_path};
use crate::call::Call;
use crate::cluster::Cluster;
use crate::error::Error;

/// A published document has the schemas of all kinds of a group version.
const LARGEST_DOCUMENT: usize = 64 << 20;

impl Cluster {
    /// The schema by its definition or, for those who may not read that, as it is published, which
    /// is a little later. `None` if neither has it.
    pub async fn schema(&self, kind: &Kind) -> Result<Option<Value>, Error> {
        let (gvk, plural) = (Gvk::definition(), "customresourcedefinitions".into());
        let definitions = Kind { gvk, plural, scope: Scope::Cluster };
        let at = Location { kind: definitions, namespace: None, name: kind.definition_name() };
        let defined = self.document(at.address()?).await?;
        if let Some(schema) = defined.as_ref().and_then(|it| defined_in(it, &kind.gvk)) {
            return Ok(Some(schema.clone()));
        }
        let path = format!("/openapi/v3{}", group_version_path(&kind.gvk));
        let published = self.document(path).await?;
        Ok(published.as_ref().and_then(|it| published_in(it, &kind.gvk)).cloned())
    }

    async fn document(&self, path: String) -> Result<Option<Value>, Error> {
        let call = Call { largest: LARGEST_DOCUMENT, ..Call::get(path) };
        let reply = self.send(&call).await?;
        if reply.is_success() { Ok(Some(self.decode(&call, &reply)?)) } else { Ok(None) }
    }
}

fn defined_in<'a>(definition: &'a Value, gvk: &Gvk) -> Option<&'a Value> {
    let versions = definition["spec"]["versions"].as_array()?;
    let version = versions.iter().find(|version| version["name"] == gvk.version)?;
    version["schema"].get("openAPIV3Schema")
}

fn published_in<'a>(document: &'a Value, gvk: &Gvk) -> Option<&'a Value> {
    let is_it = |schema: &&Value| {
        let named = schema["x-kubernetes-group-version-kind"].as_array();
        named.into_iter().flatten().any(|it| {
            it["group"] == gvk.group && it["version"] == gvk.version && it["kind"] == gvk.kind
        })
    };
    document["components"]["schemas"].as_object()?.values().find(is_it)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_found_by_its_version_wherever_it_stands() {
        let gvk = Gvk::new("ex.io/v2", "Thing");
        let version = |name: &str| json!({"name": name, "schema": {"openAPIV3Schema": name}});
        let definition = json!({"spec": {"versions": [version("v1"), version("v2")]}});
        assert_eq!(defined_in(&definition, &gvk), Some(&json!("v2")));
        let named = |group: &str| {
            json!({"x-kubernetes-group-version-kind":
                [{"group": group, "version": "v2", "kind": "Thing"}]})
        };
        let schemas = json!({"a": named("else.io"), "b": {}, "c": named("ex.io")});
        let document = json!({"components": {"schemas": schemas}});
        assert_eq!(published_in(&document, &gvk), Some(&named("ex.io")));
        assert_eq!(published_in(&json!({}), &gvk), None);
    }
}
