//! Interrupted at any point, disturbed by anybody: it ends the same, and nobody loses anything.

use std::sync::Arc;

use http::{Method, StatusCode};
use serde_json::json;
use testkit::audit::Persistence;
use testkit::proxy::{Action as Deed, Fate, Proxy, Reply, Rule, Turn, Which};
use testkit::{Filter, Request};
use tokio::sync::Notify;

use super::{PATCH, Ward, id, owners, refused};

pub(super) const TEXTS: [(&str, &str); 3] = [
    ("patch", "data: {a: ours, b: ours}"),
    ("merge_patch", "data: {a: ours, b: ours}"),
    (
        "json_patch",
        r#"[{"op": "replace", "path": "/data/a", "value": "ours"}, {"op": "replace", "path": "/data/b", "value": "ours"}]"#,
    ),
];

fn path(ward: &Ward) -> String {
    format!("/api/v1/namespaces/{}/configmaps/settings", ward.world.namespace.name())
}

/// An object whose patches go through a proxy.
async fn behind_a_proxy() -> (Ward, Proxy) {
    let mut ward = Ward::config_map().await;
    let proxy = Proxy::before(ward.world.cluster).await.unwrap();
    ward.detour = Some(proxy.kubeconfig());
    (ward, proxy)
}

/// Every request that changes the object.
fn writes(ward: &Ward) -> Which {
    Which::at(&path(ward)).method(Method::PATCH).persistence(Persistence::Real)
}

/// Runs something, and drops it when the chosen moment comes: what the provider was about to do is
/// never done, and nothing reaches state.
async fn killed<T: std::fmt::Debug>(
    ward: &Ward,
    proxy: &Proxy,
    work: impl Future<Output = T>,
    n: u32,
    when: fn(Deed) -> Fate,
) {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let gate = Arc::new(Notify::new());
    let held = Arc::clone(&gate);
    let deed = Deed::new(move |_| {
        let (tell, held) = (tell.clone(), Arc::clone(&held));
        async move {
            tell.send(()).map_err(|error| error.to_string())?;
            held.notified().await;
            Ok::<(), String>(())
        }
    });
    proxy.rule(Rule::new(Which::at(&path(ward)), Turn::Nth(n), when(deed)));
    tokio::select! {
        ended = work => panic!("it was to be killed: {ended:?}"),
        _ = told.recv() => {}
    }
    proxy.forget_rules();
    gate.notify_one();
}

#[tokio::test]
async fn a_destroy_that_is_killed_anywhere_ends_the_same_when_it_is_run_again() {
    for (attribute, text) in TEXTS {
        let (ward, proxy) = behind_a_proxy().await;
        let body = ward.body();
        let state = ward.create(attribute, text).await;
        let earlier = proxy.requests().len();
        ward.destroy(&state).await;
        let requests = proxy.requests_since(earlier, &path(&ward)).len() as u32;
        assert_eq!(requests, 3, "a refresh, a look, a hand-back");
        for n in 1..=requests {
            for when in [Fate::Before as fn(Deed) -> Fate, Fate::After] {
                ward.remake(&body).await;
                let before = owners(&ward.live().await);
                let state = ward.create(attribute, text).await;
                killed(&ward, &proxy, ward.destroy(&state), n, when).await;
                ward.destroy(&state).await;
                let after = ward.live().await;
                assert_eq!(owners(&after), before, "{attribute}, request {n}");
                assert!(!after["metadata"].to_string().contains("k8sconnect"), "{attribute}, {n}");
                assert_eq!(after["data"]["a"], "ours");
            }
        }
    }
}

