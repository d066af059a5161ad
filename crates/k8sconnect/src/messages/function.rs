//! What is said about a call of a function. Terraform puts the call in front of it, and a full stop
//! behind it.

use k8sconnect_core::documents::Problem;
use k8sconnect_core::yaml::YamlError;

use super::{documents, yaml};

pub(crate) fn unsplittable(problems: &[Problem]) -> String {
    documents::problems(problems).trim_end_matches('.').to_owned()
}

/// A manifest was to be read.
pub(crate) fn nothing_in_it() -> String {
    "there is nothing in it but blanks and comments, and a manifest is to be read. Where the text may \
     well be empty, ask first, e.g. `var.yaml == \"\" ? null : …`"
        .to_owned()
}

/// Documents were to be taken apart.
pub(crate) fn no_objects_in_it() -> String {
    "there is no object in it: nothing but blanks, comments and empty lists. Were that taken for no \
     objects, everything made of it before would be planned to be destroyed. Where there may well be \
     none, ask first, e.g. `var.yaml == \"\" ? {} : …`"
        .to_owned()
}

pub(crate) fn no_yaml(error: &YamlError) -> String {
    let (problem, advice) = yaml::explained(&error.kind);
    format!("{}: {problem}. {}", error.position, advice.trim_end_matches('.'))
}

pub(crate) fn several_documents(count: usize, second_line: usize) -> String {
    format!(
        "it holds {count} documents, the second at line {second_line}, and one is taken at a time. \
         Take them apart first: `{{ for key, yaml in provider::k8sconnect::yaml_split(…) : key => \
         provider::k8sconnect::manifest_decode(yaml) }}`"
    )
}

pub(crate) fn no_mapping() -> String {
    "a manifest is a mapping of fields, and this is a list or a single value. Check the \
     indentation, or use `yamldecode` for what is no manifest"
        .to_owned()
}

pub(crate) fn no_manifest() -> String {
    "a manifest is an object with fields such as `apiVersion`, `kind` and `metadata`, and this is \
     none. Of a list, encode each item: `[for item in … : provider::k8sconnect::manifest_encode(\
     item)]`"
        .to_owned()
}

pub(crate) fn huge_number() -> String {
    "a number in it is larger than any that Kubernetes takes. Give a smaller one, or text"
        .to_owned()
}
