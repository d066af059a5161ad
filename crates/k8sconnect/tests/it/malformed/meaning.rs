//! What each attribute is for, and texts that can mean nothing there.
//!
//! An attribute that is not known here fails the test, so that whoever adds one says what is wrong
//! in it. Nothing stands here that some server might take: names of objects, for example, follow
//! the rules of their kind, and some kinds take almost anything.

use tfplugin::harness::{Block, Sort};
use tfplugin::{AttributePath, Data, Number, Step, Value};

use super::Stage::{Proceed, Validate};
use super::{KUBECONFIG, Stage, map, object, texts, with};

/// The attributes from the top, without keys of maps.
fn names(path: &AttributePath) -> Vec<&str> {
    path.steps()
        .iter()
        .filter_map(|step| match step {
            Step::Attribute(name) => Some(name.as_str()),
            _ => None,
        })
        .collect()
}

/// The configuration in which an attribute can be right.
pub(super) fn ready_for(good: &Value, path: &AttributePath) -> Value {
    let is_above = |step: &&Step| match step {
        Step::Attribute(name) => name == "cluster" || name == "clusters",
        Step::Key(_) => true,
        Step::Index(_) => false,
    };
    let above: Vec<_> = path.steps().iter().take_while(is_above).cloned().collect();
    let first = names(path);
    let host = ("host", Value::from("https://127.0.0.1:1"));
    let replaced = |parts: Vec<(&'static str, Value)>| with(good, &above, object(parts));
    let exec = || {
        let version = Value::from("client.authentication.k8s.io/v1");
        object([("api_version", version), ("command", Value::from("true"))])
    };
    match first.as_slice() {
        ["cluster" | "clusters", "exec", ..] => replaced(vec![host, ("exec", exec())]),
        ["cluster" | "clusters", "client_certificate"] => {
            replaced(vec![host, ("client_key", Value::Unknown)])
        }
        ["cluster" | "clusters", "client_key"] => {
            replaced(vec![host, ("client_certificate", Value::Unknown)])
        }
        ["cluster" | "clusters", "kubeconfig" | "config_path"] => replaced(Vec::new()),
        ["cluster" | "clusters", "context"] => {
            replaced(vec![("kubeconfig", Value::from(KUBECONFIG))])
        }
        ["cluster_name"] => with(good, &[Step::Attribute("cluster".into())], Value::Null),
        ["yaml_body_wo"] => {
            let none = with(good, &[Step::Attribute("yaml_body".into())], Value::Null);
            with(&none, &[Step::Attribute("yaml_body_wo_version".into())], Value::from("1"))
        }
        ["json_patch" | "merge_patch"] => {
            with(good, &[Step::Attribute("patch".into())], Value::Null)
        }
        ["pattern" | "kustomize_path"] => {
            with(good, &[Step::Attribute("content".into())], Value::Null)
        }
        ["wait_for", "field_value" | "condition" | "rollout" | "ready" | "deleted"] => {
            with(good, &[Step::Attribute("wait_for".into())], object([]))
        }
        _ => good.clone(),
    }
}

fn each(texts: &[&str], stage: Stage) -> Vec<(Value, Stage)> {
    texts.iter().map(|text| (Value::from(*text), stage)).collect()
}

fn lists(entries: &[&str]) -> Vec<(Value, Stage)> {
    entries.iter().map(|text| (texts(&[text]), Validate)).collect()
}

const PEM: &[&str] = &[
    "",
    " ",
    "nonsense",
    "/etc/ca.pem",
    "..",
    "\u{0}",
    "bm9uc2Vuc2U=",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
    "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n",
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
];
const DURATIONS: &[&str] = &[
    "",
    " ",
    "5",
    "m",
    "5 m",
    "-5s",
    "5d",
    "1.5h",
    "5M",
    "1e3s",
    "99999999999h",
    "1h-3m",
    "\u{7}",
    "٣s",
    "..",
];
const VERSIONS: &[&str] = &[
    "",
    " ",
    "/",
    "/v1",
    "apps/",
    "a/b/c",
    "apps v1",
    "..",
    "../v1",
    "V1",
    "v1\n",
    "\u{7}",
    "apps/v1?x",
];
const KINDS: &[&str] = &["", " ", "a/b", "Config Map", "..", "\u{7}", "1Pod", "Pod\n", "Pod?"];
const NAMES: &[&str] = &["", ".", "..", "a/b", "/", "a%2fb", "../a"];
const NAMESPACES: &[&str] =
    &[" ", "..", "a/b", "Default", "a b", "-a", "a-", "a_b", "\u{7}", "a.b"];
const PATHS: &[&str] = &["", " ", "{", "{.a", "a[", "a[?(@.b==", "a[*", "a]", "a[?("];
const FIELDS: &[&str] = &["", " ", "a[", "a[?(", "a..b", ".a..", "a[x", "a[*", "a[=b]"];
const CONDITIONS: &[&str] = &["", " ", "=", "=True", "Ready=", "=="];

/// Values that can mean nothing in this place, and when that shows.
pub(super) fn senseless(block: &Block, path: &AttributePath) -> Vec<(Value, Stage)> {
    let long = "a".repeat(70_000);
    let of = |texts: &[&str]| each(texts, Validate);
    let longer = |mut all: Vec<(Value, Stage)>| {
        all.push((Value::from(long.as_str()), Validate));
        all
    };
    let bare = || vec![(object([]), Validate)];
    match names(path).as_slice() {
        ["cluster"] => bare(),
        ["clusters"] => vec![(map(&[("east", object([]))]), Validate)],
        ["cluster" | "clusters", rest @ ..] => in_cluster(block, rest, &long),
        ["cluster_name"] => {
            let mut all = of(&[""]);
            all.extend(each(&["nope", " ", "..", "a/b"], Proceed));
            all
        }
        ["yaml_body"] => of(&[
            "",
            " ",
            "kind: Pot\n metadata: {name: a}",
            "kind: [",
            "kind: \"",
            "kind: {a: b",
            "kind: Pot\n\tname: a",
            "kind: Pot\nkind: Pot",
            "kind: &a [*a]",
            "apiVersion: v1\nkind: ConfigMap",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ''}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: []",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 5}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a/b}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ..}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: 5}",
            "apiVersion: v1\nkind: ''\nmetadata: {name: a}",
            "apiVersion: ''\nkind: ConfigMap\nmetadata: {name: a}",
            "apiVersion: 1\nkind: ConfigMap\nmetadata: {name: a}",
            "kind: ConfigMap\nmetadata: {name: a}",
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: A\nmetadata: {name: b}",
        ]),
        ["ignore_fields" | "sensitive_fields"] => {
            let mut all = lists(FIELDS);
            all.push((Value::Known(Data::List(vec![Value::Null])), Validate));
            all
        }
        ["apply_timeout" | "delete_timeout"] | ["wait_for", "timeout"] => longer(of(DURATIONS)),
        ["delete_propagation"] => {
            longer(of(&["", " ", "Background", "orphans", "delete", "..", "\u{7}"]))
        }
        ["api_version"] | ["target" | "object_ref", "api_version"] => longer(of(VERSIONS)),
        ["kind"] | ["target" | "object_ref", "kind"] => longer(of(KINDS)),
        ["name" | "service_account"] | ["target" | "object_ref", "name"] => of(NAMES),
        ["namespace"] | ["target" | "object_ref", "namespace"] => longer(of(NAMESPACES)),
        ["target" | "object_ref"] | ["wait_for"] | ["wait_for", "fail_when"] => bare(),
        ["wait_for", "field"] | ["wait_for", "fail_when", "field"] => of(PATHS),
        ["wait_for", "field_value"] | ["wait_for", "fail_when", "field_value"] => {
            let entry = |path: &&str| (map(&[(path, Value::from("x"))]), Validate);
            let mut all: Vec<_> = PATHS.iter().map(entry).collect();
            all.extend([(map(&[]), Validate), (map(&[("a", Value::Null)]), Validate)]);
            all
        }
        ["wait_for", "condition"] | ["wait_for", "fail_when", "condition"] => of(CONDITIONS),
        ["patch" | "merge_patch"] => {
            of(&["", " ", "a: b: c", "[", "{}", "a: 1\na: 2", "\u{7}", "a: 1\n---\na: 2"])
        }
        ["json_patch"] => of(&[
            "",
            " ",
            "[",
            "[]",
            "[5]",
            "[{}]",
            "[{\"op\": \"add\"}]",
            "[{\"op\": \"fly\", \"path\": \"/data\"}]",
            "[{\"op\": \"remove\", \"path\": \"data\"}]",
            "[{\"op\": \"add\", \"path\": \"/data/a\"}]",
            "[{\"op\": \"move\", \"path\": \"/data/a\"}]",
            "[{\"op\": \"remove\", \"path\": \"/a~2\"}]",
        ]),
        ["expiration_seconds"] => {
            let numbers = ["1.5", "1e30", "4294967297"].into_iter().map(|text| {
                let number: Number = text.parse().unwrap_or_else(|_| panic!("{text}"));
                Value::Known(Data::Number(number))
            });
            let short = [0, -1, 599, i64::MIN].into_iter().map(Value::from);
            short.chain(numbers).map(|value| (value, Validate)).collect()
        }
        ["content"] => {
            each(&["", " ", "a: b: c", "[", "5", "text", "kind: X", "---\n---", "\u{7}"], Proceed)
        }
        ["pattern"] => {
            let mut all = each(&["", "[", "{a", "a[b", "nowhere/*.yaml", "..", "\u{0}"], Proceed);
            all.push((Value::from("a".repeat(5000)), Proceed));
            all
        }
        ["kustomize_path"] => each(&["", " ", "nowhere", "a\u{0}b"], Proceed),
        // Any text will do, or only true and false.
        ["yaml_body_wo" | "yaml_body_wo_version" | "uid" | "audiences" | "triggers"]
        | ["label_selector" | "field_selector"]
        | ["adopt" | "force_conflicts" | "delete_protection" | "force_destroy"]
        | ["wait_for", "rollout" | "ready" | "deleted"] => Vec::new(),
        other => panic!("{other:?} is new: say what can mean nothing in it"),
    }
}

