//! That the proxy passes on what no rule speaks of, and does what each kind of rule says.
//! The client is the provider's own, which repeats what is safe to repeat: that a fault
//! happened shows in the number of requests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use k8sconnect_cluster::{Answer, Call, Cluster, Connection, Error, Found, Kind, Location};
use k8sconnect_cluster::{Pool, Scope, Seen};
use serde_json::{Value, json};
use testkit::audit::Persistence;
use testkit::proxy::{Action, Fate, Proxy, Reply, Rule, Turn, Which};
use testkit::{ControlPlane, Target, TestNamespace};

/// A ConfigMap behind a proxy, and a client on the other side.
struct Scene {
    control_plane: &'static ControlPlane,
    _namespace: TestNamespace,
    proxy: Proxy,
    cluster: Arc<Cluster>,
    target: Target,
    location: Location,
}

impl Scene {
    async fn new() -> Self {
        let control_plane = ControlPlane::shared().await;
        let namespace = TestNamespace::new(control_plane).await.unwrap();
        let target = Target::new("v1", "ConfigMap", namespace.name(), "settings");
        let map = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": "settings", "namespace": namespace.name() },
            "data": { "word": "first" },
        });
        control_plane.act_as("owner").create(map).await.unwrap();
        let proxy = Proxy::before(control_plane).await.unwrap();
        let connection = Connection::from_kubeconfig(&proxy.kubeconfig(), None).unwrap();
        let cluster = Pool::default().cluster(&connection).await.unwrap();
        let location = Location {
            kind: Kind {
                gvk: k8sconnect_core::identity::Gvk::new("v1", "ConfigMap"),
                plural: "configmaps".into(),
                scope: Scope::Namespaced,
            },
            namespace: Some(namespace.name().to_owned()),
            name: "settings".into(),
        };
        Self { control_plane, _namespace: namespace, proxy, cluster, target, location }
    }

    fn which(&self) -> Which {
        Which::at(&self.location.path())
    }

    async fn get(&self) -> Result<Value, Error> {
        match self.cluster.get(&self.location).await? {
            Found::Object(Answer { object, .. }) => Ok(object),
            other => panic!("the object is not there: {other:?}"),
        }
    }

    /// A write that is not repeated when its answer is lost.
    async fn set(&self, word: &str) -> Result<Value, Error> {
        let call = Call::new(Method::PATCH, self.location.path())
            .query("fieldManager", "test")
            .body(k8sconnect_cluster::Content::MergePatch, json!({ "data": { "word": word } }));
        let reply = self.cluster.send(&call).await?;
        Ok(serde_json::from_slice(&reply.body).unwrap())
    }

    async fn word(&self) -> Value {
        let live = self.control_plane.read(&self.target).await.unwrap().unwrap();
        live["data"]["word"].clone()
    }

    /// Something that somebody else writes.
    fn rival_sets(&self, word: &str) -> Action {
        let (rival, target) = (self.control_plane.act_as("rival"), self.target.clone());
        let patch = json!({ "data": { "word": word } });
        Action::new(move |_| {
            let (rival, target, patch) = (rival.clone(), target.clone(), patch.clone());
            async move { rival.merge_patch(&target, patch).await.map(drop) }
        })
    }

    fn asked(&self) -> Vec<String> {
        self.proxy.requests().iter().map(|request| request.in_short()).collect()
    }
}

#[tokio::test]
async fn what_no_rule_speaks_of_passes_and_is_recorded_in_order() {
    let at = Scene::new().await;
    assert_eq!(at.get().await.unwrap()["data"]["word"], "first");
    at.set("second").await.unwrap();
    assert_eq!(at.word().await, "second");
    let requests = at.proxy.requests();
    assert_eq!(at.asked(), ["get", "patch"]);
    assert_eq!(requests.iter().map(|request| request.sequence).collect::<Vec<_>>(), [1, 2]);
    assert!(requests.iter().all(|request| request.path == at.location.path()));
    assert_eq!(requests[1].query, "fieldManager=test");
    assert_eq!(requests[1].persistence(), Persistence::Real);
}

