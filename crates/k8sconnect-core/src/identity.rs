//! Which object is meant: group, version, kind, namespace, name.
//!
//! Not here: how a kind is spelt in a URL, and whether it lives in a namespace. Only the API
//! server knows that; see `kinds` in the cluster crate.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::field::{FieldPath, FieldSet, PathElement};
pub use crate::reserved::{RESERVED_PREFIX, is_reserved};

/// The annotation that marks an object as ours, with the id under which state knows it. It is in
/// every apply and in no projection.
pub const ID_ANNOTATION: &str = "k8sconnect.terraform.io/terraform-id";

/// A mark that the Go provider of this name left beside it, under the field manager that is ours
/// now. Nobody wrote it in a body, so it is no field of ours; the next write drops it.
pub const BIRTH_ANNOTATION: &str = "k8sconnect.terraform.io/created-at";

/// The annotation in which a patch keeps, on the object itself, from whom it took what.
pub fn patch_annotation(id: &str) -> String {
    format!("{RESERVED_PREFIX}patch-{id}")
}

/// The patch that an annotation is the note of.
pub fn patch_of(annotation: &str) -> Option<&str> {
    annotation.strip_prefix(RESERVED_PREFIX)?.strip_prefix("patch-")
}

/// The paths of the reserved annotations and labels in an object, or in a part of one.
pub fn reserved(object: &Value) -> Vec<[&str; 3]> {
    let keys = |map: &'static str| {
        let keys = object["metadata"][map].as_object().into_iter().flat_map(|map| map.keys());
        keys.filter(|key| is_reserved(key)).map(move |key| ["metadata", map, key.as_str()])
    };
    keys("annotations").chain(keys("labels")).collect()
}

/// Whether this is a mark of ours on the object, which nobody writes into a body.
pub fn is_marking(path: &FieldPath) -> bool {
    match path.elements() {
        [metadata, annotations, PathElement::Field(name)] => {
            *metadata == PathElement::field("metadata")
                && *annotations == PathElement::field("annotations")
                && is_reserved(name)
        }
        _ => false,
    }
}

/// A set of fields without our annotations.
pub fn without_marks(mut fields: FieldSet) -> FieldSet {
    let annotations = FieldPath::fields(["metadata", "annotations"]);
    let marks: Vec<_> = fields
        .below(&annotations)
        .into_iter()
        .flat_map(FieldSet::children)
        .filter_map(|(element, _)| match element {
            PathElement::Field(name) if is_reserved(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    for mark in marks {
        fields.remove_tree(&FieldPath::fields(["metadata", "annotations", &mark]));
    }
    fields
}

/// Whether an object can bear this name, as far as that is the same for every kind: the name is one
/// step of an address, and must not become two.
pub fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '%'])
}

/// Groups whose kinds all have names as hosts have them. Others have kinds of their own mind: a role
/// may be called anything.
const NAMED_AS_HOSTS: [&str; 6] = ["", "apps", "autoscaling", "batch", "policy", "storage.k8s.io"];

/// Whether an object of this kind can bear a name, as far as that is known without the server.
pub fn is_name_of(gvk: &Gvk, name: &str) -> bool {
    let is_of_host = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    is_name(name) && (!NAMED_AS_HOSTS.contains(&gvk.group.as_str()) || name.chars().all(is_of_host))
}

/// Whether a namespace can bear this name, a DNS label: the server refuses to make one of another
/// name, so that waiting for it would be in vain.
pub fn is_namespace(name: &str) -> bool {
    is_label(name)
}

/// Whether a kind can be called so: a DNS label, save that its letters may be large.
pub fn is_kind(kind: &str) -> bool {
    is_label(&kind.to_ascii_lowercase()) && !kind.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether this can be a group and a version, or a version alone.
pub fn is_api_version(text: &str) -> bool {
    let (group, version) = match text.split_once('/') {
        Some((group, version)) => (Some(group), version),
        None => (None, text),
    };
    let is_group = |group: &str| group.len() <= 253 && group.split('.').all(is_label);
    is_label(version) && group.is_none_or(is_group)
}

fn is_label(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=63).contains(&text.len())
        && text.chars().all(inside)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Kubernetes' own groups, as far as their names have dots; those without are all its own.
const BUILT_IN: [&str; 18] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// A kind, in one version of its group. The core group is the empty string.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gvk {
    pub group: String,
    pub version: String,
    pub kind: String,
}

impl Gvk {
    pub fn new(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }

    /// The kind of the definitions of custom kinds.
    pub fn definition() -> Self {
        Self::new("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    }

    /// `apps/v1`, or `v1` for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether the kind is the one that is made to hold secrets.
    pub fn is_secret(&self) -> bool {
        self.group.is_empty() && self.kind == "Secret"
    }

    /// Kubernetes' own groups cannot gain kinds while the server runs. Any other group, those of
    /// its neighbours (`gateway.networking.k8s.io`) included, is served as soon as its CRD is there.
    pub fn may_still_appear(&self) -> bool {
        self.group.contains('.') && !BUILT_IN.contains(&self.group.as_str())
    }
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.kind, self.api_version())
    }
}

