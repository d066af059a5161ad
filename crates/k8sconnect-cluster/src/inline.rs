//! A connection that is written out, part by part, instead of by a kubeconfig.
//!
//! Each part is checked by itself, so that all problems can be reported at once, also while other parts
//! are not known yet. Not here: which parts go together, and what the caller calls them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::connection::{ClientCertificate, Trust};
use crate::error::InvalidValue;
use crate::exec::VERSIONS;
use crate::proxy;
use crate::secret::Secret;
use crate::tls;

/// The authorities that may sign the server's certificate: PEM, or base64 of PEM.
pub fn authorities(text: &str) -> Result<Trust, InvalidValue> {
    let pem = pem(text)?;
    tls::authorities(&pem)?;
    Ok(Trust::Authorities(pem))
}

/// A client certificate, whose key is not known yet.
pub fn certificate(text: &str) -> Result<String, InvalidValue> {
    let pem = pem(text)?;
    tls::certificates(&pem)?;
    Ok(pem)
}

/// A key, whose certificate is not known yet.
pub fn key(text: &str) -> Result<Secret, InvalidValue> {
    let pem = Secret::from(pem(text)?);
    tls::key(&pem)?;
    Ok(pem)
}

/// A certificate and a key, each checked, that must belong together.
pub fn pair(certificate: String, key: Secret) -> Result<ClientCertificate, InvalidValue> {
    tls::paired(tls::certificates(&certificate)?, tls::key(&key)?)?;
    Ok(ClientCertificate { certificate, key })
}

pub fn token(text: &str) -> Result<Secret, InvalidValue> {
    let token = Secret::from(filled(text)?.trim());
    token.header("Bearer")?;
    Ok(token)
}

/// The name that the server's certificate must carry.
pub fn server_name(text: &str) -> Result<String, InvalidValue> {
    tls::server_name(filled(text)?)
}

pub fn proxy(text: &str) -> Result<Secret, InvalidValue> {
    let proxy = Secret::from(filled(text)?);
    proxy::check(&proxy)?;
    Ok(proxy)
}

/// The version of the contract with a credential plugin.
pub fn plugin_version(text: &str) -> Result<String, InvalidValue> {
    let is_known = VERSIONS.contains(&text);
    is_known.then(|| text.to_owned()).ok_or(InvalidValue::PluginVersion)
}

pub fn plugin_command(text: &str) -> Result<String, InvalidValue> {
    Ok(plugin_argument(filled(text)?)?.expose().to_owned())
}

/// A NUL ends a text that is given to a program.
pub fn plugin_argument(text: &str) -> Result<Secret, InvalidValue> {
    if text.contains('\0') { Err(InvalidValue::Nul) } else { Ok(text.into()) }
}

/// A variable for the plugin's environment.
pub fn plugin_variable(name: &str, value: &str) -> Result<(String, Secret), InvalidValue> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(InvalidValue::VariableName);
    }
    Ok((name.to_owned(), plugin_argument(value)?))
}

/// Takes PEM as it is, and base64 of it as clouds hand it out.
fn pem(text: &str) -> Result<String, InvalidValue> {
    const MARK: &str = "-----BEGIN ";
    if filled(text)?.contains(MARK) {
        return Ok(text.to_owned());
    }
    from_base64(text).filter(|pem| pem.contains(MARK)).ok_or(InvalidValue::NotPem)
}

/// The text in base64, which may have line breaks.
pub(crate) fn from_base64(text: &str) -> Option<String> {
    let packed: String = text.split_ascii_whitespace().collect();
    BASE64.decode(packed).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

fn filled(text: &str) -> Result<&str, InvalidValue> {
    if text.trim().is_empty() { Err(InvalidValue::Empty) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["k.example".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    #[test]
    fn pem_and_base64_of_it_are_the_same() {
        let (text, secret) = made();
        let packed = |text: &str| BASE64.encode(text).replace('L', "L\n ");
        assert_eq!(authorities(&packed(&text)), Ok(Trust::Authorities(text.clone())));
        assert_eq!(certificate(&packed(&text)), Ok(text));
        assert_eq!(key(&packed(&secret)), Ok(secret.into()));
    }

    #[test]
    fn each_part_that_cannot_be_used_is_refused_with_its_cause() {
        use InvalidValue as Cause;
        let (text, secret) = made();
        let other = Secret::from(made().1);
        let label = |text: &str| Some(text.to_owned());
        let refused = [
            (authorities("hunter2").err(), Cause::NotPem),
            (authorities(&BASE64.encode("hunter2")).err(), Cause::NotPem),
            (authorities(&secret).err(), Cause::NotCertificate(label("PRIVATE KEY"))),
            (certificate("/etc/hunter2.pem").err(), Cause::NotPem),
            (key(&text).err(), Cause::NotPrivateKey(label("CERTIFICATE"))),
            (pair(text, other).err(), Cause::OtherKey),
            (token(" ").err(), Cause::Empty),
            (token("hunter\n2").err(), Cause::Header),
            (server_name("https://hunter2").err(), Cause::ServerName),
            (proxy("hunter2://proxy").err(), Cause::ProxyScheme),
            (plugin_version("hunter2").err(), Cause::PluginVersion),
            (plugin_command("").err(), Cause::Empty),
            (plugin_argument("hunter\0").err(), Cause::Nul),
            (plugin_variable("NAME=hunter2", "").err(), Cause::VariableName),
            (plugin_variable("", "hunter2").err(), Cause::VariableName),
            (plugin_variable("A", "hunter\0").err(), Cause::Nul),
        ];
        for (problem, cause) in refused {
            assert_eq!(problem, Some(cause));
        }
    }
}
