//! Writes of other managers. Both twins get the same write, and the server answers both alike. No write
//! removes the id annotation, which only the provider knows.

use k8sconnect_core::identity::ID_ANNOTATION;
use serde_json::{Value as Json, json};
use testkit::Target;

use super::judge::{Fault, fault};
use super::run::Run;
use super::story::{Conflicts, Other, Write, merge_patch, written_into};

impl Run<'_> {
    pub(super) async fn other_writes(&self, other: &Other) -> Result<(), Fault> {
        let ours = self.writes_to(0, other).await;
        let theirs = self.writes_to(1, other).await;
        match (&ours, &theirs) {
            (Ok(()), Ok(())) | (Err(_), Err(_)) => Ok(()),
            _ => fault("the twins answer differently", format!("{other}: {ours:?}, {theirs:?}")),
        }
    }

    async fn writes_to(&self, twin: usize, other: &Other) -> Result<(), String> {
        let Some(live) = self.live(twin).await else { return Ok(()) };
        let target = self.target(twin);
        let rival = self.twins.cluster.act_as(other.manager);
        let written = match &other.write {
            Write::Apply(conflicts, written) => {
                let rival = if *conflicts == Conflicts::Force { rival.force() } else { rival };
                rival.apply(self.object(twin, self.kind.skeleton(), written)).await
            }
            Write::ApplySame(conflicts) => {
                let rival = if *conflicts == Conflicts::Force { rival.force() } else { rival };
                rival.apply(self.body(twin)).await
            }
            Write::MergePatch(written) => rival.merge_patch(&target, merge_patch(written)).await,
            Write::Replace(written) => {
                let id = live["metadata"]["annotations"][ID_ANNOTATION].clone();
                let mut object = written_into(live, written);
                object["metadata"]["annotations"][ID_ANNOTATION] = id;
                rival.update(object).await
            }
            Write::Remove(place) => {
                let patch = json!([{"op": "remove", "path": chosen(&live, *place)}]);
                rival.json_patch(&target, patch).await
            }
            Write::Put(place, value) => {
                let path = chosen(&live, *place);
                let patch = json!([{"op": "replace", "path": path, "value": value}]);
                rival.json_patch(&target, patch).await
            }
            Write::Scale(replicas) => rival.scale(&target, *replicas).await,
            Write::Status(status) => {
                rival.subresource("status").merge_patch(&target, json!({"status": status})).await
            }
            Write::Delete => return self.delete(&target).await,
        };
        written.map(drop).map_err(|error| error.to_string())
    }

    async fn delete(&self, target: &Target) -> Result<(), String> {
        // With a finalizer it would stay.
        let open = json!({"metadata": {"finalizers": null}});
        self.twins.cluster.act_as("alice").merge_patch(target, open).await.unwrap();
        self.twins.cluster.delete(target).await.map_err(|error| error.to_string())
    }
}

/// One of the places that an object has, as a JSON pointer: a number chooses among them.
fn chosen(live: &Json, place: usize) -> String {
    fn walk(value: &Json, at: &str, places: &mut Vec<String>) {
        let step = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        let below: Vec<(String, &Json)> = match value {
            Json::Object(map) => map.iter().map(|(name, value)| (step(name), value)).collect(),
            Json::Array(items) => {
                items.iter().enumerate().map(|(n, item)| (step(&n.to_string()), item)).collect()
            }
            _ => Vec::new(),
        };
        for (at, value) in below {
            let is_a_place = match at.split('/').nth(1) {
                Some("apiVersion" | "kind" | "status") => false,
                Some("metadata") => {
                    ["labels", "annotations", "finalizers"]
                        .contains(&at.split('/').nth(2).unwrap_or_default())
                        && !at.contains("k8sconnect.terraform.io")
                        && at != "/metadata/annotations"
                }
                _ => !at.contains("/clusterIP") && !at.ends_with("/nodePort"),
            };
            if is_a_place {
                places.push(at.clone());
            }
            if is_a_place || at.starts_with("/metadata") && at.split('/').count() < 4 {
                walk(value, &at, places);
            }
        }
    }
    let mut places = Vec::new();
    walk(live, "", &mut places);
    match places.len() {
        0 => "/nowhere".to_owned(),
        length => places[place % length].clone(),
    }
}
