//! Which fields a body has, said by us and recorded by a real server: random objects of a kind that
//! merges in every way there is, applied by random managers.

use fastrand::Rng;
use k8sconnect_core::field::{Atom, FieldPath, FieldSet, PathElement, fields_v1};
use serde_json::{Map, Value as Json, json};
use testkit::owners::owners;

use crate::world::World;

const OBJECTS: usize = 60;

/// A random value and its fields, which are put in where it stands.
struct Author {
    rng: Rng,
    at: FieldPath,
    fields: FieldSet,
}

type Write = Box<dyn Fn(&mut Author) -> Json>;

impl Author {
    fn maybe(&mut self) -> bool {
        self.rng.bool()
    }

    fn leaf(&mut self, value: Json) -> Json {
        self.fields.insert(&self.at);
        value
    }

    fn below<T>(&mut self, element: PathElement, write: impl FnOnce(&mut Self) -> T) -> T {
        self.at.push(element);
        let written = write(self);
        self.at.pop();
        written
    }

    fn word(&mut self) -> String {
        let words =
            ["", "a", "b.c/d", "on", "0", "é", "x y", "\"q\"", "e\u{301}", "a=b", "[0]", "\\"];
        (*self.rng.choice(words).unwrap()).to_owned()
    }

    /// A map of which each entry is there or not; an empty one is a field of its own.
    fn map(&mut self, entries: Vec<(String, Write)>) -> Json {
        let mut map = Map::new();
        for (name, write) in entries {
            if self.maybe() && !map.contains_key(&name) {
                let value = self.below(PathElement::field(name.clone()), write);
                map.insert(name, value);
            }
        }
        if map.is_empty() {
            self.fields.insert(&self.at);
        }
        Json::Object(map)
    }

    /// A list whose items have owners of their own, and that records nothing where it has none.
    fn set(&mut self, members: Vec<Json>) -> Json {
        let chosen: Vec<_> = members.into_iter().filter(|_| self.rng.bool()).collect();
        for member in &chosen {
            self.below(PathElement::Value(Atom(member.clone())), |it| it.leaf(Json::Null));
        }
        Json::Array(chosen)
    }

    /// Items by key fields; the fields of each are written by `write`.
    fn keyed(
        &mut self,
        keys: Vec<Json>,
        write: impl Fn(&mut Self, &mut Map<String, Json>),
    ) -> Json {
        let mut items = Vec::new();
        for key in keys {
            if !self.maybe() {
                continue;
            }
            let mut item = key.as_object().unwrap().clone();
            let named =
                item.iter().map(|(name, value)| (name.clone(), Atom(value.clone()))).collect();
            self.below(PathElement::key(named), |it| {
                it.fields.insert(&it.at);
                for name in key.as_object().unwrap().keys() {
                    it.below(PathElement::field(name.clone()), |it| it.leaf(Json::Null));
                }
                write(it, &mut item);
            });
            items.push(Json::Object(item));
        }
        Json::Array(items)
    }

    fn beds(&mut self) -> Json {
        let keys =
            (1..4).flat_map(|row| ["left", "right"].map(|side| json!({"row": row, "side": side})));
        self.keyed(keys.collect(), |it, bed| {
            if it.maybe() {
                let plant = it.word();
                bed.insert(
                    "plant".into(),
                    it.below(PathElement::field("plant"), |it| it.leaf(json!(plant))),
                );
            }
            if it.maybe() {
                bed.insert(
                    "water".into(),
                    it.below(PathElement::field("water"), |it| {
                        it.map(vec![
                            ("litres".into(), Box::new(|it| it.leaf(json!(1.5)))),
                            ("when".into(), Box::new(|it| it.leaf(json!("noon")))),
                        ])
                    }),
                );
            }
            if it.maybe() {
                bed.insert(
                    "guests".into(),
                    it.below(PathElement::field("guests"), |it| {
                        let names = [it.word(), format!("{}-", it.word())];
                        it.keyed(names.map(|name| json!({"name": name})).to_vec(), |it, guest| {
                            if it.maybe() {
                                guest.insert(
                                    "role".into(),
                                    it.below(PathElement::field("role"), |it| it.leaf(json!("on"))),
                                );
                            }
                        })
                    }),
                );
            }
        })
    }

    fn spec(&mut self) -> Json {
        let mut spec = self.map(vec![
            (
                "title".into(),
                Box::new(|it| {
                    let word = it.word();
                    it.leaf(json!(word))
                }),
            ),
            ("walled".into(), Box::new(|it| it.leaf(json!(true)))),
            ("ratio".into(), Box::new(|it| it.leaf(json!(0.1)))),
            ("motto".into(), Box::new(|it| it.leaf(Json::Null))),
            ("port".into(), Box::new(|it| it.leaf(json!("http")))),
            (
                "labels".into(),
                Box::new(|it| {
                    let entries = (0..4).map(|_| {
                        let write: Write = Box::new(|it| it.leaf(json!("v")));
                        (it.word(), write)
                    });
                    let entries = entries.collect();
                    it.map(entries)
                }),
            ),
            ("seal".into(), Box::new(|it| it.leaf(json!({"colour": "red"})))),
            (
                "tags".into(),
                Box::new(|it| it.set(["b", "a", "c=d", "", "é"].map(Json::from).to_vec())),
            ),
            ("lots".into(), Box::new(|it| it.set([3, -1, 0].map(Json::from).to_vec()))),
            ("rows".into(), Box::new(|it| it.leaf(json!([{"seeds": []}])))),
            ("beds".into(), Box::new(|it| it.beds())),
        ]);
        // With the area, which the kind wants, it is never empty.
        self.fields = self.fields.difference(&[self.at.clone()].into_iter().collect());
        spec["area"] = self.below(PathElement::field("area"), |it| it.leaf(json!(5)));
        spec
    }
}

#[tokio::test]
async fn the_fields_of_a_body_are_those_that_the_server_records() {
    let world = World::new().await;
    let definition = world.kinds().into_iter().find(|kind| kind.name == "crd-structural").unwrap();
    world.make(&definition).await;
    let seed = 1;
    let mut rng = Rng::with_seed(seed);
    for n in 0..OBJECTS {
        let mut author = Author {
            rng: rng.fork(),
            at: FieldPath::fields(["spec"]),
            fields: FieldSet::default(),
        };
        let body = json!({
            "apiVersion": format!("{}.example.com/v1", world.namespace), "kind": "Garden",
            "metadata": {"name": format!("it-{n}"), "namespace": world.namespace.name()},
            "spec": author.spec(),
        });
        let manager = format!("manager {}", rng.char('a'..='z'));
        let answer = world.cluster.act_as(&manager.replace(' ', "%20")).apply(body.clone()).await;
        let answer = answer.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{body:#}"));
        let entry = owners(&answer).into_iter().find(|owner| owner.manager == manager).unwrap();
        let recorded = fields_v1::decode(&entry.fields).unwrap();
        assert_eq!(recorded, author.fields, "seed {seed}\n{body:#}\n{:#}", entry.fields);
        assert_eq!(fields_v1::encode(&recorded), entry.fields, "seed {seed}");
    }
    world.clear(&[definition]).await;
}
