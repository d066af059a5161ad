use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::ownership::of_class;
use crate::specimen::{Part, Specimen, any_specimen};

static NOTHING: std::sync::LazyLock<Ignoring> = std::sync::LazyLock::new(Ignoring::default);

fn us() -> Planner<'static> {
    Planner { manager: "k8sconnect", ignoring: &NOTHING }
}

fn manifest(specimen: &Specimen) -> Manifest {
    Manifest::parse(&specimen.written()).unwrap()
}

fn kept(manifest: &Manifest, answer: &Value) -> Kept {
    let (projection, owners) = us().written(manifest, answer).unwrap();
    Kept { owners, texts: projection.texts(None), version: None }
}

fn prior<'a>(manifest: &'a Manifest, kept: &'a Kept) -> Prior<'a> {
    Prior { manifest, id: "id-1", uid: "uid-1", kept: Some(kept), key: None, ignoring: &NOTHING }
}

fn deployment(replicas: u32) -> (Manifest, Value) {
    let specimen =
        Specimen { spec: [("replicas".to_owned(), Part::Scalar(json!(replicas)))].into() };
    (manifest(&specimen), specimen.answered("k8sconnect"))
}

#[test]
fn another_body_is_asked_about() {
    let (two, answer) = deployment(2);
    let (three, _) = deployment(3);
    let kept = kept(&two, &answer);
    assert_eq!(us().glance(&three, prior(&two, &kept), &answer), Ok(Glance::Ask));
}

#[test]
fn an_object_that_is_going_or_another_is_asked_about() {
    let (two, answer) = deployment(2);
    let kept = kept(&two, &answer);
    for (pointer, value) in [
        ("/metadata/uid", json!("another")),
        ("/metadata/annotations", json!({ID_ANNOTATION: "another"})),
        ("/metadata/annotations", json!({})),
        ("/spec/replicas", json!(5)),
    ] {
        let mut live = answer.clone();
        *live.pointer_mut(pointer).unwrap() = value;
        assert_eq!(us().glance(&two, prior(&two, &kept), &live), Ok(Glance::Ask), "{pointer}");
    }
    let mut going = answer.clone();
    going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(us().glance(&two, prior(&two, &kept), &going), Ok(Glance::Ask));
}

#[test]
fn a_field_that_only_lost_its_owner_is_asked_about() {
    let (two, answer) = deployment(2);
    let kept = kept(&two, &answer);
    let mut live = answer.clone();
    live["metadata"]["managedFields"] = json!([]);
    assert_eq!(us().glance(&two, prior(&two, &kept), &live), Ok(Glance::Ask));
}

#[test]
fn in_the_version_that_we_left_values_are_looked_at_and_owners_are_not() {
    let (two, mut answer) = deployment(2);
    answer["metadata"]["resourceVersion"] = json!("7");
    let kept = Kept { version: Some("7".into()), ..kept(&two, &answer) };
    let mut live = answer.clone();
    live["metadata"]["managedFields"] = json!([{"manager": "m", "fieldsV1": {"?": {}}}]);
    assert_eq!(us().glance(&two, prior(&two, &kept), &live), Ok(Glance::Settled));
    // What the kind's schema no longer knows is not shown, though nobody wrote.
    live["spec"] = json!({});
    assert_eq!(us().glance(&two, prior(&two, &kept), &live), Ok(Glance::Ask));
    live["metadata"]["resourceVersion"] = json!("8");
    assert!(us().glance(&two, prior(&two, &kept), &live).is_err(), "then they are");
}

#[test]
fn other_fields_to_ignore_are_asked_about_also_without_a_read() {
    let (two, answer) = deployment(2);
    let kept = kept(&two, &answer);
    let shown = by_path_text(&kept.texts);
    let ignore = [crate::ignore::Ignore::parse("spec.nothing").unwrap()];
    let (ignoring, _) = Ignoring::new(&ignore, &two, &Default::default());
    let then = Prior { ignoring: &ignoring, ..prior(&two, &kept) };
    assert_eq!(us().trust(&two, then, Some(&shown)), Glance::Ask);
    assert_eq!(us().glance(&two, then, &answer), Ok(Glance::Ask));
    assert_eq!(us().trust(&two, prior(&two, &kept), Some(&shown)), Glance::Settled);
}

#[test]
fn without_a_read_nothing_is_said_of_others() {
    let (two, answer) = deployment(2);
    let kept = kept(&two, &answer);
    let decision = us().decide(&two, Some(prior(&two, &kept)), None, &answer).unwrap();
    assert_eq!(decision.changes, []);
}

