//! Each cause of a connection that cannot be used, and of a request without an answer.

use std::process::ExitStatus;

use k8sconnect_cluster::{BadAnswer, Excess};

use super::*;

pub(super) fn messages() -> Vec<Diagnostic> {
    let values = values();
    let values =
        values.into_iter().map(|(name, problem)| connection::unusable_part(name, &problem));
    let files = files().into_iter().chain(kubeconfigs()).chain(plugins());
    values.chain(files.map(|error| connection::unusable(&error))).chain(answers()).collect()
}

fn values() -> Vec<(&'static str, InvalidValue)> {
    use InvalidValue as Problem;
    let label = |text: &str| Some(text.to_owned());
    vec![
        ("token", Problem::Empty),
        ("host", Problem::Sensitive(Sensitive::Token)),
        ("host", Problem::NotUrl),
        ("host", Problem::NoHost),
        ("host", Problem::HostScheme),
        ("proxy_url", Problem::ProxyScheme),
        ("HTTPS_PROXY", Problem::Port),
        ("host", Problem::UserInfo),
        ("host", Problem::Query),
        ("tls_server_name", Problem::ServerName),
        ("client-key-data", Problem::NotBase64),
        ("client_certificate", Problem::NotCertificate(label("CERTIFICATE REQUEST"))),
        ("client_certificate", Problem::NotCertificate(None)),
        ("client_key", Problem::NotPrivateKey(label("CERTIFICATE"))),
        ("client_key", Problem::NotPrivateKey(label("ENCRYPTED PRIVATE KEY"))),
        ("client_key", Problem::OtherKey),
        ("insecure-skip-tls-verify", Problem::InsecureWithAuthority),
        ("token", Problem::Header),
        ("exec.args", Problem::Nul),
        ("exec.env", Problem::VariableName),
        ("exec.api_version", Problem::PluginVersion),
        ("exec.interactiveMode", Problem::NeedsTerminal),
        ("certificate-authority", Problem::NoAuthorities("no file".into())),
        ("cluster_ca_certificate", Problem::Tls("invalid certificate".into())),
    ]
}

fn files() -> Vec<ConnectionError> {
    let in_user = |error| ConnectionError::Entry {
        what: "user",
        name: "joe".into(),
        file: Some("~/.kube/work".into()),
        error: Box::new(error),
    };
    let relative = |field| ConnectionError::RelativePath { field, path: "token".into() };
    let unreadable = |cause| ConnectionError::UnreadableFile {
        field: "tokenFile",
        path: "/run/token".into(),
        cause,
    };
    vec![
        in_user(relative("tokenFile")),
        relative("certificate-authority"),
        relative("exec.command"),
        ConnectionError::AuthProvider { name: "gcp".into() },
        ConnectionError::NoFiles {
            field: "KUBECONFIG",
            paths: vec!["/nowhere/a".into(), "/nowhere/b".into()],
        },
        unreadable(Unreadable::Directory),
        unreadable(Unreadable::NotRegular),
        unreadable(Unreadable::Empty),
        unreadable(Unreadable::TooLarge { limit: 16 << 20 }),
        unreadable(Unreadable::NotText),
    ]
}

fn kubeconfigs() -> Vec<ConnectionError> {
    use KubeconfigError as Problem;
    let text = |problem| ConnectionError::Kubeconfig { file: None, problem };
    let shape =
        |entry: Option<&str>| Problem::Shape { list: "users", entry: entry.map(ToOwned::to_owned) };
    vec![
        text(Problem::Empty),
        text(Problem::NotYaml(k8sconnect_core::yaml::Position { line: 3, column: 5 })),
        text(Problem::SeveralDocuments(2)),
        text(Problem::NotAMap),
        text(Problem::Path),
        text(Problem::Base64),
        text(shape(None)),
        text(shape(Some(""))),
        ConnectionError::Kubeconfig {
            file: Some("~/.kube/work".into()),
            problem: shape(Some("joe")),
        },
        ConnectionError::Kubeconfig { file: Some("~/.kube/work".into()), problem: Problem::Base64 },
        ConnectionError::Missing { what: "cluster", name: "east".into() },
        ConnectionError::NoCluster { context: "prod".into() },
        ConnectionError::NoContextChosen { contexts: Vec::new(), files: Vec::new() },
    ]
}

fn plugins() -> impl Iterator<Item = ConnectionError> {
    use PluginError as Problem;
    let after = Duration::from_secs(60);
    let problems = [
        ("aws", Problem::NotFound { hint: Some("Get it from the vendor.".into()) }),
        ("aws", Problem::NotFound { hint: None }),
        ("aws eks get-token", Problem::NotFound { hint: None }),
        ("aws", Problem::Unrunnable("permission denied".into())),
        ("aws", Problem::TimedOut { after, stderr: "Open https://login.example".into() }),
        ("aws", Problem::Interrupted),
        ("aws", Problem::Failed { status: ExitStatus::default(), stderr: "log in again".into() }),
        ("aws", Problem::Failed { status: ExitStatus::default(), stderr: String::new() }),
        (
            "aws",
            Problem::NotExecCredential { api_version: "client.authentication.k8s.io/v1".into() },
        ),
        ("aws", Problem::NoCredential),
        ("aws", Problem::Expiration),
        (
            "aws",
            Problem::Value(Box::new(ConnectionError::Value {
                field: "token",
                problem: InvalidValue::Header,
            })),
        ),
    ];
    problems.into_iter().map(|(command, problem)| {
        let command = command.to_owned();
        ConnectionError::Plugin { command, problem }
    })
}

fn answers() -> impl Iterator<Item = Diagnostic> {
    let host = || "https://k.example".into();
    let request = || "GET /api/v1/pods".to_owned();
    let excess = move |excess| Error::TooMuch { host: host(), request: request(), excess };
    let bad = move |answer| Error::BadAnswer { host: host(), request: request(), answer };
    let status = |code, message| Box::new(status(code, message, &[]));
    let not_ready = Error::NotReady {
        host: host(),
        status: status(503, "shutting down"),
        attempts: 7,
        waited: Duration::from_secs(29),
        asked: Some(Duration::from_secs(3600)),
    };
    let all = [
        excess(Excess::Answer { limit: 8 << 20 }),
        excess(Excess::List { limit: 64 << 20 }),
        excess(Excess::Pages { limit: 1000 }),
        excess(Excess::Circle),
        excess(Excess::Event { limit: 8 << 20 }),
        bad(BadAnswer::Status(407)),
        bad(BadAnswer::Json("expected value at line 1 column 1".into())),
        bad(BadAnswer::Shape),
        bad(BadAnswer::NotSent("invalid uri character".into())),
        not_ready,
        Error::CredentialsIgnored { host: host(), status: status(403, "forbidden") },
        Error::Refused(status(403, "pods is forbidden")),
        Error::Interrupted { host: host(), request: request(), attempts: 0 },
        Error::Interrupted { host: host(), request: request(), attempts: 2 },
        Error::BadName { name: "a/b".into() },
    ];
    all.into_iter().map(|error| connection::failed(&error))
}
