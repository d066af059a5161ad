//! Cost grows with the size of the input and not with its square. Seconds depend on the machine;
//! that ten times the items must not take a hundred times as long does not.

#[path = "complexity/large.rs"]
mod large;

use std::hint::black_box;
use std::time::{Duration, Instant};

use k8sconnect_core::ignore::Ignoring;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::{Kept, Planner, Prior};
use large::{Items, Large, MANAGER};

/// Between ten times, which is linear, and a hundred, with room for a busy machine.
const MOST: f64 = 35.0;

fn fastest(work: impl Fn()) -> Duration {
    let once = || {
        let started = Instant::now();
        work();
        started.elapsed()
    };
    (0..5).map(|_| once()).min().unwrap_or_default()
}

fn grows_linearly(what: &str, work: impl Fn(&Large)) {
    for items in [Items::Keyed, Items::Set] {
        let (small, large) = (Large::list(1_000, items), Large::list(10_000, items));
        let ratio = fastest(|| work(&large)).as_secs_f64() / fastest(|| work(&small)).as_secs_f64();
        assert!(
            ratio < MOST,
            "{what} of ten times the {items:?} items took {ratio:.0} times as long"
        );
    }
}

#[test]
fn reading_a_long_list_is_linear() {
    grows_linearly("reading", |large| {
        black_box(Manifest::parse(&large.text)).expect("it was read before");
    });
}

#[test]
fn reading_the_owners_of_a_long_list_is_linear() {
    grows_linearly("owners", |large| {
        black_box(Owners::of_object(&large.answer)).expect("well-formed");
    });
}

#[test]
fn planning_a_long_list_is_linear() {
    let ignoring = Ignoring::default();
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    grows_linearly("planning", |large| {
        let (projection, owners) =
            planner.written(&large.manifest, &large.answer).expect("well-formed");
        let kept = Kept { owners, texts: projection.texts(None) };
        let prior = Prior {
            manifest: &large.manifest,
            id: "id",
            uid: "1",
            kept: Some(&kept),
            key: None,
            ignoring: &ignoring,
        };
        let decision = planner
            .decide(&large.manifest, Some(prior), Some(&large.answer), &large.answer)
            .expect("well-formed");
        black_box(planner.glance(&large.manifest, prior, &large.answer)).expect("well-formed");
        black_box(planner.content(&large.manifest, Some(prior), None)).expect("well-formed");
        assert!(decision.projection.0.len() >= 1_000);
    });
}
