mod recorded;

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const OURS: &str = "k8sconnect-patch-x";

fn entry(name: &str, operation: &str, subresource: &str, fields: Value) -> Value {
    let mut entry = json!({"manager": name, "operation": operation, "apiVersion": "apps/v1",
                           "time": "2026-01-01T00:00:00Z", "fieldsV1": fields});
    if !subresource.is_empty() {
        entry["subresource"] = json!(subresource);
    }
    entry
}

fn owners(entries: &[Value]) -> Owners {
    Owners::from_managed_fields(&Value::Array(entries.to_vec())).unwrap()
}

fn before() -> Owners {
    owners(&[
        entry("helm", "Apply", "", json!({"f:spec": {"f:image": {}, "f:paused": {}}})),
        entry("hpa", "Update", "scale", json!({"f:spec": {"f:replicas": {}}})),
        entry("flux", "Apply", "", json!({"f:spec": {"f:image": {}}})),
    ])
}

fn after() -> Owners {
    owners(&[
        entry("helm", "Apply", "", json!({"f:spec": {"f:paused": {}}})),
        entry(OURS, "Apply", "", json!({"f:spec": {"f:image": {}, "f:replicas": {}}})),
    ])
}

fn leaving(paths: &[&str]) -> Departure {
    Departure::from(paths.iter().map(|path| path.parse().unwrap()).collect::<FieldSet>())
}

fn sorted(owners: &Owners) -> Vec<(Manager, Vec<String>)> {
    let members = |fields: &FieldSet| fields.members().iter().map(ToString::to_string).collect();
    let mut all: Vec<_> =
        owners.0.iter().map(|entry| (entry.manager.clone(), members(&entry.fields))).collect();
    all.sort();
    all
}

#[test]
fn what_is_taken_and_handed_back_is_as_it_was() {
    let former = lost(&before(), &after(), OURS);
    let back = hand_back(&after(), OURS, &former, Leaving::All, Readings::NONE).unwrap();
    assert_eq!(sorted(&back.owners), sorted(&before()), "co-owners and a scale entry included");
    assert!(back.is_done(&back.owners, OURS));
    assert!(!back.is_done(&after(), OURS), "a list that was ignored is noticed");
}

#[test]
fn a_record_that_is_written_with_the_hand_back_is_no_field_that_stayed() {
    let former = lost(&before(), &after(), OURS);
    let all = leaving(&["spec.image", "spec.replicas"]);
    let back = hand_back(&after(), OURS, &former, Leaving::Fields(&all), Readings::NONE).unwrap();
    let record = json!({"f:metadata": {"f:annotations":
        {".": {}, "f:k8sconnect.terraform.io/patch-x": {}}}});
    let mut answered = back.owners.clone();
    answered.0.extend(owners(&[entry(OURS, "Update", "", record)]).0);
    assert!(back.is_done(&answered, OURS));
    answered.0.extend(owners(&[entry(OURS, "Apply", "", json!({"f:spec": {"f:image": {}}}))]).0);
    assert!(!back.is_done(&answered, OURS), "a field that stayed is noticed");
}

#[test]
fn a_field_that_others_took_meanwhile_is_not_given_away_twice() {
    let former = lost(&before(), &after(), OURS);
    let now = owners(&[
        entry("kubectl-edit", "Update", "", json!({"f:spec": {"f:replicas": {}}})),
        entry(OURS, "Apply", "", json!({"f:spec": {"f:image": {}}})),
    ]);
    let back = hand_back(&now, OURS, &former, Leaving::All, Readings::NONE).unwrap();
    let replicas = "spec.replicas".parse().unwrap();
    let names: Vec<_> = back.owners.holders(&replicas).map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["kubectl-edit"]);
}

