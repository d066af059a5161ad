//! Credentials over the life of a run: fetched once, renewed when they are of no use any more, and
//! changed without the cluster being touched.

use std::path::Path;
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use testkit::audit::Persistence;
use testkit::proxy::{Action, Fate, Proxy, Rule, Turn, Which};
use testkit::{Request, Target, Tool};

use crate::workspace::{CONFIG_MAP, Workspace, never_says, says};

/// Objects one after the other, each by this way into the cluster.
fn write(at: &Workspace, names: &[&str], cluster: &str) {
    let mut main = String::new();
    for (n, name) in names.iter().enumerate() {
        let body = CONFIG_MAP.replace("name: settings", &format!("name: {name}"));
        let after = match n {
            0 => String::new(),
            n => format!("depends_on = [k8sconnect_object.{}]", names[n - 1]),
        };
        main +=
            &at.resource(name, &body, &after).replace("kubeconfig = file(\"kubeconfig\")", cluster);
    }
    at.runner.write("main.tf", &main).unwrap();
}

/// A plugin that notes each run and hands out the token in a file; from then on the next, where
/// there is one. What it gives lasts for so many seconds.
const PLUGIN: &str = r#"echo >> runs
until=$(date -u -d "+$LASTS seconds" +%Y-%m-%dT%H:%M:%SZ)
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s","expirationTimestamp":"%s"}}' "$(cat token)" "$until"
if [ -e next ]; then mv next token; fi
"#;

fn by_plugin(host: &str, lasts: u32) -> String {
    format!(
        "host = \"{host}\"\n  cluster_ca_certificate = file(\"ca.pem\")\n  exec = {{\n    \
         api_version = \"client.authentication.k8s.io/v1\"\n    command = \"sh\"\n    \
         args = [\"plugin.sh\"]\n    env = {{ LASTS = \"{lasts}\" }}\n  }}"
    )
}

/// How often the plugin has run since this was asked last.
fn runs(folder: &Path) -> usize {
    let noted = folder.join("runs");
    let count = std::fs::read_to_string(&noted).unwrap_or_default().lines().count();
    let _ = std::fs::remove_file(noted);
    count
}

#[tokio::test]
async fn a_plugin_runs_once_for_all_objects_and_again_when_what_it_gave_is_refused_or_expires() {
    let at = Workspace::new(Tool::Terraform).await;
    let proxy = Proxy::before(at.cluster).await.unwrap();
    let folder = at.runner.directory();
    at.runner.write("plugin.sh", PLUGIN).unwrap();
    at.runner.write("ca.pem", at.cluster.ca()).unwrap();
    at.runner.write("token", at.cluster.token()).unwrap();
    let names = ["one", "two", "three"];
    write(&at, &names, &by_plugin(proxy.url(), 3600));
    at.init().await;
    at.plan_changes().await;
    assert_eq!(runs(&folder), 1, "once for all objects of a process");
    let lookups = proxy.requests().iter().filter(|one| one.path == "/api/v1").count();
    assert_eq!((proxy.connections(), lookups), (1, 1), "and so are the connection and the kinds");

    // What it gives first is refused, and what it gives then is not.
    at.runner.write("token", "expired").unwrap();
    at.runner.write("next", at.cluster.token()).unwrap();
    at.plan_changes().await;
    assert_eq!(runs(&folder), 2, "once, and once more when the server refused");
    at.runner.apply_planned().await.unwrap().successful().unwrap();
    assert_eq!(runs(&folder), 1, "an apply is a process of its own");
    at.plan_empty().await;
    assert_eq!(runs(&folder), 1);

    // What it gives expires while the first of the objects is deleted.
    write(&at, &names, &by_plugin(proxy.url(), 15));
    let apply = at.apply().await;
    says(&apply.text, "0 added, 3 changed, 0 destroyed");
    runs(&folder);
    let slow = Fate::Delay(Duration::from_millis(10_500));
    let deletions = Which::any().method(Method::DELETE);
    proxy.rule(Rule::new(deletions, Turn::Nth(1), slow));
    let plan = at.runner.plan_with(&["-destroy"]).await.unwrap();
    says(&plan.text, "3 to destroy");
    runs(&folder);
    at.runner.apply_planned().await.unwrap().successful().unwrap();
    assert_eq!(runs(&folder), 2, "once, and once more when it had expired");
}

