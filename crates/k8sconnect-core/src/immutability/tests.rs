use serde_json::json;

use super::*;
use crate::rejection::Details;

fn cause(field: &str) -> Cause {
    let (reason, message) = ("FieldValueInvalid".into(), "field is immutable".into());
    Cause { reason, message, field: field.into() }
}

fn status(code: u16, fields: &[&str]) -> Status {
    let causes = fields.iter().copied().map(cause).collect();
    Status { code, details: Details { causes, ..Details::default() }, ..Status::default() }
}

fn refused(fields: &[&str]) -> DryRun {
    Err(Box::new(status(422, fields)))
}

fn removed(path: &str) -> Vec<OthersField> {
    vec![OthersField { path: path.parse().unwrap(), managers: Vec::new() }]
}

fn overlay(answer: DryRun, removed: Vec<OthersField>) -> Option<OverlayResult> {
    Some(OverlayResult { answer, removed })
}

/// The evidence that proves an immutable field.
fn proof<'a>(refused_update: &'a Status, live: &'a Value) -> Evidence<'a> {
    Evidence {
        refused: refused_update,
        live,
        is_custom: true,
        stored_body: Some(Ok(())),
        creation: Ok(()),
        overlay: overlay(refused(&["spec.selector"]), Vec::new()),
        addresses: AddressCheck::Free,
    }
}

