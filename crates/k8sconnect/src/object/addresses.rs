//! Whether the addresses of one configuration agree about one object.
//!
//! An address must not destroy what another one keeps, and no object has two addresses. Terraform
//! plans each address by itself, so each plan enters its action into the plan ledger.

use k8sconnect_core::identity::ObjectKey;
use tfplugin::{Diagnostics, Planned};

use super::model::ObjectModel;
use crate::connect::Reach;
use crate::messages;
use crate::plan_ledger::{Address, Fact, Name, PlannedAction, Target};
use crate::session::Session;

/// The address that has an object in state.
pub(super) struct Holder {
    key: ObjectKey,
    id: String,
    uid: String,
    prior: ObjectModel,
}

impl Holder {
    /// `None` for state of another provider, which may not know its object that well.
    pub(super) fn of(prior: &ObjectModel) -> Option<Self> {
        Some(Self {
            key: prior.object_ref.known()?.key()?,
            id: prior.id.as_str()?.to_owned(),
            uid: prior.uid.as_str().filter(|uid| !uid.is_empty())?.to_owned(),
            prior: prior.clone(),
        })
    }

    /// Enters what is planned for the object, and refuses what contradicts another address.
    pub(super) fn plans(
        &self,
        session: &Session,
        planned: &Planned<ObjectModel>,
    ) -> Result<(), Diagnostics> {
        let (ledger, uid) = (&session.ledger, || self.uid.clone());
        let action = match planned.requires_replace.is_empty() {
            true => PlannedAction::Keep,
            false if ledger.knows(&Fact::Renamed(uid())) => PlannedAction::Rename,
            false => PlannedAction::Replace,
        };
        enter(session, &self.key, &self.uid, Address::InState(self.id.clone()), action)?;
        if self.prior.delete_protection.known() == Some(&true) {
            ledger.note(Fact::Protected(uid()));
        }
        ledger.note_returned(&self.id, &planned.private);
        let state = &planned.state;
        if !state.writes_the_same(&self.prior)
            && let Ok(Reach::Ready(connection)) = session.reach(state.cluster_args())
        {
            ledger.note(Fact::Changed(Name::new(&connection.host, &self.key)));
        }
        Ok(())
    }
}

/// Enters what an address plans for the object with this UID.
pub(super) fn enter(
    session: &Session,
    key: &ObjectKey,
    uid: &str,
    by: Address,
    action: PlannedAction,
) -> Result<(), Diagnostics> {
    if uid.is_empty() {
        return Ok(());
    }
    if let Address::InState(_) = by {
        session.ledger.note(Fact::InState(uid.to_owned()));
    }
    let entered = session.ledger.plan(Target::Object(uid.to_owned()), by, action);
    entered.map_err(|conflict| messages::addresses::conflict(key, &conflict).into())
}
