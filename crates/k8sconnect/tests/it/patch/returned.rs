//! Who gets a field back, where it went through several hands before and while it was patched.

use serde_json::json;
use tfplugin::harness::State;

use super::{PATCH, Ward, former, owners, said};

/// The same data in each of the three forms.
const MANNERS: [&str; 3] = ["patch", "merge_patch", "json_patch"];

fn text(attribute: &str, data: &[(&str, &str)]) -> String {
    match attribute {
        "json_patch" => {
            let add = |(name, value): &(&str, &str)| json!({"op": "add", "path": format!("/data/{name}"), "value": value});
            data.iter().map(add).collect::<serde_json::Value>().to_string()
        }
        _ => {
            let data: serde_json::Map<_, _> =
                data.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
            json!({ "data": data }).to_string()
        }
    }
}

async fn edit(ward: &Ward, who: &str, data: serde_json::Value) {
    let edit = json!({ "data": data });
    ward.world.cluster.act_as(who).merge_patch(&ward.target, edit).await.unwrap();
}

/// Destroys the patch as Terraform does; what the plan said of it, and who holds a field then.
async fn end(ward: &Ward, state: &State, field: &str) -> (String, Vec<String>) {
    let core = ward.core();
    let read = core.read(PATCH, state).await.unwrap().present().unwrap();
    let plan = core.plan_destroy(PATCH, &read).await.unwrap();
    ward.destroy(&read).await;
    let held: Vec<_> = owners(&ward.live().await)
        .iter()
        .map(|entry| serde_json::from_str::<serde_json::Value>(entry).unwrap())
        .filter(|entry| entry["fieldsV1"]["f:data"].get(format!("f:{field}")).is_some())
        .map(|entry| entry["manager"].as_str().unwrap().to_owned())
        .collect();
    (said(&plan.diagnostics), held)
}

#[tokio::test]
async fn a_field_that_left_and_came_back_returns_to_who_held_it_last() {
    for attribute in MANNERS {
        let ward = Ward::config_map().await;
        let both = text(attribute, &[("a", "10"), ("b", "20")]);
        let state = ward.create(attribute, &both).await;
        edit(&ward, "ed", json!({"a": "edited"})).await;
        let less = text(attribute, &[("b", "20")]);
        let state = ward.change(attribute, &less, &state).await;
        let again = text(attribute, &[("b", "20"), ("a", "5")]);
        let state = ward.change(attribute, &again, &state).await;
        let former = format!("{:?}", state.attribute("previous_owners"));
        assert!(former.contains("\"ed\""), "{attribute}: {former}");
        let (told, held) = end(&ward, &state, "a").await;
        assert!(told.contains("data.a returns to `ed`"), "{attribute}: {told}");
        assert!(told.contains("data.b returns to `helm`"), "{attribute}: {told}");
        assert_eq!(held, ["ed"], "{attribute}");
    }
}

#[tokio::test]
async fn a_field_that_was_removed_left_and_came_back_returns_to_who_made_it_anew() {
    let ward = Ward::config_map().await;
    let state = ward.create("merge_patch", "data: {a: ours, c: null}").await;
    let state = ward.change("merge_patch", "data: {a: ours}", &state).await;
    edit(&ward, "ed", json!({"c": "edited"})).await;
    let state = ward.change("merge_patch", "data: {a: ours, c: '5'}", &state).await;
    let (told, held) = end(&ward, &state, "c").await;
    assert!(told.contains("data.c returns to `ed`"), "{told}");
    assert_eq!(held, ["ed"]);
}

#[tokio::test]
async fn whoever_took_a_field_that_nobody_held_and_lost_it_again_is_no_former_owner() {
    for attribute in MANNERS {
        let ward = Ward::config_map().await;
        let mine = text(attribute, &[("mine", "1")]);
        let state = ward.create(attribute, &mine).await;
        edit(&ward, "ed", json!({"mine": "edited"})).await;
        let state = ward.change(attribute, &mine, &state).await;
        ward.settled(attribute, &mine, &state).await;
        let (told, held) = end(&ward, &state, "mine").await;
        assert!(told.contains("data.mine stays as it is, held by nobody"), "{attribute}: {told}");
        assert!(held.is_empty(), "{attribute}: {held:?}");
    }
}

