//! Cases: one operation, one request of it, one fault; run and judged.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value as Json;
use tfplugin::harness::Action;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::fault::Fault;
use super::judge::{self, Standing};
use super::life::{self, Ended, Life, Means, Run, Wish};
use super::operation::{Course, Operation, Place, Resource, Same};
use crate::assets::Product;
use crate::control_plane::ControlPlane;
use crate::namespace::TestNamespace;
use crate::proxy::{Action as Deed, Fate, Proxy, Recorded, Rule, Turn, Which};

/// Longer than any limit of the provider's own: what takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(180);

/// What a provider leaves on an object that it holds.
const ID: &str = "k8sconnect.terraform.io/";

/// Where cases are run, one at a time.
pub struct Scene {
    cluster: &'static ControlPlane,
    namespace: TestNamespace,
    proxy: Proxy,
    means: Means,
    count: AtomicU32,
}

#[derive(Clone)]
pub struct Case {
    pub operation: Arc<Operation>,
    /// Which request of the operation, counted from 1.
    pub n: u32,
    /// How it looked in peace.
    pub request: String,
    pub fault: Fault,
}

/// By this a case is called, and found again.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.operation.name, self.n, self.fault.name())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The run succeeded all the same.
    SatOut,
    /// The run failed in the provider's words, and the next one settled it.
    Told(String),
    /// Something that must hold did not.
    Broken(Vec<String>),
}

pub struct Report {
    pub case: Case,
    pub verdict: Verdict,
    pub took: Duration,
}

/// A part that leaves out no operation, no request and no fault, but most of their pairs; and what
/// takes a minute because the server is given that long to come back.
pub fn part(cases: Vec<Case>) -> Vec<Case> {
    let chosen = |case: &Case| match case.fault {
        Fault::Severed => false,
        // There are so few watches that chance would leave these out.
        Fault::WatchExpired | Fault::WatchGone | Fault::WatchClosed => true,
        fault => {
            let place = Fault::ALL.iter().position(|it| *it == fault).unwrap_or_default();
            (place + case.n as usize).is_multiple_of(11)
        }
    };
    cases.into_iter().filter(chosen).collect()
}

/// Runs the cases, each scene one at a time, and hands on what became of each as it comes.
pub async fn run(scenes: Vec<Scene>, cases: Vec<Case>, mut news: impl FnMut(Report)) {
    let queue = Arc::new((AtomicUsize::new(0), cases));
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for scene in scenes {
        let scene = Arc::new(scene);
        let (queue, tell) = (Arc::clone(&queue), tell.clone());
        tasks.spawn(async move {
            while let Some(case) = queue.1.get(queue.0.fetch_add(1, Ordering::Relaxed)) {
                let started = Instant::now();
                let (at, tried) = (Arc::clone(&scene), case.clone());
                // In a task of its own, so that a panic is a verdict and not the end of all.
                let ended = tokio::spawn(async move { at.try_case(&tried).await }).await;
                let verdict = match ended {
                    Ok(Ok(verdict)) => verdict,
                    Ok(Err(error)) => Verdict::Broken(vec![format!("{error:#}")]),
                    Err(panic) => Verdict::Broken(vec![panic.to_string()]),
                };
                let report = Report { case: case.clone(), verdict, took: started.elapsed() };
                if tell.send(report).is_err() {
                    return;
                }
            }
        });
    }
    drop(tell);
    while let Some(report) = told.recv().await {
        news(report);
    }
}

impl Scene {
    pub async fn new(cluster: &'static ControlPlane, means: Means) -> Result<Self> {
        let namespace = TestNamespace::new(cluster).await?;
        let proxy = Proxy::before(cluster).await?;
        if let Means::Tool(runner) = &means {
            life::ready(runner, &proxy.kubeconfig()).await?;
        }
        Ok(Self { cluster, namespace, proxy, means, count: AtomicU32::new(0) })
    }

