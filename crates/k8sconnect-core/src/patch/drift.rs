//! What others did to the fields of a patch since it was last written, and what comes of that.
//!
//! Who changed a field is told by its entry, where there is one. What was taken away has none: a list
//! that somebody holds as a whole tells who wrote it last, and of anything else nobody knows. Whoever
//! holds other items of the same list has nothing to do with it.

use super::Patch;
use super::judge::{Kept, Scene, without_ours};
use crate::field::walk::at;
use crate::field::{FieldPath, FieldSet};
use crate::handback::{Division, Extent};
use crate::other_words::OtherWords;
use crate::owners::{Manager, Owners, Ownership};
use crate::projection::{ABSENT, Projection, Texts};
use crate::transition::{self, FieldNotice, Notices, Side, Then};

/// A patch that was written before, and everybody's fields now and after the next write.
#[derive(Clone, Copy)]
pub(super) struct Since<'a> {
    pub(super) scene: Scene<'a>,
    pub(super) kept: &'a Kept,
    pub(super) now: &'a Owners,
    pub(super) next: &'a Owners,
    /// What stands in the place of maps that hold leaves of ours.
    pub(super) displaced: &'a [FieldNotice],
}

impl Since<'_> {
    /// What is told of leaves that were patched before. `changes` is what the write does to them.
    pub(super) fn notices(
        &self,
        patch: &Patch,
        leaves: &Projection,
        (texts_now, texts_next): (&Texts, &Texts),
        changes: Vec<FieldNotice>,
    ) -> Notices {
        let Self { scene, kept, .. } = *self;
        let secrecy = &patch.secrecy;
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
        let mut reverts = transition::compare(
            scene.answer.manager,
            Some(Then { texts: &texts_then, fields: &fields }),
            [
                Side { texts: texts_now, owners: &now, secrecy, key: scene.key },
                Side { texts: texts_next, owners: &next, secrecy, key: scene.key },
            ],
            [scene.live, scene.answer.object],
            &OtherWords::none(),
        )
        .reverts;
        let division = Division::told_by([&now, &next]);
        // What was taken away and is there again has no leaf of its own after the write.
        for path in leaves.0.keys().filter(|path| fields.contains(path)) {
            let (then, is) = (texts_then.get(path), texts_now.get(path));
            if then.is_none()
                && is.is_some()
                && !texts_next.contains_key(path)
                && !reverts.iter().any(|notice| notice.path == *path)
            {
                reverts.push(FieldNotice {
                    path: path.clone(),
                    holders: division.holders(&now, path, Extent::Whole),
                    then: None,
                    now: is.cloned(),
                    next: None,
                });
            }
        }
        for notice in reverts.iter_mut().filter(|notice| notice.holders.is_empty()) {
            let robbed = changes.iter().find(|change| change.path == notice.path);
            notice.holders = robbed.map(|change| change.holders.clone()).unwrap_or_default();
            if notice.holders.is_empty() {
                notice.holders = meddlers(&now, &kept.owners, &notice.path);
            }
            if notice.holders.is_empty() {
                notice.holders = division.holders(&now, &notice.path, Extent::Whole);
            }
        }
        reverts.retain(|notice| !self.displaced.iter().any(|it| notice.path.starts_with(&it.path)));
        reverts.extend(self.displaced.iter().cloned());
        reverts.sort_by(|one, other| one.path.cmp(&other.path));
        let set_back = |path: &FieldPath| reverts.iter().any(|notice| notice.path == *path);
        let takes = changes
            .into_iter()
            .filter(|change| !change.holders.is_empty() && !set_back(&change.path))
            .map(|change| FieldNotice { then: texts_then.get(&change.path).cloned(), ..change })
            .collect();
        // A field that leaves goes back to others, which is told in words of its own.
        Notices { reverts, takes, ..Notices::default() }
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
