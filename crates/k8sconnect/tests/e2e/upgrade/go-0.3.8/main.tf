terraform {
  required_providers { k8sconnect = { source = "k8sconnect/k8sconnect" } }
}
locals {
  cluster = { kubeconfig = file("@KUBECONFIG_PATH@") }
}
resource "k8sconnect_object" "ns" {
  yaml_body = "apiVersion: v1\nkind: Namespace\nmetadata: {name: @NAMESPACE@}\n"
  cluster = local.cluster
}
resource "k8sconnect_object" "cm" {
  yaml_body = <<-Y
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: cm, namespace: @NAMESPACE@}
    data: {a: "1", app.conf: "x=1"}
  Y
  cluster = local.cluster
  depends_on = [k8sconnect_object.ns]
}
resource "k8sconnect_object" "web" {
  yaml_body = <<-Y
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: @NAMESPACE@}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - {name: web, image: "nginx:1", resources: {limits: {cpu: 1000m}}}
  Y
  ignore_fields = ["spec.replicas"]
  cluster = local.cluster
  depends_on = [k8sconnect_object.ns]
}
resource "k8sconnect_object" "sec" {
  yaml_body = "apiVersion: v1\nkind: Secret\nmetadata: {name: sec, namespace: @NAMESPACE@}\nstringData: {p: hunter22}\n"
  cluster = local.cluster
  depends_on = [k8sconnect_object.ns]
}
resource "k8sconnect_patch" "p" {
  target = { api_version = "v1", kind = "ConfigMap", name = "foreign", namespace = "@FOREIGN@" }
  patch = "data:\n  patched: \"yes\"\n"
  cluster = local.cluster
}
resource "k8sconnect_patch" "j" {
  target = { api_version = "v1", kind = "ConfigMap", name = "foreign2", namespace = "@FOREIGN@" }
  json_patch = jsonencode([{op="add", path="/data/j", value="1"}])
  cluster = local.cluster
}
resource "k8sconnect_wait" "w" {
  object_ref = k8sconnect_object.cm.object_ref
  wait_for = { field = "data.a" }
  cluster = local.cluster
}
