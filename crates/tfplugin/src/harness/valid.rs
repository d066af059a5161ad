//! Core's rule about plans: each attribute is as configured, or as before, or computed.

use std::collections::BTreeMap;

use crate::path::{AttributePath, Step};
use crate::schema::{Attribute, Nesting, Shape};
use crate::value::{Data, Value};

type Attributes = BTreeMap<String, Attribute>;
type Object = BTreeMap<String, Value>;

/// What is wrong with a plan, in core's words; one line for each place.
pub(super) fn plan_problems(
    attributes: &Attributes,
    prior: &Value,
    config: &Value,
    planned: &Value,
) -> Vec<String> {
    let mut check = Check { path: AttributePath::default(), problems: Vec::new() };
    match (config, planned) {
        (Value::Known(Data::Object(config)), Value::Known(Data::Object(planned))) => {
            check.object(attributes, as_object(prior), config, planned);
        }
        (_, Value::Null) => check.report("planned for absence but config wants existence"),
        _ => check.report("the planned value is no object"),
    }
    check.problems
}

fn as_object(value: &Value) -> Option<&Object> {
    match value {
        Value::Known(Data::Object(object)) => Some(object),
        _ => None,
    }
}

struct Check {
    path: AttributePath,
    problems: Vec<String>,
}

impl Check {
    fn report(&mut self, problem: impl std::fmt::Display) {
        self.problems.push(format!(".{}: {problem}", self.path));
    }

    fn at(&mut self, step: Step, check: impl FnOnce(&mut Self)) {
        self.path.push(step);
        check(self);
        self.path.pop();
    }

    fn object(
        &mut self,
        attributes: &Attributes,
        prior: Option<&Object>,
        config: &Object,
        planned: &Object,
    ) {
        const NULL: &Value = &Value::Null;
        for (name, attribute) in attributes {
            let prior = prior.and_then(|prior| prior.get(name)).unwrap_or(NULL);
            let config = config.get(name).unwrap_or(NULL);
            let planned = planned.get(name).unwrap_or(NULL);
            self.at(Step::Attribute(name.clone()), |check| {
                check.attribute(attribute, prior, config, planned);
            });
        }
    }

    fn attribute(&mut self, attribute: &Attribute, prior: &Value, config: &Value, planned: &Value) {
        if attribute.is_write_only() {
            if !planned.is_null() {
                self.report("the provider planned a non-null value for a write-only attribute");
            }
            return;
        }
        let as_before = planned == prior && !prior.is_null() && !config.is_null();
        if planned == config || as_before || (attribute.is_computed() && config.is_null()) {
            return;
        }
        match attribute.shape() {
            Shape::Nested(nesting, inner) => self.nested(*nesting, inner, prior, config, planned),
            Shape::Plain(_) if config.is_null() => {
                self.report(format_args!("planned value {planned:?} for a non-computed attribute"));
            }
            Shape::Plain(_) => self.report(format_args!(
                "planned value {planned:?} does not match config value {config:?} nor prior value \
                 {prior:?}"
            )),
        }
    }

