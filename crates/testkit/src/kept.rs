//! What private state says, unpacked: for tests that look for what must not be in it, and for those
//! that edit it by hand.

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use miniz_oxide::inflate::decompress_to_vec;
use serde_json::Value;
use tfplugin::Private;

/// The texts under all keys, in order.
pub fn kept(private: &Private) -> Result<Vec<String>> {
    private.entries().map(|(_, entry)| text(entry)).collect()
}

/// The same private state with a text in place of another one, wherever that stands.
pub fn reworded(private: &Private, from: &str, to: &str) -> Result<Private> {
    let mut edited = Private::default();
    for (key, entry) in private.entries() {
        let mut value: Value = serde_json::from_str(&text(entry)?.replace(from, to))?;
        let version: Value = serde_json::from_slice(entry)?;
        value["version"] = version["version"].clone();
        edited.set(key, &value)?;
    }
    Ok(edited)
}

fn text(entry: &[u8]) -> Result<String> {
    let value: Value = serde_json::from_slice(entry)?;
    let plain = match value["deflated"].as_str() {
        Some(packed) => decompress_to_vec(&BASE64.decode(packed)?)
            .ok()
            .context("what is kept cannot be inflated")?,
        None => entry.to_vec(),
    };
    Ok(String::from_utf8(plain)?)
}
