//! One object over time.
//!
//! A [`Follow`] reads the object once and then watches it from there, so that nothing in between
//! is missed: it resumes where a stream ended, reads anew where the server has forgotten that
//! point (410), and only where watching is not allowed does it read again and again. Waiting is
//! then a loop over what is seen, with no pause of its own.

use std::collections::VecDeque;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use k8sconnect_core::rejection::Status;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep, timeout_at};

use crate::address::{Location, Within};
use crate::call::Call;
use crate::cluster::{Cluster, Opened};
use crate::error::Error;
use crate::objects::{Detail, Found, Selection};

/// How an object was last seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    Present(Value),
    Absent,
    /// Nobody serves the path. Whether the object exists is not known.
    NotServed(Status),
}

/// How waiting for an object to go ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Departure {
    Gone,
    /// The time is up; this is how it was last seen.
    StillThere(Value),
    /// Its kind went first. Whether the object did is not known.
    NotServed(Status),
}

/// Successive sightings of one object. The first is what it is now; each further one is a change,
/// or a second look after the watch was cut off.
pub struct Follow<'a> {
    cluster: Cluster,
    at: &'a Location,
    state: State,
    pause: Duration,
}

enum State {
    /// Read before anything else.
    Unknown,
    /// Known up to a version, not watching.
    Known(String),
    Watching {
        version: String,
        stream: Lines,
    },
    /// Absent, and no list read yet to watch from.
    Unlisted,
    /// Watching brought nothing, or there was no room for it; look again after a pause.
    Fruitless,
    /// Watching is forbidden to us.
    Polling,
}

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The server ends a watch after a while of its own choosing; asked for, it is predictable.
pub(crate) const WATCH_SECONDS: &str = "240";
/// An event holds one object; etcd stops at a few MiB.
const LARGEST_EVENT: usize = 64 << 20;

impl Cluster {
    pub fn follow<'a>(&self, at: &'a Location) -> Follow<'a> {
        Follow { cluster: self.clone(), at, state: State::Unknown, pause: FIRST_PAUSE }
    }

    /// Waits until the object with this uid is no more: absent, or its name another's.
    pub async fn wait_until_gone(
        &self,
        at: &Location,
        uid: &str,
        deadline: Instant,
    ) -> Result<Departure, Error> {
        // A server that restarts meanwhile is waited for, as long as the object is.
        let mut follow = self.until(deadline).follow(at);
        let mut last = None;
        loop {
            match timeout_at(deadline, follow.next()).await {
                Err(_) => break,
                Ok(Err(_)) if Instant::now() >= deadline => break,
                Ok(Err(error)) => return Err(error),
                Ok(Ok(Seen::Absent)) => return Ok(Departure::Gone),
                Ok(Ok(Seen::NotServed(status))) => return Ok(Departure::NotServed(status)),
                Ok(Ok(Seen::Present(object))) if !is(&object, uid) => return Ok(Departure::Gone),
                Ok(Ok(Seen::Present(object))) => last = Some(object),
            }
        }
        match last {
            Some(object) => Ok(Departure::StillThere(object)),
            // The time was up before the first answer; the last word is still the server's.
            None => match self.get(at).await? {
                Found::Object(it) if is(&it.object, uid) => Ok(Departure::StillThere(it.object)),
                Found::Object(_) | Found::Absent(_) => Ok(Departure::Gone),
                Found::NotServed(status) => Ok(Departure::NotServed(status)),
            },
        }
    }
}

fn is(object: &Value, uid: &str) -> bool {
    object["metadata"]["uid"] == uid
}

