//! What is said about a patch: what it takes, from whom, and to whom it goes back.

use std::time::Duration;

use k8sconnect_cluster::Error;
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::handback::Prospect;
use k8sconnect_core::identity::{ID_ANNOTATION, ObjectKey};
use k8sconnect_core::owners::Manager;
use k8sconnect_core::patch::{Claimed, Manner, PatchError, Pointer, Problem, Trouble, Verdict};
use k8sconnect_core::projection::CONCEALED_VALUE;
use k8sconnect_core::scrub::Secrets;
use k8sconnect_core::secrecy::Secrecy;
use k8sconnect_core::text;
use serde_json::{Value, json};
use tfplugin::{AttributePath, Diagnostic, Diagnostics};

use super::ownership::{LISTED, listed, manager, more, named};
use super::refusal::{advised, said, unreached};
use super::stuck::spelt;
use super::{ABSENT, count, one_line, paragraphs};

/// Has a diagnostic point at the text of a patch. Terraform prints the lines that are pointed at,
/// which are better not printed for a Secret.
fn on(diagnostic: Diagnostic, attribute: &str, key: &ObjectKey) -> Diagnostic {
    if key.gvk.is_secret() {
        return diagnostic;
    }
    diagnostic.at(AttributePath::root(attribute))
}

/// A part of `target` can be no name.
pub(crate) fn no_name(part: &str, name: &str) -> Diagnostic {
    Diagnostic::error(
        format!("No object can be meant by `target.{part} = {name:?}`"),
        "It is one step of the object's address, so that it can be neither empty nor hold `/` or \
         `%`. A patch changes an object as such, never one of its subresources.\n\n\
         Write the name as `kubectl get` shows it.",
    )
    .at(AttributePath::root("target").attribute(part))
}

/// A namespace is given for a kind that lives in none.
pub(crate) fn no_namespace(key: &ObjectKey) -> Diagnostic {
    let (kind, name) = (&key.gvk.kind, &key.name);
    let namespace = key.namespace.as_deref().unwrap_or_default();
    Diagnostic::warning(
        format!("{kind} `{name}` lives in no namespace"),
        format!(
            "Objects of this kind belong to the whole cluster, so that `target.namespace = \
             {namespace:?}` says nothing.\n\nRemove it."
        ),
    )
    .at(AttributePath::root("target").attribute("namespace"))
}

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
    on(diagnostic, attribute, key)
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
        PatchError::Directive(_) if attribute == self::attribute(Manner::Merge) => {
            "A merge patch knows no directives: `null` removes a field, and a list is replaced as a \
             whole. To change single items of a list, use `patch`, which finds them by their key."
        }
        PatchError::Directive(_) if attribute == self::attribute(Manner::Json) => {
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
        PatchError::Marks(_) => {
            "These annotations are k8sconnect's own. Name the annotations that you mean one by one."
        }
        PatchError::StringData(_) => {
            "Write to `/data` instead, with `base64encode(…)` around the value."
        }
        PatchError::BadOperation { .. } => {
            "An operation has an `op` and a `path` that begins with `/`; `add`, `replace` and \
             `test` have a `value`, `move` and `copy` a `from`. A `/` inside a name is written `~1`."
        }
    }
}

pub(crate) fn one_of_three(found: usize) -> Diagnostic {
    Diagnostic::error(
        "Exactly one of `patch`, `json_patch` and `merge_patch` must be set",
        format!(
            "{found} of them are. `patch` is a partial object whose lists are merged by key and is \
             right for most; `json_patch` is a list of operations; `merge_patch` can remove fields \
             with `null`."
        ),
    )
}

/// The summary names no object, so that many of these are shown as one.
pub(crate) fn unknown() -> Diagnostic {
    Diagnostic::warning(
        "Patches whose target or content is not known yet are planned without the cluster",
        "Something in them is known only after apply, so that the API server cannot be asked about \
         them now. It is asked, and the patch checked, during the apply.",
    )
}

pub(crate) fn not_there_yet(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} does not exist, so its patch cannot be planned in full"),
        "A patch never creates its target. If this very run makes it (a Helm release, an operator \
         with its objects), let the patch `depends_on` what makes it: the patch is then checked and \
         made during the apply. Otherwise the apply will fail; check `target`.",
    )
    .at(AttributePath::root("target"))
}

