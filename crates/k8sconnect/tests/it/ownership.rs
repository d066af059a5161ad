//! The ownership scripts of the core, replayed against a real API server: the same stories, the
//! same owners, the same notices, read from what the user is told. And what only a real server does:
//! the `stringData` of a Secret, items that go with their last holder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value as Json, json};
use testkit::Target;
use testkit::owners::owners;
use tfplugin::harness::State;
use tfplugin::{Diagnostics, Value};

use crate::adoption::change;
use crate::entangled::replan;
use crate::patch::{object, said};
use crate::world::{OBJECT, World};

type Fields = BTreeMap<String, String>;

fn fields(words: &[&str]) -> Fields {
    words
        .iter()
        .map(|word| word.split_once('=').unwrap())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

struct Story<'a> {
    world: &'a World,
    name: String,
    state: Option<State>,
}

impl Story<'_> {
    fn body(&self, fields: &Fields) -> Json {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": fields,
               "metadata": {"name": self.name, "namespace": self.world.namespace.name()}})
    }

    fn target(&self) -> Target {
        Target::new("v1", "ConfigMap", self.world.namespace.name(), &self.name)
    }

    async fn we_apply(&mut self, fields: &Fields) {
        let body = self.body(fields).to_string();
        let core = self.world.core();
        self.state = Some(match &self.state {
            None => self.world.create(&body).await.unwrap(),
            Some(state) => {
                let read = core.read(OBJECT, state).await.unwrap().present().unwrap();
                core.update(OBJECT, &self.world.config(&body), &read).await.unwrap()
            }
        });
    }

    async fn they_update(&self, manager: &str, fields: &Fields) {
        let data: BTreeMap<_, _> = fields
            .iter()
            .map(|(key, value)| {
                let value = if value.is_empty() { Json::Null } else { json!(value) };
                (key, value)
            })
            .collect();
        let patch = json!({"data": data});
        self.world.cluster.act_as(manager).merge_patch(&self.target(), patch).await.unwrap();
    }

    async fn owners(&self, key: &str) -> String {
        let live = self.world.cluster.read(&self.target()).await.unwrap().unwrap();
        let names: BTreeSet<_> = owners(&live)
            .into_iter()
            .filter(|owner| owner.fields["f:data"].get(format!("f:{key}")).is_some())
            .map(|owner| format!("{}/{}", us(&owner.manager), owner.operation))
            .collect();
        if names.is_empty() { "-".into() } else { names.into_iter().collect::<Vec<_>>().join(" ") }
    }

    async fn plan(&self, fields: &Fields) -> Vec<String> {
        let core = self.world.core();
        let state = self.state.as_ref().unwrap();
        let read = core.read(OBJECT, state).await.unwrap().present().unwrap();
        let config = self.world.config(&self.body(fields).to_string());
        told(&core.plan(OBJECT, &config, Some(&read)).await.unwrap().diagnostics)
    }
}

fn us(manager: &str) -> &str {
    if manager == "k8sconnect" { "us" } else { manager }
}

/// The notices, in the words of the scripts.
fn told(diagnostics: &Diagnostics) -> Vec<String> {
    let mut told = Vec::new();
    for diagnostic in diagnostics.iter() {
        let mut field = "";
        let mut facts = BTreeMap::new();
        for line in diagnostic.detail.lines() {
            if let Some(fact) = line.strip_prefix("    ") {
                let (name, value) = fact.split_at(9);
                facts.insert(name.trim(), value.trim().trim_matches('"').to_owned());
            } else if let Some(path) = line.strip_prefix("  data.") {
                told.extend(sentence(&diagnostic.summary, field, &facts));
                field = path;
                facts.clear();
            }
        }
        told.extend(sentence(&diagnostic.summary, field, &facts));
    }
    told
}