#[tokio::test]
async fn a_connection_counts_as_open_until_its_client_is_gone() {
    let Scene { proxy, cluster, location, .. } = Scene::new().await;
    cluster.get(&location).await.unwrap();
    assert_eq!(proxy.open_connections(), 1);
    drop(cluster);
    proxy.closed_down_to(0).await.unwrap();
    assert_eq!((proxy.open_connections(), proxy.connections()), (0, 1));
}

#[tokio::test]
async fn a_watch_streams_through_event_by_event() {
    let at = Scene::new().await;
    let mut follow = at.cluster.follow(&at.location);
    let mut next_word = async || match follow.next().await.unwrap() {
        Some(Seen::Present(object)) => object["data"]["word"].clone(),
        other => panic!("the object is not seen: {other:?}"),
    };
    assert_eq!(next_word().await, "first");
    for word in ["second", "third"] {
        let patch = json!({ "data": { "word": word } });
        let write = async {
            at.control_plane.act_as("rival").merge_patch(&at.target, patch).await.unwrap();
        };
        let (seen, ()) = tokio::join!(next_word(), write);
        assert_eq!(seen, word);
    }
    assert_eq!(at.asked(), ["get", "watch"], "one watch brought both events");
}

#[tokio::test]
async fn a_client_without_http2_is_served_too() {
    let at = Scene::new().await;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    let ca = at.control_plane.ca_file();
    use rustls::pki_types::pem::PemObject;
    roots.add(rustls::pki_types::CertificateDer::from_pem_file(ca).unwrap()).unwrap();
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_only()
        .enable_http1()
        .build();
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build::<_, http_body_util::Full<bytes::Bytes>>(connector);
    let request = http::Request::get(format!("{}{}", at.proxy.url(), at.location.path()))
        .header("authorization", format!("Bearer {}", at.control_plane.token()))
        .body(http_body_util::Full::default())
        .unwrap();
    let response = client.request(request).await.unwrap();
    assert_eq!((response.status(), response.version()), (StatusCode::OK, http::Version::HTTP_11));
}

#[tokio::test]
async fn a_delayed_request_is_answered_late() {
    let at = Scene::new().await;
    let delay = Duration::from_millis(300);
    at.proxy.rule(Rule::new(at.which(), Turn::Nth(1), Fate::Delay(delay)));
    let start = Instant::now();
    at.get().await.unwrap();
    assert!(start.elapsed() >= delay);
    assert_eq!(at.asked(), ["get"]);
}

#[tokio::test]
async fn an_answer_in_the_servers_place_keeps_the_request_from_it() {
    let at = Scene::new().await;
    let busy = Reply::refusal(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", "later")
        .header("retry-after", "1");
    let tally = at.proxy.rule(Rule::new(at.which(), Turn::First(1), Fate::Answer(busy)));
    let start = Instant::now();
    at.get().await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1), "the header was not heeded");
    assert_eq!(at.asked(), ["get", "get"]);
    assert_eq!(tally.fired().len(), 1);

    let refusal = Reply::refusal(StatusCode::FORBIDDEN, "Forbidden", "not by this proxy");
    let writes = at.which().method(Method::PATCH).persistence(Persistence::Real);
    at.proxy.rule(Rule::new(writes, Turn::Every, Fate::Answer(refusal)));
    let refused = at.set("second").await.unwrap();
    assert_eq!(refused["message"], "not by this proxy");
    assert_eq!(at.word().await, "first");

    at.proxy.forget_rules();
    at.set("third").await.unwrap();
    assert_eq!(at.word().await, "third");
}

