//! How one block names the object of another one: group, version, kind, namespace and name.

use k8sconnect_cluster::{Location, Scope};
use k8sconnect_core::identity::{Gvk, ObjectKey};
use k8sconnect_core::text::nfc;
use tfplugin::{Value, model};

model! {
    /// The object's name, as the user writes it or for other resources to refer to.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ObjectRef {
        /// Group and version, e.g. `apps/v1`.
        pub(crate) api_version: Value<String> => required,
        /// Kind, e.g. `Deployment`.
        pub(crate) kind: Value<String> => required,
        /// Name.
        pub(crate) name: Value<String> => required,
        /// Namespace; `default` if not set, ignored for a cluster-scoped kind.
        pub(crate) namespace: Value<String> => optional,
    }
}

impl ObjectRef {
    /// Names the object at this place.
    pub(crate) fn to(location: &Location) -> Self {
        let namespace = match location.kind.scope {
            Scope::Namespaced => location.namespace.as_deref().or(Some("default")),
            Scope::Cluster => None,
        };
        let text = |text: &str| Value::Known(nfc(text));
        Self {
            api_version: text(&location.kind.gvk.api_version()),
            kind: text(&location.kind.gvk.kind),
            name: text(&location.name),
            namespace: namespace.map_or(Value::Null, text),
        }
    }

    pub(crate) fn unknown() -> Self {
        let [api_version, kind, name, namespace] = [const { Value::Unknown }; 4];
        Self { api_version, kind, name, namespace }
    }

    /// `None` while it is not known.
    pub(crate) fn gvk(&self) -> Option<Gvk> {
        Some(Gvk::new(self.api_version.as_str()?, self.kind.as_str()?))
    }

    /// The object that is meant; `None` while some of it is not known. An empty namespace is one that is
    /// left out.
    pub(crate) fn key(&self) -> Option<ObjectKey> {
        let namespace = match &self.namespace {
            Value::Unknown => return None,
            namespace => namespace.as_str().filter(|name| !name.is_empty()).map(Into::into),
        };
        Some(ObjectKey { gvk: self.gvk()?, namespace, name: self.name.as_str()?.to_owned() })
    }
}
