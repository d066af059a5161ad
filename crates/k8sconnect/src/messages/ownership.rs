//! What is said about other managers: one warning for each object and kind of event.

use k8sconnect_core::field::{FieldPath, PathElement};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::owners::{Manager, Operation};
use k8sconnect_core::transition::{FieldNotice, Notices, Reorder};
use tfplugin::{Diagnostic, Diagnostics};

use super::refusal::nothing_taken;
use super::{by_turns, count, one_line};

/// More fields than this are counted, not listed.
pub(super) const LISTED: usize = 20;

/// What manages the fields that are told of: the advice differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Object,
    Patch,
}

impl Whose {
    /// The fields, for a summary. Several patches may speak of one object, and Terraform shows only
    /// one of several warnings with the same summary.
    fn fields(self, fields: &[FieldNotice]) -> String {
        match self {
            Self::Object => count(fields.len(), "field"),
            Self::Patch => named(fields.iter().map(|field| field.path.to_string())),
        }
    }

    /// How a field is left to another manager.
    fn yields(self) -> &'static str {
        match self {
            Self::Object => "remove it from `yaml_body` or list it in `ignore_fields`",
            Self::Patch => "remove it from the patch",
        }
    }
}

pub(crate) fn told(key: &ObjectKey, notices: &Notices, whose: Whose) -> Diagnostics {
    let mut told = Diagnostics::new();
    if !notices.reverts.is_empty() {
        told.push(reverts(key, &notices.reverts, whose));
    }
    if !notices.takes.is_empty() {
        told.push(takes(key, &notices.takes, whose));
    }
    let mut tell = |fields: &[FieldNotice], word: fn(&ObjectKey, &[FieldNotice]) -> Diagnostic| {
        if !fields.is_empty() {
            told.push(word(key, fields));
        }
    };
    tell(&notices.stays, stays);
    tell(&notices.goes, goes);
    tell(&notices.falls_back, falls_back);
    tell(&notices.unignored, unignored);
    tell(&notices.deletes, deletes);
    if !notices.reorders.is_empty() {
        told.push(reorders(key, &notices.reorders));
    }
    told
}

/// The error that stands for takings, where nothing is to be taken.
pub(crate) fn contested(key: &ObjectKey, notices: &Notices) -> Option<Diagnostic> {
    let held = notices.reverts.iter().chain(&notices.takes).chain(&notices.goes);
    let held = held.filter(|it| !it.holders.is_empty());
    let held: Vec<_> = held.cloned().collect();
    if held.is_empty() {
        return None;
    }
    Some(nothing_taken(key, held.len(), &listed(&held)))
}

fn reverts(key: &ObjectKey, fields: &[FieldNotice], whose: Whose) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: {} changed outside of Terraform", whose.fields(fields)),
        format!(
            "Applying sets what you wrote again:\n\n{}\n\n\
             To let the other manager have a field, {}. To keep the new value, write it there.",
            listed(fields),
            whose.yields()
        ),
    )
}

/// Where a plan cannot say yet what is sent. Not in the words of what the apply may tell then, of which
/// Terraform would show only one.
pub(crate) fn at_stake(key: &ObjectKey, fields: &[FieldNotice]) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: {} changed by others may be set back", Whose::Object.fields(fields)),
        format!(
            "What is to be written, or where, is known only after apply. What it then writes is set, \
             whoever holds it, and the apply tells from whom it was taken. Changed by now:\n\n{}\n\n\
             To let the other manager have a field, {}.",
            listed(fields),
            Whose::Object.yields()
        ),
    )
}

fn takes(key: &ObjectKey, fields: &[FieldNotice], whose: Whose) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: {} will be taken from other managers", whose.fields(fields)),
        format!(
            "Held by others now, and no longer after apply:\n\n\
             {}\n\nThe other manager may set them back. To leave a field to it, {}.",
            listed(fields),
            whose.yields()
        ),
    )
}

fn stays(key: &ObjectKey, fields: &[FieldNotice]) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: {} will stay, held by others", count(fields.len(), "removed field")),
        format!(
            "No longer written by you, but held by other managers too, so that the API server \
             keeps it on the object:\n\n{}\n\nTo be rid of a field, remove it with the manager that \
             holds it.",
            listed(fields)
        ),
    )
}

fn goes(key: &ObjectKey, fields: &[FieldNotice]) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: {} will go, though held by others", count(fields.len(), "field")),
        format!(
            "Held by other managers, and not there any more after apply. It goes with what you change: an \
             item or a map around it that you no longer write, or a value that rules it out:\n\n{}\n\n\
             The other manager may bring them back, or miss them. To keep a field, keep in `yaml_body` the \
             item or the map that it is in, or write the value that goes with it.",
            listed(fields)
        ),
    )
}

fn falls_back(key: &ObjectKey, fields: &[FieldNotice]) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: {} will fall back to a default", count(fields.len(), "removed field")),
        format!(
            "No longer written by you and held by nobody else, so that the API server sets a \
             value of its own:\n\n{}\n\nTo keep a value, write it in `yaml_body`; to leave it to others \
             without a reset, list it in `ignore_fields`.",
            listed(fields)
        ),
    )
}

