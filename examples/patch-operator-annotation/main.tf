# An annotation and a label on an object that an operator makes and keeps up. What the operator writes
# into it never shows in a plan.

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

resource "k8sconnect_patch" "monitored" {
  cluster = local.cluster

  target = {
    api_version = "v1"
    kind        = "Service"
    name        = "orders-db"
    namespace   = var.namespace
  }

  patch = <<-YAML
    metadata:
      labels:
        monitored: "true"
      annotations:
        example.com/scrape.port: "9187"
  YAML
}

# Who held each field before, and gets it back.
output "previous_owners" {
  value = k8sconnect_patch.monitored.previous_owners
}
