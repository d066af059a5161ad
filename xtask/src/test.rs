//! `test`: formats, lints and all tests, with one count at the end. The test binaries are
//! built once and run from here, so that those which wait for the cluster can run beside
//! each other, on one control plane that comes up while cargo compiles.

mod libtest;
mod plan;
mod report;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use testkit::assets::crates::Tool as Crate;
use testkit::assets::{Asset, KUBERNETES_VERSION_VARIABLE, Wanted};
use testkit::control_plane::SHARED_VARIABLE;
use testkit::terraform::PROVIDER_VARIABLE;
use testkit::{ControlPlane, Parts, Tool};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::cargo::{Profile, build_provider, cargo};
use crate::screen::{Ink, heading, line, paint, seconds};
use crate::supply::{OFFLINE_CHECKS, deny_command};
use libtest::Tally;
use plan::{Needs, TestBinary};
use report::{Report, Step};

/// A suite that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(45 * 60);

/// Binaries that mostly wait for the cluster and may do so together.
const AT_ONCE: usize = 2;

/// What tests run beside the control plane. It is built while cargo compiles, and not by the first
/// test that wants it, whose neighbours would then run beside a Go build.
const BESIDE_CLUSTER: [Asset; 6] = [
    Tool::Terraform.asset(),
    Tool::OpenTofu.asset(),
    Tool::NEWEST_TERRAFORM.asset(),
    Asset::Kubectl,
    Asset::Kustomize,
    Asset::Kstatus,
];

