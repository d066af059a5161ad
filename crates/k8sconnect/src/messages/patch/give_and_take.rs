//! What a patch takes, what goes with it, and to whom it goes back.

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::handback::Prospect;
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::owners::Manager;
use k8sconnect_core::ownership::FieldChange;
use k8sconnect_core::patch::{Ignored, Verdict, manager_of};
use k8sconnect_core::text;
use tfplugin::{Diagnostic, Diagnostics};

use crate::messages::ownership::{LISTED, field, field_of, listed, manager, managers, more, named};
use crate::messages::{by_turns, count, one_line};

/// What joins a patch, be it new or not, and what goes with it.
pub(crate) fn takes(
    key: &ObjectKey,
    verdict: &Verdict,
    heirs: &[(FieldPath, Prospect)],
    wards: &[(FieldPath, Vec<Manager>)],
) -> Diagnostics {
    let mut told = Diagnostics::new();
    if !verdict.changes.is_empty() {
        let paths = verdict.changes.iter().map(|change| change.path.to_string());
        told.push(Diagnostic::warning(
            format!("{key}: {} will be patched", named(paths)),
            format!(
                "Applying changes these on an object that is not yours:\n\n{}\n\n{}{}{}",
                changes(&verdict.changes, wards),
                in_the_end(verdict, wards),
                before_the_end(&verdict.changes, wards),
                passed_over(heirs)
            ),
        ));
    }
    told.extend(dropped(key, verdict, wards));
    told
}

/// What others may do, unless the patch holds everything itself.
fn before_the_end(changes: &[FieldChange], wards: &[(FieldPath, Vec<Manager>)]) -> &'static str {
    let is_ours = |change: &FieldChange| wards.iter().any(|(path, _)| *path == change.path);
    match changes.iter().all(is_ours) {
        true => "",
        false => " The other manager may set a field back before.",
    }
}

/// What changes, and who holds it. What the patch holds itself it may hold for somebody.
fn changes(changes: &[FieldChange], wards: &[(FieldPath, Vec<Manager>)]) -> String {
    let line = |change: &FieldChange| match wards.iter().find(|(path, _)| *path == change.path) {
        Some((_, had)) if had.is_empty() => field_of(change, "this patch"),
        Some((_, had)) => field_of(change, &format!("this patch, before it by {}", managers(had))),
        None => field(change),
    };
    let mut lines: Vec<_> = changes.iter().take(LISTED).map(line).collect();
    lines.extend(more(changes.len()));
    lines.join("\n")
}

/// What a destroy makes of them.
fn in_the_end(verdict: &Verdict, wards: &[(FieldPath, Vec<Manager>)]) -> String {
    let changes = &verdict.changes;
    let mut holders = changes.iter().flat_map(|change| &change.owners);
    let back = match holders.any(|holder| holder.name.starts_with(&manager_of(""))) {
        true => "to who holds it now, or, where that is another patch, to who held it before that",
        false if wards.iter().any(|(_, had)| !had.is_empty()) => {
            "to who holds it now, or, where that is the patch itself, to who held it before"
        }
        false => "to who holds it now",
    };
    let within = !verdict.gone.is_empty() || !verdict.dropped.is_empty();
    let removed = changes.iter().filter(|change| is_removed(change)).count();
    let emptied = changes.iter().filter(|change| is_emptied(change)).count();
    let is_nobodys = |change: &FieldChange| {
        wards.iter().any(|(path, had)| *path == change.path && had.is_empty())
    };
    let mut told = match changes.iter().all(is_nobodys) {
        true => "Destroying the patch leaves each field to nobody; its value stays".to_owned(),
        false => format!("Destroying the patch gives each field back {back}; its value stays"),
    };
    match (removed, emptied) {
        (0, 0) if !within => {}
        _ if removed + emptied == changes.len() => {
            return "Destroying the patch does not bring back what it removed.".to_owned();
        }
        _ => told.push_str(", and what was removed does not come back"),
    }
    if emptied > 0 {
        told.push_str(". A list that is left empty goes to nobody if only its items are held now");
    }
    told.push('.');
    told
}

