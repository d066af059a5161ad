//! `ready` says what Go's kstatus says: over what lives in a cluster, and over all the ways in
//! which it could be a little different.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use k8sconnect_core::readiness::{Status, status};
use serde_json::{Value, json};
use testkit::specimens::Exhibit;
use testkit::specimens::documents::Tier;
use testkit::{Target, kstatus};

use crate::world::World;

const COLLECTIONS: [&str; 19] = [
    "/api/v1/nodes",
    "/api/v1/namespaces",
    "/api/v1/pods",
    "/api/v1/services",
    "/api/v1/configmaps",
    "/api/v1/secrets",
    "/api/v1/persistentvolumes",
    "/api/v1/persistentvolumeclaims",
    "/api/v1/replicationcontrollers",
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/statefulsets",
    "/apis/apps/v1/daemonsets",
    "/apis/apps/v1/replicasets",
    "/apis/batch/v1/jobs",
    "/apis/batch/v1/cronjobs",
    "/apis/policy/v1/poddisruptionbudgets",
    "/apis/autoscaling/v2/horizontalpodautoscalers",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/apiregistration.k8s.io/v1/apiservices",
];

/// All of the test's namespace, and what lives in none.
async fn living(world: &World) -> Vec<Value> {
    let ns = world.namespace.name();
    let mut found = Vec::new();
    for path in COLLECTIONS {
        let answer = world.cluster.request(http::Method::GET, path, "application/json", None);
        let list = answer.await.unwrap().accepted().unwrap();
        let kind = list["kind"].as_str().unwrap().strip_suffix("List").unwrap().to_owned();
        let version = list["apiVersion"].clone();
        for item in list["items"].as_array().unwrap() {
            let namespace = &item["metadata"]["namespace"];
            if !namespace.is_null() && namespace != ns {
                continue;
            }
            let mut item = item.clone();
            item["apiVersion"] = version.clone();
            item["kind"] = json!(kind);
            item["metadata"].as_object_mut().unwrap().remove("managedFields");
            // The referee looks at the clock a little later than we do.
            item["metadata"]["creationTimestamp"] = json!("2020-01-01T00:00:00Z");
            found.push(item);
        }
    }
    found
}

/// Pods that fare in every way.
async fn people(world: &World) {
    let ns = world.namespace.name();
    let rival = world.cluster.act_as("test");
    for how in ["ready", "unready", "unpulled", "misnamed", "crashing", "failing", "pending"] {
        let annotations = match how {
            "ready" => json!({}),
            how => json!({"testkit/pod": how}),
        };
        let metadata = json!({"name": how, "namespace": ns, "annotations": annotations});
        let template = json!({
            "metadata": {"labels": {"app": how}, "annotations": annotations},
            "spec": {"containers": [{"name": "app", "image": "app:1"}]},
        });
        let selector = json!({"matchLabels": {"app": how}});
        for (version, kind, spec) in [
            ("v1", "Pod", template["spec"].clone()),
            ("apps/v1", "Deployment", json!({"selector": selector, "template": template})),
            (
                "apps/v1",
                "StatefulSet",
                json!({"selector": selector, "template": template, "serviceName": "s"}),
            ),
            ("apps/v1", "DaemonSet", json!({"selector": selector, "template": template})),
        ] {
            let object =
                json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec});
            rival.create(object).await.unwrap();
        }
        let mut job = template.clone();
        job["spec"]["restartPolicy"] = json!("Never");
        let spec = json!({"template": job, "backoffLimit": 0});
        let job =
            json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec});
        rival.create(job).await.unwrap();
    }
    let done = Target::new("batch/v1", "Job", ns, "failing");
    let failed = |seen: Option<&Value>| {
        seen.is_some_and(|job| job["status"]["conditions"].to_string().contains("Failed"))
    };
    world.cluster.wait_until(&done, Duration::from_secs(60), failed).await.unwrap();
    let up = Target::new("apps/v1", "Deployment", ns, "ready");
    let ready = |seen: Option<&Value>| seen.is_some_and(|it| it["status"]["readyReplicas"] == 1);
    world.cluster.wait_until(&up, Duration::from_secs(60), ready).await.unwrap();
}

