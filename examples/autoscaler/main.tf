# A Deployment whose replicas belong to an autoscaler. `spec.replicas` is sent when the
# object is created; from then on it is neither shown, nor compared, nor reset.

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

resource "k8sconnect_object" "web" {
  cluster       = local.cluster
  ignore_fields = ["spec.replicas"]

  yaml_body = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: autoscaled
      namespace: ${var.namespace}
    spec:
      replicas: 2
      selector:
        matchLabels: { app: autoscaled }
      template:
        metadata:
          labels: { app: autoscaled }
        spec:
          containers:
            - name: web
              image: nginx:1.29
              resources:
                requests: { cpu: 100m }
  YAML
}

resource "k8sconnect_object" "autoscaler" {
  cluster = local.cluster

  yaml_body = <<-YAML
    apiVersion: autoscaling/v2
    kind: HorizontalPodAutoscaler
    metadata:
      name: autoscaled
      namespace: ${var.namespace}
    spec:
      scaleTargetRef:
        apiVersion: apps/v1
        kind: Deployment
        name: ${k8sconnect_object.web.object_ref.name}
      minReplicas: 2
      maxReplicas: 10
      metrics:
        - type: Resource
          resource:
            name: cpu
            target: { type: Utilization, averageUtilization: 80 }
  YAML
}
