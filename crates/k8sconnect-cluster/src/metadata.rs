//! Edits of an object's metadata and nothing else: who owns what, and what keeps it from going.

use http::Method;
use serde_json::{Value, json};

use crate::address::Location;
use crate::call::{Call, Content};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::objects::{Answer, Found};
use crate::retry::Repeat;

/// Who is to own what, and what our mark on the object is to say.
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
    /// Replaces `managedFields` of the very object that was read, in one request. Another write in
    /// between is a conflict, so that asking twice does no harm. The server may accept the request
    /// and ignore the list: whoever calls this looks at the answer.
    pub async fn replace_owners(
        &self,
        at: &Location,
        edit: &Edit<'_>,
        manager: &str,
    ) -> Result<Answer, Error> {
        let metadata = &edit.read["metadata"];
        let mut patch =
            vec![json!({"op": "test", "path": "/metadata/uid", "value": metadata["uid"]})];
        if let Some(list) = edit.managed_fields {
            patch.push(json!({"op": "replace", "path": "/metadata/managedFields", "value": list}));
        }
        let place = |annotation: &str| {
            format!("/metadata/annotations/{}", annotation.replace('~', "~0").replace('/', "~1"))
        };
        let annotations = metadata["annotations"].as_object();
        match edit.mark {
            Mark::Removed { annotation }
                if annotations.is_some_and(|all| all.contains_key(annotation)) =>
            {
                patch.push(json!({"op": "remove", "path": place(annotation)}));
            }
            Mark::Set { annotation, text } if annotations.is_some() => {
                patch.push(json!({"op": "add", "path": place(annotation), "value": text}));
            }
            Mark::Set { annotation, text } => patch.push(json!({
                "op": "add", "path": "/metadata/annotations", "value": {annotation: text}})),
            Mark::Removed { .. } | Mark::AsItIs => {}
        }
        patch.push(json!({"op": "replace", "path": "/metadata/resourceVersion",
                          "value": metadata["resourceVersion"]}));
        let mut call = Call::new(Method::PATCH, at.address()?)
            .query("fieldManager", manager)
            .body(Content::JsonPatch, patch.into());
        call.repeat = Repeat::Harmless;
        let reply = self.send(&call).await?;
        self.answer(&call, reply)
    }

    /// Removes every finalizer of the object as it was read. Another write in between is a conflict,
    /// so no finalizer goes that was not read. An object that is gone meanwhile is no error.
    pub async fn remove_finalizers(&self, at: &Location, read: &Value) -> Result<(), Error> {
        let uid = &read["metadata"]["uid"];
        let patch = json!({"metadata": {
            "uid": uid, "resourceVersion": read["metadata"]["resourceVersion"], "finalizers": null,
        }});
        let mut call = Call::new(Method::PATCH, at.address()?).body(Content::MergePatch, patch);
        call.repeat = Repeat::Harmless;
        let error = match self.send(&call).await {
            Ok(reply) if reply.status == 404 || reply.is_success() => return Ok(()),
            Ok(reply) => Error::Refused(Box::new(reply.refusal())),
            Err(error) => error,
        };
        let rid = match self.aftermath(at, &error).await {
            Some(Found::Absent(_)) => true,
            Some(Found::Object(Answer { object, .. })) => {
                let metadata = &object["metadata"];
                metadata["uid"] != *uid || metadata["finalizers"].is_null()
            }
            Some(Found::NotServed(_)) | None => false,
        };
        if rid { Ok(()) } else { Err(error) }
    }
}