/// What makes the sweeps as long as every night has them.
const LONG_SWEEPS: [(&str, &str); 4] = [
    ("K8SCONNECT_SWEEP_STORIES", "100"),
    ("K8SCONNECT_SWEEP_STEPS", "12"),
    ("K8SCONNECT_MODEL_STEPS", "300"),
    ("K8SCONNECT_SHAPES_STEPS", "60"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Everything,
    /// Everything, with [`LONG_SWEEPS`].
    WithLongSweeps,
    WithoutCluster,
}

pub(crate) struct Options {
    pub(crate) scope: Scope,
    pub(crate) wanted: Wanted,
    pub(crate) filter: Option<String>,
}

pub(crate) async fn run(options: Options) -> Result<ExitCode> {
    heading("Testing k8sconnect");
    let mut report = Report::default();
    // Started first, so that it is up by the time that cargo is done.
    let cluster = match options.scope {
        Scope::Everything | Scope::WithLongSweeps => Some(start_cluster(options.wanted)),
        Scope::WithoutCluster => {
            report.note("`--fast`: tests that need a cluster were not run".into());
            None
        }
    };
    if options.filter.is_none() {
        lint(&mut report).await;
    } else {
        report.note("a filter was given: formats, lints and doc tests were not run".into());
    }
    match build(options.scope).await {
        Ok(built) => run_tests(&options, built, cluster, &mut report).await,
        Err(error) => report.add(Step::failed("build", Duration::ZERO, format!("{error:#}"))),
    }
    if let Some(filter) = &options.filter
        && report.is_without_tests()
    {
        let complaint = format!("no test has a name that contains `{filter}`");
        report.add(Step::failed("filter", Duration::ZERO, complaint));
    }
    Ok(report.print())
}

async fn lint(report: &mut Report) {
    report.add(single("fmt", &["fmt", "--all", "--check"]).await);
    let clippy =
        ["clippy", "--locked", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    report.add(single("clippy", &clippy).await);
    // It takes minutes to build and is not waited for; `cargo xtask supply` builds it.
    match Crate::CargoDeny.ready() {
        Some(deny) => {
            let mut command = Command::from(deny_command(&deny, &OFFLINE_CHECKS));
            report.add(counted("deny", &mut command).await);
        }
        None => report.note(
            "`cargo xtask supply` was never run here: licences and sources were not checked".into(),
        ),
    }
}

/// A command that counts as one test.
async fn single(name: &str, arguments: &[&str]) -> Step {
    counted(name, &mut Command::from(cargo(arguments))).await
}

async fn counted(name: &str, command: &mut Command) -> Step {
    let started = begin(name);
    let output = command.output().await;
    let took = started.elapsed();
    match output {
        Ok(output) if output.status.success() => Step::passed(name, took),
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            Step::failed(name, took, String::from_utf8_lossy(&said).into_owned())
        }
        Err(error) => Step::failed(name, took, format!("it cannot be started: {error}")),
    }
}

/// Says what is under way, so that a silent minute is not taken for a hang.
fn begin(what: &str) -> Instant {
    line(&paint(Ink::Dim, &format!("· {what}")));
    Instant::now()
}

struct Built {
    binaries: Vec<TestBinary>,
    provider: Option<PathBuf>,
}

async fn build(scope: Scope) -> Result<Built> {
    let started = begin("building the tests and the provider");
    // Not `--all-targets`: that builds examples as empty tests, and not as the programs
    // which tests start.
    let mut command = Command::from(cargo(&["test", "--locked", "--no-run", "--workspace"]));
    command.args(["--message-format", "json-render-diagnostics"]);
    if std::io::stderr().is_terminal() {
        command.stderr(Stdio::inherit());
    } else {
        command.arg("--quiet");
    }
    let output = command.output().await.context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("the tests do not build. {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata = cargo(&["metadata", "--locked", "--no-deps", "--format-version", "1"])
        .output()
        .context("cargo cannot be started")?;
    let metadata = serde_json::from_slice(&metadata.stdout).context("no metadata from cargo")?;
    let binaries = plan::binaries(&output.stdout, &metadata);
    let provider = match scope {
        Scope::WithoutCluster => None,
        // Apart from the tests, whose features differ: the provider as users get it.
        Scope::Everything | Scope::WithLongSweeps => {
            Some(tokio::task::spawn_blocking(provider).await??)
        }
    };
    line(&format!("built in {}", seconds(started.elapsed())));
    Ok(Built { binaries, provider })
}

fn provider() -> Result<PathBuf> {
    build_provider(Profile::Dev)
}

/// The control plane, and what tests run beside it, built if they must be.
fn start_cluster(wanted: Wanted) -> JoinHandle<Result<ControlPlane>> {
    tokio::spawn(async move {
        let started = Instant::now();
        let control_plane = ControlPlane::start_version(Parts::Full, wanted).await?;
        for asset in BESIDE_CLUSTER {
            tokio::task::spawn_blocking(move || asset.locate(wanted)).await??;
        }
        line(&format!("control plane up and tools found after {}", seconds(started.elapsed())));
        Ok(control_plane)
    })
}

async fn run_tests(
    options: &Options,
    built: Built,
    cluster: Option<JoinHandle<Result<ControlPlane>>>,
    report: &mut Report,
) {
    let (on_cluster, alone): (Vec<_>, Vec<_>) =
        built.binaries.into_iter().partition(|binary| binary.needs == Needs::Cluster);
    let mut environment = vec![];
    if let Wanted::Exactly(version) = options.wanted {
        environment.push((KUBERNETES_VERSION_VARIABLE, version.to_string()));
    }
    if options.scope == Scope::WithLongSweeps {
        environment.extend(LONG_SWEEPS.map(|(name, value)| (name, value.to_owned())));
    }
    for binary in alone {
        report.add(run_binary(&binary, options.filter.as_deref(), &environment).await);
    }
    if options.filter.is_none() {
        report.add(doc_tests().await);
    }
    let Some(cluster) = cluster else { return };
    let started = cluster.await.context("the start of the control plane broke off").flatten();
    let control_plane = match started {
        Ok(control_plane) => control_plane,
        Err(error) => {
            report.add(Step::failed("control plane", Duration::ZERO, format!("{error:#}")));
            return;
        }
    };
    environment.push((SHARED_VARIABLE, control_plane.folder().display().to_string()));
    if let Some(provider) = built.provider {
        environment.push((PROVIDER_VARIABLE, provider.display().to_string()));
    }
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = tokio::task::JoinSet::new();
    for binary in on_cluster {
        let (room, filter) = (Arc::clone(&room), options.filter.clone());
        let environment = environment.clone();
        running.spawn(async move {
            let _room = room.acquire().await;
            begin(&binary.name);
            run_binary(&binary, filter.as_deref(), &environment).await
        });
    }
    while let Some(step) = running.join_next().await {
        match step {
            Ok(step) => report.add(step),
            Err(error) => report.add(Step::failed("suite", Duration::ZERO, error.to_string())),
        }
    }
}

async fn doc_tests() -> Step {
    begin("doc tests");
    let mut command =
        Command::from(cargo(&["test", "--locked", "--quiet", "--workspace", "--doc"]));
    follow("doc tests", &mut command).await
}

async fn run_binary(
    binary: &TestBinary,
    filter: Option<&str>,
    environment: &[(&str, String)],
) -> Step {
    let mut command = Command::new(&binary.executable);
    command
        .args(filter)
        .current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder)
        // A run of the tests leaves nothing in the source tree.
        .env("INSTA_UPDATE", "no")
        .envs(environment.iter().map(|(name, value)| (name, value)));
    follow(&binary.name, &mut command).await
}

/// Runs libtest and reads its output as it comes, so that a failure is seen at once.
async fn follow(name: &str, command: &mut Command) -> Step {
    let started = Instant::now();
    let work = async {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().context("no standard output")?;
        let mut stderr = child.stderr.take().context("no standard error")?;
        let reading = async {
            let mut text = String::new();
            let mut lines = BufReader::new(stdout).lines();
            while let Some(next) = lines.next_line().await? {
                if next.starts_with("test ") && next.ends_with(" ... FAILED") {
                    line(&format!("{} {name}: {next}", paint(Ink::Red, "✗")));
                }
                text.push_str(&next);
                text.push('\n');
            }
            anyhow::Ok(text)
        };
        let complaints = async {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).await?;
            anyhow::Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let (text, complaints) = tokio::try_join!(reading, complaints)?;
        let status = child.wait().await?;
        anyhow::Ok(Tally::of(&text, &complaints, status))
    };
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(Ok(tally)) => Step::tallied(name, started.elapsed(), tally),
        Ok(Err(error)) => Step::failed(name, started.elapsed(), format!("{error:#}")),
        Err(_) => Step::failed(
            name,
            started.elapsed(),
            format!("did not end within {} min", PATIENCE.as_secs() / 60),
        ),
    }
}
