//! Ways to clusters, as configurations write them.

mod stored;

use serde_json::{Value, json};
use testkit::{ControlPlane, Speech, Target, Tool, Tunnel};

use crate::workspace::{CONFIG_MAP, Workspace, never_says, says};

/// Text as HCL takes it.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// The way into a control plane by token, which comes from an input variable.
fn by_token(cluster: &ControlPlane, variable: &str) -> String {
    format!(
        "{{ host = {}, cluster_ca_certificate = {}, token = var.{variable} }}",
        quoted(cluster.url()),
        quoted(cluster.ca())
    )
}

fn body(namespace: &str) -> String {
    format!("<<-YAML\n{}\nYAML\n", CONFIG_MAP.replace("NS", namespace).trim_end())
}

#[tokio::test]
async fn what_is_wrong_with_a_description_is_told_at_once_and_shows_no_secret() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let main = format!(
            "resource \"k8sconnect_object\" \"it\" {{\n  cluster = {{\n    \
             host = \"ftp://k.example\"\n    insecure = true\n    \
             cluster_ca_certificate = \"ca.pem\"\n    token = \"hunter2\\nhunter2\"\n    \
             client_key = \"hunter2\"\n  }}\n  yaml_body = {}}}\n",
            body("default")
        );
        at.runner.write("main.tf", &main).unwrap();
        at.init().await;
        let run = at.runner.run(&["validate", "-no-color"]).await.unwrap();
        assert_ne!(run.code, 0);
        says(&run.text, "`host` cannot be used");
        says(&run.text, "`insecure` contradicts `cluster_ca_certificate`");
        says(&run.text, "Give its content, not a path");
        says(&run.text, "`client_key` is given without `client_certificate`");
        never_says(&run.text, "hunter2");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_without_the_token_that_was_meant_for_it() {
    let at = Workspace::new(Tool::Terraform).await;
    let main = format!(
        "resource \"k8sconnect_object\" \"it\" {{\n  cluster = {{\n    \
         host = \"https://127.0.0.1:1\"\n    token = \"hunter2hunter2\"\n  }}\n  \
         yaml_body = {}}}\n",
        body("default")
    );
    at.runner.write("main.tf", &main).unwrap();
    at.init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "Cannot reach the API server at `https://127.0.0.1:1`");
    says(&plan.text, "Check the port, and that the cluster is running");
    never_says(&plan.text, "hunter2");

    let block = "provider \"k8sconnect\" {\n  clusters = {\n    east = {\n      \
                 host  = \"ftp://k.example\"\n      token = \"hunter2hunter2\"\n    }\n  }\n}\n";
    at.runner.write("provider.tf", block).unwrap();
    let plan = at.plan_fails().await;
    says(&plan.text, "`host` cannot be used");
    says(&plan.text, "It stands at `clusters[\"east\"].host`");
    never_says(&plan.text, "hunter2");
}

