//! Troubles that pass: sat out where asking again is harmless, and never where it is not.

use http::{Method, StatusCode};
use serde_json::json;
use testkit::proxy::{Fate, Proxy, Reply, Rule, Turn, Which};
use tfplugin::harness::{Action, Core};

use crate::world::{OBJECT, World};

struct Scene {
    world: World,
    proxy: Proxy,
    core: Core,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        let proxy = Proxy::before(world.cluster).await.unwrap();
        let core = world.core();
        Self { world, proxy, core }
    }

    fn config(&self) -> tfplugin::Value {
        let cluster = json!({ "kubeconfig": self.proxy.kubeconfig() });
        self.world.config_at(&cluster, &self.world.config_map("settings"))
    }

    fn patches(&self) -> usize {
        self.proxy.requests().iter().filter(|one| one.method == Method::PATCH).count()
    }
}

#[tokio::test]
async fn a_busy_or_restarting_server_is_asked_again() {
    for fate in [
        Fate::Answer(
            Reply::refusal(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", "later")
                .header("retry-after", "1"),
        ),
        Fate::Answer(Reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "", "shutting down")),
        Fate::Answer(Reply::refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "",
            "etcdserver: leader changed",
        )),
        Fate::ResetBefore,
        Fate::ResetAfter,
    ] {
        let at = Scene::new().await;
        let config = at.config();
        at.proxy.rule(Rule::new(Which::any().method(Method::PATCH), Turn::First(2), fate));
        let plan = at.core.plan(OBJECT, &config, None).await.unwrap();
        assert_eq!(plan.action, Action::Create);
        assert_eq!(at.patches(), 3);
        let state = at.core.apply(OBJECT, &config, None, &plan).await.unwrap().present().unwrap();
        at.core.destroy(OBJECT, &state).await.unwrap();
    }
}

#[tokio::test]
async fn a_500_is_taken_as_an_answer() {
    let at = Scene::new().await;
    let reply = Reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "no");
    at.proxy.rule(Rule::new(Which::any().method(Method::PATCH), Turn::Every, Fate::Answer(reply)));
    at.core.plan(OBJECT, &at.config(), None).await.unwrap_err();
    assert_eq!(at.patches(), 1);
}
