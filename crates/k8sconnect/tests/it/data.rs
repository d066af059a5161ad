//! Data sources that ask the cluster: one object, and lists.

use http::{Method, StatusCode};
use k8sconnect_core::documents::lives_in;
use k8sconnect_core::identity::{Gvk, LivesIn};
use k8sconnect_core::yaml::parse_stream;
use serde_json::{Value as Json, json};
use testkit::proxy::{Fate, Proxy, Reply, Rule, Turn, Which};
use tfplugin::harness::Failure;
use tfplugin::{Data, Diagnostic, Value};
use tokio::task::JoinSet;

use crate::world::{World, besides_the_credential};

const OBJECT: &str = "k8sconnect_object";
const OBJECTS: &str = "k8sconnect_objects";

fn config(kubeconfig: &str, attributes: &[(&str, &str)]) -> Value {
    let cluster = Data::object([("kubeconfig", Value::from(kubeconfig))]);
    let given = attributes.iter().map(|(name, value)| (*name, Value::from(*value)));
    Value::Known(Data::object(given.chain([("cluster", Value::Known(cluster))])))
}

async fn read(world: &World, ty: &str, attributes: &[(&str, &str)]) -> Result<Value, Diagnostic> {
    let config = config(&world.cluster.kubeconfig(), attributes);
    match world.core().read_data(ty, &config).await {
        Ok((state, _)) => Ok(state),
        Err(Failure::Refused { diagnostics, .. }) => {
            let told = besides_the_credential(diagnostics);
            assert_eq!(told.len(), 1, "{told:?}");
            Err(told.into_iter().next().unwrap())
        }
        Err(broken) => panic!("{broken}"),
    }
}

/// The names of the objects in a list, in its order.
fn names(state: &Value) -> Vec<String> {
    let Some(Value::Known(Data::Dynamic(_, objects))) = state.attribute("objects") else {
        panic!("{state:?}")
    };
    let Value::Known(Data::Tuple(objects)) = objects.as_ref() else { panic!("{objects:?}") };
    let name = |object: &Value| object.attribute("metadata")?.attribute("name").cloned();
    let text = |name: Value| name.known().and_then(Data::as_str).map(ToOwned::to_owned);
    objects.iter().map(|object| name(object).and_then(text).unwrap()).collect()
}

fn config_map(world: &World, name: &str, tier: &str) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": name, "namespace": world.namespace.name(), "labels": {"tier": tier}}})
}

#[tokio::test]
async fn an_object_comes_with_the_shape_that_it_has_in_the_cluster() {
    let world = World::new().await;
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "mixed", "namespace": world.namespace.name(),
            "labels": {"app.kubernetes.io/name": "mixed"}},
        "spec": {"containers": [
            {"name": "a", "image": "x", "ports": [{"containerPort": 80}], "args": ["on"]},
            {"name": "b", "image": "y", "env": [{"name": "N", "value": "1"}]}]}});
    world.cluster.act_as("somebody").apply(pod).await.unwrap();
    let namespace = world.namespace.name();
    let asked =
        [("api_version", "v1"), ("kind", "Pod"), ("name", "mixed"), ("namespace", namespace)];
    let state = read(&world, OBJECT, &asked).await.unwrap();

    let manifest = state.attribute("manifest").unwrap().known().and_then(Data::as_str).unwrap();
    let manifest: Json = serde_json::from_str(manifest).unwrap();
    assert_eq!(manifest["metadata"].get("managedFields"), None);
    assert_eq!(manifest["spec"]["containers"][0]["ports"][0]["containerPort"], 80);
    let body = state.attribute("yaml_body").unwrap().known().and_then(Data::as_str).unwrap();
    assert!(body.starts_with("apiVersion: v1\nkind: Pod\nmetadata:\n"), "{body}");
    assert_eq!(parse_stream(body).unwrap()[0].value, manifest);

    let Some(Value::Known(Data::Dynamic(_, object))) = state.attribute("object") else {
        panic!("{state:?}")
    };
    let spec = object.attribute("spec").unwrap();
    let Some(Value::Known(Data::Tuple(containers))) = spec.attribute("containers") else {
        panic!("{spec:?}")
    };
    assert!(containers[0].attribute("ports").is_some() && containers[0].attribute("env").is_none());
    assert!(containers[1].attribute("ports").is_none() && containers[1].attribute("env").is_some());
    let labels = object.attribute("metadata").unwrap().attribute("labels").unwrap();
    assert_eq!(labels.attribute("app.kubernetes.io/name"), Some(&Value::from("mixed")));
}

