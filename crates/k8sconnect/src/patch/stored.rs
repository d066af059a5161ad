//! What private state holds for a patch. What a destroy needs is on the object and in
//! `previous_owners` too: Terraform loses private state when it replaces a tainted resource.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use k8sconnect_cluster::Kind;
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::field::path::PathError;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::{Kept, Mark, Stood};
use k8sconnect_core::projection::ConcealmentKey;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Private};

use super::note;
use crate::envelope::{get, set, unreadable};
use crate::unread;

/// What is kept of the last write.
const KEPT: &str = "kept";
/// What others lost by our writes.
const FORMER: &str = "former";
/// The object that was patched, and the version of it that was last seen.
const TARGET: &str = "target";
/// The cluster that was written to.
const CLUSTER: &str = "cluster";
/// The key that concealed leaves are hashed with.
const CONCEALMENT: &str = "concealment";

#[derive(Clone, Debug, Default)]
pub(crate) struct Stored {
    pub(crate) kept: Option<Kept>,
    pub(crate) former: Option<Owners>,
    pub(crate) target: Option<SeenTarget>,
    pub(crate) key: Option<ConcealmentKey>,
    /// The UID of the namespace `kube-system` of the target's cluster.
    pub(crate) cluster: Option<String>,
    /// Whether the last refresh could not read the object.
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

#[derive(Serialize, Deserialize)]
struct StoredKept {
    owners: Json,
    leaves: BTreeMap<String, String>,
    marks: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    positions: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct StoredFormer {
    owners: Json,
}

#[derive(Serialize, Deserialize)]
struct StoredCluster {
    kube_system_uid: String,
}

#[derive(Serialize, Deserialize)]
struct StoredKey {
    key: String,
}

impl Stored {
    pub(crate) fn load(private: &Private) -> Result<Self, Diagnostics> {
        let owners = |key: &str, list: &Json| {
            Owners::from_managed_fields(list)
                .map_err(|error| unreadable(key, &format!("{error:?}")))
        };
        let kept = match get::<StoredKept>(private, KEPT)? {
            Some(stored) => {
                let owners = owners(KEPT, &stored.owners)?;
                let bad = |error: PathError| unreadable(KEPT, &format!("{error:?}"));
                let leaf = |(path, text): (String, String)| Ok((path.parse()?, text));
                let texts: Result<_, PathError> = stored.leaves.into_iter().map(leaf).collect();
                let marks = stored.marks.iter().map(|it| it.iter().map(|it| it.parse()).collect());
                let marks: Result<Vec<Vec<Mark>>, PathError> = marks.collect();
                let stood = |(path, text): (String, String)| match text.parse() {
                    Ok(stood) => Ok((path.parse().map_err(bad)?, stood)),
                    Err(error) => Err(unreadable(KEPT, &format!("{error}"))),
                };
                let positions: Result<_, Diagnostics> =
                    stored.positions.into_iter().map(stood).collect();
                Some(Kept {
                    owners,
                    texts: texts.map_err(bad)?,
                    marks: marks.map_err(bad)?,
                    positions: positions?,
                })
            }
            None => None,
        };
        let former = get::<StoredFormer>(private, FORMER)?;
        let former = former.map(|stored| owners(FORMER, &stored.owners)).transpose()?;
        let key = match get::<StoredKey>(private, CONCEALMENT)? {
            Some(stored) => {
                let bytes = BASE64.decode(stored.key).ok().and_then(|bytes| bytes.try_into().ok());
                let bad = || unreadable(CONCEALMENT, "the key has not 32 bytes");
                Some(ConcealmentKey(bytes.ok_or_else(bad)?))
            }
            None => None,
        };
        let cluster = get::<StoredCluster>(private, CLUSTER)?.map(|stored| stored.kube_system_uid);
        let unread = unread::load(private)?;
        Ok(Self { kept, former, target: get(private, TARGET)?, key, cluster, unread })
    }

    /// Writes what this holds into private state; what others keep there stays.
    pub(crate) fn save(&self, private: &mut Private) -> Result<(), Diagnostics> {
        if let Some(kept) = &self.kept {
            let leaf = |(path, text): (&_, &String)| -> (String, String) {
                (FieldPath::to_string(path), text.clone())
            };
            let leaves = kept.texts.iter().map(leaf).collect();
            let owners = kept.owners.to_managed_fields();
            let marks = note::texts(&kept.marks);
            let stood = |(path, stood): (&FieldPath, &Stood)| (path.to_string(), stood.to_string());
            let positions = kept.positions.iter().map(stood).collect();
            set(private, KEPT, StoredKept { owners, leaves, marks, positions })?;
        }
        if let Some(former) = &self.former {
            set(private, FORMER, StoredFormer { owners: former.to_managed_fields() })?;
        }
        if let Some(target) = &self.target {
            set(private, TARGET, target.clone())?;
        }
        if let Some(key) = &self.key {
            set(private, CONCEALMENT, StoredKey { key: BASE64.encode(key.0) })?;
        }
        if let Some(uid) = &self.cluster {
            set(private, CLUSTER, StoredCluster { kube_system_uid: uid.clone() })?;
        }
        unread::save(self.unread, private)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use k8sconnect_cluster::Scope;
    use k8sconnect_core::identity::Gvk;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::unread::UNREAD;

    fn stored() -> Stored {
        let owners = json!([{"manager": "hpa", "operation": "Update", "apiVersion": "apps/v1",
            "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
        let owners = Owners::from_managed_fields(&owners).unwrap();
        let kind = Kind {
            gvk: Gvk::new("apps/v1", "Deployment"),
            plural: "deployments".into(),
            scope: Scope::Namespaced,
        };
        Stored {
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

    #[test]
    fn what_is_saved_loads_again() {
        let stored = stored();
        let mut private = Private::default();
        stored.save(&mut private).unwrap();
        let loaded = Stored::load(&private).unwrap();
        assert_eq!(loaded.kept, stored.kept);
        assert_eq!(loaded.former, stored.former);
        assert_eq!(loaded.target, stored.target);
        assert_eq!(loaded.key, stored.key);
        assert_eq!((loaded.cluster, loaded.unread), (stored.cluster, stored.unread));
    }

    fn saved() -> Private {
        let mut private = Private::default();
        stored().save(&mut private).unwrap();
        private
    }

    proptest! {
        #![proptest_config(damage::settings())]

        #[test]
        fn what_is_damaged_is_refused_or_kept_as_it_is(
            key in prop::sample::select(vec![KEPT, FORMER, TARGET, CLUSTER, UNREAD, CONCEALMENT]),
            damaged in damage::json(entries()),
        ) {
            let mut private = saved();
            private.set(key, &damaged).unwrap();
            if let Ok(loaded) = Stored::load(&private) {
                let mut again = private.clone();
                loaded.save(&mut again).unwrap();
                let again = Stored::load(&again).unwrap();
                prop_assert_eq!(again.kept, loaded.kept);
                prop_assert_eq!(again.key, loaded.key);
            }
        }
    }

    fn entries() -> Vec<serde_json::Value> {
        let private = saved();
        [KEPT, FORMER, TARGET, CLUSTER, UNREAD, CONCEALMENT]
            .iter()
            .filter_map(|key| private.get(key).unwrap())
            .collect()
    }
}
