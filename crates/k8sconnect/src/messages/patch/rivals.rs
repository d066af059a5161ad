//! Patches that mean the same fields: of one state, of several, or of none any more.

use std::collections::BTreeSet;

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::owners::Manager;
use tfplugin::Diagnostic;

use super::Stage;
use crate::messages::ownership::{LISTED, manager, more};

fn by_patch(contested: &[(Manager, Vec<FieldPath>)]) -> String {
    let mut lines = Vec::new();
    for (holder, paths) in contested {
        lines.push(format!("  held by {}", manager(holder)));
        lines.extend(paths.iter().take(LISTED).map(|path| format!("    {path}")));
        lines.extend(more(paths.len()));
    }
    lines.join("\n")
}

/// Also why two patches cannot put an item each into some lists, or a key each into some maps.
const FOR_EVER: &str = "Two patches of one field would take it from each other for ever. A list whose \
     items have no keys is one field, and so is a map with one owner, such as `nodeSelector`";

pub(crate) fn held_by_patches(
    key: &ObjectKey,
    contested: &[(Manager, Vec<FieldPath>)],
    stage: Stage,
) -> Diagnostic {
    let way_out = match stage {
        Stage::New | Stage::Anew => {
            "Patch the field in one place only. If the other patch is this one:\n\n  \
             - under a former address: say so with a `moved` block.\n  \
             - removed from the configuration, or giving these fields up in the same run: it need \
             not go first. Let it do so in an apply of its own, or set `adopt = true`.\n  \
             - about to be replaced with `create_before_destroy`: the old patch holds the fields \
             until it is destroyed. Remove `create_before_destroy`, so that it goes first, or set \
             `adopt = true`, so that its fields are handed over. Once it is shown as deposed, only \
             `adopt = true` helps.\n  \
             - left behind by a run that was killed before it could write its state: take it over \
             with `adopt = true`.\n\n\
             A destroy plans first and meets this error too, also for a patch that was never made. \
             With `-refresh=false` it does not."
        }
        Stage::Made => {
            "Patch each field in one place only:\n\n  \
             - remove this patch, or these fields from it. The other one keeps them.\n  \
             - remove the other patch, or these fields from it, first, in an apply of its own \
             (`-target`). This one then sets them.\n  \
             - set `adopt = true` here, and remove them there: the fields are handed over. That is \
             the way to move a field from one patch to another in one run.\n\n\
             A destroy plans first and meets this error too. With `-refresh=false` it does not: \
             what the patch still holds is handed back all the same."
        }
    };
    Diagnostic::error(
        format!("{key}: another patch holds the same fields"),
        format!("{FOR_EVER}.\n\n{}\n\n{way_out}", by_patch(contested)),
    )
}

/// Two patches that are both to be made mean the same fields.
pub(crate) fn wanted_twice(key: &ObjectKey, fields: &BTreeSet<FieldPath>) -> Diagnostic {
    let mut lines: Vec<_> = fields.iter().take(LISTED).map(|path| format!("  {path}")).collect();
    lines.extend(more(fields.len()));
    Diagnostic::error(
        format!("{key}: another patch of this configuration means the same fields"),
        format!(
            "{FOR_EVER}. Both are to be made in this run:\n\n{}\n\n\
             Patch each field in one place only: what is one field, one patch must set with all that \
             is to be in it. An operation that sets a map means all that is in \
             it, since it takes the place of what others put there: let it set single fields, with \
             `{{\"op\": \"add\", \"path\": \"…/name\", \"value\": …}}`.\n\n\
             A destroy plans first and meets this error too. With `-refresh=false` it does not.",
            lines.join("\n")
        ),
    )
}

pub(crate) fn taken_from_patches(
    key: &ObjectKey,
    contested: &[(Manager, Vec<FieldPath>)],
) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: fields of another patch will be taken over"),
        format!(
            "`adopt = true` says so. All that the other patch holds goes back to who had it before, \
             and this one then patches what it names:\n\n{}\n\n\
             If the other patch is still in somebody's state, this one included, remove these \
             fields from it: its next plan would want them back. What else it names it sets again \
             when it is next applied.",
            by_patch(contested)
        ),
    )
}
