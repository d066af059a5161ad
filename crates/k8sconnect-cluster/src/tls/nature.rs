//! What a text in PEM is, where it is not what belongs there.
//!
//! Keys and certificates come in pairs and get mixed up; telling what was given says more than that
//! it cannot be read. Only the labels are looked at.

use crate::error::ConnectionError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    Certificate,
    Request,
    Key,
    EncryptedKey,
    PublicKey,
}

impl Nature {
    pub(super) fn of(pem: &str) -> Option<Self> {
        let label = pem.split_once("-----BEGIN ")?.1.split_once("-----")?.0;
        match label {
            "CERTIFICATE" | "TRUSTED CERTIFICATE" | "X509 CERTIFICATE" => Some(Self::Certificate),
            "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => Some(Self::Request),
            "ENCRYPTED PRIVATE KEY" => Some(Self::EncryptedKey),
            // The older form says so inside.
            _ if label.ends_with("PRIVATE KEY") && pem.contains("Proc-Type: 4,ENCRYPTED") => {
                Some(Self::EncryptedKey)
            }
            _ if label.ends_with("PRIVATE KEY") => Some(Self::Key),
            _ if label.ends_with("PUBLIC KEY") => Some(Self::PublicKey),
            _ => None,
        }
    }

    /// What is said of it where a certificate belongs.
    pub(super) fn for_certificate(self, field: &'static str) -> Option<ConnectionError> {
        let why = match self {
            Self::Certificate => return None,
            Self::Request => {
                return Some(ConnectionError::Mistaken {
                    field,
                    why: "it is a certificate signing request, which an authority has yet to sign",
                    advice: "Give the certificate that the authority made of it.",
                });
            }
            Self::Key | Self::EncryptedKey => "it is a private key, not a certificate",
            Self::PublicKey => "it is a bare public key, not a certificate",
        };
        Some(ConnectionError::Mistaken { field, why, advice: "Give the certificate instead." })
    }

    /// What is said of it where a private key belongs.
    pub(super) fn for_key(self, field: &'static str) -> Option<ConnectionError> {
        let why = match self {
            Self::Key => return None,
            Self::EncryptedKey => {
                return Some(ConnectionError::Mistaken {
                    field,
                    why: "it is encrypted, and nobody is here to be asked for its password",
                    advice: "Give it decrypted, as `openssl pkey -in FILE` prints it.",
                });
            }
            Self::Certificate => "it is a certificate, not a private key",
            Self::Request => "it is a certificate signing request, not a private key",
            Self::PublicKey => "it is a public key, not a private one",
        };
        Some(ConnectionError::Mistaken { field, why, advice: "Give the private key instead." })
    }
}
