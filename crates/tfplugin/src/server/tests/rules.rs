//! Terraform's rules hold whatever the resource does.

use super::fixture::{
    client, create, decoded, delete, encoded, errors, identity, plan, private, thing,
};
use crate::private::Private;
use crate::proto::tfplugin6 as proto;
use crate::value::Value;

#[tokio::test]
async fn takes_write_only_values_out_of_plan_and_result() {
    let config = encoded(thing("x", Value::from("s"), Value::Null));
    let request = proto::PlanResourceChangeRequest { config, ..plan("x") };
    let answer = client().plan_resource_change(request).await.unwrap().into_inner();
    assert_eq!(decoded(answer.planned_state).attribute("secret"), Some(&Value::Null));
    let answer = client().apply_resource_change(create("x")).await.unwrap().into_inner();
    assert_eq!(decoded(answer.new_state), thing("x", Value::Null, "1".into()));
}

#[tokio::test]
async fn refuses_write_only_values_where_they_would_be_stored() {
    let request = |allowed| proto::TypedConfigRequest {
        type_name: "faulty_thing".into(),
        config: encoded(thing("x", Value::from("s"), Value::Null)),
        client_capabilities: Some(proto::ClientCapabilities {
            write_only_attributes_allowed: allowed,
            ..Default::default()
        }),
    };
    let answer = client().validate_resource_config(request(false)).await.unwrap().into_inner();
    assert_eq!(answer.diagnostics[0].summary, "A write-only attribute cannot be used here");
    let answer = client().validate_resource_config(request(true)).await.unwrap().into_inner();
    assert!(answer.diagnostics.is_empty());
}

#[tokio::test]
async fn copies_private_state_forward_that_the_resource_does_not_mention() {
    let request = proto::PlanResourceChangeRequest { prior_private: private("k"), ..plan("x") };
    let answer = client().plan_resource_change(request).await.unwrap().into_inner();
    assert!(Private::from_bytes(&answer.planned_private).unwrap().contains("k"));
    let answer = client().apply_resource_change(create("x")).await.unwrap().into_inner();
    assert!(Private::from_bytes(&answer.private).unwrap().contains("planned"));
    let answer =
        client().apply_resource_change(create("fail half way")).await.unwrap().into_inner();
    assert!(Private::from_bytes(&answer.private).unwrap().contains("planned"));
}

#[tokio::test]
async fn planned_private_state_says_which_of_the_two_plans_this_is() {
    let told = async |store_planned_private, planned_private| {
        let capabilities =
            proto::ClientCapabilities { store_planned_private, ..Default::default() };
        let request = proto::PlanResourceChangeRequest {
            client_capabilities: Some(capabilities),
            planned_private,
            ..plan("x")
        };
        let answer = client().plan_resource_change(request).await.unwrap().into_inner();
        (answer.diagnostics[0].detail.clone(), answer.planned_private)
    };
    assert_eq!(told(false, Vec::new()).await, ("unsupported".to_owned(), Vec::new()));
    // The resource keeps nothing, and the plan of the apply is known all the same.
    let (phase, handed_over) = told(true, Vec::new()).await;
    assert_eq!((phase.as_str(), handed_over.as_slice()), ("absent", &b"{}"[..]));
    assert_eq!(told(true, handed_over).await.0, "", "present, without keys");
    assert_eq!(told(true, private("k")).await.0, "k");
}

#[tokio::test]
async fn copies_private_state_forward_when_a_destroy_is_planned() {
    let request = proto::PlanResourceChangeRequest {
        type_name: "faulty_thing".into(),
        prior_state: encoded(thing("x", Value::Null, "1".into())),
        proposed_new_state: encoded(Value::Null),
        config: encoded(Value::Null),
        prior_private: private("k"),
        ..Default::default()
    };
    let answer = client().plan_resource_change(request).await.unwrap().into_inner();
    assert_eq!(decoded(answer.planned_state), Value::Null);
    assert!(Private::from_bytes(&answer.planned_private).unwrap().contains("k"));
}

#[tokio::test]
async fn keeps_an_identity_that_the_resource_does_not_mention() {
    let request = proto::ReadResourceRequest {
        type_name: "faulty_thing".into(),
        current_state: encoded(thing("x", Value::Null, "1".into())),
        current_identity: identity("1"),
        ..Default::default()
    };
    let answer = client().read_resource(request).await.unwrap().into_inner();
    assert_eq!(answer.new_identity, identity("1"));
}

