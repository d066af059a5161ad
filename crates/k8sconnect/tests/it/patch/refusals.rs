//! What is refused, and what the words offer.

use serde_json::{Value as Json, json};
use testkit::{Filter, Target};
use tfplugin::harness::Failure;
use tfplugin::{Data, Value};

use super::{PATCH, Ward, id, object, owners, refused, said};
use crate::world::OBJECT;

#[tokio::test]
async fn what_no_patch_may_touch_is_refused_before_anything_is_asked() {
    let ward = Ward::config_map().await;
    let refusals = [
        ("patch", "metadata: {name: other}", "`metadata.name` identifies the object"),
        ("merge_patch", "metadata: {name: null}", "`metadata.name` identifies the object"),
        ("merge_patch", "kind: null", "`kind` identifies the object"),
        ("patch", "status: {a: b}", "`status` is written by the API server"),
        ("patch", "metadata: {uid: x}", "`metadata.uid` is written by the API server"),
        ("merge_patch", "metadata: {managedFields: []}", "`metadata.managedFields` is written"),
        (
            "json_patch",
            r#"[{"op": "remove", "path": "/metadata/name"}]"#,
            "`/metadata/name` identifies",
        ),
        (
            "json_patch",
            r#"[{"op": "add", "path": "/status/x", "value": 1}]"#,
            "`/status/x` is written",
        ),
        ("patch", "data: {$patch: replace, a: b}", "use `merge_patch` with `null`"),
        (
            "patch",
            "spec: {$setElementOrder/containers: [{name: a}]}",
            "is a directive of strategic",
        ),
        ("patch", "[a]", "belongs in `json_patch`"),
        ("json_patch", "{a: b}", "belong in `patch` or `merge_patch`"),
        ("json_patch", r#"[{"op": "put", "path": "/a"}]"#, "operation 1: `put` does not exist"),
        (
            "patch",
            "metadata: {annotations: {k8sconnect.terraform.io/x: y}}",
            "is reserved for k8sconnect",
        ),
        ("merge_patch", "", "the patch changes nothing"),
        ("patch", "a: [", "line 1"),
    ];
    let tried = async {
        for (attribute, text, words) in refusals {
            let told = refused(ward.core().plan(PATCH, &ward.config(attribute, text), None).await);
            assert!(told.contains(words), "`{words}` was not said of {text:?}: {told}");
        }
    };
    let user = Filter::by_user(&ward.world.user);
    let ((), asked) = ward.world.cluster.count_during(user, tried).await.unwrap();
    assert_eq!(asked, []);
}

#[tokio::test]
async fn a_subresource_is_no_target() {
    let ward = Ward::config_map().await;
    for (name, told_of) in [
        ("web/scale", "object"),
        ("web/status", "object"),
        ("web%2Fscale", "object"),
        ("..", "object"),
        ("", "object"),
        ("CM ?x=1", "Deployment"),
    ] {
        let target = Data::object([
            ("api_version", Value::from("apps/v1")),
            ("kind", Value::from("Deployment")),
            ("name", Value::from(name)),
            ("namespace", Value::from(ward.world.namespace.name())),
        ]);
        let target = [("target", Value::Known(target))];
        let config = ward.config_with("merge_patch", "spec: {replicas: 7}", &target);
        let told = refused(ward.core().plan(PATCH, &config, None).await);
        assert!(told.contains(&format!("No {told_of} can be meant by `target.name")), "{told}");
    }
}

#[tokio::test]
async fn exactly_one_form_must_be_written() {
    let ward = Ward::config_map().await;
    let two =
        ward.config_with("patch", "data: {a: b}", &[("merge_patch", Value::from("data: {a: b}"))]);
    assert!(refused(ward.core().plan(PATCH, &two, None).await).contains("2 of them are"));
    let Value::Known(Data::Object(mut none)) = ward.config("patch", "data: {a: b}") else {
        unreachable!()
    };
    none.insert("patch".to_owned(), Value::Null);
    let none = Value::Known(Data::Object(none));
    assert!(refused(ward.core().plan(PATCH, &none, None).await).contains("0 of them are"));
}

#[tokio::test]
async fn an_object_of_a_k8sconnect_object_is_refused_until_its_marks_are_cleared() {
    let ward = Ward::config_map().await;
    let mut body = object("v1", "ConfigMap", "mine", ward.world.namespace.name());
    body["data"] = json!({"a": "b"});
    ward.world.create(&body.to_string()).await.unwrap();
    let mine = Ward::of(ward.world, Target::of(&body).unwrap());
    let config = mine.config("patch", "data: {a: c}");
    let told = refused(mine.core().plan(PATCH, &config, None).await);
    assert!(told.contains("is managed by a `k8sconnect_object`"), "{told}");
    // By its manager alone too.
    let unmarked = json!({"metadata": {"annotations": null}});
    mine.world.cluster.act_as("x").merge_patch(&mine.target, unmarked).await.unwrap();
    let told = refused(mine.core().plan(PATCH, &config, None).await);
    assert!(told.contains("held by the field manager `k8sconnect`"), "{told}");
    // The command that the message gives does what it says.
    let operations = told.split("-p '").nth(1).unwrap().split('\'').next().unwrap();
    let operations: Json = serde_json::from_str(operations).unwrap();
    mine.world.cluster.act_as("kubectl-patch").json_patch(&mine.target, operations).await.unwrap();
    let state = mine.create("patch", "data: {a: c}").await;
    mine.destroy(&state).await;
    assert_eq!(mine.live().await["data"]["a"], "c");
}

#[tokio::test]
async fn an_object_that_one_run_is_to_make_and_to_patch_is_found_at_plan() {
    let ward = Ward::config_map().await;
    let text = "data: {a: ours}";
    let state = ward.create("patch", text).await;
    let mut new = object("v1", "ConfigMap", "new", ward.world.namespace.name());
    new["data"] = json!({"a": "b"});
    let body = Value::from(ward.body().to_string());
    let adopts = ward.world.config_with([("yaml_body", body), ("adopt", Value::from(true))]);
    // A patch that stands, and an object that takes its target over.
    let core = ward.core();
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    core.plan(PATCH, &ward.config("patch", text), Some(&read)).await.unwrap();
    let told = refused(core.plan(OBJECT, &adopts, None).await);
    assert!(told.contains("made by a `k8sconnect_object` and changed by a `k8sconnect_patch`"));
    // Neither is there yet, whichever is planned first.
    let makes = ward.world.config(&new.to_string());
    let fresh = Ward::of(ward.world, Target::of(&new).unwrap());
    let patches = fresh.config("patch", text);
    let core = fresh.core();
    core.plan(OBJECT, &makes, None).await.unwrap();
    let told = refused(core.plan(PATCH, &patches, None).await);
    assert!(told.contains("Write the fields in the `yaml_body` of the object"), "{told}");
    let core = fresh.core();
    core.plan(PATCH, &patches, None).await.unwrap();
    let told = refused(core.plan(OBJECT, &makes, None).await);
    assert!(told.contains("Write the fields in the `yaml_body` of the object"), "{told}");
}

#[tokio::test]
async fn a_patched_object_can_still_be_told_from_one_of_ours() {
    // A patch in state does not make its target an object of this state.
    let ward = Ward::config_map().await;
    let core = ward.core();
    let state = ward.create("patch", "data: {a: ours}").await;
    core.read(PATCH, &state).await.unwrap();
    let mut body = object("v1", "ConfigMap", "settings", ward.world.namespace.name());
    body["data"] = json!({"a": "b"});
    let plan = core.plan(OBJECT, &ward.world.config(&body.to_string()), None).await;
    assert!(refused(plan).contains("exists already"));
}

#[tokio::test]
async fn a_field_of_another_patch_is_refused_and_disjoint_ones_are_not() {
    let ward = Ward::config_map().await;
    let before = owners(&ward.live().await);
    let first = ward.create("patch", "data: {a: first}").await;
    for (attribute, text) in [
        ("patch", "data: {a: second}"),
        ("patch", "data: {a: first}"),
        ("merge_patch", "data: {a: second}"),
        ("json_patch", r#"[{"op": "remove", "path": "/data/a"}]"#),
    ] {
        let told = refused(ward.core().plan(PATCH, &ward.config(attribute, text), None).await);
        assert!(told.contains("another patch holds the same fields"), "{attribute}: {told}");
        assert!(told.contains(&format!("`k8sconnect-patch-{}`", id(&first))), "{told}");
        assert!(told.contains("data.a"), "{told}");
    }
    let second = ward.create("merge_patch", "data: {b: second}").await;
    ward.settled("patch", "data: {a: first}", &first).await;
    ward.settled("merge_patch", "data: {b: second}", &second).await;
    ward.destroy(&first).await;
    ward.settled("merge_patch", "data: {b: second}", &second).await;
    ward.destroy(&second).await;
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn what_a_killed_run_left_behind_is_taken_over_with_adopt() {
    for (attribute, text) in [
        ("patch", "data: {a: ours}"),
        ("merge_patch", "data: {a: ours}"),
        ("json_patch", r#"[{"op": "replace", "path": "/data/a", "value": "ours"}]"#),
    ] {
        let ward = Ward::config_map().await;
        let before = owners(&ward.live().await);
        let lost = ward.create(attribute, text).await;
        let told = refused(ward.core().plan(PATCH, &ward.config(attribute, text), None).await);
        assert!(told.contains("`adopt = true`"), "{told}");
        let config = ward.adopting(attribute, text);
        let core = ward.core();
        let plan = core.plan(PATCH, &config, None).await.unwrap();
        assert!(said(&plan.diagnostics).contains("fields of another patch will be taken over"));
        let made = ward.core().apply(PATCH, &config, None, &plan).await.unwrap();
        let state = made.present().unwrap();
        let live = ward.live().await;
        assert!(!live["metadata"].to_string().contains(&id(&lost)), "nothing of the old is left");
        let former = format!("{:?}", state.attribute("previous_owners"));
        assert!(former.contains("helm"), "{former}");
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");
    }
}

#[tokio::test]
async fn a_target_that_is_not_there_is_warned_of_in_the_plan_and_never_made() {
    let ward = Ward::config_map().await;
    ward.world.cluster.delete(&ward.target).await.unwrap();
    for (attribute, text) in [
        ("patch", "data: {a: ours}"),
        ("merge_patch", "data: {a: ours}"),
        ("json_patch", r#"[{"op": "add", "path": "/data/a", "value": "ours"}]"#),
    ] {
        let config = ward.config(attribute, text);
        let plan = ward.core().plan(PATCH, &config, None).await.unwrap();
        assert!(said(&plan.diagnostics).contains("A patch never creates its target"));
        assert!(plan.planned.attribute("managed_state_projection").unwrap().is_unknown());
    }
    let nothing = Target::new("nowhere.example.com/v1", "Nothing", "default", "x");
    let gone = Ward::of(ward.world, nothing);
    let plan = gone.core().plan(PATCH, &gone.config("patch", "spec: {a: b}"), None).await.unwrap();
    assert!(
        said(&plan.diagnostics).contains("`Nothing` of `nowhere.example.com/v1` is not served"),
        "its type may come too"
    );
    let builtin = Ward::of(gone.world, Target::new("apps/v1", "Deploymint", "default", "x"));
    let config = builtin.config("patch", "spec: {a: b}");
    let told = refused(builtin.core().plan(PATCH, &config, None).await);
    assert!(told.contains("Did you mean `Deployment`?"), "{told}");
    let question = Target::new("authorization.k8s.io/v1", "SubjectAccessReview", None, "x");
    let question = Ward::of(builtin.world, question);
    let config = question.config("patch", "spec: {user: a}");
    let told = refused(question.core().plan(PATCH, &config, None).await);
    assert!(told.contains("no object of its kind can be read"), "{told}");
}

#[tokio::test]
async fn a_target_that_never_comes_is_an_error_and_never_made() {
    let ward = Ward::config_map().await;
    ward.world.cluster.delete(&ward.target).await.unwrap();
    let create = async |(attribute, text): (&str, &str)| {
        refused(ward.core().create(PATCH, &ward.config(attribute, text)).await)
    };
    let told = tokio::join!(
        create(("patch", "data: {a: ours}")),
        create(("merge_patch", "data: {a: ours}")),
        create(("json_patch", r#"[{"op": "add", "path": "/data/a", "value": "ours"}]"#)),
    );
    for told in [told.0, told.1, told.2] {
        assert!(told.contains("does not exist and cannot be patched"), "{told}");
    }
    assert_eq!(ward.world.cluster.read(&ward.target).await.unwrap(), None);
}

#[tokio::test]
async fn a_target_that_this_run_makes_is_waited_for() {
    let ward = Ward::config_map().await;
    let body = ward.live().await;
    ward.world.cluster.delete(&ward.target).await.unwrap();
    let config = ward.config("patch", "data: {a: ours}");
    let plan = ward.core().plan(PATCH, &config, None).await.unwrap();
    let core = ward.core();
    let mut anew = object("v1", "ConfigMap", "settings", ward.world.namespace.name());
    anew["data"] = body["data"].clone();
    let operator = ward.world.cluster.act_as("operator");
    let (made, arrived) =
        tokio::join!(core.apply(PATCH, &config, None, &plan), operator.create(anew));
    arrived.unwrap();
    let state = made.unwrap().present().unwrap();
    ward.settled("patch", "data: {a: ours}", &state).await;
    ward.destroy(&state).await;
}

#[tokio::test]
async fn a_field_that_cannot_change_is_told_in_the_servers_words() {
    let ward = Ward::deployment().await;
    for (attribute, text) in [
        ("patch", "spec: {selector: {matchLabels: {app: other}}}"),
        ("merge_patch", "spec: {selector: {matchLabels: {app: other}}}"),
        (
            "json_patch",
            r#"[{"op": "replace", "path": "/spec/selector/matchLabels/app", "value": "x"}]"#,
        ),
    ] {
        let told = refused(ward.core().plan(PATCH, &ward.config(attribute, text), None).await);
        assert!(told.contains("is immutable"), "{attribute}: {told}");
        assert!(told.contains("A patch never replaces its target"), "{told}");
        assert!(told.contains("cannot change any more, remove it from the patch"), "{told}");
    }
    let copy = r#"[{"op": "copy", "from": "", "path": "/metadata/annotations/x"}]"#;
    let told = refused(ward.core().plan(PATCH, &ward.config("json_patch", copy), None).await);
    assert!(told.contains("what does not fit where the patch puts it"), "{told}");
    for (attribute, text) in [
        ("patch", "spec: {replcas: 3}"),
        ("merge_patch", "spec: {replcas: 3}"),
        ("json_patch", r#"[{"op": "add", "path": "/spec/replcas", "value": 3}]"#),
    ] {
        let told = refused(ward.core().plan(PATCH, &ward.config(attribute, text), None).await);
        assert!(told.contains("replcas"), "{attribute}: {told}");
    }
}

#[tokio::test]
async fn an_import_is_refused_with_what_to_do_instead() {
    let ward = Ward::config_map().await;
    let told = refused(ward.core().import(PATCH, "x").await);
    assert!(told.contains("cannot be imported") && told.contains("adopt = true"), "{told}");
}

#[tokio::test]
async fn a_hand_back_that_is_forbidden_keeps_the_state() {
    let mut ward = Ward::config_map().await;
    let proxy = testkit::proxy::Proxy::before(ward.world.cluster).await.unwrap();
    ward.detour = Some(proxy.kubeconfig());
    let state = ward.create("patch", "data: {a: ours}").await;
    let refusal = testkit::proxy::Reply::refusal(
        http::StatusCode::FORBIDDEN,
        "Forbidden",
        "configmaps \"settings\" is forbidden: User \"x\" cannot patch resource",
    );
    let which = testkit::proxy::Which::any().method(http::Method::PATCH);
    let fate = testkit::proxy::Fate::Answer(refusal);
    proxy.rule(testkit::proxy::Rule::new(which, testkit::proxy::Turn::Every, fate));
    let failure = ward.core().destroy(PATCH, &state).await.unwrap_err();
    let Failure::Refused { stored, .. } = &failure else { panic!("{failure}") };
    assert!(stored.is_some());
    let told = said(&failure.diagnostics());
    assert!(told.contains("were not handed back") && told.contains("cannot patch"), "{told}");
}

#[tokio::test]
async fn a_namesake_in_another_cluster_is_neither_patched_nor_taken_for_the_target() {
    let mut ward = Ward::config_map().await;
    let proxy = testkit::proxy::Proxy::before(ward.world.cluster).await.unwrap();
    ward.detour = Some(proxy.kubeconfig());
    let text = "data: {a: ours}";
    let state = ward.create("patch", text).await;
    // The kubeconfig leads elsewhere now, where there is an object of the same name.
    let kube_system = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "kube-system", "uid": "another"}});
    let reply = testkit::proxy::Reply::json(http::StatusCode::OK, &kube_system);
    let which = testkit::proxy::Which::at("/api/v1/namespaces/kube-system");
    let fate = testkit::proxy::Fate::Answer(reply);
    proxy.rule(testkit::proxy::Rule::new(which, testkit::proxy::Turn::Every, fate));
    ward.remake(&ward.body()).await;
    let core = ward.core();
    let read = core.read(PATCH, &state).await.unwrap();
    assert!(said(&read.diagnostics).contains("leads to another cluster"), "{read:?}");
    let read = read.present().unwrap();
    let told = refused(core.plan(PATCH, &ward.config("patch", text), Some(&read)).await);
    assert!(told.contains("leads to another cluster"), "{told}");
    assert!(told.contains("UID of namespace `kube-system` at `https://"), "{told}");
    for told in [
        refused(core.plan_destroy(PATCH, &read).await),
        refused(ward.core().destroy(PATCH, &state).await),
    ] {
        assert!(told.contains("leads to another cluster"), "{told}");
        assert!(told.contains("UID of namespace `kube-system` at `https://"), "{told}");
    }
    ward.world.cluster.delete(&ward.target).await.unwrap();
    assert!(ward.core().read(PATCH, &state).await.unwrap().state.is_some(), "and it is not lost");
}

#[tokio::test]
async fn a_patch_is_not_given_up_by_credentials_that_cannot_show_which_cluster_it_is() {
    let mut ward = Ward::config_map().await;
    let proxy = testkit::proxy::Proxy::before(ward.world.cluster).await.unwrap();
    ward.detour = Some(proxy.kubeconfig());
    let text = "data: {a: ours}";
    let state = ward.create("patch", text).await;
    let words = "namespaces \"kube-system\" is forbidden";
    let reply = testkit::proxy::Reply::refusal(http::StatusCode::FORBIDDEN, "Forbidden", words);
    let which = testkit::proxy::Which::at("/api/v1/namespaces/kube-system");
    let fate = testkit::proxy::Fate::Answer(reply);
    proxy.rule(testkit::proxy::Rule::new(which, testkit::proxy::Turn::Every, fate));
    ward.world.cluster.delete(&ward.target).await.unwrap();
    let core = ward.core();
    let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
    let told = refused(core.plan(PATCH, &ward.config("patch", text), Some(&read)).await);
    assert!(told.contains("not found, and the cluster could not be identified"), "{told}");
    let told = refused(ward.core().destroy(PATCH, &state).await);
    assert!(told.contains("not found, and the cluster could not be identified"), "{told}");
}

#[tokio::test]
async fn a_word_that_yaml_reads_as_a_boolean_is_pointed_to_where_the_server_refuses_it() {
    let ward = Ward::config_map().await;
    for (attribute, text, at) in [
        ("patch", "data: {b: y}", Some("line 1, column 11")),
        ("merge_patch", "data:\n  new: n\n", Some("line 2, column 8")),
        ("json_patch", "[{op: add, path: /data/x, value: off}]", Some("line 1, column 34")),
        ("patch", "data: {b: true}", None),
        ("patch", "data: {b: 5}", None),
    ] {
        let told = refused(ward.core().plan(PATCH, &ward.config(attribute, text), None).await);
        let pointed = told.contains("Put it in quotes if you mean the word");
        assert_eq!(pointed, at.is_some(), "{attribute}: {told}");
        assert!(at.is_none_or(|at| told.contains(at)), "{attribute}: {told}");
    }
    let body = ward.body().to_string().replace("\"helm\"", "on").replace("settings", "other");
    let told = refused(ward.core().plan(OBJECT, &ward.world.config(&body), None).await);
    assert!(told.contains("Put it in quotes if you mean the word"), "{told}");
}

#[tokio::test]
async fn an_operation_that_a_target_made_anew_has_no_place_for_says_so_and_how_a_destroy_gets_by() {
    let ward = Ward::config_map().await;
    let text = r#"[{"op": "replace", "path": "/data/a", "value": "ours"}]"#;
    let state = ward.create("json_patch", text).await;
    let mut body = ward.body();
    body["data"].as_object_mut().unwrap().remove("a");
    ward.remake(&body).await;
    let told = refused(ward.plan("json_patch", text, &state).await);
    assert!(told.contains("operation 1 of `json_patch` cannot be carried out"), "{told}");
    assert!(told.contains("was deleted and made anew"), "{told}");
    assert!(told.contains("destroy it with `-refresh=false`"), "{told}");
    let before = ward.live().await;
    let core = ward.core();
    core.plan_destroy(PATCH, &state).await.unwrap();
    ward.destroy(&state).await;
    assert_eq!(ward.live().await, before);
}