fn sentence(summary: &str, field: &str, facts: &BTreeMap<&str, String>) -> Option<String> {
    let holder = match facts.get("held by")?.as_str() {
        "nobody" => "nobody".to_owned(),
        held => {
            let mut words = held.split(['`', '(', ')', ',', ' ']).filter(|word| !word.is_empty());
            format!("{}/{}", words.next()?, words.next()?)
        }
    };
    let moved = || Some(format!("{} -> {}", facts.get("is now")?, facts.get("will be")?));
    if summary.contains("changed outside") {
        Some(format!("reverts {field} from {holder}: {}", moved()?))
    } else if summary.contains("will be taken") {
        Some(format!("takes {field} from {holder}: {}", moved()?))
    } else if summary.contains("no longer owned") {
        Some(format!("joins {field} with {holder}"))
    } else {
        Some(format!("stays {field} with {holder}"))
    }
}

async fn replay(world: &World, name: &str, script: &str) {
    let mut story = Story { world, name: name.replace('_', "-"), state: None };
    let lines: Vec<_> =
        script.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect();
    for (n, line) in lines.iter().enumerate() {
        let words: Vec<_> = line.split_whitespace().collect();
        match words.as_slice() {
            _ if line.starts_with(' ') => {}
            ["we", "apply", body @ ..] => story.we_apply(&fields(body)).await,
            ["owners", key, owners @ ..] => {
                let key = key.trim_end_matches(':');
                assert_eq!(story.owners(key).await, owners.join(" "), "{name}: {line}");
            }
            ["plan", body @ ..] => {
                let expected: Vec<_> = lines[n + 1..]
                    .iter()
                    .take_while(|line| line.starts_with(' '))
                    .map(|line| line.trim().to_owned())
                    .collect();
                assert_eq!(story.plan(&fields(body)).await, expected, "{name}: {line}");
            }
            [manager, "applies", body @ ..] => {
                let body = story.body(&fields(body));
                world.cluster.act_as(manager).apply(body).await.unwrap();
            }
            [manager, "forces", body @ ..] => {
                let body = story.body(&fields(body));
                world.cluster.act_as(manager).force().apply(body).await.unwrap();
            }
            [manager, "updates", changes @ ..] => {
                story.they_update(manager, &fields(changes)).await;
            }
            _ => panic!("`{line}` is no line of a script"),
        }
    }
}

#[tokio::test]
async fn the_scripts_come_out_the_same_on_a_real_server() {
    let world = World::new().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../k8sconnect-core/tests/ownership");
    let mut ran = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "script") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            replay(&world, &name, &std::fs::read_to_string(&path).unwrap()).await;
            ran += 1;
        }
    }
    assert!(ran >= 9, "only {ran} scripts were found");
}

fn secret_body(world: &World, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: keys\n  namespace: {}\nstringData:\n  \
         a: {value}\n",
        world.namespace
    )
}

#[tokio::test]
async fn whoever_holds_a_secret_through_string_data_is_named_before_it_is_taken() {
    let world = World::new().await;
    let theirs = secret_body(&world, "theirs");
    world.cluster.act_as("flux").apply(theirs.as_str()).await.unwrap();
    let secret = |value: &str, name: &'static str, term: bool| {
        let body = Value::from(secret_body(&world, value).as_str());
        world.config_with([("yaml_body", body), (name, Value::from(term))])
    };
    let plan = world.core().plan(OBJECT, &secret("ours", "adopt", true), None).await.unwrap();
    let told = format!("{:?}", plan.diagnostics);
    assert!(told.contains("will be taken from other managers"), "{told}");
    assert!(told.contains("`flux` (Apply"), "{told}");

    // What has the value that they gave it is held together, and calm.
    let adopting = secret("theirs", "adopt", true);
    let plan = world.core().plan(OBJECT, &adopting, None).await.unwrap();
    let told = format!("{:?}", plan.diagnostics);
    assert!(!told.contains("will be taken from"), "{told}");
    let state = world.core().create(OBJECT, &adopting).await.unwrap();

    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let peaceful = secret("ours", "force_conflicts", false);
    let refused = core.plan(OBJECT, &peaceful, Some(&read)).await.unwrap_err().to_string();
    assert!(refused.contains("`flux` (Apply"), "{refused}");
    let change = secret("ours", "force_conflicts", true);
    let plan = core.plan(OBJECT, &change, Some(&read)).await.unwrap();
    let told = format!("{:?}", plan.diagnostics);
    assert!(told.contains("`flux` (Apply"), "{told}");
}

