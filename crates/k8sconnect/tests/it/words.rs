//! What is said fits what happens, in the corners where it is easy to say too much.

use serde_json::json;
use testkit::{Filter, Target};
use tfplugin::harness::{Action, Core, State};
use tfplugin::{Diagnostics, Value};

use crate::patch::{object, refused, said};
use crate::world::{OBJECT, World, value};

/// A provider whose block names the cluster.
async fn configured(world: &World) -> Core {
    let core = world.core();
    core.configure(value(&json!({ "cluster": world.by_token() }))).await.unwrap();
    core
}

fn settings(world: &World) -> Target {
    Target::new("v1", "ConfigMap", world.namespace.name(), "settings")
}

#[tokio::test]
async fn an_import_of_what_bears_another_id_tells_once_that_we_take_it_over() {
    let world = World::new().await;
    let body = world.config_map("settings");
    world.create(&body).await.unwrap();
    let core = configured(&world).await;
    let imported = core.import(OBJECT, &format!("{}/cm/settings", world.namespace)).await.unwrap();
    let read = core.read(OBJECT, &imported).await.unwrap().present().unwrap();
    let config = value(&json!({ "yaml_body": body }));
    let told = core.plan(OBJECT, &config, Some(&read)).await.unwrap().diagnostics;
    assert_eq!(told.iter().count(), 1, "{told:?}");
    assert!(said(&told).contains("A state that still holds it loses it"), "{told:?}");
}

#[tokio::test]
async fn an_import_without_fields_does_not_count_them() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let body = format!(
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: robot, namespace: {ns}}}\n"
    );
    world.cluster.act_as("kubectl").apply(body.as_str()).await.unwrap();
    let core = configured(&world).await;
    let imported = core.import(OBJECT, &format!("{ns}/sa/robot")).await.unwrap();
    let read = core.read(OBJECT, &imported).await.unwrap().present().unwrap();
    let config = value(&json!({ "yaml_body": body }));
    let told = said(&core.plan(OBJECT, &config, Some(&read)).await.unwrap().diagnostics);
    assert!(told.contains("names the object and none of its fields"), "{told}");
    assert!(!told.contains("0 fields"), "{told}");
}

#[tokio::test]
async fn a_kind_in_lower_case_in_an_identity_is_answered_with_the_kind_that_is_meant() {
    let world = World::new().await;
    let core = configured(&world).await;
    let identity = json!({ "cluster_name": null, "context": null, "api_version": "v1",
        "kind": "configmap", "namespace": world.namespace.name(), "name": "settings" });
    let told = refused(core.import_by_identity(OBJECT, &value(&identity)).await);
    assert!(told.contains("Did you mean `ConfigMap`?"), "{told}");
}

#[tokio::test]
async fn a_change_of_what_was_deleted_meanwhile_says_so() {
    let world = World::new().await;
    let body = world.config_map("settings");
    let state = world.create(&body).await.unwrap();
    let config = world.config(&body.replace("hello", "good day"));
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    world.cluster.delete(&settings(&world)).await.unwrap();
    let told = refused(core.plan(OBJECT, &config, Some(&read)).await);
    assert!(told.contains("was deleted meanwhile"), "{told}");
}

#[tokio::test]
async fn what_is_protected_is_not_promised_a_replacement() {
    let world = World::new().await;
    let body = world.config_map("settings") + "immutable: true\n";
    let protected = |body: &str| {
        world.config_with([
            ("yaml_body", Value::from(body)),
            ("delete_protection", Value::from(true)),
        ])
    };
    let state = world.core().create(OBJECT, &protected(&body)).await.unwrap();
    // What needs a replacement is known in the apply only.
    let core = world.newest_core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let open = world
        .config_with([("yaml_body", Value::Unknown), ("delete_protection", Value::from(true))]);
    let plan = core.plan(OBJECT, &open, Some(&read)).await.unwrap();
    let changed = protected(&body.replace("hello", "good day"));
    let told = refused(world.newest_core().apply(OBJECT, &changed, Some(&read), &plan).await);
    assert!(told.contains("but is protected from deletion"), "{told}");
    assert!(!told.contains("Run apply again"), "{told}");
}

