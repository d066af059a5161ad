//! What others did to the fields of a patch since it was last written, and what comes of that.
//!
//! Who changed a field is told by its entry, where there is one. What was taken away has none: a list
//! that somebody holds as a whole tells who wrote it last, and of anything else nobody knows. Whoever
//! holds other items of the same list has nothing to do with it.

use std::collections::BTreeSet;

use super::Patch;
use super::judge::{Kept, Scene, without_ours};
use crate::field::walk::at;
use crate::field::{FieldPath, FieldSet};
use crate::handback::{Division, Extent};
use crate::owners::{Manager, Owners, Ownership};
use crate::ownership::{Class, FieldChange};
use crate::projection::{ABSENT, Projection, Texts};

/// A patch that was written before, and everybody's fields now and after the next write.
#[derive(Clone, Copy)]
pub(super) struct Since<'a> {
    pub(super) scene: Scene<'a>,
    pub(super) kept: &'a Kept,
    pub(super) now: &'a Owners,
    pub(super) next: &'a Owners,
    /// What stands in the place of maps that hold leaves of ours.
    pub(super) displaced: &'a [FieldChange],
}

impl Since<'_> {
    /// What is told of leaves that were patched before. `changes` is what the write does to them.
    pub(super) fn notices(
        &self,
        patch: &Patch,
        leaves: &Projection,
        (texts_now, texts_next): (&Texts, &Texts),
        changes: Vec<FieldChange>,
    ) -> Vec<FieldChange> {
        let Self { scene, kept, .. } = *self;
        let fields: FieldSet = kept.texts.keys().cloned().collect();
        // An empty list or map that the server does not store is not there, and nobody took it away.
        let is_unstored = |path: &FieldPath, text: &str| {
            matches!(text, "[]" | "{}") && at(scene.live, path).is_none()
        };
        let texts_then: Texts = kept
            .texts
            .iter()
            .filter(|(path, text)| *text != ABSENT && !is_unstored(path, text))
            .map(|(path, text)| (path.clone(), text.clone()))
            .collect();
        let mut now = without_ours(self.now, scene.manager);
        let mut next = match scene.answer.manager == scene.manager {
            true => self.next.clone(),
            false => without_ours(self.next, scene.manager),
        };
        if patch.key.gvk.is_secret() {
            (now, next) = (now.with_string_data_as_data(), next.with_string_data_as_data());
        }
        // The server drops zeros (`paused: false`): such a leaf is ours without being there.
        let ours = next.applied_by(scene.answer.manager);
        let unseen = texts_now.keys().filter(|path| ours.contains(path) && !path.names_its_item());
        let paths: BTreeSet<_> = texts_next.keys().chain(unseen).collect();
        let mut drifted = Vec::new();
        for path in paths.into_iter().filter(|path| fields.contains(path)) {
            let [then, is, will] =
                [&texts_then, texts_now, texts_next].map(|texts| texts.get(path));
            if is != then && is != will {
                drifted.push(drift(path, now.holders(path).cloned().collect(), [then, is, will]));
            }
        }
        let division = Division::told_by([&now, &next]);
        // What was taken away and is there again has no leaf of its own after the write.
        for path in leaves.0.keys().filter(|path| fields.contains(path)) {
            let (then, is) = (texts_then.get(path), texts_now.get(path));
            if then.is_none()
                && is.is_some()
                && !texts_next.contains_key(path)
                && !drifted.iter().any(|change| change.path == *path)
            {
                let owners = division.holders(&now, path, Extent::Whole);
                drifted.push(drift(path, owners, [None, is, None]));
            }
        }
        for drift in drifted.iter_mut().filter(|drift| drift.owners.is_empty()) {
            let taken = changes.iter().find(|change| change.path == drift.path);
            drift.owners = taken.map(|change| change.owners.clone()).unwrap_or_default();
            if drift.owners.is_empty() {
                drift.owners = meddlers(&now, &kept.owners, &drift.path);
            }
            if drift.owners.is_empty() {
                drift.owners = division.holders(&now, &drift.path, Extent::Whole);
            }
        }
        drifted.retain(|drift| !self.displaced.iter().any(|it| drift.path.starts_with(&it.path)));
        let displaced = self.displaced.iter().cloned();
        drifted.extend(displaced.map(|change| FieldChange { class: Class::Drifted, ..change }));
        drifted.sort_by(|one, other| one.path.cmp(&other.path));
        let paths: BTreeSet<_> = drifted.iter().map(|drift| drift.path.clone()).collect();
        let taken = changes.into_iter();
        let taken = taken.filter(|it| !it.owners.is_empty() && !paths.contains(&it.path));
        drifted.extend(taken.map(|change| FieldChange {
            last_applied: texts_then.get(&change.path).cloned(),
            ..change
        }));
        // A field that leaves goes back to others, which is reported apart.
        drifted
    }
}

fn drift(
    path: &FieldPath,
    owners: Vec<Manager>,
    [last_applied, live, after]: [Option<&String>; 3],
) -> FieldChange {
    FieldChange {
        class: Class::Drifted,
        path: path.clone(),
        api_version: None,
        owned_elsewhere: false,
        owners,
        last_applied: last_applied.cloned(),
        live: live.cloned(),
        after: after.cloned(),
    }
}

/// Who holds something in a list or a map that nobody holds as a whole, and did not hold it then.
fn meddlers(now: &Owners, then: &Owners, path: &FieldPath) -> Vec<Manager> {
    let is_new = |entry: &&Ownership| {
        let before = then.0.iter().find(|it| it.manager.is(&entry.manager));
        let held = entry.fields.below(path);
        match before.and_then(|it| it.fields.below(path)) {
            Some(before) => held.is_some_and(|held| !held.difference(before).is_empty()),
            None => held.is_some(),
        }
    };
    now.0.iter().filter(is_new).map(|entry| entry.manager.clone()).collect()
}
