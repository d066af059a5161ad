# A custom resource and its definition in one apply. The plan cannot ask the server about a
# kind that is not served yet, so it says so and goes on; the apply waits for the definition.

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

resource "k8sconnect_object" "definition" {
  cluster = local.cluster

  yaml_body = <<-YAML
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata:
      name: backups.examples.k8sconnect.dev
    spec:
      group: examples.k8sconnect.dev
      names:
        kind: Backup
        plural: backups
      scope: Namespaced
      versions:
        - name: v1
          served: true
          storage: true
          schema:
            openAPIV3Schema:
              type: object
              properties:
                spec:
                  type: object
                  properties:
                    schedule: { type: string }
                    keep: { type: integer, default: 7 }
  YAML
}

resource "k8sconnect_object" "nightly" {
  cluster = local.cluster

  # Not needed for it to work, but right: with many resources those that wait for the
  # definition could keep it from its turn.
  depends_on = [k8sconnect_object.definition]

  yaml_body = <<-YAML
    apiVersion: examples.k8sconnect.dev/v1
    kind: Backup
    metadata:
      name: nightly
      namespace: ${var.namespace}
    spec:
      schedule: "0 3 * * *"
  YAML
}
