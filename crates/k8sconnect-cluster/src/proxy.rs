//! Which proxy leads to a server.
//!
//! A proxy that the connection names is used for every host, as client-go does. Without one the
//! environment decides, by the rules that kubectl has from Go: `HTTPS_PROXY` for `https://` and
//! `HTTP_PROXY` for `http://`; `NO_PROXY` names who is spared; what is on this machine (`localhost`,
//! `127.0.0.0/8`, `::1`) never goes through one, so that kind and minikube answer on machines whose
//! environment has one. `ALL_PROXY` is curl's, and is not read: whoever comes from kubectl must get
//! where kubectl gets. Not here: how a connection goes through a proxy (`connector`).

use std::net::IpAddr;

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use k8sconnect_core::scrub::Sensitive;

use crate::connection::check_port;
use crate::error::{ConnectionError, InvalidValue, Proxy};
use crate::secret::Secret;

/// The proxy to use, with what may be shown of it. A proxy in the environment that cannot be used is an
/// error: whoever named it does not want to go without.
pub(crate) fn choose(
    server: &Uri,
    given: Option<&Secret>,
) -> Result<Option<(Intercept, Proxy)>, ConnectionError> {
    let (variable, proxy) = match given {
        Some(proxy) => (None, proxy.clone()),
        None => match wanted(server, |name| std::env::var(name).ok()) {
            Some((variable, proxy)) => (Some(variable), proxy),
            None => return Ok(None),
        },
    };
    let intercept = read(&proxy).map_err(|problem| problem.of(variable.unwrap_or("proxy-url")))?;
    let address = address(intercept.uri());
    Ok(Some((intercept, Proxy { address, variable })))
}

/// Whether a proxy can be used at all, before anything is asked of it.
pub(crate) fn check(proxy: &Secret) -> Result<(), InvalidValue> {
    read(proxy).map(|_| ())
}

fn read(proxy: &Secret) -> Result<Intercept, InvalidValue> {
    let matcher = Matcher::builder().all(proxy.expose()).build();
    let intercept = matcher.intercept(&Uri::from_static("https://host"));
    let intercept = intercept.ok_or_else(|| match proxy.expose().split_once("://") {
        Some((_, "" | "/")) => InvalidValue::NoHost,
        Some(_) => InvalidValue::ProxyScheme,
        None => InvalidValue::NotUrl,
    })?;
    let uri = intercept.uri();
    // The host is named where the proxy does not answer.
    if let Some(content) = uri.host().and_then(Sensitive::of) {
        return Err(InvalidValue::Sensitive(content));
    }
    uri.authority().map_or(Ok(()), check_port)?;
    match uri.scheme_str() {
        Some("http" | "https" | "socks5" | "socks5h") => Ok(intercept),
        _ => Err(InvalidValue::ProxyScheme),
    }
}

/// A proxy's address, as far as it may be shown.
fn address(proxy: &Uri) -> String {
    let host = proxy.host().unwrap_or_default();
    let scheme = proxy.scheme_str().unwrap_or("http");
    let port = proxy.port_u16().map_or_else(String::new, |port| format!(":{port}"));
    format!("{scheme}://{host}{port}")
}

/// The proxy that the environment has for a server, with the name of the variable.
fn wanted(
    server: &Uri,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<(&'static str, Secret)> {
    let told = |name: &str| {
        let spellings = [name.to_owned(), name.to_lowercase()];
        spellings.iter().find_map(|name| variable(name).filter(|value| !value.is_empty()))
    };
    let name = if is_http(server) { "HTTP_PROXY" } else { "HTTPS_PROXY" };
    let proxy = told(name)?;
    let spared = told("NO_PROXY").unwrap_or_default();
    (!is_spared(server, &spared)).then(|| (name, Secret::from(proxy)))
}

fn is_http(server: &Uri) -> bool {
    server.scheme_str() == Some("http")
}

fn is_spared(server: &Uri, entries: &str) -> bool {
    let host = bare(server.host().unwrap_or_default());
    let port = server.port_u16().unwrap_or(if is_http(server) { 80 } else { 443 });
    let address = host.parse().map(|address: IpAddr| address.to_canonical());
    if host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|it| it.is_loopback()) {
        return true;
    }
    let entries: Vec<_> = entries.split(',').filter_map(|it| for_port(it.trim(), port)).collect();
    // To the matcher `*` means every name and no address.
    if entries.contains(&"*") {
        return true;
    }
    let matcher = Matcher::builder().all("http://proxy").no(entries.join(",")).build();
    matcher.intercept(server).is_none()
}

/// An entry as the matcher reads it, which knows no ports and no `*.` in front of a domain. `None`
/// if it is meant for another port.
fn for_port(entry: &str, port: u16) -> Option<&str> {
    let entry = entry.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(entry);
    match entry.rsplit_once(':') {
        Some((host, only)) if !host.contains(':') || host.ends_with(']') => {
            (only.is_empty() || only.parse() == Ok(port)).then(|| bare(host))
        }
        _ => Some(bare(entry)),
    }
}

