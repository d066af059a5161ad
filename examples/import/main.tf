# An object that was there before Terraform: import it, or adopt it.
#
# Import puts the object into state first and shows what its takeover comes to, before
# anything is written. The connection comes from KUBECONFIG; only its path and the name of
# the context are kept:
#
#   export KUBECONFIG=~/.kube/config
#   terraform import k8sconnect_object.settings default/configmap/imported-settings
#   terraform plan     # in place: takes the fields over, changes no value
#   terraform apply
#
# To have the configuration written for you, remove the resource below, write
#
#   import {
#     to = k8sconnect_object.settings
#     id = "default/configmap/imported-settings"
#   }
#
# and run `terraform plan -generate-config-out=generated.tf`.
#
# Adoption needs no step of its own: `adopt = true` takes over what is there at the first
# apply, and creates what is not. This is what happens here if you do not import.

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

resource "k8sconnect_object" "settings" {
  cluster = { config_path = var.kubeconfig_path }
  adopt   = true

  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: imported-settings
      namespace: ${var.namespace}
    data:
      greeting: hello
  YAML
}
