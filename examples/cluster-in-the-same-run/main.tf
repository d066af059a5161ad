# An object in a cluster that does not exist when the plan is made. Anything in `cluster`
# may be unknown then: the plan goes on, and the apply asks once the cluster is there.

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

# Stands for whatever makes the cluster (an EKS, GKE or AKS resource, a module): its
# output is known only after apply.
resource "terraform_data" "cluster" {
  input = file(pathexpand(var.kubeconfig_path))
}

resource "k8sconnect_object" "welcome" {
  cluster = { kubeconfig = terraform_data.cluster.output }

  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: welcome
      namespace: ${var.namespace}
    data:
      message: made right after the cluster
  YAML
}