#[test]
fn a_field_that_is_gone_from_the_object_has_nobody_to_go_back_to() {
    let former = lost(&before(), &after(), OURS);
    let now = owners(&[entry(OURS, "Apply", "", json!({"f:spec": {"f:image": {}}}))]);
    let back = hand_back(&now, OURS, &former, Leaving::All, Readings::NONE).unwrap();
    assert_eq!(back.owners.holders(&"spec.replicas".parse().unwrap()).count(), 0);

    // A `null` that was applied is in our entry, and on no object.
    let (ours, theirs) = (json!({"spec": {"replicas": 3}}), BTreeMap::new());
    let readings = Readings { ours: &ours, theirs: &theirs };
    let back = hand_back(&after(), OURS, &former, Leaving::All, readings).unwrap();
    assert_eq!(back.owners.holders(&"spec.image".parse().unwrap()).count(), 0);
    assert_eq!(back.owners.holders(&"spec.replicas".parse().unwrap()).count(), 1);
}

#[test]
fn who_wrote_in_another_version_gets_back_what_is_there_in_that_version() {
    let mut theirs = entry(
        "old",
        "Apply",
        "",
        json!({"f:spec": {"f:m": {"f:a": {}, "f:b": {}},
                               "f:old": {}, "f:paused": {}, "f:replicas": {}}}),
    );
    theirs["apiVersion"] = json!("apps/v0");
    let former = owners(&[theirs, before().to_managed_fields()[0].clone()]);
    assert_eq!(other_versions(&former, "apps/v1").into_iter().collect::<Vec<_>>(), ["apps/v0"]);
    let (theirs, ours) = (
        json!({"spec": {"m": {"b": "1"}, "old": "1", "paused": true, "replicas": 3}}),
        json!({"spec": {"m": {"c": "1"}, "new": "1", "paused": true, "replicas": 3,
                        "image": "nginx"}}),
    );
    let theirs = BTreeMap::from([("apps/v0".to_owned(), theirs)]);
    let readings = Readings { theirs: &theirs, ours: &ours };
    let back = hand_back(&after(), OURS, &former, Leaving::All, readings).unwrap();
    let holders = |path: &str| -> Vec<String> {
        let path = path.parse().unwrap();
        back.owners.holders(&path).map(|it| it.name.clone()).collect()
    };
    assert_eq!(holders("spec.m.a"), Vec::<String>::new(), "it is gone, so nobody can hold it");
    assert_eq!(holders("spec.m.b"), ["old"]);
    assert_eq!(holders("spec.old"), ["old"], "it has another path in our version");
    assert_eq!(holders("spec.replicas"), ["old"], "we hold it, by the same path");
    assert_eq!(holders("spec.paused"), ["helm"], "others have taken it meanwhile");
    assert_eq!(holders("spec.image"), ["helm"], "what is in our words is judged by our entry");
}

#[test]
fn one_field_leaves_and_the_others_stay_ours() {
    let former = lost(&before(), &after(), OURS);
    let leaving = leaving(&["spec.image"]);
    let back =
        hand_back(&after(), OURS, &former, Leaving::Fields(&leaving), Readings::NONE).unwrap();
    let replicas = "spec.replicas".parse().unwrap();
    assert_eq!(back.owners.holders(&replicas).count(), 1, "ours still");
    let image = "spec.image".parse().unwrap();
    let mut names: Vec<_> = back.owners.holders(&image).map(|m| m.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["flux", "helm"]);
    assert_eq!(sorted(&back.former).len(), 1, "only the loss of the autoscaler stays on record");
}

#[test]
fn an_owner_that_spoke_another_version_gets_back_what_it_lost_there() {
    let mut v1 = entry("hpa", "Update", "", json!({"f:spec": {"f:target": {}}}));
    v1["apiVersion"] = json!("autoscaling/v1");
    let before = owners(std::slice::from_ref(&v1));
    let after = owners(&[entry(OURS, "Apply", "", json!({"f:spec": {"f:metrics": {}}}))]);
    let former = lost(&before, &after, OURS);
    let back = hand_back(&after, OURS, &former, Leaving::All, Readings::NONE).unwrap();
    assert_eq!(sorted(&back.owners), sorted(&before));
}

#[test]
fn what_the_server_folded_together_was_not_taken_by_us() {
    let before = owners(&[entry("old", "Update", "", json!({"f:spec": {"f:a": {}, "f:b": {}}}))]);
    let after = owners(&[
        entry(ANCIENT, "Update", "", json!({"f:spec": {"f:a": {}}})),
        entry(OURS, "Update", "", json!({"f:spec": {"f:b": {}}})),
    ]);
    let lost = lost(&before, &after, OURS);
    let members: Vec<_> = lost.0[0].fields.members().iter().map(ToString::to_string).collect();
    assert_eq!(members, ["spec.b"]);
}

