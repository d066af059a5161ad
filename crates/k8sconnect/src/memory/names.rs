//! What this run makes of objects, by their names.
//!
//! An object that is only planned has no uid, and one that this process has deleted has none any
//! more: a name in a cluster is all that one plan can tell another of it.

use std::collections::{BTreeMap, BTreeSet};

use k8sconnect_cluster::{Host, Kind};
use k8sconnect_core::field::FieldSet;
use k8sconnect_core::identity::{DEFAULT_NAMESPACE, Gvk, ObjectKey};
use serde_json::Value;

use super::outlook::Outlooks;
use super::{Claim, Memory, Outlook, fingerprint};

/// A name in a cluster.
type Place = (String, ObjectKey);

#[derive(Default)]
pub(super) struct Names {
    made: BTreeSet<Place>,
    /// What was dropped from state, because another object has its name by now.
    recreated: BTreeSet<Place>,
    /// Fingerprints of the bodies that are to be made.
    creations: BTreeMap<Place, u64>,
    /// The objects of others that patches of this run mean.
    targets: BTreeSet<Place>,
    /// The fields that new patches reach, by their texts.
    wishes: BTreeMap<Place, BTreeMap<String, FieldSet>>,
    /// What this process has deleted for an address that was not to take it over.
    deleted: BTreeSet<Place>,
    /// Groups of which this process wrote a definition.
    defined: BTreeSet<(String, String)>,
    /// Fingerprints of paths and texts.
    mended: BTreeMap<Place, BTreeMap<u64, u64>>,
    changed: Outlooks,
}

impl Memory {
    /// Notes that an object is planned to be made, or made anew, under a name as the server knows
    /// it.
    pub(crate) fn note_made(&self, host: &Host, key: ObjectKey) {
        self.content().names.made.insert((host.to_string(), key));
    }

    /// Whether an object is planned to be made.
    pub(crate) fn is_made(&self, host: &Host, key: &ObjectKey) -> bool {
        let made = &self.content().names.made;
        spellings(host, key).iter().any(|spelling| made.contains(spelling))
    }

    /// Notes that an address plans to make an object with this body. No address says which one it
    /// is, and one may be planned more than once: only another body betrays another address. Two
    /// that want the very same are told apart by the apply, which makes the object once.
    pub(crate) fn claim_creation(&self, host: &Host, key: ObjectKey, body: &Value) -> Claim {
        let body = fingerprint(body);
        let mut content = self.content();
        let place = (host.to_string(), key.unversioned());
        let first = content.names.creations.entry(place).or_insert(body);
        Self::claim(*first != body)
    }

    /// Notes that the creation which was planned is over.
    pub(crate) fn end_creation(&self, host: &Host, key: &ObjectKey) {
        self.content().names.creations.remove(&(host.to_string(), key.unversioned()));
    }

    /// Notes that a patch means an object; another address may make it in the same run.
    pub(crate) fn claim_target(&self, host: &Host, key: &ObjectKey) -> Claim {
        let mut content = self.content();
        let place = (host.to_string(), key.unversioned());
        content.names.targets.insert(place.clone());
        Self::claim(content.names.creations.contains_key(&place))
    }

    /// Whether a patch means an object that is to be made.
    pub(crate) fn is_target(&self, host: &Host, key: &ObjectKey) -> bool {
        self.content().names.targets.contains(&(host.to_string(), key.unversioned()))
    }

    /// Notes which fields of an object are in reach of a new patch, and tells those of other new
    /// ones. As of creations, only another text betrays another address. A path is taken to mean the
    /// same in every version, as the write takes it.
    pub(crate) fn claim_fields(
        &self,
        host: &Host,
        key: &ObjectKey,
        text: &str,
        fields: FieldSet,
    ) -> Vec<FieldSet> {
        let mut content = self.content();
        let place = (host.to_string(), key.unversioned());
        let wishes = content.names.wishes.entry(place).or_default();
        wishes.insert(text.to_owned(), fields);
        wishes.iter().filter(|(other, _)| *other != text).map(|(_, it)| it.clone()).collect()
    }

    /// Notes that an object is about to be deleted.
    pub(crate) fn note_deleted(&self, host: &Host, key: &ObjectKey) {
        self.content().names.deleted.insert((host.to_string(), key.unversioned()));
    }

    /// Whether this process has deleted the object of this name.
    pub(crate) fn has_deleted(&self, host: &Host, key: &ObjectKey) -> bool {
        let deleted = &self.content().names.deleted;
        spellings(host, &key.unversioned()).iter().any(|spelling| deleted.contains(spelling))
    }

