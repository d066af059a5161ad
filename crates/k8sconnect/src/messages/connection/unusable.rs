//! One table: what is wrong with a connection before any server is asked, and what to do.
//!
//! The value of a field is never shown. A path, a name or a command is, unless it may be a credential.

use k8sconnect_cluster::file::Unreadable;
use k8sconnect_cluster::{ConnectionError, InvalidValue, KubeconfigError, PluginError};
use k8sconnect_core::scrub::{Sensitive, without_credentials};

use super::super::{joined, looks_like, named, unreadable};
use super::Explanation;

pub(super) fn explain(error: &ConnectionError) -> Explanation {
    match error {
        ConnectionError::Value { field, problem } => value(field, problem),
        ConnectionError::Alone { field, lacks } => Explanation::new(
            format!("`{field}` is given without `{lacks}`"),
            "Each is of use only with the other.",
            format!("Add `{lacks}`."),
        ),
        ConnectionError::AuthProvider { name } => auth_provider(name),
        ConnectionError::RelativePath { field, path } => relative_path(field, path),
        ConnectionError::ContentForPath { field, content } => content_for_path(field, *content),
        ConnectionError::UnreadableFile { field, path, cause } => {
            unreadable_file(field, path, cause)
        }
        ConnectionError::NoFiles { field, paths } => Explanation::new(
            format!("None of the files in `{field}` can be used"),
            format!("They do not exist or are empty: {}.", list(paths)),
            "Check the paths.",
        ),
        ConnectionError::Kubeconfig { file, problem } => kubeconfig(file.as_deref(), problem),
        ConnectionError::NoContextChosen { contexts, files } => Explanation::new(
            "The kubeconfig does not say which context to use",
            contexts_in("no `current-context`", contexts, files),
            choose_context(contexts),
        ),
        ConnectionError::UnknownContext { name, contexts, files } => Explanation::new(
            format!("The kubeconfig has no context {}", named(name)),
            contexts_in("", contexts, files),
            choose_context(contexts),
        ),
        ConnectionError::NoCluster { context } => Explanation::new(
            format!("The context {} in the kubeconfig names no cluster", named(context)),
            "A context leads to a server by its `cluster`.",
            "Add the name of a cluster to it, or choose another context.",
        ),
        ConnectionError::Missing { what, name } => Explanation::new(
            format!("The kubeconfig has no {what} {}", named(name)),
            "The chosen context refers to it.",
            format!("Add the {what}, or choose another context."),
        ),
        ConnectionError::Entry { what, name, file, error } => {
            let place = file.as_deref().map_or("the kubeconfig".to_owned(), named);
            let entry = format!("See the {what} {} in {place}.", named(name));
            let told = explain(error);
            Explanation { cause: joined(&[&told.cause, &entry]), ..told }
        }
        ConnectionError::Plugin { command, problem } => {
            let summary = format!("The credential plugin {} brought no credential", named(command));
            Explanation::new(summary, cause_in_plugin(problem), advice_on_plugin(command, problem))
        }
    }
}

fn relative_path(field: &str, path: &str) -> Explanation {
    Explanation::new(
        format!("`{field}` is a relative path"),
        format!("{} is relative to a file, and this kubeconfig was given as text.", named(path)),
        match field {
            "exec.command" => "Use an absolute path, or a bare name that is in `PATH`.".into(),
            _ => format!("Use an absolute path, or put the content into {}.", inline(field)),
        },
    )
}

fn unreadable_file(field: &str, path: &str, cause: &Unreadable) -> Explanation {
    let what = if *cause == Unreadable::Empty { "is empty" } else { "cannot be read" };
    Explanation::new(
        format!("The file in `{field}` {what}"),
        format!("{}: {}.", named(path), unreadable(cause)),
        "Check the path, and who may read it.",
    )
}

