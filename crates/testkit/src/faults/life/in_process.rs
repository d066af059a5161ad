//! The provider in this process, called as Terraform calls it: refresh and plan in one provider,
//! apply in another. State is what Terraform would have kept.

use serde_json::json;
use tfplugin::harness::{Action, Core, Failure, Outcome, PlanOutcome, State};
use tfplugin::{Capabilities, Diagnostics, Value};

use super::{Ended, Run, Start, Wish, value};
use crate::assets::Product;
use crate::faults::operation::{Operation, Resource};
use crate::proxy::{Proxy, Recorded};
use crate::terraform::Tool;

pub(in crate::faults) struct InProcess<'a> {
    pub(super) operation: &'a Operation,
    pub(super) start: &'a Start,
    pub(super) tool: Tool,
    pub(super) proxy: &'a Proxy,
    pub(super) state: Option<State>,
}

/// Ends a step early.
enum Stop {
    Told(Diagnostics),
    Broken(String),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused { diagnostics, .. } => Self::Told(diagnostics),
            Failure::Broken(rule) => Self::Broken(rule),
        }
    }
}

impl InProcess<'_> {
    /// Plans and applies, as `terraform apply` does; state is what Terraform would have kept.
    pub(super) async fn run(&mut self, wish: &Wish) -> Run {
        let from = self.proxy.requests().len();
        let planned = self.plan(wish).await;
        let mut planning = self.proxy.requests();
        planning.drain(..from);
        let (prior, plan, config) = match planned {
            Ok(Some(planned)) => planned,
            // Nothing to do, or a data source, which is read and that was it.
            Ok(None) => {
                return Run { ended: Ended::Well, planning, action: None, said: String::new() };
            }
            Err(stop) => return Run::stopped(stop, planning, None),
        };
        let action = Some(plan.action);
        let mut said = words(&plan.diagnostics);
        let ty = self.operation.resource.type_name();
        let applied = match self.provider().await {
            Ok(core) => core.apply(ty, &config, prior.as_ref(), &plan).await,
            Err(failure) => Err(failure),
        };
        match applied {
            Ok(Outcome { state, diagnostics }) => {
                self.state = state;
                said.push_str(&words(&diagnostics));
                Run { ended: Ended::Well, planning, action, said }
            }
            Err(Failure::Refused { diagnostics, stored }) => {
                self.state = stored.map(|state| *state);
                Run::stopped(Stop::Told(diagnostics), planning, action)
            }
            Err(broken) => Run::stopped(broken.into(), planning, action),
        }
    }

    /// Refreshes and plans: what is there now, what is to become of it, and by what configuration.
    async fn plan(&self, wish: &Wish) -> Result<Option<(Option<State>, PlanOutcome, Value)>, Stop> {
        let core = self.provider().await?;
        let ty = self.operation.resource.type_name();
        if let (Resource::Look, Wish::Have(config)) = (self.operation.resource, wish) {
            core.read_data(ty, &value(config)).await?;
            return Ok(None);
        }
        let mut prior = match &self.state {
            Some(state) => core.read(ty, state).await?.state,
            None => None,
        };
        let config = match wish {
            Wish::Gone => {
                let Some(prior) = prior else { return Ok(None) };
                let plan = core.plan_destroy(ty, &prior).await?;
                return Ok(Some((Some(prior), plan, Value::Null)));
            }
            Wish::Have(config) => config,
            Wish::Import { id, then } => {
                if prior.is_none() {
                    prior = Some(core.import(ty, id).await?);
                }
                then
            }
        };
        let config = value(config);
        let plan = core.plan(ty, &config, prior.as_ref()).await?;
        Ok(Some((prior, plan, config)))
    }

    /// The newest Terraform hands the private state of a plan to its apply; OpenTofu does not.
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            write_only_attributes_allowed: true,
            store_planned_private: self.tool.product() != Product::OpenTofu,
            ..Capabilities::default()
        }
    }

    /// A provider that was just started and configured.
    async fn provider(&self) -> Result<Core, Failure> {
        let core = (self.start)().with_capabilities(self.capabilities());
        let block = json!({ "cluster": { "kubeconfig": self.proxy.kubeconfig() } });
        core.configure(value(&block)).await?;
        Ok(core)
    }
}

impl Run {
    fn stopped(stop: Stop, planning: Vec<Recorded>, action: Option<Action>) -> Self {
        let (ended, said) = match stop {
            Stop::Told(diagnostics) => {
                let said = words(&diagnostics);
                (Ended::Told(said.clone()), said)
            }
            Stop::Broken(rule) => (Ended::Broken(rule), String::new()),
        };
        Self { ended, planning, action, said }
    }
}

fn words(diagnostics: &Diagnostics) -> String {
    diagnostics.iter().map(|one| format!("{}\n{}\n", one.summary, one.detail)).collect()
}
