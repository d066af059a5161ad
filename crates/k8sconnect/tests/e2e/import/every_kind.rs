//! Every kind of `tests/kinds`, made by kubectl and imported with a configuration that Terraform
//! generates: whatever the server defaulted or computed, taking it over changes no value.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use k8sconnect_core::identity::{Gvk, ObjectKey};
use k8sconnect_core::import_id;
use serde_json::Value;
use testkit::specimens::Exhibit;
use testkit::specimens::documents::Tier;
use testkit::{PlanOutcome, Target, Tool};

use super::{KUBECTL, workspace};
use crate::workspace::{Workspace, never_says, says};

async fn make(at: &Workspace, kind: &Exhibit) {
    at.cluster.act_as(KUBECTL).create(&kind.value).await.unwrap();
    if kind.tier() == Tier::Definition {
        let established = |seen: Option<&Value>| {
            let conditions = seen.and_then(|object| object["status"]["conditions"].as_array());
            conditions.into_iter().flatten().any(|condition| {
                condition["type"] == "Established" && condition["status"] == "True"
            })
        };
        let target = Target::of(&kind.value).unwrap();
        at.cluster.wait_until(&target, Duration::from_secs(30), established).await.unwrap();
    }
}

fn id(kind: &Exhibit) -> String {
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let (object, metadata) = (&kind.value, &kind.value["metadata"]);
    import_id::of(&ObjectKey {
        gvk: Gvk::new(object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap()),
        namespace: text(&metadata["namespace"]),
        name: text(&metadata["name"]).unwrap(),
    })
}

async fn import_all(tool: Tool, chosen: impl Fn(&Exhibit) -> bool) {
    let at = workspace(tool).await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kinds");
    let mut kinds = Exhibit::gather(&folder, at.namespace.name()).unwrap();
    kinds.retain(chosen);
    kinds.sort_by_key(Exhibit::tier);
    let mut blocks = String::new();
    for kind in &kinds {
        make(&at, kind).await;
        let (to, id) = (kind.address(), id(kind));
        writeln!(blocks, "import {{\n  to = {to}\n  id = \"{id}\"\n}}").unwrap();
    }
    at.runner.write("import.tf", &blocks).unwrap();
    at.init().await;
    let plan = at.runner.plan_with(&["-generate-config-out=generated.tf"]).await.unwrap();
    assert_eq!(plan.outcome, PlanOutcome::Changes, "{}", plan.text);
    let all = kinds.len();
    says(&plan.text, &format!("{all} to import, 0 to add, {all} to change, 0 to destroy"));
    never_says(&plan.text, "will change\n");
    at.apply().await;
    at.plan_empty().await;
    for kind in kinds.iter().rev() {
        at.cluster.delete(&Target::of(&kind.value).unwrap()).await.unwrap();
    }
}

fn is_custom(kind: &Exhibit) -> bool {
    kind.name.starts_with("cr-") || kind.name.starts_with("crd-")
}

#[tokio::test]
async fn every_built_in_kind_is_taken_over_without_a_change() {
    import_all(Tool::Terraform, |kind| !is_custom(kind)).await;
}

#[tokio::test]
async fn custom_kinds_and_their_definitions_are_taken_over_without_a_change() {
    import_all(Tool::OpenTofu, is_custom).await;
}
