//! Leaves that the user left to the server to fill in: an address or a port that it allocates.
//!
//! What a dry-run says of one is not what a write will come to: nothing is allocated by a dry-run,
//! and another value may be drawn. So no value can be promised before the write, unless it is the
//! one that the last write came to, which is sent again and stays.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Prior;
use crate::field::walk::Items;
use crate::field::{FieldPath, FieldSet};
use crate::projection::{Leaf, Projection};
use crate::zero::is_allocated;

/// The leaves of an answer for which the user wrote that any value will do.
pub(super) fn open(
    ours: &FieldSet,
    written: &Value,
    projection: &Projection,
    prior: Option<Prior<'_>>,
) -> BTreeSet<FieldPath> {
    let mut open = Open { projection, prior, found: BTreeSet::new() };
    open.collect(ours, written, &mut FieldPath::default());
    open.found
}

struct Open<'a> {
    projection: &'a Projection,
    prior: Option<Prior<'a>>,
    found: BTreeSet<FieldPath>,
}

impl Open<'_> {
    fn collect(&mut self, set: &FieldSet, written: &Value, path: &mut FieldPath) {
        let items = Items::new(written, set);
        for (element, below) in set.children() {
            let Some(written) = items.step_written(element) else {
                continue;
            };
            path.push(element.clone());
            if self.is_filled_in(path, written) {
                self.found.insert(path.clone());
            }
            self.collect(below, written, path);
            path.pop();
        }
    }

    /// Whether the answer has something there that the last write did not come to.
    fn is_filled_in(&self, path: &FieldPath, written: &Value) -> bool {
        let Some(leaf @ (Leaf::Shown(value) | Leaf::Concealed(value))) = self.projection.get(path)
        else {
            return false;
        };
        let text = self.prior.and_then(|prior| prior.kept).and_then(|kept| kept.texts.get(path));
        let key = self.prior.and_then(|prior| prior.key);
        let is_kept = text.is_some() && text == leaf.text(path, key).as_ref();
        is_allocated(written, value) && !is_kept
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Kept;
    use super::*;
    use crate::ignore::Ignoring;
    use crate::manifest::Manifest;
    use crate::owners::Owners;

    fn leaf(path: &str, value: Value) -> (FieldPath, Leaf) {
        (path.parse().unwrap(), Leaf::Shown(value))
    }

    #[test]
    fn no_value_is_promised_for_a_leaf_that_the_server_fills_in() {
        let written = json!({"ip": "", "ips": [""], "port": 0, "none": null, "replicas": 0,
            "labels": {}, "cpu": "1000m", "given": 80});
        let projection = Projection(
            [
                leaf("ip", json!("10.96.0.1")),
                leaf("ips", json!(["10.96.0.1"])),
                leaf("port", json!(32000)),
                leaf("none", json!(32001)),
                leaf("replicas", json!(0)),
                leaf("labels", json!({})),
                leaf("cpu", json!("1")),
                leaf("given", json!(80)),
            ]
            .into(),
        );
        let shown = |prior| -> Vec<_> {
            let ours = projection.0.keys().cloned().collect();
            let open = open(&ours, &written, &projection, prior);
            open.into_iter().map(|path| path.to_string()).collect()
        };
        assert_eq!(shown(None), ["ip", "ips", "none", "port"]);
        let texts = [("ip", "10.96.0.1"), ("port", "1")];
        let texts = texts.map(|(path, text)| (path.parse().unwrap(), text.to_owned())).into();
        let kept = Kept { owners: Owners::default(), texts, version: None };
        let body = "{apiVersion: v1, kind: Service, metadata: {name: a}}";
        let (manifest, ignoring) = (Manifest::parse(body).unwrap(), Ignoring::default());
        let (kept, ignoring) = (Some(&kept), &ignoring);
        let prior = Prior { manifest: &manifest, id: "", uid: "", kept, key: None, ignoring };
        assert_eq!(shown(Some(prior)), ["ips", "none", "port"], "an address that is sent again");
    }
}