/// An IPv6 address without its brackets.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_spared_a_proxy_is_decided_as_kubectl_decides_it() {
        let spared = [
            // This machine, whatever is written.
            ("https://127.0.0.1:6443", ""),
            ("https://127.8.9.1", ""),
            ("https://[::1]:6443", ""),
            ("https://[::ffff:127.0.0.1]:6443", ""),
            ("https://localhost:6443", ""),
            ("https://LOCALHOST:6443", ""),
            // All.
            ("https://10.0.0.1:6443", "*"),
            ("https://k.example", "a.example, *"),
            ("https://[fd00::1]", "*"),
            // Names, and what lies below them.
            ("https://k.example", "k.example"),
            ("https://K.Example", " a.example , k.EXAMPLE "),
            ("https://api.k.example", "k.example"),
            ("https://api.k.example", ".k.example"),
            ("https://api.k.example", "*.k.example"),
            ("https://k.example", "example"),
            // The domain itself too, as curl has it and Go does not.
            ("https://k.example", ".k.example"),
            ("https://k.example", "*.k.example"),
            // One port.
            ("https://k.example:6443", "k.example:6443"),
            ("https://k.example", "k.example:443"),
            ("http://k.example", "k.example:80"),
            ("https://api.k.example:6443", ".k.example:6443"),
            ("https://10.0.0.1:6443", "10.0.0.1:6443"),
            ("https://[fd00::1]:6443", "[fd00::1]:6443"),
            // Addresses and networks.
            ("https://10.0.0.1:6443", "10.0.0.1"),
            ("https://[fd00::1]", "fd00::1"),
            ("https://[fd00::1]", "[fd00::1]"),
            ("https://10.1.2.3", "10.0.0.0/8"),
            ("https://10.1.2.3", "0.0.0.0/0"),
            ("https://10.1.2.3", "10.1.2.3/32"),
            ("https://[fd00::7:1]", "fd00::/16"),
            ("https://[fd00::7:1]", "::/0"),
        ];
        let sent = [
            ("https://k.example", ""),
            ("https://k.example", ",,"),
            ("https://k.example", ":443"),
            ("https://k.example", "."),
            ("https://notk.example", "k.example"),
            ("https://k.example:6443", "k.example:443"),
            ("https://10.0.0.1:6443", "10.0.0.1:443"),
            ("https://10.0.0.1", "0.0.1"),
            ("https://110.0.0.1", "10.0.0.1"),
            ("https://11.1.2.3", "10.0.0.0/8"),
            ("https://10.1.2.3", "10.0.0.0/33"),
            ("https://k.example", "10.0.0.0/8"),
            ("https://10.1.2.3", "::/0"),
            ("https://[fe00::1]", "fd00::/16"),
            ("https://0.0.0.0:6443", ""),
            ("https://localhost.example", ""),
        ];
        let is_spared =
            |(server, entries): (&'static str, &str)| is_spared(&Uri::from_static(server), entries);
        let proxied: Vec<_> = spared.into_iter().filter(|case| !is_spared(*case)).collect();
        let direct: Vec<_> = sent.into_iter().filter(|case| is_spared(*case)).collect();
        assert_eq!((proxied, direct), (vec![], vec![]));
    }

    #[test]
    fn the_variable_of_the_servers_scheme_is_read_and_no_other() {
        let wanted = |server, set: &[(&str, &str)]| {
            let find = |name: &str| set.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
            let found = wanted(&Uri::from_static(server), find);
            found.map(|(name, proxy)| (name, proxy.expose().to_owned()))
        };
        let https = "https://k.example";
        let both = [("HTTPS_PROXY", "http://s"), ("HTTP_PROXY", "http://p")];
        assert_eq!(wanted(https, &both), Some(("HTTPS_PROXY", "http://s".into())));
        assert_eq!(wanted("http://k.example", &both), Some(("HTTP_PROXY", "http://p".into())));
        let small = [("HTTPS_PROXY", ""), ("https_proxy", "http://s"), ("NO_PROXY", "a")];
        assert_eq!(wanted(https, &small), Some(("HTTPS_PROXY", "http://s".into())));
        assert_eq!(wanted(https, &[("ALL_PROXY", "http://a"), ("HTTP_PROXY", "http://p")]), None);
        assert_eq!(wanted(https, &[("HTTPS_PROXY", "http://s"), ("no_proxy", "k.example")]), None);
    }

    #[test]
    fn a_proxy_of_another_kind_is_refused_with_its_cause() {
        let cause = |proxy: &str| check(&Secret::from(proxy)).err();
        assert_eq!(cause("ftp://proxy.example"), Some(InvalidValue::ProxyScheme));
        assert_eq!(cause("gopher://p.example"), Some(InvalidValue::ProxyScheme));
        assert_eq!(cause("socks4://p.example"), Some(InvalidValue::ProxyScheme));
        assert_eq!(cause("http://"), Some(InvalidValue::NoHost));
        assert_eq!(cause("not a url"), Some(InvalidValue::NotUrl));
        assert_eq!(cause("p.example:3128"), None);
    }
}
