//! How the Go provider of this name wrote down the way to a cluster, in state of any resource.

use serde_json::{Map, Value as Json};

/// Brings the way to the cluster into our form, among the attributes of a stored resource.
pub(crate) fn carry_over(attributes: &mut Map<String, Json>) {
    // For a while both names were there, the old one null.
    if let Some(connection) = attributes.remove("cluster_connection").filter(|c| !c.is_null()) {
        attributes.insert("cluster".to_owned(), connection);
    }
    if let Some(Json::Object(cluster)) = attributes.get_mut("cluster") {
        one_way_in(cluster);
    }
}

/// That provider took a host before all else, let `insecure` win over an authority and a
/// token over a plugin, and passed over the rest. We refuse such mixtures, so only what it went by
/// is carried over. Its first releases had other names for kubeconfigs.
fn one_way_in(cluster: &mut Map<String, Json>) {
    for (old, new) in [("kubeconfig_raw", "kubeconfig"), ("kubeconfig_file", "config_path")] {
        if let Some(value) = cluster.remove(old).filter(|value| !value.is_null()) {
            cluster.insert(new.to_owned(), value);
        }
    }
    let set = |cluster: &Map<String, Json>, name: &str| {
        cluster.get(name).is_some_and(|value| !value.is_null())
    };
    let mut passed_over: Vec<&str> = Vec::new();
    if set(cluster, "host") {
        passed_over.extend(["kubeconfig", "config_path", "context"]);
        if cluster.get("insecure") == Some(&Json::Bool(true)) {
            passed_over.push("cluster_ca_certificate");
        }
        if set(cluster, "token") {
            passed_over.push("exec");
        }
    } else {
        cluster.retain(|name, _| ["kubeconfig", "config_path", "context"].contains(&name.as_str()));
        if set(cluster, "config_path") {
            passed_over.push("kubeconfig");
        }
    }
    for name in passed_over {
        cluster.remove(name);
    }
}
