//! Many cases in one configuration, each with an object and a rule of its own, walked through
//! plan and apply while the rules write, and judged afterwards.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use testkit::proxy::{Action, Fate, Proxy, Rule, Tally, Turn, Which};
use testkit::{Manifest, Run, Tool};

use super::tables::{Effect, How, Operation, RIVAL, Theirs};
use super::{Case, Expected, Gap, PARALLEL};
use crate::workspace::Workspace;

mod judge;
mod rival;

use judge::{covers, errors, is_ours, is_untouched, planned};
use rival::Meddler;

pub(super) struct Batch {
    at: Workspace,
    proxy: Proxy,
    entries: Vec<Entry>,
    problems: Vec<String>,
}

struct Entry {
    case: Case,
    /// Of the object, and in the resource's address.
    name: String,
    tally: Option<Tally>,
    /// The object that a rival put where ours should be.
    stranger: Arc<Mutex<Option<Value>>>,
}

/// What Terraform had to say, by the resource it said it of.
type Said = BTreeMap<String, Vec<Error>>;

struct Error {
    summary: String,
    detail: String,
}

impl Batch {
    pub(super) async fn new(tool: Tool, cases: Vec<Case>) -> Self {
        let at = Workspace::new(tool).await;
        let proxy = Proxy::before(at.cluster).await.unwrap();
        at.kubeconfig(&proxy.kubeconfig());
        let entry = |(number, case)| Entry {
            case,
            name: format!("case-{number:03}"),
            tally: None,
            stranger: Arc::default(),
        };
        let entries = cases.into_iter().enumerate().map(entry).collect();
        Self { at, proxy, entries, problems: Vec::new() }
    }

    /// Everything that was not as it must be.
    pub(super) async fn run(mut self) -> Vec<String> {
        self.prepare().await;
        self.interfere();
        let plan = self.terraform(&["plan", "-out=saved.tfplan"]).await;
        self.judge(&plan, Some(Expected::RefusedAtPlan));
        if plan.succeeded() {
            let apply = self.terraform(&["apply", "saved.tfplan"]).await;
            self.judge(&apply, Some(Expected::RefusedAtApply));
        }
        self.proxy.forget_rules();
        self.check_that_every_rule_fired();
        self.clear_away_strangers().await;
        self.converge().await;
        self.check_what_is_left().await;
        self.problems
    }

    /// Everything that is to be there before the operations begin.
    async fn prepare(&self) {
        let standing = |entry: &&Entry| entry.case.operation != Operation::Create;
        let resources: Vec<_> =
            self.entries.iter().filter(standing).map(|entry| self.before(entry)).collect();
        self.at.runner.write("main.tf", &resources.join("\n")).unwrap();
        self.at.init().await;
        self.at.runner.apply_with(&[PARALLEL]).await.unwrap().successful().unwrap();
        for entry in &self.entries {
            if entry.case.operation.drifts() {
                let specimen = entry.case.specimen;
                specimen.let_drift(self.at.cluster, self.namespace(), &entry.name).await;
            }
        }
        for entry in &self.entries {
            entry.case.specimen.at_rest(self.at.cluster, self.namespace(), &entry.name).await;
        }
        let resources: Vec<_> = self.entries.iter().map(|entry| self.wanted(entry)).collect();
        self.at.runner.write("main.tf", &resources.join("\n")).unwrap();
    }

    fn interfere(&mut self) {
        let namespace = self.at.namespace.name().to_owned();
        for entry in &mut self.entries {
            let Case { specimen, write, gap, .. } = entry.case;
            let meddler = Meddler {
                cluster: self.at.cluster,
                target: specimen.target(&namespace, &entry.name),
                ours: specimen.written(&namespace, &entry.name).object().unwrap(),
                how: write.how,
                stranger: Arc::clone(&entry.stranger),
            };
            let action = Action::new(move |_| meddler.clone().meddle());
            let (turn, fate) = match gap {
                Gap::Before(n) => (n, Fate::Before(action)),
                Gap::After(n) => (n, Fate::After(action)),
            };
            let which = Which::at(&specimen.path(&namespace, &entry.name));
            entry.tally = Some(self.proxy.rule(Rule::new(which, Turn::Nth(turn), fate)));
        }
    }

    async fn terraform(&self, arguments: &[&str]) -> Run {
        let (command, rest) = arguments.split_first().unwrap();
        let mut whole = vec![*command, "-json", "-input=false", PARALLEL];
        whole.extend(rest);
        self.at.runner.run(&whole).await.unwrap()
    }

