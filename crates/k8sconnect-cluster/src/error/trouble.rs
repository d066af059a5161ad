//! What went wrong below HTTP.
//!
//! A connect failure arrives as a chain of wrappers that print as "client error (Connect)". What
//! matters is at its end: no such name, nobody listening, or which of the many things that can be
//! wrong with a certificate. Each of them is mended in another place, so each has its own words.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError};

use crate::route::{LookupFailed, ProxyFailed, Refusal};

/// A proxy on the way, without the login for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    pub address: String,
    pub origin: ProxyOrigin,
}

/// Who says that it is to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyOrigin {
    /// The connection.
    Given,
    /// `HTTPS_PROXY` in the environment.
    Https,
    /// `HTTP_PROXY` in it.
    Http,
}

impl Proxy {
    fn field(&self) -> &'static str {
        match self.origin {
            ProxyOrigin::Given => "`proxy_url` (in a kubeconfig `proxy-url`)",
            ProxyOrigin::Https => "`HTTPS_PROXY` in the environment",
            ProxyOrigin::Http => "`HTTP_PROXY` in the environment",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    NameNotFound {
        why: String,
    },
    Refused,
    NoRoute,
    /// Closed or reset by the other side.
    Closed,
    /// Nothing accepted the connection in time.
    Silent,
    /// Something accepted the connection and then said nothing.
    Mute,
    /// A proxy did.
    MuteProxy(Proxy),
    /// The connection was closed before the server said anything, through a proxy that had let it
    /// pass.
    ClosedBehind(Proxy),
    UnknownAuthority,
    WrongName {
        presented: Vec<String>,
    },
    Expired,
    NotYetValid,
    /// The port answers, not in TLS.
    NotTls,
    /// The server turned our certificate down.
    ClientCertificate,
    /// This came of it before the server answered anything, and it was shown a certificate.
    AfterCertificate(Box<Trouble>),
    Tls {
        why: String,
    },
    /// A proxy could not be talked to.
    Proxy(Proxy, Box<Trouble>),
    /// It wants to know who we are, or does not believe it.
    ProxyLogin(Proxy),
    /// It answered, and did not let us through.
    ProxyRefused(Proxy, u16),
    /// The port answers in TLS, and was not spoken to in it.
    WantsTls,
    Other {
        why: String,
    },
}

impl Trouble {
    /// Judges by the innermost cause that says anything.
    pub(crate) fn of(error: &(dyn StdError + 'static)) -> Self {
        let mut found = None;
        let mut last = error.to_string();
        let mut next = Some(error);
        while let Some(error) = next {
            last = error.to_string();
            if let Some(proxy) = error.downcast_ref::<ProxyFailed>() {
                // What lies below is about the proxy, not about the API server.
                let ProxyFailed { proxy, refusal } = proxy;
                let proxy = proxy.clone();
                return match refusal {
                    Refusal::Login => Self::ProxyLogin(proxy),
                    Refusal::Status(status) => Self::ProxyRefused(proxy, *status),
                    Refusal::Below(trouble) => Self::Proxy(proxy, Box::new(trouble.clone())),
                };
            }
            if let Some(trouble) = Self::told_by(error) {
                found = Some(trouble);
            }
            // An `io::Error` keeps what it wraps beside its `source`, which skips a level.
            next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
                Some(inner) => Some(inner),
                None => error.source(),
            };
        }
        found.unwrap_or(Self::Other { why: last })
    }

    /// The same, of a server that was shown a client certificate and has not answered anything yet.
    /// It need not say that this is what it took offence at, and some just hang up.
    pub(crate) fn after_certificate(self) -> Self {
        match self {
            Self::Closed | Self::Tls { .. } | Self::Other { .. } => {
                Self::AfterCertificate(Box::new(self))
            }
            other => other,
        }
    }

