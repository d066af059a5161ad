//! Edits that the server accepts and drops are told.

use serde_json::{Value as Json, json};
use testkit::{Filter, Target};
use tfplugin::harness::Action;

use crate::entangled::replan;
use crate::patch::{object, said};
use crate::world::{OBJECT, World};

/// Two requests for a certificate, of keys that nobody has.
const REQUESTS: [&str; 2] = [
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVFQXd3QllUQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCUG5LQW5TZ1dyMUtyR1RRbzNMNCtlY3RhaTE5UFhUb01yUnd5WTBla2NZRk5USTVhc1dkSVREMVBwRUxWRi9hCjlNbkdvWlV3bU5KaTk3WSs4Y3VMWnRpZ0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpRUE4UVhyS0NPeWNrNDEKUHprWXdmVExPL3M3MFJoQnNzczRUUXd3eXBrQXVVOENJR1RUTnkvanRtQngyOE5WaHk3VFFyMC8zRENzSTJGaAo0d0laUmxGaHlJSjkKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==",
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIR01HNENBUUF3RERFS01BZ0dBMVVFQXd3QllUQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCSkhEN2hzcVZzWUxsQURBWWpFUExMNFZPVDRjK2lPOXJ3eG9hY25VeTVBY3dFRTVjTmVuam9iSXJWRWp3Ri9aCmFJblpyWlZtL0NZL1Y4UDNVcmhoSlB1Z0FEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpRUEvcEswalhJQnNXclUKM05iMkVxRmM5MEo3cXNUNjhLVTJ3dkNzaWdKUlIvMENJQlZHSVpNbTRWR3NKT2NxbmNmZ1FOR2dtbnRqL21BTQpDWGk5QTQ5S2lKazUKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==",
];

#[tokio::test]
async fn an_edit_that_the_server_drops_in_silence_is_told() {
    let world = World::new().await;
    let name = world.namespace.name();
    let asking = |request: usize, usages: Json| {
        json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": {"name": name}, "spec": {"request": REQUESTS[request],
                "signerName": "example.com/nobody", "usages": usages}})
    };
    let before = asking(0, json!(["client auth"]));
    let state = world.create(&before.to_string()).await.unwrap();
    for (after, field) in [
        (asking(1, json!(["client auth"])), "spec.request"),
        (asking(0, json!(["server auth"])), "spec.usages"),
        (asking(0, json!(["client auth", "server auth"])), "spec.usages"),
    ] {
        let plan = replan(&world, &world.config(&after.to_string()), &state).await.unwrap();
        let told = said(&plan.diagnostics);
        assert!(told.contains("does not take the change"), "{field}: {told}");
        assert!(told.contains(&format!("{field} written ")), "{field}: {told}");
    }
    world.core().destroy(OBJECT, &state).await.unwrap();
    assert!(world.cluster.read(&Target::of(&before).unwrap()).await.unwrap().is_none());
}

#[tokio::test]
async fn another_spelling_is_asked_about_once_and_nothing_is_said() {
    let world = World::new().await;
    let quota = |cpu: &str| {
        let mut quota = object("v1", "ResourceQuota", "it", world.namespace.name());
        quota["spec"] = json!({"hard": {"cpu": cpu}});
        quota.to_string()
    };
    let state = world.create(&quota("1000m")).await.unwrap();
    let config = world.config(&quota("1"));
    let plan = replan(&world, &config, &state);
    let (plan, asked) =
        world.cluster.count_during(Filter::by_user(&world.user), plan).await.unwrap();
    let plan = plan.unwrap();
    assert_eq!((plan.action, said(&plan.diagnostics).as_str()), (Action::NoOp, ""));
    let objects: Vec<_> = asked.iter().filter(|it| it.uri.contains("resourcequotas")).collect();
    // The answer has another text than the body: the refresh, the dry-run, and the one beside.
    assert!(objects.len() <= 3, "{asked:#?}");
    assert!(asked.iter().all(|request| !request.writes()), "{asked:#?}");
}

#[tokio::test]
async fn a_field_that_the_server_drops_is_told_when_it_is_written_and_when_it_is_edited() {
    let world = World::new().await;
    let claim = |name: &str| {
        let mut claim = object("v1", "PersistentVolumeClaim", "it", world.namespace.name());
        claim["spec"] = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": "none",
            "resources": {"requests": {"storage": "1Gi"}},
            "dataSource": {"kind": "ConfigMap", "name": name}});
        world.config(&claim.to_string())
    };
    let before = claim("a");
    let plan = world.core().plan(OBJECT, &before, None).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("drops 1 field") && told.contains(" spec.dataSource "), "{told}");
    let state = world.core().create(OBJECT, &before).await.unwrap();
    let plan = replan(&world, &claim("b"), &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("drops 1 field") && told.contains("spec.dataSource.name"), "{told}");
}

#[tokio::test]
async fn of_what_every_kind_is_written_with_nothing_is_said_to_be_dropped() {
    let world = World::new().await;
    let mut planned = 0;
    for kind in world.kinds() {
        // A custom object has no kind yet.
        if let Ok(plan) = world.core().plan(OBJECT, &world.config(&kind.text), None).await {
            let told = said(&plan.diagnostics);
            assert!(!told.contains("the API server drops"), "{}: {told}", kind.name);
            planned += 1;
        }
    }
    assert!(planned > 40, "{planned}");
}

#[tokio::test]
async fn a_deprecated_name_of_a_field_that_loses_to_the_new_one_is_told() {
    let world = World::new().await;
    let set = |account: &str| {
        let mut set = object("apps/v1", "StatefulSet", "it", world.namespace.name());
        set["spec"] = json!({"replicas": 0, "serviceName": "it",
            "selector": {"matchLabels": {"app": "it"}}, "template": {
                "metadata": {"labels": {"app": "it"}}, "spec": {"serviceAccount": account,
                    "containers": [{"name": "a", "image": "a"}]}}});
        set.to_string()
    };
    let state = world.create(&set("one")).await.unwrap();
    let plan = replan(&world, &world.config(&set("two")), &state).await.unwrap();
    let told = said(&plan.diagnostics);
    assert!(told.contains("does not take the change"), "{told}");
}
