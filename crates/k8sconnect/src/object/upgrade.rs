//! State of the Go provider of this name, brought into our form on first use.
//!
//! Its schema versions 0 to 2 differ in two names only, so all are read alike: what both providers
//! have is carried over, the id included; what we lack is dropped. Its projection is spelt in
//! another way and is left to the first read, as is the uid, which it never kept.
//!
//! That read is the second half. It must not believe the name alone, and it finds anew what our
//! own writes keep ([`recover`]), so that the first plan is empty if nothing has changed and shows
//! the change if something has.

use std::sync::Arc;

use k8sconnect_cluster::{Cluster, Location, Observation};
use k8sconnect_core::identity::{DEFAULT_NAMESPACE, ID_ANNOTATION};
use k8sconnect_core::ignore::Ignore;
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::outgoing::{Guard, Outgoing};
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::{Kept, Standing};
use k8sconnect_core::projection::Projection;
use k8sconnect_core::yaml;
use serde_json::Value as Json;
use tfplugin::{Diagnostics, Private, RawState, Value};

use super::apply::new_key_for;
use super::held::Held;
use super::model::ObjectModel;
use super::schema;
use crate::connect::ClusterModel;
use crate::duration::duration;
use crate::object_ref::ObjectRef;
use crate::resource::go_state;
use crate::resource::live::{NamesObject, uid_of};
use crate::{MANAGER, messages};

/// Under this key it noted that an object was imported and not applied yet, so bears no mark.
const IMPORTED: &str = "imported_without_annotations";

pub(crate) fn upgrade(version: i64, raw: &RawState) -> Result<ObjectModel, Diagnostics> {
    let computed = ["managed_state_projection"];
    let mut model: ObjectModel = go_state::decode(version, raw, &schema::schema(), &computed)?;
    if !names_a_cluster(&model.cluster) {
        return Err(messages::upgrade::no_way_to_the_cluster().into());
    }
    drop_unusable_terms(&mut model);
    if let Some(body) = body_with_namespace(&model) {
        model.yaml_body = Value::Known(body);
    }
    Ok(model)
}

/// A context alone, or words that we lack, lead nowhere.
fn names_a_cluster(cluster: &Value<ClusterModel>) -> bool {
    let Value::Known(cluster) = cluster else {
        return false;
    };
    ClusterModel { context: Value::Null, ..cluster.clone() } != ClusterModel::default()
}

/// What the configuration may not say must not stand in state either: no read would come past it.
/// The configuration's own mistakes are told where it is validated.
fn drop_unusable_terms(model: &mut ObjectModel) {
    if let Value::Known(fields) = &mut model.ignore_fields {
        fields.retain(|field| field.as_str().is_some_and(|text| Ignore::parse(text).is_ok()));
    }
    if model.delete_timeout.as_str().is_some_and(|text| duration(text).is_err()) {
        model.delete_timeout = Value::Null;
    }
    if model.delete_protection == Value::Known(true) {
        model.force_destroy = Value::Null;
    }
}

/// A namespace that is not written means `default` to us; the Go provider says of some releases
/// that they take it from the connection. Its state knows where the object is, and ours must say
/// so too, or it would be looked for where it is not.
fn body_with_namespace(model: &ObjectModel) -> Option<String> {
    let namespace = model.object_ref.known()?.namespace.as_str()?;
    let manifest = Manifest::parse(model.yaml_body.as_str()?).ok()?;
    if manifest.key().namespace.is_some() || namespace == DEFAULT_NAMESPACE {
        return None;
    }
    let mut body = manifest.value().clone();
    body["metadata"]["namespace"] = Json::String(namespace.to_owned());
    Some(yaml::to_yaml(&body))
}