/// One object of a cluster, as its author names it. `namespace` is `None` where none was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    pub gvk: Gvk,
    pub namespace: Option<String>,
    pub name: String,
}

/// A part of the identity that differs: the field, the old value and the new one.
pub type IdentityChange = (&'static str, String, String);

/// What a namespace means where none is written.
pub const DEFAULT_NAMESPACE: &str = "default";

impl ObjectKey {
    /// How another key differs. A namespace left out is `default`; on a kind that lives in none
    /// it says nothing, whatever was written.
    pub fn changes_to(&self, new: &ObjectKey, lives_in: LivesIn) -> Vec<IdentityChange> {
        let namespace = |key: &ObjectKey| match lives_in {
            LivesIn::Cluster => String::new(),
            LivesIn::Namespace => {
                key.namespace.clone().unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned())
            }
        };
        [
            ("apiVersion", self.gvk.api_version(), new.gvk.api_version()),
            ("kind", self.gvk.kind.clone(), new.gvk.kind.clone()),
            ("metadata.namespace", namespace(self), namespace(new)),
            ("metadata.name", self.name.clone(), new.name.clone()),
        ]
        .into_iter()
        .filter(|(_, old, new)| old != new)
        .collect()
    }

    /// Whether there can be only one of the two: a version is a way to look at an object, and no
    /// part of its name.
    pub fn is_namesake(&self, other: &ObjectKey, lives_in: LivesIn) -> bool {
        self.unversioned().changes_to(&other.unversioned(), lives_in).is_empty()
    }

    /// The same key in whatever version.
    #[must_use]
    pub fn unversioned(&self) -> ObjectKey {
        let gvk = Gvk { version: String::new(), ..self.gvk.clone() };
        ObjectKey { gvk, ..self.clone() }
    }
}

/// Where the objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LivesIn {
    Namespace,
    Cluster,
}

impl fmt::Display for ObjectKey {
    /// ``Deployment `shop/web` ``, the way every message names an object.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} `{namespace}/{}`", self.gvk.kind, self.name),
            None => write!(f, "{} `{}`", self.gvk.kind, self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_group_has_no_slash() {
        let gvk = Gvk::new("v1", "ConfigMap");
        assert_eq!((gvk.group.as_str(), gvk.version.as_str()), ("", "v1"));
        assert_eq!(gvk.api_version(), "v1");
        assert_eq!(Gvk::new("apps/v1", "Deployment").api_version(), "apps/v1");
    }

    #[test]
    fn a_neighbour_of_kubernetes_may_still_appear() {
        let may = |group: &str| Gvk::new(&format!("{group}/v1"), "X").may_still_appear();
        assert!(
            may("gateway.networking.k8s.io") && may("autoscaling.k8s.io") && may("example.com")
        );
        assert!(!may("networking.k8s.io") && !may("apps"));
    }

    fn key(kind: &str, namespace: Option<&str>, name: &str) -> ObjectKey {
        let namespace = namespace.map(ToOwned::to_owned);
        ObjectKey { gvk: Gvk::new("v1", kind), namespace, name: name.into() }
    }

    #[test]
    fn a_namespace_left_out_is_default() {
        let (without, with) = (key("Pod", None, "a"), key("Pod", Some("default"), "a"));
        assert_eq!(without.changes_to(&with, LivesIn::Namespace), []);
        let other = key("Pod", Some("shop"), "a");
        assert_eq!(
            without.changes_to(&other, LivesIn::Namespace),
            [("metadata.namespace", "default".to_owned(), "shop".to_owned())]
        );
    }

    #[test]
    fn a_namespace_on_a_cluster_scoped_kind_says_nothing() {
        let (without, with) = (key("Node", None, "a"), key("Node", Some("shop"), "a"));
        assert_eq!(without.changes_to(&with, LivesIn::Cluster), []);
    }

    #[test]
    fn every_part_that_differs_is_told() {
        let (old, new) = (key("Pod", None, "a"), key("ConfigMap", None, "b"));
        let fields: Vec<_> =
            old.changes_to(&new, LivesIn::Namespace).iter().map(|change| change.0).collect();
        assert_eq!(fields, ["kind", "metadata.name"]);
    }

    #[test]
    fn what_no_server_would_name_an_object_of_the_kind_is_known() {
        let (map, role) = (Gvk::new("v1", "ConfigMap"), "rbac.authorization.k8s.io/v1");
        assert!(is_name_of(&map, "a-b.c1") && !is_name_of(&map, "CM ?x=1"));
        assert!(is_name_of(&Gvk::new(role, "Role"), "system:a b") && !is_name_of(&map, ""));
    }
}
