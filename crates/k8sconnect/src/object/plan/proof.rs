//! A change was refused: is it one that the object can never take?

use k8sconnect_cluster::{Location, NotYet, Observation};
use k8sconnect_core::changed;
use k8sconnect_core::field::{FieldPath, PathElement};
use k8sconnect_core::immutable::{
    self, LaidOver, Probe, Sight, Succession, Suspicion, Trial, Verdict,
};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::Guard;
use k8sconnect_core::overwrite::{Overwrite, Reach};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::rejection::{Cause, Status};
use serde_json::Value as Json;
use tfplugin::{Diagnostic, Diagnostics};

use super::Asked;
use crate::messages::refusal::Subject;
use crate::messages::replacement::{Obstacles, Tried};
use crate::object::held::Held;
use crate::plan_ledger::Fact;
use crate::{MANAGER, messages};

/// What follows from the refusal of a change.
pub(super) enum Refusal {
    /// The object must be replaced; the warning that says so.
    Replace(Diagnostic),
    Error(Diagnostics),
}

/// A change that was refused.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) location: &'a Location,
    pub(super) live: &'a Json,
    /// What was sent.
    pub(super) content: &'a Json,
}

/// Tries the former body on the object, the new one beside it, and the new one laid over it.
pub(super) async fn weigh(
    asked: &Asked<'_>,
    held: &Held,
    attempt: Attempt<'_>,
    refused: &Status,
) -> Result<Refusal, Diagnostics> {
    let Attempt { location, live, .. } = attempt;
    let desired = asked.desired;
    let subject = Subject { manifest: desired, former: Some(live) };
    let error = |diagnostic: Diagnostic| Ok(Refusal::Error(diagnostic.into()));
    let suspects = match immutable::suspects(refused, desired.value()) {
        Suspicion::Fields(causes) => causes,
        Suspicion::None => return error(messages::refusal::refused(subject, refused)),
        Suspicion::Reported(causes) => {
            return error(messages::refusal::reported(subject, refused, &causes));
        }
        Suspicion::Emptied(cause, how) => {
            return error(messages::refusal::emptied(subject, refused, &cause, how));
        }
    };
    let change = Wanted::of(asked, held);
    if change == Wanted::TheSame {
        // Somebody else's change is to blame, and perhaps just what they hold beside.
        let over = lay_over(asked, attempt, attempt.content, &suspects).await?;
        return error(match over {
            Over::Taken(obstacles) => {
                messages::replacement::entangled(subject, refused, &obstacles)
            }
            Over::Refused | Over::Untold(_) => messages::refusal::refused(subject, refused),
        });
    }
    let former = held
        .planner()
        .former_content(held.prior(), Some(live))
        .map_err(|error| messages::object::ownership_unreadable(asked.key(), &error))?
        .unwrap_or_default();
    let going = !live["metadata"]["deletionTimestamp"].is_null();
    let as_before = match going {
        // It takes no more of some things from anybody, so that nothing is proved by what it
        // refuses. Only a mistake is worth telling apart.
        true => Trial::Accepted,
        false => {
            let guard = Guard::Uid(held.uid());
            trial(asked.observe(location, former.clone(), Some(held.id()), guard).await?)
        }
    };
    let creation = beside(asked, location, &asked.desired.as_applied()).await?;
    let verdict = immutable::judge(suspects.clone(), &as_before, &creation);
    if let Verdict::Invalid(status) = &verdict {
        return error(messages::refusal::refused(subject, status));
    }
    if going {
        return error(messages::replacement::going(subject, refused));
    }
    let over = match as_before {
        Trial::Accepted => lay_over(asked, attempt, &former, &suspects).await?,
        Trial::Refused(_) => Over::Refused,
    };
    let verdict = match (&as_before, verdict) {
        (Trial::Accepted, Verdict::Unproved(obstacle)) => {
            let control = beside(asked, location, &former).await?;
            let told = immutable::judge_creation(&creation, &control);
            told.unwrap_or(Verdict::Unproved(obstacle))
        }
        (_, verdict) => verdict,
    };
    match (over, verdict) {
        (Over::Taken(obstacles), _) => {
            error(messages::replacement::entangled(subject, refused, &obstacles))
        }
        (Over::Refused, Verdict::Immutable(causes))
            if sight(asked, attempt, &causes).await? == Sight::More =>
        {
            error(messages::replacement::sees_more(subject, refused))
        }
        (Over::Refused, Verdict::Immutable(causes)) => {
            asked.session.ledger.note(Fact::Replaceable(held.uid().to_owned()));
            // Of a body that is never stored, the former is not known.
            let changed = match desired.is_stored() && held.manifest.is_stored() {
                true => changed(held, desired, location, Some(live)),
                false => Vec::new(),
            };
            let warning = match change {
                Wanted::LessIgnored => {
                    messages::replacement::ignored_no_more(subject, refused, &causes)
                }
                _ => messages::replacement::immutable(subject, refused, &causes, &changed),
            };
            Ok(Refusal::Replace(warning))
        }
        // A server that failed says nothing of the object, and nobody should delete it for that.
        (Over::Untold(obstacle), _) | (_, Verdict::Unproved(obstacle))
            if obstacle.tells_nothing() =>
        {
            error(messages::refusal::refused(subject, &obstacle))
        }
        (_, Verdict::Unproved(obstacle)) => {
            error(messages::replacement::unproved(subject, refused, &obstacle, Tried::Beside))
        }
        (Over::Untold(obstacle), _) => {
            error(messages::replacement::unproved(subject, refused, &obstacle, Tried::Over))
        }
        (_, Verdict::Invalid(status)) => error(messages::refusal::refused(subject, &status)),
    }
}

