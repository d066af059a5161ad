//! What can never be made: values that would be shown, notes that do not fit, values of another sort.

use serde_json::json;

use super::{PATCH, Ward, refused};

#[tokio::test]
async fn a_value_of_a_secret_is_not_carried_to_where_it_would_be_shown() {
    let ward = Ward::with(
        "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: NS, annotations: {x: z}}, \
         data: {pw: aHVudGVyMg==}}",
    )
    .await;
    for (op, from) in
        [("copy", "/data/pw"), ("move", "/data/pw"), ("copy", ""), ("copy", "/metadata")]
    {
        let text =
            format!(r#"[{{"op": "{op}", "from": "{from}", "path": "/metadata/annotations/x"}}]"#);
        let told = refused(ward.core().plan(PATCH, &ward.config("json_patch", &text), None).await);
        assert!(told.contains("is or contains a secret"), "{from}: {told}");
    }
    let text = r#"[{"op": "copy", "from": "/data/pw", "path": "/data/also"}]"#;
    let state = ward.create("json_patch", text).await;
    assert!(!format!("{state:?}").contains("aHVudGVyMg"), "{state:?}");
    assert_eq!(ward.live().await["data"]["also"], "aHVudGVyMg==");
}

#[tokio::test]
async fn more_fields_than_can_be_noted_on_the_target_are_refused_by_the_plan() {
    let ward = Ward::config_map().await;
    let data: serde_json::Map<_, _> =
        (0..6000).map(|n| (format!("key-{n:0>40}"), json!("v"))).collect();
    let text = json!({ "data": data }).to_string();
    for attribute in ["patch", "merge_patch"] {
        let told = refused(ward.core().plan(PATCH, &ward.config(attribute, &text), None).await);
        assert!(told.contains("the patch names too many fields"), "{told}");
    }
    let state = ward.create("merge_patch", "data: {a: ours}").await;
    let told = refused(ward.plan("merge_patch", &text, &state).await);
    assert!(told.contains("the patch names too many fields"), "{told}");
}

#[tokio::test]
async fn a_value_that_never_fits_is_not_called_a_passing_trouble() {
    let ward = Ward::deployment().await;
    for (attribute, text) in [
        ("patch", "spec: {replicas: 3.5}"),
        ("merge_patch", "spec: {replicas: 3.5}"),
        ("json_patch", r#"[{"op": "replace", "path": "/spec/replicas", "value": 3.5}]"#),
    ] {
        let told = refused(ward.core().plan(PATCH, &ward.config(attribute, text), None).await);
        assert!(!told.contains("passing trouble"), "{attribute}: {told}");
        let advice = match attribute {
            "patch" => "Mend the field that the server names",
            _ => "Look in the server's words for what does not fit",
        };
        assert!(told.contains(advice), "{attribute}: {told}");
    }
}
