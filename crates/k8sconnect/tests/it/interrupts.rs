//! Every wait of the provider ends within two seconds after the user asked to stop, and state has
//! what is known.

use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use serde_json::{Value as Json, json};
use testkit::Target;
use testkit::proxy::{Fate, Inventor, Proxy, Recorded, Reply, Rule, Turn, Which};
use tfplugin::Value;
use tfplugin::harness::{Core, Failure};

use crate::patch::PATCH;
use crate::world::{OBJECT, World, value};

const SOON: Duration = Duration::from_secs(2);
const WAIT: &str = "k8sconnect_wait";
const SPLIT: &str = "k8sconnect_yaml_split";

/// A provider that was configured, as only such a one can be asked to stop, and a proxy that sees
/// what it does.
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
        core.configure(value(&json!({ "cluster": null, "clusters": null }))).await.unwrap();
        Self { world, proxy, core }
    }

    fn cluster(&self) -> Json {
        json!({ "kubeconfig": self.proxy.kubeconfig() })
    }

    fn object(&self, body: &str) -> Value {
        self.world.config_at(&self.cluster(), body)
    }

    fn has_seen(&self, what: impl Fn(&Recorded) -> bool) -> bool {
        self.proxy.requests().iter().any(what)
    }

    /// Runs something that does not come to its end, asks to stop once it `waits`, and tells what it
    /// ended with.
    async fn interrupted<T>(
        &self,
        waits: impl Fn() -> bool,
        run: impl Future<Output = Result<T, Failure>>,
    ) -> Failure {
        let stop = async {
            let deadline = Instant::now() + Duration::from_secs(60);
            while !waits() {
                assert!(Instant::now() < deadline, "it never came to wait");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            self.core.stop().await.unwrap();
            Instant::now()
        };
        let run = async { (run.await, Instant::now()) };
        let ((ended, at), stopped) = tokio::join!(run, stop);
        let took = at.saturating_duration_since(stopped);
        assert!(took <= SOON, "it took {took:?}");
        match ended {
            Ok(_) => panic!("it came to its end"),
            Err(failure) => failure,
        }
    }

    async fn pinned(&self, name: &str) -> Target {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": name, "namespace": self.world.namespace.name(),
                          "finalizers": ["example.com/keep"] },
        });
        let object = self.world.cluster.act_as("keeper").create(object).await.unwrap();
        Target::of(&object).unwrap()
    }

    async fn unpin(&self, target: &Target) {
        let free = json!({ "metadata": { "finalizers": null } });
        self.world.cluster.act_as("keeper").merge_patch(target, free).await.unwrap();
    }
}

#[track_caller]
fn says(failure: &Failure, words: &str) {
    let told = failure.diagnostics();
    let told: Vec<_> = told.iter().map(|one| format!("{}\n{}", one.summary, one.detail)).collect();
    assert!(told.join("\n").contains(words), "`{words}` was not said: {told:?}");
}

#[tokio::test]
async fn the_wait_for_a_deletion_ends_and_state_keeps_the_object() {
    let at = Scene::new().await;
    let config = at.object(&at.world.config_map("settings"));
    let state = at.core.create(OBJECT, &config).await.unwrap();
    let target = Target::new("v1", "ConfigMap", at.world.namespace.name(), "settings");
    let pin = json!({ "metadata": { "finalizers": ["example.com/keep"] } });
    at.world.cluster.act_as("keeper").merge_patch(&target, pin).await.unwrap();
    let watched = || at.has_seen(Recorded::is_watch);
    let failure = at.interrupted(watched, at.core.destroy(OBJECT, &state)).await;
    says(&failure, "is still being deleted: the run was interrupted");
    says(&failure, "example.com/keep");
    let kept = failure.stored().expect("it is there still");
    assert_eq!(kept.attribute("uid"), state.attribute("uid"));

    at.unpin(&target).await;
    at.world.core().destroy(OBJECT, kept).await.unwrap();
    assert_eq!(at.world.cluster.read(&target).await.unwrap(), None);
}

#[tokio::test]
async fn the_wait_for_a_kind_ends_and_nothing_is_in_state() {
    let at = Scene::new().await;
    let namespace = at.world.namespace.name();
    let body = format!(
        "{{apiVersion: never.example.com/v1, kind: Widget, metadata: {{name: a, namespace: {namespace}}}}}"
    );
    let config = at.object(&body);
    let plan = at.core.plan(OBJECT, &config, None).await.unwrap();
    let watched = || at.has_seen(Recorded::is_watch);
    let apply = at.core.apply(OBJECT, &config, None, &plan);
    let failure = at.interrupted(watched, apply).await;
    says(&failure, "was not created: the run was interrupted");
    assert!(failure.stored().is_none());
}

