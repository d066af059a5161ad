//! How the rows of the ownership table are made: one walk over the fields of the last apply, of the live
//! object and of the answer to a dry-run.
//!
//! A row stands at the place where the change happens. An item of a list that appears or goes is one row.
//! A value that stands where a map or a list should be is one row, and so is a list or map that is owned
//! as a whole, with the parts that others own in it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{After, Applied, Class, FieldChange, Row};
use crate::field::walk::{Below, Walked, at_written, in_the_way, zip};
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::identity::is_marking;
use crate::owners::{Manager, Owners, Ownership};
use crate::projection::{ConcealmentKey, Leaf, Projection, Texts};
use crate::secrecy::Secrecy;

/// What our manager applied last.
#[derive(Clone, Copy, Debug)]
pub struct LastApply<'a> {
    pub fields: &'a FieldSet,
    pub texts: &'a Texts,
    /// Those of the fields that were ignored, so that nothing is on record for them.
    pub unrecorded: &'a FieldSet,
    /// Lists and maps that the body had empty. The API server may record no owner for such a list.
    pub empty: &'a FieldSet,
}

/// The lists and maps that a body has empty, outside of list items.
pub fn written_empty(body: &Value) -> FieldSet {
    fn collect(value: &Value, path: &mut FieldPath, found: &mut FieldSet) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (name, value) in map {
                    path.push(PathElement::field(name));
                    collect(value, path, found);
                    path.pop();
                }
            }
            Value::Object(_) => found.insert(path),
            Value::Array(items) if items.is_empty() => found.insert(path),
            _ => {}
        }
    }
    let mut found = FieldSet::default();
    collect(body, &mut FieldPath::default(), &mut found);
    found
}

/// The object at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    pub object: &'a Value,
    pub owners: &'a VersionedOwners,
    /// The fields that our manager owns.
    pub ours: &'a FieldSet,
    /// Our leaves, and those of the last apply.
    pub leaves: &'a Projection,
}

/// The owners of an object, by the version in which they wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VersionedOwners {
    /// With the paths of the version of the body.
    pub here: Owners,
    /// With the paths of other versions. Nothing says which fields of the body they mean.
    pub elsewhere: Owners,
}

impl VersionedOwners {
    /// Metadata is the same in every version, and nobody applies the status of an object.
    pub fn of(owners: &Owners, api_version: &str) -> Self {
        let [metadata, status] = ["metadata", "status"].map(|name| FieldPath::fields([name]));
        let mut split = Self::default();
        for entry in &owners.0 {
            if entry.manager.api_version == api_version {
                split.here.0.push(entry.clone());
                continue;
            }
            let is_metadata = |path: &FieldPath| path.starts_with(&metadata);
            let fields = entry.fields.members().into_iter();
            let fields = fields.filter(|path| !path.starts_with(&status));
            let (same, other): (Vec<_>, Vec<_>) = fields.partition(is_metadata);
            for (paths, into) in [(same, &mut split.here), (other, &mut split.elsewhere)] {
                let fields: FieldSet = paths.into_iter().collect();
                if !fields.is_empty() {
                    into.0.push(Ownership { manager: entry.manager.clone(), fields });
                }
            }
        }
        split
    }

    /// The fields that a manager owns in the version of another entry of the same manager.
    fn owned_elsewhere(&self, manager: &Manager) -> FieldSet {
        let same = self.elsewhere.0.iter().filter(|it| it.manager.is(manager));
        let same = same.filter(|it| it.manager.api_version == manager.api_version);
        same.fold(FieldSet::default(), |all, it| all.union(&it.fields))
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    pub manager: &'a str,
    pub last: Option<LastApply<'a>>,
    pub live: Snapshot<'a>,
    /// Absent where no dry-run has answered.
    pub after: Option<Snapshot<'a>>,
    /// The body that is sent.
    pub written: &'a Value,
    pub secrecy: &'a Secrecy,
    pub key: Option<&'a ConcealmentKey>,
}

impl Table<'_> {
    /// The rows, without those that are unchanged.
    pub fn changes(&self) -> Vec<FieldChange> {
        let rows = self.rows();
        let mut changes: Vec<_> = rows
            .iter()
            .map(|row| (row, row.class(self.key)))
            .filter(|(_, class)| *class != Class::Unchanged)
            .map(|(row, class)| self.change(row, class))
            .collect();
        changes.extend(taken_elsewhere(&self.lost_elsewhere()));
        if changes.iter().any(|change| change.class == Class::OwnedElsewhere) {
            let owners = self.after.map(|after| &after.owners.elsewhere);
            let owners = owners.into_iter();
            changes.extend(owners.flat_map(|it| fields_elsewhere(it, Class::OwnedElsewhere)));
        }
        changes
    }

