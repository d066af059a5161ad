//! The body that is sent: what the user wrote, with the mark and the guard that make a write safe.
//!
//! Plan and apply send the same bytes, save the mark on a creation: the id does not exist before
//! the object is made.

use serde_json::{Map, Value};

use crate::identity::ID_ANNOTATION;

/// No object of an API server with a store of its own ever has this resourceVersion.
const ABSENT: &str = "1";

/// What the object must be for the write to go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard<'a> {
    /// Nothing may be there. The body has a resourceVersion that no object has, so the server creates
    /// a missing one and answers a conflict for any that exists. An aggregated API may know such an
    /// object: what is not answered with HTTP 201 was no creation.
    Absent,
    /// This very object. The server neither creates it nor touches a namesake.
    Uid(&'a str),
    /// This very object, as it was read: another write in between is a conflict.
    Version { uid: &'a str, resource_version: &'a str },
}

#[derive(Clone, Debug)]
pub struct Outgoing<'a> {
    /// What the user wants to be applied.
    pub content: Value,
    /// The namespace that the object lives in; none for a cluster-scoped one, whatever the user
    /// wrote.
    pub namespace: Option<&'a str>,
    pub id: Option<&'a str>,
    pub guard: Guard<'a>,
}

impl Outgoing<'_> {
    pub fn body(self) -> Value {
        let mut body = self.content;
        let metadata = map_at(&mut body, "metadata");
        match self.namespace {
            Some(namespace) => metadata.insert("namespace".into(), namespace.into()),
            None => metadata.remove("namespace"),
        };
        match self.guard {
            Guard::Absent => metadata.insert("resourceVersion".into(), ABSENT.into()),
            Guard::Uid(uid) => metadata.insert("uid".into(), uid.into()),
            Guard::Version { uid, resource_version } => {
                metadata.insert("uid".into(), uid.into());
                metadata.insert("resourceVersion".into(), resource_version.into())
            }
        };
        if let Some(id) = self.id {
            let annotations = metadata.entry("annotations").or_insert(Value::Null);
            if annotations.is_null() {
                *annotations = Value::Object(Map::new());
            }
            if let Value::Object(annotations) = annotations {
                annotations.insert(ID_ANNOTATION.into(), id.into());
            }
        }
        body
    }
}

/// Whether a body that is sent may only create an object ([`Guard::Absent`]).
pub fn is_creation(body: &Value) -> bool {
    let metadata = &body["metadata"];
    metadata["resourceVersion"] == ABSENT && metadata["uid"].is_null()
}

/// The map under a key of an object. A manifest always has `metadata`; it was read from there.
fn map_at<'a>(value: &'a mut Value, key: &str) -> &'a mut Map<String, Value> {
    if !value[key].is_object() {
        value[key] = Value::Object(Map::new());
    }
    match &mut value[key] {
        Value::Object(map) => map,
        _ => unreachable!(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn content() -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "word"}})
    }

    #[test]
    fn a_creation_is_guarded_against_what_is_there() {
        let body = Outgoing {
            content: content(),
            namespace: Some("default"),
            id: None,
            guard: Guard::Absent,
        }
        .body();
        assert_eq!(
            body["metadata"],
            json!({"name": "a", "namespace": "default", "resourceVersion": "1"})
        );
    }

    #[test]
    fn an_update_names_its_object_and_bears_the_mark() {
        let body = Outgoing {
            content: content(),
            namespace: None,
            id: Some("the-id"),
            guard: Guard::Uid("the-uid"),
        }
        .body();
        assert_eq!(
            body["metadata"],
            json!({"name": "a", "uid": "the-uid", "annotations": {ID_ANNOTATION: "the-id"}})
        );
        assert_eq!(body["data"], json!({"x": "word"}));
    }
}
