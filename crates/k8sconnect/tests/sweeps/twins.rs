//! The provider beside `kubectl`: two objects of one kind with the same random history. The user edits a
//! body and applies it, and other managers write in between. The provider applies one object, `kubectl
//! apply --server-side --force-conflicts --field-manager=k8sconnect` applies its twin. After each apply
//! both objects have the same values and the same owners, the plan reported every change, and the next
//! plan is empty.
//!
//! `K8SCONNECT_SWEEP_STORIES` and `K8SCONNECT_SWEEP_STEPS` run more and longer stories. A failure prints
//! its seed, and `K8SCONNECT_SWEEP_SEED` repeats that story. A story that fails is run again with fewer
//! steps and fields until nothing more can be left out.
//!
//! Differences that are allowed:
//!
//! | difference | reason | code |
//! |---|---|---|
//! | the id annotation | the provider marks its objects | `testkit::twins::body_of_twin` |
//! | `stringData` | the provider sends it as `data` | `testkit::twins::body_of_twin` |
//! | a leaf that another manager co-owns in another spelling | sent in the server's spelling (ADR 0021) | `run::spell` |
//! | owners of a field without a value | only its entry says that null or an empty list was written | `judge::visible_owners` |
//! | null and no field | the projection does not show a field written as null | `judge::is_something` |
//! | the order of items after a plan without changes | a reordering by others is no drift (ADR 0001) | `judge::twins_are_equal` |

mod judge;
mod kinds;
mod others;
mod run;
mod story;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use testkit::kubectl::Kubectl;
use testkit::{ControlPlane, Manifest, TestNamespace};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use judge::Fault;
use run::run;
use story::Story;

const STORIES: u64 = 12;
const STEPS: usize = 6;
const AT_ONCE: usize = 3;
/// How often a story that failed is run again to reduce it.
const REDUCTIONS: usize = 250;

/// A cluster without controllers, and the two namespaces of the twins.
struct Twins {
    cluster: &'static ControlPlane,
    namespaces: [TestNamespace; 2],
    kubectl: Kubectl,
    /// How many objects there were, so that each story has a name of its own.
    objects: AtomicUsize,
}

impl Twins {
    async fn new() -> Self {
        let cluster = ControlPlane::another().await;
        let namespace = async || TestNamespace::new(cluster).await.unwrap();
        let kubectl = Kubectl::new(cluster).await.unwrap();
        let namespaces = [namespace().await, namespace().await];
        let twins = Self { cluster, namespaces, kubectl, objects: AtomicUsize::new(0) };
        let definition = include_str!("twins/sample.yaml").replace("GROUP", &twins.group());
        let definition = definition.object().unwrap();
        cluster.act_as("admin").create(&definition).await.unwrap();
        cluster.await_served(&definition).await.unwrap();
        twins
    }

    /// The API group of the custom kind.
    fn group(&self) -> String {
        format!("{}.example.com", self.namespaces[0])
    }
}

/// The story with as little in it as it needs to fail in the same way, and the fault.
async fn reduced(twins: &Twins, mut story: Story, mut fault: Fault) -> (Story, Fault) {
    let mut tries = 0;
    'smaller: loop {
        for less in story.reduced() {
            tries += 1;
            if tries > REDUCTIONS {
                break 'smaller;
            }
            match run(twins, &less).await {
                Err(same) if same.name == fault.name => {
                    (story, fault) = (less, same);
                    continue 'smaller;
                }
                _ => {}
            }
        }
        break;
    }
    (story, fault)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_of_the_provider_is_equal_to_its_twin_that_kubectl_applies() {
    let twins = Arc::new(Twins::new().await);
    let steps = number("K8SCONNECT_SWEEP_STEPS").map_or(STEPS, |it| usize::try_from(it).unwrap());
    let seeds = match (number("K8SCONNECT_SWEEP_SEED"), number("K8SCONNECT_SWEEP_STORIES")) {
        (Some(seed), _) => seed..seed + 1,
        (None, None) => 0..STORIES,
        // Every long run has new stories.
        (None, Some(stories)) => {
            let first = fastrand::u64(..1_000_000_000);
            first..first + stories
        }
    };
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut stories = JoinSet::new();
    for seed in seeds {
        let (twins, room) = (Arc::clone(&twins), Arc::clone(&room));
        stories.spawn(async move {
            let _room = room.acquire().await;
            let story = Story::drawn(seed, steps);
            let fault = run(&twins, &story).await.err()?;
            let (story, fault) = reduced(&twins, story, fault).await;
            // Printed now, so that a long run can be followed.
            eprintln!("{}: {}\n{story}", fault.name, fault.facts);
            Some(fault.name)
        });
    }
    let faults: Vec<_> = stories.join_all().await.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{} stories fail: {faults:?}", faults.len());
}
