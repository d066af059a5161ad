//! Import: an object that is there, put into state with the fields that were chosen.
//!
//! Nothing is written to the cluster. The projection stays null: the first plan after an import
//! is an update in place, which takes the fields over and writes the id. No credential comes into
//! state: see [`origin`].

mod origin;

use k8sconnect_cluster::{Cluster, Found, Kind, Location, Lookup, Served};
use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::import_body;
use k8sconnect_core::import_id::{ImportId, Subject};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::secrecy::Secrecy;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Import, Imported, Private, Value};

use super::apply::new_key_for;
use super::identity;
use super::model::ObjectModel;
use super::stored::StoredObject;
use crate::cluster_identity::Opened;
use crate::messages::import::Source;
use crate::object_ref::ObjectRef;
use crate::resource::live::{NamesObject, uid_of, version_of};
use crate::session::Session;
use crate::{messages, place};

pub(crate) async fn import(
    session: &Session,
    request: Import,
    notices: &mut Diagnostics,
) -> Result<Imported<ObjectModel>, Diagnostics> {
    let (id, asked) = asked(request)?;
    let origin = origin::find(session, &id, &asked)?;
    let Opened { cluster, uid, .. } = session.open(&origin.connection, None, notices).await?;

    let kind = kind(&cluster, &id, &asked).await?;
    let (gvk, namespace) = (kind.gvk.clone(), origin.namespace.clone());
    let named = ObjectKey { gvk, namespace, name: asked.name().to_owned() };
    let location = place::location(kind, &named);
    let key = location.key();
    let live = live(&cluster, &location, &key, &origin.source).await?;
    let owners = Owners::of_object(&live).naming(&key)?;
    let body = import_body::body(&live, &key.gvk, &owners, &asked.fields, asked.values)
        .map_err(|none| messages::import::no_such_manager(&key, &asked.fields, &none))?;

    let stored = StoredObject {
        kind: Some(location.kind.clone()),
        key: new_key_for(&Secrecy::of(&key.gvk, &[]))?,
        seen: version_of(&live),
        cluster: uid,
        ..StoredObject::default()
    };
    let state = ObjectModel {
        yaml_body: Value::Known(body),
        cluster: origin.cluster,
        cluster_name: origin.cluster_name,
        id: Value::Known(uuid::Uuid::new_v4().to_string()),
        uid: Value::Known(uid_of(&live).to_owned()),
        object_ref: Value::Known(ObjectRef::to(&location)),
        ..ObjectModel::default()
    };
    let mut private = Private::default();
    stored.save(&mut private, &state)?;
    let identity = Some(identity::of(&state));
    Ok(Imported { state, private, identity })
}

/// What is asked for, and how it was written.
fn asked(request: Import) -> Result<(String, ImportId), Diagnostics> {
    match (request.id, request.identity) {
        (None, Some(identity)) => {
            let asked = identity::asked(identity)?;
            Ok((asked.to_string(), asked))
        }
        (id, _) => {
            let id = id.unwrap_or_default();
            let asked =
                ImportId::parse(&id).map_err(|error| messages::import::unreadable(&id, &error))?;
            Ok((id, asked))
        }
    }
}

async fn kind(cluster: &Cluster, id: &str, asked: &ImportId) -> Result<Kind, Diagnostics> {
    let unanswered = |error| Diagnostics::from(messages::connection::failed(&error));
    let missing = match &asked.subject {
        Subject::ByWord { kind, .. } => {
            let word = kind.to_string();
            match cluster.kind_called(kind).await.map_err(unanswered)? {
                Lookup::Found(kind) => return Ok(kind),
                Lookup::Nowhere => messages::import::no_such_kind(id, &word),
                Lookup::Unanswered { api_versions, error } => {
                    messages::import::perhaps_in(&word, &api_versions, &error)
                }
            }
        }
        Subject::Exactly { gvk, .. } | Subject::ByGvk { gvk, .. } => {
            match cluster.kind(gvk).await.map_err(unanswered)? {
                Served::Yes(kind) => return Ok(kind),
                Served::KindMissing { nearest } => {
                    messages::import::no_such_gvk(gvk, nearest.as_deref())
                }
                Served::GroupVersionMissing => messages::import::no_such_gvk(gvk, None),
            }
        }
    };
    Err(missing.into())
}

async fn live(
    cluster: &Cluster,
    location: &Location,
    key: &ObjectKey,
    source: &Source,
) -> Result<Json, Diagnostics> {
    let found = cluster.get(location).await;
    match found.map_err(|error| messages::refusal::unanswered(key, &error))? {
        Found::Object(answer) if answer.object["metadata"]["deletionTimestamp"].is_null() => {
            Ok(answer.object)
        }
        Found::Object(_) => Err(messages::import::is_going(key).into()),
        Found::Absent(_) | Found::NotServed(_) => {
            Err(messages::import::not_there(key, source).into())
        }
    }
}
