//! The provider, killed (-9) right behind a write, with the answer lost. `cargo xtask faults` kills
//! it before and after every request of every operation; here are the two that leave something.

use std::sync::Arc;

use k8sconnect::K8sConnect;
use testkit::faults::{Case, Fault, Means, Scene, Verdict, operations, sweep};
use testkit::{ControlPlane, Runner, Tool};
use tfplugin::harness::Core;

#[tokio::test]
async fn what_a_killed_provider_leaves_is_named_by_the_next_plan_and_taken_over_as_it_is() {
    let cluster = ControlPlane::shared().await;
    // In process the requests are the same, and learnt in a moment.
    let in_process =
        Means::InProcess(Arc::new(|| Core::new(K8sConnect::default())), Tool::Terraform);
    let learning = Scene::new(cluster, in_process).await.unwrap();
    let (mut scenes, mut cases) = (Vec::new(), Vec::new());
    for operation in operations() {
        if !["object-create", "patch-create"].contains(&operation.name) {
            continue;
        }
        let learnt = learning.learn(operation).await.unwrap();
        let writes = learnt.into_iter().filter(|case| case.request.starts_with("patch /"));
        let write = writes.last().unwrap();
        cases.push(Case { fault: Fault::KilledAfter, ..write });
        let runner = Box::new(Runner::new(Tool::Terraform).await.unwrap());
        scenes.push(Scene::new(cluster, Means::Tool(runner)).await.unwrap());
    }
    let mut told = Vec::new();
    sweep::run(scenes, cases, |report| match report.verdict {
        Verdict::Told(_) => told.push(report.case.operation.name),
        other => panic!("{}: {other:?}", report.case),
    })
    .await;
    told.sort_unstable();
    assert_eq!(told, ["object-create", "patch-create"]);
}
