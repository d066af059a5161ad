//! What is said about the arguments that say how an object is managed.

use std::collections::BTreeSet;

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::field::pattern::{PatternError, PatternProblem};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::ignore::Oddities;
use k8sconnect_core::owners::Owners;
use tfplugin::{AttributePath, Diagnostic, Diagnostics};

use super::ownership::paths;
use super::{count, paragraphs};

const FORMS: &str = "Fields are written as in `spec.replicas`, \
    `spec.template.spec.containers[name=app].image`, `metadata.annotations[\"example.com/x\"]` or \
    `spec.ports[*].nodePort`";

/// The lists of fields that a user may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Ignored,
    Sensitive,
}

impl List {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ignored => "ignore_fields",
            Self::Sensitive => "sensitive_fields",
        }
    }

    fn forms(self) -> String {
        match self {
            Self::Ignored => {
                format!("{FORMS}; `manager=NAME` stands for all that a manager holds.")
            }
            Self::Sensitive => format!("{FORMS}."),
        }
    }
}

pub(crate) fn no_path(list: List, error: &PatternError) -> Diagnostic {
    Diagnostic::error(
        format!("`{}` has an entry that cannot be used", list.name()),
        paragraphs([
            &format!("`{}` cannot be used: {}.", error.text, pattern_problem(error.problem, list)),
            &list.forms(),
        ]),
    )
}

fn pattern_problem(problem: PatternProblem, list: List) -> &'static str {
    match (problem, list) {
        (PatternProblem::Empty, _) => "it is empty",
        (PatternProblem::Unclosed, _) => "`]` is missing",
        (PatternProblem::Name, _) => "a field name, or the `.` before it, is missing",
        (PatternProblem::Item, _) => "an item is named by its fields, as in `[name=app]`",
        (PatternProblem::Filter, _) => "a filter is written as in `[?(@.name==\"app\")]`",
        (PatternProblem::ByPosition, _) => {
            "an item is named by its fields, as in `[name=app]`, not by its position"
        }
        (PatternProblem::Identity, _) => "it identifies the object",
        (PatternProblem::Reserved, _) => {
            "annotations and labels under `k8sconnect.terraform.io/` are reserved for k8sconnect"
        }
        (PatternProblem::Manager, List::Ignored) => "the name of the manager is missing",
        (PatternProblem::Manager, List::Sensitive) => {
            "fields are hidden by their paths, not by their managers"
        }
        (PatternProblem::OwnManager, _) => {
            "that manager is k8sconnect itself, which owns all fields of `yaml_body`"
        }
    }
}

pub(crate) fn null_path(list: List) -> Diagnostic {
    Diagnostic::error(
        format!("`{}` holds a null", list.name()),
        paragraphs(["Every entry is a text.", &list.forms()]),
    )
}

pub(crate) fn no_duration(text: &str, problem: &str) -> Diagnostic {
    Diagnostic::error("This is no length of time", format!("`{text}`: {problem}."))
}

pub(crate) fn no_propagation(text: &str) -> Diagnostic {
    Diagnostic::error(
        "There is no such way to delete",
        format!("`{text}` is not one of `background`, `foreground` and `orphan`."),
    )
}

pub(crate) fn protected_and_forced() -> Diagnostic {
    Diagnostic::error(
        "`delete_protection` and `force_destroy` contradict each other",
        "The one says that the object must not go, the other that it must at any price. Keep one \
         of them.",
    )
}

/// Ignored paths that reach into something that is owned whole or not at all.
pub(crate) fn ignored_in_vain(key: &ObjectKey, reaching: &[(String, FieldPath)]) -> Diagnostic {
    let lines: Vec<_> =
        reaching.iter().map(|(path, leaf)| format!("  `{path}` is inside of `{leaf}`")).collect();
    Diagnostic::error(
        format!("{key}: a part of an atomic field cannot be ignored"),
        format!(
            "The API server gives these fields to one manager as a whole:\n\n{}\n\n\
             Whoever sends a part of it takes all of it. Ignore the whole field, or none of it.",
            lines.join("\n")
        ),
    )
    .at(AttributePath::root("ignore_fields"))
}

/// Entries of `ignore_fields` that mean nothing, or mean it by a place.
pub(crate) fn ignored_oddly(key: &ObjectKey, odd: &Oddities) -> Diagnostics {
    let mut notices = Diagnostics::new();
    let mut tell = |summary: String, lines: Vec<String>, advice: &str| {
        if !lines.is_empty() {
            let detail = paragraphs([&lines.join("\n"), advice]);
            let path = AttributePath::root("ignore_fields");
            notices.push(Diagnostic::warning(summary, detail).at(path));
        }
    };
    let idle = odd.idle.iter().map(|(text, nearest)| match nearest {
        Some(nearest) => format!("  `{text}`: did you mean `{nearest}`?"),
        None => format!("  `{text}`"),
    });
    tell(
        format!("{key}: `ignore_fields` names what is not there"),
        idle.collect(),
        "Neither do you write such a field nor does the object have it. Correct the path, or remove \
         it: what you do not write is left alone anyway, also if it comes later.",
    );
    let placed = odd.by_place.iter().map(|(text, path)| format!("  `{text}` means `{path}`"));
    tell(
        format!("{key}: `ignore_fields` names an item by its place"),
        placed.collect(),
        "The place is looked up in `yaml_body`, and means another item as soon as one is put before \
         it. Write the path as it is shown here instead.",
    );
    notices
}

/// Fields that are ignored from the start, and that the object does not have.
pub(crate) fn ignored_unsent(key: &ObjectKey, fields: &[FieldPath]) -> Option<Diagnostic> {
    if fields.is_empty() {
        return None;
    }
    let warning = Diagnostic::warning(
        format!("{key}: {} will not be sent", count(fields.len(), "new field")),
        format!(
            "New in `yaml_body`, ignored by `ignore_fields` and not on the object. What is ignored is sent \
             only when an object is created:\n\n{}\n\nTo have it written, apply it once before it is \
             listed in `ignore_fields`.",
            paths(fields)
        ),
    );
    Some(warning.at(AttributePath::root("ignore_fields")))
}

/// Whose fields are spared is known from the next read on.
pub(crate) fn yields_anew(key: &ObjectKey, names: &[String], owners: &Owners) -> Diagnostic {
    let holders: BTreeSet<_> = owners.0.iter().map(|held| held.manager.name.as_str()).collect();
    let quoted = |names: &mut dyn Iterator<Item = &str>| {
        names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let absent: Vec<_> =
        names.iter().map(String::as_str).filter(|name| !holders.contains(name)).collect();
    let doubt = match absent.as_slice() {
        [] => String::new(),
        absent => format!(
            "Nothing of the object is held by {} now. Its managers are {}.",
            quoted(&mut absent.iter().copied()),
            quoted(&mut holders.iter().copied())
        ),
    };
    Diagnostic::warning(
        format!("{key}: what is left to a manager is settled by the apply"),
        paragraphs([
            &format!(
                "`ignore_fields` newly names what {} holds, which may be more or less by then. So the \
                 fields of the object are shown as known after apply.",
                quoted(&mut names.iter().map(String::as_str))
            ),
            &doubt,
        ]),
    )
    .at(AttributePath::root("ignore_fields"))
}