impl Follow<'_> {
    /// Waits for the next sighting, for as long as it takes: bound it from outside. May be
    /// dropped while it waits; nothing is lost by that.
    pub async fn next(&mut self) -> Result<Seen, Error> {
        loop {
            match &mut self.state {
                State::Unknown => return self.look().await,
                State::Fruitless | State::Polling => {
                    sleep(self.pause).await;
                    self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                    return self.look().await;
                }
                State::Unlisted => {
                    if let Some(seen) = self.find().await? {
                        return Ok(seen);
                    }
                }
                State::Known(version) => {
                    let version = version.clone();
                    self.open(version).await?;
                }
                State::Watching { version, stream } => match stream.next().await {
                    Some(event) => {
                        self.pause = FIRST_PAUSE;
                        if let Some(seen) = self.take(event) {
                            return Ok(seen);
                        }
                    }
                    // Ended or broken, as every watch is sooner or later. One that brought
                    // nothing may have been swallowed on the way, so that a look is due.
                    None if stream.fruitful => self.state = State::Known(version.clone()),
                    None => self.state = State::Fruitless,
                },
            }
        }
    }

    async fn look(&mut self) -> Result<Seen, Error> {
        let seen = match self.cluster.get(self.at).await? {
            Found::Object(answer) => Seen::Present(answer.object),
            Found::Absent(_) => Seen::Absent,
            Found::NotServed(status) => Seen::NotServed(status),
        };
        if !matches!(self.state, State::Polling) {
            self.state = match &seen {
                Seen::Present(object) => match object["metadata"]["resourceVersion"].as_str() {
                    Some(version) => State::Known(version.into()),
                    None => State::Polling,
                },
                Seen::Absent => State::Unlisted,
                Seen::NotServed(_) => State::Fruitless,
            };
        }
        Ok(seen)
    }

    /// An absent object has no version to watch from; the list it is not in has.
    async fn find(&mut self) -> Result<Option<Seen>, Error> {
        let namespace = self.at.namespace.as_deref().unwrap_or("default");
        let name = format!("metadata.name={}", self.at.name);
        let selection = Selection { fields: Some(&name), ..Selection::default() };
        let within = Within::Namespace(namespace);
        let listed = self.cluster.list(&self.at.kind, within, selection, Detail::Full).await;
        match listed {
            Ok(mut listed) => {
                self.state = State::Known(listed.resource_version);
                Ok(listed.items.pop().map(Seen::Present))
            }
            Err(error) if unwatchable(error.code()) => {
                self.state = State::Polling;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn open(&mut self, version: String) -> Result<(), Error> {
        let call = Call::get(self.at.collection_path())
            .query("watch", "true")
            .query("fieldSelector", format!("metadata.name={}", self.at.name))
            .query("resourceVersion", &version)
            .query("allowWatchBookmarks", "true")
            .query("timeoutSeconds", WATCH_SECONDS);
        self.state = match self.cluster.open(&call).await? {
            Some(Opened::Watch(body, place)) => {
                State::Watching { version, stream: Lines::new(body, place) }
            }
            Some(Opened::Reply(reply)) if reply.status == 410 => State::Unknown,
            Some(Opened::Reply(reply)) if unwatchable(Some(reply.status)) => State::Polling,
            Some(Opened::Reply(reply)) => return Err(Error::Refused(Box::new(reply.refusal()))),
            None => State::Fruitless,
        };
        Ok(())
    }

    /// What an event says of the object; `None` where it says nothing of it.
    fn take(&mut self, event: Value) -> Option<Seen> {
        let State::Watching { version, .. } = &mut self.state else {
            return None;
        };
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let object = event.get("object").cloned().unwrap_or_default();
        if let Some(newer) = object["metadata"]["resourceVersion"].as_str() {
            *version = newer.into();
        }
        match kind.as_str() {
            "ADDED" | "MODIFIED" => Some(Seen::Present(object)),
            "DELETED" => Some(Seen::Absent),
            "BOOKMARK" => None,
            // An error event, 410 as a rule: the state must be read anew.
            _ => {
                self.state = State::Unknown;
                None
            }
        }
    }
}

/// Forbidden to us, or a server that cannot watch this.
pub(crate) fn unwatchable(code: Option<u16>) -> bool {
    matches!(code, Some(403..=405))
}

/// The JSON documents of a stream, one per line.
pub(crate) struct Lines {
    body: Incoming,
    buffer: Vec<u8>,
    ready: VecDeque<Value>,
    /// Whether it has ever brought anything.
    fruitful: bool,
    _place: OwnedSemaphorePermit,
}

impl Lines {
    pub(crate) fn new(body: Incoming, place: OwnedSemaphorePermit) -> Self {
        Self { body, buffer: Vec::new(), ready: VecDeque::new(), fruitful: false, _place: place }
    }

    /// `None` at the end, be it orderly or not.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.fruitful = true;
                return Some(event);
            }
            let frame = self.body.frame().await?.ok()?;
            if let Ok(data) = frame.into_data() {
                self.buffer.extend_from_slice(&data);
                self.ready.extend(events(&mut self.buffer)?);
            }
        }
    }
}

/// Takes the whole lines out of the buffer; `None` where they cannot be events.
fn events(buffer: &mut Vec<u8>) -> Option<Vec<Value>> {
    let Some(end) = buffer.iter().rposition(|byte| *byte == b'\n') else {
        return (buffer.len() <= LARGEST_EVENT).then(Vec::new);
    };
    let whole = buffer.drain(..=end).collect::<Vec<_>>();
    let lines = whole.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.map(|line| serde_json::from_slice(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_may_come_in_pieces_and_several_in_one() {
        let mut buffer = br#"{"type":"ADDED"}"#.to_vec();
        assert_eq!(events(&mut buffer), Some(vec![]));
        buffer.extend_from_slice(b"\n{\"type\":\"MODIFIED\"}\n{\"ty");
        let kinds = events(&mut buffer).unwrap();
        assert_eq!(kinds.iter().map(|it| &it["type"]).collect::<Vec<_>>(), ["ADDED", "MODIFIED"]);
        assert_eq!(buffer, b"{\"ty");
    }

    #[test]
    fn what_is_no_json_ends_the_stream() {
        assert_eq!(events(&mut b"<html>\n".to_vec()), None);
    }
}
