//! How much an object adds to the state, which Terraform copies for every object that it applies.

use serde_json::Value as Json;

use crate::world::World;

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
