//! Patches in all three manners, damaged, on an object that is right.

use damage::{settings, swiftly, text};
use k8sconnect_core::identity::{Gvk, ObjectKey};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::patch::{
    Form, Manner, Operation, Past, Patch, Script, Shape, Standing, Written,
};
use k8sconnect_core::projection::ConcealmentKey;
use k8sconnect_core::secrecy::Secrecy;
use proptest::prelude::*;
use serde_json::Value;

use crate::samples::{MANAGER, object};

fn key() -> ObjectKey {
    ObjectKey {
        gvk: Gvk::new("apps/v1", "Deployment"),
        namespace: Some("shop".into()),
        name: "web".into(),
    }
}

fn partial_objects() -> Vec<String> {
    [
        "spec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n      - name: app\n        image: b\n",
        "metadata:\n  annotations:\n    a.b/c: null\n  labels: {x: y}\n",
        "spec:\n  $setElementOrder/containers: [{name: a}]\n  template: {$patch: replace}\n",
        r#"{"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}, "x": []}}"#,
    ]
    .map(str::to_owned)
    .to_vec()
}

fn operations() -> Vec<String> {
    [
        r#"[{"op": "test", "path": "/spec/replicas", "value": 3}, {"op": "replace", "path": "/spec/replicas", "value": 5}]"#,
        r#"[{"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "x", "image": "y"}},
            {"op": "remove", "path": "/spec/template/spec/containers/0/args/1"}]"#,
        r#"[{"op": "move", "from": "/metadata/annotations/a.b~1c", "path": "/metadata/annotations/m~0n"},
            {"op": "copy", "from": "/spec/template", "path": "/spec/template/spec/copied"}]"#,
        "- op: add\n  path: /spec/template/spec/containers/0/ports/0\n  value: {containerPort: 1, protocol: UDP}\n",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn carried_out(patch: &Patch, live: &Value) {
    let Form::Json(operations) = patch.form() else { return };
    let owners = Owners::of_object(live).unwrap();
    let shape = Shape::told_by(&owners).made_whole_by(&owners);
    let secrecy = Secrecy::of(&key().gvk, &[]);
    let past = Past { footprints: &[], standing: Standing::Landed, secrecy: &secrecy };
    let Ok(script) = swiftly(|| Script::write(operations, live, past, &shape)) else { return };
    let mut answer = live.clone();
    for operation in &script.send {
        operation.carry_out(&mut answer).expect("what is sent can be done");
        assert_eq!(Operation::read(&operation.to_json()).as_ref(), Ok(operation));
    }
    let written = Written { object: &answer, manager: MANAGER };
    let _ = swiftly(|| patch.outcome(written, &script, &shape));
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn a_damaged_partial_object_never_touches_who_the_object_is(body in text(partial_objects())) {
        for manner in [Manner::Apply, Manner::Merge] {
            if let Ok(patch) = swiftly(|| Patch::read(manner, &body, key())) {
                for value in patch.written() {
                    prop_assert!(value.get("status").is_none(), "{value}");
                    prop_assert!(!value.to_string().contains("\"$patch\":"), "{value}");
                    let metadata = value.get("metadata").and_then(Value::as_object);
                    for name in ["name", "uid", "managedFields"] {
                        prop_assert!(!metadata.is_some_and(|it| it.contains_key(name)) || manner == Manner::Apply,
                            "{value}");
                    }
                }
                patch.digest(&ConcealmentKey([1; 32]));
            }
        }
    }

    #[test]
    fn a_damaged_json_patch_is_carried_out_or_refused(body in text(operations())) {
        match swiftly(|| Patch::read(Manner::Json, &body, key())) {
            Ok(patch) => carried_out(&patch, &object()),
            Err(problems) => prop_assert!(!problems.is_empty()),
        }
    }

    #[test]
    fn a_json_patch_meets_an_object_that_is_not_as_it_thinks(live in damage::json(vec![object()])) {
        if Owners::of_object(&live).is_ok() {
            for body in operations() {
                if let Ok(patch) = Patch::read(Manner::Json, &body, key()) {
                    carried_out(&patch, &live);
                }
            }
        }
    }
}
