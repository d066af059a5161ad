//! The ownership scripts against a small model of server-side apply. See `ownership/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use k8sconnect_core::ignore::Ignoring;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::owners::{Manager, Operation};
use k8sconnect_core::ownership::{Class, FieldChange};
use k8sconnect_core::plan::{Kept, Planner, Prior};
use serde_json::{Value, json};

type Fields = BTreeMap<String, String>;

/// What a server would hold: values, and for each manager the keys that it owns.
#[derive(Clone, Default)]
struct Model {
    values: Fields,
    entries: BTreeMap<(String, &'static str), BTreeSet<String>>,
}

impl Model {
    fn apply(&mut self, manager: &str, fields: &Fields) {
        let entry = (manager.to_owned(), "Apply");
        let dropped: Vec<_> = self
            .entries
            .get(&entry)
            .into_iter()
            .flatten()
            .filter(|key| !fields.contains_key(*key))
            .cloned()
            .collect();
        for (key, value) in fields {
            if self.values.get(key) != Some(value) {
                self.entries.values_mut().for_each(|keys| {
                    keys.remove(key);
                });
                self.values.insert(key.clone(), value.clone());
            }
        }
        self.entries.insert(entry, fields.keys().cloned().collect());
        for key in dropped {
            if self.entries.values().all(|keys| !keys.contains(&key)) {
                self.values.remove(&key);
            }
        }
        self.tidy();
    }

    fn update(&mut self, manager: &str, changes: &Fields) {
        for (key, value) in changes {
            let new = (!value.is_empty()).then_some(value);
            if self.values.get(key) == new {
                continue;
            }
            self.entries.values_mut().for_each(|keys| {
                keys.remove(key);
            });
            match new {
                Some(value) => {
                    self.values.insert(key.clone(), value.clone());
                    let entry = self.entries.entry((manager.to_owned(), "Update")).or_default();
                    entry.insert(key.clone());
                }
                None => {
                    self.values.remove(key);
                }
            }
        }
        self.tidy();
    }

    fn tidy(&mut self) {
        self.entries.retain(|_, keys| !keys.is_empty());
    }

    fn owners(&self, key: &str) -> String {
        let held = self.entries.iter().filter(|(_, keys)| keys.contains(key));
        let names: BTreeSet<_> = held.map(|((name, op), _)| format!("{name}/{op}")).collect();
        if names.is_empty() { "-".into() } else { names.into_iter().collect::<Vec<_>>().join(" ") }
    }

    fn object(&self) -> Value {
        let managed: Vec<_> = self
            .entries
            .iter()
            .map(|((name, operation), keys)| {
                let fields: BTreeMap<_, _> =
                    keys.iter().map(|key| (format!("f:{key}"), json!({}))).collect();
                json!({"manager": name, "operation": operation, "apiVersion": "v1",
                       "fieldsType": "FieldsV1", "fieldsV1": {"f:data": fields}})
            })
            .collect();
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": self.values,
               "metadata": {"name": "it", "uid": "1", "managedFields": managed}})
    }
}

fn fields(words: &[&str]) -> Fields {
    words
        .iter()
        .map(|word| word.split_once('=').expect("fields are written as `a=1`"))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn manifest(fields: &Fields) -> Manifest {
    let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it"},
                      "data": fields});
    Manifest::parse(&body.to_string()).expect("a ConfigMap")
}

fn worded(changes: &[FieldChange]) -> Vec<String> {
    let owners = |owners: &[Manager]| {
        let mut names: Vec<_> = owners
            .iter()
            .map(|manager| match manager.operation {
                Operation::Apply => format!("{}/Apply", manager.name),
                Operation::Update => format!("{}/Update", manager.name),
            })
            .collect();
        names.sort();
        if names.is_empty() { "nobody".to_owned() } else { names.join(" ") }
    };
    let shown = |text: &Option<String>| {
        text.as_deref().map_or("(absent)".to_owned(), |text| text.trim_matches('"').to_owned())
    };
    let words = |change: &FieldChange| {
        let field = change.path.to_string().replace("data.", "");
        let (live, after, owners) =
            (shown(&change.live), shown(&change.after), owners(&change.owners));
        let (order, line) = match change.class {
            Class::Drifted => (0, format!("reverts {field} from {owners}: {live} -> {after}")),
            Class::TakenFrom => (1, format!("takes {field} from {owners}: {live} -> {after}")),
            Class::OwnershipLost => (2, format!("joins {field} with {owners}")),
            Class::RetainedBy => (3, format!("stays {field} with {owners}")),
            other => (4, format!("{other:?} {field}")),
        };
        change.class.is_reported().then_some((order, line))
    };
    let mut lines: Vec<_> = changes.iter().filter_map(words).collect();
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

fn run(script: &str) {
    let mut model = Model::default();
    let mut kept: Option<(Manifest, Kept)> = None;
    let nothing = Ignoring::default();
    let planner = Planner { manager: "us", ignoring: &nothing };
    let lines: Vec<_> =
        script.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).collect();
    for (n, line) in lines.iter().enumerate() {
        let words: Vec<_> = line.split_whitespace().collect();
        match words.as_slice() {
            _ if line.starts_with(' ') => {}
            ["we", "apply", body @ ..] => {
                model.apply("us", &fields(body));
                let manifest = manifest(&fields(body));
                let (projection, owners) =
                    planner.written(&manifest, &model.object()).expect("readable owners");
                kept =
                    Some((manifest, Kept { owners, texts: projection.texts(None), version: None }));
            }
            ["owners", key, owners @ ..] => {
                let key = key.trim_end_matches(':');
                assert_eq!(model.owners(key), owners.join(" "), "{line}");
            }
            ["plan", body @ ..] => {
                let mut next = model.clone();
                next.apply("us", &fields(body));
                let prior = kept.as_ref().map(|(manifest, kept)| Prior {
                    manifest,
                    id: "id",
                    uid: "1",
                    kept: Some(kept),
                    key: None,
                    ignoring: &nothing,
                });
                let desired = manifest(&fields(body));
                let decision = planner
                    .decide(&desired, prior, Some(&model.object()), &next.object())
                    .expect("readable owners");
                let expected: Vec<_> = lines[n + 1..]
                    .iter()
                    .take_while(|line| line.starts_with(' '))
                    .map(|line| line.trim().to_owned())
                    .collect();
                assert_eq!(worded(&decision.changes), expected, "{line}");
            }
            [manager, "applies" | "forces", body @ ..] => model.apply(manager, &fields(body)),
            [manager, "updates", changes @ ..] => model.update(manager, &fields(changes)),
            _ => panic!("`{line}` is no line of a script"),
        }
    }
}

#[test]
fn every_script_comes_out_as_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ownership");
    let mut ran = 0;
    for entry in std::fs::read_dir(folder).expect("the scripts") {
        let path = entry.expect("a script").path();
        if path.extension().is_some_and(|extension| extension == "script") {
            let script = std::fs::read_to_string(&path).expect("readable");
            let outcome = std::panic::catch_unwind(|| run(&script));
            assert!(outcome.is_ok(), "{} went otherwise", path.display());
            ran += 1;
        }
    }
    assert!(ran >= 9, "only {ran} scripts were found");
}