    /// All rows, by path.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let (live, after) = (self.live.object, self.after.map(|after| after.object));
        let values = [Walked::Stored(Some(live)), Walked::Stored(after)];
        let lost = self.lost();
        zip(&self.fields(&lost), values, &mut |path, fields, values| {
            match self.extent(path, (fields, &lost), values) {
                Some(Extent::Whole) => {
                    rows.push(self.row(path, Extent::Whole, values));
                    return Below::Skip;
                }
                Some(Extent::Field) => rows.push(self.row(path, Extent::Field, values)),
                None => {}
            }
            Below::Visit
        });
        // An item that stays is reported by its fields, if there are any.
        let retained: BTreeSet<_> = rows
            .iter()
            .filter(|row| row.class(self.key) == Class::RetainedBy)
            .map(|row| row.path.clone())
            .collect();
        let has_parts = |item: &FieldPath| {
            let mut below = retained.range(item..).skip(1);
            ends_in_item(item) && below.next().is_some_and(|path| path.starts_with(item))
        };
        rows.retain(|row| !retained.contains(&row.path) || !has_parts(&row.path));
        rows
    }

    /// Every field that the write may concern.
    fn fields(&self, lost: &FieldSet) -> FieldSet {
        let before = self.last.map(|last| last.fields.clone()).unwrap_or_default();
        let Some(after) = self.after else {
            return before;
        };
        let empty = self.last.map(|last| last.empty.clone()).unwrap_or_default();
        before.union(&empty).union(after.ours).union(self.live.ours).union(lost)
    }

    /// The leaves that other managers lose. The owner of a map that others own parts of owns only that the
    /// map exists.
    fn lost(&self) -> FieldSet {
        let owners = &self.live.owners.here;
        let is_divided = |path: &FieldPath| {
            owners.0.iter().any(|it| it.fields.below(path).is_some_and(|it| !it.is_leaf()))
        };
        let mut lost = FieldSet::default();
        for entry in owners.others(self.manager) {
            let kept = self.kept_by(entry);
            if entry.fields == kept {
                continue;
            }
            let leaves = entry.fields.leaves().into_iter();
            let gone = leaves.filter(|path| !kept.contains(path) && !is_divided(path));
            gone.for_each(|path| lost.insert(&path));
        }
        lost
    }

    /// What the manager of an entry owns after the write.
    fn kept_by(&self, entry: &Ownership) -> FieldSet {
        let after = self.after.iter().flat_map(|after| &after.owners.here.0);
        let same = after.filter(|other| other.manager.is(&entry.manager));
        same.fold(FieldSet::default(), |all, it| all.union(&it.fields))
    }

    /// Whether a row stands at a path, and whether it stands for all that is below.
    fn extent(
        &self,
        path: &FieldPath,
        (fields, lost): (&FieldSet, &FieldSet),
        [live, after]: [Option<&Value>; 2],
    ) -> Option<Extent> {
        if path.is_empty() || is_marking(path) {
            return None;
        }
        let has_parts = fields.children().next().is_some();
        let is_blocked = |value: Option<&Value>| {
            value.is_some_and(|value| fields.children().any(|(part, _)| !can_hold(value, part)))
        };
        let is_item = !matches!(path.elements().last(), Some(PathElement::Field(_)));
        let comes_or_goes = match self.after {
            Some(_) => live.is_some() != after.is_some(),
            None => live.is_none(),
        };
        // Of what is empty after the write, nothing says whether it is owned as a whole.
        let is_whole = after.is_some_and(|after| !is_empty(after))
            && self
                .after
                .is_some_and(|after| after.ours.below(path).is_some_and(FieldSet::is_leaf));
        if is_blocked(live)
            || is_blocked(after)
            || (has_parts && is_whole)
            || (is_item && comes_or_goes)
            || self.was_removed_empty(path, live, after)
        {
            return Some(Extent::Whole);
        }
        let has_row = self.has_row(path) || lost.contains(path);
        (!path.names_its_item() && has_row).then_some(Extent::Field)
    }

    /// Whether somebody removed a list or a map that the body has empty, and the write brings it back.
    fn was_removed_empty(
        &self,
        path: &FieldPath,
        live: Option<&Value>,
        after: Option<&Value>,
    ) -> bool {
        live.is_none()
            && after.is_some()
            && self.last.is_some_and(|last| last.empty.contains(path))
            && at_written(self.written, path).is_some_and(is_empty)
    }

    /// Whether a field is worth a row of its own.
    fn has_row(&self, path: &FieldPath) -> bool {
        let is_leaf = |set: &FieldSet| set.below(path).is_some_and(FieldSet::is_leaf);
        let before = self.last.map(|last| last.fields);
        let was_ours = before.is_some_and(|before| before.contains(path));
        let Some(after) = self.after else {
            return was_ours
                && (before.is_some_and(is_leaf) || self.live.leaves.get(path).is_some());
        };
        let is_ours = after.ours.below(path).is_some();
        let shows = self.live.leaves.get(path).is_some() || after.leaves.get(path).is_some();
        let is_dropped =
            !is_ours && was_ours && (before.is_some_and(is_leaf) || ends_in_item(path));
        let is_lost_by_us =
            is_ours && was_ours && before.is_some_and(is_leaf) && !self.live.ours.contains(path);
        let is_foreign = !is_ours && !was_ours && is_leaf(self.live.ours);
        (shows && (after.ours.contains(path) || (was_ours && !is_ours)))
            || is_dropped
            || is_lost_by_us
            || is_foreign
    }

    fn row(&self, path: &FieldPath, extent: Extent, [live, after]: [Option<&Value>; 2]) -> Row {
        let is_whole = extent == Extent::Whole;
        let owns =
            |fields: &FieldSet| fields.contains(path) || (is_whole && fields.below(path).is_some());
        let owners = |owners: &VersionedOwners| -> Vec<Manager> {
            let others = owners.here.others(self.manager);
            others.filter(|it| owns(&it.fields)).map(|it| it.manager.clone()).collect()
        };
        let is_removed = self.was_removed_empty(path, live, after);
        let ours_after = is_removed || self.after.is_some_and(|after| owns(after.ours));
        // A field of ours shows as the projection has it; another one as the object has it.
        let by_leaves = !is_whole && (ours_after || self.after.is_none());
        let shown = |snapshot: Snapshot<'_>, value: Option<&Value>| match by_leaves {
            true => snapshot.leaves.get(path).cloned(),
            false => value.map(|value| self.leaf(path, value, snapshot.object)),
        };
        let after = match self.after {
            None => After::Unknown,
            Some(snapshot) => shown(snapshot, after).map_or(After::Absent, After::Value),
        };
        Row {
            applied: match is_removed {
                true => Applied::Displaced,
                false => self.applied(path, extent, live),
            },
            live: shown(self.live, live),
            after,
            ours_live: owns(self.live.ours),
            ours_after,
            owners_live: owners(self.live.owners),
            owners_after: self.after.map(|after| owners(after.owners)).unwrap_or_default(),
            owned_elsewhere: self.is_owned_elsewhere(),
            path: path.clone(),
        }
    }

    fn is_owned_elsewhere(&self) -> bool {
        self.live.owners.elsewhere.others(self.manager).next().is_some()
    }

    fn applied(&self, path: &FieldPath, extent: Extent, live: Option<&Value>) -> Applied {
        let Some(LastApply { fields, texts, unrecorded, .. }) = self.last else {
            return Applied::NotOurs;
        };
        let Some(below) = fields.below(path) else {
            return Applied::NotOurs;
        };
        let has_place = |value: &Value| below.children().all(|(part, _)| can_hold(value, part));
        match texts.get(path) {
            _ if unrecorded.contains(path) => Applied::Unrecorded,
            Some(text) if below.is_member() => Applied::Shown(text.clone()),
            _ if below.is_leaf() => Applied::Absent,
            _ if extent == Extent::Field && ends_in_item(path) => Applied::Absent,
            _ if extent == Extent::Field => Applied::NotOurs,
            _ if live.is_some_and(has_place) => Applied::Parts,
            _ => Applied::Displaced,
        }
    }

    fn leaf(&self, path: &FieldPath, value: &Value, object: &Value) -> Leaf {
        match self.secrecy.conceals_within(path, value, object) {
            true => Leaf::Concealed(value.clone()),
            false => Leaf::Shown(value.clone()),
        }
    }

    /// The row as it is shown. Of an item is shown what the body has of it: what the server adds, a
    /// dry-run may only have drawn.
    fn change(&self, row: &Row, class: Class) -> FieldChange {
        let text = |leaf: &Leaf| leaf.told(&row.path, self.key);
        let after = match &row.after {
            After::Unknown => row.live.as_ref().map(text),
            After::Absent => None,
            After::Value(leaf) => {
                let written =
                    at_written(self.written, &row.path).filter(|_| ends_in_item(&row.path));
                let written = written.map(|value| match leaf {
                    Leaf::Concealed(_) => Leaf::Concealed(value.clone()),
                    Leaf::Shown(_) | Leaf::Absent => Leaf::Shown(value.clone()),
                });
                Some(text(written.as_ref().filter(|_| row.live.is_none()).unwrap_or(leaf)))
            }
        };
        let owners = match class {
            Class::TakenFrom | Class::RemovedWithParent => row.lose(),
            Class::RetainedBy => row.owners_after.clone(),
            Class::Drifted if row.owners_live.is_empty() => self.owners_in_the_way(&row.path),
            _ => row.owners_live.clone(),
        };
        FieldChange {
            class,
            path: row.path.clone(),
            api_version: None,
            owners,
            owned_elsewhere: row.owned_elsewhere,
            last_applied: match &row.applied {
                Applied::Shown(text) => Some(text.clone()),
                _ => None,
            },
            live: row.live.as_ref().map(text),
            after,
        }
    }

    /// The owners of what stands where the field, or the map that it is in, should be.
    fn owners_in_the_way(&self, path: &FieldPath) -> Vec<Manager> {
        let Some(place) = in_the_way(self.live.object, path) else {
            return Vec::new();
        };
        let others = self.live.owners.here.others(self.manager);
        let owners = others.filter(|it| it.fields.contains(&place));
        owners.map(|it| it.manager.clone()).collect()
    }

    /// What managers that wrote in another API version lose.
    fn lost_elsewhere(&self) -> Owners {
        let lost = |entry: &Ownership| Ownership {
            manager: entry.manager.clone(),
            fields: match self.after {
                Some(after) => {
                    entry.fields.difference(&after.owners.owned_elsewhere(&entry.manager))
                }
                None => FieldSet::default(),
            },
        };
        Owners(self.live.owners.elsewhere.others(self.manager).map(lost).collect())
    }
}

/// What managers lose that wrote in another API version, with their own paths.
pub fn taken_elsewhere(lost: &Owners) -> impl Iterator<Item = FieldChange> {
    fields_elsewhere(lost, Class::TakenFrom)
}

fn fields_elsewhere(owners: &Owners, class: Class) -> impl Iterator<Item = FieldChange> {
    let leaves = owners.0.iter().flat_map(|entry| {
        entry.fields.leaves().into_iter().map(|path| (path, entry.manager.clone()))
    });
    leaves.map(move |(path, manager)| FieldChange {
        class,
        path,
        api_version: Some(manager.api_version.clone()),
        owners: vec![manager],
        owned_elsewhere: true,
        last_applied: None,
        live: None,
        after: None,
    })
}

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Field,
    /// The field with all that is below.
    Whole,
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        other => other.is_null(),
    }
}

fn can_hold(value: &Value, part: &PathElement) -> bool {
    match part {
        PathElement::Field(_) => value.is_object(),
        _ => value.is_array(),
    }
}

fn ends_in_item(path: &FieldPath) -> bool {
    matches!(path.elements().last(), Some(PathElement::Key(_)))
}
