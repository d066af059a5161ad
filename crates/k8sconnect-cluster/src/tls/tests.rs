use rcgen::{CertificateParams, KeyPair};

use super::*;
use crate::secret::Secret;

fn pair() -> (String, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["me".to_owned()]).unwrap().self_signed(&key).unwrap();
    (certificate.pem(), key)
}

fn refused(trust: Trust, identity: Option<Identity>) -> String {
    let tls = Tls { trust, server_name: None, identity: None };
    client_config(&tls, identity.as_ref()).expect_err("this must be refused").to_string()
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
    assert!(client_config(&tls, Some(&Identity { certificate: certificate.clone(), key })).is_ok());
    let key = other.serialize_pem().into();
    let error = refused(Trust::Anyone, Some(Identity { certificate, key }));
    assert!(error.contains("not the key of the client certificate"), "{error}");
}

#[test]
fn what_is_no_certificate_or_key_is_refused_by_its_field() {
    let error = refused(Trust::Authorities("hunter2".into()), None);
    assert!(error.contains("`certificate-authority`"), "{error}");
    let (certificate, key) = pair();
    let key = Secret::from(key.serialize_pem());
    let certificate_error =
        refused(Trust::Anyone, Some(Identity { certificate: key.expose().into(), key }));
    assert!(certificate_error.contains("`client-certificate`"), "{certificate_error}");
    let key = "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n".into();
    let key_error = refused(Trust::Anyone, Some(Identity { certificate, key }));
    assert!(key_error.contains("`client-key`") && !key_error.contains("aHVu"), "{key_error}");
}

/// The same certificate as version 1 has it: without a version and without extensions. What signed
/// it does not matter here.
fn in_version_1(pem: &str) -> String {
    let wrap = |content: &[u8]| {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[0x30, 0x82, length[0], length[1]], content].concat()
    };
    let der = certificates("client-certificate", pem).unwrap().remove(0);
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
            Identity { certificate: certificate.clone(), key: key.serialize_pem().into() };
        certified("client-certificate", "client-key", &identity).map(|_| ())
    };
    assert_eq!(shown(&key), Ok(()));
    assert_eq!(shown(&other), Err(ConnectionError::WrongKey { field: "client-key" }));
}

#[test]
fn what_was_mixed_up_is_told_as_what_it_is() {
    let (certificate, key) = pair();
    let key = key.serialize_pem();
    let request = certificate.replace("CERTIFICATE", "CERTIFICATE REQUEST");
    let encrypted = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    let older = key.replace("KEY-----\nM", "KEY-----\nProc-Type: 4,ENCRYPTED\n\nM");
    let as_certificate = |text: &str| certificates("f", text).unwrap_err().to_string();
    let as_key = |text: &str| super::key("f", &Secret::from(text)).err().unwrap().to_string();
    for (told, words) in [
        (as_certificate(&key), "It is a private key, not a certificate."),
        (as_certificate(&request), "signing request"),
        (as_key(&certificate), "It is a certificate, not a private key."),
        (as_key(&encrypted), "It is encrypted"),
        (as_key(&older), "It is encrypted"),
    ] {
        assert!(told.contains(words) && !told.contains("Correct the value"), "{told}");
    }
}