/// The kind is that of a custom resource, and the API server does not serve it.
pub(crate) fn kind_not_there_yet(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!(
            "{key}: `{}` of `{}` is not served, so the patch cannot be planned in full",
            key.gvk.kind,
            key.gvk.api_version()
        ),
        "The API server knows no such kind yet. If this very run makes it (an operator with its \
         CustomResourceDefinitions), let the patch `depends_on` what makes it and the object: the \
         patch is then checked and made during the apply. Otherwise the apply will fail; check \
         `target`.",
    )
    .at(AttributePath::root("target"))
}

pub(crate) fn kind_missing(key: &ObjectKey, waited: Duration) -> Diagnostic {
    Diagnostic::error(
        format!(
            "{key} cannot be patched: `{}` of `{}` is not served",
            key.gvk.kind,
            key.gvk.api_version()
        ),
        format!(
            "The API server knows no such kind. Apply waited {} seconds for it.\n\n\
             Check `target`. If this configuration makes the kind, let the patch `depends_on` what \
             makes it and the object.",
            waited.as_secs()
        ),
    )
    .at(AttributePath::root("target"))
}

pub(crate) fn missing(key: &ObjectKey, waited: Duration) -> Diagnostic {
    let waited = match waited.as_secs() {
        0 => String::new(),
        seconds => format!(" Apply waited {seconds} seconds for it."),
    };
    Diagnostic::error(
        format!("{key} does not exist and cannot be patched"),
        format!(
            "A patch never creates its target.{waited}\n\n\
             Check `target`. If this configuration makes the object, let the patch `depends_on` what \
             makes it.",
        ),
    )
    .at(AttributePath::root("target"))
}

/// The object belongs to a `k8sconnect_object`, of this state or another.
pub(crate) fn managed_as_object(key: &ObjectKey, claimed: &Claimed) -> Diagnostic {
    let why = match &claimed.id {
        Some(id) => format!("It bears the k8sconnect id `{id}`"),
        None => "Some of its fields are held by the field manager `k8sconnect`".to_owned(),
    };
    let mut operations = Vec::new();
    if claimed.id.is_some() {
        let name = ID_ANNOTATION.replace('/', "~1");
        operations.push(json!({"op": "remove", "path": format!("/metadata/annotations/{name}")}));
    }
    for n in &claimed.entries {
        let path = format!("/metadata/managedFields/{n}/manager");
        operations.push(json!({"op": "test", "path": path, "value": "k8sconnect"}));
        operations.push(json!({"op": "replace", "path": path, "value": "former-k8sconnect"}));
    }
    let command =
        format!("  kubectl patch {} --type=json -p '{}'", spelt(key), Value::Array(operations));
    Diagnostic::error(
        format!("{key} is managed by a `k8sconnect_object` and cannot be patched"),
        paragraphs([
            &format!(
                "{why}: a `k8sconnect_object` of this configuration or another manages it as a \
                 whole, and the two would undo each other's work."
            ),
            "Write the fields in the `yaml_body` of that resource instead.",
            "If no state holds the object any more, clear what is left on it and run again:",
            &command,
        ]),
    )
    .at(AttributePath::root("target"))
}

/// Whether a patch is to be made, or stands already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    New,
    Made,
}

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
        Problem::Elsewhere { n, at, then, now } => (
            format!("operation {n}"),
            format!(
                "`{at}` counts list items, and others have changed the list since the first \
                 apply:\n\n  it was  {then}\n  it is   {now}\n\n\
                 Write the position at which the item stands now, or use `patch`, which finds items \
                 by their key."
            ),
        ),
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
    let way_out = match stage {
        Stage::New => "",
        // A destroy makes a plan like any other first, unless it is told not to look.
        Stage::Made => {
            "To destroy the patch as it stands, destroy it with `-refresh=false`: its fields are \
             handed back all the same."
        }
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
        Trouble::NoPosition { at, length } => format!(
            "`{at}` names no position of the list, which has {}.\n\nPositions count from 0; \
             `-` is the end of the list.",
            count(*length, "item")
        ),
        Trouble::Differs { at, wanted, found } => {
            let shown = |value: Option<&Value>| match value {
                Some(_) if is_secret(at, secrecy) => CONCEALED_VALUE.to_owned(),
                Some(value) => one_line(&text::shown(value)),
                None => ABSENT.to_owned(),
            };
            format!(
                "The `test` of `{at}` fails:\n\n  wanted  {}\n  found   {}\n\n\
                 Nothing was changed. If the new value is right, write it in the `test`.",
                shown(Some(wanted)),
                shown(found.as_ref())
            )
        }
    }
}

