//! Nothing is lost, whatever breaks: a part of what `cargo xtask faults` tries, and every bug that
//! it found.

mod neighbours;

use std::sync::Arc;

use k8sconnect::K8sConnect;
use testkit::ControlPlane;
use testkit::faults::{Means, Scene, Table, Verdict, operations, sweep};
use tfplugin::harness::Core;

fn in_process() -> Means {
    Means::InProcess(Arc::new(|| Core::new(K8sConnect::default())))
}

/// As many as keep two cores busy: most of a case is waiting.
const SCENES: usize = 6;

#[tokio::test]
async fn whatever_breaks_nothing_is_lost_and_the_next_run_settles_it() {
    let cluster = ControlPlane::shared().await;
    let mut scenes = Vec::new();
    for _ in 0..SCENES {
        scenes.push(Scene::new(cluster, in_process()).await.unwrap());
    }
    let mut cases = Vec::new();
    for operation in operations() {
        cases.extend(scenes[0].learn(operation).await.unwrap());
    }
    let cases = sweep::part(cases);
    let (mut table, count) = (Table::default(), cases.len());
    let mut broken = Vec::new();
    sweep::run(scenes, cases, |report| {
        table.note(&report);
        if let Verdict::Broken(problems) = report.verdict {
            broken.push(format!("{}: {}", report.case, problems.join("\n")));
        }
    })
    .await;
    assert!(broken.is_empty(), "cargo xtask faults CASE shows one:\n{}", broken.join("\n\n"));
    assert!(count > 100 && table.cases() == count, "{count}:\n{table}");
}
