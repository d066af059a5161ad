//! What has become of a custom kind that is not served where it was.
//!
//! Only the definition can tell: it may be gone, and its objects with it; it may be another one than
//! before; or it may serve the same objects in another version.

use k8sconnect_core::identity::Gvk;
use serde_json::Value;

use crate::address::{Kind, Location, Scope};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::kinds::Served;
use crate::objects::Found;

/// Where the objects of a kind are, as far as its definition tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// The definition is gone, or is a new one whose objects live elsewhere: a scope never changes.
    /// Either way the objects went with the old one.
    Gone,
    /// The objects are served in this version now.
    Moved(Kind),
    /// It cannot be told.
    Unclear,
}

impl Cluster {
    /// Asks for the definition of a kind whose path nobody serves.
    pub async fn definition(&self, kind: &Kind) -> Result<Definition, Error> {
        if !kind.gvk.may_still_appear() {
            return Ok(Definition::Unclear);
        }
        let definitions = Gvk::definition();
        let Served::Yes(definitions) = self.kind(&definitions).await? else {
            return Ok(Definition::Unclear);
        };
        let at = Location { kind: definitions, namespace: None, name: kind.definition_name() };
        Ok(match self.get(&at).await? {
            Found::Object(answer) => judge(kind, &answer.object),
            Found::Absent(_) => Definition::Gone,
            Found::NotServed(_) => Definition::Unclear,
        })
    }
}

fn judge(kind: &Kind, definition: &Value) -> Definition {
    let spec = &definition["spec"];
    let scope = match spec["scope"].as_str() {
        Some("Namespaced") => Scope::Namespaced,
        Some("Cluster") => Scope::Cluster,
        _ => return Definition::Unclear,
    };
    if scope != kind.scope {
        return Definition::Gone;
    }
    let versions = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let served: Vec<_> = versions.iter().filter(|version| version["served"] == true).collect();
    let name = |version: &Value| version["name"].as_str().unwrap_or_default().to_owned();
    if served.iter().any(|version| name(version) == kind.gvk.version) {
        // It should be served, and is not at the moment.
        return Definition::Unclear;
    }
    let stored = served.iter().find(|version| version["storage"] == true);
    match stored.or(served.first()) {
        Some(version) if spec["names"]["kind"] == *kind.gvk.kind => {
            let gvk = Gvk { version: name(version), ..kind.gvk.clone() };
            Definition::Moved(Kind { gvk, ..kind.clone() })
        }
        _ => Definition::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(scope: &str, versions: Value) -> Definition {
        let gvk = Gvk::new("example.com/v1alpha1", "Widget");
        let kind = Kind { gvk, plural: "widgets".into(), scope: Scope::Namespaced };
        let names = json!({"kind": "Widget"});
        judge(&kind, &json!({"spec": {"scope": scope, "names": names, "versions": versions}}))
    }

    #[test]
    fn another_scope_is_another_definition() {
        let versions = json!([{"name": "v1alpha1", "served": true, "storage": true}]);
        assert_eq!(judged("Cluster", versions.clone()), Definition::Gone);
        assert_eq!(judged("Namespaced", versions), Definition::Unclear);
    }

    #[test]
    fn the_stored_one_of_the_versions_that_are_left_serves_the_objects() {
        let versions = json!([
            {"name": "v1alpha1", "served": false, "storage": false},
            {"name": "v1beta1", "served": true, "storage": false},
            {"name": "v1", "served": true, "storage": true},
        ]);
        let Definition::Moved(kind) = judged("Namespaced", versions) else {
            panic!("it is served")
        };
        assert_eq!(kind.gvk, Gvk::new("example.com/v1", "Widget"));
        let none = json!([{"name": "v1alpha1", "served": false, "storage": true}]);
        assert_eq!(judged("Namespaced", none), Definition::Unclear);
    }
}
