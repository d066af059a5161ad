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
