use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use k8sconnect_core::identity::Gvk;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::*;
use crate::error::{NetworkError, PluginError, Proxy};

const PATIENCE: Duration = Duration::from_secs(2);
const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\
                    Content-Length: 4\r\n\r\nbusy";

/// The same, for longer than anybody waits.
const AWAY: &str = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\
                    Retry-After: 3600\r\nContent-Length: 4\r\n\r\nbusy";

/// A server that answers everything with these words, and how often it was asked.
async fn answering(words: &'static str) -> (Cluster, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(words.as_bytes()).await;
        }
    });
    let connection = Connection::to(host.parse().unwrap());
    (impatient(&connection), asked)
}

fn impatient(connection: &Connection) -> Cluster {
    let mut cluster = Cluster::new(connection, Stop::default()).unwrap();
    Arc::get_mut(&mut cluster.shared).unwrap().read = PATIENCE;
    cluster
}

#[tokio::test]
async fn a_request_takes_little_room_in_its_callers() {
    let (cluster, _) = answering(BUSY).await;
    let call = Call::new(Method::GET, "/version");
    let request = cluster.send(&call);
    assert!(size_of_val(&request) < 512, "{} bytes", size_of_val(&request));
}

/// As Terraform does it: so many objects, ten at once, of three kinds.
async fn all_ask(cluster: &Cluster, objects: usize) -> (Duration, Vec<Error>) {
    let began = Instant::now();
    let ten = Arc::new(Semaphore::new(10));
    let asking = (0..objects).map(|n| {
        let (cluster, ten) = (cluster.clone(), ten.clone());
        tokio::spawn(async move {
            let _turn = ten.acquire().await;
            let gvk = Gvk::new(["v1", "apps/v1", "batch/v1"][n % 3], "Thing");
            cluster.kind(&gvk).await.unwrap_err()
        })
    });
    let mut errors = Vec::new();
    for task in asking.collect::<Vec<_>>() {
        errors.push(task.await.unwrap());
    }
    (began.elapsed(), errors)
}

#[tokio::test]
async fn a_dead_server_is_waited_for_once_however_many_objects_there_are() {
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let connection = Connection::to(format!("http://{dead}").parse().unwrap());
    let cluster = Cluster::new(&connection, Stop::default()).unwrap();
    let (took, errors) = all_ask(&cluster, 30).await;
    assert!(took < Duration::from_secs(15), "{took:?}");
    for error in errors {
        let refused = |cause: &NetworkError| *cause == NetworkError::Refused;
        assert!(matches!(&error, Error::Unreachable { cause, .. } if refused(cause)), "{error:?}");
    }
}

#[tokio::test]
async fn a_server_that_only_puts_off_is_waited_for_once() {
    let (cluster, asked) = answering(BUSY).await;
    let (_, errors) = all_ask(&cluster, 3).await;
    assert!(errors.iter().all(|error| matches!(error, Error::NotReady { .. })), "{errors:?}");
    assert_eq!(cluster.shared.breaker.hold_open(), 1, "the server's circuit");
    let before = asked.load(Ordering::Relaxed);
    let (_, errors) = all_ask(&cluster, 30).await;
    assert!(errors.iter().all(|error| matches!(error, Error::NotReady { .. })), "{errors:?}");
    assert_eq!(asked.load(Ordering::Relaxed), before, "it is not asked again");
}

#[tokio::test]
async fn a_server_that_has_served_and_puts_off_from_then_on_is_waited_for_once_per_group() {
    let (cluster, asked) = answering(AWAY).await;
    cluster.shared.breaker.served("/version");
    let (_, errors) = all_ask(&cluster, 3).await;
    assert!(errors.iter().all(|error| matches!(error, Error::NotReady { .. })), "{errors:?}");
    assert_eq!(cluster.shared.breaker.hold_open(), 3, "one circuit for each group");
    let before = asked.load(Ordering::Relaxed);
    let (_, errors) = all_ask(&cluster, 30).await;
    assert!(errors.iter().all(|error| matches!(error, Error::NotReady { .. })), "{errors:?}");
    let asked = asked.load(Ordering::Relaxed) - before;
    assert!((3..=30).contains(&asked), "{asked} requests for thirty: it may be back");
}

#[tokio::test]
async fn a_request_ends_when_another_one_gives_the_server_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    let cluster = impatient(&Connection::to(host.parse().unwrap()));
    let (call, breaker) = (Call::get("/version"), &cluster.shared.breaker);
    let closing = async {
        let (stream, _) = listener.accept().await.unwrap();
        let (host, cause) = (cluster.server(), NetworkError::Refused);
        let error = Error::Unreachable { host, cause, attempts: 7 };
        breaker.gave_up("/", &error, Duration::from_secs(3600), None);
        drop(stream);
    };
    let (ended, ()) = tokio::join!(cluster.send(&call), closing);
    assert!(matches!(ended, Err(Error::Unreachable { attempts: 7, .. })), "{ended:?}");
}

