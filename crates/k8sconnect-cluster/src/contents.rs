//! All that is in a namespace, kind by kind, without the bodies.
//!
//! Which kinds there are is asked in one piece (aggregated discovery), since all of them are needed;
//! elsewhere a kind is looked up by its group version, see `kinds`. Only what can be deleted is
//! listed: the rest is a view of something else, such as a pod's metrics. Whatever could not be
//! listed is brought back as a [`Gap`], never passed over.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8sconnect_core::identity::Gvk;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::address::{Kind, Scope, Within};
use crate::call::Call;
use crate::cluster::Cluster;
use crate::error::{BadAnswer, Error};
use crate::list::{Detail, Selection, Spent};

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
        let (kinds, mut gaps) = listable(&[core, others].concat());
        let permits = Arc::new(Semaphore::new(AT_ONCE));
        let (namespace, spent): (Arc<str>, _) = (namespace.into(), Arc::new(Spent::default()));
        let mut lists = JoinSet::new();
        for (place, kind) in kinds.into_iter().enumerate() {
            let (cluster, permits) = (self.clone(), permits.clone());
            let (namespace, spent) = (namespace.clone(), spent.clone());
            lists.spawn(async move {
                // Nobody closes the semaphore, so that there always is a permit in the end.
                let _permit = permits.acquire().await;
                let within = Within::Namespace(&namespace);
                let all = Selection::default();
                let listed =
                    cluster.list_within(&spent, &kind, within, all, Detail::Metadata).await;
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

    async fn groups_under(&self, path: &str) -> Result<Vec<Value>, Error> {
        let call = Call { accept: ALL_KINDS, ..Call::get(path) };
        let reply = self.send(&call).await?;
        let mut list: Value = self.decode(&call, &reply)?;
        match list["items"].take() {
            Value::Array(groups) if list["kind"] == "APIGroupDiscoveryList" => Ok(groups),
            _ => Err(self.bad_answer(&call, BadAnswer::Shape)),
        }
    }
}

/// The kinds to list, each in the version that the server prefers.
fn listable(groups: &[Value]) -> (Vec<Kind>, Vec<Gap>) {
    let (mut kinds, mut gaps) = (Vec::new(), Vec::new());
    for group in groups {
        let mut taken = BTreeSet::new();
        for version in array(&group["versions"]) {
            // The core group has no name.
            let gvk = |kind: &Value| Gvk {
                group: text(&group["metadata"]["name"]),
                version: text(&version["version"]),
                kind: text(kind),
            };
            if version["freshness"] == "Stale" {
                gaps.push(Gap::GroupVersion(gvk(&Value::Null).api_version()));
                continue;
            }
            for resource in array(&version["resources"]) {
                let can = |verb: &str| array(&resource["verbs"]).iter().any(|it| it == verb);
                let plural = text(&resource["resource"]);
                if resource["scope"] == "Namespaced"
                    && can("list")
                    && can("delete")
                    && taken.insert(plural.clone())
                {
                    let gvk = gvk(&resource["responseKind"]["kind"]);
                    kinds.push(Kind { gvk, plural, scope: Scope::Namespaced });
                }
            }
        }
    }
    (kinds, gaps)
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(groups: Value) -> (Vec<Kind>, Vec<Gap>) {
        listable(array(&groups))
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