/// Whether a field goes, or a map loses all that is in it.
fn is_removed(change: &FieldChange) -> bool {
    let is_empty = || change.after.as_deref() == Some("{}") && change.live != change.after;
    change.after.is_none() || is_empty()
}

/// Whether a list loses all of its items.
fn is_emptied(change: &FieldChange) -> bool {
    change.after.as_deref() == Some("[]") && change.live != change.after
}

/// Fields that others took from the patch, and that do not go back to them.
fn passed_over(heirs: &[(FieldPath, Prospect)]) -> String {
    if heirs.is_empty() {
        return String::new();
    }
    let mut lines: Vec<_> = heirs.iter().take(LISTED).map(prospect).collect();
    lines.extend(more(heirs.len()));
    format!(
        "\n\nWhat others took from the patch goes past them to who held it before the patch:\n\n{}",
        lines.join("\n")
    )
}

/// What goes because the patch replaces what holds it: items of lists, fields of maps.
fn dropped(key: &ObjectKey, verdict: &Verdict, wards: &[(FieldPath, Vec<Manager>)]) -> Diagnostics {
    let mut told = Diagnostics::new();
    if !verdict.gone.is_empty() {
        let paths = verdict.gone.iter().map(|field| field.path.to_string());
        told.push(Diagnostic::warning(
            format!("{key}: {} will go", named(paths)),
            format!(
                "The patch replaces what holds these, and does not repeat them:\n\n{}\n\n\
                 They do not come back when the patch is destroyed. To keep them, set single fields \
                 instead, with `patch` or \
                 `{{\"op\": \"add\", \"path\": \"…/name\", \"value\": …}}`.",
                changes(&verdict.gone, wards)
            ),
        ));
    }
    if !verdict.taken_along.is_empty() {
        let paths = verdict.taken_along.iter().map(|field| field.path.to_string());
        told.push(Diagnostic::warning(
            format!("{key}: {} will go with what is patched", named(paths)),
            format!(
                "The patch does not name these, but the API server takes them away with what it \
                 changes:\n\n{}\n\n\
                 They do not come back when the patch is destroyed, unless their managers set them \
                 again.",
                listed(&verdict.taken_along)
            ),
        ));
    }
    let lists = &verdict.dropped;
    if lists.is_empty() {
        return told;
    }
    let lines: Vec<_> = lists
        .iter()
        .flat_map(|(path, items)| {
            let items = items.iter().map(|item| format!("    {}", one_line(&text::shown(item))));
            [format!("  {path}")].into_iter().chain(items)
        })
        .collect();
    let items = count(lists.iter().map(|(_, items)| items.len()).sum(), "item");
    let of = match lists.as_slice() {
        [(list, _)] => format!("`{list}`"),
        [(list, _), others @ ..] => format!("`{list}` and {}", count(others.len(), "more list")),
        [] => String::new(),
    };
    told.push(Diagnostic::warning(
        format!("{key}: {items} of {of} will go"),
        format!(
            "These lists are replaced as a whole, and what the patch does not repeat goes:\n\n\
             {}\n\nTo keep an item, write it in the patch too, or add yours with a `json_patch`: \
             `{{\"op\": \"add\", \"path\": \"…/-\", \"value\": …}}`.",
            lines.join("\n")
        ),
    ));
    told
}

/// Maps that are there already, where the patch adds an empty one.
pub(crate) fn spared(key: &ObjectKey, paths: &[FieldPath]) -> Diagnostics {
    let mut told = Diagnostics::new();
    if !paths.is_empty() {
        told.push(Diagnostic::warning(
            format!(
                "{key}: no new map takes the place of {}",
                named(paths.iter().map(ToString::to_string))
            ),
            "An `add` of an empty map makes sure that there is one. What others have put into it is \
             not taken away. To empty it all the same, use `replace`.",
        ));
    }
    told
}

