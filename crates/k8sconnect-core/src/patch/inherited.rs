//! A patch that somebody else wrote, who kept no record of what it touched.
//!
//! Its operations are taken for done: done twice, an addition appends twice, and a removal takes the
//! next item. What each of them touched is read off the object as it is now. Where that cannot be
//! told (which item was removed from a list), the operation is left alone from then on.

use serde_json::Value;

use super::mark::Mark;
use super::meaning::covers;
use super::operation::Operation;
use super::outcome::leaf;
use super::place::{Shape, Unplaced};
use super::{Form, Patch};
use crate::pointer::{Pointer, index};
use crate::projection::{ConcealmentKey, Texts};

/// What a patch of somebody else's is taken to have left behind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inherited {
    /// What each operation touched; empty for the other forms.
    pub marks: Vec<Vec<Mark>>,
    /// The values that operations found rather than wrote: they count as they are.
    pub texts: Texts,
}

impl Patch {
    /// Reads off a live object what the patch touched. `None` where the object shows that an
    /// operation is undone, and not how it was when it was done.
    pub fn inherited(
        &self,
        live: &Value,
        shape: &Shape,
        key: Option<&ConcealmentKey>,
    ) -> Result<Option<Inherited>, Unplaced> {
        let Form::Json(operations) = &self.form else {
            return Ok(Some(Inherited::default()));
        };
        let mut inherited = Inherited::default();
        for operation in operations {
            let Some(marks) = marks(operation, live, shape)? else {
                return Ok(None);
            };
            if let Operation::Copy { .. } | Operation::Move { .. } = operation {
                let found = marks.iter().filter(|mark| matches!(mark, Mark::Set(_)));
                inherited.texts.extend(found.filter_map(|mark| {
                    let leaf = leaf(mark.path(), None, live, &self.secrecy);
                    Some((mark.path().clone(), leaf.text(mark.path(), key)?))
                }));
            }
            inherited.marks.push(marks);
        }
        Ok(Some(inherited))
    }
}

fn marks(
    operation: &Operation,
    live: &Value,
    shape: &Shape,
) -> Result<Option<Vec<Mark>>, Unplaced> {
    let set = |at: &Pointer| Ok(vec![Mark::Set(shape.place(at, live)?)]);
    let marks = match operation {
        Operation::Test { .. } => vec![],
        Operation::Add { at, value } => match list_of(at, live) {
            Some((list, items)) => {
                let mut path = shape.place(&list, live)?;
                let found = items.iter().find(|item| covers(item, value));
                path.push(shape.name_item(&path, found.unwrap_or(value)));
                vec![Mark::Item(path)]
            }
            None if !is_named(at, live) => return Ok(None),
            None => set(at)?,
        },
        Operation::Replace { at, .. } if !is_named(at, live) => return Ok(None),
        Operation::Replace { at, .. } => set(at)?,
        Operation::Remove { at } => absent(at, live, shape)?,
        Operation::Copy { at, .. } => match (list_of(at, live), at.find(live)) {
            (Some(_), _) => vec![],
            (None, Some(_)) => set(at)?,
            (None, None) => return Ok(None),
        },
        Operation::Move { from, at } => {
            let left = absent(from, live, shape)?;
            let arrived = match (list_of(at, live), at.find(live)) {
                (Some(_), _) => vec![],
                (None, Some(_)) => set(at)?,
                // What was moved is nowhere, or back where it came from.
                (None, None) => return Ok(None),
            };
            left.into_iter().chain(arrived).collect()
        }
    };
    Ok(Some(marks))
}

/// That a field is gone. Of an item of a list nobody knows which one it was.
fn absent(at: &Pointer, live: &Value, shape: &Shape) -> Result<Vec<Mark>, Unplaced> {
    if list_of(at, live).is_some() || !is_named(at, live) {
        return Ok(vec![]);
    }
    Ok(vec![Mark::Absent(shape.place(at, live)?)])
}

