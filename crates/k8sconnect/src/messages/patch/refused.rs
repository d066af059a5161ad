//! Texts that are no patches, and patches that the server does not take.

use k8sconnect_cluster::Error;
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::patch::{Behind, Manner, PatchError};
use k8sconnect_core::rejection::{Cause, Rejection};
use k8sconnect_core::scrub::Secrets;
use k8sconnect_core::yaml::Position;
use serde_json::Value;
use tfplugin::Diagnostic;

use super::operations::{AS_IT_STANDS, Stage};
use super::{attribute as attribute_of, on};
use crate::messages::manifest::words_read_as_booleans;
use crate::messages::refusal::{advised, said, unreached};
use crate::messages::{count, paragraphs, quoted};

pub(crate) fn unusable(errors: &[PatchError], attribute: &str, key: &ObjectKey) -> Diagnostic {
    let lines: Vec<_> = errors.iter().map(|error| format!("  - {error}")).collect();
    let mut advice: Vec<_> = errors.iter().map(|error| advice(error, attribute)).collect();
    advice.sort_unstable();
    advice.dedup();
    let found = format!("{} found:\n{}", count(errors.len(), "problem"), lines.join("\n"));
    let diagnostic = Diagnostic::error(
        format!("`{attribute}` is not a patch that can be made"),
        paragraphs([&found, &advice.join("\n\n")]),
    );
    // A text that is no patch at all may be anything, such as a password in the wrong place.
    let formless =
        |one: &PatchError| matches!(one, PatchError::NotAMapping(_) | PatchError::NotAList(_));
    match errors.iter().any(formless) {
        true => diagnostic,
        false => on(diagnostic, attribute, key),
    }
}

fn advice(error: &PatchError, attribute: &str) -> &'static str {
    match error {
        PatchError::Yaml(_) => "Mend the YAML there; it is read as kubectl reads it.",
        PatchError::Empty => "Write at least one field to be changed, or remove the patch.",
        PatchError::SeveralDocuments(_) => "One patch is one document. Use one resource for each.",
        PatchError::NotAMapping(_) => {
            "Write the fields as in the object itself: `spec: {replicas: 3}`. A list of operations \
             belongs in `json_patch`."
        }
        PatchError::NotAList(_) => {
            "Write a list: `[{\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 3}]`. \
             Fields as in the object itself belong in `patch` or `merge_patch`."
        }
        PatchError::Directive(_) if attribute == attribute_of(Manner::Merge) => {
            "A merge patch knows no directives: `null` removes a field, and a list is replaced as a \
             whole. To change single items of a list, use `patch`, which finds them by their key."
        }
        PatchError::Directive(_) if attribute == attribute_of(Manner::Json) => {
            "Operations know no directives: `remove` takes a field or an item away, and `replace` \
             puts another one in its place."
        }
        PatchError::Directive(_) => {
            "Server-side apply merges lists by key and needs no directives. To remove a field or an \
             item, use `merge_patch` with `null`, or `json_patch` with `remove`; to replace a list \
             as a whole, use `merge_patch`."
        }
        PatchError::Identity(_) | PatchError::WholeObject => {
            "A patch changes an object and never makes it another one. Which object is meant stands \
             in `target`; remove these lines, or change `target`."
        }
        PatchError::ServerOwned(_) => {
            "Remove these lines: the API server, or a controller through a subresource, writes \
             them, and would take them from nobody else."
        }
        PatchError::Reserved(_) => {
            "Remove these lines: annotations and labels under `k8sconnect.terraform.io/` are \
             reserved for k8sconnect, which sets and removes them itself."
        }
        PatchError::AllAnnotations(_) => "Name the annotations that you mean one by one.",
        PatchError::StringData(_) => {
            "Write to `/data` instead, with `base64encode(…)` around the value."
        }
        PatchError::NoStringData | PatchError::AllOfData => {
            "Name each key that is to go: `data: {KEY: null}`. What is to stand in the others, \
             `stringData` may say beside it."
        }
        PatchError::BothWays(_) => "Say of each key one thing only: its value, or `null`.",
        PatchError::NotBase64(_) if attribute == attribute_of(Manner::Json) => {
            "`data` of a Secret holds base64: put `base64encode(…)` around the value."
        }
        PatchError::NotBase64(_) => {
            "`data` of a Secret holds base64. Write plain text in `stringData`, or encode it with \
             `base64encode(…)`."
        }
        PatchError::Betrayal { .. } => {
            "The values of a Secret are shown nowhere, in no plan and no state. Copied out of `data` \
             they would be, and whoever may list objects without reading Secrets would see them too. \
             Copy within `data`, or write what is to stand there with `add`."
        }
        PatchError::BadOperation { .. } => {
            "An operation has an `op` and a `path` that begins with `/`; `add`, `replace` and \
             `test` have a `value`, `move` and `copy` a `from`. A `/` inside a name is written `~1`."
        }
    }
}

/// What a patch writes on its target of itself does not fit there.
pub(crate) fn too_many_fields(key: &ObjectKey, ours: usize, all: usize) -> Diagnostic {
    let kib = |bytes: usize| bytes.div_ceil(1024);
    Diagnostic::error(
        format!("{key}: the patch names too many fields"),
        format!(
            "A patch notes on its target which fields it means and from whom it took them, in an \
             annotation. This note would have {} KiB, all annotations of the object {} KiB, and an \
             API server takes 256 KiB at most.\n\n\
             Nothing was changed. Patch fewer fields of this object. Several patches would not \
             help, since all their notes stand on it: what needs so many fields is better made as \
             an object of its own.",
            kib(ours),
            kib(all)
        ),
    )
}