    fn told_by(error: &(dyn StdError + 'static)) -> Option<Self> {
        if let Some(lookup) = error.downcast_ref::<LookupFailed>() {
            return Some(Self::NameNotFound { why: lookup.0.to_string() });
        }
        if error.is::<tokio::time::error::Elapsed>() {
            return Some(Self::Silent);
        }
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return Some(Self::of_tls(tls));
        }
        if let Some(http) = error.downcast_ref::<hyper::Error>() {
            return (http.is_incomplete_message() || http.is_closed()).then_some(Self::Closed);
        }
        if let Some(http) = error.downcast_ref::<h2::Error>() {
            // It keeps of what happened below it the kind and the words, and no types.
            return match http.get_io() {
                Some(below) if below.to_string().starts_with("received fatal alert") => {
                    Some(Self::Tls { why: below.to_string() })
                }
                Some(below) => Self::told_by(below),
                None => http.is_go_away().then_some(Self::Closed),
            };
        }
        match error.downcast_ref::<io::Error>()?.kind() {
            io::ErrorKind::ConnectionRefused => Some(Self::Refused),
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
                Some(Self::NoRoute)
            }
            io::ErrorKind::TimedOut => Some(Self::Silent),
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected
            | io::ErrorKind::UnexpectedEof => Some(Self::Closed),
            _ => None,
        }
    }

    fn of_tls(error: &rustls::Error) -> Self {
        use AlertDescription as Alert;
        use CertificateError as Certificate;
        use rustls::Error as Tls;
        match error {
            Tls::InvalidCertificate(Certificate::UnknownIssuer | Certificate::BadSignature) => {
                Self::UnknownAuthority
            }
            Tls::InvalidCertificate(Certificate::NotValidForName) => {
                Self::WrongName { presented: Vec::new() }
            }
            Tls::InvalidCertificate(Certificate::NotValidForNameContext { presented, .. }) => {
                Self::WrongName { presented: presented.iter().map(|name| bare(name)).collect() }
            }
            Tls::InvalidCertificate(Certificate::Expired | Certificate::ExpiredContext { .. }) => {
                Self::Expired
            }
            Tls::InvalidCertificate(
                Certificate::NotValidYet | Certificate::NotValidYetContext { .. },
            ) => Self::NotYetValid,
            Tls::InvalidMessage(_) => Self::NotTls,
            Tls::AlertReceived(
                Alert::CertificateRequired
                | Alert::BadCertificate
                | Alert::CertificateExpired
                | Alert::CertificateRevoked
                | Alert::CertificateUnknown
                | Alert::UnknownCA
                | Alert::UnsupportedCertificate
                | Alert::AccessDenied,
            ) => Self::ClientCertificate,
            other => Self::Tls { why: other.to_string() },
        }
    }