fn in_cluster(block: &Block, names: &[&str], long: &str) -> Vec<(Value, Stage)> {
    let of = |texts: &[&str]| each(texts, Validate);
    match names {
        ["host"] => of(&[
            "",
            " ",
            "ftp://a",
            "https://",
            "https://u:p@h",
            "https://h:99999",
            "https://h:0",
            "https://h:port",
            "https://h?x=1",
            "a b",
            "https://h\u{0}",
            "https://[::1",
            "://",
            long,
        ]),
        ["cluster_ca_certificate" | "client_certificate"] => of(PEM),
        ["client_key"] => of(PEM),
        ["tls_server_name"] => {
            of(&["", " ", "https://x", "a b", "..", "a/b", "a..b", "\u{7}", long])
        }
        ["proxy_url"] => {
            of(&["", " ", "ftp://p:1", "http://", "http://p:99999", "://", "http://a b", long])
        }
        ["token"] => of(&["", " ", "a\nb", "a\u{0}b", "a\u{7}"]),
        ["exec"] => vec![(object([("command", Value::from("true"))]), Validate)],
        ["exec", "api_version"] => of(&[
            "",
            " ",
            "v1",
            "client.authentication.k8s.io/v1alpha1",
            "client.authentication.k8s.io/",
            "..",
            long,
        ]),
        ["exec", "command"] => of(&["", " ", "\t", "a\u{0}b"]),
        ["exec", "args"] => lists(&["a\u{0}b", "\u{0}"]),
        ["exec", "env"] => [("", "x"), ("A=B", "x"), ("A\u{0}", "x"), ("A", "x\u{0}"), ("=", "")]
            .into_iter()
            .map(|(name, value)| (map(&[(name, Value::from(value))]), Validate))
            .collect(),
        ["kubeconfig"] => of(&[
            "",
            " ",
            "a: b: c",
            "[]",
            "{}",
            "{",
            "text",
            "\u{0}",
            "/nowhere/.kube/config",
            "contexts: 5",
            "current-context: gone",
            "apiVersion: v1\nkind: Config",
        ]),
        // The provider block reads no file until a resource needs it.
        ["config_path"] if block.sort == Sort::Provider => Vec::new(),
        ["config_path"] => each(&["", " ", "nowhere/config", "..", "a\u{0}b"], Proceed),
        ["context"] => of(&["", " ", "gone", "..", "Here", "\u{7}"]),
        ["insecure"] => Vec::new(),
        other => panic!("`cluster` has {other:?}, which is new: say what can mean nothing in it"),
    }
}

