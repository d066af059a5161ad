//! Random bodies of the odder shapes a schema allows, and rivals who write the same fields at any
//! moment. No model says what the server should do with each; what is asked is what users rely on:
//! no plan is upset by a write behind it, the plan after an apply is empty, whoever loses a field is
//! named, and what is ignored stays as others left it.
//!
//! `K8SCONNECT_MODEL_SEED` works as for the stories of `model`, and `K8SCONNECT_SHAPES_STEPS` makes the
//! stories longer.

use fastrand::Rng;
use k8sconnect_core::field::FieldSet;
use k8sconnect_core::owners::Owners;
use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::{Action, Failure, State};
use tfplugin::{Data, Value};

use crate::ignoring::with;
use crate::model::number;
use crate::patch::said;
use crate::world::{OBJECT, World};

const STEPS: u64 = 14;

/// What may be written into each field of an attic.
const SHAPES: [(&str, &[&str]); 7] = [
    (
        "free",
        &[
            "{}",
            "{\"q\":{\"x\":1}}",
            "{\"q\":{\"x\":2,\"y\":1}}",
            "{\"q\":{}}",
            "{\"q\":null}",
            "{\"q\":3}",
            "{\"q\":[1]}",
            "{\"q\":{\"x\":{\"z\":1}},\"r\":1}",
            "{\"r.s\":{\"t.u\":1}}",
        ],
    ),
    (
        "shelves",
        &["{}", "{\"l\":[\"a\"]}", "{\"l\":[\"b\",\"a\"]}", "{\"l\":[\"c\"],\"k\":[\"a\"]}"],
    ),
    (
        "boxes",
        &[
            "{\"p\":{\"a\":\"1\"}}",
            "{\"p\":{\"a\":\"2\",\"b\":1}}",
            "{\"p\":{}}",
            "{\"p\":{\"a\":null}}",
        ],
    ),
    (
        "keyed",
        &[
            "[]",
            "null",
            "[{\"name\":\"x\"}]",
            "[{\"name\":\"x\",\"val\":\"1\"}]",
            "[{\"name\":\"x\",\"m\":{\"k\":\"1\"}},{\"name\":\"y\"}]",
            "[{\"name\":\"y\",\"sub\":[\"s\"]},{\"name\":\"x\",\"val\":null}]",
        ],
    ),
    ("seal", &["{}", "null", "{\"c\":\"1\"}", "{\"c\":\"2\",\"d\":\"1\"}"]),
    ("row", &["[]", "null", "[\"a\"]", "[\"a\",\"a\"]"]),
    ("set", &["[]", "null", "[\"a\"]", "[\"b\",\"a\"]"]),
];

const IGNORED: [&str; 14] = [
    "spec.free",
    "spec.free.q",
    "spec.free.q.x",
    "spec.free.*",
    "spec.shelves",
    "spec.shelves.l",
    "spec.boxes.p.a",
    "spec.boxes.*",
    "spec.keyed[name=x]",
    "spec.keyed[name=x].val",
    "spec.keyed",
    "spec.seal",
    "spec.set",
    "manager=rival",
];

fn definition(world: &World) -> Json {
    let text = json!({"type": "string"});
    let set = json!({"type": "array", "nullable": true, "x-kubernetes-list-type": "set",
        "items": text});
    let item = json!({"type": "object", "required": ["name"], "properties": {"name": text,
        "val": {"type": "string", "nullable": true}, "sub": set,
        "m": {"type": "object", "additionalProperties": text}}});
    let spec = json!({"type": "object", "properties": {
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "shelves": {"type": "object", "additionalProperties": set},
        "boxes": {"type": "object", "additionalProperties": {"type": "object", "properties":
            {"a": {"type": "string", "nullable": true}, "b": {"type": "integer"}}}},
        "keyed": {"type": "array", "nullable": true, "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"], "items": item},
        "seal": {"type": "object", "nullable": true, "x-kubernetes-map-type": "atomic",
            "additionalProperties": text},
        "row": {"type": "array", "nullable": true, "items": text}, "set": set}});
    let group = format!("{}.example.com", world.namespace);
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("attics.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"kind": "Attic", "plural": "attics"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}})
}

struct Story<'a> {
    world: &'a World,
    rng: Rng,
    name: String,
    told: Vec<String>,
}

/// What the user wrote.
#[derive(Clone)]
struct Wanted {
    body: Json,
    ignored: Vec<&'static str>,
}

