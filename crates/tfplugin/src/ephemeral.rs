//! Ephemeral resources: values that are opened, kept alive, closed, and never stored.

use std::time::SystemTime;

use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::private::Private;
use crate::schema::Schema;

/// What was opened.
#[derive(Clone, Debug)]
pub struct Opened<M> {
    /// The configuration with what was obtained; nothing in it is stored.
    pub result: M,
    /// What renew and close need.
    pub private: Private,
    /// When to renew; `None` if that is not needed.
    pub renew_at: Option<SystemTime>,
}

/// What was renewed.
#[derive(Clone, Debug)]
pub struct Renewed {
    /// What the next renew and close need.
    pub private: Private,
    /// When to renew again; `None` if that is not needed.
    pub renew_at: Option<SystemTime>,
}

/// An ephemeral resource type.
pub trait Ephemeral: Send + Sync + 'static {
    /// The type's name, with the provider's in front.
    const TYPE: &'static str;

    /// The typed view of configuration and result.
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

    /// Opens.
    fn open(
        &self,
        ctx: &Context,
        config: Self::Model,
        notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<Opened<Self::Model>, Diagnostics>> + Send;

    /// Keeps alive.
    fn renew(
        &self,
        _ctx: &Context,
        private: Private,
        _notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<Renewed, Diagnostics>> + Send {
        async { Ok(Renewed { private, renew_at: None }) }
    }

    /// Gives back.
    fn close(
        &self,
        _ctx: &Context,
        _private: Private,
        _notices: &mut Diagnostics,
    ) -> impl Future<Output = Result<(), Diagnostics>> + Send {
        async { Ok(()) }
    }
}