#[test]
fn nothing_of_ours_is_nothing_to_hand_back() {
    let former = lost(&before(), &after(), OURS);
    assert_eq!(hand_back(&before(), OURS, &former, Leaving::All, Readings::NONE), None);
}

#[test]
fn who_holds_a_whole_list_holds_what_is_in_it() {
    let fields =
        json!({"f:spec": {"f:tolerations": {}, "f:env": {"k:{\"name\":\"A\"}": {".": {}}}}});
    let owners = owners(&[entry("helm", "Apply", "", fields)]);
    let division = Division::told_by([&owners]);
    let held = |path: &str| division.holders(&owners, &path.parse().unwrap(), Extent::Whole).len();
    assert_eq!(held(r#"spec.tolerations[={"key":"a"}]"#), 1);
    assert_eq!(held("spec.env"), 1, "a part of it");
    assert_eq!(held("spec.env[name=B]"), 0);
    assert_eq!(held("spec.other"), 0);
}

#[test]
fn whoever_wrote_an_empty_map_holds_nothing_of_what_others_put_into_it() {
    let creator = entry("creator", "Apply", "", json!({"f:data": {".": {}}}));
    let ours = entry(OURS, "Apply", "", json!({"f:data": {"f:new": {}}}));
    let (before, after) = (owners(std::slice::from_ref(&creator)), owners(&[creator, ours]));
    let division = Division::told_by([&before, &after]);
    let held = |path: &str, extent| {
        let holders = division.holders(&before, &path.parse().unwrap(), extent);
        holders.into_iter().map(|it| it.name).collect::<Vec<_>>()
    };
    assert_eq!(held("data.new", Extent::Whole), [""; 0]);
    assert_eq!(held("data", Extent::Itself), ["creator"]);
    let parts = owners(&[entry("helm", "Apply", "", json!({"f:spec": {"f:a": {}}}))]);
    let spec = "spec".parse().unwrap();
    assert_eq!(Division::told_by([&parts]).holders(&parts, &spec, Extent::Itself), []);
    assert_eq!(Division::told_by([&parts]).holders(&parts, &spec, Extent::Whole).len(), 1);
}

fn object(owners: &Owners, fields: &[&str]) -> Value {
    let mut object = json!({"metadata": {"managedFields": owners.to_managed_fields()}});
    for field in fields {
        object[*field] = json!("x");
    }
    object
}

fn patched(path: &str, recorded: &[Manager]) -> Patched {
    Patched { path: path.parse().unwrap(), extent: Extent::Whole, recorded: recorded.to_vec() }
}

#[test]
fn who_held_a_field_in_another_version_is_said_to_get_it_back() {
    let mut v1 = entry("hpa", "Update", "", json!({"f:target": {}}));
    v1["apiVersion"] = json!("autoscaling/v1");
    let before = owners(std::slice::from_ref(&v1));
    let mut ours = entry(OURS, "Apply", "", json!({"f:metrics": {}, "f:new": {}}));
    ours["apiVersion"] = json!("autoscaling/v2");
    let after = owners(&[ours]);
    let former = lost(&before, &after, OURS);
    let live = object(&after, &["metrics", "new"]);
    let gvk = crate::identity::Gvk::new("autoscaling/v2", "HorizontalPodAutoscaler");
    let outlook = Outlook {
        live: &live,
        elsewhere: &BTreeMap::new(),
        gvk: &gvk,
        manager: OURS,
        former: &former,
        leaving: Leaving::All,
    };
    let hpa = before.0[0].manager.clone();
    let told = outlook.of(&[patched("metrics", std::slice::from_ref(&hpa)), patched("new", &[])]);
    let stays = |returns_to| Prospect::Stays { returns_to, stays_with: vec![] };
    let prospects: Vec<_> = told.unwrap().into_iter().map(|(_, prospect)| prospect).collect();
    assert_eq!(prospects, [stays(vec![hpa]), stays(vec![])]);
}

fn version(mut entry: Value, version: &str) -> Value {
    entry["apiVersion"] = json!(version);
    entry
}

/// A patch of `target`, `size` and `kept` as `v2`, by which `chart` lost `old.a`, `old.b` and `size`
/// as `v1`.
struct TwoVersions {
    live: Value,
    former: Owners,
    elsewhere: BTreeMap<String, Value>,
}

impl TwoVersions {
    /// The object as `v1` has it.
    fn with(theirs: Value) -> Self {
        let fields = json!({"f:old": {"f:a": {}, "f:b": {}}, "f:size": {}});
        let former = owners(&[version(entry("chart", "Apply", "", fields), "v1")]);
        let fields = json!({"f:kept": {}, "f:size": {}, "f:target": {}});
        let ours = owners(&[version(entry(OURS, "Apply", "", fields), "v2")]);
        let live = object(&ours, &["kept", "size", "target"]);
        Self { live, former, elsewhere: BTreeMap::from([("v1".to_owned(), theirs)]) }
    }

    fn told(&self, leaving: Leaving<'_>, fields: &[&str]) -> Vec<(String, Prospect)> {
        let gvk = crate::identity::Gvk::new("v2", "Widget");
        let (live, elsewhere, former) = (&self.live, &self.elsewhere, &self.former);
        let outlook = Outlook { live, elsewhere, gvk: &gvk, manager: OURS, former, leaving };
        let chart = former.0.first().map(|entry| entry.manager.clone());
        let fields: Vec<_> = fields.iter().map(|it| patched(it, chart.as_slice())).collect();
        let told = outlook.of_all(&fields).unwrap().into_iter();
        told.map(|(path, prospect)| (path.to_string(), prospect)).collect()
    }

    fn handed_back(&self, leaving: Leaving<'_>) -> Handback {
        let now = Owners::of_object(&self.live).unwrap();
        let readings = Readings { ours: &self.live, theirs: &self.elsewhere };
        hand_back(&now, OURS, &self.former, leaving, readings).unwrap()
    }
}

fn members(owners: &Owners) -> Vec<String> {
    all_fields(owners).members().iter().map(ToString::to_string).collect()
}

fn going(left: &[&str], stays: &[&str]) -> Departure {
    let path = |text: &&str| text.parse::<FieldPath>().unwrap();
    let leaf = |text: &&str| (path(text), crate::projection::Leaf::Shown(json!("x")));
    let stays = crate::projection::Projection(stays.iter().map(leaf).collect());
    Departure::of(left.iter().map(path).collect(), &stays, &FieldSet::default())
}

#[test]
fn a_whole_that_was_lost_in_another_version_is_that_of_its_parts_here() {
    let whole = json!({"f:m": {}, "f:items": {}, "f:empty": {}});
    let theirs = owners(&[version(entry("argo", "Apply", "", whole), "v1beta1")]);
    let lost = json!({"f:m": {}, "f:items": {}});
    let lost = owners(&[version(entry("argo", "Apply", "", lost), "v1beta1")]);
    let parts = json!({"f:m": {"f:k": {}}, "f:empty": {"f:k": {}},
                       "f:items": {"k:{\"name\":\"x\"}": {"f:v": {}}}});
    let ours = owners(&[version(entry(OURS, "Apply", "", parts), "v1")]);
    let held = |division: &Division, path: &str| {
        division.holders(&theirs, &path.parse().unwrap(), Extent::Whole).len()
    };
    let here = Division::told_by([&theirs, &ours]).with_losses(&lost, "v1");
    let paths = ["m.k", "m.new", "items[name=x].v", "empty.k"];
    assert_eq!(paths.map(|path| held(&here, path)), [1, 1, 1, 0]);
    // In its own version the parts tell.
    let there = Division::told_by([&theirs, &ours]).with_losses(&lost, "v1beta1");
    assert_eq!(paths.map(|path| held(&there, path)), [0; 4]);
}

#[test]
fn what_leaves_goes_back_in_another_version_where_its_path_is_the_same_there() {
    let at = TwoVersions::with(json!({"old": {"a": "x", "b": "x"}, "size": "x"}));
    let leaving = going(&["size"], &["target", "kept"]);
    let back = at.handed_back(Leaving::Fields(&leaving));
    assert_eq!(members(&back.returned), ["size"]);
    assert_eq!(members(&back.former), ["old.a", "old.b"]);
    let version = at.former.0[0].manager.clone();
    let back = Prospect::Stays { returns_to: vec![version], stays_with: vec![] };
    assert_eq!(at.told(Leaving::Fields(&leaving), &["size"]), [("size".to_owned(), back)]);
}

#[test]
fn what_leaves_waits_for_what_it_cannot_be_told_from_in_another_version() {
    let mut at = TwoVersions::with(json!({"old": {"a": "x", "b": "x"}, "size": "x"}));
    let chart = at.former.0[0].manager.clone();
    let leaving = going(&["target"], &["size", "kept"]);
    let back = at.handed_back(Leaving::Fields(&leaving));
    assert_eq!(members(&back.returned), [""; 0], "it may be that of what is kept");
    assert_eq!(members(&back.former), members(&at.former));
    let waits = Prospect::Waits { for_the_end: vec![chart.clone()] };
    assert_eq!(at.told(Leaving::Fields(&leaving), &["target"]), [("target".to_owned(), waits)]);

    // In the end all of it goes back, and is told.
    at.live = object(&back.owners, &["kept", "size", "target"]);
    assert_eq!(members(&at.handed_back(Leaving::All).returned), ["old.a", "old.b", "size"]);
    let stays = || Prospect::Stays { returns_to: vec![chart.clone()], stays_with: vec![] };
    let elsewhere = || Prospect::Elsewhere { returns_to: chart.clone() };
    let told = at.told(Leaving::All, &["kept", "size"]);
    let all =
        [("kept", stays()), ("size", stays()), ("old.a", elsewhere()), ("old.b", elsewhere())];
    assert_eq!(told, all.map(|(path, prospect)| (path.to_owned(), prospect)));
}

#[test]
fn what_has_other_words_goes_back_once_all_that_stays_has_the_same_ones() {
    let theirs = json!({"old": {"a": "x"}, "size": "x", "kept": "x"});
    let at = TwoVersions::with(theirs);
    let leaving = going(&["target"], &["size", "kept"]);
    let back = at.handed_back(Leaving::Fields(&leaving));
    assert_eq!(members(&back.returned), ["old.a"], "the other is there no more");
    assert!(!members(&back.former).contains(&"old.a".to_owned()));
    assert_eq!(forget(&at.former, &leaving, "v2", Readings::NONE), at.former, "nobody looked");
}

/// Owners over a handful of fields, ours among them.
fn any_owners() -> impl Strategy<Value = Owners> {
    let names = prop::sample::select(vec!["a", "b", "c"]);
    let operations = prop::sample::select(vec![Operation::Apply, Operation::Update]);
    let fields = prop::collection::btree_set("[p-s]", 1..4);
    prop::collection::btree_map((names, operations), fields, 0..5).prop_map(|entries| {
        let ownership = |((name, operation), fields): ((&str, Operation), _)| Ownership {
            manager: Manager {
                name: name.to_owned(),
                operation,
                subresource: String::new(),
                api_version: "v1".to_owned(),
                time: None,
            },
            fields: path_set(&fields),
        };
        Owners(entries.into_iter().map(ownership).collect())
    })
}

fn path_set(names: &std::collections::BTreeSet<String>) -> FieldSet {
    names.iter().map(|name| FieldPath::fields([name.as_str()])).collect()
}

/// What a forced write of ours with other values makes of the owners.
fn taken(before: &Owners, fields: &FieldSet) -> Owners {
    let mut after: Vec<_> = before
        .0
        .iter()
        .map(|entry| Ownership {
            manager: entry.manager.clone(),
            fields: entry.fields.difference(fields),
        })
        .filter(|entry| !entry.fields.is_empty())
        .collect();
    let manager = Manager {
        name: OURS.to_owned(),
        operation: Operation::Apply,
        subresource: String::new(),
        api_version: "v1".to_owned(),
        time: None,
    };
    after.push(Ownership { manager, fields: fields.clone() });
    Owners(after)
}

proptest! {
    #[test]
    fn handing_back_undoes_taking(
        before in any_owners(),
        ours in prop::collection::btree_set("[p-s]", 1..4),
    ) {
        let after = taken(&before, &path_set(&ours));
        let former = lost(&before, &after, OURS);
        let back = hand_back(&after, OURS, &former, Leaving::All, Readings::NONE).unwrap();
        prop_assert_eq!(sorted(&back.owners), sorted(&before));
    }

    #[test]
    fn what_goes_back_is_only_what_was_ours(
        before in any_owners(),
        ours in prop::collection::btree_set("[p-s]", 1..4),
    ) {
        let after = taken(&before, &path_set(&ours));
        let former = lost(&before, &after, OURS);
        let back = hand_back(&after, OURS, &former, Leaving::All, Readings::NONE).unwrap();
        for entry in &back.returned.0 {
            prop_assert!(entry.fields.difference(&path_set(&ours)).is_empty());
        }
    }

    #[test]
    fn what_is_foretold_is_what_the_hand_back_does(
        before in any_owners(),
        ours in prop::collection::btree_set("[p-s]", 1..4),
        dropped in prop::collection::btree_set("[p-s]", 0..3),
        leaving in proptest::option::of(prop::collection::btree_set("[p-s]", 1..3)),
        there in prop::collection::btree_set("[p-s]", 0..4),
        joined in any_owners(),
    ) {
        // We take, others let go and come along, and then the fields go back.
        let after = taken(&before, &path_set(&ours));
        let former = lost(&before, &after, OURS);
        let mut now = Owners::default();
        for Ownership { manager, fields } in &after.0 {
            let kept = match manager.name == OURS {
                true => fields.clone(),
                false => fields.difference(&path_set(&dropped)),
            };
            if !kept.is_empty() {
                give(&mut now, manager, &kept);
            }
        }
        for Ownership { manager, fields } in &joined.0 {
            give(&mut now, manager, fields);
        }
        let leaving = leaving.map(|names| path_set(&names));
        let departure = leaving.clone().map(Departure::from);
        let going = departure.as_ref().map_or(Leaving::All, Leaving::Fields);
        let names: Vec<_> = there.iter().map(String::as_str).collect();
        let live = object(&now, &names);
        let gvk = crate::identity::Gvk::new("v1", "ConfigMap");
        let outlook =
            Outlook { live: &live, elsewhere: &BTreeMap::new(), gvk: &gvk, manager: OURS, former: &former, leaving: going };
        let fields: Vec<_> = ours
            .iter()
            .filter(|name| {
                let path = FieldPath::fields([name.as_str()]);
                leaving.as_ref().is_none_or(|leaving| leaving.contains(&path))
            })
            .map(|name| patched(name, &[]))
            .collect();
        let done = hand_back(&now, OURS, &former, going, Readings::NONE).map_or(now, |back| back.owners);
        for (path, prospect) in outlook.of(&fields).unwrap() {
            let mut holders: Vec<_> = done.holders(&path).map(|m| (&m.name, m.operation)).collect();
            holders.sort_unstable();
            match prospect {
                Prospect::Absent => prop_assert!(!there.contains(&path.to_string())),
                Prospect::Waits { .. } | Prospect::Elsewhere { .. } => prop_assert!(false),
                Prospect::Kept(list) => prop_assert!(false, "all goes, {list} too"),
                Prospect::Stays { returns_to, stays_with } => {
                    prop_assert!(there.contains(&path.to_string()));
                    let all = returns_to.iter().chain(&stays_with);
                    let mut told: Vec<_> = all.map(|m| (&m.name, m.operation)).collect();
                    told.sort_unstable();
                    prop_assert_eq!(told, holders);
                }
            }
        }
    }

    #[test]
    fn the_order_of_managers_changes_nothing(
        before in any_owners(),
        ours in prop::collection::btree_set("[p-s]", 1..4),
    ) {
        let after = taken(&before, &path_set(&ours));
        let reversed = |owners: &Owners| Owners(owners.0.iter().rev().cloned().collect());
        let back = |before: &Owners, after: &Owners| {
            let former = lost(before, after, OURS);
            sorted(&hand_back(after, OURS, &former, Leaving::All, Readings::NONE).unwrap().owners)
        };
        prop_assert_eq!(back(&before, &after), back(&reversed(&before), &reversed(&after)));
    }
}
