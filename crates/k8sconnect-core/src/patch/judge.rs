//! What a patch means for everybody: who loses what, which fields join the patch and which leave it,
//! and whether there is anything to do at all.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::displaced::{self, in_the_way};
use super::drift::Since;
use super::gone;
use super::mark::Mark;
use super::meant;
use super::outcome::{Outcome, Written, leaf, leaves_now};
use super::place::Shape;
use super::position::Positions;
use super::{Form, Patch};
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::at;
use crate::field::{FieldPath, FieldSet};
use crate::handback::{Division, Extent, lost};
use crate::identity::{ID_ANNOTATION, without_marks};
use crate::manifest::same_shape;
use crate::owners::{Manager, Owners, Ownership};
use crate::ownership::{Class, FieldChange, VersionedOwners, taken_elsewhere};
use crate::projection::{ABSENT, ConcealmentKey, Leaf, Projection, Texts};
use crate::spelling;

/// How the field manager of every patch begins.
const MANAGERS: &str = "k8sconnect-patch-";

/// The field manager of the patch with this id.
pub fn manager_of(id: &str) -> String {
    format!("{MANAGERS}{id}")
}

/// What the last write of a patch left behind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Everyone's fields then.
    pub owners: Owners,
    /// The patched leaves, as the server answered them.
    pub texts: Texts,
    /// What each operation touched, in order; empty for the other forms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Vec<Mark>>,
    /// What stood at the positions that operations went through.
    #[serde(default, skip_serializing_if = "Positions::is_empty")]
    pub positions: Positions,
}

impl Kept {
    /// What our entry held then.
    pub fn ours(&self, manager: &str) -> FieldSet {
        without_marks(self.owners.applied_by(manager))
    }
}

/// A patch before and after.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    pub live: &'a Value,
    pub answer: Written<'a>,
    /// Our own name; a dry-run may have been made under another.
    pub manager: &'a str,
    /// The fields that other patches say they mean.
    pub meant: &'a Owners,
    pub kept: Option<&'a Kept>,
    pub key: Option<&'a ConcealmentKey>,
}

/// What a write would mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Every leaf that joins the patch, and that changes or is taken from somebody.
    pub changes: Vec<FieldChange>,
    /// What is set back and what is taken of the leaves that were patched before.
    pub since: Vec<FieldChange>,
    /// What others lose.
    pub lost: Owners,
    /// Leaves that others hold and that the write leaves as they are.
    pub shared: FieldSet,
    /// Fields that other patches hold.
    pub contested: Vec<(Manager, Vec<FieldPath>)>,
    /// Leaves that were not patched before.
    pub joins: Vec<FieldPath>,
    /// Leaves that are no longer patched.
    pub left: Vec<FieldPath>,
    /// Those of them that go, because something else takes their place.
    pub outdone: Vec<FieldPath>,
    /// Items of lists that go, because the patch replaces the list.
    pub dropped: Vec<(FieldPath, Vec<Value>)>,
    /// What else goes, because the patch replaces what holds it.
    pub gone: Vec<FieldChange>,
    /// What others hold and the patch does not name, and the server takes away all the same.
    pub taken_along: Vec<FieldChange>,
}