fn is_secret(at: &Pointer, secrecy: &Secrecy) -> bool {
    secrecy.conceals(&FieldPath::fields(at.0.iter().map(String::as_str)), &Value::Null)
}

/// The attribute that a patch of this manner is written in.
pub(crate) fn attribute(manner: Manner) -> &'static str {
    match manner {
        Manner::Apply => "patch",
        Manner::Merge => "merge_patch",
        Manner::Json => "json_patch",
    }
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

/// The server refused the patch.
pub(crate) fn not_taken(
    key: &ObjectKey,
    manner: Manner,
    secrets: &Secrets,
    error: &Error,
) -> Diagnostic {
    let Error::Refused(status) = error else {
        return unreached(key, error);
    };
    let words = said(status.code, &brief(&secrets.cut_out_of(&status.message)));
    let (what, advice) = advised(status);
    let diagnostic = Diagnostic::error(
        format!("{key}: the patched object {what}"),
        paragraphs([
            &words,
            advice,
            "Nothing was changed. A patch never replaces its target: a field that cannot change is \
             left to whoever made the object.",
        ]),
    );
    on(diagnostic, attribute(manner), key)
}

/// The same where the patch was sent, and may have been carried out though nobody said so.
pub(crate) fn in_doubt(told: Diagnostics, error: &Error) -> Diagnostics {
    if !error.may_be_done() {
        return told;
    }
    let doubt = "The target may have been patched all the same. If the next plan finds what this run \
                 left behind, `adopt = true` takes it over.";
    let doubted = |mut one: Diagnostic| {
        one.detail = paragraphs([&one.detail, doubt]);
        one
    };
    told.into_iter().map(doubted).collect()
}

/// What a new patch takes, and what of it goes.
pub(crate) fn takes(key: &ObjectKey, verdict: &Verdict) -> Diagnostics {
    let mut told = Diagnostics::new();
    if !verdict.changes.is_empty() {
        let paths = verdict.changes.iter().map(|change| change.path.to_string());
        told.push(Diagnostic::warning(
            format!("{key}: {} will be patched", named(paths)),
            format!(
                "Applying changes these on an object that is not yours:\n\n{}\n\n\
                 Destroying the patch gives each field back to who holds it now; its value stays. \
                 The other manager may set a field back before.",
                listed(&verdict.changes)
            ),
        ));
    }
    told.extend(dropped(key, verdict));
    told
}

/// What goes because the patch replaces what holds it: items of lists, fields of maps.
pub(crate) fn dropped(key: &ObjectKey, verdict: &Verdict) -> Diagnostics {
    let mut told = Diagnostics::new();
    if !verdict.gone.is_empty() {
        let paths = verdict.gone.iter().map(|field| field.path.to_string());
        told.push(Diagnostic::warning(
            format!("{key}: {} will go", named(paths)),
            format!(
                "The operations replace what holds these, and do not repeat them:\n\n{}\n\n\
                 They do not come back when the patch is destroyed. To keep them, set single fields \
                 instead: `{{\"op\": \"add\", \"path\": \"…/name\", \"value\": …}}`.",
                listed(&verdict.gone)
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
    let items = lists.iter().map(|(_, items)| items.len()).sum();
    told.push(Diagnostic::warning(
        format!("{key}: {} of `{}` will go", count(items, "item"), lists[0].0),
        format!(
            "These lists are replaced as a whole, and what the patch does not repeat goes:\n\n\
             {}\n\nTo keep an item, write it in the patch too, or add yours with a `json_patch`: \
             `{{\"op\": \"add\", \"path\": \"…/-\", \"value\": …}}`.",
            lines.join("\n")
        ),
    ));
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
    let all = |managers: &[Manager]| managers.iter().map(manager).collect::<Vec<_>>().join(", ");
    match prospect {
        Prospect::Absent => format!("  {path} stays absent"),
        Prospect::Stays { returns_to, stays_with } => {
            match (returns_to.as_slice(), stays_with.as_slice()) {
                ([], []) => format!("  {path} stays as it is, held by nobody"),
                ([], holders) => format!("  {path} stays with {}", all(holders)),
                (owners, []) => format!("  {path} returns to {}", all(owners)),
                (owners, holders) => {
                    format!("  {path} returns to {}, stays with {}", all(owners), all(holders))
                }
            }
        }
    }
}

pub(crate) fn another_target(old: &ObjectKey, new: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("The patch of {old} will move to {new}"),
        "The fields of the old target are handed back, then the new one is patched.",
    )
}

/// Positions in a list may mean other items than the plan showed.
pub(crate) fn changed_since(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} changed since the plan was made"),
        "`json_patch` counts list items, and the positions may mean other items by now than those \
         that the plan showed.\n\n\
         Nothing was changed. Plan again, with a refresh.",
    )
    .at(AttributePath::root("target"))
}

/// Under the name of the target there is another object now.
pub(crate) fn recreated(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was deleted and made anew"),
        "It is another object now, without the patch. Applying patches it again, and takes down \
         anew who holds each field.",
    )
}