#[tokio::test]
async fn ten_that_hold_all_the_turns_end_together() {
    let at = Scene::new().await;
    let namespace = at.world.namespace.name();
    let all: Vec<_> = (0..10)
        .map(|n| {
            at.object(&format!(
                "{{apiVersion: never.example.com/v1, kind: Widget, metadata: {{name: a{n}, namespace: {namespace}}}}}"
            ))
        })
        .collect();
    let each = all.iter().map(async |config| {
        let plan = at.core.plan(OBJECT, config, None).await?;
        at.core.apply(OBJECT, config, None, &plan).await
    });
    let together = async {
        let ended = all_at_once(each).await;
        for one in &ended {
            says(one.as_ref().unwrap_err(), "was not created: the run was interrupted");
        }
        ended.into_iter().next().unwrap()
    };
    let watches = || at.proxy.requests().iter().filter(|one| one.is_watch()).count() == 10;
    at.interrupted(watches, together).await;
}

/// All of them at once, in their order.
async fn all_at_once<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut all: Vec<_> = all.map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(|context| {
        for (one, ended) in &mut all {
            if ended.is_none()
                && let std::task::Poll::Ready(it) = one.as_mut().poll(context)
            {
                *ended = Some(it);
            }
        }
        match all.iter().all(|(_, ended)| ended.is_some()) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    all.into_iter().filter_map(|(_, ended)| ended).collect()
}

#[tokio::test]
async fn the_wait_for_a_namespace_ends_and_nothing_is_in_state() {
    let at = Scene::new().await;
    let missing = format!("{}-missing", at.world.namespace.name());
    let body = at.world.config_map("settings").replace(at.world.namespace.name(), &missing);
    let config = at.object(&body);
    let plan = at.core.plan(OBJECT, &config, None).await.unwrap();
    let watched = || at.has_seen(Recorded::is_watch);
    let apply = at.core.apply(OBJECT, &config, None, &plan);
    let failure = at.interrupted(watched, apply).await;
    says(&failure, &format!("The namespace `{missing}` does not exist"));
    says(&failure, "was not created: the run was interrupted");
    assert!(failure.stored().is_none());
}

#[tokio::test]
async fn the_wait_for_the_former_object_to_go_ends_and_nothing_is_in_state() {
    let at = Scene::new().await;
    let former = at.pinned("settings").await;
    at.world.cluster.delete(&former).await.unwrap();
    let config = at.object(&at.world.config_map("settings"));
    let plan = at.core.plan(OBJECT, &config, None).await.unwrap();
    let watched = || at.has_seen(Recorded::is_watch);
    let apply = at.core.apply(OBJECT, &config, None, &plan);
    let failure = at.interrupted(watched, apply).await;
    says(&failure, "was not created: the run was interrupted");
    says(&failure, "example.com/keep");
    assert!(failure.stored().is_none());
    at.unpin(&former).await;
}

#[tokio::test]
async fn the_wait_for_the_target_of_a_patch_ends_and_nothing_is_in_state() {
    let at = Scene::new().await;
    let config = value(&json!({
        "cluster": at.cluster(),
        "target": { "api_version": "v1", "kind": "ConfigMap",
                    "namespace": at.world.namespace.name(), "name": "nobody" },
        "patch": "data: {a: one}",
    }));
    let plan = at.core.plan(PATCH, &config, None).await.unwrap();
    let watched = || at.has_seen(Recorded::is_watch);
    let failure = at.interrupted(watched, at.core.apply(PATCH, &config, None, &plan)).await;
    says(&failure, "was not patched: the run was interrupted");
    assert!(failure.stored().is_none());
}

#[tokio::test]
async fn a_wait_resource_ends_and_nothing_is_in_state() {
    for api_version in ["v1", "never.example.com/v1"] {
        let at = Scene::new().await;
        let object = json!({ "api_version": api_version, "kind": "ConfigMap", "name": "nobody",
                             "namespace": at.world.namespace.name() });
        let config = value(&json!({
            "cluster": at.cluster(), "object_ref": object, "wait_for": { "ready": true },
        }));
        let watched = || at.has_seen(Recorded::is_watch);
        let failure = at.interrupted(watched, at.core.create(WAIT, &config)).await;
        says(&failure, "Waiting for ConfigMap");
        says(&failure, "was interrupted");
        assert!(failure.stored().is_none());
    }
}

#[tokio::test]
async fn a_credential_plugin_is_ended() {
    let at = Scene::new().await;
    let folder = tempfile::tempdir().unwrap();
    let ran = folder.path().join("ran");
    let script = format!("touch '{}'; trap '' INT; exec sleep 300", ran.display());
    let plugin = json!({ "api_version": "client.authentication.k8s.io/v1", "command": "sh",
                         "args": ["-c", script] });
    let cluster = json!({ "host": at.world.cluster.url(), "exec": plugin });
    let config = at.world.config_at(&cluster, &at.world.config_map("settings"));
    let failure = at.interrupted(|| ran.exists(), at.core.plan(OBJECT, &config, None)).await;
    says(&failure, "you asked to stop");
}

#[tokio::test]
async fn a_search_for_files_is_ended() {
    let at = Scene::new().await;
    // Each folder has a link to every other one, so that there are millions of ways through them.
    let tree = tempfile::tempdir().unwrap();
    let folders: Vec<_> = (0..10).map(|n| tree.path().join(n.to_string())).collect();
    folders.iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    for (n, folder) in folders.iter().enumerate() {
        for (m, other) in folders.iter().enumerate().filter(|(m, _)| *m != n) {
            std::os::unix::fs::symlink(other, folder.join(m.to_string())).unwrap();
        }
    }
    let config = value(&json!({ "pattern": format!("{}/**/*.yaml", tree.path().display()) }));
    let began = Instant::now();
    let searches = || began.elapsed() > Duration::from_millis(500);
    let failure = at.interrupted(searches, at.core.read_data(SPLIT, &config)).await;
    says(&failure, "You asked to stop while folders were searched");
}

/// A page that leads to another one, with a token that no other page has.
fn another_page(request: &Recorded) -> Reply {
    let page = json!({ "kind": "ConfigMapList", "apiVersion": "v1", "items": [],
        "metadata": { "resourceVersion": "1", "continue": format!("t{}", request.sequence) } });
    Reply::json(StatusCode::OK, &page)
}

#[tokio::test]
async fn a_list_ends_between_two_pages_and_within_one() {
    for delay in [Duration::from_millis(30), Duration::from_secs(25)] {
        let at = Scene::new().await;
        let path = format!("/api/v1/namespaces/{}/configmaps", at.world.namespace.name());
        let pages = || Which::at(&path).method(Method::GET);
        at.proxy.rule(Rule::new(pages(), Turn::From(5), Fate::Delay(delay)));
        let endless = Fate::Invent(Inventor::new(another_page));
        let asked = at.proxy.rule(Rule::new(pages(), Turn::Every, endless));
        let config = value(&json!({
            "cluster": at.cluster(), "api_version": "v1", "kind": "ConfigMap",
            "namespace": at.world.namespace.name(),
        }));
        let read = at.core.read_data("k8sconnect_objects", &config);
        let failure = at.interrupted(|| asked.fired().len() >= 5, read).await;
        says(&failure, "nterrupted");
    }
}

#[tokio::test]
async fn a_long_pause_between_two_attempts_ends() {
    let at = Scene::new().await;
    let busy = Reply::refusal(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", "later")
        .header("retry-after", "25");
    let patches = Which::any().method(Method::PATCH);
    let asked = at.proxy.rule(Rule::new(patches, Turn::Every, Fate::Answer(busy)));
    let config = at.object(&at.world.config_map("settings"));
    let paused = || !asked.fired().is_empty();
    let failure = at.interrupted(paused, at.core.plan(OBJECT, &config, None)).await;
    says(&failure, "Interrupted while");
}

#[tokio::test]
async fn a_read_that_hangs_ends() {
    let at = Scene::new().await;
    let hangs = Fate::Delay(Duration::from_secs(50));
    let patches = Which::any().method(Method::PATCH);
    let asked = at.proxy.rule(Rule::new(patches, Turn::Every, hangs));
    let config = at.object(&at.world.config_map("settings"));
    let sent = || !asked.fired().is_empty();
    let failure = at.interrupted(sent, at.core.plan(OBJECT, &config, None)).await;
    says(&failure, "Interrupted while");
}
