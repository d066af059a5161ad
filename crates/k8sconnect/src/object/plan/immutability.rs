//! Whether an object whose update was refused must be replaced, and whether it can be created again.
//!
//! All dry-runs are sent first. The core classifies their answers, and `messages` words the result.

use k8sconnect_cluster::{Detail, Error, Location, NotYet, Observation, Selection, Within};
use k8sconnect_core::changed;
use k8sconnect_core::field::FieldPath;
use k8sconnect_core::identity::ID_ANNOTATION;
use k8sconnect_core::immutability::{
    self, DryRun, Evidence, OverlayResult, Recreatable, RefusalClass,
};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::{Guard, Outgoing};
use k8sconnect_core::overlay::Overlay;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::probe_name::ProbeName;
use k8sconnect_core::rejection::Status;
use k8sconnect_core::service_addresses::{AddressCheck, ServiceAddresses};
use serde_json::{Value as Json, json};
use tfplugin::{Diagnostic, Diagnostics};

use super::Asked;
use crate::messages::refusal::{self, Subject};
use crate::messages::replacement;
use crate::object::held::Held;
use crate::plan_ledger::Fact;
use crate::resource::live::uid_of;
use crate::{MANAGER, messages};

/// What follows from the refusal of an update.
pub(super) enum Refusal {
    /// The object must be replaced; the warning that says so.
    Replace(Diagnostic),
    Error(Diagnostics),
}

/// An update that was sent as a dry-run.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) location: &'a Location,
    pub(super) live: &'a Json,
    /// The body that was sent.
    pub(super) content: &'a Json,
}

/// Decides what follows from a refused update.
pub(super) async fn classify_refusal(
    asked: &Asked<'_>,
    held: &Held,
    attempt: Attempt<'_>,
    refused: &Status,
) -> Result<Refusal, Diagnostics> {
    let subject = Subject { manifest: asked.desired, former: Some(attempt.live) };
    let error = |diagnostic: Diagnostic| Ok(Refusal::Error(diagnostic.into()));
    if !immutability::names_a_field(refused) {
        return error(refusal::refused(subject, refused));
    }
    let evidence = observe(asked, held, attempt, refused).await?;
    error(match immutability::classify(&evidence) {
        RefusalClass::Immutable(causes) => {
            asked.session.ledger.note(Fact::Replaceable(held.uid().to_owned()));
            let changed = changed(held, asked.desired, attempt);
            let warning = replacement::immutable(subject, refused, &causes, &changed);
            return Ok(Refusal::Replace(warning));
        }
        RefusalClass::Invalid(status) | RefusalClass::Unanswered(status) => {
            refusal::refused(subject, &status)
        }
        // The plan warns of the deletion already.
        RefusalClass::Terminating => refusal::refused(subject, refused),
        RefusalClass::Entangled(fields) => replacement::entangled(subject, refused, &fields),
        RefusalClass::AddressTaken(taken) => replacement::address_taken(subject, &taken),
        RefusalClass::Unproved(missing) => replacement::unproved(subject, refused, &missing),
    })
}

/// Sends all dry-runs that the proof needs.
async fn observe<'a>(
    asked: &Asked<'_>,
    held: &Held,
    attempt: Attempt<'a>,
    refused: &'a Status,
) -> Result<Evidence<'a>, Diagnostics> {
    let Attempt { location, live, content } = attempt;
    let unreadable = |error| messages::object::ownership_unreadable(asked.key(), &error);
    let is_same = asked.desired.is_same_body(&held.manifest) && asked.terms.ignores_as(&held.terms);
    let (before, stored_body) = match is_same {
        // The user changed nothing, so all of the body is compared with what others changed.
        true => (json!({"metadata": {}}), None),
        false => {
            let former = held.planner().former_content(held.prior(), Some(live));
            let former = former.map_err(unreadable)?.unwrap_or_default();
            let guard = Guard::Uid(held.uid());
            let observed = asked.observe(location, former.clone(), Some(held.id()), guard).await?;
            (former, Some(dry_run(observed)))
        }
    };
    let creation = creation(asked, location).await?;
    let overlay = match Overlay::of(live, &before, content) {
        Some(overlay) => {
            let (cluster, uid) = (asked.cluster(), uid_of(live));
            let observed = cluster.observe_over(location, MANAGER, uid, &overlay.operations).await;
            let observed = observed.map_err(|error| refusal::not_taken(asked.desired, &error))?;
            let removed = overlay.removed(live, content, MANAGER).map_err(unreadable)?;
            Some(OverlayResult { answer: dry_run(observed), removed })
        }
        None => None,
    };
    let addresses = addresses(asked, location, live, |it| uid_of(it) == uid_of(live)).await?;
    let is_custom = location.kind.gvk.may_still_appear();
    Ok(Evidence { refused, live, is_custom, stored_body, creation, overlay, addresses })
}

