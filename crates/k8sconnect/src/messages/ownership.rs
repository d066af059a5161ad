//! Reports about field owners: one warning for each object and class of the ownership table.

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::owners::{Manager, Operation};
use k8sconnect_core::ownership::{Class, FieldChange, of_class};
use tfplugin::{Diagnostic, Diagnostics};

use super::refusal::nothing_taken;
use super::{by_turns, count, paragraphs};

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
    fn fields(self, fields: &[FieldChange]) -> String {
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

/// The order in which the classes are reported.
const REPORTED: [Class; 10] = [
    Class::Drifted,
    Class::TakenFrom,
    Class::OwnershipLost,
    Class::RetainedBy,
    Class::OwnedElsewhere,
    Class::RemovedWithParent,
    Class::Defaulted,
    Class::Unignored,
    Class::Deleted,
    Class::Reordered,
];

/// The reports of a plan about other owners.
pub(crate) fn reports(key: &ObjectKey, changes: &[FieldChange], whose: Whose) -> Diagnostics {
    let mut reports = Diagnostics::new();
    for class in REPORTED {
        let fields = of_class(changes, &[class]);
        if !fields.is_empty() {
            reports.push(report(key, class, &fields, whose));
        }
    }
    reports
}

/// The error that stands for a takeover, where nothing may be taken.
pub(crate) fn contested(key: &ObjectKey, changes: &[FieldChange]) -> Option<Diagnostic> {
    let classes = [Class::Drifted, Class::TakenFrom, Class::RemovedWithParent];
    let mut owned = of_class(changes, &classes);
    owned.retain(|change| !change.owners.is_empty());
    if owned.is_empty() {
        return None;
    }
    Some(nothing_taken(key, owned.len(), &listed(&owned)))
}

/// One warning: what happens, the fields, and what to do.
fn report(key: &ObjectKey, class: Class, fields: &[FieldChange], whose: Whose) -> Diagnostic {
    let here = |it: &&FieldChange| it.api_version.is_none();
    let n = count(fields.len(), "field");
    let removed = count(fields.len(), "removed field");
    let yields = whose.yields();
    let (summary, what, advice) = match class {
        Class::Drifted => (
            format!("{} changed outside of Terraform", whose.fields(fields)),
            "Applying sets what you wrote again:",
            format!(
                "To let the other manager have a field, {yields}. To keep the new value, write it \
                 there."
            ),
        ),
        Class::TakenFrom => (
            format!("{} will be taken from other managers", whose.fields(fields)),
            "Held by others now, and no longer after apply:",
            format!("The other manager may set them back. To leave a field to it, {yields}."),
        ),
        Class::OwnershipLost => (
            format!("{} no longer owned by k8sconnect", whose.fields(fields)),
            "Another manager changed the field and set it back, so the value is the one you wrote and the \
             other manager owns it. Apply makes k8sconnect an owner again, and changes no value:",
            format!("To leave a field to the other manager, {yields}."),
        ),
        Class::RetainedBy => (
            format!("{removed} will stay, held by others"),
            "No longer written by you, but held by other managers too, so that the API server keeps it \
             on the object:",
            "To be rid of a field, remove it with the manager that holds it.".to_owned(),
        ),
        Class::OwnedElsewhere => (
            format!("{} will stay", count(fields.iter().filter(here).count(), "removed field")),
            "No longer written by you, and on the object after apply as now. In this API version nobody \
             owns it. Other managers wrote the object in another version, with the fields listed \
             with it; the API server does not say which of yours they mean:",
            "To be rid of a field, remove it with the manager that owns it.".to_owned(),
        ),
        Class::RemovedWithParent => (
            format!("{n} will go, though held by others"),
            "Held by other managers, and not there any more after apply. It goes with what you change: \
             an item or a map around it that you no longer write, or a value that rules it out:",
            "The other manager may bring them back, or miss them. To keep a field, keep in `yaml_body` \
             the item or the map that it is in, or write the value that goes with it."
                .to_owned(),
        ),
        Class::Defaulted => (
            format!("{removed} will fall back to a default"),
            "No longer written by you and held by nobody else, so that the API server sets a value of \
             its own:",
            "To keep a value, write it in `yaml_body`; to leave it to others without a reset, list it \
             in `ignore_fields`."
                .to_owned(),
        ),
        Class::Unignored => (
            format!("{} will go", count(fields.len(), "formerly ignored field")),
            "No longer in `ignore_fields`, not in `yaml_body` and held by nobody else:",
            "To keep a field, write it in `yaml_body`, or list it in `ignore_fields` again.".to_owned(),
        ),
        Class::Deleted => (
            format!("{n} will be deleted by your next write"),
            "Applied by another k8sconnect configuration, and missing in your `yaml_body`:",
            "To keep a field, write it in `yaml_body`.".to_owned(),
        ),
        _ => (
            format!("{} will be brought back into your order", count(fields.len(), "list")),
            "Others brought their items into another order, which was no reason to act; now that the \
             object is written anyway, your order comes back:",
            "To keep their order, write it in `yaml_body`.".to_owned(),
        ),
    };
    let list = match class {
        Class::Deleted => paths(&fields.iter().map(|it| it.path.clone()).collect::<Vec<_>>()),
        Class::Reordered => values(fields),
        _ => listed(fields),
    };
    Diagnostic::warning(format!("{key}: {summary}"), paragraphs([what, &list, &advice]))
}

/// Where a plan cannot say yet what is sent. Not in the words of what the apply may report then, of which
/// Terraform would show only one.
pub(crate) fn at_stake(key: &ObjectKey, fields: &[FieldChange]) -> Diagnostic {
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

pub(super) fn listed(fields: &[FieldChange]) -> String {
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
pub(super) fn values(fields: &[FieldChange]) -> String {
    let line = |change: &FieldChange| {
        let [now, next] = by_turns([&change.live, &change.after].map(Option::as_deref));
        format!("  {}\n    is now   {now}\n    will be  {next}", change.path)
    };
    let mut lines: Vec<_> = fields.iter().take(LISTED).map(line).collect();
    lines.extend(more(fields.len()));
    lines.join("\n")
}

pub(super) fn field(change: &FieldChange) -> String {
    let owners = match change.owners.as_slice() {
        [] if change.owned_elsewhere => "nobody in this API version".to_owned(),
        [] => "nobody".to_owned(),
        owners => managers(owners),
    };
    field_of(change, &owners)
}

/// Indented, so that Terraform does not wrap it.
pub(super) fn field_of(change: &FieldChange, owners: &str) -> String {
    let FieldChange { path, last_applied, live, after, .. } = change;
    // Of the path of another version, no value is known.
    if let Some(version) = &change.api_version {
        return format!("  {path}, as `{version}` has it\n    held by  {owners}");
    }
    let mut lines = vec![format!("  {path}"), format!("    held by  {owners}")];
    let turns = [last_applied, live, after].map(Option::as_deref);
    let [was, is, will_be] = by_turns(turns);
    if last_applied.is_some() && last_applied != live && last_applied != after {
        lines.push(format!("    was      {was}"));
    }
    lines.push(format!("    is now   {is}"));
    if after != live {
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
