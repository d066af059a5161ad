//! Right after an apply there is nothing to do, for every kind, however it is written.

use testkit::respell;
use testkit::specimens::Exhibit;
use tfplugin::harness::{Action, State};

use crate::world::{OBJECT, World};

/// What a fresh process plans for a text, over what is stored.
async fn planned(world: &World, body: &str, stored: &State) -> Result<(), String> {
    let core = world.core();
    let read = core.read(OBJECT, stored).await.map_err(|failure| failure.to_string())?;
    let read = read.present().map_err(|failure| failure.to_string())?;
    let plan = core.plan(OBJECT, &world.config(body), Some(&read)).await;
    let plan = plan.map_err(|failure| failure.to_string())?;
    if plan.action == Action::NoOp && plan.diagnostics.is_empty() {
        return Ok(());
    }
    let shown = |value| format!("{value:?}");
    let before = shown(read.attribute("managed_state_projection"));
    let after = shown(plan.planned.attribute("managed_state_projection").unwrap());
    Err(format!("{:?}, {:?}\n  from {before}\n  to   {after}", plan.action, plan.diagnostics))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_plans_nothing_after_its_apply_nor_when_it_is_respelled() {
    let world = World::new().await;
    let kinds = world.kinds();
    let mut made: Vec<(&Exhibit, State)> = Vec::new();
    for kind in &kinds {
        made.push((kind, world.make(kind).await));
    }
    let mut failures = Vec::new();
    for (kind, state) in &made {
        if let Err(why) = planned(&world, &kind.text, state).await {
            failures.push(format!("{}: {why}", kind.name));
        }
        for seed in 0..3 {
            let text = respell(&kind.value, seed);
            if let Err(why) = planned(&world, &text, state).await {
                failures.push(format!("{} respelled by seed {seed}: {why}\n{text}", kind.name));
            }
        }
    }
    world.clear(&kinds).await;
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The table is worth something only as long as it is as wide as it says.
#[tokio::test]
async fn the_table_holds_thirty_built_in_kinds_and_custom_ones() {
    let world = World::new().await;
    let kinds = world.kinds();
    let (custom, built_in): (Vec<_>, Vec<_>) = kinds
        .iter()
        .map(|kind| (kind.value["apiVersion"].as_str().unwrap(), kind.value["kind"].as_str()))
        .partition(|(api_version, _)| api_version.contains(".example.com/"));
    let distinct: std::collections::BTreeSet<_> = built_in.iter().collect();
    assert!(distinct.len() >= 30, "{}", distinct.len());
    assert!(custom.len() >= 3, "{}", custom.len());
}