#[test]
fn another_spelling_that_comes_out_the_same_is_no_change() {
    let specimen =
        |cpu: &str| Specimen { spec: [("cpu".to_owned(), Part::Scalar(json!(cpu)))].into() };
    let (milli, whole) = (manifest(&specimen("1000m")), manifest(&specimen("1")));
    let answer = specimen("1").answered("k8sconnect");
    let kept = kept(&milli, &answer);
    let decision = us().decide(&whole, Some(prior(&milli, &kept)), None, &answer).unwrap();
    assert_eq!(decision.spelling, Spelling::Former);

    let other = specimen("2");
    let decision = us()
        .decide(&manifest(&other), Some(prior(&milli, &kept)), None, &other.answered("k8sconnect"))
        .unwrap();
    assert_eq!(decision.spelling, Spelling::New);
}

fn thing(spec: &str) -> Manifest {
    let text = format!("{{apiVersion: v1, kind: Thing, metadata: {{name: it}}, spec: {spec}}}");
    Manifest::parse(&text).unwrap()
}

#[test]
fn a_default_that_is_written_instead_of_null_is_a_change_and_so_is_the_way_back() {
    let answer = Specimen { spec: [("def".to_owned(), Part::Scalar(json!("d")))].into() }
        .answered("k8sconnect");
    let (open, said) = (thing("{def: null}"), thing("{def: d}"));
    for (before, after) in [(&open, &said), (&said, &open)] {
        let kept = kept(before, &answer);
        let decision = us().decide(after, Some(prior(before, &kept)), None, &answer).unwrap();
        assert_eq!(decision.spelling, Spelling::New);
    }
}

#[test]
fn what_is_sent_is_what_is_written_whatever_was_answered_before() {
    let written = thing("{image: good, cpu: 1000m}");
    let content = us().content(&written, None).unwrap();
    assert_eq!(content, *written.value());
}

#[test]
fn drift_is_found_where_no_dry_run_has_answered() {
    let answer = |image: &str| {
        Specimen { spec: [("image".to_owned(), Part::Scalar(json!(image)))].into() }
            .answered("k8sconnect")
    };
    let written = thing("{image: good}");
    let kept = kept(&written, &answer("good"));
    let drift = |live: &Value| us().drift(prior(&written, &kept), live).unwrap();
    assert_eq!(drift(&answer("good")), []);
    assert_eq!(drift(&answer("other")).len(), 1);
}

/// An object of ours with one limit, and what others own of it.
fn limited(cpu: &str, others: &Value) -> Value {
    let fields = json!({"f:spec": {"f:cpu": {}, "f:image": {}}});
    let entry = |manager: &str, fields: &Value| json!({"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields});
    json!({"apiVersion": "v1", "kind": "Thing", "spec": {"cpu": cpu, "image": "good"},
        "metadata": {"name": "it", "managedFields":
            [entry("k8sconnect", &fields), entry("flux", others)]}})
}

#[test]
fn only_a_leaf_that_others_lose_as_it_is_written_and_keep_otherwise_is_shared() {
    let content = thing("{cpu: 1000m, image: good}").value().clone();
    let (theirs, nothing) = (json!({"f:spec": {"f:cpu": {}}}), json!({}));
    let as_written = limited("1", &nothing);
    let respelt = us().respelt(&content, &as_written).unwrap();
    assert_eq!(respelt.len(), 1);
    for (respelled, shared) in [
        (limited("1", &theirs), 1),
        (limited("1", &nothing), 0),
        // A webhook that rewrites what it has rewritten: no other spelling of the same.
        (limited("1 more", &theirs), 0),
    ] {
        let answers = [&as_written, &respelled];
        assert_eq!(us().shared_by_answers(respelt.clone(), answers).unwrap().len(), shared);
    }
}

#[test]
fn a_field_added_with_the_value_that_is_there_anyway_is_a_change() {
    let (two, answer) = deployment(2);
    let kept = kept(&two, &answer);
    let more = Manifest::parse(
        "{apiVersion: example.com/v1, kind: Thing, metadata: {name: it}, \
         spec: {replicas: 2, list: []}}",
    )
    .unwrap();
    let decision = us().decide(&more, Some(prior(&two, &kept)), None, &answer).unwrap();
    assert_eq!(decision.spelling, Spelling::New);
}

const KEY: ConcealmentKey = ConcealmentKey([9; 32]);

/// What is kept of a write, with a key to hide values with.
fn kept_hiding(manifest: &Manifest, answer: &Value) -> Kept {
    let (projection, owners) = us().written(manifest, answer).unwrap();
    Kept { owners, texts: projection.texts(Some(&KEY)), version: None }
}

fn prior_hiding<'a>(manifest: &'a Manifest, kept: &'a Kept) -> Prior<'a> {
    Prior { key: Some(&KEY), ..prior(manifest, kept) }
}

/// The same, with all of its spec hidden.
fn hidden(manifest: &Manifest) -> Manifest {
    manifest.clone().hiding(&[crate::secrecy::pattern("spec").unwrap()])
}

#[test]
fn who_wrote_string_data_loses_the_field_by_another_value_of_data() {
    let body = "{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {a: ours}}";
    let desired = Manifest::parse(body).unwrap();
    let flux = json!({"manager": "flux", "operation": "Apply", "apiVersion": "v1",
        "fieldsV1": {"f:stringData": {"f:a": {}}}});
    let ours = json!({"manager": "k8sconnect", "operation": "Apply", "apiVersion": "v1",
        "fieldsV1": {"f:data": {"f:a": {}}}});
    let secret = |data: &str, managers: &[&Value]| {
        json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "x", "managedFields": managers}, "data": {"a": data}})
    };
    let takes = |live: &Value| {
        let answer = secret("b3Vycw==", &[&flux, &ours]);
        let decision = us().decide(&desired, None, Some(live), &answer).unwrap();
        of_class(&decision.changes, &[Class::TakenFrom])
    };
    let [taken] = &takes(&secret("dGhlaXJz", &[&flux]))[..] else { panic!("nobody is named") };
    assert_eq!(taken.owners[0].name, "flux");
    assert_eq!(takes(&secret("b3Vycw==", &[&flux])), [], "equal values are held together");
}

