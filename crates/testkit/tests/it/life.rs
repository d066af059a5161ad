//! How control planes come and go: beside each other, with their process, or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::assets::{KubernetesVersion, Wanted};
use testkit::{ControlPlane, Parts, Target};

/// Set for the process that is to be killed: the file it writes its folder's name to.
const VICTIM: &str = "TESTKIT_VICTIM";

#[tokio::test]
async fn two_control_planes_run_beside_each_other() {
    let (one, other) =
        tokio::join!(ControlPlane::start(Parts::ApiServer), ControlPlane::start(Parts::ApiServer));
    let (one, other) = (one.unwrap(), other.unwrap());
    let target = Target::new("v1", "ConfigMap", "default", "only-here");
    one.act_as("test")
        .create(
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "only-here" } }),
        )
        .await
        .unwrap();
    assert!(one.read(&target).await.unwrap().is_some());
    assert!(other.read(&target).await.unwrap().is_none());

    let folders = [one.folder().to_owned(), other.folder().to_owned()];
    let pids: Vec<String> = folders.iter().flat_map(|folder| pids(folder)).collect();
    assert_eq!(pids.len(), 4, "etcd and the API server of each");
    drop((one, other));
    assert!(pids.iter().all(|pid| !lives(pid)), "left behind: {pids:?}");
    assert!(folders.iter().all(|folder| !folder.exists()));
}

#[tokio::test]
async fn a_killed_process_leaves_nothing_behind() {
    if let Some(file) = std::env::var_os(VICTIM) {
        let control_plane = ControlPlane::start(Parts::ApiServer).await.unwrap();
        fs::write(file, control_plane.folder().to_str().unwrap()).unwrap();
        std::future::pending::<()>().await;
    }
    let notes = tempfile::TempDir::new().unwrap();
    let file = notes.path().join("folder");
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "life::a_killed_process_leaves_nothing_behind"])
        .env(VICTIM, &file)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let told = || fs::read_to_string(&file).is_ok_and(|text| !text.is_empty());
    assert!(within_a_minute(told).await, "the victim did not start");
    let folder = PathBuf::from(fs::read_to_string(&file).unwrap());
    let pids = pids(&folder);
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| lives(pid)));

    victim.kill().unwrap();
    victim.wait().unwrap();
    let gone = || !folder.exists() && pids.iter().all(|pid| !lives(pid));
    assert!(within_a_minute(gone).await, "left behind: {pids:?}, {folder:?}");
}

#[tokio::test]
async fn a_kept_control_plane_lives_on_until_its_processes_are_ended() {
    let control_plane = ControlPlane::start(Parts::ApiServer).await.unwrap();
    let folder = control_plane.folder().to_owned();
    let pids: Vec<String> = control_plane.keep().unwrap().iter().map(u32::to_string).collect();
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| lives(pid)));
    assert!(folder.exists());
    for pid in &pids {
        Command::new("kill").args(["-9", pid]).status().unwrap();
    }
    let gone = || !folder.exists() && pids.iter().all(|pid| !lives(pid));
    assert!(within_a_minute(gone).await, "left behind: {pids:?}, {folder:?}");
}

#[tokio::test]
async fn an_unknown_version_is_told_with_the_pinned_one() {
    let unknown = KubernetesVersion { minor: 34, patch: 999 };
    let error = ControlPlane::start_version(Parts::ApiServer, Wanted::Exactly(unknown))
        .await
        .err()
        .unwrap();
    let text = format!("{error:#}");
    assert!(text.contains("Kubernetes `1.34.999` is a released version"), "{text}");
    assert!(text.contains("the pinned one is `1.34.4`"), "{text}");
}

fn pids(folder: &Path) -> Vec<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pid"))
        .map(|path| fs::read_to_string(path).unwrap().trim().to_owned())
        .collect()
}

fn lives(pid: &str) -> bool {
    Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().unwrap().success()
}

async fn within_a_minute(condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if condition() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}