/// The server removes an item with the last who holds it, and all that others hold in it.
#[tokio::test]
async fn what_others_changed_in_an_item_that_goes_is_told() {
    let world = World::new().await;
    let body = |ports: &str| {
        let namespace = world.namespace.name();
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: web, namespace: {namespace}}}, \
             spec: {{ports: [{ports}]}}}}"
        )
    };
    let (http, admin) =
        ("{name: http, port: 80, targetPort: 8080}", "{name: admin, port: 81, targetPort: 8081}");
    let state = world.create(&body(&format!("{http}, {admin}"))).await.unwrap();
    let port = |name: &str, port: u16, to: u16| json!({"name": name, "port": port, "targetPort": to, "protocol": "TCP"});
    let edit = json!({"spec": {"ports": [port("http", 80, 9090), port("admin", 81, 8081)]}});
    let target = Target::new("v1", "Service", world.namespace.name(), "web");
    world.cluster.act_as("mesh").merge_patch(&target, edit).await.unwrap();
    let core = world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    let plan = core.plan(OBJECT, &world.config(&body(admin)), Some(&read)).await.unwrap();
    let told: String =
        plan.diagnostics.iter().map(|one| format!("{}\n{}\n", one.summary, one.detail)).collect();
    assert!(told.contains("1 field will go, though held by others"), "{told}");
    assert!(told.contains("targetPort") && told.contains("`mesh`"), "{told}");
    world.core().destroy(OBJECT, &state).await.unwrap();
}

#[tokio::test]
async fn an_item_of_which_others_keep_the_key_is_told_to_stay() {
    let world = World::new().await;
    let body = |container: Json| {
        let mut web = object("apps/v1", "Deployment", "web", world.namespace.name());
        web["spec"] = json!({"replicas": 0, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [container]}}});
        web
    };
    let full = |value: &str, port: &str| {
        json!({"name": "main", "image": "a", "env": [{"name": "X", "value": value}],
            "ports": [{"containerPort": 80, "name": port}]})
    };
    world.cluster.act_as("rival").apply(body(full("theirs", "theirs"))).await.unwrap();
    let config = |container: Json| {
        let yaml = Value::from(body(container).to_string());
        world.config_with([("yaml_body", yaml), ("adopt", Value::from(true))])
    };
    let state = world.core().create(OBJECT, &config(full("ours", "ours"))).await.unwrap();
    let bare = config(json!({"name": "main", "image": "a"}));
    let told = said(&replan(&world, &bare, &state).await.unwrap().diagnostics);
    let container = "spec.template.spec.containers[name=main]";
    assert!(told.contains("2 removed fields will stay, held by others"), "{told}");
    for (item, is, left) in [
        ("env[name=X]", r#"{"name":"X","value":"ours"}"#, r#"{"name":"X"}"#),
        (
            "ports[containerPort=80,protocol=TCP]",
            r#"{"containerPort":80,"name":"ours","protocol":"TCP"}"#,
            r#"{"containerPort":80,"protocol":"TCP"}"#,
        ),
    ] {
        let at = told.find(&format!("{container}.{item} held by `rival` (Apply, "));
        let line = &told[at.unwrap_or_else(|| panic!("{item}: {told}"))..];
        assert!(line.contains(&format!("is now {is} will be {left}")), "{item}: {told}");
    }
    // A leaf that stays names its item.
    let state = change(&world, &config(full("theirs", "theirs")), &state).await;
    world.cluster.act_as("rival").apply(body(full("theirs", "theirs"))).await.unwrap();
    let told = said(&replan(&world, &bare, &state).await.unwrap().diagnostics);
    assert!(told.contains("2 removed fields will stay, held by others"), "{told}");
    assert!(told.contains(&format!("{container}.env[name=X].value held by `rival`")), "{told}");
}
