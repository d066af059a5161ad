//! Somebody writes to an object between any two of our requests, and Terraform still gets what
//! it was promised: never "Provider produced inconsistent result after apply", never
//! "inconsistent final plan".
//!
//! No loop that hopes to collide. Each operation is run once through a proxy to learn which
//! requests it makes; then, for every gap between two of them and every kind of write in
//! [`tables`], it is run again with that write put into that gap. Many cases share a
//! configuration, one resource each; those that the plan must refuse have configurations of
//! their own, because a plan that is refused for one resource is applied for none.

mod batch;
mod learn;
mod tables;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use testkit::{ControlPlane, Target, Tool};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use batch::Batch;
use learn::Learned;
use tables::{Effect, Operation, SPECIMENS, Specimen, Takeover, Write, definition};

/// Ten is Terraform's own measure; more keeps both cores busy while a rival writes.
const PARALLEL: &str = "-parallelism=24";

/// One operation on one object, with one write in one gap.
#[derive(Clone, Copy)]
struct Case {
    specimen: &'static Specimen,
    operation: Operation,
    write: &'static Write,
    gap: Gap,
    expected: Expected,
}

/// A place in the course of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    /// Right before this request, counted from 1.
    Before(u32),
    /// When this last one is answered, before the provider hears of it.
    After(u32),
}

/// What Terraform must make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Success,
    RefusedAtPlan,
    RefusedAtApply,
}

impl Case {
    fn describe(&self) -> String {
        let Self { specimen, operation, write, gap, .. } = self;
        format!("{operation:?} of {} `{}`, {}, {gap:?}", specimen.kind, specimen.name, write.name)
    }

    /// Whether somebody else's object stands where ours should be, once all is done.
    fn leaves_a_stranger(&self) -> bool {
        self.specimen.takeover == Takeover::Refused
            && matches!(self.write.effect, Effect::Forestalls | Effect::Replaces)
    }
}

/// Every case there is.
fn cases(learned: &Learned) -> Vec<Case> {
    let mut cases = Vec::new();
    for specimen in &SPECIMENS {
        for &operation in specimen.operations {
            let requests = learned.requests(specimen, operation);
            let gaps = (1..=requests.in_all)
                .map(Gap::Before)
                .chain(std::iter::once(Gap::After(requests.in_all)));
            for gap in gaps {
                for write in specimen.writes() {
                    if let Some(expected) =
                        expected(specimen, operation, write.effect, gap, requests)
                    {
                        cases.push(Case { specimen, operation, write, gap, expected });
                    }
                }
            }
        }
    }
    cases
}

/// `None` where a write makes no sense: on what is not there yet, or into the place of what is.
fn expected(
    specimen: &Specimen,
    operation: Operation,
    effect: Effect,
    gap: Gap,
    requests: learn::Requests,
) -> Option<Expected> {
    let refused = match gap {
        Gap::Before(n) if n <= requests.in_plan => Expected::RefusedAtPlan,
        _ => Expected::RefusedAtApply,
    };
    match (operation, effect, gap) {
        (Operation::Create, Effect::Forestalls, Gap::Before(_)) => match specimen.takeover {
            Takeover::Refused => Some(refused),
            // No plan has shown an object that appears just before the write.
            Takeover::Wanted if gap == Gap::Before(requests.in_all) => Some(refused),
            Takeover::Wanted => Some(Expected::Success),
        },
        (Operation::Create, Effect::Forestalls, _) => None,
        (Operation::Create, _, Gap::Before(_)) => None,
        (_, Effect::Forestalls, _) => None,
        (_, Effect::Changes, _) | (_, _, Gap::After(_)) => Some(Expected::Success),
        (_, Effect::Contests, _) => Some(refused),
        // Seen by the refresh, before anything is planned.
        (_, Effect::Deletes | Effect::Restores, Gap::Before(1)) => Some(Expected::Success),
        (_, Effect::Deletes | Effect::Restores | Effect::Replaces, _) => Some(refused),
    }
}

/// As many cases as a batch may have: Terraform writes its whole state after each resource.
const MOST: usize = 64;
/// As many batches as run at once.
const AT_ONCE: usize = 3;

#[tokio::test]
async fn a_write_between_any_two_requests_never_makes_terraform_call_us_inconsistent() {
    let cluster = ControlPlane::shared().await;
    cluster.act_as("admin").apply(definition()).await.unwrap();
    let definition = Target::of(&definition()).unwrap();
    let established = |seen: Option<&Value>| {
        let conditions = seen.and_then(|it| it["status"]["conditions"].as_array());
        conditions
            .into_iter()
            .flatten()
            .any(|it| it["type"] == "Established" && it["status"] == "True")
    };
    cluster.wait_until(&definition, Duration::from_secs(60), established).await.unwrap();
    let learned = Learned::by_running().await;
    let (refused, planned): (Vec<_>, Vec<_>) =
        cases(&learned).into_iter().partition(|case| case.expected == Expected::RefusedAtPlan);
    assert!(planned.len() > 300 && refused.len() > 10, "the tables have shrunk");
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    // OpenTofu walks as Terraform does; a round of its own shows that it does, across all of them.
    let some: Vec<_> = planned.iter().step_by(planned.len().div_ceil(MOST)).copied().collect();
    let batches = planned.chunks(MOST).chain(refused.chunks(MOST));
    let mut batches: Vec<_> = batches.map(|cases| (Tool::Terraform, cases.to_vec())).collect();
    batches.push((Tool::OpenTofu, some));
    for (tool, cases) in batches {
        let permits = Arc::clone(&permits);
        running.spawn(async move {
            let _permit = permits.acquire().await.unwrap();
            Batch::new(tool, cases).await.run().await
        });
    }
    let problems: Vec<String> = running.join_all().await.into_iter().flatten().collect();
    cluster.delete(&definition).await.unwrap();
    assert!(problems.is_empty(), "{} problems:\n\n{}", problems.len(), problems.join("\n\n"));
}
