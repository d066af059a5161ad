//! Planning a change.

use super::resource::stripped;
use super::rules;
use super::wire::{
    decode_identity, decode_object, decode_present, decode_private, encode, encode_identity, null,
};
use super::{Inner, proto};
use crate::context::Context;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::path::AttributePath;
use crate::private::Private;
use crate::registry::AnyResource;
use crate::resource::{Plan, PlanDestroy, PlannedPrivate};
use crate::value::Value;

impl Inner {
    pub(super) async fn plan_resource_change(
        &self,
        request: proto::PlanResourceChangeRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::PlanResourceChangeResponse, Diagnostics> {
        let resource = self.resource(&request.type_name)?;
        let ty = resource.value_type();
        let prior = decode_object("prior state", request.prior_state, ty)?;
        let proposed = decode_object("proposed state", request.proposed_new_state, ty)?;
        let private = decode_private(&request.prior_private)?;
        let identity = decode_identity(request.prior_identity, resource.identity_type())?;
        let context = self.context(request.client_capabilities);

        let Some(proposed) = proposed else {
            let private = match prior {
                Some(prior) => {
                    let question = PlanDestroy { prior, private: private.clone() };
                    resource.plan_destroy(&context, question, told).await?.over(private)
                }
                None => private,
            };
            return Ok(proto::PlanResourceChangeResponse {
                planned_state: Some(null()),
                planned_private: private.to_bytes(),
                planned_identity: encode_identity(identity, resource.identity_type())?,
                ..Default::default()
            });
        };

        let question = Plan {
            config: decode_present("configuration", request.config, ty)?,
            prior,
            proposed: stripped(proposed, &*resource),
            private: private.clone(),
            planned_private: planned_private(&request.planned_private, &context)?,
        };
        let planned = resource.plan(&context, question, told).await?;
        let state = planned.state.conform(ty).map_err(|mismatch| {
            Diagnostic::mismatch("The planned state does not fit the schema", &mismatch)
        })?;
        let state = Value::Known(stripped(state, &*resource));
        Ok(proto::PlanResourceChangeResponse {
            planned_state: Some(encode("planned state", state, ty)?),
            requires_replace: replacements(planned.requires_replace, &*resource)?,
            // Copied forward also without a prior state: during a replacement this is what
            // reaches the delete of the old object.
            planned_private: handed_over(&planned.private.over(private), &context),
            diagnostics: Vec::new(),
            planned_identity: encode_identity(
                planned.identity.or(identity),
                resource.identity_type(),
            )?,
        })
    }
}

/// What Terraform brings back from the plan that the user saw.
fn planned_private(bytes: &[u8], context: &Context) -> Result<PlannedPrivate, Diagnostics> {
    Ok(match (bytes.is_empty(), context.capabilities().store_planned_private) {
        (false, _) => PlannedPrivate::Present(decode_private(bytes)?),
        (true, true) => PlannedPrivate::Absent,
        (true, false) => PlannedPrivate::Unsupported,
    })
}

/// Terraform brings back no planned private state at all in the plans that users see. So a client
/// that brings it back is never answered without any: an object without keys stands for none.
fn handed_over(private: &Private, context: &Context) -> Vec<u8> {
    match private.to_bytes() {
        bytes if bytes.is_empty() && context.capabilities().store_planned_private => b"{}".to_vec(),
        bytes => bytes,
    }
}

/// Sorted, each once, and none that Terraform would stumble over.
fn replacements(
    mut paths: Vec<AttributePath>,
    resource: &dyn AnyResource,
) -> Result<Vec<proto::AttributePath>, Diagnostics> {
    paths.sort();
    paths.dedup();
    let astray = |path: &&AttributePath| !rules::leads_somewhere(path, resource.value_type());
    if let Some(path) = paths.iter().find(astray) {
        let detail = format!(
            "The provider says that a change of `{path}` makes a new object necessary, but there \
             is no such attribute. This is a bug in the provider; please report it."
        );
        return Err(Diagnostic::error("The provider planned a replacement badly", detail).into());
    }
    Ok(paths.into_iter().map(AttributePath::into_wire).collect())
}
