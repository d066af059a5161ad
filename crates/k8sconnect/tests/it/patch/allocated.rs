//! Ports that the server draws: found by fresh eyes, whom plans promised what a dry-run had drawn.

use tfplugin::Value;

use super::{PATCH, Ward, leaves};

const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata: {name: it, namespace: NS}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{name: http, port: 80}]
";

/// What the plan of a patch shows of a leaf.
async fn planned(ward: &Ward, attribute: &str, text: &str, leaf: &str) -> Value {
    let plan = ward.core().plan(PATCH, &ward.config(attribute, text), None).await.unwrap();
    let Some(Value::Known(tfplugin::Data::Map(shown))) =
        plan.planned.attribute("managed_state_projection")
    else {
        panic!("{text}: nothing is shown");
    };
    shown[leaf].clone()
}

/// Whether a drawn port is left open by the plan, and stays once it is there.
async fn is_drawn_once(attribute: &str, text: &str, leaf: &str) {
    let ward = Ward::with(SERVICE).await;
    assert_eq!(planned(&ward, attribute, text, leaf).await, Value::Unknown, "{text}");
    let state = ward.create(attribute, text).await;
    let drawn = leaves(&state)[leaf].clone();
    ward.settled(attribute, text, &state).await;
    let live = ward.live().await;
    let port = live["spec"]["ports"][1]["nodePort"].to_string();
    assert!(drawn.contains(&port), "{text}: {drawn} has no {port}");
    // What is there already is known.
    let more = text.replace("name: x", "name: z");
    let state = ward.change(attribute, &more, &state).await;
    ward.settled(attribute, &more, &state).await;
    ward.destroy(&state).await;
}

#[tokio::test]
async fn a_port_that_the_server_draws_is_not_promised_and_kept_once_it_is_there() {
    let both = "spec: {ports: [{name: http, port: 80}, {name: x, port: 81}]}";
    is_drawn_once("merge_patch", both, "spec.ports").await;
    let zero = "spec: {ports: [{name: x, port: 81, protocol: TCP, nodePort: 0}]}";
    is_drawn_once("patch", zero, "spec.ports[port=81,protocol=TCP].nodePort").await;
}

#[tokio::test]
async fn a_quantity_of_nothing_is_known() {
    let ward = Ward::with(
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: it, namespace: NS}, \
         spec: {hard: {pods: 5}}}",
    )
    .await;
    let text = "spec: {hard: {count/secrets: 0, pods: 0}}";
    for attribute in ["patch", "merge_patch"] {
        let shown = planned(&ward, attribute, text, "spec.hard.pods").await;
        assert_eq!(shown, Value::from("\"0\""), "{attribute}");
        let state = ward.create(attribute, text).await;
        assert_eq!(leaves(&state).get("spec.hard.pods").map(String::as_str), Some("\"0\""));
        ward.settled(attribute, text, &state).await;
        ward.destroy(&state).await;
    }
}
