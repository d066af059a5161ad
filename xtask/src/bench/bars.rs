//! What must be reached, judged from what was measured in the same run.
//!
//! Requests and memory are exact and know no excuse. Times are ratios within one run; a miss is
//! told with its figures.

use super::contender::Contender;
use super::life::{Measured, Phase};
use super::workload::Workload;
use super::{Distance, LATENCY};

/// As many operations as Terraform runs at once.
const PARALLELISM: f64 = 10.0;

pub(crate) struct Verdict {
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) most: f64,
    pub(crate) unit: &'static str,
    /// Who spent how much of the processor, the most first, where a time is judged.
    pub(crate) profile: Option<Profile>,
}

const THE_PROVIDER: &str = "the provider";

/// Seconds of processor time by process.
pub(crate) struct Profile(pub(crate) Vec<(&'static str, f64)>);

impl Profile {
    fn of(one: &Measured) -> Self {
        let mut spent = vec![
            ("Terraform", one.terraform.as_secs_f64()),
            ("the API server", one.server.as_secs_f64()),
            (THE_PROVIDER, one.usage.processor.as_secs_f64()),
        ];
        spent.sort_by(|a, b| b.1.total_cmp(&a.1));
        Self(spent)
    }
}

/// What became of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Held,
    /// A time that somebody else took the most of.
    Theirs,
    Missed,
}

impl Verdict {
    pub(crate) fn outcome(&self) -> Outcome {
        let theirs = || {
            let first = self.profile.as_ref().and_then(|profile| profile.0.first());
            first.is_some_and(|(who, _)| *who != THE_PROVIDER)
        };
        match self.value <= self.most {
            true => Outcome::Held,
            false if theirs() => Outcome::Theirs,
            false => Outcome::Missed,
        }
    }
}

pub(crate) fn judge(all: &[Measured]) -> Vec<Verdict> {
    let figures = Figures { all };
    let mut verdicts = Vec::new();
    for workload in [Workload::ConfigMap, Workload::Deployment] {
        figures.requests(workload, &mut verdicts);
        figures.times(workload, &mut verdicts);
        figures.growth(workload, &mut verdicts);
    }
    figures.memory(&mut verdicts);
    verdicts
}

struct Figures<'a> {
    all: &'a [Measured],
}