/// Makes sure that the object that was found is the one in state. Only its marks can tell, where
/// state knows no uid.
pub(crate) fn identify(held: &Held, live: &Json, private: &Private) -> Result<(), Diagnostics> {
    let key = held.key();
    match live["metadata"]["annotations"][ID_ANNOTATION].as_str() {
        Some(id) if id == held.id() => return Ok(()),
        Some(other) => {
            return Err(messages::upgrade::whose_is_it(key, held.id(), Some(other)).into());
        }
        None => {}
    }
    let owners = Owners::of_object(live).naming(key)?;
    let imported = matches!(private.get::<bool>(IMPORTED), Ok(Some(true)));
    if imported || !owners.applied_by(MANAGER).is_empty() {
        return Ok(());
    }
    Err(messages::upgrade::whose_is_it(key, held.id(), None).into())
}

/// Asks the server what the body in state comes to, and from that finds what the last write left
/// and our leaves now. Where the server does not say, the live entry must do until a plan asks
/// again. There are no leaves on an object that was imported and never applied: it is as untouched
/// as one that we import.
pub(crate) async fn recover(
    cluster: &Cluster,
    location: &Location,
    held: &mut Held,
    live: &Json,
) -> Result<Option<Projection>, Diagnostics> {
    if held.stored.key.is_none() {
        held.stored.key = new_key_for(held.manifest.secrecy())?;
    }
    held.stored.kind = Some(location.kind.clone());
    held.model.object_ref = Value::Known(ObjectRef::to(location));
    let key = held.key();
    if Owners::of_object(live).naming(key)?.applied_by(MANAGER).is_empty() {
        return Ok(None);
    }
    let planner = held.planner();
    let content = planner.content(&held.manifest, Some(live)).naming(key)?;
    let namespace = location.namespace.as_deref();
    let guard = Guard::Uid(uid_of(live));
    let body = Outgoing { content, namespace, id: Some(held.id()), guard }.body();
    let observed = cluster.observe(location, MANAGER, &body, held.terms.conflicts).await;
    let Ok(Observation::Answered(answer)) = observed else {
        return Ok(Some(planner.written(&held.manifest, live).naming(key)?.0));
    };
    let recovered = planner.recovered(&held.manifest, live, &answer.object).naming(key)?;
    if let Standing::AsApplied(owners) = recovered.standing {
        let texts = recovered.leaves.texts(held.stored.key.as_ref());
        held.stored.kept = Some(Arc::new(Kept { owners, texts, version: None }));
    }
    Ok(Some(recovered.leaves))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tfplugin::FromData;

    use super::*;

    fn state() -> Json {
        json!({
            "id": "0123456789ab",
            "yaml_body": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: x\n",
            "cluster": {"host": null, "token": null, "exec": null, "insecure": null,
                "kubeconfig": "some text", "context": "prod"},
            "delete_protection": null, "delete_timeout": "90s", "force_destroy": true,
            "ignore_fields": ["data.l", "webhooks[0].caBundle", "spec..x"],
            "managed_fields": {"data.k": "k8sconnect"},
            "managed_state_projection": {"data.k": "x"},
            "object_ref": {"api_version": "v1", "kind": "ConfigMap", "name": "a",
                "namespace": "default"},
        })
    }

    fn upgraded(state: &Json) -> ObjectModel {
        upgrade(2, &RawState::new(state.to_string())).unwrap()
    }

    fn refused(version: i64, state: &Json) -> String {
        let problems = upgrade(version, &RawState::new(state.to_string())).unwrap_err();
        problems.iter().map(|problem| problem.summary.clone()).collect()
    }

    #[test]
    fn what_both_providers_have_is_carried_over_and_the_id_with_it() {
        let model = upgraded(&state());
        assert_eq!(model.id.as_str(), Some("0123456789ab"));
        assert_eq!(model.delete_timeout.as_str(), Some("90s"));
        assert_eq!(model.force_destroy, Value::Known(true));
        let cluster = model.cluster.known().unwrap();
        assert_eq!(cluster.kubeconfig.as_str(), Some("some text"));
        assert_eq!(cluster.context.as_str(), Some("prod"));
        assert_eq!(model.yaml_body.as_str(), state()["yaml_body"].as_str());
        assert!(model.uid.is_null() && model.managed_state_projection.is_null());
    }

    #[test]
    fn the_oldest_version_called_the_cluster_otherwise() {
        let mut old = state();
        old["cluster_connection"] = old["cluster"].take();
        old.as_object_mut().unwrap().remove("cluster");
        old["managed_state_projection"] = json!("{\"data\":{\"k\":\"x\"}}");
        let model = upgrade(0, &RawState::new(old.to_string())).unwrap();
        assert_eq!(model, upgraded(&state()));
        let mut between = state();
        between["cluster_connection"] = Json::Null;
        assert_eq!(upgraded(&between), model);
    }

    #[test]
    fn arguments_that_we_refuse_do_not_block_every_read() {
        let mut strange = state();
        strange["delete_timeout"] = json!("1.5h");
        strange["delete_protection"] = json!(true);
        let model = upgraded(&strange);
        assert!(model.delete_timeout.is_null() && model.force_destroy.is_null());
        // An item by its place is a path; two dots are none.
        let kept = ["data.l", "webhooks[0].caBundle"].map(|path| Value::Known(path.to_owned()));
        assert_eq!(model.ignore_fields.known().unwrap(), &kept);
        assert!(crate::object::terms::Terms::read(&model).is_ok());
    }

    #[test]
    fn an_object_in_the_namespace_of_its_connection_is_not_lost() {
        let mut elsewhere = state();
        elsewhere["object_ref"]["namespace"] = json!("shop");
        let manifest = Manifest::parse(upgraded(&elsewhere).yaml_body.as_str().unwrap()).unwrap();
        assert_eq!(manifest.key().namespace.as_deref(), Some("shop"));
        assert_eq!(manifest.value()["data"], json!({"k": "x"}));
    }

    /// What is left of a connection.
    fn way_in(cluster: Json) -> Vec<String> {
        let mut with = state();
        with["cluster"] = cluster;
        let raw = Value::Known(upgraded(&with).cluster.into_known().unwrap().into_data());
        let set = |name: &&str| raw.attribute(name).is_some_and(|value| !value.is_null());
        let names = [
            "host",
            "cluster_ca_certificate",
            "insecure",
            "token",
            "client_certificate",
            "client_key",
            "exec",
            "kubeconfig",
            "config_path",
            "context",
        ];
        names.iter().filter(|name| set(name)).map(ToString::to_string).collect()
    }

    #[test]
    fn every_connection_is_carried_over_by_what_that_provider_went_by() {
        let plugin = json!({"api_version": "client.authentication.k8s.io/v1", "command": "aws",
            "args": ["eks"], "env": {"AWS_PROFILE": "x"}});
        let host = "https://k.example";
        assert_eq!(
            way_in(json!({"host": host, "insecure": true, "cluster_ca_certificate": "x",
            "token": "t", "exec": plugin})),
            ["host", "insecure", "token"]
        );
        assert_eq!(
            way_in(json!({"host": host, "cluster_ca_certificate": "x", "exec": plugin,
            "context": "stray"})),
            ["host", "cluster_ca_certificate", "exec"]
        );
        assert_eq!(
            way_in(json!({"host": host, "client_certificate": "c", "client_key": "k"})),
            ["host", "client_certificate", "client_key"]
        );
        assert_eq!(
            way_in(json!({"kubeconfig": "k", "insecure": true, "context": "prod"})),
            ["kubeconfig", "context"]
        );
        assert_eq!(way_in(json!({"kubeconfig_raw": "k", "kubeconfig_file": null})), ["kubeconfig"]);
        assert_eq!(
            way_in(json!({"kubeconfig_file": "~/.kube/config", "context": "prod"})),
            ["config_path", "context"]
        );
    }

    #[test]
    fn a_connection_that_leads_nowhere_is_told_and_nothing_guessed() {
        let mut nowhere = state();
        nowhere["cluster"] = json!({"context": "prod", "token": "hunter2"});
        assert!(refused(2, &nowhere).contains("names no cluster"));
    }

    #[test]
    fn a_version_that_nobody_wrote_is_refused() {
        assert!(refused(3, &state()).contains("does not know the form"));
    }
}
