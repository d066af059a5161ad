//! Edits of an object's metadata and nothing else: who owns what, and what keeps it from going.

use http::Method;
use serde_json::{Value, json};

use crate::address::Location;
use crate::call::{Call, Content};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::objects::Answer;
use crate::retry::Repeat;

impl Cluster {
    /// Replaces `managedFields` of the very object that was read, in one request. Another write in
    /// between is a conflict. The server may accept the request and ignore the list: whoever calls
    /// this looks at the answer.
    pub async fn replace_owners(
        &self,
        at: &Location,
        read: &Value,
        managed_fields: &Value,
        manager: &str,
    ) -> Result<Answer, Error> {
        let metadata = &read["metadata"];
        let patch = json!([
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            {"op": "replace", "path": "/metadata/managedFields", "value": managed_fields},
            {"op": "replace", "path": "/metadata/resourceVersion",
             "value": metadata["resourceVersion"]},
        ]);
        let call = Call::new(Method::PATCH, at.address()?)
            .query("fieldManager", manager)
            .body(Content::JsonPatch, patch);
        let reply = self.send(&call).await?;
        self.answer(&call, reply)
    }

    /// Takes every finalizer off the object with this uid. One that is gone meanwhile is no error.
    pub async fn remove_finalizers(&self, at: &Location, uid: &str) -> Result<(), Error> {
        let patch = json!({"metadata": {"uid": uid, "finalizers": null}});
        let mut call = Call::new(Method::PATCH, at.address()?).body(Content::MergePatch, patch);
        call.repeat = Repeat::Harmless;
        let reply = self.send(&call).await?;
        if reply.status == 404 || reply.is_success() {
            return Ok(());
        }
        Err(Error::Refused(Box::new(reply.refusal())))
    }
}
