//! What is still to be done of a list of operations.

use super::*;

#[test]
fn positions_hang_on_the_order_of_items_and_on_nothing_else() {
    let lists = |edit: &dyn Fn(&mut Value)| {
        let mut object = live();
        edit(&mut object);
        shape().lists(&object)
    };
    let as_it_is = lists(&|_| {});
    let elsewhere = lists(&|it| {
        it["spec"]["containers"][0]["image"] = json!("b");
        it["metadata"]["annotations"] = json!({"revision": "2"});
    });
    assert_eq!(elsewhere, as_it_is);
    let front = lists(&|it| {
        let items = it["spec"]["containers"].as_array_mut().unwrap();
        items.insert(0, json!({"name": "front"}));
    });
    assert_ne!(front, as_it_is);
    let whole = lists(&|it| it["spec"]["tolerations"][0]["key"] = json!("b"));
    assert_ne!(whole, as_it_is, "a list without names is its values");
}

#[test]
fn what_is_done_is_not_done_again() {
    let text = r#"[{"op": "add", "path": "/spec/containers/0/env/-", "value": {"name": "B", "value": "2"}},
        {"op": "remove", "path": "/spec/containers/0/env/0"},
        {"op": "copy", "from": "/spec/replicas", "path": "/spec/copied"},
        {"op": "move", "from": "/spec/replicas", "path": "/spec/moved"}]"#;
    let (after, footprints, texts) = written(text, &live());
    assert_eq!(again(text, &after, &footprints, &texts), Vec::<Value>::new());
    assert_eq!(after["spec"]["containers"][0]["env"], json!([{"name": "B", "value": "2"}]));
}

#[test]
fn what_no_longer_holds_is_brought_back_and_nothing_else() {
    let text = r#"[{"op": "add", "path": "/spec/containers/0/env/-", "value": {"name": "B", "value": "2"}},
        {"op": "move", "from": "/spec/replicas", "path": "/spec/moved"}]"#;
    let (mut after, footprints, texts) = written(text, &live());
    after["spec"]["containers"][0]["env"][1]["value"] = json!("9");
    after["spec"]["moved"] = json!(7);
    assert_eq!(
        again(text, &after, &footprints, &texts),
        [
            json!({"op": "replace", "path": "/spec/containers/0/env/1/value", "value": "2"}),
            json!({"op": "replace", "path": "/spec/moved", "value": 2}),
        ]
    );
    after["spec"]["containers"][0]["env"] = json!([]);
    assert_eq!(
        again(text, &after, &footprints, &texts)[0],
        json!({"op": "add", "path": "/spec/containers/0/env/-", "value": {"name": "B", "value": "2"}})
    );
}

