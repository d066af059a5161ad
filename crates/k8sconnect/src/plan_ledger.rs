//! What the plans of this process do to each object: the only place where the plan of one resource
//! address learns about another.
//!
//! Terraform plans each address by itself, in any order, and no request names its address. So each
//! plan enters its action here, and [`Ledger::conflict`] compares it with the actions of the other
//! addresses. Of two plans that contradict each other, the later one fails. An object that no plan
//! has seen is known by its name, any other by its UID.
//!
//! Beside the planned actions, the ledger has [`Fact`]s, which contradict nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use k8sconnect_cluster::{Host, Kind};
use k8sconnect_core::field::{FieldPath, FieldSet};
use k8sconnect_core::identity::{DEFAULT_NAMESPACE, Gvk, ID_ANNOTATION, ObjectKey};
use k8sconnect_core::owners::Manager;
use k8sconnect_core::patch::common_fields;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tfplugin::Private;

/// A SHA-256 digest of something that is only compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let sum = parts.into_iter().fold(Sha256::new(), |sum, part| {
            let part = part.as_ref();
            sum.chain_update(part.len().to_be_bytes()).chain_update(part)
        });
        Self(sum.finalize().into())
    }
}

/// A resource address, as far as a plan knows its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Address {
    /// The address whose state has this id.
    InState(String),
    /// An address without state. Two such addresses that write the same are taken for one, since an
    /// address may be planned more than once; the apply tells them apart.
    New(Digest),
}

/// The name of an object on an API server, in whatever version it is written. No namespace is the
/// same as the default one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    host: String,
    key: ObjectKey,
}

impl Name {
    pub(crate) fn new(host: &Host, key: &ObjectKey) -> Self {
        let mut key = key.unversioned();
        key.namespace.get_or_insert_with(|| DEFAULT_NAMESPACE.to_owned());
        Self { host: host.to_string(), key }
    }

    pub(crate) fn of_definition(host: &Host, kind: &Kind) -> Self {
        let (gvk, name) = (Gvk::definition(), kind.definition_name());
        Self::new(host, &ObjectKey { gvk, namespace: None, name })
    }
}

/// What a planned action is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// The object with this UID.
    Object(String),
    /// The object of this name, also before it exists.
    Name(Name),
    /// The patch with this id.
    Patch(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlannedAction {
    /// Keep the object or patch in state, changed or not; an import does so too.
    Keep,
    /// Create an object, or adopt the one that exists.
    Create,
    /// Create an object of the same name, which the server refuses as long as this one is there.
    CreateNamesake,
    /// Delete the object, and create another of its name.
    Replace,
    /// Delete the object, and create one of another name.
    Rename,
    Destroy,
    /// Patch the object. A new patch says which fields it writes.
    Patch(FieldSet),
    /// Take over fields of the patch, which is expected to be tainted.
    TakeOver(OwnedFields),
}

/// The fields of each owner.
pub(crate) type OwnedFields = Vec<(Manager, Vec<FieldPath>)>;

/// How the plans of two addresses contradict each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Conflict {
    /// One address deletes what the other one keeps or creates.
    DeletedAndKept,
    OwnedTwice,
    CreatedTwice,
    CreatedAndPatched,
    /// Two new patches write these fields.
    PatchedTwice(BTreeSet<FieldPath>),
    /// A new patch takes over fields of a patch that is not tainted.
    PatchKept(OwnedFields),
}

/// Something that a read, a plan or an apply of this process has found out or done, for the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fact {
    /// An object in state, by UID.
    InState(String),
    /// An object in state with `delete_protection`.
    Protected(String),
    /// An object that gets another name.
    Renamed(String),
    /// An object whose successor the server has accepted in a dry-run.
    Replaceable(String),
    /// This run creates the object.
    Created(Name),
    /// This run changes the object.
    Changed(Name),
    /// This run changes what a CRD says of this version; without a version, perhaps of any.
    Redefined(Name, Option<String>),
    /// The refresh has dropped the object from state, because another one has its name.
    Superseded(Name),
    /// This process has begun to delete the object.
    Deleted(Name),
    /// This process has begun to create an object with this id.
    OwnId(String),
    /// This process has written or deleted a CRD of this group.
    DefinitionWritten { host: String, group: String },
    /// A warning of the server has been shown.
    Warned(Name, String),
}

#[derive(Default)]
pub(crate) struct PlanLedger(Mutex<Ledger>);

#[derive(Default)]
struct Ledger {
    plans: BTreeMap<Target, Vec<Planned>>,
    facts: BTreeSet<Fact>,
    /// The id annotations of objects, by UID.
    id_annotations: BTreeMap<String, Option<String>>,
    /// Whose plan has returned a private state.
    returned: BTreeMap<Digest, String>,
}

struct Planned {
    by: Address,
    action: PlannedAction,
}

