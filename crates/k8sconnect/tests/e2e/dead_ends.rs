//! Ways that lead nowhere: each is told with what failed and what to check, and with no secret.

use serde_json::{Value, json};
use testkit::Tool;

use crate::workspace::{CONFIG_MAP, Workspace, never_says, says};

#[tokio::test]
async fn each_says_what_failed_and_what_to_check() {
    let at = Workspace::new(Tool::Terraform).await;
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    // Some certificate, which signed nothing.
    let (other, _) = at.cluster.certificate_for("nobody", None).unwrap();
    at.runner.write("other.pem", &other).unwrap();
    at.runner.write("ca.pem", at.cluster.ca()).unwrap();
    let mut nobody: Value = serde_json::from_str(&at.cluster.kubeconfig()).unwrap();
    nobody["users"][0]["user"] = json!({});
    at.runner.write("nobody", &nobody.to_string()).unwrap();
    let mut basic = nobody.clone();
    basic["users"][0]["user"] = json!({ "username": "me", "password": "hunter2hunter2" });
    at.runner.write("basic", &basic.to_string()).unwrap();
    let url = at.cluster.url();
    let host = format!("host = \"{url}\"");
    let ca = "cluster_ca_certificate = file(\"ca.pem\")";
    let token = "token = \"hunter2hunter2\"";
    let complaint = "echo \\\"refused: Bearer hunter2hunter2; log in again\\\" >&2; exit 3";
    let plugin = format!(
        "exec = {{\n  api_version = \"client.authentication.k8s.io/v1\"\n  command = \"sh\"\n  \
         args = [\"-c\", \"{complaint}\"]\n}}"
    );
    let dead_ends = [
        (
            format!("host = \"https://{dead}\"\n{ca}\n{token}"),
            vec!["Nothing listens there", "Check the port, and that the cluster is running"],
        ),
        (
            format!("host = \"https://k8s.invalid\"\n{ca}\n{token}"),
            vec![
                "Cannot reach the API server at `https://k8s.invalid`",
                "the spelling of the host",
            ],
        ),
        (
            format!("{host}\ncluster_ca_certificate = file(\"other.pem\")\n{token}"),
            vec!["not signed by an authority that this connection trusts", "this cluster's CA"],
        ),
        (
            format!("{host}\n{ca}\n{token}\ntls_server_name = \"elsewhere.example\""),
            vec!["Its certificate is for another name", "name one of its names in"],
        ),
        (
            format!("{host}\n{ca}\n{token}"),
            vec!["does not accept the credentials (HTTP 401)", "or fetch a new one"],
        ),
        (
            format!("{host}\n{ca}\n{token}\nproxy_url = \"http://me:hunter2hunter2@{dead}\""),
            vec!["could not be used", "Check `proxy_url`"],
        ),
        (
            format!("{host}\n{ca}\n{plugin}"),
            vec!["Bearer (hidden); log in again", "Run it by hand to see what it lacks"],
        ),
        (
            "kubeconfig = file(\"nobody\")".to_owned(),
            vec![
                "No credentials were sent: user `admin` in the kubeconfig has none",
                "Give the user in the kubeconfig a `token`",
            ],
        ),
        (
            // Which a server takes for nobody at all, unless something before it knows passwords.
            "kubeconfig = file(\"basic\")".to_owned(),
            vec!["ignored the credentials (HTTP 403)", "knows no `username` and `password`"],
        ),
    ];
    let mut main = String::new();
    for (n, (way, _)) in dead_ends.iter().enumerate() {
        main += &at
            .resource(&format!("by_{n}"), CONFIG_MAP, "")
            .replace("kubeconfig = file(\"kubeconfig\")", &format!("\n{way}\n"));
    }
    at.runner.write("main.tf", &main).unwrap();
    at.init().await;
    let plan = at.plan_fails().await;
    for (_, words) in &dead_ends {
        for words in words {
            says(&plan.text, words);
        }
    }
    // Terraform prints the lines of the configuration that an error points to.
    never_says(&plan.text, "hunter2");
    never_says(&plan.text, at.cluster.token());
}

#[tokio::test]
async fn a_key_of_another_certificate_is_told_before_anything_runs() {
    for tool in Tool::ALL {
        let at = Workspace::new(tool).await;
        let (certificate, _) = at.cluster.certificate_for("one", None).unwrap();
        let (_, key) = at.cluster.certificate_for("two", None).unwrap();
        at.runner.write("certificate.pem", &certificate).unwrap();
        at.runner.write("key.pem", &key).unwrap();
        let mut mixed: Value = serde_json::from_str(&at.cluster.kubeconfig()).unwrap();
        mixed["users"][0]["user"] = json!({
            "client-certificate": at.runner.directory().join("certificate.pem"),
            "client-key": at.runner.directory().join("key.pem"),
        });
        at.runner.write("mixed", &mixed.to_string()).unwrap();
        let inline = format!(
            "host = \"{}\"\n  client_certificate = file(\"certificate.pem\")\n  \
             client_key = file(\"key.pem\")",
            at.cluster.url()
        );
        let ways = [inline.as_str(), "kubeconfig = file(\"mixed\")"];
        let mut main = String::new();
        for (n, way) in ways.iter().enumerate() {
            main += &at
                .resource(&format!("by_{n}"), CONFIG_MAP, "")
                .replace("kubeconfig = file(\"kubeconfig\")", way);
        }
        at.runner.write("main.tf", &main).unwrap();
        at.init().await;
        let run = at.runner.run(&["validate", "-no-color"]).await.unwrap();
        assert_ne!(run.code, 0);
        says(&run.text, "`client_key` cannot be used");
        says(&run.text, "`client-key` cannot be used");
        says(&run.text, "It is not the key of the client certificate");
        // A path is read where the plan is made.
        let by_path = at
            .resource("by_path", CONFIG_MAP, "")
            .replace("kubeconfig = file(\"kubeconfig\")", "config_path = \"mixed\"");
        at.runner.write("main.tf", &by_path).unwrap();
        says(&at.plan_fails().await.text, "It is not the key of the client certificate");
    }
}
