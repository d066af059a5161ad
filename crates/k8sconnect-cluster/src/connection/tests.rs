use std::collections::BTreeSet;

use serde_json::json;

use super::*;

fn plain() -> Connection {
    Connection::to("https://k.example:6443".parse().unwrap())
}

fn with(change: impl FnOnce(&mut Connection)) -> Connection {
    let mut connection = plain();
    change(&mut connection);
    connection
}

fn identity(certificate: &str, key: &str) -> Option<Identity> {
    Some(Identity { certificate: certificate.into(), key: key.into() })
}

fn exec(change: impl FnOnce(&mut Exec)) -> Connection {
    let mut exec = Exec {
        api_version: "client.authentication.k8s.io/v1".into(),
        command: "login".into(),
        args: vec!["a".into(), "b".into()],
        env: vec![("NAME".into(), "value".into())],
        install_hint: None,
        cluster: None,
    };
    change(&mut exec);
    with(|it| it.auth = Auth::Exec(exec))
}

fn acting(change: impl FnOnce(&mut Impersonation)) -> Connection {
    let mut other = Impersonation { user: "jane".into(), ..Impersonation::default() };
    change(&mut other);
    with(|it| it.impersonation = Some(other))
}

#[test]
fn every_part_of_a_connection_changes_its_digest() {
    let basic = |username: &str, password: &str| {
        let (username, password) = (username.into(), password.into());
        with(|it| it.auth = Auth::Basic { username, password })
    };
    let all = [
        plain(),
        with(|it| it.host = "https://k.example:6444".parse().unwrap()),
        with(|it| it.host = "http://k.example:6443".parse().unwrap()),
        with(|it| it.host = "https://k.example:6443/prefix".parse().unwrap()),
        with(|it| it.tls.trust = Trust::Anyone),
        with(|it| it.tls.trust = Trust::Authorities("x".into())),
        with(|it| it.tls.trust = Trust::Authorities("y".into())),
        with(|it| it.tls.server_name = Some("x".into())),
        with(|it| it.tls.identity = identity("x", "yz")),
        with(|it| it.tls.identity = identity("xy", "z")),
        with(|it| it.auth = Auth::Token("x".into())),
        with(|it| it.auth = Auth::Token("y".into())),
        with(|it| it.auth = Auth::TokenFile { path: "x".into(), otherwise: None }),
        with(|it| it.auth = Auth::TokenFile { path: "x".into(), otherwise: Some("y".into()) }),
        basic("x", "yz"),
        basic("xy", "z"),
        exec(|_| {}),
        exec(|it| it.api_version = "client.authentication.k8s.io/v1beta1".into()),
        exec(|it| it.command = "other".into()),
        exec(|it| it.args = vec!["ab".into()]),
        exec(|it| it.args = vec!["a".into(), "b".into(), "NAME".into(), "value".into()]),
        exec(|it| it.env = vec![("NAME".into(), "other".into())]),
        exec(|it| it.install_hint = Some("hint".into())),
        exec(|it| it.cluster = Some(json!({ "server": "x" }))),
        acting(|_| {}),
        acting(|it| it.user = "joe".into()),
        acting(|it| it.uid = Some("x".into())),
        acting(|it| it.groups = vec!["x".into()]),
        acting(|it| it.groups = vec!["x".into(), "y".into()]),
        acting(|it| it.extra = vec![("x".into(), "y".into())]),
        with(|it| it.proxy = Some("http://proxy".into())),
    ];
    let digests = all.iter().map(Connection::digest).collect::<BTreeSet<_>>();
    assert_eq!(digests.len(), all.len());
    assert_eq!(plain().digest(), plain().digest());
}

#[test]
fn no_secret_is_printed() {
    let mut connection = exec(|it| {
        it.args = vec!["hunter2".into()];
        it.env = vec![("NAME".into(), "hunter2".into())];
    });
    connection.tls.identity = identity("certificate", "hunter2");
    connection.proxy = Some("http://user:hunter2@proxy".into());
    let printed = format!("{connection:?}");
    assert!(!printed.contains("hunter2"), "{printed}");
    let token = with(|it| it.auth = Auth::Token("hunter2".into()));
    assert!(!format!("{token:?}").contains("hunter2"));
}

#[test]
fn a_bare_host_is_https_and_a_prefix_stays() {
    let shown = |text: &str| text.parse::<Host>().unwrap().to_string();
    assert_eq!(shown("k.example:6443"), "https://k.example:6443");
    assert_eq!(shown("https://k.example/"), "https://k.example");
    assert_eq!(shown(" https://k.example/k8s/c-1/ "), "https://k.example/k8s/c-1");
    let host: Host = "https://k.example/k8s/c-1".parse().unwrap();
    assert_eq!(host.uri("/api/v1?x=y").unwrap(), "https://k.example/k8s/c-1/api/v1?x=y");
    assert_eq!("https://[::1]:6443".parse::<Host>().unwrap().name(), "::1");
}

#[test]
fn a_host_that_is_none_is_refused_without_being_quoted() {
    for text in [
        "",
        "https://",
        "ftp://k.example",
        "https://me:hunter2@k.example",
        "a b",
        "https://k/?x",
        "https://k:99999",
        "k:0",
    ] {
        let error = text.parse::<Host>().err().unwrap_or_else(|| panic!("{text:?} was taken"));
        assert!(matches!(error, ConnectionError::BadHost { .. }));
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
