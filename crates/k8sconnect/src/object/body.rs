//! The body of an object: as text that state holds, or as one that nobody stores.
//!
//! Of the second kind only the version stands in state, and two bodies of the same version count
//! as the same. What is needed of a former one comes from what was kept of its write: its identity
//! from `object_ref`, its fields and hashes from private state; never a value.

use k8sconnect_core::identity::{Gvk, ObjectKey};
use k8sconnect_core::manifest::Manifest;
use serde_json::json;
use tfplugin::{AttributePath, Diagnostics, Value};

use super::model::ObjectModel;
use super::stored::Stored;
use crate::messages::manifest::Attribute;
use crate::{MANAGER, messages};

/// What a configuration gives.
pub(crate) enum Given {
    Body(Box<Manifest>),
    /// Known only once something else is applied.
    Unknown,
}

/// Checks which of the attributes about the body are set. What is not known yet passes.
pub(crate) fn check(config: &ObjectModel) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    let at = AttributePath::root;
    let (body, write_only) = (&config.yaml_body, &config.yaml_body_wo);
    if body.is_null() && write_only.is_null() {
        problems.push(messages::body::none());
    }
    if body.is_known() && write_only.is_known() {
        problems.push(messages::body::both().at(at("yaml_body_wo")));
    }
    if write_only.is_known() && config.yaml_body_wo_version.is_null() {
        problems.push(messages::body::no_version().at(at("yaml_body_wo")));
    }
    if write_only.is_null() && config.yaml_body_wo_version.is_known() {
        problems.push(messages::body::version_alone().at(at("yaml_body_wo_version")));
    }
    problems.into_result().map(|_| ())
}

/// Reads the body that is wanted.
pub(crate) fn given(config: &ObjectModel) -> Result<Given, Diagnostics> {
    check(config)?;
    let manifest = match (&config.yaml_body, &config.yaml_body_wo, &config.yaml_body_wo_version) {
        (Value::Known(text), ..) => parse(text, attribute(config))?,
        (_, Value::Known(text), Value::Known(version)) => {
            parse(text, Attribute::WriteOnly)?.never_stored(version)
        }
        _ => return Ok(Given::Unknown),
    };
    Ok(Given::Body(Box::new(manifest)))
}

/// The body that was planned. One that is never stored is handed over anew for the apply, maybe
/// with other values than at the plan.
pub(crate) fn planned(
    planned: &ObjectModel,
    config: &ObjectModel,
) -> Result<Manifest, Diagnostics> {
    let both = ObjectModel {
        yaml_body_wo: config.yaml_body_wo.clone(),
        yaml_body: planned.yaml_body.clone(),
        yaml_body_wo_version: planned.yaml_body_wo_version.clone(),
        ..ObjectModel::default()
    };
    match given(&both)? {
        Given::Body(manifest) => Ok(*manifest),
        Given::Unknown => Err(messages::body::none().into()),
    }
}

/// The body of the last write, or what is left of it.
pub(crate) fn former(state: &ObjectModel, stored: &Stored) -> Result<Manifest, Diagnostics> {
    let Value::Known(version) = &state.yaml_body_wo_version else {
        let body = state.yaml_body.as_str().unwrap_or_default();
        let read = Manifest::parse(body);
        return read.map_err(|errors| messages::state::body_unreadable(&errors).into());
    };
    let Value::Known(object) = &state.object_ref else {
        return Err(messages::state::unnamed().into());
    };
    let part = |value: &Value<String>| value.as_str().unwrap_or_default().to_owned();
    let key = ObjectKey {
        gvk: Gvk::new(&part(&object.api_version), &part(&object.kind)),
        namespace: object.namespace.known().cloned(),
        name: part(&object.name),
    };
    let kept = stored.kept.as_ref();
    let traces = kept.map_or_else(|| json!({}), |kept| kept.traces(MANAGER, stored.key.as_ref()));
    Ok(Manifest::remembered(key, version, traces))
}

/// How the attribute of a body that is stored is spoken of. Whether the text is of a Secret may not
/// be known from a text that cannot be read, so the word alone counts.
pub(crate) fn attribute(config: &ObjectModel) -> Attribute {
    let says_secret = config.yaml_body.as_str().is_some_and(|text| text.contains("Secret"));
    if says_secret || !config.sensitive_fields.is_null() {
        Attribute::SecretBody
    } else {
        Attribute::Body
    }
}

fn parse(text: &str, attribute: Attribute) -> Result<Manifest, Diagnostics> {
    Manifest::parse(text).map_err(|errors| messages::manifest::unusable(&errors, attribute).into())
}
