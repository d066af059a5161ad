//! What goes when an object goes: the contents of a namespace, the objects of a custom kind, the
//! volume of a claim.
//!
//! Three kinds take others along that no owner reference tells of. What they take is sorted here by
//! who could bring it back: what bears an id of ours is written down in some configuration, what
//! another object owns is made again by that object's controller, and the rest is simply lost.
//!
//! Not here: asking the server for any of it, and the words in which it is told.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::identity::{Gvk, ID_ANNOTATION};

/// A kind whose objects take others along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vessel {
    Namespace,
    /// A custom resource definition.
    Definition,
    /// A persistent volume claim.
    Claim,
}

impl Vessel {
    pub fn of(gvk: &Gvk) -> Option<Self> {
        match (gvk.group.as_str(), gvk.kind.as_str()) {
            ("", "Namespace") => Some(Self::Namespace),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => Some(Self::Definition),
            ("", "PersistentVolumeClaim") => Some(Self::Claim),
            _ => None,
        }
    }
}

/// The objects that go along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toll {
    /// Neither marked as ours nor owned by another object: nobody makes them again.
    pub unmarked: Vec<Share>,
    /// Marked with an id, of whichever state.
    pub marked: Vec<Share>,
    /// Owned by other objects, whatever mark they bear: a ReplicaSet inherits its Deployment's.
    pub owned: Vec<Share>,
}

impl Toll {
    pub fn total(&self) -> usize {
        [&self.unmarked, &self.marked, &self.owned].into_iter().map(|part| count(part)).sum()
    }

    /// Whether there are objects of this kind that are no others' property.
    pub fn has(&self, kind: &str) -> bool {
        self.unmarked.iter().chain(&self.marked).any(|share| share.kind == kind)
    }
}

/// How many objects these are.
pub fn count(shares: &[Share]) -> usize {
    shares.iter().map(|share| share.names.len()).sum()
}

/// The objects of one kind, sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// With the group behind it where it is not one of Kubernetes' own, as kubectl writes it.
    pub kind: String,
    pub names: Vec<String>,
}

/// What goes with a namespace, by the metadata of all that is in it.
pub fn of_namespace(items: &[Value]) -> Toll {
    let services: BTreeSet<_> = items
        .iter()
        .filter(|item| item["apiVersion"] == "v1" && item["kind"] == "Service")
        .map(|item| text(&item["metadata"]["name"]))
        .collect();
    let told = items.iter().filter(|item| !comes_by_itself(item, &services));
    sort(told, |metadata| text(&metadata["name"]).to_owned())
}

/// An object that is marked for deletion and waits for finalizers of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub kind: String,
    pub name: String,
    pub finalizers: Vec<String>,
}

/// Who in a namespace keeps it from going, by the metadata of all that is in it.
pub fn held(items: &[Value]) -> Vec<Held> {
    let held = items.iter().filter(|item| item["metadata"]["deletionTimestamp"].is_string());
    let held = held.map(|item| {
        let finalizers = item["metadata"]["finalizers"].as_array().into_iter().flatten();
        let finalizers = finalizers.map(|it| text(it).to_owned()).collect();
        Held { kind: kind(item), name: text(&item["metadata"]["name"]).to_owned(), finalizers }
    });
    held.filter(|held| !held.finalizers.is_empty()).collect()
}

/// What goes with a definition, by the metadata of all objects of its kind.
pub fn of_definition(items: &[Value]) -> Toll {
    sort(items.iter(), |metadata| match metadata["namespace"].as_str() {
        Some(namespace) => format!("{namespace}/{}", text(&metadata["name"])),
        None => text(&metadata["name"]).to_owned(),
    })
}

/// Whether every namespace has it, or a service brings it along; nobody misses these.
fn comes_by_itself(item: &Value, services: &BTreeSet<&str>) -> bool {
    let name = text(&item["metadata"]["name"]);
    match text(&item["kind"]) {
        "Event" => {
            item["apiVersion"] == "v1" || text(&item["apiVersion"]).starts_with("events.k8s.io/")
        }
        "ServiceAccount" => item["apiVersion"] == "v1" && name == "default",
        "ConfigMap" => item["apiVersion"] == "v1" && name == "kube-root-ca.crt",
        "Endpoints" => item["apiVersion"] == "v1" && services.contains(name),
        "EndpointSlice" => owners(item).any(|owner| owner["kind"] == "Service"),
        _ => false,
    }
}

