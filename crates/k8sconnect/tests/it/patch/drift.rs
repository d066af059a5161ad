//! What others do to a patched object.

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::Action;

use super::{PATCH, Ward, leaves, owners, said};
use crate::world::World;

const FORMS: [(&str, &str); 3] = [
    ("patch", "data: {a: ours}"),
    ("merge_patch", "data: {a: ours}"),
    ("json_patch", r#"[{"op": "replace", "path": "/data/a", "value": "ours"}]"#),
];

#[tokio::test]
async fn drift_of_a_patched_field_is_told_with_its_author_and_put_back() {
    for (attribute, text) in FORMS {
        let ward = Ward::config_map().await;
        let before = owners(&ward.live().await);
        let state = ward.create(attribute, text).await;
        let edit = json!({"data": {"a": "edited", "b": "edited", "d": "new"},
                          "metadata": {"labels": {"x": "y"}}});
        ward.world.cluster.act_as("kubectl-edit").merge_patch(&ward.target, edit).await.unwrap();
        let plan = ward.plan(attribute, text, &state).await.unwrap();
        assert_eq!(plan.action, Action::Update, "{attribute}");
        let told = said(&plan.diagnostics);
        assert!(told.contains("`data.a` changed outside of Terraform"), "{attribute}: {told}");
        assert!(told.contains("data.a held by `kubectl-edit` (Update"), "{attribute}: {told}");
        assert!(told.contains("is now edited will be ours"), "{attribute}: {told}");
        assert!(!told.contains("data.b"), "only what is patched: {told}");
        let state = ward.change(attribute, text, &state).await;
        let live = ward.live().await;
        assert_eq!(live["data"], json!({"a": "ours", "b": "edited", "c": "helm", "d": "new"}));
        ward.settled(attribute, text, &state).await;
        ward.destroy(&state).await;
        let after = owners(&ward.live().await);
        let helm = |all: &[String]| all.iter().find(|it| it.contains("helm")).cloned().unwrap();
        assert!(helm(&after).contains("f:a"), "back with who held it before us: {after:#?}");
        assert!(helm(&before).contains("f:a"));
    }
}

#[tokio::test]
async fn what_others_do_elsewhere_never_shows() {
    for (attribute, text) in FORMS {
        let ward = Ward::config_map().await;
        let state = ward.create(attribute, text).await;
        let cluster = ward.world.cluster;
        let edit = json!({"data": {"b": "edited", "c": null, "d": "new"}});
        cluster.act_as("kubectl-edit").merge_patch(&ward.target, edit).await.unwrap();
        let mut agreed = super::object("v1", "ConfigMap", "settings", ward.world.namespace.name());
        agreed["data"] = json!({"a": "ours"});
        cluster.act_as("flux").apply(agreed).await.unwrap();
        ward.settled(attribute, text, &state).await;
    }
}

#[tokio::test]
async fn a_removed_field_that_comes_back_is_removed_again() {
    let forms = [
        ("merge_patch", "data: {a: null}"),
        ("json_patch", r#"[{"op": "remove", "path": "/data/a"}]"#),
    ];
    for (attribute, text) in forms {
        let ward = Ward::config_map().await;
        let state = ward.create(attribute, text).await;
        assert_eq!(leaves(&state)["data.a"], "(absent)");
        let back = json!({"data": {"a": "back"}});
        ward.world.cluster.act_as("operator").merge_patch(&ward.target, back).await.unwrap();
        let plan = ward.plan(attribute, text, &state).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("held by `operator`"), "{attribute}: {told}");
        assert!(told.contains("is now back will be (absent)"), "{attribute}: {told}");
        let state = ward.change(attribute, text, &state).await;
        assert_eq!(ward.live().await["data"].get("a"), None);
        ward.settled(attribute, text, &state).await;
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn operations_bring_back_what_drifted_and_nothing_else() {
    let ward = Ward::deployment().await;
    let text = r#"[
      {"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "NEW", "value": "1"}},
      {"op": "add", "path": "/spec/template/spec/tolerations/-", "value": {"key": "spot", "operator": "Exists"}},
      {"op": "copy", "from": "/spec/template/spec/containers/0/image", "path": "/metadata/annotations/image"}
    ]"#;
    let state = ward.create("json_patch", text).await;
    let edits = json!([
      {"op": "replace", "path": "/spec/template/spec/containers/0/env/2/value", "value": "9"},
      {"op": "remove", "path": "/spec/template/spec/tolerations/1"},
      {"op": "remove", "path": "/metadata/annotations/image"},
      {"op": "add", "path": "/spec/template/spec/containers/0/env/0", "value": {"name": "THEIRS", "value": "x"}}
    ]);
    ward.world.cluster.act_as("rival").json_patch(&ward.target, edits).await.unwrap();
    let plan = ward.plan("json_patch", text, &state).await.unwrap();
    assert_eq!(plan.action, Action::Update);
    let told = said(&plan.diagnostics);
    assert!(told.contains("and 2 more fields changed outside of Terraform"), "{told}");
    let state = ward.change("json_patch", text, &state).await;
    let live = ward.live().await;
    let env = live["spec"]["template"]["spec"]["containers"][0]["env"].as_array().unwrap().clone();
    let names: Vec<_> = env.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["THEIRS", "MODE", "LEVEL", "NEW"]);
    assert_eq!(env[3]["value"], "1");
    assert_eq!(live["spec"]["template"]["spec"]["tolerations"].as_array().unwrap().len(), 2);
    assert_eq!(live["metadata"]["annotations"]["image"], "nginx:1");
    ward.settled("json_patch", text, &state).await;
    ward.destroy(&state).await;
}

#[tokio::test]
async fn an_item_of_a_list_that_its_owner_wrote_again_is_replaced_again() {
    let args = "image: nginx:1\n        args: [a, b]";
    let manifest = super::DEPLOYMENT.replace("image: nginx:1", args);
    let ward = Ward::with(&manifest).await;
    let text = r#"[{"op": "replace", "path": "/spec/template/spec/containers/0/args/1", "value": "ours"}]"#;
    let plan = ward.core().plan(PATCH, &ward.config("json_patch", text), None).await.unwrap();
    let told = said(&plan.diagnostics);
    let item = "spec.template.spec.containers[name=app].args";
    assert!(told.contains(&format!("{item}[=\"b\"] held by `helm`")), "what goes: {told}");
    let state = ward.create("json_patch", text).await;
    assert_eq!(leaves(&state)[&format!("{item}[=\"b\"]")], "(absent)");
    let again = manifest.replace("NS", ward.world.namespace.name());
    ward.world.cluster.act_as("helm").force().apply(again).await.unwrap();
    let drifted = said(&ward.plan("json_patch", text, &state).await.unwrap().diagnostics);
    assert!(drifted.contains(&format!("{item}[=\"ours\"] held by `helm`")), "{drifted}");
    let state = ward.change("json_patch", text, &state).await;
    let args = |live: &serde_json::Value| {
        live["spec"]["template"]["spec"]["containers"][0]["args"].clone()
    };
    assert_eq!(args(&ward.live().await), json!(["a", "ours"]));
    ward.settled("json_patch", text, &state).await;
    let none = json!([{"op": "remove", "path": "/spec/template/spec/containers/0/args"}]);
    ward.world.cluster.act_as("thief").json_patch(&ward.target, none).await.unwrap();
    let state = ward.change("json_patch", text, &state).await;
    assert_eq!(args(&ward.live().await), json!(["ours"]));
    ward.settled("json_patch", text, &state).await;
    ward.destroy(&state).await;
}

#[tokio::test]
async fn drift_of_a_list_that_is_held_as_a_whole_has_an_author() {
    let env = "        env: [{name: MODE, value: plain}, {name: LEVEL, value: low}]\n";
    let ward = Ward::with(&super::DEPLOYMENT.replace(env, "")).await;
    let text = r#"[{"op": "add", "path": "/spec/template/spec/containers/0/env",
        "value": [{"name": "B", "value": "1"}]}]"#;
    let state = ward.create("json_patch", text).await;
    let more = json!([{"op": "add", "path": "/spec/template/spec/containers/0/env/-",
                       "value": {"name": "A", "value": "2"}}]);
    ward.world.cluster.act_as("thief").json_patch(&ward.target, more).await.unwrap();
    let plan = ward.plan("json_patch", text, &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("containers[name=app].env held by `thief`"), "{told}");
}

