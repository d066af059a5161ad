use rcgen::{CertificateParams, KeyPair};

use super::*;
use crate::secret::Secret;

fn pair() -> (String, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["me".to_owned()]).unwrap().self_signed(&key).unwrap();
    (certificate.pem(), key)
}

fn refused(trust: Trust, shown: Option<ClientCertificate>) -> ConnectionError {
    let tls = Tls { trust, server_name: None, identity: None };
    client_config(&tls, shown.as_ref()).expect_err("this must be refused")
}

#[test]
fn several_authorities_may_stand_in_one_text() {
    let ((one, _), (two, _)) = (pair(), pair());
    let trust = Trust::Authorities(format!("# a comment\n{one}\n{two}"));
    let tls = Tls { trust, server_name: None, identity: None };
    let config = client_config(&tls, None).unwrap();
    assert_eq!(config.alpn_protocols, [b"h2".to_vec(), b"http/1.1".to_vec()]);
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let ((certificate, key), (_, other)) = (pair(), pair());
    let tls = Tls { trust: Trust::Anyone, server_name: None, identity: None };
    let key = key.serialize_pem().into();
    assert!(
        client_config(&tls, Some(&ClientCertificate { certificate: certificate.clone(), key }))
            .is_ok()
    );
    let key = other.serialize_pem().into();
    let error = refused(Trust::Anyone, Some(ClientCertificate { certificate, key }));
    assert_eq!(error, InvalidValue::OtherKey.of("client-key"));
}

#[test]
fn what_is_no_certificate_or_key_is_refused_by_its_field() {
    let error = refused(Trust::Authorities("hunter2".into()), None);
    assert_eq!(error, InvalidValue::NotCertificate(None).of("certificate-authority"));
    let (certificate, key) = pair();
    let key = Secret::from(key.serialize_pem());
    let both = ClientCertificate { certificate: key.expose().into(), key };
    let label = InvalidValue::NotCertificate(Some("PRIVATE KEY".into()));
    assert_eq!(refused(Trust::Anyone, Some(both)), label.of("client-certificate"));
    let key = "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n".into();
    let error = refused(Trust::Anyone, Some(ClientCertificate { certificate, key }));
    assert_eq!(error, InvalidValue::NotPrivateKey(None).of("client-key"));
}

/// The same certificate as version 1 has it: without a version and without extensions. What signed
/// it does not matter here.
fn in_version_1(pem: &str) -> String {
    let wrap = |content: &[u8]| {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[0x30, 0x82, length[0], length[1]], content].concat()
    };
    let der = certificates(pem).unwrap().remove(0);
    let (version_3, key) = (der.as_ref(), der::public_key(&der).unwrap());
    let after =
        |part: &[u8]| version_3.windows(part.len()).position(|it| it == part).unwrap() + part.len();
    // What follows the key is extensions.
    let body = wrap(&version_3[after(&[0xa0, 3, 2, 1, 2])..after(key)]);
    let made = wrap(&[body, wrap(&[])].concat());
    let lines = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, made);
    format!("-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n")
}

#[test]
fn a_key_of_another_certificate_is_refused_in_version_1_too() {
    let ((certificate, key), (_, other)) = (pair(), pair());
    let certificate = in_version_1(&certificate);
    let shown = |key: &KeyPair| {
        let identity =
            ClientCertificate { certificate: certificate.clone(), key: key.serialize_pem().into() };
        certified(["client-certificate", "client-key"], &identity).map(|_| ())
    };
    assert_eq!(shown(&key), Ok(()));
    assert_eq!(shown(&other), Err(InvalidValue::OtherKey.of("client-key")));
}

#[test]
fn what_was_mixed_up_is_known_by_its_label() {
    let (certificate, key) = pair();
    let key = key.serialize_pem();
    let request = certificate.replace("CERTIFICATE", "CERTIFICATE REQUEST");
    let encrypted = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    let older = key.replace("KEY-----\nM", "KEY-----\nProc-Type: 4,ENCRYPTED\n\nM");
    let as_key = |text: &str| super::key(&Secret::from(text)).err().unwrap();
    let label = |text: &str| Some(text.to_owned());
    for (problem, cause) in [
        (certificates(&key).unwrap_err(), InvalidValue::NotCertificate(label("PRIVATE KEY"))),
        (
            certificates(&request).unwrap_err(),
            InvalidValue::NotCertificate(label("CERTIFICATE REQUEST")),
        ),
        (as_key(&certificate), InvalidValue::NotPrivateKey(label("CERTIFICATE"))),
        (as_key(&encrypted), InvalidValue::NotPrivateKey(label("ENCRYPTED PRIVATE KEY"))),
        (as_key(&older), InvalidValue::NotPrivateKey(None)),
    ] {
        assert_eq!(problem, cause);
    }
}

#[test]
fn a_proxy_may_be_signed_by_the_clusters_authority_or_the_machines() {
    let tls = Tls { trust: Trust::Authorities(pair().0), server_name: None, identity: None };
    assert_eq!(proxy_config(&tls).unwrap().alpn_protocols, [b"http/1.1".to_vec()]);
    let tls = Tls { trust: Trust::Authorities("hunter2".into()), ..tls };
    let error = InvalidValue::NotCertificate(None).of("certificate-authority");
    assert_eq!(proxy_config(&tls).unwrap_err(), error);
}