    /// Whether asking again a moment later could not help.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Self::AfterCertificate(trouble) | Self::Proxy(_, trouble) => trouble.is_lasting(),
            Self::ProxyRefused(_, status) => !matches!(status, 429 | 502..=504),
            Self::UnknownAuthority
            | Self::WrongName { .. }
            | Self::Expired
            | Self::NotYetValid
            | Self::NotTls
            | Self::WantsTls
            | Self::ProxyLogin(_)
            | Self::ClientCertificate
            | Self::Tls { .. } => true,
            Self::NameNotFound { .. }
            | Self::Refused
            | Self::NoRoute
            | Self::Closed
            | Self::Silent
            | Self::Mute
            | Self::MuteProxy(_)
            | Self::ClosedBehind(_)
            | Self::Other { .. } => false,
        }
    }

    pub(crate) fn why(&self) -> String {
        match self {
            Self::NameNotFound { why } => format!("Its name cannot be looked up ({why})."),
            Self::Refused => "Nothing listens there: the connection was refused.".into(),
            Self::NoRoute => "There is no route to it from this machine.".into(),
            Self::Closed => "The other side closed the connection.".into(),
            Self::Silent => "Nothing accepted the connection in time.".into(),
            Self::Mute => {
                "The connection was accepted there, and then nothing was said in time.".into()
            }
            Self::MuteProxy(Proxy { address, .. }) => format!(
                "The proxy `{address}` accepted the connection, and then said nothing in time."
            ),
            Self::ClosedBehind(Proxy { address, .. }) => format!(
                "The proxy `{address}` let the connection pass, and it was closed before the API \
                 server said anything."
            ),
            Self::UnknownAuthority => {
                "Its certificate is not signed by an authority that this connection trusts.".into()
            }
            Self::WrongName { presented } if presented.is_empty() => {
                "Its certificate is for another name.".into()
            }
            Self::WrongName { presented } => {
                let names = presented.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
                format!("Its certificate is for another name: {}.", names.join(", "))
            }
            Self::Expired => "Its certificate has expired.".into(),
            Self::NotYetValid => "Its certificate is not valid yet.".into(),
            Self::NotTls => "What answers there does not speak TLS.".into(),
            Self::WantsTls => "It speaks TLS there, and was asked without.".into(),
            Self::ProxyLogin(Proxy { address, .. }) => format!(
                "The proxy `{address}` could not be used: it wants a login, or takes not this one \
                 (HTTP 407)."
            ),
            Self::ProxyRefused(Proxy { address, .. }, status) => {
                format!("The proxy `{address}` did not let the request through (HTTP {status}).")
            }
            Self::ClientCertificate => "It turned the client certificate down.".into(),
            Self::AfterCertificate(trouble) => {
                format!("{} It had been shown the client certificate.", trouble.why())
            }
            Self::Tls { why } => format!("TLS could not be set up ({why})."),
            Self::Proxy(Proxy { address, .. }, trouble) => {
                format!("The proxy `{address}` could not be used. {}", trouble.why())
            }
            Self::Other { why } => format!("The connection failed ({why})."),
        }
    }

    pub(crate) fn advice(&self) -> String {
        match self {
            Self::AfterCertificate(trouble) => {
                let other = trouble.advice();
                let own = "Check that the client certificate and its key belong together, and to \
                           this cluster, and that it has not expired.";
                return format!("{own} {}", other.replacen("Check", "Check also", 1));
            }
            Self::NameNotFound { .. } => {
                "Check the spelling of the host, and that this machine's \
                DNS knows it: private clusters are often known inside their network only."
            }
            Self::Refused => "Check the port, and that the cluster is running.",
            Self::NoRoute | Self::Silent => {
                "Check the address, the VPN or proxy that leads to it, \
                and firewalls on the way."
            }
            Self::Mute => {
                "Check that the port is the API server's, that the server is healthy, and what \
                stands on the way to it."
            }
            Self::MuteProxy(proxy) => {
                return format!(
                    "Check that {} has the proxy's port, and the scheme that it speaks: `http`, \
                     `https` or `socks5`.",
                    proxy.field()
                );
            }
            Self::ClosedBehind(proxy) => {
                return format!(
                    "Check that the host and its port can be reached from the proxy, that the port \
                     is the API server's, and that {} is the right way there.",
                    proxy.field()
                );
            }
            Self::Closed => {
                "Check that the port is the API server's, and that no proxy on the way \
                cuts the connection."
            }
            Self::UnknownAuthority => {
                "Set `cluster_ca_certificate` (in a kubeconfig \
                `certificate-authority-data`) to this cluster's CA; a cluster that was built anew \
                has a new one."
            }
            Self::WrongName { .. } => {
                "Use a host that the certificate is for, or name one of its \
                names in `tls_server_name`."
            }
            Self::Expired => "Renew the server's certificate, or check this machine's clock.",
            Self::NotYetValid => "Check this machine's clock and the server's.",
            Self::NotTls => "Check the port, and whether the host should begin with `http://`.",
            Self::WantsTls => "Write the host with `https://`.",
            Self::ProxyLogin(proxy) => {
                return format!(
                    "Check {}: it takes `http://user:password@host:port`.",
                    proxy.field()
                );
            }
            Self::ClientCertificate => {
                "Check that the client certificate is of this cluster and \
                has not expired."
            }
            Self::Tls { .. } => {
                "Check what stands between this machine and the server, and that \
                both know a common TLS version."
            }
            Self::Proxy(proxy, trouble) if **trouble == Self::UnknownAuthority => {
                return format!(
                    "Check {}. The authority of the proxy's certificate must be one that this \
                     machine trusts, or the cluster's; `insecure` is about the API server only.",
                    proxy.field()
                );
            }
            Self::Proxy(proxy, _) | Self::ProxyRefused(proxy, _) => {
                let around = match proxy.origin {
                    ProxyOrigin::Given => "",
                    ProxyOrigin::Https | ProxyOrigin::Http => {
                        "; `NO_PROXY` names servers that need none"
                    }
                };
                return format!(
                    "Check {}, and that the proxy may lead to this server{around}.",
                    proxy.field()
                );
            }
            Self::Other { .. } => "Check the host and the network to it.",
        }
        .into()
    }
}

