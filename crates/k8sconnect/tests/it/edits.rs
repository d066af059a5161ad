//! No edit of a user's is swallowed: every scalar of every kind, changed in turn, and every leaf,
//! removed in turn, is planned as an update or a replacement, or refused with a word on why.

use std::sync::Arc;

use k8sconnect_core::yaml::to_yaml;
use serde_json::Value as Json;
use testkit::Filter;
use testkit::specimens::{Exhibit, Place, edited, leaves, scalars, without};
use tfplugin::harness::{Action, Failure, State};
use tokio::task::JoinSet;

use crate::world::{OBJECT, World};

/// What became of the edits of one kind.
#[derive(Default)]
struct Tally {
    updated: usize,
    replaced: usize,
    refused: usize,
    failures: Vec<String>,
}

#[derive(Clone, Copy)]
enum Way {
    Change,
    Remove,
}

impl Way {
    fn places(self, body: &Json) -> Vec<Place> {
        match self {
            Self::Change => scalars(body),
            Self::Remove => leaves(body),
        }
    }

    fn edit(self, body: &Json, place: &Place) -> Json {
        match self {
            Self::Change => edited(body, place),
            Self::Remove => without(body, place),
        }
    }

    /// Whether the projection must tell of it. What is removed may be what the server would have
    /// put there anyway; then only the body's own diff shows it.
    fn must_show(self) -> bool {
        match self {
            Self::Change => true,
            Self::Remove => false,
        }
    }
}

async fn edit_every_leaf(world: Arc<World>, kind: Exhibit, stored: State, way: Way) -> Tally {
    let core = world.core();
    let mut tally = Tally::default();
    for place in way.places(&kind.value) {
        let body = to_yaml(&way.edit(&kind.value, &place));
        let read = core.read(OBJECT, &stored).await.unwrap().present().unwrap();
        let what = format!("{}: {place}", kind.name);
        match core.plan(OBJECT, &world.config(&body), Some(&read)).await {
            Ok(plan) => match plan.action {
                Action::Update => {
                    tally.updated += 1;
                    let before = read.attribute("managed_state_projection");
                    let same = plan.planned.attribute("managed_state_projection") == Some(before);
                    if same && way.must_show() {
                        tally.failures.push(format!("{what}: planned, but the plan shows nothing"));
                    }
                }
                Action::Replace => tally.replaced += 1,
                other => tally.failures.push(format!("{what}: planned as {other:?}")),
            },
            Err(Failure::Refused { .. }) => tally.refused += 1,
            Err(Failure::Broken(rule)) => tally.failures.push(format!("{what}: {rule}")),
        }
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

    let failures: Vec<_> = tallies.iter().flat_map(|tally| &tally.failures).cloned().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let sum = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>();
    let (updated, replaced, refused) =
        (sum(|t| t.updated), sum(|t| t.replaced), sum(|t| t.refused));
    // A server that refused nearly all of them would have shown nothing.
    assert!(updated > refused / 2, "{updated} updated, {replaced} replaced, {refused} refused");
    let wrote: Vec<_> = asked.iter().filter(|request| request.writes()).collect();
    assert!(asked.len() > updated && wrote.is_empty(), "{wrote:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_leaf_of_every_kind_that_is_changed_is_planned_and_planning_writes_nothing() {
    nothing_is_swallowed(Way::Change).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_leaf_of_every_kind_that_is_removed_is_planned_and_planning_writes_nothing() {
    nothing_is_swallowed(Way::Remove).await;
}
