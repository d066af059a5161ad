//! State of the Go provider of this name, brought into our form.
//!
//! What both have is carried over, the id included: the field manager is called after it. What that
//! provider computed is in other words, and what our own writes keep it never knew. Both are found
//! anew by the first read ([`recover`]), so that the first plan is empty where the object is as the
//! patch says, and shows the drift where it is not.
//!
//! It kept no record of former owners that could be trusted. So there are none until the first
//! change, which says so.

use k8sconnect_cluster::{Found, Location, Targets};
use k8sconnect_core::patch::{Kept, Manner};
use serde_json::Value as Json;
use tfplugin::{Diagnostics, RawState, Value};

use super::in_state::PatchInState;
use super::model::{PatchModel, managed_fields};
use super::schema;
use super::trial::Surgery;
use crate::leaves::ProjectionMap;
use crate::resource::go_state;
use crate::resource::live::NamesObject;
use crate::resource::retry::Attempt;

/// How often the object is looked at again while others write to it. A plan asks again in any case.
const LOOKS: usize = 5;
const COMPUTED: [&str; 3] = ["managed_fields", "previous_owners", "managed_state_projection"];

pub(crate) fn upgrade(version: i64, raw: &RawState) -> Result<PatchModel, Diagnostics> {
    go_state::decode(version, raw, &schema::schema(), &COMPUTED)
}

/// Asks the server what the patch in state comes to, and takes that for what its last write left:
/// whatever differs on the object has been changed since. Where the server does not say, nothing is
/// recovered, and the plan, which asks the same, tells why. Answers with the fields, if they were
/// found.
pub(crate) async fn recover(
    held: &mut PatchInState,
    targets: &Targets,
    location: &Location,
    live: &Json,
) -> Option<Value<ProjectionMap>> {
    let mut newer = None;
    for _ in 0..LOOKS {
        match left_behind(held, targets, location, newer.as_ref().unwrap_or(live)).await {
            Ok(Attempt::Done(None)) | Err(_) => return None,
            Ok(Attempt::Done(Some((kept, fields)))) => {
                held.stored.kept = Some(kept);
                return Some(fields);
            }
            Ok(Attempt::Conflict) => match targets.get(location).await {
                Ok(Found::Object(answer)) => newer = Some(answer.object),
                _ => return None,
            },
        }
    }
    None
}

type LeftBehind = (Kept, Value<ProjectionMap>);

async fn left_behind(
    held: &PatchInState,
    targets: &Targets,
    location: &Location,
    live: &Json,
) -> Result<Attempt<Option<LeftBehind>>, Diagnostics> {
    let (true, Some(patch)) = (held.is_foreign(), &held.patch) else {
        return Ok(Attempt::Done(None));
    };
    let manager = held.manager();
    let key = held.stored.key.as_ref();
    let (id, manager) = (Some(held.id()), manager.as_str());
    let surgery = Surgery { targets, location, patch, id, manager, past: None, key };
    let inherited = match surgery.inherited(live).await? {
        Attempt::Done(Some(inherited)) => inherited,
        Attempt::Done(None) => return Ok(Attempt::Done(None)),
        Attempt::Conflict => return Ok(Attempt::Conflict),
    };
    let done = Kept { texts: inherited.texts, marks: inherited.marks, ..Kept::default() };
    let past = (patch.manner() == Manner::Json).then_some((patch, &done));
    let Attempt::Done(trial) = Surgery { past, ..surgery }.attempt(live).await? else {
        return Ok(Attempt::Conflict);
    };
    let kept = trial.kept(manager, key).naming(&held.key)?;
    let fields = managed_fields(&trial.outcome.leaves);
    Ok(Attempt::Done(kept.map(|kept| (kept, fields))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_both_have_is_carried_over_and_what_was_computed_is_not() {
        let state = json!({
            "id": "0123456789ab",
            "target": {"api_version": "apps/v1", "kind": "DaemonSet", "name": "aws-node",
                "namespace": "kube-system"},
            "patch": "{\"spec\":{}}", "json_patch": null, "merge_patch": null,
            "cluster_connection": {"kubeconfig": "some text", "context": null, "host": null},
            "managed_fields": "{\"spec.x\":\"y\"}", "previous_owners": {"spec.x": "helm"},
            "field_ownership": {"a": "b"},
        });
        let model = upgrade(1, &RawState::new(state.to_string())).unwrap();
        assert_eq!(model.id.as_str(), Some("0123456789ab"));
        assert_eq!(model.target.known().unwrap().key().unwrap().name, "aws-node");
        assert_eq!(model.cluster.known().unwrap().kubeconfig.as_str(), Some("some text"));
        assert!(model.previous_owners.is_null() && model.managed_fields.is_null());
        assert!(upgrade(3, &RawState::new(state.to_string())).is_err());
    }
}
