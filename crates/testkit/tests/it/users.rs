//! That kubeconfigs let in whom they name, and that the audit log tells who asked what.

use k8sconnect_cluster::{Call, Connection, Pool};
use testkit::{ControlPlane, Filter, TestNamespace};

/// Asks for a ConfigMap that is not there, as the provider's client would.
async fn ask(kubeconfig: &str, namespace: &TestNamespace) -> u16 {
    let connection = Connection::from_kubeconfig(kubeconfig, None).unwrap();
    let cluster = Pool::default().cluster(&connection).await.unwrap();
    let path = format!("/api/v1/namespaces/{namespace}/configmaps/settings");
    match cluster.send(&Call::get(path)).await {
        Ok(reply) => reply.status,
        Err(error) => error.code().unwrap(),
    }
}

#[tokio::test]
async fn the_administrator_is_let_in_by_token() {
    let control_plane = ControlPlane::shared().await;
    let namespace = TestNamespace::new(control_plane).await.unwrap();
    assert_eq!(ask(&control_plane.kubeconfig(), &namespace).await, 404);
}

#[tokio::test]
async fn a_user_is_let_in_by_certificate_and_may_do_what_the_group_may() {
    let control_plane = ControlPlane::shared().await;
    let namespace = TestNamespace::new(control_plane).await.unwrap();
    let nobody = control_plane.kubeconfig_for("nobody", None).unwrap();
    assert_eq!(ask(&nobody, &namespace).await, 403);
    let master = control_plane.kubeconfig_for("somebody", Some("system:masters")).unwrap();
    assert_eq!(ask(&master, &namespace).await, 404);
}

#[tokio::test]
async fn requests_are_counted_by_user_and_by_namespace_and_once_each() {
    let control_plane = ControlPlane::shared().await;
    let namespace = TestNamespace::new(control_plane).await.unwrap();
    let user = format!("user-{namespace}");
    let kubeconfig = control_plane.kubeconfig_for(&user, None).unwrap();
    let work = async {
        for _ in 0..3 {
            ask(&kubeconfig, &namespace).await;
        }
    };
    let ((), requests) = control_plane.count_during(namespace.name(), work).await.unwrap();
    let seen: Vec<(String, u16)> =
        requests.iter().map(|request| (request.in_short(), request.code)).collect();
    assert_eq!(seen, vec![("get".to_owned(), 403); 3]);
    assert!(requests[0].user_agent.starts_with("k8sconnect/"));

    let (code, requests) = control_plane
        .count_during(Filter::by_user(&user), ask(&kubeconfig, &namespace))
        .await
        .unwrap();
    assert_eq!((code, requests.len()), (403, 1));
    let all = control_plane.requests(Filter::by_user(&user)).await.unwrap();
    assert_eq!(all.len(), 4);
    let elsewhere = control_plane.requests("default").await.unwrap();
    assert!(elsewhere.iter().all(|request| request.user != user));
}