impl Patch {
    /// Judges the answer to a dry-run.
    pub fn judge(&self, scene: Scene<'_>, outcome: &Outcome) -> Result<Verdict, FieldsV1Error> {
        let Scene { live, answer, manager, meant, kept, key } = scene;
        let now = Owners::of_object(live)?;
        let next = Owners::of_object(answer.object)?;
        let ours_next = without_marks(next.applied_by(answer.manager));
        let here = Written { object: live, manager: answer.manager };
        let mut leaves = leaves_now(self, &ours_next, &outcome.footprints, here)?;
        self.where_null_comes(outcome, live, &mut leaves);
        let (texts_now, texts_next) = (there(&leaves, key), there(&outcome.leaves, key));
        let lost = without_ours(&lost(&now, &next, manager), manager);
        // Whoever wrote `stringData` of a Secret holds `data` under that name, and loses nothing.
        let renamed = match self.key.gvk.is_secret() {
            true => without_ours(&now, manager).with_string_data_as_data(),
            false => Owners::default(),
        };
        let version = self.key.gvk.api_version();
        let division = Division::told_by([&now, &next]).with_losses(&lost, &version);
        // Who wrote in another version is listed with the paths of that version.
        let elsewhere = VersionedOwners::of(&lost, &version).elsewhere;
        let is_new = |path: &FieldPath| kept.is_none_or(|kept| !kept.texts.contains_key(path));
        let changes: Vec<FieldChange> = outcome
            .leaves
            .0
            .keys()
            .filter(|path| in_the_way(live, path).is_none())
            .filter_map(|path| {
                let mut losers = division.holders(&lost, path, Extent::Whole);
                let (is, will) = (texts_now.get(path), texts_next.get(path));
                let differs = leaves.0.get(path) != outcome.leaves.0.get(path);
                if differs && losers.is_empty() {
                    losers = division.holders(&renamed, path, Extent::Whole);
                }
                // What was not there and does not come is taken from nobody, even if a manager
                // loses the map around it.
                let told = match (is, will) {
                    (None, None) => false,
                    _ => !losers.is_empty() || (is.is_some() && differs),
                };
                // Of a map that is written empty only its being there shows; what goes of it is
                // told field by field.
                let emptied =
                    is == will && is.is_some_and(|it| Extent::of_text(it) == Extent::Itself);
                (told && !emptied).then(|| FieldChange {
                    class: Class::TakenFrom,
                    path: path.clone(),
                    api_version: None,
                    owned_elsewhere: !elsewhere.0.is_empty(),
                    owners: losers,
                    last_applied: None,
                    live: is.cloned(),
                    after: will.cloned(),
                })
            })
            .collect();
        // What is held under another name is changed, and not taken.
        let is_renamed = |change: &FieldChange| {
            !change.owners.is_empty()
                && change.owners == division.holders(&renamed, &change.path, Extent::Whole)
        };
        let told_whole = changes.iter().map(|change| change.path.clone());
        let told_whole: BTreeSet<_> =
            told_whole.filter(|path| at(live, path).is_some_and(Value::is_object)).collect();
        let (mut changes, rest): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|change| is_new(&change.path) || is_renamed(change));
        let places = displaced::places(&outcome.leaves, live);
        let secrecy = &self.secrecy;
        let change = displaced::Change {
            live,
            answer: answer.object,
            lost: &lost,
            division: &division,
            secrecy,
            key,
        };
        let held_before = |place: &FieldChange| {
            kept.is_some_and(|kept| kept.texts.keys().any(|path| path.starts_with(&place.path)))
        };
        // Where the patch put a value itself, and now wants a map, nobody did anything.
        let is_ours = |place: &FieldChange| {
            let set = kept.and_then(|kept| kept.texts.get(&place.path));
            set.is_some() && set == place.live.as_ref()
        };
        let (drifted, displaced): (Vec<_>, Vec<_>) = places
            .iter()
            .filter_map(|place| change.at(place))
            .filter(|place| !is_ours(place) || !place.owners.is_empty())
            .partition(|place| held_before(place) && !is_ours(place));
        changes.extend(displaced);
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        let shape = Shape::told_by(&now);
        let mut contested = contested(&now, &lost, &division, manager, &outcome.leaves, &places);
        let mut gone = self.gone(scene, &shape, &now, &division, &outcome.leaves);
        let is_part = |field: &FieldChange| {
            let within = field.path.elements();
            (1..within.len())
                .any(|n| told_whole.contains(&FieldPath::new(within[..n].iter().cloned())))
        };
        // A map that is told to change as a whole is told with all that it held.
        gone.retain(|field| !places.contains(&field.path) && !is_part(field));
        let mut left =
            kept.map(|kept| left(kept.texts.keys(), &outcome.leaves)).unwrap_or_default();
        let shared_out = Division::told_by([&next]);
        left.retain(|path| {
            !places.contains(path) && !is_named_by_a_part(path, &shared_out, outcome)
        });
        // Only operations put something in the place of what they set before.
        let goes = |path: &&FieldPath| {
            matches!(self.form, Form::Json(_))
                && at(live, path).is_some()
                && at(answer.object, path).is_none()
        };
        let (gone, mut taken_along): (Vec<_>, Vec<_>) =
            gone.into_iter().partition(|field| outcome.puts_in_place_of(&field.path));
        taken_along.retain(|field| !field.owners.is_empty());
        let all_gone: Vec<_> = gone.iter().chain(&taken_along).collect();
        meant::meet(&mut contested, meant, &outcome.leaves, &all_gone);
        let is_named = |owner: &Manager| {
            changes.iter().chain(&rest).any(|change| change.owners.iter().any(|it| it.is(owner)))
        };
        let mut unnamed = elsewhere;
        unnamed.0.retain(|entry| !is_named(&entry.manager));
        let mut since = match kept {
            Some(kept) => {
                let since = Since { scene, kept, now: &now, next: &next, displaced: &drifted };
                since.notices(self, &outcome.leaves, (&texts_now, &texts_next), rest)
            }
            None => Vec::new(),
        };
        since.extend(taken_elsewhere(&unnamed));
        // What is set back is told with who changed it.
        let is_set_back = |path: &FieldPath| {
            since.iter().any(|it| it.class == Class::Drifted && it.path == *path)
        };
        changes.retain(|change| !is_set_back(&change.path));
        Ok(Verdict {
            changes,
            outdone: left.iter().filter(goes).cloned().collect(),
            gone,
            taken_along,
            shared: shared(&leaves, &outcome.leaves, &without_ours(&now, manager)),
            since,
            contested,
            lost,
            joins: outcome.leaves.0.keys().filter(|path| is_new(path)).cloned().collect(),
            left,
            dropped: dropped(&shape, live, answer.object, &outcome.leaves, &self.wishes(outcome)),
        })
    }

    fn gone(
        &self,
        scene: Scene<'_>,
        shape: &Shape,
        now: &Owners,
        division: &Division,
        leaves: &Projection,
    ) -> Vec<FieldChange> {
        let others = without_ours(now, scene.manager);
        let notice = |path: FieldPath| FieldChange {
            class: Class::RemovedWithParent,
            api_version: None,
            owned_elsewhere: false,
            owners: division.holders(&others, &path, Extent::Whole),
            last_applied: None,
            live: Some(leaf(&path, None, scene.live, &self.secrecy).told(&path, scene.key)),
            after: None,
            path,
        };
        let gone = gone::gone(shape, scene.live, scene.answer.object, leaves);
        gone.into_iter().map(notice).collect()
    }

    /// The patched leaves on a live object, seen through what the last write left behind.
    pub fn refreshed(
        &self,
        kept: &Kept,
        live: &Value,
        manager: &str,
    ) -> Result<Projection, FieldsV1Error> {
        let written = Written { object: live, manager };
        let footprints = self.footprints(&kept.marks);
        let mut leaves = leaves_now(self, &kept.ours(manager), &footprints, written)?;
        self.where_null_was(kept, live, &mut leaves);
        Ok(leaves)
    }

    /// Whether everything stands as this patch left it. Of a merge patch and of operations the
    /// values alone tell: an equal value gains no ownership.
    pub fn is_settled(
        &self,
        kept: &Kept,
        key: Option<&ConcealmentKey>,
        live: &Value,
        manager: &str,
    ) -> Result<bool, FieldsV1Error> {
        let entry = match &self.form {
            Form::Apply(_) => {
                let owners = match self.key.gvk.is_secret() {
                    // Another provider may have applied `stringData` under this name.
                    true => Owners::of_object(live)?.with_string_data_as_data(),
                    false => Owners::of_object(live)?,
                };
                without_marks(owners.applied_by(manager)) == kept.ours(manager)
            }
            Form::Merge(_) | Form::Json(_) => true,
        };
        Ok(entry && self.refreshed(kept, live, manager)?.texts(key) == kept.texts)
    }

    /// Whether this patch only spells otherwise what the other one says. The server decides what
    /// means the same: the leaves must come out as they were kept.
    pub fn respells(
        &self,
        other: &Patch,
        outcome: &Outcome,
        kept: &Kept,
        key: Option<&ConcealmentKey>,
    ) -> bool {
        let texts = outcome.leaves.texts(key);
        let same = texts.len() == outcome.leaves.0.len() && texts == kept.texts;
        match (&self.form, &other.form) {
            (Form::Apply(new), Form::Apply(old)) => {
                let fields = kept.texts.keys().cloned().collect();
                same && new.has_same_shape(old)
                    && spelling::same_order(&fields, new.value(), old.value())
            }
            (Form::Merge(new), Form::Merge(old)) => same && same_shape(new, old),
            (new, old) => new == old,
        }
    }
}

