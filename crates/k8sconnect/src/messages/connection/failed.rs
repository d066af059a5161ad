//! One table: what kept a request from being answered, its cause, and what to do.

use std::time::Duration;

use k8sconnect_cluster::{BadAnswer, Error, Excess, NetworkError, Proxy, Server, TlsError};
use k8sconnect_core::rejection::Status;

use super::super::{joined, named};
use super::Explanation;

pub(crate) fn explain(error: &Error) -> Explanation {
    match error {
        Error::Refused(status) => refused(status),
        Error::Unauthorized { host, plugin, status } => unauthorized(host, plugin, status),
        Error::Anonymous { host, user, status } => anonymous(host, user, status.code),
        Error::CredentialsIgnored { host, status } => credentials_ignored(host, status),
        Error::NotReady { host, status, attempts, waited, asked } => Explanation::new(
            format!("The API server at {} is not ready (HTTP {})", server(host), status.code),
            joined(&[
                &server_said(status),
                &tried(*attempts, Some(*waited)),
                &asked.map_or(String::new(), |it| {
                    format!("It asks to wait {} seconds.", it.as_secs())
                }),
            ]),
            advice_on(status),
        ),
        Error::Unreachable { host, cause, attempts } => Explanation::new(
            format!("Cannot reach the API server at {}", server(host)),
            joined(&[&network_cause(cause), &tried(*attempts, None)]),
            network_advice(cause),
        ),
        Error::AnswerLost { host, request, cause, attempts } => Explanation::new(
            format!("The API server at {} was asked, and its answer was lost", server(host)),
            joined(&[
                &format!("`{request}` was sent."),
                &network_cause(cause),
                &tried(*attempts, None),
            ]),
            network_advice(cause),
        ),
        Error::Timeout { host, request, waited } => timeout(host, request, *waited),
        Error::Interrupted { host, request, attempts } => Explanation::new(
            format!("Interrupted while the API server at {} was asked", server(host)),
            match attempts {
                0 => format!("`{request}` was not sent."),
                _ => format!("`{request}` had no usable answer yet."),
            },
            "Run again when the server answers.",
        ),
        Error::TooMuch { host, request, excess } => too_much(host, request, *excess),
        Error::NotCreated { host, request, code } => not_created(host, request, *code),
        Error::BadAnswer { host, request, answer } => bad_answer(host, request, answer),
        Error::BadName { name } => Explanation::new(
            format!("`{name}` cannot be the name of an object"),
            "It would lead to another address than the object's.",
            "Give the object a name of its own, without `/` and `%`.",
        ),
        Error::Connection(error) => super::unusable::explain(error),
    }
}

fn refused(status: &Status) -> Explanation {
    let what = if status.leaves_open() { "failed" } else { "refused" };
    let summary = format!("The API server {what} (HTTP {})", status.code);
    Explanation::new(summary, server_said(status), advice_on(status))
}

fn advice_on(status: &Status) -> &'static str {
    match status.code {
        403 => "Ask for the permission that the message names, or use other credentials.",
        429 => "The server is overloaded; run again later.",
        502..=504 => "The server, or a proxy before it, is not ready; run again later.",
        500.. if status.leaves_open() => "The server failed; run again later.",
        _ => "Change what the message names.",
    }
}

fn unauthorized(host: &Server, plugin: &Option<String>, status: &Status) -> Explanation {
    let expired = "The credentials have expired, or they are not for this cluster.";
    // Most servers add nothing to the status code.
    let said = if status.message == "Unauthorized" { "" } else { &server_said(status) };
    let (cause, advice) = match plugin {
        Some(plugin) => {
            let plugin = named(plugin);
            let again = format!(
                "They come from the plugin {plugin}, and a second run of it brought no better ones."
            );
            let check = "check that its login has not expired, and that it is for this cluster.";
            (joined(&[expired, &again, said]), format!("Run {plugin} by hand: {check}"))
        }
        None => (
            joined(&[expired, said]),
            "Check that the token or client certificate belongs to this cluster and has not expired, \
             or fetch a new one."
                .to_owned(),
        ),
    };
    let summary =
        format!("The API server at {} does not accept the credentials (HTTP 401)", server(host));
    Explanation::new(summary, cause, advice)
}

fn anonymous(host: &Server, user: &Option<String>, code: u16) -> Explanation {
    let nobody = match user {
        Some(user) => format!("user {} in the kubeconfig has none.", named(user)),
        None => "the context in the kubeconfig names no user.".to_owned(),
    };
    Explanation::new(
        format!("The API server at {} requires credentials (HTTP {code})", server(host)),
        format!("No credentials were sent: {nobody}"),
        "Give the user in the kubeconfig a `token`, a `client-certificate` with its `client-key`, or \
         an `exec` plugin; or choose a context whose user has one.",
    )
}

