//! What is offered is shown, and what is not is refused in words.

use super::fixture::{client, errors};
use crate::proto::tfplugin6 as proto;

#[tokio::test]
async fn shows_its_schemas_and_capabilities() {
    let answer = client().get_provider_schema(proto::Nothing {}).await.unwrap().into_inner();
    let capabilities = answer.server_capabilities.unwrap();
    assert!(capabilities.plan_destroy && capabilities.move_resource_state);
    assert!(capabilities.get_provider_schema_optional && !capabilities.generate_resource_config);
    let thing = &answer.resource_schemas["faulty_thing"];
    assert_eq!(thing.version, 2);
    let secret = thing.block.as_ref().unwrap().attributes.iter().find(|it| it.name == "secret");
    let secret = secret.unwrap();
    assert!(secret.write_only && secret.optional && !secret.required);
    assert_eq!(secret.r#type, b"\"string\"");
    let identities = client().get_resource_identity_schemas(proto::Nothing {}).await;
    assert!(identities.unwrap().into_inner().identity_schemas.contains_key("faulty_thing"));
    let metadata = client().get_metadata(proto::Nothing {}).await.unwrap().into_inner();
    assert_eq!(metadata.resources[0].name, "faulty_thing");
}

#[tokio::test]
async fn refuses_imports_and_moves_that_no_code_was_written_for() {
    let request = proto::ImportResourceStateRequest {
        type_name: "faulty_thing".into(),
        id: "1".into(),
        ..Default::default()
    };
    let answer = client().import_resource_state(request).await.unwrap().into_inner();
    assert_eq!(errors(&answer.diagnostics)[0].summary, "`faulty_thing` cannot be imported");
    let request = proto::MoveResourceStateRequest {
        source_type_name: "other_thing".into(),
        target_type_name: "faulty_thing".into(),
        source_state: Some(proto::RawState { json: b"{}".to_vec(), flatmap: Default::default() }),
        ..Default::default()
    };
    let answer = client().move_resource_state(request).await.unwrap().into_inner();
    let expected = "`other_thing` cannot become `faulty_thing`";
    assert_eq!(errors(&answer.diagnostics)[0].summary, expected);
}

#[tokio::test]
async fn refuses_list_resources_and_actions_with_a_diagnostic() {
    let request = proto::TypedRequest { type_name: "faulty_list".into(), config: None };
    let mut events = client().list_resource(request.clone()).await.unwrap().into_inner();
    let event = events.message().await.unwrap().unwrap();
    assert!(errors(&event.diagnostic)[0].summary.contains("no list resource type `faulty_list`"));
    assert!(events.message().await.unwrap().is_none());
    let answer = client().validate_action_config(request).await.unwrap().into_inner();
    assert!(errors(&answer.diagnostics)[0].summary.contains("no action `faulty_list`"));
    let request = proto::TypedConfigRequest { type_name: "act".into(), ..Default::default() };
    let mut events = client().invoke_action(request).await.unwrap().into_inner();
    let event = events.message().await.unwrap().unwrap();
    let Some(proto::invoke_action_event::Type::Completed(completed)) = event.r#type else {
        panic!("the action did not complete")
    };
    assert!(errors(&completed.diagnostics)[0].summary.contains("no action `act`"));
}

#[tokio::test]
async fn refuses_a_function_that_it_does_not_have() {
    let request = proto::CallFunctionRequest { name: "ghost".into(), arguments: Vec::new() };
    let answer = client().call_function(request).await.unwrap().into_inner();
    assert!(answer.error.unwrap().text.contains("no function `ghost`"));
}
