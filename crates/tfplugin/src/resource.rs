//! Managed resources: things with a life of create, read, update and delete.
//!
//! The server keeps Terraform's rules so that resource code cannot break them: write-only
//! values are taken out of every answer, private state that an answer does not mention is kept,
//! and an unknown left over after apply is an error of ours before Terraform complains.

use crate::context::Context;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::Model;
use crate::path::AttributePath;
use crate::private::Private;
use crate::raw::RawState;
use crate::schema::{IdentitySchema, Schema};
use crate::value::Value;

/// What is stored, to be compared with what is.
#[derive(Clone, Debug)]
pub struct Read<M> {
    /// The stored state.
    pub state: M,
    /// The stored private state.
    pub private: Private,
    /// The stored identity.
    pub identity: Option<Value>,
}

/// What a read found.
#[derive(Clone, Debug)]
pub enum ReadAnswer<M> {
    /// The object is there.
    Present {
        /// Its state now; the old spelling of what did not change.
        state: M,
        /// Its private state; keep it stable where nothing changed.
        private: Private,
        /// Its identity; `None` keeps the stored one.
        identity: Option<Value>,
    },
    /// The object is gone; Terraform will plan to create it.
    Gone,
}

/// A change to plan: of a new object if `prior` is `None`.
#[derive(Clone, Debug)]
pub struct Plan<M> {
    /// What the user wrote.
    pub config: M,
    /// The state before.
    pub prior: Option<M>,
    /// The configuration with computed attributes filled in from the state before.
    pub proposed: M,
    /// The private state before; during a replacement, the one of the old object.
    pub private: Private,
    /// What the plan that the user saw has handed over to its apply.
    pub planned_private: PlannedPrivate,
}

/// The private state that a plan hands over to its apply. Terraform plans a change for the user to
/// see, and plans it once more right before it applies it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlannedPrivate {
    /// The client hands nothing over, and does not say which of the two plans it asks for (Terraform
    /// before 1.16, OpenTofu).
    #[default]
    Unsupported,
    /// The user will see this plan.
    Absent,
    /// Terraform is about to apply. This is what the plan that the user saw returned.
    Present(Private),
}

/// A planned change.
#[derive(Clone, Debug)]
pub struct Planned<M> {
    /// The state after, with unknowns for what only apply can tell.
    pub state: M,
    /// The private state that apply is given.
    pub private: Private,
    /// Attributes whose change makes a new object necessary. Terraform counts them only where
    /// the planned value differs from the one before.
    pub requires_replace: Vec<AttributePath>,
    /// The planned identity; `None` keeps the one before.
    pub identity: Option<Value>,
}

/// A planned end.
#[derive(Clone, Debug)]
pub struct PlanDestroy<M> {
    /// The state before.
    pub prior: M,
    /// The private state before.
    pub private: Private,
}

/// An object to create.
#[derive(Clone, Debug)]
pub struct Create<M> {
    /// What the user wrote, write-only values included.
    pub config: M,
    /// What was planned; every known value must come back as it is.
    pub planned: M,
    /// The private state from the plan.
    pub private: Private,
}

/// An object to update.
#[derive(Clone, Debug)]
pub struct Update<M> {
    /// What the user wrote, write-only values included.
    pub config: M,
    /// The state before.
    pub prior: M,
    /// What was planned; every known value must come back as it is.
    pub planned: M,
    /// The private state from the plan.
    pub private: Private,
}

/// An object to delete.
#[derive(Clone, Debug)]
pub struct Delete<M> {
    /// The state before.
    pub prior: M,
    /// The private state; empty for a tainted object that is replaced.
    pub private: Private,
}

/// What was created or updated.
#[derive(Clone, Debug)]
pub struct Applied<M> {
    /// The state now.
    pub state: M,
    /// The private state now.
    pub private: Private,
    /// The identity now; `None` keeps the planned one.
    pub identity: Option<Value>,
}

/// A create or update that did not succeed, and how far it got.
#[derive(Clone, Debug)]
pub struct ApplyFailure<M> {
    /// Why.
    pub diagnostics: Diagnostics,
    /// What is there now. After a failed create it is stored as tainted; `None` says that
    /// nothing was created. After a failed update `None` keeps what was stored before.
    pub state: Option<(M, Private)>,
}

impl<M> From<Diagnostics> for ApplyFailure<M> {
    fn from(diagnostics: Diagnostics) -> Self {
        Self { diagnostics, state: None }
    }
}

impl<M> From<Diagnostic> for ApplyFailure<M> {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: diagnostic.into(), state: None }
    }
}

/// What the user named to import: an id, or an identity.
#[derive(Clone, Debug)]
pub struct Import {
    /// The id, from the command line or an `import` block.
    pub id: Option<String>,
    /// The identity, from an `import` block.
    pub identity: Option<Value>,
}

/// What an import starts from. Terraform reads the object next, with this state.
#[derive(Clone, Debug)]
pub struct Imported<M> {
    /// Enough state for `read`.
    pub state: M,
    /// The private state for `read`.
    pub private: Private,
    /// The identity.
    pub identity: Option<Value>,
}