/// What is asked of an object beyond what it was asked before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Nothing: it is to be again what it was.
    TheSame,
    Another,
    /// The same body, of which less is left to others.
    LessIgnored,
}

impl Wanted {
    fn of(asked: &Asked<'_>, held: &Held) -> Self {
        match asked.desired.is_same_body(&held.manifest) {
            false => Self::Another,
            true if asked.terms.ignores_as(&held.terms) => Self::TheSame,
            true => Self::LessIgnored,
        }
    }
}

/// What became of a body that was laid over the object.
enum Over {
    /// The object takes it, without these.
    Taken(Obstacles),
    Refused,
    Untold(Box<Status>),
}

/// Tries the body without what others hold in it: first only where it changes, since of the rest
/// there may be what nobody can take away, then as a whole, since what is in the way may be
/// elsewhere.
async fn lay_over(
    asked: &Asked<'_>,
    attempt: Attempt<'_>,
    before: &Json,
    suspects: &[Cause],
) -> Result<Over, Diagnostics> {
    let Attempt { location, live, content } = attempt;
    let uid = live["metadata"]["uid"].as_str().unwrap_or_default();
    let mut attempts: Vec<_> = [Reach::Near, Reach::Whole]
        .into_iter()
        .filter_map(|reach| Overwrite::of(live, before, content, reach))
        .collect();
    attempts.dedup();
    let mut over = Over::Refused;
    for attempt in attempts {
        let observed =
            asked.cluster().observe_over(location, MANAGER, uid, &attempt.operations).await;
        let observed =
            observed.map_err(|error| messages::refusal::not_taken(asked.desired, &error))?;
        let after = match &observed {
            Observation::Answered(answer) => Some(answer.object.clone()),
            _ => None,
        };
        match (immutable::laid_over(suspects, &trial(observed)), after) {
            (LaidOver::Taken, after) => {
                let after = after.unwrap_or_default();
                let clearing = attempt
                    .clearing(live, [content, &after], MANAGER, suspects)
                    .map_err(|error| messages::object::ownership_unreadable(asked.key(), &error))?;
                return Ok(Over::Taken(Obstacles { clearing, operations: attempt.operations }));
            }
            (LaidOver::Refused, _) => {}
            (LaidOver::Untold(status), _) => over = Over::Untold(status),
        }
    }
    Ok(over)
}

/// What the rules see that refused the change. Only custom kinds have such as can be read.
async fn sight(
    asked: &Asked<'_>,
    attempt: Attempt<'_>,
    causes: &[Cause],
) -> Result<Sight, Diagnostics> {
    let Attempt { location, live, .. } = attempt;
    if !location.kind.gvk.may_still_appear() {
        return Ok(Sight::Body);
    }
    let schema = asked.cluster().schema(&location.kind).await;
    let schema = schema.map_err(|error| messages::refusal::not_taken(asked.desired, &error))?;
    Ok(immutable::sight(causes, schema.as_ref(), live))
}

