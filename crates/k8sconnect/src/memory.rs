//! What this process has read, kept until the plan that follows asks for it.
//!
//! Terraform reads an object and plans it right afterwards, in one process; handing the one's
//! answer to the other is what makes an unchanged object cost a single request. A refresh without
//! a plan would let the answers pile up, so only the latest are kept; a plan that comes too late
//! asks the server again.
//!
//! It also tells a plan that follows a read from the one that Terraform makes once more while it
//! applies, in a process that reads nothing. And it hands on what one plan must know of another: what
//! is taken over or destroyed by another address ([`claims`]), made, or put right.

mod claims;
mod kin;
mod outlook;
mod sights;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8sconnect_cluster::{Host, Kind};
use k8sconnect_core::field::FieldSet;
use k8sconnect_core::identity::{DEFAULT_NAMESPACE, Gvk, ObjectKey};
use k8sconnect_core::plan::Condition;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use claims::Claims;
pub(crate) use claims::{Claim, Intent};
pub(crate) use kin::Kin;
pub(crate) use outlook::Outlook;
use outlook::Outlooks;
pub(crate) use sights::Seen;
use sights::Sights;

/// How long a patch that state holds is waited for to be planned. Terraform plans each right after
/// it has read it, unless there is nothing left to plan of it.
const PLANNED_SOON: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct Memory {
    content: Mutex<Content>,
    planned: Notify,
    /// The other processes of this run, where there may be any.
    kin: Option<Mutex<Kin>>,
}

#[derive(Default)]
struct Content {
    seen: Sights,
    ids: BTreeSet<String>,
    looked_for: BTreeSet<String>,
    elsewhere: BTreeMap<(String, ObjectKey), BTreeSet<String>>,
    uids: BTreeSet<String>,
    for_write: BTreeMap<String, Value>,
    claims: Claims,
    counted: BTreeSet<String>,
    replaceable: BTreeSet<String>,
    planned: BTreeMap<String, String>,
    made: BTreeSet<(String, ObjectKey)>,
    recreated: BTreeSet<(String, ObjectKey)>,
    creations: BTreeMap<(String, ObjectKey), u64>,
    /// The objects of others that patches of this run mean.
    targets: BTreeSet<(String, ObjectKey)>,
    wishes: BTreeMap<(String, ObjectKey), BTreeMap<String, FieldSet>>,
    created: BTreeSet<String>,
    /// What this process has deleted for an address that was not to take it over.
    deleted: BTreeSet<(String, ObjectKey)>,
    /// What addresses destroy, and what others are to take over in a cluster that is not known yet.
    ending: BTreeSet<ObjectKey>,
    wanted_somewhere: BTreeSet<ObjectKey>,
    /// Groups of which this process wrote a definition.
    defined: BTreeSet<(String, String)>,
    /// Fingerprints of paths and texts.
    mended: BTreeMap<(String, ObjectKey), BTreeMap<u64, u64>>,
    changed: Outlooks,
}

/// How what is planned to be made may follow on something that state holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Succession {
    None,
    /// This is the second half of a replacement, of which the other was planned before.
    Replaced,
    /// Nothing else is planned of it.
    Tainted,
}

/// What is remembered of an object.
#[derive(Debug, PartialEq)]
pub(crate) enum Recollection {
    /// This process never read it.
    NeverRead,
    /// Read, but too long ago to be kept.
    Faded,
    Seen(Seen),
}

impl Memory {
    /// One that knows of the other processes of the run.
    pub(crate) fn among(kin: Option<Kin>) -> Self {
        Self { kin: kin.map(Mutex::new), ..Self::default() }
    }

    /// Keeps the object that was read for the resource with this id.
    pub(crate) fn keep(&self, id: &str, uid: &str, seen: Seen) {
        self.content().uids.insert(uid.to_owned());
        self.keep_sight(id, seen);
    }

    /// Notes that state holds the object with this uid, where no read has told so.
    pub(crate) fn note_held(&self, uid: &str) {
        self.content().uids.insert(uid.to_owned());
    }

    /// Keeps an object that was read for a patch with this id. The object is nobody's in this
    /// state because of it.
    pub(crate) fn keep_target(&self, id: &str, live: Value) {
        self.keep_sight(id, Seen { live, condition: Condition::Otherwise });
    }