#[tokio::test]
async fn what_cannot_be_read_is_told_with_a_way_out() {
    let world = World::new().await;
    let of = |kind: &'static str| [("api_version", "v1"), ("kind", kind), ("name", "none")];
    let missing = read(&world, OBJECT, &of("ConfigMap")).await.unwrap_err();
    assert_eq!(missing.summary, "ConfigMap `default/none` does not exist");
    assert!(missing.detail.contains("`depends_on`"), "{}", missing.detail);

    let missing = read(&world, OBJECT, &of("Namespace")).await.unwrap_err();
    assert_eq!(missing.summary, "Namespace `none` does not exist");

    for name in ["", "web/status"] {
        let asked = [("api_version", "v1"), ("kind", "Pod"), ("name", name)];
        let nameless = read(&world, OBJECT, &asked).await.unwrap_err();
        assert!(nameless.detail.contains("neither empty nor hold `/`"), "{}", nameless.detail);
        assert_eq!(nameless.path.unwrap().to_string(), "name");
    }

    let typo = read(&world, OBJECT, &of("Configmap")).await.unwrap_err();
    assert!(typo.detail.contains("Did you mean `ConfigMap`?"), "{}", typo.detail);
    assert_eq!(typo.path.unwrap().to_string(), "kind");

    let custom = [("api_version", "nowhere.example.com/v1"), ("kind", "Garden")];
    let custom = read(&world, OBJECTS, &custom).await.unwrap_err();
    assert!(custom.detail.contains("installs the definition"), "{}", custom.detail);

    let review = ("kind", "SubjectAccessReview");
    let review = [("api_version", "authorization.k8s.io/v1"), review, ("name", "none")];
    for (ty, asked) in [(OBJECT, &review[..]), (OBJECTS, &review[..2])] {
        let unreadable = read(&world, ty, asked).await.unwrap_err();
        assert!(unreadable.summary.contains("no object of its kind can"), "{unreadable:?}");
    }

    let stranger = world.cluster.kubeconfig_for("stranger", None).unwrap();
    let asked = config(&stranger, &of("ConfigMap"));
    let forbidden = world.core().read_data(OBJECT, &asked).await.unwrap_err().diagnostics();
    let forbidden = forbidden.iter().next().unwrap();
    assert_eq!(forbidden.summary, "ConfigMap `none` may not be read");
    assert!(forbidden.detail.contains("stranger"), "{}", forbidden.detail);
}

