//! Random stories of several managers on one object, told to a real server and to a simple model of
//! one. After every step both must agree on each value and each owner; what was planned is what was
//! applied, and the plan after an apply is empty.
//!
//! A failure names its seed. `K8SCONNECT_MODEL_SEED` tells the same story again, and
//! `K8SCONNECT_MODEL_STEPS` longer ones.

mod ours;
mod patched;
mod server;
mod turns;

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Value as Json, json};
use testkit::Target;

use crate::patch::refused;
use crate::world::{OBJECT, World};
use server::{Conflicts, Fields, LEAVES, Leaf, Server};

const STORIES: u64 = 4;
const STEPS: usize = 12;

pub(crate) fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

/// One object and those who write it.
pub(crate) struct Story<'a> {
    world: &'a World,
    name: String,
    rng: Rng,
    model: Option<Server>,
    whose: Whose,
    told: Vec<String>,
}

/// Whose object it is that bears the name: one that was deleted and made again by others is theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    Ours,
    Theirs,
}

impl<'a> Story<'a> {
    fn new(world: &'a World, name: &str, seed: u64) -> Self {
        let told = vec![format!("K8SCONNECT_MODEL_SEED={seed}")];
        let (name, rng) = (format!("{name}-{seed}"), Rng::with_seed(seed));
        Self { world, name, rng, model: None, whose: Whose::Theirs, told }
    }

    fn tell(&mut self, line: String) {
        self.told.push(line);
    }

    /// The story so far, for whoever has to find out why it ends badly.
    fn so_far(&self) -> String {
        self.told.join("\n")
    }

    fn target(&self) -> Target {
        let api_version = format!("{}.example.com/v1", self.world.namespace);
        Target::new(&api_version, "Garden", self.world.namespace.name(), &self.name)
    }

    fn body(&self, fields: &Fields) -> Json {
        let Target { api_version, kind, namespace, name } = self.target();
        json!({"apiVersion": api_version, "kind": kind, "spec": server::spec(fields),
               "metadata": {"name": name, "namespace": namespace}})
    }

    fn some_of(&mut self, leaves: &[Leaf], odds: f64) -> Vec<Leaf> {
        leaves.iter().copied().filter(|_| self.rng.f64() < odds).collect()
    }

    fn some_fields(&mut self) -> Fields {
        let mut fields: Fields = [(Leaf::Area, 0)].into();
        for leaf in self.some_of(&LEAVES, 0.5) {
            fields.insert(leaf, self.rng.u8(..leaf.choices()));
        }
        fields
    }

    /// Somebody else applies, by force or not.
    async fn they_apply(&mut self) {
        let who = *self.rng.choice(&["argo", "flux"]).unwrap();
        let fields = self.some_fields();
        let conflicts = *self.rng.choice(&[Conflicts::Refuse, Conflicts::Force]).unwrap();
        self.tell(format!("{who} applies {fields:?}, {conflicts:?}"));
        let rival = self.world.cluster.act_as(who);
        let rival = if conflicts == Conflicts::Force { rival.force() } else { rival };
        let answer = rival.try_apply(self.body(&fields)).await.unwrap();
        let accepted = answer.accepted();
        // The server stumbles over a map or a list of which the last goes, whoever takes it away.
        if accepted
            .as_ref()
            .is_err_and(|error| error.to_string().contains("in body must be of type"))
        {
            self.tell("  which the server cannot do".into());
            return;
        }
        let mut model = self.model.take().unwrap_or_default();
        let done = model.apply(who, &fields, conflicts);
        assert_eq!(accepted.is_ok(), done, "{accepted:?}\n{}", self.so_far());
        self.model = Some(model).filter(|model| !model.values.is_empty());
    }

