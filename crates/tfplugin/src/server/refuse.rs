//! The words in which requests for what is not offered are refused.

use crate::diagnostic::{Diagnostic, Diagnostics};

pub(super) fn resource(ty: &str) -> Diagnostics {
    unknown("resource type", ty)
}

pub(super) fn data_source(ty: &str) -> Diagnostics {
    unknown("data source", ty)
}

pub(super) fn ephemeral(ty: &str) -> Diagnostics {
    unknown("ephemeral resource type", ty)
}

pub(super) fn list_resource(ty: &str) -> Diagnostics {
    unknown("list resource type", ty)
}

pub(super) fn action(ty: &str) -> Diagnostics {
    unknown("action", ty)
}

pub(super) fn generate(ty: &str) -> Diagnostics {
    let detail = format!(
        "The provider cannot write a configuration for `{ty}` from its state. Terraform can do \
         so itself, with `-generate-config-out`."
    );
    Diagnostic::error("The provider does not generate configuration", detail).into()
}

fn unknown(kind: &str, name: &str) -> Diagnostics {
    let detail = format!(
        "This release of the provider offers no {kind} of that name. Check the spelling, or \
         install a release that offers it."
    );
    Diagnostic::error(format!("The provider has no {kind} `{name}`"), detail).into()
}
