# Renaming in the configuration without touching the cluster. The object was once managed
# as `k8sconnect_object.old`; the `moved` block tells Terraform that it is the same one.
# Without it, Terraform would destroy the object and make it again.

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

moved {
  from = k8sconnect_object.old
  to   = k8sconnect_object.settings["main"]
}

resource "k8sconnect_object" "settings" {
  for_each = toset(["main"])
  cluster  = { kubeconfig = file(pathexpand(var.kubeconfig_path)) }

  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: settings-${each.key}
      namespace: ${var.namespace}
    data:
      greeting: hello
  YAML
}
