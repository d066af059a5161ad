//! Fields that others hold, in a kind of the test's own that has every sort of map and list: how
//! they are named, and that none of them goes untold.

mod versions;

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::{Action, Failure, PlanOutcome, State};
use tfplugin::{Data, Value};

use crate::patch::{object, refused, said};
use crate::world::{OBJECT, World};

struct Story {
    world: World,
    definition: Json,
}

impl Story {
    async fn new() -> Self {
        let world = World::new().await;
        let group = format!("{}.example.com", world.namespace);
        let set =
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
        let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let spec = json!({"type": "object", "properties": {
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "lists": {"type": "object", "additionalProperties": set},
            "size": {"type": "integer"},
            "keyed": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"}, "texts": texts, "set": set}}},
        }});
        let schema = json!({"type": "object", "properties": {"spec": spec}});
        let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition", "metadata": {"name": format!("things.{group}")},
            "spec": {"group": group, "scope": "Namespaced",
                "names": {"kind": "Thing", "plural": "things"},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": schema}}]}});
        world.cluster.act_as("admin").apply(&definition).await.unwrap();
        world.await_served(&definition).await;
        Self { world, definition }
    }

    fn body(&self, spec: &Json) -> Json {
        let ns = self.world.namespace.name();
        json!({"apiVersion": format!("{ns}.example.com/v1"), "kind": "Thing", "spec": spec,
            "metadata": {"name": "it", "namespace": ns}})
    }

    async fn rival(&self, patch: Json) {
        let target = Target::of(&self.body(&json!({}))).unwrap();
        self.world.cluster.act_as("rival").merge_patch(&target, patch).await.unwrap();
    }

    async fn create(&self, spec: &Json) -> State {
        self.world.create(&self.body(spec).to_string()).await.unwrap()
    }

    async fn plan(&self, spec: &Json, state: &State) -> Result<PlanOutcome, Failure> {
        replan(&self.world, &self.world.config(&self.body(spec).to_string()), state).await
    }

    async fn end(self) {
        let target = Target::of(&self.definition).unwrap();
        self.world.cluster.delete(&target).await.unwrap();
    }
}

/// What a provider that was just started plans for the object, after a refresh.
async fn replan(world: &World, config: &Value, state: &State) -> Result<PlanOutcome, Failure> {
    let core = world.core();
    let read = core.read(OBJECT, state).await?.present()?;
    core.plan(OBJECT, config, Some(&read)).await
}

/// The server tells a conflict by a text in which a dot of a key looks like a step.
#[tokio::test]
async fn without_force_a_key_with_dots_is_named_as_ignore_fields_wants_it() {
    let story = Story::new().await;
    let world = &story.world;
    let body = |value: &str, label: &str| {
        let mut body = story.body(&json!({
            "free": {"q.r": {"x": value}},
            "keyed": [{"name": "ab", "texts": {"x.y": value}}],
        }));
        body["metadata"]["labels"] = json!({"app.kubernetes.io/name": label});
        body
    };
    let ours = body("ours", "our");
    let config = |ignored: &[&str]| {
        let ignored = ignored.iter().copied().map(Value::from).collect();
        world.config_with([
            ("yaml_body", Value::from(ours.to_string().as_str())),
            ("force_conflicts", Value::from(false)),
            ("ignore_fields", Value::Known(Data::List(ignored))),
        ])
    };
    let state = world.core().create(OBJECT, &config(&[])).await.unwrap();
    let theirs = body("theirs", "their");
    story
        .rival(
            json!({"metadata": {"labels": theirs["metadata"]["labels"]}, "spec": theirs["spec"]}),
        )
        .await;
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let planned = refused(core.plan(OBJECT, &config(&[]), Some(&read)).await);
    // A process that has read nothing, as the one that applies.
    let applied = refused(world.core().plan(OBJECT, &config(&[]), Some(&read)).await);
    let fields = [
        "metadata.labels[\"app.kubernetes.io/name\"]",
        "spec.free[\"q.r\"].x",
        "spec.keyed[name=ab].texts[\"x.y\"]",
    ];
    for told in [planned, applied] {
        assert!(told.contains("3 fields held by other managers"), "{told}");
        for field in fields {
            assert!(
                told.contains(&format!("{field} held by `rival` (Update, ")),
                "{field}: {told}"
            );
        }
        assert!(told.contains("is now their yours our"), "{told}");
        assert_eq!(told.matches("is now theirs yours ours").count(), 2, "{told}");
    }
    let told = refused(replan(world, &config(&fields[..1]), &state).await);
    assert!(told.contains("2 fields held by other managers"), "{told}");
    story.end().await;
}

fn settings(world: &World, data: &Json) -> Json {
    let mut map = object("v1", "ConfigMap", "settings", world.namespace.name());
    map["data"] = data.clone();
    map
}

#[tokio::test]
async fn a_plan_that_cannot_compare_names_what_others_changed() {
    let world = World::new().await;
    let body = |data: Json| settings(&world, &data);
    let state = world.create(&body(json!({"a.b": "1", "c": "1"})).to_string()).await.unwrap();
    let rival = world.cluster.act_as("rival");
    let target = Target::of(&body(json!({}))).unwrap();
    rival.merge_patch(&target, json!({"data": {"a.b": "theirs", "new": "theirs"}})).await.unwrap();
    let text = body(json!({"a.b": "2", "c": "1", "new": "2"})).to_string();
    let next = world.config(&text);
    let unknown_body = world.config_with([("yaml_body", Value::Unknown)]);
    let unknown_cluster = Value::Known(Data::object([
        ("yaml_body", Value::from(text.as_str())),
        ("cluster", Value::Unknown),
    ]));
    for open in [unknown_body, unknown_cluster] {
        let planning = world.core();
        let read = planning.read(OBJECT, &state).await.unwrap().present().unwrap();
        let plan = planning.plan(OBJECT, &open, Some(&read)).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("1 field changed by others may be set back"), "{told}");
        assert!(told.contains("data[\"a.b\"] held by `rival` (Update, "), "{told}");
    }
    let read = world.core().read(OBJECT, &state).await.unwrap().present().unwrap();
    let state = world.core().update(OBJECT, &next, &read).await.unwrap();
    let plan = replan(&world, &next, &state).await.unwrap();
    assert_eq!((plan.action, said(&plan.diagnostics).as_str()), (Action::NoOp, ""));
}