#[tokio::test]
async fn every_way_in_is_written_as_documented_and_leads_there() {
    for tool in Tool::ALL {
        let mut at = Workspace::new(tool).await;
        let tunnel = Tunnel::open(at.cluster, Speech::Plain, None).await.unwrap();
        let socks = Tunnel::open(at.cluster, Speech::Socks, None).await.unwrap();
        let (certificate, key) =
            at.cluster.certificate_for("somebody", Some("system:masters")).unwrap();
        at.runner.write("certificate.pem", &certificate).unwrap();
        at.runner.write("key.pem", &key).unwrap();
        at.runner.write("ca.pem", at.cluster.ca()).unwrap();
        let token = at.cluster.token().to_owned();
        at.runner.variable("token", &token);
        let host = format!("host = {}", quoted(at.cluster.url()));
        let ca = "cluster_ca_certificate = base64encode(file(\"ca.pem\"))";
        let plugin = "exec = {\n  api_version = \"client.authentication.k8s.io/v1\"\n  \
                      command = \"sh\"\n  args = [\"-c\", file(\"plugin.sh\")]\n  \
                      env = { TOKEN = var.token }\n}";
        let script = "printf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\
                      \"ExecCredential\",\"status\":{\"token\":\"%s\"}}' \"$TOKEN\"";
        at.runner.write("plugin.sh", script).unwrap();
        let identity = "client_certificate = file(\"certificate.pem\")\nclient_key = \
                        base64encode(file(\"key.pem\"))";
        let proxy = |tunnel: &Tunnel| format!("proxy_url = {}", quoted(&tunnel.url()));
        let (proxy, socks_proxy) = (proxy(&tunnel), proxy(&socks));
        // The same in a kubeconfig.
        let mut by_exec: Value = serde_json::from_str(&at.cluster.kubeconfig()).unwrap();
        let version = "client.authentication.k8s.io/v1beta1";
        by_exec["users"][0]["user"] = json!({ "exec": {
            "apiVersion": version, "command": "sh",
            "args": ["-c", script.replace("client.authentication.k8s.io/v1", version)],
            "env": [{ "name": "TOKEN", "value": at.cluster.token() }],
        } });
        at.runner.write("by-exec", &by_exec.to_string()).unwrap();
        let mut by_certificate = by_exec.clone();
        by_certificate["users"][0]["user"] = json!({
            "client-certificate": "certificate.pem", "client-key": "key.pem",
        });
        at.runner.write("by-certificate", &by_certificate.to_string()).unwrap();
        let token = "token = var.token";
        let ways = [
            format!("{host}\n{ca}\n{token}"),
            format!("{host}\n{ca}\n{identity}"),
            format!("{host}\n{ca}\n{plugin}"),
            format!("{host}\ninsecure = true\n{token}"),
            format!("{host}\n{ca}\n{token}\ntls_server_name = \"localhost\""),
            format!("{host}\n{ca}\n{token}\n{proxy}"),
            format!("{host}\n{ca}\n{token}\n{socks_proxy}"),
            "kubeconfig = file(\"kubeconfig\")".to_owned(),
            "kubeconfig = file(\"by-exec\")".to_owned(),
            "config_path = \"by-certificate\"".to_owned(),
            "config_path = \"kubeconfig\"\ncontext = \"testkit\"".to_owned(),
        ];
        let mut main = "variable \"token\" { type = string }\n".to_owned();
        for (n, way) in ways.iter().enumerate() {
            let body =
                body(at.namespace.name()).replace("name: settings", &format!("name: by-{n}"));
            main += &format!(
                "resource \"k8sconnect_object\" \"by_{n}\" {{\n  cluster = {{\n{way}\n}}\n  \
                 yaml_body = {body}}}\n"
            );
        }
        at.runner.write("main.tf", &main).unwrap();
        at.init().await;
        let run = at.apply().await;
        says(&run.text, "Apply complete! Resources: 11 added");
        says(&run.text, "The server's certificate is not checked");
        assert!(!tunnel.asked().is_empty() && !socks.asked().is_empty());
        at.plan_empty().await;
        at.destroy().await;
    }
}

#[tokio::test]
async fn without_a_proxy_in_the_configuration_the_environments_is_used() {
    let mut at = Workspace::new(Tool::Terraform).await;
    let tunnel = Tunnel::open(at.cluster, Speech::Plain, None).await.unwrap();
    // An address that leads here and is not, by name, this machine's own.
    let elsewhere = at.cluster.url().replace("127.0.0.1", "0.0.0.0");
    let token = at.cluster.token().to_owned();
    at.runner.variable("token", &token);
    let to = |host: &str| {
        format!(
            "variable \"token\" {{ type = string }}\nresource \"k8sconnect_object\" \"it\" {{\n  \
             cluster = {{\n    host = {}\n    tls_server_name = \"localhost\"\n    \
             cluster_ca_certificate = {}\n    token = var.token\n  }}\n  yaml_body = {}}}\n",
            quoted(host),
            quoted(at.cluster.ca()),
            body(at.namespace.name())
        )
    };
    let (far, near) = (to(&elsewhere), to(at.cluster.url()));
    at.runner.write("main.tf", &far).unwrap();
    at.init().await;
    at.runner.env("HTTPS_PROXY", &tunnel.url());
    at.plan_changes().await;
    assert_eq!(tunnel.asked().len(), 1);
    at.runner.env("NO_PROXY", elsewhere.trim_start_matches("https://"));
    at.plan_changes().await;
    assert_eq!(tunnel.asked().len(), 1, "the entry names host and port");
    at.runner.env("NO_PROXY", "").write("main.tf", &near).unwrap();
    at.plan_changes().await;
    assert_eq!(tunnel.asked().len(), 1, "what runs on this machine needs no proxy");
}

/// All that a run leaves behind, as text.
async fn left_behind(at: &Workspace) -> String {
    let folder = at.runner.directory();
    let state = std::fs::read_to_string(folder.join("terraform.tfstate")).unwrap_or_default();
    format!("{state}{}", at.runner.planned().await.unwrap())
}