/// Bodies that cannot be read and may be anything, a password included.
pub(super) fn secretive(path: &AttributePath) -> Vec<(Value, Stage)> {
    match names(path).as_slice() {
        ["yaml_body"] => each(&["text", "- kind: Pot", "a: b: c", "5"], Validate),
        ["patch" | "merge_patch"] => each(&["text", "5", "[]"], Validate),
        ["json_patch"] => each(&["text", "{}"], Validate),
        ["yaml_body_wo"] => each(&["", "text", "kind: [", "apiVersion: v1\nkind: A"], Validate),
        _ => Vec::new(),
    }
}

/// What a function cannot take.
pub(super) fn arguments(function: &str, parameter: &str) -> Vec<Value> {
    let broken = ["", " ", "a: b: c", "[", "5", "text", "\u{7}", "{a: 1", "a: 1\na: 2", "\ta"];
    match (function, parameter) {
        ("yaml_split" | "yaml_scoped" | "manifest_decode", "yaml") => {
            broken.into_iter().map(Value::from).collect()
        }
        ("manifest_encode", "manifest") => {
            let dynamic = |ty, value| Value::Known(Data::Dynamic(ty, Box::new(value)));
            vec![
                dynamic(tfplugin::Type::String, Value::from("text")),
                dynamic(tfplugin::Type::Bool, Value::from(true)),
                dynamic(tfplugin::Type::list(tfplugin::Type::String), texts(&["a"])),
            ]
        }
        other => panic!("{other:?} is new: say what it cannot take"),
    }
}