impl Outcome {
    /// Those of the fields that a patch named and that it names no longer, not even as a part of
    /// another.
    pub fn leaves_out<'a>(&self, named: impl Iterator<Item = &'a FieldPath>) -> Vec<FieldPath> {
        left(named, &self.leaves)
    }
}

/// Fields that were patched and are so no longer, not even as a part of another.
fn left<'a>(patched: impl Iterator<Item = &'a FieldPath>, leaves: &Projection) -> Vec<FieldPath> {
    let whole = leaves.0.iter().filter(|(_, leaf)| Extent::of(leaf) == Extent::Whole);
    let whole: FieldSet = whole.map(|(path, _)| path.clone()).collect();
    let stays = |path: &FieldPath| {
        let elements = path.elements();
        let mut starts = (1..elements.len()).map(|n| elements[..n].iter().cloned());
        leaves.0.contains_key(path) || starts.any(|start| whole.contains(&FieldPath::new(start)))
    };
    patched.filter(|path| !stays(path)).cloned().collect()
}

/// Whether the patch names a part of a field that has one holder, be it the patch or somebody who has
/// the same value: a list without keys, or a map that is one field.
fn is_named_by_a_part(path: &FieldPath, next: &Division, outcome: &Outcome) -> bool {
    let mut parts = outcome.leaves.0.range(path..).take_while(|(leaf, _)| leaf.starts_with(path));
    parts.any(|(leaf, _)| leaf != path) && next.is_whole(path)
}

