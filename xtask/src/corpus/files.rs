//! The folder: its files, their documents, and which of them can be walked through.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use k8sconnect_core::documents::lives_in;
use k8sconnect_core::identity::{Gvk, LivesIn};
use serde_json::{Value, json};
use testkit::specimens::Exhibit;
use testkit::specimens::documents::{Part, documents};
use testkit::{ControlPlane, Target};

use super::ledger::{Ledger, Stage};

/// A document of the corpus.
#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) exhibit: Exhibit,
    /// File and object, for people.
    pub(crate) label: String,
}

pub(crate) struct Corpus {
    pub(crate) documents: Vec<Document>,
    pub(crate) files: usize,
    pub(crate) ledger: Ledger,
}

impl Corpus {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let mut files = Vec::new();
        find_yaml(folder, &mut files)?;
        files.sort();
        let mut corpus =
            Self { documents: Vec::new(), files: files.len(), ledger: Ledger::default() };
        let mut parts = Vec::new();
        for file in &files {
            let name = file.strip_prefix(folder).unwrap_or(file).display().to_string();
            let bytes = std::fs::read(file).with_context(|| format!("`{name}` cannot be read"))?;
            let found = documents(&String::from_utf8_lossy(&bytes));
            let places = (1..).map(|position| format!("{name}#{position}"));
            parts.extend(places.zip(found));
        }
        let mut seen = Namesakes::among(&parts);
        for (place, part) in &parts {
            corpus.take(place, part, &mut seen)?;
        }
        Ok(corpus)
    }

    fn take(&mut self, place: &str, part: &Part, seen: &mut Namesakes) -> Result<()> {
        let document = match part {
            Part::Object(document) => document,
            Part::Skipped(why) => {
                self.ledger.skip(place, why);
                return Ok(());
            }
            Part::Unreadable(why) => {
                self.ledger.fail(place, Stage::Reading, why);
                return Ok(());
            }
        };
        let target = Target::of(&document.value)?;
        let label = format!("{place} {target}");
        if let Some(first) = seen.insert(&target, place) {
            self.ledger.skip(&label, &format!("the same object as {first}"));
            return Ok(());
        }
        let exhibit = Exhibit {
            name: format!("d{:04}", self.documents.len() + 1),
            value: document.value.clone(),
            text: document.text.clone(),
        };
        self.documents.push(Document { exhibit, label });
        Ok(())
    }

    /// Takes out what is in the cluster without us, and what no cluster without its CRD knows.
    pub(crate) async fn leave_out_what_cannot_be_made(
        &mut self,
        cluster: &ControlPlane,
    ) -> Result<()> {
        let defined: BTreeSet<(String, String)> =
            self.documents.iter().filter_map(|one| defines(&one.exhibit.value)).collect();
        let mut kept = Vec::new();
        for document in std::mem::take(&mut self.documents) {
            let target = Target::of(&document.exhibit.value)?;
            let kind = (group(&target.api_version).to_owned(), target.kind.clone());
            // Before any of the documents is made, an error can only mean an unknown kind.
            let reason = match cluster.read(&target).await {
                _ if defined.contains(&kind) => None,
                Ok(None) => None,
                Ok(Some(_)) => Some("the cluster has it already".to_owned()),
                Err(error) => Some(format!("no CRD of the corpus defines it: {error:#}")),
            };
            match reason {
                Some(reason) => self.ledger.skip(&document.label, &reason),
                None => kept.push(document),
            }
        }
        self.documents = kept;
        Ok(())
    }

    /// Makes the namespaces that documents live in and no document brings along.
    pub(crate) async fn make_namespaces(&self, cluster: &ControlPlane) -> Result<Vec<Target>> {
        let named = |value: &Value| value.as_str().map(str::to_owned);
        let values = || self.documents.iter().map(|document| &document.exhibit.value);
        let brought: BTreeSet<String> = values()
            .filter(|value| value["kind"] == "Namespace")
            .filter_map(|value| named(&value["metadata"]["name"]))
            .collect();
        let wanted: BTreeSet<String> =
            values().filter_map(|value| named(&value["metadata"]["namespace"])).collect();
        let mut made = Vec::new();
        for name in wanted.difference(&brought) {
            let target = Target::new("v1", "Namespace", None, name);
            if cluster.read(&target).await?.is_none() {
                let object =
                    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
                cluster.act_as("corpus").create(object).await?;
                made.push(target);
            }
        }
        Ok(made)
    }
}

/// Finds documents that mean one object, however they name its namespace.
struct Namesakes {
    /// What the CRDs of the folder define without namespaces.
    cluster_scoped: BTreeSet<(String, String)>,
    places: BTreeMap<(String, String, Option<String>, String), String>,
}

impl Namesakes {
    fn among(parts: &[(String, Part)]) -> Self {
        let objects = parts.iter().filter_map(|(_, part)| match part {
            Part::Object(document) => Some(&document.value),
            Part::Skipped(_) | Part::Unreadable(_) => None,
        });
        let cluster_scoped = objects.filter(|it| it["spec"]["scope"] == "Cluster");
        Self {
            cluster_scoped: cluster_scoped.filter_map(defines).collect(),
            places: BTreeMap::new(),
        }
    }

    /// Where the object stood before, if it did.
    fn insert(&mut self, target: &Target, place: &str) -> Option<String> {
        let kind = (group(&target.api_version).to_owned(), target.kind.clone());
        let built_in = lives_in(&Gvk::new(&target.api_version, &target.kind));
        let is_in_none = built_in == Some(LivesIn::Cluster) || self.cluster_scoped.contains(&kind);
        let namespace =
            (!is_in_none).then(|| target.namespace.clone().unwrap_or_else(|| "default".to_owned()));
        let key = (kind.0, kind.1, namespace, target.name.clone());
        self.places.insert(key, place.to_owned())
    }
}

fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// The group and kind that a CRD brings.
fn defines(object: &Value) -> Option<(String, String)> {
    if object["kind"] != "CustomResourceDefinition" {
        return None;
    }
    let spec = &object["spec"];
    Some((spec["group"].as_str()?.to_owned(), spec["names"]["kind"].as_str()?.to_owned()))
}

fn find_yaml(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("`{}` cannot be read", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            find_yaml(&path, found)?;
        } else if path.extension().is_some_and(|kind| kind == "yaml" || kind == "yml") {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_the_same_with_a_namespace_that_means_nothing_or_the_one_of_its_own() {
        let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "gardens.example.com"},
            "spec": {"group": "example.com", "names": {"kind": "Garden"}, "scope": "Cluster"}});
        let text = definition.to_string();
        let parts = documents(&text).into_iter().map(|part| ("crd".to_owned(), part));
        let mut seen = Namesakes::among(&parts.collect::<Vec<_>>());
        let mut insert = |version: &str, kind: &str, namespace: Option<&str>| {
            seen.insert(&Target::new(version, kind, namespace, "a"), "there")
        };
        for (version, kind, one, other) in [
            ("v1", "ConfigMap", None, "default"),
            ("example.com/v1", "Garden", None, "x"),
            ("rbac.authorization.k8s.io/v1", "ClusterRole", None, "x"),
            ("example.com/v1", "Plant", None, "default"),
        ] {
            assert_eq!(insert(version, kind, one), None, "{kind}");
            assert_eq!(insert(version, kind, Some(other)).as_deref(), Some("there"), "{kind}");
        }
        assert_eq!(insert("v1", "ConfigMap", Some("x")), None);
        assert_eq!(insert("example.com/v1", "Plant", Some("x")), None);
        assert_eq!(insert("other.example.com/v1", "Plant", None), None);
    }
}
