//! What private state holds for a patch. What a destroy needs is on the object and in
//! `previous_owners` too: Terraform loses private state when it replaces a tainted resource.

use k8sconnect_cluster::Kind;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::Kept;
use k8sconnect_core::projection::ConcealmentKey;
use serde::{Deserialize, Serialize};
use tfplugin::{Diagnostics, Private};

use crate::resource::private_state::{get, set};

const KEY: &str = "patch";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StoredPatch {
    /// The last write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<Kept>,
    /// The fields that other managers lost by our writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) former: Option<Owners>,
    /// The object that was patched, and the version of it that was last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<SeenTarget>,
    /// The key that concealed leaves are hashed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<ConcealmentKey>,
    /// The UID of the namespace `kube-system` of the target's cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cluster: Option<String>,
    /// Whether the last refresh could not read the object.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unread: bool,
}

/// The target as it was last seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeenTarget {
    pub(crate) kind: Kind,
    /// The one that was patched.
    pub(crate) uid: String,
    /// The one that was there at the last look, if that was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) successor: Option<String>,
    /// What was told of this version need not be told again.
    pub(crate) resource_version: Option<String>,
    /// A hash of what positions in it meant.
    #[serde(default)]
    pub(crate) content: Option<String>,
    #[serde(default, skip_serializing_if = "SinceApply::is_unchanged")]
    pub(crate) since_apply: SinceApply,
}

/// What the last read or write found since the last write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SinceApply {
    /// Every field of the patch is as the last write left it.
    #[default]
    Unchanged,
    Changed,
}

impl SinceApply {
    fn is_unchanged(&self) -> bool {
        *self == Self::Unchanged
    }
}

impl StoredPatch {
    pub(crate) fn load(private: &Private) -> Result<Self, Diagnostics> {
        Ok(get(private, KEY)?.unwrap_or_default())
    }

    pub(crate) fn save(&self, private: &mut Private) -> Result<(), Diagnostics> {
        set(private, KEY, self)
    }
}

#[cfg(test)]
mod tests {
    use k8sconnect_cluster::Scope;
    use k8sconnect_core::identity::Gvk;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn stored() -> StoredPatch {
        let owners = json!([{"manager": "hpa", "operation": "Update", "apiVersion": "apps/v1",
            "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
        let owners = Owners::from_managed_fields(&owners).unwrap();
        let kind = Kind {
            gvk: Gvk::new("apps/v1", "Deployment"),
            plural: "deployments".into(),
            scope: Scope::Namespaced,
        };
        StoredPatch {
            kept: Some(Kept {
                owners: owners.clone(),
                texts: [(r#"data["a.b"]"#.parse().unwrap(), "x".to_owned())].into(),
                marks: vec![vec!["+spec.containers[name=a]".parse().unwrap()]],
                positions: [("spec.plain[1]".parse().unwrap(), "3 c0ffee".parse().unwrap())].into(),
            }),
            former: Some(owners),
            target: Some(SeenTarget {
                kind,
                uid: "u".into(),
                successor: Some("v".into()),
                resource_version: Some("7".into()),
                content: Some("c0ffee".into()),
                since_apply: SinceApply::Changed,
            }),
            key: Some(ConcealmentKey([7; 32])),
            cluster: Some("0f3a".into()),
            unread: true,
        }
    }

    fn saved(stored: &StoredPatch) -> Private {
        let mut private = Private::default();
        stored.save(&mut private).unwrap();
        private
    }

    #[test]
    fn what_is_saved_loads_again() {
        let private = Private::from_bytes(&saved(&stored()).to_bytes()).unwrap();
        assert_eq!(StoredPatch::load(&private).unwrap(), stored());
    }

    proptest! {
        #![proptest_config(damage::settings())]

        #[test]
        fn what_is_damaged_is_refused_or_kept_as_it_is(
            damaged in damage::json(vec![saved(&stored()).get(KEY).unwrap().unwrap()]),
        ) {
            let mut private = Private::default();
            private.set(KEY, &damaged).unwrap();
            if let Ok(loaded) = StoredPatch::load(&private) {
                prop_assert_eq!(StoredPatch::load(&saved(&loaded)).unwrap(), loaded);
            }
        }
    }
}
