//! What a server answers, damaged: every judgement stands on it, and an aggregated API or a webhook
//! may send anything that is JSON.

use std::time::{Duration, SystemTime};

use damage::{json, settings, swiftly};
use k8sconnect_core::blast;
use k8sconnect_core::field::fields_v1;
use k8sconnect_core::handback::{
    Company, Extent, Leaving, Loss, Patched, Readings, Tenure, hand_back, lost, record,
};
use k8sconnect_core::identity::Gvk;
use k8sconnect_core::ignore::Ignoring;
use k8sconnect_core::import_body;
use k8sconnect_core::import_id::{Chosen, SecretValues};
use k8sconnect_core::jsonpath::JsonPath;
use k8sconnect_core::owners::Owners;
use k8sconnect_core::plan::{Glance, Kept, Planner, Prior};
use k8sconnect_core::readiness::{Goal, Sign, judge, picture, pods};
use k8sconnect_core::rejection::Status;
use k8sconnect_core::yaml::parse_stream;
use proptest::prelude::*;
use serde_json::{Value, json as value};

use crate::samples::{MANAGER, object, written};

fn goals() -> Vec<Goal> {
    let path = JsonPath::parse("status.conditions[?(@.type=='Available')].status").unwrap();
    vec![
        Goal::Ready,
        Goal::Rollout,
        Goal::Deleted,
        Goal::Shows(Sign::condition("Available")),
        Goal::Shows(Sign::Field(path.clone())),
        Goal::Shows(Sign::Values(vec![(path, "True".into())])),
    ]
}

fn kinds() -> Vec<Value> {
    let of = |api_version: &str, kind: &str| {
        let mut one = object();
        one["apiVersion"] = value!(api_version);
        one["kind"] = value!(kind);
        one
    };
    let mut pod = of("v1", "Pod");
    pod["status"] = value!({"phase": "Running", "containerStatuses": [
        {"name": "app", "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "m"}},
         "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}]});
    let mut set = of("apps/v1", "StatefulSet");
    set["spec"]["updateStrategy"] =
        value!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}});
    let mut job = of("batch/v1", "Job");
    job["status"] =
        value!({"failed": 2, "conditions": [{"type": "Failed", "status": "True", "reason": "r"}]});
    vec![
        object(),
        pod,
        set,
        job,
        of("apps/v1", "DaemonSet"),
        of("v1", "Service"),
        of("example.com/v1", "Thing"),
    ]
}

/// What an apply of the sample left behind.
fn kept(planner: Planner<'_>) -> Kept {
    let (leaves, owners) = planner.written(&written(), &object()).unwrap();
    assert!(leaves.0.len() > 5, "{leaves:?}");
    Kept { owners, texts: leaves.texts(None), version: None }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn damaged_owners_are_refused_or_come_back_as_they_were(live in json(vec![object()])) {
        if let Ok(owners) = swiftly(|| Owners::of_object(&live)) {
            let again = Owners::from_managed_fields(&owners.to_managed_fields()).unwrap();
            prop_assert_eq!(again, owners);
        }
    }

    #[test]
    fn a_damaged_field_set_is_refused_or_comes_back(fields in json(vec![
        object()["metadata"]["managedFields"][0]["fieldsV1"].clone(),
    ])) {
        if let Ok(set) = fields_v1::decode(&fields) {
            let encoded = fields_v1::encode(&set);
            prop_assert_eq!(fields_v1::decode(&encoded), Ok(set));
        }
    }

    #[test]
    fn a_damaged_object_is_planned_or_its_owners_are_refused(
        live in json(vec![object()]), answer in json(vec![object()])
    ) {
        let (desired, ignoring) = (written(), Ignoring::default());
        let planner = Planner { manager: MANAGER, ignoring: &ignoring };
        let kept = kept(planner);
        let prior = Prior {
            manifest: &desired, id: "id-1", uid: "u-1", kept: Some(&kept), key: None, ignoring: &ignoring,
        };
        if let Ok(Glance::Settled) = swiftly(|| planner.glance(&desired, prior, &live)) {
            prop_assert_eq!(live["metadata"]["uid"].as_str(), Some("u-1"));
        }
        let _ = swiftly(|| planner.refreshed(prior, &live));
        let _ = swiftly(|| planner.decide(&desired, Some(prior), Some(&live), &answer));
    }

    #[test]
    fn a_hand_back_on_damaged_owners_ends_in_owners_that_can_be_sent(
        before in json(vec![object()]), after in json(vec![object()])
    ) {
        if let (Ok(before), Ok(after)) = (Owners::of_object(&before), Owners::of_object(&after)) {
            let lost = lost(&before, &after, MANAGER);
            let fields: Vec<_> = after
                .0
                .iter()
                .flat_map(|entry| entry.fields.members())
                .map(|path| Patched { path, extent: Extent::Whole, recorded: vec![] })
                .collect();
            let tenure = Some(Tenure {
                ours: MANAGER, version: "v1", fields: &fields, then: &before, company: Company::None,
            });
            let record = record(&lost, Loss { lost: &lost, after: &after, tenure });
            if let Some(done) = hand_back(&after, MANAGER, &record, Leaving::All, Readings::NONE) {
                let sent = Owners::from_managed_fields(&done.owners.to_managed_fields()).unwrap();
                prop_assert!(sent.0.iter().all(|entry| entry.manager.name != MANAGER));
            }
        }
    }

    #[test]
    fn a_damaged_object_is_ready_or_not_and_never_a_panic(
        object in json(kinds()), pod in json(kinds()), event in json(kinds())
    ) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        for goal in goals() {
            swiftly(|| judge(&goal, &[Sign::condition("Progressing=False")], Some(&object), now));
            swiftly(|| goal.excerpt(&object));
            goal.is_lost(&object);
        }
        pods::selector(&object);
        pods::look(&pod);
        picture::picture(Some(&object), &[pod], &[event]);
    }

    #[test]
    fn the_import_of_a_damaged_object_writes_a_body_that_reads(live in json(kinds())) {
        let Ok(owners) = Owners::of_object(&live) else { return Ok(()) };
        let gvk = Gvk::new("apps/v1", "Deployment");
        for chosen in [Chosen::All, Chosen::Unowned, Chosen::HeldBy(MANAGER.into())] {
            if let Ok(body) = swiftly(|| import_body::body(&live, &gvk, &owners, &chosen, SecretValues::LeftOut)) {
                prop_assert!(parse_stream(&body).is_ok(), "{body}");
            }
        }
        blast::of_namespace(std::slice::from_ref(&live));
        blast::of_definition(std::slice::from_ref(&live));
        blast::defined(&live);
        blast::reclaim(&live);
    }

    #[test]
    fn a_damaged_refusal_means_something(status in json(vec![value!({
        "kind": "Status", "code": 422, "reason": "Invalid", "message": "m",
        "details": {"name": "web", "kind": "Deployment", "group": "apps", "retryAfterSeconds": 1,
            "causes": [{"reason": "FieldValueInvalid", "message": "immutable", "field": "spec.selector"}]},
    })])) {
        if let Ok(status) = serde_json::from_value::<Status>(status) {
            status.rejection();
        }
    }
}
