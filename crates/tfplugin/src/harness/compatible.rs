//! Core's rule about results: what was planned as known comes back as it was planned.

use crate::path::{AttributePath, Step};
use crate::value::{Data, Value};

/// Where a later value contradicts an earlier one, in core's words; one line for each place.
pub(super) fn contradictions(planned: &Value, actual: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    compare(planned, actual, &mut AttributePath::default(), &mut problems);
    problems
}

fn compare(planned: &Value, actual: &Value, path: &mut AttributePath, problems: &mut Vec<String>) {
    let (was, is) = match (planned, actual) {
        (Value::Unknown, _) => return,
        (Value::Null, Value::Null) => return,
        (Value::Null, _) => return problems.push(format!(".{path}: was absent, but now present")),
        (_, Value::Null) => return problems.push(format!(".{path}: was present, but now absent")),
        (_, Value::Unknown) => {
            return problems.push(format!(".{path}: was known, but now unknown"));
        }
        (Value::Known(was), Value::Known(is)) => (was, is),
    };
    match (was, is) {
        (Data::Object(was), Data::Object(is)) => {
            for (name, planned) in was {
                path.push(Step::Attribute(name.clone()));
                compare(planned, is.get(name).unwrap_or(&Value::Null), path, problems);
                path.pop();
            }
        }
        (Data::Map(was), Data::Map(is)) => {
            for (key, planned) in was {
                path.push(Step::Key(key.clone()));
                match is.get(key) {
                    Some(actual) => compare(planned, actual, path, problems),
                    None => problems.push(format!(".{path}: element has vanished")),
                }
                path.pop();
            }
            for key in is.keys().filter(|key| !was.contains_key(*key)) {
                problems.push(format!(".{path}: new element {key:?} has appeared"));
            }
        }
        (Data::List(was), Data::List(is)) | (Data::Tuple(was), Data::Tuple(is)) => {
            if was.len() != is.len() {
                let (was, is) = (was.len(), is.len());
                return problems.push(format!(".{path}: length was {was}, but now {is}"));
            }
            for (at, (planned, actual)) in was.iter().zip(is).enumerate() {
                path.push(Step::Index(at as i64));
                compare(planned, actual, path, problems);
                path.pop();
            }
        }
        (Data::Set(was), Data::Set(is)) => {
            for planned in was {
                let found = is.iter().any(|actual| contradictions(planned, actual).is_empty());
                if !found {
                    problems.push(format!(".{path}: planned set element {planned:?} has vanished"));
                }
            }
            // Unknown elements may turn out to be equal, so there may be fewer but never more.
            if is.len() > was.len() {
                let (was, is) = (was.len(), is.len());
                problems.push(format!(".{path}: length was {was}, but now {is}"));
            }
        }
        (Data::Dynamic(was_type, was), Data::Dynamic(is_type, is)) if was_type == is_type => {
            compare(was, is, path, problems);
        }
        _ if was == is => {}
        _ => problems.push(format!(".{path}: was {was:?}, but now {is:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: Value, tags: Value) -> Value {
        Value::Known(Data::object([("text", text), ("tags", tags)]))
    }

    #[test]
    fn lets_unknowns_become_anything() {
        let planned = object("a".into(), Value::Unknown);
        assert!(contradictions(&planned, &object("a".into(), Value::Null)).is_empty());
    }

    #[test]
    fn finds_known_values_that_changed() {
        let planned = object("a".into(), Value::Null);
        let actual = object("b".into(), Value::from("c"));
        let found = contradictions(&planned, &actual);
        assert_eq!(found[0], ".tags: was absent, but now present");
        assert!(found[1].starts_with(".text: was String(\"a\"), but now"), "{found:?}");
    }

    #[test]
    fn compares_sets_without_order() {
        let set = |items: [&str; 2]| Value::Known(Data::Set(items.map(Value::from).to_vec()));
        assert!(contradictions(&set(["a", "b"]), &set(["b", "a"])).is_empty());
        assert!(!contradictions(&set(["a", "b"]), &set(["a", "c"])).is_empty());
    }
}
