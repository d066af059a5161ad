//! Who owns which fields, read from `metadata.managedFields`.
//!
//! A field has a *set* of managers: two who applied the same value own it together. Nothing here
//! picks one of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::field::fields_v1::{self, FieldsV1Error};
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::identity::without_marks;

/// How a manager came to own its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Operation {
    Apply,
    Update,
}

/// A manager as the server tells managers apart, with the time of its last write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manager {
    #[serde(rename = "manager", default)]
    pub name: String,
    pub operation: Operation,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subresource: String,
    #[serde(default)]
    pub api_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl Manager {
    /// The same manager, whenever it last wrote.
    pub fn is(&self, other: &Manager) -> bool {
        self.name == other.name
            && self.operation == other.operation
            && self.subresource == other.subresource
    }

    /// Whether this is the entry that an apply under the given name writes.
    pub fn applies_as(&self, name: &str) -> bool {
        self.name == name && self.operation == Operation::Apply && self.subresource.is_empty()
    }
}

/// One manager and the fields it owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ownership {
    pub manager: Manager,
    pub fields: FieldSet,
}

/// All managers of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners(pub Vec<Ownership>);

impl Owners {
    /// Reads the owners of an object. One without `managedFields` has none.
    pub fn of_object(object: &Value) -> Result<Self, FieldsV1Error> {
        match object.pointer("/metadata/managedFields") {
            Some(list) => Self::from_managed_fields(list),
            None => Ok(Self::default()),
        }
    }

    pub fn from_managed_fields(list: &Value) -> Result<Self, FieldsV1Error> {
        let entries = list.as_array().map(Vec::as_slice).unwrap_or_default();
        entries.iter().map(read_entry).collect::<Result<_, _>>().map(Self)
    }

    /// The list as the server writes it, for keeping.
    pub fn to_managed_fields(&self) -> Value {
        self.0
            .iter()
            .map(|Ownership { manager, fields }| {
                let mut entry = serde_json::to_value(manager).unwrap_or_default();
                entry["fieldsType"] = "FieldsV1".into();
                entry["fieldsV1"] = fields_v1::encode(fields);
                entry
            })
            .collect()
    }

    /// The same with `stringData` of a Secret counted as `data`, which the server makes of it: its
    /// entry is all that is recorded of whoever wrote it.
    #[must_use]
    pub fn with_string_data_as_data(&self) -> Owners {
        self.with_string_data_where(|_| true)
    }

    /// The same for the fields of `data` that `counts` says yes to. Somebody else's write leaves the
    /// entry as it is, and nothing of what it stood for.
    #[must_use]
    pub fn with_string_data_where(&self, counts: impl Fn(&FieldPath) -> bool) -> Owners {
        let renamed = |path: FieldPath| match path.elements() {
            [PathElement::Field(first), rest @ ..] if first == "stringData" => {
                let data = [PathElement::field("data")].into_iter().chain(rest.iter().cloned());
                Some(FieldPath::new(data)).filter(&counts).unwrap_or(path)
            }
            _ => path,
        };
        let entry = |Ownership { manager, fields }: &Ownership| Ownership {
            manager: manager.clone(),
            fields: fields.members().into_iter().map(renamed).collect(),
        };
        Self(self.0.iter().map(entry).collect())
    }

    /// What the manager of this name owns by apply on the main resource; nothing if it has no
    /// entry.
    pub fn applied_by(&self, name: &str) -> FieldSet {
        self.0
            .iter()
            .find(|o| o.manager.applies_as(name))
            .map(|o| o.fields.clone())
            .unwrap_or_default()
    }

    /// The same without the marks that this manager puts on every object.
    #[must_use]
    pub fn without_marks_of(&self, manager: &str) -> Owners {
        let mut owners = self.clone();
        for entry in owners.0.iter_mut().filter(|it| it.manager.applies_as(manager)) {
            entry.fields = without_marks(std::mem::take(&mut entry.fields));
        }
        owners.0.retain(|entry| !entry.fields.is_empty());
        owners
    }

    /// Whether every manager owns the same fields, whenever it last wrote.
    pub fn own_the_same(&self, other: &Owners) -> bool {
        let has = |owners: &Owners, entry: &Ownership| {
            owners.0.iter().any(|it| {
                it.manager.is(&entry.manager)
                    && it.manager.api_version == entry.manager.api_version
                    && it.fields == entry.fields
            })
        };
        self.0.len() == other.0.len() && self.0.iter().all(|entry| has(other, entry))
    }

    /// Everyone but that manager.
    pub fn others(&self, name: &str) -> impl Iterator<Item = &Ownership> {
        self.0.iter().filter(move |o| !o.manager.applies_as(name))
    }

    /// The managers that own this very field.
    pub fn holders<'a>(&'a self, path: &'a FieldPath) -> impl Iterator<Item = &'a Manager> {
        self.0.iter().filter(move |o| o.fields.contains(path)).map(|o| &o.manager)
    }
}

fn read_entry(entry: &Value) -> Result<Ownership, FieldsV1Error> {
    let manager = Manager::deserialize(entry).map_err(|error| FieldsV1Error(error.to_string()))?;
    let fields = match entry.get("fieldsV1") {
        Some(fields) => fields_v1::decode(fields)?,
        None => FieldSet::default(),
    };
    Ok(Ownership { manager, fields })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object() -> Value {
        json!({"metadata": {"managedFields": [
            {"manager": "k8sconnect", "operation": "Apply", "apiVersion": "v1",
             "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
             "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}}},
            {"manager": "k8sconnect", "operation": "Update", "apiVersion": "v1",
             "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:c": {}}}},
            {"manager": "hpa", "operation": "Update", "apiVersion": "v1", "subresource": "scale",
             "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:b": {}}}}
        ]}})
    }

    #[test]
    fn a_field_has_every_manager_that_holds_it() {
        let owners = Owners::of_object(&object()).unwrap();
        let path = FieldPath::fields(["data", "b"]);
        let names: Vec<_> = owners.holders(&path).map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["k8sconnect", "hpa"]);
    }

    #[test]
    fn an_update_under_our_name_is_not_our_apply() {
        let owners = Owners::of_object(&object()).unwrap();
        let ours = owners.applied_by("k8sconnect");
        assert!(ours.contains(&FieldPath::fields(["data", "a"])));
        assert!(!ours.contains(&FieldPath::fields(["data", "c"])));
        assert_eq!(owners.others("k8sconnect").count(), 2);
    }

    #[test]
    fn whoever_wrote_string_data_holds_data() {
        let list = json!([{"manager": "flux", "operation": "Apply", "apiVersion": "v1",
                           "fieldsV1": {"f:stringData": {"f:a": {}}}}]);
        let owners = Owners::from_managed_fields(&list).unwrap().with_string_data_as_data();
        assert_eq!(owners.holders(&FieldPath::fields(["data", "a"])).count(), 1);
    }

    #[test]
    fn what_is_kept_reads_back() {
        let owners = Owners::of_object(&object()).unwrap();
        assert_eq!(Owners::from_managed_fields(&owners.to_managed_fields()), Ok(owners));
    }
}
