//! How a value is kept in private state: with the version of its form, so that a later release
//! knows what it reads and an earlier one refuses what it does not know.

use serde::{Deserialize, Serialize};
use tfplugin::{Diagnostics, Private, PrivateError};

use crate::messages;

const VERSION: u32 = 1;

#[derive(Serialize)]
struct Versioned<T> {
    version: u32,
    #[serde(flatten)]
    content: T,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

pub(crate) fn get<T: for<'de> Deserialize<'de>>(
    private: &Private,
    key: &str,
) -> Result<Option<T>, Diagnostics> {
    let broken = |error: PrivateError| unreadable(key, &error.to_string());
    // Read apart from the content: in one, all of it would be set aside until its form is known.
    match private.get::<Version>(key).map_err(broken)? {
        Some(Version { version: VERSION }) => private.get(key).map_err(broken),
        Some(Version { version }) => {
            let why = format!("it has version {version}, this release reads {VERSION}");
            Err(unreadable(key, &why))
        }
        None => Ok(None),
    }
}

pub(crate) fn set<T: Serialize>(
    private: &mut Private,
    key: &str,
    content: T,
) -> Result<(), Diagnostics> {
    let entry = Versioned { version: VERSION, content };
    private.set(key, &entry).map_err(|error| unreadable(key, &error.to_string()))
}

pub(crate) fn unreadable(key: &str, why: &str) -> Diagnostics {
    messages::state::private_unreadable(key, why).into()
}
