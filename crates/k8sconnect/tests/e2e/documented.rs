//! Every example and every snippet of the documentation, run as it stands.

use std::path::{Path, PathBuf};

use testkit::{PlanOutcome, Tool};

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
    let mut ran = 0;
    for example in std::fs::read_dir(root().join("examples")).unwrap() {
        let folder = example.unwrap().path();
        let mut at = Workspace::new(Tool::Terraform).await;
        std::fs::remove_file(at.runner.directory().join("head.tf")).unwrap();
        at.runner.copy_from(&folder).unwrap();
        let kubeconfig = at.runner.directory().join("kubeconfig");
        let namespace = at.namespace.name().to_owned();
        at.runner.variable("kubeconfig_path", kubeconfig.to_str().unwrap());
        at.runner.variable("namespace", &namespace);
        ends_in_an_empty_plan(&at, &folder.display().to_string()).await;
        ran += 1;
    }
    assert!(ran > 0, "no example was found");
}

#[tokio::test]
async fn every_documented_snippet_runs() {
    let mut ran = 0;
    for page in ["README.md", "docs/index.md", "docs/resources/object.md"] {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        for snippet in snippets(&text) {
            let at = Workspace::new(Tool::Terraform).await;
            let kubeconfig = at.runner.directory().join("kubeconfig");
            let snippet = snippet
                .replace("namespace: default", &format!("namespace: {}", at.namespace.name()))
                .replace("\"~/.kube/config\"", "\"kubeconfig\"");
            if snippet.contains("required_providers") {
                std::fs::remove_file(at.runner.directory().join("head.tf")).unwrap();
            }
            let variable = format!(
                "variable \"kubeconfig_path\" {{ default = \"{}\" }}\n",
                kubeconfig.display()
            );
            at.runner.write("variables.tf", &variable).unwrap();
            at.runner.write("main.tf", &snippet).unwrap();
            ends_in_an_empty_plan(&at, page).await;
            ran += 1;
        }
    }
    assert!(ran >= 3, "only {ran} snippets were found");
}

/// The fenced blocks of Terraform in a page.
fn snippets(page: &str) -> Vec<String> {
    page.split("```terraform\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .map(ToOwned::to_owned)
        .collect()
}
