//! Many objects in one text, or in many: each with a key that never depends on its neighbours.
//!
//! The key is `[group.]kind[.namespace].name`, lower case, just as it is written in the document.
//! It becomes a part of the address under which an object is kept, so it must not change when a
//! document is added, removed or moved; therefore the group is always in it, also where the kind
//! alone would do. Two documents that are the same object are an error, never a silent choice.
//!
//! What comes out is the document's own text, comments included, save for the items of a `List`,
//! which are written anew. Whether an object could be applied is not asked here: see `manifest`.
//!
//! Texts are read document by document, and nothing of a document is kept but its text, so that
//! ten megabytes take hardly more memory than they are long.

mod in_a_row;
mod scope;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::mem;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::identity::{DEFAULT_NAMESPACE, Gvk, LivesIn, ObjectKey};
use crate::manifest::{self, ManifestError};
use crate::yaml::{self, Document, Step, YamlError};

use in_a_row::Part;

pub use scope::lives_in;

/// A text with documents in it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    /// What errors call it: a file's path. A lone text needs no name.
    pub name: Option<&'t str>,
    pub text: &'t str,
}

/// One object of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece<'t> {
    pub stage: Stage,
    pub text: Cow<'t, str>,
}

/// When an object can be made: each stage needs the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// A CustomResourceDefinition.
    Definition,
    /// Anything else that lives in no namespace, the namespaces themselves among it.
    Cluster,
    /// What lives in a namespace, or may: of a custom kind whose definition is not among the texts
    /// nothing is known.
    Namespaced,
}

/// Where an object stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub source: Option<String>,
    /// Counted from 1 in its source; those in which nothing is written do not count.
    pub document: usize,
    pub line: usize,
}

/// Why texts cannot be taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub place: Place,
    pub fault: Fault,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    Yaml(YamlError),
    /// It is not known which object this is.
    Unidentified(ManifestError),
    /// The same object was written before.
    Again {
        object: ObjectKey,
        first: Place,
    },
    /// Another object has the same key: dots in a name can look like a namespace.
    SameKey {
        key: String,
        object: ObjectKey,
        other: ObjectKey,
        first: Place,
    },
}

/// The objects of all texts by their keys, or all that is wrong with the texts.
pub fn split<'t>(
    sources: impl IntoIterator<Item = Source<'t>>,
) -> Result<BTreeMap<String, Piece<'t>>, Vec<Problem>> {
    let mut reading = Reading::default();
    for source in sources {
        reading.source(source);
    }
    reading.finish()
}

