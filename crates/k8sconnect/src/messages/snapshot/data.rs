//! What is said about what is only read, and about YAML of many documents.

use std::io::{Error as IoError, ErrorKind};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use k8sconnect_cluster::file::Unreadable;
use k8sconnect_cluster::{Error, Kind, Location, Scope};
use k8sconnect_core::documents::{Problem, Source, split};
use k8sconnect_core::identity::Gvk;
use k8sconnect_core::yaml::parse_stream;
use tfplugin::Diagnostic;

use super::{status, web};
use crate::messages::data::{self, Asked};
use crate::messages::{documents, function};
use crate::yaml_source::{FilesError, KustomizeError, Program, SourceAttribute};

fn faults(texts: &[(&str, &str)]) -> Vec<Problem> {
    split(texts.iter().map(|(name, text)| Source { name: Some(name), text })).unwrap_err()
}

pub(super) fn messages() -> Vec<Diagnostic> {
    let web = web();
    let gvk = web.gvk().clone();
    let asked = Asked::Object(web.key());
    let kind = Kind { gvk: gvk.clone(), plural: "deployments".into(), scope: Scope::Namespaced };
    let at = Location { kind, namespace: None, name: "web".into() };
    let refused = |code, words| Error::Refused(Box::new(status(code, words, &[])));
    let custom = Gvk::new("example.com/v1", "Garden");
    let mut messages = vec![
        data::not_there(&at),
        data::no_such_kind(&asked, &gvk, Some("Deployment")),
        data::no_such_kind(&asked, &gvk, None),
        data::no_such_kind(&Asked::List(&custom), &custom, None),
        data::unreadable(&asked, &Gvk::new("authorization.k8s.io/v1", "SubjectAccessReview")),
        data::listed_nowhere(&Gvk::new("v1", "Node"), "shop"),
        data::unanswered(&asked, &refused(403, "deployments.apps \"web\" is forbidden")),
        data::unanswered(&Asked::List(&gvk), &refused(500, "etcdserver: leader changed")),
        data::unlisted(&gvk, &refused(400, "found '=', expected: identifier"), &["label_selector"]),
        data::cluster_unknown(),
        documents::no_source(),
        documents::several_sources(&SourceAttribute::ALL[..2], SourceAttribute::Pattern),
        documents::nothing_in(SourceAttribute::Content),
        documents::interrupted(),
    ];
    messages.extend(data::list_warnings(&gvk, &["apps/v1 is deprecated".to_owned()]));
    messages.extend(split_messages());
    messages.extend(source_messages());
    messages
}

fn split_messages() -> Vec<Diagnostic> {
    let object = |namespace: &str, name: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{{namespace}name: {name}}}}}\n")
    };
    let twice = format!("{}---\n{}", object("", "a"), object("namespace: default, ", "a"));
    let alike = format!("{}---\n{}", object("", "a.b"), object("namespace: a, ", "b"));
    let broken = "replicas: 2\n---\napiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n";
    vec![
        documents::unsplittable(&faults(&[("base/a.yaml", &twice), ("base/b.yaml", "a: [\n")])),
        documents::unsplittable(&faults(&[("all.yaml", &alike)])),
        documents::unsplittable(&faults(&[("values.yaml", broken)])),
        documents::unsplittable(&faults(&[(
            "list.yaml",
            "{apiVersion: v1, kind: List, items: {a: 1}}\n",
        )])),
        documents::unsplittable(&faults(&[("many.yaml", &"3\n---\n".repeat(30))])),
    ]
}

fn source_messages() -> Vec<Diagnostic> {
    let no_leave = || IoError::new(ErrorKind::PermissionDenied, "permission denied");
    let complaint = "Error: accumulating resources: open /srv/base: no such file".to_owned();
    let (program, status) = (Program::Kustomize, ExitStatus::from_raw(256));
    let time = Duration::from_secs(180);
    let built = [
        KustomizeError::NotInstalled,
        KustomizeError::Unrunnable(Program::Kubectl, no_leave()),
        KustomizeError::TooLong { program, time, complaint: "Cloning into 'base'...".into() },
        KustomizeError::Stopped,
        KustomizeError::Failed { program, status, complaint },
        KustomizeError::Failed { program, status, complaint: String::new() },
        KustomizeError::TooMuch(program, 64 << 20),
        KustomizeError::NotText(program),
    ];
    let files = [
        FilesError::Pattern(globset::ErrorKind::UnclosedAlternates),
        FilesError::PatternTooLong,
        FilesError::Stopped,
        FilesError::Nothing { working_directory: "/srv/shop".into() },
        FilesError::Unreadable {
            broken: vec![
                ("base/a.yaml".into(), no_leave().into()),
                ("base/pipe.yaml".into(), Unreadable::NotRegular),
            ],
            others: vec![],
        },
    ];
    let files = files.iter().map(|error| documents::no_files("base/**/*.yaml", error));
    files.chain(built.iter().map(|error| documents::not_built("overlays/prod", error))).collect()
}

/// A function's error has no summary: Terraform's call stands in its place.
pub(super) fn functions() -> Vec<Diagnostic> {
    let wrong = parse_stream("a: [").unwrap_err();
    let alike = faults(&[("x", "a: 1\n")]).into_iter().map(|mut problem| {
        problem.place.source = None;
        problem
    });
    let texts = [
        function::unsplittable(&alike.collect::<Vec<_>>()),
        function::nothing_in_it(),
        function::no_objects_in_it(),
        function::no_yaml(&wrong),
        function::several_documents(3, 12),
        function::no_mapping(),
        function::no_manifest(),
        function::huge_number(),
    ];
    let call = "Invalid value for \"yaml\" parameter";
    texts.into_iter().map(|text| Diagnostic::error(call, format!("{text}."))).collect()
}
