//! Texts that are no patches, and patches that the server does not take.

use k8sconnect_cluster::Error;
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::patch::{Behind, Manner, OperationError, PatchError, SecretError};
use k8sconnect_core::rejection::{Cause, Rejection};
use k8sconnect_core::scrub::Secrets;
use k8sconnect_core::yaml::{NESTING_LIMIT, Position};
use serde_json::Value;
use tfplugin::Diagnostic;

use super::operations::{AS_IT_STANDS, Stage};
use super::{attribute as attribute_of, on};
use crate::messages::manifest::{NOT_BASE64, words_read_as_booleans};
use crate::messages::refusal::{advised, said, unreached};
use crate::messages::{Explained, paragraphs, problems, quoted, yaml};

pub(crate) fn unusable(errors: &[PatchError], attribute: &str, key: &ObjectKey) -> Diagnostic {
    let diagnostic = Diagnostic::error(
        format!("`{attribute}` is not a patch that can be made"),
        problems(errors.iter().map(|error| explained(error, attribute))),
    );
    // A text that is no patch at all may be anything, such as a password in the wrong place.
    let formless = |one: &PatchError| matches!(one, PatchError::NotAMapping | PatchError::NotAList);
    match errors.iter().any(formless) {
        true => diagnostic,
        false => on(diagnostic, attribute, key),
    }
}

fn explained(error: &PatchError, attribute: &str) -> Explained {
    match error {
        PatchError::Yaml(error) => {
            let (problem, advice) = yaml::explained(&error.kind);
            (format!("{}: {problem}", error.position), advice)
        }
        PatchError::Empty => (
            "the patch changes nothing".into(),
            "Write at least one field to be changed, or remove the patch.",
        ),
        PatchError::SeveralDocuments(count) => (
            format!("the text has {count} documents"),
            "One patch is one document. Use one resource for each.",
        ),
        PatchError::NotAMapping => (
            "the patch is not a mapping of fields".into(),
            "Write the fields as in the object itself: `spec: {replicas: 3}`. A list of operations \
             belongs in `json_patch`.",
        ),
        PatchError::NotAList => (
            "the patch is not a list of operations".into(),
            "Write a list: `[{\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 3}]`. \
             Fields as in the object itself belong in `patch` or `merge_patch`.",
        ),
        PatchError::Directive(at) => (
            format!("`{at}` is a directive of strategic merge patches"),
            match attribute == attribute_of(Manner::Apply) {
                true => {
                    "Server-side apply merges lists by key and needs no directives. To remove a \
                     field, use `merge_patch` with `null`, or `json_patch` with `remove`."
                }
                false => {
                    "To change single items of a list, use `patch`: server-side apply merges \
                          lists by key and needs no directives."
                }
            },
        ),
        PatchError::WholeObject => ("the path `\"\"` is the whole object".into(), SAME_OBJECT),
        PatchError::Identity(at) => (format!("`{at}` identifies the object"), SAME_OBJECT),
        PatchError::ServerOwned(at) => (
            format!("`{at}` is written by the API server"),
            "Remove the fields that the API server, or a controller through a subresource, writes.",
        ),
        PatchError::Reserved(at) => (
            format!("`{at}` is reserved for k8sconnect"),
            "Remove the annotations and labels under `k8sconnect.terraform.io/`; k8sconnect sets \
             them itself.",
        ),
        PatchError::AllAnnotations(at) => (
            format!(
                "`{at}` means all annotations, those of k8sconnect and other managers included"
            ),
            "Name each annotation that you mean.",
        ),
        PatchError::BadOperation { n, error } => operation(*n, error),
        PatchError::Secret(error) => secret_data(error, attribute),
    }
}

const SAME_OBJECT: &str = "A patch cannot change which object it means. Remove these lines, or change \
    `target`.";

/// What is wrong with a patch of a Secret.
fn secret_data(error: &SecretError, attribute: &str) -> Explained {
    const NAME_KEYS: &str = "Name each key to remove: `data: {KEY: null}`. `stringData` can set other \
        keys.";
    const ENCODE: &str =
        "`data` of a Secret holds base64: write `base64encode(…)` around the value.";
    match error {
        SecretError::StringData(at) => (
            format!("`{at}` is in `stringData`, which the API server never stores"),
            "Write to `/data` instead, with `base64encode(…)` around the value.",
        ),
        SecretError::NoStringData => {
            ("`stringData: null` removes nothing: it is never stored".into(), NAME_KEYS)
        }
        SecretError::AllOfData => {
            ("`data: null` removes all keys, and `stringData` adds some".into(), NAME_KEYS)
        }
        SecretError::BothWays(key) => (
            format!("`stringData` removes `{key}`, and `data` sets it"),
            "Give each key one meaning: a value, or `null`.",
        ),
        SecretError::Betrayal { from, to } => (
            format!("`{from}` is or contains a secret, and `{to}` is shown in plans and state"),
            "Copy within `data`, or write the value with `add`.",
        ),
        SecretError::NotBase64(at) => (
            format!("`{at}` is not base64"),
            match attribute == attribute_of(Manner::Json) {
                true => ENCODE,
                false => NOT_BASE64,
            },
        ),
    }
}

fn operation(n: usize, error: &OperationError) -> Explained {
    const POINTER: &str = "A path starts with `/`, as in `/spec/replicas`. Inside a name write `~1` for \
        `/` and `~0` for `~`.";
    let (problem, advice) = match error {
        OperationError::NotAMapping => ("it is not a mapping".to_owned(), MEMBERS),
        OperationError::Missing(name) => (format!("`{name}` is missing"), MEMBERS),
        OperationError::UnknownOp(op) => (
            format!("`{op}` does not exist"),
            "`op` is `add`, `remove`, `replace`, `move`, `copy` or `test`.",
        ),
        OperationError::NotAPointer { name, text } => {
            (format!("`{name}` is not a JSON Pointer: `{text}`"), POINTER)
        }
        OperationError::TooDeep(name) => {
            (format!("`{name}` has more than {NESTING_LIMIT} steps"), POINTER)
        }
        OperationError::IntoItself { from, at } => (
            format!("`{from}` cannot move to `{at}`, which is a part of it"),
            "Move it elsewhere, or use `copy`.",
        ),
    };
    (format!("operation {n}: {problem}"), advice)
}

const MEMBERS: &str = "An operation has `op` and `path`; `add`, `replace` and `test` also have `value`, \
    `move` and `copy` also have `from`.";

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
