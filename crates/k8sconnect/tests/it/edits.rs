//! No edit of a user's is swallowed: every scalar of every kind, changed in turn, and every leaf,
//! removed in turn, is planned as an update or a replacement, or refused with a word on why.

use std::sync::Arc;

use testkit::Filter;
use testkit::specimens::Exhibit;
use testkit::sweep::{Specimen, Tally, Way};
use tfplugin::harness::State;
use tokio::task::JoinSet;

use crate::world::World;

async fn edit_every_leaf(world: Arc<World>, kind: Exhibit, stored: State, way: Way) -> Tally {
    let core = world.core();
    let kubeconfig = world.kubeconfig.clone();
    let specimen = Specimen { kubeconfig, manifest: kind.value, stored };
    let mut tally = Tally::default();
    for edit in way.edits(&specimen.manifest) {
        let verdict = edit.plan(&core, &specimen).await;
        tally.note(&edit, &verdict);
    }
    for told in tally.swallowed.iter_mut().chain(&mut tally.unread) {
        told.insert_str(0, &format!("{}: ", kind.name));
    }
    tally
}

async fn nothing_is_swallowed(way: Way) {
    let world = Arc::new(World::new().await);
    let kinds = world.kinds();
    let mut made = Vec::new();
    for kind in &kinds {
        made.push((kind.clone(), world.make(kind).await));
    }
    let sweep = async {
        let mut tasks = JoinSet::new();
        for (kind, state) in made {
            tasks.spawn(edit_every_leaf(Arc::clone(&world), kind, state, way));
        }
        tasks.join_all().await
    };
    let (tallies, asked) =
        world.cluster.count_during(Filter::by_user(&world.user), sweep).await.unwrap();
    world.clear(&kinds).await;

    let mut sum = Tally::default();
    tallies.into_iter().for_each(|tally| sum.add(tally));
    assert_eq!(sum.faults(), [""; 0]);
    // A server that refused nearly all of them would have shown nothing.
    assert!(sum.updated > sum.refused / 2, "{sum}");
    let wrote: Vec<_> = asked.iter().filter(|request| request.writes()).collect();
    assert!(asked.len() > sum.updated && wrote.is_empty(), "{wrote:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_leaf_of_every_kind_that_is_changed_is_planned_and_planning_writes_nothing() {
    nothing_is_swallowed(Way::Change).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_leaf_of_every_kind_that_is_removed_is_planned_and_planning_writes_nothing() {
    nothing_is_swallowed(Way::Remove).await;
}
