# What is in the cluster already, read: one object by its name, and a list by its labels.

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

# The Service of the API server itself is in every cluster.
data "k8sconnect_object" "api" {
  api_version = "v1"
  kind        = "Service"
  name        = "kubernetes"
  namespace   = "default"
  cluster     = local.cluster
}

resource "k8sconnect_object" "address" {
  cluster = local.cluster

  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: api-address
      namespace: ${var.namespace}
      labels: { example: read-objects }
    data:
      address: "${data.k8sconnect_object.api.object.spec.clusterIP}"
      port: "${data.k8sconnect_object.api.object.spec.ports[0].port}"
  YAML
}

# Made in the same run, so it is read while applying.
data "k8sconnect_objects" "addresses" {
  api_version    = "v1"
  kind           = "ConfigMap"
  namespace      = var.namespace
  label_selector = "example=read-objects"
  cluster        = local.cluster
  depends_on     = [k8sconnect_object.address]
}

output "addresses" {
  value = { for it in data.k8sconnect_objects.addresses.objects : it.metadata.name => it.data.address }
}