/// The server removes a map or an item with the last who holds it, whatever others put into it.
#[tokio::test]
async fn whoever_keeps_a_list_from_being_emptied_is_named_with_a_way_that_works() {
    let story = Story::new().await;
    let state = story.create(&json!({"keyed": [{"name": "a"}], "free": {"r": 1}})).await;
    story.rival(json!({"spec": {"keyed": [{"name": "a", "texts": {"theirs": "1"}}]}})).await;
    for spec in [json!({"keyed": [], "free": {"r": 1}}), json!({"free": {"r": 1}})] {
        let refused = refused(story.plan(&spec, &state).await);
        assert!(refused.contains("cannot combine the change with its other fields"), "{refused}");
        assert!(refused.contains("`rival` (Update, "), "{refused}");
    }
    story.rival(json!({"spec": {"keyed": null}})).await;
    story.plan(&json!({"free": {"r": 1}}), &state).await.unwrap();
}

#[tokio::test]
async fn what_others_put_into_what_we_drop_is_told_before_it_goes() {
    let story = Story::new().await;
    let whole = json!({
        "free": {"q": {"x": 2}, "s": {"t": {"u": 1}}, "r": 1},
        "keyed": [{"name": "a", "texts": {"ours": "1"}}, {"name": "b"}],
        "lists": {"x": ["ours"], "y": ["ours"]},
    });
    let state = story.create(&whole).await;
    story
        .rival(json!({"spec": {
            "free": {"q": {"y": 7}, "s": {"t": {"v": 7}}},
            "keyed": [{"name": "a", "texts": {"ours": "1", "their.s": "1"}, "set": ["theirs"]},
                {"name": "b"}],
            "lists": {"x": ["ours", "theirs"]},
        }}))
        .await;
    let told = said(&story.plan(&whole, &state).await.unwrap().diagnostics);
    assert_eq!(told, "", "what stays is nobody's loss");
    let mut emptied = whole.clone();
    emptied["lists"]["y"] = json!([]);
    let refused = refused(story.plan(&emptied, &state).await);
    assert!(refused.contains("cannot combine the change with its other fields"), "{refused}");
    assert!(refused.contains("spec.lists.y in body must be of type array"), "{refused}");
    let rest = json!({"free": {"r": 1}, "keyed": [{"name": "b"}], "lists": {"y": ["ours"]}});
    let told = said(&story.plan(&rest, &state).await.unwrap().diagnostics);
    let went = |told: &str, field: &str, value: &str| {
        let line = format!("{field} held by `rival` (Update, ");
        let (_, after) = told.split_once(&line).unwrap_or_else(|| panic!("{field}: {told}"));
        assert!(after.contains(&format!("is now {value} will be (absent)")), "{field}: {told}");
    };
    for (field, value) in [
        ("spec.free.q.y", "7"),
        ("spec.free.s.t.v", "7"),
        (
            "spec.keyed[name=a]",
            "{\"name\":\"a\",\"set\":[\"theirs\"],\"texts\":{\"ours\":\"1\",\"their.s\":\"1\"}}",
        ),
        ("spec.lists.x[=\"theirs\"]", "theirs"),
    ] {
        went(&told, field, value);
    }
    story.end().await;
}

