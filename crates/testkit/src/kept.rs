//! What private state says, unpacked: for tests that look for what must not be in it, and for those
//! that edit it by hand.

use anyhow::Result;
use serde_json::Value;
use tfplugin::Private;

/// The texts under all keys, in order.
pub fn kept(private: &Private) -> Result<Vec<String>> {
    private.entries().map(|(_, entry)| Ok(String::from_utf8(entry.to_vec())?)).collect()
}

/// The same private state with a text in place of another one, wherever that stands.
pub fn reworded(private: &Private, from: &str, to: &str) -> Result<Private> {
    let mut edited = Private::default();
    for (key, entry) in private.entries() {
        let text = String::from_utf8(entry.to_vec())?;
        edited.set(key, &serde_json::from_str::<Value>(&text.replace(from, to))?)?;
    }
    Ok(edited)
}
