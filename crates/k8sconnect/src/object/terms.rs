//! On what terms an object is managed: the arguments that say how, not what.

use std::time::Duration;

use k8sconnect_cluster::{Conflicts, Propagation};
use k8sconnect_core::field::Pattern;
use k8sconnect_core::field::pattern::{PatternError, PatternProblem};
use k8sconnect_core::ignore::{Ignore, Ignoring, Yielded};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::Guard;
use k8sconnect_core::secrecy;
use tfplugin::{AttributePath, Diagnostics, Value};

use super::model::ObjectModel;
use crate::duration::duration;
use crate::messages::terms::List;
pub(crate) use crate::resource::Adoption;
use crate::{MANAGER, messages};

/// How long an apply waits for a kind or a namespace unless told otherwise.
const APPLY_TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) conflicts: Conflicts,
    pub(crate) adoption: Adoption,
    /// How long to wait, where the user says so.
    chosen_timeout: Option<Duration>,
    pub(crate) deletion: DeletionTerms,
    /// What is not to be shown, besides what the kind hides.
    pub(crate) hidden: Vec<Pattern>,
    ignores: Vec<Ignore>,
}

/// On what terms an object goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeletionTerms {
    pub(crate) protection: Protection,
    /// How long to wait; by kind, where nothing is said.
    pub(crate) timeout: Option<Duration>,
    pub(crate) propagation: Propagation,
    pub(crate) stuck: Stuck,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    None,
    Protected,
    /// Only the apply will tell, which may be after the deletion. Never so in state.
    Untold,
}

impl Protection {
    pub(crate) fn of(written: &Value<bool>) -> Self {
        match written {
            Value::Known(true) => Self::Protected,
            Value::Known(false) | Value::Null => Self::None,
            Value::Unknown => Self::Untold,
        }
    }
}

/// What to do with an object that does not go in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stuck {
    Tell,
    RemoveFinalizers,
}

impl Terms {
    /// Reads the terms; `None` where some that a plan needs are not known yet. All that is wrong is
    /// told at once.
    pub(crate) fn read(model: &ObjectModel) -> Result<Option<Self>, Diagnostics> {
        let mut problems = Diagnostics::new();
        let ignores = fields(&model.ignore_fields, List::Ignored, ignore, &mut problems);
        let hidden =
            fields(&model.sensitive_fields, List::Sensitive, secrecy::pattern, &mut problems);
        let mut time = |name: &'static str, value: &Value<String>| {
            let text = value.known()?;
            let read = duration(text);
            if let Err(problem) = read {
                let path = AttributePath::root(name);
                problems.push(messages::terms::no_duration(text, problem).at(path));
            }
            read.ok()
        };
        let chosen_timeout = time("apply_timeout", &model.apply_timeout);
        let timeout = time("delete_timeout", &model.delete_timeout);
        let propagation = match model.delete_propagation.known().map(String::as_str) {
            None | Some("background") => Propagation::Background,
            Some("foreground") => Propagation::Foreground,
            Some("orphan") => Propagation::Orphan,
            Some(other) => {
                let path = AttributePath::root("delete_propagation");
                problems.push(messages::terms::no_propagation(other).at(path));
                Propagation::Background
            }
        };
        let protection = Protection::of(&model.delete_protection);
        let stuck = match model.force_destroy.known() {
            Some(true) => Stuck::RemoveFinalizers,
            _ => Stuck::Tell,
        };
        if protection == Protection::Protected && stuck == Stuck::RemoveFinalizers {
            let path = AttributePath::root("force_destroy");
            problems.push(messages::terms::protected_and_forced().at(path));
        }
        problems.into_result()?;
        if !Self::unknown(model).is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            conflicts: match model.force_conflicts.known() {
                Some(false) => Conflicts::Refuse,
                _ => Conflicts::Force,
            },
            adoption: Adoption::of(&model.adopt),
            chosen_timeout,
            deletion: DeletionTerms { protection, timeout, propagation, stuck },
            ignores,
            hidden,
        }))
    }

    /// The arguments that a plan needs and that are not known yet.
    pub(crate) fn unknown(model: &ObjectModel) -> Vec<&'static str> {
        let is_open = |list: &Value<Vec<Value<String>>>| {
            list.is_unknown() || list.known().into_iter().flatten().any(Value::is_unknown)
        };
        [
            ("ignore_fields", is_open(&model.ignore_fields)),
            ("sensitive_fields", is_open(&model.sensitive_fields)),
            ("force_conflicts", model.force_conflicts.is_unknown()),
            ("adopt", model.adopt.is_unknown()),
        ]
        .into_iter()
        .filter_map(|(name, is_open)| is_open.then_some(name))
        .collect()
    }

    /// What is to become of the fields of others. Where nothing may be there, nothing is taken, and that
    /// something is there is what matters.
    pub(crate) fn conflicts_under(&self, guard: &Guard<'_>) -> Conflicts {
        match guard {
            Guard::Absent => Conflicts::Force,
            _ => self.conflicts,
        }
    }

    /// How long an apply waits for what is not there yet.
    pub(crate) fn apply_timeout(&self) -> Duration {
        self.chosen_timeout.unwrap_or(APPLY_TIMEOUT)
    }

    /// Whether the user says how long to wait.
    pub(crate) fn chooses_timeout(&self) -> bool {
        self.chosen_timeout.is_some()
    }

    /// What is ignored, and the managers whose fields nobody has looked up yet.
    pub(crate) fn ignoring(&self, manifest: &Manifest, seen: &Yielded) -> (Ignoring, Vec<String>) {
        Ignoring::new(&self.ignores, manifest, seen)
    }

    /// Whether just as much is ignored.
    pub(crate) fn ignores_as(&self, other: &Terms) -> bool {
        self.ignores == other.ignores
    }

    /// Whether anything is ignored.
    pub(crate) fn ignores_any(&self) -> bool {
        !self.ignores.is_empty()
    }

    /// The managers that are yielded to.
    pub(crate) fn yields_to(&self) -> impl Iterator<Item = &str> {
        self.ignores.iter().filter_map(|ignore| match ignore {
            Ignore::Manager(name) => Some(name.as_str()),
            Ignore::Fields(_) => None,
        })
    }
}

/// One entry of `ignore_fields`. Whoever yields to k8sconnect itself would never change anything.
fn ignore(text: &str) -> Result<Ignore, PatternError> {
    match Ignore::parse(text)? {
        Ignore::Manager(name) if name == MANAGER => {
            Err(PatternError { text: text.to_owned(), problem: PatternProblem::OwnManager })
        }
        other => Ok(other),
    }
}

/// Reads a list of fields, as far as it is known, and notes what is wrong.
fn fields<T>(
    fields: &Value<Vec<Value<String>>>,
    list: List,
    read: impl Fn(&str) -> Result<T, PatternError>,
    problems: &mut Diagnostics,
) -> Vec<T> {
    let mut found = Vec::new();
    for (n, field) in fields.known().into_iter().flatten().enumerate() {
        let path = AttributePath::root(list.name()).index(n as i64);
        match field {
            Value::Known(text) => match read(text) {
                Ok(entry) => found.push(entry),
                Err(error) => problems.push(messages::terms::no_path(list, &error).at(path)),
            },
            Value::Unknown => {}
            Value::Null => problems.push(messages::terms::null_path(list).at(path)),
        }
    }
    found
}
