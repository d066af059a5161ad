//! Whom we trust and who we are, as rustls wants it.
//!
//! aws-lc-rs does the arithmetic, named explicitly: there is no process-wide default to set in a
//! library. Given no authority, the operating system's are asked; reading those takes
//! milliseconds, so it is done once for all clusters of the process.

use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::{CertifiedKey, SigningKey, SingleCertAndKey};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::connection::{ClientCertificate, Tls, Trust};
use crate::error::{ConnectionError, InvalidValue};
use crate::secret::Secret;

mod der;

type Verifier = rustls_platform_verifier::Verifier;

const AUTHORITY: &str = "certificate-authority";

/// `shown` is the connection's own certificate or one that a plugin brought.
pub(crate) fn client_config(
    tls: &Tls,
    shown: Option<&ClientCertificate>,
) -> Result<ClientConfig, ConnectionError> {
    let verifier: Arc<dyn ServerCertVerifier> = match &tls.trust {
        Trust::System => system_verifier()?,
        Trust::Anyone => Arc::new(Anyone(provider())),
        Trust::Authorities(pem) => {
            let roots = authorities(pem).map_err(|problem| problem.of(AUTHORITY))?;
            let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider());
            verifier.build().map_err(|error| InvalidValue::Tls(error.to_string()).of(AUTHORITY))?
        }
    };
    let shown = shown.map(|it| certified(["client-certificate", "client-key"], it)).transpose()?;
    config(verifier, shown, &[b"h2", b"http/1.1"])
}

/// For the proxy that leads to a server. Its certificate may be signed by an authority of the cluster
/// or of the machine. `insecure` is about the server alone: the proxy is sent credentials of its own.
/// It is spoken to in HTTP/1.1, whatever the server speaks.
pub(crate) fn proxy_config(tls: &Tls) -> Result<ClientConfig, ConnectionError> {
    let verifier = match &tls.trust {
        Trust::System | Trust::Anyone => system_verifier()?,
        Trust::Authorities(pem) => {
            let more = certificates(pem).map_err(|problem| problem.of(AUTHORITY))?;
            let both = Verifier::new_with_extra_roots(more, provider());
            Arc::new(both.map_err(|error| InvalidValue::Tls(error.to_string()).of(AUTHORITY))?)
        }
    };
    config(verifier, None, &[b"http/1.1"])
}

fn config(
    verifier: Arc<dyn ServerCertVerifier>,
    shown: Option<CertifiedKey>,
    protocols: &[&[u8]],
) -> Result<ClientConfig, ConnectionError> {
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| InvalidValue::Tls(error.to_string()).of(AUTHORITY))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match shown {
        None => config.with_no_client_auth(),
        Some(shown) => config.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(shown))),
    };
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(config)
}

/// A certificate with its key. `fields`: where each stands.
pub(crate) fn certified(
    fields: [&'static str; 2],
    shown: &ClientCertificate,
) -> Result<CertifiedKey, ConnectionError> {
    let [certificate_field, key_field] = fields;
    let chain =
        certificates(&shown.certificate).map_err(|problem| problem.of(certificate_field))?;
    let key = key(&shown.key).map_err(|problem| problem.of(key_field))?;
    paired(chain, key).map_err(|problem| problem.of(key_field))
}

/// Put together by hand, because rustls' own way refuses version 1 certificates, which a plain
/// `openssl x509 -req` makes and which Kubernetes takes.
pub(crate) fn paired(
    chain: Vec<CertificateDer<'static>>,
    key: Arc<dyn SigningKey>,
) -> Result<CertifiedKey, InvalidValue> {
    let own = chain.first().and_then(|own| der::public_key(own));
    let own = own.ok_or(InvalidValue::NotCertificate(None))?;
    match key.public_key() {
        Some(held) if held.as_ref() != own => Err(InvalidValue::OtherKey),
        _ => Ok(CertifiedKey::new(chain, key)),
    }
}

pub(crate) fn key(pem: &Secret) -> Result<Arc<dyn SigningKey>, InvalidValue> {
    // The parser's error may quote the text, and the text is the key.
    PrivateKeyDer::from_pem_slice(pem.expose().as_bytes())
        .ok()
        .and_then(|key| provider().key_provider.load_private_key(key).ok())
        .ok_or_else(|| {
            let is_other =
                |it: &String| !it.ends_with("PRIVATE KEY") || it.starts_with("ENCRYPTED");
            InvalidValue::NotPrivateKey(label(pem.expose()).filter(is_other))
        })
}

pub(crate) fn authorities(pem: &str) -> Result<RootCertStore, InvalidValue> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        roots.add(certificate).map_err(|error| InvalidValue::Tls(error.to_string()))?;
    }
    Ok(roots)
}

pub(crate) fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, InvalidValue> {
    let found = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|_| InvalidValue::NotPem)?;
    match found.is_empty() || found.iter().any(|one| der::public_key(one).is_none()) {
        true => Err(InvalidValue::NotCertificate(label(pem).filter(|_| found.is_empty()))),
        false => Ok(found),
    }
}

/// The first label in a text of PEM. Anything but capitals, digits and spaces is no label.
fn label(pem: &str) -> Option<String> {
    let label = pem.split_once("-----BEGIN ")?.1.split_once("-----")?.0;
    let is_label = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == ' ';
    (label.len() < 40 && label.chars().all(is_label)).then(|| label.to_owned())
}

/// The name that a server's certificate must carry.
pub(crate) fn server_name(text: &str) -> Result<String, InvalidValue> {
    ServerName::try_from(text).map_err(|_| InvalidValue::ServerName)?;
    Ok(text.to_owned())
}

fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    PROVIDER.get_or_init(|| Arc::new(aws_lc_rs::default_provider())).clone()
}

fn system_verifier() -> Result<Arc<Verifier>, ConnectionError> {
    static VERIFIER: OnceLock<Result<Arc<Verifier>, rustls::Error>> = OnceLock::new();
    let verifier = VERIFIER.get_or_init(|| Verifier::new(provider()).map(Arc::new)).clone();
    verifier.map_err(|error| InvalidValue::NoAuthorities(error.to_string()).of(AUTHORITY))
}

/// `insecure-skip-tls-verify`: any certificate will do, but whoever shows it must hold its key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests;
