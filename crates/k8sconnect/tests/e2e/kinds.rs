//! Every kind of `tests/kinds` through real Terraform, many in one configuration: made, planned
//! empty, respelled, planned empty, destroyed. What each field does is tried in `it`.

use std::path::Path;

use testkit::specimens::{Exhibit, Exhibition};
use testkit::{Target, Tool, respell};

use crate::workspace::Workspace;

fn is_custom(kind: &Exhibit) -> bool {
    kind.name.starts_with("cr-") || kind.name.starts_with("crd-")
}

async fn live_through(tool: Tool, chosen: impl Fn(&Exhibit) -> bool) {
    let at = Workspace::new(tool).await;
    std::fs::remove_file(at.runner.directory().join("head.tf")).unwrap();
    let exhibition = Exhibition::new(&at.runner, &at.cluster.kubeconfig()).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kinds");
    let mut kinds = Exhibit::gather(&folder, at.namespace.name()).unwrap();
    kinds.retain(chosen);

    exhibition.show(&kinds).unwrap();
    at.init().await;
    at.apply().await;
    at.plan_empty().await;

    for kind in &mut kinds {
        kind.text = respell(&kind.value, 7);
    }
    exhibition.show(&kinds).unwrap();
    at.plan_empty().await;

    at.destroy().await;
    for kind in &kinds {
        let target = Target::of(&kind.value).unwrap();
        // A custom kind whose definition is gone is not even served.
        let left = at.cluster.read(&target).await.unwrap_or_default();
        assert_eq!(left, None, "{target}");
    }
}

#[tokio::test]
async fn built_in_kinds_plan_empty_after_apply_and_respelled_and_leave_nothing() {
    live_through(Tool::Terraform, |kind| !is_custom(kind)).await;
}

#[tokio::test]
async fn custom_kinds_come_with_their_definitions_in_one_apply_and_leave_nothing() {
    live_through(Tool::OpenTofu, is_custom).await;
}
