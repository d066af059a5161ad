use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use proptest::prelude::*;

use super::*;
use crate::connection::Auth;

/// A kubeconfig of one context, with these fields in its cluster and its user.
fn config(cluster: &str, user: &str) -> String {
    let indent = |text: &str| text.replace('\n', "\n    ");
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
         contexts:\n- name: here\n  context:\n    cluster: c\n    user: u\n    namespace: ignored\n\
         clusters:\n- name: c\n  cluster:\n    server: https://k.example:6443\n    {}\n\
         users:\n- name: u\n  user:\n    {}\n",
        indent(cluster),
        indent(user)
    )
}

fn take(cluster: &str, user: &str) -> Result<Connection, Vec<ConnectionError>> {
    Connection::from_kubeconfig(&config(cluster, user), None)
}

/// A certificate and its key.
fn pair() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["me".to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}

/// The only thing that is wrong, without the entry in which it stands.
fn refused(cluster: &str, user: &str) -> ConnectionError {
    match only(take(cluster, user).expect_err("this must be refused")) {
        ConnectionError::Entry { error, .. } => *error,
        other => other,
    }
}

fn only(mut errors: Vec<ConnectionError>) -> ConnectionError {
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

const TWO: &str = "
contexts:
- {name: one, context: {cluster: c1, user: u}}
- {name: two, context: {cluster: c2, user: u}}
- {name: broken, context: {cluster: c3, user: u}}
clusters:
- {name: c1, cluster: {server: 'https://one.example'}}
- {name: c2, cluster: {server: 'https://two.example'}}
users:
- {name: u, user: {token: t}}
";

#[test]
fn the_current_context_is_taken_unless_another_is_named() {
    let text = format!("{TWO}current-context: one\n");
    let host = |context| Connection::from_kubeconfig(&text, context).unwrap().host.to_string();
    assert_eq!(host(None), "https://one.example");
    assert_eq!(host(Some("two")), "https://two.example");
}

#[test]
fn without_a_current_context_the_choice_is_the_users() {
    let error = only(Connection::from_kubeconfig(TWO, None).unwrap_err());
    let contexts = vec!["one".into(), "two".into(), "broken".into()];
    let files = Vec::new();
    let none = ConnectionError::NoContextChosen { contexts: contexts.clone(), files };
    assert_eq!(error, none);
    let error = only(Connection::from_kubeconfig(TWO, Some("three")).unwrap_err());
    let (name, files) = ("three".into(), Vec::new());
    assert_eq!(error, ConnectionError::UnknownContext { name, contexts, files });
    let error = only(Connection::from_kubeconfig(TWO, Some("broken")).unwrap_err());
    assert_eq!(error, ConnectionError::Missing { what: "cluster", name: "c3".into() });
}

#[test]
fn a_single_context_needs_no_choosing() {
    let text = config("", "token: t").replace("current-context: here", "current-context: ''");
    assert!(Connection::from_kubeconfig(&text, None).is_ok());
}

#[test]
fn json_is_a_kubeconfig_too() {
    let text = r#"{"contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],
        "clusters":[{"name":"c","cluster":{"server":"https://k.example"}}],
        "users":[{"name":"u","user":null}],"preferences":{}}"#;
    let connection = Connection::from_kubeconfig(text, None).unwrap();
    assert_eq!(connection.auth, Auth::None);
}

#[test]
fn each_way_to_log_in_is_read() {
    let auth = |user| take("", user).unwrap().auth;
    assert_eq!(auth("token: t"), Auth::Token("t".into()));
    let both = Auth::TokenFile { path: "/var/t".into(), otherwise: Some("t".into()) };
    assert_eq!(auth("tokenFile: /var/t\ntoken: t"), both);
    assert_eq!(auth("tokenFile: ''\ntoken: t"), Auth::Token("t".into()));
    let (username, password) = ("me".into(), "p".into());
    assert_eq!(auth("username: me\npassword: p"), Auth::Basic { username, password });
    assert_eq!(auth("{}"), Auth::None);
}

#[test]
fn inline_data_beats_a_file_and_is_decoded() {
    let (certificate, key) = pair();
    let cluster = format!(
        "certificate-authority-data: {}\ncertificate-authority: /nowhere\n\
         tls-server-name: other.example\nproxy-url: http://proxy.example",
        BASE64.encode(&certificate)
    );
    let folded = |text: &str| BASE64.encode(text).replace('L', "L\n  ");
    let user = format!(
        "client-certificate-data: {}\nclient-key-data: |\n  {}",
        BASE64.encode(&certificate),
        folded(&key)
    );
    let connection = take(&cluster, &user).unwrap();
    assert_eq!(connection.tls.trust, Trust::Authorities(certificate.clone()));
    assert_eq!(connection.tls.server_name.as_deref(), Some("other.example"));
    assert_eq!(connection.proxy, Some("http://proxy.example".into()));
    let identity = connection.tls.identity.unwrap();
    assert_eq!((identity.certificate, identity.key.expose()), (certificate, key.as_str()));
}

