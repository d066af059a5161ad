//! What is said about YAML of many documents, and about where it comes from.

use std::path::PathBuf;

use k8sconnect_cluster::file::Unreadable;
use k8sconnect_core::documents::{Fault, Problem};
use k8sconnect_core::manifest::ManifestError;
use tfplugin::Diagnostic;

use super::{count, paragraphs, span};
use crate::data::{FilesError, KustomizeError, LONGEST_PATTERN, Program, SourceAttribute};

/// More would not be read, and the first usually explains the rest.
const MOST_PROBLEMS: usize = 20;

pub(crate) fn unsplittable(found: &[Problem]) -> Diagnostic {
    Diagnostic::error("The YAML cannot be split into objects", problems(found))
}

/// All that is wrong, and what to do about it.
pub(super) fn problems(found: &[Problem]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut told = None;
    for problem in found {
        let what = fault(&problem.fault);
        match lines.last_mut() {
            Some(line) if told == Some(&problem.place) => line.push_str(&format!("; {what}")),
            _ => lines.push(format!("  - {}: {what}", problem.place)),
        }
        told = Some(&problem.place);
    }
    let places = lines.len();
    if places > MOST_PROBLEMS {
        lines.truncate(MOST_PROBLEMS);
        lines.push(format!("  - and {} more", places - MOST_PROBLEMS));
    }
    let mut advice: Vec<_> = found.iter().filter_map(|problem| advice(&problem.fault)).collect();
    advice.sort_unstable();
    advice.dedup();
    let found = format!("Wrong in {}:\n{}", count(places, "place"), lines.join("\n"));
    paragraphs([&found, &advice.join("\n\n")])
}

fn fault(fault: &Fault) -> String {
    match fault {
        Fault::Yaml(error) => error.kind.to_string().trim_end_matches('.').to_owned(),
        Fault::Unidentified(error) => {
            let text = error.to_string();
            let line = error.line().map(|line| format!("line {line}: ")).unwrap_or_default();
            text.strip_prefix(&line).unwrap_or(&text).to_owned()
        }
        Fault::Again { object, first } => format!("{object} is written again, after {first}"),
        Fault::SameKey { key, object, other, first } => {
            format!("{object} would have the key `{key}`, which {other} has already ({first})")
        }
    }
}

fn advice(fault: &Fault) -> Option<&'static str> {
    match fault {
        // It says itself what to do.
        Fault::Yaml(_) => None,
        Fault::Unidentified(ManifestError::GenerateName { .. }) => Some(
            "An object without a name of its own cannot be found again: give it a `metadata.name`.",
        ),
        Fault::Unidentified(ManifestError::IsAList { .. }) => Some(
            "What has `items` is a list of objects: begin each of them with `- `, and write `items: \
             []` where there are none.",
        ),
        Fault::Unidentified(_) => Some(
            "Every document must be an object of Kubernetes, with `apiVersion`, `kind` and \
             `metadata.name`. Leave out what is none, such as the values of a chart.",
        ),
        Fault::Again { .. } => Some(
            "An object can be managed only once: remove one of the two. A namespace that is left \
             out is `default`, and the version does not make another object.",
        ),
        Fault::SameKey { .. } => Some(
            "Keys join group, kind, namespace and name by dots. Write the `namespace` of the one \
             that leaves it out.",
        ),
    }
}

pub(crate) fn nothing_in(attribute: SourceAttribute) -> Diagnostic {
    Diagnostic::error(
        format!("There is no object in what `{}` gives", attribute.name()),
        "Nothing is written there but blanks, comments and empty lists. Were that taken for no objects, \
         everything made of it before would be planned to be destroyed.\n\n\
         Check where it comes from. If there may well be nothing, set `count = 0` on this data \
         source.",
    )
    .at(attribute.path())
}

pub(crate) fn no_source() -> Diagnostic {
    Diagnostic::error(
        "No YAML is given",
        "One of `content`, `pattern` and `kustomize_path` says where the YAML is, and none of them \
         is set.\n\n\
         Set `content = file(\"${path.module}/all.yaml\")`, \
         `pattern = \"${path.module}/manifests/**/*.yaml\"` or \
         `kustomize_path = \"${path.module}/overlays/prod\"`.",
    )
}

pub(crate) fn several_sources(set: &[SourceAttribute], second: SourceAttribute) -> Diagnostic {
    let names: Vec<_> = set.iter().map(|one| format!("`{}`", one.name())).collect();
    Diagnostic::error(
        "The YAML is given more than once",
        format!(
            "{} are set, and only one of them can say where the YAML is.\n\n\
             Keep one. For several places use several data sources, and `merge(…)` what they give.",
            names.join(" and ")
        ),
    )
    .at(second.path())
}

