//! The text of kubeconfigs, in JSON, which is YAML.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::authority::Identity;

pub(crate) fn with_token(url: &str, ca: &str, user: &str, token: &str) -> String {
    text(url, ca, user, json!({ "token": token }))
}

pub(crate) fn with_certificate(url: &str, ca: &str, user: &str, identity: &Identity) -> String {
    let credentials = json!({
        "client-certificate-data": STANDARD.encode(&identity.certificate),
        "client-key-data": STANDARD.encode(&identity.key),
    });
    text(url, ca, user, credentials)
}

fn text(url: &str, ca: &str, user: &str, credentials: Value) -> String {
    let whole = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": "testkit",
            "cluster": { "server": url, "certificate-authority-data": STANDARD.encode(ca) },
        }],
        "users": [{ "name": user, "user": credentials }],
        "contexts": [{ "name": "testkit", "context": { "cluster": "testkit", "user": user } }],
        "current-context": "testkit",
    });
    format!("{whole:#}\n")
}
