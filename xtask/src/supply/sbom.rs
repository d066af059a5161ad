//! The bill of materials, in CycloneDX 1.5: every crate that the provider is made of, on whatever
//! platform, with its version, licence, the checksum of the lock file, and what it is there for. What
//! only tests or build scripts need is left out: it is not in what users run.
//!
//! It holds no time and no random number, so that the same lock file gives the same bytes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::cargo::PROVIDER;

const PACKAGE: &str = "k8sconnect";

/// The checksums of a `Cargo.lock`, by purl. Its form is plain enough to be read line by line.
pub(super) fn checksums(lock: &str) -> BTreeMap<String, String> {
    let value = |block: &str, name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""));
        line.map(|line| line.trim_end_matches('"').to_owned())
    };
    lock.split("[[package]]")
        .filter_map(|block| {
            let package =
                json!({"name": value(block, "name")?, "version": value(block, "version")?});
            Some((purl(&package), value(block, "checksum")?))
        })
        .collect()
}

/// `metadata` is what `cargo metadata` says with dependencies.
pub(super) fn of(metadata: &Value, checksums: &BTreeMap<String, String>) -> Result<Value> {
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let root = packages.iter().find(|(_, package)| package["name"] == PACKAGE);
    let (root, package) = root.context("the workspace has no provider")?;
    let linked = linked(root, &nodes);
    let others = linked.iter().filter(|id| *id != root).filter_map(|id| packages.get(id));
    let components: Vec<Value> = others
        .map(|package| {
            let mut component = component(package);
            if let Some(checksum) = checksums.get(&purl(package)) {
                component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
            }
            component
        })
        .collect();
    let reference = |id: &str| packages.get(id).map(|package| purl(package));
    let dependencies: Vec<Value> = linked
        .iter()
        .filter_map(|id| {
            let below: BTreeSet<String> = normal(nodes.get(id)?).filter_map(reference).collect();
            Some(json!({"ref": reference(id)?, "dependsOn": below}))
        })
        .collect();
    let mut subject = component(package);
    subject["type"] = json!("application");
    subject["name"] = json!(PROVIDER);
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": subject},
        "components": components,
        "dependencies": dependencies,
    }))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Everything that is reached from the root without a detour by tests or build scripts.
fn linked<'a>(root: &'a str, nodes: &BTreeMap<&'a str, &'a Value>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        if found.insert(id)
            && let Some(node) = nodes.get(id)
        {
            open.extend(normal(node));
        }
    }
    found
}

fn normal(node: &Value) -> impl Iterator<Item = &str> {
    list(&node["deps"])
        .filter(|dependency| list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null()))
        .filter_map(|dependency| dependency["pkg"].as_str())
}

fn component(package: &Value) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "purl": purl(package),
        "name": package["name"],
        "version": package["version"],
    });
    if let Some(license) = package["license"].as_str() {
        // The slash is an old way of saying OR.
        component["licenses"] = json!([{"expression": license.replace('/', " OR ")}]);
    }
    if let Some(repository) = package["repository"].as_str() {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

fn purl(package: &Value) -> String {
    let text = |name: &str| package[name].as_str().unwrap_or_default();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Value {
        let package = |name: &str| {
            json!({"id": name, "name": name, "version": "1.0.0",
            "license": "MIT/Apache-2.0", "repository": null})
        };
        let needs = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let packages = ["k8sconnect", "linked", "below", "tested", "built"].map(package);
        json!({
            "packages": packages,
            "resolve": {"nodes": [
                {"id": "k8sconnect", "deps": [needs("linked", Value::Null), needs("tested", json!("dev")),
                    needs("built", json!("build"))]},
                {"id": "linked", "deps": [needs("below", Value::Null)]},
                {"id": "below", "deps": []},
                {"id": "tested", "deps": []},
                {"id": "built", "deps": []},
            ]},
        })
    }

    #[test]
    fn lists_what_is_linked_and_nothing_that_only_tests_or_builds_need() {
        let lock = "version = 4\n\n[[package]]\nname = \"linked\"\nversion = \"1.0.0\"\n\
                    checksum = \"c0ffee\"\n\n[[package]]\nname = \"k8sconnect\"\nversion = \"1.0.0\"\n";
        let bill = of(&metadata(), &checksums(lock)).unwrap();
        let names: Vec<_> = list(&bill["components"]).map(|one| &one["name"]).collect();
        assert_eq!(names, ["below", "linked"]);
        assert_eq!(bill["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(bill["components"][1]["hashes"][0]["content"], "c0ffee");
        assert_eq!(bill["metadata"]["component"]["name"], PROVIDER);
    }
}
