//! A body laid over an object instead of merged into it.
//!
//! An apply merges: what others hold, and what the server filled in, stays. So a refusal may be for
//! what comes of the two together and not for anything that the object can never take, such as
//! `type: Recreate` beside the `rollingUpdate` that was filled in for another type. Whether it is,
//! the server tells: what is laid over the object takes the rest along, and is accepted then. There
//! is no list of fields or kinds here, and nothing of this is ever more than tried.

use serde_json::{Value, json};

use crate::changed::changed;
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::{at, at_written};
use crate::field::{FieldPath, FieldSet, PathElement};
use crate::owners::{Manager, Owners};
use crate::pointer::Pointer;
use crate::rejection::Cause;

/// What belongs to the server, whoever wrote it down.
const NOT_CONTENT: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];

/// How much of the object is laid over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The maps and lists in which something changes. The rest stays, such as what a controller
    /// wrote elsewhere and nobody may take away.
    Near,
    /// All that is not metadata, as `kubectl replace` would.
    Whole,
}

/// The operations of a JSON patch that lays a body over an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Overwrite {
    pub operations: Vec<Value>,
    /// What they replace.
    parts: Vec<FieldPath>,
}

impl Overwrite {
    /// Of an object that was `before` and is to be `body`. `None` if nothing would be laid over.
    pub fn of(live: &Value, before: &Value, body: &Value, reach: Reach) -> Option<Self> {
        let near = changed(before, body, &FieldSet::default());
        let near = near.iter().filter_map(|path| part(path, live, body));
        let mut parts: Vec<_> = match reach {
            Reach::Near => near.collect(),
            Reach::Whole => {
                let whole = [live, body].into_iter().filter_map(Value::as_object);
                let whole = whole.flat_map(|object| object.keys()).map(String::as_str);
                let whole = whole.filter(|key| !NOT_CONTENT.contains(key));
                let whole = whole.map(|key| FieldPath::fields([key]));
                whole.chain(near.filter(|part| part.starts_with(&metadata()))).collect()
            }
        };
        parts.sort();
        parts.dedup();
        let all = parts.clone();
        parts.retain(|part| !all.iter().any(|other| other != part && part.starts_with(other)));
        let operation = |part: &FieldPath| {
            let pointer = Pointer(names_of(part)).to_string();
            match at(body, part) {
                Some(value) => Some(json!({"op": "add", "path": pointer, "value": value})),
                None => at(live, part).map(|_| json!({"op": "remove", "path": pointer})),
            }
        };
        let operations: Vec<_> = parts.iter().filter_map(operation).collect();
        if operations.is_empty() { None } else { Some(Self { operations, parts }) }
    }

    /// What goes, by the object before it and after. In the way stood, of the fields of others, those
    /// beside what the server named; if there are none, those that the body held together with them
    /// until now.
    pub fn clearing(
        &self,
        live: &Value,
        [body, after]: [&Value; 2],
        manager: &str,
        causes: &[Cause],
    ) -> Result<Clearing, FieldsV1Error> {
        let owners = Owners::of_object(live)?;
        let ours = owners.applied_by(manager);
        let is_dropped = |path: &FieldPath| ours.contains(path) && at_written(body, path).is_none();
        let all = owners.0.iter().fold(FieldSet::default(), |all, it| all.union(&it.fields));
        let is_laid_over = |path: &FieldPath| self.parts.iter().any(|it| path.starts_with(it));
        let goes = |path: &FieldPath| at(live, path).is_some() && at(after, path) != at(live, path);
        let mut found: Vec<Cleared> = Vec::new();
        for other in owners.others(manager) {
            let mut theirs = other.fields.intersection(&ours).leaves();
            theirs.retain(is_dropped);
            theirs.extend(other.fields.difference(&ours).leaves());
            for path in theirs {
                if !is_laid_over(&path) || !goes(&path) {
                    continue;
                }
                match found.iter_mut().find(|it| it.path == path) {
                    Some(known) => known.holders.push(other.manager.clone()),
                    None => found.push(Cleared { path, holders: vec![other.manager.clone()] }),
                }
            }
        }
        let is_placed = |it: &PathElement| matches!(it, PathElement::Index(_));
        for path in changed(live, after, &all) {
            let goes = at(after, &path).is_none() && !path.elements().iter().any(is_placed);
            if goes && is_laid_over(&path) && all.below(&path).is_none() {
                found.push(Cleared { path, holders: Vec::new() });
            }
        }
        // What was just dropped is the likeliest to meet what comes in its place.
        found.sort_by_key(|it| !is_dropped(&it.path));
        let named: Vec<_> = causes.iter().filter_map(|cause| beside(&cause.field)).collect();
        let is_named =
            |it: &Cleared| named.iter().any(|names| names_of(&it.path).starts_with(names));
        let (mut in_the_way, mut alongside): (Vec<_>, Vec<_>) =
            found.into_iter().partition(is_named);
        if in_the_way.is_empty() {
            (in_the_way, alongside) = alongside.into_iter().partition(|it| is_dropped(&it.path));
        }
        Ok(match in_the_way.is_empty() {
            true => Clearing { in_the_way: alongside, alongside: Vec::new() },
            false => Clearing { in_the_way, alongside },
        })
    }
}

