//! Items of lists without keys: which of them are changed, which go, and which are others' by now.

use serde_json::{Value as Json, json};

use super::{DEPLOYMENT, PATCH, Ward, said};

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