#[tokio::test]
async fn a_plugin_has_the_environment_without_what_is_between_terraform_and_the_provider() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        at.runner.write("plugin.sh", &format!("env > seen\n{PLUGIN}")).unwrap();
        at.runner.write("ca.pem", at.cluster.ca()).unwrap();
        at.runner.write("token", at.cluster.token()).unwrap();
        write(&at, &["one"], &by_plugin(at.cluster.url(), 3600));
        at.init().await.plan_changes().await;
        let seen = std::fs::read_to_string(at.runner.directory().join("seen")).unwrap();
        let names: Vec<_> = seen.lines().filter_map(|line| line.split_once('=')).collect();
        let has = |wanted: &str| names.iter().any(|(name, _)| *name == wanted);
        assert!(["PATH", "HOME", "LASTS", "KUBERNETES_EXEC_INFO"].into_iter().all(has), "{seen}");
        let handshake = |name: &str| name.starts_with("PLUGIN_") || name.starts_with("TF_PLUGIN_");
        assert!(!names.iter().any(|(name, _)| handshake(name)), "{seen}");
    }
}

#[tokio::test]
async fn a_token_file_is_read_again_when_what_it_held_is_refused() {
    let at = Workspace::new(Tool::Terraform).await;
    let proxy = Proxy::before(at.cluster).await.unwrap();
    let mut kubeconfig: Value = serde_json::from_str(&proxy.kubeconfig()).unwrap();
    kubeconfig["users"][0]["user"] = json!({ "tokenFile": "token" });
    at.kubeconfig(&kubeconfig.to_string());
    at.runner.write("token", "expired").unwrap();
    write(&at, &["one", "two"], "config_path = \"kubeconfig\"");
    at.init().await;
    let (path, token) = (at.runner.directory().join("token"), at.cluster.token().to_owned());
    let renewed = Action::new(move |_| {
        let (path, token) = (path.clone(), token.clone());
        async move { std::fs::write(path, token) }
    });
    proxy.rule(Rule::new(Which::any(), Turn::Nth(1), Fate::Before(renewed)));
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn a_changed_credential_is_an_update_in_place_that_writes_nothing_to_the_cluster() {
    let at = Workspace::new(Tool::OpenTofu).await;
    let namespace = at.namespace.name();
    let (certificate, key) =
        at.cluster.certificate_for("somebody", Some("system:masters")).unwrap();
    for (name, text) in [
        ("certificate.pem", certificate.as_str()),
        ("key.pem", &key),
        ("ca.pem", at.cluster.ca()),
        ("token", at.cluster.token()),
    ] {
        at.runner.write(name, text).unwrap();
    }
    let there =
        format!("host = \"{}\"\n  cluster_ca_certificate = file(\"ca.pem\")", at.cluster.url());
    write(&at, &["one"], &format!("{there}\n  token = file(\"token\")"));
    at.init().await;
    at.apply().await;
    at.plan_empty().await;
    let by_certificate = format!(
        "{there}\n  client_certificate = file(\"certificate.pem\")\n  \
         client_key = file(\"key.pem\")"
    );
    write(&at, &["one"], &by_certificate);
    let (run, asked) = at.cluster.count_during(namespace, at.apply()).await.unwrap();
    says(&run.text, "0 added, 1 changed, 0 destroyed");
    never_says(&run.text, "Warning");
    let asked: Vec<_> = asked.iter().map(Request::in_short).collect();
    assert_eq!(asked, ["get"], "by the refresh");
    at.plan_empty().await;
    at.destroy().await;
}

/// The clusters of the provider block, and whose `token` is used there.
fn provider(at: &Workspace, name: &str, token: &str) {
    let provider = format!(
        "provider \"k8sconnect\" {{\n  clusters = {{\n    {name} = {{\n      host = \"{}\"\n      \
         cluster_ca_certificate = file(\"ca.pem\")\n      token = \"{token}\"\n    }}\n  }}\n}}\n",
        at.cluster.url()
    );
    at.runner.write("provider.tf", &provider).unwrap();
    let object = at.resource("one", CONFIG_MAP, "").replace(
        "cluster = { kubeconfig = file(\"kubeconfig\") }",
        &format!("cluster_name = \"{name}\""),
    );
    at.runner.write("main.tf", &object).unwrap();
}

#[tokio::test]
async fn no_plan_is_made_of_what_nobody_could_look_at_and_a_cluster_may_be_renamed() {
    let at = Workspace::new(Tool::Terraform).await;
    at.runner.write("ca.pem", at.cluster.ca()).unwrap();
    provider(&at, "old", at.cluster.token());
    at.init().await;
    at.apply().await;
    let settings = Target::new("v1", "ConfigMap", at.namespace.name(), "settings");
    at.cluster.delete(&settings).await.unwrap();
    provider(&at, "old", "of-an-hour-ago");
    let plan = at.plan_fails().await;
    says(&plan.text, "nothing can be planned for it");
    says(&plan.text, "belong to this cluster and have not expired");
    let destroy = at.runner.destroy().await.unwrap();
    assert_ne!(destroy.code, 0, "{}", destroy.text);
    says(&destroy.text, "belong to this cluster and have not expired");

    provider(&at, "old", at.cluster.token());
    says(&at.apply().await.text, "1 added, 0 changed, 0 destroyed");
    provider(&at, "new", at.cluster.token());
    let plan = at.plan_changes().await;
    says(&plan.text, "There is no cluster named `old`");
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    at.apply().await;
    never_says(&at.plan_empty().await.text, "Warning");
    at.destroy().await;
    assert_eq!(at.cluster.read(&settings).await.unwrap(), None);
}

#[tokio::test]
async fn an_expired_token_in_state_keeps_the_object_and_the_next_apply_mends_it() {
    let at = Workspace::new(Tool::Terraform).await;
    at.runner.write("ca.pem", at.cluster.ca()).unwrap();
    at.runner.write("token", at.cluster.token()).unwrap();
    let cluster = format!(
        "host = \"{}\"\n  cluster_ca_certificate = file(\"ca.pem\")\n  token = file(\"token\")",
        at.cluster.url()
    );
    write(&at, &["one"], &cluster);
    at.init().await;
    at.apply().await;
    // As if the one that was applied with had been of an hour ago.
    let path = at.runner.directory().join("terraform.tfstate");
    let state = std::fs::read_to_string(&path).unwrap();
    let aged = state.replace(at.cluster.token(), "of-an-hour-ago");
    assert_ne!(aged, state);
    std::fs::write(&path, aged).unwrap();
    let writes = async {
        let plan = at.plan_changes().await;
        says(&plan.text, "could not be refreshed");
        says(&plan.text, "in the provider block, of which nothing is stored");
        says(&plan.text, "0 to add, 1 to change, 0 to destroy");
        at.runner.apply_planned().await.unwrap().successful().unwrap();
    };
    let ((), asked) = at.cluster.count_during(at.namespace.name(), writes).await.unwrap();
    let written = |one: &Request| one.writes() || one.persistence == Persistence::DryRun;
    assert!(!asked.iter().any(written), "{asked:?}");
    let plan = at.plan_empty().await;
    never_says(&plan.text, "Warning");
    at.destroy().await;
}
