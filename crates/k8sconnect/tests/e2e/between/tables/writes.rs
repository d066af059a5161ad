//! What others do, by the kind of object that it makes sense for.

use k8sconnect_core::identity::ID_ANNOTATION;
use serde_json::{Value, json};

use super::{Effect, How, Theirs, Write};

const fn write(name: &'static str, effect: Effect, how: How, theirs: Theirs) -> Write {
    Write { name, effect, how, theirs }
}

/// Meddles with what is ours.
const fn meddles(name: &'static str, how: How) -> Write {
    write(name, Effect::Changes, how, Theirs::Nothing)
}

/// Writes what is only theirs.
const fn adds(name: &'static str, how: How) -> Write {
    write(name, Effect::Changes, how, Theirs::AllOfIt)
}

const fn displaces(name: &'static str, effect: Effect, how: How) -> Write {
    write(name, effect, how, Theirs::Nothing)
}

/// What can be done to an object of whatever kind.
pub(super) static ANY_KIND: &[Write] = &[
    adds("a label", How::Merge(|| json!({"metadata": {"labels": {"team": "theirs"}}}))),
    adds("an annotation", How::Merge(|| json!({"metadata": {"annotations": {"note.of/x": "y"}}}))),
    meddles(
        "our id removed",
        How::Merge(|| json!({"metadata": {"annotations": {ID_ANNOTATION: null}}})),
    ),
    meddles("all ownership erased", How::Merge(|| json!({"metadata": {"managedFields": [{}]}}))),
    displaces("a deletion", Effect::Deletes, How::Delete),
    displaces("another in its place", Effect::Replaces, How::Create(|| json!({}))),
    displaces("a restored backup", Effect::Restores, How::Restore),
    displaces("the same before us", Effect::Forestalls, How::Create(|| json!({}))),
    displaces(
        "more before us",
        Effect::Forestalls,
        How::Create(|| json!({"metadata": {"labels": {"team": "theirs"}}})),
    ),
    displaces(
        "one with another id before us",
        Effect::Forestalls,
        How::Create(|| json!({"metadata": {"annotations": {ID_ANNOTATION: "theirs"}}})),
    ),
];

pub(super) static CONFIG_MAP: &[Write] = &[
    meddles(
        "a leaf of ours changed",
        How::Merge(|| json!({"data": {"app.conf": "workers = 9\n"}})),
    ),
    meddles(
        "a leaf changed to what we want",
        How::Merge(|| json!({"data": {"app.conf": "workers = 3\n"}})),
    ),
    meddles(
        "a leaf of ours applied alike",
        How::Apply("flux", || json!({"data": {"greeting": "hello"}})),
    ),
    meddles(
        "a leaf of ours taken by force",
        How::Apply("flux", || json!({"data": {"greeting": "salut"}})),
    ),
    meddles("a leaf of ours deleted", How::Merge(|| json!({"data": {"greeting": null}}))),
    meddles("all leaves deleted", How::Merge(|| json!({"data": null}))),
    adds("a leaf of theirs", How::Merge(|| json!({"data": {"theirs": "1"}}))),
    adds("a leaf of theirs applied", How::Apply("flux", || json!({"data": {"x.y": "1"}}))),
    adds("binary data", How::Merge(|| json!({"binaryData": {"theirs.bin": "AAAA"}}))),
];