    fn nested(
        &mut self,
        nesting: Nesting,
        inner: &Attributes,
        prior: &Value,
        config: &Value,
        planned: &Value,
    ) {
        let (config, planned) = match (config, planned) {
            (Value::Null, _) => {
                return self.report("planned for existence but config wants absence");
            }
            (_, Value::Null) => {
                return self.report("planned for absence but config wants existence");
            }
            (Value::Unknown, _) => return,
            (_, Value::Unknown) => return self.report("planned unknown for configured value"),
            (Value::Known(config), Value::Known(planned)) => (config, planned),
        };
        match (nesting, config, planned) {
            (Nesting::Single, Data::Object(config), Data::Object(planned)) => {
                self.object(inner, as_object(prior), config, planned);
            }
            (Nesting::List, Data::List(config), Data::List(planned)) => {
                self.count(planned.len(), config.len());
                for (at, (config, planned)) in config.iter().zip(planned).enumerate() {
                    let prior = match prior {
                        Value::Known(Data::List(prior)) => prior.get(at),
                        _ => None,
                    };
                    self.at(Step::Index(at as i64), |check| {
                        check.element(inner, prior, config, planned);
                    });
                }
            }
            (Nesting::Map, Data::Map(config), Data::Map(planned)) => {
                self.count(planned.len(), config.len());
                for (key, config) in config {
                    let planned = planned.get(key).unwrap_or(&Value::Null);
                    let prior = match prior {
                        Value::Known(Data::Map(prior)) => prior.get(key),
                        _ => None,
                    };
                    self.at(Step::Key(key.clone()), |check| {
                        check.element(inner, prior, config, planned);
                    });
                }
            }
            (Nesting::Set, Data::Set(config), Data::Set(planned)) => {
                self.count(planned.len(), config.len());
                let before: &[Value] = match prior {
                    Value::Known(Data::Set(prior)) => prior,
                    _ => &[],
                };
                for element in planned {
                    let fits = config.iter().any(|config| {
                        before.iter().map(Some).chain([None]).any(|prior| {
                            let mut trial = Self { path: self.path.clone(), problems: Vec::new() };
                            trial.element(inner, prior, config, element);
                            trial.problems.is_empty()
                        })
                    });
                    if !fits {
                        self.report(format_args!("planned set element {element:?} does not match"));
                    }
                }
            }
            _ => self.report("the planned value has another shape than the configuration"),
        }
    }

    fn element(
        &mut self,
        inner: &Attributes,
        prior: Option<&Value>,
        config: &Value,
        planned: &Value,
    ) {
        match (config, planned) {
            _ if config == planned => {}
            (Value::Known(Data::Object(config)), Value::Known(Data::Object(planned))) => {
                self.object(inner, prior.and_then(as_object), config, planned);
            }
            _ => self.report(format_args!(
                "planned value {planned:?} does not match config value {config:?}"
            )),
        }
    }

    fn count(&mut self, planned: usize, config: usize) {
        if planned != config {
            self.report(format_args!(
                "count in plan ({planned}) disagrees with count in config ({config})"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;

    fn schema() -> Schema {
        let inner =
            [("name", Attribute::string().optional()), ("id", Attribute::string().computed())];
        Schema::new(0)
            .attribute("text", Attribute::string().required())
            .attribute("id", Attribute::string().computed())
            .attribute("secret", Attribute::string().optional().write_only())
            .attribute("part", Attribute::nested(Nesting::Single, inner).optional())
    }

    fn object(text: &str, id: Value, secret: Value, part: Value) -> Value {
        Value::Known(Data::object([
            ("text", text.into()),
            ("id", id),
            ("secret", secret),
            ("part", part),
        ]))
    }

    fn problems(prior: &Value, config: &Value, planned: &Value) -> Vec<String> {
        plan_problems(schema().attributes(), prior, config, planned)
    }

    #[test]
    fn accepts_the_configuration_the_state_before_and_anything_computed() {
        let config = object("new", Value::Null, "s".into(), Value::Null);
        let planned = object("new", Value::Unknown, Value::Null, Value::Null);
        assert!(problems(&Value::Null, &config, &planned).is_empty());
        let prior = object("old", "1".into(), Value::Null, Value::Null);
        assert!(problems(&prior, &config, &prior).is_empty());
    }

    #[test]
    fn finds_a_plan_that_invents_a_value() {
        let config = object("new", Value::Null, Value::Null, Value::Null);
        let planned = object("other", Value::Unknown, Value::Null, Value::Null);
        assert!(problems(&Value::Null, &config, &planned)[0].starts_with(".text: planned value"));
    }

    #[test]
    fn finds_a_write_only_value_in_the_plan() {
        let config = object("new", Value::Null, "s".into(), Value::Null);
        assert!(problems(&Value::Null, &config, &config)[0].starts_with(".secret: "));
    }

    #[test]
    fn finds_a_configured_object_that_is_planned_unknown() {
        let part = Value::Known(Data::object([("name", "n".into()), ("id", Value::Null)]));
        let config = object("t", Value::Null, Value::Null, part);
        let planned = object("t", Value::Unknown, Value::Null, Value::Unknown);
        let expected = [".part: planned unknown for configured value"];
        assert_eq!(problems(&Value::Null, &config, &planned), expected);
    }
}
