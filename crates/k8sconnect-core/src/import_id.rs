//! How a user names an object that is to be imported, and what of it.
//!
//! Two spellings: `namespace/kind/name` with the kind as kubectl takes it, and the Go provider's
//! `context:namespace:apiVersion/Kind:name`. Both may end in `?` and options. What a kind is
//! called by the server is not known here; a word is only taken apart into what it can mean.

use std::fmt;

use crate::identity::{Gvk, ObjectKey};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportId {
    pub subject: Subject,
    /// The context that `?context=` names.
    pub context: Option<String>,
    /// The cluster that `?cluster_name=` names.
    pub cluster_name: Option<String>,
    pub fields: Chosen,
    pub values: SecretValues,
}

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    ByWord {
        namespace: Option<String>,
        kind: KindWord,
        name: String,
    },
    Exactly {
        namespace: Option<String>,
        gvk: Gvk,
        name: String,
    },
    /// The Go provider's form. What stands before the kind is a context, or a context and a
    /// namespace; contexts may hold colons themselves.
    ByGvk {
        before: String,
        gvk: Gvk,
        name: String,
    },
}

/// Which fields become the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    All,
    /// Those that no manager holds.
    Unowned,
    /// Those that this manager holds.
    HeldBy(String),
}

/// Whether the values of a Secret are taken along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretValues {
    LeftOut,
    Taken,
}

/// Why a text is no import id. Options are named without their `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportIdError {
    /// Neither `namespace/kind/name` nor `kind/name`.
    Form,
    UnknownOption(String),
    NoValue(&'static str),
    NeedlessValue(&'static str),
    Twice(&'static str),
    /// Both `unowned` and `manager`.
    Contradiction,
    /// A context in front, and one as an option.
    TwoContexts,
    /// A context and a cluster name.
    TwoClusters,
}

impl ImportId {
    pub fn parse(id: &str) -> Result<Self, ImportIdError> {
        let (object, options) = match id.split_once('?') {
            Some((object, options)) => (object, options),
            None => (id, ""),
        };
        let subject = match go_form(object) {
            Some(subject) => subject,
            None => by_word(object).ok_or(ImportIdError::Form)?,
        };
        let mut parsed = Self {
            subject,
            context: None,
            cluster_name: None,
            fields: Chosen::All,
            values: SecretValues::LeftOut,
        };
        for option in options.split(['&', '?']).filter(|option| !option.is_empty()) {
            parsed.option(option)?;
        }
        if parsed.context.is_some() && matches!(parsed.subject, Subject::ByGvk { .. }) {
            return Err(ImportIdError::TwoContexts);
        }
        if parsed.cluster_name.is_some() && parsed.names_a_context() {
            return Err(ImportIdError::TwoClusters);
        }
        Ok(parsed)
    }

    fn option(&mut self, option: &str) -> Result<(), ImportIdError> {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let alone = |name| match value {
            Some(_) => Err(ImportIdError::NeedlessValue(name)),
            None => Ok(()),
        };
        let valued = |name| match value {
            Some(value) if !value.is_empty() => Ok(value.to_owned()),
            _ => Err(ImportIdError::NoValue(name)),
        };
        let fields = match name {
            "unowned" => alone("unowned").map(|()| Chosen::Unowned)?,
            "manager" => Chosen::HeldBy(valued("manager")?),
            "context" => {
                return match self.context.replace(valued("context")?) {
                    Some(_) => Err(ImportIdError::Twice("context")),
                    None => Ok(()),
                };
            }
            "cluster_name" => {
                return match self.cluster_name.replace(valued("cluster_name")?) {
                    Some(_) => Err(ImportIdError::Twice("cluster_name")),
                    None => Ok(()),
                };
            }
            "values" => {
                self.values = SecretValues::Taken;
                return alone("values");
            }
            other => return Err(ImportIdError::UnknownOption(other.to_owned())),
        };
        match (std::mem::replace(&mut self.fields, fields), &self.fields) {
            (Chosen::All, _) => Ok(()),
            (Chosen::Unowned, Chosen::Unowned) => Err(ImportIdError::Twice("unowned")),
            (Chosen::HeldBy(_), Chosen::HeldBy(_)) => Err(ImportIdError::Twice("manager")),
            _ => Err(ImportIdError::Contradiction),
        }
    }

    /// Whether a context is named, in front or behind.
    pub fn names_a_context(&self) -> bool {
        self.context.is_some() || matches!(self.subject, Subject::ByGvk { .. })
    }

    /// The context and the namespace that are named, as far as any are. Which contexts there are
    /// decides where a context with colons ends.
    pub fn places(&self, contexts: &[String]) -> (Option<&str>, Option<&str>) {
        match &self.subject {
            Subject::ByWord { namespace, .. } | Subject::Exactly { namespace, .. } => {
                (self.context.as_deref(), namespace.as_deref())
            }
            Subject::ByGvk { before, .. } if contexts.contains(before) => (Some(before), None),
            Subject::ByGvk { before, .. } => match before.rsplit_once(':') {
                Some((context, namespace)) => (Some(context), Some(namespace)),
                None => (Some(before), None),
            },
        }
    }

    pub fn name(&self) -> &str {
        match &self.subject {
            Subject::ByWord { name, .. }
            | Subject::Exactly { name, .. }
            | Subject::ByGvk { name, .. } => name,
        }
    }
}

impl fmt::Display for ImportId {
    /// The object, as messages name what was asked for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (namespace, kind) = match &self.subject {
            Subject::ByWord { namespace, kind, .. } => (namespace.as_deref(), kind.to_string()),
            Subject::Exactly { namespace, gvk, .. } => (namespace.as_deref(), word_for(gvk)),
            Subject::ByGvk { gvk, .. } => (None, word_for(gvk)),
        };
        match namespace {
            Some(namespace) => write!(f, "{namespace}/{kind}/{}", self.name()),
            None => write!(f, "{kind}/{}", self.name()),
        }
    }
}

