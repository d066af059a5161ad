//! What a patch named and names no longer, which stays on the object: values stay when they leave a
//! patch. A server that does not want it beside what the patch says now refuses the write, and its words
//! do not tell that the patch itself brought it.

use serde_json::{Value, json};

use super::judge::{Kept, without_ours};
use super::place::pointer_to;
use super::{Form, Patch};
use crate::field::FieldPath;
use crate::field::fields_v1::FieldsV1Error;
use crate::field::walk::at_written;
use crate::owners::Owners;
use crate::pointer::{Pointer, index};
use crate::projection::ABSENT;
use crate::rejection::Cause;

/// Why the server refuses a field that may not be there at all.
const FORBIDDEN: &str = "FieldValueForbidden";

/// A leaf that stays, and the largest thing around it that came with it: nothing else holds any of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Behind {
    pub leaf: FieldPath,
    pub all: Pointer,
}

impl Behind {
    /// How a merge patch removes it; `None` where it would have to replace a list.
    pub fn as_merge_patch(&self) -> Option<Value> {
        let mut tokens = self.all.0.iter().rev();
        match tokens.clone().any(|token| index(token).is_some()) {
            true => None,
            false => {
                Some(tokens.by_ref().fold(Value::Null, |below, token| json!({ token: below })))
            }
        }
    }

    pub fn as_operation(&self) -> Value {
        json!({"op": "remove", "path": self.all.to_string()})
    }
}

impl Patch {
    /// What would stay of what the last write left, as far as a refusal may be about it. What is to be
    /// removed last comes first, so that the positions of the others stay as they are.
    pub fn left_behind(
        &self,
        kept: &Kept,
        live: &Value,
        manager: &str,
        causes: &[Cause],
    ) -> Result<Vec<Behind>, FieldsV1Error> {
        let others = without_ours(&Owners::of_object(live)?, manager);
        let is_held = |path: &FieldPath| others.0.iter().any(|it| it.fields.below(path).is_some());
        let behind = |path: &FieldPath| {
            let place = pointer_to(path, live).filter(|it| self.is_blamed(it, live, causes))?;
            let starts = (1..=path.elements().len()).map(|n| path.elements()[..n].iter().cloned());
            let mut starts = starts.map(FieldPath::new);
            let alone = starts.find(|it| !self.still_names(it, live) && !is_held(it));
            let all = alone.and_then(|alone| pointer_to(&alone, live)).unwrap_or(place);
            Some(Behind { leaf: path.clone(), all })
        };
        let there = kept.texts.iter().filter(|(_, text)| *text != ABSENT).map(|(path, _)| path);
        let left = there.filter(|path| !self.still_names(path, live));
        let mut found: Vec<_> = left.filter_map(behind).collect();
        found.sort_by_key(|it| std::cmp::Reverse(in_order(&it.all)));
        Ok(found)
    }

    /// Whether a refusal is about a place: it names that, or something around it of which the patch says
    /// nothing itself, or forbids what the patch says beside it.
    fn is_blamed(&self, place: &Pointer, live: &Value, causes: &[Cause]) -> bool {
        let spelt = spelt(place, live);
        causes.iter().any(|Cause { field, reason, .. }| {
            let beside = field.rfind(['.', '[']).map_or("", |end| &field[..end]);
            holds(&spelt, field)
                || holds(field, &spelt) && !self.says(field, live)
                || reason == FORBIDDEN && holds(beside, &spelt)
        })
    }

    /// Whether the patch gives a value to just this field.
    fn says(&self, field: &str, live: &Value) -> bool {
        let given = |value: &Value| {
            let path = field.parse::<FieldPath>().ok();
            path.and_then(|path| at_written(value, &path).map(|it| !it.is_object()))
        };
        match &self.form {
            Form::Apply(manifest) => given(&manifest.as_applied()).unwrap_or_default(),
            Form::Merge(value) => given(value).unwrap_or_default(),
            Form::Json(operations) => {
                let mut changed = operations.iter().flat_map(|operation| operation.changes());
                changed.any(|it| spelt(it, live) == *field)
            }
        }
    }

    /// Whether the patch says something of a field, or puts something in its place.
    fn still_names(&self, path: &FieldPath, live: &Value) -> bool {
        match &self.form {
            Form::Apply(manifest) => at_written(&manifest.as_applied(), path).is_some(),
            Form::Merge(value) => {
                let mut starts = (0..=path.elements().len()).map(|n| &path.elements()[..n]);
                let written =
                    |start: &[_]| at_written(value, &FieldPath::new(start.iter().cloned()));
                written(path.elements()).is_some()
                    || starts.any(|start| written(start).is_some_and(|it| !it.is_object()))
            }
            Form::Json(operations) => pointer_to(path, live).is_none_or(|place| {
                let mut changed = operations.iter().flat_map(|operation| operation.changes());
                changed.any(|it| it.overlaps(&place))
            }),
        }
    }
}

