//! How much an object adds to the state, which Terraform copies for every object that it applies.

use crate::world::World;

/// For the versions and UIDs that nothing else in state says.
const FIXED: usize = 350;

#[tokio::test]
async fn private_state_takes_a_third_of_the_body_and_a_few_hundred_bytes() {
    let world = World::new().await;
    let kinds = world.kinds();
    let mut too_large = Vec::new();
    for kind in &kinds {
        let private = world.make(kind).await.private.to_bytes().len();
        let allowed = FIXED + kind.text.len() / 3;
        if private > allowed {
            too_large.push(format!("{}: {private} of {allowed}", kind.name));
        }
    }
    world.clear(&kinds).await;
    assert!(too_large.is_empty(), "{}", too_large.join("\n"));
}
