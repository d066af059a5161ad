//! The heart: what the user wants, what we left behind and what the server says, made into one
//! decision.
//!
//! There are two steps, so that an unchanged object costs no dry-run. [`glance`] looks at what a
//! read brought back and says whether anything needs to be asked at all; [`decide`] judges the
//! answer. Both are pure: whoever calls them does the asking.
//!
//! A plan is made twice, by two processes: once when it is shown and once right before it is
//! carried out, where the object is not read again. What is *decided* therefore rests on the
//! answer and on what was kept alone; what others did since, which only a read tells, goes into
//! the notices and nowhere else.

mod former;
mod open;
mod recovery;
mod shared;
mod takeover;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::atom::same;
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::{at, at_written};
use crate::field::{FieldPath, FieldSet};
use crate::identity::{ID_ANNOTATION, without_marks};
use crate::ignore::{Ignoring, Oddities, unsent};
use crate::manifest::Manifest;
use crate::owners::Owners;
use crate::ownership::{
    Class, FieldChange, LastApply, Snapshot, Table, VersionedOwners, reorders, written_empty,
};
use crate::projection::{ConcealmentKey, Projection, Texts, View, project, retold};
use crate::secrecy::Secrecy;
use crate::spelling;

pub use recovery::{Recovered, Standing};
pub use takeover::Takeover;

/// What we left behind at our last write.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Everyone's fields then.
    pub owners: Owners,
    /// Our leaves, as the server answered them.
    pub texts: Texts,
    /// The version of the object that we left behind.
    pub version: Option<String>,
}

impl Kept {
    /// Who owns what of an object by now. While nobody has written since we did, nothing of that
    /// can have changed; what is shown can, with the schema of the kind.
    fn owners_of(&self, live: &Value) -> Result<Cow<'_, Owners>, FieldsV1Error> {
        let version = live["metadata"]["resourceVersion"].as_str();
        if version.is_some() && version == self.version.as_deref() {
            return Ok(Cow::Borrowed(&self.owners));
        }
        Owners::of_object(live).map(Cow::Owned)
    }
}

/// An object of ours as state knows it.
#[derive(Clone, Copy, Debug)]
pub struct Prior<'a> {
    pub manifest: &'a Manifest,
    pub id: &'a str,
    pub uid: &'a str,
    pub kept: Option<&'a Kept>,
    pub key: Option<&'a ConcealmentKey>,
    /// What was ignored then.
    pub ignoring: &'a Ignoring,
}

/// What one look at the object says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glance {
    /// As we left it, and wanted so: nothing to ask.
    Settled,
    /// Ask the server what an apply would do.
    Ask,
}

/// What a refresh finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Refreshed {
    /// Our leaves as they are now.
    pub projection: Projection,
    pub condition: Condition,
}

/// How an object stands, whatever is wanted of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// As we left it, in all that is ours.
    AsLeft,
    Otherwise,
}

/// What an apply will do.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Our leaves after it.
    pub projection: Projection,
    /// Those of them whose value only the write itself will tell.
    pub open: BTreeSet<FieldPath>,
    /// Whose spelling of the body state keeps.
    pub spelling: Spelling,
    /// What becomes of fields, and of their owners.
    pub changes: Vec<FieldChange>,
    /// Whether any manager owns other fields after the write than on the live object.
    pub changes_owners: bool,
}

impl Decision {
    /// The changes that a plan reports.
    pub fn reported(&self) -> impl Iterator<Item = &FieldChange> {
        self.changes.iter().filter(|change| change.class.is_reported())
    }

    /// Whether the write changes a value or an owner. The order of items alone is no reason to write.
    pub fn writes(&self) -> bool {
        let is_drift = |change: &FieldChange| change.class == Class::Drifted;
        self.changes_owners || self.changes.iter().any(is_drift)
    }

    /// Our leaves that get another owner and keep their value.
    pub fn change_of_owners(&self) -> impl Iterator<Item = &FieldPath> {
        let only_owners = |change: &&FieldChange| {
            matches!(change.class, Class::OwnershipLost | Class::Joined | Class::TakenFrom)
                && !change.changes_value()
                && self.projection.get(&change.path).is_some()
        };
        self.changes.iter().filter(only_owners).map(|change| &change.path)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// The bodies mean the same; the one in state stays.
    Former,
    New,
}

/// Where hiding does not do what it was asked to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HiddenInVain {
    /// Paths, as the user wrote them, that mean no field of ours.
    pub unmatched: Vec<String>,
    /// Fields whose value stands in their path.
    pub betrayed: Vec<FieldPath>,
}

