//! What others do to patched objects, and what is made of it.

use serde_json::json;

use super::round::Round;
use crate::workspace::{never_says, says};

const FORMS: [(&str, &str); 3] = [
    ("patch", "data: {a: ours, b: ours}"),
    ("merge_patch", "data: {a: ours, b: ours}"),
    (
        "json_patch",
        r#"[{"op": "replace", "path": "/data/a", "value": "ours"}, {"op": "replace", "path": "/data/b", "value": "ours"}]"#,
    ),
];

#[tokio::test]
async fn drift_is_told_with_its_author_and_set_right_and_what_leaves_goes_back_in_every_form() {
    let mut round = Round::new().await;
    let cluster = round.at.cluster;
    let body = json!({"data": {"a": "helm", "b": "helm", "c": "helm"}});
    let mut targets = Vec::new();
    for (attribute, text) in FORMS {
        let target = round.object(&attribute.replace('_', "-"), body.clone()).await;
        round.patch(attribute, &target, (attribute, text));
        targets.push(target);
    }
    let before = round.owners().await;
    round.write().at.init().await;
    round.at.apply().await;
    for target in &targets {
        let edit = json!({"data": {"a": "edited", "c": "edited", "d": "new"}});
        cluster.act_as("kubectl-edit").merge_patch(target, edit).await.unwrap();
    }
    let seen = round.live().await;
    let plan = round.at.plan_changes().await;
    says(&plan.text, "0 to add, 3 to change, 0 to destroy");
    for target in &targets {
        let of = format!("ConfigMap `{}/{}`", round.at.namespace.name(), target.name);
        says(&plan.text, &format!("{of}: `data.a` changed outside of Terraform"));
    }
    says(&plan.text, "data.a held by `kubectl-edit` (Update");
    says(&plan.text, "is now edited will be ours");
    never_says(&plan.text, "data.c");
    never_says(&plan.text, "data.d");
    assert_eq!(round.live().await, seen, "neither a refresh nor a plan writes");
    round.at.apply().await;
    round.at.plan_empty().await;
    for (name, object) in round.live().await {
        let data = json!({"a": "ours", "b": "ours", "c": "edited", "d": "new"});
        assert_eq!(object["data"], data, "{name}");
    }

    for (n, (attribute, text)) in FORMS.iter().enumerate() {
        let less = text
            .replace(", b: ours", "")
            .replace(r#", {"op": "replace", "path": "/data/b", "value": "ours"}"#, "");
        round.patch(attribute, &targets[n], (attribute, &less));
    }
    let plan = round.write().at.plan_changes().await;
    says(&plan.text, "`data.b` will be handed back");
    says(&plan.text, "data.b returns to `helm` (Apply");
    round.at.apply().await;
    round.at.plan_empty().await;
    for (name, object) in round.live().await {
        assert_eq!(object["data"]["b"], "ours", "{name}: its value stays");
        let held = testkit::owners::managers_of(&object, &["f:data", "f:b"]);
        assert_eq!(held.into_iter().collect::<Vec<_>>(), ["helm"], "{name}");
    }
    round.at.destroy().await;
    // The editor keeps what it took of others; all else is as it was.
    for ((name, after), (_, before)) in round.owners().await.iter().zip(&before) {
        let helm = |all: &[String]| all.iter().find(|it| it.contains("\"helm\"")).cloned().unwrap();
        assert_eq!(helm(after), helm(before).replace("\"f:c\":{},", "").replace(",\"f:c\":{}", ""));
        assert!(after.iter().all(|it| !it.contains("k8sconnect")), "{name}: {after:?}");
    }
}

#[tokio::test]
async fn operations_are_carried_out_once_and_an_object_made_anew_is_patched_again() {
    let mut round = Round::new().await;
    let cluster = round.at.cluster;
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {
        "replicas": 0, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}, "annotations": {"team": "blue"}},
            "spec": {"containers": [{"name": "app", "image": "nginx:1",
                "env": [{"name": "MODE", "value": "plain"}]}]}}}});
    let web = round.object("web", deployment).await;
    let settings = round.object("settings", json!({"data": {"a": "helm"}})).await;
    let text = r#"[
      {"op": "test", "path": "/spec/template/spec/containers/0/image", "value": "nginx:1"},
      {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:2"},
      {"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "NEW", "value": "1"}},
      {"op": "copy", "from": "/spec/template/metadata/annotations/team", "path": "/spec/template/metadata/annotations/copied"},
      {"op": "move", "from": "/spec/template/metadata/annotations/team", "path": "/spec/template/metadata/annotations/moved"}
    ]"#;
    round.patch("ops", &web, ("json_patch", text));
    round.patch("it", &settings, ("patch", "data: {a: ours}"));
    round.write().at.init().await;
    round.at.apply().await;
    round.at.plan_empty().await;
    // Another operation joins; none of the others is carried out again.
    let more =
        text.replace("\n    ]", r#", {"op": "replace", "path": "/spec/replicas", "value": 1}]"#);
    round.patch("ops", &web, ("json_patch", &more));
    round.write().at.apply().await;
    round.at.plan_empty().await;
    let live = cluster.read(&web).await.unwrap().unwrap();
    let template = &live["spec"]["template"];
    assert_eq!(template["spec"]["containers"][0]["env"].as_array().unwrap().len(), 2);
    assert_eq!(template["metadata"]["annotations"], json!({"copied": "blue", "moved": "blue"}));

    // Somebody puts a container in front, and makes the other object anew.
    let front = json!([{"op": "add", "path": "/spec/template/spec/containers/0",
        "value": {"name": "front", "image": "front:1"}}]);
    cluster.act_as("injector").json_patch(&web, front).await.unwrap();
    cluster.delete(&settings).await.unwrap();
    round.object_of("argo", "settings", json!({"data": {"a": "anew"}})).await;
    let anew = cluster.read(&settings).await.unwrap().unwrap();
    let plan = round.at.plan_changes().await;
    says(&plan.text, "0 to add, 1 to change, 0 to destroy");
    says(&plan.text, "was deleted and made anew");
    says(&plan.text, "data.a held by `argo` (Apply");
    round.at.apply().await;
    round.at.plan_empty().await;
    assert_eq!(round.state("it").await["previous_owners"]["data.a"][0]["manager"], "argo");
    round.patch("ops", &web, ("json_patch", &more.replace("nginx:2", "nginx:3")));
    let plan = round.write().at.plan_fails().await;
    says(&plan.text, "it was spec.template.spec.containers[name=app].image");
    says(&plan.text, "it is spec.template.spec.containers[name=front].image");
    round.patch("ops", &web, ("json_patch", &more));
    round.write().at.destroy().await;
    assert_eq!(
        super::owners(&cluster.read(&settings).await.unwrap().unwrap()),
        super::owners(&anew)
    );
}
