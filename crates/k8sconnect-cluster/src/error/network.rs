//! What failed below HTTP.
//!
//! A connect failure arrives as a chain of wrappers that print as "client error (Connect)". The cause
//! is at its end: no such name, nobody listening, or one of the many things that can be wrong with a
//! certificate.

use std::error::Error as StdError;
use std::{fmt, io};

use rustls::{AlertDescription, CertificateError};

/// A proxy on the way, without the credentials for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    pub address: String,
    /// The environment's variable that names it; `None`: the connection does.
    pub variable: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkError {
    NameNotFound(String),
    Refused,
    NoRoute,
    /// Closed or reset by the other side.
    Closed,
    /// Nothing accepted the connection in time.
    NotAccepted,
    /// Something accepted the connection and then sent nothing.
    NoAnswer,
    Tls(TlsError),
    /// The server was shown a certificate, and this happened before it answered anything.
    AfterCertificate(Box<NetworkError>),
    /// A proxy could not be used.
    Proxy(Proxy, Box<NetworkError>),
    /// What a proxy answered instead of letting the connection pass.
    ProxyStatus(u16),
    /// A proxy answered, not in HTTP.
    NotHttp,
    /// A proxy let the connection pass, and it was closed before the server sent anything.
    ClosedBehind(Proxy),
    Other(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsError {
    UnknownAuthority,
    WrongName {
        presented: Vec<String>,
    },
    Expired,
    NotYetValid,
    /// The port answers, not in TLS.
    NotTls,
    /// The port answers in TLS, and was not spoken to in it.
    WantsTls,
    /// The server refused our certificate.
    ClientCertificate,
    Other(String),
}

/// An error in a chain whose cause is already known.
#[derive(Debug)]
pub(crate) struct Known(pub(crate) NetworkError);

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl StdError for Known {}

impl NetworkError {
    /// Judges by the innermost cause that is known.
    pub(crate) fn of(error: &(dyn StdError + 'static)) -> Self {
        let mut found = None;
        let mut last = error.to_string();
        let mut next = Some(error);
        while let Some(error) = next {
            last = error.to_string();
            if let Some(Known(cause)) = error.downcast_ref() {
                // The chain below a proxy's failure is about the proxy, not about the API server.
                return cause.clone();
            }
            found = Self::of_one(error).or(found);
            // An `io::Error` keeps what it wraps beside its `source`, which skips a level.
            next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
                Some(inner) => Some(inner),
                None => error.source(),
            };
        }
        found.unwrap_or(Self::Other(last))
    }

    /// The same, of a server that was shown a client certificate and has not answered anything yet.
    /// It need not say that it refuses the certificate; some servers close the connection.
    pub(crate) fn after_certificate(self) -> Self {
        match self {
            Self::Closed | Self::Tls(TlsError::Other(_)) | Self::Other(_) => {
                Self::AfterCertificate(Box::new(self))
            }
            other => other,
        }
    }

    fn of_one(error: &(dyn StdError + 'static)) -> Option<Self> {
        if error.is::<tokio::time::error::Elapsed>() {
            return Some(Self::NotAccepted);
        }
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return Some(Self::Tls(TlsError::of(tls)));
        }
        if let Some(http) = error.downcast_ref::<hyper::Error>() {
            return (http.is_incomplete_message() || http.is_closed()).then_some(Self::Closed);
        }
        if let Some(http) = error.downcast_ref::<h2::Error>() {
            // It keeps the kind and the text of the error below it, and no types.
            return match http.get_io() {
                Some(below) if below.to_string().starts_with("received fatal alert") => {
                    Some(Self::Tls(TlsError::Other(below.to_string())))
                }
                Some(below) => Self::of_one(below),
                None => http.is_go_away().then_some(Self::Closed),
            };
        }
        match error.downcast_ref::<io::Error>()?.kind() {
            io::ErrorKind::ConnectionRefused => Some(Self::Refused),
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
                Some(Self::NoRoute)
            }
            io::ErrorKind::TimedOut => Some(Self::NotAccepted),
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected
            | io::ErrorKind::UnexpectedEof => Some(Self::Closed),
            _ => None,
        }
    }

    /// Whether asking again a moment later could not help.
    pub(crate) fn is_lasting(&self) -> bool {
        match self {
            Self::AfterCertificate(cause) | Self::Proxy(_, cause) => cause.is_lasting(),
            Self::ProxyStatus(status) => !matches!(status, 429 | 502..=504),
            Self::Tls(_) => true,
            Self::NameNotFound(_)
            | Self::Refused
            | Self::NoRoute
            | Self::Closed
            | Self::NotAccepted
            | Self::NoAnswer
            | Self::ClosedBehind(_)
            | Self::NotHttp
            | Self::Other(_) => false,
        }
    }
}

impl TlsError {
    fn of(error: &rustls::Error) -> Self {
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
            other => Self::Other(other.to_string()),
        }
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
    fn wrapped(error: rustls::Error) -> TlsError {
        let inner = io::Error::new(io::ErrorKind::InvalidData, error);
        match NetworkError::of(&io::Error::other(inner)) {
            NetworkError::Tls(error) => error,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_faults_of_a_certificate_are_distinguished() {
        let certificate = |it| wrapped(rustls::Error::InvalidCertificate(it));
        assert_eq!(certificate(CertificateError::UnknownIssuer), TlsError::UnknownAuthority);
        assert_eq!(certificate(CertificateError::Expired), TlsError::Expired);
        assert_eq!(certificate(CertificateError::NotValidYet), TlsError::NotYetValid);
        let alert = rustls::Error::AlertReceived(AlertDescription::CertificateExpired);
        assert_eq!(wrapped(alert), TlsError::ClientCertificate);
    }

    #[test]
    fn a_certificate_for_another_name_has_the_names_it_is_for() {
        let error = CertificateError::NotValidForNameContext {
            expected: rustls::pki_types::ServerName::try_from("a.example").unwrap(),
            presented: vec!["DnsName(\"b.example\")".into(), "IpAddress(10.0.0.1)".into()],
        };
        let presented = vec!["b.example".into(), "10.0.0.1".into()];
        let error = wrapped(rustls::Error::InvalidCertificate(error));
        assert_eq!(error, TlsError::WrongName { presented });
    }

    #[test]
    fn a_refused_connection_and_a_proxy_are_distinguished() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert_eq!(NetworkError::of(&refused), NetworkError::Refused);
        let by_proxy = |cause| {
            let proxy = Proxy { address: "http://p.example:3128".to_owned(), variable: None };
            let known = Known(NetworkError::Proxy(proxy, Box::new(cause)));
            NetworkError::of(&io::Error::other(known))
        };
        let dead = by_proxy(NetworkError::Refused);
        assert!(matches!(&dead, NetworkError::Proxy(_, cause) if **cause == NetworkError::Refused));
        assert!(!dead.is_lasting());
        let status = |status| by_proxy(NetworkError::ProxyStatus(status)).is_lasting();
        assert!(status(407), "the same credentials are refused again");
        assert_eq!([503, 302].map(status), [false, true]);
    }

    #[test]
    fn a_server_that_closes_after_a_certificate_leads_to_the_certificate() {
        let alert = rustls::Error::AlertReceived(AlertDescription::IllegalParameter);
        for cause in [NetworkError::Tls(wrapped(alert)), NetworkError::Closed] {
            let lasting = cause.is_lasting();
            let shown = cause.after_certificate();
            assert!(matches!(shown, NetworkError::AfterCertificate(_)), "{shown:?}");
            assert_eq!(shown.is_lasting(), lasting);
        }
        assert_eq!(NetworkError::Refused.after_certificate(), NetworkError::Refused);
    }

    #[test]
    fn the_innermost_cause_is_quoted_where_nothing_is_known() {
        let error = io::Error::other(io::Error::other("the wire is cut"));
        assert_eq!(NetworkError::of(&error), NetworkError::Other("the wire is cut".into()));
    }
}
