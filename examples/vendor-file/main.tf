# A vendor's file with many documents, each of which becomes an object of its own. The keys do
# not change when the vendor adds, removes or moves documents: only what changed is planned.

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
  documents = provider::k8sconnect::yaml_split(templatefile("${path.module}/vendor.yaml", {
    namespace = var.namespace
  }))
}

resource "k8sconnect_object" "vendor" {
  for_each = local.documents

  yaml_body = each.value
  cluster   = local.cluster
}

output "keys" {
  value = keys(local.documents)
}
