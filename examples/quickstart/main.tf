# Two objects in a cluster that is there already: a ConfigMap and the Deployment that
# reads it. `cargo xtask demo` runs this file against a real API server.
#
#   terraform init
#   terraform apply -var kubeconfig_path=~/.kube/config

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

locals {
  # Every object says which cluster it is in, so one configuration can serve several.
  cluster = {
    kubeconfig = file(pathexpand(var.kubeconfig_path))
  }
}

resource "k8sconnect_object" "settings" {
  cluster = local.cluster

  yaml_body = <<-YAML
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: quickstart
      namespace: ${var.namespace}
    data:
      greeting: hello
      app.conf: |
        workers = 2
        log = info
  YAML
}

resource "k8sconnect_object" "web" {
  cluster = local.cluster

  yaml_body = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: quickstart
      namespace: ${var.namespace}
    spec:
      replicas: 2
      selector:
        matchLabels:
          app: quickstart
      template:
        metadata:
          labels:
            app: quickstart
        spec:
          containers:
          - name: web
            image: nginx:1.29
            ports:
            - containerPort: 80
            resources:
              requests:
                cpu: 100m
                memory: 64Mi
            volumeMounts:
            - name: settings
              mountPath: /etc/quickstart
          volumes:
          - name: settings
            configMap:
              name: quickstart
  YAML

  depends_on = [k8sconnect_object.settings]
}

# In the plan, `managed_state_projection` holds the fields written above as the server
# holds them. What others add to the objects never shows up in a plan.
