//! The projection covers every leaf of the body: what is not in it could drift, and nobody would
//! see it.

use std::collections::BTreeSet;

use k8sconnect_core::field::{FieldPath, PathElement};
use k8sconnect_core::manifest::Manifest;
use k8sconnect_core::text::nfc;
use serde_json::Value as Json;
use testkit::specimens::documents::Tier;
use testkit::specimens::{Place, Step, leaves, place_of};
use tfplugin::Data;

use crate::world::{OBJECT, World};

/// The leaves of `body` that a path of the projection speaks of. What lies below the end of a path
/// is in its value; a key field is in the path itself.
fn covered(body: &Json, path: &FieldPath) -> BTreeSet<Place> {
    let mut found = BTreeSet::new();
    for (depth, element) in path.elements().iter().enumerate() {
        let PathElement::Key(keys) = element else {
            continue;
        };
        let item = FieldPath::new(path.elements()[..=depth].iter().cloned());
        if let Some(Place(item)) = place_of(body, &item) {
            for name in keys.keys() {
                let key = item.iter().cloned().chain([Step::Key(name.clone())]);
                let key = Place(key.collect());
                found.extend(key.value(body).is_some().then_some(key));
            }
        }
    }
    if let Some(Place(place)) = place_of(body, path)
        && let Some(value) = Place(place.clone()).value(body)
    {
        for below in leaves(value) {
            found.insert(Place(place.iter().cloned().chain(below.0).collect()));
        }
    }
    found
}

/// Leaves that no entry speaks of, and why none can.
fn excused(body: &Json, place: &Place) -> bool {
    // Which object it is, is not a value of the object: a change of it is another object.
    if place.is_identity() {
        return true;
    }
    match place.value(body) {
        // The server keeps no null: it means "as if I had not written it".
        Some(Json::Null) => true,
        // Nor does it keep an empty list, whose items nobody owns.
        Some(Json::Array(items)) => items.is_empty(),
        // Nor, in most kinds, an empty map or a zero: once another writes something there, the
        // kept set of our fields brings it into the projection.
        Some(Json::Object(map)) => map.is_empty(),
        Some(Json::Bool(truth)) => !truth,
        Some(Json::Number(number)) => number.as_i64() == Some(0),
        Some(Json::String(text)) => text.is_empty(),
        None => false,
    }
}

/// As Terraform holds text, also where the YAML hides it behind an escape.
pub(crate) fn normalised(body: &Json) -> Json {
    serde_json::from_str(&nfc(&body.to_string())).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_leaf_of_the_body_is_in_the_projection_and_nothing_else_is() {
    let world = World::new().await;
    let kinds = world.kinds();
    let mut failures = Vec::new();
    for kind in &kinds {
        let plan = world.core().plan(OBJECT, &world.config(&kind.text), None).await;
        let plan = match plan {
            Ok(plan) => plan,
            Err(failure) => {
                failures.push(format!("{}: {failure}", kind.name));
                continue;
            }
        };
        if kind.tier() == Tier::Definition {
            world.make(kind).await;
        }
        let projection = plan.planned.attribute("managed_state_projection").unwrap();
        let Some(Data::Map(entries)) = projection.known() else {
            failures.push(format!("{}: the projection is not known: {projection:?}", kind.name));
            continue;
        };
        let body = normalised(&Manifest::parse(&kind.text).unwrap().as_applied());
        let mut seen = BTreeSet::new();
        for text in entries.keys() {
            let found = covered(&body, &text.parse().unwrap());
            if found.is_empty() {
                failures.push(format!("{}: `{text}` is in no body", kind.name));
            }
            seen.extend(found);
        }
        for place in leaves(&body) {
            if !seen.contains(&place) && !excused(&body, &place) {
                failures.push(format!("{}: {place} is not in the projection", kind.name));
            }
        }
    }
    world.clear(&kinds).await;
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
