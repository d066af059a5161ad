//! What is applied, what is done with it, and what somebody else does meanwhile. To try another
//! resource or another write, add a row.

use k8sconnect_core::identity::ID_ANNOTATION;
use serde_json::{Value, json};

/// An object that is put through every operation.
pub(super) struct Specimen {
    /// Unlike any other's here.
    pub(super) name: &'static str,
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// Where the server keeps those of namespace `NS`.
    pub(super) collection: &'static str,
    /// `NAME` and `NS` stand for the case's own.
    pub(super) body: &'static str,
    /// Attributes of the resource besides the body.
    pub(super) settings: &'static str,
    /// The user's edit, as a replacement in the body.
    pub(super) edit: (&'static str, &'static str),
    /// What a drift repair finds: a strategic merge patch.
    pub(super) drift: fn() -> Value,
    /// Fields that are in the body and yet others' to decide, as JSON pointers.
    pub(super) ignored: &'static [&'static str],
    pub(super) takeover: Takeover,
    pub(super) operations: &'static [Operation],
    /// Whether what can be done to any object is done to this one too.
    pub(super) breadth: Breadth,
    writes: &'static [Write],
}

/// Whether what is there already is taken over, as its settings say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takeover {
    Refused,
    Wanted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breadth {
    AllWrites,
    OwnWrites,
}

impl Specimen {
    pub(super) fn writes(&self) -> impl Iterator<Item = &'static Write> {
        let more = match self.breadth {
            Breadth::AllWrites => ANY_KIND,
            Breadth::OwnWrites => &[],
        };
        self.writes.iter().chain(more)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    /// After the user's edit.
    Update,
    /// After a drift.
    Repair,
    /// After both.
    UpdateAndRepair,
}

impl Operation {
    /// In an order in which one object can go through all of them.
    pub(super) const ALL: [Self; 4] =
        [Self::Create, Self::Update, Self::Repair, Self::UpdateAndRepair];

    pub(super) fn edits(self) -> bool {
        matches!(self, Self::Update | Self::UpdateAndRepair)
    }

    pub(super) fn drifts(self) -> bool {
        matches!(self, Self::Repair | Self::UpdateAndRepair)
    }
}

const USUAL: &[Operation] = &[Operation::Create, Operation::Update, Operation::Repair];

/// Something that somebody else does.
pub(super) struct Write {
    pub(super) name: &'static str,
    pub(super) effect: Effect,
    pub(super) how: How,
    /// What is theirs afterwards and must never be lost.
    pub(super) theirs: Theirs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The object stays the object that it is.
    Changes,
    /// It is gone.
    Deletes,
    /// It is gone, and another one has its name.
    Replaces,
    /// It is gone, and a copy of it with our id has its name, as from a backup.
    Restores,
    /// One of theirs is there before ours.
    Forestalls,
}

#[derive(Clone, Copy)]
pub(super) enum Theirs {
    Nothing,
    /// All that the write says.
    AllOfIt,
    /// As a partial object.
    This(fn() -> Value),
}

