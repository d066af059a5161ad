//! All that is in a namespace, kind by kind, without the bodies.
//!
//! Which kinds there are is asked in one piece (aggregated discovery), since all of them are needed;
//! elsewhere a kind is looked up by its group version, see `kinds`. Only what can be deleted is
//! listed: the rest is a view of something else, such as a pod's metrics. Whatever could not be
//! listed is brought back as a [`Gap`], never passed over.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8sconnect_core::identity::Gvk;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::address::Within;
use crate::call::Call;
use crate::cluster::Cluster;
use crate::error::{BadAnswer, Error};
use crate::kinds::{Kind, Scope};
use crate::list::{Budget, Detail, Selection};

/// The metadata of all objects in a namespace, as far as it could be had.
#[derive(Debug)]
pub struct Contents {
    pub items: Vec<Value>,
    pub gaps: Vec<Gap>,
}

/// Objects that may be there and were not seen.
#[derive(Debug)]
pub enum Gap {
    /// This kind could not be listed.
    Kind(Gvk, Error),
    /// Which kinds this group version has is not known at the moment: its server is down.
    GroupVersion(String),
}

/// How many lists are asked for at once.
const AT_ONCE: usize = 16;
const ALL_KINDS: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

impl Cluster {
    /// Lists every kind. Fails only if it cannot be told which kinds there are.
    pub async fn contents(&self, namespace: &str) -> Result<Contents, Error> {
        let (core, others) =
            tokio::try_join!(self.groups_under("/api"), self.groups_under("/apis"))?;
        let (kinds, mut gaps) = listable(core.into_iter().chain(others));
        let permits = Arc::new(Semaphore::new(AT_ONCE));
        let (namespace, budget): (Arc<str>, _) = (namespace.into(), Arc::new(Budget::default()));
        let mut lists = JoinSet::new();
        for (place, kind) in kinds.into_iter().enumerate() {
            let (cluster, permits) = (self.clone(), permits.clone());
            let (namespace, budget) = (namespace.clone(), budget.clone());
            lists.spawn(async move {
                // Nobody closes the semaphore, so that there always is a permit in the end.
                let _permit = permits.acquire().await;
                let within = Within::Namespace(&namespace);
                let all = Selection::default();
                let listed =
                    cluster.list_within(&budget, &kind, within, all, Detail::Metadata).await;
                (place, kind, listed)
            });
        }
        // They come as they are ready; the kinds of the server's own order come first.
        let mut answers = lists.join_all().await;
        answers.sort_unstable_by_key(|(place, ..)| *place);
        let mut items = Vec::new();
        for (_, kind, listed) in answers {
            match listed {
                Ok(listed) => items.extend(listed.items),
                // The kind went meanwhile, and its objects with it.
                Err(error) if error.code() == Some(404) => {}
                Err(error) => gaps.push(Gap::Kind(kind.gvk, error)),
            }
        }
        Ok(Contents { items, gaps })
    }

    async fn groups_under(&self, path: &str) -> Result<Vec<Group>, Error> {
        let mut call = Call::get(path);
        call.accept = ALL_KINDS;
        let reply = self.send(&call).await?;
        let list: GroupList = self.decode(&call, &reply)?;
        if list.kind != "APIGroupDiscoveryList" {
            return Err(self.bad_answer(&call, BadAnswer::Shape));
        }
        Ok(list.items)
    }
}

/// The kinds to list, each in the version that the server prefers.
fn listable(groups: impl Iterator<Item = Group>) -> (Vec<Kind>, Vec<Gap>) {
    let (mut kinds, mut gaps) = (Vec::new(), Vec::new());
    for Group { metadata, versions } in groups {
        let mut taken = BTreeSet::new();
        for Version { version, resources, freshness } in versions {
            let gvk = |kind| Gvk { group: metadata.name.clone(), version: version.clone(), kind };
            if freshness == "Stale" {
                gaps.push(Gap::GroupVersion(gvk(String::new()).api_version()));
                continue;
            }
            for resource in resources.into_iter().filter(Resource::is_held_in_a_namespace) {
                if taken.insert(resource.plural.clone()) {
                    kinds.push(Kind {
                        gvk: gvk(resource.response_kind.unwrap_or_default().kind),
                        plural: resource.plural,
                        scope: Scope::Namespaced,
                    });
                }
            }
        }
    }
    (kinds, gaps)
}

#[derive(Deserialize)]
struct GroupList {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    items: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    metadata: GroupMetadata,
    #[serde(default)]
    versions: Vec<Version>,
}

/// The core group has no name.
#[derive(Default, Deserialize)]
struct GroupMetadata {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Version {
    version: String,
    #[serde(default)]
    resources: Vec<Resource>,
    #[serde(default)]
    freshness: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    #[serde(rename = "resource")]
    plural: String,
    #[serde(default)]
    response_kind: Option<ResponseKind>,
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(Default, Deserialize)]
struct ResponseKind {
    #[serde(default)]
    kind: String,
}

impl Resource {
    fn is_held_in_a_namespace(&self) -> bool {
        let can = |verb: &str| self.verbs.iter().any(|it| it == verb);
        self.scope == "Namespaced" && can("list") && can("delete")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(groups: Value) -> (Vec<Kind>, Vec<Gap>) {
        let groups: Vec<Group> = serde_json::from_value(groups).unwrap();
        listable(groups.into_iter())
    }

    fn resource(plural: &str, kind: &str, scope: &str, verbs: &[&str]) -> Value {
        json!({"resource": plural, "responseKind": {"group": "", "version": "", "kind": kind},
               "scope": scope, "singularResource": "", "verbs": verbs})
    }

    #[test]
    fn a_kind_of_two_versions_is_listed_in_the_preferred_one() {
        let scaler = resource("scalers", "Scaler", "Namespaced", &["delete", "list"]);
        let old = resource("relics", "Relic", "Namespaced", &["delete", "list"]);
        let (kinds, _) = read(json!([{"metadata": {"name": "a.io"}, "versions": [
            {"version": "v2", "resources": [scaler], "freshness": "Current"},
            {"version": "v1", "resources": [scaler, old], "freshness": "Current"},
        ]}]));
        let kinds: Vec<_> = kinds.iter().map(|kind| kind.gvk.clone()).collect();
        assert_eq!(kinds, [Gvk::new("a.io/v2", "Scaler"), Gvk::new("a.io/v1", "Relic")]);
    }

    #[test]
    fn what_cannot_be_deleted_or_is_in_no_namespace_is_not_asked_for() {
        let (kinds, _) = read(json!([{"metadata": {"creationTimestamp": null}, "versions": [
            {"version": "v1", "resources": [
                resource("nodes", "Node", "Cluster", &["delete", "list"]),
                resource("podmetrics", "PodMetrics", "Namespaced", &["get", "list"]),
                resource("bindings", "Binding", "Namespaced", &["create"]),
                resource("pods", "Pod", "Namespaced", &["delete", "list"]),
            ]},
        ]}]));
        let plurals: Vec<_> = kinds.iter().map(|kind| kind.plural.as_str()).collect();
        assert_eq!(plurals, ["pods"]);
        assert_eq!(kinds[0].gvk.api_version(), "v1");
    }

    #[test]
    fn a_group_whose_server_is_down_is_a_gap() {
        let (kinds, gaps) = read(json!([{"metadata": {"name": "down.io"}, "versions": [
            {"version": "v1", "freshness": "Stale"},
        ]}]));
        assert!(kinds.is_empty());
        assert!(matches!(&gaps[..], [Gap::GroupVersion(it)] if it == "down.io/v1"), "{gaps:?}");
    }
}
