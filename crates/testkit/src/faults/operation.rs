//! What is done, as data: each operation of each resource, on an object of its own. The same
//! tables serve the provider in process and real Terraform, which reads configurations as JSON.

use serde_json::{Value as Json, json};

use crate::target::Target;

/// Who applies what is patched, imported and adopted.
pub const FORMER: &str = "helm";

/// Where an operation has its object.
#[derive(Debug, Clone)]
pub struct Place {
    pub namespace: String,
    pub name: String,
    kind: (&'static str, &'static str),
}

impl Place {
    pub fn target(&self) -> Target {
        Target::new(self.kind.0, self.kind.1, self.namespace.as_str(), &self.name)
    }

    /// An object with nothing but its names, and these fields.
    pub fn object(&self, fields: Json) -> Json {
        let mut object = json!({
            "apiVersion": self.kind.0, "kind": self.kind.1,
            "metadata": { "name": self.name, "namespace": self.namespace },
        });
        merge(&mut object, fields);
        object
    }

    /// How configurations name it.
    fn reference(&self) -> Json {
        json!({ "api_version": self.kind.0, "kind": self.kind.1,
                "name": self.name, "namespace": self.namespace })
    }
}

fn merge(into: &mut Json, more: Json) {
    match (into, more) {
        (Json::Object(fields), Json::Object(more)) => {
            for (name, value) in more {
                merge(fields.entry(name).or_insert(Json::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    Object,
    Patch,
    Wait,
    /// The data source of one object.
    Look,
}

impl Resource {
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Object | Self::Look => "k8sconnect_object",
            Self::Patch => "k8sconnect_patch",
            Self::Wait => "k8sconnect_wait",
        }
    }
}

/// The part of an operation that faults befall.
#[derive(Clone, Copy)]
pub enum Course {
    /// A configuration is applied.
    Apply(fn(&Place) -> Json),
    Destroy,
    /// What is there is imported, and a configuration applied to it.
    Import(fn(&Place) -> Json),
}

/// All attributes of a configuration, or all fields of an object beside its names.
type Of = fn(&Place) -> Json;

#[derive(Clone)]
pub struct Operation {
    pub name: &'static str,
    pub resource: Resource,
    kind: (&'static str, &'static str),
    /// What [`FORMER`] applies before anything else.
    pub given: Option<Of>,
    /// What was applied in peace before.
    pub before: Option<Of>,
    pub course: Course,
    /// What somebody writes while the operation watches the object.
    pub prompt: Option<Of>,
    /// What the object holds in the end; `None` where it is to be gone.
    pub wanted: Option<Of>,
    /// Whether it is to be another object in the end.
    pub same: Same,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Same {
    Object,
    Replaced,
}

impl Operation {
    pub fn place(&self, namespace: &str, name: &str) -> Place {
        Place { namespace: namespace.to_owned(), name: name.to_owned(), kind: self.kind }
    }

    fn new(name: &'static str, resource: Resource, course: Course) -> Self {
        Self {
            name,
            resource,
            kind: ("v1", "ConfigMap"),
            given: None,
            before: None,
            course,
            prompt: None,
            wanted: None,
            same: Same::Object,
        }
    }

    fn given(self, given: Of) -> Self {
        Self { given: Some(given), ..self }
    }

    fn before(self, before: Of) -> Self {
        Self { before: Some(before), ..self }
    }

    fn wanted(self, wanted: Of) -> Self {
        Self { wanted: Some(wanted), ..self }
    }

    fn deployment(self) -> Self {
        Self { kind: ("apps/v1", "Deployment"), ..self }
    }
}

/// Every operation.
pub fn operations() -> Vec<Operation> {
    use Course::{Apply, Destroy, Import};
    use Resource::{Look, Object, Patch, Wait};
    let operation = Operation::new;
    vec![
        operation("object-create", Object, Apply(first)).wanted(first_data),
        operation("object-update", Object, Apply(second)).before(first).wanted(second_data),
        operation("object-ignoring", Object, Apply(more_pods))
            .deployment()
            .before(few_pods)
            .wanted(
                |_| json!({ "spec": { "template": { "metadata": { "labels": { "v": "2" } } } } }),
            ),
        Operation {
            same: Same::Replaced,
            ..operation("object-replace", Object, Apply(frozen_second))
                .before(frozen_first)
                .wanted(second_data)
        },
        operation("object-delete", Object, Destroy).before(first),
        operation("object-import", Object, Import(first)).given(first_data).wanted(first_data),
        operation("object-adopt", Object, Apply(adopting)).given(second_data).wanted(first_data),
        operation("patch-create", Patch, Apply(patch)).given(theirs).wanted(patched),
        operation("patch-update", Patch, Apply(patch_again))
            .given(theirs)
            .before(patch)
            .wanted(patched_again),
        operation("patch-destroy", Patch, Destroy).given(theirs).before(patch).wanted(patched),
        operation("merge-create", Patch, Apply(merge_patch)).given(theirs).wanted(patched),
        operation("merge-update", Patch, Apply(merge_patch_again))
            .given(theirs)
            .before(merge_patch)
            .wanted(patched_again),
        operation("merge-destroy", Patch, Destroy)
            .given(theirs)
            .before(merge_patch)
            .wanted(patched),
        operation("json-create", Patch, Apply(json_patch)).given(theirs).wanted(patched),
        operation("json-update", Patch, Apply(json_patch_again))
            .given(theirs)
            .before(json_patch)
            .wanted(patched_again),
        operation("json-destroy", Patch, Destroy).given(theirs).before(json_patch).wanted(patched),
        Operation {
            prompt: Some(|_| json!({ "data": { "step": "done" } })),
            ..operation("wait", Wait, Apply(wait))
                .given(theirs)
                .wanted(|_| json!({ "data": { "step": "done" } }))
        },
        operation("data-object", Look, Apply(Place::reference)).given(theirs).wanted(theirs),
    ]
}

fn body(place: &Place, fields: Json) -> Json {
    json!({ "yaml_body": place.object(fields).to_string() })
}

fn first_data(_: &Place) -> Json {
    json!({ "data": { "greeting": "hello", "app.conf": "workers = 2" } })
}

fn second_data(_: &Place) -> Json {
    json!({ "data": { "greeting": "good day", "farewell": "bye" } })
}

fn first(place: &Place) -> Json {
    body(place, first_data(place))
}

fn second(place: &Place) -> Json {
    body(place, second_data(place))
}

fn adopting(place: &Place) -> Json {
    let mut whole = first(place);
    whole["adopt"] = json!(true);
    whole
}

/// The server refuses to change an object that says so: it is replaced.
fn frozen(place: &Place, mut fields: Json) -> Json {
    fields["immutable"] = json!(true);
    body(place, fields)
}

fn frozen_first(place: &Place) -> Json {
    frozen(place, first_data(place))
}

fn frozen_second(place: &Place) -> Json {
    frozen(place, second_data(place))
}

/// A deployment whose replicas are left to others.
fn pods(place: &Place, version: &str) -> Json {
    let labels = json!({ "app": place.name, "v": version });
    let mut whole = body(
        place,
        json!({ "spec": {
            "replicas": 0,
            "selector": { "matchLabels": { "app": place.name } },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [{ "name": "app", "image": "shop/app:9" }] },
            },
        } }),
    );
    whole["ignore_fields"] = json!(["spec.replicas"]);
    whole
}

fn few_pods(place: &Place) -> Json {
    pods(place, "1")
}

fn more_pods(place: &Place) -> Json {
    pods(place, "2")
}

fn theirs(_: &Place) -> Json {
    json!({ "data": { "a": "helm", "b": "helm", "c": "helm", "step": "waiting" } })
}

fn patched(_: &Place) -> Json {
    json!({ "data": { "a": "ours", "b": "ours", "c": "helm" } })
}

fn patched_again(_: &Place) -> Json {
    json!({ "data": { "b": "ours", "c": "ours" } })
}

fn patching(place: &Place, attribute: &str, text: String) -> Json {
    json!({ "target": place.reference(), attribute: text })
}

fn some() -> String {
    json!({ "data": { "a": "ours", "b": "ours" } }).to_string()
}

fn others() -> String {
    json!({ "data": { "b": "ours", "c": "ours" } }).to_string()
}

fn patch(place: &Place) -> Json {
    patching(place, "patch", some())
}

fn patch_again(place: &Place) -> Json {
    patching(place, "patch", others())
}

fn merge_patch(place: &Place) -> Json {
    patching(place, "merge_patch", some())
}

fn merge_patch_again(place: &Place) -> Json {
    patching(place, "merge_patch", others())
}

fn replacing(keys: [&str; 2]) -> String {
    let operations =
        keys.map(|key| json!({ "op": "replace", "path": format!("/data/{key}"), "value": "ours" }));
    json!(operations).to_string()
}

fn json_patch(place: &Place) -> Json {
    patching(place, "json_patch", replacing(["a", "b"]))
}

fn json_patch_again(place: &Place) -> Json {
    patching(place, "json_patch", replacing(["b", "c"]))
}

fn wait(place: &Place) -> Json {
    json!({
        "object_ref": place.reference(),
        "wait_for": { "field_value": { "data.step": "done" }, "timeout": "60s" },
    })
}
