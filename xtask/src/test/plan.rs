//! Which test binaries there are, and which of them need a cluster.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cargo::messages;

/// Who starts a control plane does it by the testkit: an integration test of a package that
/// uses the testkit needs a cluster, every other test does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    Cluster,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestBinary {
    pub(crate) name: String,
    pub(crate) executable: PathBuf,
    /// The package's, where its tests expect to run.
    pub(crate) folder: PathBuf,
    pub(crate) needs: Needs,
}

/// What `cargo test --no-run --message-format json…` built; `metadata` is what
/// `cargo metadata --no-deps` says of the workspace.
pub(crate) fn binaries(stdout: &[u8], metadata: &Value) -> Vec<TestBinary> {
    let on_cluster = packages_with_testkit(metadata);
    let mut found: Vec<TestBinary> = messages(stdout)
        .filter(|message| message["profile"]["test"] == true)
        .filter_map(|message| {
            let executable = PathBuf::from(message["executable"].as_str()?);
            let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
            let target = message["target"]["name"].as_str()?;
            let kind = message["target"]["kind"][0].as_str()?;
            let package = folder.file_name()?.to_str()?;
            let needs = if kind == "test" && on_cluster.contains(&folder) {
                Needs::Cluster
            } else {
                Needs::Nothing
            };
            let name = match kind {
                "lib" => format!("{package} unit"),
                "test" => format!("{package} {target}"),
                _ => format!("{package} {kind} {target}"),
            };
            Some(TestBinary { name, executable, folder, needs })
        })
        .collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn packages_with_testkit(metadata: &Value) -> Vec<PathBuf> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter(|package| {
            let mut uses = package["dependencies"].as_array().into_iter().flatten();
            package["name"] == "testkit" || uses.any(|one| one["name"] == "testkit")
        })
        .filter_map(|package| Path::new(package["manifest_path"].as_str()?).parent())
        .map(Path::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_needs_a_cluster_from_what_does_not() {
        let message = |package: &str, kind: &str, name: &str| {
            format!(
                r#"{{"manifest_path":"/w/{package}/Cargo.toml","target":{{"kind":["{kind}"],"name":"{name}"}},"profile":{{"test":true}},"executable":"/t/{name}"}}"#
            )
        };
        let stdout = [
            message("k8sconnect", "lib", "k8sconnect"),
            message("k8sconnect", "test", "it"),
            message("tfplugin", "test", "it"),
            r#"{"target":{"kind":["bin"],"name":"p"},"profile":{"test":false},"executable":"/t/p"}"#
                .to_owned(),
        ]
        .join("\n");
        let metadata = serde_json::json!({ "packages": [
            { "name": "k8sconnect", "manifest_path": "/w/k8sconnect/Cargo.toml",
              "dependencies": [{ "name": "testkit" }] },
            { "name": "tfplugin", "manifest_path": "/w/tfplugin/Cargo.toml", "dependencies": [] },
        ] });
        let seen: Vec<(String, Needs)> = binaries(stdout.as_bytes(), &metadata)
            .into_iter()
            .map(|binary| (binary.name, binary.needs))
            .collect();
        assert_eq!(
            seen,
            [
                ("k8sconnect it".to_owned(), Needs::Cluster),
                ("k8sconnect unit".to_owned(), Needs::Nothing),
                ("tfplugin it".to_owned(), Needs::Nothing),
            ]
        );
    }
}
