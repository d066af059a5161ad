//! One object over time.
//!
//! A [`Follow`] reads the object once and then watches it from there, so that nothing in between
//! is missed: it resumes where a stream ended, reads anew where the server has forgotten that
//! point (410), and only where watching is not allowed does it read again and again. Waiting is
//! then a loop over what is seen. Whatever brought nothing is followed by a pause that grows, so that
//! a server that fails every watch is not asked without end. It ends by itself at the deadline of the
//! handle that it was begun with, and when the user asks to stop.

use std::time::Duration;

use bytes::BytesMut;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use k8sconnect_core::footprint;
use k8sconnect_core::rejection::Status;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};

use crate::address::Location;
use crate::call::{Call, LARGEST_ANSWER, Reply};
use crate::cluster::Cluster;
use crate::error::{Error, Excess};
use crate::objects::Found;
use crate::retry::Answered;

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
    may_watch: bool,
}

enum State {
    /// Read before anything else.
    Unknown,
    /// Watching failed or brought nothing, or is not possible; read again after a pause.
    Fruitless,
    /// Known up to a version, not watching. An absent object has no version: it is watched from now
    /// on, and the server begins with what it has by then.
    Known(Option<String>),
    Watching {
        version: Option<String>,
        stream: Lines,
    },
}

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The server ends a watch after a while of its own choosing; asked for, it is predictable.
const SECONDS: &str = "240";

