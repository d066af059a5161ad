//! Waiting for what an object needs before it can be made: its kind, its namespace.
//!
//! Both are watched. A kind of somebody's own arrives with a CustomResourceDefinition, so the
//! definitions are what is watched; only between a definition's arrival and the moment at which its
//! kind is served, which no watch tells of, is the server asked again and again.

use std::time::Duration;

use k8sconnect_core::identity::Gvk;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use crate::address::{Location, Within};
use crate::call::Call;
use crate::cluster::{Cluster, Opened};
use crate::error::Error;
use crate::kinds::{Kind, Served};
use crate::objects::{Detail, Selection};
use crate::watch::{Lines, Seen, WATCH_SECONDS, unwatchable};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What is known of the definitions of a group.
enum Definitions {
    /// There is one that may be the kind's: its serving is a matter of moments.
    There,
    /// There was none at this version of their list.
    None { kind: Kind, version: String },
    /// They cannot be looked at.
    Hidden,
}

impl Cluster {
    /// The kind, as soon as it is served; `None` if it is not by the deadline.
    pub async fn await_kind(&self, gvk: &Gvk, deadline: Instant) -> Result<Option<Kind>, Error> {
        let patient = self.until(deadline);
        let mut pause = FIRST_PAUSE;
        loop {
            // What fails for lack of time is no trouble of the server's.
            let late = || Instant::now() >= deadline;
            match patient.kind(gvk).await {
                Ok(Served::Yes(kind)) => return Ok(Some(kind)),
                Ok(_) if late() => return Ok(None),
                Err(_) if late() => return Ok(None),
                Ok(_) => {}
                Err(error) => return Err(error),
            }
            let news = match patient.definitions(gvk).await {
                Ok(Definitions::None { kind, version }) => patient.news(&kind, &version).await,
                Ok(Definitions::There | Definitions::Hidden) => Ok(None),
                Err(error) => Err(error),
            };
            match news {
                Err(_) if late() => return Ok(None),
                Err(error) => return Err(error),
                Ok(Some(mut events)) => {
                    let coming = async { while !concerns(events.next().await, gvk) {} };
                    if timeout_at(deadline, coming).await.is_err() {
                        return Ok(None);
                    }
                    pause = FIRST_PAUSE;
                }
                Ok(None) => {
                    sleep(pause.min(deadline.saturating_duration_since(Instant::now()))).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// The namespace, as soon as it is there and not going; `false` if it is not by the deadline.
    pub async fn await_namespace(&self, name: &str, deadline: Instant) -> Result<bool, Error> {
        let patient = self.until(deadline);
        let Served::Yes(kind) = patient.kind(&Gvk::new("v1", "Namespace")).await? else {
            return Ok(false);
        };
        let at = Location { kind, namespace: None, name: name.to_owned() };
        let mut follow = patient.follow(&at);
        loop {
            match timeout_at(deadline, follow.next()).await {
                Err(_) => return Ok(false),
                Ok(Err(_)) if Instant::now() >= deadline => return Ok(false),
                Ok(Err(error)) => return Err(error),
                Ok(Ok(Seen::Present(it))) if it["metadata"]["deletionTimestamp"].is_null() => {
                    return Ok(true);
                }
                Ok(Ok(_)) => {}
            }
        }
    }

    /// Whether any definition could be the kind's: whether there are objects of it is open then,
    /// even if it is not served. Where definitions cannot be looked at, they may be there.
    pub async fn is_defined(&self, gvk: &Gvk) -> Result<bool, Error> {
        Ok(!matches!(self.definitions(gvk).await?, Definitions::None { .. }))
    }

    async fn definitions(&self, gvk: &Gvk) -> Result<Definitions, Error> {
        let definition = Gvk::definition();
        let Served::Yes(kind) = self.kind(&definition).await? else {
            return Ok(Definitions::Hidden);
        };
        let listed =
            self.list(&kind, Within::Everywhere, Selection::default(), Detail::Metadata).await;
        let listed = match listed {
            Ok(listed) => listed,
            Err(error) if unwatchable(error.code()) => return Ok(Definitions::Hidden),
            Err(error) => return Err(error),
        };
        if listed.items.iter().any(|item| is_of_group(item, gvk)) {
            return Ok(Definitions::There);
        }
        Ok(Definitions::None { kind, version: listed.resource_version })
    }

    /// What happens to definitions from a version of their list on; `None` where that is not told.
    async fn news(&self, kind: &Kind, version: &str) -> Result<Option<Lines>, Error> {
        let mut call = Call::get(Within::Everywhere.collection_path(kind))
            .query("watch", "true")
            .query("resourceVersion", version)
            .query("timeoutSeconds", WATCH_SECONDS);
        call.accept = METADATA_WATCH;
        Ok(match self.open(&call).await? {
            Some(Opened::Watch(body, place)) => Some(Lines::new(body, place)),
            Some(Opened::Reply(_)) | None => None,
        })
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

/// Whether an event is worth another look; the end of the stream is.
fn concerns(event: Option<Value>, gvk: &Gvk) -> bool {
    event.is_none_or(|event| is_of_group(&event["object"], gvk))
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
