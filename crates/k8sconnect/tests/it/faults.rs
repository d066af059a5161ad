//! Nothing is lost, whatever breaks: a part of what `cargo xtask faults` tries, and every bug that
//! it found.

mod neighbours;

use std::sync::Arc;

use k8sconnect::K8sConnect;
use testkit::control_plane::SHARED_VARIABLE;
use testkit::faults::{Case, Means, Scene, Table, Verdict, operations, sweep};
use testkit::{ControlPlane, Descriptors, Tool};
use tfplugin::harness::Core;

fn as_by(tool: Tool) -> Means {
    Means::InProcess(Arc::new(|| Core::new(K8sConnect::default())), tool)
}

/// Set for the process whose file descriptors are counted: no other test opens any there.
const COUNTED: &str = "K8SCONNECT_DESCRIPTORS_COUNTED";

#[tokio::test]
async fn cases_leave_no_file_descriptor_open() {
    let cluster = ControlPlane::shared().await;
    if std::env::var_os(COUNTED).is_none() {
        let mut alone = tokio::process::Command::new(std::env::current_exe().unwrap());
        let name = "faults::cases_leave_no_file_descriptor_open";
        alone.args(["--exact", name]).env(COUNTED, "1").env(SHARED_VARIABLE, cluster.folder());
        let output = alone.output().await.unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
        return;
    }
    let scene = Scene::new(cluster, as_by(Tool::Terraform)).await.unwrap();
    let update = operations().into_iter().find(|one| one.name == "object-update").unwrap();
    let cases = sweep::part(scene.learn(update).await.unwrap());
    let open = Descriptors::now().unwrap();
    let mut reports = 0;
    sweep::run(vec![scene], cases, |report| {
        assert!(!matches!(report.verdict, Verdict::Broken(_)), "{:?}", report.verdict);
        reports += 1;
    })
    .await;
    assert!(reports > 5, "{reports}");
    open.are_back().await.unwrap();
}

/// As many as keep two cores busy: most of a case is waiting.
const SCENES: usize = 6;

#[tokio::test]
async fn whatever_breaks_nothing_is_lost_and_the_next_run_settles_it() {
    let cluster = ControlPlane::shared().await;
    let learning = Scene::new(cluster, as_by(Tool::Terraform)).await.unwrap();
    let mut cases = Vec::new();
    for operation in operations() {
        cases.extend(learning.learn(operation).await.unwrap());
    }
    let cases = sweep::part(cases);
    let (mut table, count) = (Table::default(), cases.len());
    let mut broken = Vec::new();
    let (one, other): (Vec<_>, Vec<_>) =
        cases.into_iter().enumerate().partition(|(n, _)| n % 2 == 0);
    for (tool, half) in [(Tool::Terraform, one), (Tool::OpenTofu, other)] {
        let half: Vec<Case> = half.into_iter().map(|(_, case)| case).collect();
        let mut scenes = Vec::new();
        for _ in 0..SCENES {
            scenes.push(Scene::new(cluster, as_by(tool)).await.unwrap());
        }
        sweep::run(scenes, half, |report| {
            table.note(&report);
            if let Verdict::Broken(problems) = report.verdict {
                broken.push(format!("{} as by {tool:?}: {}", report.case, problems.join("\n")));
            }
        })
        .await;
    }
    assert!(broken.is_empty(), "cargo xtask faults CASE shows one:\n{}", broken.join("\n\n"));
    assert!(count > 100 && table.cases() == count, "{count}:\n{table}");
}
