//! An object that is to be deleted and made anew is not deleted for a body that no creation would
//! get past.

use testkit::{Filter, Target};
use tfplugin::harness::{Action, Core, Failure, PlanOutcome, State};

use crate::patch::{refused, said};
use crate::world::{OBJECT, World};

fn service(world: &World, spec: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Service, metadata: {{name: it, namespace: {}}}, \
         spec: {{selector: {{app: it}}, {spec}}}}}",
        world.namespace
    )
}

/// What a refresh and a plan of the body make of an object that is to be replaced.
async fn planned(
    world: &World,
    core: &Core,
    body: &str,
    tainted: &State,
) -> Result<PlanOutcome, Failure> {
    let read = core.read(OBJECT, tainted).await?.present()?;
    core.plan(OBJECT, &world.config(body), Some(&State { tainted: true, ..read })).await
}

#[tokio::test]
async fn a_tainted_object_is_not_deleted_for_a_body_that_a_creation_would_refuse() {
    let world = World::new().await;
    let state = world.create(&service(&world, "ports: [{port: 80}]")).await.unwrap();
    let mistake = service(&world, "ports: [{port: 99999999}]");
    let told = refused(planned(&world, &world.core(), &mistake, &state).await);
    assert!(told.contains("could not be created again"), "{told}");
    assert!(told.contains("must be between 1 and 65535"), "{told}");
    let target = Target::new("v1", "Service", world.namespace.name(), "it");
    assert!(world.cluster.read(&target).await.unwrap().is_some());
}

#[tokio::test]
async fn a_tainted_object_may_be_followed_by_one_that_needs_what_it_holds_itself() {
    let world = World::new().await;
    let spec = "type: NodePort, clusterIP: 10.96.78.71, ports: [{port: 80, nodePort: 30878}]";
    let body = service(&world, spec);
    let state = world.create(&body).await.unwrap();
    let plan = planned(&world, &world.core(), &body, &state).await.unwrap();
    assert_eq!((plan.action, said(&plan.diagnostics).as_str()), (Action::Replace, ""));
    let moved = body.replace("10.96.78.71", "10.96.78.72");
    let plan = planned(&world, &world.core(), &moved, &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("may not come back once it is deleted"), "{told}");
    assert!(told.contains("provided port is already allocated"), "{told}");
}

#[tokio::test]
async fn asking_whether_a_tainted_object_can_be_made_anew_costs_one_dry_run() {
    let world = World::new().await;
    let body = world.config_map("settings");
    let state = world.create(&body).await.unwrap();
    let core = world.core();
    let plan = planned(&world, &core, &body, &state);
    let (plan, asked) =
        world.cluster.count_during(Filter::by_user(&world.user), plan).await.unwrap();
    assert_eq!(plan.unwrap().action, Action::Replace);
    let objects: Vec<_> = asked.iter().filter(|it| it.uri.contains("configmaps")).collect();
    // The refresh, the creation that finds it in its way, who it is, and the trial beside it.
    assert_eq!(objects.len(), 4, "{asked:#?}");
    assert!(asked.iter().all(|request| !request.writes()), "{asked:#?}");
}

#[tokio::test]
async fn an_address_out_of_range_is_a_mistake_and_no_reason_to_delete() {
    let world = World::new().await;
    // Without a selector the server fills in two families of addresses, and the change is refused
    // for those.
    for selector in ["selector: {app: it}, ", ""] {
        let body = service(&world, "clusterIP: None, ports: [{port: 80}]");
        let body = body.replace("selector: {app: it}, ", selector);
        let state = world.create(&body).await.unwrap();
        let core = world.core();
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let config = world.config(&body.replace("None", "10.0.0.77"));
        let told = refused(core.plan(OBJECT, &config, Some(&read)).await);
        assert!(told.contains("not in the valid range"), "{told}");
        assert!(!told.contains("must be replaced"), "{told}");
        world.core().destroy(OBJECT, &state).await.unwrap();
    }
}

#[tokio::test]
async fn a_tainted_object_that_others_made_anew_is_said_to_be_another_one() {
    let world = World::new().await;
    let body = world.config_map("it");
    let state = world.create(&body).await.unwrap();
    let tainted = State { tainted: true, ..state };
    let config = world.config(&body);
    // A saved plan, which is applied without another look.
    let core = world.core();
    let read =
        State { tainted: true, ..core.read(OBJECT, &tainted).await.unwrap().present().unwrap() };
    let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap();
    let target = Target::new("v1", "ConfigMap", world.namespace.name(), "it");
    world.cluster.delete(&target).await.unwrap();
    let other = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "it", "namespace": world.namespace.name()}});
    world.cluster.act_as("others").apply(other).await.unwrap();
    let told = refused(world.core().apply(OBJECT, &config, Some(&read), &plan).await);
    assert!(told.contains("is another object") && told.contains("does not match state"), "{told}");
    assert!(!told.contains("not found"), "{told}");
}
