//! What the server takes away beside what a patch names.

use serde_json::json;

use super::{PATCH, Ward, map, owners, said};

const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NS}
spec:
  type: NodePort
  selector: {app: web}
  externalTrafficPolicy: Local
  ports: [{name: h, port: 80, nodePort: PORT}]
";

#[tokio::test]
async fn fields_of_others_that_go_with_a_change_are_told_with_who_holds_them() {
    let json = r#"[{"op": "replace", "path": "/spec/type", "value": "ClusterIP"}]"#;
    let whole = "spec: {type: ClusterIP}";
    for (attribute, text, port) in
        [("patch", whole, "31871"), ("merge_patch", whole, "31872"), ("json_patch", json, "31873")]
    {
        let ward = Ward::with(&SERVICE.replace("PORT", port)).await;
        let plan = ward.core().plan(PATCH, &ward.config(attribute, text), None).await.unwrap();
        let told = said(&plan.diagnostics);
        let summary = "`spec.externalTrafficPolicy` and 1 more field will go with what is patched";
        assert!(told.contains(summary), "{attribute}: {told}");
        let field = "spec.ports[port=80,protocol=TCP].nodePort held by `helm`";
        assert!(told.contains(field), "{attribute}: {told}");
        assert!(told.contains(&format!("is now {port}")), "{attribute}: {told}");
        let state = ward.create(attribute, text).await;
        assert_eq!(map(&state, "managed_fields").len(), 1, "{attribute}");
        ward.settled(attribute, text, &state).await;
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn what_goes_within_an_item_of_a_list_that_is_replaced_is_told_with_who_holds_it() {
    let list = r#"[{"name": "app", "image": "nginx:2"}]"#;
    let at = "/spec/template/spec/containers";
    let merge = format!(r#"{{"spec": {{"template": {{"spec": {{"containers": {list}}}}}}}}}"#);
    let json = format!(r#"[{{"op": "replace", "path": "{at}", "value": {list}}}]"#);
    let env = json!([{"op": "add", "path": format!("{at}/0/env/-"),
        "value": {"name": "ZED", "value": "z"}}]);
    for (attribute, text) in [("merge_patch", merge), ("json_patch", json)] {
        let ward = Ward::deployment().await;
        let before = owners(&ward.live().await);
        ward.world.cluster.act_as("zed").json_patch(&ward.target, env.clone()).await.unwrap();
        let plan = ward.core().plan(PATCH, &ward.config(attribute, &text), None).await.unwrap();
        let told = said(&plan.diagnostics);
        for (field, holders, value) in [
            ("env", "`helm`", r#"{"name":"LEVEL","value":"low"}"#),
            ("env", "`zed`", r#"{"name":"ZED","value":"z"}"#),
            ("ports", "`helm`", r#"{"containerPort":80,"protocol":"TCP"}"#),
            ("resources.limits.cpu", "`helm`", "500m"),
        ] {
            let field = format!("spec.template.spec.containers[name=app].{field} held by ");
            let (_, rest) = told.split_once(&field).unwrap_or_else(|| panic!("{field}: {told}"));
            let (held, _) = rest.split_once("will be").unwrap();
            assert!(held.contains(holders) && held.contains(value), "{attribute}: {told}");
        }
        assert!(told.contains("The patch replaces what holds these"), "{attribute}: {told}");
        assert!(told.contains("and what was removed does not come back"), "{attribute}: {told}");
        let state = ward.create(attribute, &text).await;
        ward.settled(attribute, &text, &state).await;
        ward.destroy(&state).await;
        let image = |all: &[String]| all.iter().any(|it| it.contains("f:image"));
        assert!(image(&before) && image(&owners(&ward.live().await)), "{attribute}");
    }
}
