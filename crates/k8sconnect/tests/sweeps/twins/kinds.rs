//! The kinds of the stories, and the values for each of their fields: `kinds.yaml`, read once.

use std::sync::LazyLock;

use serde_json::{Map, Value as Json, json};
use testkit::Manifest;

/// A field as a JSON pointer, and a value for it.
pub(super) type Written = (&'static str, &'static Json);

pub(super) struct Kind(&'static Json);

static FILE: LazyLock<Json> = LazyLock::new(|| include_str!("kinds.yaml").object().unwrap());

/// Values that a JSON patch writes anywhere.
pub(super) static ANYTHING: LazyLock<[Json; 7]> = LazyLock::new(|| {
    [json!({}), json!([]), Json::Null, json!(1), json!("x"), json!(["a"]), json!({"k": "v"})]
});

/// Quantities that the API server stores in another spelling.
pub(super) const SPELLINGS: [(&str, &str); 4] =
    [("1000m", "1"), ("0.5", "500m"), ("1024Mi", "1Gi"), ("1", "1")];

/// Each of them in turn, for as many seeds as there are.
pub(super) fn kind_of(seed: u64) -> Kind {
    let kinds = FILE["kinds"].as_array().unwrap();
    Kind(&kinds[usize::try_from(seed).unwrap() % kinds.len()])
}

impl Kind {
    pub(super) fn name(&self) -> &'static str {
        self.0["kind"].as_str().unwrap()
    }

    /// `GROUP` stands for the group of the custom kind.
    pub(super) fn api_version(&self) -> &'static str {
        self.0["apiVersion"].as_str().unwrap()
    }

    /// The fields of every body of the user.
    pub(super) fn base(&self) -> Json {
        self.map("base")
    }

    /// The fields that a body of another manager needs.
    pub(super) fn skeleton(&self) -> Json {
        self.map("skeleton")
    }

    fn map(&self, name: &str) -> Json {
        self.0.get(name).cloned().unwrap_or_else(|| json!({}))
    }

    /// The status that a controller writes.
    pub(super) fn statuses(&self) -> &'static [Json] {
        self.0.get("status").and_then(Json::as_array).map_or(&[], Vec::as_slice)
    }

    pub(super) fn scales(&self) -> bool {
        self.0.get("scales").is_some()
    }

    /// The fields with their values.
    pub(super) fn fields(&self) -> Vec<(&'static str, &'static [Json])> {
        let of = |map: &'static Json| map.as_object().into_iter().flat_map(Map::iter);
        let fields = of(&self.0["fields"]).chain(of(&FILE["metadata"]));
        fields.map(|(at, values)| (at.as_str(), values.as_array().unwrap().as_slice())).collect()
    }
}

/// Writes a value at a pointer and makes the maps on the way. An item right behind the end of a list is
/// added to it.
pub(super) fn put(object: &mut Json, pointer: &str, value: Json) {
    let mut place = object;
    for name in pointer.trim_start_matches('/').split('/') {
        place = match name.parse::<usize>() {
            Ok(index) if place.is_array() || place.is_null() => {
                if place.is_null() {
                    *place = json!([]);
                }
                let Json::Array(list) = place else { return };
                if list.len() <= index {
                    list.push(Json::Null);
                }
                let last = list.len() - 1;
                &mut list[index.min(last)]
            }
            _ => {
                if !place.is_object() {
                    *place = json!({});
                }
                &mut place[name]
            }
        };
    }
    *place = value;
}