    /// That just those cases are refused which are to be refused at this step, if any, in our
    /// own words.
    fn judge(&mut self, run: &Run, step: Option<Expected>) {
        let mut said = errors(run);
        for entry in &self.entries {
            let key = format!("{} `{}/{}`", entry.case.specimen.kind, self.namespace(), entry.name);
            let told = said.remove(&entry.case.specimen.address(&entry.name)).unwrap_or_default();
            let expected = Some(entry.case.expected) == step;
            let fine = if expected {
                !told.is_empty() && told.iter().all(|error| is_ours(error, &key))
            } else {
                told.is_empty()
            };
            if !fine {
                let told: Vec<_> = told.iter().map(Error::shown).collect();
                let told = if told.is_empty() { "no error".into() } else { told.join("\n") };
                let expected = entry.case.expected;
                let what = entry.case.describe();
                self.problems.push(format!("{what}: expected {expected:?}, got {told}"));
            }
        }
        let strays = said.values().flatten().map(Error::shown);
        self.problems.extend(strays.map(|error| format!("of no case: {error}")));
        // A run that broke before it could say anything in JSON.
        if !run.succeeded() && errors(run).is_empty() {
            self.problems.push(run.text.clone());
        }
    }

    fn check_that_every_rule_fired(&mut self) {
        for entry in &self.entries {
            let Some(tally) = &entry.tally else { continue };
            let what = entry.case.describe();
            let fired = tally.fired().len();
            if fired != 1 {
                self.problems.push(format!("{what}: written {fired} times"));
            }
            let failures = tally.failures();
            self.problems.extend(failures.iter().map(|why| format!("{what}: cannot write: {why}")));
        }
    }

    /// What others made in our place is as they made it; then they take it away. What they took
    /// from us, and we may not take back, they give up.
    async fn clear_away_strangers(&mut self) {
        for entry in &self.entries {
            if entry.case.write.effect == Effect::Contests {
                let named = entry.case.specimen.named(self.at.namespace.name(), &entry.name);
                self.at.cluster.act_as(RIVAL).force().apply(named).await.unwrap();
            }
            if !entry.case.leaves_a_stranger() {
                continue;
            }
            let made = entry.stranger.lock().unwrap().take();
            let target = entry.case.specimen.target(self.at.namespace.name(), &entry.name);
            let live = self.at.cluster.read(&target).await.unwrap();
            if !is_untouched(made.as_ref(), live.as_ref()) {
                let what = entry.case.describe();
                self.problems.push(format!(
                    "{what}: theirs was\n  {}\nand is\n  {}",
                    made.unwrap_or_default(),
                    live.unwrap_or_default()
                ));
            }
            self.at.cluster.delete(&target).await.unwrap();
        }
    }

    /// Without interference one apply settles everything.
    async fn converge(&mut self) {
        let apply = self.terraform(&["apply", "-auto-approve"]).await;
        self.judge(&apply, None);
        let plan = self.terraform(&["plan", "-detailed-exitcode"]).await;
        self.judge(&plan, None);
        let planned = planned(&plan);
        for entry in &self.entries {
            if let Some(change) = planned.get(&entry.case.specimen.address(&entry.name)) {
                let what = entry.case.describe();
                self.problems.push(format!("{what}: the last plan is not empty: {change}"));
            }
        }
    }

    /// What we want is there, and so is what others brought.
    async fn check_what_is_left(&mut self) {
        for entry in &self.entries {
            let Case { specimen, write, .. } = entry.case;
            let what = entry.case.describe();
            let target = specimen.target(self.at.namespace.name(), &entry.name);
            let live = self.at.cluster.read(&target).await.unwrap().unwrap_or_default();
            let mut wanted = self.body(entry).object().unwrap();
            // Spelt otherwise by the server.
            let cpu = "/spec/template/spec/containers/0/resources/limits/cpu";
            if let Some(cpu) = wanted.pointer_mut(cpu) {
                *cpu = "1".into();
            }
            for pointer in specimen.ignored {
                if let Some(ignored) = wanted.pointer_mut(pointer) {
                    *ignored = live.pointer(pointer).cloned().unwrap_or_default();
                }
            }
            if let Err(why) = covers(&live, &wanted) {
                self.problems.push(format!("{what}: ours is lost: {why}"));
            }
            let theirs = match (write.theirs, write.how) {
                (Theirs::Nothing, _) => continue,
                (Theirs::This(theirs), _) => theirs(),
                (
                    Theirs::AllOfIt,
                    How::Merge(patch)
                    | How::Strategic(patch)
                    | How::Status(patch)
                    | How::Apply(_, patch),
                ) => patch(),
                (Theirs::AllOfIt, _) => continue,
            };
            if let Err(why) = covers(&live, &theirs) {
                self.problems.push(format!("{what}: theirs is lost: {why}"));
            }
        }
    }

    fn namespace(&self) -> &str {
        self.at.namespace.name()
    }

    /// The body once the operation is done.
    fn body(&self, entry: &Entry) -> String {
        let Case { specimen, operation, .. } = entry.case;
        if operation.edits() {
            specimen.edited(self.namespace(), &entry.name)
        } else {
            specimen.written(self.namespace(), &entry.name)
        }
    }

    fn wanted(&self, entry: &Entry) -> String {
        entry.case.specimen.resource(&entry.name, &self.body(entry))
    }

    fn before(&self, entry: &Entry) -> String {
        let specimen = entry.case.specimen;
        specimen.resource(&entry.name, &specimen.written(self.namespace(), &entry.name))
    }
}
