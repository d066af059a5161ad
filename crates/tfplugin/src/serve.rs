//! The whole of a provider's `main`: the handshake with Terraform, the connection, the end.
//!
//! Terraform starts the provider as a child, with a cookie, a certificate and an open wish for a
//! protocol in the environment. The provider listens on a unix socket, says where in one line on
//! standard output, and serves until it is told to end. Standard output belongs to this module
//! alone; standard input is the user's terminal and is never read.
//!
//! Only unix sockets are served: Terraform on Windows would want TCP.

mod companions;
mod connection;
mod life;
mod log;
mod socket;
mod tls;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use self::life::{Keeper, Life};
use crate::registry::Provider;
use crate::server::Service;

/// What Terraform puts into the environment to say that it is Terraform.
const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// How a provider is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The source address, as in `registry.terraform.io/namespace/name`.
    pub address: &'static str,
    /// The short name. Its crates' names begin with it, and `TF_LOG_PROVIDER_<NAME>` sets the
    /// level of their logs.
    pub name: &'static str,
}

/// Who started the process.
#[derive(PartialEq)]
enum Start {
    /// Terraform or OpenTofu; with its certificate, unless it was told to do without.
    Plugin { client_certificate: Option<String> },
    /// A developer, who attaches Terraform to the running process.
    Debug,
    /// Somebody by hand.
    ByHand,
}

/// Serves a provider until Terraform is done with it. Call it from `main` and return its answer.
///
/// With `--debug` it serves without Terraform's handshake and prints the environment variable by
/// which Terraform finds it.
pub async fn serve<P: Provider>(provider: P, options: Options) -> ExitCode {
    let start = start(std::env::args_os().skip(1), |name| std::env::var(name).ok());
    if let Start::ByHand = start {
        explain(options);
        return ExitCode::FAILURE;
    }
    life::report_panics();
    log::install(options.name);
    let code = match run(provider, options, start).await {
        Ok(()) => 0,
        Err(problem) => {
            // Terraform shows what stands on standard error when the handshake fails.
            let _ = writeln!(std::io::stderr(), "The provider cannot be served: {problem}.");
            1
        }
    };
    // Returning would let the runtime wait for work on other threads, and Terraform kills a
    // plugin that has not ended two seconds after it was asked to.
    std::process::exit(code)
}

fn start(
    mut arguments: impl Iterator<Item = OsString>,
    variable: impl Fn(&str) -> Option<String>,
) -> Start {
    if arguments.any(|argument| argument == "--debug" || argument == "-debug") {
        Start::Debug
    } else if variable(COOKIE.0).as_deref() == Some(COOKIE.1) {
        let client_certificate = variable("PLUGIN_CLIENT_CERT").filter(|pem| !pem.is_empty());
        Start::Plugin { client_certificate }
    } else {
        Start::ByHand
    }
}

fn explain(options: Options) {
    let Options { address, name } = options;
    let _ = writeln!(
        std::io::stderr(),
        "This is the `{name}` provider, a plugin of Terraform and OpenTofu. It does nothing by \
         itself.\n\nName `{address}` under `required_providers` in a configuration and run \
         `terraform init`; Terraform then starts the provider when it needs it. To attach \
         Terraform to a running provider, start it with `--debug`."
    );
}

/// Why a provider cannot be served.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("the certificate in `PLUGIN_CLIENT_CERT` cannot be read: {0}")]
    ClientCertificate(String),
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    #[error("the socket cannot be used: {0}")]
    Socket(#[from] std::io::Error),
    #[error("the connection ended: {0}")]
    Serve(#[from] tonic::transport::Error),
}

async fn run<P: Provider>(provider: P, options: Options, start: Start) -> Result<(), Problem> {
    // From the line on a Ctrl-C may reach us, so the signals come first.
    let mut life = Life::begin()?;
    let identity = match &start {
        Start::Plugin { client_certificate: Some(pem) } => Some(tls::Identity::pinned_to(pem)?),
        _ => None,
    };
    let (listener, socket) = socket::bind()?;
    let (keeper, hello) = match start {
        Start::Plugin { .. } => {
            let certificate = identity.as_ref().map(|identity| identity.certificate.as_ref());
            let certificate = STANDARD_NO_PAD.encode(certificate.unwrap_or_default());
            let path = socket.path().display();
            (Keeper::Parent, format!("1|6|unix|{path}|grpc|{certificate}\n"))
        }
        Start::Debug | Start::ByHand => (Keeper::Developer, reattach(options, socket.path())),
    };
    let incoming = connection::accept(listener, identity.map(|identity| identity.acceptor));
    let (shutdown, companions) = companions::companions().await;
    let service = Service::new(provider, options.address);
    let server = companions.add_service(service.into_server()).serve_with_incoming(incoming);
    say(&hello)?;
    let ended = tokio::select! {
        ended = server => ended.map_err(Problem::from),
        () = shutdown.asked() => Ok(()),
        () = life.end(keeper) => Ok(()),
    };
    socket.remove();
    ended
}

fn say(line: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(line.as_bytes())?;
    stdout.flush()
}

/// What a developer needs to attach Terraform. `Test` keeps Terraform from ending the process.
fn reattach(options: Options, socket: &Path) -> String {
    let address = serde_json::json!({
        options.address: {
            "Protocol": "grpc",
            "ProtocolVersion": 6,
            "Pid": std::process::id(),
            "Test": true,
            "Addr": { "Network": "unix", "String": socket.display().to_string() },
        }
    });
    format!(
        "The `{}` provider runs and waits. Set this where you run Terraform:\n\n\
         TF_REATTACH_PROVIDERS='{address}'\n\nEnd it with Ctrl-C.\n",
        options.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(arguments: &[&str], variables: &[(&str, &str)]) -> Start {
        start(arguments.iter().map(OsString::from), |name| {
            let found = variables.iter().find(|(variable, _)| *variable == name)?;
            Some(found.1.to_owned())
        })
    }

    #[test]
    fn knows_who_started_it() {
        assert!(matches!(started(&[], &[]), Start::ByHand));
        assert!(matches!(started(&[], &[(COOKIE.0, "wrong")]), Start::ByHand));
        assert!(matches!(started(&["--debug"], &[]), Start::Debug));
        let without = Start::Plugin { client_certificate: None };
        assert!(matches!(started(&[], &[COOKIE]), found if found == without));
        let with = Start::Plugin { client_certificate: Some("pem".to_owned()) };
        assert!(
            matches!(started(&[], &[COOKIE, ("PLUGIN_CLIENT_CERT", "pem")]), found if found == with)
        );
    }
}
