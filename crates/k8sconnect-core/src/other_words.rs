//! Who holds fields of ours in another API version, where they have another path.
//!
//! An entry of `managedFields` is in the words of the version that its manager wrote in, and one field
//! may have two: a whole there may be divided here, and what is a number there may be a list here. Of
//! the first, the path tells as much as is needed. Of the second, only that there is something: a path
//! that leads nowhere in our version stands for one of the fields whose path is unknown in theirs, and
//! for which of them nothing tells.
//!
//! A path that leads somewhere in our version too means the same there, and so does one of ours that
//! somebody holds in theirs.

use serde_json::Value;

use crate::field::walk::at;
use crate::field::{FieldPath, PathElement};
use crate::handback::{Division, Extent};
use crate::owners::{Manager, Owners};

/// What somebody holds, or has lost, in other versions than ours.
pub struct OtherWords {
    elsewhere: Owners,
    /// Who of them has words that lead nowhere in ours.
    strange: Vec<Manager>,
    /// Everybody in those versions: what words there are.
    vocabulary: Owners,
    division: Division,
}

impl OtherWords {
    /// Of what is `held`, on an object that is or was as these. `everybody` holds the rest of it.
    pub fn of(held: &Owners, everybody: &Owners, version: &str, objects: &[&Value]) -> Self {
        let elsewhere = |owners: &Owners| {
            let entries = owners.0.iter().filter(|entry| entry.manager.api_version != version);
            Owners(entries.cloned().collect())
        };
        let (elsewhere, vocabulary) = (elsewhere(held), elsewhere(everybody));
        let is_strange = |path: &FieldPath| leads_nowhere(path, objects);
        let strange = elsewhere.0.iter().filter(|it| it.fields.leaves().iter().any(is_strange));
        Self {
            strange: strange.map(|entry| entry.manager.clone()).collect(),
            division: Division::told_by([everybody]).with_losses(&elsewhere, version),
            elsewhere,
            vocabulary,
        }
    }

    /// Where nobody has any.
    pub fn none() -> Self {
        Self::of(&Owners::default(), &Owners::default(), "", &[])
    }

    /// Everyone who holds a field of ours, as far as can be told.
    pub fn holders(&self, path: &FieldPath) -> Vec<Manager> {
        let around = self.around(path);
        if around.is_empty() { self.perhaps(path) } else { around }
    }

    /// Who holds it under its own path, or as part of what is a whole in their version.
    pub fn around(&self, path: &FieldPath) -> Vec<Manager> {
        self.division.holders(&self.elsewhere, path, Extent::Whole)
    }

    /// Whose words that lead nowhere may mean it.
    pub fn perhaps(&self, path: &FieldPath) -> Vec<Manager> {
        if self.strange.is_empty() || !has_words_of_a_version(path) {
            return Vec::new();
        }
        let same = self.division.holders(&self.vocabulary, path, Extent::Whole);
        let knows = |it: &&Manager| same.iter().any(|other| other.api_version == it.api_version);
        self.strange.iter().filter(|it| !knows(it)).cloned().collect()
    }
}

/// Whether a path of another version is none in ours.
pub fn leads_nowhere(path: &FieldPath, objects: &[&Value]) -> bool {
    has_words_of_a_version(path) && objects.iter().all(|object| at(object, path).is_none())
}

/// Labels and the like are the same in every version; annotations hold what a version has no field
/// for. What is reported is nothing that anybody asks for.
pub fn has_words_of_a_version(path: &FieldPath) -> bool {
    let names = path.elements().iter().map_while(|element| match element {
        PathElement::Field(name) => Some(name.as_str()),
        _ => None,
    });
    match names.take(2).collect::<Vec<_>>()[..] {
        ["status", ..] => false,
        ["metadata", second] => second == "annotations",
        ["metadata"] => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn owners(entries: &[(&str, &str, Value)]) -> Owners {
        let entry = |(name, version, fields): &(&str, &str, Value)| json!({"manager": name, "operation": "Apply", "apiVersion": version, "fieldsV1": fields});
        Owners::from_managed_fields(&entries.iter().map(entry).collect()).unwrap()
    }

    fn holders(entries: &[(&str, &str, Value)], path: &str) -> Vec<String> {
        let live = json!({"metadata": {"labels": {"a": "1"}, "annotations": {"a": "1"}},
            "spec": {"max": 5, "min": 1, "metrics": [1], "ref": {"name": "x"}}});
        let all = owners(entries);
        let words = OtherWords::of(&all, &all, "g/v2", &[&live]);
        let path: FieldPath = path.parse().unwrap();
        words.holders(&path).into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn a_path_that_leads_nowhere_may_mean_any_field_that_its_version_has_no_path_for() {
        let all = [
            ("chart", "g/v1", json!({"f:spec": {"f:percent": {}, "f:max": {}}})),
            ("us", "g/v2", json!({"f:spec": {"f:metrics": {}, "f:max": {}, "f:min": {}}})),
        ];
        assert_eq!(holders(&all, "spec.metrics"), ["chart"]);
        assert_eq!(holders(&all, "spec.max"), ["chart"]);
        let known = [all[0].clone(), ("other", "g/v1", json!({"f:spec": {"f:min": {}}}))];
        assert_eq!(
            holders(&known, "spec.min"),
            ["other"],
            "somebody holds it there by its own path"
        );
        assert_eq!(holders(&all, "metadata.labels.a"), [""; 0]);
        assert_eq!(holders(&all, "metadata.annotations.a"), ["chart"]);
    }

    #[test]
    fn whoever_holds_equal_paths_alone_means_nothing_else() {
        let all = [("chart", "g/v1", json!({"f:spec": {"f:max": {}, "f:min": {}}}))];
        assert_eq!(holders(&all, "spec.metrics"), [""; 0]);
        let same = [("chart", "g/v2", json!({"f:spec": {"f:gone": {}}}))];
        assert_eq!(holders(&same, "spec.metrics"), [""; 0], "the words are ours");
        let reported = [("kcm", "g/v1", json!({"f:status": {"f:currentPercent": {}}}))];
        assert_eq!(holders(&reported, "spec.metrics"), [""; 0]);
    }

    #[test]
    fn a_whole_in_another_version_holds_what_is_divided_in_ours() {
        let all = [
            ("chart", "g/v1", json!({"f:spec": {"f:ref": {}, "f:percent": {}}})),
            ("us", "g/v2", json!({"f:spec": {"f:ref": {"f:name": {}}}})),
            ("else", "g/v1", json!({"f:spec": {"f:percent": {}}})),
        ];
        assert_eq!(holders(&all, "spec.ref.name"), ["chart"]);
    }
}
