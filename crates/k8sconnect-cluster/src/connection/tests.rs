use super::*;

#[test]
fn no_secret_is_printed() {
    let mut connection = Connection::to("https://k.example:6443".parse().unwrap());
    connection.auth = Auth::Exec(Exec {
        api_version: "client.authentication.k8s.io/v1".into(),
        command: "login".into(),
        args: vec!["hunter2".into()],
        env: vec![("NAME".into(), "hunter2".into())],
        install_hint: None,
        cluster: None,
    });
    let (certificate, key) = ("certificate".into(), "hunter2".into());
    connection.tls.identity = Some(ClientCertificate { certificate, key });
    connection.proxy = Some("http://user:hunter2@proxy".into());
    let printed = format!("{connection:?}{:?}", Auth::Token("hunter2".into()));
    assert!(!printed.contains("hunter2"), "{printed}");
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
fn a_host_that_is_none_is_refused_with_its_cause() {
    for (text, cause) in [
        ("", InvalidValue::Empty),
        ("https://", InvalidValue::NotUrl),
        ("ftp://k.example", InvalidValue::HostScheme),
        ("https://me:hunter2@k.example", InvalidValue::UserInfo),
        ("a b", InvalidValue::NotUrl),
        ("https://k/?x", InvalidValue::Query),
        ("https://k:99999", InvalidValue::Port),
        ("k:0", InvalidValue::Port),
    ] {
        assert_eq!(text.parse::<Host>(), Err(cause), "{text:?}");
    }
}
