//! Stories of an object of others that two patches of ours change: every field goes back to whom it
//! was taken from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use tfplugin::Value;
use tfplugin::harness::{Action, State};

use super::Story;
use super::server::{Conflicts, Fields, LEAVES, Leaf, Manager, Server, spec};
use crate::patch::{PATCH, configuration, id, said};
use crate::world::World;

/// A patch that was applied.
struct Made {
    state: State,
    fields: Fields,
    former: BTreeMap<Manager, BTreeSet<Leaf>>,
}

pub(super) async fn tell(world: &World, seed: u64, steps: usize) {
    let mut story = Story::new(world, "patched", seed);
    let whole: Fields = LEAVES.into_iter().map(|leaf| (leaf, 0)).collect();
    story.tell("helm makes it".into());
    world.cluster.act_as("helm").apply(story.body(&whole)).await.unwrap();
    let mut model = Server::default();
    model.apply("helm", &whole, Conflicts::Force);
    story.model = Some(model);
    let mut made: [Option<Made>; 2] = [None, None];
    for _ in 0..steps {
        let which = story.rng.usize(..2);
        match story.rng.u8(..10) {
            0..5 if made[which].is_none() => made[which] = Some(story.we_patch(which).await),
            0..2 => story.we_unpatch(&mut made[which]).await,
            2..5 => story.we_look(&mut made[which]).await,
            5..7 => story.they_apply().await,
            _ => story.they_edit().await,
        }
        story.agrees().await;
    }
    for one in &mut made {
        story.we_unpatch(one).await;
        story.agrees().await;
    }
}

impl Story<'_> {
    fn patch_config(&self, fields: &Fields) -> Value {
        let text = json!({"spec": spec(fields)}).to_string();
        configuration(self.world.kubeconfig(), &self.target(), "patch", &text, &[])
    }

    /// Each of the patches has fields of its own: two that share one are refused.
    async fn we_patch(&mut self, which: usize) -> Made {
        let own: Vec<_> = LEAVES.into_iter().skip(1 + which).step_by(2).collect();
        let mut fields: Fields = [(own[0], self.rng.u8(..own[0].choices()))].into();
        for leaf in self.some_of(&own, 0.5) {
            fields.insert(leaf, self.rng.u8(..leaf.choices()));
        }
        self.tell(format!("we patch {fields:?}"));
        let config = self.patch_config(&fields);
        let plan = self.world.core().plan(PATCH, &config, None).await;
        let plan = plan.unwrap_or_else(|failure| panic!("{failure}\n{}", self.so_far()));
        let state = self.world.core().apply(PATCH, &config, None, &plan).await;
        let state = state.unwrap_or_else(|failure| panic!("{failure}\n{}", self.so_far()));
        let state = state.present().unwrap();
        let before = self.model.clone().unwrap();
        let who = format!("k8sconnect-patch-{}", id(&state));
        let mut after = before.clone();
        after.apply(&who, &fields, Conflicts::Force);
        let lost = |(manager, held): (&Manager, &BTreeSet<Leaf>)| {
            let kept = after.owners.get(manager).cloned().unwrap_or_default();
            (manager.clone(), held.difference(&kept).copied().collect())
        };
        let former = before.owners.iter().map(lost).collect();
        self.model = Some(after);
        let mut made = Some(Made { state, fields, former });
        self.we_look(&mut made).await;
        made.unwrap()
    }

    /// A plan of what stands as we left it is empty; of what others changed it is not.
    async fn we_look(&mut self, made: &mut Option<Made>) {
        let Some(made) = made else { return };
        let core = self.world.core();
        let read = core.read(PATCH, &made.state).await.unwrap().present().unwrap();
        let plan = core.plan(PATCH, &self.patch_config(&made.fields), Some(&read)).await;
        let plan = plan.unwrap_or_else(|failure| panic!("{failure}\n{}", self.so_far()));
        let values = &self.model.as_ref().unwrap().values;
        let stands = made.fields.iter().all(|(leaf, choice)| values.get(leaf) == Some(choice));
        let shown = said(&plan.diagnostics);
        match stands {
            true => assert!(
                plan.action == Action::NoOp || self.took_over(made),
                "{shown}\n{}",
                self.so_far()
            ),
            false => assert_eq!(plan.action, Action::Update, "{shown}\n{}", self.so_far()),
        }
    }

    /// Whether somebody took a field from the patch and gave it the value that it had.
    fn took_over(&self, made: &Made) -> bool {
        let who = (format!("k8sconnect-patch-{}", id(&made.state)), "Apply");
        let held = self.model.as_ref().unwrap().owners.get(&who).cloned().unwrap_or_default();
        made.fields.keys().any(|leaf| !held.contains(leaf))
    }

    async fn we_unpatch(&mut self, made: &mut Option<Made>) {
        let Some(made) = made.take() else { return };
        let who = format!("k8sconnect-patch-{}", id(&made.state));
        self.tell(format!("we destroy the patch {:?}", made.fields));
        self.world.core().destroy(PATCH, &made.state).await.unwrap();
        self.model.as_mut().unwrap().hand_back(&who, &made.former);
    }
}