#[tokio::test]
async fn a_reset_before_the_server_heard_of_it_writes_nothing() {
    let at = Scene::new().await;
    at.proxy.rule(Rule::new(at.which(), Turn::Nth(2), Fate::ResetBefore));
    at.get().await.unwrap();
    let error = at.set("second").await.unwrap_err();
    assert_eq!(error.code(), None, "{error:?}");
    assert_eq!(at.word().await, "first");
    // The next request finds a connection of its own.
    at.set("third").await.unwrap();
    assert_eq!(at.word().await, "third");
}

#[tokio::test]
async fn a_reset_after_the_server_answered_has_written() {
    let at = Scene::new().await;
    at.proxy.rule(Rule::new(at.which(), Turn::First(1), Fate::ResetAfter));
    let error = at.set("second").await.unwrap_err();
    assert_eq!(error.code(), None, "{error:?}");
    assert_eq!(at.word().await, "second");
    assert_eq!(at.get().await.unwrap()["data"]["word"], "second");
    assert_eq!(at.asked(), ["patch", "get"]);
}

#[tokio::test]
async fn an_answer_in_the_place_of_the_servers_own_comes_when_it_has_written() {
    let at = Scene::new().await;
    let reply = Reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, "", "too late");
    at.proxy.rule(Rule::new(at.which(), Turn::First(1), Fate::AnswerAfter(reply)));
    assert_eq!(at.set("second").await.unwrap()["message"], "too late");
    assert_eq!(at.word().await, "second");
}

#[tokio::test]
async fn a_truncated_answer_is_no_answer() {
    let at = Scene::new().await;
    at.proxy.rule(Rule::new(at.which(), Turn::First(1), Fate::Truncate(40)));
    let error = at.set("second").await.unwrap_err();
    assert_eq!(error.code(), None, "{error:?}");
    assert_eq!(at.word().await, "second");
    at.proxy.rule(Rule::new(at.which(), Turn::First(1), Fate::Truncate(40)));
    assert_eq!(at.get().await.unwrap()["data"]["word"], "second");
    assert_eq!(at.asked(), ["patch", "get", "get"], "a read is repeated");
}

#[tokio::test]
async fn a_connection_that_is_wound_up_still_answers_and_is_not_used_again() {
    let at = Scene::new().await;
    at.get().await.unwrap();
    at.proxy.rule(Rule::new(at.which(), Turn::Nth(1), Fate::GoAway));
    at.set("second").await.unwrap();
    assert_eq!(at.word().await, "second");
    assert_eq!(at.proxy.connections(), 1);
    at.set("third").await.unwrap();
    assert_eq!(at.word().await, "third");
    assert_eq!(at.proxy.connections(), 2, "the old connection took one more");
    assert_eq!(at.asked(), ["get", "patch", "patch"], "nothing was asked twice");
}

#[tokio::test]
async fn a_request_that_is_turned_away_was_not_heard_and_is_asked_again() {
    let at = Scene::new().await;
    at.get().await.unwrap();
    let tally = at.proxy.rule(Rule::new(at.which(), Turn::Nth(1), Fate::TurnAway));
    at.set("second").await.unwrap();
    assert_eq!(tally.fired().len(), 1);
    assert_eq!(at.word().await, "second");
    assert_eq!(at.proxy.connections(), 2, "the old connection took one more");
    assert_eq!(at.asked(), ["get", "patch", "patch"]);
}