#[test]
fn a_key_of_another_certificate_is_refused_before_anything_is_asked() {
    let ((certificate, _), (_, key)) = (pair(), pair());
    let user = format!(
        "client-certificate-data: {}\nclient-key-data: {}",
        BASE64.encode(certificate),
        BASE64.encode(key)
    );
    assert_eq!(refused("", &user), InvalidValue::OtherKey.of("client-key-data"));
}

#[test]
fn insecure_is_taken_alone_and_refused_beside_an_authority() {
    let insecure = "insecure-skip-tls-verify: true";
    assert_eq!(take(insecure, "{}").unwrap().tls.trust, Trust::Anyone);
    let both = format!("{insecure}\ncertificate-authority-data: {}", BASE64.encode(pair().0));
    let error = InvalidValue::InsecureWithAuthority.of("insecure-skip-tls-verify");
    assert_eq!(refused(&both, "{}"), error);
}

#[test]
fn a_relative_path_means_nothing_in_a_text_and_the_folder_in_a_file() {
    let error = refused("certificate-authority: ca.pem", "{}");
    let field = "certificate-authority";
    assert_eq!(error, ConnectionError::RelativePath { field, path: "ca.pem".into() });

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    let authority = pair().0;
    fs::write(folder.path().join("ca.pem"), &authority).unwrap();
    fs::write(&file, config("certificate-authority: ca.pem", "tokenFile: t")).unwrap();
    let files = KubeconfigFiles::load("KUBECONFIG", &file.display().to_string()).unwrap();
    let connection = files.connection(None).unwrap();
    assert_eq!(connection.tls.trust, Trust::Authorities(authority));
    let path = folder.path().join("t");
    assert_eq!(connection.auth, Auth::TokenFile { path, otherwise: None });
}

#[test]
fn a_missing_file_is_named_with_its_field() {
    let error = refused("certificate-authority: /no/such/ca.pem", "{}");
    let ConnectionError::UnreadableFile { field, path, cause } = error else { panic!("{error:?}") };
    assert_eq!((field, path.as_str()), ("certificate-authority", "/no/such/ca.pem"));
    assert!(cause.is_missing(), "{cause:?}");
}

#[test]
fn half_of_a_pair_is_refused() {
    let (certificate, key) = pair();
    let key = format!("client-key-data: {}", BASE64.encode(key));
    let certificate = format!("client-certificate-data: {}", BASE64.encode(certificate));
    for user in [key.as_str(), &certificate, "username: me", "password: p"] {
        assert!(matches!(refused("", user), ConnectionError::Alone { .. }), "{user}");
    }
}

#[test]
fn an_auth_provider_is_refused() {
    let error = refused("", "auth-provider: {name: gcp, config: {}}");
    assert_eq!(error, ConnectionError::AuthProvider { name: "gcp".into() });
}

const PLUGIN: &str = "exec:\n  apiVersion: client.authentication.k8s.io/v1\n  command: aws\n  \
    args: [eks, get-token]\n  env: [{name: AWS_PROFILE, value: prod}]\n  installHint: get it\n  \
    provideClusterInfo: true";

#[test]
fn a_plugin_is_read_with_all_it_is_to_be_told() {
    let authority = BASE64.encode(pair().0);
    let cluster = format!("certificate-authority-data: {authority}");
    let Auth::Exec(exec) = take(&cluster, PLUGIN).unwrap().auth else {
        panic!("a plugin was given")
    };
    assert_eq!(exec.command, "aws");
    assert_eq!(exec.args, ["eks".into(), "get-token".into()]);
    assert_eq!(exec.env, [("AWS_PROFILE".into(), "prod".into())]);
    assert_eq!(exec.install_hint.as_deref(), Some("get it"));
    let told = exec.cluster.unwrap();
    assert_eq!(told["server"], "https://k.example:6443");
    assert_eq!(told["certificate-authority-data"], authority);
}

#[test]
fn a_plugin_is_not_run_where_a_token_is_given() {
    let auth = take("", &format!("token: t\n{PLUGIN}")).unwrap().auth;
    assert_eq!(auth, Auth::Token("t".into()));
}

