//! Items of lists that have keys.

use super::*;
use crate::pointer::Pointer;

const ENV: &str = "/spec/containers/0/env";

fn add(place: &str, value: &Value) -> String {
    json!([{"op": "add", "path": format!("{ENV}/{place}"), "value": value}]).to_string()
}

#[test]
fn an_item_of_ours_is_changed_where_it_stands_and_not_added_beside_itself() {
    for place in ["-", "0", "1"] {
        let first = add(place, &json!({"name": "Z", "value": "1"}));
        let (mut after, footprints, texts) = written(&first, &live());
        let items = after["spec"]["containers"][0]["env"].as_array_mut().unwrap();
        items.push(json!({"name": "LATER"}));
        let at = items.iter().position(|item| item["name"] == "Z").unwrap();
        let edits = [
            (
                json!({"name": "Z", "value": "2"}),
                json!([{"op": "replace", "path": format!("{ENV}/{at}/value"), "value": "2"}]),
            ),
            (
                json!({"name": "Z", "valueFrom": {"a": "b"}}),
                json!([{"op": "remove", "path": format!("{ENV}/{at}/value")},
                       {"op": "add", "path": format!("{ENV}/{at}/valueFrom"), "value": {"a": "b"}}]),
            ),
        ];
        for (edit, sent) in edits {
            let again = again(&add(place, &edit), &after, &footprints, &texts);
            assert_eq!(Value::Array(again), sent, "{place}");
        }
    }
}

#[test]
fn what_others_put_into_an_item_of_ours_stays_when_it_is_changed() {
    let first = add("-", &json!({"name": "Z", "deep": {"a": 1, "b": 1}}));
    let (mut after, footprints, texts) = written(&first, &live());
    after["spec"]["containers"][0]["env"][1]["deep"]["theirs"] = json!(true);
    let text = add("-", &json!({"name": "Z", "deep": {"a": 2}}));
    let script = Script::write(&operations(&text), &after, past(&footprints, &texts), &shape());
    for operation in script.unwrap().send {
        operation.carry_out(&mut after).unwrap();
    }
    let items = json!([{"name": "A", "value": "1"},
                       {"name": "Z", "deep": {"a": 2, "theirs": true}}]);
    assert_eq!(after["spec"]["containers"][0]["env"], items);
}

#[test]
fn a_key_that_the_server_filled_in_is_known_by_the_text_that_left_it_out() {
    let with_ports = |ports: Value| {
        let mut object = live();
        object["spec"]["containers"][0]["ports"] = ports;
        object["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:containers"]["k:{\"name\":\"app\"}"]
            ["f:ports"] = json!({"k:{\"port\":1,\"protocol\":\"TCP\"}": {".": {}}});
        object
    };
    let add = |value: Value| {
        json!([{"op": "add", "path": "/spec/containers/0/ports/-", "value": value}]).to_string()
    };
    let object = with_ports(json!([{"port": 9, "protocol": "TCP", "name": "n"}]));
    let shape = Shape::told_by(&Owners::of_object(&object).unwrap());
    let mark = "+spec.containers[name=app].ports[port=9,protocol=TCP]".parse().unwrap();
    let operation = operations(&add(json!({"port": 9, "name": "n"}))).remove(0);
    let footprints = [Footprint { operation, marks: vec![mark] }];
    let sent = |value: Value, footprints: &[Footprint]| {
        let operations = operations(&add(value));
        let script = Script::write(&operations, &object, past(footprints, &nothing()), &shape);
        script.map(|script| script.send.iter().map(Operation::to_json).collect::<Vec<_>>())
    };
    let named = json!({"op": "replace", "path": "/spec/containers/0/ports/0/name", "value": "m"});
    assert_eq!(sent(json!({"port": 9, "name": "m"}), &footprints), Ok(vec![named.clone()]));
    let spelt = json!({"port": 9, "protocol": "TCP", "name": "m"});
    assert_eq!(sent(spelt.clone(), &footprints), Ok(vec![named]));
    let other = json!({"port": 9, "protocol": "UDP", "name": "m"});
    assert_eq!(sent(other, &footprints).unwrap()[0]["op"], "add", "another key, another item");
    let beside = sent(spelt, &[]).unwrap_err();
    assert!(matches!(beside, Problem::Beside { n: 1, .. }), "{beside:?}");
    // What protocol it will be, only the answer tells.
    assert_eq!(sent(json!({"port": 9, "name": "m"}), &[]).unwrap()[0]["op"], "add");
}

