//! The life of many objects under one contender, each phase measured.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use tempfile::TempDir;
use testkit::{
    ControlPlane, Filter, Mirrored, Request, Run, Runner, StateStore, Tool, Usage, Warded,
};

use super::Distance;
use super::contender::Contender;
use super::workload::Workload;
use crate::screen::{Ink, line, paint};

/// A slow peer may take this long for one command; more is a failure.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A phase that reads only is repeated while it is short, and the run that was least disturbed
/// counts.
const REPEATS: usize = 3;
const SHORT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Create,
    NoChange,
    ChangePlan,
    ChangeApply,
    RefreshOnly,
    Destroy,
}

impl Phase {
    pub(crate) const ALL: [Self; 6] = [
        Self::Create,
        Self::NoChange,
        Self::ChangePlan,
        Self::ChangeApply,
        Self::RefreshOnly,
        Self::Destroy,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::NoChange => "no-change plan",
            Self::ChangePlan => "one-field-change plan",
            Self::ChangeApply => "apply of it",
            Self::RefreshOnly => "refresh-only",
            Self::Destroy => "destroy",
        }
    }
}

/// One phase of one life.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) contender: Contender,
    pub(crate) distance: Distance,
    pub(crate) workload: Workload,
    pub(crate) size: usize,
    pub(crate) phase: Phase,
    pub(crate) wall: Duration,
    /// What the provider used.
    pub(crate) usage: Usage,
    /// What Terraform itself spent of the processor.
    pub(crate) terraform: Duration,
    /// What the API server and its store did.
    pub(crate) server: Duration,
    /// By verb, those about the objects themselves; as the API server counted them.
    pub(crate) requests: BTreeMap<String, usize>,
    /// Discovery, schemas and the like.
    pub(crate) others: usize,
}

impl Measured {
    pub(crate) fn total(&self) -> usize {
        self.others + self.requests.values().sum::<usize>()
    }
}

pub(crate) struct Life<'a> {
    pub(crate) cluster: &'a ControlPlane,
    pub(crate) kubeconfig: &'a str,
    pub(crate) contender: Contender,
    pub(crate) distance: Distance,
    pub(crate) workload: Workload,
    pub(crate) size: usize,
}

impl Life<'_> {
    pub(crate) async fn live(&self, binary: &Path) -> Result<Vec<Measured>> {
        let folder = TempDir::with_prefix("k8sconnect-bench-")?;
        let warded = Warded::new(folder.path(), binary).await?;
        let provider = Mirrored {
            source: self.contender.source().to_owned(),
            binary: warded.program().to_owned(),
        };
        let kubeconfig = folder.path().join("kubeconfig");
        std::fs::write(&kubeconfig, self.kubeconfig)?;
        let mut runner = Runner::with_mirrored(Tool::Terraform, &[provider]).await?;
        runner.patience(PATIENCE).variable("value", "one").variable(
            "kubeconfig",
            kubeconfig.to_str().context("the temporary folder is not UTF-8")?,
        );
        let states = StateStore::start().await?;
        runner
            .write("backend.tf", &states.backend())?
            .write("main.tf", &self.contender.configuration(self.size))?
            .write("body.yaml.tftpl", &self.workload.template())?;
        runner.init().await?.successful()?;
        let measured = self.phases(&mut runner, &warded).await;
        measured.with_context(|| format!("{} failed", self.contender.name()))
    }

    async fn phases(&self, runner: &mut Runner, warded: &Warded) -> Result<Vec<Measured>> {
        let mut all = Vec::new();
        for phase in Phase::ALL {
            if phase == Phase::ChangePlan {
                runner.variable("value", "two");
            }
            let repeats = match phase {
                Phase::NoChange | Phase::RefreshOnly => REPEATS,
                _ => 1,
            };
            let mut best = self.measure(phase, runner, warded).await?;
            for _ in 1..repeats {
                if best.wall > SHORT {
                    break;
                }
                let again = self.measure(phase, runner, warded).await?;
                if again.wall < best.wall {
                    best = again;
                }
            }
            line(&paint(Ink::Dim, &self.told(&best)));
            all.push(best);
        }
        Ok(all)
    }

    /// Told as it goes: large setups take minutes.
    fn told(&self, one: &Measured) -> String {
        let spent = |time: Duration| format!("{:.1}", time.as_secs_f64());
        format!(
            "    {:<24}{:<24}{:>7} s; of the processor: provider {}, Terraform {}, server {}",
            self.contender.name(),
            one.phase.name(),
            spent(one.wall),
            spent(one.usage.processor),
            spent(one.terraform),
            spent(one.server),
        )
    }

    async fn measure(&self, phase: Phase, runner: &Runner, warded: &Warded) -> Result<Measured> {
        let work = async {
            let (server, children) = (self.cluster.spent()?, of_children()?);
            let started = Instant::now();
            let run = perform(phase, runner).await?;
            let wall = started.elapsed();
            anyhow::Ok((run, wall, self.cluster.spent()? - server, of_children()? - children))
        };
        let (outcome, asked) = self.cluster.count_during(Filter::default(), work).await?;
        let (run, wall, server, children) = outcome?;
        run.successful().with_context(|| phase.name())?;
        let (objects, others): (Vec<Request>, Vec<Request>) =
            asked.into_iter().partition(|request| request.path().contains("/bench-"));
        let mut requests = BTreeMap::new();
        for request in objects {
            *requests.entry(request.in_short()).or_default() += 1;
        }
        let usage = warded.take()?;
        Ok(Measured {
            contender: self.contender,
            distance: self.distance,
            workload: self.workload,
            size: self.size,
            phase,
            wall,
            usage,
            terraform: children.saturating_sub(usage.processor),
            server,
            requests,
            others: others.len(),
        })
    }
}

/// What the processes that this one has started and that have ended spent of the processor: one
/// Terraform at a time, with its providers.
fn of_children() -> Result<Duration> {
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let processor = used.user_time() + used.system_time();
    Ok(Duration::from_micros(u64::try_from(processor.num_microseconds())?))
}

async fn perform(phase: Phase, runner: &Runner) -> Result<Run> {
    match phase {
        Phase::Create => runner.apply().await,
        // With this flag a plan that is not empty does not end as a success.
        Phase::NoChange => {
            runner.run(&["plan", "-input=false", "-no-color", "-detailed-exitcode"]).await
        }
        Phase::ChangePlan => {
            runner.run(&["plan", "-input=false", "-no-color", "-out=change.tfplan"]).await
        }
        Phase::ChangeApply => {
            runner.run(&["apply", "-input=false", "-no-color", "change.tfplan"]).await
        }
        Phase::RefreshOnly => {
            runner.run(&["plan", "-input=false", "-no-color", "-refresh-only"]).await
        }
        Phase::Destroy => runner.destroy().await,
    }
}
