//! What this process has read of each resource, for the plan and the write that follow.
//!
//! Terraform refreshes a resource and plans it right after, in one process. If the plan uses the
//! object that the refresh has read, an unchanged object costs one request. A plan right before an
//! apply hands the answer of its dry-run to the write in the same way. A refresh without a plan
//! would keep every object, so only the latest ones stay; a plan that comes too late reads again.
//!
//! The cache knows nothing about other resources: that is the plan ledger's.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use k8sconnect_core::plan::Condition;
use k8sconnect_core::spelling::Respellings;
use serde_json::Value;

use crate::plan_ledger::Address;

/// Far more resources than Terraform works on at a time.
const LATEST: usize = 64;

#[derive(Default)]
pub(crate) struct ReadCache(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    refreshed: BTreeMap<String, RefreshOutcome>,
    latest: VecDeque<(String, ReadObject)>,
    object_writes: BTreeMap<String, ObjectWrite>,
    patch_writes: BTreeMap<Address, PatchWrite>,
}

#[derive(PartialEq, Eq)]
enum RefreshOutcome {
    Read,
    Unreadable,
}

/// An object as the refresh has read it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadObject {
    pub(crate) live: Value,
    /// What the refresh found out; [`Condition::Otherwise`] where it compared nothing.
    pub(crate) condition: Condition,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Cached {
    NeverRead,
    /// Read, but not kept any more.
    Evicted,
    Read(ReadObject),
}

/// What the plan of an object hands to the write.
#[derive(Default)]
pub(crate) struct ObjectWrite {
    /// The object, where its ignored fields are sent with their live values.
    pub(crate) live: Option<Value>,
    /// The leaves that others co-own, in the spelling of the dry-run; `None` without a dry-run.
    pub(crate) spelling: Option<Respellings>,
    /// The version of the object that the dry-run answered.
    pub(crate) version: Option<String>,
}

/// What the plan of a patch hands to the write: the object, and the answer of the dry-run under this
/// field manager.
pub(crate) struct PatchWrite {
    pub(crate) live: Value,
    pub(crate) answer: Value,
    pub(crate) manager: String,
}

impl ReadCache {
    /// Keeps the object of the resource with this id.
    pub(crate) fn keep(&self, id: &str, object: ReadObject) {
        self.note_read(id);
        let latest = &mut self.content().latest;
        latest.retain(|(kept, _)| kept != id);
        latest.push_back((id.to_owned(), object));
        if latest.len() > LATEST {
            latest.pop_front();
        }
    }

    /// Notes a refresh whose object no plan asks for.
    pub(crate) fn note_read(&self, id: &str) {
        self.content().refreshed.insert(id.to_owned(), RefreshOutcome::Read);
    }

    /// Notes a refresh that could not read its object.
    pub(crate) fn note_unreadable(&self, id: &str) {
        self.content().refreshed.insert(id.to_owned(), RefreshOutcome::Unreadable);
    }

    /// Whether this process has read the object of the resource with this id.
    pub(crate) fn has_read(&self, id: &str) -> bool {
        self.content().refreshed.get(id) == Some(&RefreshOutcome::Read)
    }

    /// Whether this process has refreshed the resource with this id, or has tried to; without an
    /// id, any resource in state.
    pub(crate) fn has_refreshed(&self, id: Option<&tfplugin::Value<String>>) -> bool {
        let refreshed = &self.content().refreshed;
        match id.map(|id| id.as_str().unwrap_or_default()) {
            Some(id) => refreshed.contains_key(id),
            None => !refreshed.is_empty(),
        }
    }

    /// The object, which leaves the cache.
    pub(crate) fn take(&self, id: &str) -> Cached {
        let content = &mut *self.content();
        match content.latest.iter().position(|(kept, _)| kept == id) {
            Some(at) => content.latest.remove(at).map_or(Cached::Evicted, |it| Cached::Read(it.1)),
            None if content.refreshed.get(id) == Some(&RefreshOutcome::Read) => Cached::Evicted,
            None => Cached::NeverRead,
        }
    }

    /// The object, which stays in the cache.
    pub(crate) fn get(&self, id: &str) -> Option<Value> {
        let content = self.content();
        let (_, object) = content.latest.iter().find(|(kept, _)| kept == id)?;
        Some(object.live.clone())
    }

    /// Changes what the plan of the object with this id hands to its write.
    pub(crate) fn for_write(&self, id: &str, change: impl FnOnce(&mut ObjectWrite)) {
        change(self.content().object_writes.entry(id.to_owned()).or_default());
    }

    pub(crate) fn take_object_write(&self, id: &str) -> ObjectWrite {
        self.content().object_writes.remove(id).unwrap_or_default()
    }

    pub(crate) fn keep_patch_write(&self, patch: Address, write: PatchWrite) {
        self.content().patch_writes.insert(patch, write);
    }

    pub(crate) fn take_patch_write(&self, patch: &Address) -> Option<PatchWrite> {
        self.content().patch_writes.remove(patch)
    }

    fn content(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(n: usize) -> ReadObject {
        ReadObject { live: json!({ "n": n }), condition: Condition::AsLeft }
    }

    #[test]
    fn an_object_is_handed_over_once() {
        let cache = ReadCache::default();
        assert_eq!(cache.take("a"), Cached::NeverRead);
        cache.keep("a", object(1));
        assert_eq!(cache.get("a"), Some(json!({ "n": 1 })));
        assert_eq!(cache.take("a"), Cached::Read(object(1)));
        assert_eq!(cache.take("a"), Cached::Evicted);
        cache.note_unreadable("b");
        assert_eq!(cache.take("b"), Cached::NeverRead);
        assert!(cache.has_refreshed(None) && !cache.has_read("b"));
    }

    #[test]
    fn only_the_latest_objects_stay() {
        let cache = ReadCache::default();
        for n in 0..LATEST + 10 {
            cache.keep(&n.to_string(), object(n));
        }
        cache.keep("10", object(0));
        cache.keep("more", object(0));
        for n in 0..LATEST + 10 {
            let expected = match n {
                0..10 | 11 => Cached::Evicted,
                10 => Cached::Read(object(0)),
                _ => Cached::Read(object(n)),
            };
            assert_eq!(cache.take(&n.to_string()), expected, "{n}");
        }
    }
}
