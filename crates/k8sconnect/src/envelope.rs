//! How a value is kept in private state: with the version of its form, so that a later release
//! knows what it reads and an earlier one refuses what it does not know.

use serde::{Deserialize, Serialize};
use tfplugin::{Diagnostics, Private};

use crate::messages;

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u32,
    #[serde(flatten)]
    content: T,
}

pub(crate) fn get<T: for<'de> Deserialize<'de>>(
    private: &Private,
    key: &str,
) -> Result<Option<T>, Diagnostics> {
    let entry: Option<Versioned<T>> =
        private.get(key).map_err(|error| unreadable(key, &error.to_string()))?;
    match entry {
        Some(entry) if entry.version == VERSION => Ok(Some(entry.content)),
        Some(entry) => {
            let why = format!("it has version {}, this release reads {VERSION}", entry.version);
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
