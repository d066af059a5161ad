//! Patches of one object that meet each other, some of which hold nothing of what they mean.

use serde_json::json;

use super::round::Round;
use super::traces;
use crate::workspace::says;

#[tokio::test]
async fn two_patches_never_mean_the_same_field_and_one_that_was_robbed_can_be_destroyed() {
    let mut round = Round::new().await;
    let cluster = round.at.cluster;
    let settings = round.object("settings", json!({"data": {"a": "1"}})).await;
    round.patch("first", &settings, ("merge_patch", "data: {a: '1'}"));
    let before = round.owners().await;
    round.write().at.init().await;
    round.at.apply().await;
    round.at.plan_empty().await;
    round.patch("second", &settings, ("merge_patch", "data: {a: other}"));
    let plan = round.write().at.plan_fails().await;
    let id = round.state("first").await["id"].as_str().unwrap().to_owned();
    says(&plan.text, &format!("held by `k8sconnect-patch-{id}`"));
    // One that was never made is planned before a destroy too, unless nothing is refreshed.
    let destroy = ["-destroy", "-refresh=false"];
    let plan = round.at.runner.plan_with(&destroy[..1]).await.unwrap();
    says(&plan.text, "also for a patch that was never made. With `-refresh=false` it does not.");
    says(&round.at.runner.plan_with(&destroy).await.unwrap().text, "1 to destroy");
    // Made anew, it means as much as before.
    round.drop_patch("second");
    round.write();
    let replace = ["-replace=k8sconnect_patch.first"];
    round.at.runner.plan_with(&replace).await.unwrap();
    round.at.runner.apply_planned().await.unwrap().successful().unwrap();
    round.at.plan_empty().await;
    // The other one takes all of it, as was usual before fields were listed.
    round.patch_with("second", &settings, ("merge_patch", "data: {a: other}"), "adopt = true");
    let plan = round.write().at.runner.plan_with(&["-target=k8sconnect_patch.second"]).await;
    says(&plan.unwrap().text, "fields of another patch will be taken over");
    round.at.runner.apply_planned().await.unwrap().successful().unwrap();
    let plan = round.at.plan_fails().await;
    says(&plan.text, "remove this patch, or these fields from it");
    says(&plan.text, "With `-refresh=false` it does not");
    round.at.runner.plan_with(&destroy).await.unwrap();
    round.at.runner.apply_planned().await.unwrap().successful().unwrap();
    let live = cluster.read(&settings).await.unwrap().unwrap();
    assert_eq!((&live["data"]["a"], traces(&live)), (&json!("other"), vec![]));
    round.drop_patch("second");
    assert_eq!(round.owners().await, before);
}

#[tokio::test]
async fn the_first_annotations_of_an_object_come_from_three_patches_at_once() {
    let mut round = Round::new().await;
    let settings = round.object("settings", json!({"data": {"a": "1"}})).await;
    let labels = r#"{"op": "add", "path": "/metadata/labels", "value": {}}"#;
    for n in 0..3 {
        let add =
            |map: &str| format!(r#"{{"op": "add", "path": "/metadata/{map}/x{n}", "value": "v"}}"#);
        let text = format!("[{}, {labels}, {}]", add("annotations"), add("labels"));
        round.patch(&format!("p{n}"), &settings, ("json_patch", &text));
    }
    let before = round.owners().await;
    round.write().at.init().await;
    round.at.apply().await;
    round.at.plan_empty().await;
    round.at.destroy().await;
    let live = round.at.cluster.read(&settings).await.unwrap().unwrap();
    let all = json!({"x0": "v", "x1": "v", "x2": "v"});
    assert_eq!((&live["metadata"]["labels"], &live["metadata"]["annotations"]), (&all, &all));
    assert_eq!(round.owners().await, before);
}
