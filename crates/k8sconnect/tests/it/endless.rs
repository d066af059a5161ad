//! Servers that send too much, or never come to an end: each ends in an error that says so, and soon.

use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use serde_json::{Value as Json, json};
use testkit::Target;
use testkit::audit::Persistence;
use testkit::proxy::{Fate, Flood, Inventor, Proxy, Recorded, Reply, Rule, Tally, Turn, Which};
use tfplugin::harness::{Core, Failure, State};
use tfplugin::{Data, Value};

use crate::world::{OBJECT, World, value};

const SOON: Duration = Duration::from_secs(20);
const WAIT: &str = "k8sconnect_wait";
const OBJECTS: &str = "k8sconnect_objects";

struct Scene {
    world: World,
    proxy: Proxy,
    core: Core,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        let proxy = Proxy::before(world.cluster).await.unwrap();
        let core = world.core();
        Self { world, proxy, core }
    }

    fn cluster(&self) -> Json {
        json!({ "kubeconfig": self.proxy.kubeconfig() })
    }

    fn object(&self) -> Value {
        self.world.config_at(&self.cluster(), &self.world.config_map("settings"))
    }

    fn target(&self) -> Target {
        Target::new("v1", "ConfigMap", self.world.namespace.name(), "settings")
    }

    fn collection(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.world.namespace.name())
    }

    fn every(&self, which: Which, fate: Fate) -> Tally {
        self.proxy.rule(Rule::new(which, Turn::Every, fate))
    }

    fn list(&self) -> Value {
        value(&json!({ "cluster": self.cluster(), "api_version": "v1", "kind": "ConfigMap",
                       "namespace": self.world.namespace.name() }))
    }

    /// What is said of a list whose pages are invented.
    async fn listing(&self, page: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> String {
        let pages = Which::at(&self.collection()).method(Method::GET);
        self.every(pages, Fate::Invent(Inventor::new(page)));
        failed(self.core.read_data(OBJECTS, &self.list())).await
    }

    fn wait(&self, timeout: &str) -> Value {
        let object = json!({ "api_version": "v1", "kind": "ConfigMap", "name": "settings",
                             "namespace": self.world.namespace.name() });
        let goal = json!({ "field": "data.never", "timeout": timeout });
        value(&json!({ "cluster": self.cluster(), "object_ref": object, "wait_for": goal }))
    }
}

/// What is said where something fails, which it does soon.
async fn failed<T>(run: impl Future<Output = Result<T, Failure>>) -> String {
    let began = Instant::now();
    let Err(failure) = run.await else { panic!("it was done") };
    assert!(began.elapsed() < SOON, "it took {:?}", began.elapsed());
    let told = failure.diagnostics();
    let said: Vec<_> = told.iter().map(|one| format!("{}\n{}", one.summary, one.detail)).collect();
    said.join("\n")
}

#[track_caller]
fn says(told: &str, words: &str) {
    assert!(told.contains(words), "`{words}` was not said: {told}");
}

/// A ConfigMap of 1 GiB.
fn gigabyte() -> Fate {
    let beginning = r#"{"apiVersion":"v1","kind":"ConfigMap","data":{"a":""#;
    Fate::Flood(Flood::endless(beginning, &"x".repeat(1 << 16)).times(1 << 14))
}

async fn made(at: &Scene) -> State {
    at.core.create(OBJECT, &at.object()).await.unwrap()
}

#[tokio::test]
async fn an_object_of_a_gigabyte_is_not_read_to_its_end() {
    let at = Scene::new().await;
    let state = made(&at).await;
    let path = format!("{}/settings", at.collection());
    at.every(Which::at(&path).method(Method::GET), gigabyte());
    let told = failed(at.core.read(OBJECT, &state)).await;
    says(&told, "sent an answer of more than 8 MiB");

    at.proxy.forget_rules();
    let dry_runs = Which::at(&path).persistence(Persistence::DryRun).method(Method::PATCH);
    at.every(dry_runs, gigabyte());
    let told = failed(at.world.core().plan(OBJECT, &at.object(), None)).await;
    says(&told, "sent an answer of more than 8 MiB");
}

#[tokio::test]
async fn a_write_that_is_answered_with_a_gigabyte_may_have_been_carried_out() {
    let at = Scene::new().await;
    let config = at.object();
    let plan = at.core.plan(OBJECT, &config, None).await.unwrap();
    let writes = || Which::any().persistence(Persistence::Real).method(Method::PATCH);
    at.every(writes(), gigabyte());
    let told = failed(at.core.apply(OBJECT, &config, None, &plan)).await;
    says(&told, "sent an answer of more than 8 MiB");
    says(&told, "may have been created all the same");
    let path = format!("{}/settings", at.collection());
    assert!(!at.proxy.requests_since(0, &path).is_empty(), "it was looked for");
}

