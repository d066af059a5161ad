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

use crate::connection::{Identity, Tls, Trust};
use crate::error::ConnectionError;
use crate::secret::Secret;
use nature::Nature;

mod der;
mod nature;

/// `identity` is the connection's own or one that a plugin brought.
pub(crate) fn client_config(
    tls: &Tls,
    identity: Option<&Identity>,
) -> Result<ClientConfig, ConnectionError> {
    let unusable =
        |error: rustls::Error| ConnectionError::BadValue { field: "tls", why: error.to_string() };
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(verifier(&tls.trust)?);
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(identity) => {
            let shown = certified("client-certificate", "client-key", identity)?;
            let shown = SingleCertAndKey::from(shown);
            config.with_client_cert_resolver(Arc::new(shown))
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// For the proxy that leads to a server. It may be of the server's own house or of the machine's,
/// so either's authorities will do. Whoever trusts any server has said nothing of the proxy, which
/// is shown a login of its own. It is spoken to in HTTP/1.1, whatever the server speaks.
pub(crate) fn proxy_config(tls: &Tls) -> Result<ClientConfig, ConnectionError> {
    let verifier: Arc<dyn ServerCertVerifier> = match (&tls.trust, system_verifier()) {
        (Trust::Authorities(_), Ok(system)) => {
            Arc::new(Either { own: verifier(&tls.trust)?, system })
        }
        (Trust::Authorities(_), Err(_)) => verifier(&tls.trust)?,
        (Trust::System | Trust::Anyone, system) => system?,
    };
    let unusable =
        |error: rustls::Error| ConnectionError::BadValue { field: "tls", why: error.to_string() };
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Put together by hand, because rustls' own way refuses version 1 certificates, which a plain
/// `openssl x509 -req` makes and which Kubernetes takes.
pub(crate) fn certified(
    certificate_field: &'static str,
    key_field: &'static str,
    identity: &Identity,
) -> Result<CertifiedKey, ConnectionError> {
    let chain = certificates(certificate_field, &identity.certificate)?;
    let key = key(key_field, &identity.key)?;
    let shown = chain.first().and_then(|own| der::public_key(own));
    let shown = shown.ok_or_else(|| no_certificate(certificate_field))?;
    if key.public_key().is_some_and(|held| held.as_ref() != shown) {
        return Err(ConnectionError::WrongKey { field: key_field });
    }
    Ok(CertifiedKey::new(chain, key))
}

pub(crate) fn key(
    field: &'static str,
    pem: &Secret,
) -> Result<Arc<dyn SigningKey>, ConnectionError> {
    let why = "it is not a private key in PEM (PKCS#8, PKCS#1 or SEC1, not encrypted)";
    // The parser's error may quote the text, and the text is the key.
    PrivateKeyDer::from_pem_slice(pem.expose().as_bytes())
        .ok()
        .and_then(|key| provider().key_provider.load_private_key(key).ok())
        .ok_or_else(|| {
            let mistaken = Nature::of(pem.expose()).and_then(|nature| nature.for_key(field));
            mistaken.unwrap_or_else(|| ConnectionError::BadValue { field, why: why.into() })
        })
}

fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    PROVIDER.get_or_init(|| Arc::new(aws_lc_rs::default_provider())).clone()
}

fn verifier(trust: &Trust) -> Result<Arc<dyn ServerCertVerifier>, ConnectionError> {
    match trust {
        Trust::System => system_verifier(),
        Trust::Anyone => Ok(Arc::new(Anyone(provider()))),
        Trust::Authorities(pem) => {
            let field = "certificate-authority";
            let roots = authorities(field, pem)?.into();
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider());
            let unusable = |error: rustls::server::VerifierBuilderError| {
                ConnectionError::BadValue { field, why: error.to_string() }
            };
            Ok(verifier.build().map_err(unusable)?)
        }
    }
}

pub(crate) fn authorities(
    field: &'static str,
    pem: &str,
) -> Result<RootCertStore, ConnectionError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(field, pem)? {
        let unusable =
            |error: rustls::Error| ConnectionError::BadValue { field, why: error.to_string() };
        roots.add(certificate).map_err(unusable)?;
    }
    Ok(roots)
}

fn system_verifier() -> Result<Arc<dyn ServerCertVerifier>, ConnectionError> {
    type Verifier = rustls_platform_verifier::Verifier;
    static VERIFIER: OnceLock<Result<Arc<Verifier>, String>> = OnceLock::new();
    let verifier = VERIFIER
        .get_or_init(|| Verifier::new(provider()).map(Arc::new).map_err(|error| error.to_string()));
    match verifier {
        Ok(verifier) => Ok(verifier.clone()),
        Err(why) => Err(ConnectionError::BadValue {
            field: "certificate-authority",
            why: format!("none is given, and this machine's own cannot be read: {why}"),
        }),
    }
}

pub(crate) fn certificates(
    field: &'static str,
    pem: &str,
) -> Result<Vec<CertificateDer<'static>>, ConnectionError> {
    let unusable = |why: &str| ConnectionError::BadValue { field, why: why.into() };
    let found = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<Vec<_>, _>>();
    match found {
        Ok(found) if found.is_empty() => {
            let mistaken = Nature::of(pem).and_then(|nature| nature.for_certificate(field));
            Err(mistaken.unwrap_or_else(|| unusable("there is no certificate in PEM in it")))
        }
        Ok(found) if found.iter().any(|one| der::public_key(one).is_none()) => {
            Err(no_certificate(field))
        }
        Ok(found) => Ok(found),
        Err(_) => Err(unusable("it is not PEM")),
    }
}

/// The name that a server's certificate must carry.
pub(crate) fn server_name(field: &'static str, text: &str) -> Result<String, ConnectionError> {
    let why = "it is neither a DNS name nor an IP address";
    match ServerName::try_from(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err(ConnectionError::BadValue { field, why: why.into() }),
    }
}

fn no_certificate(field: &'static str) -> ConnectionError {
    let why = "what stands in its PEM is no certificate".into();
    ConnectionError::BadValue { field, why }
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

/// Good by the one or by the other. Signatures are checked alike by both.
#[derive(Debug)]
struct Either {
    own: Arc<dyn ServerCertVerifier>,
    system: Arc<dyn ServerCertVerifier>,
}

impl ServerCertVerifier for Either {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let judged = |by: &Arc<dyn ServerCertVerifier>| {
            by.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        };
        judged(&self.own).or_else(|refused| judged(&self.system).map_err(|_| refused))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.own.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.own.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.own.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests;
