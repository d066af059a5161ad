//! Writes to the very object that was read: each names its uid and, except for one dry-run, its
//! `resourceVersion`. The server answers a conflict where somebody wrote in between or the object is
//! another one, so that sending a write twice does no harm.

use k8sconnect_core::outgoing::{Guard, Outgoing};
use serde_json::{Value, json};

use crate::address::Location;
use crate::call::{Call, Content, Persistence};
use crate::cluster::{Answer, Cluster};
use crate::error::Error;
use crate::objects::{Apply, Conflicts, Found};

/// A change to an object, in one of the forms that the server takes.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// A partial object, for server-side apply.
    Apply(&'a Value),
    Merge(&'a Value),
    /// Operations, without preconditions of their own.
    Json(&'a [Value]),
}

/// An edit of an object's metadata: who owns which fields, and one annotation.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// The object as it was read.
    pub read: &'a Value,
    /// The list as it is to be; untouched where there is none.
    pub managed_fields: Option<&'a Value>,
    pub mark: Mark<'a>,
}

/// What becomes of an annotation of ours.
#[derive(Clone, Copy, Debug)]
pub enum Mark<'a> {
    AsItIs,
    Removed { annotation: &'a str },
    Set { annotation: &'a str, text: &'a str },
}

impl Cluster {
    pub(crate) async fn change(
        &self,
        at: &Location,
        change: Change<'_>,
        manager: &str,
        read: &Value,
        persistence: Persistence,
    ) -> Result<Answer, Error> {
        let (uid, version) = (&read["metadata"]["uid"], &read["metadata"]["resourceVersion"]);
        let call = match change {
            Change::Apply(content) => {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let (uid, version) = (text(uid), text(version));
                let guard = Guard::Version { uid: &uid, resource_version: &version };
                let (content, namespace) = (content.clone(), at.namespace.as_deref());
                let body = &Outgoing { content, namespace, id: None, guard }.body();
                let apply = Apply { body, manager, conflicts: Conflicts::Force, persistence };
                return self.apply(at, &apply).await;
            }
            Change::Merge(content) => {
                Call::patch(at, Content::MergePatch, bound(content.clone(), uid, version))?
            }
            Change::Json(operations) => {
                Call::json_patch(at, uid, operations.iter().cloned(), Some(version))?
            }
        };
        let call = call.query("fieldManager", manager).query("fieldValidation", "Strict");
        self.send_for_object(&call.persistence(persistence)).await
    }

    /// Replaces `managedFields` of the very object that was read, in one request. The server may accept
    /// the request and ignore the list: the caller looks at the answer.
    pub async fn replace_owners(
        &self,
        at: &Location,
        edit: &Edit<'_>,
        manager: &str,
    ) -> Result<Answer, Error> {
        let metadata = &edit.read["metadata"];
        let list = edit
            .managed_fields
            .map(|list| json!({"op": "replace", "path": "/metadata/managedFields", "value": list}));
        let operations = list.into_iter().chain(edit.mark.operation(&metadata["annotations"]));
        let version = Some(&metadata["resourceVersion"]);
        let call = Call::json_patch(at, &metadata["uid"], operations, version)?;
        self.send_for_object(&call.query("fieldManager", manager)).await
    }

    /// Removes every finalizer of the object as it was read, and none that was not read. An object that
    /// is gone meanwhile is no error.
    pub async fn remove_finalizers(&self, at: &Location, read: &Value) -> Result<(), Error> {
        let metadata = &read["metadata"];
        let uid = &metadata["uid"];
        let none = json!({"metadata": {"finalizers": null}});
        let body = bound(none, uid, &metadata["resourceVersion"]);
        let error = match self.send(&Call::patch(at, Content::MergePatch, body)?).await {
            Ok(reply) if reply.status == 404 || reply.is_success() => return Ok(()),
            Ok(reply) => Error::Refused(Box::new(reply.refusal())),
            Err(error) => error,
        };
        let is_free = match self.read_after_ambiguous_write(at, &error).await {
            Some(Found::Absent(_)) => true,
            Some(Found::Object(Answer { object, .. })) => {
                let metadata = &object["metadata"];
                metadata["uid"] != *uid || metadata["finalizers"].is_null()
            }
            Some(Found::NotServed(_)) | None => false,
        };
        if is_free { Ok(()) } else { Err(error) }
    }
}

impl Mark<'_> {
    fn operation(self, annotations: &Value) -> Option<Value> {
        let path = |name: &str| {
            format!("/metadata/annotations/{}", name.replace('~', "~0").replace('/', "~1"))
        };
        match self {
            Self::Removed { annotation } => {
                annotations.get(annotation)?;
                Some(json!({"op": "remove", "path": path(annotation)}))
            }
            Self::Set { annotation, text } if annotations.is_object() => {
                Some(json!({"op": "add", "path": path(annotation), "value": text}))
            }
            Self::Set { annotation, text } => {
                let all = json!({ annotation: text });
                Some(json!({"op": "add", "path": "/metadata/annotations", "value": all}))
            }
            Self::AsItIs => None,
        }
    }
}

/// A merge patch for this version of this object and no other.
fn bound(mut content: Value, uid: &Value, version: &Value) -> Value {
    if !content["metadata"].is_object() {
        content["metadata"] = json!({});
    }
    content["metadata"]["uid"] = uid.clone();
    content["metadata"]["resourceVersion"] = version.clone();
    content
}

#[cfg(test)]
mod tests {
    use k8sconnect_core::identity::Gvk;

    use super::*;
    use crate::address::{Kind, Scope};

    #[test]
    fn every_form_names_its_object_and_its_version() {
        let (uid, version) = (json!("u"), json!("7"));
        let merged = bound(json!({"spec": {"a": null}}), &uid, &version);
        assert_eq!(merged["metadata"], json!({"uid": "u", "resourceVersion": "7"}));
        assert_eq!(merged["spec"], json!({"a": null}));
        let kind = Kind {
            gvk: Gvk::new("v1", "ConfigMap"),
            plural: "configmaps".into(),
            scope: Scope::Namespaced,
        };
        let at = Location { kind, namespace: None, name: "web".into() };
        let operations = [json!({"op": "remove", "path": "/spec/a"})];
        let call = Call::json_patch(&at, &uid, operations, Some(&version)).unwrap();
        let (_, list) = call.body.unwrap();
        assert_eq!(list[0], json!({"op": "test", "path": "/metadata/uid", "value": "u"}));
        assert_eq!(list[1]["op"], "remove");
        assert_eq!(list[2]["path"], "/metadata/resourceVersion");
    }
}
