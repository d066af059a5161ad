//! Those who lose or keep fields of ours that they hold in another API version, where these have other
//! paths.
//!
//! Who is robbed is known: the write takes something from their entry. What that is in our words is
//! known of a whole around a field of ours, and is otherwise one of the leaves that change. Told are
//! those that it is most likely to be: what was there before comes first, and what others are known to
//! hold comes last.

use serde_json::Value;

use super::{FieldNotice, Notices};
use crate::field::FieldPath;
use crate::field::walk::at;
use crate::other_words::OtherWords;
use crate::owners::{Manager, Owners};

impl Notices {
    /// Names who loses something by a write for the leaves that it changes. `words` are of what is
    /// `lost`, and `next` is who holds what after it.
    pub fn name_elsewhere(
        &mut self,
        change: Vec<FieldNotice>,
        lost: &Owners,
        words: &OtherWords,
        next: &Owners,
    ) {
        let candidates: Vec<_> = change
            .into_iter()
            .map(|leaf| (self.rank(&leaf), words.around(&leaf.path), leaf))
            .collect();
        for robbed in lost.0.iter().map(|entry| &entry.manager) {
            let is_robbed = |holders: &[Manager]| holders.contains(robbed);
            let (around, rest): (Vec<_>, Vec<_>) =
                candidates.iter().partition(|(_, around, _)| is_robbed(around));
            let may_be = |path: &FieldPath| is_robbed(&words.perhaps(path));
            let rest = rest.into_iter().filter(|(_, _, leaf)| may_be(&leaf.path));
            let rest: Vec<_> = rest.collect();
            let best = rest.iter().map(|(rank, ..)| rank).min();
            let likely = rest.iter().filter(|(rank, ..)| Some(rank) == best);
            for (_, _, leaf) in around.into_iter().chain(likely.copied()) {
                // It may hold the same under our path in another entry.
                if !next.holders(&leaf.path).any(|holder| holder.is(robbed)) {
                    self.name(robbed, leaf);
                }
            }
        }
        self.takes.sort_by(|one, other| one.path.cmp(&other.path));
    }

    /// Takes for kept by others what a new object would not have by itself. `anew` is what the server
    /// makes of the body where there is nothing yet, if that can be told.
    pub fn settle(&mut self, anew: Option<&Value>, answer: &Value) {
        let is_default = |notice: &FieldNotice| {
            let there = anew.and_then(|anew| at(anew, &notice.path));
            there.is_some() && there == at(answer, &notice.path)
        };
        let kept = std::mem::take(&mut self.perhaps_stays);
        self.stays.extend(kept.into_iter().filter(|notice| !is_default(notice)));
    }

    /// Where a leaf stands among those that may be what somebody holds in other words.
    fn rank(&self, leaf: &FieldNotice) -> (bool, bool, bool) {
        let told = self.reverts.iter().chain(&self.takes).find(|told| told.path == leaf.path);
        let is_held = told.is_some_and(|told| !told.holders.is_empty());
        let metadata = FieldPath::fields(["metadata"]);
        (leaf.path.starts_with(&metadata), is_held, leaf.now.is_none())
    }

    fn name(&mut self, robbed: &Manager, leaf: &FieldNotice) {
        let mut told = self.reverts.iter_mut().chain(&mut self.takes);
        match told.find(|told| told.path == leaf.path) {
            Some(told) if told.holders.iter().any(|known| known.is(robbed)) => {}
            Some(told) => told.holders.push(robbed.clone()),
            None => {
                self.takes.push(FieldNotice { holders: vec![robbed.clone()], ..leaf.clone() });
            }
        }
    }
}
