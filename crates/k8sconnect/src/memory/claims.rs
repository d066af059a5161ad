//! What the addresses of one configuration want of one object.
//!
//! Each address is planned by itself, and none says which one it is. One that holds the object is
//! known by the id that it gave it; one that is about to make it, or to take it over, has none yet.
//! What two of them want may contradict, and whichever is planned last finds out.

use std::collections::{BTreeMap, BTreeSet};

use k8sconnect_core::identity::ID_ANNOTATION;
use serde_json::Value;
use tfplugin::Private;

use super::{Memory, fingerprint};

/// What an address plans for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// To hold it on, changed or not; or to hold it from now on, after an import.
    Keep,
    /// To take it over, or to make another one of its name.
    Make,
    /// To delete it and make one of another name instead.
    MoveOn,
    /// To delete it and make another one of its name.
    Remake,
    Destroy,
}

/// Whether two addresses of one configuration want opposite things of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Clear,
    /// One would delete what the other is to have.
    Lost,
    /// Both are to have it.
    HeldTwice,
}

#[derive(Default)]
pub(super) struct Claims {
    objects: BTreeMap<String, Object>,
    protected: BTreeSet<String>,
    /// Uids of what is replaced by something of another name.
    left_behind: BTreeSet<String>,
    /// Ids by a hash of the private state that their plans handed on.
    handed_on: BTreeMap<u64, String>,
}

#[derive(Default)]
struct Object {
    wanted: BTreeMap<Option<String>, Intent>,
    mark: Mark,
}

/// The id that the object bears.
#[derive(Default)]
enum Mark {
    #[default]
    Unseen,
    Seen(Option<String>),
}

impl Memory {
    /// Notes what an address plans for this object: the one that gave it this id, or one that has
    /// none for it.
    pub(crate) fn claim_object(&self, uid: &str, id: Option<&str>, intent: Intent) -> Claim {
        let mut content = self.content();
        if intent != Intent::Make {
            content.uids.insert(uid.to_owned());
        }
        content.claims.claim(uid, id, intent)
    }

    /// Whether another address is about to take over the object with this uid, which the one with
    /// this id has.
    pub(crate) fn is_being_taken(&self, uid: &str, id: &str) -> bool {
        let content = self.content();
        let object = content.claims.objects.get(uid);
        let taken = object.is_some_and(|it| it.wanted.get(&None) == Some(&Intent::Make));
        // One that was read here is tainted, and planned by its own address.
        taken && !content.ids.contains(id)
    }

    /// Whether a plan of this process has an address take over the object with this uid.
    pub(crate) fn is_to_be_taken(&self, uid: &str) -> bool {
        let content = self.content();
        let object = content.claims.objects.get(uid);
        object.is_some_and(|object| object.wanted.values().any(|it| *it == Intent::Make))
    }

    /// Notes that an object was made, or taken over, as it was planned.
    pub(crate) fn end_claim(&self, uid: &str) {
        self.content().claims.end(uid);
    }

    /// Notes whose id an object was seen to bear.
    pub(crate) fn note_mark(&self, uid: &str, live: &Value) {
        let mark = live["metadata"]["annotations"][ID_ANNOTATION].as_str();
        self.content().claims.note_mark(uid, mark);
    }

    /// Notes that state protects the object with this uid from deletion.
    pub(crate) fn note_protected(&self, uid: &str) {
        self.content().claims.protected.insert(uid.to_owned());
    }

    pub(crate) fn is_protected(&self, uid: &str) -> bool {
        self.content().claims.protected.contains(uid)
    }

    /// Notes that another name is planned for what is to replace the object with this uid.
    pub(crate) fn note_left_behind(&self, uid: &str) {
        self.content().claims.left_behind.insert(uid.to_owned());
    }

    pub(crate) fn is_left_behind(&self, uid: &str) -> bool {
        self.content().claims.left_behind.contains(uid)
    }

    /// Notes what the plan of the resource with this id hands on in private. A replacement is
    /// planned once more, as a creation, and given just that.
    pub(crate) fn note_handed_on(&self, private: &Private, id: &str) {
        if !private.is_empty() {
            self.content().claims.handed_on.insert(entries(private), id.to_owned());
        }
    }

    /// The id of the resource that a creation replaces, by what its plan handed on.
    pub(crate) fn replaced_by(&self, private: &Private) -> Option<String> {
        self.content().claims.handed_on.get(&entries(private)).cloned()
    }
}

/// Stands for what private state holds, however it is written.
fn entries(private: &Private) -> u64 {
    fingerprint(&private.entries().collect::<Vec<_>>())
}

impl Claims {
    /// Notes the id that an object was seen to bear.
    fn note_mark(&mut self, uid: &str, id: Option<&str>) {
        self.objects.entry(uid.to_owned()).or_default().mark = Mark::Seen(id.map(str::to_owned));
    }

    /// Notes what the address that gave the object this id wants of it, or one that gave it none.
    /// Of one address, the last word counts.
    fn claim(&mut self, uid: &str, id: Option<&str>, intent: Intent) -> Claim {
        let object = self.objects.entry(uid.to_owned()).or_default();
        let who = id.map(str::to_owned);
        let others = object.wanted.iter().filter(|(other, _)| **other != who);
        let claim = others
            .map(|(other, theirs)| object.judge((id, intent), (other.as_deref(), *theirs)))
            .find(|claim| *claim != Claim::Clear);
        let intent = match (object.wanted.get(&who), intent) {
            // The second half of its own replacement, which must not hide the first.
            (Some(Intent::Keep | Intent::Remake), Intent::Make) if id.is_some() => Intent::Remake,
            (_, intent) => intent,
        };
        object.wanted.insert(who, intent);
        claim.unwrap_or(Claim::Clear)
    }

