//! What is said about YAML of many documents, and about where it comes from.

use std::path::PathBuf;

use k8sconnect_cluster::file::Unreadable;
use k8sconnect_core::documents::{Fault, Place, Problem};
use k8sconnect_core::manifest::ManifestCause;
use tfplugin::Diagnostic;

use super::{Explained, manifest, paragraphs, span, unreadable, yaml};
use crate::yaml_source::{FilesError, KustomizeError, LONGEST_PATTERN, Program, SourceAttribute};

pub(crate) fn unsplittable(found: &[Problem]) -> Diagnostic {
    Diagnostic::error("The YAML cannot be split into objects", problems(found))
}

pub(super) fn problems(found: &[Problem]) -> String {
    super::problems(found.iter().map(|Problem { place: at, fault }| {
        let (problem, advice) = explained(fault);
        (format!("{}: {problem}", place(at)), advice)
    }))
}

fn place(Place { source, document, line }: &Place) -> String {
    let source = source.as_ref().map(|name| format!("`{name}`, ")).unwrap_or_default();
    format!("{source}document {document}, line {line}")
}

fn explained(fault: &Fault) -> Explained {
    match fault {
        Fault::Yaml(error) => yaml::explained(&error.kind),
        Fault::Unidentified(error) => {
            let (problem, advice) = manifest::explained(error);
            let advice = match error.cause {
                ManifestCause::IsAList(_) => {
                    "`items` holds a list of objects: start each object with `- `, and write `items: \
                     []` if there are none."
                }
                ManifestCause::NotAMapping | ManifestCause::Missing => {
                    "Every document must be a Kubernetes object, with `apiVersion`, `kind` and \
                     `metadata.name`. Leave out other documents, such as the values of a chart."
                }
                _ => advice,
            };
            (problem, advice)
        }
        Fault::Again { object, first } => (
            format!("{object} is already written in {}", place(first)),
            "Remove one of the two: an object can be managed only once. A missing namespace means \
             `default`, and another API version is still the same object.",
        ),
        Fault::SameKey { key, object, other, first } => (
            format!("{object} would have the key `{key}` of {other} ({})", place(first)),
            "A key joins group, kind, namespace and name with dots. Write the `namespace` of the \
             object that has none.",
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
                "`{pattern}`: {}.\n\n\
                 Write a pattern such as `manifests/**/*.yaml`. A bracket that is part of a name \
                 needs a backslash before it.",
                problem_of(error)
            ),
        ),
        FilesError::PatternTooLong => Diagnostic::error(
            "The pattern is too long",
            format!(
                "A pattern of files has at most {LONGEST_PATTERN} characters. Use several data sources."
            ),
        ),
        FilesError::Stopped => Diagnostic::error(
            format!("Files that fit `{pattern}` were not read"),
            "You asked to stop while folders were searched. Nothing was changed; run again when you \
             are ready. To search fewer folders, narrow the pattern.",
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
                format!("  - `{}`: {}", path.display(), unreadable(error))
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
