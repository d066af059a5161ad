//! How much an object adds to the state, which Terraform copies for every object that it applies.

use crate::world::World;

#[tokio::test]
async fn what_is_kept_beside_an_object_takes_little_more_room_than_its_body() {
    let world = World::new().await;
    let kinds = world.kinds();
    let mut too_large = Vec::new();
    for kind in &kinds {
        let kept = world.make(kind).await.private.to_bytes().len();
        let allowed = 2000 + kind.text.len();
        if kept > allowed {
            too_large.push(format!("{}: {kept} of {allowed}", kind.name));
        }
    }
    world.clear(&kinds).await;
    assert!(too_large.is_empty(), "{}", too_large.join("\n"));
}