#[tokio::test]
async fn a_write_that_may_have_arrived_does_not_end_with_what_another_request_ended_with() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    let cluster = Cluster::new(&Connection::to(host.parse().unwrap()), Stop::default()).unwrap();
    let cluster = cluster.until(Instant::now() + PATIENCE);
    let mut call = Call::new(Method::DELETE, "/api/v1/namespaces/a");
    call.repeat = crate::Repeat::Harmless;
    let closing = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4096]).await;
        let (host, cause) = (cluster.server(), NetworkError::Refused);
        let error = Error::Unreachable { host, cause, attempts: 7 };
        cluster.shared.breaker.gave_up("/", &error, Duration::from_secs(3600), None);
    };
    let (ended, ()) = tokio::join!(cluster.send(&call), closing);
    let error = ended.unwrap_err();
    assert!(error.may_be_done(), "{error:?}");
}

/// A server that answers the first request with these words, and no other at all.
async fn answering_once(words: &'static str) -> Cluster {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            if open.is_empty() {
                let _ = stream.write_all(words.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
            open.push(stream);
        }
    });
    impatient(&Connection::to(host.parse().unwrap()))
}

#[tokio::test]
async fn a_last_attempt_without_an_answer_does_not_hide_what_the_earlier_ones_were_answered() {
    let cluster = answering_once(BUSY).await;
    let error = cluster.send(&Call::get("/version")).await.unwrap_err();
    assert_eq!(error.code(), Some(503), "{error:?}");
}

#[tokio::test]
async fn a_write_whose_last_attempt_was_not_answered_may_be_done_whatever_came_before() {
    const TOO_MANY: &str = "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\n\r\n";
    let cluster = answering_once(TOO_MANY).await.until(Instant::now() + PATIENCE);
    let error = cluster.send(&Call::new(Method::POST, "/api/v1/namespaces")).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }) && error.may_be_done(), "{error:?}");
}

#[tokio::test]
async fn a_proxy_in_the_servers_place_is_not_taken_for_a_server() {
    let (cluster, _) =
        answering("HTTP/1.1 407 Proxy Authentication Required\r\nConnection: close\r\n\r\n").await;
    let (_, errors) = all_ask(&cluster, 1).await;
    let proxy = matches!(errors[0], Error::BadAnswer { answer: BadAnswer::Status(407), .. });
    assert!(proxy, "{errors:?}");
}

#[tokio::test]
async fn what_a_proxy_answers_is_told_and_tried_again_only_where_it_may_pass() {
    let status = NetworkError::ProxyStatus;
    for (answer, expected, again) in [
        ("HTTP/1.1 302 Found\r\nLocation: /login\r\n\r\n", status(302), false),
        ("HTTP/1.1 503 Service Unavailable\r\n\r\n<html>busy</html>", status(503), true),
        ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", status(407), false),
        ("SSH-2.0-server\r\n\r\n", NetworkError::NotHttp, true),
    ] {
        let (proxy, asked) = answering(answer).await;
        let address = proxy.host().to_string();
        let mut connection = Connection::to("https://k.example".parse().unwrap());
        connection.tls.trust = crate::Trust::Anyone;
        connection.proxy = Some(address.replace("//", "//joe:hunter2@").into());
        let (_, errors) = all_ask(&impatient(&connection), 1).await;
        let Error::Unreachable { cause, .. } = &errors[0] else { panic!("{errors:?}") };
        let expected = NetworkError::Proxy(Proxy { address, variable: None }, expected.into());
        assert_eq!(*cause, expected);
        assert_eq!(asked.load(Ordering::Relaxed) > 1, again, "{cause:?}");
    }
}

/// A server that begins an answer to everything at once, and goes on with a byte now and then.
async fn dripping(words: &'static str) -> Cluster {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(words.as_bytes()).await;
                while stream.write_all(b" ").await.is_ok() {
                    sleep(Duration::from_millis(50)).await;
                }
            });
        }
    });
    impatient(&Connection::to(host.parse().unwrap()))
}

#[tokio::test]
async fn an_answer_that_drips_has_the_time_of_the_request_and_no_more() {
    for words in ["HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", "HTTP/1.1 200 OK\r\nX:"] {
        let cluster = dripping(words).await;
        let (took, errors) = all_ask(&cluster, 3).await;
        assert!(took < PATIENCE * 2, "{took:?}");
        assert!(errors.iter().all(|it| matches!(it, Error::Timeout { .. })), "{errors:?}");
    }
}

#[tokio::test]
async fn the_pages_of_a_list_share_one_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut page = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            page += 1;
            let list = format!("{{\"metadata\": {{\"continue\": \"{page}\"}}, \"items\": []}}");
            let _ = stream.read(&mut [0; 4096]).await;
            sleep(PATIENCE / 4).await;
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length:";
            let _ =
                stream.write_all(format!("{head} {}\r\n\r\n{list}", list.len()).as_bytes()).await;
        }
    });
    let cluster = impatient(&Connection::to(host.parse().unwrap()));
    let gvk = Gvk::new("v1", "ConfigMap");
    let kind = crate::Kind { gvk, plural: "configmaps".into(), scope: crate::Scope::Namespaced };
    let began = Instant::now();
    let (within, all) = (crate::Within::Everywhere, crate::Selection::default());
    let listed = cluster.list(&kind, within, all, crate::Detail::Full).await;
    let error = listed.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    let took = began.elapsed();
    assert!(took >= PATIENCE * 3 && took < PATIENCE * 5, "{took:?}");
}