impl Cluster {
    pub fn follow<'a>(&self, at: &'a Location) -> Follow<'a> {
        let (cluster, state, pause) = (self.clone(), State::Unknown, FIRST_PAUSE);
        Follow { cluster, at, state, pause, may_watch: true }
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
            State::Fruitless => {
                let request = || Call::get(self.at.path()).label();
                if self.cluster.wait(request, sleep(self.pause)).await?.is_none() {
                    return Ok(None);
                }
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                self.look().await.map(Some)
            }
            State::Known(version) => {
                let version = version.clone();
                self.open(version).await?;
                Ok(None)
            }
            State::Watching { version, stream } => match stream.next().await? {
                Next::Event(event) => Ok(self.take(event)),
                Next::Late => Ok(None),
                // Ended or broken, as every watch is sooner or later. One that brought
                // nothing may have been swallowed on the way, so that a look is due.
                Next::End => {
                    self.state = match stream.is_fruitful {
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
        self.state = match &seen {
            Seen::Present(object) if self.may_watch => State::Known(version_of(object)),
            Seen::Absent if self.may_watch => State::Known(None),
            _ => State::Fruitless,
        };
        Ok(seen)
    }

    async fn open(&mut self, version: Option<String>) -> Result<(), Error> {
        let call = Call::get(self.at.collection_path())
            .query("fieldSelector", format!("metadata.name={}", self.at.name))
            .query("allowWatchBookmarks", "true");
        self.state = match self.cluster.watch(call, version.as_deref()).await? {
            Some(Ok(stream)) => State::Watching { version, stream },
            Some(Err(reply)) => {
                self.may_watch = !unwatchable(Some(reply.status));
                if self.may_watch && reply.status != 410 {
                    return Err(Error::Refused(Box::new(reply.refusal())));
                }
                State::Fruitless
            }
            None => State::Fruitless,
        };
        Ok(())
    }

    /// What an event says of the object; `None` where it says nothing of it.
    fn take(&mut self, mut event: Value) -> Option<Seen> {
        let State::Watching { version, .. } = &mut self.state else {
            return None;
        };
        let object = event["object"].take();
        if let Some(newer) = version_of(&object) {
            *version = Some(newer);
        }
        let seen = match event["type"].as_str() {
            Some("ADDED" | "MODIFIED") => Some(Seen::Present(object)),
            Some("DELETED") => Some(Seen::Absent),
            Some("BOOKMARK") => None,
            // An ERROR, with 410 as a rule: the object must be read anew.
            _ => {
                self.state = State::Fruitless;
                return None;
            }
        };
        self.pause = FIRST_PAUSE;
        seen
    }
}

fn version_of(object: &Value) -> Option<String> {
    object["metadata"]["resourceVersion"].as_str().map(str::to_owned)
}

/// Whether we may not watch, or the server cannot watch this.
pub(crate) fn unwatchable(code: Option<u16>) -> bool {
    matches!(code, Some(403..=405))
}

impl Cluster {
    /// Watches from a version on, or from now. The inner error is what the server answered instead; `None` where
    /// no watch comes about.
    pub(crate) async fn watch(
        &self,
        call: Call,
        version: Option<&str>,
    ) -> Result<Option<Result<Lines, Reply>>, Error> {
        let mut call = call.query("watch", "true").query("timeoutSeconds", SECONDS);
        if let Some(version) = version {
            call = call.query("resourceVersion", version);
        }
        Ok(self.open(&call).await?.map(|(answered, place)| match answered {
            Answered::Reply(reply) => Err(reply),
            Answered::Stream(body) => Ok(Lines {
                cluster: self.clone(),
                request: call.label(),
                body,
                buffer: Buffer::default(),
                is_fruitful: false,
                _place: place,
            }),
        }))
    }
}

/// The JSON documents of a stream, one per line.
pub(crate) struct Lines {
    cluster: Cluster,
    request: String,
    body: Incoming,
    buffer: Buffer,
    /// Whether it has ever brought anything.
    is_fruitful: bool,
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
    pub(crate) async fn next(&mut self) -> Result<Next, Error> {
        loop {
            let line = self.buffer.line();
            let has_too_much = match &line {
                Some(line) => footprint::exceeds(line, LARGEST_ANSWER),
                None => self.buffer.bytes.len() > LARGEST_ANSWER,
            };
            if has_too_much {
                let (host, request) = (self.cluster.server(), self.request.clone());
                let excess = Excess::Event { limit: LARGEST_ANSWER };
                return Err(Error::TooMuch { host, request, excess });
            }
            if let Some(line) = line {
                self.is_fruitful = true;
                return Ok(serde_json::from_slice(&line).map_or(Next::End, Next::Event));
            }
            let request = || self.request.clone();
            match self.cluster.wait(request, self.body.frame()).await? {
                None => return Ok(Next::Late),
                Some(Some(Ok(frame))) => {
                    self.buffer.bytes.extend(frame.into_data().unwrap_or_default());
                }
                Some(Some(Err(_)) | None) => return Ok(Next::End),
            }
        }
    }
}

/// What has come of a stream and is not taken yet.
#[derive(Default)]
struct Buffer {
    bytes: BytesMut,
    /// How much of it is known to have no end of a line.
    searched: usize,
}

impl Buffer {
    /// The next whole line that is not empty.
    fn line(&mut self) -> Option<BytesMut> {
        while let Some(end) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') {
            let line = self.bytes.split_to(self.searched + end + 1);
            self.searched = 0;
            if !line.trim_ascii().is_empty() {
                return Some(line);
            }
        }
        self.searched = self.bytes.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_may_come_in_pieces_and_several_in_one() {
        let mut buffer = Buffer::default();
        let mut lines = |bytes: &[u8]| {
            buffer.bytes.extend_from_slice(bytes);
            let lines = std::iter::from_fn(|| buffer.line());
            lines.map(|line| String::from_utf8_lossy(line.trim_ascii()).into_owned()).collect()
        };
        let none: Vec<String> = vec![];
        assert_eq!(lines(br#"{"type":"ADD"#), none);
        assert_eq!(lines(br#"ED"}"#), none);
        let two: Vec<String> = lines(b"\n\n{\"type\":\"MODIFIED\"}\n{\"ty");
        assert_eq!(two, [r#"{"type":"ADDED"}"#, r#"{"type":"MODIFIED"}"#]);
        assert_eq!(lines(b"pe\":\"X\"}\n"), [r#"{"type":"X"}"#]);
        assert_eq!(lines(b"\n"), none);
    }
}