#[tokio::test]
async fn a_watch_that_expires_or_ends_is_taken_up_again() {
    for reply in [Reply::expired_watch(), Reply::events(&[])] {
        let at = Scene::new().await;
        at.proxy.rule(Rule::new(at.which().watches(), Turn::Nth(1), Fate::Answer(reply)));
        let mut follow = at.cluster.follow(&at.location);
        let Some(Seen::Present(first)) = follow.next().await.unwrap() else { panic!("not seen") };
        assert_eq!(first["data"]["word"], "first");
        at.control_plane
            .act_as("rival")
            .merge_patch(&at.target, json!({ "data": { "word": "second" } }))
            .await
            .unwrap();
        let word = async {
            loop {
                if let Some(Seen::Present(object)) = follow.next().await.unwrap()
                    && object["data"]["word"] == "second"
                {
                    break;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), word).await.expect("it was missed");
    }
}

#[tokio::test]
async fn somebody_writes_before_a_request_or_before_its_answer_is_heard() {
    let at = Scene::new().await;
    let before = Fate::Before(at.rival_sets("before"));
    let earlier = at.proxy.rule(Rule::new(at.which(), Turn::Nth(1), before));
    assert_eq!(at.get().await.unwrap()["data"]["word"], "before");

    let after = Fate::After(at.rival_sets("after"));
    let later = at.proxy.rule(Rule::new(at.which(), Turn::Nth(1), after));
    assert_eq!(at.get().await.unwrap()["data"]["word"], "before");
    assert_eq!(at.word().await, "after");
    assert_eq!((earlier.fired()[0].sequence, later.fired()[0].sequence), (1, 2));
    assert_eq!(earlier.failures(), Vec::<String>::new());
}

#[tokio::test]
async fn an_action_that_fails_is_told_and_fails_the_request() {
    let at = Scene::new().await;
    let action = Action::new(|_| async { anyhow::bail!("no such luck") });
    let tally = at.proxy.rule(Rule::new(at.which(), Turn::Every, Fate::Before(action)));
    assert_eq!(at.get().await.unwrap_err().code(), Some(500));
    assert_eq!(tally.failures(), ["no such luck"]);
}

#[tokio::test]
async fn all_rules_that_are_due_act_in_their_order() {
    let at = Scene::new().await;
    at.proxy.rule(Rule::new(at.which(), Turn::Every, Fate::Before(at.rival_sets("theirs"))));
    at.proxy.rule(Rule::new(at.which(), Turn::Nth(1), Fate::ResetBefore));
    at.set("ours").await.unwrap_err();
    assert_eq!(at.word().await, "theirs");
}

#[tokio::test]
async fn the_proxy_ends_with_its_owner() {
    let at = Scene::new().await;
    at.get().await.unwrap();
    let address = at.proxy.url().trim_start_matches("https://").to_owned();
    drop(at.proxy);
    let deadline = Instant::now() + Duration::from_secs(10);
    while tokio::net::TcpStream::connect(&address).await.is_ok() {
        assert!(Instant::now() < deadline, "it still listens");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_that_is_never_ready_is_told_with_how_often_it_was_tried() {
    let at = Scene::new().await;
    let reply = Reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "", "shutting down");
    at.proxy.rule(Rule::new(at.which(), Turn::Every, Fate::Answer(reply)));
    let deadline = tokio::time::Instant::now() + Duration::from_secs(1);
    let error = at.cluster.until(deadline).get(&at.location).await.unwrap_err();
    let Error::NotReady { attempts, status, .. } = &error else { panic!("{error:?}") };
    assert_eq!(*attempts as usize, at.asked().len());
    assert_eq!(status.message, "shutting down");
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_may_have_been_done_and_one_that_never_left_has_not() {
    let at = Scene::new().await;
    at.get().await.unwrap();
    at.proxy.rule(Rule::new(at.which(), Turn::Every, Fate::ResetAfter));
    let error = at.set("ours").await.unwrap_err();
    assert!(matches!(error, Error::AnswerLost { .. }) && error.may_be_done(), "{error:?}");
    assert_eq!(at.word().await, "ours");
    let deadline = tokio::time::Instant::now() + Duration::from_secs(1);
    let error = at.cluster.until(deadline).get(&at.location).await.unwrap_err();
    // On a busy machine the deadline may come while it is asked.
    let is_known = matches!(error, Error::Unreachable { .. } | Error::Timeout { .. });
    assert!(is_known, "a read is nothing to doubt: {error:?}");
}