/// Whether one place is the other, or around it.
fn holds(around: &str, within: &str) -> bool {
    let rest = within.strip_prefix(around);
    !around.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A place as the server's refusals spell it.
fn spelt(place: &Pointer, live: &Value) -> String {
    let mut text = String::new();
    for (n, token) in place.0.iter().enumerate() {
        let around = Pointer(place.0[..n].to_vec());
        match around.find(live) {
            Some(Value::Array(_)) => text.push_str(&format!("[{token}]")),
            _ if n == 0 => text.push_str(token),
            _ => text.push_str(&format!(".{token}")),
        }
    }
    text
}

/// Positions by number, and not by their digits.
fn in_order(place: &Pointer) -> Vec<(usize, String)> {
    place.0.iter().map(|token| (index(token).unwrap_or_default(), token.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Manner;
    use super::super::tests::read;
    use super::*;

    fn cause(field: &str) -> Cause {
        Cause { field: field.into(), ..Cause::default() }
    }

    fn kept(paths: &[&str]) -> Kept {
        let text = |path: &&str| (path.parse().unwrap(), "x".to_owned());
        Kept { texts: paths.iter().map(text).collect(), ..Kept::default() }
    }

    fn told(patch: &Patch, kept: &Kept, live: &Value, field: &str) -> Vec<String> {
        let found = patch.left_behind(kept, live, "us", &[cause(field)]).unwrap();
        found.iter().map(|it| it.all.to_string()).collect()
    }

    #[test]
    fn what_came_with_a_leaf_goes_with_it_unless_others_hold_a_part() {
        let patch = read(Manner::Apply, "spec: {strategy: {type: Recreate}}");
        let mut live = json!({"spec": {"strategy": {"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 2}}}});
        let kept = kept(&["spec.strategy.type", "spec.strategy.rollingUpdate.maxSurge"]);
        let blamed = "spec.strategy.rollingUpdate";
        assert_eq!(told(&patch, &kept, &live, blamed), ["/spec/strategy/rollingUpdate"]);
        assert_eq!(told(&patch, &kept, &live, "spec").len(), 1, "a rule of the whole");
        for elsewhere in ["", "<nil>", "metadata.labels", "spec.strategy.type"] {
            assert!(told(&patch, &kept, &live, elsewhere).is_empty(), "{elsewhere}");
        }
        let beside = Cause { reason: FORBIDDEN.into(), ..cause("spec.strategy.type") };
        assert_eq!(patch.left_behind(&kept, &live, "us", &[beside]).unwrap().len(), 1);
        let theirs =
            json!({"f:spec": {"f:strategy": {"f:rollingUpdate": {"f:maxUnavailable": {}}}}});
        live["metadata"] = json!({"managedFields": [{"manager": "helm", "operation": "Apply",
            "apiVersion": "v1", "fieldsV1": theirs}]});
        let alone = "/spec/strategy/rollingUpdate/maxSurge";
        assert_eq!(told(&patch, &kept, &live, blamed), [alone]);
    }

    #[test]
    fn the_last_of_a_list_is_removed_first() {
        let patch = read(Manner::Apply, "spec: {b: 1}");
        let items: Vec<_> = (0..11).map(|n| json!({"name": format!("n{n}"), "v": 1})).collect();
        let live = json!({"spec": {"l": items}});
        let kept = kept(&["spec.l[name=n2].v", "spec.l[name=n10].v"]);
        let mut live_held = live.clone();
        let theirs = json!({"f:spec": {"f:l": {"k:{\"name\":\"n0\"}": {".": {}}}}});
        live_held["metadata"] = json!({"managedFields": [{"manager": "helm", "operation": "Apply",
            "apiVersion": "v1", "fieldsV1": theirs}]});
        assert_eq!(told(&patch, &kept, &live_held, "spec.l"), ["/spec/l/10", "/spec/l/2"]);
    }

    #[test]
    fn a_merge_patch_that_sets_a_list_leaves_nothing_of_it_behind() {
        let patch = read(Manner::Merge, "spec: {l: [{name: a}], m: {a: 1}}");
        let live = json!({"spec": {"l": [{"name": "a", "v": 1}], "m": {"a": 1, "b": 2}}});
        let kept = kept(&["spec.l[name=a].v", "spec.m.b"]);
        let found = patch.left_behind(&kept, &live, "us", &[cause("spec")]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].as_merge_patch(), Some(json!({"spec": {"m": {"b": null}}})));
    }
}