#[test]
fn an_equal_item_that_is_there_is_not_added() {
    let text = r#"[{"op": "add", "path": "/spec/tolerations/-", "value": {"key": "a"}}]"#;
    let (after, _, texts) = written(text, &live());
    assert_eq!(after, live(), "the server filled in the operator");
    assert_eq!(texts.values().next().unwrap(), r#"{"key":"a","operator":"Exists"}"#);
}

#[test]
fn a_position_that_has_another_item_now_is_told() {
    let text = r#"[{"op": "replace", "path": "/spec/containers/0/image", "value": "b"}]"#;
    let (mut after, footprints, texts) = written(text, &live());
    let sidecar = json!({"name": "proxy", "image": "p"});
    after["spec"]["containers"].as_array_mut().unwrap().insert(0, sidecar);
    assert_eq!(again(text, &after, &footprints, &texts), Vec::<Value>::new(), "it still holds");
    after["spec"]["containers"][1]["image"] = json!("other");
    for text in [text, r#"[{"op": "replace", "path": "/spec/containers/0/image", "value": "c"}]"#] {
        let problem = Script::write(&operations(text), &after, past(&footprints, &texts), &shape());
        let Err(Problem::Elsewhere { then, now, .. }) = problem else { panic!("{problem:?}") };
        assert_eq!(then.to_string(), "spec.containers[name=app].image");
        assert_eq!(now.to_string(), "spec.containers[name=proxy].image");
    }
}

/// The list of tolerations is held as a whole.
fn with_tolerations(tolerations: Value) -> Value {
    let mut object = live();
    object["spec"]["tolerations"] = tolerations;
    object
}

fn restored(text: &str, live: &Value, footprints: &[Footprint], texts: &Texts) -> Value {
    let script = Script::write(&operations(text), live, past(footprints, texts), &shape()).unwrap();
    let mut after = live.clone();
    for operation in &script.send {
        operation.carry_out(&mut after).unwrap();
    }
    after
}

#[test]
fn a_replaced_item_whose_list_others_wrote_again_is_replaced_again() {
    let text = r#"[{"op": "replace", "path": "/spec/tolerations/1", "value": 9}]"#;
    let before = with_tolerations(json!([1, 2]));
    let (after, footprints, texts) = written(text, &before);
    assert_eq!(after["spec"]["tolerations"], json!([1, 9]));
    for (theirs, ours) in [
        (json!([1, 2]), json!([1, 9])),
        (json!([2, 1]), json!([1, 9])),
        (json!([0, 1, 2]), json!([0, 9, 1])),
        (json!([3]), json!([3, 9])),
    ] {
        let drifted = with_tolerations(theirs);
        let after = restored(text, &drifted, &footprints, &texts);
        assert_eq!(after["spec"]["tolerations"], ours);
    }
    let mut drifted = before.clone();
    drifted["spec"].as_object_mut().unwrap().remove("tolerations");
    let after = restored(text, &drifted, &footprints, &texts);
    assert_eq!(after["spec"]["tolerations"], json!([9]));
    let changed = text.replace('9', "10");
    let after = restored(&changed, &before, &footprints, &texts);
    assert_eq!(after["spec"]["tolerations"], json!([1, 10]), "another value at the same place");
}

#[test]
fn an_item_that_was_replaced_is_told_with_the_one_that_replaces_it() {
    for (text, told) in [
        (
            r#"[{"op": "replace", "path": "/spec/containers/0", "value": {"name": "b", "image": "i"}}]"#,
            ["spec.containers[name=app] = (absent)", "spec.containers[name=b].image = i"],
        ),
        (
            r#"[{"op": "replace", "path": "/spec/containers/0/env/0/name", "value": "M"}]"#,
            [
                "spec.containers[name=app].env[name=A] = (absent)",
                "spec.containers[name=app].env[name=M].name = M",
            ],
        ),
        (
            r#"[{"op": "replace", "path": "/spec/tolerations/0", "value": "zz"}]"#,
            [
                r#"spec.tolerations[="zz"] = zz"#,
                r#"spec.tolerations[={"key":"a","operator":"Exists"}] = (absent)"#,
            ],
        ),
    ] {
        let (_, _, texts) = written(text, &live());
        let found: Vec<_> = texts.iter().map(|(path, text)| format!("{path} = {text}")).collect();
        assert_eq!(found, told);
    }
    let twice = with_tolerations(json!([1, 1]));
    let text = r#"[{"op": "replace", "path": "/spec/tolerations/1", "value": 9}]"#;
    let (_, footprints, _) = written(text, &twice);
    assert_eq!(footprints[0].marks.len(), 1, "an equal item is still there");
}

#[test]
fn what_others_removed_on_the_way_to_a_field_is_made_again() {
    let text = r#"[{"op": "replace", "path": "/spec/containers/0/image", "value": "b"},
        {"op": "add", "path": "/spec/tolerations/1", "value": 5}]"#;
    let (mut after, footprints, texts) = written(text, &live());
    after["spec"].as_object_mut().unwrap().remove("tolerations");
    assert_eq!(restored(text, &after, &footprints, &texts)["spec"]["tolerations"], json!([5]));
    after["spec"]["containers"] = json!([]);
    let problem = Script::write(&operations(text), &after, past(&footprints, &texts), &shape());
    let Err(Problem::Elsewhere { .. } | Problem::Gone { .. }) = problem else {
        panic!("{problem:?}")
    };
    let text = r#"[{"op": "add", "path": "/spec/a", "value": {}},
        {"op": "add", "path": "/spec/a/b", "value": 1}]"#;
    let (mut after, footprints, texts) = written(text, &live());
    after["spec"].as_object_mut().unwrap().remove("a");
    assert_eq!(restored(text, &after, &footprints, &texts)["spec"]["a"], json!({"b": 1}));
}

#[test]
fn a_copy_keeps_the_value_that_it_found() {
    let text = r#"[{"op": "copy", "from": "/spec/replicas", "path": "/spec/copied"},
        {"op": "copy", "from": "/spec/containers/0/env/0", "path": "/spec/item"}]"#;
    let (mut after, footprints, texts) = written(text, &live());
    after["spec"]["replicas"] = json!(7);
    assert_eq!(again(text, &after, &footprints, &texts), Vec::<Value>::new());
    after["spec"]["copied"] = json!(8);
    after["spec"]["item"]["more"] = json!(8);
    assert_eq!(
        again(text, &after, &footprints, &texts),
        [
            json!({"op": "replace", "path": "/spec/copied", "value": 2}),
            json!({"op": "replace", "path": "/spec/item", "value": {"name": "A", "value": "1"}}),
        ]
    );
}