#[tokio::test]
async fn who_held_an_equal_value_before_gets_it_back_from_whoever_took_it_from_both() {
    for attribute in MANNERS {
        for meddler in ["ed", "helm"] {
            let ward = Ward::config_map().await;
            let before = owners(&ward.live().await);
            let same = text(attribute, &[("a", "helm")]);
            let state = ward.create(attribute, &same).await;
            match meddler {
                "ed" => edit(&ward, "ed", json!({"a": "edited"})).await,
                _ => {
                    let mut body = ward.body();
                    body["data"]["a"] = json!("upgraded");
                    ward.world.cluster.act_as("helm").force().apply(body).await.unwrap();
                }
            }
            let state = ward.change(attribute, &same, &state).await;
            ward.settled(attribute, &same, &state).await;
            let (told, held) = end(&ward, &state, "a").await;
            assert!(told.contains("data.a returns to `helm`"), "{attribute} {meddler}: {told}");
            assert_eq!(held, ["helm"], "{attribute} {meddler}");
            assert_eq!(owners(&ward.live().await).len(), before.len(), "{attribute} {meddler}");
        }
    }
}

const CONTAINER: &str = "/spec/template/spec/containers/0";

#[tokio::test]
async fn an_item_that_leaves_gives_back_the_list_that_was_taken_for_it() {
    let ward = Ward::deployment().await;
    let before = owners(&ward.live().await);
    let replicas = r#"{"op": "replace", "path": "/spec/replicas", "value": 1}"#;
    let spot = r#"{"op": "add", "path": "/spec/template/spec/tolerations/-",
        "value": {"key": "spot", "operator": "Exists"}}"#;
    let state = ward.create("json_patch", &format!("[{replicas}, {spot}]")).await;
    let less = format!("[{replicas}]");
    let plan = ward.plan("json_patch", &less, &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains(r#""operator":"Exists"}] returns to `helm`"#), "{told}");
    let state = ward.change("json_patch", &less, &state).await;
    let helm = |all: Vec<String>| all.into_iter().find(|it| it.contains("helm")).unwrap();
    assert!(helm(owners(&ward.live().await)).contains("f:tolerations"));
    ward.settled("json_patch", &less, &state).await;
    ward.destroy(&state).await;
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn a_part_that_stays_of_what_leaves_keeps_its_former_owner() {
    let list = format!(
        r#"[{{"op": "replace", "path": "{CONTAINER}/env",
             "value": [{{"name": "MODE", "value": "ours"}}, {{"name": "LEVEL", "value": "ours"}}]}}]"#
    );
    let item =
        format!(r#"[{{"op": "replace", "path": "{CONTAINER}/env/0/value", "value": "mine"}}]"#);
    let by_key =
        "spec: {template: {spec: {containers: [{name: app, env: [{name: MODE, value: mine}]}]}}}";
    for (attribute, part) in [("json_patch", item.as_str()), ("patch", by_key)] {
        let ward = Ward::deployment().await;
        let before = owners(&ward.live().await);
        let state = ward.create("json_patch", &list).await;
        let state = ward.change(attribute, part, &state).await;
        ward.settled(attribute, part, &state).await;
        let former = format!("{:?}", state.attribute("previous_owners"));
        assert!(former.contains("\"helm\""), "{attribute}: {former}");
        let (told, _) = end(&ward, &state, "").await;
        assert!(told.contains("env[name=MODE].value returns to `helm`"), "{attribute}: {told}");
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
    }
}

