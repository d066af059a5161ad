//! What the server takes away beside what a patch names.

use super::{PATCH, Ward, map, said};

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
