# Operations one by one. Each is carried out once; from then on what it came to is kept up, and nothing
# is appended twice. A `test` that fails is a plan error that shows both values.

terraform {
  required_providers {
    k8sconnect = {
      source = "k8sconnect/k8sconnect"
    }
  }
}

variable "kubeconfig_path" {
  type = string
}

variable "namespace" {
  type    = string
  default = "default"
}

locals {
  cluster = { kubeconfig = file(pathexpand(var.kubeconfig_path)) }
}

resource "k8sconnect_patch" "spot" {
  cluster = local.cluster

  target = {
    api_version = "apps/v1"
    kind        = "Deployment"
    name        = "reports"
    namespace   = var.namespace
  }

  json_patch = jsonencode([
    { op = "test", path = "/spec/template/spec/containers/0/name", value = "reports" },
    { op = "replace", path = "/spec/template/spec/containers/0/env/0/value", value = "debug" },
    { op = "add", path = "/spec/template/spec/tolerations/-", value = { key = "spot", operator = "Exists" } },
  ])
}
