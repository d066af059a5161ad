//! What is said of edits that the server accepts and drops.

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::swallowed::{Emptied, Swallowed};
use serde_json::Value;
use tfplugin::Diagnostic;

use super::ownership::{LISTED, managers};
use super::refusal::on_body;
use super::{ABSENT, count, one_line, paragraphs};

/// What was changed in the body and stays in the cluster as it was.
pub(crate) fn swallowed(
    manifest: &Manifest,
    live: &Value,
    fields: &[Swallowed],
) -> Option<Diagnostic> {
    let line = |it: &Swallowed| {
        let path = it.path.shown();
        if manifest.secrecy().conceals(&it.path, live) {
            return format!("  {path}");
        }
        let kept = it.kept.as_ref().map_or_else(|| ABSENT.to_owned(), Value::to_string);
        let written = one_line(&it.written.to_string());
        format!("  {path}\n    written  {written}\n    kept     {}", one_line(&kept))
    };
    let lines = listed(fields, line)?;
    let diagnostic = Diagnostic::warning(
        format!("{} does not take the change", manifest.key()),
        paragraphs([
            "The API server accepts the new values and keeps the old ones, without a word. An apply \
             changes nothing of that:",
            &lines,
            "If the object may be deleted, `-replace=ADDRESS` makes it anew, as it is written. \
             Otherwise restore the old values in `yaml_body`.",
        ]),
    );
    Some(on_body(manifest, diagnostic))
}

/// What is emptied in the body, and keeps what others hold in it.
pub(crate) fn emptied(
    manifest: &Manifest,
    object: &Value,
    fields: &[Emptied],
) -> Option<Diagnostic> {
    let line = |it: &Emptied| {
        let (path, held) = (it.path.shown(), format!("held by  {}", managers(&it.holders)));
        if manifest.secrecy().conceals_within(&it.path, &it.kept, object) {
            return format!("  {path}\n    {held}");
        }
        let kept = one_line(&it.kept.to_string());
        format!("  {path}\n    written  {}\n    {held}\n    kept     {kept}", it.written)
    };
    let lines = listed(fields, line)?;
    let diagnostic = Diagnostic::warning(
        format!(
            "{}: {} will keep what others hold",
            manifest.key(),
            count(fields.len(), "emptied field")
        ),
        paragraphs([
            "Written as empty, but other managers hold parts of it, which the API server keeps, without \
             a word:",
            &lines,
            "To be rid of it, leave the field out of `yaml_body` (an empty value keeps an empty field there) \
             and remove it with the manager that holds it. To have it otherwise, write your values for what \
             is kept.",
        ]),
    );
    Some(on_body(manifest, diagnostic))
}

/// What is in the body and would not be in the object.
pub(crate) fn dropped(manifest: &Manifest, fields: &[FieldPath]) -> Option<Diagnostic> {
    let lines = listed(fields, |path| format!("  {}", path.shown()))?;
    let diagnostic = Diagnostic::warning(
        format!("{}: the API server drops {}", manifest.key(), count(fields.len(), "field")),
        paragraphs([
            "The API server accepts these and keeps nothing of them, without a word:",
            &lines,
            "Such a field belongs to a feature that is not enabled in this cluster, or does not go \
             with the other values. Remove it from `yaml_body`, or have the feature enabled.",
        ]),
    );
    Some(on_body(manifest, diagnostic))
}

fn listed<T>(fields: &[T], line: impl Fn(&T) -> String) -> Option<String> {
    let mut lines: Vec<_> = fields.iter().take(LISTED).map(line).collect();
    if let Some(more) = fields.len().checked_sub(LISTED).filter(|more| *more > 0) {
        lines.push(format!("  … and {} more", count(more, "field")));
    }
    if lines.is_empty() { None } else { Some(lines.join("\n")) }
}
