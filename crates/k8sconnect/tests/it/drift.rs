//! What others take away is seen and put back, also where the object shows little of it.

use serde_json::json;
use testkit::Target;
use tfplugin::harness::Action;
use tfplugin::{Data, Value};

use crate::entangled::replan;
use crate::patch::{object, said};
use crate::world::{OBJECT, World};

#[tokio::test]
async fn an_item_of_which_the_server_keeps_only_the_key_is_put_back_when_others_remove_it() {
    let world = World::new().await;
    let ns = world.namespace.name();
    // An empty `value` is dropped by the server, so only the name is left of the variable.
    let body = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: {ns}}}\nspec:\n  \
         replicas: 0\n  selector: {{matchLabels: {{app: a}}}}\n  template:\n    metadata: {{labels: \
         {{app: a}}}}\n    spec:\n      containers:\n      - name: a\n        image: a\n        \
         env:\n        - {{name: BLANK, value: \"\"}}\n"
    );
    let state = world.create(&body).await.unwrap();
    let target = Target::new("apps/v1", "Deployment", ns, "a");
    let removal = json!([{"op": "remove", "path": "/spec/template/spec/containers/0/env"}]);
    world.cluster.act_as("somebody").json_patch(&target, removal).await.unwrap();

    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &world.config(&body), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    let config = world.config(&body);
    core.apply(OBJECT, &config, Some(&read), &plan).await.unwrap();
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(
        live["spec"]["template"]["spec"]["containers"][0]["env"],
        json!([{"name": "BLANK"}])
    );
}

#[tokio::test]
async fn a_zero_that_the_server_does_not_keep_is_put_back_when_others_change_it() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let body = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: {ns}}}\nspec:\n  \
         replicas: 0\n  paused: false\n  selector: {{matchLabels: {{app: a}}}}\n  template:\n    \
         metadata: {{labels: {{app: a}}}}\n    spec: {{containers: [{{name: a, image: a}}]}}\n"
    );
    let state = world.create(&body).await.unwrap();
    let target = Target::new("apps/v1", "Deployment", ns, "a");
    let pause = json!({"spec": {"paused": true}});
    world.cluster.act_as("kubectl-rollout").merge_patch(&target, pause).await.unwrap();

    let (core, config) = (world.core(), world.config(&body));
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    let told: Vec<_> = plan.diagnostics.iter().map(|told| told.detail.as_str()).collect();
    assert!(told.len() == 1 && told[0].contains("kubectl-rollout"), "{told:?}");
    assert!(told[0].contains("will be  (absent)"), "{told:?}");
    let after = core.apply(OBJECT, &config, Some(&read), &plan).await.unwrap().present().unwrap();
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    assert_eq!(live["spec"]["paused"], json!(null));
    let read = world.core().read(OBJECT, &after).await.unwrap().present().unwrap();
    let plan = world.core().plan(OBJECT, &config, Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
}

#[tokio::test]
async fn an_item_that_others_took_out_is_told_as_one_and_to_ignore_it_is_to_let_it_go() {
    let world = World::new().await;
    let mut service = object("v1", "Service", "it", world.namespace.name());
    // The port of the node is drawn anew.
    service["spec"] = json!({"type": "NodePort",
        "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]});
    let body = service.to_string();
    let state = world.create(&body).await.unwrap();
    let target = Target::of(&service).unwrap();
    let removal = json!([{"op": "remove", "path": "/spec/ports/1"}]);
    world.cluster.act_as("somebody").json_patch(&target, removal).await.unwrap();

    let plan = replan(&world, &world.config(&body), &state).await.unwrap();
    let told = said(&plan.diagnostics);
    let item = "spec.ports[port=81,protocol=TCP]";
    assert!(told.contains("1 field changed outside of Terraform"), "{told}");
    let will = format!(r#"{item} held by nobody is now (absent) will be {{"name":"b","port":81}}"#);
    assert!(told.contains(&will), "{told}");
    let yaml = Value::from(body.as_str());
    let hidden = Value::Known(Data::List(vec![Value::from("spec.ports[port=81].name")]));
    let config = world.config_with([("yaml_body", yaml.clone()), ("sensitive_fields", hidden)]);
    let told = said(&replan(&world, &config, &state).await.unwrap().diagnostics);
    assert!(told.contains(item) && !told.contains(r#""b""#), "{told}");
    let ignored = Value::Known(Data::List(vec![Value::from(item)]));
    let config = world.config_with([("yaml_body", yaml), ("ignore_fields", ignored)]);
    let plan = replan(&world, &config, &state).await.unwrap();
    assert_eq!(said(&plan.diagnostics), "");
    world.core().destroy(OBJECT, &state).await.unwrap();
}