    /// Notes that what an address without an id wanted of the object is done.
    fn end(&mut self, uid: &str) {
        if let Some(object) = self.objects.get_mut(uid) {
            object.wanted.remove(&None);
        }
    }
}

impl Object {
    fn judge(&self, one: (Option<&str>, Intent), other: (Option<&str>, Intent)) -> Claim {
        use Intent::{Destroy, Keep, Make, MoveOn, Remake};
        match (one.1, other.1) {
            (Keep | Remake, Make) | (Make, Keep | Remake) | (Keep, Keep) => Claim::HeldTwice,
            (Keep, Destroy | MoveOn | Remake) if self.goes_with(other.0) => Claim::Lost,
            (Destroy | MoveOn | Remake, Keep) if self.goes_with(one.0) => Claim::Lost,
            (Make, Destroy) | (Destroy, Make) => Claim::Lost,
            // One that moves on makes room for another.
            (Make, MoveOn) | (MoveOn, Make) => Claim::Clear,
            (Make, Make) | (Keep | Destroy | MoveOn | Remake, _) => Claim::Clear,
        }
    }

    /// Whether the object goes if the address that gave it this id deletes it: one that bears
    /// another id is left alone.
    fn goes_with(&self, id: Option<&str>) -> bool {
        match &self.mark {
            Mark::Unseen | Mark::Seen(None) => true,
            Mark::Seen(mark) => mark.as_deref() == id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of two claims, which must not depend on their order.
    fn both(mark: Option<&str>, one: (Option<&str>, Intent), two: (Option<&str>, Intent)) -> Claim {
        let after = |first: (Option<&str>, Intent), second: (Option<&str>, Intent)| {
            let mut claims = Claims::default();
            claims.note_mark("uid", mark);
            assert_eq!(claims.claim("uid", first.0, first.1), Claim::Clear);
            assert_eq!(claims.claim("another", second.0, second.1), Claim::Clear);
            claims.claim("uid", second.0, second.1)
        };
        let claim = after(one, two);
        assert_eq!(claim, after(two, one));
        claim
    }

    #[test]
    fn what_one_address_destroys_no_other_may_have() {
        let destroys = (Some("a"), Intent::Destroy);
        assert_eq!(both(Some("a"), destroys, (None, Intent::Make)), Claim::Lost);
        assert_eq!(both(Some("a"), destroys, (Some("b"), Intent::Keep)), Claim::Lost);
        assert_eq!(both(None, (Some("a"), Intent::MoveOn), (Some("b"), Intent::Keep)), Claim::Lost);
    }

    #[test]
    fn what_bears_the_keepers_id_survives_the_end_of_another_address() {
        let (destroys, keeps) = ((Some("a"), Intent::Destroy), (Some("b"), Intent::Keep));
        assert_eq!(both(Some("b"), destroys, keeps), Claim::Clear);
    }

    #[test]
    fn one_object_has_one_address() {
        let keeps = (Some("a"), Intent::Keep);
        assert_eq!(both(Some("a"), keeps, (Some("b"), Intent::Keep)), Claim::HeldTwice);
        assert_eq!(both(Some("a"), keeps, (None, Intent::Make)), Claim::HeldTwice);
    }

    #[test]
    fn one_address_may_change_its_mind_and_another_may_move_on() {
        let mut claims = Claims::default();
        for intent in [Intent::Keep, Intent::Make, Intent::Destroy] {
            assert_eq!(claims.claim("uid", Some("a"), intent), Claim::Clear);
        }
        let moves = (Some("a"), Intent::MoveOn);
        assert_eq!(both(Some("a"), moves, (Some("b"), Intent::Make)), Claim::Clear);
    }

    #[test]
    fn what_is_made_anew_under_its_name_makes_room_for_nobody() {
        let remade = (Some("a"), Intent::Remake);
        assert_eq!(both(Some("a"), remade, (None, Intent::Make)), Claim::HeldTwice);
        // Also where both halves of the replacement were planned before.
        let mut claims = Claims::default();
        for intent in [Intent::Remake, Intent::Make] {
            assert_eq!(claims.claim("uid", Some("a"), intent), Claim::Clear);
        }
        assert_eq!(claims.claim("uid", None, Intent::Make), Claim::HeldTwice);
    }

    #[test]
    fn a_replacement_is_known_by_what_its_plan_handed_on() {
        let memory = Memory::default();
        let mut private = Private::default();
        memory.note_handed_on(&private, "b");
        assert_eq!(memory.replaced_by(&private), None, "an ordinary creation is handed nothing");
        private.set("of", &"a").unwrap();
        memory.note_handed_on(&private, "a");
        assert_eq!(memory.replaced_by(&private).as_deref(), Some("a"));
    }

    #[test]
    fn what_was_made_is_held_from_then_on() {
        let mut claims = Claims::default();
        claims.claim("uid", None, Intent::Make);
        claims.end("uid");
        assert_eq!(claims.claim("uid", Some("a"), Intent::Keep), Claim::Clear);
    }
}