/// An object as it could be as well: later, earlier, going, told otherwise by its controller.
fn variants(object: &Value) -> Vec<Value> {
    let mut all = vec![object.clone()];
    let mut with = |change: &dyn Fn(&mut Value)| {
        let mut other = object.clone();
        change(&mut other);
        all.push(other);
    };
    with(&|it| drop(it.as_object_mut().unwrap().remove("status")));
    with(&|it| it["metadata"]["deletionTimestamp"] = json!("2026-11-16T00:00:00Z"));
    with(&|it| {
        it["metadata"]["generation"] = json!(it["metadata"]["generation"].as_i64().unwrap_or(1) + 1)
    });
    if object["spec"]["replicas"].is_i64() {
        for replicas in [0, 1, 5] {
            with(&|it| it["spec"]["replicas"] = json!(replicas));
        }
        with(&|it| drop(it["spec"].as_object_mut().unwrap().remove("replicas")));
    }
    if object["kind"] == "StatefulSet" {
        for partition in [0, 1, 9] {
            let strategy =
                json!({"type": "RollingUpdate", "rollingUpdate": {"partition": partition}});
            with(&|it| it["spec"]["updateStrategy"] = strategy.clone());
        }
        with(&|it| it["spec"]["updateStrategy"] = json!({"type": "OnDelete"}));
        with(&|it| it["status"]["updateRevision"] = json!("another"));
    }
    if object["kind"] == "Service" {
        with(&|it| it["spec"] = json!({"type": "LoadBalancer"}));
    }
    with(&|it| it["spec"]["progressDeadlineSeconds"] = json!(i32::MAX));
    for phase in ["Pending", "Running", "Succeeded", "Failed", "Bound", "Lost"] {
        with(&|it| it["status"]["phase"] = json!(phase));
    }
    for (name, value) in object["status"].as_object().into_iter().flatten() {
        if let Some(count) = value.as_i64() {
            for other in [0, count - 1, count + 1] {
                with(&|it| it["status"][name] = json!(other));
            }
        }
        with(&|it| drop(it["status"].as_object_mut().unwrap().remove(name)));
    }
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    for at in 0..conditions.len() {
        for told in ["True", "False", "Unknown", "Odd"] {
            with(&|it| it["status"]["conditions"][at]["status"] = json!(told));
        }
        for reason in ["ProgressDeadlineExceeded", "NewReplicaSetAvailable", "Installing"] {
            with(&|it| it["status"]["conditions"][at]["reason"] = json!(reason));
        }
    }
    for kind in ["Ready", "Stalled", "Reconciling", "Failed", "Complete", "ReplicaFailure"] {
        for told in ["True", "False"] {
            let mut more = conditions.clone();
            more.push(json!({"type": kind, "status": told, "reason": "R", "message": "m"}));
            with(&|it| it["status"]["conditions"] = json!(more));
        }
    }
    // The referee looks at the clock: far from its limit, both ways.
    if object["kind"] == "Pod" {
        let unscheduled =
            json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]);
        for created in ["2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"] {
            with(&|it| {
                it["metadata"]["creationTimestamp"] = json!(created);
                it["status"] = json!({"phase": "Pending", "conditions": unscheduled});
            });
        }
    }
    all
}

/// Kinds of somebody's own, and a definition of one.
fn strangers() -> Vec<Value> {
    let object = |status: Value| {
        json!({"apiVersion": "example.com/v1", "kind": "Thing",
            "metadata": {"name": "a", "generation": 2}, "spec": {}, "status": status})
    };
    let condition = |kind: &str, told: &str| {
        object(json!({"conditions": [{"type": kind, "status": told}], "observedGeneration": 2}))
    };
    let accepted = ["NamesAccepted", "Established"].map(|it| json!({"type": it, "status": "True"}));
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
        "spec": {}, "status": {"conditions": accepted}});
    let mut all = vec![definition, object(json!({})), object(json!({"observedGeneration": 1}))];
    for kind in ["Ready", "Synced", "Stalled", "Reconciling"] {
        all.extend(["True", "False", "Unknown", "?"].map(|told| condition(kind, told)));
    }
    all
}

#[tokio::test]
async fn ready_is_what_kstatus_calls_current() {
    let world = World::new().await;
    let kinds = world.kinds();
    let custom = |kind: &&Exhibit| kind.value["apiVersion"].to_string().contains(".example.com");
    for kind in kinds.iter().filter(|kind| kind.tier() <= Tier::Object && !custom(kind)) {
        world.cluster.act_as("test").apply(kind.value.clone()).await.unwrap();
    }
    people(&world).await;
    let objects: Vec<_> =
        living(&world).await.into_iter().chain(strangers()).flat_map(|it| variants(&it)).collect();
    world.clear(&kinds).await;
    let verdicts = kstatus::verdicts(objects.clone()).await.unwrap();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut differ = Vec::new();
    for (object, theirs) in objects.iter().zip(&verdicts) {
        let ours = match status(object, SystemTime::now()) {
            Status::Current => "Current",
            Status::InProgress(_) => "InProgress",
            Status::Failed(_) => "Failed",
            Status::Terminating => "Terminating",
        };
        // An object that kstatus gives up on is no witness.
        if !theirs.starts_with("error") && ours != theirs {
            differ.push(format!("ours {ours}, theirs {theirs}: {object}"));
        }
        *seen.entry(format!("{} {theirs}", object["kind"])).or_default() += 1;
    }
    assert!(differ.is_empty(), "{} of {}:\n{}", differ.len(), objects.len(), differ[0]);
    // A corpus is worth something only if it holds every verdict.
    for must in [
        "\"Deployment\" Current",
        "\"Deployment\" InProgress",
        "\"Deployment\" Failed",
        "\"StatefulSet\" Current",
        "\"DaemonSet\" InProgress",
        "\"Job\" Failed",
        "\"Pod\" Failed",
        "\"Pod\" Current",
        "\"Thing\" InProgress",
        "\"CustomResourceDefinition\" Failed",
    ] {
        assert!(seen.contains_key(must), "nothing is {must}: {seen:?}");
    }
    assert!(objects.len() > 1000, "{}", objects.len());
}