#[tokio::test]
async fn an_order_that_others_made_is_told_where_the_change_is_another_one() {
    let world = World::new().await;
    let body = |app: &str, names: &[&str]| {
        let ports = [("http", 80), ("admin", 81), ("debug", 82)].map(|(name, port)| {
            json!({"name": name, "port": port, "targetPort": port, "protocol": "TCP"})
        });
        let by_name = |name: &&str| ports.iter().find(|it| it["name"] == **name).unwrap().clone();
        let mut service = object("v1", "Service", "web", world.namespace.name());
        let ports: Vec<_> = names.iter().map(by_name).collect();
        service["spec"] = json!({"selector": {"app": app}, "ports": ports});
        service
    };
    let ours = body("a", &["http", "admin"]);
    let state = world.create(&ours.to_string()).await.unwrap();
    let theirs = body("a", &["admin", "http"]);
    let target = Target::of(&ours).unwrap();
    let patch = json!({"spec": {"ports": theirs["spec"]["ports"]}});
    world.cluster.act_as("rival").merge_patch(&target, patch).await.unwrap();
    for (next, is_told) in [
        (body("b", &["http", "admin"]), true),
        (body("a", &["http", "debug", "admin"]), true),
        (body("b", &["admin", "http"]), false),
    ] {
        let config = world.config(&next.to_string());
        let told = said(&replan(&world, &config, &state).await.unwrap().diagnostics);
        assert_eq!(told.contains("will be brought back into your order"), is_told, "{told}");
    }
}

/// Found by fresh eyes: a taking was announced with "No changes", and the advice was to write a field
/// that nobody may write.
#[tokio::test]
async fn the_id_of_another_state_is_told_once_and_not_as_a_field() {
    let story = Story::new().await;
    let spec = json!({"size": 1});
    let state = story.create(&spec).await;
    let mark = json!({"metadata": {"annotations": {
        "k8sconnect.terraform.io/terraform-id": "11111111-1111-1111-1111-111111111111"}}});
    story.rival(mark).await;
    let plan = story.plan(&spec, &state).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
    let told = said(&plan.diagnostics);
    assert!(told.contains("bears the id of another state"), "{told}");
    assert!(!told.contains("will be taken"), "{told}");
    story.end().await;
}

/// Found by fresh eyes: the conflict was told, and neither that the object is there nor what it holds.
#[tokio::test]
async fn without_force_what_is_there_already_is_told_as_such() {
    let story = Story::new().await;
    let world = &story.world;
    world.cluster.act_as("rival").create(story.body(&json!({"size": 1}))).await.unwrap();
    let ours = story.body(&json!({"size": 2})).to_string();
    let config = |adopt: bool| {
        world.config_with([
            ("yaml_body", Value::from(ours.as_str())),
            ("force_conflicts", Value::from(false)),
            ("adopt", Value::from(adopt)),
        ])
    };
    let told = refused(world.core().plan(OBJECT, &config(false), None).await);
    assert!(told.contains("exists already"), "{told}");
    let told = refused(world.core().plan(OBJECT, &config(true), None).await);
    assert!(told.contains("spec.size held by `rival` (Update, "), "{told}");
    assert!(told.contains("is now 1 yours 2"), "{told}");
    story.end().await;
}

#[tokio::test]
async fn a_manager_that_is_newly_yielded_to_is_told_with_those_there_are() {
    let story = Story::new().await;
    let world = &story.world;
    let ours = story.body(&json!({"size": 2})).to_string();
    let config = |ignored: &[&str]| {
        let ignored = ignored.iter().copied().map(Value::from).collect();
        world.config_with([
            ("yaml_body", Value::from(ours.as_str())),
            ("ignore_fields", Value::Known(Data::List(ignored))),
        ])
    };
    let state = world.core().create(OBJECT, &config(&[])).await.unwrap();
    story.rival(json!({"spec": {"free": {"a": 1}}})).await;
    let told = said(&replan(world, &config(&["manager=rivla"]), &state).await.unwrap().diagnostics);
    assert!(told.contains("known after apply"), "{told}");
    assert!(told.contains("held by `rivla` now. Its managers are `k8sconnect`, `rival`"), "{told}");
    let told = said(&replan(world, &config(&["manager=rival"]), &state).await.unwrap().diagnostics);
    assert!(!told.contains("Its managers are"), "{told}");
    let told = refused(replan(world, &config(&["manager=k8sconnect"]), &state).await);
    assert!(told.contains("k8sconnect itself"), "{told}");
    story.end().await;
}

/// Found by fresh eyes: a second plan that differed from the first stopped the apply when the old object
/// was gone; and a port that only the old object held was a dead end.
#[tokio::test]
async fn what_follows_another_object_is_promised_nothing_and_its_refusal_names_the_way_out() {
    let world = World::new().await;
    let body = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "namespace": world.namespace.name()},
            "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
    };
    let state = world.create(&body("old").to_string()).await.unwrap();
    let plan = replan(&world, &world.config(&body("new").to_string()), &state).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    assert_eq!(plan.planned.attribute("managed_state_projection"), Some(&Value::Unknown));

    let target = Target::of(&body("old")).unwrap();
    let live = world.cluster.read(&target).await.unwrap().unwrap();
    let mut same_port = body("new");
    same_port["spec"]["ports"][0]["nodePort"] = live["spec"]["ports"][0]["nodePort"].clone();
    let told = refused(replan(&world, &world.config(&same_port.to_string()), &state).await);
    assert!(told.contains("already allocated"), "{told}");
    assert!(told.contains("apply -destroy -target=ADDRESS"), "{told}");
}