/// All combinations of all answers, as a table.
#[test]
fn every_row_has_a_verdict_and_only_the_proof_is_immutable() {
    let field = "spec.selector";
    let (healthy, failed) = (status(422, &[field]), status(500, &[]));
    let failed = || Err(Box::new(failed.clone()));
    let lives = [
        json!({}),
        json!({"metadata": {"deletionTimestamp": "now"}}),
        json!({"status": {"a": {"selector": 1}}}),
    ];
    let updates = [healthy, status(422, &["<nil>"]), status(422, &["metadata.name", "status.a"])];
    let bodies = [Some(Ok(())), Some(refused(&[field])), Some(failed()), None];
    let creations = [Ok(()), refused(&["spec.other"]), failed()];
    let overlays = [
        overlay(refused(&[field]), Vec::new()),
        overlay(refused(&["spec.other", field]), removed("spec.template")),
        overlay(refused(&[field]), removed("spec.selector.a")),
        overlay(refused(&["spec.other"]), Vec::new()),
        overlay(Ok(()), Vec::new()),
        overlay(failed(), Vec::new()),
        None,
    ];
    let unknown = AddressCheck::Unknown(Box::new(status(403, &[])));
    let checks = [AddressCheck::Free, AddressCheck::Taken(Vec::new()), unknown];
    let (mut rows, mut proved) = (0, Vec::new());
    for (l, live) in lives.iter().enumerate() {
        for (u, update) in updates.iter().enumerate() {
            for (b, stored_body) in bodies.iter().enumerate() {
                for (c, creation) in creations.iter().enumerate() {
                    for (o, overlay) in overlays.iter().enumerate() {
                        for (a, addresses) in checks.iter().enumerate() {
                            for is_custom in [false, true] {
                                let evidence = Evidence {
                                    refused: update,
                                    live,
                                    is_custom,
                                    stored_body: stored_body.clone(),
                                    creation: creation.clone(),
                                    overlay: overlay.clone(),
                                    addresses: addresses.clone(),
                                };
                                rows += 1;
                                if let RefusalClass::Immutable(causes) = classify(&evidence) {
                                    assert_eq!(causes, [cause(field)]);
                                    proved.push([l, u, b, c, o, a, is_custom.into()]);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    assert_eq!(rows, 3 * 3 * 4 * 3 * 7 * 3 * 2);
    // All of the first column. What the overlay removes below the field counts for a custom kind only.
    let row = |overlay: usize, is_custom: usize| [0, 0, 0, 0, overlay, 0, is_custom];
    assert_eq!(proved, [row(0, 0), row(0, 1), row(1, 0), row(1, 1), row(2, 0)]);
}

#[test]
fn a_webhook_and_a_policy_name_no_field() {
    let mut webhook = status(422, &["spec.selector"]);
    assert!(names_a_field(&webhook));
    webhook.message = "admission webhook \"x\" denied the request: no".into();
    assert!(!names_a_field(&webhook) && !names_a_field(&status(422, &[""])));
    let (update, live) = (status(422, &["spec.selector"]), json!({}));
    let answer = Err(Box::new(webhook));
    let evidence = Evidence { overlay: overlay(answer, Vec::new()), ..proof(&update, &live) };
    assert!(matches!(classify(&evidence), RefusalClass::Unproved(MissingProof::Overlay(_))));
}

#[test]
fn a_new_object_that_is_refused_for_the_same_field_is_an_error_in_the_body() {
    for (update, new) in [
        ("spec.selector", "spec.selector"),
        ("spec.clusterIPs[0]", "spec.clusterIPs"),
        ("<nil>", "<nil>"),
    ] {
        let (update, live) =
            (status(422, &[update]), json!({"metadata": {"deletionTimestamp": "now"}}));
        let evidence = Evidence {
            stored_body: Some(refused(&[])),
            creation: refused(&[new]),
            ..proof(&update, &live)
        };
        assert!(matches!(classify(&evidence), RefusalClass::Invalid(_)), "{new}");
    }
    assert!(!is_same_field("spec.ports[0].port", "spec.ports") && !is_same_field("", ""));
}

#[test]
fn a_field_that_the_status_reports_proves_nothing() {
    let update = status(422, &["spec.resources.requests.storage"]);
    let bound = json!({"status": {"capacity": {"storage": "2Gi"}}});
    let shrunk = |live| {
        let answer = refused(&["spec.resources.requests.storage"]);
        classify(&Evidence { overlay: overlay(answer, Vec::new()), ..proof(&update, live) })
    };
    assert_eq!(shrunk(&bound), RefusalClass::Unproved(MissingProof::NotAboutTheBody));
    let conditions = json!({"status": {"conditions": [{"storage": "x"}]}});
    assert!(matches!(shrunk(&conditions), RefusalClass::Immutable(_)));
}

#[test]
fn a_change_that_is_accepted_without_the_fields_of_others_is_not_immutable() {
    let (update, live) = (status(422, &["spec.strategy.rollingUpdate"]), json!({}));
    let taken = overlay(Ok(()), removed("spec.strategy.rollingUpdate"));
    for stored_body in [None, Some(Ok(()))] {
        let evidence = Evidence { overlay: taken.clone(), stored_body, ..proof(&update, &live) };
        assert_eq!(
            classify(&evidence),
            RefusalClass::Entangled(removed("spec.strategy.rollingUpdate"))
        );
    }
    // Refused before the change too, the overlay of what changed says nothing of the cause.
    let stored_body = Some(refused(&["spec"]));
    let evidence = Evidence { overlay: taken, stored_body, ..proof(&update, &live) };
    assert!(matches!(classify(&evidence), RefusalClass::Unproved(MissingProof::StoredBody(_))));
}

#[test]
fn a_new_object_is_an_error_only_for_what_a_change_of_the_old_one_is_refused_for_too() {
    let port = "spec.ports[0].port";
    let judged =
        |creation: &DryRun, change: &DryRun| recreatable(creation, change, &AddressCheck::Free);
    assert_eq!(judged(&Ok(()), &refused(&[port])), Recreatable::Possible);
    let error = judged(&refused(&[port]), &refused(&["spec.clusterIP", port]));
    assert!(matches!(error, Recreatable::Invalid(_)), "{error:?}");
    let own = refused(&["spec.ports[0].nodePort"]);
    assert_eq!(judged(&own, &Ok(())), Recreatable::Possible);
    for change in [refused(&["spec.clusterIP"]), refused(&[])] {
        assert!(matches!(judged(&own, &change), Recreatable::Unproved(_)));
    }
    let policy = Err(Box::new(status(403, &[])));
    assert!(matches!(judged(&policy, &policy), Recreatable::Invalid(_)));
    assert!(matches!(judged(&policy, &Ok(())), Recreatable::Unproved(_)));
    let silence = Err(Box::default());
    assert!(matches!(judged(&silence, &silence), Recreatable::Unproved(_)));
    let taken = recreatable(&Ok(()), &Ok(()), &AddressCheck::Taken(Vec::new()));
    assert!(matches!(taken, Recreatable::AddressTaken(_)));
    let unknown = AddressCheck::Unknown(Box::default());
    assert!(matches!(recreatable(&Ok(()), &Ok(()), &unknown), Recreatable::Unproved(_)));
}
