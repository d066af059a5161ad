//! The provider process, killed between any two requests of a destroy, and disturbed there.

use testkit::proxy::{Action, Fate, Proxy, Rule, Turn, Which};
use testkit::terraform::kill_providers;

use serde_json::json;

use super::{Clinic, owners, traces};

/// A request, counted from 1, and whether it is before or after it.
type Moment = (u32, fn(Action) -> Fate);

#[tokio::test]
async fn a_provider_killed_between_any_two_requests_of_a_destroy_ends_the_same_when_run_again() {
    let clinic = Clinic::stateful_set().await;
    let proxy = Proxy::before(clinic.at.cluster).await.unwrap();
    clinic.at.kubeconfig(&proxy.kubeconfig());
    let path = format!("/apis/apps/v1/namespaces/{}/statefulsets/web", clinic.at.namespace.name());
    clinic
        .patch("patch", "{metadata: {annotations: {example.com/team: red}}, spec: {replicas: 5}}");
    clinic.at.init().await;
    // A refresh to plan; a look and the hand-back to apply. Then the hand-back is done, and the
    // answer is on its way.
    let moments: [Moment; 4] =
        [(1, Fate::Before), (2, Fate::Before), (3, Fate::Before), (3, Fate::After)];
    for (n, when) in moments {
        let before = clinic.owners().await;
        clinic.at.apply().await;
        let patched = clinic.live().await;
        assert_eq!(patched["spec"]["replicas"], 5);
        let folder = clinic.at.runner.directory();
        let deed = Action::new(move |_| {
            let folder = folder.clone();
            async move {
                match kill_providers(&folder).await.map_err(|error| error.to_string())? {
                    1 => Ok(()),
                    other => Err(format!("{other} providers were killed")),
                }
            }
        });
        let tally = proxy.rule(Rule::new(Which::at(&path), Turn::Nth(n), when(deed)));
        let run = clinic.at.runner.destroy().await.unwrap();
        assert!(!run.succeeded(), "request {n}: {}", run.text);
        assert_eq!(tally.fired().len(), 1, "request {n}");
        assert_eq!(tally.failures(), [""; 0], "request {n}");
        proxy.forget_rules();
        clinic.at.destroy().await;
        let after = clinic.live().await;
        assert_eq!(owners(&after), before, "request {n}");
        assert_eq!(traces(&after), [""; 0], "request {n}");
        assert_eq!(after["spec"], patched["spec"], "request {n}");
        assert_eq!(after["metadata"]["generation"], patched["metadata"]["generation"]);
        // For the next round.
        clinic.at.cluster.delete(&clinic.target).await.unwrap();
        clinic.populate().await;
    }
}

#[tokio::test]
async fn whoever_writes_in_the_middle_of_a_destroy_keeps_its_work_and_the_fields_still_go_back() {
    let clinic = Clinic::stateful_set().await;
    let before = clinic.owners().await;
    let proxy = Proxy::before(clinic.at.cluster).await.unwrap();
    clinic.at.kubeconfig(&proxy.kubeconfig());
    let path = format!("/apis/apps/v1/namespaces/{}/statefulsets/web", clinic.at.namespace.name());
    clinic
        .patch("patch", "{metadata: {annotations: {example.com/team: red}}, spec: {replicas: 5}}");
    clinic.at.init().await;
    clinic.at.apply().await;
    let rival = clinic.at.cluster.act_as("rival");
    let target = clinic.target.clone();
    let deed = Action::new(move |_| {
        let (rival, target) = (rival.clone(), target.clone());
        let edit = json!({"metadata": {"labels": {"theirs": "kept"}}});
        async move { rival.merge_patch(&target, edit).await.map(|_| ()) }
    });
    // Right before the hand-back, which was made for the object as it was before.
    let tally = proxy.rule(Rule::new(Which::at(&path), Turn::Nth(3), Fate::Before(deed)));
    clinic.at.destroy().await;
    assert_eq!(tally.fired().len(), 1);
    let after = clinic.live().await;
    assert_eq!(after["metadata"]["labels"]["theirs"], "kept");
    assert_eq!(traces(&after), [""; 0]);
    let (theirs, rest): (Vec<_>, Vec<_>) =
        owners(&after).into_iter().partition(|it| it.contains("\"rival\""));
    assert_eq!((theirs.len(), rest), (1, before));
}
