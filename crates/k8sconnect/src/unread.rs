//! The mark of a refresh that could not read its object, kept in private state.
//!
//! State may be out of date then. The plan that follows reads the object itself, through the
//! connection in the configuration, also where it is made in another process.

use serde::{Deserialize, Serialize};
use tfplugin::{Diagnostics, Private};

use crate::envelope::{get, set};

pub(crate) const UNREAD: &str = "unread";

#[derive(Serialize, Deserialize)]
struct StoredUnread {}

pub(crate) fn load(private: &Private) -> Result<bool, Diagnostics> {
    Ok(get::<StoredUnread>(private, UNREAD)?.is_some())
}

pub(crate) fn save(unread: bool, private: &mut Private) -> Result<(), Diagnostics> {
    if unread {
        return set(private, UNREAD, StoredUnread {});
    }
    if private.contains(UNREAD) {
        private.remove(UNREAD);
    }
    Ok(())
}