    /// Whether faults of this sort can be put here.
    fn admits(&self, fault: Fault) -> bool {
        match self.means {
            Means::InProcess(..) => !fault.kills(),
            Means::Tool(_) => fault.kills(),
        }
    }

    /// OpenTofu does not say that it applies. A plan goes on without a webhook that cannot be reached,
    /// and so does the one that precedes a write, which OpenTofu refuses in words of its own.
    fn excused(&self, ended: Ended, fault: Fault) -> Ended {
        match (ended, &self.means) {
            (Ended::Broken(words), Means::InProcess(_, tool))
                if tool.product() == Product::OpenTofu
                    && fault == Fault::WebhookHangs
                    && words.contains("inconsistent final plan") =>
            {
                Ended::Told(words)
            }
            (ended, _) => ended,
        }
    }

    /// Where the provider runs.
    fn folder(&self) -> PathBuf {
        match &self.means {
            Means::InProcess(..) => PathBuf::new(),
            Means::Tool(runner) => runner.directory(),
        }
    }

    /// Runs an operation in peace, and answers with a case for each of its requests and each fault
    /// that can befall it.
    pub async fn learn(&self, operation: Operation) -> Result<Vec<Case>> {
        let operation = Arc::new(operation);
        let mut trial = Trial::prepare(self, &operation).await?;
        let from = self.proxy.requests().len();
        let run = trial.life.run(&trial.wish).await;
        ensure!(run.ended == Ended::Well, "`{}` in peace: {:?}", operation.name, run.ended);
        let requests = self.proxy.requests().split_off(from);
        trial.settle().await?;
        trial.end().await?;
        ensure!(trial.problems.is_empty(), "`{}` in peace: {:?}", operation.name, trial.problems);
        let mut cases = Vec::new();
        for (n, request) in (1..).zip(&requests) {
            let request_shown = shown(request, &trial.place);
            let faults = Fault::ALL.into_iter().filter(|fault| self.admits(*fault));
            for fault in faults.filter(|fault| fault.concerns(request)) {
                let operation = Arc::clone(&operation);
                cases.push(Case { operation, n, request: request_shown.clone(), fault });
            }
        }
        Ok(cases)
    }

    async fn try_case(&self, case: &Case) -> Result<Verdict> {
        let mut trial = Trial::prepare(self, &case.operation).await?;
        let rules = case.fault.rules(case.n, self.cluster, &trial.place, &self.folder());
        let tallies: Vec<_> = rules.into_iter().map(|rule| self.proxy.rule(rule)).collect();
        let run = tokio::time::timeout(PATIENCE, trial.life.run(&trial.wish));
        let mut run = run.await.context("the run hangs")?;
        run.ended = self.excused(run.ended, case.fault);
        trial.judge_disturbed(&run, case.fault).await?;
        if tallies.first().is_some_and(|tally| tally.fired().is_empty()) {
            trial.problems.push("the request never came, and the fault with it".to_owned());
        }
        if let Some(failure) = tallies.iter().find_map(|tally| tally.failures().pop()) {
            bail!("the fault could not be put there: {failure}");
        }
        self.proxy.forget_rules();
        trial.prompt();
        if run.ended != Ended::Well {
            trial.recover(case.fault).await?;
        }
        trial.settle().await?;
        trial.end().await?;
        Ok(match (trial.problems.is_empty(), run.ended) {
            (false, ended) => {
                trial.problems.push(format!("the disturbed run had ended: {ended:?}"));
                Verdict::Broken(trial.problems)
            }
            (true, Ended::Told(words)) => Verdict::Told(words),
            (true, _) => Verdict::SatOut,
        })
    }
}

/// `patch (dry-run) …/configmaps/NAME`: a request without what differs from run to run.
fn shown(request: &Recorded, place: &Place) -> String {
    let path = request.path.replace(&place.namespace, "NS").replace(&place.name, "NAME");
    format!("{} {path}", request.in_short())
}

/// Whether a write of that moment can have made what nobody knows of.
fn leaves_what_it_made(fault: Fault) -> bool {
    fault.kills() || fault == Fault::Severed
}

