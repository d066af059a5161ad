//! Many edits in one plan, for documents with thousands of leaves: a large definition costs the API
//! server seconds a plan, and it has ten thousand leaves.
//!
//! A plan of many edits that is an update must show each of them, leaf by leaf; one that it does
//! not show is planned alone, and judged alone. Where the server refuses the crowd, one of them is
//! tried alone: if it is refused too, the others, which are of its sort, count as refused in its
//! company; otherwise the crowd is split.

use std::collections::BTreeMap;

use k8sconnect_core::field::FieldPath;
use serde_json::Value as Json;
use tfplugin::harness::Core;
use tfplugin::{Data, Value};

use super::{Edit, Planned, Specimen, Verdict, Way};
use crate::specimens::{Place, Step, place_of};

/// More would be split more often than it saves.
const MOST: usize = 128;

/// Crowds of edits of one sort each: the same done to fields of one name. No two of them are items
/// of one list, whose places would shift.
pub fn crowds(edits: Vec<Edit>) -> Vec<Vec<Edit>> {
    let mut sorts: BTreeMap<_, Vec<Edit>> = BTreeMap::new();
    for edit in edits {
        sorts.entry(edit.sort()).or_default().push(edit);
    }
    sorts.values().flat_map(|sort| sort.chunks(MOST)).map(<[_]>::to_vec).collect()
}

/// Plans a crowd; a verdict for each of it.
pub async fn plan(core: &Core, specimen: &Specimen, crowd: Vec<Edit>) -> Vec<(Edit, Verdict)> {
    let mut found = Vec::new();
    let mut crowds = vec![crowd];
    while let Some(mut crowd) = crowds.pop() {
        if let [alone] = crowd.as_slice() {
            let verdict = alone.plan(core, specimen).await;
            found.push((alone.clone(), verdict));
            continue;
        }
        // From the last on, so that the places of those before stay.
        let body = crowd.iter().rev().fold(specimen.manifest.clone(), |body, edit| edit.of(&body));
        match specimen.plan(core, &body).await {
            Planned::Update { before, after } => {
                let shown = Shown::new(&specimen.manifest, &before, &after);
                for edit in crowd {
                    match shown.tells(&edit.place) {
                        true => found.push((edit, Verdict::Updated)),
                        false => crowds.push(vec![edit]),
                    }
                }
            }
            Planned::Otherwise(Verdict::Refused(_)) => {
                let Some(one) = crowd.pop() else {
                    continue;
                };
                let verdict = one.plan(core, specimen).await;
                if matches!(verdict, Verdict::Refused(_)) {
                    found.extend(crowd.into_iter().map(|it| (it, Verdict::RefusedInCompany)));
                } else {
                    let rest = crowd.split_off(crowd.len() / 2);
                    crowds.extend([crowd, rest].into_iter().filter(|part| !part.is_empty()));
                }
                found.push((one, verdict));
            }
            Planned::Otherwise(_) => crowds.extend(crowd.into_iter().map(|edit| vec![edit])),
        }
    }
    found
}

impl Edit {
    /// What is done, the name of the field, and which item of a list it is. What says which object
    /// is meant is alone of its sort.
    fn sort(&self) -> (bool, String, Option<usize>) {
        let key = self.place.0.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key.clone()),
            Step::Index(_) => None,
        });
        let index = match self.place.0.last() {
            Some(Step::Index(index)) => Some(*index),
            _ => None,
        };
        let name = match self.place.is_identity() {
            true => self.place.to_string(),
            false => key.unwrap_or_default(),
        };
        (self.way == Way::Change, name, index)
    }
}

/// The entries of a projection as they were and as they will be, by their places.
struct Shown {
    entries: Vec<(Place, Json, Json)>,
}

impl Shown {
    fn new(manifest: &Json, before: &Value, after: &Value) -> Self {
        let (before, after) = (texts(before), texts(after));
        let entry = |(path, text): (&String, &String)| {
            let place = place_of(manifest, &path.parse::<FieldPath>().ok()?)?;
            Some((place, read(text), after.get(path).map_or(Json::Null, |text| read(text))))
        };
        Self { entries: before.iter().filter_map(entry).collect() }
    }

    /// Whether the plan shows something else at this place, or, of an item, in its list.
    fn tells(&self, place: &Place) -> bool {
        self.entries.iter().any(|(above, before, after)| {
            let Some(mut below) = place.0.strip_prefix(above.0.as_slice()) else {
                return false;
            };
            if let [list @ .., Step::Index(_)] = below {
                below = list;
            }
            let below = Place(below.to_vec());
            below.value(before) != below.value(after)
        })
    }
}

fn texts(projection: &Value) -> BTreeMap<String, String> {
    let Some(Data::Map(entries)) = projection.known() else {
        return BTreeMap::new();
    };
    let text = |(path, value): (&String, &Value)| match value.known() {
        Some(Data::String(text)) => Some((path.clone(), text.clone())),
        _ => None,
    };
    entries.iter().filter_map(text).collect()
}

/// An atomic as JSON; anything else as it stands.
fn read(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> Json {
        json!({"metadata": {"name": "a"},
               "spec": {"a": {"description": "x", "required": ["p", "q"]},
                        "b": {"description": "y", "required": ["r"]}}})
    }

    fn places<'a>(edits: impl IntoIterator<Item = &'a Edit>) -> Vec<String> {
        edits.into_iter().map(|edit| edit.place.to_string()).collect()
    }

    #[test]
    fn crowds_are_of_one_sort_and_hold_no_two_items_of_a_list() {
        let crowds = crowds(Way::Remove.edits(&manifest()));
        let shown: Vec<_> = crowds.iter().map(places).collect();
        assert_eq!(
            shown,
            [
                vec!["spec.a.description", "spec.b.description"],
                vec!["metadata.name"],
                vec!["spec.a.required[0]", "spec.b.required[0]"],
                vec!["spec.a.required[1]"],
            ]
        );
    }

    #[test]
    fn a_plan_tells_of_a_leaf_only_where_its_own_value_differs() {
        let projection = |spec: &Json| {
            Value::Known(Data::Map([("spec".to_owned(), Value::from(spec.to_string()))].into()))
        };
        let mut edited = manifest()["spec"].clone();
        edited["a"]["description"] = json!("z");
        edited["b"]["required"] = json!([]);
        let (before, after) = (projection(&manifest()["spec"]), projection(&edited));
        let shown = Shown::new(&manifest(), &before, &after);
        let edits = Way::Remove.edits(&manifest());
        let told = places(edits.iter().filter(|edit| shown.tells(&edit.place)));
        assert_eq!(told, ["spec.a.description", "spec.b.required[0]"]);
    }
}
