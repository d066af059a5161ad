//! A change that is refused for what it meets on the object is no proof that the object must go.

use serde_json::{Value as Json, json};
use testkit::{Filter, Target};
use tfplugin::harness::{Action, Failure, PlanOutcome, State};
use tfplugin::{Data, Value};

use crate::patch::{object, refused, said};
use crate::world::{OBJECT, World};

/// What a provider that was just started plans for the object, after a refresh.
pub(crate) async fn replan(
    world: &World,
    config: &Value,
    state: &State,
) -> Result<PlanOutcome, Failure> {
    let core = world.core();
    let read = core.read(OBJECT, state).await?.present()?;
    core.plan(OBJECT, config, Some(&read)).await
}

/// What is said of a change that does not go together with what a rival applied.
async fn met(world: &World, before: &Json, rival: Option<Json>, after: &Json) -> String {
    let state = world.create(&before.to_string()).await.unwrap();
    if let Some(rival) = rival {
        world.cluster.act_as("rival").apply(rival).await.unwrap();
    }
    let told = refused(replan(world, &world.config(&after.to_string()), &state).await);
    assert!(told.contains("cannot combine the change with its other fields"), "{told}");
    let target = Target::of(before).unwrap();
    world.cluster.delete(&target).await.unwrap();
    told
}

fn with(mut object: Json, at: &str, value: Json) -> Json {
    let (around, name) = at.rsplit_once('/').unwrap();
    object.pointer_mut(around).unwrap()[name] = value;
    object
}

pub(crate) fn deployment(world: &World) -> Json {
    let mut web = object("apps/v1", "Deployment", "web", world.namespace.name());
    web["spec"] = json!({"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "a"}]},
    }});
    web
}

/// A part of the Deployment, as a rival applies it.
fn part(world: &World, spec: Json) -> Option<Json> {
    let mut web = object("apps/v1", "Deployment", "web", world.namespace.name());
    web["spec"] = json!({"template": {"spec": spec}});
    Some(web)
}

#[tokio::test]
async fn what_the_server_filled_in_is_no_reason_to_delete_the_object() {
    let world = World::new().await;
    let web = deployment(&world);
    let recreate = json!({"type": "Recreate"});
    let nothing = json!({"type": "Recreate", "rollingUpdate": null});
    let rolling = with(web.clone(), "/spec/strategy", json!({"type": "RollingUpdate"}));
    for (before, strategy) in [(&web, &recreate), (&rolling, &recreate), (&rolling, &nothing)] {
        let after = with(web.clone(), "/spec/strategy", strategy.clone());
        let told = met(&world, before, None, &after).await;
        assert!(told.contains("may not be specified when strategy `type` is 'Recreate'"), "{told}");
        assert!(told.contains("`kubectl edit deployment web -n "), "{told}");
    }
}

#[tokio::test]
async fn a_change_made_once_by_hand_is_planned_as_an_update_and_then_as_no_change() {
    let world = World::new().await;
    let web = deployment(&world);
    let state = world.create(&web.to_string()).await.unwrap();
    let recreate = json!({"type": "Recreate"});
    let after = with(web.clone(), "/spec/strategy", recreate.clone());
    let config = world.config(&after.to_string());
    refused(replan(&world, &config, &state).await);
    let edit = json!([{"op": "replace", "path": "/spec/strategy", "value": recreate}]);
    let kubectl = world.cluster.act_as("kubectl-edit");
    kubectl.json_patch(&Target::of(&web).unwrap(), edit).await.unwrap();
    let plan = replan(&world, &config, &state).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    let state = world.core().update(OBJECT, &config, &state).await.unwrap();
    assert_eq!(replan(&world, &config, &state).await.unwrap().action, Action::NoOp);
}

