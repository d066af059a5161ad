//! Tokens of service accounts, signed as the API server signs them, for times that it would not
//! give out: it makes none that are over, and none shorter than ten minutes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::SignatureScheme;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

use super::authority::Validity;
use super::parts::{ISSUER, SERVICE_ACCOUNT_KEY};
use super::{ControlPlane, Target};

const HOUR: Duration = Duration::from_secs(3600);

impl ControlPlane {
    /// A token of a service account that is there.
    pub async fn account_token(
        &self,
        namespace: &str,
        account: &str,
        validity: Validity,
    ) -> Result<String> {
        let target = Target::new("v1", "ServiceAccount", namespace, account);
        let live = self.read(&target).await?.with_context(|| format!("there is no {target}"))?;
        // A clock before 1970 is not worth a thought.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (from, until) = match validity {
            Validity::Now => (now - HOUR, now + HOUR),
            Validity::Past => (now - 2 * HOUR, now - HOUR),
            Validity::Future => (now + HOUR, now + 2 * HOUR),
        };
        let claims = json!({
            "iss": ISSUER, "aud": [ISSUER],
            "sub": format!("system:serviceaccount:{namespace}:{account}"),
            "iat": from.as_secs(), "nbf": from.as_secs(), "exp": until.as_secs(),
            "kubernetes.io": {
                "namespace": namespace,
                "serviceaccount": { "name": account, "uid": live["metadata"]["uid"] },
            },
        });
        self.signed(&claims)
    }

    fn signed(&self, claims: &Value) -> Result<String> {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(&json!({ "alg": "ES256", "typ": "JWT" })), part(claims));
        let key = PrivateKeyDer::from_pem_file(self.folder.join(SERVICE_ACCOUNT_KEY))?;
        let key = rustls::crypto::aws_lc_rs::sign::any_ecdsa_type(&key)?;
        let signer = key
            .choose_scheme(&[SignatureScheme::ECDSA_NISTP256_SHA256])
            .context("the key of service accounts is of another kind")?;
        let signature = bare(&signer.sign(text.as_bytes())?).context("an odd signature")?;
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// The two numbers of a signature, 32 bytes each, out of their DER envelope.
fn bare(der: &[u8]) -> Option<Vec<u8>> {
    let (_, mut rest) = der.split_at_checked(2)?;
    let mut numbers = Vec::new();
    for _ in 0..2 {
        let (&[_, length], after) = rest.split_first_chunk::<2>()?;
        let (number, after) = after.split_at_checked(length.into())?;
        // A leading zero only says that the number is not negative.
        let number = number.strip_prefix(&[0]).unwrap_or(number);
        numbers.resize(numbers.len() + 32usize.checked_sub(number.len())?, 0);
        numbers.extend(number);
        rest = after;
    }
    Some(numbers)
}
