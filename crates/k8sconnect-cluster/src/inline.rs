//! A connection that is written out, part by part, instead of by a kubeconfig.
//!
//! Each part is checked by itself, so that all that is wrong can be told at once, also while other
//! parts are not known yet. Which parts go together is for whoever has them all to judge. Fields
//! are named as the `cluster` attribute spells them; what they hold is never shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use k8sconnect_core::scrub::quoted;

use crate::connection::{Identity, Trust};
use crate::error::ConnectionError;
use crate::exec::VERSIONS;
use crate::route::Route;
use crate::secret::Secret;
use crate::{credentials, tls};

const AUTHORITY: &str = "cluster_ca_certificate";
const CERTIFICATE: &str = "client_certificate";
const KEY: &str = "client_key";

/// The authorities that may sign the server's certificate: PEM, or base64 of PEM.
pub fn authorities(text: &str) -> Result<Trust, ConnectionError> {
    let pem = pem(AUTHORITY, text)?;
    tls::authorities(AUTHORITY, &pem)?;
    Ok(Trust::Authorities(pem))
}

/// A client certificate, whose key is not known yet.
pub fn certificate(text: &str) -> Result<String, ConnectionError> {
    let pem = pem(CERTIFICATE, text)?;
    tls::certificates(CERTIFICATE, &pem)?;
    Ok(pem)
}

/// A key, whose certificate is not known yet.
pub fn key(text: &str) -> Result<Secret, ConnectionError> {
    let pem = Secret::from(pem(KEY, text)?);
    tls::key(KEY, &pem)?;
    Ok(pem)
}

/// A client certificate with the key that belongs to it.
pub fn identity(certificate: &str, key: &str) -> Result<Identity, ConnectionError> {
    let (certificate, key) = (self::certificate(certificate)?, self::key(key)?);
    let identity = Identity { certificate, key };
    tls::certified(CERTIFICATE, KEY, &identity)?;
    Ok(identity)
}

pub fn token(text: &str) -> Result<Secret, ConnectionError> {
    let token = text.trim();
    filled("token", token)?;
    credentials::bearer(token)?;
    Ok(token.into())
}

/// The name that the server's certificate must carry.
pub fn server_name(text: &str) -> Result<String, ConnectionError> {
    filled("tls_server_name", text)?;
    tls::server_name("tls_server_name", text)
}

pub fn proxy(text: &str) -> Result<Secret, ConnectionError> {
    filled("proxy_url", text)?;
    let proxy = Secret::from(text);
    Route::check("proxy_url", &proxy)?;
    Ok(proxy)
}

/// The version of the contract with a credential plugin.
pub fn plugin_version(text: &str) -> Result<String, ConnectionError> {
    if VERSIONS.contains(&text) {
        return Ok(text.to_owned());
    }
    let why = format!("it must be `{}` or `{}`", VERSIONS[0], VERSIONS[1]);
    Err(unusable("exec.api_version", &why))
}

pub fn plugin_command(text: &str) -> Result<String, ConnectionError> {
    if text.trim().is_empty() {
        return Err(unusable("exec.command", "it is empty"));
    }
    runnable("exec.command", text)?;
    Ok(text.to_owned())
}

pub fn plugin_argument(text: &str) -> Result<Secret, ConnectionError> {
    runnable("exec.args", text)?;
    Ok(text.into())
}

/// A variable for the plugin's environment.
pub fn plugin_variable(name: &str, value: &str) -> Result<(String, Secret), ConnectionError> {
    // What follows the sign was meant for a value, and may be a secret.
    let why = match name.split_once('=') {
        Some(("", _)) => Some("a name in it begins with `=`".to_owned()),
        Some((name, _)) => Some(format!(
            "the name {} in it is followed by a `=`: what follows belongs into its value",
            quoted(name)
        )),
        None if name.is_empty() => Some("a name in it is empty".to_owned()),
        None if name.contains('\0') => Some(NUL.to_owned()),
        None if value.contains('\0') => Some(format!("of the value of {}: {NUL}", quoted(name))),
        None => None,
    };
    if let Some(why) = why {
        return Err(unusable("exec.env", &why));
    }
    Ok((name.to_owned(), value.into()))
}

