//! Items of lists without keys: which of them are changed, which go, and which are others' by now.

use serde_json::{Value as Json, json};

use super::{DEPLOYMENT, PATCH, Ward, leaves, owners, refused, said};

const ROLE: &str = r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: NS}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get]}
"#;

const TOLERATIONS: &str = "/spec/template/spec/tolerations";

fn add(path: &str, value: Json) -> Json {
    json!({"op": "add", "path": path, "value": value})
}

fn tolerates(key: &str) -> Json {
    json!({"key": key, "operator": "Exists"})
}

/// What the plan of a new patch says.
async fn told(ward: &Ward, operations: &Json) -> String {
    let config = ward.config("json_patch", &operations.to_string());
    said(&ward.core().plan(PATCH, &config, None).await.unwrap().diagnostics)
}

#[tokio::test]
async fn an_item_that_is_changed_while_others_join_its_list_is_not_told_as_gone() {
    let secrets = json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]});
    let role = Ward::with(ROLE).await;
    let web = Ward::deployment().await;
    let (first, second) = (format!("{TOLERATIONS}/0/effect"), format!("{TOLERATIONS}/1/effect"));
    for (ward, list, operations, length) in [
        (
            &role,
            "/rules",
            json!([add("/rules/0/verbs/-", json!("watch")), add("/rules/-", secrets)]),
            2,
        ),
        (
            &web,
            TOLERATIONS,
            json!([
                add(&first, json!("NoSchedule")),
                add(&format!("{TOLERATIONS}/-"), tolerates("spot"))
            ]),
            2,
        ),
        // Its position is another one by then.
        (
            &web,
            TOLERATIONS,
            json!([
                add(&format!("{TOLERATIONS}/0"), tolerates("first")),
                add(&second, json!("NoExecute"))
            ]),
            3,
        ),
    ] {
        let words = told(ward, &operations).await;
        assert!(!words.contains("will go"), "{operations}: {words}");
        assert!(!words.contains("does not come back"), "{operations}: {words}");
        let text = operations.to_string();
        let state = ward.create("json_patch", &text).await;
        ward.settled("json_patch", &text, &state).await;
        assert_eq!(ward.live().await.pointer(list).unwrap().as_array().unwrap().len(), length);
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn an_item_that_goes_is_told_though_others_are_changed_and_join() {
    let both = DEPLOYMENT.replace("{key: gpu, operator: Exists}", "{key: gpu}\n      - {key: tpu}");
    let ward = Ward::with(&both).await;
    let effect = add(&format!("{TOLERATIONS}/0/effect"), json!("NoSchedule"));
    let join = add(&format!("{TOLERATIONS}/-"), tolerates("spot"));
    let remove = |n: u8| json!({"op": "remove", "path": format!("{TOLERATIONS}/{n}")});
    let tpu = r#"spec.template.spec.tolerations[={"key":"tpu"}]"#;
    let gpu = r#"spec.template.spec.tolerations[={"key":"gpu"}]"#;
    for (operations, goes, stays) in
        [(json!([effect, join, remove(1)]), tpu, gpu), (json!([effect, remove(0), join]), gpu, tpu)]
    {
        let words = told(&ward, &operations).await;
        assert!(words.contains(goes) && !words.contains(stays), "{operations}: {words}");
        assert!(words.contains("what was removed does not come back"), "{operations}: {words}");
    }
}

#[tokio::test]
async fn a_position_does_not_follow_to_a_look_alike_while_ours_stands_elsewhere() {
    let ward = Ward::deployment().await;
    let text = |n: u8, key: &str| {
        let path = format!("{TOLERATIONS}/{n}/key");
        json!([{"op": "replace", "path": path, "value": key}]).to_string()
    };
    let keys = async || {
        let live = ward.live().await;
        let items = live.pointer(TOLERATIONS).unwrap().as_array().unwrap().clone();
        items.iter().map(|item| item["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let edit = async |operations: Json| {
        ward.world.cluster.act_as("inj").json_patch(&ward.target, operations).await.unwrap();
    };
    let state = ward.create("json_patch", &text(0, "qq")).await;
    // One that is changed in its place is the same, also when others join behind it.
    edit(json!([{"op": "replace", "path": format!("{TOLERATIONS}/0/key"), "value": "drifted"}]))
        .await;
    edit(json!([add(&format!("{TOLERATIONS}/-"), tolerates("behind"))])).await;
    let state = ward.change("json_patch", &text(0, "qq"), &state).await;
    assert_eq!(keys().await, ["qq", "behind"]);
    edit(json!([add(&format!("{TOLERATIONS}/0"), tolerates("inj"))])).await;
    for key in ["qq", "edited"] {
        let told = refused(ward.plan("json_patch", &text(0, key), &state).await);
        assert!(told.contains("is not the item that stood there at the last apply"), "{told}");
        assert!(told.contains("It stands at `spec.template.spec.tolerations[1]` now"), "{told}");
    }
    let state = ward.change("json_patch", &text(1, "edited"), &state).await;
    ward.settled("json_patch", &text(1, "edited"), &state).await;
    assert_eq!(keys().await, ["inj", "edited", "behind"]);
    ward.destroy(&state).await;
}

#[tokio::test]
async fn an_item_of_which_the_server_leaves_out_a_zero_is_put_in_once() {
    let ward = Ward::deployment().await;
    let before = owners(&ward.live().await);
    let item = json!({"key": "spot", "operator": "Equal", "value": "", "effect": "NoSchedule"});
    let text = |paused: bool| {
        json!([{"op": "add", "path": "/spec/template/spec/tolerations/-", "value": item},
               {"op": "add", "path": "/spec/paused", "value": paused}])
        .to_string()
    };
    let count = async || {
        let live = ward.live().await;
        let items = live["spec"]["template"]["spec"]["tolerations"].as_array().unwrap().clone();
        items.iter().filter(|it| it["key"] == "spot").count()
    };
    let config = ward.config("json_patch", &text(true));
    let plan = ward.core().plan(PATCH, &config, None).await.unwrap();
    let made = ward.core().apply(PATCH, &config, None, &plan).await.unwrap();
    let state = made.present().unwrap();
    let fields = leaves(&state);
    assert!(fields.keys().any(|path| path.contains("spot")), "{fields:?}");
    assert!(!fields.values().any(|value| value == "(absent)"), "{fields:?}");
    ward.settled("json_patch", &text(true), &state).await;
    let state = ward.change("json_patch", &text(false), &state).await;
    ward.settled("json_patch", &text(false), &state).await;
    assert_eq!(count().await, 1);
    let removal = json!([{"op": "remove", "path": "/spec/template/spec/tolerations/1"}]);
    ward.world.cluster.act_as("rival").json_patch(&ward.target, removal).await.unwrap();
    assert_eq!(count().await, 0);
    let state = ward.change("json_patch", &text(false), &state).await;
    ward.settled("json_patch", &text(false), &state).await;
    assert_eq!(count().await, 1, "it is put back");
    ward.destroy(&state).await;
    assert!(owners(&ward.live().await).iter().any(|it| before.contains(it)));
}

#[tokio::test]
async fn a_list_that_is_patched_as_a_whole_and_then_item_by_item_goes_back_in_the_end() {
    let ward = Ward::deployment().await;
    let before = owners(&ward.live().await);
    let whole = "spec: {template: {spec: {tolerations: [{key: spot, operator: Exists}]}}}";
    let item = r#"[{"op": "add", "path": "/spec/template/spec/tolerations/-", "value": {"key": "b", "operator": "Exists"}}]"#;
    let state = ward.create("patch", whole).await;
    ward.settled("patch", whole, &state).await;
    let told = said(&ward.plan("json_patch", item, &state).await.unwrap().diagnostics);
    assert!(!told.contains("returns to") && !told.contains("held by nobody"), "{told}");
    let state = ward.change("json_patch", item, &state).await;
    ward.settled("json_patch", item, &state).await;
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn an_item_that_the_server_spells_otherwise_or_fills_in_is_found_again() {
    let memory = json!({"type": "Resource", "resource": {"name": "memory",
        "target": {"type": "AverageValue", "averageValue": "1024Mi"}}});
    let port = json!({"name": "x", "port": 90, "nodePort": 0, "targetPort": 0});
    let hpa = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: it, \
               namespace: NS, labels: {a: b}}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: \
               Deployment, name: it}, metrics: [{type: Resource, resource: {name: cpu, target: \
               {type: Utilization, averageUtilization: 50}}}]}}";
    let service = "{apiVersion: v1, kind: Service, metadata: {name: it, namespace: NS, labels: {a: b}}, \
                   spec: {type: NodePort, ports: [{name: h, port: 80}]}}";
    let labelled = DEPLOYMENT.replace("annotations:", "labels: {a: b}, annotations:");
    for (given, list, item) in [
        (hpa, "metrics", &memory),
        (service, "ports", &port),
        (
            &*labelled,
            "template/spec/containers/0/ports",
            &json!({"containerPort": 81, "hostPort": 0}),
        ),
    ] {
        let ward = Ward::with(given).await;
        let text = |note: &str| {
            json!([{"op": "add", "path": format!("/spec/{list}/-"), "value": item},
                   {"op": "add", "path": "/metadata/labels/note", "value": note}])
            .to_string()
        };
        let path = format!("/spec/{list}");
        let count = async || ward.live().await.pointer(&path).unwrap().as_array().unwrap().len();
        let before = count().await;
        let state = ward.create("json_patch", &text("one")).await;
        let fields = leaves(&state);
        assert!(!fields.keys().any(|path| path.contains("null")), "{fields:?}");
        ward.settled("json_patch", &text("one"), &state).await;
        let told = said(&ward.plan("json_patch", &text("two"), &state).await.unwrap().diagnostics);
        assert!(!told.contains("does not change"), "{told}");
        let state = ward.change("json_patch", &text("two"), &state).await;
        ward.settled("json_patch", &text("two"), &state).await;
        assert_eq!(count().await, before + 1, "{list}");
        let removal = json!([{"op": "remove", "path": format!("{path}/{before}")}]);
        ward.world.cluster.act_as("rival").json_patch(&ward.target, removal).await.unwrap();
        let state = ward.change("json_patch", &text("two"), &state).await;
        ward.settled("json_patch", &text("two"), &state).await;
        assert_eq!(count().await, before + 1, "{list}: it is put back");
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn the_items_of_a_list_that_is_emptied_are_told_also_where_the_server_makes_a_null_of_it() {
    let ward = Ward::with(ROLE).await;
    let config = ward.config("merge_patch", "rules: []");
    let told = said(&ward.core().plan(PATCH, &config, None).await.unwrap().diagnostics);
    assert!(told.contains("1 item of `rules` will go"), "{told}");
    let state = ward.create("merge_patch", "rules: []").await;
    ward.settled("merge_patch", "rules: []", &state).await;
}

/// Two operations that count in one list, and somebody who puts an item before what they count.
#[tokio::test]
async fn positions_that_are_counted_anew_work_for_several_operations() {
    let two = "{key: gpu, operator: Exists}\n      - {key: tpu, operator: Exists}";
    let containers = "image: nginx:1}\n      - {name: log, image: log:1";
    let by_key = DEPLOYMENT.split("\n        env:").next().unwrap().to_owned();
    let by_key = by_key
        .replace("- name: app\n        image: nginx:1", &format!("- {{name: app, {containers}}}"));
    let (app, front) = ("/spec/template/spec/containers", json!({"name": "front", "image": "f:1"}));
    for (manifest, list, field, item) in [
        (
            DEPLOYMENT.replace("{key: gpu, operator: Exists}", two),
            TOLERATIONS,
            "key",
            tolerates("inj"),
        ),
        (by_key, app, "image", front),
    ] {
        // The same for both, another one for each, and edited while they are counted anew.
        for (first, then) in [(["one", "two"], ["one", "two"]), (["one", "two"], ["1st", "2nd"])] {
            let ward = Ward::with(&manifest).await;
            let text = |n: usize, values: [&str; 2]| {
                let at = |n: usize| format!("{list}/{n}/{field}");
                json!([{"op": "replace", "path": at(n), "value": values[0]},
                       {"op": "replace", "path": at(n + 1), "value": values[1]}])
                .to_string()
            };
            let state = ward.create("json_patch", &text(0, first)).await;
            let before = json!([add(&format!("{list}/0"), item.clone())]);
            ward.world.cluster.act_as("inj").json_patch(&ward.target, before).await.unwrap();
            // Of items with keys the patch only needs to know which they are.
            if list == TOLERATIONS {
                let told = refused(ward.plan("json_patch", &text(0, first), &state).await);
                assert!(told.contains("tolerations[1]` now: write that position"), "{told}");
            }
            let state = ward.change("json_patch", &text(1, then), &state).await;
            ward.settled("json_patch", &text(1, then), &state).await;
            let live = ward.live().await;
            let items = live.pointer(list).unwrap().as_array().unwrap();
            let found: Vec<_> = items[1..].iter().map(|it| it[field].as_str().unwrap()).collect();
            assert_eq!(found, then, "{list}");
            assert_eq!(items[0][field], item[field]);
            ward.destroy(&state).await;
        }
    }
}

/// What only one of several operations was told to do is not done for the others.
#[tokio::test]
async fn a_position_that_was_forgotten_while_others_were_counted_anew_is_refused() {
    let two = "{key: gpu, operator: Exists}\n      - {key: tpu, operator: Exists}";
    let ward = Ward::with(&DEPLOYMENT.replace("{key: gpu, operator: Exists}", two)).await;
    let text = |at: [usize; 2], values: [&str; 2]| {
        let one = |n: usize| json!({"op": "replace", "path": format!("{TOLERATIONS}/{}/key", at[n]), "value": values[n]});
        json!([one(0), one(1)]).to_string()
    };
    let state = ward.create("json_patch", &text([0, 1], ["one", "two"])).await;
    let before = json!([add(&format!("{TOLERATIONS}/0"), tolerates("inj"))]);
    ward.world.cluster.act_as("inj").json_patch(&ward.target, before).await.unwrap();
    for values in [["one", "two"], ["one", "2nd"], ["1st", "2nd"]] {
        let told = refused(ward.plan("json_patch", &text([1, 1], values), &state).await);
        assert!(told.contains("operation 2 of `json_patch`"), "{told}");
        assert!(told.contains("tolerations[2]` now: write that position"), "{told}");
    }
    ward.destroy(&state).await;
}