/// A value that cannot be used. `field` as the user spells it.
pub(super) fn value(field: &str, problem: &InvalidValue) -> Explanation {
    let advice = match problem {
        InvalidValue::Empty if field != "server" => {
            "Give it a value; or leave it out, or set it to `null`, where there is none.".to_owned()
        }
        InvalidValue::NotBase64 => format!(
            "Put the PEM into it in base64, on one line; or the path of its file into `{}`.",
            field.trim_end_matches("-data")
        ),
        InvalidValue::NotPem => "Give its content, not a path: `file(\"…\")` reads one.".to_owned(),
        InvalidValue::NotPrivateKey(Some(label)) if label.starts_with("ENCRYPTED") => {
            "Give it decrypted, as `openssl pkey -in FILE` prints it.".to_owned()
        }
        InvalidValue::OtherKey => {
            "Give a certificate and a key that were made together.".to_owned()
        }
        InvalidValue::NotCertificate(_) => "Give a certificate in PEM.".to_owned(),
        InvalidValue::NotPrivateKey(_) => "Give the private key in PEM.".to_owned(),
        InvalidValue::InsecureWithAuthority => "Remove one of the two.".to_owned(),
        InvalidValue::NeedsTerminal => "Write `IfAvailable`, or `Never`, and log in by hand \
            beforehand if it must ask something."
            .to_owned(),
        _ if field.ends_with("_PROXY") => {
            "Correct it in the environment, or name the server in `NO_PROXY`.".to_owned()
        }
        _ if matches!(field, "host" | "server") => "Write it as `https://host:port`.".to_owned(),
        _ => "Correct the value.".to_owned(),
    };
    Explanation::new(format!("`{field}` cannot be used"), cause_in_value(problem), advice)
}

fn cause_in_value(problem: &InvalidValue) -> String {
    let labelled = |label: &Option<String>, expected: &str| match label {
        Some(label) => format!("Its PEM has the label `{label}`, which is not {expected}."),
        None => format!("It has no PEM of {expected}."),
    };
    let cause = match problem {
        InvalidValue::Empty => "It is empty.",
        InvalidValue::Sensitive(kind) => {
            &*format!("It looks like {}, and is not shown.", looks_like(*kind))
        }
        InvalidValue::NotUrl => "It is not a URL.",
        InvalidValue::NoHost => "It names no host.",
        InvalidValue::HostScheme => "Only `https` and `http` are known.",
        InvalidValue::ProxyScheme => {
            "Only `http`, `https`, `socks5` and `socks5h` proxies are known."
        }
        InvalidValue::Port => "Its port is not a number from 1 to 65535.",
        InvalidValue::UserInfo => "A user or a password in it belongs in its own field.",
        InvalidValue::Query => "It has a query, which no API server's address has.",
        InvalidValue::ServerName => "It is neither a DNS name nor an IP address.",
        InvalidValue::NotBase64 => "It is not base64 of PEM.",
        InvalidValue::NotPem => "It is neither PEM nor base64 of PEM.",
        InvalidValue::NotCertificate(label) => &labelled(label, "a certificate"),
        InvalidValue::NotPrivateKey(label) => {
            &labelled(label, "an unencrypted private key (PKCS#8, PKCS#1 or SEC1)")
        }
        InvalidValue::OtherKey => "It is not the key of the client certificate.",
        InvalidValue::InsecureWithAuthority => {
            "It contradicts the `certificate-authority` beside it."
        }
        InvalidValue::Header => {
            "It has a character that no HTTP header can have, such as a line break."
        }
        InvalidValue::Nul => "It has a NUL character, which no program can be given.",
        InvalidValue::VariableName => "A name in it is empty, or has a `=` in it.",
        InvalidValue::PluginVersion => {
            "It must be `client.authentication.k8s.io/v1` or `client.authentication.k8s.io/v1beta1`."
        }
        InvalidValue::NeedsTerminal => "The plugin needs a terminal, and there is none.",
        InvalidValue::NoAuthorities(words) => &*format!(
            "It is not given, and the authorities of this machine cannot be read ({words})."
        ),
        InvalidValue::Tls(words) => &*format!("It cannot be used for TLS ({words})."),
    };
    cause.to_owned()
}

fn content_for_path(field: &str, content: Sensitive) -> Explanation {
    let is_list = matches!(field, "config_path" | "KUBECONFIG");
    let summary = match content {
        Sensitive::Document if is_list => "the text of a kubeconfig, not its path",
        _ => "something else than a path",
    };
    let advice = match (field, is_list) {
        (_, true) => "Put the text of a kubeconfig into `kubeconfig`, for example `kubeconfig = \
                      file(\"…\")`; write its path into `config_path`."
            .to_owned(),
        ("exec.command", _) => "Write the path.".to_owned(),
        _ => format!("Put the content into {}; `{field}` is for the path.", inline(field)),
    };
    Explanation::new(
        format!("`{field}` holds {summary}"),
        format!(
            "A path belongs there. The value looks like {}, and is not shown.",
            looks_like(content)
        ),
        advice,
    )
}

