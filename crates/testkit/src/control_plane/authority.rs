//! The certificate authority of one control plane: it signs the server's certificate and
//! those of the users that tests act as. The key lies in the control plane's folder, so
//! that test processes that share a control plane can make users too.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};

pub(crate) const CA_CERTIFICATE: &str = "ca.crt";
pub(crate) const CA_KEY: &str = "ca.key";

pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// When a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// For as long as anyone may test.
    Now,
    /// Until an hour ago.
    Past,
    /// From in an hour on.
    Future,
}

impl Validity {
    fn limit(self, params: &mut CertificateParams) {
        const HOUR: Duration = Duration::from_secs(3600);
        // A clock before 1970 is not worth a thought.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = date_time_ymd(1970, 1, 1) + since;
        match self {
            Self::Now => {}
            Self::Past => params.not_after = now - HOUR,
            Self::Future => params.not_before = now + HOUR,
        }
    }
}

/// A certificate and its key, both PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn create(folder: &Path) -> Result<Self> {
        let key = KeyPair::generate()?;
        let params = authority_params();
        let pem = params.self_signed(&key)?.pem();
        fs::write(folder.join(CA_CERTIFICATE), &pem)?;
        fs::write(folder.join(CA_KEY), key.serialize_pem())?;
        Ok(Self { issuer: Issuer::new(params, key), pem })
    }

    /// The authority that another process created in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let read = |name: &str| {
            fs::read_to_string(folder.join(name))
                .with_context(|| format!("`{}` holds no control plane", folder.display()))
        };
        let key = KeyPair::from_pem(&read(CA_KEY)?)?;
        Ok(Self { pem: read(CA_CERTIFICATE)?, issuer: Issuer::new(authority_params(), key) })
    }

    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn server(&self, validity: Validity) -> Result<Identity> {
        let mut params = leaf("kube-apiserver");
        validity.limit(&mut params);
        params.subject_alt_names = vec![
            SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            SanType::DnsName("localhost".try_into()?),
            SanType::DnsName("kubernetes.default.svc".try_into()?),
        ];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    /// A user is the certificate's common name, a group its organization.
    pub(crate) fn user(&self, name: &str, group: Option<&str>) -> Result<Identity> {
        self.user_valid(name, group, Validity::Now)
    }

    pub(crate) fn user_valid(
        &self,
        name: &str,
        group: Option<&str>,
        validity: Validity,
    ) -> Result<Identity> {
        let mut params = leaf(name);
        validity.limit(&mut params);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Result<Identity> {
        let key = KeyPair::generate()?;
        Ok(Identity {
            certificate: params.signed_by(&key, &self.issuer)?.pem(),
            key: key.serialize_pem(),
        })
    }
}

/// The same for creating and opening: an issuer is its name and its key.
fn authority_params() -> CertificateParams {
    let mut params = leaf("k8sconnect-testkit");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::CrlSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    params
}

fn leaf(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2120, 1, 1);
    params
}
