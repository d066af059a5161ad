//! How a wait goes on: through what is not there yet, what breaks off and what is forbidden.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use testkit::Target;
use testkit::proxy::{Action, Fate, Proxy, Reply, Rule, Turn, Which};
use tokio::task::JoinSet;

use super::{CONFIG_MAP, WAIT, Wait, asked, config_map, map, result, says, until};
use crate::world::{OBJECT, World};

#[tokio::test]
async fn an_object_and_a_kind_that_are_not_there_yet_are_waited_for() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let group = format!("{ns}.example.com");
    let version = format!("{group}/v1");
    let field = Wait::new(&world, (&version, "Widget"), "w").with("field", "spec.size");
    let late = async {
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("widgets.{group}")},
            "spec": {
                "group": group, "scope": "Namespaced",
                "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                }}],
            },
        });
        asked(&world, &world.user, &format!("/apis/{version}")).await;
        let somebody = world.cluster.act_as("somebody");
        somebody.create(definition).await.unwrap();
        let target = Target::new(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            None,
            &format!("widgets.{group}"),
        );
        let served = |seen: Option<&Json>| {
            seen.is_some_and(|it| it["status"]["conditions"].to_string().contains("Established"))
        };
        world.cluster.wait_until(&target, Duration::from_secs(30), served).await.unwrap();
        let widget = json!({"apiVersion": version, "kind": "Widget", "spec": {"size": 3},
            "metadata": {"name": "w", "namespace": ns}});
        // Established is a moment earlier than served.
        until(async || somebody.create(widget.clone()).await.is_ok()).await;
    };
    let (state, ()) = tokio::join!(field.done(), late);
    let state = state.unwrap();
    says(&result(&state), "\"size\": Known(Number(3))");

    // Deleted: the object, then its kind, which takes the object along.
    let mut gone =
        Wait::new(&world, (&version, "Widget"), "w").with("deleted", true).with("timeout", "30s");
    let deleter = format!("deleter-of-{ns}");
    gone.kubeconfig = world.cluster.kubeconfig_for(&deleter, Some("system:masters")).unwrap();
    let path = format!("/apis/{version}/namespaces/{ns}/widgets/w");
    let target = Target::new(&version, "Widget", ns, "w");
    let deletion = async {
        asked(&world, &deleter, &path).await;
        world.cluster.delete(&target).await.unwrap();
    };
    let (state, ()) = tokio::join!(gone.done(), deletion);
    assert!(state.unwrap().attribute("result").is_null());
    let definition = Target::new(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        None,
        &format!("widgets.{group}"),
    );
    world.cluster.delete(&definition).await.unwrap();
    world
        .cluster
        .wait_until(&definition, Duration::from_secs(30), |it| it.is_none())
        .await
        .unwrap();
    // Nothing can be there whose kind is not; that another kind was meant is not ruled out.
    let (core, config) = (world.core(), gone.config());
    let plan = core.plan(WAIT, &config, None).await.unwrap();
    let made = core.apply(WAIT, &config, None, &plan).await.unwrap();
    says(&format!("{:?}", made.diagnostics), "counts as gone, since its kind is not there");
}

#[tokio::test]
async fn no_time_at_all_is_enough_for_what_is_there() {
    let world = World::new().await;
    config_map(&world, "state", json!({"word": "one"})).await;
    let now = |name| Wait::new(&world, CONFIG_MAP, name).with("timeout", "0s");
    now("state").with("field", "data.word").done().await.unwrap();
    let (said, _) = now("state").with("field", "data.other").fails().await;
    says(&said, "Last seen: `data.other` is not there.");
    let (said, _) = now("nobody").with("ready", true).fails().await;
    says(&said, "There is no such object.");
}

#[tokio::test]
async fn an_object_that_is_deleted_meanwhile_and_a_missing_namespace_are_told_as_such() {
    let world = World::new().await;
    let ns = world.namespace.name();
    config_map(&world, "state", json!({"word": "one"})).await;
    let wait = |name| {
        Wait::new(&world, CONFIG_MAP, name).with("field", "data.other").with("timeout", "3s")
    };
    // It goes once it was seen, however busy the machine is.
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let (cluster, target) = (world.cluster, Target::new("v1", "ConfigMap", ns, "state"));
    let delete = Action::new(move |_| {
        let target = target.clone();
        async move { cluster.delete(&target).await.map(drop) }
    });
    let watches = Which::under(&format!("/api/v1/namespaces/{ns}/configmaps")).watches();
    let deletion = proxy.rule(Rule::new(watches, Turn::Nth(1), Fate::Before(delete)));
    let mut waiting = wait("state");
    waiting.kubeconfig = proxy.kubeconfig();
    let (said, _) = waiting.fails().await;
    assert_eq!((deletion.fired().len(), deletion.failures()), (1, vec![]));
    says(&said, "It was there, and was deleted while it was waited for.");
    let mut nowhere = wait("nobody");
    nowhere.namespace = format!("{ns}-missing");
    let (said, _) = nowhere.fails().await;
    says(&said, &format!("no namespace `{ns}-missing`"));
}

