# A Secret whose values come neither into a plan nor into state, and a Deployment that reads it.
# Needs Terraform or OpenTofu 1.11.
#
#   terraform init
#   terraform apply -var kubeconfig_path=~/.kube/config -var password=…

terraform {
  required_providers {
    k8sconnect = {
      source = "k8sconnect/k8sconnect"
    }
  }
}

variable "kubeconfig_path" {
  type        = string
  description = "The kubeconfig of the cluster to write to; its current context is used."
}

variable "namespace" {
  type        = string
  default     = "default"
  description = "A namespace that exists."
}

variable "password" {
  type        = string
  ephemeral   = true
  default     = "only-for-trying-this-out"
  description = "The password of the database. Ephemeral: Terraform forgets it after each run."
}

variable "password_version" {
  type        = string
  default     = "1"
  description = "Change it whenever the password is another one."
}

provider "k8sconnect" {
  # Nothing of this comes into state.
  cluster = {
    kubeconfig = file(pathexpand(var.kubeconfig_path))
  }
}

resource "k8sconnect_object" "database" {
  yaml_body_wo_version = var.password_version
  yaml_body_wo         = <<-YAML
    apiVersion: v1
    kind: Secret
    metadata:
      name: database
      namespace: ${var.namespace}
    stringData:
      password: ${jsonencode(var.password)}
  YAML
}

resource "k8sconnect_object" "web" {
  yaml_body = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: ${var.namespace}
    spec:
      selector:
        matchLabels: { app: web }
      template:
        metadata:
          labels: { app: web }
          annotations:
            # The pods start anew with another password.
            example.com/password-version: ${jsonencode(var.password_version)}
        spec:
          containers:
            - name: web
              image: nginx:1.29
              env:
                - name: DATABASE_PASSWORD
                  valueFrom:
                    secretKeyRef: { name: database, key: password }
  YAML

  depends_on = [k8sconnect_object.database]
}
