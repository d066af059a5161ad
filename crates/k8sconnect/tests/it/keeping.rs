//! Nothing is lost: what was not proved to be gone stays in state, and what was proved goes.

use http::{Method, StatusCode};
use testkit::Target;
use testkit::proxy::{Fate, Proxy, Reply, Rule, Turn, Which};
use testkit::sweep::configuration;
use tfplugin::harness::Failure;

use crate::world::{OBJECT, World};

#[tokio::test]
async fn a_deletion_that_is_not_answered_well_is_an_error_and_the_state_stays() {
    let world = World::new().await;
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let ns = world.namespace.name();
    let body = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: {ns}}}\n");
    let config = configuration(&proxy.kubeconfig(), &body);
    let state = world.core().create(OBJECT, &config).await.unwrap();
    for (code, reason) in [
        (StatusCode::UNAUTHORIZED, "Unauthorized"),
        (StatusCode::FORBIDDEN, "Forbidden"),
        (StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
    ] {
        let which = Which::at(&format!("/api/v1/namespaces/{ns}/configmaps/a"));
        let reply = Reply::refusal(code, reason, "not now");
        let rule = Rule::new(which.method(Method::DELETE), Turn::Every, Fate::Answer(reply));
        let tally = proxy.rule(rule);
        let failure = world.core().destroy(OBJECT, &state).await.unwrap_err();
        let Failure::Refused { stored, diagnostics } = failure else {
            panic!("{code}: {failure}");
        };
        assert!(stored.is_some(), "{code}: the state is lost: {diagnostics:?}");
        assert!(!tally.fired().is_empty(), "{code}");
        proxy.forget_rules();
    }
    world.core().destroy(OBJECT, &state).await.unwrap();
}

#[tokio::test]
async fn discovery_that_fails_is_never_read_as_gone() {
    let world = World::new().await;
    let proxy = Proxy::before(world.cluster).await.unwrap();
    let kinds = world.kinds();
    let definition = kinds.iter().find(|kind| kind.name == "crd-free").unwrap();
    let heap = kinds.iter().find(|kind| kind.name == "cr-heap").unwrap();
    world.make(definition).await;
    let config = configuration(&proxy.kubeconfig(), &heap.text);
    let state = world.core().create(OBJECT, &config).await.unwrap();
    let target = Target::of(&heap.value).unwrap();

    // The extension server is down, or the version is not served: 404 for the object, and a
    // definition that is there.
    let gone = Reply::refusal(StatusCode::NOT_FOUND, "NotFound", "the server could not find it");
    let group = target.api_version.split('/').next().unwrap();
    let which = Which::under(&format!("/apis/{group}"));
    proxy.rule(Rule::new(which, Turn::Every, Fate::Answer(gone)));
    let failure = world.core().read(OBJECT, &state).await.unwrap_err();
    assert!(failure.stored().is_some(), "{failure}");
    let failure = world.core().destroy(OBJECT, &state).await.unwrap_err();
    assert!(failure.stored().is_some(), "{failure}");
    proxy.forget_rules();
    assert!(world.core().read(OBJECT, &state).await.unwrap().state.is_some());

    // With its definition it is gone indeed.
    world.cluster.delete(&Target::of(&definition.value).unwrap()).await.unwrap();
    let definition = Target::of(&definition.value).unwrap();
    let within = std::time::Duration::from_secs(30);
    world.cluster.wait_until(&definition, within, |seen| seen.is_none()).await.unwrap();
    assert!(world.core().read(OBJECT, &state).await.unwrap().state.is_none());
    world.core().destroy(OBJECT, &state).await.unwrap();
}

#[tokio::test]
async fn a_namespace_that_never_comes_is_waited_for_and_depends_on_named() {
    let world = World::new().await;
    let body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: never-there}\n";
    let timeout = [("apply_timeout", tfplugin::Value::from("1s"))];
    let config = crate::ignoring::with(world.config(body), &timeout);
    let failure = world.core().create(OBJECT, &config).await.unwrap_err();
    let told = failure.diagnostics();
    let told: Vec<_> = told.iter().map(|one| format!("{}: {}", one.summary, one.detail)).collect();
    assert!(told.iter().any(|told| told.contains("`never-there` does not exist")), "{told:?}");
    assert!(told.iter().any(|told| told.contains("depends_on")), "{told:?}");
    assert!(failure.stored().is_none(), "nothing was made");
}