pub(super) static DEPLOYMENT: &[Write] = &[
    meddles("a leaf of ours changed", How::Strategic(|| of_web(json!({"image": "nginx:0.1"})))),
    meddles(
        "a leaf changed to what we want",
        How::Strategic(|| of_web(json!({"image": "nginx:1.30"}))),
    ),
    meddles("our replicas scaled", How::Scale(5)),
    meddles(
        "a quantity of ours respelt",
        How::Apply("flux", || of_web(json!({"resources": {"limits": {"cpu": "1"}}}))),
    ),
    meddles(
        "a quantity of ours changed",
        How::Strategic(|| of_web(json!({"resources": {"limits": {"cpu": "250m"}}}))),
    ),
    meddles(
        "a leaf of ours deleted",
        How::Json(|| json!([{"op": "remove", "path": "/spec/replicas"}])),
    ),
    meddles(
        "an item of ours deleted",
        How::Json(|| json!([{"op": "remove", "path": "/spec/template/spec/containers/0/env/0"}])),
    ),
    meddles(
        "a list of ours deleted",
        How::Json(|| json!([{"op": "remove", "path": "/spec/template/spec/containers/0/env"}])),
    ),
    meddles(
        "our items reordered",
        How::Json(|| {
            json!([{"op": "replace", "path": "/spec/template/spec/containers/0/env", "value": [
                {"name": "B", "value": "two"}, {"name": "A", "value": "one"},
            ]}])
        }),
    ),
    adds(
        "an item of theirs",
        How::Strategic(|| of_web(json!({"env": [{"name": "C", "value": "theirs"}]}))),
    ),
    write(
        "an item of theirs at the head",
        Effect::Changes,
        How::Json(|| {
            json!([{"op": "add", "path": "/spec/template/spec/containers/0",
                "value": {"name": "sidecar", "image": "mesh:1"}}])
        }),
        Theirs::This(|| of_containers(json!({"name": "sidecar", "image": "mesh:1"}))),
    ),
    adds(
        "our port for another protocol",
        How::Apply("flux", || of_web(json!({"ports": [{"containerPort": 80, "protocol": "UDP"}]}))),
    ),
    adds("a leaf of theirs", How::Merge(|| json!({"spec": {"minReadySeconds": 5}}))),
    adds("a default changed", How::Merge(|| json!({"spec": {"revisionHistoryLimit": 3}}))),
    adds(
        "a label below",
        How::Merge(|| json!({"spec": {"template": {"metadata": {"labels": {"mesh": "on"}}}}})),
    ),
    adds(
        "status",
        How::Status(|| {
            json!({"status": {"conditions": [
                {"type": "Theirs", "status": "True", "reason": "Because", "message": "so"},
            ]}})
        }),
    ),
];

pub(super) static HOLLOW: &[Write] = &[
    adds("a label", How::Merge(|| json!({"metadata": {"labels": {"team": "theirs"}}}))),
    adds("binary data", How::Merge(|| json!({"binaryData": {"theirs.bin": "AAAA"}}))),
    adds("binary data applied", How::Apply("flux", || json!({"binaryData": {"a.b": "AAAA"}}))),
];

pub(super) static VESSEL: &[Write] = &[
    adds(
        "a filled struct",
        How::Merge(|| of_pod(json!({"securityContext": {"runAsNonRoot": true}}))),
    ),
    adds(
        "a struct filled by apply",
        How::Apply("flux", || of_pod(json!({"securityContext": {"runAsUser": 7}}))),
    ),
    meddles(
        "an atomic map filled",
        How::Merge(|| of_pod(json!({"nodeSelector": {"disk": "theirs"}}))),
    ),
    meddles(
        "an atomic map filled by apply",
        How::Apply("flux", || of_pod(json!({"nodeSelector": {"disk": "theirs"}}))),
    ),
    adds(
        "a null filled",
        How::Merge(|| {
            let term = json!({"topologyKey": "zone"});
            let anti = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
            of_pod(json!({"affinity": {"podAntiAffinity": anti}}))
        }),
    ),
    meddles(
        "our volume before us",
        How::Strategic(|| {
            of_pod(json!({"volumes": [{"name": "scratch", "emptyDir": {"medium": "Memory"}}]}))
        }),
    ),
];

pub(super) static SECRET: &[Write] = &[
    meddles("a leaf of ours changed", How::Merge(|| json!({"data": {"pass.word": "dGhpcmQ="}}))),
    meddles(
        "a leaf changed to what we want",
        How::Merge(|| json!({"data": {"pass.word": "c2Vjb25k"}})),
    ),
    meddles("a leaf of ours deleted", How::Merge(|| json!({"data": {"user": null}}))),
    adds("a leaf of theirs", How::Merge(|| json!({"data": {"theirs": "MQ=="}}))),
];

pub(super) static RESPELT: &[Write] = &[
    meddles(
        "a quantity of ours respelt",
        How::Apply("flux", || of_web(json!({"resources": {"limits": {"cpu": "1"}}}))),
    ),
    meddles(
        "a quantity of ours changed",
        How::Strategic(|| of_web(json!({"resources": {"limits": {"cpu": "250m"}}}))),
    ),
    meddles("the drift taken back", How::Scale(2)),
    adds("an annotation", How::Merge(|| json!({"metadata": {"annotations": {"note.of/x": "y"}}}))),
];

pub(super) static SCALED: &[Write] = &[
    write(
        "scaled",
        Effect::Changes,
        How::Scale(5),
        Theirs::This(|| json!({"spec": {"replicas": 5}})),
    ),
    adds("scaled by apply", How::Apply("autoscaler", || json!({"spec": {"replicas": 6}}))),
    meddles(
        "the ignored leaf deleted",
        How::Json(|| json!([{"op": "remove", "path": "/spec/replicas"}])),
    ),
    meddles("a leaf of ours changed", How::Strategic(|| of_web(json!({"image": "nginx:0.2"})))),
    meddles("all ownership erased", How::Merge(|| json!({"metadata": {"managedFields": [{}]}}))),
    adds("status", How::Status(|| json!({"status": {"collisionCount": 3}}))),
    displaces("a deletion", Effect::Deletes, How::Delete),
];