#[tokio::test]
async fn a_server_that_stops_answering_is_told_of_and_not_the_object_blamed() {
    let world = World::new().await;
    config_map(&world, "state", json!({"word": "one"})).await;
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let path = format!("/api/v1/namespaces/{}/configmaps/state", world.namespace.name());
    let hangs = Fate::Delay(Duration::from_secs(60));
    proxy.rule(Rule::new(Which::at(&path), Turn::Nth(2), hangs));
    let mut wait = Wait::new(&world, CONFIG_MAP, "state").with("field", "data.other");
    wait.kubeconfig = proxy.kubeconfig();
    let (said, _) = wait.with("timeout", "1s").fails().await;
    says(&said, "The API server stopped answering");
    says(&said, "Seen before that: `data.other` is not there.");
}

#[tokio::test]
async fn a_server_that_goes_away_meanwhile_does_not_make_the_wait_forget_what_it_saw() {
    let world = World::new().await;
    config_map(&world, "state", json!({"word": "one"})).await;
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let watched = Which::under("/").watches();
    let watched = proxy.rule(Rule::new(watched, Turn::Every, Fate::Pass));
    let mut wait = Wait::new(&world, CONFIG_MAP, "state").with("field", "data.other");
    wait.kubeconfig = proxy.kubeconfig();
    let wait = wait.with("timeout", "4s");
    let goes = async {
        until(async || !watched.fired().is_empty()).await;
        drop(proxy);
    };
    let ((said, _), ()) = tokio::join!(wait.fails(), goes);
    says(&said, "did not get `data.other` within 4s");
    says(&said, "Seen before that: `data.other` is not there.");
    says(&said, "The next apply waits again");
}

#[tokio::test]
async fn a_kind_that_nobody_can_read_is_told_at_once() {
    let world = World::new().await;
    let kind = ("authorization.k8s.io/v1", "SubjectAccessReview");
    for goal in ["ready", "deleted"] {
        let wait = Wait::new(&world, kind, "mine").with(goal, true).with("timeout", "20s");
        let (said, took) = wait.fails().await;
        says(&said, "cannot be read");
        assert!(took < Duration::from_secs(15), "{took:?}");
    }
}

#[tokio::test]
async fn who_may_not_read_is_told_so_in_words_of_reading() {
    let world = World::new().await;
    config_map(&world, "state", json!({"word": "one"})).await;
    let mut wait = Wait::new(&world, CONFIG_MAP, "state").with("field", "data.word");
    let user = format!("nobody-of-{}", world.namespace.name());
    wait.kubeconfig = world.cluster.kubeconfig_for(&user, None).unwrap();
    let (said, _) = wait.fails().await;
    says(&said, "may not be read");
}

#[tokio::test]
async fn a_kind_that_can_never_come_is_told_at_once() {
    let world = World::new().await;
    let wait = Wait::new(&world, ("apps/v1", "Deploymnet"), "web").with("ready", true);
    let (said, took) = wait.fails().await;
    says(&said, "Did you mean `Deployment`?");
    assert!(took < Duration::from_secs(60), "{took:?}");
}

#[tokio::test]
async fn a_broken_watch_is_taken_up_again_and_a_forgotten_one_read_anew() {
    let world = World::new().await;
    let ns = world.namespace.name();
    config_map(&world, "state", json!({"step": "0"})).await;
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let watches = || Which::under(&format!("/api/v1/namespaces/{ns}/configmaps")).watches();
    // The server stumbles over the first read, forgets the first watch and drops the second;
    // somebody writes meanwhile.
    let trouble = Reply::refusal(
        http::StatusCode::INTERNAL_SERVER_ERROR,
        "InternalError",
        "etcdserver: leader changed",
    );
    let reads = Which::at(&format!("/api/v1/namespaces/{ns}/configmaps/state"));
    let stumbled = proxy.rule(Rule::new(reads, Turn::Nth(1), Fate::Answer(trouble)));
    let gone = Reply::refusal(http::StatusCode::GONE, "Expired", "too old resource version");
    let forgotten = proxy.rule(Rule::new(watches(), Turn::Nth(1), Fate::Answer(gone)));
    let (rival, target) =
        (world.cluster.act_as("rival"), Target::new("v1", "ConfigMap", ns, "state"));
    let write = Action::new(move |_| {
        let (rival, target) = (rival.clone(), target.clone());
        async move { rival.merge_patch(&target, json!({"data": {"step": "1"}})).await.map(drop) }
    });
    let meanwhile = proxy.rule(Rule::new(watches(), Turn::Nth(2), Fate::Before(write)));
    let dropped = proxy.rule(Rule::new(watches(), Turn::Nth(2), Fate::ResetBefore));
    let mut wait = Wait::new(&world, CONFIG_MAP, "state")
        .with("field_value", map(&[("data.step", "1")]))
        .with("timeout", "30s");
    wait.kubeconfig = proxy.kubeconfig();
    wait.done().await.unwrap();
    let fired = [stumbled, forgotten, dropped].map(|rule| rule.fired().len());
    assert_eq!(fired, [1, 1, 1]);
    assert_eq!(meanwhile.failures(), Vec::<String>::new());
}