#[test]
fn no_item_is_put_beside_another_one_of_its_key() {
    let live = {
        let mut live = live();
        live["spec"]["spare"] = json!({"name": "A", "value": "7"});
        live
    };
    let to = |op: &str, from: &str| {
        json!([{"op": op, "from": from, "path": format!("{ENV}/-")}]).to_string()
    };
    let twice = json!([{"op": "add", "path": format!("{ENV}/-"), "value": {"name": "B"}},
                       {"op": "add", "path": format!("{ENV}/-"), "value": {"name": "B", "value": "2"}}]);
    for (text, n, item, at) in [
        (add("-", &json!({"name": "A", "value": "7"})), 1, "A", 0),
        (add("0", &json!({"name": "A", "value": "7"})), 1, "A", 0),
        (to("copy", "/spec/spare"), 1, "A", 0),
        (to("move", "/spec/spare"), 1, "A", 0),
        (twice.to_string(), 2, "B", 1),
    ] {
        let problem = Script::write(&operations(&text), &live, past(&[], &nothing()), &shape());
        let Err(Problem::Beside { holders, .. }) = &problem else { panic!("{problem:?}") };
        let holders = holders.clone();
        let names: Vec<_> = holders.iter().map(|holder| holder.name.as_str()).collect();
        assert_eq!(names, if item == "A" { vec!["helm"] } else { vec![] }, "{text}");
        let beside = Problem::Beside {
            n,
            holders,
            item: format!("spec.containers[name=app].env[name={item}]").parse().unwrap(),
            at: Pointer::parse(&format!("{ENV}/{at}")).unwrap(),
        };
        assert_eq!(problem, Err(beside), "{text}");
    }
    for text in [
        to("move", &format!("{ENV}/0")),
        add("-", &json!({"name": "A", "value": "1"})),
        json!([{"op": "remove", "path": format!("{ENV}/0")},
               {"op": "add", "path": format!("{ENV}/-"), "value": {"name": "A", "value": "7"}}])
        .to_string(),
    ] {
        let script = Script::write(&operations(&text), &live, past(&[], &nothing()), &shape());
        assert!(script.is_ok(), "{text}: {script:?}");
    }
}

#[test]
fn an_item_that_has_namesakes_is_known_before_and_after() {
    let outcome = |text: &str| {
        let (_, footprints, _) = written(text, &live());
        let patch = read(Manner::Json, text);
        let object = live();
        let written = Written { object: &object, manager: "us" };
        let leaves = leaves_now(&patch, &Default::default(), &footprints, written).unwrap();
        Outcome { leaves, footprints, ..Outcome::default() }
    };
    let value = json!([{"op": "replace", "path": format!("{ENV}/0/value"), "value": "9"}]);
    let value = outcome(&value.to_string());
    assert_eq!(value.namesakes(&live()), None);
    assert_eq!(value.beside(&live(), &live()), None);
    let mut twice = live();
    twice["spec"]["containers"][0]["env"] = json!([{"name": "A"}, {"name": "B"}, {"name": "A"}]);
    let found = value.namesakes(&twice).unwrap();
    assert_eq!(
        (found.item.to_string().as_str(), found.count),
        ("spec.containers[name=app].env[name=A]", 2)
    );
    let beside = value.beside(&live(), &twice);
    assert!(matches!(beside, Some(Problem::Beside { n: 1, .. })), "{beside:?}");
    let texts = nothing();
    let problem = |text: Value| {
        let past = past(&[], &texts);
        Script::write(&operations(&text.to_string()), &twice, past, &shape()).err()
    };
    for touching in [
        json!({"op": "replace", "path": format!("{ENV}/2/value"), "value": "9"}),
        json!({"op": "add", "path": format!("{ENV}/2/value"), "value": "9"}),
        json!({"op": "replace", "path": format!("{ENV}/2"), "value": {"name": "C"}}),
        json!({"op": "remove", "path": format!("{ENV}/2")}),
        json!({"op": "move", "from": format!("{ENV}/2"), "path": "/spec/free"}),
    ] {
        let found = problem(json!([touching]));
        assert!(matches!(found, Some(Problem::Namesakes { n: 1, .. })), "{touching}: {found:?}");
    }
    let image = json!([{"op": "replace", "path": "/spec/containers/0/image", "value": "b"}]);
    assert_eq!(problem(image), None, "it is not in the list");
    let list = json!([{"op": "add", "path": ENV, "value": [{"name": "A"}]},
                      {"op": "add", "path": format!("{ENV}/0/value"), "value": "1"}]);
    assert_eq!(problem(list), None, "the list is written as a whole first");
}