impl Figures<'_> {
    fn find(
        &self,
        contender: Contender,
        distance: Distance,
        workload: Workload,
        size: usize,
        phase: Phase,
    ) -> Option<&Measured> {
        self.all.iter().find(|one| {
            (one.contender, one.distance, one.workload, one.size, one.phase)
                == (contender, distance, workload, size, phase)
        })
    }

    fn near(
        &self,
        contender: Contender,
        workload: Workload,
        size: usize,
        phase: Phase,
    ) -> Option<&Measured> {
        self.find(contender, Distance::Near, workload, size, phase)
    }

    fn sizes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.all.iter().map(|one| one.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Where times are judged: at 500 objects, or at what there is.
    fn middle(&self) -> usize {
        let sizes = self.sizes();
        let middle = sizes.iter().find(|size| **size >= 500).or(sizes.last());
        middle.copied().unwrap_or_default()
    }

    fn requests(&self, workload: Workload, verdicts: &mut Vec<Verdict>) {
        let budget: [(Phase, &[(&str, usize)]); 5] = [
            (Phase::Create, &[("patch (dry-run)", 2), ("patch", 1)]),
            (Phase::NoChange, &[("get", 1)]),
            (Phase::ChangePlan, &[("get", 1), ("patch (dry-run)", 1)]),
            (Phase::ChangeApply, &[("patch (dry-run)", 1), ("patch", 1)]),
            (Phase::RefreshOnly, &[("get", 1)]),
        ];
        for (phase, expected) in budget {
            let ours = self.all.iter().filter(|one| {
                one.contender == Contender::Ours && one.workload == workload && one.phase == phase
            });
            let excess: usize = ours
                .map(|one| {
                    let beyond = one.requests.iter().map(|(verb, count)| {
                        let due = expected.iter().find(|(due, _)| due == verb);
                        count.saturating_sub(due.map_or(0, |(_, each)| each * one.size))
                    });
                    beyond.sum::<usize>()
                })
                .sum();
            verdicts.push(Verdict {
                what: format!("{}, {}: requests beyond the budget", workload.name(), phase.name()),
                value: excess as f64,
                most: 0.0,
                unit: "",
                profile: None,
            });
        }
        // One for each list of groups, and one for each group version that is used.
        if let Some(ours) = self.near(Contender::Ours, workload, self.middle(), Phase::NoChange) {
            verdicts.push(Verdict {
                what: format!("{}, no-change plan: discovery requests", workload.name()),
                value: ours.others as f64,
                most: 1.0,
                unit: "",
                profile: None,
            });
        }
    }

    fn times(&self, workload: Workload, verdicts: &mut Vec<Verdict>) {
        let size = self.middle();
        let of = |contender| self.near(contender, workload, size, Phase::NoChange);
        let name = workload.name();
        if let (Some(floor), Some(measured)) = (of(Contender::Floor), of(Contender::Ours)) {
            let (floor, ours) = (floor.wall.as_secs_f64(), measured.wall.as_secs_f64());
            let profile = || Some(Profile::of(measured));
            verdicts.push(Verdict {
                what: format!("{size} × {name}, no-change plan: times the floor"),
                value: ours / floor,
                most: 1.2,
                unit: "×",
                profile: profile(),
            });
            let peers = Contender::PEERS.iter().filter_map(|peer| of(*peer));
            let peers = peers.map(|one| one.wall.as_secs_f64());
            if let Some(peer) = peers.min_by(f64::total_cmp) {
                verdicts.push(Verdict {
                    what: format!(
                        "{size} × {name}, no-change plan: share of what the fastest peer adds"
                    ),
                    value: (ours - floor).max(0.0) / (peer - floor),
                    most: 1.0 / 6.0,
                    unit: "",
                    profile: profile(),
                });
            }
        }
        for phase in Phase::ALL {
            let processor = |contender| {
                self.near(contender, workload, size, phase)
                    .map(|one| one.usage.processor.as_secs_f64())
            };
            let peer = Contender::PEERS.iter().filter_map(|peer| processor(*peer));
            if let (Some(ours), Some(peer)) =
                (processor(Contender::Ours), peer.min_by(f64::total_cmp))
            {
                verdicts.push(Verdict {
                    what: format!(
                        "{size} × {name}, {}: processor time, of the fastest peer's",
                        phase.name()
                    ),
                    value: ours / peer,
                    most: 0.1,
                    unit: "",
                    profile: None,
                });
            }
        }
        for phase in [Phase::NoChange, Phase::ChangePlan, Phase::ChangeApply] {
            let far = |contender| self.find(contender, Distance::Far, workload, size, phase);
            if let (Some(ours), Some(floor)) = (far(Contender::Ours), far(Contender::Floor)) {
                let waiting = ours.total() as f64 * LATENCY.as_secs_f64() / PARALLELISM;
                verdicts.push(Verdict {
                    what: format!(
                        "{size} × {name}, {}, 20 ms away: times the waiting and the floor",
                        phase.name()
                    ),
                    value: ours.wall.as_secs_f64() / (waiting + floor.wall.as_secs_f64()),
                    most: 1.2,
                    unit: "×",
                    profile: Some(Profile::of(ours)),
                });
            }
        }
    }

    /// A thousand objects against a hundred, net of the floor.
    fn growth(&self, workload: Workload, verdicts: &mut Vec<Verdict>) {
        for phase in [Phase::Create, Phase::NoChange, Phase::ChangePlan, Phase::ChangeApply] {
            let net = |size| {
                let wall = |contender| {
                    self.near(contender, workload, size, phase).map(|one| one.wall.as_secs_f64())
                };
                Some(wall(Contender::Ours)? - wall(Contender::Floor)?)
            };
            if let (Some(hundred), Some(thousand)) = (net(100), net(1000)) {
                verdicts.push(Verdict {
                    what: format!(
                        "{}, {}: net time of 1000, of 100's",
                        workload.name(),
                        phase.name()
                    ),
                    value: thousand.max(0.0) / hundred.max(0.001),
                    most: 10.5,
                    unit: "×",
                    profile: self.near(Contender::Ours, workload, 1000, phase).map(Profile::of),
                });
            }
        }
    }

    fn memory(&self, verdicts: &mut Vec<Verdict>) {
        let peak = |size| {
            let ours = self.all.iter().filter(|one| {
                one.contender == Contender::Ours
                    && one.workload == Workload::Deployment
                    && one.size == size
            });
            ours.map(|one| one.usage.peak).max().map(|bytes| bytes as f64 / 1_000_000.0)
        };
        let largest = self.sizes().into_iter().max().unwrap_or_default();
        if let Some(peak) = peak(largest) {
            verdicts.push(Verdict {
                what: format!("{largest} × Deployment: peak memory"),
                value: peak,
                most: 40.0,
                unit: "MB",
                profile: None,
            });
        }
        if let (Some(hundred), Some(thousand)) = (peak(100), peak(1000)) {
            verdicts.push(Verdict {
                what: "Deployment: growth of memory from 100 to 1000".to_owned(),
                value: thousand - hundred,
                most: 10.0,
                unit: "MB",
                profile: None,
            });
        }
    }
}
