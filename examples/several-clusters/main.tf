# One provider block, any number of clusters.
#
# The provider block says how each cluster is reached, and none of that is stored: credentials in it
# may change with every run, or be ephemeral. A resource says only the name of its cluster.

terraform {
  required_providers {
    k8sconnect = {
      source = "k8sconnect/k8sconnect"
    }
  }
}

variable "kubeconfig_path" {
  description = "The kubeconfig of the first cluster."
  type        = string
}

variable "other_kubeconfig_path" {
  description = "The kubeconfig of the second cluster."
  type        = string
}

variable "namespace" {
  description = "A namespace that exists in both."
  type        = string
  default     = "default"
}

provider "k8sconnect" {
  # For resources that name no cluster.
  cluster = { config_path = var.kubeconfig_path }

  clusters = {
    east = { config_path = var.kubeconfig_path }
    west = { config_path = var.other_kubeconfig_path }
  }
}

# The same object in every cluster. The names are written out: what a for_each goes by must be known
# at plan, and credentials often are not.
resource "k8sconnect_object" "banner" {
  for_each     = toset(["east", "west"])
  cluster_name = each.key

  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: banner
      namespace: ${var.namespace}
    data:
      region: ${each.key}
  YAML
}

# One that lives in the first cluster only and tells where the others are.
resource "k8sconnect_object" "directory" {
  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: directory
      namespace: ${var.namespace}
    data:
      regions: ${join(",", keys(k8sconnect_object.banner))}
  YAML
}
