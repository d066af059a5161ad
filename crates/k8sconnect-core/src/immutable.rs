//! Whether a refused change is one that the object can never take, so that it must be replaced.
//!
//! A replacement destroys something. It is planned only on proof, in four steps: the update was
//! refused with a cause that names a field; the body as it was before is *not* refused, so that the
//! change is to blame; the new body is accepted as a creation, so that a replacement would succeed;
//! and it is refused for the same when it is laid over the object (see `overwrite`), so
//! that nothing which others hold is to blame. There is no list of fields or kinds, and no text is
//! matched, save the one by which a webhook's refusal is known: webhooks hand causes of their own
//! through, which prove nothing; and the word by which a refusal speaks of the `status`, which a
//! creation has none of.

mod probe;
mod rules;
mod words;

use serde_json::Value;

use crate::field::walk::{at_written, step};
use crate::field::{FieldPath, PathElement};
use crate::rejection::{Cause, Rejection, Status};

pub use probe::Probe;
pub use rules::{Sight, sight};
pub use words::names_status;

/// How a webhook's refusal begins.
const WEBHOOK: &str = "admission webhook \"";

/// The reason of a cause that is about the type of a value.
const WRONG_TYPE: &str = "FieldValueTypeInvalid";

/// What a refused update may be about.
#[derive(Clone, Debug, PartialEq)]
pub enum Suspicion {
    /// Not about a field that cannot change.
    None,
    /// Perhaps about these.
    Fields(Vec<Cause>),
    /// About what is reported of the object, which no body says.
    Reported(Vec<Cause>),
    /// About a map or a list that was emptied. The server makes null of it, and then refuses the
    /// null.
    Emptied(Cause, Emptying),
}

/// How a map or a list came to be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emptying {
    /// It is written without anything in it.
    Written,
    /// It is not written any more, and somebody else holds it without holding anything in it.
    LeftOut,
}

/// Looks at a refusal, and at the body that was refused.
pub fn suspects(refused: &Status, body: &Value) -> Suspicion {
    let Rejection::Invalid(causes) = refused.rejection() else {
        return Suspicion::None;
    };
    if is_of_webhook(refused) {
        return Suspicion::None;
    }
    let named: Vec<_> = causes
        .into_iter()
        .filter(|cause| !cause.field.is_empty() && !cause.reason.is_empty())
        .collect();
    let emptied = |cause: &Cause| {
        let path = cause.field.parse::<FieldPath>().ok()?;
        let is_of_wrong_type = cause.reason == WRONG_TYPE;
        match at_written(body, &path) {
            Some(Value::Object(map)) if map.is_empty() => Some(Emptying::Written),
            Some(Value::Array(list)) if list.is_empty() && is_of_wrong_type => {
                Some(Emptying::Written)
            }
            // The server does not tell a dot in a key from a step.
            None if is_of_wrong_type && has_empty_at(body, &cause.field) => Some(Emptying::Written),
            // The place of an item is another on the object than in the body.
            None if is_of_wrong_type && has_null_at(body, path.elements()) => None,
            // What is not sent can be of a wrong type only by what the server makes of it.
            None if is_of_wrong_type => Some(Emptying::LeftOut),
            _ => None,
        }
    };
    match named.iter().find_map(|cause| Some((cause, emptied(cause)?))) {
        Some((cause, how)) => Suspicion::Emptied(cause.clone(), how),
        None if named.is_empty() => Suspicion::None,
        None => {
            let (reported, fields): (Vec<_>, Vec<_>) =
                named.into_iter().partition(words::is_reported);
            if fields.is_empty() {
                Suspicion::Reported(reported)
            } else {
                Suspicion::Fields(fields)
            }
        }
    }
}

/// Whether an empty map or list is at the end of names that come to this text.
fn has_empty_at(body: &Value, text: &str) -> bool {
    match body {
        Value::Array(list) => text.is_empty() && list.is_empty(),
        Value::Object(map) if text.is_empty() => map.is_empty(),
        Value::Object(map) => map.iter().any(|(name, inner)| {
            let rest = text.strip_prefix(name.as_str());
            let rest = rest.and_then(|rest| match rest {
                "" => Some(""),
                rest => rest.strip_prefix('.'),
            });
            rest.is_some_and(|rest| has_empty_at(inner, rest))
        }),
        _ => false,
    }
}

