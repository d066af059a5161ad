# Proxy settings on a DaemonSet that the cloud owns. The patch holds two variables and nothing else;
# the cloud goes on managing the rest. Destroying it leaves the values and takes the patch's name off
# the object.

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

resource "k8sconnect_patch" "proxy" {
  cluster = local.cluster

  target = {
    api_version = "apps/v1"
    kind        = "DaemonSet"
    name        = "aws-node"
    namespace   = var.namespace
  }

  # Containers and variables are merged by their names.
  patch = yamlencode({
    spec = {
      template = {
        spec = {
          containers = [{
            name = "aws-node"
            env = [
              { name = "HTTPS_PROXY", value = "http://proxy.internal:3128" },
              { name = "NO_PROXY", value = "10.0.0.0/8,.svc" },
            ]
          }]
        }
      }
    }
  })
}
