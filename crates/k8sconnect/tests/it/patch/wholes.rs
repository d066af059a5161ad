//! Fields in a map that the server gives to one manager as a whole: who holds them is told by the
//! map, and not by the fields.

use serde_json::{Value as Json, json};

use super::{DEPLOYMENT, Ward, owners};

/// A Deployment whose `nodeSelector`, an atomic map, is helm's.
async fn ward() -> Ward {
    let selector = "spec:\n      nodeSelector: {disk: ssd}\n      tolerations:";
    Ward::with(&DEPLOYMENT.replace("spec:\n      tolerations:", selector)).await
}

async fn select(ward: &Ward, who: &str, selector: Json) {
    let edit = json!({"spec": {"template": {"spec": {"nodeSelector": selector}}}});
    ward.world.cluster.act_as(who).merge_patch(&ward.target, edit).await.unwrap();
}

fn selectors(all: &[String]) -> Vec<String> {
    let entries = all.iter().map(|it| serde_json::from_str::<Json>(it).unwrap());
    let pointer = "/fieldsV1/f:spec/f:template/f:spec/f:nodeSelector";
    let held = entries.filter(|entry| entry.pointer(pointer).is_some());
    held.map(|entry| entry["manager"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_map_that_had_our_value_goes_back_past_whoever_took_it_meanwhile() {
    let ward = ward().await;
    let text = |replicas: u8| {
        let spec = json!({"nodeSelector": {"disk": "ssd"}});
        json!({"spec": {"replicas": replicas, "template": {"spec": spec}}}).to_string()
    };
    let state = ward.create("merge_patch", &text(0)).await;
    assert_eq!(selectors(&owners(&ward.live().await)), ["helm"]);
    select(&ward, "ed", json!({"disk": "slow"})).await;
    let state = ward.change("merge_patch", &text(1), &state).await;
    ward.settled("merge_patch", &text(1), &state).await;
    ward.destroy(&state).await;
    assert_eq!(selectors(&owners(&ward.live().await)), ["helm"]);
}

#[tokio::test]
async fn a_map_that_left_when_others_had_removed_it_is_nobodys_when_it_comes_back() {
    let ward = ward().await;
    let replicas = r#"{"op": "replace", "path": "/spec/replicas", "value": 1}"#;
    let fast =
        r#"{"op": "add", "path": "/spec/template/spec/nodeSelector", "value": {"disk": "fast"}}"#;
    let (both, less) = (format!("[{replicas}, {fast}]"), format!("[{replicas}]"));
    let state = ward.create("json_patch", &both).await;
    select(&ward, "ed", json!({"disk": "slow"})).await;
    select(&ward, "ed", Json::Null).await;
    let state = ward.change("json_patch", &less, &state).await;
    let state = ward.change("json_patch", &both, &state).await;
    ward.destroy(&state).await;
    assert_eq!(selectors(&owners(&ward.live().await)), Vec::<String>::new());
}
