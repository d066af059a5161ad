//! Operations of a JSON patch that cannot be carried out on the object as it is.

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::patch::{Problem, Trouble, Whereabouts};
use k8sconnect_core::pointer::Pointer;
use k8sconnect_core::projection::CONCEALED_VALUE;
use k8sconnect_core::secrecy::Secrecy;
use k8sconnect_core::text;
use serde_json::Value;
use tfplugin::Diagnostic;

use super::namesakes::{beside, several};
use super::on;
use crate::messages::{by_turns, count, paragraphs};

/// Whether a patch is to be made, or stands already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    New,
    /// To be made on an object that patches stand on, of which it may be to replace one.
    Anew,
    Made,
}

/// How a patch ends whose text cannot be made. A destroy makes a plan like any other first, unless it is
/// told not to look.
pub(super) const AS_IT_STANDS: &str = "To destroy the patch as it stands, destroy it with \
     `-refresh=false`: its fields are handed back all the same.";

/// An operation of a JSON patch cannot be carried out on the object as it is.
pub(crate) fn cannot(
    key: &ObjectKey,
    problem: &Problem,
    secrecy: &Secrecy,
    stage: Stage,
) -> Diagnostic {
    let (which, detail) = match problem {
        Problem::Cannot { n, trouble } => {
            (format!("operation {n}"), self::trouble(trouble, secrecy))
        }
        Problem::Beside { n, item, at, holders } => {
            (format!("operation {n}"), beside(item, at, holders))
        }
        Problem::Namesakes { n, found } => (format!("operation {n}"), several(found)),
        Problem::Elsewhere { n, at, then, now } => (
            format!("operation {n}"),
            format!(
                "`{at}` counts list items, and others have changed the list since the first \
                 apply:\n\n  it was  {then}\n  it is   {now}\n\n\
                 Write the position at which the item stands now, or use `patch`, which finds items \
                 by their key."
            ),
        ),
        Problem::Moved { n, at, position, now } => {
            let stands = match now {
                Whereabouts::At(now) => format!("It stands at `{now}` now: write that position."),
                Whereabouts::Untold => "Write the position at which the item stands now.".into(),
            };
            (
                format!("operation {n}"),
                format!(
                    "`{at}` counts list items, and `{position}` is not the item that stood there \
                     at the last apply: others have put items into the list, or taken some out of \
                     it.\n\n{stands} To have the operation carried out on what stands at the old \
                     one, run with `-replace=ADDRESS`."
                ),
            )
        }
        Problem::Gone { n, item } => (
            format!("operation {n}"),
            format!(
                "Others have removed `{item}`, in which it changed something.\n\n\
                 Remove the operation, or have the item put back."
            ),
        ),
        Problem::Forgotten { n, path } => (
            format!("operation {n}"),
            format!(
                "Others have changed `{path}`. The value that the operation found at the first \
                 apply is secret, so it was not kept and cannot be brought back.\n\n\
                 Write the value with `add` instead, or remove the operation."
            ),
        ),
        Problem::Unplaced(unplaced) => (
            "an operation".to_owned(),
            format!(
                "Nothing tells how the items of the list at `{}` are named. Use `patch`, which \
                 finds items by their key.",
                unplaced.0
            ),
        ),
    };
    let undone = matches!(
        problem,
        Problem::Cannot { trouble: Trouble::Differs { .. } | Trouble::Missing(_), .. }
            | Problem::Beside { .. }
    );
    let way_out = match stage {
        Stage::Anew if undone => {
            "If this patch stands already, and is tainted or replaced, its operations were carried \
             out before and find their own work. Values stay when a patch ends, so it cannot be \
             made anew: keep it, with `terraform untaint ADDRESS` (or `tofu untaint ADDRESS`), or \
             without `-replace`. To destroy it, destroy with `-refresh=false`: its fields are handed \
             back all the same."
        }
        Stage::New | Stage::Anew => "",
        Stage::Made => AS_IT_STANDS,
    };
    let detail = paragraphs([&detail, way_out]);
    let summary = format!("{key}: {which} of `json_patch` cannot be carried out");
    on(Diagnostic::error(summary, detail), "json_patch", key)
}

fn trouble(trouble: &Trouble, secrecy: &Secrecy) -> String {
    match trouble {
        Trouble::Missing(at) => format!(
            "There is nothing at `{at}`.\n\nUse `add` to set a field that may not be there, or \
             remove the operation."
        ),
        Trouble::NoParent(at) => format!(
            "There is nothing at `{at}` that could hold the value.\n\nAdd it first, with \
             `{{\"op\": \"add\", \"path\": \"{at}\", \"value\": {{}}}}`, or use `patch` or \
             `merge_patch`, which make what is missing on the way."
        ),
        Trouble::NoList(at) => format!(
            "There is no list at `{at}` that could hold the value.\n\nAdd it first, with \
             `{{\"op\": \"add\", \"path\": \"{at}\", \"value\": []}}`, or use `patch` or \
             `merge_patch`, which make what is missing on the way."
        ),
        Trouble::Annotated(at) => format!(
            "The object has annotations, and a new map at `{at}` would take all of them away, \
             other managers' and those by which k8sconnect knows its patches.\n\n\
             Name the annotations one by one: `{{\"op\": \"add\", \"path\": \"{at}/name\", \
             \"value\": …}}`."
        ),
        Trouble::Overgrown(at) => format!(
            "With what it puts at `{at}` the object becomes larger or deeper than an API server \
             takes.\n\nLook for an operation that copies what an earlier one has copied, and write \
             the value itself instead."
        ),
        Trouble::NoPosition { at, length } => {
            let last = at.0.last().map_or("", String::as_str);
            let has = count(*length, "item");
            match last.parse::<usize>().is_ok_and(|n| n.to_string() == last) {
                true => format!(
                    "`{at}` names no position of the list, which has {has}.\n\nPositions count \
                     from 0; `-` is the end of the list."
                ),
                false => format!(
                    "`{last}` in `{at}` is no position: there is a list of {has}, and a position is \
                     a number from 0, without a zero before it. `-` is the end of the list, where \
                     `add` puts a new item.\n\nWrite the item's position, or use `patch`, which \
                     finds items by their key."
                ),
            }
        }
        Trouble::Differs { at, wanted, found } => {
            let shown = |value: &Value| match is_secret(at, value, secrecy) {
                true => CONCEALED_VALUE.to_owned(),
                false => text::shown(value),
            };
            let (wanted, found) = (shown(wanted), found.as_ref().map(shown));
            let [wanted, found] = by_turns([Some(wanted.as_str()), found.as_deref()]);
            let place = match at.0.is_empty() {
                true => "the whole object".to_owned(),
                false => format!("`{at}`"),
            };
            format!(
                "The `test` of {place} fails:\n\n  wanted  {wanted}\n  found   {found}\n\n\
                 Nothing was changed. If the new value is right, write it in the `test`."
            )
        }
    }
}

fn is_secret(at: &Pointer, value: &Value, secrecy: &Secrecy) -> bool {
    let path = FieldPath::fields(at.0.iter().map(String::as_str));
    secrecy.conceals_within(&path, value, &Value::Null)
}
