//! `faults`: every operation, with every fault at every request that it makes. The cases, and what
//! must hold after each, are in [`testkit::faults`]; this only drives and shows.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8sconnect::K8sConnect;
use testkit::faults::{
    Case, Fault, Means, Outage, Report, Scene, Table, Verdict, operations, sweep,
};
use testkit::{ControlPlane, Descriptors, Runner, Tool};
use tfplugin::harness::Core;

use crate::cargo::{Profile, build_provider};
use crate::screen::{Ink, heading, line, paint, quote, seconds};

/// More would only queue at the API server; most of a case is waiting.
const WORKERS: usize = 6;

/// Terraform keeps a core busy.
const KILLERS: usize = 3;

/// What a part of the control plane is lost in.
const OUTAGE: &str = "apply-of-100";

/// How often is told how far it is.
const NEWS: Duration = Duration::from_secs(20);

pub(crate) struct Options {
    pub(crate) extent: Extent,
    /// The beginning of a case's name.
    pub(crate) only: Option<String>,
    /// In process, the provider is called as this tool calls it. Not the Terraform of the `PATH`: the
    /// newest one hands the private state of a plan to its apply, OpenTofu does not, and no tool differs
    /// from both.
    pub(crate) tool: Tool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    All,
    Part,
}

pub(crate) async fn run(options: Options) -> Result<ExitCode> {
    let started = Instant::now();
    heading("Starting a control plane");
    let cluster = ControlPlane::shared().await;
    line(&format!("up after {}", seconds(started.elapsed())));
    let mut table = Table::default();
    let mut leaks = Vec::new();
    if options.wants_a_fault(|fault| !fault.kills()) {
        heading("In process: each operation in peace, to learn its requests");
        let start = || Arc::new(|| Core::new(K8sConnect::default()));
        let in_process = || Means::InProcess(start(), options.tool);
        let first = Scene::new(cluster, in_process()).await?;
        let cases = options.learn(&first).await?;
        let open = Descriptors::now()?;
        let mut scenes = vec![first];
        for _ in 1..WORKERS.min(cases.len()) {
            scenes.push(Scene::new(cluster, in_process()).await?);
        }
        options.try_all(scenes, cases, &mut table).await;
        leaks.extend(open.are_back().await.err());
    }

    let provider = build_provider(Profile::Dev)?;
    if options.wants_a_fault(Fault::kills) {
        heading("In a process of its own, the provider killed: each operation in peace");
        let first = killable(cluster, options.tool, &provider).await?;
        let cases = options.learn(&first).await?;
        let open = Descriptors::now()?;
        let mut scenes = vec![first];
        for _ in 1..KILLERS.min(cases.len()) {
            scenes.push(killable(cluster, options.tool, &provider).await?);
        }
        options.try_all(scenes, cases, &mut table).await;
        leaks.extend(open.are_back().await.err());
    }
    if options.extent == Extent::All {
        outages(&options, &provider, &mut table).await?;
    }
    ensure!(table.cases() > 0, "there is no such case; see the operations in `testkit::faults`");

    heading("Operation by fault");
    line(
        "`5+2!1`: five sat it out, two told of it and the next run settled it, one broke a promise",
    );
    println!("\n{}\n", table);
    for leak in &leaks {
        line(&paint(Ink::Red, &format!("✗ after the cases, {leak}")));
    }
    line(&format!("took {}", seconds(started.elapsed())));
    let clean = table.broken() == 0 && leaks.is_empty();
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Parts of a control plane lost in the middle of an apply.
async fn outages(options: &Options, provider: &Path, table: &mut Table) -> Result<()> {
    for outage in Outage::ALL {
        let case = format!("{OUTAGE}/{}", outage.name());
        if !options.wants(&case) {
            continue;
        }
        heading(&format!("{} lost in the middle of an apply of 100 objects", outage.name()));
        let started = Instant::now();
        let verdict = outage.try_it(options.tool, provider).await?;
        table.count(OUTAGE, outage.name(), &verdict);
        match &verdict {
            Verdict::SatOut => line(&format!("sat out, {}", seconds(started.elapsed()))),
            Verdict::Told(words) => quote(words),
            Verdict::Broken(problems) => broken(&case, problems),
        }
    }
    Ok(())
}

fn broken(case: &str, problems: &[String]) {
    line(&paint(Ink::Red, &format!("✗ {case}")));
    quote(&problems.join("\n"));
    line(&format!("  to see just this: cargo xtask faults {case}"));
}

async fn killable(cluster: &'static ControlPlane, tool: Tool, provider: &Path) -> Result<Scene> {
    let runner = Runner::with_provider(tool, Some(provider)).await?;
    Scene::new(cluster, Means::Tool(Box::new(runner))).await
}

impl Default for Options {
    fn default() -> Self {
        Self { extent: Extent::All, only: None, tool: Tool::NEWEST_TERRAFORM }
    }
}

impl Options {
    /// A case for each request of each operation that is wanted, and each fault.
    async fn learn(&self, scene: &Scene) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for operation in operations() {
            if !self.wants(operation.name) {
                continue;
            }
            let name = operation.name;
            let learnt = scene.learn(operation).await?;
            line(&format!("{name}: {} requests", learnt.last().map_or(0, |case| case.n)));
            cases.extend(learnt);
        }
        cases.retain(|case| self.wants(&case.to_string()));
        Ok(match self.extent {
            Extent::All => cases,
            Extent::Part => sweep::part(cases),
        })
    }

    async fn try_all(&self, scenes: Vec<Scene>, cases: Vec<Case>, table: &mut Table) {
        line(&format!("{} cases", cases.len()));
        let (earlier, count) = (table.cases(), cases.len());
        let mut ledger = Ledger { table, earlier, told: Instant::now(), count };
        sweep::run(scenes, cases, |report| {
            if self.only.is_some() {
                detail(&report);
            }
            ledger.note(&report);
        })
        .await;
    }

    /// Whether such a fault of an operation can be meant.
    fn wants_a_fault(&self, such: impl Fn(Fault) -> bool) -> bool {
        let mut faults = Fault::ALL.into_iter().filter(|fault| such(*fault));
        let mut parts = self.only.as_deref().unwrap_or_default().split('/');
        let operation = parts.next().unwrap_or_default();
        operation != OUTAGE
            && parts.nth(1).is_none_or(|only| faults.any(|it| only == "*" || only == it.name()))
    }

    /// Whether the case is meant, part by part; `*` is any.
    fn wants(&self, case: &str) -> bool {
        self.only.as_deref().is_none_or(|only| {
            only.split('/').zip(case.split('/')).all(|(only, part)| only == "*" || only == part)
        })
    }
}

struct Ledger<'a> {
    table: &'a mut Table,
    earlier: usize,
    told: Instant,
    count: usize,
}

impl Ledger<'_> {
    fn note(&mut self, report: &Report) {
        self.table.note(report);
        if let Verdict::Broken(problems) = &report.verdict {
            broken(&report.case.to_string(), problems);
            line(&format!("  the request: {}", report.case.request));
        }
        if self.told.elapsed() > NEWS {
            self.told = Instant::now();
            line(&format!("{} of {}", self.table.cases() - self.earlier, self.count));
        }
    }
}

/// One case, told at length.
fn detail(Report { case, verdict, took }: &Report) {
    let Case { request, .. } = case;
    match verdict {
        Verdict::SatOut => line(&format!("{case} at `{request}`: sat out, {}", seconds(*took))),
        Verdict::Told(words) => {
            line(&format!("{case} at `{request}`: told, {}", seconds(*took)));
            quote(words);
        }
        Verdict::Broken(_) => {}
    }
}