/// What no program can be handed: its end is taken for that of the text.
fn runnable(field: &'static str, text: &str) -> Result<(), ConnectionError> {
    if text.contains('\0') { Err(unusable(field, NUL)) } else { Ok(()) }
}

const NUL: &str = "it holds a NUL character, which no program can be handed";

/// Takes PEM as it is, and base64 of it as clouds hand it out.
fn pem(field: &'static str, text: &str) -> Result<String, ConnectionError> {
    const MARK: &str = "-----BEGIN ";
    filled(field, text)?;
    if text.contains(MARK) {
        return Ok(text.to_owned());
    }
    let packed: String = text.split_ascii_whitespace().collect();
    let decoded = BASE64.decode(packed).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded
        .filter(|pem| pem.contains(MARK))
        .ok_or_else(|| unusable(field, "it is neither PEM nor base64 of PEM"))
}

fn filled(field: &'static str, text: &str) -> Result<(), ConnectionError> {
    if text.trim().is_empty() { Err(ConnectionError::Empty { field }) } else { Ok(()) }
}

fn unusable(field: &'static str, why: &str) -> ConnectionError {
    ConnectionError::BadValue { field, why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["k.example".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    #[test]
    fn pem_and_base64_of_it_are_the_same() {
        let (certificate, key) = pair();
        let packed = |text: &str| BASE64.encode(text).replace('L', "L\n ");
        assert_eq!(authorities(&packed(&certificate)), Ok(Trust::Authorities(certificate.clone())));
        let plain = identity(&certificate, &key).unwrap();
        assert_eq!(identity(&packed(&certificate), &packed(&key)).unwrap(), plain);
    }

    #[test]
    fn a_variable_that_cannot_be_set_is_named() {
        let told = |name, value| plugin_variable(name, value).err().unwrap().to_string();
        assert!(told("FIRST=1", "").contains("`FIRST`"));
        assert!(told("SECOND", "\0").contains("`SECOND`"));
    }

    #[test]
    fn each_part_that_cannot_be_used_is_named_and_not_quoted() {
        let (certificate, key) = pair();
        let other = pair().1;
        let refused = [
            ("cluster_ca_certificate", authorities("hunter2").err()),
            ("cluster_ca_certificate", authorities(&BASE64.encode("hunter2")).err()),
            ("cluster_ca_certificate", authorities(&key).err()),
            ("client_certificate", identity("/etc/hunter2.pem", &key).err()),
            ("client_key", identity(&certificate, "hunter2").err()),
            ("client_key", identity(&certificate, &other).err()),
            ("client_key", self::key(&certificate).err()),
            ("token", token(" ").err()),
            ("token", token("hunter\n2").err()),
            ("tls_server_name", server_name("https://hunter2").err()),
            ("proxy_url", proxy("hunter2://proxy").err()),
            ("exec.api_version", plugin_version("hunter2").err()),
            ("exec.command", plugin_command("").err()),
            ("exec.args", plugin_argument("hunter\0").err()),
            ("exec.env", plugin_variable("NAME=hunter2", "").err()),
            ("exec.env", plugin_variable("=hunter2", "").err()),
            ("exec.env", plugin_variable("", "hunter2").err()),
            ("exec.env", plugin_variable("A", "hunter\0").err()),
        ];
        for (field, error) in refused {
            let told = error.unwrap_or_else(|| panic!("`{field}` was taken")).to_string();
            assert!(told.contains(&format!("`{field}` cannot be used")), "{told}");
            assert!(!told.contains("hunter"), "{told}");
        }
    }
}