/// One operation on an object of its own.
struct Trial<'a> {
    scene: &'a Scene,
    operation: &'a Operation,
    place: Place,
    wish: Wish,
    life: Life<'a>,
    /// The object before anything of ours was on it.
    pristine: Option<Standing>,
    /// The object right before the operation.
    before: Option<Standing>,
    /// How many connections to the proxy were open before anything was done.
    connections: usize,
    problems: Vec<String>,
}

impl<'a> Trial<'a> {
    async fn prepare(scene: &'a Scene, operation: &'a Operation) -> Result<Self> {
        let cluster = scene.cluster;
        scene.proxy.forget_rules();
        let connections = scene.proxy.open_connections();
        let name = format!("it-{}", scene.count.fetch_add(1, Ordering::Relaxed));
        let place = operation.place(scene.namespace.name(), &name);
        if let Means::Tool(runner) = &scene.means {
            life::forget(&runner.directory())?;
        }
        let mut life = Life::new(&scene.means, operation, &scene.proxy);
        if let Some(given) = operation.given {
            let given = place.object(given(&place));
            cluster.act_as(super::operation::FORMER).apply(given).await?;
            judge::enter_bystander(cluster, &place).await?;
        }
        let pristine = Standing::of(cluster, &place).await?;
        if let Some(before) = operation.before {
            let run = life.run(&Wish::Have(before(&place))).await;
            ensure!(run.ended == Ended::Well, "in peace, beforehand: {:?}", run.ended);
            if pristine.is_none() {
                judge::enter_bystander(cluster, &place).await?;
            }
        }
        let before = Standing::of(cluster, &place).await?;
        let wish = Wish::of(operation.course, &place);
        let problems = Vec::new();
        let trial =
            Self { scene, operation, place, wish, life, pristine, before, connections, problems };
        trial.prompt();
        Ok(trial)
    }

    /// Lets somebody write what is waited for, once it is.
    fn prompt(&self) {
        let Some(prompt) = self.operation.prompt else { return };
        let (worker, target) = (self.scene.cluster.act_as("worker"), self.place.target());
        let patch = prompt(&self.place);
        let deed = Deed::new(move |_| {
            let (worker, target, patch) = (worker.clone(), target.clone(), patch.clone());
            async move { worker.merge_patch(&target, patch).await.map(drop) }
        });
        let watches = Which::any().watches();
        self.scene.proxy.rule(Rule::new(watches, Turn::Nth(1), Fate::Before(deed)));
    }

    async fn live(&self) -> Result<Option<Json>> {
        self.scene.cluster.read(&self.place.target()).await
    }

    /// What must hold right after a run that was disturbed.
    async fn judge_disturbed(&mut self, run: &Run, fault: Fault) -> Result<()> {
        if let Ended::Broken(rule) = &run.ended {
            self.problems.push(rule.clone());
        }
        judge::words(&run.said, &mut self.problems);
        judge::plan_wrote_nothing(&run.planning, &mut self.problems);
        let live = self.live().await?;
        if self.is_held(live.as_ref()) && !self.life.remembers() {
            match (&self.operation.course, &run.ended) {
                (Course::Destroy, Ended::Well) => {
                    self.problems.push("destroy succeeded with the object there".to_owned());
                }
                // Nobody could have told state of what was made at that moment.
                _ if leaves_what_it_made(fault) && !self.is_known_before(live.as_ref()) => {}
                _ => self.problems.push("state does not know of what bears our mark".to_owned()),
            }
        }
        if let (Some(before), Some(now)) =
            (&self.before, Standing::of(self.scene.cluster, &self.place).await?)
        {
            judge::bystanders(before, &now, &mut self.problems);
        }
        Ok(())
    }

    /// Whether this very object was in state before the operation.
    fn is_known_before(&self, live: Option<&Json>) -> bool {
        let uid = live.map(|object| &object["metadata"]["uid"]);
        self.operation.before.is_some()
            && self.before.as_ref().is_some_and(|before| uid.is_some_and(|uid| *uid == before.uid))
    }

