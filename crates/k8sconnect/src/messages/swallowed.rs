//! What is said of edits that the server accepts and drops.

use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::swallowed::Swallowed;
use serde_json::Value;
use tfplugin::Diagnostic;

use super::ownership::LISTED;
use super::refusal::on_body;
use super::{ABSENT, count, one_line, paragraphs};

/// What was changed in the body and stays in the cluster as it was.
pub(crate) fn swallowed(manifest: &Manifest, live: &Value, fields: &[Swallowed]) -> Diagnostic {
    let line = |it: &Swallowed| {
        let path = it.path.shown();
        if manifest.secrecy().conceals(&it.path, live) {
            return format!("  {path}");
        }
        let kept = it.kept.as_ref().map_or_else(|| ABSENT.to_owned(), Value::to_string);
        let written = one_line(&it.written.to_string());
        format!("  {path}\n    written  {written}\n    kept     {}", one_line(&kept))
    };
    let mut lines: Vec<_> = fields.iter().take(LISTED).map(line).collect();
    if let Some(more) = fields.len().checked_sub(LISTED).filter(|more| *more > 0) {
        lines.push(format!("  … and {} more", count(more, "field")));
    }
    let diagnostic = Diagnostic::warning(
        format!("{} does not take the change", manifest.key()),
        paragraphs([
            "The API server accepts the new values and keeps the old ones, without a word. An apply \
             changes nothing of that:",
            &lines.join("\n"),
            "If the object may be deleted, `-replace=ADDRESS` makes it anew, as it is written. \
             Otherwise restore the old values in `yaml_body`.",
        ]),
    );
    on_body(manifest, diagnostic)
}