fn sort<'a>(items: impl Iterator<Item = &'a Value>, name: impl Fn(&Value) -> String) -> Toll {
    // Some servers show the same object in two groups.
    let mut uids = BTreeSet::new();
    let mut parts: [BTreeMap<String, Vec<String>>; 3] = Default::default();
    for item in items {
        let metadata = &item["metadata"];
        if metadata["uid"].as_str().is_some_and(|uid| !uids.insert(uid)) {
            continue;
        }
        let part = if owners(item).next().is_some() {
            2
        } else {
            usize::from(metadata["annotations"][ID_ANNOTATION].is_string())
        };
        parts[part].entry(kind(item)).or_default().push(name(metadata));
    }
    let [unmarked, marked, owned] = parts.map(|part| {
        let share = |(kind, mut names): (String, Vec<String>)| {
            names.sort_unstable();
            Share { kind, names }
        };
        part.into_iter().map(share).collect()
    });
    Toll { unmarked, marked, owned }
}

fn owners(item: &Value) -> impl Iterator<Item = &Value> {
    item["metadata"]["ownerReferences"].as_array().into_iter().flatten()
}

fn kind(item: &Value) -> String {
    let gvk = Gvk::new(text(&item["apiVersion"]), text(&item["kind"]));
    spelt(&gvk)
}

/// `Deployment`, but `Widget.example.com`: two groups may well have a kind of the same name.
pub fn spelt(gvk: &Gvk) -> String {
    if gvk.may_still_appear() { format!("{}.{}", gvk.kind, gvk.group) } else { gvk.kind.clone() }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The custom kind behind a definition, as it can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defined {
    pub gvk: Gvk,
    pub plural: String,
}

/// `None` where no version is served, so that nothing can be asked.
pub fn defined(definition: &Value) -> Option<Defined> {
    let spec = &definition["spec"];
    let versions = spec["versions"].as_array()?;
    let served = versions.iter().find(|version| version["served"] == true)?;
    let gvk = Gvk {
        group: spec["group"].as_str()?.to_owned(),
        version: served["name"].as_str()?.to_owned(),
        kind: spec["names"]["kind"].as_str()?.to_owned(),
    };
    Some(Defined { gvk, plural: spec["names"]["plural"].as_str()?.to_owned() })
}

/// What becomes of a volume when its claim goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reclaim {
    /// It is deleted, with its data.
    Delete,
    /// It stays, and no claim gets it without somebody's help.
    Retain,
    /// Something else, by its name: emptied for others to use (`Recycle`), or not said.
    Other(String),
}

/// The volume that a claim is bound to.
pub fn volume_of(claim: &Value) -> Option<&str> {
    claim["spec"]["volumeName"].as_str().filter(|name| !name.is_empty())
}