    fn keep_sight(&self, id: &str, seen: Seen) {
        let mut content = self.content();
        content.ids.insert(id.to_owned());
        content.seen.keep(id, seen);
    }

    /// Keeps an object that was read for a write, which follows in the same process.
    pub(crate) fn keep_for_write(&self, id: &str, live: Value) {
        self.content().for_write.insert(id.to_owned(), live);
    }

    /// Hands it over.
    pub(crate) fn recall_for_write(&self, id: &str) -> Option<Value> {
        self.content().for_write.remove(id)
    }

    /// Hands over what was read for the resource with this id.
    pub(crate) fn recall(&self, id: &str) -> Recollection {
        let mut content = self.content();
        match content.seen.take(id) {
            Some(seen) => Recollection::Seen(seen),
            None if content.ids.contains(id) => Recollection::Faded,
            None => Recollection::NeverRead,
        }
    }

    /// What was read for the resource with this id, which stays remembered: a destroy is planned
    /// after an ordinary plan, in the same process.
    pub(crate) fn look_up(&self, id: &str) -> Option<Value> {
        self.content().seen.get(id)
    }

    /// Notes what is planned for the resource with this id, which state holds.
    pub(crate) fn note_planned(&self, id: &str, what: &str) {
        self.content().planned.insert(id.to_owned(), what.to_owned());
        self.planned.notify_waiters();
    }

    /// Whether the resource with this id may be the one that this plan replaces: state holds it,
    /// and the plan of it is the first half of this one, or there is none. A replacement is planned
    /// as a creation, and of a tainted resource nothing else is; one that another address has may
    /// be planned a moment later.
    pub(crate) async fn succession(&self, id: &str, what: &str) -> Succession {
        if !self.has_read(id) {
            return Succession::None;
        }
        match self.plan_of(id).await {
            None => Succession::Tainted,
            Some(planned) if planned == what => Succession::Replaced,
            Some(_) => Succession::None,
        }
    }

    /// What is planned for the resource with this id, which may be told a moment later.
    async fn plan_of(&self, id: &str) -> Option<String> {
        let deadline = Instant::now() + PLANNED_SOON;
        loop {
            let noted = self.planned.notified();
            tokio::pin!(noted);
            noted.as_mut().enable();
            if let Some(planned) = self.content().planned.get(id) {
                return Some(planned.clone());
            }
            if timeout_at(deadline, noted).await.is_err() {
                return None;
            }
        }
    }

    /// Notes that an object of state was looked for in a cluster that it does not live in.
    pub(crate) fn note_elsewhere(&self, id: &str, host: &Host, key: ObjectKey) {
        let mut content = self.content();
        let strays = content.elsewhere.entry((host.to_string(), key)).or_default();
        strays.insert(id.to_owned());
    }

    /// Whether what is planned to be made here may replace something that was looked for here and
    /// lives in another cluster: of a tainted resource nothing is planned but that.
    pub(crate) async fn may_stray(&self, host: &Host, key: &ObjectKey) -> bool {
        let strays = self.content().elsewhere.get(&(host.to_string(), key.clone())).cloned();
        for id in strays.unwrap_or_default() {
            if self.plan_of(&id).await.is_none() {
                return true;
            }
        }
        false
    }

    /// Notes that an object is planned to be made, or made anew, under a name as the server knows
    /// it.
    pub(crate) fn note_made(&self, host: &Host, key: ObjectKey) {
        self.content().made.insert((host.to_string(), key));
    }

    /// Whether an object is planned to be made.
    pub(crate) fn is_made(&self, host: &Host, key: &ObjectKey) -> bool {
        let made = &self.content().made;
        spellings(host, key).iter().any(|spelling| made.contains(spelling))
    }

    /// Notes that an address plans to make an object with this body. No address says which one it
    /// is, and one may be planned more than once: only another body betrays another address. Two
    /// that want the very same are told apart by the apply, which makes the object once.
    pub(crate) fn claim_creation(&self, host: &Host, key: ObjectKey, body: &Value) -> Claim {
        let body = fingerprint(body);
        let mut content = self.content();
        let place = (host.to_string(), key.unversioned());
        let first = content.creations.entry(place).or_insert(body);
        Self::claim(*first != body)
    }