#[tokio::test]
async fn one_provider_block_serves_several_clusters_and_stores_no_credential() {
    for tool in Tool::ALL {
        several_clusters(tool).await;
    }
}

async fn several_clusters(tool: Tool) {
    let other = ControlPlane::another().await;
    let mut at = Workspace::new(tool).await;
    let name = at.namespace.name().to_owned();
    let namespace = serde_json::json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name },
    });
    other.act_as("testkit").create(namespace).await.unwrap();
    let main = format!(
        "variable \"home_token\" {{\n  type = string\n  ephemeral = true\n}}\n\
         variable \"away_token\" {{\n  type = string\n  ephemeral = true\n}}\n\
         provider \"k8sconnect\" {{\n  clusters = {{\n    home = {}\n    away = {}\n  }}\n}}\n\
         resource \"k8sconnect_object\" \"it\" {{\n  for_each = toset([\"home\", \"away\"])\n  \
         cluster_name = each.key\n  yaml_body = {}}}\n",
        by_token(at.cluster, "home_token"),
        by_token(other, "away_token"),
        body(&name)
    );
    at.runner.write("main.tf", &main).unwrap();
    at.runner.variable("home_token", at.cluster.token());
    at.runner.variable("away_token", other.token());
    at.init().await;
    at.plan_changes().await;
    at.runner.apply_planned().await.unwrap().successful().unwrap();
    let left = left_behind(&at).await;
    for secret in [at.cluster.token(), other.token()] {
        never_says(&left, secret);
    }
    at.plan_empty().await;
    let target = Target::new("v1", "ConfigMap", name.as_str(), "settings");
    for cluster in [at.cluster, other] {
        assert!(cluster.read(&target).await.unwrap().is_some());
    }

    // An object is imported from the cluster that is named.
    let address = "k8sconnect_object.it[\"away\"]";
    at.runner.state(&["rm", address]).await.unwrap().successful().unwrap();
    let id = format!("{name}/cm/settings?cluster_name=away");
    at.runner.import(address, &id).await.unwrap().successful().unwrap();
    at.plan_changes().await;
    at.apply().await;
    at.plan_empty().await;

    // Names that change places lead elsewhere, and nothing is written there.
    let swapped = main.replace("home = {", "elsewhere = {").replace("away = {", "home = {");
    let swapped = swapped.replace("elsewhere = {", "away = {");
    at.runner.write("main.tf", &swapped).unwrap();
    let plan = at.plan_fails().await;
    says(&plan.text, "leads to another cluster");
    says(&plan.text, "terraform state rm ADDRESS");
    at.runner.write("main.tf", &main).unwrap();
    at.plan_empty().await;
    at.destroy().await;
    for cluster in [at.cluster, other] {
        assert!(cluster.read(&target).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_way_may_depend_on_what_the_same_run_makes() {
    for tool in Tool::ALL {
        let mut at = Workspace::new(tool).await;
        let name = at.namespace.name().to_owned();
        let way =
            by_token(at.cluster, "token").replace("var.token", "terraform_data.cluster.output");
        let main = format!(
            "variable \"token\" {{ type = string }}\n\
             resource \"terraform_data\" \"cluster\" {{ input = var.token }}\n\
             provider \"k8sconnect\" {{\n  cluster = {}\n}}\n\
             resource \"k8sconnect_object\" \"it\" {{\n  yaml_body = {}}}\n\
             resource \"k8sconnect_object\" \"more\" {{\n  cluster = {}\n  yaml_body = {}}}\n",
            way,
            body(&name),
            way,
            body(&name).replace("name: settings", "name: more"),
        );
        at.runner.write("main.tf", &main).unwrap();
        let token = at.cluster.token().to_owned();
        at.runner.variable("token", &token);
        at.init().await;
        let plan = at.plan_changes().await;
        says(&plan.text, "3 to add");
        at.runner.apply_planned().await.unwrap().successful().unwrap();
        at.plan_empty().await;
        let shown = at.runner.show().await.unwrap();
        let resources = shown["values"]["root_module"]["resources"].as_array().unwrap();
        let ours = resources.iter().find(|one| one["address"] == "k8sconnect_object.it").unwrap();
        assert_eq!(ours["values"]["cluster"], Value::Null);
        at.destroy().await;
    }
}