#[tokio::test]
async fn what_a_rival_holds_is_no_reason_to_delete_the_object() {
    let world = World::new().await;
    let web = deployment(&world);
    let main = "/spec/template/spec/containers/0";
    for (ours, value, theirs, field) in [
        (
            format!("{main}/env"),
            json!([{"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
            json!({"containers": [{"name": "main", "env": [{"name": "E", "value": "v"}]}]}),
            "spec.template.spec.containers[name=main].env[name=E].value",
        ),
        (
            format!("{main}/readinessProbe"),
            json!({"httpGet": {"port": 80}}),
            json!({"containers": [{"name": "main", "readinessProbe": {"exec": {"command": ["x"]}}}]}),
            "spec.template.spec.containers[name=main].readinessProbe.exec.command",
        ),
        (
            "/spec/template/spec/volumes".to_owned(),
            json!([{"name": "v", "emptyDir": {}}]),
            json!({"volumes": [{"name": "v", "configMap": {"name": "x"}}]}),
            "spec.template.spec.volumes[name=v].configMap.name",
        ),
    ] {
        let after = with(web.clone(), &ours, value);
        let told = met(&world, &web, part(&world, theirs), &after).await;
        assert!(told.contains(&format!("{field} owned by `rival` (Apply")), "{told}");
        assert!(!told.contains("kubectl patch"), "{told}");
    }
}

#[tokio::test]
async fn a_port_name_or_an_owner_of_a_rival_is_no_reason_to_delete_the_object() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let service =
        |ports: Json| with(object("v1", "Service", "web", ns), "/spec", json!({"ports": ports}));
    let theirs = Some(service(json!([{"name": "r", "port": 90}])));
    let before = service(json!([{"name": "a", "port": 80}]));
    let after = service(json!([{"name": "r", "port": 80}]));
    let told = met(&world, &before, theirs, &after).await;
    assert!(told.contains("spec.ports[port=90,protocol=TCP].name owned by `rival`"), "{told}");
    let mut owners = Vec::new();
    for name in ["first", "second"] {
        let owner = world.cluster.act_as("rival").apply(object("v1", "ConfigMap", name, ns)).await;
        let uid = owner.unwrap()["metadata"]["uid"].clone();
        owners.push(json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid,
            "controller": true}]));
    }
    let map = object("v1", "ConfigMap", "owned", ns);
    let owned = |owner: &Json| with(map.clone(), "/metadata/ownerReferences", owner.clone());
    let told = met(&world, &map, Some(owned(&owners[0])), &owned(&owners[1])).await;
    assert!(told.contains("Only one reference can have Controller set to true"), "{told}");
}

#[tokio::test]
async fn a_field_that_is_dropped_here_and_held_on_by_a_rival_is_the_one_in_the_way() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let budget = |spec: Json| {
        let mut budget = object("policy/v1", "PodDisruptionBudget", "it", ns);
        budget["spec"] = spec;
        budget["spec"]["selector"] = json!({"matchLabels": {"app": "a"}});
        budget
    };
    let before = budget(json!({"maxUnavailable": 1}));
    let after = budget(json!({"minAvailable": 1}));
    let told = met(&world, &before, Some(before.clone()), &after).await;
    assert!(told.contains("spec.maxUnavailable owned by `rival` (Apply"), "{told}");
    let ports = "/spec/template/spec/containers/0/ports";
    let web = |value: Json| with(deployment(&world), ports, value);
    let before = web(json!([{"containerPort": 80, "name": "http"}]));
    let after = web(json!([{"containerPort": 80}, {"containerPort": 81, "name": "http"}]));
    let theirs =
        with(before.clone(), "/metadata/annotations", json!({"deployment.kubernetes.io/x": "1"}));
    let told = met(&world, &before, Some(theirs), &after).await;
    let port = "containers[name=main].ports[containerPort=80,protocol=TCP].name owned by `rival`";
    assert!(told.contains(port) && !told.contains("kubernetes.io/x"), "{told}");
}

#[tokio::test]
async fn drift_that_does_not_go_together_with_the_body_names_what_is_in_the_way() {
    let world = World::new().await;
    let web = with(deployment(&world), "/spec/strategy", json!({"type": "Recreate"}));
    let state = world.create(&web.to_string()).await.unwrap();
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2}});
    let rival = world.cluster.act_as("rival");
    let target = Target::of(&web).unwrap();
    rival.merge_patch(&target, json!({"spec": {"strategy": rolling}})).await.unwrap();
    let told = refused(replan(&world, &world.config(&web.to_string()), &state).await);
    assert!(told.contains("spec.strategy.rollingUpdate.maxSurge owned by `rival`"), "{told}");
    assert!(told.contains("nothing here is immutable"), "{told}");
}

#[tokio::test]
async fn an_object_that_is_going_is_not_proved_immutable_by_what_it_refuses() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let held = |finalizers: Json| {
        with(object("v1", "ConfigMap", "held", ns), "/metadata/finalizers", finalizers)
    };
    let before = held(json!(["example.com/a"]));
    let state = world.create(&before.to_string()).await.unwrap();
    world.cluster.delete(&Target::of(&before).unwrap()).await.unwrap();
    let after = held(json!(["example.com/a", "example.com/b"]));
    let told = refused(replan(&world, &world.config(&after.to_string()), &state).await);
    assert!(told.contains("is being deleted"), "{told}");
    assert!(told.contains("no new finalizers can be added"), "{told}");
    assert!(!told.contains("To keep it"), "{told}");
    let gone = with(before, "/metadata/finalizers", json!([]));
    world.core().update(OBJECT, &world.config(&gone.to_string()), &state).await.unwrap();
}

