//! Credentials that change: plugins, and what becomes of objects whose credentials did.

use std::path::Path;

use serde_json::{Value as Json, json};
use testkit::{Filter, Target, Validity};
use tfplugin::harness::{Action, State};
use tfplugin::{Data, Value};

use crate::world::{OBJECT, World, value};

/// A plugin that notes each run in a file and hands out the token in another; from then on the next,
/// where there is one.
fn plugin(world: &World, folder: &Path, expires: &str) -> Json {
    let script = format!(
        "echo >> '{0}/runs'; printf '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\
         \"kind\":\"ExecCredential\",\"status\":{{\"token\":\"%s\"{expires}}}}}' \
         \"$(cat '{0}/token')\"; if [ -e '{0}/next' ]; then mv '{0}/next' '{0}/token'; fi",
        folder.display()
    );
    json!({
        "host": world.cluster.url(),
        "cluster_ca_certificate": world.cluster.ca(),
        "exec": {
            "api_version": "client.authentication.k8s.io/v1",
            "command": "sh",
            "args": ["-c", script],
        },
    })
}

fn runs(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("runs")).unwrap_or_default().lines().count()
}

#[tokio::test]
async fn a_plugin_runs_once_for_all_objects_and_again_when_its_token_is_refused() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("token"), world.cluster.token()).unwrap();
    let cluster = plugin(&world, folder.path(), "");
    let core = world.core();
    let plans = ["a", "b", "c", "d"].map(|name| {
        let config = world.config_at(&cluster, &world.config_map(name));
        let core = core.clone();
        tokio::spawn(async move { core.plan(OBJECT, &config, None).await })
    });
    for plan in plans {
        plan.await.unwrap().unwrap();
    }
    assert_eq!(runs(folder.path()), 1);

    // Another process, to which the plugin first hands what the server does not take.
    std::fs::write(folder.path().join("token"), "expired").unwrap();
    let core = world.core();
    let config = world.config_at(&cluster, &world.config_map("a"));
    let refused = core.plan(OBJECT, &config, None).await.unwrap_err().to_string();
    assert!(refused.contains("does not accept the credentials"), "{refused}");
    assert_eq!(runs(folder.path()), 3, "once, and once more to get another");
    let other = world.config_at(&cluster, &world.config_map("b"));
    core.plan(OBJECT, &other, None).await.unwrap_err();
    assert_eq!(runs(folder.path()), 3, "it has just brought nothing better");

    // And one to which it then hands what the server takes.
    std::fs::write(folder.path().join("next"), world.cluster.token()).unwrap();
    world.core().plan(OBJECT, &config, None).await.unwrap();
    assert_eq!(runs(folder.path()), 5);
}

#[tokio::test]
async fn a_plugin_whose_token_has_expired_is_not_run_for_each_request() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("token"), world.cluster.token()).unwrap();
    let core = world.core();
    let expired =
        plugin(&world, folder.path(), ",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"");
    for name in ["a", "b"] {
        let config = world.config_at(&expired, &world.config_map(name));
        core.plan(OBJECT, &config, None).await.unwrap();
    }
    assert_eq!(runs(folder.path()), 1);
}

/// The same state with another token in its connection.
fn with_token(mut state: State, token: &str) -> State {
    let Value::Known(Data::Object(attributes)) = &mut state.value else { panic!() };
    let Some(Value::Known(Data::Object(cluster))) = attributes.get_mut("cluster") else { panic!() };
    cluster.insert("token".to_owned(), Value::from(token));
    state
}

