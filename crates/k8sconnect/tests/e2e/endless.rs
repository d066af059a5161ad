//! Servers that send without an end cost the provider's process no more than its bounds.

use http::{Method, StatusCode};
use serde_json::json;
use testkit::proxy::{Fate, Flood, Inventor, Proxy, Reply, Rule, Turn, Which};
use testkit::terraform::provider_binary;
use testkit::{Mirrored, Runner, Tool, Warded};

use crate::workspace::{Workspace, says};

/// In bytes, of the whole process.
const MOST: u64 = 200_000_000;

const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    k8sconnect = { source = "k8sconnect/k8sconnect" }
  }
}

variable "kubeconfig" { type = string }
variable "namespace" { type = string }

provider "k8sconnect" {
  cluster = { kubeconfig = var.kubeconfig }
}
"#;

/// As many as Terraform reads at a time.
const TEN_OBJECTS: &str = r#"
data "k8sconnect_object" "large" {
  count       = 10
  api_version = "v1"
  kind        = "ConfigMap"
  name        = "large-${count.index}"
  namespace   = var.namespace
}
"#;

const LIST: &str = r#"
data "k8sconnect_objects" "all" {
  api_version = "v1"
  kind        = "ConfigMap"
  namespace   = var.namespace
}
"#;

const WAIT: &str = r#"
resource "k8sconnect_wait" "it" {
  object_ref = { api_version = "v1", kind = "ConfigMap", name = "kube-root-ca.crt", namespace = var.namespace }
  wait_for   = { field = "data.never", timeout = "1m" }
}
"#;

struct Scene {
    at: Workspace,
    proxy: Proxy,
    warded: Warded,
    runner: Runner,
    _folder: tempfile::TempDir,
}

impl Scene {
    async fn new(configuration: &str) -> Self {
        let at = Workspace::new(Tool::Terraform).await;
        let proxy = Proxy::before(at.cluster).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let warded = Warded::new(folder.path(), &provider_binary().await.unwrap()).await.unwrap();
        let ours = [Mirrored::ours(warded.program())];
        let mut runner = Runner::with_mirrored(Tool::Terraform, &ours).await.unwrap();
        runner.variable("kubeconfig", &proxy.kubeconfig());
        runner.variable("namespace", at.namespace.name());
        runner.write("main.tf", &format!("{CONFIGURATION}{configuration}")).unwrap();
        runner.init().await.unwrap().successful().unwrap();
        Self { at, proxy, warded, runner, _folder: folder }
    }

    fn config_maps(&self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.at.namespace.name())
    }

    /// Applies, which fails with these words and within the memory that it may cost.
    async fn fails(&self, which: Which, fate: Fate, words: &str) {
        self.proxy.rule(Rule::new(which, Turn::Every, fate));
        let run = self.runner.apply().await.unwrap();
        assert!(!run.succeeded(), "{}", run.text);
        says(&run.text, words);
        let peak = self.warded.take().unwrap().peak;
        assert!(peak < MOST, "it held {} MB", peak / 1_000_000);
    }
}

#[tokio::test]
async fn ten_answers_of_a_gigabyte_at_once_are_not_held() {
    let scene = Scene::new(TEN_OBJECTS).await;
    let beginning = r#"{"apiVersion":"v1","kind":"ConfigMap","data":{"a":""#;
    let gigabyte = Flood::endless(beginning, &"x".repeat(1 << 16)).times(1 << 14);
    let objects = Which::under(&scene.config_maps()).method(Method::GET);
    scene.fails(objects, Fate::Flood(gigabyte), "sent an answer of more than 8 MiB").await;
}

/// Seven bytes of text each, and six hundred of memory.
#[tokio::test]
async fn ten_answers_of_a_million_maps_at_once_are_not_held() {
    let scene = Scene::new(TEN_OBJECTS).await;
    let beginning = r#"{"apiVersion":"v1","kind":"ConfigMap","data":["#;
    let maps = Flood::endless(beginning, &r#"{"":0},"#.repeat(1000)).times(1000);
    let objects = Which::under(&scene.config_maps()).method(Method::GET);
    scene.fails(objects, Fate::Flood(maps), "or with too many values").await;
}

#[tokio::test]
async fn a_list_without_an_end_is_not_held() {
    let scene = Scene::new(LIST).await;
    // Of little text and many values, as large objects are.
    let data: serde_json::Map<_, _> = (0..20_000).map(|n| (n.to_string(), json!("a"))).collect();
    let items = vec![json!({ "metadata": { "name": "a" }, "data": data }); 40];
    let endless = Inventor::new(move |request| {
        let token = format!("t{}", request.sequence);
        let metadata = json!({ "resourceVersion": "1", "continue": token });
        Reply::json(StatusCode::OK, &json!({ "items": items, "metadata": metadata }))
    });
    let lists = Which::at(&scene.config_maps()).method(Method::GET);
    scene.fails(lists, Fate::Invent(endless), "sent a list of more than 64 MiB").await;
}

#[tokio::test]
async fn a_watch_event_without_an_end_is_not_held() {
    let scene = Scene::new(WAIT).await;
    let line = Flood::endless(r#"{"type":"MODIFIED","object":{"a":""#, &"x".repeat(1 << 14));
    let watches = Which::any().watches();
    scene.fails(watches, Fate::Flood(line), "sent a watch event of more than 8 MiB").await;
}
