//! `--every-leaf`: each document applied once, then every leaf of it changed and removed in turn
//! and planned, in process, so that tens of thousands of plans cost minutes and not days. None of
//! them may be swallowed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use k8sconnect::K8sConnect;
use testkit::specimens::documents::Tier;
use testkit::specimens::leaves;
use testkit::sweep::{Edit, OBJECT, Specimen, Tally, Verdict, Way, configuration, crowd};
use testkit::{ControlPlane, Target};
use tfplugin::harness::{Core, State};
use tokio::task::JoinSet;

use super::files::Document;
use super::ledger::{Ledger, Stage};
use crate::screen::{heading, line, seconds};

/// More would only queue at the API server.
const WORKERS: usize = 4;

/// With more leaves than this, edits are planned many at a time.
const MANY: usize = 1000;

/// How often is told how far a long document is.
const NEWS: Duration = Duration::from_secs(20);

/// How many of a document's edits are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    All,
    /// At most so many of each document, drawn at random.
    Sample(usize),
}

pub(crate) struct Sweep<'a> {
    pub(crate) cluster: &'a ControlPlane,
    pub(crate) extent: Extent,
    pub(crate) seed: u64,
    /// Only documents with this in their label are edited; all are applied.
    pub(crate) only: Option<&'a str>,
    pub(crate) ledger: &'a mut Ledger,
    made: Vec<Made>,
    sum: Tally,
    /// How often each refusal was heard.
    refusals: BTreeMap<String, usize>,
}

struct Made {
    document: Document,
    state: State,
}

impl<'a> Sweep<'a> {
    pub(crate) fn new(
        cluster: &'a ControlPlane,
        extent: Extent,
        seed: u64,
        only: Option<&'a str>,
        ledger: &'a mut Ledger,
    ) -> Self {
        let (made, sum, refusals) = (Vec::new(), Tally::default(), BTreeMap::new());
        Self { cluster, extent, seed, only, ledger, made, sum, refusals }
    }

    /// Applies the documents in the order in which they need one another, then edits them.
    pub(crate) async fn add(&mut self, mut documents: Vec<Document>) -> Result<()> {
        documents.sort_by_key(|document| document.exhibit.tier());
        let from = self.made.len();
        let core = Core::new(K8sConnect::default());
        for document in documents {
            let config = configuration(&self.cluster.kubeconfig(), &document.exhibit.text);
            match core.create(OBJECT, &config).await {
                Ok(state) => {
                    if document.exhibit.tier() == Tier::Namespace {
                        let name = Target::of(&document.exhibit.value)?.name;
                        self.cluster.await_service_account(&name).await?;
                    }
                    self.made.push(Made { document, state });
                }
                Err(failure) => {
                    self.ledger.fail(&document.label, Stage::Applying, &failure.to_string());
                }
            }
        }
        self.ledger.applied += self.made.len() - from;
        for at in from..self.made.len() {
            self.edit(at).await;
        }
        Ok(())
    }

    async fn edit(&mut self, at: usize) {
        let started = Instant::now();
        let Some(Made { document, state }) = self.made.get(at) else {
            return;
        };
        if self.only.is_some_and(|part| !document.label.contains(part)) {
            return;
        }
        let label = document.label.clone();
        let crowds = self.crowds(document, at);
        let count = crowds.len();
        let work = Arc::new(Work {
            crowds,
            next: AtomicUsize::new(0),
            label: label.clone(),
            specimen: Specimen {
                kubeconfig: self.cluster.kubeconfig(),
                manifest: document.exhibit.value.clone(),
                stored: state.clone(),
            },
        });
        let mut tasks = JoinSet::new();
        for _ in 0..WORKERS.min(count) {
            tasks.spawn(Arc::clone(&work).run());
        }
        let mut verdicts = Vec::new();
        let mut news = tokio::time::interval_at((started + NEWS).into(), NEWS);
        loop {
            tokio::select! {
                _ = news.tick() => {
                    let done = work.next.load(Ordering::Relaxed).min(count);
                    line(&format!("{label}: {done} of {count} plans ({})", seconds(started.elapsed())));
                }
                done = tasks.join_next() => match done {
                    Some(Ok(found)) => verdicts.extend(found),
                    Some(Err(error)) => {
                        self.ledger.fail(&label, Stage::Editing, &error.to_string());
                    }
                    None => break,
                },
            }
        }
        let mut tally = Tally::default();
        for (edit, verdict) in &verdicts {
            tally.note(edit, verdict);
            if let Verdict::Refused(words) = verdict {
                *self.refusals.entry(shape(words)).or_default() += 1;
            }
        }
        line(&format!("{label}: {tally} ({})", seconds(started.elapsed())));
        let faults = tally.faults();
        if !faults.is_empty() {
            self.ledger.fail(&label, Stage::Editing, &faults.join("\n"));
        }
        self.ledger.edited += tally.edits();
        self.sum.add(tally);
    }