/// The field of a kubeconfig for the content of a file.
fn inline(field: &str) -> String {
    match field {
        "tokenFile" => "`token`".to_owned(),
        _ => format!("`{field}-data`, in base64"),
    }
}

fn auth_provider(name: &str) -> Explanation {
    let plugin = match name {
        "gcp" => "`gke-gcloud-auth-plugin`",
        "azure" => "`kubelogin`",
        "oidc" => "`kubelogin` (`kubectl oidc-login`)",
        _ => "the plugin of its vendor",
    };
    Explanation::new(
        "The kubeconfig uses an `auth-provider`, which is not supported",
        format!("Kubernetes 1.26 replaced {} by credential plugins.", named(name)),
        format!("Use `exec` instead, with {plugin}."),
    )
}

fn kubeconfig(file: Option<&str>, problem: &KubeconfigError) -> Explanation {
    let summary = match (problem, file) {
        (KubeconfigError::Path, None) => {
            "`kubeconfig` holds a path, not the text of a kubeconfig".to_owned()
        }
        (_, Some(file)) => format!("The kubeconfig {} cannot be read", named(file)),
        (_, None) => "The kubeconfig cannot be read".to_owned(),
    };
    let cause = match problem {
        KubeconfigError::Empty => "It is empty.",
        KubeconfigError::NotYaml(position) => &*format!("It is not YAML at {position}."),
        KubeconfigError::SeveralDocuments(count) => &*format!("It has {count} documents, not one."),
        KubeconfigError::NotAMap => "It is not a map with `clusters`, `users` and `contexts`.",
        KubeconfigError::Path => "All that is in it is a path.",
        KubeconfigError::Base64 => "It is a kubeconfig in base64.",
        KubeconfigError::Shape { list, entry } => {
            let place = match entry.as_deref() {
                None => format!("`{list}`"),
                Some("") => format!("An entry without a name in `{list}`"),
                Some(name) => format!("The entry {} in `{list}`", named(name)),
            };
            &*format!("{place} has another shape than in a kubeconfig.")
        }
    };
    let advice = match (problem, file) {
        (KubeconfigError::Path, None) => {
            "Write the path into `config_path`; or give the text, as with `kubeconfig = file(\"…\")`."
        }
        (KubeconfigError::Base64, None) => "Decode it, with `kubeconfig = base64decode(…)`.",
        (KubeconfigError::Base64, Some(_)) => "Decode it, with `base64 -d`.",
        _ => "It should look like the output of `kubectl config view --raw`.",
    };
    Explanation::new(summary, cause, advice)
}

fn contexts_in(lacks: &str, contexts: &[String], files: &[String]) -> String {
    let subject = match files {
        [] => "It has".to_owned(),
        _ => format!("Together {} have", list(files)),
    };
    match (contexts, lacks) {
        ([], _) => format!("{subject} no contexts at all."),
        (_, "") => format!("{subject} these contexts: {}.", list(contexts)),
        _ => format!("{subject} {lacks}, and these contexts: {}.", list(contexts)),
    }
}

fn choose_context(contexts: &[String]) -> &'static str {
    match contexts {
        [] => "Give a kubeconfig with a context, as `kubectl config view --raw` prints it.",
        _ => "Name one of them in `context`.",
    }
}

fn cause_in_plugin(problem: &PluginError) -> String {
    let saying = |stderr: &str| match stderr {
        "" => ".".to_owned(),
        stderr => format!(", saying: {stderr}"),
    };
    match problem {
        PluginError::NotFound { .. } => "There is no such command on this machine.".into(),
        PluginError::Unrunnable(words) => format!("It could not be run ({words})."),
        PluginError::TimedOut { after, stderr } => {
            let seconds = after.as_secs_f64();
            format!("It had not ended after {seconds:.0} seconds{}", saying(stderr))
        }
        PluginError::Interrupted => "It was not waited for, since you asked to stop.".into(),
        PluginError::Failed { status, stderr } => {
            format!("It ended with {status}{}", saying(stderr))
        }
        PluginError::NotExecCredential { api_version } => {
            format!("It printed no `ExecCredential` of `{api_version}`.")
        }
        PluginError::NoCredential => {
            "It printed neither a token nor a client certificate with its key.".into()
        }
        PluginError::Expiration => "Its `expirationTimestamp` is not a time.".into(),
        PluginError::Value(error) => {
            let Explanation { summary, cause, .. } = explain(error);
            format!("In its output {summary}: {cause}")
        }
    }
}

