//! A kind by any name that kubectl takes: singular, plural, short, with or without its group.
//!
//! Only an import asks this; everything else knows the kind it wants and asks `kinds` for that one
//! group version. The order is kubectl's: the core group first, then the groups as the server
//! ranks them, in each the preferred version first.

use std::time::Duration;

use k8sconnect_core::identity::Gvk;
use k8sconnect_core::import_id::{KindReading, KindWord};
use serde::Deserialize;
use tokio::time::Instant;

use crate::call::Call;
use crate::cluster::Cluster;
use crate::error::Error;
use crate::kinds::{Kind, Scope, group_version_path};

/// What became of looking for a kind.
#[derive(Debug)]
pub enum Lookup {
    Found(Kind),
    /// Everybody was asked, and has none of this name.
    Nowhere,
    /// Who answered has none of this name; these group versions did not answer, the first of them
    /// for this reason.
    Unanswered {
        api_versions: Vec<String>,
        error: Error,
    },
}

/// How long a group is waited for that need not be the one: an extension server that is down for
/// good must not keep all others from being asked.
const PATIENCE: Duration = Duration::from_secs(5);

impl Cluster {
    /// The kind that is meant. Where a group could not be asked and no other has the kind, it may
    /// be there.
    pub async fn kind_called(&self, word: &KindWord) -> Result<Lookup, Error> {
        let mut groups = None;
        let (mut silent, mut first) = (Vec::new(), None);
        for reading in word.readings() {
            if reading.group.may_mean("")
                && let version = reading.version.as_deref().unwrap_or("v1")
                && let Some(kind) = self.named_in("", version, &reading).await?
            {
                return Ok(Lookup::Found(kind));
            }
            let groups = match &groups {
                Some(known) => known,
                None => groups.insert(self.groups().await?),
            };
            for group in groups.iter().filter(|group| reading.group.may_mean(&group.name)) {
                for version in group.versions(&reading) {
                    let api_version = format!("{}/{version}", group.name);
                    if silent.contains(&api_version) {
                        continue;
                    }
                    let hasty = self.until(Instant::now() + PATIENCE);
                    match hasty.named_in(&group.name, version, &reading).await {
                        Ok(Some(kind)) => return Ok(Lookup::Found(kind)),
                        Ok(None) => {}
                        Err(error) => {
                            silent.push(api_version);
                            first = first.or(Some(error));
                        }
                    }
                }
            }
        }
        Ok(match first {
            Some(error) => Lookup::Unanswered { api_versions: silent, error },
            None => Lookup::Nowhere,
        })
    }

    async fn groups(&self) -> Result<Vec<Group>, Error> {
        let call = Call::get("/apis");
        let reply = self.send(&call).await?;
        Ok(self.decode::<GroupList>(&call, &reply)?.groups)
    }

    async fn named_in(
        &self,
        group: &str,
        version: &str,
        reading: &KindReading,
    ) -> Result<Option<Kind>, Error> {
        let mut gvk =
            Gvk { group: group.into(), version: version.into(), kind: reading.name.clone() };
        let call = Call::get(group_version_path(&gvk));
        let reply = self.send(&call).await?;
        if reply.status == 404 {
            return Ok(None);
        }
        let listed = self.decode::<ResourceList>(&call, &reply)?.resources;
        let Some(resource) = listed.into_iter().find(|resource| resource.is_called(&reading.name))
        else {
            return Ok(None);
        };
        gvk.kind = resource.kind;
        let scope = if resource.namespaced { Scope::Namespaced } else { Scope::Cluster };
        Ok(Some(Kind { gvk, plural: resource.name, scope }))
    }
}

#[derive(Deserialize)]
struct GroupList {
    #[serde(default)]
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    name: String,
    versions: Vec<GroupVersion>,
    preferred_version: Option<GroupVersion>,
}

#[derive(Deserialize)]
struct GroupVersion {
    version: String,
}

impl Group {
    /// The versions to look in, the preferred one first.
    fn versions<'a>(&'a self, reading: &'a KindReading) -> Vec<&'a str> {
        if let Some(version) = &reading.version {
            return vec![version];
        }
        let mut versions: Vec<&str> =
            self.preferred_version.iter().map(|it| it.version.as_str()).collect();
        for it in &self.versions {
            if !versions.contains(&it.version.as_str()) {
                versions.push(&it.version);
            }
        }
        versions
    }
}

#[derive(Deserialize)]
struct ResourceList {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    name: String,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    short_names: Vec<String>,
    namespaced: bool,
    kind: String,
    #[serde(default)]
    verbs: Vec<String>,
}

impl Resource {
    fn is_called(&self, word: &str) -> bool {
        // A slash marks a subresource; what cannot be read cannot be imported.
        !self.name.contains('/')
            && self.verbs.iter().any(|verb| verb == "get")
            && [&self.name, &self.singular_name, &self.kind]
                .into_iter()
                .chain(&self.short_names)
                .any(|name| name.eq_ignore_ascii_case(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployments(verbs: &[&str]) -> Resource {
        Resource {
            name: "deployments".into(),
            singular_name: "deployment".into(),
            short_names: vec!["deploy".into()],
            namespaced: true,
            kind: "Deployment".into(),
            verbs: verbs.iter().map(|verb| (*verb).into()).collect(),
        }
    }

    #[test]
    fn a_kind_goes_by_every_name_that_kubectl_takes() {
        for word in ["deployments", "deployment", "deploy", "Deployment", "DEPLOYMENT"] {
            assert!(deployments(&["get"]).is_called(word), "{word}");
        }
        assert!(!deployments(&["get"]).is_called("deploymen"));
        assert!(!deployments(&["create"]).is_called("deployment"), "it cannot be read");
    }

    #[test]
    fn the_preferred_version_is_looked_at_first() {
        let version = |version: &str| GroupVersion { version: version.into() };
        let group = Group {
            name: "autoscaling".into(),
            versions: vec![version("v1"), version("v2")],
            preferred_version: Some(version("v2")),
        };
        let readings = KindWord::new("hpa").readings();
        assert_eq!(group.versions(&readings[0]), ["v2", "v1"]);
        let readings = KindWord::new("hpa.v1.autoscaling").readings();
        assert_eq!(group.versions(&readings[0]), ["v1"]);
    }
}
