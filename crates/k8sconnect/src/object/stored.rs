//! What private state holds for an object.
//!
//! A delete does not need it: Terraform does not hand over the private state of a tainted object that it
//! replaces. Whatever is lost costs a request or two and is read again.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8sconnect_cluster::{Kind, Scope};
use k8sconnect_core::field::FieldSet;
use k8sconnect_core::ignore::Yielded;
use k8sconnect_core::leaf_texts::{self, Deviations};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::Kept;
use k8sconnect_core::projection::ConcealmentKey;
use k8sconnect_core::recent::Recent;
use serde::{Deserialize, Serialize};
use tfplugin::{Diagnostics, Private};

use super::model::ObjectModel;
use crate::object_ref::ObjectRef;
use crate::resource::private_state::{get_cached, set};
use crate::{MANAGER, leaves};

const KEY: &str = "object";

static RECENT: Recent<StoredForm> = Recent::new();

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StoredObject {
    /// The last write; `None` before the first one.
    pub(crate) kept: Option<Arc<Kept>>,
    /// The name of the kind in a URL, so that an unchanged object costs no discovery.
    pub(crate) kind: Option<Kind>,
    /// The key that concealed leaves are hashed with.
    pub(crate) key: Option<ConcealmentKey>,
    /// The fields of the managers in `ignore_fields`, as the last read saw them.
    pub(crate) yielded: Yielded,
    /// The resourceVersion that the last read or write returned. Changes up to it were reported.
    pub(crate) seen: Option<String>,
    /// The UID of the namespace `kube-system` of the object's cluster.
    pub(crate) cluster: Option<String>,
    /// Whether the last refresh could not read the object. State may be out of date then, and the
    /// plan reads the object itself.
    pub(crate) unread: bool,
    /// Whether the last refresh found the object otherwise than the last apply left it, by value or owners.
    /// A process that has not read the object learns of a change of owners by this alone.
    pub(crate) drifted: bool,
}

/// The form of [`StoredObject`] in private state: without what the rest of state says.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    owners: Option<Owners>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    leaves: Deviations,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<String>,
    /// Absent if it is the version that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<(String, Scope)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<ConcealmentKey>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    yielded: BTreeMap<String, FieldSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unread: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    drifted: bool,
}

impl StoredObject {
    /// Reads what is stored beside this state.
    pub(crate) fn load(private: &Private, state: &ObjectModel) -> Result<Self, Diagnostics> {
        let Some(form) = get_cached(private, KEY, &RECENT)? else {
            return Ok(Self::default());
        };
        let kept = form.owners.as_ref().map(|owners| {
            let fields = owners.applied_by(MANAGER);
            let texts = leaf_texts::restored(&form.leaves, &fields, &projection(state));
            let version = form.written.clone();
            Arc::new(Kept { owners: owners.clone(), texts, version })
        });
        let gvk = state.object_ref.known().and_then(ObjectRef::gvk);
        let kind = gvk.zip(form.kind.clone());
        Ok(Self {
            kept,
            kind: kind.map(|(gvk, (plural, scope))| Kind { gvk, plural, scope }),
            key: form.key.clone(),
            yielded: form.yielded.clone(),
            seen: form.seen.clone().or_else(|| form.written.clone()),
            cluster: form.cluster.clone(),
            unread: form.unread,
            drifted: form.drifted,
        })
    }

    /// Stores this beside the state.
    pub(crate) fn save(
        &self,
        private: &mut Private,
        state: &ObjectModel,
    ) -> Result<(), Diagnostics> {
        let kept = self.kept.as_deref();
        let deviations = |kept: &Kept| {
            let fields = kept.owners.applied_by(MANAGER);
            leaf_texts::deviations(&kept.texts, &fields, &projection(state))
        };
        let version = kept.and_then(|kept| kept.version.clone());
        let form = StoredForm {
            owners: kept.map(|kept| kept.owners.clone()),
            leaves: kept.map(deviations).unwrap_or_default(),
            seen: self.seen.clone().filter(|seen| Some(seen) != version.as_ref()),
            written: version,
            kind: self.kind.clone().map(|kind| (kind.plural, kind.scope)),
            key: self.key.clone(),
            yielded: self.yielded.clone(),
            cluster: self.cluster.clone(),
            unread: self.unread,
            drifted: self.drifted,
        };
        set(private, KEY, form)
    }
}

fn projection(state: &ObjectModel) -> BTreeMap<String, String> {
    leaves::texts(&state.managed_state_projection).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};
    use tfplugin::Value;

    use k8sconnect_core::identity::Gvk;

    use super::*;

    fn state() -> ObjectModel {
        let part = |text: &str| Value::Known(text.to_owned());
        let object = ObjectRef {
            api_version: part("v1"),
            kind: part("ConfigMap"),
            name: part("a"),
            namespace: Value::Null,
        };
        ObjectModel {
            object_ref: Value::Known(object),
            managed_state_projection: Value::Known([("data.a".to_owned(), part("x"))].into()),
            ..ObjectModel::default()
        }
    }

    fn stored() -> StoredObject {
        let owners = json!([{"manager": "k8sconnect", "operation": "Apply", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}, "f:b.c": {}}}}]);
        let texts = [("data.a", "x"), (r#"data["b.c"]"#, "y")];
        let texts = texts.map(|(path, text)| (path.parse().unwrap(), text.to_owned()));
        StoredObject {
            kept: Some(Arc::new(Kept {
                owners: Owners::from_managed_fields(&owners).unwrap(),
                texts: texts.into(),
                version: Some("41".into()),
            })),
            kind: Some(Kind {
                gvk: Gvk::new("v1", "ConfigMap"),
                plural: "configmaps".into(),
                scope: Scope::Namespaced,
            }),
            key: Some(ConcealmentKey([7; 32])),
            yielded: [("hpa".to_owned(), FieldSet::default())].into(),
            seen: Some("42".into()),
            cluster: Some("0f3a".into()),
            unread: true,
            drifted: true,
        }
    }

    fn saved(stored: &StoredObject) -> Private {
        let mut private = Private::default();
        stored.save(&mut private, &state()).unwrap();
        private
    }

    fn loaded(private: &Private) -> StoredObject {
        StoredObject::load(&Private::from_bytes(&private.to_bytes()).unwrap(), &state()).unwrap()
    }

    #[test]
    fn what_is_saved_loads_again() {
        let seen = Some("41".to_owned());
        let as_written = StoredObject {
            unread: false,
            drifted: false,
            seen,
            yielded: Yielded::new(),
            ..stored()
        };
        for stored in [stored(), as_written, StoredObject::default()] {
            assert_eq!(loaded(&saved(&stored)), stored);
        }
    }

    #[test]
    fn what_the_projection_in_state_shows_is_not_stored_again() {
        let private = saved(&stored());
        let form: Json = private.get(KEY).unwrap().unwrap();
        assert_eq!(form["leaves"], json!({r#"data["b.c"]"#: "y"}));
    }

    proptest! {
        #![proptest_config(damage::settings())]

        #[test]
        fn what_is_damaged_is_refused_or_kept_as_it_is(
            damaged in damage::json(vec![saved(&stored()).get(KEY).unwrap().unwrap()]),
        ) {
            let mut private = Private::default();
            private.set(KEY, &damaged).unwrap();
            if let Ok(stored) = StoredObject::load(&private, &state()) {
                prop_assert_eq!(loaded(&saved(&stored)), stored);
            }
        }
    }
}
