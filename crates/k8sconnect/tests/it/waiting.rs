//! Waits, called in process.

mod driver;
mod goals;
mod same_run;
mod state;

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use testkit::Filter;
use tfplugin::harness::{Failure, State};
use tfplugin::{Data, Value};

use crate::world::World;

pub(crate) const WAIT: &str = "k8sconnect_wait";

fn map(entries: &[(&str, &str)]) -> Value {
    let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value)));
    Value::Known(Data::Map(entries.collect()))
}

/// A wait for an object of the test's namespace.
struct Wait<'a> {
    world: &'a World,
    kubeconfig: String,
    kind: (&'a str, &'a str),
    name: &'a str,
    namespace: String,
    goal: Vec<(&'static str, Value)>,
    triggers: Value,
}

impl<'a> Wait<'a> {
    fn new(world: &'a World, kind: (&'a str, &'a str), name: &'a str) -> Self {
        let kubeconfig = world.kubeconfig().to_owned();
        let namespace = world.namespace.name().to_owned();
        Self { world, kubeconfig, kind, name, namespace, goal: vec![], triggers: Value::Null }
    }

    fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.goal.push((name, value.into()));
        self
    }

    fn config(&self) -> Value {
        let object = Data::object([
            ("api_version", Value::from(self.kind.0)),
            ("kind", Value::from(self.kind.1)),
            ("name", Value::from(self.name)),
            ("namespace", Value::from(self.namespace.as_str())),
        ]);
        let cluster = Data::object([("kubeconfig", Value::from(self.kubeconfig.as_str()))]);
        Value::Known(Data::object([
            ("object_ref", Value::Known(object)),
            ("wait_for", Value::Known(Data::object(self.goal.clone()))),
            ("triggers", self.triggers.clone()),
            ("cluster", Value::Known(cluster)),
        ]))
    }

    async fn done(&self) -> Result<State, Failure> {
        self.world.core().create(WAIT, &self.config()).await
    }

    /// What is said when it fails, and how long it took.
    async fn fails(&self) -> (String, Duration) {
        let started = Instant::now();
        let failure = self.done().await.unwrap_err();
        assert!(failure.stored().is_none(), "a failed wait leaves nothing in state");
        let told = failure.diagnostics();
        let said: Vec<_> =
            told.iter().map(|one| format!("{}\n{}", one.summary, one.detail)).collect();
        (said.join("\n"), started.elapsed())
    }
}

/// Until something has happened, in good time.
async fn until(happened: impl AsyncFn() -> bool) {
    for _ in 0..600 {
        if happened().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it did not happen within 30 s");
}

/// Until a user has asked for this path.
async fn asked(world: &World, user: &str, path: &str) {
    until(async || {
        let requests = world.cluster.requests(Filter::by_user(user)).await.unwrap();
        requests.iter().any(|request| request.path() == path)
    })
    .await;
}

#[track_caller]
fn says(text: &str, words: &str) {
    assert!(text.contains(words), "`{words}` was not said:\n{text}");
}

async fn config_map(world: &World, name: &str, data: Json) {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": world.namespace.name()}, "data": data,
    });
    world.cluster.act_as("somebody").create(object).await.unwrap();
}

/// A Deployment whose pods fare as `how` says.
async fn deployment(world: &World, name: &str, how: Option<&str>, replicas: u32) {
    let annotations = how.map_or_else(|| json!({}), |how| json!({"testkit/pod": how}));
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": world.namespace.name()},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": annotations},
                "spec": {"containers": [{"name": "app", "image": "shop/app:9"}]},
            },
        },
    });
    world.cluster.act_as("somebody").force().apply(object).await.unwrap();
}

fn result(state: &State) -> String {
    format!("{:?}", state.attribute("result"))
}

const DEPLOYMENT: (&str, &str) = ("apps/v1", "Deployment");
const CONFIG_MAP: (&str, &str) = ("v1", "ConfigMap");