fn advice_on_plugin(command: &str, problem: &PluginError) -> String {
    let advice = match problem {
        // It is the kubeconfig's own.
        PluginError::NotFound { hint: Some(hint) } => &*without_credentials(hint),
        PluginError::NotFound { hint: None } if command.contains(char::is_whitespace) => {
            "`command` is the program alone: its arguments go into `args`."
        }
        PluginError::NotFound { hint: None } => {
            "Install it, or write its full path into `command`."
        }
        PluginError::Unrunnable(_) => "Check that it may be executed.",
        PluginError::TimedOut { .. } => "Check that it does not wait for somebody to log in.",
        PluginError::Interrupted => "Run again.",
        PluginError::Failed { .. } => {
            "Run it by hand to see what it lacks; often a login has expired."
        }
        PluginError::NotExecCredential { .. }
        | PluginError::NoCredential
        | PluginError::Expiration
        | PluginError::Value(_) => "Check that it is a credential plugin, and its version.",
    };
    advice.to_owned()
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| named(name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD as BASE64;
    use k8sconnect_cluster::{Connection, KubeconfigFiles};

    use super::*;

    const KUBECONFIG: &str = "
contexts: [{name: a, context: {cluster: c, user: u}}, {name: b, context: {cluster: d}}]
clusters: [{name: c, cluster: {server: 'https://k.example'}}]
users: [{name: u, user: {token: hunter2}}]
";

    /// A key in PEM, the same in base64, a token, a kubeconfig: with the parts that may not be shown.
    fn contents() -> Vec<(String, [&'static str; 2])> {
        let key =
            "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIhunter2abc\n-----END EC PRIVATE KEY-----";
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.aHVudGVyMg";
        let kubeconfig = format!("apiVersion: v1{KUBECONFIG}");
        vec![
            (key.to_owned(), ["MHcCAQ", "hunter2"]),
            (BASE64.encode(key), ["LS0tLS1", "TUhjQ0FR"]),
            (token.to_owned(), ["eyJ", "aHVudGVyMg"]),
            (kubeconfig.clone(), ["hunter2", "k.example"]),
            (BASE64.encode(kubeconfig), ["YXBpVmVy", "aHVudGVyMg"]),
            ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b".into(), ["9f86d", "4f1b"]),
        ]
    }

    #[test]
    fn no_error_shows_what_may_be_a_credential_by_mistake() {
        for (content, marks) in contents() {
            let text = serde_json::Value::from(content.as_str()).to_string();
            let of = |kubeconfig: String, context| {
                Connection::from_kubeconfig(&kubeconfig, context).expect_err("it is refused")
            };
            let user = |user: &str| {
                let user = user.replace("CONTENT", &text);
                of(KUBECONFIG.replace("{token: hunter2}", &user), Some("a"))
            };
            let list = format!("/nowhere:{content}");
            let mut errors = vec![
                of(KUBECONFIG.to_owned(), Some(&content)),
                of(KUBECONFIG.replace("cluster: d", &format!("cluster: {text}")), Some("b")),
                of(KUBECONFIG.replace("name: b", &format!("name: {text}")), None),
                user("{auth-provider: {name: CONTENT}}"),
                user("{client-key: CONTENT}"),
                user("{tokenFile: CONTENT/}"),
                user("{exec: {apiVersion: v0, command: CONTENT, installHint: CONTENT}}"),
                vec![ConnectionError::Plugin {
                    command: content.clone(),
                    problem: PluginError::NotFound { hint: None },
                }],
            ];
            for list in [&content, &list] {
                errors.extend(KubeconfigFiles::load("KUBECONFIG", list).err().map(|it| vec![it]));
            }
            let errors = errors.iter().flatten().map(explain);
            let host = content.parse::<k8sconnect_cluster::Host>().err();
            let proxy = k8sconnect_cluster::inline::proxy(&format!("http://{content}")).err();
            let values = host.iter().chain(&proxy).map(|problem| value("host", problem));
            for Explanation { summary, cause, advice } in errors.chain(values) {
                let told = format!("{summary} {cause} {advice}");
                assert!(!marks.iter().any(|mark| told.contains(mark)), "{told}");
            }
        }
    }

    #[test]
    fn names_are_quoted_and_credentials_are_not() {
        assert_eq!(named("prod"), "`prod`");
        assert_eq!(named("/etc/kubeconfig\n"), r"`/etc/kubeconfig\n`");
        let hidden = named("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl");
        assert_eq!(hidden, "(not shown: it looks like a token)");
    }
}
