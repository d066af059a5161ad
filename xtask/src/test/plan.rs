//! Which test binaries there are, and which of them need a cluster.

use std::path::{Path, PathBuf};

use crate::cargo::messages;

/// By the name of the target: `it` and `e2e` are the folders of tests on a real server.
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

/// What `cargo test --no-run --message-format json…` built.
pub(crate) fn binaries(stdout: &[u8]) -> Vec<TestBinary> {
    let mut found: Vec<TestBinary> = messages(stdout)
        .filter(|message| message["profile"]["test"] == true)
        .filter_map(|message| {
            let executable = PathBuf::from(message["executable"].as_str()?);
            let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
            let target = message["target"]["name"].as_str()?;
            let kind = message["target"]["kind"][0].as_str()?;
            let needs = match (kind, target) {
                ("test", "it" | "e2e") => Needs::Cluster,
                _ => Needs::Nothing,
            };
            let package = folder.file_name()?.to_str()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_needs_a_cluster_from_what_does_not() {
        let message = |kind: &str, name: &str| {
            format!(
                r#"{{"manifest_path":"/w/crates/k8sconnect/Cargo.toml","target":{{"kind":["{kind}"],"name":"{name}"}},"profile":{{"test":true}},"executable":"/t/{name}"}}"#
            )
        };
        let stdout = [
            message("lib", "k8sconnect"),
            message("test", "it"),
            message("test", "golden"),
            message("example", "it"),
            r#"{"target":{"kind":["bin"],"name":"p"},"profile":{"test":false},"executable":"/t/p"}"#
                .to_owned(),
        ]
        .join("\n");
        let seen: Vec<(String, Needs)> = binaries(stdout.as_bytes())
            .into_iter()
            .map(|binary| (binary.name, binary.needs))
            .collect();
        assert_eq!(
            seen,
            [
                ("k8sconnect example it".to_owned(), Needs::Nothing),
                ("k8sconnect golden".to_owned(), Needs::Nothing),
                ("k8sconnect it".to_owned(), Needs::Cluster),
                ("k8sconnect unit".to_owned(), Needs::Nothing),
            ]
        );
    }
}
