//! What private state holds for an object. Each value says its version; a version that this
//! release does not know is an error, never a guess.
//!
//! Nothing that a delete needs is here alone: Terraform loses private state when it replaces a
//! tainted object. What is lost costs a request or two and is found anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use k8sconnect_cluster::Kind;
use k8sconnect_core::field::{FieldPath, fields_v1};
use k8sconnect_core::ignore::Yielded;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Kept;
use k8sconnect_core::projection::ConcealmentKey;
use k8sconnect_core::recent::Recent;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tfplugin::{Diagnostics, Private};

use crate::envelope::{get, recall, set, unreadable};
use crate::unread;

/// What is kept of the last write.
const KEPT: &str = "kept";
/// How the kind is spelt in a URL, so that an unchanged object costs no discovery.
const KIND: &str = "kind";
/// The version of the object that was last seen, by a read or a write: what was told of it need
/// not be told again.
const SEEN: &str = "seen";
/// The fields of managers that the user yields to, as the last read saw them.
const YIELDED: &str = "yielded";
/// The UID of the namespace `kube-system` of the object's cluster.
const CLUSTER: &str = "cluster";
/// The key that concealed leaves are hashed with.
const CONCEALMENT: &str = "concealment";

/// Kept of last writes, which are large.
static RECENT: Recent<Kept> = Recent::new();

