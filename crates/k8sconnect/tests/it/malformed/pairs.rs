//! Attributes that contradict each other, or need each other.

use tfplugin::harness::Sort;
use tfplugin::{AttributePath, Step, Value};

use super::{BODY, Expected, KUBECONFIG, Maker, Stage, good, map, object, with};

pub(super) fn add(maker: &mut Maker<'_>) {
    let attributes = maker.block.schema.attributes();
    let (has_cluster, is_named) =
        (attributes.contains_key("cluster"), attributes.contains_key("cluster_name"));
    if has_cluster {
        clusters(maker);
    }
    if is_named {
        set(maker, &[("cluster_name", Value::from("east"))], "cluster_name");
    }
    let text = |text: &str| Value::from(text);
    let yes = || Value::from(true);
    match (maker.block.sort, maker.block.name.as_str()) {
        (Sort::Resource, "k8sconnect_object") => {
            let version = ("yaml_body_wo_version", text("1"));
            set(maker, &[("yaml_body_wo", text(BODY)), version.clone()], "yaml_body_wo");
            set(maker, &[("yaml_body", Value::Null), ("yaml_body_wo", text(BODY))], "yaml_body_wo");
            set(maker, &[version], "yaml_body_wo_version");
            set(maker, &[("delete_protection", yes()), ("force_destroy", yes())], "force_destroy");
        }
        (Sort::Resource, "k8sconnect_patch") => {
            set(maker, &[("merge_patch", text("data: {a: b}"))], "merge_patch");
            set(maker, &[("json_patch", text("[{op: remove, path: /data}]"))], "json_patch");
        }
        (Sort::Resource, "k8sconnect_wait") => {
            let goals = [
                ("field_value", map(&[("a", text("b"))])),
                ("condition", text("Ready")),
                ("rollout", yes()),
                ("ready", yes()),
                ("deleted", yes()),
            ];
            for (name, goal) in &goals {
                let both = object([("field", text("a")), (name, goal.clone())]);
                set(maker, &[("wait_for", both)], "wait_for");
            }
            let rollout = object([("rollout", yes())]);
            set(maker, &[("wait_for", rollout)], "wait_for");
        }
        (Sort::DataSource, "k8sconnect_yaml_split" | "k8sconnect_yaml_scoped") => {
            set(maker, &[("pattern", text("*.yaml"))], "pattern");
            set(maker, &[("kustomize_path", text("."))], "kustomize_path");
        }
        _ => {}
    }
}

/// Sets attributes; the error is to be at the last argument.
fn set(maker: &mut Maker<'_>, attributes: &[(&'static str, Value)], at: &str) {
    let config = attributes.iter().fold(good(maker.block), |config, (name, value)| {
        with(&config, &[Step::Attribute((*name).to_owned())], value.clone())
    });
    let names: Vec<_> = attributes.iter().map(|attribute| attribute.0).collect();
    let expected = Expected::At(AttributePath::root(at));
    maker.add(format!("{names:?} together"), config, Stage::Validate, expected);
}

fn clusters(maker: &mut Maker<'_>) {
    let text = |text: &str| Value::from(text);
    let host = || ("host", text("https://127.0.0.1:1"));
    let plain = || ("host", text("http://127.0.0.1:1"));
    let token = || ("token", text("t"));
    let kubeconfig = || ("kubeconfig", text(KUBECONFIG));
    let insecure = || ("insecure", Value::from(true));
    let exec = || {
        let version = text("client.authentication.k8s.io/v1");
        ("exec", object([("api_version", version), ("command", text("true"))]))
    };
    let contradictions = [
        (vec![kubeconfig(), ("config_path", text("a"))], "config_path"),
        (vec![kubeconfig(), host()], "host"),
        (vec![kubeconfig(), token()], "token"),
        (vec![("config_path", text("a")), exec()], "exec"),
        (vec![host(), token(), exec()], "exec"),
        (vec![host(), token(), insecure(), ("cluster_ca_certificate", text("x"))], "insecure"),
        (vec![host(), ("client_certificate", text("x"))], "client_certificate"),
        (vec![host(), ("client_key", text("x"))], "client_key"),
        (vec![("context", text("a"))], "context"),
        (vec![host(), token(), ("context", text("a"))], "context"),
        (vec![token()], "host"),
        (vec![host()], "host"),
        (vec![plain(), token(), insecure()], "insecure"),
        (vec![plain(), token(), ("tls_server_name", text("a"))], "tls_server_name"),
    ];
    for (parts, at) in contradictions {
        let names: Vec<_> = parts.iter().map(|part| part.0).collect();
        let what = format!("cluster of {names:?}");
        let config = with(&good(maker.block), &[Step::Attribute("cluster".into())], object(parts));
        let expected = Expected::At(AttributePath::root("cluster").attribute(at));
        maker.add(what, config, Stage::Validate, expected);
    }
}