fn credentials_ignored(host: &Server, status: &Status) -> Explanation {
    Explanation::new(
        format!("The API server at {} ignored the credentials (HTTP 403)", server(host)),
        joined(&[
            "Credentials were sent, and the server treated the request as anonymous.",
            &server_said(status),
        ]),
        "Kubernetes knows no `username` and `password` any more: use a `token`, a \
         `client-certificate` with its `client-key`, or an `exec` plugin. A client certificate does \
         not get past a proxy that ends TLS itself.",
    )
}

fn timeout(host: &Server, request: &str, waited: Duration) -> Explanation {
    Explanation::new(
        format!("The API server at {} did not answer in time", server(host)),
        format!("`{request}` was given {:.0} seconds.", waited.as_secs_f64()),
        "Check that the server is healthy and that nothing between delays the request, an admission \
         webhook included.",
    )
}

fn too_much(host: &Server, request: &str, excess: Excess) -> Explanation {
    let mebibytes = |bytes: usize| format!("{} MiB", bytes >> 20);
    let what = match excess {
        Excess::Answer { limit } => {
            format!("an answer of more than {}, or with too many values", mebibytes(limit))
        }
        Excess::List { limit } => format!("a list of more than {}", mebibytes(limit)),
        Excess::Pages { limit } => format!("a list of more than {limit} pages"),
        Excess::Circle => "a list that has no end".to_owned(),
        Excess::Event { limit } => {
            format!("a watch event of more than {}, or with too many values", mebibytes(limit))
        }
    };
    let advice = match excess {
        Excess::List { .. } => {
            "Ask for fewer objects, by namespace, labels or fields. If the kind has few objects, \
             check what answers at this host."
        }
        _ => {
            "Check the host, its port and its path, and every proxy on the way: what answers there \
             is not a healthy API server."
        }
    };
    Explanation::new(
        format!("The API server at {} sent {what}", server(host)),
        format!("The provider stopped reading the answer to `{request}`."),
        advice,
    )
}

fn not_created(host: &Server, request: &str, code: u16) -> Explanation {
    Explanation::new(
        format!(
            "The API server at {} changed an object instead of creating one (HTTP {code})",
            server(host)
        ),
        format!(
            "`{request}` asked for a new object, with a condition that an API server refuses where \
             an object exists. This server ignored the condition."
        ),
        "Compare the object with its configuration, and check which server serves its group: an \
         aggregated API has its own.",
    )
}

fn bad_answer(host: &Server, request: &str, answer: &BadAnswer) -> Explanation {
    let cause = match answer {
        BadAnswer::Status(code) => format!("`{request}` was answered with HTTP {code}."),
        BadAnswer::Json(words) => {
            format!("`{request}` was not answered with the expected JSON ({words}).")
        }
        BadAnswer::Shape => format!("`{request}` was not answered with the expected JSON."),
        BadAnswer::NotSent(words) => format!("`{request}` could not be sent ({words})."),
    };
    Explanation::new(
        format!("{} does not answer like a Kubernetes API server", server(host)),
        cause,
        "Check the host, its port and its path: a login page or a proxy often answers in the \
         server's place.",
    )
}

fn network_cause(error: &NetworkError) -> String {
    match error {
        NetworkError::NameNotFound(words) => format!("Its name cannot be looked up ({words})."),
        NetworkError::Refused => "Nothing listens there: the connection was refused.".into(),
        NetworkError::NoRoute => "There is no route to it from this machine.".into(),
        NetworkError::NotAccepted => "Nothing accepted the connection in time.".into(),
        NetworkError::NoAnswer => {
            "The connection was accepted there, and nothing was sent in time.".into()
        }
        NetworkError::Closed => "The other side closed the connection.".into(),
        NetworkError::Tls(error) => tls_cause(error),
        NetworkError::AfterCertificate(inner) => {
            format!("{} The server had been sent the client certificate.", network_cause(inner))
        }
        NetworkError::Proxy(proxy, inner) => {
            format!("The proxy `{}` could not be used. {}", proxy.address, network_cause(inner))
        }
        NetworkError::ProxyStatus(code) => {
            format!("It did not let the request through (HTTP {code}).")
        }
        NetworkError::NotHttp => "It does not answer like an HTTP proxy.".into(),
        NetworkError::ClosedBehind(Proxy { address, .. }) => format!(
            "The proxy `{address}` let the connection pass, and it was closed before the API server \
             sent anything."
        ),
        NetworkError::Other(words) => format!("The connection failed ({words})."),
    }
}