#[tokio::test]
async fn a_changed_credential_is_an_update_in_place_that_writes_nothing() {
    let world = World::new().await;
    let body = world.config_map("settings");
    let state = world.core().create(OBJECT, &world.config_at(&world.by_token(), &body)).await;
    let state = state.unwrap();
    let (certificate, key) =
        world.cluster.certificate_for(&world.user, Some("system:masters")).unwrap();
    let mut other = world.by_token();
    other["token"] = Json::Null;
    (other["client_certificate"], other["client_key"]) = (certificate.into(), key.into());
    let config = world.config_at(&other, &body);

    let namespace = world.namespace.name();
    let change = async {
        let core = world.core();
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::Update);
        let applied = world.core().apply(OBJECT, &config, Some(&read), &plan).await.unwrap();
        applied.present().unwrap()
    };
    let (state, asked) = world.cluster.count_during(namespace, change).await.unwrap();
    let asked: Vec<_> = asked.iter().map(testkit::Request::in_short).collect();
    assert_eq!(asked, ["get"], "by the refresh; the plan asks only which cluster it is");
    let plan = world.core().plan(OBJECT, &config, Some(&state)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);

    // One that is none is told, and not stored to be told by the next refresh.
    let mut nobody: Json = serde_json::from_str(&world.cluster.kubeconfig()).unwrap();
    nobody["users"][0]["user"] = json!({});
    let config = world.config_at(&json!({ "kubeconfig": nobody.to_string() }), &body);
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let refused = core.plan(OBJECT, &config, Some(&read)).await.unwrap_err().to_string();
    assert!(refused.contains("No credentials were sent: user `admin`"), "{refused}");
}

#[tokio::test]
async fn an_expired_token_in_state_keeps_the_object_and_the_plan_looks_by_the_new_one() {
    let world = World::new().await;
    let body = world.config_map("settings");
    let config = world.config_at(&world.by_token(), &body);
    let state = world.core().create(OBJECT, &config).await.unwrap();
    let state = with_token(state, "expired");

    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap();
    let told = format!("{:?}", read.diagnostics);
    assert!(told.contains("could not be refreshed"), "{told}");
    assert!(told.contains("in the provider block, of which nothing is stored"), "{told}");
    let read = read.present().unwrap();
    let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update, "the token alone");
    assert_eq!(
        plan.planned.attribute("managed_state_projection"),
        state.value.attribute("managed_state_projection")
    );

    // What others changed meanwhile is seen, and mended.
    let target = Target::new("v1", "ConfigMap", world.namespace.name(), "settings");
    let rival = world.cluster.act_as("rival");
    rival.merge_patch(&target, json!({ "data": { "greeting": "bye" } })).await.unwrap();
    let core = world.newest_core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
    let told = format!("{:?}", plan.diagnostics);
    assert!(told.contains("rival"), "{told}");
    let core = world.newest_core();
    let applied = core.apply(OBJECT, &config, Some(&read), &plan).await.unwrap();
    let told = format!("{:?}", applied.diagnostics);
    assert!(!told.contains("rival"), "the plan told it: {told}");
    let state = applied.present().unwrap();
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["data"]["greeting"], "hello");
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap();
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let plan = core.plan(OBJECT, &config, read.state.as_ref()).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
}

