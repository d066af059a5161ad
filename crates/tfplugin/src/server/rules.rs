//! Terraform's rules about values, kept here so that no resource can break them.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::path::{AttributePath, Step};
use crate::schema::{Attribute, Mode, Schema, Shape};
use crate::value::{Data, Type, Value};

/// Takes write-only values out: they belong in the configuration and nowhere else.
pub(crate) fn null_write_only(object: &mut Data, attributes: &BTreeMap<String, Attribute>) {
    let Data::Object(values) = object else {
        return;
    };
    for (name, attribute) in attributes {
        let Some(value) = values.get_mut(name) else {
            continue;
        };
        match attribute.shape() {
            _ if attribute.is_write_only() => *value = Value::Null,
            Shape::Plain(_) => {}
            Shape::Nested(_, inner) => {
                each_object(value, &mut |object| null_write_only(object, inner))
            }
        }
    }
}

fn each_object(value: &mut Value, act: &mut dyn FnMut(&mut Data)) {
    match value {
        Value::Null | Value::Unknown => {}
        Value::Known(Data::List(items) | Data::Set(items)) => {
            items.iter_mut().for_each(|item| each_object(item, act));
        }
        Value::Known(Data::Map(entries)) => {
            entries.values_mut().for_each(|entry| each_object(entry, act));
        }
        Value::Known(object) => act(object),
    }
}

/// Refuses values for attributes that only the provider sets. Terraform leaves this to providers,
/// and would drop such a value without a word.
pub(super) fn refuse_computed(config: &Data, schema: &Schema, told: &mut Diagnostics) {
    for (name, attribute) in schema.attributes() {
        let set = config.attribute(name).is_some_and(|value| !value.is_null());
        if set && attribute.mode() == Some(Mode::Computed) {
            let detail = format!(
                "`{name}` is for the provider to set. Remove it; to use its value elsewhere, refer \
                 to the attribute."
            );
            let path = AttributePath::root(name.clone());
            told.push(Diagnostic::error("This attribute cannot be configured", detail).at(path));
        }
    }
}

/// Refuses null for attributes that the user must set. Terraform sees to it that they are written,
/// and not that what is written comes to anything.
pub(super) fn refuse_missing(config: &Data, schema: &Schema, told: &mut Diagnostics) {
    fn walk(
        value: &Value,
        attributes: &BTreeMap<String, Attribute>,
        path: &mut AttributePath,
        told: &mut Diagnostics,
    ) {
        let mut into = |step, inner: &Value, attributes, told: &mut _| {
            path.push(step);
            walk(inner, attributes, path, told);
            path.pop();
        };
        match value {
            Value::Known(Data::Object(values)) => {
                for (name, attribute) in attributes {
                    let value = values.get(name).unwrap_or(&Value::Null);
                    path.push(Step::Attribute(name.clone()));
                    if value.is_null() && attribute.mode() == Some(Mode::Required) {
                        let detail =
                            format!("`{path}` must be set, and is null.\n\nGive it a value.");
                        let summary = "A required attribute has no value";
                        told.push(Diagnostic::error(summary, detail).at(path.clone()));
                    }
                    if let Shape::Nested(_, inner) = attribute.shape() {
                        walk(value, inner, path, told);
                    }
                    path.pop();
                }
            }
            Value::Known(Data::List(items)) => {
                for (at, item) in items.iter().enumerate() {
                    into(Step::Index(at as i64), item, attributes, told);
                }
            }
            Value::Known(Data::Map(entries)) => {
                for (key, entry) in entries {
                    into(Step::Key(key.clone()), entry, attributes, told);
                }
            }
            // The elements of a set have no address; the set's stands for them.
            Value::Known(Data::Set(items)) => {
                items.iter().for_each(|item| walk(item, attributes, path, told));
            }
            Value::Known(_) | Value::Null | Value::Unknown => {}
        }
    }
    let whole = Value::Known(config.clone());
    walk(&whole, schema.attributes(), &mut AttributePath::default(), told);
}

