//! How much an object adds to the state, which Terraform copies for every object that it applies.

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::harness::State;

use crate::world::{OBJECT, World};

/// For the kind, the versions and the UIDs. At 76b07f7 it was more than 800, and half of the body.
const FIXED: usize = 300;

#[tokio::test]
async fn private_state_takes_a_quarter_of_the_body_and_three_hundred_bytes() {
    let world = World::new().await;
    let kinds = world.kinds();
    let mut too_large = Vec::new();
    for kind in &kinds {
        let private = world.make(kind).await.private;
        let (size, allowed) = (private.to_bytes().len(), FIXED + kind.text.len() / 4);
        if size > allowed {
            too_large.push(format!("{}: {size} of {allowed}", kind.name));
        }
        let stored: Json = private.get("object").unwrap().unwrap();
        if !stored["leaves"].is_null() {
            too_large.push(format!("{}: stores {} again", kind.name, stored["leaves"]));
        }
    }
    world.clear(&kinds).await;
    assert!(too_large.is_empty(), "{}", too_large.join("\n"));
}

#[tokio::test]
async fn a_leaf_is_stored_while_the_projection_does_not_show_it_as_it_was_applied() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let body = format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, namespace: {ns}}}, data: {{mode: fast}}}}"
    );
    let stored = |state: &State| {
        let private: Json = state.private.get("object").unwrap().unwrap();
        private["leaves"].clone()
    };
    let applied = world.create(&body).await.unwrap();
    assert_eq!(stored(&applied), json!(null));
    let target = Target::new("v1", "ConfigMap", ns, "a");
    let rival = world.cluster.act_as("somebody");
    rival.merge_patch(&target, json!({"data": {"mode": "slow"}})).await.unwrap();
    let mut state = applied;
    for _ in 0..2 {
        state = world.core().read(OBJECT, &state).await.unwrap().present().unwrap();
        assert_eq!(stored(&state), json!({"data.mode": "fast"}));
    }
    rival.merge_patch(&target, json!({"data": {"mode": "fast"}})).await.unwrap();
    state = world.core().read(OBJECT, &state).await.unwrap().present().unwrap();
    assert_eq!(stored(&state), json!(null));
}