/// What the answer to a dry-run comes to.
#[derive(Clone, Copy)]
struct After<'a> {
    ours: &'a FieldSet,
    projection: &'a Projection,
    owners: &'a Owners,
    answer: &'a Value,
}

/// The one who decides: the field manager that we apply as, and what it leaves to others.
#[derive(Clone, Copy, Debug)]
pub struct Planner<'a> {
    pub manager: &'a str,
    pub ignoring: &'a Ignoring,
}

impl Planner<'_> {
    /// Whether the object is wanted as before and stands as we left it. What this cannot see is
    /// an admission rule that changed since; that shows at the next write.
    pub fn glance(
        self,
        desired: &Manifest,
        prior: Prior<'_>,
        live: &Value,
    ) -> Result<Glance, FieldsV1Error> {
        if !self.wants_the_same(desired, prior) {
            return Ok(Glance::Ask);
        }
        Ok(self.glance_after(desired, prior, self.refreshed(prior, live)?.condition))
    }

    /// The same where a refresh has just found in what condition the object is.
    pub fn glance_after(
        self,
        desired: &Manifest,
        prior: Prior<'_>,
        condition: Condition,
    ) -> Glance {
        match condition {
            Condition::AsLeft if self.wants_the_same(desired, prior) => Glance::Settled,
            Condition::AsLeft | Condition::Otherwise => Glance::Ask,
        }
    }

    /// The same where the object was not looked at: state is believed, which shows every drift
    /// that the last refresh found.
    pub fn trust(
        self,
        desired: &Manifest,
        prior: Prior<'_>,
        shown: Option<&BTreeMap<String, String>>,
    ) -> Glance {
        let is_shown = |kept: &Kept| {
            Some(&by_path_text(&self.kept_texts(kept, &Value::Null))) == shown
                && !self.is_given_back(prior, kept)
        };
        match self.wants_the_same(desired, prior) && prior.kept.is_some_and(is_shown) {
            true => Glance::Settled,
            false => Glance::Ask,
        }
    }

    /// Whether nothing that is wanted differs from what was: body, what is ignored, what is hidden.
    fn wants_the_same(self, desired: &Manifest, prior: Prior<'_>) -> bool {
        desired.is_same_body(prior.manifest)
            && desired.secrecy() == prior.manifest.secrecy()
            && self.ignoring == prior.ignoring
    }

    /// Our leaves on a live object as a refresh shows them: through the fields kept from our last
    /// write, because the live entry has lost just what others changed.
    pub fn refreshed(self, prior: Prior<'_>, live: &Value) -> Result<Refreshed, FieldsV1Error> {
        let Some(kept) = prior.kept else {
            let projection = Projection::default();
            return Ok(Refreshed { projection, condition: Condition::Otherwise });
        };
        let owners = kept.owners_of(live)?;
        let ours = self.our_fields(&kept.owners, live);
        let projection =
            self.project(&ours, live, &owners, prior.manifest, prior.manifest.secrecy());
        let metadata = &live["metadata"];
        let as_left = metadata["uid"].as_str() == Some(prior.uid)
            && metadata["annotations"][ID_ANNOTATION].as_str() == Some(prior.id)
            && metadata.get("deletionTimestamp").is_none()
            && (matches!(owners, Cow::Borrowed(_))
                || (self.our_fields(&owners, live) == ours
                    && !lacks_a_parent(&written_empty(&prior.manifest.as_applied()), live)))
            && !self.is_given_back(prior, kept)
            && projection.shows(&self.kept_texts(kept, live), prior.key);
        let condition = if as_left { Condition::AsLeft } else { Condition::Otherwise };
        Ok(Refreshed { projection, condition })
    }

    /// Whether a manager that the user yields to has let go of something that the user wrote.
    fn is_given_back(self, prior: Prior<'_>, kept: &Kept) -> bool {
        let given_up = self.ignoring.given_up_since(&kept.owners).leaves();
        // Of every object that is looked at, hardly one has any.
        if given_up.is_empty() {
            return false;
        }
        let written = prior.manifest.as_applied();
        given_up.iter().any(|path| at_written(&written, path).is_some())
    }

    /// Judges the answer to a dry-run. `live` is the object as it was read before, if this run
    /// read it; without it nothing can be said of others, and nothing is.
    pub fn decide(
        self,
        desired: &Manifest,
        prior: Option<Prior<'_>>,
        live: Option<&Value>,
        answer: &Value,
    ) -> Result<Decision, FieldsV1Error> {
        let next = Owners::of_object(answer)?;
        let ours = self.our_fields(&next, answer);
        let projection = self.project(&ours, answer, &next, desired, desired.secrecy());
        let spelling = match prior {
            Some(prior) => self.spelling(desired, prior, &ours, &projection, answer),
            None => Spelling::New,
        };
        let after = After { ours: &ours, projection: &projection, owners: &next, answer };
        let mut changes = match live {
            Some(live) => self.changes(desired, prior, live, after)?,
            None => Vec::new(),
        };
        if let (Some(live), Some(prior)) = (live, prior) {
            // Who wrote the same again asks for the order that comes of it.
            let before = match spelling {
                Spelling::Former => Cow::Borrowed(answer),
                Spelling::New => prior.manifest.as_applied(),
            };
            changes.extend(reorders(&ours, &before, live, answer));
        }
        let open = open::open(&ours, &desired.as_applied(), &projection, prior);
        let changes_owners = match live {
            Some(live) => self.changes_owners(desired, prior, live, &next)?,
            None => false,
        };
        Ok(Decision { projection, open, spelling, changes, changes_owners })
    }

    /// What others have changed of ours since our last write, where no dry-run can be sent.
    pub fn drift(self, prior: Prior<'_>, live: &Value) -> Result<Vec<FieldChange>, FieldsV1Error> {
        let Some(kept) = prior.kept else {
            return Ok(Vec::new());
        };
        let now = Owners::of_object(live)?;
        let ours = self.our_fields(&kept.owners, live);
        let (manifest, secrecy) = (prior.manifest, prior.manifest.secrecy());
        let leaves = self.project(&ours, live, &now, manifest, secrecy);
        let owners = VersionedOwners::of(&now, &manifest.gvk().api_version());
        let (texts, none) = (self.kept_texts(kept, live), FieldSet::default());
        let table = Table {
            manager: self.manager,
            last: Some(LastApply { fields: &ours, texts: &texts, unrecorded: &none, empty: &none }),
            live: Snapshot { object: live, owners: &owners, ours: &ours, leaves: &leaves },
            after: None,
            written: &manifest.as_applied(),
            secrecy,
            key: prior.key,
        };
        let mut changes = table.changes();
        // A value that somebody set back to the written one, after a webhook changed it, is no drift.
        let written = manifest.as_applied();
        changes.retain(|it| match (at_written(&written, &it.path), at(live, &it.path)) {
            (Some(written), Some(live)) => !same(written, live),
            _ => true,
        });
        Ok(changes)
    }

    /// Our leaves as the answer to a write has them.
    pub fn written(
        self,
        manifest: &Manifest,
        answer: &Value,
    ) -> Result<(Projection, Owners), FieldsV1Error> {
        let owners = Owners::of_object(answer)?;
        let ours = self.our_fields(&owners, answer);
        Ok((self.project(&ours, answer, &owners, manifest, manifest.secrecy()), owners))
    }

    /// Bodies that mean the same leave the text in state as it is. The server decides what means
    /// the same: the leaves must come out as they were kept, and the order of items, which no
    /// leaf shows, must be as it was written before.
    fn spelling(
        self,
        desired: &Manifest,
        prior: Prior<'_>,
        ours: &FieldSet,
        projection: &Projection,
        answer: &Value,
    ) -> Spelling {
        if desired.is_same_body(prior.manifest) {
            return Spelling::Former;
        }
        let Some(kept) = prior.kept.filter(|_| desired.is_stored() && prior.manifest.is_stored())
        else {
            return Spelling::New;
        };
        let kept_texts = self.kept_texts(kept, answer);
        let kept_texts = retold(&kept_texts, desired.secrecy(), answer, projection, prior.key);
        let texts = projection.texts(prior.key);
        let respelled = desired.has_same_shape(prior.manifest)
            && *ours == self.our_fields(&kept.owners, answer)
            && texts.len() == projection.0.len()
            && texts == kept_texts
            && spelling::same_order(ours, desired.value(), prior.manifest.value());
        if respelled { Spelling::Former } else { Spelling::New }
    }

    /// Whether the write changes who owns what, or brings our id back. An object with the id of another
    /// state is left to that state, as long as nothing drifts.
    fn changes_owners(
        self,
        desired: &Manifest,
        prior: Option<Prior<'_>>,
        live: &Value,
        next: &Owners,
    ) -> Result<bool, FieldsV1Error> {
        if prior.is_some_and(|prior| is_of_another_state(live, prior.id)) {
            return Ok(false);
        }
        let has_id = live["metadata"]["annotations"][ID_ANNOTATION].is_string();
        let now = Owners::of_object(live)?;
        let [now, next] = [&now, next].map(|owners| owners.without_marks_of(self.manager));
        // Another provider may have applied `stringData` under our name.
        let same = match desired.gvk().is_secret() {
            true => now.with_string_data_as_data().own_the_same(&next.with_string_data_as_data()),
            false => now.own_the_same(&next),
        };
        Ok(!has_id || !same)
    }

    /// The rows of the ownership table that the write changes.
    fn changes(
        self,
        desired: &Manifest,
        prior: Option<Prior<'_>>,
        live: &Value,
        after: After<'_>,
    ) -> Result<Vec<FieldChange>, FieldsV1Error> {
        let After { ours, projection, owners: next, answer } = after;
        let kept = prior.and_then(|prior| prior.kept);
        let key = prior.and_then(|prior| prior.key);
        let now = Owners::of_object(live)?;
        let before = kept.map(|kept| self.our_fields(&kept.owners, live)).unwrap_or_default();
        let (leaves, secrecy) =
            (self.leaves_live(desired, prior, &before, ours, live)?, desired.secrecy());
        let texts = kept.map(|kept| retold(&kept.texts, secrecy, live, &leaves, key));
        let texts = texts.unwrap_or_default();
        let ignored = prior.map(|prior| prior.ignoring.among(&before, live)).unwrap_or_default();
        let empty = prior.map(|prior| written_empty(&prior.manifest.as_applied()));
        let empty = empty.unwrap_or_default();
        // Who wrote `stringData` owns `data` for as long as that has the value it was given.
        let keeps_value = |path: &FieldPath| at(live, path) == at(answer, path);
        let (said_now, said_next) = match desired.gvk().is_secret() {
            true => (now.with_string_data_as_data(), next.with_string_data_where(keeps_value)),
            false => (now.clone(), next.clone()),
        };
        let version = desired.gvk().api_version();
        let [owners_live, owners_after] =
            [said_now, said_next].map(|owners| VersionedOwners::of(&owners, &version));
        let written = desired.as_applied();
        let ours_live = self.our_fields(&now, live);
        let table = Table {
            manager: self.manager,
            last: kept.map(|_| LastApply {
                fields: &before,
                texts: &texts,
                unrecorded: &ignored,
                empty: &empty,
            }),
            live: Snapshot {
                object: live,
                owners: &owners_live,
                ours: &ours_live,
                leaves: &leaves,
            },
            after: Some(Snapshot {
                object: answer,
                owners: &owners_after,
                ours,
                leaves: projection,
            }),
            written: &written,
            secrecy,
            key,
        };
        let mut changes = table.changes();
        // Every state applies under our name: where the object has the id of another one, that state
        // changed what drifted.
        if prior.is_some_and(|prior| is_of_another_state(live, prior.id)) {
            for change in changes.iter_mut().filter(|it| it.class == Class::Drifted) {
                let theirs = now.holders(&change.path).filter(|it| it.applies_as(self.manager));
                change.owners.extend(theirs.cloned());
            }
        }
        Ok(changes)
    }

    /// The leaves of the live object: what was ours as it was written then, the rest as it is written now.
    fn leaves_live(
        self,
        desired: &Manifest,
        prior: Option<Prior<'_>>,
        before: &FieldSet,
        ours: &FieldSet,
        live: &Value,
    ) -> Result<Projection, FieldsV1Error> {
        let (now, secrecy) = (Owners::of_object(live)?, desired.secrecy());
        let mut leaves = self.project(&ours.difference(before), live, &now, desired, secrecy);
        if let Some(prior) = prior {
            leaves.0.extend(self.project(before, live, &now, prior.manifest, secrecy).0);
        }
        Ok(leaves)
    }

    fn project(
        self,
        ours: &FieldSet,
        object: &Value,
        owners: &Owners,
        manifest: &Manifest,
        secrecy: &Secrecy,
    ) -> Projection {
        project(View {
            ours,
            object,
            owners,
            manager: self.manager,
            written: &manifest.as_applied(),
            secrecy,
        })
    }

    /// The fields that our entry holds, without those that are ignored and without the marks that
    /// are put on every object of ours.
    fn our_fields(self, owners: &Owners, object: &Value) -> FieldSet {
        let fields = without_marks(owners.applied_by(self.manager));
        self.ignoring.rest(fields, object)
    }

    /// The leaves kept from the last write, without those that are ignored by now.
    fn kept_texts<'k>(self, kept: &'k Kept, object: &Value) -> Cow<'k, Texts> {
        if self.ignoring.is_empty() {
            return Cow::Borrowed(&kept.texts);
        }
        let fields = kept.owners.applied_by(self.manager);
        let unseen = fields.difference(&self.ignoring.rest(fields.clone(), object));
        let mut texts = kept.texts.clone();
        texts.retain(|path, _| !unseen.contains(path));
        Cow::Owned(texts)
    }

    /// Ignored paths that reach into what our entry holds as a whole.
    pub fn ignored_in_vain(
        self,
        answer: &Value,
    ) -> Result<Vec<(String, FieldPath)>, FieldsV1Error> {
        if self.ignoring.is_empty() {
            return Ok(Vec::new());
        }
        let owners = Owners::of_object(answer)?;
        Ok(self.ignoring.reaching_into_leaves(answer, &owners, self.manager))
    }

    /// What of our fields is to be hidden, and how that goes amiss: paths that mean none of them,
    /// and fields that show in their own paths.
    pub fn hidden_in_vain(
        self,
        desired: &Manifest,
        answer: &Value,
    ) -> Result<HiddenInVain, FieldsV1Error> {
        let secrecy = desired.secrecy();
        if secrecy.is_open() {
            return Ok(HiddenInVain::default());
        }
        let fields = Owners::of_object(answer)?.applied_by(self.manager);
        let unmatched = secrecy.unmatched(&fields, answer).into_iter();
        Ok(HiddenInVain {
            unmatched: unmatched.map(|pattern| pattern.text().to_owned()).collect(),
            betrayed: secrecy.betrayed(&fields, answer),
        })
    }

    /// Ignored paths that had better be written otherwise.
    pub fn ignored_oddly(
        self,
        desired: &Manifest,
        answer: &Value,
    ) -> Result<Oddities, FieldsV1Error> {
        if self.ignoring.is_empty() {
            return Ok(Oddities::default());
        }
        let owners = Owners::of_object(answer)?;
        Ok(self.ignoring.oddities(&desired.as_applied(), answer, &owners))
    }

    /// Ignored fields that the body says for the first time and the object does not have. `content` is
    /// what is sent.
    pub fn ignored_unsent(
        self,
        desired: &Manifest,
        former: Option<&Manifest>,
        live: &Value,
        content: &Value,
    ) -> Result<Vec<FieldPath>, FieldsV1Error> {
        if self.ignoring.is_empty() {
            return Ok(Vec::new());
        }
        let owners = Owners::of_object(live)?;
        let before = former.map(Manifest::as_applied).unwrap_or_default();
        Ok(unsent([&before, &desired.as_applied(), content], live, &owners))
    }

    /// What is sent for an object that exists: the user's words, and ignored fields as they are
    /// now. Ignoring needs the live object.
    pub fn content(self, desired: &Manifest, live: Option<&Value>) -> Result<Value, FieldsV1Error> {
        let content = desired.as_applied().into_owned();
        match live {
            Some(live) if !self.ignoring.is_empty() => {
                let owners = Owners::of_object(live)?;
                Ok(self.ignoring.body(&content, live, &owners, self.manager))
            }
            _ => Ok(content),
        }
    }
}

/// Whether the map that an empty list or map is in is gone: somebody has removed it.
fn lacks_a_parent(empty: &FieldSet, live: &Value) -> bool {
    empty.leaves().into_iter().any(|mut path| {
        path.pop();
        !path.is_empty() && at(live, &path).is_none()
    })
}

fn is_of_another_state(live: &Value, id: &str) -> bool {
    live["metadata"]["annotations"][ID_ANNOTATION].as_str().is_some_and(|other| other != id)
}

/// Leaves as state holds them, with their paths as text.
pub fn by_path_text(texts: &Texts) -> BTreeMap<String, String> {
    texts.iter().map(|(path, text)| (path.shown(), text.clone())).collect()
}

#[cfg(test)]
mod tests;
