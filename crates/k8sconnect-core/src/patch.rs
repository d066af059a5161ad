//! A patch: what its author wants changed on an object that others own.
//!
//! It comes in three forms. A partial object is applied as the server applies objects, lists merged
//! by key ([`Form::Apply`]); a merge patch replaces what it names ([`Form::Merge`]); a list of
//! operations is carried out in order ([`Form::Json`]). Of all three only the fields that they name
//! are of interest: which these are, and what they hold, is told by [`outcome`].
//!
//! What must never be patched is refused here, before anything is asked: who the object is, its
//! status, what the server writes, and annotations and labels that are reserved for k8sconnect.

mod aside;
mod before;
mod behind;
mod bounds;
mod check;
mod displaced;
mod drift;
mod gone;
mod ignored;
mod inherited;
mod item;
mod judge;
mod mark;
mod meaning;
mod meant;
mod nulls;
mod oddity;
mod open;
mod operation;
mod outcome;
mod place;
mod position;
mod recount;
mod restore;
mod script;
mod successor;

use serde_json::Value;

use crate::field::FieldPath;
use crate::identity::ObjectKey;
use crate::manifest::Manifest;
use crate::projection::ConcealmentKey;
use crate::secrecy::Secrecy;
use crate::yaml::{self, Document, Position, YamlError};

pub use aside::{Finalizers, Unheard};
pub use before::Taking;
pub use behind::Behind;
pub use ignored::Ignored;
pub use inherited::Inherited;
pub use item::Namesakes;
pub use judge::{Claimed, Kept, Scene, Verdict, claimed, manager_of};
pub use mark::{Footprint, Mark};
pub use meant::common_fields;
pub use oddity::Oddity;
pub use operation::{Operation, OperationError, Trouble};
pub use outcome::{Outcome, Written, leaves_now};
pub use place::{Shape, Unplaced};
pub use position::{Positions, Stood, Whereabouts, positions};
pub use script::{Past, Problem, Script, Standing};

/// The way in which a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Apply,
    Merge,
    Json,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    Apply(Box<Manifest>),
    Merge(Value),
    Json(Vec<Operation>),
}

#[derive(Clone, Debug)]
pub struct Patch {
    key: ObjectKey,
    form: Form,
    secrecy: Secrecy,
    boolean_words: Vec<Position>,
}

/// Where words stand in the text makes no other patch of it.
impl PartialEq for Patch {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.form == other.form && self.secrecy == other.secrecy
    }
}

/// One reason why a text is no patch of its target. Places are given as the author wrote them.
#[derive(Clone, Debug, PartialEq)]
pub enum PatchError {
    Yaml(YamlError),
    /// It changes nothing.
    Empty,
    SeveralDocuments(usize),
    NotAMapping,
    NotAList,
    /// A directive of strategic merge patches.
    Directive(String),
    /// An operation on the path `""`.
    WholeObject,
    /// A field that says which object is meant.
    Identity(String),
    /// Only the API server writes the field.
    ServerOwned(String),
    /// Only k8sconnect writes the field.
    Reserved(FieldPath),
    /// It means every annotation at once, those of other managers too.
    AllAnnotations(String),
    /// Something that cannot be said of a Secret.
    Secret(SecretError),
    BadOperation {
        n: usize,
        error: OperationError,
    },
}

/// Why a patch of a Secret cannot be made.
#[derive(Clone, Debug, PartialEq)]
pub enum SecretError {
    /// An operation in `stringData`, which the server never stores.
    StringData(String),
    /// `stringData: null`
    NoStringData,
    /// `data: null` beside `stringData`
    AllOfData,
    /// `stringData` removes a key to which `data` gives a value.
    BothWays(String),
    NotBase64(String),
    /// An operation copies a secret to a place where it is shown.
    Betrayal {
        from: String,
        to: String,
    },
}

impl Patch {
    /// Reads a patch of the object with this key, or says all that is wrong with it.
    pub fn read(manner: Manner, text: &str, key: ObjectKey) -> Result<Self, Vec<PatchError>> {
        let document = document(text).map_err(|error| vec![error])?;
        let boolean_words = yaml::words_read_as_booleans(&document);
        let value = document.value;
        let form = match manner {
            Manner::Apply => {
                let value = check::partial_object(value, &key, manner)?;
                Form::Apply(Box::new(Manifest::of_part(key.clone(), value)))
            }
            Manner::Merge => {
                let value = check::partial_object(value, &key, manner)?;
                Form::Merge(Manifest::of_part(key.clone(), value).to_merge_patch())
            }
            Manner::Json => Form::Json(check::operations(&value, &key)?),
        };
        let secrecy = Secrecy::of(&key.gvk, &[]);
        Ok(Self { key, form, secrecy, boolean_words })
    }

    pub fn key(&self) -> &ObjectKey {
        &self.key
    }

    /// The same of a kind that lives in no namespace, whatever the target says.
    #[must_use]
    pub fn without_namespace(mut self) -> Self {
        self.key.namespace = None;
        if let Form::Apply(manifest) = &mut self.form {
            **manifest = Manifest::of_part(self.key.clone(), manifest.value().clone());
        }
        self
    }

    /// What may not be shown of the target.
    pub fn secrecy(&self) -> &Secrecy {
        &self.secrecy
    }

    /// Where values stand that were read as booleans though they do not say so.
    pub fn boolean_words(&self) -> &[Position] {
        &self.boolean_words
    }

    pub fn form(&self) -> &Form {
        &self.form
    }

    pub fn manner(&self) -> Manner {
        match self.form {
            Form::Apply(_) => Manner::Apply,
            Form::Merge(_) => Manner::Merge,
            Form::Json(_) => Manner::Json,
        }
    }

    /// What is wanted, in one line, the same for every way of writing it.
    fn meaning(&self) -> String {
        match &self.form {
            Form::Apply(manifest) => format!("apply {}", manifest.value()),
            Form::Merge(value) => format!("merge {value}"),
            Form::Json(operations) => {
                let list: Vec<_> = operations.iter().map(Operation::to_json).collect();
                format!("json {}", Value::Array(list))
            }
        }
    }

    /// A short name for what is wanted. It stands on the object and tells whether a write whose
    /// answer was lost has landed; the key keeps it from telling anything else.
    pub fn digest(&self, key: &ConcealmentKey) -> String {
        key.hash(&self.meaning())
    }

    /// The operations with what each of them touched; none for the other forms.
    pub fn footprints(&self, marks: &[Vec<Mark>]) -> Vec<Footprint> {
        match &self.form {
            Form::Json(operations) => operations
                .iter()
                .zip(marks)
                .map(|(operation, marks)| Footprint {
                    operation: operation.clone(),
                    marks: marks.clone(),
                })
                .collect(),
            Form::Apply(_) | Form::Merge(_) => vec![],
        }
    }

    /// Every value that was written, for whoever must not show some of them.
    pub fn written(&self) -> Vec<Value> {
        match &self.form {
            Form::Apply(manifest) => vec![manifest.value().clone()],
            Form::Merge(value) => vec![value.clone()],
            Form::Json(operations) => operations.iter().filter_map(Operation::as_object).collect(),
        }
    }
}

fn document(text: &str) -> Result<Document, PatchError> {
    let mut documents = yaml::parse_stream(text).map_err(PatchError::Yaml)?;
    match documents.len() {
        0 => Err(PatchError::Empty),
        1 => Ok(documents.remove(0)),
        several => Err(PatchError::SeveralDocuments(several)),
    }
}

#[cfg(test)]
mod tests;