#[tokio::test]
async fn where_watching_is_forbidden_the_object_is_read_again_and_again() {
    let world = World::new().await;
    let ns = world.namespace.name();
    config_map(&world, "state", json!({"step": "0"})).await;
    let user = format!("reader-of-{ns}");
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": "reader", "namespace": ns},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "reader", "namespace": ns},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    });
    let somebody = world.cluster.act_as("somebody");
    somebody.create(role).await.unwrap();
    somebody.create(binding).await.unwrap();
    let mut wait = Wait::new(&world, CONFIG_MAP, "state")
        .with("field_value", map(&[("data.step", "1")]))
        .with("timeout", "30s");
    wait.kubeconfig = world.cluster.kubeconfig_for(&user, None).unwrap();
    let target = Target::new("v1", "ConfigMap", ns, "state");
    let write = async {
        asked(&world, &user, &format!("/api/v1/namespaces/{ns}/configmaps/state")).await;
        somebody.merge_patch(&target, json!({"data": {"step": "1"}})).await.unwrap();
    };
    let (state, ()) = tokio::join!(wait.done(), write);
    state.unwrap();
}

/// Something on the way ends every watch before it is answered, and lets reads pass.
#[tokio::test]
async fn where_no_watch_comes_about_the_object_is_read_again_and_again() {
    let world = World::new().await;
    let ns = world.namespace.name();
    config_map(&world, "state", json!({"step": "0"})).await;
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let watches = Which::under(&format!("/api/v1/namespaces/{ns}/configmaps")).watches();
    let ended = proxy.rule(Rule::new(watches, Turn::Every, Fate::ResetBefore));
    let mut wait = Wait::new(&world, CONFIG_MAP, "state")
        .with("field_value", map(&[("data.step", "1")]))
        .with("timeout", "60s");
    wait.kubeconfig = proxy.kubeconfig();
    let target = Target::new("v1", "ConfigMap", ns, "state");
    let write = async {
        until(async || !ended.fired().is_empty()).await;
        let step = json!({"data": {"step": "1"}});
        world.cluster.act_as("somebody").merge_patch(&target, step).await.unwrap();
    };
    let started = Instant::now();
    let (state, ()) = tokio::join!(wait.done(), write);
    state.unwrap();
    assert!(started.elapsed() < Duration::from_secs(45), "{:?}", started.elapsed());
}

/// The server lets a connection have a hundred requests at once, and a watch is one for as long as
/// it is open. These many are open at most; the other waits read now and then.
const WATCHES: usize = 64;

#[tokio::test]
async fn any_number_of_waits_share_one_connection_and_leave_room_for_others() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let core = Arc::new(world.core());
    let names: Vec<_> = (0..140).map(|n| format!("late-{n}")).collect();
    let mut waits = JoinSet::new();
    for name in &names {
        let mut wait = Wait::new(&world, CONFIG_MAP, name).with("field", "data.word");
        wait.kubeconfig = proxy.kubeconfig();
        let (core, config) = (Arc::clone(&core), wait.config());
        waits.spawn(async move { core.create(WAIT, &config).await });
    }
    let maps = format!("/api/v1/namespaces/{ns}/configmaps");
    until(async || {
        let requests = proxy.requests();
        let read: BTreeSet<_> =
            requests.iter().filter_map(|it| it.path.strip_prefix(&maps)).collect();
        let watches = requests.iter().filter(|it| it.path == maps && it.in_short() == "watch");
        names.iter().all(|name| read.contains(&*format!("/{name}"))) && watches.count() >= WATCHES
    })
    .await;
    let body =
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: other, namespace: {ns}}}\n");
    let object = world.config_through(&proxy.kubeconfig(), &body);
    let made = tokio::time::timeout(Duration::from_secs(20), core.create(OBJECT, &object)).await;
    made.expect("others have their turn while all wait").unwrap();
    for name in &names {
        config_map(&world, name, json!({"word": "here"})).await;
    }
    while let Some(done) = waits.join_next().await {
        says(&result(&done.unwrap().unwrap()), "here");
    }
    assert_eq!(proxy.connections(), 1);
}
