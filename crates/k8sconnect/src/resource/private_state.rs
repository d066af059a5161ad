//! Private state of one resource: values by key, each with the version of its form. A release refuses a
//! version that it does not know.

use std::sync::Arc;

use k8sconnect_core::recent::Recent;
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

/// Read apart from the content: the version decides how to read that.
#[derive(Deserialize)]
struct FormVersion {
    version: u32,
}

pub(crate) fn get<T: for<'de> Deserialize<'de>>(
    private: &Private,
    key: &str,
) -> Result<Option<T>, Diagnostics> {
    let broken = |error: PrivateError| unreadable(key, &error.to_string());
    match private.get::<FormVersion>(key).map_err(broken)? {
        Some(FormVersion { version: VERSION }) => private.get(key).map_err(broken),
        Some(FormVersion { version }) => {
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
    let stored = private.set(key, &Versioned { version: VERSION, content });
    stored.map_err(|error| unreadable(key, &error.to_string()))
}

/// Reads a value once for the calls of one run, which all bring the same private state.
pub(crate) fn get_cached<T: for<'de> Deserialize<'de>>(
    private: &Private,
    key: &str,
    recent: &Recent<T>,
) -> Result<Option<Arc<T>>, Diagnostics> {
    let Some(text) = private.text(key) else {
        return Ok(None);
    };
    let empty = || unreadable(key, "it is empty");
    recent.of(&text, |_| get(private, key)?.ok_or_else(empty)).map(Some)
}

fn unreadable(key: &str, why: &str) -> Diagnostics {
    messages::state::private_unreadable(key, why).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_version_is_refused() {
        let mut private = Private::default();
        private.set("kept", &serde_json::json!({"version": 2, "a": "b"})).unwrap();
        let problems = get::<serde_json::Value>(&private, "kept").unwrap_err();
        assert!(problems.iter().any(|it| it.detail.contains("version 2")), "{problems:?}");
    }
}
