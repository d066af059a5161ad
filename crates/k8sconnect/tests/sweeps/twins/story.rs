//! A story as data: the edits of the user and the writes of other managers, drawn from a seed before
//! anything runs. So a story that failed can be run again without some of them.

use std::fmt;

use fastrand::Rng;
use serde_json::{Value as Json, json};

use super::kinds::{ANYTHING, Kind, Written, kind_of, put};

/// The events before one apply of the user's body, and the edits of that body.
#[derive(Clone, Default)]
pub(super) struct Round {
    pub(super) others: Vec<Other>,
    /// Fields of the body: another value, or the field is left out from here on.
    pub(super) edits: Vec<(&'static str, Option<&'static Json>)>,
}

/// Another manager, and one write of it.
#[derive(Clone)]
pub(super) struct Other {
    pub(super) manager: &'static str,
    pub(super) write: Write,
}

#[derive(Clone)]
pub(super) enum Write {
    Apply(Conflicts, Vec<Written>),
    /// Another manager applies the user's body.
    ApplySame(Conflicts),
    MergePatch(Vec<Written>),
    /// As `kubectl replace`: reads the object and writes all of it.
    Replace(Vec<Written>),
    /// A JSON patch that removes one of the places that the object has.
    Remove(usize),
    /// A JSON patch that writes a value there.
    Put(usize, &'static Json),
    Scale(u32),
    Status(&'static Json),
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflicts {
    Refuse,
    Force,
}

#[derive(Clone)]
pub(super) struct Story {
    pub(super) seed: u64,
    pub(super) rounds: Vec<Round>,
}

impl Story {
    pub(super) fn kind(&self) -> Kind {
        kind_of(self.seed)
    }

    pub(super) fn drawn(seed: u64, steps: usize) -> Self {
        let kind = &kind_of(seed);
        let mut rng = Rng::with_seed(seed);
        let mut body: Vec<Written> = some(kind, &mut rng, 0.3);
        let edits = body.iter().map(|(at, value)| (*at, Some(*value))).collect();
        let mut rounds = vec![Round { others: Vec::new(), edits }];
        for _ in 1..steps {
            let others = [0, 1, 1, 1, 2, 3][rng.usize(..6)];
            let others = (0..others).map(|_| other(kind, &body, &mut rng)).collect();
            let edits = [0, 0, 0, 1, 1, 2][rng.usize(..6)];
            let edits: Vec<_> = (0..edits).map(|_| edit(kind, &mut rng)).collect();
            for (at, value) in &edits {
                body.retain(|(of, _)| of != at);
                body.extend(value.map(|value| (*at, value)));
            }
            rounds.push(Round { others, edits });
        }
        Self { seed, rounds }
    }

    /// The same with one thing less, in every way there is: a round, a write of others, an edit, a
    /// field of a write.
    pub(super) fn reduced(&self) -> Vec<Self> {
        let mut all = Vec::new();
        let mut add = |change: &dyn Fn(&mut Vec<Round>)| {
            let mut less = self.clone();
            change(&mut less.rounds);
            all.push(less);
        };
        for n in (0..self.rounds.len()).rev() {
            add(&|rounds| drop(rounds.remove(n)));
            // The edits join those of the next round.
            if n + 1 < self.rounds.len() {
                add(&|rounds| {
                    let mut first = rounds.remove(n);
                    first.others.append(&mut rounds[n].others);
                    first.edits.append(&mut rounds[n].edits);
                    rounds[n] = first;
                });
            }
        }
        for n in (0..self.rounds.len()).rev() {
            for m in (0..self.rounds[n].others.len()).rev() {
                add(&|rounds| drop(rounds[n].others.remove(m)));
                let fields = self.rounds[n].others[m].write.written().map_or(0, Vec::len);
                for field in (0..fields).rev() {
                    add(&|rounds| {
                        if let Some(written) = rounds[n].others[m].write.written_mut() {
                            written.remove(field);
                        }
                    });
                }
            }
            for m in (0..self.rounds[n].edits.len()).rev() {
                add(&|rounds| {
                    rounds[n].edits.remove(m);
                });
            }
        }
        all
    }
}

impl Write {
    fn written(&self) -> Option<&Vec<Written>> {
        match self {
            Self::Apply(_, written) | Self::MergePatch(written) | Self::Replace(written) => {
                Some(written)
            }
            _ => None,
        }
    }

    fn written_mut(&mut self) -> Option<&mut Vec<Written>> {
        match self {
            Self::Apply(_, written) | Self::MergePatch(written) | Self::Replace(written) => {
                Some(written)
            }
            _ => None,
        }
    }
}

fn any(kind: &Kind, rng: &mut Rng) -> Written {
    let fields = kind.fields();
    let (at, values) = fields[rng.usize(..fields.len())];
    (at, &values[rng.usize(..values.len())])
}

fn some(kind: &Kind, rng: &mut Rng, odds: f64) -> Vec<Written> {
    let mut fields = kind.fields();
    fields.retain(|_| rng.f64() < odds);
    fields.into_iter().map(|(at, values)| (at, &values[rng.usize(..values.len())])).collect()
}

fn edit(kind: &Kind, rng: &mut Rng) -> (&'static str, Option<&'static Json>) {
    let (at, value) = any(kind, rng);
    (at, Some(value).filter(|_| rng.f64() < 0.7))
}

/// A write of another manager, most often to a field of the user's body, and often of the user's value.
fn other(kind: &Kind, body: &[Written], rng: &mut Rng) -> Other {
    let one = |rng: &mut Rng| match body.len() {
        0 => any(kind, rng),
        fields => match (body[rng.usize(..fields)], rng.u8(..10)) {
            (ours, 0..3) => ours,
            ((at, _), 3..8) => {
                let fields = kind.fields();
                let values = fields.iter().find(|field| field.0 == at).unwrap().1;
                (at, &values[rng.usize(..values.len())])
            }
            _ => any(kind, rng),
        },
    };
    let few = |rng: &mut Rng| -> Vec<Written> {
        let fields = [1, 1, 2, 4][rng.usize(..4)];
        (0..fields).map(|_| one(rng)).collect()
    };
    let conflicts = if rng.bool() { Conflicts::Force } else { Conflicts::Refuse };
    let statuses = kind.statuses();
    let write = match rng.u8(..20) {
        0..4 => Write::Apply(conflicts, few(rng)),
        4..7 => Write::ApplySame(conflicts),
        7..12 => Write::MergePatch(few(rng)),
        12..14 => Write::Replace(few(rng)),
        14..16 => Write::Remove(rng.usize(..1000)),
        16 => Write::Put(rng.usize(..1000), &ANYTHING[rng.usize(..ANYTHING.len())]),
        17 if kind.scales() => Write::Scale(rng.u32(..4)),
        18 if !statuses.is_empty() => Write::Status(&statuses[rng.usize(..statuses.len())]),
        19 if rng.u8(..3) == 0 => Write::Delete,
        _ => Write::MergePatch(vec![one(rng)]),
    };
    let managers = match write {
        Write::Apply(..) | Write::ApplySame(_) => ["argo", "flux"],
        Write::Scale(_) | Write::Status(_) => ["hpa", "controller"],
        _ => ["alice", "helm"],
    };
    Other { manager: managers[rng.usize(..2)], write }
}

/// An object with these fields written into it.
pub(super) fn written_into(base: Json, written: &[Written]) -> Json {
    let mut object = base;
    let mut written = written.to_vec();
    // A field comes after the map that it is in.
    written.sort_by_key(|(at, _)| *at);
    for (at, value) in written {
        put(&mut object, at, value.clone());
    }
    object
}

/// A merge patch that writes just these fields.
pub(super) fn merge_patch(written: &[Written]) -> Json {
    let granular: Vec<_> =
        written.iter().filter(|(at, _)| !at.contains("/containers/")).copied().collect();
    let mut patch = written_into(json!({}), &granular);
    if patch.pointer("/metadata/annotations").is_some_and(Json::is_null) {
        patch["metadata"]["annotations"] = json!({});
    }
    patch
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "K8SCONNECT_SWEEP_SEED={} ({})", self.seed, self.kind().name())?;
        for (n, round) in self.rounds.iter().enumerate() {
            writeln!(f, "  round {n}")?;
            for other in &round.others {
                writeln!(f, "    {other}")?;
            }
            for (at, value) in &round.edits {
                match value {
                    Some(value) => writeln!(f, "    the user writes {at}: {value}")?,
                    None => writeln!(f, "    the user leaves out {at}")?,
                }
            }
            writeln!(f, "    the user applies")?;
        }
        Ok(())
    }
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |written: &[Written]| {
            let fields: Vec<_> =
                written.iter().map(|(at, value)| format!("{at}: {value}")).collect();
            fields.join(", ")
        };
        let who = self.manager;
        match &self.write {
            Write::Apply(how, written) => write!(f, "{who} applies ({how:?}) {}", shown(written)),
            Write::ApplySame(how) => write!(f, "{who} applies ({how:?}) the user's body"),
            Write::MergePatch(written) => write!(f, "{who} merge-patches {}", shown(written)),
            Write::Replace(written) => {
                write!(f, "{who} replaces the object with {}", shown(written))
            }
            Write::Remove(place) => write!(f, "{who} removes place {place}"),
            Write::Put(place, value) => write!(f, "{who} writes {value} at place {place}"),
            Write::Scale(replicas) => write!(f, "{who} scales to {replicas}"),
            Write::Status(status) => write!(f, "{who} writes the status {status}"),
            Write::Delete => write!(f, "{who} deletes the object"),
        }
    }
}
