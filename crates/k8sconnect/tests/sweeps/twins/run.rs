//! Runs one story on an object of the provider and on its twin.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use k8sconnect::K8sConnect;
use k8sconnect_core::field::walk::{at, at_written_mut};
use k8sconnect_core::owners::Owners;
use serde_json::{Value as Json, json};
use testkit::sweep::{OBJECT, configuration};
use testkit::twins::body_of_twin;
use testkit::{Filter, Target};
use tfplugin::harness::{Action, Core, Failure, State};

use super::Twins;
use super::judge::{self, Applied, Fault, fault, text, warnings};
use super::kinds::{Kind, SPELLINGS, Written};
use super::story::{Round, Story, written_into};

/// The field manager of both twins.
pub(super) const MANAGER: &str = "k8sconnect";

/// A story while it runs. Twin 0 is the provider's, twin 1 is `kubectl`'s.
pub(super) struct Run<'a> {
    pub(super) twins: &'a Twins,
    pub(super) kind: Kind,
    name: String,
    kubeconfig: String,
    body: BTreeMap<&'static str, &'static Json>,
    state: Option<State>,
    writes: usize,
}

/// The outcome of one apply by the provider.
enum Ours {
    Refused(String),
    Done(Action),
}

pub(super) async fn run(twins: &Twins, story: &Story) -> Result<(), Fault> {
    let name = format!("it-{}", twins.objects.fetch_add(1, Ordering::Relaxed));
    let user = format!("user-of-{name}-{}", twins.namespaces[0]);
    let kubeconfig = twins.cluster.kubeconfig_for(&user, Some("system:masters")).unwrap();
    let (kind, body) = (story.kind(), BTreeMap::new());
    let mut run = Run { twins, kind, name, kubeconfig, body, state: None, writes: 0 };
    let all = async {
        for (n, round) in story.rounds.iter().enumerate() {
            let outcome = run.round(round).await;
            outcome.map_err(|it| Fault { facts: format!("in round {n}: {}", it.facts), ..it })?;
        }
        Ok(())
    };
    let (outcome, requests) =
        twins.cluster.count_during(Filter::by_user(&user), all).await.unwrap();
    outcome?;
    let writes = requests.iter().filter(|request| request.writes()).count();
    match writes == run.writes {
        true => Ok(()),
        false => fault("more writes than applies", format!("{writes}, not {}", run.writes)),
    }
}