#[tokio::test]
async fn a_credential_plugin_is_waited_for_no_longer_than_the_deadline() {
    let mut connection = Connection::to("http://127.0.0.1:1".parse().unwrap());
    connection.auth = crate::Auth::Exec(crate::Exec {
        api_version: "client.authentication.k8s.io/v1".into(),
        command: "sleep".into(),
        args: vec!["300".into()],
        env: vec![],
        install_hint: None,
        cluster: None,
    });
    let began = Instant::now();
    let cluster = impatient(&connection).until(began + PATIENCE);
    let error = cluster.kind(&Gvk::new("v1", "Pod")).await.unwrap_err();
    let Error::Connection(ConnectionError::Plugin { problem, .. }) = error else {
        panic!("{error:?}")
    };
    assert!(matches!(problem, PluginError::TimedOut { .. }), "{problem:?}");
    assert!(began.elapsed() < PATIENCE * 2, "{:?}", began.elapsed());
}

/// A server that takes connections and says nothing, spoken to in TLS.
#[tokio::test]
async fn an_interrupt_ends_a_write_that_has_not_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("https://{}", listener.local_addr().unwrap());
    let mut connection = Connection::to(host.parse().unwrap());
    connection.tls.trust = crate::Trust::Anyone;
    connection.auth = crate::Auth::Token("t".into());
    let stop = Stop::default();
    let cluster = Cluster::new(&connection, stop.clone()).unwrap();
    let call = Call::new(Method::POST, "/api/v1/namespaces");
    assert!(call.is_write());
    let began = Instant::now();
    let interrupt = async {
        let accepted = listener.accept().await.unwrap();
        stop.ask();
        accepted
    };
    let (ended, _accepted) = tokio::join!(cluster.send(&call), interrupt);
    let error = ended.unwrap_err();
    assert!(error.is_interrupt() && !error.may_be_done(), "{error:?}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

/// A server that answers a request with what stands behind the first part of it that is listed, and
/// how often each was asked for.
async fn serving(
    answers: &'static [(&'static str, &'static str)],
) -> (Cluster, Arc<[AtomicUsize]>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<[AtomicUsize]> = answers.iter().map(|_| AtomicUsize::new(0)).collect();
    let count = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 4096];
            let read = stream.read(&mut request).await.unwrap_or_default();
            let request = String::from_utf8_lossy(&request[..read]).into_owned();
            let answer = match answers.iter().position(|(part, _)| request.contains(part)) {
                Some(place) => {
                    count[place].fetch_add(1, Ordering::Relaxed);
                    format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}", answers[place].1)
                }
                None => "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n".to_owned(),
            };
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (Cluster::new(&Connection::to(host.parse().unwrap()), Stop::default()).unwrap(), asked)
}

const BROKEN_WATCH: &str = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500}}\n";

#[tokio::test]
async fn a_watch_that_always_answers_an_error_is_opened_again_after_pauses() {
    let (cluster, asked) = serving(&[
        ("watch=true", BROKEN_WATCH),
        ("/configmaps/web", r#"{"metadata": {"resourceVersion": "1"}}"#),
    ])
    .await;
    let kind = crate::Kind::built_in("v1", "ConfigMap", "configmaps", crate::Scope::Namespaced);
    let at = crate::Location { kind, namespace: None, name: "web".into() };
    let mut follow = cluster.until(Instant::now() + Duration::from_secs(1)).follow(&at);
    while follow.next().await.unwrap().is_some() {}
    // At 0, 250 and 750 milliseconds.
    let watches = asked[0].load(Ordering::Relaxed);
    assert!((1..=3).contains(&watches), "{watches} watches within a second");
}

#[tokio::test]
async fn a_watch_of_definitions_that_always_answers_an_error_is_opened_again_after_pauses() {
    let (cluster, asked) = serving(&[
        ("watch=true", BROKEN_WATCH),
        ("/customresourcedefinitions", r#"{"metadata": {"resourceVersion": "1"}, "items": []}"#),
        (
            "/apis/apiextensions.k8s.io/v1",
            r#"{"resources": [{"name": "customresourcedefinitions", "namespaced": false,
                "kind": "CustomResourceDefinition"}]}"#,
        ),
    ])
    .await;
    let gvk = Gvk::new("example.com/v1", "Thing");
    let deadline = Instant::now() + Duration::from_secs(1);
    assert_eq!(cluster.await_kind(&gvk, deadline).await.unwrap(), None);
    // At 0, 50, 150, 350 and 750 milliseconds.
    let watches = asked[0].load(Ordering::Relaxed);
    assert!((1..=5).contains(&watches), "{watches} watches within a second");
}
