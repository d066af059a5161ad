//! One object over time.
//!
//! A [`Follow`] reads the object once and then watches it from there, so that nothing in between
//! is missed: it resumes where a stream ended, reads anew where the server has forgotten that
//! point (410), and only where watching is not allowed does it read again and again. Waiting is
//! then a loop over what is seen, with no pause of its own. It ends by itself at the deadline of the
//! handle that it was begun with, and when the user asks to stop.

use std::collections::VecDeque;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use k8sconnect_core::rejection::Status;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};

use crate::address::{Location, Within};
use crate::call::{Call, LARGEST_ANSWER};
use crate::cluster::{Cluster, Opened};
use crate::error::{Error, Excess};
use crate::list::{Detail, Selection};
use crate::objects::Found;

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
        while let Some(seen) = follow.next().await? {
            match seen {
                Seen::Absent => return Ok(Departure::Gone),
                Seen::NotServed(status) => return Ok(Departure::NotServed(status)),
                Seen::Present(object) if !is(&object, uid) => return Ok(Departure::Gone),
                Seen::Present(object) => last = Some(object),
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
    /// Waits for the next sighting; `None` at the deadline. May be dropped while it waits; nothing is
    /// lost by that.
    pub async fn next(&mut self) -> Result<Option<Seen>, Error> {
        // A watch that always has something to say must not outlast the deadline.
        while !self.cluster.is_late() {
            match self.step().await {
                Ok(None) => {}
                // What fails for lack of time is no trouble of the server's.
                Err(error) if self.cluster.is_late() && !error.is_interrupt() => {}
                ended => return ended,
            }
        }
        Ok(None)
    }

    /// One request, pause or event, and what it showed of the object.
    async fn step(&mut self) -> Result<Option<Seen>, Error> {
        match &mut self.state {
            State::Unknown => self.look().await.map(Some),
            State::Fruitless | State::Polling => {
                let request = || Call::get(self.at.path()).label();
                if self.cluster.wait(request, sleep(self.pause)).await?.is_none() {
                    return Ok(None);
                }
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                self.look().await.map(Some)
            }
            State::Unlisted => self.find().await,
            State::Known(version) => {
                let version = version.clone();
                self.open(version).await?;
                Ok(None)
            }
            State::Watching { version, stream } => match stream.next().await? {
                Next::Event(event) => {
                    self.pause = FIRST_PAUSE;
                    Ok(self.take(event))
                }
                Next::Late => Ok(None),
                // Ended or broken, as every watch is sooner or later. One that brought
                // nothing may have been swallowed on the way, so that a look is due.
                Next::End => {
                    self.state = match stream.fruitful {
                        true => State::Known(version.clone()),
                        false => State::Fruitless,
                    };
                    Ok(None)
                }
            },
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
            Some(Opened::Watch(stream)) => State::Watching { version, stream },
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
    cluster: Cluster,
    request: String,
    body: Incoming,
    buffer: Vec<u8>,
    ready: VecDeque<Value>,
    /// Whether it has ever brought anything.
    fruitful: bool,
    _place: OwnedSemaphorePermit,
}

/// What came of waiting for a stream.
pub(crate) enum Next {
    Event(Value),
    /// The stream is over, in order or broken.
    End,
    /// The deadline has come first.
    Late,
}

impl Lines {
    /// `place`: the room that the stream takes while it is open.
    pub(crate) fn new(
        cluster: Cluster,
        request: String,
        body: Incoming,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let (buffer, ready) = (Vec::new(), VecDeque::new());
        Self { cluster, request, body, buffer, ready, fruitful: false, _place: place }
    }

    pub(crate) async fn next(&mut self) -> Result<Next, Error> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.fruitful = true;
                return Ok(Next::Event(event));
            }
            let request = || self.request.clone();
            let data = match self.cluster.wait(request, self.body.frame()).await? {
                None => return Ok(Next::Late),
                Some(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
                Some(Some(Err(_)) | None) => return Ok(Next::End),
            };
            match events(&mut self.buffer, &data, LARGEST_ANSWER) {
                Ok(events) => self.ready.extend(events),
                Err(Broken::NoJson) => return Ok(Next::End),
                Err(Broken::TooLong) => {
                    let (host, request) = (self.cluster.server(), self.request.clone());
                    let excess = Excess::Event { limit: LARGEST_ANSWER };
                    return Err(Error::TooMuch { host, request, excess });
                }
            }
        }
    }
}

/// Why lines cannot be events.
#[derive(Debug, PartialEq, Eq)]
enum Broken {
    NoJson,
    TooLong,
}

/// Takes the whole lines out of what has come. `buffer` holds the beginning of a line and no end of
/// one, so that only what is new is searched.
fn events(buffer: &mut Vec<u8>, new: &[u8], longest: usize) -> Result<Vec<Value>, Broken> {
    let end = new.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let (whole, rest) = new.split_at(end);
    if buffer.len() + new.len() > longest {
        return Err(Broken::TooLong);
    }
    buffer.extend_from_slice(whole);
    let mut events = Vec::new();
    if end > 0 {
        let lines = buffer.split(|byte| *byte == b'\n');
        for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
            events.push(serde_json::from_slice(line).map_err(|_| Broken::NoJson)?);
        }
        buffer.clear();
    }
    buffer.extend_from_slice(rest);
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_may_come_in_pieces_and_several_in_one() {
        let mut buffer = Vec::new();
        assert_eq!(events(&mut buffer, br#"{"type":"ADD"#, 99), Ok(vec![]));
        assert_eq!(events(&mut buffer, br#"ED"}"#, 99), Ok(vec![]));
        let found = events(&mut buffer, b"\n{\"type\":\"MODIFIED\"}\n{\"ty", 99).unwrap();
        assert_eq!(found.iter().map(|it| &it["type"]).collect::<Vec<_>>(), ["ADDED", "MODIFIED"]);
        assert_eq!(buffer, b"{\"ty");
        assert_eq!(events(&mut buffer, b"pe\":\"X\"}\n", 99).unwrap()[0]["type"], "X");
        assert!(buffer.is_empty());
    }

    #[test]
    fn what_is_no_json_ends_the_stream() {
        assert_eq!(events(&mut Vec::new(), b"<html>\n", 99), Err(Broken::NoJson));
    }

    #[test]
    fn an_event_beyond_the_limit_is_not_kept() {
        let mut buffer = Vec::new();
        assert_eq!(events(&mut buffer, &[b' '; 90], 99), Ok(vec![]));
        assert_eq!(events(&mut buffer, &[b' '; 10], 99), Err(Broken::TooLong));
        assert_eq!(buffer.len(), 90);
    }
}
