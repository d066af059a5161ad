//! What is said about what goes along.

use super::*;

pub(super) fn messages() -> Vec<Diagnostic> {
    let key = |api_version, kind, namespace: Option<&str>, name: &str| ObjectKey {
        gvk: Gvk::new(api_version, kind),
        namespace: namespace.map(ToOwned::to_owned),
        name: name.into(),
    };
    let namespace = key("v1", "Namespace", None, "shop");
    let crd = "apiextensions.k8s.io/v1";
    let definition = key(crd, "CustomResourceDefinition", None, "widgets.example.com");
    let claim = key("v1", "PersistentVolumeClaim", Some("shop"), "data");
    let item = |api_version: &str, kind: &str, name: &str, more: serde_json::Value| {
        let mut item = json!({"apiVersion": api_version, "kind": kind, "metadata": more});
        item["metadata"]["name"] = json!(name);
        item
    };
    let ours = json!({"annotations": {k8sconnect_core::identity::ID_ANNOTATION: "0f3a"}});
    let mut inside = vec![
        item("v1", "PersistentVolumeClaim", "data", json!({})),
        item("apps/v1", "Deployment", "web", ours.clone()),
        item("v1", "Pod", "web-1", json!({"ownerReferences": [{"kind": "ReplicaSet"}]})),
    ];
    inside.extend((1..8).map(|n| item("v1", "ConfigMap", &format!("c{n}"), json!({}))));
    let widgets = [item("example.com/v1", "Widget", "w", json!({"namespace": "shop"}))];
    let error = |code, message| Error::Refused(Box::new(status(code, message, &[])));
    let gaps = || {
        vec![
            Gap::Kind(Gvk::new("v1", "Secret"), error(403, "secrets is forbidden")),
            Gap::Kind(Gvk::new("a.example/v1", "Thing"), error(500, "conversion failed")),
            Gap::GroupVersion("down.example/v1".into()),
        ]
    };
    let (destroyed, replaced) = (Fate::Destroyed, Fate::Replaced);
    let toll = of_namespace(&inside);
    let of_kind = of_definition(&widgets);
    let none = Toll::default();
    let mut messages: Vec<_> = [
        blast::toll(&namespace, Vessel::Namespace, destroyed, &toll, &gaps()),
        blast::toll(&namespace, Vessel::Namespace, destroyed, &none, &gaps()),
        blast::toll(&definition, Vessel::Definition, replaced, &of_kind, &[]),
    ]
    .into_iter()
    .flatten()
    .collect();
    assert_eq!(blast::toll(&namespace, Vessel::Namespace, destroyed, &none, &[]), None);
    for policy in [Reclaim::Delete, Reclaim::Retain, Reclaim::Other("Recycle".into())] {
        messages.push(blast::volume(&claim, replaced, "pv-1", &policy));
    }
    let emptied = json!({"kind": "Namespace", "metadata": {}});
    let pinned = json!({"deletionTimestamp": "2026-11-02T09:12:44Z",
        "finalizers": ["example.com/cleanup", "foregroundDeletion"]});
    let held = [item("example.com/v1", "Widget", "w", pinned)];
    for left in [blast::inside(&inside, &gaps()), blast::inside(&held, &[])] {
        messages.push(deletion::still_there(&namespace, &emptied, &left, Duration::from_secs(5)));
    }
    let forbidden = error(403, "persistentvolumes \"pv-1\" is forbidden");
    messages.push(blast::volume_unseen(&claim, destroyed, "pv-1", &forbidden));
    let host = "https://127.0.0.1:6443".into();
    let dead = Error::Unreachable { host, cause: NetworkError::Refused, attempts: 3 };
    let why = blast::reason(&dead);
    messages.push(blast::not_counted(&namespace, Vessel::Namespace, destroyed, &why));
    let why = blast::not_served();
    messages.push(blast::not_counted(&definition, Vessel::Definition, destroyed, why));
    messages.push(blast::not_counted(&claim, Vessel::Claim, destroyed, &blast::reason(&dead)));
    messages
}
