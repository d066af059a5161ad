# Objects that must not go by accident, and objects that must go in the end.

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

# An operator that is gone may leave its finalizer behind, and the object would never go.
# After the timeout the finalizer is removed, and the apply says which. What it was to
# clean up is then yours to look after.
resource "k8sconnect_object" "claimed" {
  cluster        = local.cluster
  delete_timeout = "30s"
  force_destroy  = true

  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: claimed
      namespace: ${var.namespace}
    data:
      owner: an operator
  YAML
}

# Set to true where losing the object would hurt: destroying or replacing it is then an
# error in the plan.
resource "k8sconnect_object" "precious" {
  cluster           = local.cluster
  delete_protection = false

  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: precious
      namespace: ${var.namespace}
    data:
      keep: "yes"
  YAML
}