    /// Runs again in peace. What was made and never came to be known must be named by the plan,
    /// and be taken over by `adopt` as it is.
    async fn recover(&mut self, fault: Fault) -> Result<()> {
        let live = self.live().await?;
        let is_left_over = !self.life.remembers() && self.is_held(live.as_ref());
        let again = self.life.run(&self.wish).await;
        let (Ended::Told(words) | Ended::Broken(words)) = again.ended else { return Ok(()) };
        let adopting = self.wish.adopting().filter(|_| is_left_over && leaves_what_it_made(fault));
        let Some(adopting) = adopting else {
            self.problems.push(format!("run again in peace, it fails: {words}"));
            return Ok(());
        };
        if !words.contains(&self.place.name) || !words.contains("adopt") {
            self.problems.push(format!("what is left over is not named: {words}"));
        }
        self.wish = adopting;
        let settled = self.life.run(&self.wish).await;
        if settled.ended != Ended::Well {
            self.problems.push(format!("`adopt` does not settle it: {:?}", settled.ended));
        }
        let uid = |object: Option<Json>| object.map(|object| object["metadata"]["uid"].clone());
        let (left, now) = (uid(live), uid(self.live().await?));
        if left != now {
            self.problems.push(format!("`adopt` made {now:?} of {left:?}"));
        }
        Ok(())
    }

    /// Whether the object bears a mark of ours.
    fn is_held(&self, live: Option<&Json>) -> bool {
        let marks = live.map(|object| object["metadata"]["annotations"].to_string());
        marks.is_some_and(|marks| marks.contains(ID))
    }

    /// That one more run has nothing to do, and that all is as it should be.
    async fn settle(&mut self) -> Result<()> {
        let run = self.life.plan(&self.wish).await;
        match (&run.ended, run.action) {
            (Ended::Well, None | Some(Action::NoOp)) => {}
            (ended, action) => {
                self.problems.push(format!("the last plan is not empty: {action:?}, {ended:?}"));
            }
        }
        judge::words(&run.said, &mut self.problems);
        let operation = self.operation;
        let live = self.live().await?;
        match (operation.wanted, &live) {
            (Some(wanted), Some(object)) => {
                judge::holds(object, &wanted(&self.place), &mut self.problems);
            }
            (Some(_), None) => self.problems.push("the object is gone".to_owned()),
            (None, Some(_)) => self.problems.push("the object is still there".to_owned()),
            (None, None) => {}
        }
        if let (Some(before), Some(now)) =
            (&self.before, Standing::of(self.scene.cluster, &self.place).await?)
        {
            let same = if before.uid == now.uid { Same::Object } else { Same::Replaced };
            if same != operation.same {
                self.problems.push(format!("{same:?}, where {:?} was wanted", operation.same));
            }
            judge::bystanders(before, &now, &mut self.problems);
        }
        judge::nothing_else(self.scene.cluster, &self.place, &mut self.problems).await
    }

    /// That a destroy in peace leaves nothing of ours, and all of others'.
    async fn end(&mut self) -> Result<()> {
        let run = self.life.run(&Wish::Gone).await;
        if run.ended != Ended::Well {
            self.problems.push(format!("it cannot be destroyed: {:?}", run.ended));
        }
        let live = self.live().await?;
        match (self.operation.resource, &live, &self.pristine) {
            (Resource::Object, Some(_), _) => {
                self.problems.push("it outlives its destruction".to_owned());
            }
            (Resource::Patch, Some(object), Some(pristine)) => {
                judge::handed_back(pristine, object, &mut self.problems);
            }
            (Resource::Patch, None, _) => {
                self.problems.push("the target of a patch is gone".to_owned());
            }
            _ => {}
        }
        if let Err(open) = self.scene.proxy.closed_down_to(self.connections).await {
            self.problems.push(format!("every provider of this case is gone, and {open}"));
        }
        self.scene.cluster.delete(&self.place.target()).await
    }
}