impl PlanLedger {
    /// Enters what an address plans, unless it contradicts another address. The last action of an
    /// address counts.
    pub(crate) fn plan(
        &self,
        target: Target,
        by: Address,
        action: PlannedAction,
    ) -> Result<(), Conflict> {
        let mut ledger = self.ledger();
        let planned = Planned { by, action };
        let all = ledger.plans.get(&target).into_iter().flatten();
        let mut others = all.filter(|other| other.by != planned.by);
        if let Some(conflict) = others.find_map(|other| ledger.conflict(&target, &planned, other)) {
            return Err(conflict);
        }
        let all = ledger.plans.entry(target).or_default();
        all.retain(|other| other.by != planned.by);
        all.push(planned);
        Ok(())
    }

    /// Whether an address without state is to adopt the object with this UID.
    pub(crate) fn is_adopted(&self, uid: &str) -> bool {
        let ledger = self.ledger();
        let all = ledger.plans.get(&Target::Object(uid.to_owned()));
        all.into_iter().flatten().any(|planned| {
            matches!((&planned.by, &planned.action), (Address::New(_), PlannedAction::Create))
        })
    }

    /// Strikes out planned creations, which are done or have failed.
    pub(crate) fn end_creation(&self, targets: impl IntoIterator<Item = Target>) {
        let mut ledger = self.ledger();
        for target in targets {
            let all = ledger.plans.get_mut(&target).into_iter();
            all.for_each(|all| all.retain(|planned| planned.action != PlannedAction::Create));
        }
    }

    /// Notes a fact; whether it is new.
    pub(crate) fn note(&self, fact: Fact) -> bool {
        self.ledger().facts.insert(fact)
    }

    pub(crate) fn knows(&self, fact: &Fact) -> bool {
        self.ledger().facts.contains(fact)
    }

    /// Whether this run creates the CRD of a kind, or changes what the CRD says of the kind's version.
    pub(crate) fn redefines(&self, host: &Host, kind: &Kind) -> bool {
        let name = Name::of_definition(host, kind);
        let redefined = |version| Fact::Redefined(name.clone(), version);
        let facts = [redefined(Some(kind.gvk.version.clone())), redefined(None)];
        facts.iter().any(|fact| self.knows(fact)) || self.knows(&Fact::Created(name))
    }

    /// The warnings about an object that were not shown yet: each write is preceded by a dry-run,
    /// which brings the same ones.
    pub(crate) fn new_warnings(
        &self,
        host: &Host,
        key: &ObjectKey,
        warnings: &[String],
    ) -> Vec<String> {
        let name = Name::new(host, key);
        let is_new = |text: &&String| self.note(Fact::Warned(name.clone(), (*text).clone()));
        warnings.iter().filter(is_new).cloned().collect()
    }

    /// Notes whose id the object with this UID has.
    pub(crate) fn note_id_annotation(&self, uid: &str, live: &Value) {
        let id = live["metadata"]["annotations"][ID_ANNOTATION].as_str().map(ToOwned::to_owned);
        self.ledger().id_annotations.insert(uid.to_owned(), id);
    }

    /// Notes the private state that the plan of a resource returns. Terraform plans a replacement
    /// once more as a creation, and gives that plan the same private state.
    pub(crate) fn note_returned(&self, id: &str, private: &Private) {
        if !private.is_empty() {
            self.ledger().returned.insert(digest(private), id.to_owned());
        }
    }