proptest! {
    #[test]
    fn hiding_and_showing_again_is_no_change_of_a_value(specimen in any_specimen()) {
        let (plain, answer) = (manifest(&specimen), specimen.answered("k8sconnect"));
        let secret = hidden(&plain);
        for (before, after) in [(&plain, &secret), (&secret, &plain)] {
            let kept = kept_hiding(before, &answer);
            let prior = prior_hiding(before, &kept);
            // The server is asked, because something else is to be shown.
            prop_assert_eq!(us().glance(after, prior, &answer), Ok(Glance::Ask));
            let decision = us().decide(after, Some(prior), Some(&answer), &answer).unwrap();
            prop_assert_eq!(decision.reported().next(), None);
            prop_assert_eq!(decision.spelling, Spelling::Former);
            let shown = decision.projection.texts(Some(&KEY));
            prop_assert_eq!(shown, kept_hiding(after, &answer).texts);
        }
    }

    #[test]
    fn a_body_that_is_never_stored_settles_by_its_edition(specimen in any_specimen()) {
        let answer = specimen.answered("k8sconnect");
        let written = manifest(&specimen).never_stored("1");
        let kept = kept_hiding(&written, &answer);
        let traces = kept.traces("k8sconnect", Some(&KEY));
        let former = Manifest::remembered(written.key().clone(), "1", traces);
        let prior = prior_hiding(&former, &kept);
        prop_assert_eq!(us().glance(&written, prior, &answer), Ok(Glance::Settled));
        let newer = manifest(&specimen).never_stored("2");
        prop_assert_eq!(us().glance(&newer, prior, &answer), Ok(Glance::Ask));
        let decision = us().decide(&newer, Some(prior), Some(&answer), &answer).unwrap();
        prop_assert_eq!(decision.reported().next(), None);
        for (path, text) in &kept.texts {
            prop_assert!(text.starts_with("(sensitive, hash "), "{path}: {text}");
        }
    }

    #[test]
    fn what_was_just_written_is_settled(specimen in any_specimen()) {
        let manifest = manifest(&specimen);
        let answer = specimen.answered("k8sconnect");
        let first = us().decide(&manifest, None, None, &answer).unwrap();
        let kept = kept(&manifest, &answer);
        prop_assert_eq!(first.projection.texts(None), kept.texts.clone());
        prop_assert_eq!(us().glance(&manifest, prior(&manifest, &kept), &answer), Ok(Glance::Settled));
        let again = us().decide(&manifest, Some(prior(&manifest, &kept)), Some(&answer), &answer).unwrap();
        prop_assert_eq!(again.projection.texts(None), kept.texts.clone());
        prop_assert_eq!(again.spelling, Spelling::Former);
        prop_assert_eq!(again.changes, []);
    }

    #[test]
    fn plan_and_replan_decide_the_same(before in any_specimen(), after in any_specimen()) {
        let (old, new) = (manifest(&before), manifest(&after));
        let (live, answer) = (before.answered("k8sconnect"), after.answered("k8sconnect"));
        let kept = kept(&old, &live);
        let seen = us().decide(&new, Some(prior(&old, &kept)), Some(&live), &answer).unwrap();
        let unseen = us().decide(&new, Some(prior(&old, &kept)), None, &answer).unwrap();
        prop_assert_eq!(seen.projection, unseen.projection);
        prop_assert_eq!(seen.spelling, unseen.spelling);
    }
}