/// The verifier gives names as it prints them for debugging: `DnsName("a.example")`.
fn bare(name: &str) -> String {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As hyper wraps what rustls puts into an `io::Error`.
    fn wrapped(error: rustls::Error) -> Trouble {
        let inner = io::Error::new(io::ErrorKind::InvalidData, error);
        Trouble::of(&io::Error::other(inner))
    }

    #[test]
    fn what_is_wrong_with_a_certificate_is_told_apart() {
        let certificate = |it| wrapped(rustls::Error::InvalidCertificate(it));
        assert_eq!(certificate(CertificateError::UnknownIssuer), Trouble::UnknownAuthority);
        assert_eq!(certificate(CertificateError::Expired), Trouble::Expired);
        assert_eq!(certificate(CertificateError::NotValidYet), Trouble::NotYetValid);
        let alert = rustls::Error::AlertReceived(AlertDescription::CertificateExpired);
        assert_eq!(wrapped(alert), Trouble::ClientCertificate);
    }

    #[test]
    fn a_certificate_for_another_name_names_the_names_it_is_for() {
        let error = CertificateError::NotValidForNameContext {
            expected: rustls::pki_types::ServerName::try_from("a.example").unwrap(),
            presented: vec!["DnsName(\"b.example\")".into(), "IpAddress(10.0.0.1)".into()],
        };
        let why = wrapped(rustls::Error::InvalidCertificate(error)).why();
        assert!(why.contains("`b.example`, `10.0.0.1`"), "{why}");
    }

    #[test]
    fn a_refused_connection_a_lookup_and_a_proxy_are_told_apart() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert_eq!(Trouble::of(&refused), Trouble::Refused);
        let lookup = LookupFailed(io::Error::other("no such name"));
        assert!(matches!(Trouble::of(&lookup), Trouble::NameNotFound { .. }));
        let by_proxy = |refusal| {
            let (address, origin) = ("http://p.example:3128".to_owned(), ProxyOrigin::Given);
            Trouble::of(&ProxyFailed { proxy: Proxy { address, origin }, refusal })
        };
        let dead = by_proxy(Refusal::Below(Trouble::Refused));
        assert!(!dead.is_lasting());
        let why = dead.why();
        assert!(why.contains("`http://p.example:3128`") && why.contains("refused"), "{why}");
        assert!(by_proxy(Refusal::Login).is_lasting(), "the same login is refused again");
        assert!(!by_proxy(Refusal::Status(503)).is_lasting());
        let elsewhere = by_proxy(Refusal::Status(302));
        assert!(elsewhere.is_lasting() && elsewhere.why().contains("HTTP 302"), "{elsewhere:?}");
    }

    #[test]
    fn a_server_that_hangs_up_on_a_certificate_leads_to_the_certificate() {
        let alert = rustls::Error::AlertReceived(AlertDescription::IllegalParameter);
        for trouble in [wrapped(alert), Trouble::Closed] {
            let lasting = trouble.is_lasting();
            let shown = trouble.after_certificate();
            assert!(shown.advice().starts_with("Check that the client certificate"), "{shown:?}");
            assert_eq!(shown.is_lasting(), lasting);
        }
        assert_eq!(Trouble::Refused.after_certificate(), Trouble::Refused);
    }

    #[test]
    fn the_innermost_cause_is_quoted_where_nothing_is_known() {
        let error = io::Error::other(io::Error::other("the wire is cut"));
        assert_eq!(Trouble::of(&error), Trouble::Other { why: "the wire is cut".into() });
    }
}
