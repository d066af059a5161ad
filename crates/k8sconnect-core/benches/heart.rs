//! Micro-benchmarks of what every plan does: `cargo bench -p k8sconnect-core`.

#[path = "../tests/complexity/large.rs"]
mod large;

use std::fmt::Write;

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
            Self::Definition => definition(2_000),
            Self::Deployment => deployment(42),
        }
    }
}

/// A Deployment with 12 leaves a container, and few more.
fn deployment(containers: usize) -> Large {
    let mut text = String::from(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: large\n  namespace: default\n\
         spec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n",
    );
    for at in 0..containers {
        let _ = write!(
            text,
            "      - name: c{at}\n        image: registry.example/c{at}:1.0\n        env:\n        \
             - name: MODE\n          value: info\n        - name: ZONE\n          value: a\n        \
             ports:\n        - name: http\n          containerPort: 8080\n        \
             imagePullPolicy: Always\n        resources:\n          requests:\n            cpu: \
             100m\n            memory: 64Mi\n          limits:\n            memory: 128Mi\n"
        );
    }
    Large::new(text)
}

/// A CustomResourceDefinition of about so many lines.
fn definition(lines: usize) -> Large {
    let mut text = String::from(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: \
         larges.example.com\nspec:\n  group: example.com\n  scope: Namespaced\n  names:\n    kind: \
         Large\n    plural: larges\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    \
         schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            \
         type: object\n            properties:\n",
    );
    for at in 0..lines / 8 {
        let _ = write!(
            text,
            "              field{at}:\n                type: object\n                description: \
             What it is for, told in a sentence of usual length, as authors do.\n                \
             properties:\n                  inner:\n                    type: string\n                    \
             maxLength: 253\n                    pattern: ^[a-z]+$\n"
        );
    }
    Large::new(text)
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
    let kept = Kept { owners, texts: projection.texts(None), version: None };
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