/// The names of the map that holds the field of a cause. Which item of a list is meant, the server
/// tells by a place in what it refused, and nobody has that.
fn beside(field: &str) -> Option<Vec<String>> {
    let mut names = names_of(&field.parse().ok()?);
    if names.len() > 2 {
        names.pop();
    }
    Some(names)
}

fn names_of(path: &FieldPath) -> Vec<String> {
    let names = path.elements().iter().filter_map(|element| match element {
        PathElement::Field(name) => Some(name.to_string()),
        _ => None,
    });
    names.collect()
}

/// All that goes when a body is laid over the object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clearing {
    pub in_the_way: Vec<Cleared>,
    /// What goes with it, and was not what the body was refused for.
    pub alongside: Vec<Cleared>,
}

/// A field that goes when a body is laid over the object, and that is none of the body's.
#[derive(Clone, Debug, PartialEq)]
pub struct Cleared {
    pub path: FieldPath,
    /// Nobody, if the server filled it in.
    pub holders: Vec<Manager>,
}

fn metadata() -> FieldPath {
    FieldPath::fields(["metadata"])
}

/// What is laid over where a field changes: the list that it is in or, in maps alone, the value
/// itself if others can hold something in it, else the map around it. Of metadata only its fields:
/// the server's own are among them.
fn part(changed: &FieldPath, live: &Value, body: &Value) -> Option<FieldPath> {
    let is_name = |element: &&PathElement| matches!(element, PathElement::Field(_));
    let mut part = FieldPath::new(changed.elements().iter().take_while(is_name).cloned());
    let is_scalar = !at(body, &part).is_some_and(|it| it.is_object() || it.is_array());
    let is_own = |part: &FieldPath| match part.elements() {
        [] => true,
        [first, rest @ ..] => {
            let is = |name| *first == PathElement::field(name);
            is("status") || (is("metadata") && rest.is_empty())
        }
    };
    if is_scalar {
        let whole = part.clone();
        part.pop();
        if is_own(&part) {
            part = whole;
        }
    }
    // An operation needs the map that its field is in.
    loop {
        let mut around = part.clone();
        around.pop();
        if is_own(&part) {
            return None;
        }
        if at(live, &around).is_some_and(Value::is_object) {
            return Some(part);
        }
        part = around;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operations(live: &Value, before: &Value, body: &Value, reach: Reach) -> Value {
        Overwrite::of(live, before, body, reach).map(|it| it.operations).into()
    }

    fn add(path: &str, value: &Value) -> Value {
        json!({"op": "add", "path": path, "value": value})
    }

    #[test]
    fn what_changes_is_laid_over_with_the_map_or_the_list_around_it() {
        let live = json!({"metadata": {"labels": {"a": "b"}, "uid": "1"},
            "spec": {"strategy": {"type": "Rolling", "rolling": {}}, "ports": [{"port": 1}, {"port": 2}]}});
        let before = json!({"metadata": {}, "spec": {"strategy": {"type": "Rolling"}, "ports": [{"port": 1}]}});
        for (body, expected) in [
            (
                json!({"metadata": {}, "spec": {"strategy": {"type": "Recreate"}, "ports": [{"port": 1}]}}),
                json!([add("/spec/strategy", &json!({"type": "Recreate"}))]),
            ),
            (
                json!({"metadata": {}, "spec": {"strategy": {"type": "Rolling"}, "ports": [{"port": 3}]}}),
                json!([add("/spec/ports", &json!([{"port": 3}]))]),
            ),
            (
                json!({"metadata": {"labels": {"c": "d"}, "finalizers": ["x"]}, "spec": before["spec"]}),
                json!([
                    add("/metadata/finalizers", &json!(["x"])),
                    add("/metadata/labels", &json!({"c": "d"}))
                ]),
            ),
        ] {
            assert_eq!(operations(&live, &before, &body, Reach::Near), expected);
        }
        assert_eq!(Overwrite::of(&live, &before, &before, Reach::Near), None);
    }

    #[test]
    fn an_operation_has_a_map_to_work_on() {
        let live = json!({"metadata": {}, "spec": {"a": 1}});
        let body = json!({"spec": {"a": 1, "deep": {"er": {"b": 1}}}});
        let before = json!({"spec": {"a": 1, "deep": {"er": {}}}});
        let laid = operations(&live, &before, &body, Reach::Near);
        assert_eq!(laid, json!([add("/spec/deep", &body["spec"]["deep"])]));
        // What the server reports is not the body's to say.
        let body = json!({"spec": {"a": 1}, "status": {"phase": "x"}});
        assert_eq!(Overwrite::of(&live, &json!({"spec": {"a": 1}}), &body, Reach::Near), None);
    }

    #[test]
    fn the_whole_takes_along_what_the_body_does_not_have() {
        let live = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": {"x": "y"}},
            "data": {"a": "1"}, "binaryData": {"b": "MQ=="}, "status": {}});
        let before = json!({"data": {"a": "1"}});
        let body = json!({"data": {"a": "1", "b": "2"}});
        assert_eq!(
            operations(&live, &before, &body, Reach::Whole),
            json!([{"op": "remove", "path": "/binaryData"}, add("/data", &body["data"])])
        );
    }

    #[test]
    fn what_stood_in_the_way_is_told_with_who_holds_it() {
        let entry = |manager: &str, fields: &Value| json!({"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields});
        let key = r#"k:{"name":"a"}"#;
        let live = json!({
            "metadata": {"managedFields": [
                entry("k8sconnect", &json!({"f:spec": {"f:strategy": {"f:type": {}}, "f:list": {key: {".": {}, "f:name": {}}}}})),
                entry("rival", &json!({"f:spec": {"f:list": {key: {"f:value": {}}}, "f:else": {}}})),
            ]},
            "spec": {"strategy": {"type": "Rolling", "rolling": {"surge": 1}}, "else": 1,
                     "list": [{"name": "a", "value": "v"}]}});
        let before = json!({"spec": {"strategy": {"type": "Rolling"}, "list": [{"name": "a"}]}});
        let cleared = |body: &Value, cause: &str| -> Vec<(String, usize)> {
            let laid = Overwrite::of(&live, &before, body, Reach::Whole).unwrap();
            let causes = [Cause { field: cause.into(), ..Cause::default() }];
            let found = laid.clearing(&live, [body, body], "k8sconnect", &causes).unwrap();
            let rest = found.alongside.len();
            assert_eq!(rest, 3 - found.in_the_way.len(), "{found:?}");
            found.in_the_way.iter().map(|it| (it.path.shown(), it.holders.len())).collect()
        };
        let recreate = json!({"spec": {"strategy": {"type": "Recreate"}, "list": [{"name": "a"}]}});
        let told = cleared(&recreate, "spec.strategy.rolling");
        assert_eq!(told, [("spec.strategy.rolling".to_owned(), 0)]);
        let from =
            json!({"spec": {"strategy": {"type": "Rolling"}, "list": [{"name": "a", "from": 1}]}});
        assert_eq!(
            cleared(&from, "spec.list[0].from"),
            [("spec.list[name=a].value".to_owned(), 1)]
        );
        // Where the server names something else, all that goes may have been in the way.
        assert_eq!(cleared(&from, "elsewhere").len(), 3);
    }

    #[test]
    fn what_the_body_drops_and_others_hold_too_stood_in_the_way_first() {
        let entry = |manager: &str, fields: &Value| json!({"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields});
        let fields = json!({"f:spec": {"f:max": {}, "f:same": {}}});
        let live = json!({
            "metadata": {"managedFields": [
                entry("k8sconnect", &fields), entry("rival", &fields),
                entry("else", &json!({"f:spec": {"f:deep": {"f:a": {}}}})),
            ]},
            "spec": {"max": 1, "same": 1, "deep": {"a": 1}}});
        let (before, body) =
            (json!({"spec": {"max": 1, "same": 1}}), json!({"spec": {"min": 1, "same": 2}}));
        let laid = Overwrite::of(&live, &before, &body, Reach::Whole).unwrap();
        for (cause, in_the_way) in [
            ("spec", &["spec.max", "spec.deep.a"][..]),
            ("spec.deep.b", &["spec.deep.a"]),
            ("elsewhere", &["spec.max"]),
        ] {
            let causes = [Cause { field: cause.into(), ..Cause::default() }];
            let found = laid.clearing(&live, [&body, &body], "k8sconnect", &causes).unwrap();
            let shown: Vec<_> = found.in_the_way.iter().map(|it| it.path.shown()).collect();
            assert_eq!(shown, in_the_way, "{cause}");
        }
    }
}
