# A floor under an autoscaler that somebody else's chart installs. Where two want the same field, the
# plan says who has it now; destroying the patch gives it back to that very manager.

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

resource "k8sconnect_patch" "floor" {
  cluster = local.cluster

  target = {
    api_version = "autoscaling/v2"
    kind        = "HorizontalPodAutoscaler"
    name        = "checkout"
    namespace   = var.namespace
  }

  patch = yamlencode({ spec = { minReplicas = 4 } })
}

# The replicas themselves, which the autoscaler writes through the `scale` subresource.
resource "k8sconnect_patch" "start" {
  cluster = local.cluster

  target = {
    api_version = "apps/v1"
    kind        = "Deployment"
    name        = "checkout"
    namespace   = var.namespace
  }

  merge_patch = jsonencode({ spec = { replicas = 4 } })
}
