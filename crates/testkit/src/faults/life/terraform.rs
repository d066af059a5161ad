//! Real Terraform, on a configuration in JSON, which it reads as it reads its own language.

use std::path::Path;

use serde_json::{Map, Value as Json, json};
use tfplugin::harness::Action;

use super::{Ended, Run, Wish};
use crate::faults::operation::{Operation, Resource};
use crate::terraform::{PlanOutcome, Runner};

const MAIN: &str = "main.tf.json";
const STATE: &str = "terraform.tfstate";

pub(in crate::faults) struct Terraform<'a> {
    pub(super) operation: &'a Operation,
    pub(super) runner: &'a Runner,
}

impl Terraform<'_> {
    pub(super) async fn run(&self, wish: &Wish) -> Run {
        if let Err(error) = self.write(wish) {
            return Run::of(Ended::Broken(format!("{error:#}")), None, String::new());
        }
        match self.runner.apply().await {
            Ok(run) if run.succeeded() => Run::of(Ended::Well, None, run.text),
            Ok(run) => Run::of(Ended::Told(run.text.clone()), None, run.text),
            Err(error) => Run::of(Ended::Broken(format!("{error:#}")), None, String::new()),
        }
    }

    pub(super) async fn plan(&self, wish: &Wish) -> Run {
        if let Err(error) = self.write(wish) {
            return Run::of(Ended::Broken(format!("{error:#}")), None, String::new());
        }
        match self.runner.plan().await {
            Ok(plan) => match plan.outcome {
                PlanOutcome::NoChanges => Run::of(Ended::Well, Some(Action::NoOp), plan.text),
                PlanOutcome::Changes => {
                    // Which change it would be is in the text.
                    Run::of(Ended::Told(plan.text.clone()), Some(Action::Update), plan.text)
                }
                PlanOutcome::Failed => Run::of(Ended::Told(plan.text.clone()), None, plan.text),
            },
            Err(error) => Run::of(Ended::Broken(format!("{error:#}")), None, String::new()),
        }
    }

    pub(super) fn remembers(&self) -> bool {
        let text = std::fs::read_to_string(self.runner.directory().join(STATE));
        let state: Json =
            text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let resources = state["resources"].as_array().into_iter().flatten();
        resources.into_iter().any(|resource| resource["mode"] == "managed")
    }

    fn write(&self, wish: &Wish) -> anyhow::Result<()> {
        let address = format!("{}.it", self.operation.resource.type_name());
        let mut main = head();
        match wish {
            Wish::Gone => {}
            Wish::Have(config) => self.declare(&mut main, config),
            Wish::Import { id, then } => {
                self.declare(&mut main, then);
                main.insert("import".into(), json!([{ "to": address, "id": id }]));
            }
        }
        self.runner.write(MAIN, &Json::Object(main).to_string()).map(drop)
    }

    fn declare(&self, main: &mut Map<String, Json>, config: &Json) {
        let block = match self.operation.resource {
            Resource::Look => "data",
            Resource::Object | Resource::Patch | Resource::Wait => "resource",
        };
        let ty = self.operation.resource.type_name();
        main.insert(block.into(), json!({ ty: { "it": config } }));
    }
}

impl Run {
    fn of(ended: Ended, action: Option<Action>, said: String) -> Self {
        Self { ended, planning: Vec::new(), action, said }
    }
}

fn head() -> Map<String, Json> {
    let mut main = Map::new();
    let ours = json!({ "k8sconnect": { "source": "k8sconnect/k8sconnect" } });
    main.insert("terraform".into(), json!({ "required_providers": ours }));
    let cluster = json!({ "kubeconfig": "${file(\"kubeconfig\")}" });
    main.insert("provider".into(), json!({ "k8sconnect": { "cluster": cluster } }));
    main
}

/// Makes a folder ready for many cases: one `init` serves all.
pub(in crate::faults) async fn ready(runner: &Runner, kubeconfig: &str) -> anyhow::Result<()> {
    runner.write("kubeconfig", kubeconfig)?;
    runner.write(MAIN, &Json::Object(head()).to_string())?;
    runner.init().await?.successful().map(drop)
}

/// Forgets what a case left in state.
pub(in crate::faults) fn forget(folder: &Path) -> anyhow::Result<()> {
    for name in [STATE, "terraform.tfstate.backup", ".terraform.tfstate.lock.info"] {
        match std::fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}
