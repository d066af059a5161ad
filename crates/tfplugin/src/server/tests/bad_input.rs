//! Bad input is answered.

use super::fixture::{client, create, delete, encoded, errors, plan, private, thing};
use crate::proto::tfplugin6 as proto;
use crate::value::Value;

#[tokio::test]
async fn answers_truncated_values_with_a_diagnostic() {
    let mut request = plan("x");
    let config = request.config.as_mut().unwrap();
    config.msgpack.truncate(config.msgpack.len() - 2);
    let answer = client().plan_resource_change(request).await.unwrap().into_inner();
    let told = errors(&answer.diagnostics);
    assert_eq!(told[0].summary, "The configuration cannot be read");
    assert!(told[0].detail.contains("`text`"), "{}", told[0].detail);
    assert!(told[0].attribute.is_some());
}

#[tokio::test]
async fn answers_an_unknown_resource_type_with_a_diagnostic() {
    let request =
        proto::PlanResourceChangeRequest { type_name: "faulty_ghost".into(), ..plan("x") };
    let answer = client().plan_resource_change(request).await.unwrap().into_inner();
    let expected = "The provider has no resource type `faulty_ghost`";
    assert_eq!(errors(&answer.diagnostics)[0].summary, expected);
    let request =
        proto::ReadDataSourceRequest { type_name: "faulty_ghost".into(), ..Default::default() };
    let answer = client().read_data_source(request).await.unwrap().into_inner();
    let expected = "The provider has no data source `faulty_ghost`";
    assert_eq!(errors(&answer.diagnostics)[0].summary, expected);
}

#[tokio::test]
async fn carries_huge_strings() {
    let text = "x".repeat(20 * 1024 * 1024);
    let answer = client().plan_resource_change(plan(&text)).await.unwrap().into_inner();
    assert!(errors(&answer.diagnostics).is_empty());
    assert!(answer.planned_state.unwrap().msgpack.len() > text.len());
}

#[tokio::test]
async fn answers_a_panic_with_a_diagnostic_and_goes_on() {
    let mut client = client();
    let answer = client.plan_resource_change(plan("panic")).await.unwrap().into_inner();
    let told = errors(&answer.diagnostics);
    assert_eq!(told[0].summary, "The provider failed unexpectedly");
    assert!(told[0].detail.contains("`PlanResourceChange`"));
    let answer = client.plan_resource_change(plan("fine")).await.unwrap().into_inner();
    assert!(errors(&answer.diagnostics).is_empty());
}

#[tokio::test]
async fn keeps_the_state_of_an_object_whose_delete_panics() {
    let answer = client().apply_resource_change(delete("panic")).await.unwrap().into_inner();
    assert!(!errors(&answer.diagnostics).is_empty());
    assert!(answer.new_state.is_none_or(|state| state.msgpack == [0xc0]));
}

#[tokio::test]
async fn takes_a_missing_plan_for_damage_and_not_for_a_delete() {
    let request = proto::ApplyResourceChangeRequest { planned_state: None, ..delete("x") };
    let answer = client().apply_resource_change(request).await.unwrap().into_inner();
    assert_eq!(errors(&answer.diagnostics)[0].summary, "The planned state cannot be read");
}

#[tokio::test]
async fn refuses_private_state_that_it_would_lose() {
    let request = proto::ReadResourceRequest {
        type_name: "faulty_thing".into(),
        current_state: encoded(thing("x", Value::Null, "1".into())),
        private: b"damaged".to_vec(),
        ..Default::default()
    };
    let answer = client().read_resource(request).await.unwrap().into_inner();
    assert_eq!(errors(&answer.diagnostics)[0].summary, "The private state cannot be read");
    let request =
        proto::ApplyResourceChangeRequest { planned_private: private("k"), ..create("x") };
    let answer = client().apply_resource_change(request).await.unwrap().into_inner();
    assert!(errors(&answer.diagnostics).is_empty());
}

#[tokio::test]
async fn reads_json_where_there_is_no_msgpack() {
    let mut request = plan("x");
    let json = br#"{"text":"from json","secret":null,"id":null}"#.to_vec();
    request.config = Some(proto::DynamicValue { msgpack: Vec::new(), json });
    let answer = client().plan_resource_change(request).await.unwrap().into_inner();
    assert!(errors(&answer.diagnostics).is_empty());
}

#[tokio::test]
async fn refuses_the_state_of_terraform_before_0_12() {
    let raw = proto::RawState { json: Vec::new(), flatmap: [("a".into(), "b".into())].into() };
    let request =
        proto::UpgradeRequest { type_name: "faulty_thing".into(), version: 2, raw: Some(raw) };
    let answer = client().upgrade_resource_state(request).await.unwrap().into_inner();
    assert_eq!(errors(&answer.diagnostics)[0].summary, "The stored state is too old to be read");
}
