//! What is done to a tree of values: it stays one, and means something else.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Another value in the place of one.
    Put(Index, Value),
    /// What stands at one place, at another one as well.
    Copy(Index, Index),
    Remove(Index, Index),
    Rename(Index, Index, String),
}

pub(crate) fn changes() -> impl Strategy<Value = Change> {
    let odd = prop::sample::select(vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(0.5),
        json!(""),
        json!("x"),
        json!("\u{0}é"),
        json!("2026-13-99T99:99:99Z"),
        json!("9".repeat(60)),
        json!([]),
        json!({}),
        json!([null, {}, [], "a", {"name": null}]),
        json!({"": {"": []}}),
        json!([{"name": "app"}, {"name": "app"}]),
    ]);
    let names = prop::sample::select(vec![
        "",
        ".",
        "f:",
        "f:x",
        "k:{}",
        "k:{\"name\":\"app\"}",
        "k:[]",
        "v:",
        "v:\"a\"",
        "v:{}",
        "i:",
        "i:0",
        "i:-1",
        "i:99999999999999999999",
        "x:y",
        "metadata",
        "status",
        "name",
        "é",
    ]);
    let at = any::<Index>;
    prop_oneof![
        3 => (at(), odd).prop_map(|(at, value)| Change::Put(at, value)),
        1 => (at(), at()).prop_map(|(from, to)| Change::Copy(from, to)),
        2 => (at(), at()).prop_map(|(at, which)| Change::Remove(at, which)),
        1 => (at(), at(), names).prop_map(|(at, which, name)| Change::Rename(at, which, name.to_owned())),
    ]
}

pub(crate) fn changed(mut value: Value, change: Change) -> Value {
    let count = nodes(&value);
    match change {
        Change::Put(at, new) => {
            if let Some(place) = node(&mut value, &mut at.index(count)) {
                *place = new;
            }
        }
        Change::Copy(from, to) => {
            let copied = node(&mut value, &mut from.index(count)).cloned();
            if let (Some(place), Some(copied)) = (node(&mut value, &mut to.index(count)), copied) {
                *place = copied;
            }
        }
        Change::Remove(at, which) => match node(&mut value, &mut at.index(count)) {
            Some(Value::Array(items)) if !items.is_empty() => {
                items.remove(which.index(items.len()));
            }
            Some(Value::Object(map)) => {
                let _ = taken(map, which);
            }
            _ => {}
        },
        Change::Rename(at, which, name) => {
            if let Some(Value::Object(map)) = node(&mut value, &mut at.index(count))
                && let Some(moved) = taken(map, which)
            {
                map.insert(name, moved);
            }
        }
    }
    value
}

fn taken(map: &mut Map<String, Value>, which: Index) -> Option<Value> {
    let name = map.keys().nth(which.index(map.len().max(1)))?.clone();
    map.remove(&name)
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(map) => map.values().map(nodes).sum(),
        _ => 0,
    }
}

/// The node with this number, counted from the root on.
fn node<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| node(item, left)),
        Value::Object(map) => map.values_mut().find_map(|item| node(item, left)),
        _ => None,
    }
}