#[tokio::test]
async fn what_can_never_change_is_replaced_whatever_a_rival_holds_beside() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let web = deployment(&world);
    let tier = json!({"app": "web", "tier": "front"});
    let selector = with(web.clone(), "/spec/selector/matchLabels", tier.clone());
    let selector = with(selector, "/spec/template/metadata/labels", tier);
    let claim =
        json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let mut set = with(object("apps/v1", "StatefulSet", "set", ns), "/spec", web["spec"].clone());
    set["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "v"}, "spec": claim}]);
    let size = "/spec/volumeClaimTemplates/0/spec/resources/requests/storage";
    let larger = with(set.clone(), size, json!("2Gi"));
    for (before, after, field) in [(web, selector, "spec.selector:"), (set, larger, "spec:")] {
        let state = world.create(&before.to_string()).await.unwrap();
        let target = Target::of(&before).unwrap();
        let theirs = json!({"spec": {"template": {"spec": {"hostname": "x"}}}});
        world.cluster.act_as("rival").merge_patch(&target, theirs).await.unwrap();
        let plan = replan(&world, &world.config(&after.to_string()), &state).await.unwrap();
        assert_eq!(plan.action, Action::Replace);
        let told = said(&plan.diagnostics);
        assert!(told.contains("must be replaced") && told.contains(field), "{told}");
    }
}

#[tokio::test]
async fn the_proof_of_a_replacement_is_three_dry_runs_more_and_writes_nothing() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let map = |value: &str| {
        let map = with(object("v1", "ConfigMap", "fixed", ns), "/data", json!({"a": value}));
        with(json!({"it": map}), "/it/immutable", json!(true))["it"].to_string()
    };
    let state = world.create(&map("1")).await.unwrap();
    let config = world.config(&map("2"));
    let plan = replan(&world, &config, &state);
    let (plan, asked) =
        world.cluster.count_during(Filter::by_user(&world.user), plan).await.unwrap();
    assert_eq!(plan.unwrap().action, Action::Replace);
    let objects: Vec<_> = asked.iter().filter(|it| it.uri.contains("configmaps")).collect();
    // The refresh, the change, the stored body, the new object and the overlay. The second half of the
    // replacement finds the object, and reads it.
    assert_eq!(objects.len(), 5 + 2, "{asked:#?}");
    assert!(asked.iter().all(|request| !request.writes()), "{asked:#?}");
}

#[tokio::test]
async fn a_version_that_is_stored_is_no_reason_to_delete_the_definition() {
    let world = World::new().await;
    let group = format!("{}.example.com", world.namespace);
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema":
            {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
    };
    let definition = |versions: Json| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("things.{group}")},
            "spec": {"group": group, "scope": "Namespaced", "versions": versions,
                "names": {"kind": "Thing", "plural": "things"}}})
    };
    let old = definition(json!([version("v1", true)]));
    let state = world.create(&old.to_string()).await.unwrap();
    world.await_served(&old).await;
    let new = definition(json!([version("v2", true)]));
    let told = refused(replan(&world, &world.config(&new.to_string()), &state).await);
    assert!(told.contains("cannot be changed like this"), "{told}");
    assert!(told.contains("must remain in spec.versions until a storage migration"), "{told}");
    world.core().destroy(OBJECT, &state).await.unwrap();
}

#[tokio::test]
async fn a_job_that_is_ignored_no_more_is_replaced_like_one_that_changed() {
    let world = World::new().await;
    let job = |image: &str| {
        let mut job = object("batch/v1", "Job", "it", world.namespace.name());
        job["spec"] = json!({"suspend": true, "template": {"spec": {"restartPolicy": "Never",
            "containers": [{"name": "a", "image": image}]}}});
        // What is ignored does not count as another body, so something else has to.
        job["metadata"]["labels"] = json!({"image": image.replace(':', "-")});
        job.to_string()
    };
    let state = world.create(&job("x:1")).await.unwrap();
    let ignored = Value::Known(Data::List(vec![Value::from("spec.template")]));
    let ignoring =
        world.config_with([("yaml_body", job("x:2").into()), ("ignore_fields", ignored)]);
    let state = world.core().update(OBJECT, &ignoring, &state).await.unwrap();
    let plan = replan(&world, &world.config(&job("x:2")), &state).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let told = said(&plan.diagnostics);
    assert!(told.contains("or list the fields in `ignore_fields`"), "{told}");
    assert!(told.contains("spec.template: "), "{told}");
}