#[tokio::test]
async fn reports_an_unknown_that_is_left_after_apply_and_stores_the_rest() {
    let answer =
        client().apply_resource_change(create("leave unknown")).await.unwrap().into_inner();
    let told = errors(&answer.diagnostics);
    assert_eq!(told[0].summary, "The provider left a value unknown in the result of the apply");
    assert!(told[0].detail.contains("`id`"));
    assert_eq!(decoded(answer.new_state), thing("leave unknown", Value::Null, Value::Null));
}

#[tokio::test]
async fn stores_nothing_after_a_create_that_did_nothing() {
    let answer = client().apply_resource_change(create("fail")).await.unwrap().into_inner();
    assert_eq!(errors(&answer.diagnostics)[0].summary, "Failed");
    assert_eq!(decoded(answer.new_state), Value::Null);
}

#[tokio::test]
async fn stores_what_a_create_left_half_way() {
    let answer =
        client().apply_resource_change(create("fail half way")).await.unwrap().into_inner();
    assert_eq!(errors(&answer.diagnostics)[0].summary, "Half way");
    assert_eq!(decoded(answer.new_state), thing("fail half way", Value::Null, "1".into()));
}

#[tokio::test]
async fn lets_terraform_keep_everything_after_a_failed_delete() {
    let answer = client().apply_resource_change(delete("fail")).await.unwrap().into_inner();
    assert_eq!(errors(&answer.diagnostics)[0].summary, "Failed");
    assert_eq!(decoded(answer.new_state), Value::Null);
}

#[tokio::test]
async fn answers_a_read_of_what_is_gone_with_null() {
    let request = proto::ReadResourceRequest {
        type_name: "faulty_thing".into(),
        current_state: encoded(thing("gone", Value::Null, "1".into())),
        ..Default::default()
    };
    let answer = client().read_resource(request).await.unwrap().into_inner();
    assert_eq!(decoded(answer.new_state), Value::Null);
}

#[tokio::test]
async fn names_each_reason_for_a_replacement_once() {
    let answer = client().plan_resource_change(plan("x")).await.unwrap().into_inner();
    assert_eq!(answer.requires_replace.len(), 1);
}

#[tokio::test]
async fn refuses_a_replacement_because_of_nothing() {
    let answer = client().plan_resource_change(plan("replace nothing")).await.unwrap().into_inner();
    assert_eq!(errors(&answer.diagnostics)[0].summary, "The provider planned a replacement badly");
}

#[tokio::test]
async fn finds_words_for_a_failure_without_any_and_keeps_the_notices() {
    let answer =
        client().plan_resource_change(plan("fail without a word")).await.unwrap().into_inner();
    let told: Vec<_> = answer.diagnostics.iter().map(|told| told.summary.as_str()).collect();
    assert_eq!(told, ["Planned", "The provider failed without a reason"]);
}

#[tokio::test]
async fn passes_state_of_the_same_version_through_and_refuses_others() {
    let json = br#"{"text":"x","id":"1","secret":"old mistake","former":[1]}"#.to_vec();
    let request = |version| proto::UpgradeRequest {
        type_name: "faulty_thing".into(),
        version,
        raw: Some(proto::RawState { json: json.clone(), flatmap: Default::default() }),
    };
    let answer = client().upgrade_resource_state(request(2)).await.unwrap().into_inner();
    assert_eq!(decoded(answer.upgraded_state), thing("x", Value::Null, "1".into()));
    let answer = client().upgrade_resource_state(request(1)).await.unwrap().into_inner();
    assert!(errors(&answer.diagnostics)[0].detail.contains("version 1"));
}

#[tokio::test]
async fn passes_an_identity_of_the_same_version_through() {
    let raw =
        proto::RawState { json: br#"{"id":"1","old":true}"#.to_vec(), flatmap: Default::default() };
    let request =
        proto::UpgradeRequest { type_name: "faulty_thing".into(), version: 1, raw: Some(raw) };
    let answer = client().upgrade_resource_identity(request).await.unwrap().into_inner();
    assert_eq!(answer.upgraded_identity, identity("1"));
}