#[tokio::test]
async fn a_change_that_is_killed_anywhere_ends_the_same_when_it_is_run_again() {
    let texts = [
        ("patch", "data: {a: ours, b: ours}", "data: {b: ours, c: ours}"),
        ("merge_patch", "data: {a: ours, b: ours}", "data: {b: ours, c: ours}"),
        (
            "json_patch",
            r#"[{"op": "replace", "path": "/data/a", "value": "ours"}, {"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/b"}]"#,
            r#"[{"op": "replace", "path": "/data/c", "value": "ours"}, {"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/c"}]"#,
        ),
    ];
    for (attribute, first, second) in texts {
        let (ward, proxy) = behind_a_proxy().await;
        let mut body = ward.body();
        body["metadata"]["finalizers"] = json!(["example.com/a"]);
        // A refresh and a dry-run to plan; a look, a dry-run, the hand-back of what leaves and the
        // write to apply.
        for n in 1..=6_u32 {
            for when in [Fate::Before as fn(Deed) -> Fate, Fate::After] {
                ward.remake(&body).await;
                let before = owners(&ward.live().await);
                let state = ward.create(attribute, first).await;
                killed(&ward, &proxy, ward.change(attribute, second, &state), n, when).await;
                let state = ward.change(attribute, second, &state).await;
                ward.settled(attribute, second, &state).await;
                let live = ward.live().await;
                assert_eq!(live["data"]["a"], "ours", "{attribute}, request {n}");
                assert_eq!(live["data"]["c"], "ours", "{attribute}, request {n}");
                let finalizers = live["metadata"]["finalizers"].as_array().unwrap().len();
                assert!(finalizers <= 3, "each is added once: {live}");
                ward.destroy(&state).await;
                assert_eq!(owners(&ward.live().await), before, "{attribute}, request {n}");
                let clear = json!({"metadata": {"finalizers": null}});
                let seed = ward.world.cluster.act_as("seed");
                seed.merge_patch(&ward.target, clear).await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_lost_does_no_harm() {
    for (attribute, text) in [
        TEXTS[0],
        TEXTS[1],
        (
            "json_patch",
            r#"[{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/b"}]"#,
        ),
    ] {
        let (ward, proxy) = behind_a_proxy().await;
        let seed = json!({"metadata": {"finalizers": ["example.com/a"]}});
        ward.world.cluster.act_as("seed").merge_patch(&ward.target, seed).await.unwrap();
        let before = owners(&ward.live().await);
        let lost = |turn| proxy.rule(Rule::new(writes(&ward), turn, Fate::ResetAfter));
        let tally = lost(Turn::First(1));
        let state = ward.create(attribute, text).await;
        assert_eq!(tally.fired().len(), 1, "{attribute}");
        let live = ward.live().await;
        let finalizers = live["metadata"]["finalizers"].as_array().unwrap();
        assert!(finalizers.len() <= 2, "carried out once: {finalizers:?}");
        ward.settled(attribute, text, &state).await;
        let former = format!("{:?}", state.attribute("previous_owners"));
        assert!(attribute == "json_patch" || former.contains("helm"), "{former}");
        proxy.forget_rules();
        let tally = lost(Turn::First(1));
        ward.destroy(&state).await;
        assert_eq!(tally.fired().len(), 1, "{attribute}");
        let after = ward.live().await;
        assert_eq!(owners(&after), before, "{attribute}");
        let clear = json!({"metadata": {"finalizers": null}});
        ward.world.cluster.act_as("seed").merge_patch(&ward.target, clear).await.unwrap();
    }
}

#[tokio::test]
async fn a_write_that_the_server_fails_after_is_looked_for_and_known_to_state() {
    let failing = |fate: fn(Reply) -> Fate| {
        let code = StatusCode::INTERNAL_SERVER_ERROR;
        fate(Reply::refusal(code, "", "etcdserver: request timed out"))
    };
    for (attribute, text) in TEXTS {
        let (ward, proxy) = behind_a_proxy().await;
        let before = owners(&ward.live().await);
        let after =
            || proxy.rule(Rule::new(writes(&ward), Turn::First(1), failing(Fate::AnswerAfter)));
        after();
        let state = ward.create(attribute, text).await;
        ward.settled(attribute, text, &state).await;
        let former = format!("{:?}", state.attribute("previous_owners"));
        assert!(former.contains("helm"), "{attribute}: {former}");
        proxy.forget_rules();
        let second = text.replace("ours", "mine");
        after();
        let state = ward.change(attribute, &second, &state).await;
        ward.settled(attribute, &second, &state).await;
        proxy.forget_rules();
        after();
        ward.destroy(&state).await;
        assert_eq!(owners(&ward.live().await), before, "{attribute}");

        // Where it was not carried out, nothing is said of it that is not so.
        proxy.forget_rules();
        let config = ward.config(attribute, text);
        let plan = ward.core().plan(PATCH, &config, None).await.unwrap();
        proxy.rule(Rule::new(writes(&ward), Turn::Every, failing(Fate::Answer)));
        let told = refused(ward.core().apply(PATCH, &config, None, &plan).await);
        assert!(told.contains("may have been patched all the same"), "{told}");
        assert!(!told.contains("Nothing was changed") && !told.contains("is refused"), "{told}");
        proxy.forget_rules();
        let state = ward.create(attribute, text).await;
        proxy.rule(Rule::new(writes(&ward), Turn::Every, failing(Fate::Answer)));
        let told = refused(ward.core().destroy(PATCH, &state).await);
        assert!(told.contains("Run again") && !told.contains("forbids"), "{told}");
        proxy.forget_rules();
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn somebody_who_writes_between_any_two_requests_is_not_robbed() {
    for (attribute, text) in TEXTS {
        let (ward, proxy) = behind_a_proxy().await;
        let body = ward.body();
        // A look, a dry-run, the write; a refresh for an empty plan; a refresh, a look, the
        // hand-back.
        for n in 1..=7_u32 {
            ward.remake(&body).await;
            proxy.forget_rules();
            let rival = ward.world.cluster.act_as("controller");
            let target = ward.target.clone();
            let deed = Deed::new(move |_| {
                let (rival, target) = (rival.clone(), target.clone());
                async move {
                    let edit = json!({"data": {"theirs": "kept"}});
                    rival.merge_patch(&target, edit).await.map(|_| ())
                }
            });
            let which = Which::at(&path(&ward));
            let tally = proxy.rule(Rule::new(which, Turn::Nth(n), Fate::Before(deed)));
            let state = ward.create(attribute, text).await;
            ward.settled(attribute, text, &state).await;
            ward.destroy(&state).await;
            assert_eq!(tally.fired().len(), 1, "{attribute}, request {n}");
            let after = ward.live().await;
            assert_eq!(after["data"]["theirs"], "kept", "{attribute}, request {n}");
            let all = owners(&after);
            assert!(all.iter().any(|it| it.contains("\"controller\"")), "{all:#?}");
            assert!(all.iter().all(|it| !it.contains("k8sconnect")), "{all:#?}");
            let helm = all.iter().find(|it| it.contains("\"helm\"")).unwrap();
            assert!(helm.contains("f:a") && helm.contains("f:b"), "{helm}");
        }
    }
}

#[tokio::test]
async fn patches_of_one_object_made_at_once_all_come_out() {
    let ward = Ward::config_map().await;
    let before = owners(&ward.live().await);
    let texts = [("patch", "a"), ("merge_patch", "b"), ("patch", "c"), ("merge_patch", "d")];
    let texts = texts.map(|(attribute, name)| (attribute, format!("data: {{{name}: ours}}")));
    let make = async |n: usize| ward.create(texts[n].0, &texts[n].1).await;
    let (one, two, three, four) = tokio::join!(make(0), make(1), make(2), make(3));
    let states = [one, two, three, four];
    let live = ward.live().await;
    assert_eq!(live["data"], json!({"a": "ours", "b": "ours", "c": "ours", "d": "ours"}));
    for (state, (attribute, text)) in states.iter().zip(&texts) {
        assert!(owners(&live).iter().any(|it| it.contains(&id(state))));
        ward.settled(attribute, text, state).await;
    }
    let [one, two, three, four] = &states;
    tokio::join!(ward.destroy(one), ward.destroy(two), ward.destroy(three), ward.destroy(four));
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn patches_of_one_object_that_go_and_change_at_once_never_meet() {
    let ward = Ward::config_map().await;
    let before = owners(&ward.live().await);
    let text = |n: usize, value: &str| format!("data: {{k{n}: {value}}}");
    let mut states = Vec::new();
    for n in 0..6 {
        states.push(ward.create("patch", &text(n, "first")).await);
    }
    let change = async |n: usize| ward.change("patch", &text(n, "second"), &states[n]).await;
    let end = async |n: usize| ward.destroy(&states[n]).await;
    let (a, b, c, (), (), ()) =
        tokio::join!(change(0), change(1), change(2), end(3), end(4), end(5));
    for (n, state) in [a, b, c].iter().enumerate() {
        ward.settled("patch", &text(n, "second"), state).await;
        ward.destroy(state).await;
    }
    assert_eq!(owners(&ward.live().await), before);
}

#[tokio::test]
async fn what_others_give_up_while_a_patch_is_planned_is_not_taken_from_them() {
    for (attribute, text) in TEXTS {
        let (ward, proxy) = behind_a_proxy().await;
        let rival = ward.world.cluster.act_as("k8sconnect-patch-other");
        let mut theirs = super::object("v1", "ConfigMap", "settings", ward.world.namespace.name());
        theirs["data"] = json!({"theirs": "1", "more": "2"});
        rival.apply(&theirs).await.unwrap();
        let deed = Deed::new(move |_| {
            let (rival, mut less) = (rival.clone(), theirs.clone());
            less["data"].as_object_mut().unwrap().remove("more");
            async move { rival.apply(less).await.map(|_| ()) }
        });
        let which = Which::at(&path(&ward)).method(Method::PATCH);
        let tally = proxy.rule(Rule::new(which, Turn::Nth(1), Fate::Before(deed)));
        let state = ward.create(attribute, text).await;
        assert_eq!(tally.fired().len(), 1);
        let former = format!("{:?}", state.attribute("previous_owners"));
        assert!(!former.contains("k8sconnect-patch-other"), "{attribute}: {former}");
        let note = ward.live().await["metadata"]["annotations"].to_string();
        assert!(!note.contains("f:more"), "{attribute}: {note}");
        ward.destroy(&state).await;
    }
}

#[tokio::test]
async fn a_target_deleted_right_before_the_write_is_not_made_again() {
    for (attribute, text) in TEXTS {
        let (ward, proxy) = behind_a_proxy().await;
        let (cluster, target) = (ward.world.cluster, ward.target.clone());
        let deed = Deed::new(move |_| {
            let target = target.clone();
            async move { cluster.delete(&target).await }
        });
        proxy.rule(Rule::new(writes(&ward), Turn::Nth(1), Fate::Before(deed)));
        let config = ward.config(attribute, text);
        let told = refused(ward.core().create(PATCH, &config).await);
        assert!(told.contains("cannot be patched") || told.contains("cannot be found"), "{told}");
        assert_eq!(ward.world.cluster.read(&ward.target).await.unwrap(), None, "{attribute}");
    }
}

#[tokio::test]
async fn a_whole_life_neither_creates_nor_deletes() {
    let ward = Ward::config_map().await;
    let user = Filter::by_user(&ward.world.user);
    let life = async {
        for (attribute, text) in TEXTS {
            let state = ward.create(attribute, text).await;
            let state = ward.change(attribute, &text.replace("ours", "mine"), &state).await;
            ward.destroy(&state).await;
        }
    };
    let uid = ward.live().await["metadata"]["uid"].clone();
    let ((), asked) = ward.world.cluster.count_during(user, life).await.unwrap();
    let verbs: std::collections::BTreeSet<_> = asked.iter().map(Request::in_short).collect();
    let expected = ["get", "patch", "patch (dry-run)"].map(ToOwned::to_owned);
    assert_eq!(verbs, expected.into(), "{asked:?}");
    assert_eq!(ward.live().await["metadata"]["uid"], uid);
}

#[tokio::test]
async fn a_target_made_anew_or_gone_since_the_plan_is_told_in_our_words() {
    for (attribute, text) in TEXTS {
        let ward = Ward::config_map().await;
        let state = ward.create(attribute, text).await;
        let drift = json!({"data": {"a": "drift"}});
        ward.world.cluster.act_as("x").merge_patch(&ward.target, drift).await.unwrap();
        let core = ward.core();
        let read = core.read(PATCH, &state).await.unwrap().present().unwrap();
        let config = ward.config(attribute, text);
        let plan = core.plan(PATCH, &config, Some(&read)).await.unwrap();
        ward.remake(&ward.body()).await;
        let is_refused = async || {
            for core in [ward.newest_core(), ward.core()] {
                let told = refused(core.apply(PATCH, &config, Some(&read), &plan).await);
                assert!(told.contains("deleted and made anew, since it was last read"), "{told}");
            }
        };
        is_refused().await;
        assert_eq!(ward.live().await["data"]["a"], "helm", "{attribute}");
        ward.world.cluster.delete(&ward.target).await.unwrap();
        is_refused().await;
    }
}

#[tokio::test]
async fn a_target_whose_kind_comes_in_the_same_run_is_patched_when_both_are_there() {
    let world = crate::world::World::new().await;
    let kinds = world.kinds();
    let find = |name: &str| kinds.iter().find(|kind| kind.name == name).unwrap();
    let (definition, garden) = (find("crd-structural"), find("cr-garden"));
    let ward = Ward::of(world, testkit::Target::of(&garden.value).unwrap());
    let config = ward.config("patch", "spec: {gnomes: 3}");
    let plan = ward.core().plan(PATCH, &config, None).await.unwrap();
    let core = ward.core();
    let makes = async {
        ward.world.make(definition).await;
        ward.world.cluster.act_as("gardener").apply(&garden.value).await.unwrap();
    };
    let (made, ()) = tokio::join!(core.apply(PATCH, &config, None, &plan), makes);
    let state = made.unwrap().present().unwrap();
    assert_eq!(ward.live().await["spec"]["gnomes"], 3);
    ward.settled("patch", "spec: {gnomes: 3}", &state).await;
    ward.destroy(&state).await;
    ward.world.clear(std::slice::from_ref(definition)).await;
}