fn tls_cause(error: &TlsError) -> String {
    match error {
        TlsError::UnknownAuthority => {
            "Its certificate is not signed by an authority that this connection trusts.".into()
        }
        TlsError::WrongName { presented } if presented.is_empty() => {
            "Its certificate is for another name.".into()
        }
        TlsError::WrongName { presented } => {
            format!("Its certificate is for another name: `{}`.", presented.join("`, `"))
        }
        TlsError::Expired => "Its certificate has expired.".into(),
        TlsError::NotYetValid => "Its certificate is not valid yet.".into(),
        TlsError::NotTls => "What answers there does not speak TLS.".into(),
        TlsError::WantsTls => "It speaks TLS there, and was asked without.".into(),
        TlsError::ClientCertificate => "It refused the client certificate.".into(),
        TlsError::Other(words) => format!("TLS could not be set up ({words})."),
    }
}

fn network_advice(error: &NetworkError) -> String {
    let advice = match error {
        NetworkError::NameNotFound(_) => {
            "Check the spelling of the host, and that this machine's DNS knows it: private clusters \
             are often known inside their network only."
        }
        NetworkError::Refused => "Check the port, and that the cluster is running.",
        NetworkError::NoRoute | NetworkError::NotAccepted => {
            "Check the address, the VPN or proxy that leads to it, and firewalls on the way."
        }
        NetworkError::NoAnswer | NetworkError::Closed => {
            "Check that the port is the API server's, that the server is healthy, and that no proxy \
             on the way cuts the connection."
        }
        NetworkError::Tls(error) => tls_advice(error),
        NetworkError::AfterCertificate(inner) => {
            let own = "Check that the client certificate and its key belong together, and to this \
                       cluster, and that it has not expired.";
            return joined(&[own, &network_advice(inner).replacen("Check", "Check also", 1)]);
        }
        NetworkError::Proxy(proxy, inner) => return proxy_advice(proxy, inner),
        NetworkError::ClosedBehind(proxy) => return proxy_advice(proxy, &NetworkError::Closed),
        NetworkError::ProxyStatus(_) | NetworkError::NotHttp | NetworkError::Other(_) => {
            "Check the host and the network to it."
        }
    };
    advice.to_owned()
}

fn tls_advice(error: &TlsError) -> &'static str {
    match error {
        TlsError::UnknownAuthority => {
            "Set `cluster_ca_certificate` (in a kubeconfig `certificate-authority-data`) to this \
             cluster's CA; a cluster that was built anew has a new one."
        }
        TlsError::WrongName { .. } => {
            "Use a host that the certificate is for, or name one of its names in `tls_server_name`."
        }
        TlsError::Expired => "Renew the server's certificate, or check this machine's clock.",
        TlsError::NotYetValid => "Check this machine's clock and the server's.",
        TlsError::NotTls => "Check the port, and whether the host should begin with `http://`.",
        TlsError::WantsTls => "Write the host with `https://`.",
        TlsError::ClientCertificate => {
            "Check that the client certificate is of this cluster and has not expired."
        }
        TlsError::Other(_) => {
            "Check what stands between this machine and the server, and that both know a common TLS \
             version."
        }
    }
}

fn proxy_advice(proxy: &Proxy, error: &NetworkError) -> String {
    let (field, around) = match proxy.variable {
        Some(variable) => (
            format!("`{variable}` in the environment"),
            "; `NO_PROXY` names servers that need none",
        ),
        None => ("`proxy_url` (in a kubeconfig `proxy-url`)".to_owned(), ""),
    };
    match error {
        NetworkError::ProxyStatus(407) => {
            format!("Check {field}: it takes `http://user:password@host:port`.")
        }
        NetworkError::Tls(TlsError::UnknownAuthority) => format!(
            "Check {field}. The authority of the proxy's certificate must be one that this machine \
             trusts, or the cluster's; `insecure` is about the API server only."
        ),
        _ => {
            format!("Check {field}, its port and scheme, and that it leads to this server{around}.")
        }
    }
}

fn server(Server { host, called }: &Server) -> String {
    match called {
        Some(called) => format!("`{host}` (`{called}`)"),
        None => format!("`{host}`"),
    }
}

fn tried(attempts: u32, waited: Option<Duration>) -> String {
    match (attempts, waited) {
        (0 | 1, _) => String::new(),
        (many, None) => format!("It was tried {many} times."),
        (many, Some(waited)) => {
            format!("It was tried {many} times in {:.0} seconds.", waited.as_secs_f64())
        }
    }
}

fn server_said(status: &Status) -> String {
    match status.message.trim_end_matches('.') {
        "" => "The server gave no reason.".to_owned(),
        message => format!("The server said: {message}."),
    }
}