fn by_word(object: &str) -> Option<Subject> {
    let parts: Vec<_> = object.split('/').collect();
    let (namespace, kind, name) = match *parts.as_slice() {
        [kind, name] => (None, kind, name),
        [namespace, kind, name] if !namespace.is_empty() => (Some(namespace), kind, name),
        _ => return None,
    };
    if kind.is_empty() || name.is_empty() {
        return None;
    }
    let namespace = namespace.map(ToOwned::to_owned);
    Some(Subject::ByWord { namespace, kind: KindWord::new(kind), name: name.to_owned() })
}

/// The part that reads as `apiVersion/Kind` divides the id: names may hold colons too, but no
/// slash.
fn go_form(object: &str) -> Option<Subject> {
    let parts: Vec<_> = object.split(':').collect();
    let middle = parts.iter().rposition(|part| gvk(part).is_some())?;
    let (before, name) = (parts[..middle].join(":"), parts[middle + 1..].join(":"));
    if before.is_empty() || name.is_empty() {
        return None;
    }
    Some(Subject::ByGvk { before, gvk: gvk(parts[middle])?, name })
}

fn gvk(text: &str) -> Option<Gvk> {
    let (api_version, kind) = text.rsplit_once('/')?;
    let version = api_version.rsplit_once('/').map_or(api_version, |(_, version)| version);
    let capital = kind.chars().next().is_some_and(|first| first.is_ascii_uppercase());
    (is_version(version) && capital).then(|| Gvk::new(api_version, kind))
}

/// `v1`, `v2beta1`.
fn is_version(text: &str) -> bool {
    text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The id that names an object, version and all.
pub fn of(key: &ObjectKey) -> String {
    let kind = word_for(&key.gvk);
    match &key.namespace {
        Some(namespace) => format!("{namespace}/{kind}/{}", key.name),
        None => format!("{kind}/{}", key.name),
    }
}

fn word_for(gvk: &Gvk) -> String {
    match gvk.group.as_str() {
        "" => gvk.kind.clone(),
        group => format!("{}.{}.{group}", gvk.kind, gvk.version),
    }
}

/// A kind as kubectl takes it: `deploy`, `deployment.apps`, `deployments.v1.apps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindWord(String);

/// One thing that the word can mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindReading {
    pub name: String,
    pub version: Option<String>,
    pub group: GroupWord,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupWord {
    Any,
    Exactly(String),
    /// kubectl takes the beginning of a group for the group.
    StartingWith(String),
}

impl GroupWord {
    pub fn may_mean(&self, group: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(name) => group == name,
            Self::StartingWith(start) => group.starts_with(start),
        }
    }
}

impl KindWord {
    pub fn new(word: &str) -> Self {
        Self(word.to_owned())
    }

    /// What the word can mean, the likeliest first.
    pub fn readings(&self) -> Vec<KindReading> {
        let reading = |name: &str, version: Option<&str>, group| KindReading {
            name: name.to_owned(),
            version: version.map(ToOwned::to_owned),
            group,
        };
        let Some((name, rest)) = self.0.split_once('.') else {
            return vec![reading(&self.0, None, GroupWord::Any)];
        };
        let mut readings = Vec::new();
        let (version, group) = rest.split_once('.').unwrap_or((rest, ""));
        if is_version(version) {
            readings.push(reading(name, Some(version), GroupWord::Exactly(group.to_owned())));
        }
        readings.push(reading(name, None, GroupWord::Exactly(rest.to_owned())));
        if !rest.is_empty() {
            readings.push(reading(name, None, GroupWord::StartingWith(rest.to_owned())));
        }
        readings
    }
}

impl fmt::Display for KindWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