/// The Go provider made the patch.
pub(crate) fn no_former_owners(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key}: who held the patched fields before is not known"),
        "The patch was made by the Go provider of this name, which kept no record of it. Fields that \
         this apply takes from others will be given back to them; those that the patch holds \
         already will stay on the object when it is destroyed, held by nobody.",
    )
}

fn by_patch(contested: &[(Manager, Vec<FieldPath>)]) -> String {
    let mut lines = Vec::new();
    for (holder, paths) in contested {
        lines.push(format!("  held by {}", manager(holder)));
        lines.extend(paths.iter().take(LISTED).map(|path| format!("    {path}")));
        lines.extend(more(paths.len()));
    }
    lines.join("\n")
}

pub(crate) fn held_by_patches(
    key: &ObjectKey,
    contested: &[(Manager, Vec<FieldPath>)],
) -> Diagnostic {
    Diagnostic::error(
        format!("{key}: another patch holds the same fields"),
        format!(
            "Two patches of one field would take it from each other for ever:\n\n{}\n\n\
             Patch the field in one place only. If the other patch is this one:\n\n  \
             - under a former address: say so with a `moved` block.\n  \
             - about to be replaced with `create_before_destroy`: the old patch holds the fields \
             until it is destroyed. Remove `create_before_destroy`, so that it goes first, or set \
             `adopt = true`, so that its fields are handed over.\n  \
             - left behind by a run that was killed before it could write its state: take it over \
             with `adopt = true`.",
            by_patch(contested)
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
            "`adopt = true` says so. All that the other patch holds is handed back to who had it \
             before, and then patched by this one:\n\n{}\n\n\
             If the other patch is still in somebody's state, its next plan will want its fields \
             back.",
            by_patch(contested)
        ),
    )
}

pub(crate) fn not_handed_back(key: &ObjectKey, error: &Error) -> Diagnostic {
    let (why, advice) = match error {
        Error::Refused(status) => (
            said(status.code, &status.message),
            "Remove what forbids the write, or ask for the permission to `patch`, and run again."
                .to_owned(),
        ),
        other => (other.why(), other.advice()),
    };
    Diagnostic::error(
        format!("{key}: the patched fields were not handed back"),
        paragraphs([&why, &format!("State keeps the patch. {advice}")]),
    )
}

/// The server accepted a hand-back and did not do it.
pub(crate) fn hand_back_ignored(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key}: the API server did not hand the patched fields back"),
        "It accepted the request, but the owners of the fields are not those that were asked for. It \
         does so when an entry of `managedFields` cannot be read, for instance because its API \
         version is no longer served.\n\n\
         State keeps the patch. Look at `kubectl get --show-managed-fields`, and please report this \
         as a bug.",
    )
}

pub(crate) fn not_imported() -> Diagnostic {
    Diagnostic::error(
        "A `k8sconnect_patch` cannot be imported",
        "Who held the fields before cannot be found out afterwards.\n\n\
         Write the patch and apply it. If a killed run left a patch behind on the object, set \
         `adopt = true`: it is handed back and made anew.",
    )
}

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