/// The list that holds a place, and its items.
fn list_of<'a>(at: &Pointer, live: &'a Value) -> Option<(Pointer, &'a Vec<Value>)> {
    let (parent, _) = at.split()?;
    let items = parent.find(live)?.as_array()?;
    Some((parent, items))
}

/// Whether a place can be named though something on the way to it may be missing: what counts in a
/// list that is not there counts nothing.
fn is_named(at: &Pointer, live: &Value) -> bool {
    let there = at.split().is_some_and(|(parent, _)| parent.find(live).is_some());
    there || !at.0.iter().any(|token| token == "-" || index(token).is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Manner;
    use super::*;
    use crate::identity::{Gvk, ObjectKey};
    use crate::owners::Owners;

    fn live() -> Value {
        json!({
            "metadata": {"annotations": {"kept": "x"}, "managedFields": [
                {"manager": "helm", "operation": "Apply", "apiVersion": "apps/v1", "fieldsV1": {
                    "f:spec": {"f:replicas": {}, "f:containers": {"k:{\"name\":\"app\"}": {
                        ".": {}, "f:name": {}, "f:image": {}, "f:env": {
                            "k:{\"name\":\"A\"}": {".": {}, "f:name": {}, "f:value": {}}}}}}}}]},
            "spec": {"replicas": 2, "containers": [
                {"name": "app", "image": "a", "env": [{"name": "A", "value": "1"}]}]},
        })
    }

    fn inherited(text: &str) -> Option<Inherited> {
        let gvk = Gvk::new("apps/v1", "Deployment");
        let key = ObjectKey { gvk, namespace: None, name: "web".into() };
        let patch = Patch::read(Manner::Json, text, key).unwrap();
        let shape = Shape::told_by(&Owners::of_object(&live()).unwrap());
        patch.inherited(&live(), &shape, None).unwrap()
    }

    fn touched(text: &str) -> Vec<String> {
        let marks = inherited(text).unwrap().marks;
        marks.into_iter().flatten().map(|mark| mark.to_string()).collect()
    }

    #[test]
    fn what_each_operation_touched_is_read_off_the_object() {
        let text = r#"[
            {"op": "test", "path": "/spec/replicas", "value": 1},
            {"op": "replace", "path": "/spec/replicas", "value": 2},
            {"op": "replace", "path": "/spec/containers/0/image", "value": "a"},
            {"op": "add", "path": "/spec/containers/0/env/-", "value": {"name": "A", "value": "1"}},
            {"op": "remove", "path": "/metadata/annotations/old"}]"#;
        let expected = [
            "=spec.replicas",
            "=spec.containers[name=app].image",
            "+spec.containers[name=app].env[name=A]",
            "-metadata.annotations.old",
        ];
        assert_eq!(touched(text), expected);
    }

    #[test]
    fn an_item_that_was_removed_is_not_guessed() {
        let text = r#"[{"op": "remove", "path": "/spec/containers/0/env/0"}]"#;
        assert_eq!(inherited(text).unwrap().marks, [vec![]]);
    }

    #[test]
    fn a_value_that_was_found_counts_as_it_is() {
        let copy = r#"[{"op": "copy", "from": "/metadata/annotations/gone",
            "path": "/metadata/annotations/kept"}]"#;
        let inherited = inherited(copy).unwrap();
        assert_eq!(inherited.texts.into_values().collect::<Vec<_>>(), ["x"]);
    }

    #[test]
    fn what_was_moved_and_is_not_there_is_not_taken_for_moved() {
        let text = r#"[{"op": "move", "from": "/metadata/annotations/kept",
            "path": "/metadata/annotations/other"}]"#;
        assert_eq!(inherited(text), None);
        let text = r#"[{"op": "add", "path": "/spec/volumes/-", "value": {"name": "v"}}]"#;
        assert_eq!(inherited(text), None);
    }
}
