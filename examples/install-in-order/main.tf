# An operator in one file: a definition, what lives in no namespace, and the rest. Each group is
# made once the one before is there, and destroyed before it goes.

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

locals {
  cluster = { kubeconfig = file(pathexpand(var.kubeconfig_path)) }
}

data "k8sconnect_yaml_scoped" "operator" {
  content = file("${path.module}/operator.yaml")
}

resource "k8sconnect_object" "crds" {
  for_each = data.k8sconnect_yaml_scoped.operator.crds

  yaml_body = each.value
  cluster   = local.cluster
}

resource "k8sconnect_object" "cluster_scoped" {
  for_each = data.k8sconnect_yaml_scoped.operator.cluster_scoped

  yaml_body  = each.value
  cluster    = local.cluster
  depends_on = [k8sconnect_object.crds]
}

resource "k8sconnect_object" "namespaced" {
  for_each = data.k8sconnect_yaml_scoped.operator.namespaced

  yaml_body  = each.value
  cluster    = local.cluster
  depends_on = [k8sconnect_object.cluster_scoped]
}