/// Fields that stay as they are, whatever the patch says.
pub(crate) fn ignored(key: &ObjectKey, fields: &[Ignored]) -> Diagnostics {
    let mut told = Diagnostics::new();
    if fields.is_empty() {
        return told;
    }
    let mut lines: Vec<_> = fields
        .iter()
        .take(LISTED)
        .map(|Ignored { path, wanted, stays }| {
            let [wanted, stays] = by_turns([Some(wanted.as_str()), Some(stays)]);
            format!("  {path}\n    wanted  {wanted}\n    stays   {stays}")
        })
        .collect();
    lines.extend(more(fields.len()));
    told.push(Diagnostic::warning(
        format!(
            "{key}: the API server does not change {}",
            named(fields.iter().map(|field| field.path.to_string()))
        ),
        format!(
            "It accepts the patch, and keeps what was there before:\n\n{}\n\n\
             Some fields are written by the server alone or through a subresource, and others come \
             back as a default: the patch has no effect on them. Remove them from it.",
            lines.join("\n")
        ),
    ));
    told
}

/// Fields that the patch set, and that go with what it says now; unless they are told among all that
/// goes.
pub(crate) fn outdone(key: &ObjectKey, verdict: &Verdict) -> Diagnostics {
    let mut told = Diagnostics::new();
    let is_told = |path: &FieldPath| verdict.gone.iter().any(|field| path.starts_with(&field.path));
    let paths: Vec<_> = verdict.outdone.iter().filter(|path| !is_told(path)).collect();
    if !paths.is_empty() {
        let mut lines: Vec<_> = paths.iter().take(LISTED).map(|it| format!("  {it}")).collect();
        lines.extend(more(paths.len()));
        told.push(Diagnostic::warning(
            format!("{key}: {} will go", named(paths.iter().map(ToString::to_string))),
            format!(
                "The patch set these, and what it says now takes their place:\n\n{}\n\nTo keep one, \
                 write it in the patch too.",
                lines.join("\n")
            ),
        ));
    }
    told
}

/// What becomes of fields that go back.
pub(crate) fn returns(key: &ObjectKey, prospects: &[(FieldPath, Prospect)]) -> Diagnostics {
    let mut told = Diagnostics::new();
    if prospects.is_empty() {
        return told;
    }
    let mut lines: Vec<_> = prospects.iter().take(LISTED).map(prospect).collect();
    lines.extend(more(prospects.len()));
    let anybody = prospects.iter().any(|(_, prospect)| {
        matches!(prospect, Prospect::Stays { returns_to, .. } if !returns_to.is_empty())
            || matches!(prospect, Prospect::Elsewhere { .. })
    });
    let (what, advice) = match anybody {
        true => ("handed back", "; whoever gets a field back may change it"),
        false => ("let go", ""),
    };
    let paths = prospects.iter().map(|(path, _)| path.to_string());
    told.push(Diagnostic::warning(
        format!("{key}: {} will be {what}", named(paths)),
        format!(
            "{}\n\nValues stay as they are{advice}. To restore an old value, set it in the patch \
             and apply that first.",
            lines.join("\n")
        ),
    ));
    told
}

fn prospect((path, prospect): &(FieldPath, Prospect)) -> String {
    match prospect {
        Prospect::Absent => format!("  {path} stays absent"),
        Prospect::Waits { for_the_end } => format!(
            "  {path} stays as it is, and returns to {} when the patch ends: in another \
             API version it cannot be told from what the patch still sets",
            managers(for_the_end)
        ),
        Prospect::Elsewhere { returns_to } => format!(
            "  {path}, as `{}` has it, returns to {}",
            returns_to.api_version,
            manager(returns_to)
        ),
        Prospect::Kept(whole) => format!("  {path} stays in {whole}, which the patch holds"),
        Prospect::Stays { returns_to, stays_with } => {
            match (returns_to.as_slice(), stays_with.as_slice()) {
                ([], []) => format!("  {path} stays as it is, held by nobody"),
                ([], holders) => format!("  {path} stays with {}", managers(holders)),
                (owners, []) => format!("  {path} returns to {}", managers(owners)),
                (owners, holders) => {
                    format!(
                        "  {path} returns to {}, stays with {}",
                        managers(owners),
                        managers(holders)
                    )
                }
            }
        }
    }
}
