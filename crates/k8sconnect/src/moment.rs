//! When a plan is made: for the user to see, or once more while it is applied.
//!
//! What was planned as an update cannot become a replacement while it is being applied, so whoever
//! finds out only then must refuse. Terraform plans again in a process that reads nothing, and
//! allows deferrals only then. OpenTofu never says, so that its apply looks like a plan without a
//! refresh.

use tfplugin::Context;

use crate::session::Session;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Planning,
    Applying,
    /// During an apply, or in a plan without a refresh.
    Unclear,
}

impl Moment {
    /// The moment at which the resource with this id is planned.
    pub(crate) fn of(ctx: &Context, session: &Session, id: &str) -> Self {
        if session.memory.has_looked_for(id) {
            Self::Planning
        } else if ctx.capabilities().deferral_allowed {
            Self::Applying
        } else {
            Self::Unclear
        }
    }

    /// The moment at which something is planned that state does not hold: known by whether anything
    /// was read that it does hold.
    pub(crate) fn of_creation(ctx: &Context, session: &Session) -> Self {
        if session.memory.has_read_any() {
            Self::Planning
        } else if ctx.capabilities().deferral_allowed {
            Self::Applying
        } else {
            Self::Unclear
        }
    }
}