/// Refuses write-only values when the calling program would store them.
pub(super) fn refuse_write_only(config: &Data, schema: &Schema, told: &mut Diagnostics) {
    let mut stripped = config.clone();
    null_write_only(&mut stripped, schema.attributes());
    let mut paths = Vec::new();
    differences(
        &Value::Known(config.clone()),
        &Value::Known(stripped),
        &mut AttributePath::default(),
        &mut paths,
    );
    for path in paths {
        let detail = format!(
            "`{path}` is write-only: its value is never stored. The program that runs the provider \
             does not know such attributes. Use Terraform 1.11 or OpenTofu 1.11 or later, or leave \
             the attribute out."
        );
        let summary = "A write-only attribute cannot be used here";
        told.push(Diagnostic::error(summary, detail).at(path));
    }
}

/// The places where two values of one type differ, as far down as they can be told apart.
fn differences(
    left: &Value,
    right: &Value,
    path: &mut AttributePath,
    found: &mut Vec<AttributePath>,
) {
    match (left, right) {
        (Value::Known(Data::Object(a)), Value::Known(Data::Object(b))) => {
            for (name, inner) in a {
                path.push(Step::Attribute(name.clone()));
                differences(inner, b.get(name).unwrap_or(&Value::Null), path, found);
                path.pop();
            }
        }
        (Value::Known(Data::List(a)), Value::Known(Data::List(b))) if a.len() == b.len() => {
            for (at, (inner, other)) in a.iter().zip(b).enumerate() {
                path.push(Step::Index(at as i64));
                differences(inner, other, path, found);
                path.pop();
            }
        }
        (Value::Known(Data::Map(a)), Value::Known(Data::Map(b))) => {
            for (key, inner) in a {
                path.push(Step::Key(key.clone()));
                differences(inner, b.get(key).unwrap_or(&Value::Null), path, found);
                path.pop();
            }
        }
        _ if left == right => {}
        _ => found.push(path.clone()),
    }
}

/// Every unknown in a value, by its path. The inside of a set is named by the set.
pub(super) fn unknowns(value: &Value) -> Vec<AttributePath> {
    fn walk(value: &Value, path: &mut AttributePath, found: &mut Vec<AttributePath>) {
        let data = match value {
            Value::Null => return,
            Value::Unknown => return found.push(path.clone()),
            Value::Known(data) => data,
        };
        let mut into = |step, inner: &Value| {
            path.push(step);
            walk(inner, path, found);
            path.pop();
        };
        match data {
            Data::Bool(_) | Data::Number(_) | Data::String(_) => {}
            Data::List(items) | Data::Tuple(items) => {
                for (at, item) in items.iter().enumerate() {
                    into(Step::Index(at as i64), item);
                }
            }
            Data::Set(items) => {
                if !items.iter().all(Value::is_wholly_known) {
                    found.push(path.clone());
                }
            }
            Data::Map(entries) => {
                entries.iter().for_each(|(key, entry)| into(Step::Key(key.clone()), entry));
            }
            Data::Object(attributes) => {
                for (name, attribute) in attributes {
                    into(Step::Attribute(name.clone()), attribute);
                }
            }
            Data::Dynamic(_, inner) => walk(inner, path, found),
        }
    }
    let mut found = Vec::new();
    walk(value, &mut AttributePath::default(), &mut found);
    found
}

/// The same value with null in the place of every unknown.
pub(super) fn without_unknowns(value: Value) -> Value {
    value_or_null(value).map(|data| match data {
        Data::Bool(_) | Data::Number(_) | Data::String(_) => data,
        Data::List(items) => Data::List(items.into_iter().map(without_unknowns).collect()),
        Data::Set(items) => Data::Set(items.into_iter().map(without_unknowns).collect()),
        Data::Tuple(items) => Data::Tuple(items.into_iter().map(without_unknowns).collect()),
        Data::Map(entries) => Data::Map(known_entries(entries)),
        Data::Object(entries) => Data::Object(known_entries(entries)),
        Data::Dynamic(ty, inner) => Data::Dynamic(ty, Box::new(without_unknowns(*inner))),
    })
}

