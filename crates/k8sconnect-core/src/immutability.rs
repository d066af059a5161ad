//! Whether a refused update proves that an object must be replaced.
//!
//! A replacement deletes an object, so it is planned only on proof. [`Evidence`] has the answers to all
//! dry-runs that the proof needs, and [`classify`] is a total function of it. No list of kinds or fields is
//! kept, and no text of a server is matched, except the prefix that identifies the refusal of a webhook:
//! webhooks pass on causes of their own, which prove nothing. Not here: the requests, which the plan sends,
//! and the sentences for the user.

use serde_json::Value;

use crate::field::FieldPath;
use crate::overlay::OthersField;
use crate::rejection::{Cause, Rejection, Status};
use crate::service_addresses::{AddressCheck, TakenAddress};

const WEBHOOK_PREFIX: &str = "admission webhook \"";

/// How a dry-run ended: accepted, or refused.
pub type DryRun = Result<(), Box<Status>>;

/// How the dry-run ended that replaces the changed top-level fields instead of merging them.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlayResult {
    pub answer: DryRun,
    /// The fields of other managers that the replacement of the fields removes.
    pub removed: Vec<OthersField>,
}

/// All that is known of an update that the server refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence<'a> {
    pub refused: &'a Status,
    pub live: &'a Value,
    /// Whether a CRD defines the kind. Its rules may be about a whole map, such as `spec`.
    pub is_custom: bool,
    /// The body of the last apply, sent again. `None` if it is the refused one, which others came to refuse.
    pub stored_body: Option<DryRun>,
    /// The new body as a new object.
    pub creation: DryRun,
    /// `None` if no field of the body can be replaced as a whole.
    pub overlay: Option<OverlayResult>,
    pub addresses: AddressCheck,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RefusalClass {
    /// These fields cannot change. The object must be replaced.
    Immutable(Vec<Cause>),
    /// A new object is refused for the same field: an error in the body.
    Invalid(Box<Status>),
    /// The server or a webhook failed, and answered no question.
    Unanswered(Box<Status>),
    /// The object is being deleted, and refuses changes for that.
    Terminating,
    /// Only the combination with these fields of others, or with what the server filled in, is refused.
    Entangled(Vec<OthersField>),
    /// A replacement needs an address that another Service has.
    AddressTaken(Vec<TakenAddress>),
    Unproved(MissingProof),
}

/// What is missing for the proof that a replacement would help.
#[derive(Clone, Debug, PartialEq)]
pub enum MissingProof {
    /// The causes are about the object as a whole, its metadata or its status.
    NotAboutTheBody,
    /// The body of the last apply is refused as well.
    StoredBody(Box<Status>),
    /// A new object is refused too, for another field.
    Creation(Box<Status>),
    /// The overlay is refused for another field, or for the fields that it removes.
    Overlay(Box<Status>),
    /// The Services of the cluster could not be listed.
    Addresses(Box<Status>),
}

/// Classifies a refused update: the first row that applies decides.
pub fn classify(evidence: &Evidence<'_>) -> RefusalClass {
    let Evidence { refused, live, stored_body, creation, overlay, addresses, .. } = evidence;
    let named = causes_with_field(refused);
    let causes: Vec<_> = named.iter().filter(|it| is_about_body(it, live)).cloned().collect();
    let answers = [stored_body.as_ref(), Some(creation), overlay.as_ref().map(|it| &it.answer)];
    let mut refusals = answers.into_iter().flatten().filter_map(|it| it.as_ref().err());

    if let Err(status) = creation
        && share_a_field(&named, &status.details.causes)
    {
        return RefusalClass::Invalid(status.clone());
    }
    if let Some(status) = refusals.find(|it| it.tells_nothing()) {
        return RefusalClass::Unanswered(status.clone());
    }
    if !live["metadata"]["deletionTimestamp"].is_null() {
        return RefusalClass::Terminating;
    }
    if let Some(Err(status)) = stored_body {
        return RefusalClass::Unproved(MissingProof::StoredBody(status.clone()));
    }
    if let Some(OverlayResult { answer: Ok(()), removed }) = overlay {
        return RefusalClass::Entangled(removed.clone());
    }
    if let AddressCheck::Taken(taken) = addresses {
        return RefusalClass::AddressTaken(taken.clone());
    }
    if causes.is_empty() {
        return RefusalClass::Unproved(MissingProof::NotAboutTheBody);
    }
    if stored_body.is_none() {
        return RefusalClass::Unproved(MissingProof::StoredBody(Box::new((*refused).clone())));
    }
    if let Err(status) = creation {
        return RefusalClass::Unproved(MissingProof::Creation(status.clone()));
    }
    if let Some(status) = without_proof(evidence, &causes) {
        return RefusalClass::Unproved(MissingProof::Overlay(status));
    }
    if let AddressCheck::Unknown(status) = addresses {
        return RefusalClass::Unproved(MissingProof::Addresses(status.clone()));
    }
    RefusalClass::Immutable(causes)
}

