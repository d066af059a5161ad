# A service account that may write ConfigMaps in one namespace, and a second provider block that acts
# as it, by a token that is asked for in each run and stored nowhere. Needs Terraform 1.10 or OpenTofu
# 1.11.
#
#   terraform init
#   terraform apply -var kubeconfig_path=~/.kube/config

terraform {
  required_providers {
    k8sconnect = {
      source = "k8sconnect/k8sconnect"
    }
  }
}

variable "kubeconfig_path" {
  type        = string
  description = "The kubeconfig of the cluster to write to; its current context is used."
}

variable "namespace" {
  type        = string
  default     = "default"
  description = "A namespace that exists."
}

locals {
  kubeconfig = file(pathexpand(var.kubeconfig_path))
  api_server = yamldecode(local.kubeconfig).clusters[0].cluster
}

provider "k8sconnect" {
  cluster = { kubeconfig = local.kubeconfig }
}

# The same cluster, as somebody else.
provider "k8sconnect" {
  alias = "robot"

  cluster = {
    host                   = local.api_server.server
    cluster_ca_certificate = local.api_server["certificate-authority-data"]
    token                  = ephemeral.k8sconnect_token.robot.token
  }
}

resource "k8sconnect_object" "robot" {
  yaml_body = <<-YAML
    apiVersion: v1
    kind: ServiceAccount
    metadata:
      name: robot
      namespace: ${var.namespace}
  YAML
}

resource "k8sconnect_object" "role" {
  yaml_body = <<-YAML
    apiVersion: rbac.authorization.k8s.io/v1
    kind: Role
    metadata:
      name: robot
      namespace: ${var.namespace}
    rules:
      - apiGroups: [""]
        resources: ["configmaps"]
        verbs: ["get", "list", "watch", "create", "patch", "delete"]
  YAML
}

resource "k8sconnect_object" "binding" {
  yaml_body = <<-YAML
    apiVersion: rbac.authorization.k8s.io/v1
    kind: RoleBinding
    metadata:
      name: robot
      namespace: ${var.namespace}
    roleRef:
      apiGroup: rbac.authorization.k8s.io
      kind: Role
      name: robot
    subjects:
      - kind: ServiceAccount
        name: robot
        namespace: ${var.namespace}
  YAML

  depends_on = [k8sconnect_object.robot, k8sconnect_object.role]
}

ephemeral "k8sconnect_token" "robot" {
  service_account = k8sconnect_object.robot.object_ref.name
  namespace       = k8sconnect_object.robot.object_ref.namespace
  # Unknown until the account is there, so that the first run waits for it.
  uid = k8sconnect_object.robot.uid
}

resource "k8sconnect_object" "written_by_robot" {
  provider = k8sconnect.robot

  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: written-by-robot
      namespace: ${var.namespace}
    data:
      greeting: hello
  YAML

  depends_on = [k8sconnect_object.binding]
}
