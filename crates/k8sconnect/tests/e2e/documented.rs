//! Every example and every snippet of the documentation, run as it stands.

use std::path::{Path, PathBuf};

use testkit::assets::Asset;
use testkit::{ControlPlane, PlanOutcome, Tool};

use crate::workspace::Workspace;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

async fn ends_in_an_empty_plan(at: &Workspace, what: &str) {
    at.init().await;
    let plan = at.runner.plan().await.unwrap();
    assert_eq!(plan.outcome, PlanOutcome::Changes, "{what}:\n{}", plan.text);
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn every_example_runs() {
    run_examples(|folder| !folder.join(BEFORE).exists()).await;
}

#[tokio::test]
async fn every_example_with_objects_of_others_runs() {
    run_examples(|folder| folder.join(BEFORE).exists()).await;
}

/// What somebody else has made before an example is run.
const BEFORE: &str = "before.yaml";

async fn somebody_made(at: &Workspace, folder: &Path) {
    let Ok(text) = std::fs::read_to_string(folder.join(BEFORE)) else {
        return;
    };
    let manager = text.split("--field-manager=").nth(1).unwrap().split(' ').next().unwrap();
    let placed = text.replace("namespace: default", &format!("namespace: {}", at.namespace.name()));
    for document in placed.split("---\n") {
        at.cluster.act_as(manager).apply(document).await.unwrap();
    }
}

async fn run_examples(wanted: fn(&Path) -> bool) {
    let mut ran = 0;
    for example in std::fs::read_dir(root().join("examples")).unwrap() {
        let folder = example.unwrap().path();
        if !wanted(&folder) {
            continue;
        }
        let mut at = Workspace::new(Tool::Terraform).await;
        std::fs::remove_file(at.runner.directory().join("head.tf")).unwrap();
        at.runner.copy_from(&folder).unwrap();
        let kubeconfig = at.runner.directory().join("kubeconfig");
        let namespace = at.namespace.name().to_owned();
        at.runner.variable("kubeconfig_path", kubeconfig.to_str().unwrap());
        at.runner.variable("namespace", &namespace);
        at.runner.offer(Asset::Kubectl).await.unwrap();
        at.runner.without_temporary_files().unwrap();
        let main = std::fs::read_to_string(folder.join("main.tf")).unwrap();
        if main.contains("other_kubeconfig_path") {
            let other = another_cluster(&at).await;
            at.runner.variable("other_kubeconfig_path", &other);
        }
        somebody_made(&at, &folder).await;
        let before = at.runner.files_outside().unwrap();
        ends_in_an_empty_plan(&at, &folder.display().to_string()).await;
        assert_eq!(at.runner.files_outside().unwrap(), before, "{}", folder.display());
        ran += 1;
    }
    assert!(ran > 0, "no example was found");
}

/// The kubeconfig of a second cluster that has the test's namespace too.
async fn another_cluster(at: &Workspace) -> String {
    let other = ControlPlane::another().await;
    let namespace = serde_json::json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": at.namespace.name() },
    });
    other.act_as("testkit").create(namespace).await.unwrap();
    at.runner.write("other-kubeconfig", &other.kubeconfig()).unwrap();
    at.runner.directory().join("other-kubeconfig").display().to_string()
}

#[tokio::test]
async fn every_documented_snippet_runs() {
    let mut ran = 0;
    let pages = [
        "README.md",
        "docs/index.md",
        "docs/resources/object.md",
        "docs/resources/wait.md",
        "docs/guides/waiting.md",
        "docs/ephemeral-resources/object.md",
        "docs/ephemeral-resources/token.md",
    ];
    for page in pages {
        ran += run_snippets(page).await;
    }
    assert!(ran >= 3, "only {ran} snippets were found");
}

#[tokio::test]
async fn every_documented_snippet_of_a_patch_runs() {
    assert!(run_snippets("docs/resources/patch.md").await > 0);
}

#[tokio::test]
async fn every_documented_snippet_of_what_is_only_read_runs() {
    let mut ran = 0;
    for folder in ["docs/data-sources", "docs/functions"] {
        for page in std::fs::read_dir(root().join(folder)).unwrap() {
            let page = format!("{folder}/{}", page.unwrap().file_name().display());
            let found = run_snippets(&page).await;
            assert!(found > 0, "{page} shows nothing");
            ran += found;
        }
    }
    assert!(ran >= 8, "only {ran} snippets were found");
}

/// Runs all snippets of a page, and tells how many there are.
async fn run_snippets(page: &str) -> usize {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let snippets = snippets(&text);
    for snippet in &snippets {
        let mut at = Workspace::new(Tool::Terraform).await;
        let namespace = at.namespace.name().to_owned();
        let placed = |text: &str| {
            text.replace("namespace: default", &format!("namespace: {namespace}"))
                .replace("namespace = \"default\"", &format!("namespace = \"{namespace}\""))
                .replace("namespace   = \"default\"", &format!("namespace   = \"{namespace}\""))
                .replace("\"~/.kube/config\"", "\"kubeconfig\"")
        };
        if snippet.contains("required_providers") {
            std::fs::remove_file(at.runner.directory().join("head.tf")).unwrap();
        }
        let kubeconfig = at.runner.directory().join("kubeconfig");
        let variable =
            format!("variable \"kubeconfig_path\" {{ default = \"{}\" }}\n", kubeconfig.display());
        at.runner.write("variables.tf", &variable).unwrap();
        at.runner.write("main.tf", &placed(snippet)).unwrap();
        for (name, text) in files() {
            at.runner.write(&name, &placed(&text)).unwrap();
        }
        at.runner.offer(Asset::Kubectl).await.unwrap();
        if snippet.contains("k8sconnect_patch") {
            somebody_made(&at, &root().join("examples/patch-daemonset-proxy")).await;
        }
        ends_in_an_empty_plan(&at, page).await;
    }
    snippets.len()
}

/// What the snippets read, by the path under which they do.
fn files() -> Vec<(String, String)> {
    let folder = root().join("crates/k8sconnect/tests/documented");
    let mut open = vec![folder.clone()];
    let mut files = Vec::new();
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(&folder).unwrap().display().to_string();
                files.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files
}

/// The fenced blocks of Terraform in a page.
fn snippets(page: &str) -> Vec<String> {
    page.split("```terraform\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .map(ToOwned::to_owned)
        .collect()
}
