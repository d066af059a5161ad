//! Whether the environment wants a proxy before a server, by the rules that kubectl has from Go.
//!
//! `HTTPS_PROXY` for `https://` and `HTTP_PROXY` for `http://`; `NO_PROXY` names who is spared; what
//! is on this machine (`localhost`, `127.0.0.0/8`, `::1`) never goes through one, so that kind and
//! minikube answer on machines whose environment has one. `ALL_PROXY` is curl's, and is not read:
//! whoever comes from kubectl must get where kubectl gets. Not here: a proxy that the connection
//! itself names, which is used for every host.

use std::net::IpAddr;

use http::Uri;

use crate::secret::Secret;

/// The proxy that the environment has for a server, with the name of the variable.
pub(super) fn proxy_for(server: &Uri) -> Option<(&'static str, Secret)> {
    wanted(server, |name| std::env::var(name).ok())
}

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
    let host = bare(server.host().unwrap_or_default()).to_lowercase();
    let port = server.port_u16().unwrap_or(if is_http(server) { 80 } else { 443 });
    let address: Option<IpAddr> = host.parse().ok().map(|address: IpAddr| address.to_canonical());
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    entries.split(',').any(|entry| {
        let entry = entry.trim().to_lowercase();
        if entry == "*" {
            return true;
        }
        if let Some(holds) = in_network(&entry, address) {
            return holds;
        }
        let (named, only) = split(&entry);
        if only.is_some_and(|only| only.parse() != Ok(port)) {
            return false;
        }
        match (named.parse::<IpAddr>(), address) {
            (Ok(named), address) => address == Some(named.to_canonical()),
            (Err(_), Some(_)) => false,
            (Err(_), None) => is_of(&host, named),
        }
    })
}

/// Whether a name is this one or lies below it. What begins with a dot means only what lies below.
fn is_of(host: &str, named: &str) -> bool {
    let named = named.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(named);
    let below = named.strip_prefix('.').unwrap_or(named);
    let within = host.strip_suffix(below).is_some_and(|rest| rest.ends_with('.'));
    !below.is_empty() && (within || host == named)
}

/// Whether an address is in a network; nothing if the entry is not one.
fn in_network(entry: &str, address: Option<IpAddr>) -> Option<bool> {
    let (network, bits) = entry.split_once('/')?;
    let (network, bits) = (network.parse::<IpAddr>().ok()?, bits.parse::<u32>().ok()?);
    let differ = |ours: u128, theirs: u128, width: u32| {
        (bits <= width).then(|| (ours ^ theirs).checked_shr(width - bits).unwrap_or(0) != 0)
    };
    let differ = match (network, address) {
        (IpAddr::V4(network), Some(IpAddr::V4(address))) => {
            differ(network.to_bits().into(), address.to_bits().into(), 32)
        }
        (IpAddr::V6(network), Some(IpAddr::V6(address))) => {
            differ(network.to_bits(), address.to_bits(), 128)
        }
        _ => Some(true),
    };
    differ.map(|differ| !differ)
}

/// A host, and the only port that is meant, if one is.
fn split(entry: &str) -> (&str, Option<&str>) {
    match entry.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            (bare(host), Some(port).filter(|port| !port.is_empty()))
        }
        _ => (bare(entry), None),
    }
}

/// An address of six without its brackets.
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
            ("https://k.example", ".k.example"),
            ("https://k.example", "*.k.example"),
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
        for case in spared {
            assert!(is_spared(case), "{case:?} goes to the proxy");
        }
        for case in sent {
            assert!(!is_spared(case), "{case:?} goes past the proxy");
        }
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
}