/// State of another resource type, maybe of another provider, named in a `moved` block.
#[derive(Clone, Debug)]
pub struct MoveState {
    /// The address of the provider it comes from.
    pub provider_address: String,
    /// The resource type it had.
    pub type_name: String,
    /// The version of its schema there.
    pub schema_version: i64,
    /// Its state there.
    pub state: RawState,
    /// Its private state there, in whatever form that provider keeps it.
    pub private: Vec<u8>,
    /// Its identity there.
    pub identity: Option<RawState>,
    /// The version of its identity schema there.
    pub identity_schema_version: i64,
}

/// State taken over from another resource type.
#[derive(Clone, Debug)]
pub struct Moved<M> {
    /// The state here.
    pub state: M,
    /// The private state here.
    pub private: Private,
    /// The identity here.
    pub identity: Option<Value>,
}

/// A managed resource type.
pub trait Resource: Send + Sync + 'static {
    /// The type's name, with the provider's in front: `echo_object`.
    const TYPE: &'static str;

    /// The typed view of configuration, plan and state.
    type Model: Model;

    /// The attributes.
    fn schema(&self) -> Schema;

    /// Checks the configuration. Unknown values must pass.
    fn validate(
        &self,
        _ctx: &Context,
        _config: Self::Model,
        _notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<(), Diagnostics>> + Send {
        async { Ok(()) }
    }

    /// Looks at the object as it is now.
    fn read(
        &self,
        ctx: &Context,
        request: Read<Self::Model>,
        notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<ReadAnswer<Self::Model>, Diagnostics>> + Send;

    /// Plans a create or an update. For a replacement it is asked a second time without `prior`.
    fn plan(
        &self,
        ctx: &Context,
        request: Plan<Self::Model>,
        notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<Planned<Self::Model>, Diagnostics>> + Send;

    /// Plans the end of the object.
    fn plan_destroy(
        &self,
        _ctx: &Context,
        request: PlanDestroy<Self::Model>,
        _notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<Private, Diagnostics>> + Send {
        async move { Ok(request.private) }
    }

    /// Creates the object.
    fn create(
        &self,
        ctx: &Context,
        request: Create<Self::Model>,
        notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<Applied<Self::Model>, ApplyFailure<Self::Model>>> + Send;

    /// Updates the object in place.
    fn update(
        &self,
        ctx: &Context,
        request: Update<Self::Model>,
        notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<Applied<Self::Model>, ApplyFailure<Self::Model>>> + Send;

    /// Deletes the object. After an error state and private state are kept whole.
    fn delete(
        &self,
        ctx: &Context,
        request: Delete<Self::Model>,
        notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<(), Diagnostics>> + Send;

    /// Takes an existing object over.
    fn import(
        &self,
        _ctx: &Context,
        _request: Import,
        _notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<Imported<Self::Model>, Diagnostics>> + Send {
        async { Err(refusal::import(Self::TYPE)) }
    }

    /// Brings state that another version of the schema wrote into the form of this one.
    fn upgrade(&self, from_version: i64, _raw: RawState) -> Result<Self::Model, Diagnostics> {
        Err(refusal::upgrade(Self::TYPE, from_version, self.schema().version()))
    }

    /// Takes the state of another resource type over, for a `moved` block.
    fn move_state(
        &self,
        _ctx: &Context,
        request: MoveState,
        _notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<Moved<Self::Model>, Diagnostics>> + Send {
        async move { Err(refusal::move_state(&request.type_name, Self::TYPE)) }
    }

    /// The attributes that name an object of this type, if it can be named.
    fn identity_schema(&self) -> Option<IdentitySchema> {
        None
    }

    /// Brings an identity that another version of the identity schema wrote into the form of
    /// this one. By default the attributes that still exist are kept.
    fn upgrade_identity(&self, _from_version: i64, raw: RawState) -> Result<Value, Diagnostics> {
        match self.identity_schema() {
            Some(schema) => raw.decode(&schema.value_type()).map_err(Diagnostics::from),
            None => Err(refusal::identity(Self::TYPE)),
        }
    }
}

/// The words of the default answers.
mod refusal {
    use crate::diagnostic::{Diagnostic, Diagnostics};

    pub(super) fn import(ty: &str) -> Diagnostics {
        let detail = format!(
            "The provider has no way to find an existing `{ty}`. \
             Remove the import and let Terraform create the object."
        );
        Diagnostic::error(format!("`{ty}` cannot be imported"), detail).into()
    }

    pub(super) fn upgrade(ty: &str, from: i64, to: i64) -> Diagnostics {
        let detail = format!(
            "The stored state has schema version {from}; this release of the provider reads \
             version {to} and knows no way from the one to the other.\n\n\
             Use the release of the provider that wrote the state, or remove the object from the \
             state and import it."
        );
        Diagnostic::error(format!("The state of this `{ty}` cannot be read"), detail).into()
    }

    pub(super) fn move_state(from: &str, to: &str) -> Diagnostics {
        let detail = format!(
            "The provider cannot turn the state of a `{from}` into that of a `{to}`. \
             Remove the `moved` block; use `removed` and `import` blocks instead."
        );
        Diagnostic::error(format!("`{from}` cannot become `{to}`"), detail).into()
    }

    pub(super) fn identity(ty: &str) -> Diagnostics {
        let detail = format!(
            "The stored state holds an identity, but `{ty}` has none in this release of the \
             provider. Use the release that wrote the state."
        );
        Diagnostic::error(format!("`{ty}` has no identity"), detail).into()
    }
}
