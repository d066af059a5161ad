//! What is refused, all at once and in words that help.

use serde_json::json;
use testkit::Target;

use super::round::Round;
use crate::workspace::says;

#[tokio::test]
async fn what_no_patch_may_say_is_told_before_anything_is_asked() {
    let mut round = Round::new().await;
    let target = round.object("settings", json!({"data": {"a": "helm"}})).await;
    let remove = r#"[{"op": "remove", "path": "/metadata/name"}]"#;
    let refusals = [
        ("patch", "metadata: {name: other}", "`metadata.name` identifies the object"),
        ("merge_patch", "kind: null", "`kind` identifies the object"),
        ("json_patch", remove, "`/metadata/name` identifies the object"),
        ("patch", "status: {a: b}", "`status` is written by the API server"),
        ("merge_patch", "metadata: {uid: x}", "`metadata.uid` is written by the API server"),
        ("patch", "data: {$patch: replace, a: b}", "use `merge_patch` with `null`"),
        (
            "merge_patch",
            "data: {$retainKeys: [a]}",
            "To change single items of a list, use `patch`",
        ),
        ("json_patch", "{a: b}", "belong in `patch` or `merge_patch`"),
        ("patch", "[a]", "A list of operations belongs in `json_patch`"),
        ("merge_patch", "", "the patch changes nothing"),
    ];
    for (n, (attribute, text, _)) in refusals.into_iter().enumerate() {
        round.patch(&format!("p{n}"), &target, (attribute, text));
    }
    let two = "merge_patch = \"data: {a: b}\"";
    round.patch_with("two", &target, ("patch", "data: {a: b}"), two);
    let scale = Target { name: "web/scale".into(), ..target };
    round.patch("scale", &scale, ("patch", "spec: {replicas: 7}"));
    round.write().at.init().await;
    let plan = round.at.plan_fails().await;
    for (_, _, words) in refusals {
        says(&plan.text, words);
    }
    says(&plan.text, "Exactly one of `patch`, `json_patch` and `merge_patch` must be set");
    says(&plan.text, "No object can be meant by `target.name = \"web/scale\"`");
}

