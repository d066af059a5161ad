//! The typed view of a `k8sconnect_patch` block and its state.

use std::collections::BTreeMap;

use k8sconnect_core::field::FieldPath;
use k8sconnect_core::identity::{is_name, is_name_of};
use k8sconnect_core::owners::{Manager, Operation, Owners, Ownership};
use k8sconnect_core::patch::Manner;
use k8sconnect_core::projection::Projection;
use k8sconnect_core::text::nfc;
use tfplugin::{AttributePath, Diagnostics, Value, model};

use crate::connect::{ClusterModel, names_its_cluster};
use crate::leaves::ProjectionMap;
use crate::object_ref::ObjectRef;
use crate::plan_ledger::{Address, Digest};
use crate::{messages, place};

model! {
    /// What the user wrote, and what we computed.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct PatchModel {
        /// The object to patch. Another target gives the fields of the old one back and patches the
        /// new one.
        pub(crate) target: Value<ObjectRef> => required,
        /// A partial object, as YAML or JSON: the fields to set and nothing else. Lists with keys
        /// (containers, env, ports) are merged by key. Sent by server-side apply. Exactly one of
        /// `patch`, `json_patch` and `merge_patch` is set.
        pub(crate) patch: Value<String> => optional,
        /// Operations of RFC 6902 (`add`, `remove`, `replace`, `move`, `copy`, `test`), as JSON or
        /// YAML. Each is carried out once; afterwards what it came to is kept up.
        pub(crate) json_patch: Value<String> => optional,
        /// A merge patch of RFC 7386, as YAML or JSON: `null` removes a field, a list replaces a
        /// list.
        pub(crate) merge_patch: Value<String> => optional,
        pub(crate) cluster: Value<ClusterModel>,
        pub(crate) cluster_name: Value<String>,
        /// Whether fields that another patch holds are taken over from it, instead of being an
        /// error. For what a killed run left behind.
        pub(crate) adopt: Value<bool> => optional,
        /// A random id; the field manager is `k8sconnect-patch-<id>`.
        pub(crate) id: Value<String> => computed,
        /// The patched fields, by path; nothing else of the object.
        pub(crate) managed_fields: Value<ProjectionMap> => computed,
        /// Who held each field before the patch, by path, and gets it back. Empty for a field that
        /// was held by nobody.
        pub(crate) previous_owners: Value<PreviousOwners> => computed,
        /// The patched fields, as the API server holds them: path to value, one entry a leaf.
        /// `(absent)` stands for a field that the patch removes.
        pub(crate) managed_state_projection: Value<ProjectionMap> => computed,
    }
}

names_its_cluster!(PatchModel);

model! {
    /// Somebody who held a field before the patch took it.
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct Owner {
        pub(crate) manager: Value<String>,
        pub(crate) operation: Value<String>,
        pub(crate) subresource: Value<String>,
        pub(crate) api_version: Value<String>,
        pub(crate) time: Value<String>,
    }
}

/// Former owners by path.
pub(crate) type PreviousOwners = BTreeMap<String, Value<Vec<Value<Owner>>>>;

/// What `managed_fields` says of each field.
const MANAGED_BY: &str = "k8sconnect-patch";

impl PatchModel {
    /// The ways of writing a patch that are used, known or not.
    pub(crate) fn written(&self) -> Vec<(Manner, &'static str, &Value<String>)> {
        [
            (Manner::Apply, "patch", &self.patch),
            (Manner::Json, "json_patch", &self.json_patch),
            (Manner::Merge, "merge_patch", &self.merge_patch),
        ]
        .into_iter()
        .filter(|(_, _, text)| !text.is_null())
        .collect()
    }