impl Run<'_> {
    pub(super) fn target(&self, twin: usize) -> Target {
        let api_version = self.kind.api_version().replace("GROUP", &self.twins.group());
        let namespace = self.twins.namespaces[twin].name();
        Target::new(&api_version, self.kind.name(), namespace, &self.name)
    }

    pub(super) async fn live(&self, twin: usize) -> Option<Json> {
        self.twins.cluster.read(&self.target(twin)).await.unwrap()
    }

    /// An object with these fields; `base` has the fields of every such object.
    pub(super) fn object(&self, twin: usize, base: Json, written: &[Written]) -> Json {
        let Target { api_version, kind, namespace, name } = self.target(twin);
        let mut object = base;
        object["apiVersion"] = json!(api_version);
        object["kind"] = json!(kind);
        object["metadata"] = json!({"name": name, "namespace": namespace});
        written_into(object, written)
    }

    /// The user's body.
    pub(super) fn body(&self, twin: usize) -> Json {
        let written: Vec<_> = self.body.iter().map(|(at, value)| (*at, *value)).collect();
        self.object(twin, self.kind.base(), &written)
    }

    async fn round(&mut self, round: &Round) -> Result<(), Fault> {
        for other in &round.others {
            self.other_writes(other).await?;
        }
        let former = self.body.clone();
        for (at, value) in &round.edits {
            match value {
                Some(value) => self.body.insert(at, value),
                None => self.body.remove(at),
            };
        }
        let before = self.live(0).await;
        match (self.provider_applies(before.as_ref()).await?, self.kubectl_applies().await) {
            (Ours::Refused(_), Err(_)) => {
                self.body = former;
                Ok(())
            }
            (Ours::Refused(why), Ok(())) => fault("only the provider refuses", why),
            (Ours::Done(action), Err(why)) => {
                fault("only kubectl is refused", format!("{action:?}, {why}"))
            }
            (Ours::Done(action), Ok(())) => {
                let [ours, theirs] = [self.live(0).await.unwrap(), self.live(1).await.unwrap()];
                judge::twins_are_equal(&ours, &theirs, action)?;
                self.next_plan_is_empty().await
            }
        }
    }

    /// Plans in one process and applies in another one, as Terraform does.
    async fn provider_applies(&mut self, before: Option<&Json>) -> Result<Ours, Fault> {
        let body = self.body(0);
        let config = configuration(&self.kubeconfig, &body.to_string());
        let core = Core::new(K8sConnect::default());
        let prior = match &self.state {
            Some(state) => core.read(OBJECT, state).await.map_err(|it| broken("read", &it))?.state,
            None => None,
        };
        self.state.clone_from(&prior);
        let prior = prior.as_ref();
        let plan = match core.plan(OBJECT, &config, prior).await {
            Ok(plan) => plan,
            Err(refused @ Failure::Refused { .. }) => {
                return Ok(Ours::Refused(text(&refused.diagnostics())));
            }
            Err(failure) => return Err(broken("plan", &failure)),
        };
        match plan.action {
            Action::NoOp => {
                judge::nothing_is_announced(&plan)?;
                return Ok(Ours::Done(Action::NoOp));
            }
            // `kubectl` is refused where the provider plans a replacement.
            Action::Replace => return Ok(Ours::Refused("a replacement is planned".to_owned())),
            _ => self.writes += 1,
        }
        let core = Core::new(K8sConnect::default());
        let outcome = core.apply(OBJECT, &config, prior, &plan).await;
        self.state = outcome.map_err(|it| broken("apply", &it))?.state;
        let after = self.live(0).await.unwrap();
        let before = before.unwrap_or(&Json::Null);
        Applied { body: &body, before, after: &after, prior, plan: &plan }.is_announced()?;
        Ok(Ours::Done(plan.action))
    }

    async fn kubectl_applies(&self) -> Result<(), String> {
        let ours = self.live(0).await;
        let namespace = self.twins.namespaces[1].name();
        let mut body = body_of_twin(&self.body(1), namespace, ours.as_ref());
        if let Some(live) = self.live(1).await {
            spell(&mut body, &live);
        }
        self.twins.kubectl.apply(&body, MANAGER).await.unwrap()
    }

    async fn next_plan_is_empty(&self) -> Result<(), Fault> {
        let Some(state) = &self.state else { return Ok(()) };
        let config = configuration(&self.kubeconfig, &self.body(0).to_string());
        let core = Core::new(K8sConnect::default());
        let read = core.read(OBJECT, state).await.and_then(|it| it.present());
        let read = read.map_err(|it| broken("read after the apply", &it))?;
        let plan = core.plan(OBJECT, &config, Some(&read)).await;
        let plan = plan.map_err(|it| broken("plan after the apply", &it))?;
        if plan.action == Action::NoOp && warnings(&plan.diagnostics).is_empty() {
            return Ok(());
        }
        let shown = |value| format!("{value:?}");
        let before = shown(read.attribute("managed_state_projection"));
        let after = shown(plan.planned.attribute("managed_state_projection").unwrap());
        let facts = format!("{:?}\n{}\n{before}\n{after}", plan.action, text(&plan.diagnostics));
        fault("the next plan is not empty", facts)
    }
}

fn broken(step: &str, failure: &Failure) -> Fault {
    let facts = match failure {
        Failure::Refused { diagnostics, .. } => format!("{step}: {}", text(diagnostics)),
        Failure::Broken(rule) => format!("{step}: {rule}"),
    };
    Fault { name: "a step fails", facts }
}

/// Where another manager owns a leaf with an equal value, the provider sends the server's spelling.
fn spell(body: &mut Json, live: &Json) {
    for owner in Owners::of_object(live).unwrap().others(MANAGER) {
        for path in owner.fields.leaves() {
            if let (Some(stored), Some(written)) = (at(live, &path), at_written_mut(body, &path)) {
                let text = written.as_str().map_or_else(|| written.to_string(), str::to_owned);
                if SPELLINGS.iter().any(|(one, other)| text == *one && stored == *other) {
                    *written = stored.clone();
                }
            }
        }
    }
}
