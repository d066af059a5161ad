# An overlay of kustomize, built by your own `kustomize`, or by `kubectl kustomize`.

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

data "k8sconnect_yaml_split" "prod" {
  kustomize_path = "${path.module}/overlays/prod"
}

resource "k8sconnect_object" "prod" {
  for_each = data.k8sconnect_yaml_split.prod.manifests

  yaml_body = each.value
  cluster   = { kubeconfig = file(pathexpand(var.kubeconfig_path)) }
}
