//! What is read for the length of a run and stored nowhere.

use serde_json::{Value, json};
use testkit::{Target, Tool};

use crate::workspace::{Workspace, never_says, says};

const CLUSTER: &str = "cluster = { kubeconfig = file(\"kubeconfig\") }";

async fn a_secret_is_copied_without_coming_into_state(tool: Tool) {
    let at = Workspace::new(tool).await;
    let ns = at.namespace.name();
    let source = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "source", "namespace": ns}, "stringData": {"password": "hunter2"}});
    at.cluster.act_as("vault").create(source).await.unwrap();
    let main = format!(
        r#"
ephemeral "k8sconnect_object" "source" {{
  {CLUSTER}
  api_version = "v1"
  kind        = "Secret"
  name        = "source"
  namespace   = "{ns}"
}}

resource "k8sconnect_object" "copy" {{
  {CLUSTER}
  yaml_body_wo_version = 1
  yaml_body_wo = yamlencode({{
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = {{ name = "copy", namespace = "{ns}" }}
    data       = ephemeral.k8sconnect_object.source.object.data
    stringData = {{
      json = jsondecode(ephemeral.k8sconnect_object.source.manifest).data.password
      yaml = yamldecode(ephemeral.k8sconnect_object.source.yaml_body).data.password
    }}
  }})
}}
"#
    );
    at.runner.write("main.tf", &main).unwrap();
    at.init().await;
    at.apply().await;
    at.plan_empty().await;
    let copy = at.cluster.read(&Target::new("v1", "Secret", ns, "copy")).await.unwrap().unwrap();
    assert_eq!(copy["data"]["password"], "aHVudGVyMg==");
    assert_eq!(copy["data"]["json"], copy["data"]["yaml"]);
    let state = at.runner.show().await.unwrap().to_string();
    for part in ["hunter2", "aHVudGVyMg"] {
        never_says(&state, part);
    }
    at.destroy().await;
}

#[tokio::test]
async fn terraform_copies_a_secret_that_never_comes_into_state() {
    a_secret_is_copied_without_coming_into_state(Tool::Terraform).await;
}

#[tokio::test]
async fn opentofu_copies_a_secret_that_never_comes_into_state() {
    a_secret_is_copied_without_coming_into_state(Tool::OpenTofu).await;
}

#[tokio::test]
async fn what_this_run_creates_is_opened_once_it_is_there() {
    let at = Workspace::new(Tool::Terraform).await;
    let ns = at.namespace.name();
    let main = format!(
        r#"
resource "k8sconnect_object" "source" {{
  {CLUSTER}
  yaml_body = <<-YAML
    apiVersion: v1
    kind: Secret
    metadata:
      name: source
      namespace: {ns}
    stringData:
      password: hunter2
  YAML
}}

ephemeral "k8sconnect_object" "source" {{
  {CLUSTER}
  api_version = "v1"
  kind        = "Secret"
  name        = "source"
  namespace   = "{ns}"
  uid         = k8sconnect_object.source.uid
}}

resource "k8sconnect_object" "copy" {{
  {CLUSTER}
  yaml_body_wo_version = k8sconnect_object.source.uid
  yaml_body_wo = yamlencode({{
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = {{ name = "copy", namespace = "{ns}" }}
    data       = ephemeral.k8sconnect_object.source.object.data
  }})
}}
"#
    );
    at.runner.write("main.tf", &main).unwrap();
    at.init().await;
    let plan = at.plan_changes().await;
    says(&plan.text, "2 to add");
    at.apply().await;
    at.plan_empty().await;
    let copy = at.cluster.read(&Target::new("v1", "Secret", ns, "copy")).await.unwrap().unwrap();
    assert_eq!(copy["data"]["password"], "aHVudGVyMg==");
    at.destroy().await;
}

/// What a token says of itself.
fn claims(token: &str) -> Value {
    use base64::Engine;
    let payload = token.split('.').nth(1).unwrap();
    let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(payload).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[tokio::test]
async fn a_token_of_a_service_account_is_granted_as_asked() {
    for tool in Tool::ALL {
        a_token_is_granted(tool).await;
    }
}

async fn a_token_is_granted(tool: Tool) {
    let at = Workspace::new(tool).await;
    let ns = at.namespace.name();
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "robot", "namespace": ns}});
    at.cluster.act_as("kubectl").create(account).await.unwrap();
    let main = format!(
        r#"
ephemeral "k8sconnect_token" "robot" {{
  {CLUSTER}
  service_account    = "robot"
  namespace          = "{ns}"
  audiences          = ["vault"]
  expiration_seconds = 1200
}}

resource "k8sconnect_object" "kept" {{
  {CLUSTER}
  yaml_body_wo_version = 1
  yaml_body_wo = yamlencode({{
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = {{ name = "kept", namespace = "{ns}" }}
    stringData = {{
      token = ephemeral.k8sconnect_token.robot.token
      until = ephemeral.k8sconnect_token.robot.expires_at
    }}
  }})
}}
"#
    );
    at.runner.write("main.tf", &main).unwrap();
    at.init().await;
    at.apply().await;
    at.plan_empty().await;
    let kept = at.cluster.read(&Target::new("v1", "Secret", ns, "kept")).await.unwrap().unwrap();
    let decode = |name: &str| {
        use base64::Engine;
        let text = kept["data"][name].as_str().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let token = decode("token");
    let state = at.runner.show().await.unwrap().to_string();
    never_says(&state, &token);
    let claims = claims(&token);
    assert_eq!(claims["aud"], json!(["vault"]));
    assert_eq!(claims["sub"], format!("system:serviceaccount:{ns}:robot"));
    let lasts = claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap();
    assert_eq!(lasts, 1200);
    assert!(decode("until").ends_with('Z'), "{}", decode("until"));
    at.destroy().await;
}

#[tokio::test]
async fn what_is_not_there_is_told_with_what_to_do() {
    let at = Workspace::new(Tool::Terraform).await;
    let ns = at.namespace.name();
    let write = |block: &str| {
        at.runner.write("main.tf", &block.replace("CLUSTER", CLUSTER).replace("NS", ns)).unwrap();
    };
    write(
        "ephemeral \"k8sconnect_object\" \"x\" {\n  CLUSTER\n  api_version = \"v1\"\n  \
         kind = \"Secret\"\n  name = \"nobody\"\n  namespace = \"NS\"\n}\n",
    );
    at.init().await;
    says(&at.plan_fails().await.text, "nobody` does not exist");
    write(
        "ephemeral \"k8sconnect_object\" \"x\" {\n  CLUSTER\n  api_version = \"v1\"\n  \
         kind = \"Sekret\"\n  name = \"nobody\"\n}\n",
    );
    says(&at.plan_fails().await.text, "The API server does not serve `Sekret` of `v1`");
    write(
        "ephemeral \"k8sconnect_token\" \"x\" {\n  CLUSTER\n  service_account = \"nobody\"\n  \
         namespace = \"NS\"\n}\n",
    );
    says(&at.plan_fails().await.text, "Nobody has a token of an account that is not there");
    write(
        "ephemeral \"k8sconnect_token\" \"x\" {\n  CLUSTER\n  service_account = \"nobody\"\n  \
         expiration_seconds = 60\nuid = \"\"\naudiences = [\"vault\", \"\", null]\n}\n",
    );
    let plan = at.plan_fails().await;
    says(&plan.text, "The token would be too short-lived");
    says(&plan.text, "`uid` is empty");
    assert_eq!(plan.text.matches("An audience is empty").count(), 2, "{}", plan.text);
}