pub(super) static NOTED: &[Write] = &[
    adds("the ignored leaf changed", How::Merge(|| json!({"data": {"app.conf": "theirs"}}))),
    adds(
        "the ignored annotation applied",
        How::Apply("flux", || json!({"metadata": {"annotations": {"example.com/note": "theirs"}}})),
    ),
    meddles("the ignored leaf deleted", How::Merge(|| json!({"data": {"app.conf": null}}))),
    meddles("all leaves deleted", How::Merge(|| json!({"data": null}))),
    meddles("a leaf of ours changed", How::Merge(|| json!({"data": {"greeting": "salut"}}))),
    meddles("all ownership erased", How::Merge(|| json!({"metadata": {"managedFields": [{}]}}))),
];

pub(super) static RELEASED: &[Write] = &[
    adds("the ignored leaf changed", How::Strategic(|| of_web(json!({"image": "nginx:9"})))),
    adds("the ignored leaf applied", How::Apply("ci", || of_web(json!({"image": "nginx:8"})))),
    meddles("our replicas scaled", How::Scale(5)),
];

pub(super) static PEACEFUL: &[Write] = &[
    adds("a label", How::Merge(|| json!({"metadata": {"labels": {"team": "theirs"}}}))),
    adds("a leaf of theirs", How::Apply(RIVAL, || json!({"data": {"theirs": "1"}}))),
    meddles(
        "a leaf of ours applied alike",
        How::Apply(RIVAL, || json!({"data": {"greeting": "hello"}})),
    ),
    meddles("a leaf of ours deleted", How::Merge(|| json!({"data": {"greeting": null}}))),
    displaces(
        "a leaf of ours taken by force",
        Effect::Contests,
        How::Apply(RIVAL, || json!({"data": {"greeting": "salut"}})),
    ),
];

/// Who applies, and gives up again what is contested.
pub(in super::super) const RIVAL: &str = "flux";

pub(super) static GARDEN: &[Write] = &[
    adds("a member of theirs", How::Apply("flux", || json!({"spec": {"tags": ["windy"]}}))),
    adds("an item of theirs", How::Apply("flux", || of_bed(json!({"name": "c", "crop": "corn"})))),
    adds("a field in our item", How::Apply("flux", || of_bed(json!({"name": "a", "depth": 3})))),
    meddles(
        "our item taken by force",
        How::Apply("flux", || of_bed(json!({"name": "a", "crop": "corn"}))),
    ),
    meddles("our member removed", How::Json(|| json!([{"op": "remove", "path": "/spec/tags/0"}]))),
    meddles(
        "our items reordered",
        How::Json(|| {
            json!([{"op": "replace", "path": "/spec/beds", "value": [
                {"name": "b", "crop": "kale"}, {"name": "a", "crop": "beans"},
            ]}])
        }),
    ),
    meddles("our atomic list changed", How::Merge(|| json!({"spec": {"path": ["x", "gate"]}}))),
    meddles("a list of ours deleted", How::Merge(|| json!({"spec": {"beds": null}}))),
    displaces("a deletion", Effect::Deletes, How::Delete),
];

fn of_bed(bed: Value) -> Value {
    json!({"spec": {"beds": [bed]}})
}

pub(super) static FOUNDLING: &[Write] = &[
    displaces("the same before us", Effect::Forestalls, How::Create(|| json!({}))),
    write(
        "more before us",
        Effect::Forestalls,
        How::Create(|| json!({"data": {"theirs": "1"}, "metadata": {"labels": {"team": "x"}}})),
        Theirs::This(|| json!({"data": {"theirs": "1"}, "metadata": {"labels": {"team": "x"}}})),
    ),
    displaces(
        "other values before us",
        Effect::Forestalls,
        How::Create(|| json!({"data": {"greeting": "salut"}})),
    ),
    displaces(
        "one with another id before us",
        Effect::Forestalls,
        How::Create(|| json!({"metadata": {"annotations": {ID_ANNOTATION: "theirs"}}})),
    ),
];

fn of_pod(fields: Value) -> Value {
    json!({"spec": {"template": {"spec": fields}}})
}

fn of_containers(container: Value) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [container]}}}})
}

pub(super) fn of_web(mut fields: Value) -> Value {
    fields["name"] = json!("web");
    of_containers(fields)
}
