//! Two objects with the same history in two namespaces. One is the provider's, the other one is applied
//! by `kubectl`. This module says what must be equal in both.

use k8sconnect_core::identity::ID_ANNOTATION;
use serde_json::{Value, json};

/// What the server draws for each object, or counts: equal twins differ in it.
const OF_ONE_OBJECT: [&str; 14] = [
    "/metadata/uid",
    "/metadata/resourceVersion",
    "/metadata/generation",
    "/metadata/creationTimestamp",
    "/metadata/deletionTimestamp",
    "/metadata/namespace",
    "/metadata/name",
    "/metadata/managedFields",
    "/metadata/selfLink",
    "/spec/clusterIP",
    "/spec/clusterIPs",
    "/spec/healthCheckNodePort",
    "/spec/ipFamilies",
    "/spec/volumeName",
];

/// All values of an object, without those of one object only.
pub fn values(object: &Value) -> Value {
    let mut values = object.clone();
    for pointer in OF_ONE_OBJECT {
        let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
        if let Some(map) = values.pointer_mut(parent).and_then(Value::as_object_mut) {
            map.remove(name);
        }
    }
    for port in
        values.pointer_mut("/spec/ports").and_then(Value::as_array_mut).into_iter().flatten()
    {
        if let Some(port) = port.as_object_mut() {
            port.remove("nodePort");
        }
    }
    values
}

/// Every entry of `managedFields` without its time, in an order that no time decides.
pub fn owners(object: &Value) -> Vec<Value> {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let mut entries: Vec<Value> = entries
        .map(|entry| {
            let mut entry = entry.clone();
            if let Some(entry) = entry.as_object_mut() {
                entry.remove("time");
                entry.remove("fieldsType");
            }
            entry
        })
        .collect();
    entries.sort_by_key(Value::to_string);
    entries
}

/// The twin's body: the same in another namespace, with the mark that the provider left on its object.
/// `stringData` is sent as `data`, as the provider does.
pub fn body_of_twin(body: &Value, namespace: &str, ours: Option<&Value>) -> Value {
    let mut twin = body.clone();
    twin["metadata"]["namespace"] = json!(namespace);
    if let Some(id) = ours.and_then(|ours| ours["metadata"]["annotations"].get(ID_ANNOTATION)) {
        twin["metadata"]["annotations"][ID_ANNOTATION] = id.clone();
    }
    if let Some(Value::Object(texts)) = twin.as_object_mut().and_then(|it| it.remove("stringData"))
    {
        if !twin["data"].is_object() {
            twin["data"] = json!({});
        }
        for (name, text) in texts {
            twin["data"][name] = json!(encoded(text.as_str().unwrap_or_default()));
        }
    }
    twin
}

fn encoded(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// The first places at which two values differ, one line each.
pub fn differences(ours: &Value, theirs: &Value) -> Vec<String> {
    fn walk(ours: &Value, theirs: &Value, at: &str, found: &mut Vec<String>) {
        match (ours, theirs) {
            (Value::Object(one), Value::Object(other)) => {
                let mut names: Vec<_> = one.keys().chain(other.keys()).collect();
                names.sort();
                names.dedup();
                for name in names {
                    let (one, other) = (one.get(name), other.get(name));
                    match (one, other) {
                        (Some(one), Some(other)) => {
                            walk(one, other, &format!("{at}/{name}"), found)
                        }
                        _ => found.push(line(&format!("{at}/{name}"), one, other)),
                    }
                }
            }
            _ if ours == theirs => {}
            _ => found.push(line(at, Some(ours), Some(theirs))),
        }
    }
    fn line(at: &str, ours: Option<&Value>, theirs: Option<&Value>) -> String {
        let shown = |value: Option<&Value>| value.map_or("(absent)".to_owned(), Value::to_string);
        format!("{at}: provider {}, kubectl {}", shown(ours), shown(theirs))
    }
    let mut found = Vec::new();
    walk(ours, theirs, "", &mut found);
    found
}
