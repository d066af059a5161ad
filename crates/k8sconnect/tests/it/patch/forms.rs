//! What each form does to each sort of field, and that it settles.

use serde_json::{Value as Json, json};
use testkit::{Filter, Target, kept};
use tfplugin::harness::Action;

use super::{PATCH, Ward, id, leaves, map, object, owners, refused, said};
use crate::world::World;

const EVERYTHING: &str = "
# Comments, key order and spelling are the author's own.
metadata:
  annotations: {'example.com/a.b': \"1\"}
spec:
  template:
    spec:
      tolerations: [{key: spot, operator: Exists}]
      volumes:
      - {name: extra, configMap: {name: some}}
      containers:
      - name: app
        env:
        - {name: HTTP_PROXY, value: 'http://proxy:3128'}
        ports: [{containerPort: 9090, name: metrics}]
        resources: {limits: {cpu: 1000m, memory: 1024Mi}}
";

#[tokio::test]
async fn a_partial_object_reaches_lists_by_key_and_settles_in_the_servers_spelling() {
    let ward = Ward::deployment().await;
    let before = owners(&ward.live().await);
    let plan = ward.core().plan(PATCH, &ward.config("patch", EVERYTHING), None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("1 item of `spec.template.spec.tolerations` will go"), "{told}");
    assert!(told.contains(r#"{"key":"gpu","operator":"Exists"}"#), "{told}");
    let state = ward.create("patch", EVERYTHING).await;
    let container = "spec.template.spec.containers[name=app]";
    let expected = [
        (r#"metadata.annotations["example.com/a.b"]"#.to_owned(), r#""1""#),
        (format!("{container}.env[name=HTTP_PROXY].value"), "http://proxy:3128"),
        (format!("{container}.ports[containerPort=9090,protocol=TCP].name"), "metrics"),
        (format!("{container}.resources.limits.cpu"), r#""1""#),
        (format!("{container}.resources.limits.memory"), "1Gi"),
        ("spec.template.spec.tolerations".to_owned(), r#"[{"key":"spot","operator":"Exists"}]"#),
        ("spec.template.spec.volumes[name=extra].configMap.name".to_owned(), "some"),
    ];
    let expected = expected.map(|(path, text)| (path, text.to_owned()));
    assert_eq!(leaves(&state), expected.into());
    assert!(map(&state, "managed_fields").values().all(|by| by == "k8sconnect-patch"));
    ward.settled("patch", EVERYTHING, &state).await;
    let json = "{\"spec\": {\"template\": {\"spec\": {\"containers\": [{\"name\": \"app\", \
        \"resources\": {\"limits\": {\"memory\": \"1Gi\", \"cpu\": 1}}, \
        \"env\": [{\"value\": \"http://proxy:3128\", \"name\": \"HTTP_PROXY\"}], \
        \"ports\": [{\"name\": \"metrics\", \"containerPort\": 9090}]}], \
        \"tolerations\": [{\"operator\": \"Exists\", \"key\": \"spot\"}], \
        \"volumes\": [{\"name\": \"extra\", \"configMap\": {\"name\": \"some\"}}]}}}, \
        \"metadata\": {\"annotations\": {\"example.com/a.b\": \"1\"}}}";
    let plan = ward.plan("patch", json, &state).await.unwrap();
    assert_eq!(plan.action, Action::NoOp, "another spelling is no change: {:#?}", plan.planned);
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn a_quantity_that_is_spelt_otherwise_is_not_taken_from_who_holds_it() {
    let limits =
        "spec: {template: {spec: {containers: [{name: app, resources: {limits: {cpu: 0.5}}}]}}}";
    let whole = r#"[{"op": "add", "path": "/spec/template/spec/containers/0/resources/limits/cpu", "value": "0.5"}]"#;
    for (attribute, text) in [("patch", limits), ("json_patch", whole)] {
        let ward = Ward::deployment().await;
        let before = owners(&ward.live().await);
        let plan = ward.core().plan(PATCH, &ward.config(attribute, text), None).await.unwrap();
        assert!(plan.diagnostics.is_empty(), "{attribute}: {:?}", plan.diagnostics);
        let state = ward.create(attribute, text).await;
        let helm = |all: Vec<String>| all.into_iter().find(|it| it.contains("helm")).unwrap();
        assert_eq!(helm(owners(&ward.live().await)), helm(before.clone()), "{attribute}");
        ward.settled(attribute, text, &state).await;
        // Another spelling of what was written is no reason to take it either.
        let more = text.replace("0.5", "0.50");
        let state = ward.change(attribute, &more, &state).await;
        assert_eq!(helm(owners(&ward.live().await)), helm(before.clone()), "{attribute}");
        ward.settled(attribute, &more, &state).await;
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
    }
}

#[tokio::test]
async fn a_merge_patch_removes_with_null_and_settles() {
    let ward = Ward::deployment().await;
    let before = ward.live().await;
    let text = "{metadata: {annotations: {example.com/team: null}}, \
                spec: {replicas: 1, template: {spec: {containers: [{name: app, image: 'nginx:2', \
                resources: {limits: {cpu: 1000m}}}]}}}}";
    let plan = ward.core().plan(PATCH, &ward.config("merge_patch", text), None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("is now blue will be (absent)"), "{told}");
    let state = ward.create("merge_patch", text).await;
    let leaves = leaves(&state);
    assert_eq!(leaves[r#"metadata.annotations["example.com/team"]"#], "(absent)");
    assert_eq!(leaves["spec.replicas"], "1");
    assert!(leaves["spec.template.spec.containers"].contains(r#""cpu":"1""#), "{leaves:?}");
    assert_eq!(leaves.len(), 3);
    ward.settled("merge_patch", text, &state).await;
    ward.destroy(&state).await;
    let after = ward.live().await;
    assert_eq!(after["spec"]["replicas"], 1, "values stay");
    let names: Vec<_> = owners(&after).iter().map(|it| it.contains("k8sconnect")).collect();
    assert_eq!(names, vec![false; owners(&before).len()]);
}

#[tokio::test]
async fn operations_are_carried_out_once_and_kept_up() {
    let ward = Ward::deployment().await;
    let text = r#"[
      {"op": "test", "path": "/spec/template/spec/containers/0/image", "value": "nginx:1"},
      {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:2"},
      {"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "NEW", "value": "1"}},
      {"op": "add", "path": "/spec/template/spec/tolerations/-", "value": {"key": "spot", "operator": "Exists"}},
      {"op": "add", "path": "/spec/template/spec/containers/0/ports/0", "value": {"containerPort": 81}},
      {"op": "remove", "path": "/spec/template/spec/containers/0/env/1"},
      {"op": "copy", "from": "/metadata/annotations/example.com~1team", "path": "/metadata/annotations/copied"},
      {"op": "move", "from": "/metadata/annotations/example.com~1team", "path": "/metadata/annotations/moved"}
    ]"#;
    let state = ward.create("json_patch", text).await;
    let container = "spec.template.spec.containers[name=app]";
    let expected = [
        (r#"metadata.annotations["example.com/team"]"#.to_owned(), "(absent)"),
        ("metadata.annotations.copied".to_owned(), "blue"),
        ("metadata.annotations.moved".to_owned(), "blue"),
        (format!("{container}.env[name=LEVEL]"), "(absent)"),
        (format!("{container}.env[name=NEW].value"), r#""1""#),
        (format!("{container}.image"), "nginx:2"),
        (format!("{container}.ports[containerPort=81,protocol=TCP].containerPort"), "81"),
        (
            r#"spec.template.spec.tolerations[={"key":"spot","operator":"Exists"}]"#.to_owned(),
            r#"{"key":"spot","operator":"Exists"}"#,
        ),
    ];
    assert_eq!(leaves(&state), expected.map(|(path, text)| (path, text.to_owned())).into());
    ward.settled("json_patch", text, &state).await;
    // A change elsewhere in the list of operations replays none of the others.
    let changed = text.replace("nginx:2", "nginx:3");
    let state = ward.change("json_patch", &changed, &state).await;
    let app = &ward.live().await["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(app["image"], "nginx:3");
    assert_eq!(
        app["env"],
        json!([{"name": "MODE", "value": "plain"}, {"name": "NEW", "value": "1"}])
    );
    assert_eq!(app["ports"].as_array().unwrap().len(), 2);
    ward.settled("json_patch", &changed, &state).await;
    ward.destroy(&state).await;
}

#[tokio::test]
async fn a_test_that_fails_shows_both_values_and_what_cannot_be_done_is_explained() {
    let ward = Ward::deployment().await;
    let plan = async |operation: Json| {
        let text = json!([operation, {"op": "add", "path": "/spec/paused", "value": true}]);
        let config = ward.config("json_patch", &text.to_string());
        refused(ward.core().plan(PATCH, &config, None).await)
    };
    let told = plan(json!({"op": "test", "path": "/spec/replicas", "value": 7})).await;
    assert!(told.contains("`/spec/replicas` fails: wanted 7 found 0"), "{told}");
    let told = plan(json!({"op": "add", "path": "/metadata/labels/a", "value": "b"})).await;
    assert!(told.contains("There is nothing at `/metadata/labels`"), "{told}");
    let told = plan(json!({"op": "replace", "path": "/spec/nothing", "value": "b"})).await;
    assert!(told.contains("There is nothing at `/spec/nothing`"), "{told}");
    let told = plan(json!({"op": "remove", "path": "/spec/template/spec/containers/4"})).await;
    assert!(told.contains("the list, which has 1 item"), "{told}");
}

#[tokio::test]
async fn a_test_of_what_others_hold_guards_every_write() {
    let ward = Ward::config_map().await;
    let text = r#"[{"op": "test", "path": "/data/b", "value": "helm"},
        {"op": "replace", "path": "/data/a", "value": "ours"}]"#;
    let state = ward.create("json_patch", text).await;
    let edit = json!({"data": {"a": "theirs", "b": "theirs"}});
    ward.world.cluster.act_as("thief").merge_patch(&ward.target, edit).await.unwrap();
    let told = refused(ward.plan("json_patch", text, &state).await);
    assert!(told.contains("The `test` of `/data/b` fails"), "{told}");
}

#[tokio::test]
async fn what_an_operation_takes_along_is_told_with_its_holders() {
    let ward = Ward::deployment().await;
    let labels = json!({"metadata": {"labels": {"l1": "theirs"}}});
    ward.world.cluster.act_as("labeler").merge_patch(&ward.target, labels).await.unwrap();
    let side = json!([{"op": "add", "path": "/spec/template/spec/containers/-",
                       "value": {"name": "side", "image": "envoy"}}]);
    ward.world.cluster.act_as("injector").json_patch(&ward.target, side).await.unwrap();
    let text = r#"[{"op": "replace", "path": "/metadata/labels", "value": {"mine": "yes"}},
        {"op": "replace", "path": "/spec/template/spec/containers/0/resources", "value": {}},
        {"op": "replace", "path": "/spec/template/spec/containers/1",
         "value": {"name": "renamed", "image": "envoy"}}]"#;
    let plan = ward.core().plan(PATCH, &ward.config("json_patch", text), None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("`metadata.labels.l1` and 1 more field will go"), "{told}");
    assert!(told.contains("metadata.labels.l1 held by `labeler`"), "{told}");
    assert!(told.contains("resources.limits.cpu held by `helm`"), "{told}");
    assert!(!told.contains("is now {}"), "no false old value: {told}");
    assert!(told.contains("containers[name=side] held by `injector`"), "{told}");
    let state = ward.create("json_patch", text).await;
    ward.settled("json_patch", text, &state).await;
    ward.destroy(&state).await;
    let all = r#"[{"op": "add", "path": "/metadata/annotations", "value": {"mine": "yes"}}]"#;
    let told = refused(ward.core().plan(PATCH, &ward.config("json_patch", all), None).await);
    assert!(told.contains("would take all of them away"), "{told}");
}

#[tokio::test]
async fn a_position_whose_item_moved_is_an_error_that_names_both() {
    let ward = Ward::deployment().await;
    let text = r#"[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:2"}]"#;
    let state = ward.create("json_patch", text).await;
    let sidecar = json!([{"op": "add", "path": "/spec/template/spec/containers/0",
                          "value": {"name": "proxy", "image": "envoy"}}]);
    ward.world.cluster.act_as("injector").json_patch(&ward.target, sidecar).await.unwrap();
    ward.settled("json_patch", text, &state).await;
    let told = refused(ward.plan("json_patch", &text.replace("nginx:2", "nginx:3"), &state).await);
    assert!(told.contains("it was spec.template.spec.containers[name=app].image"), "{told}");
    assert!(told.contains("it is spec.template.spec.containers[name=proxy].image"), "{told}");
    let moved = text.replace("containers/0", "containers/1");
    let state = ward.change("json_patch", &moved, &state).await;
    ward.settled("json_patch", &moved, &state).await;
    let live = ward.live().await;
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["image"], "envoy");
    ward.destroy(&state).await;
}

#[tokio::test]
async fn a_position_in_a_list_without_keys_does_not_follow_to_another_item() {
    let ward = Ward::deployment().await;
    let at = "/spec/template/spec/tolerations/0";
    let text = format!(r#"[{{"op": "add", "path": "{at}/effect", "value": "NoSchedule"}}]"#);
    let state = ward.create("json_patch", &text).await;
    ward.settled("json_patch", &text, &state).await;
    let theirs =
        json!([{"op": "add", "path": at, "value": {"key": "theirs", "operator": "Exists"}}]);
    ward.world.cluster.act_as("bob").json_patch(&ward.target, theirs).await.unwrap();
    let told = refused(ward.plan("json_patch", &text, &state).await);
    assert!(told.contains("is not the item that stood there at the last apply"), "{told}");
    let moved = text.replace("tolerations/0", "tolerations/1");
    let state = ward.change("json_patch", &moved, &state).await;
    ward.settled("json_patch", &moved, &state).await;
    let live = ward.live().await;
    let tolerations = &live["spec"]["template"]["spec"]["tolerations"];
    assert!(tolerations[0].get("effect").is_none(), "{tolerations}");
    assert_eq!(tolerations[1]["effect"], "NoSchedule");
    ward.destroy(&state).await;
}

#[tokio::test]
async fn a_list_that_nobody_owns_is_asked_about() {
    let ward = Ward::deployment().await;
    let wiped = json!({"metadata": {"managedFields": [{}]}});
    ward.world.cluster.act_as("x").merge_patch(&ward.target, wiped).await.unwrap();
    let text = r#"[{"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "x"}]"#;
    let state = ward.create("json_patch", text).await;
    let path = "spec.template.spec.containers[name=app].env[name=MODE].value";
    assert_eq!(leaves(&state)[path], "x");
    ward.settled("json_patch", text, &state).await;
    ward.destroy(&state).await;
}

#[tokio::test]
async fn a_hundred_fields_are_patched_and_handed_back() {
    let fields = |value: &str| -> serde_json::Map<String, Json> {
        (0..100).map(|n| (format!("key-{n}"), json!(value))).collect()
    };
    let world = World::new().await;
    let mut body = object("v1", "ConfigMap", "many", world.namespace.name());
    body["data"] = fields("theirs").into();
    world.cluster.act_as("helm").apply(&body).await.unwrap();
    let ward = Ward::of(world, Target::of(&body).unwrap());
    for attribute in ["patch", "merge_patch"] {
        let before = owners(&ward.live().await);
        let text = json!({"data": fields("ours")}).to_string();
        let state = ward.create(attribute, &text).await;
        assert_eq!(leaves(&state).len(), 100);
        ward.settled(attribute, &text, &state).await;
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
        ward.remake(&body).await;
    }
}

#[tokio::test]
async fn custom_resources_and_cluster_scoped_objects_are_patched_alike() {
    let world = World::new().await;
    let kinds = world.kinds();
    let find = |name: &str| kinds.iter().find(|kind| kind.name == name).unwrap();
    let (definition, garden) = (find("crd-structural"), find("cr-garden"));
    world.make(definition).await;
    world.cluster.act_as("gardener").apply(&garden.value).await.unwrap();
    let ward = Ward::of(world, Target::of(&garden.value).unwrap());
    let before = owners(&ward.live().await);
    let patches = [
        (
            "patch",
            "spec: {gnomes: 3, tags: [ours], beds: [{row: 2, plant: ours}], seal: {colour: blue}}",
        ),
        ("merge_patch", "spec: {gnomes: 3, rows: [{depth: 1}], title: null}"),
        (
            "json_patch",
            r#"[{"op": "add", "path": "/spec/tags/-", "value": "ours"},
                {"op": "replace", "path": "/spec/beds/0/plant", "value": "ours"},
                {"op": "add", "path": "/spec/rows/-", "value": {"depth": 7}}]"#,
        ),
    ];
    for (attribute, text) in patches {
        let state = ward.create(attribute, text).await;
        ward.settled(attribute, text, &state).await;
        ward.destroy(&state).await;
        let after = ward.live().await;
        assert!(owners(&after).iter().all(|it| !it.contains("k8sconnect")), "{attribute}");
        if attribute == "patch" {
            assert_eq!(owners(&after), before);
        }
        ward.remake(&garden.value).await;
    }
    let mut named = object("v1", "Namespace", ward.world.namespace.name(), "");
    named["metadata"].as_object_mut().unwrap().remove("namespace");
    let cluster_scoped = Ward::of(ward.world, Target::of(&named).unwrap());
    let before = owners(&cluster_scoped.live().await);
    let text = "metadata: {labels: {example.com/patched: 'yes'}}";
    let state = cluster_scoped.create("patch", text).await;
    cluster_scoped.settled("patch", text, &state).await;
    cluster_scoped.destroy(&state).await;
    assert_eq!(owners(&cluster_scoped.live().await), before);
    cluster_scoped.world.clear(std::slice::from_ref(definition)).await;
}

#[tokio::test]
async fn no_value_of_a_secret_is_shown_or_kept() {
    let ward = Ward::with(
        "{apiVersion: v1, kind: Secret, metadata: {name: keys, namespace: NS}, \
         stringData: {a: theirs-a, b: theirs-b}}",
    )
    .await;
    let texts = [
        ("patch", "stringData: {a: hunter2-ours}"),
        (
            "json_patch",
            r#"[{"op": "replace", "path": "/data/a", "value": "aHVudGVyMi1vdXJz"},
                           {"op": "copy", "from": "/data/b", "path": "/data/c"}]"#,
        ),
        // Last, since what it takes away stays away.
        ("merge_patch", "stringData: {a: hunter2-ours, b: null}"),
    ];
    for (attribute, text) in texts {
        let config = ward.config(attribute, text);
        let plan = ward.core().plan(PATCH, &config, None).await.unwrap();
        let told = said(&plan.diagnostics);
        let state = ward.create(attribute, text).await;
        ward.settled(attribute, text, &state).await;
        let shown = format!("{told} {:?}", leaves(&state));
        let private = kept(&state.private).unwrap().concat();
        let note = format!("k8sconnect.terraform.io/patch-{}", id(&state));
        let note = ward.live().await["metadata"]["annotations"][note].to_string();
        for secret in ["hunter2", "aHVudGVyMi1vdXJz", "theirs", "dGhlaXJzLWI="] {
            for place in [&shown, &private, &note] {
                assert!(!place.contains(secret), "{attribute}: `{secret}` is in {place}");
            }
        }
        ward.destroy(&state).await;
    }
    // A refused patch quotes the whole object.
    let refusal = r#"[{"op": "add", "path": "/data/bad key", "value": "aHVudGVyMi1vdXJz"}]"#;
    let told = refused(ward.core().plan(PATCH, &ward.config("json_patch", refusal), None).await);
    assert!(!told.contains("aHVudGVyMi1vdXJz") && !told.contains("hunter2"), "{told}");
    // Nor does a test that fails show what holds the values, kubectl's copy of them included.
    let copy = r#"{"metadata": {"annotations":
        {"kubectl.kubernetes.io/last-applied-configuration": "{data: {a: dGhlaXJzLWE=}}"}}}"#;
    let copy = copy.parse().unwrap();
    ward.world.cluster.act_as("kubectl").merge_patch(&ward.target, copy).await.unwrap();
    for place in ["", "/metadata", "/metadata/annotations", "/data", "/data/a"] {
        let test = json!({"op": "test", "path": place, "value": {"data": {"a": "aHVudGVy"}}});
        let text = json!([test, {"op": "add", "path": "/data/a", "value": "eA=="}]).to_string();
        let told = refused(ward.core().plan(PATCH, &ward.config("json_patch", &text), None).await);
        assert!(told.contains("found (sensitive)"), "{place}: {told}");
        let in_data = place.is_empty() || place.starts_with("/data");
        for secret in
            ["dGhlaXJzLWE=", "dGhlaXJzLWI="].into_iter().chain(in_data.then_some("aHVudGVy"))
        {
            assert!(!told.contains(secret), "{place}: `{secret}` is in {told}");
        }
    }
}

#[tokio::test]
async fn what_stands_as_it_was_left_costs_one_request() {
    // Nobody else writes to one.
    let ward = Ward::config_map().await;
    let user = Filter::by_user(&ward.world.user);
    let short = |asked: &[testkit::Request]| -> Vec<String> {
        let object = asked.iter().filter(|it| it.path().contains("/configmaps/"));
        object.map(testkit::Request::in_short).collect()
    };
    let config = ward.config("patch", "data: {a: ours}");
    let core = ward.core();
    let planning = core.plan(PATCH, &config, None);
    let (plan, asked) = ward.world.cluster.count_during(user.clone(), planning).await.unwrap();
    assert_eq!(short(&asked), ["get", "patch (dry-run)"], "planning a creation");
    let plan = plan.unwrap();
    let core = ward.core();
    let applying = core.apply(PATCH, &config, None, &plan);
    let (made, asked) = ward.world.cluster.count_during(user.clone(), applying).await.unwrap();
    assert_eq!(short(&asked), ["get", "patch (dry-run)", "patch"], "creating");
    let state = made.unwrap().present().unwrap();
    let planning = ward.plan("patch", "data: {a: ours}", &state);
    let (plan, asked) = ward.world.cluster.count_during(user.clone(), planning).await.unwrap();
    assert_eq!(plan.unwrap().action, Action::NoOp);
    let all: Vec<_> = asked.iter().map(testkit::Request::in_short).collect();
    assert_eq!(all, ["get"], "planning nothing");
    let destroying = ward.destroy(&state);
    let ((), asked) = ward.world.cluster.count_during(user, destroying).await.unwrap();
    assert_eq!(short(&asked), ["get", "get", "patch"], "a refresh, and the hand-back");
}

#[tokio::test]
async fn who_applied_string_data_keeps_it_and_is_named_with_each_change() {
    let ward = Ward::with(
        "{apiVersion: v1, kind: Secret, metadata: {name: keys, namespace: NS}, \
         stringData: {a: theirs}}",
    )
    .await;
    for attribute in ["patch", "merge_patch"] {
        let before = owners(&ward.live().await);
        let text = |value: &str| format!("stringData: {{a: {value}}}");
        // An equal value takes nothing, and the next one is the first that changes it.
        let state = ward.create(attribute, &text("theirs")).await;
        let told = said(&ward.plan(attribute, &text("one"), &state).await.unwrap().diagnostics);
        assert!(told.contains("data.a held by `helm`"), "{attribute}: {told}");
        ward.destroy(&state).await;
        let config = ward.config(attribute, &text("one"));
        let told = said(&ward.core().plan(PATCH, &config, None).await.unwrap().diagnostics);
        assert!(told.contains("data.a held by `helm`"), "{attribute}: {told}");
        let state = ward.create(attribute, &text("one")).await;
        let told = said(&ward.plan(attribute, &text("two"), &state).await.unwrap().diagnostics);
        assert!(told.contains("`data.a` will be patched"), "{attribute}: {told}");
        assert!(told.contains("data.a held by `helm`"), "{attribute}: {told}");
        assert!(!told.contains("no longer after apply"), "{attribute}: {told}");
        let state = ward.change(attribute, &text("two"), &state).await;
        ward.settled(attribute, &text("two"), &state).await;
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
    }
}

#[tokio::test]
async fn who_applied_string_data_and_changes_it_is_told_once() {
    let secret = |value: &str| {
        format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: keys, namespace: NS}}, \
             stringData: {{a: {value}}}}}"
        )
    };
    for attribute in ["patch", "merge_patch"] {
        let ward = Ward::with(&secret("theirs")).await;
        let text = "stringData: {a: ours}";
        let state = ward.create(attribute, text).await;
        let drifted = secret("drifted").replace("NS", ward.world.namespace.name());
        ward.world.cluster.act_as("helm").apply(drifted).await.unwrap();
        let plan = ward.plan(attribute, text, &state).await.unwrap();
        let told = said(&plan.diagnostics);
        let about = plan.diagnostics.iter().filter(|it| it.detail.contains("data.a")).count();
        assert_eq!(about, 1, "{attribute}: {told}");
        assert!(told.contains("`helm`"), "{attribute}: {told}");
        assert!(!told.contains("will be patched"), "{attribute}: {told}");
        let state = ward.change(attribute, text, &state).await;
        ward.settled(attribute, text, &state).await;
        ward.destroy(&state).await;
    }
}