fn unignored(key: &ObjectKey, fields: &[FieldNotice]) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: {} will go", count(fields.len(), "formerly ignored field")),
        format!(
            "No longer in `ignore_fields`, not in `yaml_body` and held by nobody else:\n\n{}\n\nTo keep \
             a field, write it in `yaml_body`, or list it in `ignore_fields` again.",
            listed(fields)
        ),
    )
}

fn deletes(key: &ObjectKey, fields: &[FieldNotice]) -> Diagnostic {
    let deleted: Vec<_> = fields.iter().map(|field| field.path.clone()).collect();
    Diagnostic::warning(
        format!("{key}: {} will be deleted by your next write", count(fields.len(), "field")),
        format!(
            "Applied by another k8sconnect configuration, and missing in your `yaml_body`:\n\n\
             {}\n\nTo keep a field, write it in `yaml_body`.",
            paths(&deleted)
        ),
    )
}

fn reorders(key: &ObjectKey, lists: &[Reorder]) -> Diagnostic {
    let items = |order: &[PathElement]| {
        let names: Vec<_> =
            order.iter().map(|item| FieldPath::new([item.clone()]).to_string()).collect();
        one_line(&names.join(" "))
    };
    let lines: Vec<_> = lists
        .iter()
        .map(|list| {
            let (now, next) = (items(&list.now), items(&list.next));
            format!("  {}\n    is now   {now}\n    will be  {next}", list.path)
        })
        .collect();
    Diagnostic::warning(
        format!("{key}: {} will be brought back into your order", count(lists.len(), "list")),
        format!(
            "Others brought their items into another order, which was no reason to act; now that \
             the object is written anyway, your order comes back:\n\n{}\n\nTo keep their order, \
             write it in `yaml_body`.",
            lines.join("\n")
        ),
    )
}

/// The first of several, and how many there are.
pub(super) fn named(mut names: impl ExactSizeIterator<Item = String>) -> String {
    let others = names.len().saturating_sub(1);
    let first = names.next().unwrap_or_default();
    match others {
        0 => format!("`{first}`"),
        others => format!("`{first}` and {}", count(others, "more field")),
    }
}

pub(super) fn more(fields: usize) -> Option<String> {
    (fields > LISTED).then(|| format!("  … and {} more", count(fields - LISTED, "field")))
}

pub(super) fn listed(fields: &[FieldNotice]) -> String {
    let mut lines: Vec<_> = fields.iter().take(LISTED).map(field).collect();
    lines.extend(more(fields.len()));
    lines.join("\n")
}

/// Fields of which there is no more to say.
pub(super) fn paths(fields: &[FieldPath]) -> String {
    let mut lines: Vec<_> = fields.iter().take(LISTED).map(|path| format!("  {path}")).collect();
    lines.extend(more(fields.len()));
    lines.join("\n")
}

/// What changes, whoever holds it.
pub(super) fn values(fields: &[FieldNotice]) -> String {
    let line = |notice: &FieldNotice| {
        let [now, next] = by_turns([&notice.now, &notice.next].map(Option::as_deref));
        format!("  {}\n    is now   {now}\n    will be  {next}", notice.path)
    };
    let mut lines: Vec<_> = fields.iter().take(LISTED).map(line).collect();
    lines.extend(more(fields.len()));
    lines.join("\n")
}

pub(super) fn field(notice: &FieldNotice) -> String {
    let holders = match notice.holders.as_slice() {
        [] => "nobody".to_owned(),
        holders => managers(holders),
    };
    field_of(notice, &holders)
}

/// Indented, so that Terraform does not wrap it.
pub(super) fn field_of(notice: &FieldNotice, holders: &str) -> String {
    let mut lines = vec![format!("  {}", notice.path), format!("    held by  {holders}")];
    let turns = [&notice.then, &notice.now, &notice.next].map(Option::as_deref);
    let [was, is, will_be] = by_turns(turns);
    if notice.then.is_some() && notice.then != notice.now && notice.then != notice.next {
        lines.push(format!("    was      {was}"));
    }
    lines.push(format!("    is now   {is}"));
    if notice.next != notice.now {
        lines.push(format!("    will be  {will_be}"));
    }
    lines.join("\n")
}

pub(super) fn managers(all: &[Manager]) -> String {
    all.iter().map(manager).collect::<Vec<_>>().join(", ")
}

/// A manager, with what it did and when.
pub(super) fn manager(manager: &Manager) -> String {
    let operation = match manager.operation {
        Operation::Apply => "Apply",
        Operation::Update => "Update",
    };
    let mut about = vec![operation.to_owned()];
    if !manager.subresource.is_empty() {
        about.push(format!("through `{}`", manager.subresource));
    }
    about.extend(manager.time.clone());
    format!("`{}` ({})", manager.name, about.join(", "))
}