/// Leaves that stay as they are and that somebody holds.
fn shared(now: &Projection, next: &Projection, others: &Owners) -> FieldSet {
    let stays = |(path, leaf): &(&FieldPath, &Leaf)| {
        now.0.get(*path) == Some(*leaf) && others.holders(path).next().is_some()
    };
    next.0.iter().filter(stays).map(|(path, _)| path.clone()).collect()
}

/// What is there, as notices tell it: nothing stands for what is absent.
fn there(leaves: &Projection, key: Option<&ConcealmentKey>) -> Texts {
    let mut texts = leaves.told(key);
    texts.retain(|_, text| text != ABSENT);
    texts
}

pub(super) fn without_ours(owners: &Owners, manager: &str) -> Owners {
    Owners(owners.0.iter().filter(|entry| entry.manager.name != manager).cloned().collect())
}

fn contested(
    now: &Owners,
    lost: &Owners,
    division: &Division,
    manager: &str,
    leaves: &Projection,
    displaced: &BTreeSet<FieldPath>,
) -> Vec<(Manager, Vec<FieldPath>)> {
    let patches = now
        .0
        .iter()
        .filter(|entry| entry.manager.name.starts_with(MANAGERS) && entry.manager.name != manager);
    patches
        .filter_map(|entry| {
            let theirs = Owners(vec![entry.clone()]);
            // Any number of patches may want a map to be there.
            let held = |(path, leaf): &(&FieldPath, &Leaf)| {
                !path.names_its_item()
                    && Extent::of(leaf) == Extent::Whole
                    && !division.holders(&theirs, path, Extent::Whole).is_empty()
            };
            let named = |(path, _): (&FieldPath, &Leaf)| {
                meant::whole_around(&entry.fields, path).unwrap_or_else(|| path.clone())
            };
            let mut paths: Vec<_> = leaves.0.iter().filter(held).map(named).collect();
            paths.dedup();
            let holds =
                |place: &&FieldPath| !division.holders(&theirs, place, Extent::Whole).is_empty();
            paths.extend(displaced.iter().filter(holds).cloned());
            if paths.is_empty() {
                let losers = lost.0.iter().find(|it| it.manager.name == entry.manager.name);
                paths.extend(losers.into_iter().flat_map(|it| it.fields.members()));
            }
            (!paths.is_empty()).then(|| (entry.manager.clone(), paths))
        })
        .collect()
}

fn dropped(
    shape: &Shape,
    live: &Value,
    answer: &Value,
    leaves: &Projection,
    wishes: &BTreeMap<FieldPath, Option<Value>>,
) -> Vec<(FieldPath, Vec<Value>)> {
    let list = |path: &FieldPath| {
        let is_emptied = || matches!(wishes.get(path), Some(Some(Value::Array(_))));
        // Of a list without items some kinds make a null.
        let is_list = |next: &&Value| next.is_array() || (next.is_null() && is_emptied());
        let (now, next) = (at(live, path)?.as_array()?, at(answer, path).filter(is_list)?);
        let gone = shape.missing_in(path, now, next);
        (!gone.is_empty()).then(|| (path.clone(), gone))
    };
    leaves.0.keys().filter_map(list).collect()
}

/// An object that a resource of k8sconnect manages as a whole, and the marks that tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    pub id: Option<String>,
    /// Where in `managedFields` the entries of its manager stand.
    pub entries: Vec<usize>,
}

/// Whether the object is managed as a whole, by whatever state. `manager` is who would do so.
pub fn claimed(live: &Value, manager: &str) -> Result<Option<Claimed>, FieldsV1Error> {
    let id = live["metadata"]["annotations"][ID_ANNOTATION].as_str().map(ToOwned::to_owned);
    let owners = Owners::of_object(live)?;
    let is_theirs = |(_, entry): &(usize, &Ownership)| entry.manager.name == manager;
    let entries: Vec<_> = owners.0.iter().enumerate().filter(is_theirs).map(|(n, _)| n).collect();
    Ok((id.is_some() || !entries.is_empty()).then_some(Claimed { id, entries }))
}