/// As the server itself would sign it, an hour too late or too early.
#[tokio::test]
async fn a_token_out_of_its_time_loses_nothing_and_one_in_time_goes_on() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": { "name": "runner", "namespace": ns },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                     "name": "cluster-admin" },
        "subjects": [{ "kind": "ServiceAccount", "name": "default", "namespace": ns }],
    });
    world.cluster.act_as("admin").apply(&binding).await.unwrap();
    let provider = async |validity: Validity| {
        let mut cluster = world.by_token();
        let token = world.cluster.account_token(ns, "default", validity).await.unwrap();
        cluster["token"] = json!(token);
        let core = world.core();
        core.configure(value(&json!({ "cluster": cluster }))).await.unwrap();
        core
    };
    let config = world.config_at(&Json::Null, &world.config_map("settings"));
    let state = provider(Validity::Now).await.create(OBJECT, &config).await.unwrap();
    for validity in [Validity::Past, Validity::Future] {
        let core = provider(validity).await;
        let read = core.read(OBJECT, &state).await.unwrap();
        let told = format!("{:?}", read.diagnostics);
        assert!(told.contains("Use credentials in the provider block"), "{validity:?}: {told}");
        let kept = read.present().unwrap();
        assert_eq!(kept.value, state.value, "{validity:?}");
        let refused = core.plan_destroy(OBJECT, &kept).await.unwrap_err().to_string();
        assert!(refused.contains("nothing can be planned for it"), "{validity:?}: {refused}");
        assert!(refused.contains("have not expired"), "{validity:?}: {refused}");
        assert!(refused.contains("state rm ADDRESS"), "{validity:?}: {refused}");
        // Whoever does not refresh hears it of the deletion.
        let core = provider(validity).await;
        let plan = core.plan_destroy(OBJECT, &state).await.unwrap();
        let ended = core.apply(OBJECT, &Value::Null, Some(&state), &plan).await;
        let failure = ended.unwrap_err();
        assert!(failure.stored().is_some(), "{validity:?}: {failure}");
        assert!(failure.to_string().contains("have not expired"), "{validity:?}: {failure}");
    }
    let core = world.core();
    let nobody = world.cluster.kubeconfig_for("may-do-nothing", None).unwrap();
    core.configure(value(&json!({ "cluster": { "kubeconfig": nobody } }))).await.unwrap();
    let kept = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let refused = core.plan_destroy(OBJECT, &kept).await.unwrap_err().to_string();
    assert!(refused.contains("Grant the credentials `get` on the object"), "{refused}");
    // A note is no verdict: who may look by now may delete.
    provider(Validity::Now).await.plan_destroy(OBJECT, &kept).await.unwrap();
    provider(Validity::Now).await.destroy(OBJECT, &state).await.unwrap();
}

#[tokio::test]
async fn an_object_that_went_while_its_token_expired_is_told_to_be_gone() {
    let world = World::new().await;
    let config = world.config_at(&world.by_token(), &world.config_map("settings"));
    let state = world.core().create(OBJECT, &config).await.unwrap();
    let state = with_token(state, "expired");
    let target = Target::new("v1", "ConfigMap", world.namespace.name(), "settings");
    world.cluster.delete(&target).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let refused = core.plan(OBJECT, &config, Some(&read)).await.unwrap_err().to_string();
    assert!(refused.contains("not found through the connection in the configuration"), "{refused}");
    assert!(refused.contains("state rm ADDRESS"), "{refused}");
}

#[tokio::test]
async fn a_kubeconfig_that_moved_keeps_the_object_until_the_configuration_says_where() {
    let world = World::new().await;
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    std::fs::write(&old, world.cluster.kubeconfig()).unwrap();
    let at = |path: &Path| {
        let cluster = json!({ "config_path": path.display().to_string() });
        world.config_at(&cluster, &world.config_map("settings"))
    };
    let state = world.core().create(OBJECT, &at(&old)).await.unwrap();
    std::fs::rename(&old, &new).unwrap();

    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap();
    let told = format!("{:?}", read.diagnostics);
    assert!(told.contains("It cannot be used any more"), "{told}");
    let read = read.present().unwrap();
    let refused = core.plan(OBJECT, &at(&old), Some(&read)).await.unwrap_err().to_string();
    assert!(refused.contains("cannot be read"), "{refused}");
    let plan = core.plan(OBJECT, &at(&new), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    let applied = world.core().apply(OBJECT, &at(&new), Some(&read), &plan).await.unwrap();
    let (_, asked) = world
        .cluster
        .count_during(Filter::in_namespace(world.namespace.name()), async {
            let core = world.core();
            let read = core.read(OBJECT, &applied.present().unwrap()).await.unwrap();
            let plan = core.plan(OBJECT, &at(&new), read.state.as_ref()).await.unwrap();
            assert_eq!(plan.action, Action::NoOp);
        })
        .await
        .unwrap();
    assert_eq!(asked.len(), 1, "{asked:?}");
}
