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

/// How a dry-run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum DryRun {
    Accepted,
    Refused(Box<Status>),
}

impl DryRun {
    fn refusal(&self) -> Option<&Status> {
        match self {
            Self::Accepted => None,
            Self::Refused(status) => Some(status),
        }
    }
}

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
pub enum Verdict {
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
    Unproved(Gap),
}

/// What is missing for the proof that a replacement would help.
#[derive(Clone, Debug, PartialEq)]
pub enum Gap {
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
pub fn classify(evidence: &Evidence<'_>) -> Verdict {
    let Evidence { refused, live, stored_body, creation, overlay, addresses, .. } = evidence;
    let named = causes_with_field(refused);
    let causes: Vec<_> = named.iter().filter(|it| is_about_body(it, live)).cloned().collect();
    let answers = [stored_body.as_ref(), Some(creation), overlay.as_ref().map(|it| &it.answer)];
    let refusals = answers.into_iter().flatten().filter_map(DryRun::refusal);

    if let Some(status) = creation.refusal()
        && share_a_field(&named, &status.details.causes)
    {
        return Verdict::Invalid(status.clone().into());
    }
    if let Some(status) = { refusals }.find(|it| it.tells_nothing()) {
        return Verdict::Unanswered(status.clone().into());
    }
    if !live["metadata"]["deletionTimestamp"].is_null() {
        return Verdict::Terminating;
    }
    if let Some(DryRun::Refused(status)) = stored_body {
        return Verdict::Unproved(Gap::StoredBody(status.clone()));
    }
    if let Some(OverlayResult { answer: DryRun::Accepted, removed }) = overlay {
        return Verdict::Entangled(removed.clone());
    }
    if let AddressCheck::Taken(taken) = addresses {
        return Verdict::AddressTaken(taken.clone());
    }
    if causes.is_empty() {
        return Verdict::Unproved(Gap::NotAboutTheBody);
    }
    if stored_body.is_none() {
        return Verdict::Unproved(Gap::StoredBody(Box::new((*refused).clone())));
    }
    if let Some(status) = creation.refusal() {
        return Verdict::Unproved(Gap::Creation(status.clone().into()));
    }
    if let Some(status) = without_proof(evidence, &causes) {
        return Verdict::Unproved(Gap::Overlay(status.into()));
    }
    if let AddressCheck::Unknown(status) = addresses {
        return Verdict::Unproved(Gap::Addresses(status.clone()));
    }
    Verdict::Immutable(causes)
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
fn without_proof(evidence: &Evidence<'_>, causes: &[Cause]) -> Option<Status> {
    let Some(OverlayResult { answer, removed }) = &evidence.overlay else {
        return Some(Status::default());
    };
    let status = answer.refusal()?;
    let again = causes_with_field(status);
    let is_same = |it: &&Cause| again.iter().any(|other| is_same_field(&it.field, &other.field));
    let removes_within = |cause: &Cause| {
        let around = names(&cause.field);
        let is_within =
            |path: &FieldPath| path.names().take(around.len()).eq(around.iter().copied());
        removed.iter().any(|field| is_within(&field.path))
    };
    let proves = |it: &Cause| !(evidence.is_custom && removes_within(it));
    let is_proved = causes.iter().filter(is_same).any(proves);
    if is_proved { None } else { Some(status.clone()) }
}

/// Whether a new object can be created once the one of its name is deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Succession {
    Possible,
    /// Refused as a new object and as a change for the same field: an error in the body.
    Invalid(Box<Status>),
    AddressTaken(Vec<TakenAddress>),
    Unproved(Gap),
}

/// Judges the replacement of an object that the user asked for. The new body was sent as a new object and,
/// where that was refused, as a change of the old one.
pub fn succession(creation: &DryRun, change: &DryRun, addresses: &AddressCheck) -> Succession {
    let possible = match addresses {
        AddressCheck::Taken(taken) => return Succession::AddressTaken(taken.clone()),
        AddressCheck::Unknown(status) => Succession::Unproved(Gap::Addresses(status.clone())),
        AddressCheck::Free => Succession::Possible,
    };
    match (creation, change) {
        (DryRun::Accepted, _) => possible,
        // The old object has the very values that are refused to a new one.
        (DryRun::Refused(status), DryRun::Accepted) if has_a_field(status) => possible,
        (DryRun::Refused(status), DryRun::Refused(other)) if is_same_error(status, other) => {
            Succession::Invalid(status.clone())
        }
        (DryRun::Refused(status), _) => Succession::Unproved(Gap::Creation(status.clone())),
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