    /// Notes that a patch means an object; another address may make it in the same run.
    pub(crate) fn claim_target(&self, host: &Host, key: &ObjectKey) -> Claim {
        let mut content = self.content();
        let place = (host.to_string(), key.unversioned());
        content.targets.insert(place.clone());
        Self::claim(content.creations.contains_key(&place))
    }

    /// Whether a patch means an object that is to be made.
    pub(crate) fn is_target(&self, host: &Host, key: &ObjectKey) -> bool {
        self.content().targets.contains(&(host.to_string(), key.unversioned()))
    }

    /// Notes which fields of an object are in reach of a new patch, and tells those of other new
    /// ones. As of creations, only another text betrays another address.
    pub(crate) fn claim_fields(
        &self,
        host: &Host,
        key: ObjectKey,
        text: &str,
        fields: FieldSet,
    ) -> Vec<FieldSet> {
        let mut content = self.content();
        let wishes = content.wishes.entry((host.to_string(), key)).or_default();
        wishes.insert(text.to_owned(), fields);
        wishes.iter().filter(|(other, _)| *other != text).map(|(_, it)| it.clone()).collect()
    }

    /// Notes that the creation which was planned is over.
    pub(crate) fn end_creation(&self, host: &Host, key: &ObjectKey) {
        self.content().creations.remove(&(host.to_string(), key.unversioned()));
    }

    /// Notes the id of what is about to be made. Others may see the object before its maker hears
    /// of it.
    pub(crate) fn note_created(&self, id: &str) {
        self.content().created.insert(id.to_owned());
    }

    /// Whether this process made the object with this id.
    pub(crate) fn has_created(&self, id: &str) -> bool {
        self.content().created.contains(id)
    }

    /// Notes that an object is about to be deleted.
    pub(crate) fn note_deleted(&self, host: &Host, key: &ObjectKey) {
        self.content().deleted.insert((host.to_string(), key.unversioned()));
    }

    /// Whether this process has deleted the object of this name.
    pub(crate) fn has_deleted(&self, host: &Host, key: &ObjectKey) -> bool {
        let deleted = &self.content().deleted;
        spellings(host, &key.unversioned()).iter().any(|spelling| deleted.contains(spelling))
    }

    /// Notes that an object is planned to be destroyed; whether one of its name is to be taken over
    /// in a cluster that is not known yet.
    pub(crate) fn note_ending(&self, key: &ObjectKey) -> bool {
        let mut content = self.content();
        content.ending.insert(key.unversioned());
        content.wanted_somewhere.contains(&key.unversioned())
    }

    /// Notes that an object is to be taken over in a cluster that is not known yet; whether one of its
    /// name is planned to be destroyed.
    pub(crate) fn note_wanted_somewhere(&self, key: &ObjectKey) -> bool {
        let mut content = self.content();
        content.wanted_somewhere.insert(key.unversioned());
        content.ending.contains(&key.unversioned())
    }

    /// Notes that an object was dropped from state, because another one has its name by now.
    pub(crate) fn note_recreated(&self, host: &Host, key: ObjectKey) {
        self.content().recreated.insert((host.to_string(), key));
    }

    /// Whether this run has dropped an object from state whose name another one has.
    pub(crate) fn was_recreated(&self, host: &Host, key: &ObjectKey) -> bool {
        self.content().recreated.contains(&(host.to_string(), key.clone()))
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
        self.content().mended.entry((host.to_string(), key)).or_default().extend(leaves);
    }

    /// Whether one of these leaves of an object is planned to be put right.
    pub(crate) fn mends_any<'a>(
        &self,
        host: &Host,
        key: &ObjectKey,
        mut leaves: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> bool {
        let mended = &self.content().mended;
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
        self.content().changed.note((host.to_string(), key), id, outlook);
    }