    /// Notes that an object was dropped from state, because another one has its name by now.
    pub(crate) fn note_recreated(&self, host: &Host, key: ObjectKey) {
        self.content().names.recreated.insert((host.to_string(), key));
    }

    /// Whether this run has dropped an object from state whose name another one has.
    pub(crate) fn was_recreated(&self, host: &Host, key: &ObjectKey) -> bool {
        self.content().names.recreated.contains(&(host.to_string(), key.clone()))
    }

    /// Notes the leaves that are planned to be otherwise than they were last seen: path and text.
    pub(crate) fn note_mended(
        &self,
        host: &Host,
        key: ObjectKey,
        leaves: &BTreeMap<String, String>,
    ) {
        if leaves.is_empty() {
            return;
        }
        let leaves = leaves.iter().map(|(path, text)| (fingerprint(path), fingerprint(text)));
        // Several patches may mend one object, each its own leaves.
        self.content().names.mended.entry((host.to_string(), key)).or_default().extend(leaves);
    }

    /// Whether one of these leaves of an object is planned to be put right.
    pub(crate) fn mends_any<'a>(
        &self,
        host: &Host,
        key: &ObjectKey,
        mut leaves: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> bool {
        let mended = &self.content().names.mended;
        let mended = spellings(host, key).iter().find_map(|spelling| mended.get(spelling));
        mended.is_some_and(|mended| {
            leaves.any(|(path, text)| mended.get(&fingerprint(path)) == Some(&fingerprint(text)))
        })
    }

    /// Notes what the plan of one resource makes of an object, by the resource's id.
    pub(crate) fn note_changed(
        &self,
        host: &Host,
        key: ObjectKey,
        id: &str,
        outlook: &Outlook<'_>,
    ) {
        self.content().names.changed.note((host.to_string(), key), id, outlook);
    }

    /// Whether the definition of a kind is planned to be made, or to say other than it does of the kind's
    /// version: what the server says of its objects until then may not be its last word.
    pub(crate) fn redefines(&self, host: &Host, kind: &Kind) -> bool {
        let name = kind.definition_name();
        let key = ObjectKey { gvk: Gvk::definition(), namespace: None, name };
        let at = (host.to_string(), key);
        let content = self.content();
        let version = |definition: &Value| {
            let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
            versions.clone().find(|it| it["name"] == kind.gvk.version.as_str()).cloned()
        };
        let says_other = |outlook: &Outlook<'_>| match outlook {
            Outlook::Told { seen: Some(seen), next } => version(seen) != version(next),
            Outlook::Told { seen: None, .. } | Outlook::Open => true,
        };
        let planned = content.names.changed.of(&at).unwrap_or_default();
        content.names.made.contains(&at) || planned.iter().any(says_other)
    }

    /// What is planned to become of an object that is there, by each that changes it.
    pub(crate) fn outlooks(&self, host: &Host, key: &ObjectKey) -> Vec<Outlook<'static>> {
        let changed = &self.content().names.changed;
        spellings(host, key).iter().find_map(|spelling| changed.of(spelling)).unwrap_or_default()
    }

    /// Notes that this process has written, or deleted, a definition of this group.
    pub(crate) fn note_defined(&self, host: &Host, group: &str) {
        self.content().names.defined.insert((host.to_string(), group.to_owned()));
    }

    pub(crate) fn has_defined(&self, host: &Host, group: &str) -> bool {
        self.content().names.defined.contains(&(host.to_string(), group.to_owned()))
    }

    fn claim(contradicted: bool) -> Claim {
        if contradicted { Claim::HeldTwice } else { Claim::Clear }
    }
}

/// How the server may know an object: a namespace means nothing where the kind has none.
fn spellings(host: &Host, key: &ObjectKey) -> [(String, ObjectKey); 2] {
    let namespace = key.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    [None, Some(namespace.to_owned())]
        .map(|namespace| (host.to_string(), ObjectKey { namespace, ..key.clone() }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn two_bodies_of_one_name_are_two_addresses() {
        let memory = Memory::default();
        let host: Host = "https://a".parse().unwrap();
        let gvk = k8sconnect_core::identity::Gvk::new("v1", "ConfigMap");
        let key = ObjectKey { gvk, namespace: None, name: "a".into() };
        let claim = |body: &Value| memory.claim_creation(&host, key.clone(), body);
        assert_eq!(claim(&json!({"a": 1})), Claim::Clear);
        assert_eq!(claim(&json!({"a": 1})), Claim::Clear, "the same address may ask again");
        assert_eq!(claim(&json!({"a": 2})), Claim::HeldTwice);
        memory.end_creation(&host, &key);
        assert_eq!(claim(&json!({"a": 2})), Claim::Clear, "that one is over");
    }
}
