//! What a configuration asks to wait for, read and checked. All that is wrong is told at once.

use std::collections::BTreeMap;
use std::time::Duration;

use k8sconnect_core::identity::ObjectKey;
use k8sconnect_core::jsonpath::JsonPath;
use k8sconnect_core::readiness::{Goal, Sign};
use tfplugin::{AttributePath, Diagnostics, Value};

use super::model::{WaitFor, WaitModel};
use crate::duration::duration;
use crate::object_ref::ObjectRef;
use crate::{messages, place};

const TIMEOUT: &str = "10m";

#[derive(Clone, Debug)]
pub(crate) struct WaitTerms {
    pub(crate) key: ObjectKey,
    pub(crate) goal: Goal,
    pub(crate) fail_when: Vec<Sign>,
    pub(crate) timeout: Duration,
    /// As it was written.
    pub(crate) timeout_text: String,
}

impl WaitTerms {
    /// `None` where something is not known yet.
    pub(crate) fn read(model: &WaitModel) -> Result<Option<Self>, Diagnostics> {
        let mut reading = TermsReader::default();
        let key = model.object_ref.known().and_then(|it| reading.key(it));
        reading.unknown |= model.object_ref.is_unknown() || model.wait_for.is_unknown();
        let wait_for = model.wait_for.known();
        let goal = wait_for.and_then(|it| reading.goal(it));
        let fail_when = wait_for.map(|it| reading.fail_when(it)).unwrap_or_default();
        let timeout_text = wait_for.and_then(|it| it.timeout.known());
        let timeout_text = timeout_text.map_or(TIMEOUT, String::as_str).to_owned();
        reading.unknown |= wait_for.is_some_and(|it| it.timeout.is_unknown());
        let timeout = reading.timeout(&timeout_text);
        let kind = model.object_ref.known().and_then(ObjectRef::gvk);
        if let (Some(gvk), Some(goal)) = (&kind, &goal)
            && !goal.suits(gvk)
        {
            let path = at("rollout");
            reading.problems.push(messages::wait::no_rollout(gvk).at(path));
        }
        reading.problems.into_result()?;
        let (Some(key), Some(goal), Some(timeout), false) = (key, goal, timeout, reading.unknown)
        else {
            return Ok(None);
        };
        Ok(Some(Self { key, goal, fail_when, timeout, timeout_text }))
    }
}

fn at(name: &str) -> AttributePath {
    AttributePath::root("wait_for").attribute(name)
}

#[derive(Default)]
struct TermsReader {
    problems: Diagnostics,
    unknown: bool,
}

impl TermsReader {
    fn key(&mut self, object: &ObjectRef) -> Option<ObjectKey> {
        self.unknown |= object.api_version.is_unknown() || object.kind.is_unknown();
        self.unknown |= object.namespace.is_unknown() || object.name.is_unknown();
        let root = AttributePath::root("object_ref");
        let misnamed =
            place::misnamed(&object.name, &object.namespace, |part| root.clone().attribute(part));
        let miscalled = place::miscalled(&object.api_version, &object.kind, |part| {
            root.clone().attribute(part)
        });
        self.problems.extend(misnamed.into_iter().chain(miscalled));
        object.key()
    }

    fn goal(&mut self, wait: &WaitFor) -> Option<Goal> {
        let root = AttributePath::root("wait_for");
        let signs = self.signs(&wait.field, &wait.field_value, &wait.condition, &root);
        let mut goals: Vec<_> =
            signs.into_iter().map(|(name, sign)| (name, sign.map(Goal::Shows))).collect();
        let mut may_come =
            wait.field.is_unknown() || wait.field_value.is_unknown() || wait.condition.is_unknown();
        for (name, flag, goal) in [
            ("rollout", &wait.rollout, Goal::Rollout),
            ("ready", &wait.ready, Goal::Ready),
            ("deleted", &wait.deleted, Goal::Deleted),
        ] {
            match flag {
                Value::Known(true) => goals.push((name, Some(goal))),
                Value::Unknown => may_come = true,
                // `rollout = false` asks for nothing.
                Value::Known(false) | Value::Null => {}
            }
        }
        self.unknown |= may_come;
        if goals.len() > 1 {
            let given: Vec<_> = goals.iter().map(|(name, _)| *name).collect();
            self.problems.push(messages::wait::several_goals(&given).at(root));
        } else if goals.is_empty() && !may_come {
            self.problems.push(messages::wait::no_goal().at(root));
        }
        goals.pop().and_then(|(_, goal)| goal)
    }

    fn fail_when(&mut self, wait: &WaitFor) -> Vec<Sign> {
        let root = at("fail_when");
        match &wait.fail_when {
            Value::Null => Vec::new(),
            Value::Unknown => {
                self.unknown = true;
                Vec::new()
            }
            Value::Known(it) => {
                let all = [it.field.is_null(), it.field_value.is_null(), it.condition.is_null()];
                if all == [true; 3] {
                    self.problems.push(messages::wait::fails_on_nothing().at(root.clone()));
                }
                self.unknown |= it.field.is_unknown()
                    || it.field_value.is_unknown()
                    || it.condition.is_unknown();
                let signs = self.signs(&it.field, &it.field_value, &it.condition, &root);
                signs.into_iter().filter_map(|(_, sign)| sign).collect()
            }
        }
    }

    /// The signs that are named, `None` for one that cannot be read.
    fn signs(
        &mut self,
        field: &Value<String>,
        values: &Value<BTreeMap<String, Value<String>>>,
        condition: &Value<String>,
        root: &AttributePath,
    ) -> Vec<(&'static str, Option<Sign>)> {
        let mut signs = Vec::new();
        if let Some(text) = field.known() {
            let path = self.path(text, root.clone().attribute("field"));
            signs.push(("field", path.map(Sign::Field)));
        }
        if let Some(values) = values.known() {
            let place = root.clone().attribute("field_value");
            if values.is_empty() {
                self.problems.push(messages::wait::empty("field_value").at(place.clone()));
            }
            let mut read = Vec::new();
            for (text, value) in values {
                let path = self.path(text, place.clone());
                match value {
                    Value::Known(value) => read.extend(path.map(|path| (path, value.clone()))),
                    Value::Unknown => self.unknown = true,
                    Value::Null => {
                        let place = place.clone().key(text);
                        self.problems.push(messages::wait::no_value(text).at(place));
                    }
                }
            }
            signs.push(("field_value", Some(Sign::Values(read))));
        }
        if let Some(text) = condition.known() {
            if text.split('=').any(|part| part.trim().is_empty()) {
                let place = root.clone().attribute("condition");
                self.problems.push(messages::wait::no_condition(text).at(place));
            }
            signs.push(("condition", Some(Sign::condition(text))));
        }
        signs
    }

    fn path(&mut self, text: &str, place: AttributePath) -> Option<JsonPath> {
        match JsonPath::parse(text) {
            Ok(path) => Some(path),
            Err(error) => {
                self.problems.push(messages::wait::no_path(&error).at(place));
                None
            }
        }
    }

    fn timeout(&mut self, text: &str) -> Option<Duration> {
        match duration(text) {
            Ok(timeout) => Some(timeout),
            Err(problem) => {
                let told = messages::terms::no_duration(text, problem).at(at("timeout"));
                self.problems.push(told);
                None
            }
        }
    }
}