/// How long a quoted object may be before it hides what the server means.
const QUOTED: usize = 200;

/// The server's words without the whole objects that it quotes in them.
fn brief(words: &str) -> String {
    let mut told = String::new();
    let mut rest = words;
    while let Some(start) = rest.find("\"{") {
        let quoted = &rest[start + 1..];
        let mut escaped = false;
        let end = quoted.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some(end) = end else { break };
        told.push_str(&rest[..start]);
        if end > QUOTED {
            told.push_str("(the whole object)");
        } else {
            told.push_str(&rest[start..=start + 1 + end]);
        }
        rest = &quoted[end + 1..];
    }
    told + rest
}

/// What a patch was sent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// To be told what would come of it.
    Trial(Stage),
    /// To be made. It may have been carried out though nobody said so.
    Write,
}

/// The server did not take the patch. `words` are where its text has values that became booleans.
pub(crate) fn not_taken(
    key: &ObjectKey,
    manner: Manner,
    words: &[Position],
    secrets: &Secrets,
    error: &Error,
    sent: Sent,
    behind: &[Behind],
) -> Diagnostic {
    let in_doubt = sent == Sent::Write && error.may_be_done();
    let Error::Refused(status) = error else {
        let mut told = unreached(key, error);
        if in_doubt {
            told.detail = paragraphs([&told.detail, IN_DOUBT]);
        }
        return told;
    };
    let booleans = match status.blames_the_body() {
        true => words_read_as_booleans(words),
        false => String::new(),
    };
    let words = said(status.code, &brief(&quoted(secrets, &status.message)));
    let (what, advice) = advised(status);
    let advice = match status.rejection() {
        Rejection::Invalid(_) if !behind.is_empty() => left_behind(manner, behind),
        Rejection::Invalid(causes) => remedy(&causes).to_owned(),
        _ => advice.to_owned(),
    };
    let outcome = match (in_doubt, status.leaves_open()) {
        (true, _) => IN_DOUBT,
        (false, true) => "Nothing was changed.",
        (false, false) => {
            "Nothing was changed. A patch never replaces its target: a field that cannot change is \
             left to whoever made the object."
        }
    };
    let way_out = match sent {
        Sent::Trial(Stage::Made) if status.blames_the_body() => AS_IT_STANDS,
        Sent::Trial(_) | Sent::Write => "",
    };
    let diagnostic = Diagnostic::error(
        format!("{key}: the patched object {what}"),
        paragraphs([&words, &advice, &booleans, outcome, way_out]),
    );
    on(diagnostic, attribute_of(manner), key)
}

/// What to do about values that the server refuses. A patch that cannot be read as an object of the
/// kind is told by a cause that blames the patch; a policy blames no field at all.
fn remedy(causes: &[Cause]) -> &'static str {
    if causes.iter().all(|cause| cause.field == "patch") {
        "Look in the server's words for what does not fit where the patch puts it; `kubectl explain` \
         tells what each field takes."
    } else if causes.iter().all(|cause| cause.field.is_empty()) {
        "The server's words tell what it asks for."
    } else {
        "Change the values that the server names. Where one of them cannot change any more, remove it \
         from the patch."
    }
}

/// What left the patch, and how it leaves the object too.
fn left_behind(manner: Manner, behind: &[Behind]) -> String {
    let mut leaves: Vec<_> = behind.iter().map(|it| format!("  {}", it.leaf)).collect();
    leaves.sort();
    let mut nulls: Vec<_> = behind.iter().filter_map(Behind::as_merge_patch).collect();
    let as_nulls = manner == Manner::Merge && nulls.len() == behind.len();
    let (how, mut ways) = match manner {
        Manner::Merge if as_nulls => {
            ("say so with `null` in `merge_patch`, beside what it sets", std::mem::take(&mut nulls))
        }
        Manner::Json => ("begin `json_patch` with this", operations(behind)),
        Manner::Apply | Manner::Merge => (
            "write the patch as `json_patch` for one apply, which begins with this and has an `add` for \
             each field that the patch sets. After that it can be written as it is now",
            operations(behind),
        ),
    };
    ways.dedup();
    let ways: Vec<_> = ways.iter().map(|way| format!("  {way}")).collect();
    format!(
        "What leaves a patch stays on the object with its value, and the server may not want it \
         beside what the patch says now:\n\n{}\n\nTo have it removed, {how}:\n\n{}",
        leaves.join("\n"),
        ways.join("\n")
    )
}

fn operations(behind: &[Behind]) -> Vec<Value> {
    behind.iter().map(Behind::as_operation).collect()
}

const IN_DOUBT: &str = "The target may have been patched all the same. If the next plan finds what \
     this run left behind, `adopt = true` takes it over.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_object_in_the_servers_words_does_not_hide_them() {
        let object = format!("{{\\\"a\\\":\\\"{}\\\"}}", "x".repeat(4000));
        let words = format!("patch: Invalid value: \"{object}\": json: cannot unmarshal \"{{}}\"");
        let told = brief(&words);
        assert_eq!(told, "patch: Invalid value: (the whole object): json: cannot unmarshal \"{}\"");
    }
}