#[tokio::test]
async fn protection_that_is_not_known_yet_stops_a_replacement_like_one_that_is() {
    let world = World::new().await;
    let body = format!("{}immutable: true\n", world.config_map("settings"));
    let state = world.create(&body).await.unwrap();
    let read = world.core().read(OBJECT, &state).await.unwrap().present().unwrap();
    let unknown = |body: &str| {
        let protection = ("delete_protection", Value::Unknown);
        world.config_with([("yaml_body", Value::from(body)), protection])
    };
    let renamed = body.replace("name: settings", "name: renamed");
    let tainted = State { tainted: true, ..read.clone() };
    for (body, prior) in
        [(&renamed, &read), (&body.replace("hello", "good day"), &read), (&body, &tainted)]
    {
        let core = world.core();
        core.read(OBJECT, prior).await.unwrap();
        let told = refused(core.plan(OBJECT, &unknown(body), Some(prior)).await);
        assert!(told.contains("may be protected from that"), "{told}");
    }
    let plan = world.core().plan(OBJECT, &unknown(&body), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
}

#[tokio::test]
async fn a_replacement_names_what_a_rival_set_and_loses() {
    let world = World::new().await;
    let body = world.config_map("settings");
    let state = world.create(&body).await.unwrap();
    let mut rival = crate::patch::object("v1", "ConfigMap", "settings", world.namespace.name());
    rival["immutable"] = json!(true);
    world.cluster.act_as("rival").apply(rival).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let config = world.config(&body.replace("hello", "good day"));
    let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let told = said(&plan.diagnostics);
    assert!(told.contains("deleted with the object: immutable owned by `rival`"), "{told}");
}

#[tokio::test]
async fn a_replacement_names_items_by_their_keys_and_no_namespace_where_there_is_none() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let job = format!(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: once, namespace: {ns}}}, spec: \
         {{suspend: true, template: {{spec: {{restartPolicy: Never, containers: [{{name: main, \
         image: busybox, env: [{{name: LEVEL, value: low}}]}}]}}}}}}}}"
    );
    let binding = format!(
        "{{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {{name: \
         {ns}-low, namespace: {ns}}}, roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: \
         ClusterRole, name: low}}}}"
    );
    let elsewhere = format!("namespace: {ns}-b}}, roleRef");
    let here = format!("namespace: {ns}}}, roleRef");
    for (body, after, told, never) in [
        (
            &job,
            job.replace("value: low", "value: high"),
            "spec.template.spec.containers[name=main].env[name=LEVEL].value".to_owned(),
            "[0]".to_owned(),
        ),
        (
            &binding,
            binding.replace("name: low", "name: high").replace(&here, &elsewhere),
            format!("ClusterRoleBinding `{ns}-low` must be replaced"),
            "metadata.namespace".to_owned(),
        ),
    ] {
        let state = world.create(body).await.unwrap();
        let core = world.core();
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &world.config(&after), Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::Replace);
        let words = said(&plan.diagnostics);
        assert!(words.contains(&told) && !words.contains(&never), "{words}");
        world.core().destroy(OBJECT, &state).await.unwrap();
    }
}

#[tokio::test]
async fn what_another_state_changed_is_held_by_its_manager_and_not_by_nobody() {
    let world = World::new().await;
    let body = world.config_map("settings");
    let state = world.create(&body).await.unwrap();
    let theirs = Value::from(body.replace("hello", "goodbye"));
    let theirs = world.config_with([("yaml_body", theirs), ("adopt", Value::from(true))]);
    world.core().create(OBJECT, &theirs).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &world.config(&body), Some(&read)).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("changed outside of Terraform"), "{told}");
    assert!(told.contains("held by `k8sconnect` (Apply"), "{told}");
    assert!(!told.contains("nobody"), "{told}");
}

#[tokio::test]
async fn a_namespace_that_does_not_go_tells_what_is_inside_however_short_the_wait() {
    let world = World::new().await;
    let name = format!("{}-stuck", world.namespace);
    let body = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}}}");
    let config = world
        .config_with([("yaml_body", Value::from(body)), ("delete_timeout", Value::from("1ms"))]);
    let state = world.core().create(OBJECT, &config).await.unwrap();
    let mut held = crate::patch::object("v1", "ConfigMap", "held", &name);
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let rival = world.cluster.act_as("rival");
    rival.apply(held.clone()).await.unwrap();
    let told = refused(world.core().destroy(OBJECT, &state).await);
    // The namespace controller may have been faster.
    let tells = ["Still inside:", "configmaps. has 1 resource instances"];
    assert!(tells.iter().any(|words| told.contains(words)), "{told}");
    held["metadata"].as_object_mut().unwrap().remove("finalizers");
    rival.apply(held).await.unwrap();
}

#[tokio::test]
async fn a_restored_backup_is_deleted_with_a_word_also_without_a_refresh() {
    let world = World::new().await;
    let body = world.config_map("settings");
    let state = world.create(&body).await.unwrap();
    let target = settings(&world);
    let mut backup = world.cluster.read(&target).await.unwrap().unwrap();
    world.cluster.delete(&target).await.unwrap();
    for field in ["uid", "resourceVersion", "managedFields", "creationTimestamp"] {
        backup["metadata"].as_object_mut().unwrap().remove(field);
    }
    world.cluster.act_as("restore").apply(backup).await.unwrap();
    let core = world.core();
    let plan = core.plan_destroy(OBJECT, &state).await.unwrap();
    let deleted = core.apply(OBJECT, &Value::Null, Some(&state), &plan);
    let (deleted, asked) =
        world.cluster.count_during(Filter::by_user(&world.user), deleted).await.unwrap();
    let told = said(&deleted.unwrap().diagnostics);
    assert!(told.contains("recreated with our mark on it, and was deleted"), "{told}");
    assert!(asked.iter().any(testkit::Request::writes));
    assert_eq!(world.cluster.read(&target).await.unwrap(), None);
}

/// A write is asked for dry right before it is made.
#[tokio::test]
async fn what_the_server_warns_of_an_apply_tells_once() {
    let world = World::new().await;
    let mut web = object("apps/v1", "Deployment", "web", world.namespace.name());
    web["spec"] = json!({"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"nodeSelector": {"beta.kubernetes.io/arch": "amd64"},
            "containers": [{"name": "main", "image": "a"}]},
    }});
    let config = world.config(&web.to_string());
    let plan = world.core().plan(OBJECT, &config, None).await.unwrap();
    let warned = |told: &Diagnostics| said(told).matches("the API server warns").count();
    assert_eq!(warned(&plan.diagnostics), 1, "{:?}", plan.diagnostics);
    let applied = world.core().apply(OBJECT, &config, None, &plan).await.unwrap();
    assert_eq!(warned(&applied.diagnostics), 1, "{:?}", applied.diagnostics);
}
