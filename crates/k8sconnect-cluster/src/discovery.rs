//! Discovery: which kinds the server serves, and how a kind is spelt in a URL.
//!
//! One request per group version and process, however many objects ask at once. Discovery is by group
//! version on purpose: the aggregated list grows with every CRD of the cluster, and the OpenAPI
//! document is a hundred times larger. An import may name a kind by any word that kubectl takes
//! (singular, plural, short, with or without its group); the order of the search is kubectl's: the core
//! group first, then the groups as the server ranks them, in each the preferred version first.

use std::iter;
use std::time::Duration;

use k8sconnect_core::identity::Gvk;
use k8sconnect_core::import_id::{KindReading, KindWord};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::address::{Kind, group_version_path};
use crate::call::Call;
use crate::cluster::Cluster;
use crate::error::{BadAnswer, Error};
use crate::kinds::{Failed, Listing, Resource, Served, Verb};

/// What became of looking for a kind by its name.
#[derive(Debug)]
pub enum Lookup {
    Found(Kind),
    /// Every group was asked, and none has a kind of this name.
    Nowhere,
    /// The groups that answered have no kind of this name; these group versions did not answer, the
    /// first of them for this reason.
    Unanswered {
        api_versions: Vec<String>,
        error: Error,
    },
}

/// How long a group is waited for that need not be the one: an extension server that is down for
/// good must not keep all others from being asked.
const PATIENCE: Duration = Duration::from_secs(5);

impl Cluster {
    /// Asks the server, unless it has already answered for this kind.
    pub async fn kind(&self, gvk: &Gvk) -> Result<Served, Error> {
        let asked = Instant::now();
        let slot = self.shared.kinds.slot(gvk);
        let mut known = slot.lock().await;
        // An answer that was asked for after we came is as good as our own, hit or miss: this is
        // what makes fifty objects of a missing kind cost two requests rather than fifty.
        if let Some(listing) = &known.listing
            && (listing.asked >= asked || listing.find(gvk).is_some())
        {
            return Ok(listing.judge(gvk));
        }
        // So is a failure that came while we waited for it, to whoever has no more time for it.
        if let Some(failed) = &known.failed
            && failed.when >= asked
            && failed.covers(self.deadline)
        {
            return Err(failed.error.clone());
        }
        let began = Instant::now();
        match self.resources(gvk).await {
            Ok(resources) => {
                known.failed = None;
                Ok(known.listing.insert(Listing { asked: began, resources }).judge(gvk))
            }
            Err(error) => {
                let (when, deadline) = (Instant::now(), self.deadline);
                known.failed = Some(Failed { when, deadline, error: error.clone() });
                Err(error)
            }
        }
    }

    /// Forgets which kinds a group has: a CRD of the group was written.
    pub fn forget_kinds(&self, group: &str) {
        self.shared.kinds.forget(group);
    }

    /// Whether the server offers this verb for a kind that it serves. Some kinds are answered when
    /// they are posted, and never stored. A server that lists no verbs may offer all.
    pub async fn offers(&self, gvk: &Gvk, verb: Verb) -> Result<bool, Error> {
        self.kind(gvk).await?;
        let slot = self.shared.kinds.slot(gvk);
        let known = slot.lock().await;
        let resource = known.listing.as_ref().and_then(|known| known.find(gvk));
        Ok(resource.is_none_or(|it| it.verbs.is_empty() || it.has(verb)))
    }

    /// The resources of a group version; `None` if it is not served.
    async fn resources(&self, gvk: &Gvk) -> Result<Option<Vec<Resource>>, Error> {
        let call = Call::get(group_version_path(gvk));
        let reply = self.send(&call).await?;
        match reply.status {
            // Every API server has this one; where it is not, something else answers.
            404 if gvk.group.is_empty() && gvk.version == "v1" => {
                Err(self.bad_answer(&call, BadAnswer::Status(404)))
            }
            // A missing group version is a bare 404, often in plain text and not a Status.
            404 => Ok(None),
            _ => Ok(Some(self.decode::<ResourceList>(&call, &reply)?.resources)),
        }
    }

    /// The kind that a word of kubectl's means. Where a group could not be asked and no other has the
    /// kind, that group may have it.
    pub async fn kind_called(&self, word: &KindWord) -> Result<Lookup, Error> {
        let mut groups = None;
        let (mut silent, mut first) = (Vec::new(), None);
        for reading in word.readings() {
            if reading.group.may_mean("")
                && let version = reading.version.as_deref().unwrap_or("v1")
                && let Some(kind) = self.named_in(version, &reading).await?
            {
                return Ok(Lookup::Found(kind));
            }
            let groups = match &groups {
                Some(known) => known,
                None => groups.insert(self.groups().await?),
            };
            let groups = groups.iter().filter(|group| reading.group.may_mean(name(group)));
            for api_version in groups.flat_map(|group| api_versions(group, &reading)) {
                if silent.contains(&api_version) {
                    continue;
                }
                let hasty = self.until(Instant::now() + PATIENCE);
                match hasty.named_in(&api_version, &reading).await {
                    Ok(Some(kind)) => return Ok(Lookup::Found(kind)),
                    Ok(None) => {}
                    Err(error) => {
                        silent.push(api_version);
                        first = first.or(Some(error));
                    }
                }
            }
        }
        Ok(match first {
            Some(error) => Lookup::Unanswered { api_versions: silent, error },
            None => Lookup::Nowhere,
        })
    }

    async fn groups(&self) -> Result<Vec<Value>, Error> {
        let call = Call::get("/apis");
        let reply = self.send(&call).await?;
        match self.decode::<Value>(&call, &reply)?["groups"].take() {
            Value::Array(groups) => Ok(groups),
            _ => Err(self.bad_answer(&call, BadAnswer::Shape)),
        }
    }

    async fn named_in(
        &self,
        api_version: &str,
        reading: &KindReading,
    ) -> Result<Option<Kind>, Error> {
        let gvk = Gvk::new(api_version, &reading.name);
        let resources = self.resources(&gvk).await?;
        let found = resources.into_iter().flatten().find(|it| it.is_called(&reading.name));
        Ok(found.map(|resource| resource.kind_in(&gvk)))
    }
}

#[derive(Deserialize)]
struct ResourceList {
    #[serde(default)]
    resources: Vec<Resource>,
}

fn name(group: &Value) -> &str {
    group["name"].as_str().unwrap_or_default()
}

/// The versions of a group to look in, the preferred one first.
fn api_versions(group: &Value, reading: &KindReading) -> Vec<String> {
    if let Some(version) = &reading.version {
        return vec![format!("{}/{version}", name(group))];
    }
    let others = group["versions"].as_array().into_iter().flatten();
    let all = iter::once(&group["preferredVersion"]).chain(others);
    let mut versions: Vec<String> = Vec::new();
    for version in all.filter_map(|it| it["groupVersion"].as_str()) {
        if !versions.iter().any(|known| known == version) {
            versions.push(version.to_owned());
        }
    }
    versions
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_preferred_version_is_looked_at_first() {
        let version = |version: &str| json!({"groupVersion": format!("autoscaling/{version}")});
        let group = json!({
            "name": "autoscaling",
            "versions": [version("v1"), version("v2")],
            "preferredVersion": version("v2"),
        });
        let readings = KindWord::new("hpa").readings();
        assert_eq!(api_versions(&group, &readings[0]), ["autoscaling/v2", "autoscaling/v1"]);
        let readings = KindWord::new("hpa.v1.autoscaling").readings();
        assert_eq!(api_versions(&group, &readings[0]), ["autoscaling/v1"]);
    }
}
