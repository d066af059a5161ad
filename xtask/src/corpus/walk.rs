//! The walk of all documents together, in one configuration. A document that fails is taken out
//! of it, which lets Terraform destroy it, and the others go on.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::Value;
use testkit::specimens::documents::Tier;
use testkit::specimens::{Exhibit, Exhibition, Place, Step, edited, scalars};
use testkit::{ControlPlane, PlanOutcome, Runner, Target, respell};

use super::files::Document;
use super::ledger::{Ledger, Stage};
use super::tool::{Said, difference};
use crate::screen::{line, seconds};

/// How the provider says that an edit comes to nothing.
const NOT_TAKEN: &str = "does not take the change";

/// How many leaves of a document are tried until one can be edited in place.
const DRAWS: usize = 12;

pub(crate) struct Walk<'a> {
    runner: &'a Runner,
    cluster: &'a ControlPlane,
    exhibition: &'a Exhibition<'a>,
    seed: u64,
    ledger: &'a mut Ledger,
    documents: Vec<Document>,
    initialised: bool,
    at: Instant,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        runner: &'a Runner,
        cluster: &'a ControlPlane,
        exhibition: &'a Exhibition<'a>,
        seed: u64,
        ledger: &'a mut Ledger,
    ) -> Self {
        let (documents, initialised, at) = (Vec::new(), false, Instant::now());
        Self { runner, cluster, exhibition, seed, ledger, documents, initialised, at }
    }

    /// Applies more documents; then nothing may be planned, nor after they are respelled.
    pub(crate) async fn add(&mut self, documents: Vec<Document>) -> Result<()> {
        let before = self.documents.len();
        self.documents.extend(documents);
        self.apply(Stage::Applying).await?;
        self.ledger.applied += self.documents.len().saturating_sub(before);
        self.progress("applied");
        self.must_be_settled(Stage::PlanAfterApply).await?;
        for (position, document) in self.documents.iter_mut().enumerate() {
            let exhibit = &mut document.exhibit;
            exhibit.text = respell(&exhibit.value, self.seed.wrapping_add(position as u64));
        }
        self.must_be_settled(Stage::PlanRespelled).await?;
        self.progress("planned empty, respelled, planned empty");
        Ok(())
    }

    /// Edits one leaf of each document of these tiers, plans, applies and plans again.
    pub(crate) async fn edit(&mut self, tiers: &[Tier]) -> Result<()> {
        let mut draws = Draws::new(&self.documents, tiers, self.seed);
        if draws.0.is_empty() {
            return Ok(());
        }
        let spelt: BTreeMap<_, _> = self
            .documents
            .iter()
            .map(|document| (document.exhibit.address(), document.exhibit.clone()))
            .collect();
        let all: BTreeSet<String> = draws.0.keys().cloned().collect();
        let mut asked = all.clone();
        let mut rounds = 0;
        loop {
            rounds += 1;
            for document in &mut self.documents {
                let address = document.exhibit.address();
                if let (Some(former), Some(draw)) = (spelt.get(&address), draws.0.get(&address)) {
                    document.exhibit = draw.exhibit(former);
                }
            }
            let redrawn = self.plan_edits(&asked, &mut draws).await?;
            // What was drawn again is tried alone; in the end all are planned together.
            match (redrawn.is_empty(), asked == all) {
                (true, true) => break,
                (true, false) => asked.clone_from(&all),
                (false, _) => asked = redrawn,
            }
        }
        let edited = draws.0.values().filter(|draw| draw.place().is_some()).count();
        let applied = self.runner.apply_planned().await?;
        if !applied.succeeded() {
            self.apply(Stage::ApplyingEdit).await?;
        }
        self.ledger.edited += edited;
        self.progress(&format!("{edited} edited, planned in {rounds} rounds, applied"));
        self.must_be_settled(Stage::PlanAfterEdit).await?;
        self.progress("planned empty");
        Ok(())
    }

    pub(crate) async fn destroy(&mut self) -> Result<()> {
        let run = self.runner.run(&["destroy", "-input=false", "-auto-approve", "-json"]).await?;
        let said = Said::in_lines(&run.text);
        for document in &self.documents {
            let target = Target::of(&document.exhibit.value)?;
            let address = document.exhibit.address();
            if let Some(error) = said.errors.get(&address) {
                self.ledger.fail(&document.label, Stage::Destroying, error);
            } else if let Ok(Some(left)) = self.cluster.read(&target).await {
                let reason = format!("it is still there: {}", left["metadata"]);
                self.ledger.fail(&document.label, Stage::Destroying, &reason);
            }
        }
        if !run.succeeded() && self.ledger.is_clean() {
            bail!("`destroy` failed:\n{}", run.text);
        }
        self.progress("destroyed");
        Ok(())
    }

    fn show(&self) -> Result<()> {
        let exhibits: Vec<Exhibit> =
            self.documents.iter().map(|document| document.exhibit.clone()).collect();
        self.exhibition.show(&exhibits)
    }

    /// Applies until nothing fails any more, taking out what does.
    async fn apply(&mut self, stage: Stage) -> Result<()> {
        let mut awaited = BTreeSet::new();
        loop {
            self.show()?;
            if !self.initialised {
                self.runner.init().await?.successful()?;
                self.initialised = true;
            }
            let run = self.runner.apply_with(&["-json"]).await?;
            if run.succeeded() {
                return Ok(());
            }
            let mut said = Said::in_lines(&run.text);
            // The account that pods run as comes some time after the namespace.
            let early = said.errors.extract_if(.., |address, error| {
                error.contains("service account") && awaited.insert(address.clone())
            });
            if early.count() > 0 && said.errors.is_empty() {
                continue;
            }
            self.take_out(stage, &said.errors).await?;
        }
    }

    /// Plans, and takes out whatever is planned for.
    async fn must_be_settled(&mut self, stage: Stage) -> Result<()> {
        self.show()?;
        let plan = self.runner.plan_with(&["-json"]).await?;
        let said = Said::in_lines(&plan.text);
        let found = match plan.outcome {
            PlanOutcome::NoChanges => return Ok(()),
            PlanOutcome::Failed => said.errors,
            PlanOutcome::Changes => {
                let planned = self.runner.planned().await?;
                let told = said.actions.keys();
                told.map(|address| (address.clone(), difference(&planned, address))).collect()
            }
        };
        self.take_out(stage, &found).await?;
        self.apply(stage).await
    }

    async fn take_out(&mut self, stage: Stage, found: &BTreeMap<String, String>) -> Result<()> {
        let mut progress = false;
        for (address, reason) in found {
            let at = self.documents.iter().position(|one| one.exhibit.address() == *address);
            match at {
                Some(at) => {
                    let document = self.documents.remove(at);
                    self.ledger.fail(&document.label, stage, reason);
                }
                // It failed before, and now it cannot be destroyed either.
                None if address.starts_with("k8sconnect_object.") => {
                    self.runner.state(&["rm", address]).await?;
                }
                None => continue,
            }
            progress = true;
        }
        if !progress {
            bail!("Terraform fails, and names no document that would be at fault: {found:#?}");
        }
        Ok(())
    }

    /// Plans the edits of some documents. Where one is refused or would replace, another is drawn:
    /// answers with those; and tells of what is swallowed.
    async fn plan_edits(
        &mut self,
        asked: &BTreeSet<String>,
        draws: &mut Draws,
    ) -> Result<BTreeSet<String>> {
        self.show()?;
        let mut flags = vec!["-json".to_owned()];
        if asked.len() < draws.0.len() {
            flags.extend(asked.iter().map(|address| format!("-target={address}")));
        }
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let plan = self.runner.plan_with(&flags).await?;
        let said = Said::in_lines(&plan.text);
        let others: BTreeMap<_, _> =
            said.errors.iter().filter(|(address, _)| !draws.0.contains_key(*address)).collect();
        if !others.is_empty() {
            bail!("a plan of edits fails for what was not edited: {others:#?}");
        }
        let mut redrawn = BTreeSet::new();
        for document in &self.documents {
            let address = document.exhibit.address();
            let Some(draw) = draws.0.get_mut(&address).filter(|_| asked.contains(&address)) else {
                continue;
            };
            let Some(place) = draw.place().cloned() else {
                continue;
            };
            let error = said.errors.get(&address).map(String::as_str);
            match (error, said.actions.get(&address).map(String::as_str)) {
                (Some(reason), _) => draw.again(reason),
                // A plan that failed elsewhere says nothing of this one yet.
                _ if plan.outcome == PlanOutcome::Failed => continue,
                (None, Some("update")) => continue,
                (None, Some(other)) => draw.again(&format!("`{place}` would {other} it")),
                (None, None) => match said.warnings.get(&address) {
                    // The server drops it, which is told.
                    Some(words) if words.contains(NOT_TAKEN) => draw.again(words),
                    _ => {
                        let words = format!("`{place}` was edited, and nothing is planned");
                        self.ledger.fail(&document.label, Stage::Editing, &words);
                        draw.give_up();
                    }
                },
            }
            if let (None, Some(reason)) = (draw.place(), &draw.refusal) {
                self.ledger.leave_unedited(&document.label, reason);
            }
            redrawn.insert(address);
        }
        Ok(redrawn)
    }

    fn progress(&mut self, what: &str) {
        line(&format!("{what} ({})", seconds(self.at.elapsed())));
        self.at = Instant::now();
    }
}

