//! What a plan promised of an object's fields, for the plan that its apply makes.
//!
//! Terraform holds the second to the first, and hands nothing of the one to the other. Both ask the
//! server, and it may answer otherwise the second time: a default of the kind was changed in between, a
//! class that is to be the default was made by the same run, a webhook changed its mind. So the first
//! leaves a note of what it promised, and the second promises the same; the write tells what came of it.
//!
//! A note says which body it is for in its name, and is sealed with that body: whoever finds it learns
//! nothing who does not know the body already.

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::digest::{self, Digest, SHA256};
use k8sconnect_cluster::Host;
use k8sconnect_core::identity::ObjectKey;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tfplugin::Value;

use super::kin::ground;
use super::{Memory, notes};
use crate::deflate::{deflated, inflated};
use crate::leaves::ProjectionMap;
use crate::moment::Moment;

/// What a promise is for: nothing else may be held to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Promise<'a> {
    pub(crate) host: &'a Host,
    pub(crate) key: &'a ObjectKey,
    pub(crate) body: &'a Json,
    /// The id of the resource and the version of the object that state holds, if it holds one.
    pub(crate) prior: Option<(&'a str, Option<&'a str>)>,
}

#[derive(Serialize, Deserialize)]
struct Note {
    run: Option<String>,
    process: u32,
    /// What was left open has no text.
    leaves: Vec<(String, Option<String>)>,
}

impl Memory {
    /// What is to be promised, where this is the answer of the server now: what the plan before this
    /// apply has promised, if it left word of it. A plan leaves it.
    pub(crate) fn promise(
        &self,
        promise: Promise<'_>,
        moment: Moment,
        map: ProjectionMap,
    ) -> ProjectionMap {
        let noted = match moment {
            Moment::Planning => None,
            Moment::Applying => promise.noted(),
            Moment::Unclear => promise.noted().filter(Note::is_of_this_run),
        };
        if let Some(noted) = noted {
            return noted.kept(&map);
        }
        if moment != Moment::Applying
            && let Err(error) = promise.note(&map)
        {
            tracing::debug!(%error, "what the plan promised cannot be noted for the apply");
        }
        map
    }

    /// Once the plan is carried out, the note is for nobody.
    pub(crate) fn end_promise(&self, promise: Promise<'_>) {
        notes::remove(&promise.name());
    }
}

impl Promise<'_> {
    fn name(&self) -> String {
        let place = format!("{}\n{}\n{:?}\n", self.host, self.key, self.prior);
        let name = self.digest(&place);
        let name = name.as_ref()[..16].iter().map(|byte| format!("{byte:02x}"));
        format!("promise-{}", name.collect::<String>())
    }

    fn digest(&self, what: &str) -> Digest {
        let mut context = digest::Context::new(&SHA256);
        context.update(what.as_bytes());
        context.update(self.body.to_string().as_bytes());
        context.finish()
    }

    fn seal(&self) -> Option<LessSafeKey> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, self.digest("seal").as_ref());
        key.ok().map(LessSafeKey::new)
    }

    fn note(&self, map: &ProjectionMap) -> std::io::Result<()> {
        let leaves = map.iter().map(|(path, text)| (path.clone(), text.known().cloned()));
        let note =
            Note { run: ground::run(), process: std::process::id(), leaves: leaves.collect() };
        let mut sealed = deflated(&serde_json::to_vec(&note)?);
        let mut nonce = [0; 12];
        getrandom::fill(&mut nonce).map_err(std::io::Error::other)?;
        let seal = self.seal().ok_or(std::io::ErrorKind::Other)?;
        let number = Nonce::assume_unique_for_key(nonce);
        seal.seal_in_place_append_tag(number, Aad::empty(), &mut sealed)
            .map_err(|_| std::io::ErrorKind::Other)?;
        notes::write(&self.name(), &[&nonce[..], &sealed].concat())
    }

    fn noted(&self) -> Option<Note> {
        let note = notes::read(&self.name())?;
        let (nonce, sealed) = note.split_first_chunk::<12>()?;
        let mut sealed = sealed.to_vec();
        let number = Nonce::assume_unique_for_key(*nonce);
        let plain = self.seal()?.open_in_place(number, Aad::empty(), &mut sealed).ok()?;
        serde_json::from_slice(&inflated(plain)?).ok()
    }
}

