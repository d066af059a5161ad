//! What a deletion by force removes, and what it says of it.

use serde_json::json;
use testkit::Target;
use testkit::proxy::{Action, Fate, Proxy, Rule, Turn, Which};
use tfplugin::Value;

use crate::ignoring::with;
use crate::patch::said;
use crate::world::{OBJECT, World};

#[tokio::test]
async fn only_finalizers_that_the_warning_names_are_removed_by_force() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let config = world.config_through(&proxy.kubeconfig(), &world.config_map("settings"));
    let forced = [("force_destroy", Value::from(true)), ("delete_timeout", Value::from("1s"))];
    let state = world.core().create(OBJECT, &with(config, &forced)).await.unwrap();
    let target = Target::new("v1", "ConfigMap", ns, "settings");
    let finalizers = |names: &[&str]| json!({"metadata": {"finalizers": names}});
    let cleaner = world.cluster.act_as("cleaner");
    let both = finalizers(&["example.com/one", "example.com/two"]);
    cleaner.merge_patch(&target, both).await.unwrap();
    // One of them has done its work just when both are to be removed.
    let write = Action::new(move |_| {
        let (cleaner, target) = (cleaner.clone(), target.clone());
        let left = json!({"metadata": {"finalizers": ["example.com/two"]}});
        async move { cleaner.merge_patch(&target, left).await.map(drop) }
    });
    let removal = Which::at(&format!("/api/v1/namespaces/{ns}/configmaps/settings"));
    let removal = removal.method(http::Method::PATCH);
    let meanwhile = proxy.rule(Rule::new(removal, Turn::Nth(1), Fate::Before(write)));
    let gone = world.core().destroy(OBJECT, &state).await.unwrap();
    assert_eq!((meanwhile.fired().len(), meanwhile.failures()), (1, vec![]));
    let told = said(&gone);
    assert!(told.contains("finalizers were removed by force"), "{told}");
    assert!(told.contains("example.com/two") && !told.contains("example.com/one"), "{told}");
    assert_eq!(
        world.cluster.read(&Target::new("v1", "ConfigMap", ns, "settings")).await.unwrap(),
        None
    );
}