    /// Somebody edits the object as `kubectl edit` does.
    async fn they_edit(&mut self) {
        let Some(mut model) = self.model.clone() else { return };
        let who = *self.rng.choice(&["alice", "hpa"]).unwrap();
        let mut changes = BTreeMap::new();
        for leaf in self.some_of(&LEAVES[1..], 0.3) {
            let removed = self.rng.f64() < 0.3;
            changes.insert(leaf, (!removed).then(|| self.rng.u8(..leaf.choices())));
        }
        self.tell(format!("{who} edits {changes:?}"));
        let mut patch = json!({});
        let live = self.live().await.unwrap();
        for (leaf, wanted) in &changes {
            let value = wanted.map_or(Json::Null, |choice| leaf.value(choice));
            match leaf {
                Leaf::Label(name) => patch["labels"][*name] = value,
                // A list is replaced as a whole; what stays keeps its place.
                Leaf::Tag(_) | Leaf::Bed(_) => {
                    let list = leaf.list().unwrap();
                    let so_far = patch.get(list).unwrap_or(&live["spec"][list]).clone();
                    let mut items = so_far.as_array().cloned().unwrap_or_default();
                    match (items.iter_mut().find(|item| leaf.is_of(item)), wanted) {
                        (Some(item), Some(_)) => *item = value,
                        (None, Some(_)) => items.push(value),
                        (_, None) => items.retain(|item| !leaf.is_of(item)),
                    }
                    if json!(items) != so_far {
                        patch[list] = json!(items);
                    }
                }
                Leaf::Area => patch["area"] = value,
                Leaf::Title => patch["title"] = value,
                Leaf::Walled => patch["walled"] = value,
                Leaf::Seal => patch["seal"] = value,
            }
        }
        model.update(who, &changes);
        let patch = json!({"spec": patch});
        self.world.cluster.act_as(who).merge_patch(&self.target(), patch).await.unwrap();
        self.model = Some(model);
    }

    async fn live(&self) -> Option<Json> {
        self.world.cluster.read(&self.target()).await.unwrap()
    }

    /// Nothing is lost, nothing is taken that was not to be, and nobody holds what he should not.
    async fn agrees(&mut self) {
        let seen = self.live().await.as_ref().map(Server::seen);
        let owned = |server: &Option<Server>| server.clone().map(Server::owned);
        assert_eq!(owned(&seen), owned(&self.model), "{}", self.so_far());
        self.model = seen;
    }
}

async fn stories<'a, F: Future<Output = ()>>(
    world: &'a World,
    tell: impl Fn(&'a World, u64, usize) -> F,
) {
    let definition = world.kinds().into_iter().find(|kind| kind.name == "crd-structural").unwrap();
    world.make(&definition).await;
    let steps =
        number("K8SCONNECT_MODEL_STEPS").map_or(STEPS, |steps| usize::try_from(steps).unwrap());
    match number("K8SCONNECT_MODEL_SEED") {
        Some(seed) => tell(world, seed, steps).await,
        None => {
            // The usual run tells the same stories each time; a long one tells new ones.
            let first = match steps {
                STEPS => 1,
                _ => fastrand::u64(..1_000_000_000),
            };
            for seed in first..first + STORIES {
                tell(world, seed, steps).await;
            }
        }
    }
    world.clear(&[definition]).await;
}

#[tokio::test]
async fn an_object_of_ours_is_what_the_model_says_whatever_others_do() {
    let world = World::new().await;
    stories(&world, ours::tell).await;
}

#[tokio::test]
async fn a_patched_object_is_what_the_model_says_and_all_of_it_goes_back() {
    let world = World::new().await;
    stories(&world, patched::tell).await;
}

#[tokio::test]
async fn patches_that_take_fields_from_each_other_by_turns_give_all_of_it_back() {
    let world = World::new().await;
    stories(&world, turns::tell).await;
}

/// Found by such a story: the server makes null of the empty map, and it was taken for a field that
/// cannot change.
#[tokio::test]
async fn a_map_that_others_leave_empty_is_no_reason_to_replace_the_object() {
    let world = World::new().await;
    let definition = world.kinds().into_iter().find(|kind| kind.name == "crd-structural").unwrap();
    world.make(&definition).await;
    let story = Story::new(&world, "emptied", 0);
    let body = |fields: &[(Leaf, u8)]| {
        let fields = [(Leaf::Area, 0)].into_iter().chain(fields.iter().copied()).collect();
        world.config(&story.body(&fields).to_string())
    };
    let core = world.core();
    let state = core.create(OBJECT, &body(&[])).await.unwrap();
    let none = json!({"spec": {"labels": {"y": null}}});
    world.cluster.act_as("alice").merge_patch(&story.target(), none).await.unwrap();
    let state = core.update(OBJECT, &body(&[(Leaf::Label("x"), 0)]), &state).await.unwrap();
    let said = refused(core.plan(OBJECT, &body(&[]), Some(&state)).await);
    assert!(said.contains("cannot combine the change with its other fields"), "{said}");
    world.clear(&[definition]).await;
}