fn known_entries(entries: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    entries.into_iter().map(|(key, entry)| (key, without_unknowns(entry))).collect()
}

fn value_or_null(value: Value) -> Value {
    if value.is_unknown() { Value::Null } else { value }
}

/// Says of each unknown that is left where none may be, that the provider left it.
pub(super) fn refuse_unknowns(what: &str, value: &Value, told: &mut Diagnostics) {
    for path in unknowns(value) {
        let place = if path.is_empty() { "it as a whole".to_owned() } else { format!("`{path}`") };
        let detail = format!(
            "The provider left {place} unknown in the {what}, where everything must be known. \
             This is a bug in the provider; please report it."
        );
        let summary = format!("The provider left a value unknown in the {what}");
        told.push(Diagnostic::error(summary, detail).at(path));
    }
}

/// Whether a path leads somewhere in values of a type.
pub(super) fn leads_somewhere(path: &AttributePath, ty: &Type) -> bool {
    let mut at = ty;
    for step in path.steps() {
        at = match (step, at) {
            (Step::Attribute(name), Type::Object(attributes)) => match attributes.get(name) {
                Some(inner) => inner,
                None => return false,
            },
            (Step::Key(_), Type::Map(element)) | (Step::Index(_), Type::List(element)) => element,
            (Step::Index(index), Type::Tuple(elements)) => {
                match usize::try_from(*index).ok().and_then(|index| elements.get(index)) {
                    Some(inner) => inner,
                    None => return false,
                }
            }
            // The type below is the value's own affair.
            (_, Type::Dynamic) => return true,
            _ => return false,
        };
    }
    !path.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Nesting;

    fn schema() -> Schema {
        let inner = [
            ("token", Attribute::string().optional().write_only()),
            ("name", Attribute::string().optional()),
        ];
        Schema::new(0)
            .attribute("secret", Attribute::string().optional().write_only())
            .attribute("logins", Attribute::nested(Nesting::List, inner).optional())
    }

    fn config() -> Data {
        let login = Data::object([("token", Value::from("t")), ("name", Value::from("n"))]);
        Data::object([
            ("secret", Value::from("s")),
            ("logins", Value::Known(Data::List(vec![Value::Known(login)]))),
        ])
    }

    #[test]
    fn takes_write_only_values_out_at_every_depth() {
        let mut object = config();
        null_write_only(&mut object, schema().attributes());
        let login = Data::object([("token", Value::Null), ("name", Value::from("n"))]);
        let expected = Data::object([
            ("secret", Value::Null),
            ("logins", Value::Known(Data::List(vec![Value::Known(login)]))),
        ]);
        assert_eq!(object, expected);
    }

    #[test]
    fn points_at_every_write_only_value_that_would_be_stored() {
        let mut told = Diagnostics::new();
        refuse_write_only(&config(), &schema(), &mut told);
        let places: Vec<_> =
            told.iter().map(|told| told.path.clone().unwrap().to_string()).collect();
        assert_eq!(places, ["logins[0].token", "secret"]);
    }

    #[test]
    fn finds_unknowns_and_replaces_them_by_null() {
        let value = Value::Known(Data::object([
            ("a", Value::Known(Data::List(vec![Value::from("x"), Value::Unknown]))),
            ("b", Value::Known(Data::Set(vec![Value::Unknown]))),
        ]));
        let places: Vec<_> = unknowns(&value).iter().map(ToString::to_string).collect();
        assert_eq!(places, ["a[1]", "b"]);
        assert!(without_unknowns(value).is_wholly_known());
    }

    #[test]
    fn knows_paths_that_lead_nowhere() {
        let ty = schema().value_type();
        assert!(leads_somewhere(&AttributePath::root("logins").index(3).attribute("name"), &ty));
        assert!(!leads_somewhere(&AttributePath::root("logins").attribute("name"), &ty));
        assert!(!leads_somewhere(&AttributePath::root("nothing"), &ty));
    }
}