#[test]
fn a_secret_that_was_moved_is_not_brought_back_as_its_hash() {
    let text = r#"[{"op": "move", "from": "/data/a", "path": "/data/b"}]"#;
    let concealment = ConcealmentKey([7; 32]);
    let secrecy = Secrecy::of(&Gvk::new("v1", "Secret"), &[]);
    let path = FieldPath::fields(["data", "b"]);
    let hash = crate::projection::Leaf::Concealed(json!("b2xk")).text(&path, Some(&concealment));
    let texts = Texts::from([(path.clone(), hash.unwrap())]);
    let marks = vec![Mark::Absent(FieldPath::fields(["data", "a"])), Mark::Set(path.clone())];
    let footprints = [Footprint { operation: operations(text).remove(0), marks }];
    let standing =
        Standing::Recorded { texts: &texts, positions: &Positions::new(), key: Some(&concealment) };
    let past = Past { footprints: &footprints, standing, secrecy: &secrecy };
    let write = |live: Value| Script::write(&operations(text), &live, past, &shape());
    assert_eq!(write(json!({"data": {"b": "b2xk"}})).unwrap().send, []);
    assert_eq!(write(json!({"data": {"b": "bmV3"}})), Err(Problem::Forgotten { n: 1, path }));
}

#[test]
fn a_test_of_what_the_patch_itself_changed_is_not_asked_again() {
    let text = r#"[{"op": "test", "path": "/spec/replicas", "value": 2},
        {"op": "replace", "path": "/spec/replicas", "value": 5},
        {"op": "test", "path": "/spec/containers/0/image", "value": "a"}]"#;
    let (after, footprints, texts) = written(text, &live());
    let changed = text.replace("\"value\": 5", "\"value\": 6");
    assert_eq!(again(&changed, &after, &footprints, &texts).len(), 1);
    let mut other = after.clone();
    other["spec"]["containers"][0]["image"] = json!("z");
    let problem = Script::write(
        &operations(&changed.replace("image\", \"value\": \"a\"", "image\", \"value\": \"b\"")),
        &other,
        past(&footprints, &texts),
        &shape(),
    );
    assert!(matches!(problem, Err(Problem::Cannot { n: 3, trouble: Trouble::Differs { .. } })));
}

#[test]
fn a_test_of_what_others_hold_is_asked_before_every_write() {
    let text = r#"[{"op": "test", "path": "/spec/containers/0/image", "value": "a"},
        {"op": "replace", "path": "/spec/replicas", "value": 5}]"#;
    let (mut after, footprints, texts) = written(text, &live());
    assert_eq!(again(text, &after, &footprints, &texts), Vec::<Value>::new());
    after["spec"]["containers"][0]["image"] = json!("z");
    after["spec"]["replicas"] = json!(8);
    let problem = Script::write(&operations(text), &after, past(&footprints, &texts), &shape());
    assert!(matches!(problem, Err(Problem::Cannot { n: 1, trouble: Trouble::Differs { .. } })));
}

#[test]
fn a_test_of_a_position_that_the_patch_itself_shifted_is_not_asked_again() {
    let text = r#"[{"op": "test", "path": "/spec/containers/0/env/0/name", "value": "A"},
        {"op": "add", "path": "/spec/containers/0/env/0", "value": {"name": "B", "value": "2"}},
        {"op": "replace", "path": "/spec/replicas", "value": 5}]"#;
    let (mut after, footprints, texts) = written(text, &live());
    after["spec"]["replicas"] = json!(8);
    assert_eq!(again(text, &after, &footprints, &texts).len(), 1);
}

#[test]
fn a_list_of_which_nobody_told_must_be_asked_about() {
    let text = r#"[{"op": "replace", "path": "/spec/untold/0/x", "value": "b"}]"#;
    let mut object = live();
    object["spec"]["untold"] = json!([{"x": "a"}]);
    let problem = Script::write(&operations(text), &object, past(&[], &nothing()), &shape());
    assert!(matches!(problem, Err(Problem::Unplaced(_))));
    let whole = shape().made_whole_by(&Owners::default());
    assert!(Script::write(&operations(text), &object, past(&[], &nothing()), &whole).is_ok());
}