#[derive(Clone, Debug, Default)]
pub(crate) struct Stored {
    pub(crate) kept: Option<Arc<Kept>>,
    pub(crate) kind: Option<Kind>,
    pub(crate) key: Option<ConcealmentKey>,
    pub(crate) yielded: Yielded,
    pub(crate) seen: Option<String>,
    pub(crate) cluster: Option<String>,
    /// Whether the last refresh could not read the object.
    pub(crate) unread: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredKept {
    owners: Value,
    leaves: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resource_version: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredKey {
    key: String,
}

#[derive(Serialize, Deserialize)]
struct StoredKind {
    kind: Kind,
}

#[derive(Serialize, Deserialize)]
struct StoredSeen {
    resource_version: String,
}

#[derive(Serialize, Deserialize)]
struct StoredCluster {
    kube_system_uid: String,
}

#[derive(Serialize, Deserialize)]
struct StoredYielded {
    managers: BTreeMap<String, Value>,
}

impl Stored {
    pub(crate) fn load(private: &Private) -> Result<Self, Diagnostics> {
        let kept = recall(private, KEPT, &RECENT, StoredKept::read)?;
        let key = match get::<StoredKey>(private, CONCEALMENT)? {
            Some(stored) => Some(stored.read().map_err(|why| unreadable(CONCEALMENT, &why))?),
            None => None,
        };
        let kind = get::<StoredKind>(private, KIND)?.map(|stored| stored.kind);
        let yielded = match get::<StoredYielded>(private, YIELDED)? {
            Some(stored) => stored.read().map_err(|why| unreadable(YIELDED, &why))?,
            None => Yielded::new(),
        };
        let seen = get::<StoredSeen>(private, SEEN)?.map(|stored| stored.resource_version);
        let cluster = get::<StoredCluster>(private, CLUSTER)?.map(|stored| stored.kube_system_uid);
        let unread = unread::load(private)?;
        Ok(Self { kept, kind, key, yielded, seen, cluster, unread })
    }

    /// Writes what this holds into private state; what others keep there stays.
    pub(crate) fn save(&self, private: &mut Private) -> Result<(), Diagnostics> {
        self.save_sight(private)?;
        if let Some(kept) = &self.kept {
            set(private, KEPT, StoredKept::of(kept))?;
        }
        if let Some(kind) = &self.kind {
            set(private, KIND, StoredKind { kind: kind.clone() })?;
        }
        if let Some(key) = &self.key {
            set(private, CONCEALMENT, StoredKey { key: BASE64.encode(key.0) })?;
        }
        Ok(())
    }

    /// Writes what a refresh finds, and nothing else.
    pub(crate) fn save_sight(&self, private: &mut Private) -> Result<(), Diagnostics> {
        if let Some(seen) = &self.seen {
            set(private, SEEN, StoredSeen { resource_version: seen.clone() })?;
        }
        if let Some(uid) = &self.cluster {
            set(private, CLUSTER, StoredCluster { kube_system_uid: uid.clone() })?;
        }
        unread::save(self.unread, private)?;
        if self.yielded.is_empty() {
            // Whoever is yielded to again is looked at anew.
            private.remove(YIELDED);
        } else {
            let fields = |(name, fields): (&String, _)| (name.clone(), fields_v1::encode(fields));
            set(
                private,
                YIELDED,
                StoredYielded { managers: self.yielded.iter().map(fields).collect() },
            )?;
        }
        Ok(())
    }
}

impl StoredKept {
    fn of(kept: &Kept) -> Self {
        Self {
            owners: kept.owners.to_managed_fields(),
            leaves: kept.texts.iter().map(|(p, t)| (p.to_string(), t.clone())).collect(),
            resource_version: kept.version.clone(),
        }
    }

    fn read(self) -> Result<Kept, String> {
        let owners =
            Owners::from_managed_fields(&self.owners).map_err(|error| format!("{error:?}"))?;
        let texts = self
            .leaves
            .into_iter()
            .map(|(path, text)| Ok((path.parse::<FieldPath>()?, text)))
            .collect::<Result<_, k8sconnect_core::field::path::PathError>>()
            .map_err(|error| format!("{error:?}"))?;
        Ok(Kept { owners, texts, version: self.resource_version })
    }
}

impl StoredYielded {
    fn read(self) -> Result<Yielded, String> {
        let decode = |(name, fields)| Ok((name, fields_v1::decode(&fields)?));
        let decoded: Result<_, fields_v1::FieldsV1Error> =
            self.managers.into_iter().map(decode).collect();
        decoded.map_err(|error| format!("{error:?}"))
    }
}

impl StoredKey {
    fn read(self) -> Result<ConcealmentKey, String> {
        let bytes = BASE64.decode(self.key).map_err(|error| error.to_string())?;
        let key = bytes.try_into().map_err(|_| "the key has not 32 bytes".to_owned())?;
        Ok(ConcealmentKey(key))
    }
}

#[cfg(test)]
mod tests {
    use k8sconnect_core::field::FieldSet;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::unread::UNREAD;

    fn stored() -> Stored {
        let owners = json!([{"manager": "k8sconnect", "operation": "Apply", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:app.conf": {}}}}]);
        let path: FieldPath = r#"data["app.conf"]"#.parse().unwrap();
        Stored {
            kept: Some(Arc::new(Kept {
                owners: Owners::from_managed_fields(&owners).unwrap(),
                texts: [(path, "x".to_owned())].into(),
                version: Some("41".into()),
            })),
            kind: None,
            key: Some(ConcealmentKey([7; 32])),
            yielded: [("hpa".to_owned(), FieldSet::default())].into(),
            seen: Some("42".into()),
            cluster: Some("0f3a".into()),
            unread: true,
        }
    }

    #[test]
    fn what_is_saved_loads_again() {
        let mut private = Private::default();
        stored().save(&mut private).unwrap();
        let loaded = Stored::load(&private).unwrap();
        assert_eq!(loaded.kept, stored().kept);
        assert_eq!(loaded.key, stored().key);
        assert_eq!(loaded.yielded, stored().yielded);
        assert_eq!(loaded.seen, stored().seen);
        assert_eq!(loaded.cluster, stored().cluster);
        assert_eq!(loaded.unread, stored().unread);
        Stored { unread: false, ..stored() }.save(&mut private).unwrap();
        assert!(!Stored::load(&private).unwrap().unread, "a refresh that could read ends it");
        Stored { yielded: Yielded::new(), ..stored() }.save(&mut private).unwrap();
        assert!(Stored::load(&private).unwrap().yielded.is_empty(), "nobody is yielded to now");
    }

    #[test]
    fn a_later_version_is_refused_and_not_guessed_at() {
        let mut private = Private::default();
        private.set(KEPT, &json!({"version": 2, "owners": [], "leaves": {}})).unwrap();
        let problems = Stored::load(&private).unwrap_err();
        assert!(problems.iter().any(|p| p.detail.contains("version 2")), "{problems:?}");
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
            key in prop::sample::select(vec![KEPT, KIND, SEEN, YIELDED, CLUSTER, UNREAD, CONCEALMENT]),
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
        [KEPT, KIND, SEEN, YIELDED, CLUSTER, UNREAD, CONCEALMENT]
            .iter()
            .filter_map(|key| private.get(key).unwrap())
            .collect()
    }
}
