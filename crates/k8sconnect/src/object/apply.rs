//! Apply: one PATCH, and its answer kept. Nothing is read back.
//!
//! Terraform holds us to what was planned. Where the server answers otherwise for a leaf, state is
//! told what was planned, the user is told what happened, and the next refresh shows the truth.

use k8sconnect_cluster::{
    Answer, Apply, Cluster, Conflicts, Error, Found, Location, Persistence, Placed,
};
use k8sconnect_core::identity::ID_ANNOTATION;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::Guard;
use k8sconnect_core::plan::{Kept, Planner};
use k8sconnect_core::projection::ConcealmentKey;
use k8sconnect_core::rejection::Rejection;
use serde_json::Value as Json;
use tfplugin::{Applied, ApplyFailure, Create, Diagnostics, Private, Update, Value};

use super::held::Held;
use super::leaves;
use super::model::{ObjectModel, ObjectRef};
use super::place::{location, outgoing, place};
use super::stored::Stored;
use crate::connect::{self, Reach};
use crate::session::Session;
use crate::{MANAGER, messages};

type Outcome = Result<Applied<ObjectModel>, ApplyFailure<ObjectModel>>;

pub(crate) async fn create(
    session: &Session,
    request: Create<ObjectModel>,
    notices: &mut Diagnostics,
) -> Outcome {
    let Create { planned, private, .. } = request;
    let manifest = body_of(&planned)?;
    let key = manifest.key();
    let cluster = cluster_of(session, &planned).await?;
    let kind = match place(&cluster, key).await? {
        Placed::At(kind) => kind,
        Placed::NotYet(why) => return Err(messages::object::not_there_at_apply(key, &why).into()),
    };
    let location = location(kind, &manifest);
    let id = uuid::Uuid::new_v4().to_string();
    let body = outgoing(&manifest, &location, Some(&id), Guard::Absent);
    let answer = match write(&cluster, &location, &body).await {
        Ok(answer) => answer,
        Err(error) => after_all(&cluster, &location, &id, &manifest, error).await?,
    };
    notices.extend(messages::object::server_warnings(key, &answer.warnings));
    let stored = Stored { kept: None, kind: Some(location.kind.clone()), key: Some(new_key()?) };
    let mut state = planned;
    state.id = Value::Known(id);
    state.object_ref = Value::Known(ObjectRef::to(&location));
    settle(state, &manifest, stored, private, &answer.object, notices)
}

pub(crate) async fn update(
    session: &Session,
    request: Update<ObjectModel>,
    notices: &mut Diagnostics,
) -> Outcome {
    let Update { prior, planned, private, .. } = request;
    let held = Held::load(prior, &private)?;
    if held.model.yaml_body == planned.yaml_body
        && held.model.managed_state_projection == planned.managed_state_projection
    {
        // Only the way to the cluster changed, or nothing that the cluster could tell.
        return Ok(Applied { state: planned, private, identity: None });
    }
    let manifest = body_of(&planned)?;
    let key = manifest.key();
    let cluster = cluster_of(session, &planned).await?;
    let location = held.location(&cluster).await?;
    let body = outgoing(&manifest, &location, Some(held.id()), Guard::Uid(held.uid()));
    let answer = write(&cluster, &location, &body)
        .await
        .map_err(|error| messages::object::not_applied(key, &error))?;
    notices.extend(messages::object::server_warnings(key, &answer.warnings));
    let mut stored = held.stored.clone();
    stored.kind = Some(location.kind.clone());
    if stored.key.is_none() {
        stored.key = Some(new_key()?);
    }
    settle(planned, &manifest, stored, private, &answer.object, notices)
}

async fn write(cluster: &Cluster, location: &Location, body: &Json) -> Result<Answer, Error> {
    let apply = Apply {
        body,
        manager: MANAGER,
        conflicts: Conflicts::Force,
        persistence: Persistence::Write,
    };
    cluster.apply(location, &apply).await
}

/// A creation that was refused because something is there may have been answered by our own
/// earlier try, whose answer was lost. The id tells.
async fn after_all(
    cluster: &Cluster,
    location: &Location,
    id: &str,
    manifest: &Manifest,
    error: Error,
) -> Result<Answer, Diagnostics> {
    let key = manifest.key();
    let conflict =
        matches!(&error, Error::Refused(status) if status.rejection() == Rejection::Conflict);
    if !conflict {
        return Err(messages::object::not_applied(key, &error).into());
    }
    let found = cluster.get(location).await;
    match found.map_err(|error| messages::object::unanswered(key, &error))? {
        Found::Object(answer) if id_of(&answer.object) == Some(id) => Ok(answer),
        Found::Object(answer) => Err(messages::object::exists(key, &answer.object).into()),
        _ => Err(messages::object::not_applied(key, &error).into()),
    }
}

/// Brings the answer together with what was planned, and keeps both.
fn settle(
    mut state: ObjectModel,
    manifest: &Manifest,
    mut stored: Stored,
    mut private: Private,
    answer: &Json,
    notices: &mut Diagnostics,
) -> Outcome {
    let key = manifest.key();
    let (projection, owners) = Planner { manager: MANAGER }
        .written(manifest, stored.kept.as_ref(), answer)
        .map_err(|error| messages::object::ownership_unreadable(key, &error))?;
    let told = leaves::reconcile(&state.managed_state_projection, &projection, stored.key.as_ref());
    if !told.surprises.is_empty() {
        notices.push(messages::object::answered_otherwise(key, &told.surprises));
    }
    stored.kept = Some(Kept { owners, texts: told.kept });
    stored.save(&mut private)?;
    state.uid = Value::Known(answer["metadata"]["uid"].as_str().unwrap_or_default().to_owned());
    state.managed_state_projection = Value::Known(told.map);
    Ok(Applied { state, private, identity: None })
}

fn body_of(planned: &ObjectModel) -> Result<Manifest, Diagnostics> {
    let body = planned.yaml_body.as_str().unwrap_or_default();
    Manifest::parse(body).map_err(|errors| messages::manifest::unusable(&errors).into())
}

async fn cluster_of(
    session: &Session,
    planned: &ObjectModel,
) -> Result<std::sync::Arc<Cluster>, Diagnostics> {
    match connect::reach(&planned.cluster)? {
        Reach::Ready(connection) => session.cluster(&connection).await,
        Reach::Unknown => Err(messages::connection::missing().into()),
    }
}

fn new_key() -> Result<ConcealmentKey, Diagnostics> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| messages::state::no_randomness(&error))?;
    Ok(ConcealmentKey(key))
}

fn id_of(object: &Json) -> Option<&str> {
    object["metadata"]["annotations"][ID_ANNOTATION].as_str()
}
