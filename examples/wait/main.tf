# A migration runs to its end, then the application rolls out, and what the cluster gave it is
# used elsewhere. If a wait fails, the objects stay as they are, and the next apply waits again.

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

resource "k8sconnect_object" "migration" {
  cluster = local.cluster

  yaml_body = <<-YAML
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: migrate
      namespace: ${var.namespace}
    spec:
      backoffLimit: 1
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: migrate
              image: busybox:1.37
              command: ["true"]
  YAML
}

# A Job has rolled out when it is complete. A failed one ends the wait at once. A Job that changes is
# replaced: the new one is told by its uid.
resource "k8sconnect_wait" "migration" {
  cluster    = local.cluster
  object_ref = k8sconnect_object.migration.object_ref
  wait_for   = { rollout = true, timeout = "5m" }
  triggers   = { uid = k8sconnect_object.migration.uid }
}

resource "k8sconnect_object" "web" {
  cluster    = local.cluster
  depends_on = [k8sconnect_wait.migration]

  yaml_body = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: waited-for
      namespace: ${var.namespace}
    spec:
      replicas: 2
      selector:
        matchLabels: { app: waited-for }
      template:
        metadata:
          labels: { app: waited-for }
        spec:
          containers:
            - name: web
              image: nginx:1.29
  YAML
}

# Waits again, in place, whenever the Deployment changes.
resource "k8sconnect_wait" "web" {
  cluster    = local.cluster
  object_ref = k8sconnect_object.web.object_ref
  wait_for   = { rollout = true }
  triggers   = k8sconnect_object.web.managed_state_projection
}

resource "k8sconnect_object" "service" {
  cluster    = local.cluster
  depends_on = [k8sconnect_wait.web]

  yaml_body = <<-YAML
    apiVersion: v1
    kind: Service
    metadata:
      name: waited-for
      namespace: ${var.namespace}
    spec:
      selector: { app: waited-for }
      ports:
        - port: 80
  YAML
}

resource "k8sconnect_wait" "address" {
  cluster    = local.cluster
  object_ref = k8sconnect_object.service.object_ref
  wait_for   = { field = "spec.clusterIP" }
}

output "address" {
  value = k8sconnect_wait.address.result.spec.clusterIP
}
