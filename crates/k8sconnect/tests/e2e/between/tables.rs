//! What is applied, what is done with it, and what somebody else does meanwhile. To try another
//! resource or another write, add a row.

use serde_json::{Value, json};

/// An object that is put through every operation.
pub(super) struct Specimen {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// Where the server keeps those of namespace `NS`.
    pub(super) collection: &'static str,
    /// `NAME` and `NS` stand for the case's own.
    pub(super) body: &'static str,
    /// Attributes of the resource besides the body.
    pub(super) settings: &'static str,
    /// The user's edit, as a replacement in the body.
    pub(super) edit: (&'static str, &'static str),
    /// What a drift repair finds: a strategic merge patch.
    pub(super) drift: fn() -> Value,
    writes: &'static [Write],
}

impl Specimen {
    pub(super) fn writes(&self) -> impl Iterator<Item = &'static Write> {
        self.writes.iter().chain(ANY_KIND)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    Update,
    Repair,
}

pub(super) const OPERATIONS: [Operation; 3] =
    [Operation::Create, Operation::Update, Operation::Repair];

/// Something that somebody else does.
pub(super) struct Write {
    pub(super) name: &'static str,
    pub(super) effect: Effect,
    pub(super) how: How,
    /// What is theirs afterwards and must never be lost, as a partial object.
    pub(super) theirs: Option<fn() -> Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The object stays the object that it is.
    Changes,
    /// It is gone.
    Deletes,
    /// It is gone, and another one has its name.
    Replaces,
    /// It is gone, and a copy of it with our id has its name, as from a backup.
    Restores,
    /// One of theirs is there before ours.
    Forestalls,
}

#[derive(Clone, Copy)]
pub(super) enum How {
    Merge(fn() -> Value),
    Strategic(fn() -> Value),
    Json(fn() -> Value),
    /// Through the `status` subresource.
    Status(fn() -> Value),
    /// Through the `scale` subresource.
    Scale(u32),
    /// Server-side apply by a manager of this name, taking what it wants.
    Apply(&'static str, fn() -> Value),
    Delete,
    /// Deletes what is there, then creates our body with this merged into it.
    Create(fn() -> Value),
    Restore,
}

const fn changes(name: &'static str, how: How) -> Write {
    Write { name, effect: Effect::Changes, how, theirs: None }
}

/// A write of what is only theirs.
const fn adds(name: &'static str, how: fn(fn() -> Value) -> How, what: fn() -> Value) -> Write {
    Write { name, effect: Effect::Changes, how: how(what), theirs: Some(what) }
}

const fn displaces(name: &'static str, effect: Effect, how: How) -> Write {
    Write { name, effect, how, theirs: None }
}