#[test]
fn a_plugin_that_cannot_work_here_is_refused() {
    let old = PLUGIN.replace("k8s.io/v1", "k8s.io/v1alpha1");
    assert_eq!(refused("", &old), InvalidValue::PluginVersion.of("exec.apiVersion"));
    let interactive = format!("{PLUGIN}\n  interactiveMode: Always");
    let error = InvalidValue::NeedsTerminal.of("exec.interactiveMode");
    assert_eq!(refused("", &interactive), error);
    let relative = PLUGIN.replace("command: aws", "command: ./aws");
    assert!(matches!(refused("", &relative), ConnectionError::RelativePath { .. }));
}

#[test]
fn acting_as_another_is_never_dropped() {
    let user = "token: t\nas: jane\nas-groups: [devs]\nas-user-extra: {scope: [a, b]}";
    let other = take("", user).unwrap().impersonation.unwrap();
    assert_eq!(
        (other.user.as_str(), other.groups.as_slice()),
        ("jane", ["devs".into()].as_slice())
    );
    assert_eq!(other.extra, [("scope".into(), "a".into()), ("scope".into(), "b".into())]);
    for (part, field) in [
        ("as-groups: [devs]", "as-groups"),
        ("as-uid: x", "as-uid"),
        ("as-user-extra: {scope: [a]}", "as-user-extra"),
    ] {
        assert_eq!(refused("", part), ConnectionError::Alone { field, lacks: "as" });
    }
}

