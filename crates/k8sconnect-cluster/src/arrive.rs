//! Waiting for what an object needs before it can be made: its kind, its namespace.
//!
//! Both are watched. A kind of somebody's own arrives with a CustomResourceDefinition, so the
//! definitions are what is watched; only between a definition's arrival and the moment at which its
//! kind is served, which no watch tells of, is the server asked again and again.

use std::time::Duration;

use k8sconnect_core::identity::Gvk;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::address::{Kind, Location, Within, group_version_path};
use crate::call::Call;
use crate::cluster::Cluster;
use crate::error::Error;
use crate::kinds::Served;
use crate::list::{Detail, Selection};
use crate::watch::{Lines, Next, Seen, unwatchable};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Cluster {
    /// The kind, as soon as it is served; `None` if it is not by the deadline.
    pub async fn await_kind(&self, gvk: &Gvk, deadline: Instant) -> Result<Option<Kind>, Error> {
        let patient = self.until(deadline);
        let mut pause = FIRST_PAUSE;
        loop {
            match patient.kind_or_news(gvk, &mut pause).await {
                Ok(Some(kind)) => return Ok(Some(kind)),
                // What fails for lack of time is no trouble of the server's.
                Err(error) if error.is_interrupt() || !patient.is_late() => return Err(error),
                Ok(None) | Err(_) if patient.is_late() => return Ok(None),
                Ok(None) | Err(_) => {}
            }
        }
    }

    /// The kind, if it is served; else waits until another look is worth while.
    async fn kind_or_news(&self, gvk: &Gvk, pause: &mut Duration) -> Result<Option<Kind>, Error> {
        if let Served::Yes(kind) = self.kind(gvk).await? {
            return Ok(Some(kind));
        }
        let mut news = match self.without_definition(gvk).await? {
            Some((kind, version)) => self.news(&kind, &version).await?,
            None => None,
        };
        while let Some(events) = &mut news {
            match events.next().await? {
                Next::Event(event) if is_of_group(&event["object"], gvk) => {
                    *pause = FIRST_PAUSE;
                    return Ok(None);
                }
                Next::Event(_) => {}
                Next::End | Next::Late => break,
            }
        }
        // Nothing to watch, or a watch that brought nothing.
        let request = || Call::get(group_version_path(gvk)).label();
        self.wait(request, sleep(*pause)).await?;
        *pause = (*pause * 2).min(LONGEST_PAUSE);
        Ok(None)
    }

    /// The namespace, as soon as it is there and not going; `false` if it is not by the deadline.
    pub async fn await_namespace(&self, name: &str, deadline: Instant) -> Result<bool, Error> {
        let patient = self.until(deadline);
        let Served::Yes(kind) = patient.kind(&Gvk::new("v1", "Namespace")).await? else {
            return Ok(false);
        };
        let at = Location { kind, namespace: None, name: name.to_owned() };
        let mut follow = patient.follow(&at);
        while let Some(seen) = follow.next().await? {
            if let Seen::Present(it) = seen
                && it["metadata"]["deletionTimestamp"].is_null()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether any definition could be the kind's: whether there are objects of it is open then,
    /// even if it is not served. Where definitions cannot be looked at, they may be there.
    pub async fn is_defined(&self, gvk: &Gvk) -> Result<bool, Error> {
        Ok(self.without_definition(gvk).await?.is_none())
    }

    /// The kind of definitions, and the version of their list at which there was none that may be the
    /// kind's. `None`: there is one, so that its serving is a matter of moments; or definitions cannot
    /// be looked at.
    async fn without_definition(&self, gvk: &Gvk) -> Result<Option<(Kind, String)>, Error> {
        let Served::Yes(kind) = self.kind(&Gvk::definition()).await? else {
            return Ok(None);
        };
        let all = Selection::default();
        match self.list(&kind, Within::Everywhere, all, Detail::Metadata).await {
            Ok(listed) if listed.items.iter().any(|item| is_of_group(item, gvk)) => Ok(None),
            Ok(listed) => Ok(Some((kind, listed.resource_version))),
            Err(error) if unwatchable(error.code()) => Ok(None),
            // Some definitions bear a copy of themselves in an annotation.
            Err(Error::TooMuch { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What happens to definitions from a version of their list on; `None` where that is not told.
    async fn news(&self, kind: &Kind, version: &str) -> Result<Option<Lines>, Error> {
        let mut call = Call::get(Within::Everywhere.collection_path(kind));
        call.accept = METADATA_WATCH;
        Ok(self.watch(call, Some(version)).await?.and_then(Result::ok))
    }
}

/// Of each definition only its name is wanted.
const METADATA_WATCH: &str =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/// A definition is named `<plural>.<group>`.
fn is_of_group(definition: &Value, gvk: &Gvk) -> bool {
    let name = definition["metadata"]["name"].as_str().unwrap_or_default();
    name.split_once('.').is_some_and(|(_, group)| group == gvk.group)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_belongs_to_the_group_in_its_name() {
        let gvk = Gvk::new("example.com/v1", "Thing");
        let named = |name: &str| json!({"metadata": {"name": name}});
        assert!(is_of_group(&named("things.example.com"), &gvk));
        assert!(!is_of_group(&named("things.other.example.com"), &gvk));
        assert!(!is_of_group(&named("things"), &gvk));
    }
}