#[tokio::test]
async fn an_item_that_somebody_took_away_is_not_blamed_on_who_holds_other_items() {
    let world = World::new().await;
    let kinds = world.kinds();
    let find = |name: &str| kinds.iter().find(|kind| kind.name == name).unwrap();
    let (definition, garden) = (find("crd-structural"), find("cr-garden"));
    world.make(definition).await;
    world.cluster.act_as("gardener").apply(&garden.value).await.unwrap();
    let ward = Ward::of(world, Target::of(&garden.value).unwrap());
    let text = "spec: {tags: [ours], beds: [{row: 2, plant: ours}]}";
    let state = ward.create("patch", text).await;
    let more = json!([{"op": "add", "path": "/spec/tags/-", "value": "theirs"},
                      {"op": "add", "path": "/spec/beds/-", "value": {"row": 9, "plant": "x"}}]);
    ward.world.cluster.act_as("operator").json_patch(&ward.target, more).await.unwrap();
    let live = ward.live().await;
    let place = |list: &str, ours: &dyn Fn(&Json) -> bool| {
        live["spec"][list].as_array().unwrap().iter().position(ours).unwrap()
    };
    let tag = place("tags", &|tag| tag == "ours");
    let bed = place("beds", &|bed| bed["row"] == 2);
    let none = json!([{"op": "remove", "path": format!("/spec/tags/{tag}")},
                      {"op": "remove", "path": format!("/spec/beds/{bed}")}]);
    ward.world.cluster.act_as("thief").json_patch(&ward.target, none).await.unwrap();
    let told = said(&ward.plan("patch", text, &state).await.unwrap().diagnostics);
    assert!(told.contains(r#"spec.tags[="ours"] held by nobody is now (absent)"#), "{told}");
    assert!(
        told.contains("spec.beds[row=2,side=left].plant held by nobody is now (absent)"),
        "{told}"
    );
    ward.destroy(&state).await;
    ward.world.clear(std::slice::from_ref(definition)).await;
}

#[tokio::test]
async fn a_copy_that_others_changed_gets_back_the_value_that_it_found() {
    let ward = Ward::config_map().await;
    let text = r#"[{"op": "copy", "from": "/data/b", "path": "/data/copied"}]"#;
    let state = ward.create("json_patch", text).await;
    let edit = json!({"data": {"b": "changed", "copied": "theirs"}});
    ward.world.cluster.act_as("thief").merge_patch(&ward.target, edit).await.unwrap();
    let state = ward.change("json_patch", text, &state).await;
    assert_eq!(ward.live().await["data"]["copied"], "helm");
    ward.settled("json_patch", text, &state).await;
    ward.destroy(&state).await;
}

#[tokio::test]
async fn a_target_that_was_made_anew_is_patched_again_in_place() {
    for (attribute, text) in FORMS {
        let ward = Ward::config_map().await;
        let state = ward.create(attribute, text).await;
        ward.world.cluster.delete(&ward.target).await.unwrap();
        let mut body = super::object("v1", "ConfigMap", "settings", ward.world.namespace.name());
        body["data"] = json!({"a": "anew"});
        ward.world.cluster.act_as("argo").apply(&body).await.unwrap();
        let before = owners(&ward.live().await);
        let plan = ward.plan(attribute, text, &state).await.unwrap();
        assert_eq!(plan.action, Action::Update, "in place: {attribute}");
        let told = said(&plan.diagnostics);
        assert!(told.contains("was deleted and made anew"), "{told}");
        assert!(told.contains("data.a held by `argo`"), "{told}");
        let state = ward.change(attribute, text, &state).await;
        let former = format!("{:?}", state.attribute("previous_owners"));
        assert!(former.contains("argo") && !former.contains("helm"), "{former}");
        ward.settled(attribute, text, &state).await;
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before);
    }
}

#[tokio::test]
async fn a_target_that_is_gone_ends_the_patch() {
    let ward = Ward::config_map().await;
    let state = ward.create("patch", "data: {a: ours}").await;
    ward.world.cluster.delete(&ward.target).await.unwrap();
    assert!(ward.core().read(PATCH, &state).await.unwrap().state.is_none());
    ward.destroy(&state).await;
    assert_eq!(ward.world.cluster.read(&ward.target).await.unwrap(), None);
}

#[tokio::test]
async fn a_field_that_joins_and_one_that_leaves_keep_the_record_right() {
    for (attribute, first, second) in [
        ("patch", "data: {a: ours, b: ours}", "data: {b: ours, c: ours}"),
        ("merge_patch", "data: {a: ours, b: ours}", "data: {b: ours, c: ours}"),
        (
            "json_patch",
            r#"[{"op": "replace", "path": "/data/a", "value": "ours"}, {"op": "replace", "path": "/data/b", "value": "ours"}]"#,
            r#"[{"op": "replace", "path": "/data/b", "value": "ours"}, {"op": "replace", "path": "/data/c", "value": "ours"}]"#,
        ),
    ] {
        let ward = Ward::config_map().await;
        let before = owners(&ward.live().await);
        let state = ward.create(attribute, first).await;
        let plan = ward.plan(attribute, second, &state).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("data.a returns to `helm` (Apply"), "{attribute}: {told}");
        assert!(told.contains("data.c held by `helm`"), "{attribute}: {told}");
        let former = plan.planned.attribute("previous_owners").unwrap();
        assert!(former.is_unknown(), "who held what joins is known after the write");
        let state = ward.change(attribute, second, &state).await;
        assert_eq!(ward.live().await["data"], json!({"a": "ours", "b": "ours", "c": "ours"}));
        ward.settled(attribute, second, &state).await;
        let paths: Vec<_> = super::map(&state, "managed_fields").into_keys().collect();
        assert_eq!(paths, ["data.b", "data.c"]);
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
    }
}

#[tokio::test]
async fn the_form_of_a_patch_can_change() {
    let ward = Ward::config_map().await;
    let before = owners(&ward.live().await);
    let mut state = ward.create("patch", "data: {a: ours, b: ours}").await;
    for (attribute, text) in [FORMS[1], FORMS[2], FORMS[0]] {
        state = ward.change(attribute, text, &state).await;
        ward.settled(attribute, text, &state).await;
    }
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}
