//! Resource identity: what names an object outside of its state, for clients that know identities.
//!
//! It is given when the object comes into state and stays as it was given, whatever way to the
//! cluster is configured later: clients refuse an identity that changes. Neither host nor uid are
//! part of it.

use k8sconnect_core::identity::Gvk;
use k8sconnect_core::import_id::{Chosen, ImportId, SecretValues, Subject};
use tfplugin::{Diagnostics, FromData, IdentityMode, IdentitySchema, Type, Value, model};

use super::model::ObjectModel;
use crate::messages;
use crate::object_ref::ObjectRef;

model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    struct ObjectIdentity {
        cluster_name: Value<String>,
        context: Value<String>,
        api_version: Value<String>,
        kind: Value<String>,
        namespace: Value<String>,
        name: Value<String>,
    }
}

pub(crate) fn schema() -> IdentitySchema {
    use IdentityMode::{OptionalForImport, RequiredForImport};
    let text = |schema: IdentitySchema, name: &str, mode, description: &str| {
        schema.attribute(name, Type::String, mode, description)
    };
    let schema = IdentitySchema::new(0);
    let schema = text(
        schema,
        "cluster_name",
        OptionalForImport,
        "The name of the cluster among the provider block's `clusters`, if it is one of those.",
    );
    let schema = text(
        schema,
        "context",
        OptionalForImport,
        "The context of the kubeconfig, if one is named.",
    );
    let schema =
        text(schema, "api_version", RequiredForImport, "Group and version, e.g. `apps/v1`.");
    let schema = text(schema, "kind", RequiredForImport, "Kind, e.g. `Deployment`.");
    let schema = text(
        schema,
        "namespace",
        OptionalForImport,
        "Namespace; `default` if not set, null for a cluster-scoped object.",
    );
    text(schema, "name", RequiredForImport, "Name.")
}

/// The identity of an object that comes into state; unknown as far as the object is.
pub(crate) fn of(model: &ObjectModel) -> Value {
    let object = match &model.object_ref {
        Value::Known(object) => object.clone(),
        Value::Null | Value::Unknown => ObjectRef::unknown(),
    };
    let context = match &model.cluster {
        Value::Known(cluster) => cluster.context.clone(),
        Value::Unknown => Value::Unknown,
        Value::Null => Value::Null,
    };
    let identity = ObjectIdentity {
        cluster_name: model.cluster_name.clone(),
        context,
        api_version: object.api_version,
        kind: object.kind,
        namespace: object.namespace,
        name: object.name,
    };
    Value::Known(identity.into_data())
}

/// What an import by identity asks for: all fields, no values of Secrets.
pub(crate) fn asked(identity: Value) -> Result<ImportId, Diagnostics> {
    let unusable = || Diagnostics::from(messages::import::no_identity());
    let Value::Known(data) = identity else {
        return Err(unusable());
    };
    let identity = ObjectIdentity::from_data(data).map_err(|_| unusable())?;
    let part = |value: Value<String>| value.into_known().filter(|text| !text.is_empty());
    let (cluster_name, context) = (part(identity.cluster_name), part(identity.context));
    if cluster_name.is_some() && context.is_some() {
        return Err(messages::import::identity_of_two_clusters().into());
    }
    match (part(identity.api_version), part(identity.kind), part(identity.name)) {
        (Some(api_version), Some(kind), Some(name)) => Ok(ImportId {
            subject: Subject::Exactly {
                namespace: part(identity.namespace),
                gvk: Gvk::new(&api_version, &kind),
                name,
            },
            context,
            cluster_name,
            fields: Chosen::All,
            values: SecretValues::LeftOut,
        }),
        _ => Err(unusable()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(super::schema().check(), []);
    }
}