pub fn reclaim(volume: &Value) -> Reclaim {
    match text(&volume["spec"]["persistentVolumeReclaimPolicy"]) {
        "Delete" => Reclaim::Delete,
        "Retain" => Reclaim::Retain,
        other => Reclaim::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item(api_version: &str, kind: &str, name: &str) -> Value {
        let uid = format!("{api_version}/{kind}/{name}");
        json!({"apiVersion": api_version, "kind": kind,
               "metadata": {"name": name, "namespace": "shop", "uid": uid}})
    }

    fn marked(mut item: Value) -> Value {
        item["metadata"]["annotations"] = json!({ID_ANNOTATION: "0f3a"});
        item
    }

    fn owned(mut item: Value, by: &str) -> Value {
        item["metadata"]["ownerReferences"] = json!([{"kind": by, "name": "web"}]);
        item
    }

    fn share(kind: &str, names: &[&str]) -> Share {
        Share { kind: kind.into(), names: names.iter().map(|name| (*name).to_owned()).collect() }
    }

    #[test]
    fn what_bears_an_id_stands_apart_from_what_does_not() {
        let toll = of_namespace(&[
            item("v1", "Secret", "b"),
            marked(item("apps/v1", "Deployment", "web")),
            item("v1", "Secret", "a"),
        ]);
        assert_eq!(toll.unmarked, [share("Secret", &["a", "b"])]);
        assert_eq!(toll.marked, [share("Deployment", &["web"])]);
        assert_eq!(toll.total(), 3);
    }

    #[test]
    fn an_inherited_mark_makes_nothing_ours() {
        let set = owned(marked(item("apps/v1", "ReplicaSet", "web-1")), "Deployment");
        let toll = of_namespace(&[set, owned(item("v1", "Pod", "web-1-a"), "ReplicaSet")]);
        assert_eq!(toll.marked, []);
        assert_eq!(toll.owned, [share("Pod", &["web-1-a"]), share("ReplicaSet", &["web-1"])]);
    }

    #[test]
    fn what_every_namespace_has_is_not_worth_a_word() {
        let toll = of_namespace(&[
            item("v1", "ServiceAccount", "default"),
            item("v1", "ConfigMap", "kube-root-ca.crt"),
            item("v1", "Event", "web.1"),
            item("events.k8s.io/v1", "Event", "web.1"),
            owned(item("discovery.k8s.io/v1", "EndpointSlice", "web-x"), "Service"),
        ]);
        assert_eq!(toll, Toll::default());
    }

    #[test]
    fn endpoints_count_only_where_no_service_made_them() {
        let service = item("v1", "Service", "web");
        let of_service = item("v1", "Endpoints", "web");
        let by_hand = item("v1", "Endpoints", "database");
        let toll = of_namespace(&[of_service, by_hand, service]);
        assert_eq!(toll.unmarked, [share("Endpoints", &["database"]), share("Service", &["web"])]);
    }

    #[test]
    fn a_custom_kind_of_a_well_known_name_is_told_apart_and_counted() {
        let toll = of_namespace(&[
            item("v1", "Service", "web"),
            item("serving.example.com/v1", "Service", "web"),
            item("example.com/v1", "Event", "party"),
        ]);
        let kinds: Vec<_> = toll.unmarked.iter().map(|share| share.kind.as_str()).collect();
        assert_eq!(kinds, ["Event.example.com", "Service", "Service.serving.example.com"]);
    }

    #[test]
    fn an_object_that_two_groups_show_dies_once() {
        let mut twin = item("authorization.example.com/v1", "RoleBinding", "a");
        let first = item("rbac.authorization.k8s.io/v1", "RoleBinding", "a");
        twin["metadata"]["uid"] = first["metadata"]["uid"].clone();
        assert_eq!(of_namespace(&[first, twin]).total(), 1);
    }

    #[test]
    fn custom_resources_are_named_with_their_namespace() {
        let toll = of_definition(&[item("example.com/v1", "Widget", "w")]);
        assert_eq!(toll.unmarked, [share("Widget.example.com", &["shop/w"])]);
    }

    #[test]
    fn a_definition_is_asked_for_in_a_version_that_is_served() {
        let mut definition = json!({"spec": {
            "group": "example.com", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": false}, {"name": "v2", "served": true}],
        }});
        let kind = defined(&definition).unwrap();
        assert_eq!(kind.gvk, Gvk::new("example.com/v2", "Widget"));
        definition["spec"]["versions"][1]["served"] = json!(false);
        assert_eq!(defined(&definition), None);
    }

    #[test]
    fn a_claim_that_was_never_bound_has_no_volume() {
        assert_eq!(volume_of(&json!({"spec": {"volumeName": ""}})), None);
        assert_eq!(volume_of(&json!({"spec": {"volumeName": "pv-1"}})), Some("pv-1"));
    }

    #[test]
    fn only_what_is_going_and_waits_for_a_finalizer_holds_its_namespace() {
        let with = |name, metadata: Value| {
            let mut item = item("example.com/v1", "Widget", name);
            item["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
            item
        };
        let (going, pinned) = ("2026-11-02T09:12:44Z", json!(["example.com/cleanup"]));
        let items = [
            with("held", json!({"deletionTimestamp": going, "finalizers": pinned})),
            with("going", json!({"deletionTimestamp": going, "finalizers": []})),
            with("unmarked", json!({"finalizers": pinned})),
        ];
        let names: Vec<_> = held(&items).into_iter().map(|held| held.name).collect();
        assert_eq!(names, ["held"]);
    }
}
