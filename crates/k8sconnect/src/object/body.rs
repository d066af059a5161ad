//! The body of an object: as text that state holds, or as one that nobody stores.
//!
//! Of the second kind only the version stands in state, and two bodies of the same version count
//! as the same. What is needed of a former one comes from what was kept of its write: its identity
//! from `object_ref`, its fields and hashes from private state; never a value.

use std::sync::Arc;

use k8sconnect_core::manifest::{Manifest, ManifestCause, ManifestError};
use k8sconnect_core::recent::Recent;
use serde_json::json;
use tfplugin::{AttributePath, Diagnostics, Value};

use super::model::ObjectModel;
use super::stored::StoredObject;
use crate::messages::manifest::Attribute;
use crate::object_ref::ObjectRef;
use crate::{MANAGER, messages};

/// Bodies that state holds, for one is handed over about six times a run. Those that nobody is to
/// store are not kept here either.
static RECENT: Recent<Manifest> = Recent::new();

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

/// Checks that each body can be read, be there one or both.
pub(crate) fn readable(config: &ObjectModel) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    if let Value::Known(text) = &config.yaml_body
        && let Err(errors) = of_state(text)
    {
        problems.push(messages::manifest::unusable(&errors, attribute(config)));
    }
    if let Value::Known(text) = &config.yaml_body_wo
        && let Err(errors) = Manifest::parse(text)
    {
        problems.push(messages::manifest::unusable(&errors, Attribute::WriteOnly));
    }
    problems.into_result().map(|_| ())
}

/// Reads the body that is wanted.
pub(crate) fn given(config: &ObjectModel) -> Result<Given, Diagnostics> {
    check(config)?;
    let manifest = match (&config.yaml_body, &config.yaml_body_wo, &config.yaml_body_wo_version) {
        (Value::Known(text), ..) => of_state(text)
            .map_err(|errors| messages::manifest::unusable(&errors, attribute(config)))?,
        (_, Value::Known(text), Value::Known(version)) => {
            let manifest = Manifest::parse(text)
                .map_err(|errors| messages::manifest::unusable(&errors, Attribute::WriteOnly))?;
            manifest.never_stored(version)
        }
        _ => return Ok(Given::Unknown),
    };
    Ok(Given::Body(Box::new(manifest)))
}

/// The body to write: what is configured, whatever text of it the plan keeps in state.
pub(crate) fn wanted(config: &ObjectModel) -> Result<Manifest, Diagnostics> {
    match given(config)? {
        Given::Body(manifest) => Ok(*manifest),
        Given::Unknown => Err(messages::body::none().into()),
    }
}

/// The body of the last write, or what is left of it.
pub(crate) fn former(state: &ObjectModel, stored: &StoredObject) -> Result<Manifest, Diagnostics> {
    let Value::Known(version) = &state.yaml_body_wo_version else {
        let body = state.yaml_body.as_str().unwrap_or_default();
        return of_state(body).map_err(|errors| messages::state::body_unreadable(&errors).into());
    };
    let key = state.object_ref.known().and_then(ObjectRef::key);
    let key = key.ok_or_else(messages::state::unnamed)?;
    let kept = stored.kept.as_ref();
    let traces = kept.map_or_else(|| json!({}), |kept| kept.traces(MANAGER, stored.key.as_ref()));
    Ok(Manifest::remembered(key, version, traces))
}

/// Calls the body in what is said by the name that it has in the configuration, and points at it
/// only where it may be shown.
pub(crate) fn named(config: &ObjectModel) -> fn(Diagnostics) -> Diagnostics {
    let attribute = match config.yaml_body.is_null() && !config.yaml_body_wo.is_null() {
        true => Attribute::WriteOnly,
        false => attribute(config),
    };
    messages::body::said_of(attribute)
}

/// How the attribute of a body that is stored is spoken of. Whether the text is of a Secret may not
/// be known from a text that cannot be read, so the word alone counts. A text that is no object at
/// all may be anything, such as a password that was put in the wrong place.
pub(crate) fn attribute(config: &ObjectModel) -> Attribute {
    let may_be_secret = config.yaml_body.as_str().is_some_and(|text| {
        let says_secret = text.to_ascii_lowercase().contains("secret");
        let is_mapping = || match of_state(text) {
            Ok(_) => true,
            Err(errors) => errors.iter().all(|error| match error.cause {
                ManifestCause::Empty => true,
                ManifestCause::NotAMapping if error.field.is_empty() => false,
                _ => text.contains("kind"),
            }),
        };
        says_secret || !is_mapping()
    });
    if may_be_secret || !config.sensitive_fields.is_null() {
        Attribute::SecretBody
    } else {
        Attribute::Body
    }
}

/// A body that state may hold.
pub(crate) fn of_state(text: &str) -> Result<Manifest, Vec<ManifestError>> {
    RECENT.of(text, Manifest::parse).map(Arc::unwrap_or_clone)
}

#[cfg(test)]
mod tests {
    use tfplugin::Diagnostic;

    use super::*;

    fn body(text: &str) -> ObjectModel {
        ObjectModel { yaml_body: Value::from(text), ..ObjectModel::default() }
    }

    /// Whether something that is said of a body points at it, which has Terraform print it.
    fn is_shown(config: &ObjectModel) -> bool {
        let told = Diagnostic::error("no", "so").at(AttributePath::root("yaml_body"));
        let told = named(config)(told.into());
        told.iter().any(|one| one.path.is_some())
            || readable(config).err().iter().flatten().any(|one| one.path.is_some())
    }

    #[test]
    fn a_body_that_may_hold_a_secret_is_not_pointed_at() {
        let plain = "apiVersion: v1\nkind: Pot\nmetadata: {name: a}";
        let hiding = ObjectModel {
            sensitive_fields: Value::Known(vec![Value::from("spec.word")]),
            ..body(plain)
        };
        let write_only = ObjectModel {
            yaml_body_wo: Value::from(plain),
            yaml_body_wo_version: Value::from("1"),
            ..ObjectModel::default()
        };
        let of_secrets =
            ["v2, kind: Secret", "v1, kind: secret", "x/v1, kind: SealedSecret"].map(|what| {
                format!("{{apiVersion: {what}, metadata: {{name: a}}, data: {{a: eA==}}}}")
            });
        for config in of_secrets.iter().map(|text| body(text)).chain([
            hiding,
            write_only,
            body("hunter2"),
            body("pass: word: 2"),
            body("- kind: Pot"),
        ]) {
            assert!(!is_shown(&config), "{:?}", config.yaml_body);
        }
        assert!(is_shown(&body(plain)));
        assert!(is_shown(&body("kind: Pot\n metadata: {name: a}")), "no more is hidden than must");
    }
}