/// A short text that differs wherever keys or texts differ.
pub fn fingerprint<'p>(pieces: impl IntoIterator<Item = (&'p String, &'p Piece<'p>)>) -> String {
    let mut hash = Sha256::new();
    for (key, piece) in pieces {
        for part in [key.as_str(), &piece.text] {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The key of an object, from nothing but what is written about it.
pub fn key(object: &ObjectKey) -> String {
    let ObjectKey { gvk, namespace, name } = object;
    let parts = [
        Some(gvk.group.to_lowercase()).filter(|group| !group.is_empty()),
        Some(gvk.kind.to_lowercase()),
        namespace.clone(),
        Some(name.clone()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(".")
}

#[derive(Default)]
struct Reading<'t> {
    found: Vec<Found<'t>>,
    /// Where the custom kinds live whose definitions were met: by group and kind.
    defined: BTreeMap<(String, String), LivesIn>,
    problems: Vec<Problem>,
    /// How many lines of its source come before the part that is being read.
    lines_before: usize,
}

struct Found<'t> {
    object: ObjectKey,
    place: Place,
    text: Cow<'t, str>,
}

impl<'t> Reading<'t> {
    fn source(&mut self, source: Source<'t>) {
        let mut number = 0;
        for Part { text, lines_before } in in_a_row::parts(source.text) {
            self.lines_before = lines_before;
            number = self.part(Source { text, ..source }, number);
        }
    }

    /// Reads the documents of a part of a source, and says how many there are by then.
    fn part(&mut self, source: Source<'t>, mut number: usize) -> usize {
        let documents = match yaml::documents(source.text) {
            Ok(documents) => documents,
            Err(error) => {
                self.unreadable(source, number + 1, error);
                return number + 1;
            }
        };
        // `null` says as little as a document in which nothing is written.
        let documents = documents
            .filter(|document| !document.as_ref().is_ok_and(|document| document.value.is_null()));
        for document in documents {
            number += 1;
            match document {
                Ok(document) => self.document(source, number, &document),
                Err(error) => self.unreadable(source, number, error),
            }
        }
        number
    }

    fn unreadable(&mut self, source: Source<'_>, document: usize, mut error: YamlError) {
        let place = self.place(source, document, error.position.line);
        error.position.line += self.lines_before;
        self.problems.push(Problem { place, fault: Fault::Yaml(error) });
    }

    fn document(&mut self, source: Source<'t>, number: usize, document: &Document) {
        if items_of(&document.value).is_some() {
            return self.items(source, number, document, &document.value, &mut Vec::new());
        }
        let text = Cow::Borrowed(&source.text[document.extent.clone()]);
        self.object(source, number, document, &document.value, &[], text);
    }

    /// A list is as good as its items: `kubectl` takes it so.
    fn items(
        &mut self,
        source: Source<'t>,
        number: usize,
        document: &Document,
        list: &Value,
        at: &mut Vec<Step<'static>>,
    ) {
        at.push(Step::Key("items"));
        for (n, item) in items_of(list).into_iter().flatten().enumerate() {
            at.push(Step::Index(n));
            if items_of(item).is_some() {
                self.items(source, number, document, item, at);
            } else {
                let item = with_kind_of_list(item, list);
                let written = manifest::written(&item);
                self.object(source, number, document, &item, at, Cow::Owned(written));
            }
            at.pop();
        }
        at.pop();
    }

    fn object(
        &mut self,
        source: Source<'_>,
        number: usize,
        document: &Document,
        value: &Value,
        at: &[Step<'_>],
        text: Cow<'t, str>,
    ) {
        let line = document.position_of(at).unwrap_or(document.position).line;
        let here = self.place(source, number, line);
        match manifest::identify(document, value, at) {
            Ok(object) => {
                self.defined.extend(scope::defined_by(&object, value));
                self.found.push(Found { object, place: here, text });
            }
            Err(errors) => {
                let problems = errors.into_iter().map(|error| Problem {
                    place: self.place(source, number, error.line),
                    fault: Fault::Unidentified(error),
                });
                let problems: Vec<_> = problems.collect();
                self.problems.extend(problems);
            }
        }
    }

    fn place(&self, source: Source<'_>, document: usize, line: usize) -> Place {
        let source = source.name.map(ToOwned::to_owned);
        Place { source, document, line: line + self.lines_before }
    }

    fn finish(self) -> Result<BTreeMap<String, Piece<'t>>, Vec<Problem>> {
        let Self { found, defined, mut problems, .. } = self;
        let stages: Vec<_> = found.iter().map(|it| stage(&it.object, &defined)).collect();
        // By key, so that the pieces need not be moved about to be put in order.
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        let mut firsts: BTreeMap<Identity<'_>, usize> = BTreeMap::new();
        for (n, Found { object, place, .. }) in found.iter().enumerate() {
            let fault = match firsts.entry(identity(object, stages[n])) {
                Entry::Occupied(first) => {
                    let first = found[*first.get()].place.clone();
                    Fault::Again { object: object.clone(), first }
                }
                Entry::Vacant(free) => {
                    free.insert(n);
                    let key = key(object);
                    let Some(other) = keys.get(&key).map(|other| &found[*other]) else {
                        keys.insert(key, n);
                        continue;
                    };
                    let (other, first) = (other.object.clone(), other.place.clone());
                    Fault::SameKey { key, object: object.clone(), other, first }
                }
            };
            problems.push(Problem { place: place.clone(), fault });
        }
        if !problems.is_empty() {
            problems.sort_by(|one, other| one.place.cmp(&other.place));
            return Err(problems);
        }
        drop(firsts);
        // Of so many documents little else may be held beside their texts.
        let mut texts: Vec<_> = found.into_iter().map(|found| found.text).collect();
        let piece = |(key, n): (String, usize)| {
            (key, Piece { stage: stages[n], text: mem::take(&mut texts[n]) })
        };
        Ok(keys.into_iter().map(piece).collect())
    }
}

/// What has `items` is a list, as for `kubectl`; programs write `null` for one that is empty.
fn items_of(value: &Value) -> Option<&[Value]> {
    match value.get("items")? {
        Value::Array(items) => Some(items),
        Value::Null => Some(&[]),
        _ => None,
    }
}

/// The items of a `ConfigMapList` need not say that they are ConfigMaps.
fn with_kind_of_list<'a>(item: &'a Value, list: &Value) -> Cow<'a, Value> {
    let kind = list["kind"].as_str().and_then(|kind| kind.strip_suffix("List"));
    let (Some(object), Some(kind), Some(api_version)) =
        (item.as_object(), kind.filter(|kind| !kind.is_empty()), list["apiVersion"].as_str())
    else {
        return Cow::Borrowed(item);
    };
    if object.contains_key("kind") {
        return Cow::Borrowed(item);
    }
    let mut object: Map<_, _> = object.clone();
    object.insert("kind".into(), kind.into());
    object.entry("apiVersion").or_insert_with(|| api_version.into());
    Cow::Owned(Value::Object(object))
}

fn stage(object: &ObjectKey, defined: &BTreeMap<(String, String), LivesIn>) -> Stage {
    let Gvk { group, kind, .. } = &object.gvk;
    if scope::is_definition(&object.gvk) {
        return Stage::Definition;
    }
    let known = lives_in(&object.gvk);
    match known.or_else(|| defined.get(&(group.clone(), kind.clone())).copied()) {
        Some(LivesIn::Cluster) => Stage::Cluster,
        Some(LivesIn::Namespace) | None => Stage::Namespaced,
    }
}

/// Name, namespace, kind and group: what differs most often is compared first.
type Identity<'a> = (&'a str, &'a str, &'a str, &'a str);

/// What makes two documents one object: not the version, and not whether `default` is written.
fn identity(object: &ObjectKey, stage: Stage) -> Identity<'_> {
    let ObjectKey { gvk, namespace, name } = object;
    let namespace = match stage {
        Stage::Definition | Stage::Cluster => "",
        Stage::Namespaced => namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE),
    };
    (name, namespace, &gvk.kind, &gvk.group)
}

#[cfg(test)]
mod tests;