#[test]
fn what_is_no_kubeconfig_is_refused_without_its_text() {
    let token = config("", "token: {hunter2: hunter2}");
    for text in
        ["", "hunter2", "- hunter2", "a: [hunter2", "a: 1\n---\nb: 2", "users: hunter2", &token]
    {
        let error = only(Connection::from_kubeconfig(text, None).unwrap_err());
        assert!(matches!(error, ConnectionError::Kubeconfig { .. }), "{text:?}: {error:?}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
    let error = refused("certificate-authority-data: '%hunter2%'", "{}");
    assert_eq!(error, InvalidValue::NotBase64.of("certificate-authority-data"));
}

#[test]
fn content_in_place_of_a_path_is_reported_as_that() {
    let key =
        "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIhunter2abc\n-----END EC PRIVATE KEY-----\n";
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.aHVudGVyMg";
    let document = config("", "token: hunter2");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    for (text, content) in [
        (key.to_owned(), Sensitive::Pem),
        (BASE64.encode(key), Sensitive::Pem),
        (token.to_owned(), Sensitive::Token),
        (document.clone(), Sensitive::Document),
        (BASE64.encode(&document), Sensitive::Document),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b".into(), Sensitive::Scrambled),
    ] {
        let text = serde_json::Value::from(text.as_str());
        for (field, cluster, user) in [
            ("certificate-authority", format!("certificate-authority: {text}"), "{}".into()),
            ("client-key", String::new(), format!("client-key: {text}")),
            ("client-certificate", String::new(), format!("client-certificate: {text}")),
            ("tokenFile", String::new(), format!("tokenFile: {text}")),
        ] {
            let text = config(&cluster, &user);
            fs::write(&file, &text).unwrap();
            let files = KubeconfigFiles::load("KUBECONFIG", &file.display().to_string()).unwrap();
            for errors in [
                Connection::from_kubeconfig(&text, None).expect_err("it is no path"),
                files.connection(None).expect_err("it is no path"),
            ] {
                let ConnectionError::Entry { error, .. } = only(errors) else { panic!("{text}") };
                assert_eq!(*error, ConnectionError::ContentForPath { field, content });
            }
        }
    }
}

#[test]
fn the_text_of_a_kubeconfig_is_no_path() {
    let error = KubeconfigFiles::load("KUBECONFIG", &config("", "token: hunter2")).err();
    let (field, content) = ("KUBECONFIG", Sensitive::Document);
    assert_eq!(error, Some(ConnectionError::ContentForPath { field, content }));
}

#[test]
fn all_problems_are_reported_at_once_with_their_entry() {
    let cluster = "certificate-authority-data: '%'\ntls-server-name: a b\nproxy-url: ftp://p";
    let user = "client-certificate-data: aHVudGVyMg==\nclient-key-data: aHVudGVyMg==\n\
                token: \"hunter\\n2\"\nas-groups: [devs]";
    let text = config(cluster, user).replace("https://k.example:6443", "'ftp://k'");
    let of = |what: &'static str, name: &str, error| ConnectionError::Entry {
        what,
        name: name.into(),
        file: None,
        error: Box::new(error),
    };
    let expected = [
        of("cluster", "c", InvalidValue::NotBase64.of("certificate-authority-data")),
        of("cluster", "c", InvalidValue::ServerName.of("tls-server-name")),
        of("cluster", "c", InvalidValue::HostScheme.of("server")),
        of("cluster", "c", InvalidValue::ProxyScheme.of("proxy-url")),
        of("user", "u", InvalidValue::NotCertificate(None).of("client-certificate-data")),
        of("user", "u", InvalidValue::NotPrivateKey(None).of("client-key-data")),
        of("user", "u", InvalidValue::Header.of("token")),
        of("user", "u", ConnectionError::Alone { field: "as-groups", lacks: "as" }),
    ];
    assert_eq!(Connection::from_kubeconfig(&text, None).unwrap_err(), expected);

    let lost = TWO.replace("user: u}}", "user: nobody}}");
    let missing = |what, name: &str| ConnectionError::Missing { what, name: name.into() };
    let errors = Connection::from_kubeconfig(&lost, Some("broken")).unwrap_err();
    assert_eq!(errors, [missing("cluster", "c3"), missing("user", "nobody")]);

    let plugin = PLUGIN.replace("k8s.io/v1", "k8s.io/v0").replace("command: aws", "command: ''");
    let expected = [
        of("user", "u", InvalidValue::PluginVersion.of("exec.apiVersion")),
        of("user", "u", InvalidValue::Empty.of("exec.command")),
    ];
    assert_eq!(take("", &plugin).unwrap_err(), expected);
}

#[test]
fn fields_that_are_there_and_empty_are_left_out() {
    let cluster = "certificate-authority-data: ''\nproxy-url: ''\ntls-server-name: ''";
    let connection = take(cluster, "client-certificate: ''\nclient-key-data: ''").unwrap();
    assert_eq!((connection.tls, connection.proxy), (Tls::default(), None));
}

#[test]
fn what_was_given_for_a_kubeconfig_is_recognized() {
    let error = |text: &str| only(Connection::from_kubeconfig(text, None).unwrap_err());
    let kubeconfig = |problem| ConnectionError::Kubeconfig { file: None, problem };
    assert_eq!(error("~/.kube/config"), kubeconfig(KubeconfigError::Path));
    assert_eq!(error(&BASE64.encode(TWO)), kubeconfig(KubeconfigError::Base64));
    let aimless = "contexts: [{name: a, context: {user: u}}]\nusers: [{name: u}]";
    assert_eq!(error(aimless), ConnectionError::NoCluster { context: "a".into() });
}

#[test]
fn an_address_that_is_none_is_the_server_of_its_cluster() {
    for (server, cause) in [
        ("''", InvalidValue::Empty),
        ("'https://a b'", InvalidValue::NotUrl),
        ("'https://[::1'", InvalidValue::NotUrl),
    ] {
        let text = config("", "token: t").replace("https://k.example:6443", server);
        let error = only(Connection::from_kubeconfig(&text, None).unwrap_err());
        let ConnectionError::Entry { error, .. } = error else { panic!("{error:?}") };
        assert_eq!(*error, cause.of("server"));
    }
}

fn samples() -> Vec<String> {
    let (certificate, key) = pair();
    let (certificate, key) = (BASE64.encode(certificate), BASE64.encode(key));
    vec![
        format!("{TWO}current-context: one\n"),
        config(
            &format!(
                "certificate-authority-data: {certificate}\ntls-server-name: me\nproxy-url: socks5://p:1"
            ),
            &format!("client-certificate-data: {certificate}\nclient-key-data: {key}"),
        ),
        config(
            "insecure-skip-tls-verify: true",
            "exec:\n  apiVersion: client.authentication.k8s.io/v1\n  command: helper\n  args: [a]\n  \
             env: [{name: A, value: b}]\n  interactiveMode: Never",
        ),
        config("disable-compression: true", "username: me\npassword: hunter2\nas: somebody"),
    ]
}

proptest! {
    #![proptest_config(damage::settings())]

    #[test]
    fn a_damaged_kubeconfig_leads_somewhere_or_is_refused_in_little(
        text in damage::text(samples())
    ) {
        for context in [None, Some("two")] {
            if let Err(errors) = damage::swiftly(|| Connection::from_kubeconfig(&text, context)) {
                let size = format!("{errors:?}").len();
                prop_assert!(!errors.is_empty() && size < 4000, "{errors:?}");
            }
        }
    }
}

#[test]
fn a_kubeconfig_without_end_is_refused() {
    for opening in ["[", "{a: ", "- ", "clusters: [", "&a [*a, "] {
        let deep = opening.repeat(100_000);
        damage::swiftly(|| Connection::from_kubeconfig(&deep, None)).expect_err("it has no end");
    }
}
