//! How a value is kept in private state: with the version of its form, so that a later release
//! knows what it reads and an earlier one refuses what it does not know.
//!
//! What is large is kept deflated. Terraform copies, writes and compares the whole state for every
//! instance that it applies, so that what an instance adds to it is paid as often as there are
//! instances.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use k8sconnect_core::recent::Recent;
use serde::{Deserialize, Serialize};
use tfplugin::{Diagnostics, Private, PrivateError};

use crate::deflate::{deflated, inflated};
use crate::messages;

const VERSION: u32 = 1;

/// What is shorter would hardly gain.
const LARGE: usize = 500;

#[derive(Serialize)]
struct Versioned<T> {
    version: u32,
    #[serde(flatten)]
    content: T,
}

#[derive(Serialize)]
struct Packed {
    deflated: String,
}

/// Read apart from the content: in one, all of it would be set aside until its form is known.
#[derive(Deserialize)]
struct Form {
    version: u32,
    deflated: Option<String>,
}

pub(crate) fn get<T: for<'de> Deserialize<'de>>(
    private: &Private,
    key: &str,
) -> Result<Option<T>, Diagnostics> {
    let broken = |error: PrivateError| unreadable(key, &error.to_string());
    match private.get::<Form>(key).map_err(broken)? {
        Some(Form { version: VERSION, deflated: None }) => private.get(key).map_err(broken),
        Some(Form { version: VERSION, deflated: Some(text) }) => {
            unpacked(&text).map(Some).map_err(|why| unreadable(key, &why))
        }
        Some(Form { version, .. }) => {
            let why = format!("it has version {version}, this release reads {VERSION}");
            Err(unreadable(key, &why))
        }
        None => Ok(None),
    }
}

/// What was made of a value lately, or is made of it now: a read and the plan behind it are handed
/// the same.
pub(crate) fn recall<T: for<'de> Deserialize<'de>, M>(
    private: &Private,
    key: &str,
    recent: &Recent<M>,
    make: impl FnOnce(T) -> Result<M, String>,
) -> Result<Option<Arc<M>>, Diagnostics> {
    let Some(text) = private.text(key) else {
        return Ok(None);
    };
    let broken = |why: String| unreadable(key, &why);
    let read = |_: &str| {
        let stored = get(private, key)?.ok_or_else(|| broken("it is empty".to_owned()))?;
        make(stored).map_err(broken)
    };
    recent.of(&text, read).map(Some)
}

pub(crate) fn set<T: Serialize>(
    private: &mut Private,
    key: &str,
    content: T,
) -> Result<(), Diagnostics> {
    let broken = |why: String| unreadable(key, &why);
    let plain = serde_json::to_vec(&content).map_err(|error| broken(error.to_string()))?;
    let stored = match plain.len() > LARGE {
        true => {
            let deflated = BASE64.encode(deflated(&plain));
            private.set(key, &Versioned { version: VERSION, content: Packed { deflated } })
        }
        false => private.set(key, &Versioned { version: VERSION, content }),
    };
    stored.map_err(|error| broken(error.to_string()))
}

/// Fails with the place and never with what was met there: it may be secret.
fn unpacked<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
    let packed = BASE64.decode(text).map_err(|_| "it is no base64".to_owned())?;
    let plain = inflated(&packed).ok_or("it cannot be inflated")?;
    serde_json::from_slice(&plain)
        .map_err(|error| format!("line {}, column {}", error.line(), error.column()))
}

pub(crate) fn unreadable(key: &str, why: &str) -> Diagnostics {
    messages::state::private_unreadable(key, why).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Content {
        a: String,
    }

    fn kept(text: &str) -> Private {
        let mut private = Private::default();
        set(&mut private, "kept", Content { a: text.to_owned() }).unwrap();
        private
    }

    fn text_of(private: &Private) -> String {
        get::<Content>(private, "kept").unwrap().unwrap().a
    }

    #[test]
    fn large_and_small_come_back_and_what_is_large_takes_little_room() {
        let large = "x".repeat(5000);
        for text in ["short", &large] {
            let private = kept(text);
            assert!(private.to_bytes().len() < 300, "{}", private.to_bytes().len());
            let again = Private::from_bytes(&private.to_bytes()).unwrap();
            assert_eq!(text_of(&again), text);
        }
    }

    #[test]
    fn what_is_damaged_or_of_another_version_is_refused() {
        for stored in [
            r#"{"version": 2, "a": "b"}"#,
            r#"{"version": 1, "deflated": "*"}"#,
            r#"{"version": 1, "deflated": "AAAA"}"#,
        ] {
            let mut private = Private::default();
            let value: serde_json::Value = serde_json::from_str(stored).unwrap();
            private.set("kept", &value).unwrap();
            assert!(get::<serde_json::Value>(&private, "kept").is_err(), "{stored}");
        }
    }
}