#[tokio::test]
async fn a_list_holds_what_the_selectors_choose_sorted() {
    let world = World::new().await;
    let rival = world.cluster.act_as("somebody");
    for (name, tier) in [("c", "back"), ("a", "front"), ("b", "front")] {
        rival.apply(config_map(&world, name, tier)).await.unwrap();
    }
    let namespace = world.namespace.name();
    let kind = [("api_version", "v1"), ("kind", "ConfigMap")];
    let list = async |more: &[(&'static str, &str)]| {
        let asked: Vec<_> = kind.iter().chain(more).copied().collect();
        read(&world, OBJECTS, &asked).await
    };
    let here = ("namespace", namespace);
    assert_eq!(names(&list(&[here, ("label_selector", "tier")]).await.unwrap()), ["a", "b", "c"]);
    let front = list(&[here, ("label_selector", "tier=front")]).await.unwrap();
    assert_eq!(names(&front), ["a", "b"]);
    let both = [here, ("label_selector", "tier=front"), ("field_selector", "metadata.name!=a")];
    assert_eq!(names(&list(&both).await.unwrap()), ["b"]);
    let everywhere = format!("metadata.namespace={namespace},metadata.name=c");
    assert_eq!(names(&list(&[("field_selector", &everywhere)]).await.unwrap()), ["c"]);
    assert_eq!(names(&list(&[here, ("label_selector", "tier=none")]).await.unwrap()), [""; 0]);

    let nodes = [("api_version", "v1"), ("kind", "Node"), here];
    let nodes = config(&world.cluster.kubeconfig(), &nodes);
    let (_, told) = world.core().read_data(OBJECTS, &nodes).await.unwrap();
    let told = besides_the_credential(told).into_iter().next().unwrap();
    assert_eq!(told.summary, "`Node` lives in no namespace");
    assert_eq!(told.path.as_ref().unwrap().to_string(), "namespace");

    let wrong = list(&[here, ("label_selector", "a b")]).await.unwrap_err();
    assert_eq!(wrong.path.unwrap().to_string(), "label_selector");
    let wrong = list(&[here, ("field_selector", "data.x=1")]).await.unwrap_err();
    assert_eq!(wrong.path.unwrap().to_string(), "field_selector");
    assert!(wrong.detail.contains("data.x"), "{}", wrong.detail);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_list_comes_whole_in_pages_and_after_an_expired_page() {
    let world = World::new().await;
    let expected: Vec<_> = (0..503).map(|n| format!("n{n:03}")).collect();
    let mut made = JoinSet::new();
    for name in &expected {
        let (cluster, object) = (world.cluster, config_map(&world, name, "many"));
        made.spawn(async move { cluster.act_as("somebody").apply(object).await.unwrap() });
    }
    made.join_all().await;
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let namespace = world.namespace.name();
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let asked = config(
        &proxy.kubeconfig(),
        &[
            ("api_version", "v1"),
            ("kind", "ConfigMap"),
            ("namespace", namespace),
            ("label_selector", "tier=many"),
        ],
    );
    let (state, _) = world.core().read_data(OBJECTS, &asked).await.unwrap();
    assert_eq!(names(&state), expected);
    assert_eq!(proxy.requests_since(0, &path).len(), 2);

    let seen = proxy.requests().len();
    let expired = Reply::refusal(StatusCode::GONE, "Expired", "The continue token is too old");
    proxy.rule(Rule::new(
        Which::at(&path).method(Method::GET),
        Turn::Nth(2),
        Fate::Answer(expired),
    ));
    let (state, _) = world.core().read_data(OBJECTS, &asked).await.unwrap();
    assert_eq!(names(&state), expected);
    assert_eq!(proxy.requests_since(seen, &path).len(), 3);
}

#[tokio::test]
async fn where_kubernetes_own_kinds_live_is_known_by_heart() {
    let world = World::new().await;
    let get = async |path: &str| {
        let answer =
            world.cluster.request(Method::GET, path, "application/json", None).await.unwrap();
        answer.accepted().unwrap()
    };
    let mut versions = vec![("/api/v1".to_owned(), "v1".to_owned())];
    for group in get("/apis").await["groups"].as_array().unwrap() {
        for version in group["versions"].as_array().unwrap() {
            let version = version["groupVersion"].as_str().unwrap().to_owned();
            // A custom group is not ours to know, and its test may take it away while we ask.
            if !Gvk::new(&version, "").may_still_appear() {
                versions.push((format!("/apis/{version}"), version));
            }
        }
    }
    let (mut checked, mut wrong) = (0, Vec::new());
    for (path, version) in versions {
        for resource in get(&path).await["resources"].as_array().unwrap() {
            let gvk = Gvk::new(&version, resource["kind"].as_str().unwrap());
            // A subresource may be of another kind.
            if resource["name"].as_str().unwrap().contains('/') {
                continue;
            }
            let served =
                if resource["namespaced"] == true { LivesIn::Namespace } else { LivesIn::Cluster };
            checked += 1;
            if lives_in(&gvk) != Some(served) {
                wrong.push(format!("{gvk}: {served:?}"));
            }
        }
    }
    assert!(checked > 50, "only {checked} kinds were checked");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn a_namespace_that_none_can_be_is_refused_before_anything_is_listed() {
    let world = World::new().await;
    for namespace in ["..", "a/b"] {
        let asked = [("api_version", "v1"), ("kind", "ConfigMap"), ("namespace", namespace)];
        let refused = read(&world, OBJECTS, &asked).await.unwrap_err();
        let summary = format!("No namespace can be meant by `namespace = {namespace:?}`");
        assert_eq!(refused.summary, summary);
    }
}