#[test]
fn a_position_in_a_list_without_keys_means_the_item_that_it_met() {
    let key = ConcealmentKey([7; 32]);
    let items = |all: &[(&str, &str)]| {
        let items: Vec<_> = all.iter().map(|(k, v)| json!({"k": k, "v": v})).collect();
        with_tolerations(items.into())
    };
    let found = [("p", "1"), ("q", "2"), ("r", "3")];
    for text in [
        r#"[{"op": "replace", "path": "/spec/tolerations/1/v", "value": "ours"}]"#,
        r#"[{"op": "remove", "path": "/spec/tolerations/1/v"}]"#,
    ] {
        let (after, footprints, texts) = written(text, &items(&found));
        let positions = positions(&footprints, &after, &key);
        let standing = Standing::Recorded { texts: &texts, positions: &positions, key: Some(&key) };
        let past = Past { footprints: &footprints, standing, secrecy: &Secrecy::default() };
        let sends = |live: Value| {
            Script::write(&operations(text), &live, past, &shape()).map(|script| script.send.len())
        };
        let moved = |to: &str| {
            Err(Problem::Moved {
                n: 1,
                at: operations(text)[0].at().clone(),
                position: "spec.tolerations[1]".parse().unwrap(),
                now: Whereabouts::At(to.parse().unwrap()),
            })
        };
        let (first, third) = (moved("spec.tolerations[0]"), moved("spec.tolerations[2]"));
        assert_eq!(sends(after.clone()), Ok(0), "nothing is to be done");
        assert_eq!(sends(items(&found)), Ok(1), "others have changed the value");
        assert_eq!(sends(items(&[("q", "ours"), ("r", "3")])), first, "one before it is gone");
        let before = [("new", "0"), ("p", "1"), ("q", "ours"), ("r", "3")];
        assert_eq!(sends(items(&before)), third, "one was put before it");
        let swapped = [("q", "ours"), ("p", "1"), ("r", "3")];
        assert_eq!(sends(items(&swapped)), first, "they were put in another order");
        let renamed = [("p", "1"), ("renamed", "2"), ("r", "3")];
        assert_eq!(sends(items(&renamed)), Ok(1), "it was changed in its place");
        let more = [("p", "1"), ("q", "2"), ("r", "3"), ("s", "4")];
        assert_eq!(sends(items(&more)), Ok(1), "one was put behind it");
    }
}

#[test]
fn items_that_are_alike_besides_the_patched_field_are_told_apart_while_ours_is_as_it_was_left() {
    let key = ConcealmentKey([7; 32]);
    let items = |keys: &[&str], rest: &Value| {
        let item = |key: &&str| {
            let mut item = rest.clone();
            item["key"] = json!(key);
            item
        };
        with_tolerations(keys.iter().map(item).collect())
    };
    let text = r#"[{"op": "replace", "path": "/spec/tolerations/0/key", "value": "ours"}]"#;
    for rest in [json!({"operator": "Exists"}), json!({})] {
        let sends = |found: &[&str], later: &[&str]| {
            let (after, footprints, texts) = written(text, &items(found, &rest));
            let positions = positions(&footprints, &after, &key);
            let kept = positions.iter().map(|(path, it)| (path.clone(), it.to_string()));
            let kept = kept.map(|(path, it)| (path, it.parse().unwrap())).collect();
            assert_eq!(positions, kept);
            let standing =
                Standing::Recorded { texts: &texts, positions: &positions, key: Some(&key) };
            let past = Past { footprints: &footprints, standing, secrecy: &Secrecy::default() };
            let live = items(later, &rest);
            match Script::write(&operations(text), &live, past, &shape()) {
                Ok(script) => script.send.len().to_string(),
                Err(Problem::Moved { now: Whereabouts::At(now), .. }) => now.to_string(),
                Err(other) => panic!("{other:?}"),
            }
        };
        assert_eq!(sends(&["a"], &["theirs", "ours"]), "spec.tolerations[1]", "{rest}");
        assert_eq!(sends(&["a", "b"], &["b", "ours"]), "spec.tolerations[1]", "{rest}");
        assert_eq!(sends(&["a", "b"], &["theirs", "b"]), "1", "changed in its place, {rest}");
        assert_eq!(sends(&["a", "ours"], &["theirs", "ours"]), "1", "it had a twin, {rest}");
        assert_eq!(sends(&["a"], &["ours", "theirs"]), "0", "{rest}");
    }
}

