use std::fs;

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

fn take(cluster: &str, user: &str) -> Result<Connection, Flaws> {
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

fn only(flaws: Flaws) -> ConnectionError {
    let mut flaws = flaws.iter().cloned();
    let first = flaws.next().expect("something is wrong");
    assert_eq!(flaws.next(), None, "beside {first}");
    first
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
    assert_eq!(error, ConnectionError::NoContextChosen { contexts, files: Vec::new() });
    assert!(error.to_string().contains("`one`, `two`, `broken`"), "{error}");
    let error = Connection::from_kubeconfig(TWO, Some("three")).err().unwrap();
    assert!(error.to_string().contains("no context `three`"), "{error}");
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
    let error = refused("", &user).to_string();
    assert!(error.contains("`client-key-data` cannot be used"), "{error}");
    assert!(error.contains("not the key of the client certificate"), "{error}");
}

#[test]
fn insecure_is_taken_alone_and_refused_beside_an_authority() {
    let insecure = "insecure-skip-tls-verify: true";
    assert_eq!(take(insecure, "{}").unwrap().tls.trust, Trust::Anyone);
    let both = format!("{insecure}\ncertificate-authority-data: {}", BASE64.encode(pair().0));
    assert!(matches!(refused(&both, "{}"), ConnectionError::BadValue { .. }));
}

#[test]
fn a_relative_path_means_nothing_in_a_text_and_the_folder_in_a_file() {
    let error = refused("certificate-authority: ca.pem", "{}");
    let field = "certificate-authority";
    assert_eq!(error, ConnectionError::RelativePath { field, path: "ca.pem".into() });
    assert!(error.to_string().contains("`certificate-authority-data`"), "{error}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    let authority = pair().0;
    fs::write(folder.path().join("ca.pem"), &authority).unwrap();
    fs::write(&file, config("certificate-authority: ca.pem", "tokenFile: t")).unwrap();
    let files = KubeconfigFiles::load(&file.display().to_string()).unwrap();
    let connection = files.connection(None).unwrap();
    assert_eq!(connection.tls.trust, Trust::Authorities(authority));
    let path = folder.path().join("t");
    assert_eq!(connection.auth, Auth::TokenFile { path, otherwise: None });
}

#[test]
fn a_missing_file_is_named_with_its_field() {
    let error = refused("certificate-authority: /no/such/ca.pem", "{}").to_string();
    assert!(
        error.contains("`certificate-authority`") && error.contains("/no/such/ca.pem"),
        "{error}"
    );
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
fn an_auth_provider_is_answered_with_its_replacement() {
    let error = refused("", "auth-provider: {name: gcp, config: {}}").to_string();
    assert!(error.contains("`gke-gcloud-auth-plugin`"), "{error}");
    let error = refused("", "auth-provider: {name: azure}").to_string();
    assert!(error.contains("`kubelogin`"), "{error}");
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
    assert!(refused("", &old).to_string().contains("`exec.apiVersion`"));
    let interactive = format!("{PLUGIN}\n  interactiveMode: Always");
    let told = refused("", &interactive).to_string();
    assert!(told.contains("terminal") && told.contains("Write `IfAvailable`"), "{told}");
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
fn what_is_no_kubeconfig_is_refused_without_quoting_it() {
    let token = config("", "token: {hunter2: hunter2}");
    for text in
        ["", "hunter2", "- hunter2", "a: [hunter2", "a: 1\n---\nb: 2", "users: hunter2", &token]
    {
        let error = only(Connection::from_kubeconfig(text, None).unwrap_err());
        assert!(matches!(error, ConnectionError::BadKubeconfig { .. }), "{text:?}: {error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    let error = refused("certificate-authority-data: '%hunter2%'", "{}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

/// A key in PEM, the same in base64, a token, a kubeconfig: with what none of them may be shown by.
fn contents() -> Vec<(String, [&'static str; 2])> {
    let key =
        "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIhunter2abc\n-----END EC PRIVATE KEY-----\n";
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.aHVudGVyMg";
    vec![
        (key.to_owned(), ["MHcCAQ", "hunter2"]),
        (BASE64.encode(key), ["LS0tLS1", "TUhjQ0FR"]),
        (token.to_owned(), ["eyJ", "aHVudGVyMg"]),
        (config("", "token: hunter2"), ["hunter2", "k.example"]),
        (BASE64.encode(config("", "token: hunter2")), ["YXBpVmVy", "aHVudGVyMg"]),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b".into(), ["9f86d", "4f1b"]),
    ]
}

#[test]
fn content_in_place_of_a_path_is_told_as_that_and_never_quoted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    for (content, marks) in contents() {
        let text = serde_json::Value::from(content.as_str());
        for (cluster, user, field, belongs) in [
            (
                format!("certificate-authority: {text}"),
                "{}".into(),
                "certificate-authority",
                "-data`",
            ),
            (String::new(), format!("client-key: {text}"), "client-key", "`client-key-data`"),
            (String::new(), format!("client-certificate: {text}"), "client-certificate", "-data`"),
            (String::new(), format!("tokenFile: {text}"), "tokenFile", "into `token`"),
        ] {
            let text = config(&cluster, &user);
            fs::write(&file, &text).unwrap();
            let files = KubeconfigFiles::load(&file.display().to_string()).unwrap();
            for error in [
                Connection::from_kubeconfig(&text, None).expect_err("it is no path"),
                files.connection(None).expect_err("it is no path"),
            ] {
                let told = error.to_string();
                assert!(told.contains(&format!("`{field}` holds something else than a path")));
                assert!(told.contains(belongs), "{told}");
                assert!(!marks.iter().any(|mark| told.contains(mark)), "{told}");
            }
        }
    }
}

#[test]
fn nothing_that_could_be_a_credential_by_mistake_is_quoted() {
    let plugin = "exec: {apiVersion: client.authentication.k8s.io/v1, command: CONTENT}";
    for (content, marks) in contents() {
        let text = serde_json::Value::from(content.as_str()).to_string();
        let mut errors = vec![
            Connection::from_kubeconfig(TWO, Some(&content)).err(),
            Connection::from_kubeconfig(&TWO.replace("c3", &text), Some("broken")).err(),
            take("", &format!("auth-provider: {{name: {text}}}")).err(),
            take("", &plugin.replace("CONTENT", &format!("{text}, installHint: {text}"))).err(),
            Connection::from_kubeconfig(&TWO.replace("name: one", &format!("name: {text}")), None)
                .err(),
            KubeconfigFiles::load(&content).err().map(Flaws::from),
            KubeconfigFiles::load(&format!("/nowhere:{content}")).err().map(Flaws::from),
            content.parse::<crate::Host>().err().map(Flaws::from),
            crate::inline::proxy(&format!("http://{content}")).err().map(Flaws::from),
            crate::inline::plugin_variable(&format!("{content}="), "").err().map(Flaws::from),
        ];
        errors.extend([Some(Flaws::from(ConnectionError::Plugin {
            command: content.clone(),
            why: "it is not there".into(),
            advice: "Get it.".into(),
        }))]);
        for told in errors.into_iter().flatten().map(|error| error.to_string()) {
            assert!(!marks.iter().any(|mark| told.contains(mark)), "{told}");
        }
    }
}

#[test]
fn the_text_of_a_kubeconfig_is_no_path() {
    let text = config("", "token: hunter2");
    let told = KubeconfigFiles::load(&text).err().unwrap().to_string();
    assert!(told.contains("`config_path` holds the text of a kubeconfig, not its path"), "{told}");
    assert!(told.contains("into `kubeconfig`"), "{told}");
    let told = KubeconfigFiles::load_from("KUBECONFIG", &text).err().unwrap().to_string();
    assert!(told.contains("`KUBECONFIG` holds the text of a kubeconfig"), "{told}");
    assert!(told.contains("The paths of files belong there"), "{told}");
}

#[test]
fn all_that_is_wrong_is_told_at_once_with_the_entry_it_stands_in() {
    let cluster = "certificate-authority-data: '%'\ntls-server-name: a b\nproxy-url: ftp://p";
    let user = "client-certificate-data: aHVudGVyMg==\nclient-key-data: aHVudGVyMg==\n\
                token: \"hunter\\n2\"\nas-groups: [devs]";
    let text = config(cluster, user).replace("https://k.example:6443", "'ftp://k'");
    let told = Connection::from_kubeconfig(&text, None).unwrap_err().to_string();
    for field in [
        "`certificate-authority-data` cannot be used",
        "`tls-server-name` cannot be used",
        "The `server` of a cluster",
        "`proxy-url` cannot be used",
        "`client-certificate-data` cannot be used",
        "`client-key-data` cannot be used",
        "`token` cannot be used",
        "`as-groups` is given without `as`",
    ] {
        assert!(told.contains(field), "{field}\n{told}");
    }
    assert_eq!(told.matches("See the cluster `c` in the kubeconfig.").count(), 4, "{told}");
    assert_eq!(told.matches("See the user `u` in the kubeconfig.").count(), 4, "{told}");
    assert!(!told.contains("hunter"), "{told}");

    let lost = TWO.replace("user: u}}", "user: nobody}}");
    let told = Connection::from_kubeconfig(&lost, Some("broken")).unwrap_err().to_string();
    assert!(told.contains("no cluster `c3`") && told.contains("no user `nobody`"), "{told}");

    let plugin = PLUGIN.replace("k8s.io/v1", "k8s.io/v0").replace("command: aws", "command: ''");
    let told = take("", &plugin).unwrap_err().to_string();
    assert!(told.contains("`exec.apiVersion`") && told.contains("`exec.command`"), "{told}");
}

#[test]
fn fields_that_are_there_and_empty_are_left_out() {
    let cluster = "certificate-authority-data: ''\nproxy-url: ''\ntls-server-name: ''";
    let connection = take(cluster, "client-certificate: ''\nclient-key-data: ''").unwrap();
    assert_eq!((connection.tls, connection.proxy), (Tls::default(), None));
}

#[test]
fn what_was_given_for_a_kubeconfig_is_told() {
    let told = |text: &str| only(Connection::from_kubeconfig(text, None).unwrap_err());
    assert_eq!(told("~/.kube/config"), ConnectionError::PathForText);
    assert_eq!(told(&BASE64.encode(TWO)), ConnectionError::Packed { file: None });
    let aimless = "contexts: [{name: a, context: {user: u}}]\nusers: [{name: u}]";
    assert_eq!(told(aimless), ConnectionError::NoCluster { context: "a".into() });
    let none = told("clusters: []").to_string();
    assert!(none.contains("no contexts at all") && !none.contains("Name one"), "{none}");
}

#[test]
fn an_address_that_is_none_is_told_as_the_server_of_its_cluster() {
    for (server, why) in [
        ("''", "It is not given."),
        ("'https://a b'", "It holds a space"),
        ("'https://[::1'", "brackets"),
    ] {
        let text = config("", "token: t").replace("https://k.example:6443", server);
        let told = Connection::from_kubeconfig(&text, None).unwrap_err().to_string();
        assert!(told.contains("The `server` of a cluster") && told.contains(why), "{told}");
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
    fn a_damaged_kubeconfig_leads_somewhere_or_is_refused_in_a_few_words(
        text in damage::text(samples())
    ) {
        for context in [None, Some("two")] {
            if let Err(error) = damage::swiftly(|| Connection::from_kubeconfig(&text, context)) {
                let told = error.to_string();
                prop_assert!(!told.is_empty() && told.len() < 4000, "{told}");
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
