//! A configuration with a secret wherever one can stand, and the ways in which it is broken.

/// Each is looked for plain and in base64.
pub(super) const DATA: &str = "dat4-s3cret-one";
pub(super) const STRING_DATA: &str = "str1ng-s3cret-two";
pub(super) const LISTED: &str = "l1sted-s3cret-three";
pub(super) const VARIABLE: &str = "env-v4lue-s3cret-four";
pub(super) const WRITE_ONLY: &str = "wr1te-0nly-s3cret-five";
pub(super) const DRIFTED: &str = "dr1fted-s3cret-six";
pub(super) const IMPORTED: &str = "imp0rted-s3cret-seven";
pub(super) const LATER: &str = "l4ter-s3cret-eight";
pub(super) const PATCHED: &str = "p4tched-s3cret-nine";
pub(super) const PRINTED: &str = "pr1nted-s3cret-ten";
pub(super) const PASSWORD: &str = "p4ssw0rd-s3cret-eleven";
pub(super) const READ: &str = "r3ad-s3cret-twelve";

pub(super) const MAIN: &str = r#"
variable "listed" {
  type      = string
  sensitive = true
}
variable "env" {
  type      = string
  sensitive = true
}
variable "string_data" {
  type      = string
  sensitive = true
}
variable "data" {
  type      = string
  sensitive = true
}
variable "patched" {
  type      = string
  sensitive = true
}
variable "write_only" {
  type      = string
  ephemeral = true
}

provider "k8sconnect" {
  cluster = { kubeconfig = file("kubeconfig") }
}

resource "k8sconnect_object" "secret" {
  yaml_body = sensitive(<<-YAML
    apiVersion: v1
    kind: Secret
    metadata:
      name: keys
      namespace: NS
      annotations:
        kubectl.kubernetes.io/last-applied-configuration: '{"data": "${var.data}"}'
    data:
      one: ${base64encode(var.data)}
    stringData:
      two: BAD_STRING_DATA
  YAML
  )
}

locals {
  way = yamldecode(file("kubeconfig"))
}

resource "k8sconnect_object" "settings" {
  cluster = {
    host                   = local.way.clusters[0].cluster.server
    cluster_ca_certificate = local.way.clusters[0].cluster["certificate-authority-data"]
    token                  = TOKEN_OF_SETTINGS
  }
  sensitive_fields = ["data.password"]
  yaml_body = sensitive(<<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: settings
      namespace: NS
    data:
      password: BAD_LISTED
  YAML
  )
}

resource "k8sconnect_object" "task" {
  cluster = {
    host                   = local.way.clusters[0].cluster.server
    cluster_ca_certificate = local.way.clusters[0].cluster["certificate-authority-data"]
    exec = {
      api_version = "client.authentication.k8s.io/v1"
      command     = "sh"
      args        = ["PLUGIN"]
      env         = { TOKEN = local.way.users[0].user.token }
    }
  }
  sensitive_fields = ["spec.template.spec.containers[*].env[name=TOKEN].value", "spec.template.spec.containers[*].args"]
  delete_propagation = "foreground"
  yaml_body = sensitive(<<-YAML
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: task
      namespace: NS
    spec:
      suspend: true
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: main
            image: BAD_IMAGE
            args: ["--token=${var.env}"]
            env:
            - name: TOKEN
              value: ${var.env}
  YAML
  )
}

resource "k8sconnect_object" "certified" {
  cluster   = CERTIFIED
  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: certified
      namespace: NS
  YAML
}

resource "k8sconnect_patch" "patched" {
  target = { api_version = "v1", kind = "Secret", name = "theirs", namespace = "NS" }
  patch  = sensitive(yamlencode({ data = { nine = BAD_PATCHED } }))
}

data "k8sconnect_object" "read" {
  api_version = "v1"
  kind        = "Secret"
  name        = "read"
  namespace   = "NS"
}

resource "k8sconnect_wait" "read" {
  object_ref = { api_version = "v1", kind = "Secret", name = "read", namespace = "NS" }
  wait_for   = { field = "data.twelve" }
}

resource "k8sconnect_object" "hidden" {
  yaml_body_wo_version = 1
  yaml_body_wo = <<-YAML
    apiVersion: v1
    kind: Secret
    metadata:
      name: hidden
      namespace: NS
    stringData:
      five: BAD_WRITE_ONLY
  YAML
}
"#;

/// What stands where the configuration may be broken.
pub(super) struct Configuration {
    pub(super) string_data: &'static str,
    pub(super) listed: &'static str,
    pub(super) image: &'static str,
    pub(super) token: &'static str,
    pub(super) write_only: &'static str,
    pub(super) patched: &'static str,
    pub(super) plugin: &'static str,
    pub(super) certified: &'static str,
}

pub(super) const GOOD: Configuration = Configuration {
    string_data: "${var.string_data}",
    listed: "${var.listed}",
    image: "nginx:1.29",
    token: "local.way.users[0].user.token",
    write_only: "${var.write_only}",
    patched: "base64encode(var.patched)",
    plugin: "plugin.sh",
    certified: "{
    host                   = local.way.clusters[0].cluster.server
    cluster_ca_certificate = local.way.clusters[0].cluster[\"certificate-authority-data\"]
    client_certificate     = file(\"certificate.pem\")
    client_key             = file(\"key.pem\")
  }",
};

/// Prints the token that it is given, or complains of one in words of its own.
pub(super) const PLUGIN: &str = "printf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\
    \"ExecCredential\",\"status\":{\"token\":\"%s\"}}' \"$TOKEN\"";
