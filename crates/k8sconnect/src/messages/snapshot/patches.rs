//! What is said about patches.

use super::*;

pub(super) fn messages() -> Vec<Diagnostic> {
    use k8sconnect_core::handback::Prospect;
    use k8sconnect_core::patch::{
        Behind, Claimed, Ignored, Manner, Namesakes, Oddity, Patch, Problem, Trouble, Unheard,
        Unplaced, Verdict, Whereabouts,
    };
    use k8sconnect_core::pointer::Pointer;
    use k8sconnect_core::scrub::Secrets;
    use k8sconnect_core::secrecy::Secrecy;

    use super::super::patch::Stage;

    let web = web();
    let key = web.key();
    let position = k8sconnect_core::yaml::Position { line: 2, column: 3 };
    let at = |text: &str| Pointer::parse(text).unwrap();
    let leaf = path("spec.strategy.rollingUpdate.maxSurge");
    let behind = [Behind { leaf, all: at("/spec/strategy/rollingUpdate") }];
    let read = |manner, text| Patch::read(manner, text, key.clone()).unwrap_err();
    let hpa = manager("autoscaler", Operation::Update, "scale");
    let other = manager("k8sconnect-patch-0f3a", Operation::Apply, "");
    let contested = [(other, vec![path("spec.replicas")])];
    let helm = || manager("helm", Operation::Apply, "");
    let stays = |returns_to, stays_with| Prospect::Stays { returns_to, stays_with };
    let prospects = [
        (path("metadata.labels.gone"), Prospect::Absent),
        (path("spec.image"), stays(vec![helm()], vec![manager("flux", Operation::Apply, "")])),
        (path("spec.paused"), stays(vec![], vec![])),
        (path("spec.replicas"), stays(vec![hpa.clone(), helm()], vec![])),
        (path("spec.strategy"), stays(vec![], vec![helm()])),
        (path("spec.target"), Prospect::Waits { for_the_end: vec![helm()] }),
        (path("spec.metrics"), Prospect::Elsewhere { returns_to: helm() }),
        (path("spec.args[=\"a\"]"), Prospect::Kept(path("spec.args"))),
    ];
    let verdict = Verdict {
        changes: vec![notice("spec.replicas", &[hpa], [None, Some("2"), Some("5")])],
        gone: vec![notice("metadata.labels.team", &[], [None, Some("blue"), None])],
        taken_along: vec![notice("spec.nodePort", &[helm()], [None, Some("30080"), None])],
        dropped: vec![(path("spec.tolerations"), vec![json!({"key": "gpu"})])],
        ..Verdict::default()
    };
    let cannot = |trouble| {
        let secrecy = Secrecy::of(secret().gvk(), &[]);
        patch::cannot(key, &Problem::Cannot { n: 2, trouble }, &secrecy, Stage::New)
    };
    let differs = |pointer: &str, wanted, found| Trouble::Differs {
        at: at(pointer),
        wanted: json!(wanted),
        found,
    };
    let moved_away = Problem::Cannot { n: 1, trouble: differs("/spec/paused", "1", None) };
    let elsewhere = Problem::Elsewhere {
        n: 1,
        at: at("/spec/containers/0/image"),
        then: path("spec.containers[name=app].image"),
        now: path("spec.containers[name=proxy].image"),
    };
    let moved = |now| Problem::Moved {
        n: 1,
        at: at("/spec/tolerations/0/key"),
        position: path("spec.tolerations[0]"),
        now,
    };
    let item = path("spec.containers[name=app].env[name=A]");
    let namesakes = Namesakes { item: item.clone(), count: 2 };
    let beside = |holders| Problem::Beside {
        n: 1,
        item: item.clone(),
        at: at("/spec/containers/0/env/2"),
        holders,
    };
    let stands = |problem| patch::cannot(key, &problem, &Secrecy::default(), Stage::Made);
    let causes = [("spec.selector", "field is immutable")];
    let immutable =
        Error::Refused(Box::new(status(422, "spec.selector: field is immutable", &causes)));
    let forbidden = Error::Refused(Box::new(status(403, "cannot patch resource", &[])));
    let secrets = Secrets::default();
    let (trial, edited) = (patch::Sent::Trial(Stage::New), patch::Sent::Trial(Stage::Made));
    let claim = |id: Option<&str>, entries| Claimed { id: id.map(Into::into), entries };
    let ignored = Ignored {
        path: path("spec.finalizers"),
        wanted: r#"["a.b/c"]"#.into(),
        stays: r#"["kubernetes"]"#.into(),
    };
    let betrayal = r#"[{"op": "copy", "from": "/data/pw", "path": "/metadata/labels/x"}]"#;
    let betrayal = Patch::read(Manner::Json, betrayal, secret().key().clone()).unwrap_err();
    let mut messages = vec![
        patch::unusable(&betrayal, "json_patch", secret().key()),
        patch::unusable(
            &read(Manner::Apply, "{kind: Pod, status: {}, spec: {$patch: x}}"),
            "patch",
            key,
        ),
        patch::unusable(
            &read(Manner::Apply, "metadata: {annotations: {k8sconnect.terraform.io/a: b}}"),
            "patch",
            key,
        ),
        patch::unusable(&read(Manner::Merge, "metadata: {annotations: null}"), "merge_patch", key),
        patch::unusable(&read(Manner::Merge, "a: ["), "merge_patch", key),
        patch::unusable(&read(Manner::Merge, ""), "merge_patch", key),
        patch::unusable(&read(Manner::Merge, "[a]"), "merge_patch", key),
        patch::unusable(&read(Manner::Merge, "a: b\n---\nc: d\n"), "merge_patch", key),
        patch::unusable(&read(Manner::Json, "{a: b}"), "json_patch", key),
        patch::unusable(&read(Manner::Json, "[{op: put, path: /a}]"), "json_patch", key),
        patch::unusable(
            &Patch::read(
                Manner::Json,
                "[{op: add, path: /stringData/a, value: x}]",
                secret().key().clone(),
            )
            .unwrap_err(),
            "json_patch",
            secret().key(),
        ),
        patch::unusable(
            &[
                "stringData: null",
                "{stringData: {a: x, b: null}, data: {b: eA==}}",
                "{stringData: {a: x}, data: null}",
            ]
            .map(|text| Patch::read(Manner::Merge, text, secret().key().clone()).unwrap_err())
            .concat(),
            "merge_patch",
            secret().key(),
        ),
        patch::no_name("name", "web/scale"),
        patch::no_host_name(&key.gvk, "CM ?x=1"),
        patch::kind_unreadable(key),
        patch::no_namespace(key),
        patch::one_of_three(2),
        patch::unknown(),
        patch::not_there_yet(key),
        patch::missing(key, Duration::from_secs(30)),
        patch::managed_as_object(key, &claim(Some("0f3a"), vec![1]), Stage::New),
        patch::managed_as_object(key, &claim(None, vec![0]), Stage::Made),
        cannot(Trouble::Missing(at("/spec/paused"))),
        cannot(Trouble::NoParent(at("/metadata/labels"))),
        cannot(Trouble::NoList(at("/spec/args"))),
        cannot(Trouble::Annotated(at("/metadata/annotations"))),
        cannot(Trouble::Overgrown(at("/spec/template"))),
        cannot(Trouble::NoPosition { at: at("/spec/a/7"), length: 1 }),
        cannot(Trouble::NoPosition { at: at("/spec/a/01"), length: 2 }),
        cannot(differs("/spec/replicas", "2", Some(json!(3)))),
        cannot(differs("/spec/replicas", "2", None)),
        cannot(differs("/data/a", "hunter2", Some(json!("hunter2")))),
        cannot(differs("", "x", Some(json!({"data": {"a": "hunter2"}})))),
        patch::cannot(key, &moved_away, &Secrecy::default(), Stage::Anew),
        stands(beside(vec![helm()])),
        patch::cannot(key, &beside(vec![]), &Secrecy::default(), Stage::Anew),
        patch::namesakes(key, Manner::Apply, &namesakes, Stage::New),
        stands(Problem::Namesakes { n: 2, found: namesakes }),
        stands(elsewhere),
        stands(moved(Whereabouts::Untold)),
        stands(moved(Whereabouts::At(path("spec.tolerations[1]")))),
        stands(Problem::Gone { n: 1, item: path("spec.containers[name=app]") }),
        stands(Problem::Forgotten { n: 1, path: path("data.a") }),
        stands(Problem::Unplaced(Unplaced(at("/spec/a/0")))),
        patch::not_taken(key, Manner::Apply, &[position], &secrets, &immutable, trial, &[]),
        patch::not_taken(key, Manner::Apply, &[], &secrets, &immutable, edited, &[]),
        patch::not_taken(key, Manner::Apply, &[], &secrets, &immutable, edited, &behind),
        patch::not_taken(key, Manner::Merge, &[], &secrets, &immutable, edited, &behind),
        patch::not_taken(key, Manner::Json, &[], &secrets, &immutable, edited, &behind),
        patch::kind_not_there_yet(key),
        patch::kind_missing(key, std::time::Duration::from_secs(30)),
        patch::unusable(&read(Manner::Merge, "{spec: {$patch: x}}"), "merge_patch", key),
        patch::unusable(
            &read(
                Manner::Json,
                r#"[{"op": "remove", "path": ""}, {"op": "remove", "path": "/spec/$patch"}]"#,
            ),
            "json_patch",
            key,
        ),
        patch::another_target(key, secret().key()),
        patch::another_target(key, &older(key)),
        patch::target_known_late(key, secret().key()),
        patch::if_applying(key),
        patch::changed_since(key),
        patch::recreated(key),
        patch::recreated_in_vain(key),
        patch::no_former_owners(key),
        patch::held_by_patches(key, &contested, Stage::New),
        patch::held_by_patches(key, &contested, Stage::Made),
        patch::too_many_fields(key, 300 << 10, 310 << 10),
        patch::wanted_twice(key, &[path("spec.paused"), path("spec.replicas")].into()),
        patch::taken_from_patches(key, &contested),
        patch::not_handed_back(key, &forbidden),
        patch::hand_back_ignored(key),
        patch::not_imported(),
    ];
    let unheard = Unheard {
        full: vec![path("spec.containers[name=web].env")],
        empty: vec![path("spec.template.spec.imagePullSecrets")],
    };
    messages.extend(patch::unheard(key, &unheard));
    messages.extend(patch::hollow(key, &[path("spec.nothere")]));
    let held = |time: Option<&str>, names: &[&str]| json!({"metadata": {"deletionTimestamp": time, "finalizers": names}});
    let going = held(Some("2026-11-16T04:00:00Z"), &["example.com/a", "example.com/b"]);
    messages.extend(patch::finalizers(key, &going, &held(None, &["example.com/b"])));
    messages.extend(patch::finalizers(key, &going, &held(None, &[])));
    messages.extend(patch::finalizers(key, &held(None, &[]), &held(None, &["example.com/a"])));
    let heirs = [(path("spec.replicas"), stays(vec![helm()], vec![]))];
    messages.extend(patch::takes(key, &verdict, &heirs, &[]));
    let emptied = notice("spec.tags", &[helm()], [None, Some(r#"["a"]"#), Some("[]")]);
    let changes = [verdict.changes.clone(), vec![emptied]].concat();
    for changes in [changes[1..].to_vec(), changes] {
        messages.extend(patch::takes(key, &Verdict { changes, ..Verdict::default() }, &[], &[]));
    }
    let removed = notice("metadata.labels.team", &[helm()], [None, Some("blue"), None]);
    for kept in [vec![], verdict.changes.clone()] {
        let changes = kept.into_iter().chain([removed.clone()]).collect();
        messages.extend(patch::takes(key, &Verdict { changes, ..Verdict::default() }, &[], &[]));
    }
    let own = notice("spec.tags", &[], [None, Some(r#"["a", "b"]"#), Some(r#"["c"]"#)]);
    let own = Verdict { changes: vec![own], ..Verdict::default() };
    for had in [vec![helm()], vec![]] {
        messages.extend(patch::takes(key, &own, &[], &[(path("spec.tags"), had)]));
    }
    let lists = ["spec.tags", "spec.args"].map(|list| (path(list), vec![json!("a"), json!("b")]));
    let lists = Verdict { dropped: lists.to_vec(), ..Verdict::default() };
    messages.extend(patch::takes(key, &lists, &[], &[]));
    let outdone = vec![path("spec.args[=\"a\"]")];
    messages.extend(patch::outdone(key, &Verdict { outdone, ..Verdict::default() }));
    messages.extend(patch::spared(key, &[path("metadata.labels")]));
    messages.extend(patch::ignored(key, &[ignored]));
    let odd = [Oddity::BooleanKey { written: "on".into(), position }, Oddity::OwnerReferences];
    messages.extend(patch::oddities(key, Manner::Apply, &odd));
    messages.extend(patch::undaunted(key, &[path("spec.paused")]));
    let metadata = json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a.b/c"]});
    let target = json!({ "metadata": metadata });
    for becomes in [patch::Going::Made, patch::Going::Stands, patch::Going::Ends] {
        messages.extend(patch::going(key, &target, becomes));
    }
    messages.extend(patch::returns(key, &prospects));
    messages.extend(patch::returns(key, &prospects[2..3]));
    let of = |class, change: &FieldChange| FieldChange { class, ..change.clone() };
    let drifted = verdict.changes.iter().map(|change| of(Class::Drifted, change));
    let changes: Vec<_> = drifted.chain(verdict.changes.iter().cloned()).collect();
    messages.extend(ownership::reports(key, &changes, ownership::Whose::Patch));
    messages
}

/// The same object in an older version of its kind.
fn older(key: &ObjectKey) -> ObjectKey {
    let gvk = k8sconnect_core::identity::Gvk::new("apps/v1beta1", &key.gvk.kind);
    ObjectKey { gvk, ..key.clone() }
}
