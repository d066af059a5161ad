//! The objects, each with an edit and a drift of its own.

use serde_json::{Value, json};

use super::writes::{self, of_web};
use super::{Breadth, Operation, Specimen, Takeover};

const USUAL: &[Operation] = &[Operation::Create, Operation::Update, Operation::Repair];

pub(in super::super) static SPECIMENS: [Specimen; 12] = [
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
        writes: writes::CONFIG_MAP,
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
        writes: writes::DEPLOYMENT,
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
        writes: writes::HOLLOW,
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
        writes: writes::VESSEL,
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
        writes: writes::SECRET,
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
        writes: writes::RESPELT,
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
        writes: writes::SCALED,
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
        writes: writes::FOUNDLING,
    },
    Specimen {
        name: "noted",
        api_version: "v1",
        kind: "ConfigMap",
        collection: "/api/v1/namespaces/NS/configmaps",
        body: "
apiVersion: v1
kind: ConfigMap
metadata:
  name: NAME
  namespace: NS
  annotations: {example.com/note: ours}
data:
  greeting: hello
  app.conf: |
    workers = 2
",
        settings: "ignore_fields = [\"data[\\\"app.conf\\\"]\", \
                   \"metadata.annotations.example.com/note\"]",
        ignored: &["/data/app.conf", "/metadata/annotations/example.com~1note"],
        takeover: Takeover::Refused,
        edit: ("hello", "good day"),
        drift: || json!({"data": {"greeting": "drifted"}}),
        operations: &[Operation::Update, Operation::Repair],
        breadth: Breadth::OwnWrites,
        writes: writes::NOTED,
    },
    Specimen {
        name: "released",
        api_version: "apps/v1",
        kind: "Deployment",
        collection: "/apis/apps/v1/namespaces/NS/deployments",
        body: SCALABLE,
        settings: "ignore_fields = [\"spec.template.spec.containers[?(@.name=='web')].image\"]",
        ignored: &["/spec/template/spec/containers/0/image"],
        takeover: Takeover::Refused,
        edit: ("replicas: 2", "replicas: 3"),
        drift: || json!({"spec": {"replicas": 7}}),
        operations: &[Operation::Update],
        breadth: Breadth::OwnWrites,
        writes: writes::RELEASED,
    },
    Specimen {
        name: "peaceful",
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
  colour: red
",
        settings: "force_conflicts = false",
        ignored: &[],
        takeover: Takeover::Refused,
        edit: ("red", "blue"),
        drift: || json!({"data": {"colour": null}}),
        operations: USUAL,
        breadth: Breadth::OwnWrites,
        writes: writes::PEACEFUL,
    },
    Specimen {
        name: "garden",
        api_version: "between.example.com/v1",
        kind: "Plot",
        collection: "/apis/between.example.com/v1/namespaces/NS/plots",
        body: "
apiVersion: between.example.com/v1
kind: Plot
metadata:
  name: NAME
  namespace: NS
spec:
  tags: [sunny, dry]
  beds:
  - {name: a, crop: beans}
  - {name: b, crop: kale}
  path: [gate, shed]
",
        settings: "",
        ignored: &[],
        takeover: Takeover::Refused,
        edit: ("crop: kale", "crop: peas"),
        drift: || json!({"spec": {"path": ["pond"]}}),
        operations: USUAL,
        breadth: Breadth::OwnWrites,
        writes: writes::GARDEN,
    },
];

/// The kind of the custom ones: a set, a list by key, an atomic list.
pub(in super::super) fn definition() -> Value {
    let text = json!({"type": "string"});
    let bed = json!({"type": "object", "required": ["name"],
        "properties": {"name": text, "crop": text, "depth": {"type": "integer"}}});
    let spec = json!({"type": "object", "properties": {
        "tags": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
        "beds": {"type": "array", "items": bed, "x-kubernetes-list-type": "map",
                 "x-kubernetes-list-map-keys": ["name"]},
        "path": {"type": "array", "items": text},
    }});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "plots.between.example.com"},
        "spec": {
            "group": "between.example.com", "scope": "Namespaced",
            "names": {"kind": "Plot", "plural": "plots", "singular": "plot"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}],
        },
    })
}

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