    /// Whether the definition of a kind is planned to be made, or to say other than it does: what the server says
    /// of the kind's objects until then may not be its last word.
    pub(crate) fn redefines(&self, host: &Host, kind: &Kind) -> bool {
        let name = kind.definition_name();
        let key = ObjectKey { gvk: Gvk::definition(), namespace: None, name };
        let at = (host.to_string(), key);
        let content = self.content();
        let says_other = |outlook: &Outlook<'_>| match outlook {
            Outlook::Told { seen: Some(seen), next } => seen["spec"] != next["spec"],
            Outlook::Told { seen: None, .. } | Outlook::Open => true,
        };
        let planned = content.changed.of(&at).unwrap_or_default();
        content.made.contains(&at) || planned.iter().any(says_other)
    }

    /// Notes that this process has written, or deleted, a definition of this group.
    pub(crate) fn note_defined(&self, host: &Host, group: &str) {
        self.content().defined.insert((host.to_string(), group.to_owned()));
    }

    pub(crate) fn has_defined(&self, host: &Host, group: &str) -> bool {
        self.content().defined.contains(&(host.to_string(), group.to_owned()))
    }

    /// What is planned to become of an object that is there, by each that changes it.
    pub(crate) fn outlooks(&self, host: &Host, key: &ObjectKey) -> Vec<Outlook<'static>> {
        let changed = &self.content().changed;
        spellings(host, key).iter().find_map(|spelling| changed.of(spelling)).unwrap_or_default()
    }

    /// Notes that it was told what goes along with this object.
    pub(crate) fn note_counted(&self, uid: &str) {
        self.content().counted.insert(uid.to_owned());
    }

    pub(crate) fn was_counted(&self, uid: &str) -> bool {
        self.content().counted.contains(uid)
    }

    /// Notes that the successor of this object is known to be accepted.
    pub(crate) fn note_replaceable(&self, uid: &str) {
        self.content().replaceable.insert(uid.to_owned());
    }

    pub(crate) fn is_replaceable(&self, uid: &str) -> bool {
        self.content().replaceable.contains(uid)
    }

    fn claim(contradicted: bool) -> Claim {
        if contradicted { Claim::HeldTwice } else { Claim::Clear }
    }

    /// Notes that this process has read for the resource with this id, which needs nothing of it.
    pub(crate) fn note_read(&self, id: &str) {
        self.content().ids.insert(id.to_owned());
    }

    /// Notes that the object of the resource with this id was looked for, whatever came of it.
    pub(crate) fn note_looked_for(&self, id: &str) {
        self.content().looked_for.insert(id.to_owned());
    }

    /// Whether this process has refreshed the resource with this id, or tried to.
    pub(crate) fn has_looked_for(&self, id: &str) -> bool {
        let content = self.content();
        content.ids.contains(id) || content.looked_for.contains(id)
    }

    /// Whether this process has read the object of the resource with this id.
    pub(crate) fn has_read(&self, id: &str) -> bool {
        self.content().ids.contains(id)
    }

    /// Whether state holds the object with this uid, as far as this process has been told.
    pub(crate) fn holds(&self, uid: &str) -> bool {
        self.content().uids.contains(uid)
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stands for what is only ever compared.
fn fingerprint<T: Hash + ?Sized>(what: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
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
    fn hands_over_once_and_knows_that_it_did() {
        let memory = Memory::default();
        assert_eq!(memory.recall("a"), Recollection::NeverRead);
        let seen = Seen { live: json!(1), condition: Condition::AsLeft };
        memory.keep("a", "uid-a", seen.clone());
        assert_eq!(memory.recall("a"), Recollection::Seen(seen));
        assert_eq!(memory.recall("a"), Recollection::Faded);
        assert!(memory.holds("uid-a") && !memory.holds("uid-b"));
    }

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

    #[tokio::test]
    async fn only_what_state_holds_and_nobody_else_plans_can_be_replaced() {
        let memory = Memory::default();
        let may = async || memory.succession("a", "x").await;
        assert_eq!(may().await, Succession::None, "it is in another state");
        memory.keep_target("a", json!(1));
        assert_eq!(may().await, Succession::Tainted, "nothing is planned of it");
        let soon = async {
            tokio::time::sleep(PLANNED_SOON / 40).await;
            memory.note_planned("a", "y");
        };
        let (other, ()) = tokio::join!(may(), soon);
        assert_eq!(other, Succession::None, "another address has it");
        memory.note_planned("a", "x");
        assert_eq!(may().await, Succession::Replaced);
    }
}
