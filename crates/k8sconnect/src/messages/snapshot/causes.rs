//! Each problem of a text that a user writes, with its advice, one on a line.

use k8sconnect_core::field::pattern::{PatternError, PatternProblem};
use k8sconnect_core::import_id::ImportIdError;
use k8sconnect_core::jsonpath::{JsonPathError, JsonPathProblem};
use k8sconnect_core::manifest::{ManifestCause, ManifestError};
use k8sconnect_core::patch::{OperationError, PatchError, SecretError};
use k8sconnect_core::pointer::Pointer;
use k8sconnect_core::yaml::{KeyKind, Position, SyntaxProblem, YamlError, YamlErrorKind};

use super::*;

pub(super) fn messages() -> Vec<Diagnostic> {
    let body = |cause| manifest::unusable(&[of_body(cause)], Attribute::Body);
    let yaml = |kind| ManifestCause::Yaml(YamlError { position: HERE, kind });
    let key = web().key().clone();
    let patch = |attribute: &'static str| {
        let key = key.clone();
        move |error| patch::unusable(&[error], attribute, &key)
    };
    vec![
        listed("YAML", yaml_kinds().into_iter().map(yaml).map(body)),
        listed("a body", causes().into_iter().map(body)),
        listed("`patch`", patch_errors().into_iter().map(patch("patch"))),
        listed("`json_patch`", operation_errors().into_iter().map(patch("json_patch"))),
        listed("`ignore_fields`", patterns().map(|error| terms::no_path(List::Ignored, &error))),
        listed(
            "`sensitive_fields`",
            patterns().map(|error| terms::no_path(List::Sensitive, &error)),
        ),
        listed("a path to wait for", paths().map(|error| crate::messages::wait::no_path(&error))),
        listed("an import id", ids().into_iter().map(|error| import::unreadable("x", &error))),
    ]
}

/// The first two paragraphs of each: the problem, and what to do.
fn listed(subject: &str, found: impl Iterator<Item = Diagnostic>) -> Diagnostic {
    let line = |one: Diagnostic| {
        let detail = one.detail.trim_start_matches("1 problem found:\n  - ");
        let paragraphs: Vec<_> = detail.split("\n\n").take(2).map(str::trim_end).collect();
        format!("  - {}", paragraphs.join(" | "))
    };
    let lines: Vec<_> = found.map(line).collect();
    Diagnostic::error(format!("Each problem of {subject}"), lines.join("\n"))
}

const HERE: Position = Position { line: 3, column: 5 };

fn of_body(cause: ManifestCause) -> ManifestError {
    ManifestError { line: 3, field: path("metadata.name"), cause }
}

fn yaml_kinds() -> Vec<YamlErrorKind> {
    use {SyntaxProblem as P, YamlErrorKind as Kind};
    let syntax = [
        P::Brackets,
        P::UnclosedQuote,
        P::TextAfterQuote,
        P::Tab,
        P::Indentation,
        P::MissingColon,
        P::UnexpectedColon,
        P::UnexpectedListItem,
        P::Escape,
        P::Comment,
        P::BlockScalar,
        P::Directive,
        P::Tag,
        P::Anchor,
        P::Character('@'),
        P::Character('\u{1}'),
        P::Other,
    ];
    let keys = [KeyKind::Null, KeyKind::Sequence, KeyKind::Mapping, KeyKind::HugeInteger];
    let long = "a\n".repeat(100);
    let others = [
        Kind::ForeignLineBreak { character: '\u{2028}' },
        Kind::AnchorName { character: '?' },
        Kind::AmbiguousMark { mark: ':' },
        Kind::DuplicateKey { key: "image".into(), first: HERE },
        Kind::DuplicateKey { key: long, first: HERE },
        Kind::MergedKeyConflict { key: "image".into(), first: HERE },
        Kind::MergeWithoutMapping,
        Kind::UnknownAnchor,
        Kind::AliasOfItself,
        Kind::AliasBomb,
        Kind::TooDeep,
        Kind::NotFinite,
        Kind::BadTag { tag: "!!int" },
        Kind::TooLarge,
    ];
    let syntax = syntax.into_iter().map(Kind::Syntax);
    let keys = keys.into_iter().map(|found| Kind::NonStringKey { found });
    syntax.chain(others).chain(keys).collect()
}