/// Whether a refusal names a field and a reason, so that an immutable field may be the cause of it.
pub fn names_a_field(refused: &Status) -> bool {
    !causes_with_field(refused).is_empty()
}

fn causes_with_field(refused: &Status) -> Vec<Cause> {
    let Rejection::Invalid(mut causes) = refused.rejection() else {
        return Vec::new();
    };
    causes.retain(|it| !it.field.is_empty() && !it.reason.is_empty());
    if refused.message.starts_with(WEBHOOK_PREFIX) { Vec::new() } else { causes }
}

/// Whether a cause is about a field that the body alone decides. A rule of the whole object may depend on
/// its status, and so may a field that the status reports under the same name, such as the size of a
/// claim. A new object has no status yet, so that its acceptance proves nothing for these.
fn is_about_body(cause: &Cause, live: &Value) -> bool {
    let names = names(&cause.field);
    match names.as_slice() {
        [] => false,
        [first, ..] if ["<nil>", "metadata", "status"].contains(first) => false,
        [.., last] => !reports(&live["status"], last),
    }
}

/// The names of a path of the server, without the items of lists.
fn names(field: &str) -> Vec<&str> {
    field.split(['.', '[']).filter(|it| !it.is_empty() && !it.ends_with(']')).collect()
}

/// Whether a map has a field of that name, at any depth. The items of lists, such as conditions, have
/// general names (`type`, `status`), which say nothing.
fn reports(status: &Value, name: &str) -> bool {
    let fields = status.as_object().into_iter().flatten();
    fields.into_iter().any(|(field, value)| field == name || reports(value, name))
}

/// Why the overlay does not prove that a field is immutable, if it does not. A rule of a custom kind may
/// be about a whole map; if the overlay removes a field of others there, another rule of the same map may
/// be the one that refuses the overlay.
fn without_proof(evidence: &Evidence<'_>, causes: &[Cause]) -> Option<Box<Status>> {
    let Some(OverlayResult { answer, removed }) = &evidence.overlay else {
        return Some(Box::default());
    };
    let status = answer.as_ref().err()?;
    let again = causes_with_field(status);
    let is_within = |path: &FieldPath, around: &[&str]| {
        path.names().take(around.len()).eq(around.iter().copied())
    };
    let is_proved = |cause: &Cause| {
        let around = names(&cause.field);
        let may_be_another =
            evidence.is_custom && removed.iter().any(|it| is_within(&it.path, &around));
        again.iter().any(|other| is_same_field(&cause.field, &other.field)) && !may_be_another
    };
    if causes.iter().any(is_proved) { None } else { Some(status.clone()) }
}

/// Whether a new object can be created once the one of its name is deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Recreatable {
    Possible,
    /// Refused as a new object and as a change for the same field: an error in the body.
    Invalid(Box<Status>),
    AddressTaken(Vec<TakenAddress>),
    Unproved(MissingProof),
}

/// Judges the replacement of an object that the user asked for. The new body was sent as a new object and,
/// where that was refused, as a change of the old one.
pub fn recreatable(creation: &DryRun, change: &DryRun, addresses: &AddressCheck) -> Recreatable {
    let possible = match addresses {
        AddressCheck::Taken(taken) => return Recreatable::AddressTaken(taken.clone()),
        AddressCheck::Unknown(status) => {
            Recreatable::Unproved(MissingProof::Addresses(status.clone()))
        }
        AddressCheck::Free => Recreatable::Possible,
    };
    match (creation, change) {
        (Ok(()), _) => possible,
        // The old object has the very values that are refused to a new one.
        (Err(status), Ok(())) if has_a_field(status) => possible,
        (Err(status), Err(other)) if is_same_error(status, other) => {
            Recreatable::Invalid(status.clone())
        }
        (Err(status), _) => Recreatable::Unproved(MissingProof::Creation(status.clone())),
    }
}

fn has_a_field(status: &Status) -> bool {
    status.details.causes.iter().any(|it| !it.field.is_empty())
}

fn is_same_error(creation: &Status, change: &Status) -> bool {
    match (has_a_field(creation), has_a_field(change)) {
        (true, true) => share_a_field(&creation.details.causes, &change.details.causes),
        (false, false) => creation.code != 0 && creation.rejection() == change.rejection(),
        _ => false,
    }
}

fn share_a_field(these: &[Cause], those: &[Cause]) -> bool {
    these.iter().any(|this| those.iter().any(|that| is_same_field(&this.field, &that.field)))
}

/// Whether two causes are about one field. A change is refused on `spec.clusterIPs[0]`, a new object on
/// `spec.clusterIPs`.
fn is_same_field(one: &str, other: &str) -> bool {
    let is_item = |item: &str, list: &str| {
        item.strip_prefix(list)
            .is_some_and(|rest| rest.starts_with('[') && rest.find(']') == Some(rest.len() - 1))
    };
    !one.is_empty() && (one == other || is_item(one, other) || is_item(other, one))
}

#[cfg(test)]
mod tests;
