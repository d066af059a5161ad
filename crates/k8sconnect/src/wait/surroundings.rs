//! What stands around an object: its pods and what was reported of them. All of it is for telling
//! people; whoever may not read it is told less, and no wait fails for it.

use std::time::Duration;

use k8sconnect_cluster::{Cluster, Detail, Error, Selection, Served, Within};
use k8sconnect_core::identity::{DEFAULT_NAMESPACE, Gvk};
use k8sconnect_core::readiness::picture::{Picture, picture};
use k8sconnect_core::readiness::pods::{
    last_replica_set, look as look_at, of_last_template, selector, telling,
};
use serde_json::Value as Json;
use tokio::time::Instant;

/// The pods behind an object, and the uid of the ReplicaSet that makes them if one does: where
/// there is no pod, it may say why.
#[derive(Default)]
pub(super) struct Pods {
    /// Those of the last template, by which the object is judged.
    pub(super) last: Vec<Json>,
    /// Those that are shown.
    telling: Vec<Json>,
    maker: Option<String>,
}

/// How long a failed wait may go on gathering what to say.
const GATHERING: Duration = Duration::from_secs(5);
/// Of so many pods the events are asked for.
const TOLD_OF: usize = 2;

/// The pods behind an object. A Pod is its own.
pub(super) async fn pods(cluster: &Cluster, object: &Json) -> Result<Pods, Error> {
    if object["kind"] == "Pod" && object["apiVersion"] == "v1" {
        let itself = vec![object.clone()];
        return Ok(Pods { last: itself.clone(), telling: itself, maker: None });
    }
    let (Some(selector), Some(namespace)) =
        (selector(object), object["metadata"]["namespace"].as_str())
    else {
        return Ok(Pods::default());
    };
    let chosen = Selection { labels: Some(&selector), fields: None };
    let all = list(cluster, &Gvk::new("v1", "Pod"), namespace, chosen).await?;
    let sets = match object["kind"].as_str() {
        Some("Deployment") => {
            list(cluster, &Gvk::new("apps/v1", "ReplicaSet"), namespace, chosen).await?
        }
        _ => Vec::new(),
    };
    let last = of_last_template(object, &sets, &all).into_iter().cloned().collect();
    let telling = telling(object, &sets, &all).into_iter().cloned().collect();
    let maker = last_replica_set(object, &sets).and_then(|set| set["metadata"]["uid"].as_str());
    Ok(Pods { last, telling, maker: maker.map(ToOwned::to_owned) })
}

/// All that a person would look up next.
pub(super) async fn look(cluster: &Cluster, object: Option<&Json>) -> Picture {
    let Some(object) = object else {
        return Picture::default();
    };
    let cluster = cluster.until(Instant::now() + GATHERING);
    let pods = pods(&cluster, object).await.unwrap_or_default();
    let mut worst: Vec<_> = pods.telling.iter().map(look_at).collect();
    worst.sort_by_key(|pod| pod.standing);
    let about = [object["metadata"]["uid"].as_str().map(ToOwned::to_owned), pods.maker];
    let about = about.into_iter().flatten();
    let mut about: Vec<_> = about.chain(worst.into_iter().take(TOLD_OF).map(|p| p.uid)).collect();
    about.dedup();
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or(DEFAULT_NAMESPACE);
    let mut events = Vec::new();
    for uid in about {
        let fields = format!("involvedObject.uid={uid}");
        let chosen = Selection { labels: None, fields: Some(&fields) };
        let listed = list(&cluster, &Gvk::new("v1", "Event"), namespace, chosen).await;
        events.extend(listed.unwrap_or_default());
    }
    picture(Some(object), &pods.telling, &events)
}

async fn list(
    cluster: &Cluster,
    gvk: &Gvk,
    namespace: &str,
    chosen: Selection<'_>,
) -> Result<Vec<Json>, Error> {
    let Served::Yes(kind) = cluster.kind(gvk).await? else {
        return Ok(Vec::new());
    };
    let listed = cluster.list(&kind, Within::Namespace(namespace), chosen, Detail::Full).await?;
    Ok(listed.items)
}