impl Note {
    /// Whether another process of this run left it: its plan, where this is its apply.
    fn is_of_this_run(&self) -> bool {
        self.run.is_some() && self.run == ground::run() && self.process != std::process::id()
    }

    /// What it promised. What it left open may be told by now.
    fn kept(self, now: &ProjectionMap) -> ProjectionMap {
        let leaf = |(path, text): (String, Option<String>)| {
            let text = match text {
                Some(text) => Value::Known(text),
                None => now.get(&path).cloned().unwrap_or(Value::Unknown),
            };
            (path, text)
        };
        self.leaves.into_iter().map(leaf).collect()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use k8sconnect_core::identity::Gvk;
    use serde_json::json;

    use super::*;

    fn map(leaves: &[(&str, Option<&str>)]) -> ProjectionMap {
        let leaf = |(path, text): &(&str, Option<&str>)| {
            ((*path).to_owned(), text.map_or(Value::Unknown, |text| Value::Known(text.to_owned())))
        };
        leaves.iter().map(leaf).collect()
    }

    #[test]
    fn an_apply_promises_what_its_plan_has_promised() {
        let host: Host = "https://a".parse().unwrap();
        let name = uuid::Uuid::new_v4().to_string();
        let key = ObjectKey { gvk: Gvk::new("v1", "ConfigMap"), namespace: None, name };
        let (body, other) = (json!({"data": {"a": "1"}}), json!({"data": {"a": "2"}}));
        let promise = Promise { host: &host, key: &key, body: &body, prior: None };
        let another = Promise { body: &other, ..promise };
        let memory = Memory::default();
        let told = map(&[("a", Some("1")), ("b", None), ("gone", Some("3"))]);
        let now = map(&[("a", Some("9")), ("b", Some("2")), ("new", Some("4"))]);

        assert_eq!(memory.promise(promise, Moment::Applying, now.clone()), now);
        assert_eq!(memory.promise(promise, Moment::Planning, told.clone()), told);
        let kept = map(&[("a", Some("1")), ("b", Some("2")), ("gone", Some("3"))]);
        assert_eq!(memory.promise(promise, Moment::Applying, now.clone()), kept);
        assert_eq!(memory.promise(another, Moment::Applying, now.clone()), now);
        // What was noted is another plan's, where this is no apply.
        assert_eq!(memory.promise(promise, Moment::Unclear, now.clone()), now);
        memory.end_promise(promise);
        assert_eq!(memory.promise(promise, Moment::Applying, told.clone()), told);
    }

    #[test]
    fn a_note_shows_nothing_and_opens_for_its_body_only() {
        let host: Host = "https://a".parse().unwrap();
        let name = uuid::Uuid::new_v4().to_string();
        let key = ObjectKey { gvk: Gvk::new("v1", "ConfigMap"), namespace: None, name };
        let body = json!({"data": {"a": "hunter2"}});
        let promise = Promise { host: &host, key: &key, body: &body, prior: None };
        promise.note(&map(&[("data.a", Some("hunter2"))])).unwrap();
        let note = notes::read(&promise.name()).unwrap();
        assert!(!String::from_utf8_lossy(&note).contains("hunter2"));
        let forged = Promise { body: &json!({}), ..promise };
        notes::write(&forged.name(), &note).unwrap();
        assert!(forged.noted().is_none() && promise.noted().is_some());
        notes::remove(&forged.name());
        notes::remove(&promise.name());
    }
}
