//! A cluster that is described part by part: where it is, whom to trust, who we are.

use k8sconnect_cluster::{Auth, ClientCertificate, Connection, ConnectionError};
use k8sconnect_cluster::{Exec, InvalidValue, Tls, Trust};
use k8sconnect_cluster::{Host, inline as part};
use tfplugin::{Diagnostics, Value};

use super::place::Place;
use super::schema::{ClusterModel, ExecModel};
use super::way::Presence;
use crate::messages::connection as said;

/// Which parts are written, by name and in the order in which a reader would look for them.
pub(super) fn parts(cluster: &ClusterModel) -> [(&'static str, Presence); 9] {
    let insecure = match cluster.insecure {
        // What is the case anyway contradicts nothing; modules pass it on.
        Value::Known(false) => Presence::Unset,
        _ => Presence::of(&cluster.insecure),
    };
    [
        ("host", Presence::of(&cluster.host)),
        ("cluster_ca_certificate", Presence::of(&cluster.cluster_ca_certificate)),
        ("insecure", insecure),
        ("tls_server_name", Presence::of(&cluster.tls_server_name)),
        ("proxy_url", Presence::of(&cluster.proxy_url)),
        ("token", Presence::of(&cluster.token)),
        ("client_certificate", Presence::of(&cluster.client_certificate)),
        ("client_key", Presence::of(&cluster.client_key)),
        ("exec", Presence::of(&cluster.exec())),
    ]
}

/// Puts the parts together, and adds what is wrong with them to the problems. `kubeconfig`: whether
/// there is one, or might be after all, to which some part is an unlucky addition; then nothing is
/// missing here.
pub(super) fn connection(
    cluster: &ClusterModel,
    kubeconfig: Presence,
    place: &Place,
    problems: &mut Diagnostics,
) -> Option<Connection> {
    let presences = parts(cluster);
    let presence = |name| presences.iter().find(|part| part.0 == name).map(|part| part.1);
    let set = |name| presence(name) == Some(Presence::Set);
    let unset = |name| presence(name) == Some(Presence::Unset);

    let mut checked = Checked { place, problems };
    let host = checked.part("host", &cluster.host, str::parse::<Host>);
    let trust = checked.part("cluster_ca_certificate", &cluster.cluster_ca_certificate, |text| {
        part::authorities(text)
    });
    let server_name = checked.part("tls_server_name", &cluster.tls_server_name, part::server_name);
    let proxy = checked.part("proxy_url", &cluster.proxy_url, part::proxy);
    let token = checked.part("token", &cluster.token, part::token);
    let identity = checked.identity(&cluster.client_certificate, &cluster.client_key);
    let exec = match cluster.exec() {
        Value::Known(exec) => checked.exec(exec),
        Value::Null | Value::Unknown => None,
    };

    let mut refuse = |name: &str, diagnostic| {
        problems.push(place.attribute(name).point(diagnostic));
    };
    if unset("host") && kubeconfig == Presence::Unset {
        let first = presences.iter().find(|part| part.1 == Presence::Set);
        refuse("host", said::no_host(first.map_or("token", |part| part.0)));
    }
    if set("cluster_ca_certificate") && cluster.insecure == Value::Known(true) {
        refuse("insecure", said::insecure_with_authority());
    }
    if set("token") && set("exec") {
        refuse("exec", said::two_logins());
    }
    for (half, other) in
        [("client_certificate", "client_key"), ("client_key", "client_certificate")]
    {
        // Beside a kubeconfig it may stand by mistake; with a host it is half of another way.
        if set(half) && unset(other) && (kubeconfig != Presence::Set || set("host")) {
            refuse(half, said::unusable(&ConnectionError::Alone { field: half, lacks: other }));
        }
    }
    if let Some(host) = &host {
        let logins = ["token", "client_certificate", "client_key", "exec"];
        if host.is_encrypted() {
            if logins.iter().all(|name| unset(name)) && kubeconfig != Presence::Set {
                refuse("host", said::nobody());
            }
        } else {
            let tls =
                ["cluster_ca_certificate", "insecure", "tls_server_name", "client_certificate"];
            for name in tls.into_iter().filter(|name| set(name)) {
                refuse(name, said::no_tls(name));
            }
        }
    }

    let trust = match cluster.insecure {
        Value::Known(true) => Trust::Anyone,
        _ => trust.unwrap_or_default(),
    };
    let auth = match (token, exec) {
        (Some(token), _) => Auth::Token(token),
        (None, Some(exec)) => Auth::Exec(exec),
        (None, None) => Auth::None,
    };
    let tls = Tls { trust, server_name, identity };
    let (impersonation, called, user) = (None, None, None);
    Some(Connection { host: host?, tls, auth, impersonation, called, user, proxy })
}

/// Checks parts one by one, and has each problem point to its part.
struct Checked<'a> {
    place: &'a Place,
    problems: &'a mut Diagnostics,
}

impl Checked<'_> {
    fn part<T>(
        &mut self,
        name: &str,
        value: &Value<String>,
        check: impl FnOnce(&str) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        let checked = check(value.as_str()?);
        checked.map_err(|problem| self.refuse(&[name], &problem)).ok()
    }

    fn refuse(&mut self, at: &[&str], problem: &InvalidValue) {
        let place = at.iter().fold(self.place.clone(), |place, name| place.attribute(name));
        self.problems.push(place.point(said::unusable_part(&at.join("."), problem)));
    }

    /// Both halves, and then whether they belong together.
    fn identity(
        &mut self,
        certificate: &Value<String>,
        key: &Value<String>,
    ) -> Option<ClientCertificate> {
        let first = self.part("client_certificate", certificate, part::certificate);
        let second = self.part("client_key", key, part::key);
        let (Some(certificate), Some(key)) = (first, second) else {
            return None;
        };
        let pair = part::pair(certificate, key);
        pair.map_err(|problem| self.refuse(&["client_key"], &problem)).ok()
    }

    fn exec(&mut self, exec: &ExecModel) -> Option<Exec> {
        let mut part = |name: &str, value: &Value<String>, check: Check| {
            let checked = match value {
                Value::Unknown => return None,
                Value::Null => check(""),
                Value::Known(text) => check(text),
            };
            checked.map_err(|problem| self.refuse(&["exec", name], &problem)).ok()
        };
        let api_version = part("api_version", &exec.api_version, part::plugin_version);
        let command = part("command", &exec.command, part::plugin_command);
        // A null among them is how conditions leave one out.
        let args = exec.args.known().into_iter().flatten().filter_map(Value::as_str);
        let args = args.map(part::plugin_argument).collect::<Result<_, _>>();
        let args = args.map_err(|problem| self.refuse(&["exec", "args"], &problem)).ok();
        let env = exec.env.known().into_iter().flatten();
        let env = env.filter_map(|(name, value)| Some((name, value.as_str()?)));
        let env = env.map(|(name, value)| part::plugin_variable(name, value));
        let env = env.collect::<Result<_, _>>();
        let env = env.map_err(|problem| self.refuse(&["exec", "env"], &problem)).ok();
        Some(Exec {
            api_version: api_version?,
            command: command?,
            args: args?,
            env: env?,
            install_hint: None,
            cluster: None,
        })
    }
}

type Check = fn(&str) -> Result<String, InvalidValue>;