/// Whether a null is written there, in whichever items.
fn has_null_at(body: &Value, path: &[PathElement]) -> bool {
    match (path.split_first(), body) {
        (None, value) => value.is_null(),
        (Some((PathElement::Field(_), _)), Value::Array(_)) => false,
        (Some((_, rest)), Value::Array(items)) => items.iter().any(|item| has_null_at(item, rest)),
        (Some((element, rest)), value) => {
            step(value, element).is_some_and(|inner| has_null_at(inner, rest))
        }
    }
}

fn is_of_webhook(refused: &Status) -> bool {
    refused.message.starts_with(WEBHOOK)
}

/// How a dry-run on the way to the proof ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Trial {
    Accepted,
    Refused(Box<Status>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// These fields cannot change; the object must be made anew.
    Immutable(Vec<Cause>),
    /// A creation is refused for the same, in these words: the user's mistake.
    Invalid(Box<Status>),
    /// It cannot be told; this is what stood in the way of the proof.
    Unproved(Box<Status>),
}

/// Judges the change by what became of the former body, and of the new one as a creation. What a
/// creation is refused for as well, the user has to mend, whatever became of the former body.
pub fn judge(suspects: Vec<Cause>, former: &Trial, creation: &Trial) -> Verdict {
    match (former, creation) {
        (_, Trial::Refused(status)) if share_a_field(&suspects, &status.details.causes) => {
            Verdict::Invalid(status.clone())
        }
        (Trial::Refused(status), _) | (_, Trial::Refused(status)) => {
            Verdict::Unproved(status.clone())
        }
        (Trial::Accepted, Trial::Accepted) => Verdict::Immutable(suspects),
    }
}

/// What it tells that a body was tried once more without what others hold.
#[derive(Clone, Debug, PartialEq)]
pub enum LaidOver {
    /// The object can take it: nothing in it is immutable.
    Taken,
    /// It is refused for the same all the same.
    Refused,
    /// It is refused for something else, so that nothing is known of what it was refused for.
    Untold(Box<Status>),
}

pub fn laid_over(suspects: &[Cause], trial: &Trial) -> LaidOver {
    match trial {
        Trial::Accepted => LaidOver::Taken,
        Trial::Refused(status) => match status.rejection() {
            Rejection::Invalid(causes)
                if !is_of_webhook(status) && words::agree(suspects, &causes) =>
            {
                LaidOver::Refused
            }
            _ => LaidOver::Untold(status.clone()),
        },
    }
}

/// Judges a creation that was refused for something else than the change, by what became of the
/// former body as a creation. What that one may have beside the object, the object does not keep
/// from anybody: the change is to blame.
pub fn judge_creation(creation: &Trial, former_creation: &Trial) -> Option<Verdict> {
    match (creation, former_creation) {
        (Trial::Refused(status), Trial::Accepted) if names_a_field(status) => {
            Some(Verdict::Invalid(status.clone()))
        }
        _ => None,
    }
}

/// Whether an object can be made anew once the one that bears its name is gone.
#[derive(Clone, Debug, PartialEq)]
pub enum Succession {
    Possible,
    /// Refused as a creation and as a change for the same: the user's mistake.
    Invalid(Box<Status>),
    /// It cannot be told: what stands in the way may go with the old object, or not.
    Unproved(Box<Status>),
}

/// Judges it by what became of the new body as a creation beside the old object, and of the same
/// body as a change of it. What the old object holds, such as a port, it may keep in a change.
pub fn succession(creation: &Trial, change: &Trial) -> Succession {
    let Trial::Refused(status) = creation else {
        return Succession::Possible;
    };
    match change {
        // The very values that stood in the way are fine where they are: it holds them itself.
        Trial::Accepted if names_a_field(status) => Succession::Possible,
        Trial::Refused(other) if is_same_mistake(status, other) => {
            Succession::Invalid(status.clone())
        }
        _ => Succession::Unproved(status.clone()),
    }
}

fn names_a_field(status: &Status) -> bool {
    status.details.causes.iter().any(|it| !it.field.is_empty())
}

fn is_same_mistake(creation: &Status, change: &Status) -> bool {
    match (names_a_field(creation), names_a_field(change)) {
        (true, true) => share_a_field(&creation.details.causes, &change.details.causes),
        (false, false) => creation.code != 0 && creation.rejection() == change.rejection(),
        _ => false,
    }
}

fn share_a_field(these: &[Cause], those: &[Cause]) -> bool {
    these.iter().any(|this| those.iter().any(|that| is_same_field(&this.field, &that.field)))
}