    /// The id of the resource that a creation replaces.
    pub(crate) fn replaced_by(&self, private: &Private) -> Option<String> {
        self.ledger().returned.get(&digest(private)).cloned()
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn digest(private: &Private) -> Digest {
    Digest::of(private.entries().flat_map(|(key, value)| [key.as_bytes(), value]))
}

impl Ledger {
    /// How the actions of two addresses contradict each other, whichever was planned first.
    fn conflict(&self, target: &Target, one: &Planned, other: &Planned) -> Option<Conflict> {
        use PlannedAction::{
            Create, CreateNamesake, Destroy, Keep, Patch, Rename, Replace, TakeOver,
        };
        let directed = |one: &Planned, other: &Planned| match (&one.action, &other.action) {
            (Create, Create) => Some(Conflict::CreatedTwice),
            (Create, Patch(_)) => Some(Conflict::CreatedAndPatched),
            (Create, Keep | Replace) | (Keep, Keep) => Some(Conflict::OwnedTwice),
            (Create | CreateNamesake, Destroy) => Some(Conflict::DeletedAndKept),
            (Keep, Destroy | Rename | Replace) if self.is_deleted_by(&other.by, target) => {
                Some(Conflict::DeletedAndKept)
            }
            (Patch(fields), Patch(others)) => {
                let common = common_fields(fields, others);
                (!common.is_empty()).then_some(Conflict::PatchedTwice(common))
            }
            (TakeOver(fields), Keep) => Some(Conflict::PatchKept(fields.clone())),
            _ => None,
        };
        directed(one, other).or_else(|| directed(other, one))
    }

    /// Whether an address that destroys its object deletes this one: an object with another id is left
    /// alone.
    fn is_deleted_by(&self, address: &Address, target: &Target) -> bool {
        let annotation = match target {
            Target::Object(uid) => self.id_annotations.get(uid).and_then(Option::as_ref),
            Target::Name(_) | Target::Patch(_) => None,
        };
        annotation.is_none_or(|id| *address == Address::InState(id.clone()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::PlannedAction::{Create, CreateNamesake, Destroy, Keep, Rename, Replace, TakeOver};
    use super::*;

    fn in_state(id: &str) -> Address {
        Address::InState(id.to_owned())
    }

    fn new(body: &str) -> Address {
        Address::New(Digest::of([body]))
    }

    fn object() -> Target {
        Target::Object("uid".to_owned())
    }

    type Plan = (Address, PlannedAction);

    /// What comes of two plans of an object with this id annotation, in either order.
    fn both(id: Option<&str>, one: &Plan, two: &Plan) -> Result<(), Conflict> {
        let after = |(first, its): &Plan, (second, action): &Plan| {
            let ledger = PlanLedger::default();
            let live = json!({"metadata": {"annotations": {ID_ANNOTATION: id}}});
            ledger.note_id_annotation("uid", &live);
            ledger.plan(object(), first.clone(), its.clone()).unwrap();
            let elsewhere = Target::Object("another".to_owned());
            ledger.plan(elsewhere, second.clone(), action.clone()).unwrap();
            ledger.plan(object(), second.clone(), action.clone())
        };
        let found = after(one, two);
        assert_eq!(found, after(two, one), "the order makes no difference");
        found
    }

    #[test]
    fn what_one_address_deletes_no_other_keeps_or_creates() {
        let [destroys, renames] = [Destroy, Rename].map(|action| (in_state("a"), action));
        let keeps = (in_state("b"), Keep);
        let lost = Err(Conflict::DeletedAndKept);
        assert_eq!(both(Some("a"), &destroys, &(new("x"), Create)), lost);
        assert_eq!(both(Some("a"), &destroys, &(new("x"), CreateNamesake)), lost);
        assert_eq!(both(Some("a"), &renames, &(new("x"), CreateNamesake)), Ok(()));
        assert_eq!(both(Some("a"), &destroys, &keeps), lost);
        assert_eq!(both(None, &renames, &keeps), lost);
        assert_eq!(both(Some("b"), &destroys, &keeps), Ok(()), "it has the id of its keeper");
    }

    #[test]
    fn an_object_has_one_address() {
        let keeps = (in_state("a"), Keep);
        let twice = Err(Conflict::OwnedTwice);
        assert_eq!(both(Some("a"), &keeps, &(in_state("b"), Keep)), twice);
        assert_eq!(both(Some("a"), &keeps, &(new("x"), Create)), twice);
        assert_eq!(both(Some("a"), &(in_state("a"), Replace), &(new("x"), Create)), twice);
        let renames = (in_state("a"), Rename);
        assert_eq!(both(Some("a"), &renames, &(new("x"), Create)), Ok(()), "the name is free");
    }

    #[test]
    fn an_address_may_be_planned_again_and_differently() {
        let ledger = PlanLedger::default();
        for action in [Keep, Replace, Destroy] {
            assert_eq!(ledger.plan(object(), in_state("a"), action), Ok(()));
        }
    }

    #[test]
    fn two_bodies_of_one_name_are_two_addresses() {
        let ledger = PlanLedger::default();
        let (host, gvk) = ("https://a".parse().unwrap(), Gvk::new("v1", "ConfigMap"));
        let key = ObjectKey { gvk, namespace: None, name: "a".into() };
        let name = || Target::Name(Name::new(&host, &key));
        let create = |body| ledger.plan(name(), new(body), Create);
        assert_eq!(create("x"), Ok(()));
        assert_eq!(create("x"), Ok(()), "the same address may be planned again");
        assert_eq!(create("y"), Err(Conflict::CreatedTwice));
        let fields: FieldSet = ["data.a".parse().unwrap()].into_iter().collect();
        let patch = |by, fields| ledger.plan(name(), by, PlannedAction::Patch(fields));
        assert_eq!(patch(in_state("p"), FieldSet::default()), Err(Conflict::CreatedAndPatched));
        ledger.end_creation([name()]);
        assert_eq!(patch(in_state("p"), FieldSet::default()), Ok(()), "that one is over");
        assert_eq!(patch(new("p"), fields.clone()), Ok(()));
        let common = fields.members().into_iter().collect();
        assert_eq!(patch(new("q"), fields), Err(Conflict::PatchedTwice(common)));
    }

    #[test]
    fn a_new_patch_and_the_one_it_takes_fields_from_may_be_planned_in_any_order() {
        let (keeps, takes) = ((in_state("p"), Keep), (new("q"), TakeOver(vec![])));
        assert_eq!(both(None, &keeps, &takes), Err(Conflict::PatchKept(vec![])));
    }

    #[test]
    fn a_replacement_is_known_by_the_private_state_that_its_first_plan_has_returned() {
        let ledger = PlanLedger::default();
        let mut private = Private::default();
        ledger.note_returned("b", &private);
        assert_eq!(ledger.replaced_by(&private), None, "an ordinary creation is given none");
        private.set("of", &"a").unwrap();
        ledger.note_returned("a", &private);
        assert_eq!(ledger.replaced_by(&private).as_deref(), Some("a"));
    }
}