    /// What is to be planned at once: single edits, but for a document of very many leaves.
    fn crowds(&self, document: &Document, at: usize) -> Vec<Vec<Edit>> {
        let value = &document.exhibit.value;
        let mut edits = [Way::Change, Way::Remove].map(|way| way.edits(value)).concat();
        match self.extent {
            Extent::All if leaves(value).len() > MANY => return crowd::crowds(edits),
            Extent::All => {}
            Extent::Sample(most) => {
                fastrand::Rng::with_seed(self.seed.wrapping_add(at as u64)).shuffle(&mut edits);
                edits.truncate(most);
            }
        }
        edits.into_iter().map(|edit| vec![edit]).collect()
    }

    /// Ends what was made, last things first, and tells what was found.
    pub(crate) async fn end(mut self) -> Result<()> {
        let core = Core::new(K8sConnect::default());
        while let Some(Made { document, state }) = self.made.pop() {
            if let Err(failure) = core.destroy(OBJECT, &state).await {
                self.ledger.fail(&document.label, Stage::Destroying, &failure.to_string());
            }
        }
        heading("Refusals");
        for (words, times) in &self.refusals {
            line(&format!("{times:6} {words}"));
        }
        heading(&format!("{} edits: {}", self.sum.edits(), self.sum));
        Ok(())
    }
}

/// The edits of one document, taken by whoever has time.
struct Work {
    crowds: Vec<Vec<Edit>>,
    next: AtomicUsize,
    label: String,
    specimen: Specimen,
}

impl Work {
    /// A provider of its own for each worker: Terraform reads and plans an object once a process.
    async fn run(self: Arc<Self>) -> Vec<(Edit, Verdict)> {
        let mut found = Vec::new();
        loop {
            let n = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(crowd) = self.crowds.get(n) else {
                return found;
            };
            // A run of its own for each: one process is told of two replacements of one object by
            // two addresses only.
            let core = Core::new(K8sConnect::default());
            let verdicts = crowd::plan(&core, &self.specimen, crowd.clone()).await;
            for (edit, verdict) in &verdicts {
                // Told at once: the rest of the document may take an hour.
                match verdict {
                    Verdict::Swallowed(why) => line(&format!("{}: {edit}: {why}", self.label)),
                    Verdict::Unread(why) => {
                        line(&format!("{}: {edit}: not judged, nothing read: {why}", self.label));
                    }
                    _ => {}
                }
            }
            found.extend(verdicts);
        }
    }
}

/// A summary without the kind and the names in it.
fn shape(words: &str) -> String {
    let from = words.find('`').unwrap_or_default();
    let parts = words[from..].split('`').enumerate();
    parts.map(|(n, part)| if n % 2 == 0 { part } else { "`…`" }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_one_sort_are_counted_together() {
        assert_eq!(shape("Role `a/b` is refused"), "`…` is refused");
        assert_eq!(shape("Job `a`: `spec.x` cannot go"), "`…`: `…` cannot go");
        assert_eq!(shape("nothing named"), "nothing named");
    }
}
