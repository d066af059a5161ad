//! The target in other API versions, in which its former owners may have written.

use std::collections::BTreeMap;

use k8sconnect_cluster::{Error, Found, Location, Served, Targets};
use k8sconnect_core::handback::{Readings, other_versions};
use k8sconnect_core::identity::Gvk;
use k8sconnect_core::owners::Owners;
use serde_json::Value as Json;

/// An object by version.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere(pub(crate) BTreeMap<String, Json>);

impl Elsewhere {
    /// Reads an object in each version in which losses are on record. One that is served no more tells
    /// nothing.
    pub(crate) async fn read(
        targets: &Targets,
        location: &Location,
        former: &Owners,
    ) -> Result<Self, Error> {
        let mut read = BTreeMap::new();
        for version in other_versions(former, &location.kind.gvk.api_version()) {
            let gvk = Gvk::new(&version, &location.kind.gvk.kind);
            let Served::Yes(kind) = targets.kind(&gvk).await? else {
                continue;
            };
            let there = Location { kind, ..location.clone() };
            if let Found::Object(answer) = targets.get(&there).await? {
                read.insert(version, answer.object);
            }
        }
        Ok(Self(read))
    }

    /// The same beside the object in our version; `None` if somebody wrote in between.
    pub(crate) fn beside<'a>(&'a self, live: &'a Json) -> Option<Readings<'a>> {
        let version = |object: &'a Json| object["metadata"]["resourceVersion"].as_str();
        let same = self.0.values().all(|theirs| version(theirs) == version(live));
        same.then_some(Readings { ours: live, theirs: &self.0 })
    }
}
