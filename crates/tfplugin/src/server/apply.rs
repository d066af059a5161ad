//! Applying a change: what was planned says whether it is a create, an update or a delete.

use super::resource::stripped;
use super::rules;
use super::wire::{
    decode_identity, decode_object, decode_present, decode_private, encode, encode_identity, null,
};
use super::{Inner, proto};
use crate::context::Context;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::private::Private;
use crate::registry::AnyResource;
use crate::resource::{Applied, ApplyFailure, Create, Delete, Update};
use crate::value::{Data, Type, Value};

impl Inner {
    pub(super) async fn apply_resource_change(
        &self,
        request: proto::ApplyResourceChangeRequest,
        told: &mut Diagnostics,
    ) -> Result<proto::ApplyResourceChangeResponse, Diagnostics> {
        let resource = self.resource(&request.type_name)?;
        let ty = resource.value_type();
        let prior = decode_object("prior state", request.prior_state, ty)?;
        let planned = decode_object("planned state", request.planned_state, ty)?;
        let private = decode_private(&request.planned_private)?;
        let identity = decode_identity(request.planned_identity, resource.identity_type())?;
        let context = self.context(None);

        let answer = match (prior, planned) {
            (None, None) => return Ok(nothing_there()),
            (Some(prior), None) => {
                let request = Delete { prior, private };
                return Ok(delete(&*resource, &context, request, told).await);
            }
            (None, Some(planned)) => {
                let config = decode_present("configuration", request.config, ty)?;
                let question = Create { config, planned, private: private.clone() };
                resource.create(&context, question, told).await
            }
            (Some(prior), Some(planned)) => {
                let config = decode_present("configuration", request.config, ty)?;
                let question = Update { config, prior, planned, private: private.clone() };
                resource.update(&context, question, told).await
            }
        };
        let outcome = match answer {
            Ok(Applied { state, private: new, identity: found }) => {
                Outcome { state, private: new.over(private), identity: found.or(identity) }
            }
            Err(ApplyFailure { diagnostics, state }) => {
                let failed_silently = !diagnostics.has_errors();
                told.extend(diagnostics);
                if failed_silently {
                    told.push(failed_without_a_word());
                }
                let Some((state, new)) = state else {
                    // Null with an error: after a create nothing is stored, after an update
                    // Terraform keeps what it had.
                    return Ok(nothing_there());
                };
                let identity = identity.filter(Value::is_wholly_known);
                Outcome { state, private: new.over(private), identity }
            }
        };
        outcome.answer(&*resource, told)
    }
}

/// Nothing may be lost here: whatever is wrong with the answer, the object exists, so as much of
/// it as can be stored is stored beside the error.
struct Outcome {
    state: Data,
    private: Private,
    identity: Option<Value>,
}

impl Outcome {
    fn answer(
        self,
        resource: &dyn AnyResource,
        told: &mut Diagnostics,
    ) -> Result<proto::ApplyResourceChangeResponse, Diagnostics> {
        let ty = resource.value_type();
        let failed = told.has_errors();
        let state = conformed(self.state, ty)?;
        let state = Value::Known(stripped(state, resource));
        // A failed apply may well leave unknowns behind; that it failed is said already.
        if !failed {
            rules::refuse_unknowns("result of the apply", &state, told);
            if let Some(identity) = &self.identity {
                rules::refuse_unknowns("identity", identity, told);
            }
        }
        let identity = self.identity.map(rules::without_unknowns);
        Ok(proto::ApplyResourceChangeResponse {
            new_state: Some(encode("result of the apply", rules::without_unknowns(state), ty)?),
            private: self.private.to_bytes(),
            diagnostics: Vec::new(),
            new_identity: encode_identity(identity, resource.identity_type())?,
        })
    }
}

fn conformed(state: Data, ty: &Type) -> Result<Data, Diagnostics> {
    state.conform(ty).map_err(|mismatch| {
        Diagnostic::mismatch("The result of the apply does not fit the schema", &mismatch).into()
    })
}

/// Null with an error leaves state and private state as they are stored. Sending them back would
/// not: the private state that comes with the delete of a tainted object is empty.
async fn delete(
    resource: &dyn AnyResource,
    context: &Context,
    request: Delete<Data>,
    told: &mut Diagnostics,
) -> proto::ApplyResourceChangeResponse {
    if let Err(errors) = resource.delete(context, request, told).await {
        let failed_silently = !errors.has_errors();
        told.extend(errors);
        if failed_silently {
            told.push(failed_without_a_word());
        }
    }
    nothing_there()
}

fn nothing_there() -> proto::ApplyResourceChangeResponse {
    proto::ApplyResourceChangeResponse { new_state: Some(null()), ..Default::default() }
}

fn failed_without_a_word() -> Diagnostic {
    let detail = "The provider reported a failure but no reason for it. This is a bug in the \
                  provider; please report it.";
    Diagnostic::error("The provider failed without a reason", detail)
}