    /// The address of this patch in the plan ledger. A patch without an id is known by its target and
    /// its text.
    pub(crate) fn address(&self, held: Option<&str>) -> Address {
        if let Some(id) = held {
            return Address::InState(id.to_owned());
        }
        let target = self.target.known().cloned().unwrap_or_default();
        let target = [target.api_version, target.kind, target.namespace, target.name];
        let target = target.iter().map(|part| part.as_str().unwrap_or_default());
        let written = self.written();
        let text =
            written.iter().flat_map(|(_, name, text)| [*name, text.as_str().unwrap_or_default()]);
        Address::New(Digest::of(target.chain(text)))
    }

    /// Former owners, path by path, as state knows them.
    pub(crate) fn former(&self) -> BTreeMap<String, Vec<Manager>> {
        let entries = self.previous_owners.known().into_iter().flatten();
        entries
            .map(|(path, owners)| {
                let owners = owners.known().into_iter().flatten();
                (path.clone(), owners.filter_map(|owner| owner.known()?.manager()).collect())
            })
            .collect()
    }

    /// The same as losses, for want of a better record: each field, to each who held it. What has
    /// another path in another version is not to be told from what has the same.
    pub(crate) fn losses(&self) -> Owners {
        let version = self.target.known().and_then(|target| target.api_version.as_str());
        let mut losses: Vec<Ownership> = Vec::new();
        for (path, managers) in self.former() {
            let Ok(path) = path.parse::<FieldPath>() else {
                continue;
            };
            for manager in managers {
                if version != Some(manager.api_version.as_str()) {
                    continue;
                }
                match losses.iter_mut().find(|entry| entry.manager == manager) {
                    Some(entry) => entry.fields.insert(&path),
                    None => {
                        let fields = [path.clone()].into_iter().collect();
                        losses.push(Ownership { manager, fields });
                    }
                }
            }
        }
        Owners(losses)
    }
}

/// What of the target's name can be none.
pub(crate) fn problems(target: &ObjectRef) -> Diagnostics {
    let at = |part: &str| AttributePath::root("target").attribute(part);
    let gvk = target.gvk();
    let name = target.name.as_str().and_then(|name| match &gvk {
        _ if !is_name(name) => Some(messages::patch::no_name("name", name)),
        Some(gvk) if !is_name_of(gvk, name) => Some(messages::patch::no_host_name(gvk, name)),
        _ => None,
    });
    let namespace = place::misnamed(&Value::Null, &target.namespace, at);
    let kind = place::miscalled(&target.api_version, &target.kind, at);
    name.into_iter().chain(namespace).chain(kind).collect()
}

impl Owner {
    pub(crate) fn of(manager: &Manager) -> Self {
        let text = |text: &str| match text {
            "" => Value::Null,
            text => Value::Known(nfc(text)),
        };
        let operation = match manager.operation {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        };
        Self {
            manager: text(&manager.name),
            operation: text(operation),
            subresource: text(&manager.subresource),
            api_version: text(&manager.api_version),
            time: text(manager.time.as_deref().unwrap_or_default()),
        }
    }

    fn manager(&self) -> Option<Manager> {
        let text = |value: &Value<String>| value.as_str().unwrap_or_default().to_owned();
        Some(Manager {
            name: self.manager.as_str()?.to_owned(),
            operation: match self.operation.as_str()? {
                "Apply" => Operation::Apply,
                _ => Operation::Update,
            },
            subresource: text(&self.subresource),
            api_version: text(&self.api_version),
            time: self.time.as_str().map(ToOwned::to_owned),
        })
    }
}

/// `managed_fields` for these leaves.
pub(crate) fn managed_fields(leaves: &Projection) -> Value<ProjectionMap> {
    let entry = |path: &FieldPath| (path.shown(), Value::Known(MANAGED_BY.to_owned()));
    Value::Known(leaves.0.keys().map(entry).collect())
}

pub(crate) fn owners(managers: &[Manager]) -> Value<Vec<Value<Owner>>> {
    Value::Known(managers.iter().map(|manager| Value::Known(Owner::of(manager))).collect())
}
