//! Where things are in the server's URL space.
//!
//! A name is whatever the user wrote; it is encoded, never trusted, and a name that would make
//! the address mean something else (an empty one turns an object into its whole collection, and the
//! server takes an encoded slash for a slash, which leads to a subresource) has no address at all.

use k8sconnect_core::identity::{Gvk, ObjectKey, is_name};
use k8sconnect_core::text::percent_encoded;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A kind as the server serves it; small enough to be stored with the object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kind {
    pub gvk: Gvk,
    pub plural: String,
    pub scope: Scope,
}

impl Kind {
    /// A kind that every API server serves, which need not be looked up.
    pub(crate) fn built_in(api_version: &str, kind: &str, plural: &str, scope: Scope) -> Self {
        Self { gvk: Gvk::new(api_version, kind), plural: plural.to_owned(), scope }
    }

    /// The name of the CRD that a custom kind has.
    pub fn definition_name(&self) -> String {
        format!("{}.{}", self.plural, self.gvk.group)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    Namespaced,
    Cluster,
}

/// `/api/v1` or `/apis/apps/v1`.
pub(crate) fn group_version_path(gvk: &Gvk) -> String {
    let version = segment(&gvk.version);
    match gvk.group.as_str() {
        "" => format!("/api/{version}"),
        group => format!("/apis/{}/{version}", segment(group)),
    }
}

/// One object's place. Namespaced without a namespace means `default`; a cluster-scoped kind
/// ignores the namespace, as kubectl does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    pub kind: Kind,
    pub namespace: Option<String>,
    pub name: String,
}

impl Location {
    /// What is there, by the name that the server knows.
    pub fn key(&self) -> ObjectKey {
        let Self { kind, namespace, name } = self.clone();
        ObjectKey { gvk: kind.gvk, namespace, name }
    }

    /// `/apis/apps/v1/namespaces/shop/deployments/web`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.collection_path(), segment(&self.name))
    }

    /// The path, unless the names in it would lead elsewhere.
    pub(crate) fn address(&self) -> Result<String, Error> {
        for part in [Some(&self.name), self.namespace.as_ref()].into_iter().flatten() {
            if !is_name(part) {
                return Err(Error::BadName { name: part.clone() });
            }
        }
        Ok(self.path())
    }

    pub(crate) fn collection_path(&self) -> String {
        let namespace = self.namespace.as_deref().unwrap_or("default");
        Within::Namespace(namespace).collection_path(&self.kind)
    }
}

/// How far a list reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within<'a> {
    Everywhere,
    Namespace(&'a str),
}

impl Within<'_> {
    pub(crate) fn collection_path(self, kind: &Kind) -> String {
        let root = group_version_path(&kind.gvk);
        let plural = segment(&kind.plural);
        match (self, kind.scope) {
            (Self::Namespace(namespace), Scope::Namespaced) => {
                format!("{root}/namespaces/{}/{plural}", segment(namespace))
            }
            _ => format!("{root}/{plural}"),
        }
    }
}

/// Text as one segment of a path or one value of a query: all but the unreserved characters is
/// encoded. The colon stays, which RBAC names are full of, and which is plain in both places.
pub(crate) fn segment(text: &str) -> String {
    percent_encoded(text, ":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_group_lives_under_api() {
        assert_eq!(group_version_path(&Gvk::new("v1", "Pod")), "/api/v1");
        assert_eq!(group_version_path(&Gvk::new("apps/v1", "Deployment")), "/apis/apps/v1");
    }

    fn at(api_version: &str, plural: &str, scope: Scope, name: &str) -> Location {
        let kind = Kind { gvk: Gvk::new(api_version, "Any"), plural: plural.into(), scope };
        Location { kind, namespace: None, name: name.into() }
    }

    #[test]
    fn a_namespaced_object_without_a_namespace_is_in_default() {
        let mut it = at("apps/v1", "deployments", Scope::Namespaced, "web");
        assert_eq!(it.path(), "/apis/apps/v1/namespaces/default/deployments/web");
        it.namespace = Some("shop".into());
        assert_eq!(it.path(), "/apis/apps/v1/namespaces/shop/deployments/web");
    }

    #[test]
    fn a_cluster_scoped_object_ignores_the_namespace() {
        let mut it = at("v1", "namespaces", Scope::Cluster, "shop");
        it.namespace = Some("other".into());
        assert_eq!(it.path(), "/api/v1/namespaces/shop");
    }

    #[test]
    fn a_name_cannot_leave_its_segment() {
        let it = at("v1", "configmaps", Scope::Namespaced, "a/../b?x=1#é%");
        let tail = "configmaps/a%2F..%2Fb%3Fx%3D1%23%C3%A9%25";
        assert_eq!(it.path(), format!("/api/v1/namespaces/default/{tail}"));
        let it = at("rbac.authorization.k8s.io/v1", "clusterroles", Scope::Cluster, "system:node");
        assert!(it.path().ends_with("/clusterroles/system:node"));
    }

    #[test]
    fn a_name_that_would_mean_the_collection_or_a_subresource_has_no_address() {
        for name in ["", ".", "..", "web/scale", "web%2Fscale"] {
            let it = at("v1", "configmaps", Scope::Namespaced, name);
            assert!(matches!(it.address(), Err(Error::BadName { .. })), "{name:?}");
        }
    }
}
