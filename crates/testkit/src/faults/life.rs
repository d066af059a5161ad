//! One resource of a user's, through runs that may fail, by either of two means: the provider in
//! this process, or a real tool with the provider in a process of its own.

mod in_process;
mod terraform;

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tfplugin::harness::{Action, Core};
use tfplugin::{Data, Value};

use self::in_process::InProcess;
use self::terraform::Terraform;
pub(super) use self::terraform::{forget, ready};
use super::operation::{Course, Operation, Place};
use crate::proxy::{Proxy, Recorded};
use crate::terraform::{Runner, Tool};

/// Starts a provider, as a new process would.
pub type Start = Arc<dyn Fn() -> Core + Send + Sync>;

/// Who runs the provider.
pub enum Means {
    /// This process, in the manner of one of the tools.
    InProcess(Start, Tool),
    /// The tool itself, in a folder of its own.
    Tool(Box<Runner>),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Well,
    /// With errors, in words for the user.
    Told(String),
    /// In a way that is never right, in Terraform's words.
    Broken(String),
}

/// What a user asks for.
#[derive(Clone)]
pub(super) enum Wish {
    Have(Json),
    Import { id: String, then: Json },
    Gone,
}

impl Wish {
    pub(super) fn of(course: Course, place: &Place) -> Self {
        match course {
            Course::Apply(config) => Self::Have(config(place)),
            Course::Destroy => Self::Gone,
            Course::Import(config) => {
                let target = place.target();
                let id = format!("{}/{}/{}", place.namespace, target.kind, place.name);
                Self::Import { id, then: config(place) }
            }
        }
    }

    /// The same, taking over what is there.
    pub(super) fn adopting(&self) -> Option<Self> {
        let Self::Have(config) = self else { return None };
        let mut config = config.clone();
        config["adopt"] = json!(true);
        Some(Self::Have(config))
    }
}

/// What one run came to.
pub(super) struct Run {
    pub(super) ended: Ended,
    /// What was asked for the plan, where that can be told apart.
    pub(super) planning: Vec<Recorded>,
    /// What was done, if it came so far.
    pub(super) action: Option<Action>,
    /// All that was said, warnings included.
    pub(super) said: String,
}

pub(super) enum Life<'a> {
    InProcess(InProcess<'a>),
    Terraform(Terraform<'a>),
}

impl<'a> Life<'a> {
    pub(super) fn new(means: &'a Means, operation: &'a Operation, proxy: &'a Proxy) -> Self {
        match means {
            Means::InProcess(start, tool) => {
                let (tool, state) = (*tool, None);
                Self::InProcess(InProcess { operation, start, tool, proxy, state })
            }
            Means::Tool(runner) => Self::Terraform(Terraform { operation, runner }),
        }
    }

    /// Plans and applies, as `terraform apply` does.
    pub(super) async fn run(&mut self, wish: &Wish) -> Run {
        match self {
            Self::InProcess(life) => life.run(wish).await,
            Self::Terraform(life) => life.run(wish).await,
        }
    }

    /// Plans what should be nothing. In process it is applied as well, which is then nothing.
    pub(super) async fn plan(&mut self, wish: &Wish) -> Run {
        match self {
            Self::InProcess(life) => life.run(wish).await,
            Self::Terraform(life) => life.plan(wish).await,
        }
    }

    /// Whether state holds the resource.
    pub(super) fn remembers(&self) -> bool {
        match self {
            Self::InProcess(life) => life.state.is_some(),
            Self::Terraform(life) => life.remembers(),
        }
    }
}

/// A value as Terraform would hand it over. Numbers are not needed.
pub fn value(json: &Json) -> Value {
    match json {
        Json::Bool(truth) => Value::from(*truth),
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::Known(Data::List(items.iter().map(value).collect())),
        Json::Object(entries) => {
            Value::Known(Data::object(entries.iter().map(|(name, it)| (name, value(it)))))
        }
        Json::Null | Json::Number(_) => Value::Null,
    }
}