/// Whether two causes are about one field. What one cause says of an item, another may say of its
/// list: a change names `spec.clusterIPs[0]`, a creation `spec.clusterIPs`.
fn is_same_field(one: &str, other: &str) -> bool {
    let is_item = |item: &str, list: &str| {
        item.strip_prefix(list)
            .is_some_and(|rest| rest.starts_with('[') && rest.find(']') == Some(rest.len() - 1))
    };
    !one.is_empty() && (one == other || is_item(one, other) || is_item(other, one))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rejection::Details;

    fn cause(field: &str, reason: &str) -> Cause {
        Cause { reason: reason.into(), message: "field is immutable".into(), field: field.into() }
    }

    fn refused(message: &str, causes: &[Cause]) -> Status {
        let details = Details { causes: causes.to_vec(), ..Details::default() };
        Status { code: 422, message: message.into(), details, ..Status::default() }
    }

    fn selector() -> Vec<Cause> {
        vec![cause("spec.selector", "FieldValueInvalid")]
    }

    #[test]
    fn a_policy_and_a_webhook_prove_nothing() {
        let body = json!({});
        assert_eq!(suspects(&refused("invalid", &[cause("", "")]), &body), Suspicion::None);
        let webhook = refused("admission webhook \"x\" denied the request: no", &selector());
        assert_eq!(suspects(&webhook, &body), Suspicion::None);
        let invalid = refused("Deployment is invalid", &selector());
        assert_eq!(suspects(&invalid, &body), Suspicion::Fields(selector()));
    }

    #[test]
    fn what_is_reported_of_an_object_proves_nothing_of_its_body() {
        let stored = cause("status.storedVersions[0]", "FieldValueInvalid");
        let told = refused("must remain in spec.versions", std::slice::from_ref(&stored));
        let body = json!({"spec": {"versions": []}});
        assert_eq!(suspects(&told, &body), Suspicion::Reported(vec![stored.clone()]));
        let both = refused("invalid", &[stored, selector().remove(0)]);
        assert_eq!(suspects(&both, &body), Suspicion::Fields(selector()));
    }

    #[test]
    fn what_the_object_takes_without_the_fields_of_others_is_not_immutable() {
        let over = |status: Status| laid_over(&selector(), &Trial::Refused(Box::new(status)));
        assert_eq!(laid_over(&selector(), &Trial::Accepted), LaidOver::Taken);
        assert_eq!(over(refused("invalid", &selector())), LaidOver::Refused);
        // Refused for another field, it might take what it was refused for first.
        let other = refused("invalid", &[cause("spec.once", "FieldValueInvalid")]);
        assert!(matches!(over(other), LaidOver::Untold(_)));
        // A policy is asked only once the fields are fine.
        let policy = refused("ValidatingAdmissionPolicy denied", &[cause("", "")]);
        assert!(matches!(over(policy), LaidOver::Untold(_)));
    }

    #[test]
    fn a_map_that_was_emptied_is_no_immutable_field() {
        let null = refused("spec.labels must be of type object", &[cause("spec.labels", "x")]);
        let body = json!({"spec": {"labels": {}}});
        let emptied = Suspicion::Emptied(cause("spec.labels", "x"), Emptying::Written);
        assert_eq!(suspects(&null, &body), emptied);
    }

    #[test]
    fn a_list_that_was_emptied_is_no_immutable_field() {
        for (field, lists) in [
            ("spec.lists.c", json!({"c": []})),
            ("spec.lists.c.d", json!({"c.d": []})),
            ("spec.lists.c.d", json!({"c": 1, "c.d": {}})),
        ] {
            let null = cause(field, "FieldValueTypeInvalid");
            let refused = refused("must be of type array", std::slice::from_ref(&null));
            let emptied = Suspicion::Emptied(null, Emptying::Written);
            assert_eq!(suspects(&refused, &json!({"spec": {"lists": lists}})), emptied, "{lists}");
        }
        let few =
            refused("should have at least 1 items", &[cause("spec.list", "FieldValueInvalid")]);
        let suspicion = suspects(&few, &json!({"spec": {"list": []}}));
        assert!(matches!(suspicion, Suspicion::Fields(_)), "{suspicion:?}");
    }

    #[test]
    fn a_map_that_others_leave_empty_is_no_immutable_field() {
        let null = cause("spec.labels", "FieldValueTypeInvalid");
        let unchecked = cause("<nil>", "FieldValueInvalid");
        let refused = refused("spec.labels must be of type object", &[null.clone(), unchecked]);
        let emptied = Suspicion::Emptied(null, Emptying::LeftOut);
        assert_eq!(suspects(&refused, &json!({"spec": {"area": 5}})), emptied);
    }

    #[test]
    fn a_null_in_an_item_is_the_users_own_wherever_the_item_stands_on_the_object() {
        let null = cause("spec.items[2].v", "FieldValueTypeInvalid");
        let refused = refused("must be of type string", &[null]);
        let body = json!({"spec": {"items": [{"name": "a", "v": null}]}});
        let suspicion = suspects(&refused, &body);
        assert!(matches!(suspicion, Suspicion::Fields(_)), "{suspicion:?}");
    }

    #[test]
    fn accepted_as_a_creation_it_is_immutable() {
        let verdict = judge(selector(), &Trial::Accepted, &Trial::Accepted);
        assert_eq!(verdict, Verdict::Immutable(selector()));
    }

    #[test]
    fn refused_as_a_creation_for_the_same_it_is_a_mistake() {
        let no = Box::new(refused("no", &selector()));
        let creation = Trial::Refused(no.clone());
        assert_eq!(judge(selector(), &Trial::Accepted, &creation), Verdict::Invalid(no));
    }

    #[test]
    fn an_item_and_its_list_are_one_field() {
        let suspects = vec![cause("spec.clusterIPs[0]", "FieldValueInvalid")];
        let list = refused("not in the range", &[cause("spec.clusterIPs", "FieldValueInvalid")]);
        let creation = Trial::Refused(Box::new(list));
        let verdict = judge(suspects, &Trial::Accepted, &creation);
        assert!(matches!(verdict, Verdict::Invalid(_)), "{verdict:?}");
        assert!(!is_same_field("spec.ports[0].port", "spec.ports"));
        assert!(!is_same_field("", ""));
    }

    #[test]
    fn a_successor_is_refused_only_for_what_the_old_object_would_be_refused_for_too() {
        let on = |fields: &[&str]| {
            let causes: Vec<_> = fields.iter().map(|field| cause(field, "x")).collect();
            Trial::Refused(Box::new(refused("no", &causes)))
        };
        let port = "spec.ports[0].port";
        assert_eq!(succession(&Trial::Accepted, &on(&[port])), Succession::Possible);
        let mistake = succession(&on(&[port]), &on(&["spec.clusterIP", port]));
        assert!(matches!(mistake, Succession::Invalid(_)), "{mistake:?}");
        let held = on(&["spec.ports[0].nodePort"]);
        assert_eq!(succession(&held, &Trial::Accepted), Succession::Possible);
        for change in [on(&["spec.clusterIP"]), on(&[])] {
            let untold = succession(&held, &change);
            assert!(matches!(untold, Succession::Unproved(_)), "{untold:?}");
        }
        let policy = Trial::Refused(Box::new(Status { code: 403, ..Status::default() }));
        assert!(matches!(succession(&policy, &policy), Succession::Invalid(_)));
        assert!(matches!(succession(&policy, &Trial::Accepted), Succession::Unproved(_)));
        let silence = Trial::Refused(Box::default());
        assert!(matches!(succession(&silence, &silence), Succession::Unproved(_)));
    }

    #[test]
    fn refused_as_a_creation_for_something_else_nothing_is_proved() {
        let other = refused("no", &[cause("spec.ports[0].nodePort", "FieldValueInvalid")]);
        let creation = Trial::Refused(Box::new(other.clone()));
        let verdict = judge(selector(), &Trial::Accepted, &creation);
        assert_eq!(verdict, Verdict::Unproved(Box::new(other)));
    }

    #[test]
    fn what_the_former_body_could_have_beside_the_object_is_not_held_by_it() {
        let refused = |field| Trial::Refused(Box::new(refused("no", &[cause(field, "x")])));
        let address = refused("spec.clusterIPs");
        let mistake = judge_creation(&address, &Trial::Accepted);
        assert!(matches!(mistake, Some(Verdict::Invalid(_))), "{mistake:?}");
        assert_eq!(judge_creation(&address, &refused("spec.ports[0].nodePort")), None);
        let quota = Trial::Refused(Box::new(Status { code: 403, ..Status::default() }));
        assert_eq!(judge_creation(&quota, &Trial::Accepted), None);
        assert_eq!(judge_creation(&Trial::Accepted, &Trial::Accepted), None);
    }

    #[test]
    fn a_former_body_that_is_refused_as_well_proves_nothing() {
        let former = Trial::Refused(Box::new(refused("no", &selector())));
        let verdict = judge(selector(), &former, &Trial::Accepted);
        assert!(matches!(verdict, Verdict::Unproved(_)));
        // A mistake of long standing is one nevertheless.
        let verdict = judge(selector(), &former, &former);
        assert!(matches!(verdict, Verdict::Invalid(_)));
    }
}
