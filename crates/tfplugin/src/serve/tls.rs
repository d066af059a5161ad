//! The two certificates: the one we make, and the one that the client must show.
//!
//! Terraform makes a certificate for each start and hands it over in the environment. It is a
//! certificate authority's by its flags, which the usual verifiers refuse in a client, so it is
//! compared byte for byte instead; that the client holds its key is checked by the handshake.

use std::sync::Arc;

use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, SignatureScheme};
use tokio_rustls::TlsAcceptor;

use super::Problem;

/// Who we are to the client, and how we know it.
pub(super) struct Identity {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) acceptor: TlsAcceptor,
}

impl Identity {
    /// A new certificate of ours, for a client that must show exactly this one of its own.
    pub(super) fn pinned_to(client_pem: &str) -> Result<Self, Problem> {
        let client = CertificateDer::from_pem_slice(client_pem.as_bytes())
            .map_err(|err| Problem::ClientCertificate(err.to_string()))?;
        let crypto = Arc::new(aws_lc_rs::default_provider());
        let (certificate, key) = own_certificate().map_err(|err| Problem::Tls(err.to_string()))?;
        let pinned = Pinned { client: client.into_owned(), crypto: Arc::clone(&crypto) };
        let mut config = rustls::ServerConfig::builder_with_provider(crypto)
            .with_safe_default_protocol_versions()
            .map_err(|err| Problem::Tls(err.to_string()))?
            .with_client_cert_verifier(Arc::new(pinned))
            .with_single_cert(vec![certificate.clone()], key.into())
            .map_err(|err| Problem::Tls(err.to_string()))?;
        // Newer clients refuse a connection that does not agree on HTTP/2 here.
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self { certificate, acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}

fn own_certificate() -> Result<(CertificateDer<'static>, PrivatePkcs8KeyDer<'static>), rcgen::Error>
{
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let mut params = CertificateParams::new(["localhost".to_owned()])?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.self_signed(&key)?;
    Ok((certificate.der().clone(), PrivatePkcs8KeyDer::from(key.serialize_der())))
}

#[derive(Debug)]
struct Pinned {
    client: CertificateDer<'static>,
    crypto: Arc<CryptoProvider>,
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        if shown.as_ref() == self.client.as_ref() {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.crypto.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.crypto.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.crypto.signature_verification_algorithms.supported_schemes()
    }
}