fn page(items: &[Json], token: &str) -> Reply {
    let metadata = json!({ "resourceVersion": "1", "continue": token });
    let page = json!({ "kind": "ConfigMapList", "apiVersion": "v1", "items": items,
                       "metadata": metadata });
    Reply::json(StatusCode::OK, &page)
}

#[tokio::test]
async fn a_list_without_an_end_is_given_up() {
    let at = Scene::new().await;
    let told = at.listing(|request| page(&[], &format!("t{}", request.sequence))).await;
    says(&told, "sent a list of more than 1000 pages");

    let at = Scene::new().await;
    let told = at.listing(|_| page(&[], "again")).await;
    says(&told, "sent a list that has no end");
    assert!(at.proxy.requests().len() < 10, "a token that leads back is noticed at once");

    let at = Scene::new().await;
    let told = at.listing(|request| page(&[], &format!("t{}", request.sequence % 3))).await;
    says(&told, "sent a list that has no end");
}

#[tokio::test]
async fn a_list_of_many_bytes_is_given_up() {
    let at = Scene::new().await;
    let large = json!({ "metadata": { "name": "a" }, "data": { "a": "x".repeat(1 << 20) } });
    let items = vec![large; 8];
    let told = at.listing(move |request| page(&items, &format!("t{}", request.sequence))).await;
    says(&told, "sent a list of more than 64 MiB");
    says(&told, "Ask for fewer objects");
}

#[tokio::test]
async fn a_page_that_never_ends_is_given_up() {
    let at = Scene::new().await;
    let piece = r#"{"metadata":{"name":"a"}},"#.repeat(1000);
    let pages = Which::at(&at.collection()).method(Method::GET);
    let asked = at.every(pages, Fate::Flood(Flood::endless(r#"{"items":["#, &piece)));
    let told = failed(at.core.read_data(OBJECTS, &at.list())).await;
    says(&told, "sent an answer of more than 16 MiB");
    let limits: Vec<_> = asked.fired().into_iter().map(|one| one.query).collect();
    assert_eq!(
        limits,
        ["limit=500", "limit=50", "limit=5", "limit=1"],
        "fewer objects may be smaller"
    );
}

#[tokio::test]
async fn large_objects_are_listed_in_smaller_pages() {
    let at = Scene::new().await;
    let writer = at.world.cluster.act_as("writer");
    for n in 0..20 {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": format!("large-{n:02}"), "namespace": at.world.namespace.name() },
            "data": { "a": "x".repeat(1_000_000) },
        });
        writer.create(object).await.unwrap();
    }
    let mut config = at.list();
    let Value::Known(Data::Object(attributes)) = &mut config else { panic!() };
    attributes.insert("field_selector".into(), "metadata.name!=kube-root-ca.crt".into());
    let (read, _) = at.core.read_data(OBJECTS, &config).await.unwrap();
    let Some(Value::Known(Data::Dynamic(_, objects))) = read.attribute("objects") else {
        panic!("there are objects")
    };
    let names = format!("{objects:?}").matches("large-").count();
    assert_eq!(names, 20);
    let pages = at.proxy.requests_since(0, &at.collection());
    assert!(pages.iter().any(|page| page.query.contains("limit=5&")), "{pages:?}");
}

#[tokio::test]
async fn a_watch_event_without_an_end_is_given_up() {
    let at = Scene::new().await;
    made(&at).await;
    let line = Flood::endless(r#"{"type":"MODIFIED","object":{"a":""#, &"x".repeat(1 << 14));
    at.every(Which::any().watches(), Fate::Flood(line));
    let told = failed(at.core.create(WAIT, &at.wait("1m"))).await;
    says(&told, "sent a watch event of more than 8 MiB");
}

#[tokio::test]
async fn a_watch_that_always_has_something_to_say_does_not_outlast_the_wait() {
    let bookmark = json!({ "type": "BOOKMARK", "object": { "kind": "ConfigMap",
        "metadata": { "resourceVersion": "1" } } });
    for event in [bookmark.to_string(), "\n".to_owned()] {
        let at = Scene::new().await;
        made(&at).await;
        let events = Flood::endless("", &format!("{event}\n").repeat(500));
        at.every(Which::any().watches(), Fate::Flood(events));
        let began = Instant::now();
        let told = failed(at.core.create(WAIT, &at.wait("2s"))).await;
        says(&told, "within 2s");
        assert!(began.elapsed() < Duration::from_secs(6), "it took {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_server_that_asks_to_be_left_alone_for_ever_is_told_of() {
    let at = Scene::new().await;
    let busy = Reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "", "later")
        .header("retry-after", "18446744073709551615");
    let asked = at.every(Which::any().method(Method::PATCH), Fate::Answer(busy));
    let told = failed(at.core.plan(OBJECT, &at.object(), None)).await;
    says(&told, "It asks to wait 18446744073709551615 seconds");
    assert_eq!(asked.fired().len(), 1);
    assert_eq!(at.world.cluster.read(&at.target()).await.unwrap(), None);
}
