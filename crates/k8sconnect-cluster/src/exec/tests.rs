use super::*;
use crate::error::InvalidValue;

async fn run(plugin: &Exec) -> Result<PluginCredential, PluginError> {
    super::run(plugin, LIMIT).await
}

fn plugin(script: &str) -> Exec {
    Exec {
        api_version: VERSIONS[0].into(),
        command: "sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("SECRET".into(), "hunter2hunter2".into())],
        install_hint: None,
        cluster: None,
    }
}

fn printing(status: &Value) -> Exec {
    let answer = json!({ "apiVersion": VERSIONS[0], "kind": "ExecCredential", "status": status });
    plugin(&format!("printf %s '{answer}'"))
}

async fn refused(plugin: Exec) -> PluginError {
    run(&plugin).await.err().expect("this must be refused")
}

fn token(brought: &PluginCredential) -> &str {
    let header = brought.authorization.as_ref().unwrap().to_str().unwrap();
    header.strip_prefix("Bearer ").unwrap()
}

#[tokio::test]
async fn a_token_is_taken_with_its_expiry() {
    let status = json!({ "token": "t", "expirationTimestamp": "1970-01-01T00:01:00Z" });
    let brought = run(&printing(&status)).await.unwrap();
    assert_eq!(token(&brought), "t");
    assert_eq!(brought.expires, Some(SystemTime::UNIX_EPOCH + Duration::from_secs(60)));
}

#[tokio::test]
async fn an_answer_is_taken_as_kubectl_takes_it() {
    let yaml = format!(
        "apiVersion: {}\nkind: ExecCredential\nstatus:\n  token: t\n  \
         expirationTimestamp: 1970-01-01T00:01:00Z\n",
        VERSIONS[0]
    );
    let json =
        json!({ "apiVersion": VERSIONS[0], "kind": "ExecCredential", "status": { "token": "t" } });
    for answer in [&yaml, &format!("\u{feff}{yaml}"), &format!("\u{feff}{json}")] {
        let brought = run(&plugin(&format!("printf %s '{answer}'"))).await.unwrap();
        assert_eq!(token(&brought), "t", "{answer}");
    }
    for nothing in ["true", "echo"] {
        let api_version = VERSIONS[0].to_owned();
        let none = PluginError::NotExecCredential { api_version };
        assert_eq!(refused(plugin(nothing)).await, none);
    }
}

#[tokio::test]
async fn a_certificate_is_taken_beside_a_token() {
    let made = || {
        let made = rcgen::generate_simple_self_signed(["me".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    };
    let (certificate, key) = made();
    let given = |key: &str| {
        let data =
            json!({ "token": "t", "clientCertificateData": certificate, "clientKeyData": key });
        printing(&data)
    };
    let brought = run(&given(&key)).await.unwrap();
    assert_eq!(token(&brought), "t");
    let identity = ClientCertificate { certificate: certificate.clone(), key: key.into() };
    assert_eq!(brought.identity, Some(identity));

    let other = InvalidValue::OtherKey.of("clientKeyData");
    assert_eq!(refused(given(&made().1)).await, PluginError::Value(Box::new(other)));
}

#[tokio::test]
async fn the_plugin_is_told_that_nobody_is_there() {
    let script = r#"printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
        "status":{"token":"%s"}}' "$(printf %s "$KUBERNETES_EXEC_INFO" | od -An -tx1 | tr -d ' \n')""#;
    let mut plugin = plugin(script);
    plugin.cluster = Some(json!({ "server": "https://k.example" }));
    let brought = run(&plugin).await.unwrap();
    let token = token(&brought);
    let bytes: Vec<u8> = (0..token.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&token[at..at + 2], 16).unwrap())
        .collect();
    let told: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(told["apiVersion"], VERSIONS[0]);
    assert_eq!(told["spec"]["interactive"], false);
    assert_eq!(told["spec"]["cluster"]["server"], "https://k.example");
}

#[tokio::test]
async fn a_failure_has_the_plugins_words_without_its_secrets() {
    let script =
        "echo \"login of $SECRET, $(printf %s $SECRET | base64), has expired\" >&2; exit 3";
    let PluginError::Failed { status, stderr } = refused(plugin(script)).await else { panic!() };
    assert_eq!(status.code(), Some(3));
    assert_eq!(stderr, "login of (hidden), (hidden), has expired");
}

#[tokio::test]
async fn a_missing_command_is_answered_with_the_hint() {
    let mut plugin = plugin("");
    plugin.command = "k8sconnect-no-such-plugin".into();
    plugin.install_hint = Some("Get it from the vendor.".into());
    let hint = Some("Get it from the vendor.".to_owned());
    assert_eq!(refused(plugin).await, PluginError::NotFound { hint });
}

#[tokio::test]
async fn what_is_no_credential_is_refused_with_its_cause() {
    let other = json!({ "apiVersion": VERSIONS[1], "kind": "ExecCredential", "status": { "token": "hunter2" } });
    let none = || PluginError::NotExecCredential { api_version: VERSIONS[0].to_owned() };
    for (plugin, problem) in [
        (plugin("echo hunter2"), none()),
        (plugin(&format!("printf %s '{other}'")), none()),
        (printing(&json!({})), PluginError::NoCredential),
        (printing(&json!({ "clientKeyData": "hunter2" })), PluginError::NoCredential),
        (
            printing(&json!({ "token": "hunter2", "expirationTimestamp": "soon" })),
            PluginError::Expiration,
        ),
    ] {
        assert_eq!(refused(plugin).await, problem);
    }
}

#[tokio::test]
async fn more_output_than_is_kept_does_not_stall_the_plugin() {
    let error = refused(plugin("head -c 3000000 /dev/zero; exit 1")).await;
    assert!(matches!(error, PluginError::Failed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_plugin_that_waits_for_somebody_is_ended() {
    let script = "printf '\\033[33mOpen https://login.example, code %s\\033[0m\\n' $SECRET >&2; \
                  exec sleep 60";
    let waiting = super::run(&plugin(script), Duration::from_secs(1)).await;
    let stderr = "Open https://login.example, code (hidden)".to_owned();
    let after = Duration::from_secs(1);
    assert_eq!(waiting.err(), Some(PluginError::TimedOut { after, stderr }));
}