/// The leaves to try, by address.
struct Draws(BTreeMap<String, Draw>);

impl Draws {
    fn new(documents: &[Document], tiers: &[Tier], seed: u64) -> Self {
        let mut draws = BTreeMap::new();
        let edited = documents.iter().filter(|one| tiers.contains(&one.exhibit.tier()));
        for (position, document) in edited.enumerate() {
            let mut rng = fastrand::Rng::with_seed(seed.wrapping_add(position as u64));
            let mut places = scalars(&document.exhibit.value);
            places.retain(|place| harmless(&document.exhibit.value, place));
            rng.shuffle(&mut places);
            places.truncate(DRAWS);
            draws.insert(document.exhibit.address(), Draw { places, refusal: None });
        }
        Self(draws)
    }
}

struct Draw {
    /// The last is the one in hand.
    places: Vec<Place>,
    /// Why the last edit would not do.
    refusal: Option<String>,
}

impl Draw {
    fn place(&self) -> Option<&Place> {
        self.places.last()
    }

    fn again(&mut self, reason: &str) {
        self.places.pop();
        self.refusal = Some(reason.to_owned());
    }

    fn give_up(&mut self) {
        self.places.clear();
        self.refusal = None;
    }

    fn exhibit(&self, former: &Exhibit) -> Exhibit {
        let Some(place) = self.place() else {
            return former.clone();
        };
        let value = edited(&former.value, place);
        let text = respell(&value, 0);
        Exhibit { name: former.name.clone(), value, text }
    }
}

/// Whether the edit leaves the other documents, and the end of this one, alone: another identity is
/// another object, a finalizer of nobody's is never removed, and a version that is not served takes
/// the kind away from those who use it.
fn harmless(object: &Value, place: &Place) -> bool {
    let named = |name: &str| place.0.contains(&Step::Key(name.to_owned()));
    let serving = object["kind"] == "CustomResourceDefinition" && named("served");
    !(place.is_identity() || named("finalizers") || serving)
}
