//! `bench`: our provider beside its peers and beside a floor, in one run on one control plane.
//!
//! The machine may be slow or busy; what counts is how the contenders stand to each other, how
//! many requests each object costs, and how much memory is held. The floor is a provider that
//! does nothing: what Terraform itself needs for as many resources of the same size.

mod bars;
mod chart;
mod contender;
mod life;
mod report;
mod startup;
mod workload;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use testkit::proxy::{Fate, Proxy, Rule, Turn, Which};
use testkit::{ControlPlane, Parts};

use crate::cargo::root;
use crate::screen::{Ink, heading, line, paint, seconds};
use contender::Contender;
use life::{Life, Measured};
pub(crate) use startup::startup;
use workload::Workload;

/// What a call to a cloud's API server takes on the way.
const LATENCY: Duration = Duration::from_millis(20);

/// What one contender may take for one setup before it is left out of larger ones.
const PATIENCE: Duration = Duration::from_secs(600);

/// What to measure.
pub(crate) struct Options {
    pub(crate) sizes: Vec<usize>,
    pub(crate) contenders: Vec<Contender>,
    pub(crate) slow: Slow,
}

/// What becomes of a contender that would take very long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slow {
    LeftOut,
    WaitedFor,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sizes: vec![100, 500, 1000],
            contenders: Contender::ALL.to_vec(),
            slow: Slow::LeftOut,
        }
    }
}

/// How far away the API server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Distance {
    Near,
    /// With [`LATENCY`] on every call.
    Far,
}

impl Distance {
    fn name(self) -> &'static str {
        match self {
            Self::Near => "no latency",
            Self::Far => "20 ms latency",
        }
    }
}

pub(crate) async fn run(options: Options) -> Result<ExitCode> {
    let started = Instant::now();
    heading("Contenders");
    let mut entered = Vec::new();
    for contender in &options.contenders {
        let (contender, binary) = (*contender, contender.binary().await?);
        line(&format!("{:<24}{}", contender.name(), contender.description()));
        entered.push((contender, binary));
    }
    let cluster = ControlPlane::start(Parts::ApiServer).await?;
    let far = Proxy::before(&cluster).await?;
    far.rule(Rule::new(Which::any(), Turn::Every, Fate::Delay(LATENCY)));

    let folder = root().join("bench");
    let mut all: Vec<Measured> = Vec::new();
    for distance in [Distance::Near, Distance::Far] {
        let kubeconfig = match distance {
            Distance::Near => cluster.kubeconfig(),
            Distance::Far => far.kubeconfig(),
        };
        for workload in [Workload::ConfigMap, Workload::Deployment] {
            let mut pace: BTreeMap<Contender, Duration> = BTreeMap::new();
            for size in &options.sizes {
                heading(&format!("{size} × {}, {}", workload.name(), distance.name()));
                for (contender, binary) in &entered {
                    let expected = pace.get(contender).map(|each| *each * (*size as u32));
                    if let Some(expected) = expected
                        && expected > PATIENCE
                        && options.slow == Slow::LeftOut
                    {
                        let left_out = format!(
                            "· {}: left out, it would take about {:.0} min (`--patiently` waits)",
                            contender.name(),
                            expected.as_secs_f64() / 60.0
                        );
                        line(&paint(Ink::Dim, &left_out));
                        continue;
                    }
                    let life = Life {
                        cluster: &cluster,
                        kubeconfig: &kubeconfig,
                        contender: *contender,
                        distance,
                        workload,
                        size: *size,
                    };
                    let starting = Instant::now();
                    all.extend(life.live(binary).await?);
                    let took = starting.elapsed();
                    pace.insert(*contender, took / (*size as u32));
                    let told = format!("· {}: {}", contender.name(), seconds(took));
                    line(&paint(Ink::Dim, &told));
                }
                // A run that is stopped leaves what it found.
                report::write(&folder, &all, &bars::judge(&all))?;
            }
        }
    }
    let missed = report::print(&all, &bars::judge(&all));
    line(&format!(
        "bench/ holds the table, the chart and all figures, after {}",
        seconds(started.elapsed())
    ));
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
