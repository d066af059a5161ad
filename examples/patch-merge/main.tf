# A merge patch can remove: `null` takes a field away, and a list replaces a list. What is removed
# stands as `(absent)` in the state, and comes back into the plan if somebody sets it again.

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

resource "k8sconnect_patch" "settings" {
  cluster = local.cluster

  target = {
    api_version = "v1"
    kind        = "ConfigMap"
    name        = "vendor-settings"
    namespace   = var.namespace
  }

  merge_patch = jsonencode({
    data = {
      telemetry  = "off"
      "beta.url" = null
    }
  })
}