impl Story<'_> {
    fn target(&self) -> Target {
        let api_version = format!("{}.example.com/v1", self.world.namespace);
        Target::new(&api_version, "Attic", self.world.namespace.name(), &self.name)
    }

    fn tell(&mut self, line: String) {
        self.told.push(line);
    }

    fn so_far(&self) -> String {
        self.told.join("\n")
    }

    fn some_fields(&mut self, odds: f64) -> Json {
        let mut fields = json!({});
        for (name, shapes) in SHAPES {
            if self.rng.f64() < odds {
                let shape = self.rng.choice(shapes).unwrap();
                fields[name] = serde_json::from_str(shape).unwrap();
            }
        }
        fields
    }

    fn something(&mut self) -> Wanted {
        let Target { api_version, kind, namespace, name } = self.target();
        let body = json!({"apiVersion": api_version, "kind": kind, "spec": self.some_fields(0.5),
            "metadata": {"name": name, "namespace": namespace}});
        let mut ignored = IGNORED.to_vec();
        ignored.retain(|_| self.rng.f64() < 0.1);
        Wanted { body, ignored }
    }

    fn config(&self, wanted: &Wanted) -> Value {
        let entries = wanted.ignored.iter().map(|entry| Value::from(*entry)).collect();
        let ignored = ("ignore_fields", Value::Known(Data::List(entries)));
        with(self.world.config(&wanted.body.to_string()), &[ignored])
    }

    async fn live(&self) -> Option<Json> {
        self.world.cluster.read(&self.target()).await.unwrap()
    }

    /// A rival writes some of the same fields, if the server lets it.
    async fn they_edit(&mut self) {
        let patch = json!({"spec": self.some_fields(0.3)});
        let rival = self.world.cluster.act_as("rival");
        let written = rival.merge_patch(&self.target(), patch.clone()).await;
        self.tell(format!("rival writes {patch}: {}", written.is_ok()));
    }

    async fn we_apply(&mut self, had: Option<State>, wanted: &Wanted) -> Option<State> {
        self.tell(format!("we want {}, ignoring {:?}", wanted.body["spec"], wanted.ignored));
        let config = self.config(wanted);
        let core = self.world.core();
        let prior = match &had {
            Some(had) => core.read(OBJECT, had).await.unwrap().state,
            None => None,
        };
        let plan = match core.plan(OBJECT, &config, prior.as_ref()).await {
            Ok(plan) => plan,
            Err(failure) => return self.put_up_with(failure, had),
        };
        let mut words = said(&plan.diagnostics);
        let before = self.live().await;
        // What is left to a manager by name is what it held when it was last looked at; a list that
        // it held as an empty one then, it may hold item by item behind the plan.
        let may_meddle = plan.action != Action::NoOp && !wanted.ignored.contains(&"manager=rival");
        let meddled = may_meddle && before.is_some() && self.rng.f64() < 0.4;
        if meddled {
            self.they_edit().await;
        }
        let core = self.world.core();
        let outcome = match core.apply(OBJECT, &config, prior.as_ref(), &plan).await {
            Ok(outcome) => outcome,
            Err(failure) => return self.put_up_with(failure, had),
        };
        words += &said(&outcome.diagnostics);
        let after = self.live().await.unwrap();
        if let Some(before) = before.filter(|_| !meddled) {
            self.nobody_is_robbed_in_silence(&before, &after, &words);
        }
        let state = outcome.state.unwrap();
        let core = self.world.core();
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &config, Some(&read)).await.unwrap_or_else(|failure| {
            panic!("after an apply: {failure:?}\n{}", self.so_far());
        });
        let words = said(&plan.diagnostics);
        assert_eq!(plan.action, Action::NoOp, "{words}\n{:?}\n{}", plan.planned, self.so_far());
        Some(read)
    }

    /// The server may refuse a shape, never Terraform what we make of it.
    fn put_up_with(&mut self, failure: Failure, had: Option<State>) -> Option<State> {
        match failure {
            Failure::Refused { .. } => {
                self.tell(format!("  refused: {}", said(&failure.diagnostics())));
                had
            }
            broken => panic!("{broken:?}\n{}", self.so_far()),
        }
    }

    fn nobody_is_robbed_in_silence(&self, before: &Json, after: &Json, words: &str) {
        let held = |object: &Json| -> FieldSet {
            let owners = Owners::of_object(object).unwrap();
            let rivals = owners.0.iter().filter(|owner| owner.manager.name == "rival");
            rivals.fold(FieldSet::default(), |all, owner| all.union(&owner.fields))
        };
        let (then, now) = (held(before), held(after));
        for lost in then.leaves().into_iter().filter(|path| now.below(path).is_none()) {
            let mut named = lost.clone();
            while !words.contains(&named.shown()) {
                assert!(
                    named.pop().is_some() && named.elements().len() > 1,
                    "`{lost}` is lost in silence\n{words}\n{}",
                    self.so_far()
                );
            }
        }
    }
}

async fn tell(world: &World, seed: u64, steps: u64) {
    let told = vec![format!("K8SCONNECT_MODEL_SEED={seed}")];
    let (name, rng) = (format!("a-{seed}"), Rng::with_seed(seed));
    let mut story = Story { world, rng, name, told };
    let mut state = None;
    let mut wanted = story.something();
    for _ in 0..steps {
        match story.rng.u8(..10) {
            0..4 => story.they_edit().await,
            4 => {}
            _ => wanted = story.something(),
        }
        state = story.we_apply(state, &wanted).await;
    }
    if std::env::var_os("K8SCONNECT_MODEL_SEED").is_some() {
        eprintln!("{}", story.so_far());
    }
}

#[tokio::test]
async fn whatever_is_written_where_others_write_too_no_plan_is_upset_and_nobody_robbed_in_silence()
{
    let world = World::new().await;
    let definition = definition(&world);
    world.create(&definition.to_string()).await.unwrap();
    world.await_served(&definition).await;
    let steps = number("K8SCONNECT_SHAPES_STEPS").unwrap_or(STEPS);
    let seeds = match number("K8SCONNECT_MODEL_SEED") {
        Some(seed) => seed..seed + 1,
        None if steps == STEPS => 1..5,
        None => {
            let first = fastrand::u64(..1_000_000_000);
            first..first + 4
        }
    };
    for seed in seeds {
        tell(&world, seed, steps).await;
    }
}