#[derive(Clone, Copy)]
pub(super) enum How {
    Merge(fn() -> Value),
    Strategic(fn() -> Value),
    Json(fn() -> Value),
    /// Through the `status` subresource.
    Status(fn() -> Value),
    /// Through the `scale` subresource.
    Scale(u32),
    /// Server-side apply by a manager of this name, taking what it wants.
    Apply(&'static str, fn() -> Value),
    Delete,
    /// Deletes what is there, then creates our body with this merged into it.
    Create(fn() -> Value),
    Restore,
}

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

pub(super) static SPECIMENS: [Specimen; 8] = [
    Specimen {
        name: "settings",
        api_version: "v1",
        kind: "ConfigMap",
        collection: "/api/v1/namespaces/NS/configmaps",
        body: "
apiVersion: v1
kind: ConfigMap
metadata:
  name: NAME
  namespace: NS
data:
  greeting: hello
  app.conf: |
    workers = 2
",
        settings: "",
        ignored: &[],
        takeover: Takeover::Refused,
        edit: ("workers = 2", "workers = 3\n  more: added"),
        drift: || json!({"data": {"greeting": "drifted"}}),
        operations: USUAL,
        breadth: Breadth::AllWrites,
        writes: CONFIG_MAP_WRITES,
    },
    Specimen {
        name: "web",
        api_version: "apps/v1",
        kind: "Deployment",
        collection: "/apis/apps/v1/namespaces/NS/deployments",
        // Paused, so that hundreds of them start no pods.
        body: "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
  namespace: NS
spec:
  paused: true
  replicas: 2
  selector:
    matchLabels: {app: NAME}
  template:
    metadata:
      labels: {app: NAME}
    spec:
      containers:
      - name: web
        image: nginx:1.29
        env:
        - {name: A, value: one}
        - {name: B, value: two}
        ports:
        - containerPort: 80
        resources:
          limits: {cpu: 1000m}
",
        settings: "",
        ignored: &[],
        takeover: Takeover::Refused,
        edit: (
            "nginx:1.29
        env:
        - {name: A, value: one}",
            "nginx:1.30
        env:
        - {name: D, value: four}",
        ),
        drift: || json!({"spec": {"replicas": 7}}),
        operations: USUAL,
        breadth: Breadth::AllWrites,
        writes: DEPLOYMENT_WRITES,
    },
    Specimen {
        name: "hollow",
        api_version: "v1",
        kind: "ConfigMap",
        collection: "/api/v1/namespaces/NS/configmaps",
        body: "
apiVersion: v1
kind: ConfigMap
metadata:
  name: NAME
  namespace: NS
data:
  greeting: hello
",
        settings: "",
        ignored: &[],
        takeover: Takeover::Refused,
        // Empty maps that others may fill.
        edit: ("\ndata:", "\n  labels: {}\nbinaryData: {}\ndata:"),
        drift: || json!({"data": {"greeting": "drifted"}}),
        operations: &[Operation::Update],
        breadth: Breadth::OwnWrites,
        writes: HOLLOW_WRITES,
    },
    Specimen {
        name: "vessel",
        api_version: "apps/v1",
        kind: "Deployment",
        collection: "/apis/apps/v1/namespaces/NS/deployments",
        body: "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
  namespace: NS
spec:
  paused: true
  selector:
    matchLabels: {app: NAME}
  template:
    metadata:
      labels: {app: NAME}
    spec:
      containers:
      - {name: web, image: nginx, imagePullPolicy: Always}
",
        settings: "",
        ignored: &[],
        takeover: Takeover::Refused,
        edit: (
            "      containers:",
            "      securityContext: {}
      affinity: null
      nodeSelector: {}
      volumes: [{name: scratch, emptyDir: {}}]
      containers:",
        ),
        drift: || json!({"spec": {"paused": false}}),
        operations: &[Operation::Update],
        breadth: Breadth::OwnWrites,
        writes: VESSEL_WRITES,
    },
    Specimen {
        name: "password",
        api_version: "v1",
        kind: "Secret",
        collection: "/api/v1/namespaces/NS/secrets",
        body: "
apiVersion: v1
kind: Secret
metadata:
  name: NAME
  namespace: NS
data:
  user: cm9vdA==
  pass.word: Zmlyc3Q=
",
        settings: "",
        ignored: &[],
        takeover: Takeover::Refused,
        edit: ("Zmlyc3Q=", "c2Vjb25k"),
        drift: || json!({"data": {"user": "ZHJpZnRlZA=="}}),
        operations: USUAL,
        breadth: Breadth::OwnWrites,
        writes: SECRET_WRITES,
    },
    Specimen {
        name: "respelt",
        api_version: "apps/v1",
        kind: "Deployment",
        collection: "/apis/apps/v1/namespaces/NS/deployments",
        body: SCALABLE,
        settings: "",
        ignored: &[],
        takeover: Takeover::Refused,
        // Means the same.
        edit: ("limits: {cpu: 1000m}", "limits: {cpu: \"1\"} # one core"),
        drift: || json!({"spec": {"replicas": 7}}),
        operations: &[Operation::UpdateAndRepair],
        breadth: Breadth::OwnWrites,
        writes: RESPELT_WRITES,
    },
    Specimen {
        name: "scaled",
        api_version: "apps/v1",
        kind: "Deployment",
        collection: "/apis/apps/v1/namespaces/NS/deployments",
        body: SCALABLE,
        settings: "ignore_fields = [\"spec.replicas\"]",
        ignored: &["/spec/replicas"],
        takeover: Takeover::Refused,
        edit: ("nginx:1.29", "nginx:1.30"),
        drift: || of_web(json!({"image": "nginx:0.1"})),
        operations: USUAL,
        breadth: Breadth::OwnWrites,
        writes: SCALED_WRITES,
    },
    Specimen {
        name: "foundling",
        api_version: "v1",
        kind: "ConfigMap",
        collection: "/api/v1/namespaces/NS/configmaps",
        body: "
apiVersion: v1
kind: ConfigMap
metadata:
  name: NAME
  namespace: NS
data:
  greeting: hello
",
        settings: "adopt = true",
        ignored: &[],
        takeover: Takeover::Wanted,
        edit: ("hello", "good day"),
        drift: || json!({"data": {"greeting": "drifted"}}),
        operations: &[Operation::Create],
        breadth: Breadth::OwnWrites,
        writes: FOUNDLING_WRITES,
    },
];

const SCALABLE: &str = "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
  namespace: NS
spec:
  paused: true
  replicas: 2
  selector:
    matchLabels: {app: NAME}
  template:
    metadata:
      labels: {app: NAME}
    spec:
      containers:
      - name: web
        image: nginx:1.29
        resources:
          limits: {cpu: 1000m}
";

/// What can be done to an object of whatever kind.
static ANY_KIND: &[Write] = &[
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

static CONFIG_MAP_WRITES: &[Write] = &[
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

static DEPLOYMENT_WRITES: &[Write] = &[
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

static HOLLOW_WRITES: &[Write] = &[
    adds("a label", How::Merge(|| json!({"metadata": {"labels": {"team": "theirs"}}}))),
    adds("binary data", How::Merge(|| json!({"binaryData": {"theirs.bin": "AAAA"}}))),
    adds("binary data applied", How::Apply("flux", || json!({"binaryData": {"a.b": "AAAA"}}))),
];

static VESSEL_WRITES: &[Write] = &[
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

static SECRET_WRITES: &[Write] = &[
    meddles("a leaf of ours changed", How::Merge(|| json!({"data": {"pass.word": "dGhpcmQ="}}))),
    meddles(
        "a leaf changed to what we want",
        How::Merge(|| json!({"data": {"pass.word": "c2Vjb25k"}})),
    ),
    meddles("a leaf of ours deleted", How::Merge(|| json!({"data": {"user": null}}))),
    adds("a leaf of theirs", How::Merge(|| json!({"data": {"theirs": "MQ=="}}))),
];

static RESPELT_WRITES: &[Write] = &[
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

static SCALED_WRITES: &[Write] = &[
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

static FOUNDLING_WRITES: &[Write] = &[
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

fn of_web(mut fields: Value) -> Value {
    fields["name"] = json!("web");
    of_containers(fields)
}
