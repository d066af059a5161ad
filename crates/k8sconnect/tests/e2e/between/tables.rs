//! What is applied, what is done with it, and what somebody else does meanwhile. To try another
//! resource, add a row to [`specimens`]; to try another write, one to [`writes`].

mod specimens;
mod writes;

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{ControlPlane, Target};

pub(super) use specimens::{SPECIMENS, definition};
use writes::ANY_KIND;
pub(super) use writes::RIVAL;

/// An object that is put through every operation.
pub(super) struct Specimen {
    /// Unlike any other's here.
    pub(super) name: &'static str,
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// Where the server keeps those of namespace `NS`.
    pub(super) collection: &'static str,
    /// `NAME` and `NS` stand for the case's own.
    pub(super) body: &'static str,
    /// Attributes of the resource besides the body.
    pub(super) settings: &'static str,
    /// The user's edit, as a replacement in the body.
    pub(super) edit: (&'static str, &'static str),
    /// What a drift repair finds: a merge patch.
    pub(super) drift: fn() -> Value,
    /// Fields that are in the body and yet others' to decide, as JSON pointers.
    pub(super) ignored: &'static [&'static str],
    pub(super) takeover: Takeover,
    pub(super) operations: &'static [Operation],
    /// Whether what can be done to any object is done to this one too.
    pub(super) breadth: Breadth,
    writes: &'static [Write],
}

/// Whether what is there already is taken over, as its settings say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takeover {
    Refused,
    Wanted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breadth {
    AllWrites,
    OwnWrites,
}

impl Specimen {
    pub(super) fn writes(&self) -> impl Iterator<Item = &'static Write> {
        let more = match self.breadth {
            Breadth::AllWrites => ANY_KIND,
            Breadth::OwnWrites => &[],
        };
        self.writes.iter().chain(more)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    /// After the user's edit.
    Update,
    /// After a drift.
    Repair,
    /// After both.
    UpdateAndRepair,
}

impl Operation {
    /// In an order in which one object can go through all of them.
    pub(super) const ALL: [Self; 4] =
        [Self::Create, Self::Update, Self::Repair, Self::UpdateAndRepair];

    pub(super) fn edits(self) -> bool {
        matches!(self, Self::Update | Self::UpdateAndRepair)
    }

    pub(super) fn drifts(self) -> bool {
        matches!(self, Self::Repair | Self::UpdateAndRepair)
    }
}

/// Something that somebody else does.
pub(super) struct Write {
    pub(super) name: &'static str,
    pub(super) effect: Effect,
    pub(super) how: How,
    /// What is theirs afterwards and must never be lost.
    pub(super) theirs: Theirs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The object stays the object that it is.
    Changes,
    /// It is gone.
    Deletes,
    /// It is gone, and another one has its name.
    Replaces,
    /// It is gone, and a copy of it with our id has its name, as from a backup.
    Restores,
    /// One of theirs is there before ours.
    Forestalls,
    /// It is taken from us, and we must not take it back.
    Contests,
}

#[derive(Clone, Copy)]
pub(super) enum Theirs {
    Nothing,
    /// All that the write says.
    AllOfIt,
    /// As a partial object.
    This(fn() -> Value),
}

#[derive(Clone, Copy)]
pub(super) enum How {
    Merge(fn() -> Value),
    Strategic(fn() -> Value),
    Json(fn() -> Value),
    /// Through the `status` subresource.
    Status(fn() -> Value),
    /// Through the `scale` subresource.
    Scale(u32),
    /// Server-side apply by a manager of this name, taking what it wants.
    Apply(&'static str, fn() -> Value),
    Delete,
    /// Deletes what is there, then creates our body with this merged into it.
    Create(fn() -> Value),
    Restore,
}

/// A specimen as a user and as the server know it.
impl Specimen {
    pub(super) fn written(&self, namespace: &str, name: &str) -> String {
        self.body.replace("NS", namespace).replace("NAME", name)
    }

    pub(super) fn edited(&self, namespace: &str, name: &str) -> String {
        let (old, new) = self.edit;
        self.written(namespace, name).replace(old, new)
    }

    pub(super) fn resource(&self, name: &str, body: &str) -> String {
        format!(
            "resource \"k8sconnect_object\" \"{}_{name}\" {{\n  \
             cluster = {{ kubeconfig = file(\"kubeconfig\") }}\n  {}\n  \
             yaml_body = <<-YAML\n{}\nYAML\n}}\n",
            self.name,
            self.settings,
            body.trim_end()
        )
    }

    pub(super) fn address(&self, name: &str) -> String {
        format!("k8sconnect_object.{}_{name}", self.name)
    }

    pub(super) fn path(&self, namespace: &str, name: &str) -> String {
        format!("{}/{name}", self.collection.replace("NS", namespace))
    }

    pub(super) fn target(&self, namespace: &str, name: &str) -> Target {
        Target::new(self.api_version, self.kind, namespace, name)
    }

    /// Nothing but its name, for a manager that applies it.
    pub(super) fn named(&self, namespace: &str, name: &str) -> Value {
        json!({"apiVersion": self.api_version, "kind": self.kind,
               "metadata": {"name": name, "namespace": namespace}})
    }

    pub(super) async fn let_drift(&self, cluster: &ControlPlane, namespace: &str, name: &str) {
        let (target, patch) = (self.target(namespace, name), (self.drift)());
        let editor = cluster.act_as("kubectl-edit");
        // Custom kinds know no other patch, and lists of the others are merged by this one only.
        let drifted = match self.api_version.contains("example.com") {
            true => editor.merge_patch(&target, patch).await,
            false => editor.strategic_patch(&target, patch).await,
        };
        drifted.unwrap();
    }

    /// Waits until its controller has nothing to write any more. A write of its between plan and
    /// apply costs one more request, and the cases count requests.
    pub(super) async fn at_rest(&self, cluster: &ControlPlane, namespace: &str, name: &str) {
        if self.kind == "Deployment" {
            let observed = |seen: Option<&Value>| {
                seen.is_none_or(|it| {
                    it["status"]["observedGeneration"] == it["metadata"]["generation"]
                })
            };
            let target = self.target(namespace, name);
            cluster.wait_until(&target, Duration::from_secs(120), observed).await.unwrap();
        }
    }
}
