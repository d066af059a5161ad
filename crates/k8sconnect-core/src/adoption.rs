//! Taking over an object that kubectl applied in its old, client-side way.
//!
//! kubectl's entry owns by Update, and an apply of equal values shares the field with it: removed
//! from the body later, the field would stay for ever, held by an entry that nobody serves any
//! more. So what that entry holds *of our leaves* is moved into ours before the first apply. Its
//! other fields stay its own; moving those would delete what our body lacks.

use crate::field::FieldSet;
use crate::owners::{Manager, Operation, Owners, Ownership};

/// Managers that stand for a person's past `kubectl apply`, not for a controller at work.
const CLIENT_SIDE: [&str; 2] = ["kubectl-client-side-apply", "before-first-apply"];

/// The owners with what is ours moved to us; `None` if there is nothing to move.
pub fn claim(owners: &Owners, manager: &str, ours: &FieldSet, api_version: &str) -> Option<Owners> {
    let mut claimed = FieldSet::default();
    let mut time = None;
    let mut entries = Vec::new();
    for Ownership { manager, fields } in &owners.0 {
        let theirs =
            if is_client_side(manager) { fields.intersection(ours) } else { FieldSet::default() };
        if !theirs.is_empty() {
            claimed = claimed.union(&theirs);
            time = time.max(manager.time.clone());
        }
        let rest = fields.difference(&theirs);
        if !rest.is_empty() {
            entries.push(Ownership { manager: manager.clone(), fields: rest });
        }
    }
    if claimed.is_empty() {
        return None;
    }
    match entries.iter_mut().find(|entry| entry.manager.applies_as(manager)) {
        Some(entry) => entry.fields = entry.fields.union(&claimed),
        None => entries.push(Ownership {
            manager: Manager {
                name: manager.to_owned(),
                operation: Operation::Apply,
                subresource: String::new(),
                api_version: api_version.to_owned(),
                time,
            },
            fields: claimed,
        }),
    }
    Some(Owners(entries))
}

/// Whether an entry is one of a past `kubectl apply`.
pub fn is_client_side(manager: &Manager) -> bool {
    manager.operation == Operation::Update
        && manager.subresource.is_empty()
        && CLIENT_SIDE.contains(&manager.name.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn owners() -> Owners {
        Owners::from_managed_fields(&json!([
            {"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
             "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}}},
            {"manager": "hpa", "operation": "Update", "apiVersion": "v1",
             "fieldsV1": {"f:data": {"f:a": {}}}},
        ]))
        .unwrap()
    }

    fn ours() -> FieldSet {
        ["data.a", "data.c"].iter().map(|path| path.parse().unwrap()).collect()
    }

    fn members(owners: &Owners, n: usize) -> Vec<String> {
        owners.0[n].fields.members().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_our_leaves_are_moved_and_only_from_kubectl() {
        let moved = claim(&owners(), "k8sconnect", &ours(), "v1").unwrap();
        assert_eq!(members(&moved, 0), ["data.b"], "kubectl keeps what our body lacks");
        assert_eq!(members(&moved, 1), ["data.a"], "a controller keeps what it holds");
        assert_eq!(members(&moved, 2), ["data.a"]);
        assert!(moved.0[2].manager.applies_as("k8sconnect"));
        assert_eq!(moved.0[2].manager.time.as_deref(), Some("2026-01-01T00:00:00Z"));
    }

    #[test]
    fn nothing_of_kubectls_is_nothing_to_do() {
        let others = Owners(owners().0.split_off(1));
        assert_eq!(claim(&others, "k8sconnect", &ours(), "v1"), None);
    }
}
