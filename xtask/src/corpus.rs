//! `corpus`: what people really apply, a folder of YAML, through the provider and real Terraform:
//! applied, planned empty, respelled, planned empty, one leaf of each document edited, planned,
//! applied, planned empty, destroyed. What does not hold for a document is put in a table, the
//! document is taken out, and the walk goes on with the others.
//!
//! Or, beside that, every leaf of them edited in turn and planned: see [`leaves`].

mod files;
mod leaves;
mod ledger;
mod tool;
mod walk;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::json;
use testkit::specimens::Exhibition;
use testkit::specimens::documents::Tier;
use testkit::{ControlPlane, Parts, Runner, Target, Tool};

use crate::cargo::{Profile, build_provider};
use crate::screen::{heading, line, seconds};
use files::{Corpus, Document};
pub(crate) use leaves::Extent;
use leaves::Sweep;
use ledger::Ledger;
use walk::Walk;

pub(crate) struct Options {
    pub(crate) folder: PathBuf,
    /// Chooses spellings and edits; a run with the same one does the same.
    pub(crate) seed: u64,
    pub(crate) course: Course,
    /// Leaves of these documents only, by a part of their label.
    pub(crate) only: Option<String>,
}

/// What the documents go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Course {
    /// A whole life each, with Terraform.
    Life,
    /// Every leaf edited and planned.
    Leaves(Extent),
}

pub(crate) async fn run(options: Options) -> Result<ExitCode> {
    let started = Instant::now();
    heading(&format!("Reading `{}`, seed {}", options.folder.display(), options.seed));
    let mut corpus = Corpus::read(&options.folder)?;
    line(&format!("{} documents in {} files", corpus.documents.len(), corpus.files));
    ensure!(!corpus.documents.is_empty(), "there is no object in `{}`", options.folder.display());

    heading("Starting a control plane");
    let cluster = ControlPlane::start(Parts::Full).await?;
    let node = Target::new("v1", "Node", None, "node-1");
    // No pod runs, so that no Job finishes: those with a `ttlSecondsAfterFinished` would then go
    // by themselves, and be planned anew, rightly.
    let cordon = json!({"spec": {"unschedulable": true}});
    cluster.act_as("corpus").merge_patch(&node, cordon).await?;
    line(&format!("up after {}", seconds(started.elapsed())));
    corpus.leave_out_what_cannot_be_made(&cluster).await?;
    let made = corpus.make_namespaces(&cluster).await?;

    let Corpus { documents, mut ledger, .. } = corpus;
    let (gates, objects): (Vec<_>, Vec<_>) =
        documents.into_iter().partition(|document| document.exhibit.tier() == Tier::Gate);
    match options.course {
        Course::Life => live(&cluster, options.seed, objects, gates, &mut ledger).await?,
        Course::Leaves(extent) => {
            let only = options.only.as_deref();
            let mut sweep = Sweep::new(&cluster, extent, options.seed, only, &mut ledger);
            heading(&format!("{} objects", objects.len()));
            sweep.add(objects).await?;
            heading(&format!("{} objects that judge others", gates.len()));
            sweep.add(gates).await?;
            sweep.end().await?;
        }
    }
    for namespace in made {
        cluster.delete(&namespace).await?;
    }
    ledger.print(started.elapsed());
    Ok(if ledger.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn live(
    cluster: &ControlPlane,
    seed: u64,
    objects: Vec<Document>,
    gates: Vec<Document>,
    ledger: &mut Ledger,
) -> Result<()> {
    let provider = build_provider(Profile::Dev)?;
    let runner = Runner::with_provider(Tool::Terraform, Some(&provider)).await?;
    let exhibition = Exhibition::new(&runner, &cluster.kubeconfig())?;
    let mut walk = Walk::new(&runner, cluster, &exhibition, seed, ledger);
    heading(&format!("{} objects", objects.len()));
    walk.add(objects).await?;
    // Definitions are edited when their objects need them no longer as they were.
    walk.edit(&[Tier::Foundation, Tier::Object]).await?;
    walk.edit(&[Tier::Namespace, Tier::Definition]).await?;
    if !gates.is_empty() {
        heading(&format!("{} objects that judge others", gates.len()));
        walk.add(gates).await?;
        walk.edit(&[Tier::Gate]).await?;
    }
    heading("The end");
    walk.destroy().await?;
    Ok(())
}