/// What the user changed in the body, by the paths of the object's own managers. A body that is never
/// stored is not known afterwards. A cluster-scoped kind has no namespace.
fn changed(held: &Held, desired: &Manifest, attempt: Attempt<'_>) -> Vec<FieldPath> {
    if !desired.is_stored() || !held.manifest.is_stored() {
        return Vec::new();
    }
    let fields = Owners::of_object(attempt.live).unwrap_or_default().applied_by(MANAGER);
    let mut changed = changed::changed(held.manifest.value(), desired.value(), &fields);
    let namespace = FieldPath::fields(["metadata", "namespace"]);
    changed.retain(|path| attempt.location.namespace.is_some() || *path != namespace);
    changed
}

/// Whether an object of ours that is to be deleted first can be created again: a tainted one, one that
/// `-replace` names, or one whose apiVersion changes. A body that is certain to be refused afterwards must
/// not cost the object.
pub(super) async fn succession(
    asked: &Asked<'_>,
    location: &Location,
    live: &Json,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let uid = uid_of(live);
    if asked.session.ledger.knows(&Fact::Replaceable(uid.to_owned())) {
        return Ok(());
    }
    let creation = creation(asked, location).await?;
    let change = match &creation {
        Ok(()) => Ok(()),
        Err(_) => {
            let content = asked.desired.as_applied().into_owned();
            dry_run(asked.observe(location, content, None, Guard::Uid(uid)).await?)
        }
    };
    let addresses = addresses(asked, location, live, |it| uid_of(it) == uid).await?;
    let subject = Subject { manifest: asked.desired, former: Some(live) };
    report(subject, immutability::recreatable(&creation, &change, &addresses), notices)
}

/// The same for a successor of another name, as far as a dry-run of its creation does not show it.
pub(super) async fn successor_addresses(
    asked: &Asked<'_>,
    location: &Location,
    predecessor: &str,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let is_replaced = |it: &Json| it["metadata"]["annotations"][ID_ANNOTATION] == predecessor;
    let addresses = addresses(asked, location, &Json::Null, is_replaced).await?;
    let recreatable = immutability::recreatable(&Ok(()), &Ok(()), &addresses);
    report(asked.desired.into(), recreatable, notices)
}

fn report(
    subject: Subject<'_>,
    recreatable: Recreatable,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    match recreatable {
        Recreatable::Possible => Ok(()),
        Recreatable::Invalid(status) => Err(replacement::no_successor(subject, &status).into()),
        Recreatable::AddressTaken(taken) => Err(replacement::address_taken(subject, &taken).into()),
        Recreatable::Unproved(missing) => {
            notices.push(replacement::successor_unproved(subject, &missing));
            Ok(())
        }
    }
}

/// Sends the body as a new object of its own name.
async fn creation(asked: &Asked<'_>, location: &Location) -> Result<DryRun, Diagnostics> {
    let content = asked.desired.as_applied().into_owned();
    let namespace = location.namespace.as_deref();
    let mut body = Outgoing { content, namespace, id: None, guard: Guard::Absent }.body();
    // A POST can have no resourceVersion, and needs none: it creates or fails.
    if let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    let refused = asked.cluster().observe_creation(location, MANAGER, body).await;
    let refused = refused.map_err(|error| refusal::not_taken(asked.desired, &error))?;
    Ok(refused.map_or(Ok(()), Err))
}

/// Compares the addresses that a Service asks for with those of all others, which no dry-run does.
async fn addresses(
    asked: &Asked<'_>,
    location: &Location,
    live: &Json,
    is_replaced: impl Fn(&Json) -> bool,
) -> Result<AddressCheck, Diagnostics> {
    let kind = &location.kind;
    let body = asked.desired.value();
    let Some(requested) = ServiceAddresses::requested(&kind.gvk, body, live) else {
        return Ok(AddressCheck::Free);
    };
    let all = (Within::Everywhere, Selection::default(), Detail::Full);
    match asked.cluster().list(kind, all.0, all.1, all.2).await {
        Ok(services) => Ok(requested.check(&services.items, is_replaced)),
        Err(Error::Refused(status)) => Ok(AddressCheck::Unknown(status)),
        Err(error) => Err(refusal::not_taken(asked.desired, &error).into()),
    }
}

/// What the server would make of a body as a new object, if it accepted it: under a name that no object
/// has, because the answer to a creation under its own name has no object.
pub(super) async fn made_beside(
    asked: &Asked<'_>,
    location: &Location,
    body: &Json,
) -> Result<Option<Json>, Diagnostics> {
    let probe = ProbeName::new(&uuid::Uuid::new_v4().simple().to_string()[..8]);
    let body = probe.rename(body, asked.desired.gvk());
    let mut elsewhere = location.clone();
    elsewhere.name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    Ok(match asked.observe(&elsewhere, body, None, Guard::Absent).await? {
        Observation::Answered(answer) => Some(answer.object),
        _ => None,
    })
}

fn dry_run(observation: Observation) -> DryRun {
    match observation {
        Observation::Answered(_) => Ok(()),
        Observation::Refused(status)
        | Observation::NotYet(NotYet::NamespaceGoing { status, .. } | NotYet::Webhook { status }) => {
            Err(status)
        }
        Observation::NotYet(_) | Observation::Exists(_) => Err(Box::default()),
    }
}
