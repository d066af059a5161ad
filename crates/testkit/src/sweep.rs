//! Every leaf of a manifest, edited in turn and planned: no edit of a user's may be swallowed.
//!
//! The provider is called in process, against a real API server; nothing is applied here. What the
//! edits are is said by [`specimens`](crate::specimens); this module judges what is planned for them.
//! Where one plan takes a server seconds, a [`crowd`] plans many edits at once.

pub mod crowd;

use std::fmt;

use k8sconnect_core::text::nfc;
use k8sconnect_core::yaml::to_yaml;
use serde_json::Value as Json;
use tfplugin::harness::{Action, Core, Failure, State};
use tfplugin::{Data, Severity, Value};

use crate::specimens::{Place, edited, leaves, scalars, without};

/// The resource that holds one object.
pub const OBJECT: &str = "k8sconnect_object";

/// The configuration of one object. Terraform normalises all text that it hands over.
pub fn configuration(kubeconfig: &str, body: &str) -> Value {
    let cluster = Data::object([("kubeconfig", Value::from(kubeconfig))]);
    let attributes = [("yaml_body", Value::from(nfc(body))), ("cluster", Value::Known(cluster))];
    Value::Known(Data::object(attributes))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Change,
    Remove,
}

impl Way {
    /// Every edit of this way that a manifest has room for.
    pub fn edits(self, manifest: &Json) -> Vec<Edit> {
        let places = match self {
            Self::Change => scalars(manifest),
            Self::Remove => leaves(manifest),
        };
        places.into_iter().map(|place| Edit { way: self, place }).collect()
    }
}

/// One leaf, and what is done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    way: Way,
    place: Place,
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match self.way {
            Way::Change => "changed",
            Way::Remove => "removed",
        };
        write!(f, "`{}` {way}", self.place)
    }
}

/// What became of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Updated,
    Replaced,
    /// With the summary of the error.
    Refused(String),
    /// Refused with others, one of which is refused alone too.
    RefusedInCompany,
    /// It is not planned, or the plan does not show it, or Terraform would not take the plan.
    Swallowed(String),
    /// The object could not be read, so nothing was planned that could be judged.
    Unread(String),
}

impl Edit {
    fn of(&self, manifest: &Json) -> Json {
        match self.way {
            Way::Change => edited(manifest, &self.place),
            Way::Remove => without(manifest, &self.place),
        }
    }

    /// Whether the projection must tell of it. What is removed may be what the server would have
    /// put there anyway; then only the body's own diff shows it.
    fn must_show(&self) -> bool {
        self.way == Way::Change
    }

    /// Plans the edit, alone.
    pub async fn plan(&self, core: &Core, specimen: &Specimen) -> Verdict {
        match specimen.plan(core, &self.of(&specimen.manifest)).await {
            Planned::Update { before, after } => match before == after && self.must_show() {
                true => Verdict::Swallowed("the plan does not show it".to_owned()),
                false => Verdict::Updated,
            },
            Planned::Otherwise(verdict) => verdict,
        }
    }
}

/// An object that was applied, and how to reach it.
#[derive(Clone, Debug)]
pub struct Specimen {
    pub kubeconfig: String,
    pub manifest: Json,
    pub stored: State,
}

/// What one plan came to.
enum Planned {
    /// With the projection as it was and as it is planned.
    Update {
        before: Value,
        after: Value,
    },
    Otherwise(Verdict),
}

impl Specimen {
    /// Reads the object and plans another body for it, as one run of Terraform would.
    async fn plan(&self, core: &Core, body: &Json) -> Planned {
        let projection = "managed_state_projection";
        let config = configuration(&self.kubeconfig, &to_yaml(body));
        let read = core.read(OBJECT, &self.stored).await.and_then(|outcome| outcome.present());
        let read = match read {
            Ok(read) => read,
            Err(failure) => return Planned::Otherwise(Verdict::Unread(failure.to_string())),
        };
        Planned::Otherwise(match core.plan(OBJECT, &config, Some(&read)).await {
            Ok(plan) => match plan.action {
                Action::Update => {
                    let before = read.attribute(projection).clone();
                    let after = plan.planned.attribute(projection).cloned().unwrap_or(Value::Null);
                    return Planned::Update { before, after };
                }
                Action::Replace => Verdict::Replaced,
                other => Verdict::Swallowed(format!("planned as {other:?}")),
            },
            Err(Failure::Refused { diagnostics, .. }) => {
                let error = diagnostics.iter().find(|one| one.severity == Severity::Error);
                Verdict::Refused(error.map(|one| one.summary.clone()).unwrap_or_default())
            }
            Err(Failure::Broken(rule)) => Verdict::Swallowed(rule),
        })
    }
}

/// What became of many edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub updated: usize,
    pub replaced: usize,
    pub refused: usize,
    pub in_company: usize,
    /// The edits that nobody would have seen, and what was planned instead.
    pub swallowed: Vec<String>,
    /// The edits that could not be judged, and why.
    pub unread: Vec<String>,
}

impl Tally {
    pub fn note(&mut self, edit: &Edit, verdict: &Verdict) {
        match verdict {
            Verdict::Updated => self.updated += 1,
            Verdict::Replaced => self.replaced += 1,
            Verdict::Refused(_) => self.refused += 1,
            Verdict::RefusedInCompany => self.in_company += 1,
            Verdict::Swallowed(why) => self.swallowed.push(format!("{edit}: {why}")),
            Verdict::Unread(why) => self.unread.push(format!("{edit}: {why}")),
        }
    }

    pub fn add(&mut self, other: Self) {
        self.updated += other.updated;
        self.replaced += other.replaced;
        self.refused += other.refused;
        self.in_company += other.in_company;
        self.swallowed.extend(other.swallowed);
        self.unread.extend(other.unread);
    }

    /// What went wrong: edits that are swallowed, and those that nothing can be said of.
    pub fn faults(&self) -> Vec<String> {
        let swallowed = self.swallowed.iter().map(|edit| format!("swallowed: {edit}"));
        let unread = self.unread.iter().map(|edit| format!("not judged, nothing read: {edit}"));
        swallowed.chain(unread).collect()
    }

    pub fn edits(&self) -> usize {
        let judged = self.updated + self.replaced + self.refused + self.in_company;
        judged + self.swallowed.len() + self.unread.len()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { updated, replaced, refused, in_company, swallowed, unread } = self;
        write!(f, "{updated} planned in place, {replaced} as replacement, {refused} refused, ")?;
        if *in_company > 0 {
            write!(f, "{in_company} refused together with others, ")?;
        }
        if !unread.is_empty() {
            write!(f, "{} not judged, ", unread.len())?;
        }
        write!(f, "{} swallowed", swallowed.len())
    }
}