#[tokio::test]
async fn a_map_or_an_item_that_was_made_for_a_field_leaves_with_it() {
    let replicas = r#"{"op": "replace", "path": "/spec/replicas", "value": 1}"#;
    let env = format!(
        r#"{{"op": "add", "path": "{CONTAINER}/env/-", "value": {{"name": "X", "value": "1"}}}}"#
    );
    let notes =
        r#"{"op": "add", "path": "/spec/template/metadata/annotations", "value": {"a": "b"}}"#;
    for (attribute, more, less) in [
        (
            "merge_patch",
            "spec: {replicas: 1, template: {metadata: {annotations: {a: b}}}}".to_owned(),
            "spec: {replicas: 1}".to_owned(),
        ),
        ("json_patch", format!("[{replicas}, {env}, {notes}]"), format!("[{replicas}]")),
    ] {
        let ward = Ward::deployment().await;
        let state = ward.create(attribute, &more).await;
        let ours = |all: Vec<String>| all.into_iter().find(|it| it.contains("k8sconnect-patch-"));
        assert!(ours(owners(&ward.live().await)).unwrap().contains("f:template"), "{attribute}");
        let state = ward.change(attribute, &less, &state).await;
        let left = ours(owners(&ward.live().await)).unwrap();
        assert!(!left.contains("f:template"), "{attribute}: {left}");
        assert!(left.contains("f:replicas"), "{attribute}: {left}");
        ward.settled(attribute, &less, &state).await;
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn what_a_former_owner_came_to_hold_again_stays_with_it() {
    for attribute in MANNERS {
        let ward = Ward::config_map().await;
        let ours = text(attribute, &[("a", "x"), ("b", "yy")]);
        let state = ward.create(attribute, &ours).await;
        let mut body = ward.body();
        body["data"] = json!({"b": "yy", "c": "helm"});
        ward.world.cluster.act_as("helm").force().apply(body).await.unwrap();
        ward.settled(attribute, &ours, &state).await;
        let (told, held) = end(&ward, &state, "b").await;
        assert!(told.contains("data.a returns to `helm`"), "{attribute}: {told}");
        assert!(told.contains("data.b stays with `helm`"), "{attribute}: {told}");
        assert_eq!(held, ["helm"], "{attribute}");
    }
}

#[tokio::test]
async fn a_tainted_patch_says_what_it_gives_back_for_good() {
    for attribute in MANNERS {
        let ward = Ward::config_map().await;
        edit(&ward, "ed", json!({"b": "edited"})).await;
        let all = text(attribute, &[("a", "1"), ("b", "2"), ("new", "3")]);
        let state = ward.create(attribute, &all).await;
        let core = ward.core();
        let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
        let tainted = State { tainted: true, ..read };
        let config = ward.config(attribute, &text(attribute, &[("a", "1")]));
        let plan = core.plan(PATCH, &config, Some(&tainted)).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("data.b returns to `ed`"), "{attribute}: {told}");
        assert!(told.contains("data.new stays as it is, held by nobody"), "{attribute}: {told}");
        assert!(!told.contains("data.a returns"), "{attribute}: {told}");
        let again = ward.core().apply(PATCH, &config, Some(&tainted), &plan).await.unwrap();
        let (_, held) = end(&ward, &again.present().unwrap(), "b").await;
        assert_eq!(held, ["ed"], "{attribute}");
        // What stays in the patch is not given back for good.
        let state = ward.create(attribute, &all).await;
        let core = ward.core();
        let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
        let tainted = State { tainted: true, ..read };
        let plan = core.plan(PATCH, &ward.config(attribute, &all), Some(&tainted)).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(!told.contains("handed back") && !told.contains("let go"), "{attribute}: {told}");
    }
}

#[tokio::test]
async fn a_tainted_patch_that_is_made_anew_takes_nothing_from_who_got_its_field_back() {
    for attribute in MANNERS {
        let ward = Ward::config_map().await;
        let config = ward.config(attribute, &text(attribute, &[("a", "1")]));
        let state = ward.core().create(PATCH, &config).await.unwrap();
        let core = ward.core();
        let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
        let tainted = State { tainted: true, ..read };
        let plan = core.plan(PATCH, &config, Some(&tainted)).await.unwrap();
        let again = ward.core().apply(PATCH, &config, Some(&tainted), &plan).await.unwrap();
        let (told, held) = end(&ward, &again.present().unwrap(), "a").await;
        assert!(told.contains("data.a stays with `helm`"), "{attribute}: {told}");
        assert_eq!(held, ["helm"], "{attribute}");
    }
}

/// Appends a toleration as somebody else.
async fn tolerate(ward: &Ward, who: &str, key: &str) {
    let edit = json!([{"op": "add", "path": "/spec/template/spec/tolerations/-",
        "value": {"key": key, "operator": "Exists"}}]);
    ward.world.cluster.act_as(who).json_patch(&ward.target, edit).await.unwrap();
}

#[tokio::test]
async fn a_list_without_keys_goes_back_to_who_held_it_before_the_patch_and_plans_say_so() {
    let ward = Ward::deployment().await;
    let item = |key: &str| {
        format!(r#"spec.template.spec.tolerations[={{"key":"{key}","operator":"Exists"}}]"#)
    };
    let text = |key: &str| {
        json!([{"op": "add", "path": "/spec/template/spec/tolerations/-",
            "value": {"key": key, "operator": "Exists"}}])
        .to_string()
    };
    let state = ward.create("json_patch", &text("t1")).await;
    tolerate(&ward, "bob", "b").await;
    let told = said(&ward.plan("json_patch", &text("t2"), &state).await.unwrap().diagnostics);
    assert!(told.contains(&format!("{} held by `bob`", item("t2"))), "{told}");
    assert!(told.contains(&format!("{} returns to `helm`", item("t2"))), "{told}");
    let stays = "stays in spec.template.spec.tolerations, which the patch holds";
    assert!(told.contains(&format!("{} {stays}", item("t1"))), "{told}");

    let state = ward.change("json_patch", &text("t2"), &state).await;
    ward.settled("json_patch", &text("t2"), &state).await;
    assert_eq!(former(&state)[&item("t2")], ["helm"]);
    let core = ward.core();
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let told = said(&core.plan_destroy(PATCH, &read).await.unwrap().diagnostics);
    assert!(told.contains(&format!("{} returns to `helm`", item("t2"))), "{told}");
    ward.destroy(&state).await;
    let holds = |who: &str, all: &[String]| {
        all.iter().any(|it| it.contains(who) && it.contains("f:tolerations"))
    };
    let after = owners(&ward.live().await);
    assert!(holds("helm", &after) && !holds("bob", &after), "{after:?}");
}
