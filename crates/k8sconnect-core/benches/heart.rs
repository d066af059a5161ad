//! Micro-benchmarks of what every plan does: `cargo bench -p k8sconnect-core`.

#[path = "../tests/complexity/large.rs"]
mod large;

use divan::{Bencher, black_box};
use k8sconnect_core::field::fields_v1;
use k8sconnect_core::ignore::Ignoring;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::plan::{Kept, Planner, Prior};
use large::{Large, MANAGER};

fn main() {
    divan::main();
}

/// What is measured: a definition of 2,000 lines, and a Deployment of 500 leaves.
#[derive(Debug, Clone, Copy)]
enum Specimen {
    Definition,
    Deployment,
}

const BOTH: [Specimen; 2] = [Specimen::Definition, Specimen::Deployment];

impl Specimen {
    fn make(self) -> Large {
        match self {
            Self::Definition => Large::definition(2_000),
            Self::Deployment => Large::deployment(42),
        }
    }
}

#[divan::bench(args = BOTH)]
fn parse(bencher: Bencher, specimen: Specimen) {
    let large = specimen.make();
    bencher.bench(|| Manifest::parse(black_box(&large.text)).is_ok());
}

#[divan::bench(args = BOTH)]
fn fields_v1_decode(bencher: Bencher, specimen: Specimen) {
    let large = specimen.make();
    let fields = &large.answer["metadata"]["managedFields"][0]["fieldsV1"];
    bencher.bench(|| fields_v1::decode(black_box(fields)).is_ok());
}

#[divan::bench(args = BOTH)]
fn fields_v1_encode(bencher: Bencher, specimen: Specimen) {
    let large = specimen.make();
    let fields = &large.answer["metadata"]["managedFields"][0]["fieldsV1"];
    let Ok(set) = fields_v1::decode(fields) else { return };
    bencher.bench(|| fields_v1::encode(black_box(&set)));
}

#[divan::bench(args = BOTH)]
fn project(bencher: Bencher, specimen: Specimen) {
    let large = specimen.make();
    let ignoring = Ignoring::default();
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    bencher.bench(|| planner.written(black_box(&large.manifest), &large.answer).is_ok());
}

#[divan::bench(args = BOTH)]
fn glance(bencher: Bencher, specimen: Specimen) {
    with_prior(bencher, specimen, |planner, prior, large| {
        planner.glance(&large.manifest, prior, &large.answer).is_ok()
    });
}

#[divan::bench(args = BOTH)]
fn decide(bencher: Bencher, specimen: Specimen) {
    with_prior(bencher, specimen, |planner, prior, large| {
        planner.decide(&large.manifest, Some(prior), Some(&large.answer), &large.answer).is_ok()
    });
}

fn with_prior(
    bencher: Bencher,
    specimen: Specimen,
    work: impl Fn(Planner<'_>, Prior<'_>, &Large) -> bool + Sync,
) {
    let large = specimen.make();
    let ignoring = Ignoring::default();
    let planner = Planner { manager: MANAGER, ignoring: &ignoring };
    let Ok((projection, owners)) = planner.written(&large.manifest, &large.answer) else { return };
    let kept = Kept { owners, texts: projection.texts(None) };
    let prior = Prior {
        manifest: &large.manifest,
        id: "id",
        uid: "1",
        kept: Some(&kept),
        key: None,
        ignoring: &ignoring,
    };
    bencher.bench(|| work(black_box(planner), black_box(prior), &large));
}
