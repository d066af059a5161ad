# Living with a GitOps controller, or anybody else who writes to the same object.
#
# Terraform writes the settings that come from the infrastructure; the controller writes
# the rest. `force_conflicts = false` makes the plan fail instead of taking a field from
# the controller, and `manager=…` leaves to it whatever it holds.

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
  cluster         = { kubeconfig = file(pathexpand(var.kubeconfig_path)) }
  force_conflicts = false
  ignore_fields   = ["manager=kustomize-controller"]

  # The controller may have made the object already: take it over as it is.
  adopt = true

  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: shared-settings
      namespace: ${var.namespace}
    data:
      database.host: db.internal
      database.port: "5432"
  YAML
}
