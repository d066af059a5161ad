//! Every character comes to the server as it was written, and back: random text out of what readers
//! of YAML fold, take for line breaks or refuse, in values, keys and members of sets.

use fastrand::Rng;
use k8sconnect_core::manifest::written;
use k8sconnect_core::yaml::parse_stream;
use serde_json::{Map, Value as Json, json};
use testkit::Target;
use testkit::faults::life::value;
use tfplugin::harness::Action;

use crate::patch::{Ward, text};
use crate::world::{OBJECT, World};

const OBJECTS: u64 = 12;

const PIECES: [&str; 26] = [
    "a",
    "b c",
    " ",
    "  ",
    "\n",
    "\r",
    "\t",
    "\u{1}",
    "\u{1b}",
    "\u{7F}",
    "\u{80}",
    "\u{85}",
    "\u{9F}",
    "\u{A0}",
    "\u{2028}",
    "\u{2029}",
    "\u{FEFF}",
    "\u{FFFD}",
    "\u{FFFE}",
    "\u{FFFF}",
    "\u{E000}",
    "\u{1F600}",
    "\u{10FFFF}",
    "\"",
    "\\",
    ": #é",
];

fn odd_text(rng: &mut Rng) -> String {
    (0..rng.usize(1..8)).map(|_| PIECES[rng.usize(..PIECES.len())]).collect()
}

/// JSON with what a reader of YAML refuses as escapes, and all else bare: also what it reads otherwise.
fn bare(value: &Json) -> String {
    let refused = |it: char| matches!(it, '\u{7F}' | '\u{80}' | '\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
    let escaped = |it: char| format!("\\u{:04x}", u32::from(it));
    let text = value.to_string();
    text.chars().map(|it| if refused(it) { escaped(it) } else { it.to_string() }).collect()
}

/// The fields of a garden that hold any text.
fn odd_spec(rng: &mut Rng) -> Json {
    let labels: Map<_, _> = (0..8).map(|_| (odd_text(rng), odd_text(rng).into())).collect();
    let mut tags: Vec<_> = (0..4).map(|_| odd_text(rng)).collect();
    tags.sort();
    tags.dedup();
    json!({"area": 1, "labels": labels, "tags": tags})
}

#[tokio::test]
async fn no_character_is_changed_on_the_way_to_the_server_nor_by_an_import() {
    let world = World::new().await;
    let kinds = world.kinds();
    let definition = kinds.iter().find(|kind| kind.name == "crd-structural").unwrap();
    world.make(definition).await;
    let api_version = format!("{}.example.com/v1", world.namespace);
    let importing = world.core();
    importing.configure(value(&json!({ "cluster": world.by_token() }))).await.unwrap();
    for seed in 0..OBJECTS {
        let rng = &mut Rng::with_seed(seed);
        let name = format!("odd-{seed}");
        let mut body = crate::patch::object(&api_version, "Garden", &name, world.namespace.name());
        body["metadata"]["annotations"] = json!({"example.com/odd": odd_text(rng)});
        body["spec"] = odd_spec(rng);
        let text_of_body = if seed % 2 == 0 { bare(&body) } else { written(&body) };
        let state = world.create(&text_of_body).await.unwrap();
        let live = world.cluster.read(&Target::of(&body).unwrap()).await.unwrap().unwrap();
        for path in ["/metadata/annotations/example.com~1odd", "/spec/labels", "/spec/tags"] {
            assert_eq!(live.pointer(path), body.pointer(path), "{path} by seed {seed}");
        }
        let core = world.core();
        let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
        let plan = core.plan(OBJECT, &world.config(&text_of_body), Some(&read)).await.unwrap();
        assert_eq!(plan.action, Action::NoOp, "seed {seed}: {:?}", plan.planned);

        // With its group: other tests serve a kind of this name as well.
        let id = format!("{0}/Garden.{0}.example.com/{name}", world.namespace);
        let imported = importing.import(OBJECT, &id).await.unwrap();
        let generated = text(imported.attribute("yaml_body"));
        let generated = &parse_stream(&generated).unwrap()[0].value;
        assert_eq!(generated["metadata"]["annotations"], body["metadata"]["annotations"]);
        for field in ["labels", "tags"] {
            assert_eq!(generated["spec"][field], body["spec"][field], "by seed {seed}");
        }
    }
    world.clear(std::slice::from_ref(definition)).await;
}

#[tokio::test]
async fn no_form_of_a_patch_changes_a_character() {
    let ward = Ward::config_map().await;
    for seed in 0..OBJECTS {
        let odd = odd_text(&mut Rng::with_seed(seed));
        let whole = json!({"data": {"a": odd}});
        let (form, patch) = match seed % 3 {
            0 => ("patch", bare(&whole)),
            1 => ("merge_patch", bare(&whole)),
            _ => {
                let replace = json!([{"op": "replace", "path": "/data/a", "value": odd}]);
                ("json_patch", bare(&replace))
            }
        };
        let state = ward.create(form, &patch).await;
        assert_eq!(ward.live().await["data"]["a"], odd, "{form} by seed {seed}");
        ward.settled(form, &patch, &state).await;
        ward.destroy(&state).await;
        ward.remake(&ward.body()).await;
    }
}