#[test]
fn a_later_operation_has_the_last_word_on_what_the_server_takes() {
    let args = "/spec/containers/0/args";
    for later in [
        json!([{"op": "add", "path": args, "value": ["a", "b"]},
               {"op": "add", "path": format!("{args}/1"), "value": "mid"}]),
        json!([{"op": "add", "path": "/spec/tolerations", "value": [{"key": "a"}, {"key": "b"}]},
               {"op": "remove", "path": "/spec/tolerations/0"}]),
        json!([{"op": "add", "path": "/spec/containers/0/env", "value": []},
               {"op": "copy", "from": "/spec/template", "path": "/spec/containers/0/env/-"}]),
        json!([{"op": "add", "path": "/spec/free", "value": {"a": 1, "b": 1}},
               {"op": "replace", "path": "/spec/free/a", "value": 2},
               {"op": "move", "from": "/spec/free/b", "path": "/spec/b"}]),
        json!([{"op": "add", "path": "/spec/free", "value": {"a": 1}},
               {"op": "remove", "path": "/spec/free"},
               {"op": "add", "path": "/spec/free", "value": {"a": 2}}]),
        json!([{"op": "replace", "path": "/spec/tolerations/0/key", "value": "z"},
               {"op": "add", "path": "/spec/tolerations/0", "value": {"key": "first"}}]),
    ] {
        let mut live = live();
        live["spec"]["template"] = json!({"name": "B", "value": "2"});
        let text = later.to_string();
        let (after, footprints, _) = written(&text, &live);
        let outcome = Outcome { footprints, ..Outcome::default() };
        let patch = read(Manner::Json, &text);
        assert_eq!(patch.ignored(&after, &after, &outcome), [], "{text}");
    }
    let text = r#"[{"op": "replace", "path": "/spec/replicas", "value": 5},
        {"op": "add", "path": "/spec/containers/0/env/-", "value": {"name": "B"}}]"#;
    let (_, footprints, _) = written(text, &live());
    let outcome = Outcome { footprints, ..Outcome::default() };
    let ignored = read(Manner::Json, text).ignored(&live(), &live(), &outcome);
    assert_eq!(ignored.iter().map(|it| it.path.to_string()).collect::<Vec<_>>(), ["spec.replicas"]);
}

/// Carries one text out and then another, as an edit of it, and brings back `spec.free`.
fn edited(first: &str, then: &str) -> Value {
    let mut live = live();
    live["spec"]["free"] = json!({});
    let (after, footprints, texts) = written(first, &live);
    let mut object = after.clone();
    for operation in again(then, &after, &footprints, &texts) {
        Operation::read(&operation).unwrap().carry_out(&mut object).unwrap();
    }
    object["spec"]["free"].clone()
}

#[test]
fn what_is_moved_or_copied_follows_an_edit_of_what_an_operation_put_there() {
    for op in ["move", "copy"] {
        let text = |value: &str| {
            format!(
                r#"[{{"op": "add", "path": "/spec/free/t", "value": {value}}},
                    {{"op": "{op}", "from": "/spec/free/t", "path": "/spec/free/u"}},
                    {{"op": "{op}", "from": "/spec/free/u", "path": "/spec/free/v"}}]"#
            )
        };
        assert_eq!(edited(&text("1"), &text("2"))["v"], json!(2), "{op}");
    }
}

#[test]
fn what_an_operation_did_to_the_work_of_another_ends_when_it_is_written_no_more() {
    let list =
        |more: &str| format!(r#"[{{"op": "add", "path": "/spec/free/l", "value": [1]}}{more}]"#);
    let item =
        |value: &str| format!(r#", {{"op": "add", "path": "/spec/free/l/-", "value": {value}}}"#);
    let both = item("2") + &item("3");
    for (first, then, is) in [
        (item("2"), item("3"), json!([1, 3])),
        (both.clone(), item("3"), json!([1, 3])),
        (both.clone(), item("2"), json!([1, 2])),
        (item("2"), both, json!([1, 2, 3])),
        (item("2"), String::new(), json!([1])),
    ] {
        assert_eq!(edited(&list(&first), &list(&then))["l"], is, "{first} -> {then}");
    }
    let map = |more: &str| {
        format!(r#"[{{"op": "add", "path": "/spec/free/o", "value": {{"a": 1, "b": 1}}}}{more}]"#)
    };
    for gone in [
        r#", {"op": "replace", "path": "/spec/free/o/a", "value": 5}"#,
        r#", {"op": "remove", "path": "/spec/free/o/a"}"#,
    ] {
        assert_eq!(edited(&map(gone), &map(""))["o"], json!({"a": 1, "b": 1}), "{gone}");
    }
}
