//! What the addresses of one configuration want of one object.
//!
//! Each address is planned by itself, and none says which one it is. One that holds the object is
//! known by the id that it gave it; one that is about to make it, or to take it over, has none yet.
//! What two of them want may contradict, and whichever is planned last finds out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use k8sconnect_cluster::Host;
use k8sconnect_core::identity::ID_ANNOTATION;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kin::{Heard, Said, Word};
use super::{Memory, fingerprint};

/// What an address plans for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The ways, by which objects were seen, by uid; and what other processes plan for those there,
    /// by process and id.
    homes: BTreeMap<String, u64>,
    elsewhere: BTreeMap<(u64, String), Elsewhere>,
    /// Ids by a hash of the private state that their plans handed on.
    handed_on: BTreeMap<u64, String>,
}

/// Words about one object, by the process that said it and the id that its address gave.
type Elsewhere = BTreeMap<(String, Option<String>), (Said, Word)>;

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

impl Mark {
    fn id(&self) -> Option<&str> {
        match self {
            Self::Unseen => None,
            Self::Seen(id) => id.as_deref(),
        }
    }
}

impl Memory {
    /// Notes what an address plans for this object: the one that gave it this id, or one that has
    /// none for it.
    pub(crate) fn claim_object(&self, uid: &str, id: Option<&str>, intent: Intent) -> Claim {
        let mut content = self.content();
        if intent != Intent::Make {
            content.uids.insert(uid.to_owned());
        }
        let mark = content.claims.objects.get(uid).and_then(|object| object.mark.id());
        // What is tainted is made anew by the address that has it, which does not say so.
        let its_own = id.is_none() && mark.is_some_and(|mark| content.ids.contains(mark));
        if let (Some(kin), Some(home)) = (&self.kin, content.claims.homes.get(uid).copied())
            && !its_own
        {
            let (mark, id) = (mark.map(str::to_owned), id.map(str::to_owned));
            let word = Word { home, uid: uid.to_owned(), id, mark, intent };
            let mut kin = kin.lock().unwrap_or_else(PoisonError::into_inner);
            content.claims.hear(kin.exchange(word));
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

    /// Notes by which way an object was seen, and whose id it bore.
    pub(crate) fn note_seen(&self, uid: &str, live: &Value, host: &Host) {
        self.note_mark(uid, live);
        self.note_home(uid, host);
    }

    /// Notes by which way an object is reached.
    pub(crate) fn note_home(&self, uid: &str, host: &Host) {
        self.content().claims.homes.insert(uid.to_owned(), fingerprint(&host.to_string()));
    }

    /// Notes that an object was made, or taken over, as it was planned.
    pub(crate) fn end_claim(&self, uid: &str) {
        self.content().claims.end(uid);
    }

    /// Notes whose id an object was seen to bear.
    fn note_mark(&self, uid: &str, live: &Value) {
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
    pub(crate) fn note_handed_on(&self, private: &[u8], id: &str) {
        if !private.is_empty() {
            self.content().claims.handed_on.insert(fingerprint(private), id.to_owned());
        }
    }

    /// The id of the resource that a creation replaces, by what its plan handed on.
    pub(crate) fn replaced_by(&self, private: &[u8]) -> Option<String> {
        self.content().claims.handed_on.get(&fingerprint(private)).cloned()
    }

    /// Whether this process has read anything that state holds, as a plan does and an apply does
    /// not.
    pub(crate) fn has_read_any(&self) -> bool {
        !self.content().ids.is_empty()
    }
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
        let home = self.homes.get(uid).map(|home| (*home, uid.to_owned()));
        let elsewhere = home.and_then(|home| self.elsewhere.get(&home)).into_iter().flatten();
        // One address is planned by several processes, one after another.
        let elsewhere = elsewhere.filter(|((_, other), _)| other.is_none() || *other != who);
        let contradiction = elsewhere
            .map(|((_, other), (said, word))| match (intent, word.intent) {
                // Of one process these may be one address. Of two, they are two.
                (Intent::Make, Intent::Make) if *said == Said::Meanwhile => Claim::HeldTwice,
                (mine, theirs) => {
                    let claim = object.judge((id, mine), (other.as_deref(), theirs));
                    match said {
                        Said::Meanwhile => claim,
                        Said::Before => object.confirm(claim, (id, mine), word),
                    }
                }
            })
            .find(|claim| *claim != Claim::Clear);
        let intent = match (object.wanted.get(&who), intent) {
            // The second half of its own replacement, which must not hide the first.
            (Some(Intent::Keep | Intent::Remake), Intent::Make) if id.is_some() => Intent::Remake,
            (_, intent) => intent,
        };
        object.wanted.insert(who, intent);
        claim.or(contradiction).unwrap_or(Claim::Clear)
    }

    /// Notes what other processes plan.
    fn hear(&mut self, words: Vec<Heard>) {
        for (process, said, word) in words {
            let object = self.elsewhere.entry((word.home, word.uid.clone())).or_default();
            object.insert((process, word.id.clone()), (said, word));
        }
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

    /// What comes of a word that may be of another plan of the same run. Only a loss is certain, and
    /// only where the object bore the id of whoever deletes it when the other wanted it: what was
    /// taken over since, or made twice in a row, is nobody's loss.
    fn confirm(&self, claim: Claim, mine: (Option<&str>, Intent), theirs: &Word) -> Claim {
        let (deletes, bore) = match mine.1 {
            Intent::Keep | Intent::Make => (theirs.id.as_deref(), self.mark.id()),
            Intent::MoveOn | Intent::Remake | Intent::Destroy => (mine.0, theirs.mark.as_deref()),
        };
        match claim {
            Claim::Lost if deletes.is_some() && deletes == bore => Claim::Lost,
            Claim::Lost | Claim::Clear | Claim::HeldTwice => Claim::Clear,
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
        memory.note_handed_on(b"of a", "a");
        memory.note_handed_on(b"", "b");
        assert_eq!(memory.replaced_by(b"of a").as_deref(), Some("a"));
        assert_eq!(memory.replaced_by(b""), None, "nothing is handed on to an ordinary creation");
    }

    #[test]
    fn what_another_process_plans_for_an_object_by_the_same_way_counts_too() {
        let heard = |said: Said, home: u64, bore: &str, theirs: (Option<&str>, Intent)| {
            let (id, mark) = (theirs.0.map(str::to_owned), Some(bore.to_owned()));
            let word = Word { home, uid: "uid".to_owned(), id, mark, intent: theirs.1 };
            ("another".to_owned(), said, word)
        };
        let claim = |heard: Heard, mine: (Option<&str>, Intent)| {
            let mut claims = Claims::default();
            claims.note_mark("uid", Some("a"));
            claims.homes.insert("uid".to_owned(), 1);
            claims.hear(vec![heard]);
            claims.claim("uid", mine.0, mine.1)
        };
        let now = |theirs, mine| claim(heard(Said::Meanwhile, 1, "a", theirs), mine);
        let (destroys, takes) = ((Some("a"), Intent::Destroy), (None, Intent::Make));
        let (keeps, imports) = ((Some("a"), Intent::Keep), (Some("b"), Intent::Keep));
        assert_eq!(now(destroys, takes), Claim::Lost);
        assert_eq!(now(takes, destroys), Claim::Lost);
        assert_eq!(now(destroys, imports), Claim::Lost);
        assert_eq!([now(keeps, takes), now(takes, takes)], [Claim::HeldTwice; 2]);
        assert_eq!(now(destroys, keeps), Claim::Clear, "one address, planned again");
        let copy = heard(Said::Meanwhile, 2, "a", destroys);
        assert_eq!(claim(copy, takes), Claim::Clear, "in a copy of the cluster");

        // Said by one that had ended before: perhaps in an earlier plan of the same run.
        let then = |bore, theirs, mine| claim(heard(Said::Before, 1, bore, theirs), mine);
        for [one, other] in [[destroys, takes], [takes, destroys], [imports, destroys]] {
            assert_eq!(then("a", one, other), Claim::Lost);
        }
        assert_eq!(then("x", takes, destroys), Claim::Clear, "it was taken over first");
        for [one, other] in [[keeps, takes], [takes, takes], [destroys, destroys]] {
            assert_eq!(then("a", one, other), Claim::Clear);
        }
    }

    #[test]
    fn what_was_made_is_held_from_then_on() {
        let mut claims = Claims::default();
        claims.claim("uid", None, Intent::Make);
        claims.end("uid");
        assert_eq!(claims.claim("uid", Some("a"), Intent::Keep), Claim::Clear);
    }
}
