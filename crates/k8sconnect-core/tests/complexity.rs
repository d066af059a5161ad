//! Cost grows with the size of the input and not with its square. Seconds depend on the machine;
//! that ten times the items must not take a hundred times as long does not.

#[path = "complexity/large.rs"]
mod large;

use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

use k8sconnect_core::documents::{Source, split};
use k8sconnect_core::ignore::Ignoring;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::{Kept, Planner, Prior};
use large::{Large, MANAGER};
use nix::time::{ClockId, clock_gettime};

/// Between ten times, which is linear, and a hundred, with room for a busy machine.
const MOST: f64 = 35.0;

#[derive(Debug, Clone, Copy)]
enum Items {
    Keyed,
    Set,
}

/// A custom resource with one long list, keyed or of plain values.
fn list(items: usize, kind: Items) -> Large {
    let mut text = String::from(
        "apiVersion: example.com/v1\nkind: Large\nmetadata:\n  name: large\n  namespace: \
             default\nspec:\n  items:\n",
    );
    for at in 0..items {
        let _ = match kind {
            Items::Keyed => write!(text, "  - name: item-{at}\n    value: {at}\n"),
            Items::Set => writeln!(text, "  - item-{at}"),
        };
    }
    Large::new(text)
}

/// The time that this thread was given, whatever else the machine is doing.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every system counts it").into()
}

fn fastest(work: impl Fn()) -> Duration {
    let once = || {
        let started = processor_time();
        work();
        processor_time() - started
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

fn grows_linearly(what: &str, work: impl Fn(&Large)) {
    for items in [Items::Keyed, Items::Set] {
        let (small, large) = (list(500, items), list(5_000, items));
        let ratio = fastest(|| work(&large)).as_secs_f64() / fastest(|| work(&small)).as_secs_f64();
        assert!(
            ratio < MOST,
            "{what} of ten times the {items:?} items took {ratio:.0} times as long"
        );
    }
}

/// So many documents of so many lines each.
fn stream(documents: usize, lines: usize) -> String {
    let data: String = (0..lines).map(|at| format!("  key-{at}: \"value {at}\"\n")).collect();
    let document = |at| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{at}\n  namespace: \
             shop\ndata:\n  text: |\n    a line\n{data}"
        )
    };
    (0..documents).map(document).collect()
}

#[test]
fn splitting_many_documents_and_large_ones_is_linear() {
    for (what, documents, lines) in [("small", 2_000, 1), ("large", 20, 400)] {
        let cost = |text: &str| {
            fastest(|| {
                black_box(split([Source { name: Some("all.yaml"), text }])).expect("all are good");
            })
        };
        let (few, many) = (stream(documents, lines), stream(4 * documents, lines));
        let ratio = cost(&many).as_secs_f64() / cost(&few).as_secs_f64();
        // Between four times, which is linear, and sixteen.
        assert!(ratio < 9.0, "four times the {what} documents took {ratio:.1} times as long");
    }
}

/// Where it was looked for from the end of the text, at every block, a long last line was costly.
#[test]
fn a_long_last_line_costs_no_more_than_a_long_text() {
    let blocks = stream(1_000, 1);
    let last =
        format!("---\n{{apiVersion: v1, kind: A, metadata: {{name: {}}}}}", "a".repeat(1 << 20));
    let cost = |text: &str| {
        fastest(|| {
            black_box(split([Source { name: None, text }])).expect("all are good");
        })
    };
    let (apart, together) = (cost(&blocks) + cost(&last), cost(&format!("{blocks}{last}")));
    assert!(together < apart * 2, "{apart:?} apart and {together:?} together");
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
        let kept = Kept { owners, texts: projection.texts(None), version: None };
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
        let content = planner.content(&large.manifest, None).expect("well-formed");
        black_box(planner.respelt(&content, &large.answer)).expect("well-formed");
        black_box(planner.was_respelt_alone(prior));
        assert!(decision.projection.0.len() >= 500);
    });
}
