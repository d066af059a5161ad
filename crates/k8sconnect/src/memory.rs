//! What this process has read, kept until the plan that follows asks for it.
//!
//! Terraform reads an object and plans it right afterwards, in one process; handing the one's
//! answer to the other is what makes an unchanged object cost a single request. A refresh without
//! a plan would let the answers pile up, so only the latest are kept; a plan that comes too late
//! asks the server again.
//!
//! It also tells a plan that follows a read from the one that Terraform makes once more while it
//! applies, in a process that reads nothing. And it hands on what one plan must know of another: what
//! is taken over or destroyed by another address ([`claims`]), what is made or put right ([`names`]),
//! and what follows on something that state holds
//! ([`succession`]). All of it is data of this process and ends with it.

mod claims;
mod names;
mod outlook;
mod sights;
mod succession;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use k8sconnect_cluster::Host;
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::plan::Condition;
use k8sconnect_core::spelling::Respellings;
use serde_json::Value;
use tokio::sync::Notify;

use claims::Claims;
pub(crate) use claims::{Claim, Intent};
use names::Names;
pub(crate) use outlook::Outlook;
pub(crate) use sights::Seen;
use sights::Sights;
use succession::Plans;
pub(crate) use succession::Succession;

#[derive(Default)]
pub(crate) struct Memory {
    content: Mutex<Content>,
    planned: Notify,
}

#[derive(Default)]
struct Content {
    seen: Sights,
    /// The resources that this process has read for, and those that it looked for in vain.
    ids: BTreeSet<String>,
    looked_for: BTreeSet<String>,
    /// The objects that state holds.
    uids: BTreeSet<String>,
    for_write: BTreeMap<String, Value>,
    shared: BTreeMap<String, Respellings>,
    created: BTreeSet<String>,
    counted: BTreeSet<String>,
    warned: BTreeSet<u64>,
    replaceable: BTreeSet<String>,
    claims: Claims,
    names: Names,
    plans: Plans,
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

    /// Keeps the leaves that others co-own, in the spelling of the dry-run, for the same write.
    pub(crate) fn keep_spelling(&self, id: &str, shared: Respellings) {
        self.content().shared.insert(id.to_owned(), shared);
    }

    /// Hands them over; `None` if this process sent no dry-run.
    pub(crate) fn recall_spelling(&self, id: &str) -> Option<Respellings> {
        self.content().shared.remove(id)
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

    /// Notes the id of what is about to be made. Others may see the object before its maker hears
    /// of it.
    pub(crate) fn note_created(&self, id: &str) {
        self.content().created.insert(id.to_owned());
    }

    /// Whether this process made the object with this id.
    pub(crate) fn has_created(&self, id: &str) -> bool {
        self.content().created.contains(id)
    }

    /// Notes that it was told what goes along with this object.
    pub(crate) fn note_counted(&self, uid: &str) {
        self.content().counted.insert(uid.to_owned());
    }

    pub(crate) fn was_counted(&self, uid: &str) -> bool {
        self.content().counted.contains(uid)
    }

    /// Of the server's warnings about an object those that were not told yet: one write is asked for
    /// twice, once dry.
    pub(crate) fn untold_of(
        &self,
        host: &Host,
        key: &ObjectKey,
        warnings: &[String],
    ) -> Vec<String> {
        let (host, mut content) = (host.to_string(), self.content());
        let mut is_new = |it: &String| content.warned.insert(fingerprint(&(&host, key, it)));
        warnings.iter().filter(|it| is_new(it)).cloned().collect()
    }

    /// Notes that the successor of this object is known to be accepted.
    pub(crate) fn note_replaceable(&self, uid: &str) {
        self.content().replaceable.insert(uid.to_owned());
    }

    pub(crate) fn is_replaceable(&self, uid: &str) -> bool {
        self.content().replaceable.contains(uid)
    }

    /// Notes that this process has read for the resource with this id, which needs nothing of it.
    pub(crate) fn note_read(&self, id: &str) {
        self.content().ids.insert(id.to_owned());
    }

    /// Notes that the object of the resource with this id was looked for, whatever came of it.
    pub(crate) fn note_looked_for(&self, id: &str) {
        self.content().looked_for.insert(id.to_owned());
    }

    /// Whether this process has refreshed the resource with this id, or tried to; without an id, any
    /// resource that state holds.
    pub(crate) fn has_refreshed(&self, id: Option<&tfplugin::Value<String>>) -> bool {
        let content = self.content();
        match id.map(|id| id.as_str().unwrap_or_default()) {
            Some(id) => content.ids.contains(id) || content.looked_for.contains(id),
            None => !content.ids.is_empty(),
        }
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
}