fn causes() -> Vec<ManifestCause> {
    use ManifestCause as Cause;
    vec![
        Cause::Empty,
        Cause::SeveralDocuments(3),
        Cause::NotAMapping,
        Cause::NotText,
        Cause::Missing,
        Cause::IsAList("PodList".into()),
        Cause::NotBase64 { written: None },
        Cause::NotBase64 { written: Some("y".into()) },
        Cause::GenerateName,
        Cause::ServerOwned,
        Cause::Reserved,
        Cause::ObjectName("a/b".into()),
        Cause::NamespaceName("Shop".into()),
    ]
}

fn patch_errors() -> Vec<PatchError> {
    let at = || "/data/a".to_owned();
    let secret = [
        SecretError::StringData(at()),
        SecretError::NoStringData,
        SecretError::AllOfData,
        SecretError::BothWays("a".into()),
        SecretError::NotBase64(at()),
        SecretError::Betrayal { from: at(), to: "/metadata/labels/a".into() },
    ];
    let others = [
        PatchError::Yaml(YamlError { position: HERE, kind: YamlErrorKind::NotFinite }),
        PatchError::Empty,
        PatchError::SeveralDocuments(2),
        PatchError::NotAMapping,
        PatchError::NotAList,
        PatchError::Directive("spec.$patch".into()),
        PatchError::WholeObject,
        PatchError::Identity("metadata.name".into()),
        PatchError::ServerOwned("status".into()),
        PatchError::Reserved(path("metadata.labels[\"k8sconnect.terraform.io/a\"]")),
        PatchError::AllAnnotations("metadata.annotations".into()),
    ];
    others.into_iter().chain(secret.map(PatchError::Secret)).collect()
}

fn operation_errors() -> Vec<PatchError> {
    let at = |text| Pointer::parse(text).unwrap();
    let errors = [
        OperationError::NotAMapping,
        OperationError::Missing("value"),
        OperationError::UnknownOp("put".into()),
        OperationError::NotAPointer { name: "path", text: "spec".into() },
        OperationError::TooDeep("from"),
        OperationError::IntoItself { from: at("/a"), at: at("/a/b") },
    ];
    let errors = errors.into_iter().map(|error| PatchError::BadOperation { n: 1, error });
    let differing = [
        PatchError::Directive("/spec/$patch".into()),
        PatchError::Secret(SecretError::NotBase64("/data/a".into())),
    ];
    errors.chain(differing).collect()
}

fn patterns() -> impl Iterator<Item = PatternError> {
    let problems = [
        PatternProblem::Empty,
        PatternProblem::Unclosed,
        PatternProblem::Name,
        PatternProblem::Item,
        PatternProblem::Filter,
        PatternProblem::ByPosition,
        PatternProblem::Identity,
        PatternProblem::Reserved,
        PatternProblem::Manager,
        PatternProblem::OwnManager,
    ];
    problems.into_iter().map(|problem| PatternError { text: "x".into(), problem })
}

fn paths() -> impl Iterator<Item = JsonPathError> {
    let problems = [
        JsonPathProblem::Missing(']'),
        JsonPathProblem::Trailing,
        JsonPathProblem::Name,
        JsonPathProblem::Item,
        JsonPathProblem::Filter,
        JsonPathProblem::TooDeep,
    ];
    problems.into_iter().map(|problem| JsonPathError { text: "x".into(), at: 1, problem })
}

fn ids() -> [ImportIdError; 8] {
    [
        ImportIdError::Form,
        ImportIdError::UnknownOption("name".into()),
        ImportIdError::NoValue("context"),
        ImportIdError::NeedlessValue("values"),
        ImportIdError::Twice("context"),
        ImportIdError::Contradiction,
        ImportIdError::TwoContexts,
        ImportIdError::TwoClusters,
    ]
}