fn problem_of(pattern: &globset::ErrorKind) -> String {
    use globset::ErrorKind;
    match pattern {
        ErrorKind::UnclosedClass => "a `[` is never closed".into(),
        ErrorKind::UnclosedAlternates => "a `{` is never closed".into(),
        ErrorKind::UnopenedAlternates => "a `}` closes nothing".into(),
        ErrorKind::InvalidRange(first, last) => format!("the range `{first}-{last}` is empty"),
        ErrorKind::DanglingEscape => "a backslash at the end has nothing to escape".into(),
        other => other.to_string(),
    }
}

pub(crate) fn no_files(pattern: &str, error: &FilesError) -> Diagnostic {
    let diagnostic = match error {
        FilesError::Pattern(error) => Diagnostic::error(
            "The pattern cannot be read",
            format!(
                "`{pattern}` is no pattern of files: {}.\n\n\
                 Write e.g. `manifests/**/*.yaml`; a bracket that is part of a name needs a \
                 backslash before it.",
                problem_of(error)
            ),
        ),
        FilesError::PatternTooLong => Diagnostic::error(
            "The pattern is too long",
            format!(
                "A pattern of files has at most {LONGEST_PATTERN} characters. Use several data sources."
            ),
        ),
        FilesError::Nothing { working_directory } => Diagnostic::error(
            format!("No file fits `{pattern}`"),
            format!(
                "Relative patterns begin in the directory that Terraform runs in, `{}`.\n\n\
                 Check the pattern. To name files beside the configuration, begin it with \
                 `${{path.module}}/`.",
                working_directory.display()
            ),
        ),
        FilesError::Unreadable { broken, .. } => {
            let line = |(path, error): &(PathBuf, Unreadable)| {
                format!("  - `{}`: {error}", path.display())
            };
            let lines: Vec<_> = broken.iter().map(line).collect();
            Diagnostic::error(
                format!("Files that fit `{pattern}` cannot be read"),
                format!(
                    "{}\n\nGive leave to read them, or narrow the pattern. YAML must be in UTF-8.",
                    lines.join("\n")
                ),
            )
        }
    };
    diagnostic.at(SourceAttribute::Pattern.path())
}

pub(crate) fn not_built(path: &str, error: &KustomizeError) -> Diagnostic {
    let typed = |program: Program| format!("`{} {path}`", program.words().join(" "));
    let said = |complaint: &str| match complaint {
        "" => "It said nothing.".to_owned(),
        _ => format!("It said:\n\n{}", indented(complaint)),
    };
    let (summary, detail) = match error {
        KustomizeError::NotInstalled => (
            "Neither `kustomize` nor `kubectl` is installed".to_owned(),
            "`kustomize_path` is built by your own `kustomize build`, or by `kubectl kustomize`. \
             Neither command is on the `PATH` that Terraform runs with.\n\n\
             Install one of them, or build the folder beforehand and use `content` or `pattern`."
                .to_owned(),
        ),
        KustomizeError::Unrunnable(program, error) => (
            format!("{} cannot be run", typed(*program)),
            format!("The operating system says: {error}.\n\nCheck that it may be executed."),
        ),
        KustomizeError::TooLong { program, time, complaint } => (
            format!("{} did not end", typed(*program)),
            paragraphs([
                &format!("It was ended after {}. {}", span(*time), said(complaint)),
                "Run it by hand to see what it waits for; often it is a remote base. Take that \
                 into your own repository, or build the folder beforehand.",
            ]),
        ),
        KustomizeError::Stopped => (
            format!("`{path}` was not built"),
            "You asked to stop while it was being built. Nothing was changed; run again when you \
             are ready."
                .to_owned(),
        ),
        KustomizeError::Failed { program, status, complaint } => {
            let said = said(complaint);
            let advice = format!(
                "Mend what it names. Run {} by hand, in the directory that Terraform runs in, to \
                 try.",
                typed(*program)
            );
            (
                format!("{} failed", typed(*program)),
                paragraphs([&format!("It ended with {status}. {said}"), &advice]),
            )
        }
        KustomizeError::TooMuch(program, most) => (
            format!("{} printed too much", typed(*program)),
            format!("More than {} MB is not taken.\n\nBuild the folder in parts.", most >> 20),
        ),
        KustomizeError::NotText(program) => (
            format!("{} printed no text", typed(*program)),
            "What it printed is not in UTF-8, as YAML is.\n\nRun it by hand to see what it makes."
                .to_owned(),
        ),
    };
    Diagnostic::error(summary, detail).at(SourceAttribute::KustomizePath.path())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

pub(crate) fn interrupted() -> Diagnostic {
    Diagnostic::error(
        "The YAML was not read",
        "The provider broke off while it was reading; this is a fault of its own, so please report \
         it. Nothing was changed; run again.",
    )
}