#[tokio::test]
async fn what_the_object_does_not_allow_is_told_in_the_plan_and_nothing_is_changed() {
    let mut round = Round::new().await;
    let cluster = round.at.cluster;
    let settings = round.object("settings", json!({"data": {"a": "helm", "b": "helm"}})).await;
    round.patch("first", &settings, ("patch", "data: {a: ours}"));
    round.write().at.init().await;
    round.at.apply().await;
    let id = round.state("first").await["id"].as_str().unwrap().to_owned();
    let marked = json!({"metadata": {"annotations":
        {"k8sconnect.terraform.io/terraform-id": "0f3a"}}, "data": {"a": "b"}});
    let marked = round.object("marked", marked).await;
    let managed = round.object_of("k8sconnect", "managed", json!({"data": {"a": "b"}})).await;
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {
        "replicas": 0, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "app", "image": "nginx:1"}]}}}});
    let web = round.object("web", deployment).await;
    let selector = "spec: {selector: {matchLabels: {app: other}}}";
    let replace = r#"[{"op": "replace", "path": "/spec/selector/matchLabels/app", "value": "x"}]"#;
    let test = r#"[{"op": "test", "path": "/data/b", "value": "mine"}, {"op": "remove", "path": "/data/b"}]"#;
    round.patch("second", &settings, ("patch", "data: {a: second}"));
    round.patch("third", &settings, ("merge_patch", "data: {a: ours}"));
    round.patch("fourth", &settings, ("json_patch", r#"[{"op": "remove", "path": "/data/a"}]"#));
    round.patch("test", &settings, ("json_patch", test));
    round.patch("marked", &marked, ("patch", "data: {a: c}"));
    round.patch("managed", &managed, ("patch", "data: {a: c}"));
    round.patch("selector_a", &web, ("patch", selector));
    round.patch("selector_b", &web, ("merge_patch", selector));
    round.patch("selector_c", &web, ("json_patch", replace));
    round.patch("unknown", &web, ("patch", "spec: {replcas: 3}"));
    let nothing = Target { name: "nothing".into(), ..settings.clone() };
    round.patch("missing", &nothing, ("patch", "data: {a: c}"));
    let nowhere = Target::new("v1", "Namespace", "ignored", "no-such-one");
    round.patch("nowhere", &nowhere, ("patch", "metadata: {labels: {a: b}}"));
    round.write();
    let seen = cluster.read(&settings).await.unwrap();
    let plan = round.at.plan_fails().await;
    let count = |words: &str| plan.text.matches(words).count();
    // Terraform plans them in any order, and of the four patches of one field three are refused.
    let by_owner = count("another patch holds the same fields");
    let by_plan = count("another patch of this configuration means the same fields");
    assert_eq!(by_owner + by_plan, 3, "{}", plan.text);
    says(&plan.text, &format!("held by `k8sconnect-patch-{id}`"));
    says(&plan.text, "The `test` of `/data/b` fails: wanted mine found helm");
    says(&plan.text, "It bears the k8sconnect id `0f3a`");
    says(&plan.text, "Some of its fields are held by the field manager `k8sconnect`");
    assert_eq!(count("A patch never replaces its target"), 4, "{}", plan.text);
    assert!(count("field is immutable") >= 3, "{}", plan.text);
    says(&plan.text, "/nothing` does not exist, so its patch cannot be planned in full");
    says(&plan.text, "Namespace `no-such-one` does not exist");
    assert_eq!(cluster.read(&settings).await.unwrap(), seen);
    assert_eq!(cluster.read(&nothing).await.unwrap(), None, "a plan makes nothing");
    // A patch under another name, while the one that holds the field goes in the same run.
    let renamed = super::resource("renamed", &settings, ("patch", "data: {a: ours}"), "");
    round.at.runner.write("main.tf", &renamed).unwrap();
    let plan = round.at.plan_fails().await;
    says(&plan.text, "under a former address: say so with a `moved` block");
    let moved = "\nmoved {\n  from = k8sconnect_patch.first\n  to = k8sconnect_patch.renamed\n}\n";
    round.at.runner.write("main.tf", &(renamed + moved)).unwrap();
    round.at.apply().await;
    round.at.plan_empty().await;
    round.at.destroy().await;
}

#[tokio::test]
async fn each_part_of_the_target_means_another_object() {
    let mut round = Round::new().await;
    let v1 = json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
        "spec": {"minReplicas": 1, "maxReplicas": 3,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}});
    let scaler = round.object("scaler", v1).await;
    let patch = ("patch", "metadata: {labels: {ours: 'yes'}}");
    let settings = round.object("settings", json!({"data": {"a": "b"}})).await;
    let changes = [
        ("api_version", &scaler, Target { api_version: "autoscaling/v2".into(), ..scaler.clone() }),
        ("kind", &settings, Target { kind: "Secret".into(), ..settings.clone() }),
        ("name", &settings, Target { name: "other".into(), ..settings.clone() }),
        ("namespace", &settings, Target { namespace: None, ..settings.clone() }),
    ];
    for (n, (name, target, _)) in changes.iter().enumerate() {
        let text = patch.1.replace("ours", &format!("ours-{n}"));
        round.patch(name, target, (patch.0, &text));
    }
    round.write().at.init().await;
    round.at.apply().await;
    for (n, (name, _, other)) in changes.iter().enumerate() {
        let text = patch.1.replace("ours", &format!("ours-{n}"));
        round.patch(name, other, (patch.0, &text));
    }
    let plan = round.write().at.plan_changes().await;
    says(&plan.text, "4 to add, 0 to change, 4 to destroy");
    assert_eq!(plan.text.matches("# forces replacement").count(), 4, "{}", plan.text);
    for n in 0..4 {
        says(&plan.text, &format!("metadata.labels.ours-{n} stays as it is, held by nobody"));
    }
}
