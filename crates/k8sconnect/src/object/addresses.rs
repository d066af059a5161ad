//! Whether the addresses of one configuration agree about one object.
//!
//! What one address destroys another must not lose, and no object has two addresses. Terraform
//! plans each address by itself, so this rests on what the plans of one process note.

use k8sconnect_core::identity::{Gvk, ObjectKey};
use tfplugin::{Diagnostics, Planned};

use super::model::ObjectModel;
use crate::memory::{Claim, Intent};
use crate::messages;
use crate::session::Session;

/// The address that holds an object.
pub(super) struct Holder {
    key: ObjectKey,
    id: String,
    uid: String,
    protected: bool,
}

impl Holder {
    /// `None` for state of another provider, which may not know its object that well.
    pub(super) fn of(prior: &ObjectModel) -> Option<Self> {
        let object = prior.object_ref.known()?;
        let gvk = Gvk::new(object.api_version.as_str()?, object.kind.as_str()?);
        let namespace = object.namespace.as_str().map(str::to_owned);
        Some(Self {
            key: ObjectKey { gvk, namespace, name: object.name.as_str()?.to_owned() },
            id: prior.id.as_str()?.to_owned(),
            uid: prior.uid.as_str().filter(|uid| !uid.is_empty())?.to_owned(),
            protected: prior.delete_protection.known() == Some(&true),
        })
    }

    /// Notes what is planned for its object, and refuses what contradicts another address.
    pub(super) fn plans(
        &self,
        session: &Session,
        planned: &Planned<ObjectModel>,
    ) -> Result<(), Diagnostics> {
        let intent = match planned.requires_replace.is_empty() {
            true => Intent::Keep,
            false if session.memory.is_left_behind(&self.uid) => Intent::MoveOn,
            false => Intent::Remake,
        };
        claim(session, &self.key, &self.uid, Some(&self.id), intent)?;
        if self.protected {
            session.memory.note_protected(&self.uid);
        }
        session.memory.note_handed_on(&planned.private, &self.id);
        Ok(())
    }
}

/// Notes what the address that gave an object this id plans for it, or one that holds none.
pub(super) fn claim(
    session: &Session,
    key: &ObjectKey,
    uid: &str,
    id: Option<&str>,
    intent: Intent,
) -> Result<(), Diagnostics> {
    if uid.is_empty() {
        return Ok(());
    }
    match session.memory.claim_object(uid, id, intent) {
        Claim::Clear => Ok(()),
        Claim::Lost => Err(messages::addresses::destroyed_and_made(key).into()),
        Claim::HeldTwice => Err(messages::addresses::held_twice(key).into()),
    }
}