/// What the user changed, as the object's own managers name it. A namespace means nothing to a kind
/// that has none.
fn changed(
    held: &Held,
    desired: &Manifest,
    location: &Location,
    live: Option<&Json>,
) -> Vec<FieldPath> {
    let owners = live.and_then(|live| Owners::of_object(live).ok()).unwrap_or_default();
    let fields = owners.applied_by(MANAGER);
    let mut changed = changed::changed(held.manifest.value(), desired.value(), &fields);
    let namespace = FieldPath::new(["metadata", "namespace"].map(PathElement::field));
    changed.retain(|path| location.namespace.is_some() || *path != namespace);
    changed
}

/// Whether an object of ours that is to be deleted first can be made anew: a tainted one, of which
/// nothing was asked before, one that `-replace` names, or one that changes its version. What is
/// certain to be refused afterwards must not cost the object.
pub(super) async fn succession(
    asked: &Asked<'_>,
    location: &Location,
    live: &Json,
    notices: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    let uid = live["metadata"]["uid"].as_str().unwrap_or_default();
    if asked.session.ledger.knows(&Fact::Replaceable(uid.to_owned())) {
        return Ok(());
    }
    let content = asked.desired.as_applied().into_owned();
    let creation = beside(asked, location, &content).await?;
    // A rule of a custom kind may go by the name, which what is tried beside does not have.
    if creation == Trial::Accepted && !location.kind.gvk.may_still_appear() {
        return Ok(());
    }
    let attempt = Attempt { location, live, content: &content };
    let change = trial(asked.observe(location, content.clone(), None, Guard::Uid(uid)).await?);
    let subject = Subject { manifest: asked.desired, former: Some(live) };
    if let (Trial::Accepted, Trial::Refused(status)) = (&creation, &change) {
        if let Suspicion::Fields(causes) = immutable::suspects(status, asked.desired.value())
            && sight(asked, attempt, &causes).await? == Sight::More
        {
            notices.push(messages::replacement::successor_untold(subject, status, Tried::Over));
        }
        return Ok(());
    }
    match immutable::succession(&creation, &change) {
        Succession::Possible => Ok(()),
        Succession::Invalid(status) => {
            Err(messages::replacement::no_successor(subject, &status).into())
        }
        Succession::Unproved(status) => {
            notices.push(messages::replacement::successor_untold(subject, &status, Tried::Beside));
            Ok(())
        }
    }
}

/// Tries a body as a creation, under a name that nobody has.
async fn beside(asked: &Asked<'_>, location: &Location, body: &Json) -> Result<Trial, Diagnostics> {
    let (probe, observed) = observe_beside(asked, location, body).await?;
    Ok(match trial(observed) {
        Trial::Refused(status) => Trial::Refused(Box::new(probe.told(*status, &location.name))),
        Trial::Accepted => Trial::Accepted,
    })
}

/// What the server would make of a body as a creation, if it took it.
pub(super) async fn made_beside(
    asked: &Asked<'_>,
    location: &Location,
    body: &Json,
) -> Result<Option<Json>, Diagnostics> {
    let (_, observed) = observe_beside(asked, location, body).await?;
    Ok(match observed {
        Observation::Answered(answer) => Some(answer.object),
        _ => None,
    })
}

async fn observe_beside(
    asked: &Asked<'_>,
    location: &Location,
    body: &Json,
) -> Result<(Probe, Observation), Diagnostics> {
    let probe = Probe::new(&uuid::Uuid::new_v4().simple().to_string()[..8]);
    let body = probe.beside(body, asked.desired.gvk());
    let mut elsewhere = location.clone();
    elsewhere.name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let observed = asked.observe(&elsewhere, body, None, Guard::Absent).await?;
    Ok((probe, observed))
}

fn trial(observation: Observation) -> Trial {
    match observation {
        Observation::Answered(_) => Trial::Accepted,
        Observation::Refused(status)
        | Observation::NotYet(NotYet::NamespaceGoing { status, .. } | NotYet::Webhook { status }) => {
            Trial::Refused(status)
        }
        Observation::NotYet(_) | Observation::Exists(_) => Trial::Refused(Box::default()),
    }
}
