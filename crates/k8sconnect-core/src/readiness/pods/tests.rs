use serde_json::json;

use super::super::picture::picture;
use super::*;

fn pod(name: &str, labels: Value, status: Value) -> Value {
    json!({"metadata": {"name": name, "uid": name, "labels": labels,
        "ownerReferences": [{"uid": "job"}]}, "status": status})
}

fn waiting(reason: &str) -> Value {
    json!({"phase": "Pending", "containerStatuses": [
        {"name": "app", "restartCount": 2,
         "state": {"waiting": {"reason": reason, "message": "what the kubelet says"}}},
    ]})
}

#[test]
fn a_pod_is_as_bad_as_its_worst_container() {
    for (reason, standing) in [
        ("InvalidImageName", Standing::Hopeless),
        ("ErrImageNeverPull", Standing::Hopeless),
        ("ErrImagePull", Standing::Unpulled),
        ("ImagePullBackOff", Standing::Unpulled),
        ("CreateContainerConfigError", Standing::Unmade),
        ("CrashLoopBackOff", Standing::Crashing),
        ("ContainerCreating", Standing::Starting),
    ] {
        let seen = look(&pod("a", json!({}), waiting(reason)));
        assert_eq!((seen.standing, seen.state.as_str()), (standing, reason));
        assert_eq!(seen.container.as_deref(), Some("app"));
        assert_eq!(seen.restarts, 2);
    }
    let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "app", "state": {"running": {}}}]});
    assert_eq!(look(&pod("a", json!({}), ready)).standing, Standing::Fine);
    let unready = json!({"phase": "Running", "conditions": []});
    assert_eq!(look(&pod("a", json!({}), unready)).standing, Standing::Unready);
    let homeless = json!({"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"},
    ]});
    let seen = look(&pod("a", json!({}), homeless));
    let message = PodMessage::Said("no room".to_owned());
    assert_eq!((seen.standing, seen.message), (Standing::Unscheduled, message));
}

#[test]
fn a_readiness_gate_is_not_blamed_on_probes() {
    let ready = |reason: &str| {
        let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False",
            "reason": reason, "message": "what the kubelet says"}]});
        look(&pod("a", json!({}), status)).message
    };
    assert_eq!(ready("ContainersNotReady"), PodMessage::ContainersNotReady);
    let reason = "ReadinessGatesNotReady".to_owned();
    let message = "what the kubelet says".to_owned();
    assert_eq!(ready(&reason), PodMessage::NotReady { reason: reason.clone(), message });
}

#[test]
fn the_selector_is_spelt_as_the_server_reads_it() {
    let spec = json!({"selector": {
        "matchLabels": {"app": "web"},
        "matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["a", "b"]},
            {"key": "old", "operator": "DoesNotExist"},
            {"key": "new", "operator": "Exists"},
        ],
    }});
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec});
    assert_eq!(selector(&object).as_deref(), Some("app=web,tier in (a,b),!old,new"));
    let service = json!({"apiVersion": "v1", "kind": "Service", "spec": spec});
    assert_eq!(selector(&service), None);
}

#[test]
fn the_ruins_of_an_earlier_rollout_do_not_count() {
    let deployment = json!({"kind": "Deployment", "metadata": {"uid": "d",
        "annotations": {"deployment.kubernetes.io/revision": "2"}}});
    let set = |revision: &str, hash: &str| {
        json!({"metadata": {"ownerReferences": [{"uid": "d"}],
            "annotations": {"deployment.kubernetes.io/revision": revision},
            "labels": {"pod-template-hash": hash}}})
    };
    let pods = [
        pod("old", json!({"pod-template-hash": "one"}), waiting("ImagePullBackOff")),
        pod("new", json!({"pod-template-hash": "two"}), json!({"phase": "Pending"})),
    ];
    let sets = [set("1", "one"), set("2", "two")];
    let last = of_last_template(&deployment, &sets, &pods);
    assert_eq!(last.iter().map(|pod| &pod["metadata"]["name"]).collect::<Vec<_>>(), ["new"]);
    assert!(of_last_template(&deployment, &sets[..1], &pods).is_empty());
    let mut changed = deployment.clone();
    changed["metadata"]["generation"] = json!(3);
    changed["status"] = json!({"observedGeneration": 2});
    assert!(of_last_template(&changed, &sets, &pods).is_empty());
    let told = telling(&changed, &sets, &pods);
    assert!(told.iter().any(|pod| pod["metadata"]["name"] == "new"), "they are still worth a look");
    assert_eq!(telling(&deployment, &sets, &pods), last);

    let stateful = json!({"kind": "StatefulSet", "status": {"updateRevision": "r2"}});
    let pods = [pod("s", json!({"controller-revision-hash": "r1"}), json!({}))];
    assert!(of_last_template(&stateful, &[], &pods).is_empty());
    let job = json!({"kind": "Job", "metadata": {"uid": "job"}});
    assert_eq!(of_last_template(&job, &[], &pods).len(), 1);
}

#[test]
fn a_picture_shows_the_worst_and_the_last_and_is_bounded() {
    let fine = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    let mut pods: Vec<_> =
        (0..9).map(|n| pod(&format!("fine-{n}"), json!({}), fine.clone())).collect();
    pods.push(pod("pull", json!({}), waiting("ImagePullBackOff")));
    pods.push(pod("crash", json!({}), waiting("CrashLoopBackOff")));
    let event = |n: usize| {
        json!({"type": "Warning", "reason": format!("R{n}"), "message": "m".repeat(999),
            "lastTimestamp": format!("2026-11-16T07:{n:02}:00Z"), "count": 2,
            "involvedObject": {"kind": "Pod", "name": "pull"}})
    };
    let events: Vec<_> = (0..20).map(event).chain([event(19)]).collect();
    let seen = picture(None, &pods, &events);
    assert_eq!(
        seen.pods.iter().map(|pod| pod.name.as_str()).collect::<Vec<_>>(),
        ["pull", "crash"]
    );
    assert_eq!(seen.further_pods, 9);
    let reasons: Vec<_> = seen.events.iter().map(|event| event.reason.as_str()).collect();
    assert_eq!(reasons, ["R15", "R16", "R17", "R18", "R19"]);
    assert_eq!(seen.events[4].times, 4);
    assert!(seen.events.iter().all(|event| event.message.chars().count() < 300));
}
