//! Many documents in one configuration: a resource each, its body in a file of its own, in the
//! order in which they need one another.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::documents::Tier;
use crate::target::Manifest;
use crate::terraform::Runner;

/// One document in a configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Exhibit {
    /// The name of its resource.
    pub name: String,
    pub value: Value,
    /// The body as it stands in the configuration now.
    pub text: String,
}

impl Exhibit {
    /// One for each file of a folder, by name, with `__ns__` in it replaced: what lives in no
    /// namespace bears its name, so that tests do not meet there either.
    pub fn gather(folder: &Path, namespace: &str) -> Result<Vec<Self>> {
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .with_context(|| format!("`{}` cannot be read", folder.display()))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        files.sort();
        files
            .iter()
            .map(|file| {
                let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let text = std::fs::read_to_string(file)?.replace("__ns__", namespace);
                let value = text.as_str().object().with_context(|| format!("`{name}`"))?;
                Ok(Self { name, value, text })
            })
            .collect()
    }

    pub fn address(&self) -> String {
        format!("{RESOURCE}.{}", self.name)
    }

    pub fn tier(&self) -> Tier {
        Tier::of(&self.value)
    }
}

const RESOURCE: &str = "k8sconnect_object";

const HEAD: &str = "\
terraform {
  required_providers {
    k8sconnect = { source = \"k8sconnect/k8sconnect\" }
  }
}

locals {
  cluster = { kubeconfig = file(\"kubeconfig\") }
}
";

/// A folder with such a configuration.
pub struct Exhibition<'a> {
    runner: &'a Runner,
}

impl<'a> Exhibition<'a> {
    pub fn new(runner: &'a Runner, kubeconfig: &str) -> Result<Self> {
        runner.write("kubeconfig", kubeconfig)?;
        Ok(Self { runner })
    }

    /// Makes the configuration hold these documents and no others.
    pub fn show(&self, exhibits: &[Exhibit]) -> Result<()> {
        let mut configuration = HEAD.to_owned();
        let mut barrier = None;
        for tier in Tier::ALL {
            let members: Vec<_> =
                exhibits.iter().filter(|exhibit| exhibit.tier() == tier).collect();
            if members.is_empty() {
                continue;
            }
            for exhibit in &members {
                self.runner.write(&file(exhibit), &exhibit.text)?;
                configuration.push_str(&resource(exhibit, barrier.as_deref()));
            }
            // One resource to wait for, instead of a list of hundreds at each of hundreds.
            let next = format!("terraform_data.after_{tier:?}").to_lowercase();
            let waits: Vec<_> = members.iter().map(|exhibit| exhibit.address()).collect();
            let name = next.split('.').next_back().unwrap_or_default();
            let _ = writeln!(
                configuration,
                "\nresource \"terraform_data\" \"{name}\" {{\n  depends_on = [{}]\n}}",
                waits.join(", ")
            );
            barrier = Some(next);
        }
        self.runner.write("main.tf", &configuration)?;
        Ok(())
    }
}

fn file(exhibit: &Exhibit) -> String {
    format!("documents/{}.yaml", exhibit.name)
}

fn resource(exhibit: &Exhibit, after: Option<&str>) -> String {
    let after = after.map(|name| format!("  depends_on = [{name}]\n")).unwrap_or_default();
    format!(
        "\nresource \"{RESOURCE}\" \"{}\" {{\n  cluster   = local.cluster\n  yaml_body = \
         file(\"{}\")\n{after}}}\n",
        exhibit.name,
        file(exhibit)
    )
}
