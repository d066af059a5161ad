//! What goes along with a namespace, a definition or a claim is told before it goes.

use std::time::Duration;

use serde_json::json;
use testkit::proxy::{Fate, Proxy, Rule, Turn, Which};
use testkit::{Filter, PlanOutcome, Target, TestNamespace, Tool};

use crate::workspace::{CONFIG_MAP, Workspace, never_says, says};

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: NS-own\n";
const PATIENCE: Duration = Duration::from_secs(30);

/// A namespace of ours with a ConfigMap of ours inside.
async fn furnish(at: &Workspace) -> String {
    let content = CONFIG_MAP.replace("namespace: NS", "namespace: NS-own");
    at.objects(&[("content", &content), ("space", NAMESPACE)]).init().await;
    at.apply().await;
    at.plan_empty().await;
    format!("{}-own", at.namespace.name())
}

async fn plan_destroy(at: &Workspace, more: &[&str]) -> String {
    let flags = [&["-destroy"], more].concat();
    let plan = at.runner.plan_with(&flags).await.unwrap();
    assert_eq!(plan.outcome, PlanOutcome::Changes, "{}", plan.text);
    plan.text
}

#[tokio::test]
async fn the_contents_of_a_namespace_are_told_before_it_is_destroyed_or_replaced() {
    let at = Workspace::new(Tool::Terraform).await;
    let own = furnish(&at).await;
    let rival = at.cluster.act_as("kubectl");
    rival
        .create(json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "keys", "namespace": own}}))
        .await
        .unwrap();
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": own},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx:1.29"}]}},
        },
    });
    rival.create(&set).await.unwrap();
    let made =
        |set: Option<&serde_json::Value>| set.is_some_and(|it| it["status"]["replicas"] == 1);
    at.cluster.wait_until(&Target::of(&set).unwrap(), PATIENCE, made).await.unwrap();

    let text = plan_destroy(&at, &[]).await;
    let summary = format!("Namespace `{own}` takes 4 objects with it when it is destroyed");
    says(&text, &summary);
    assert_eq!(text.matches(&summary).count(), 1, "said once:\n{text}");
    says(&text, "2 without a k8sconnect id");
    says(&text, "ReplicaSet (1): web Secret (1): keys");
    says(&text, "1 with a k8sconnect id, in this state or in another: ConfigMap (1): settings");
    says(&text, "1 owned by other objects");
    says(&text, "Pod (1): web-");
    never_says(&text, "kube-root-ca.crt");
    never_says(&text, "ServiceAccount");
    never_says(&text, "Not counted");

    let renamed = NAMESPACE.replace("NS-own", "NS-new");
    let content = CONFIG_MAP.replace("namespace: NS", "namespace: NS-own");
    at.objects(&[("content", &content), ("space", &renamed)]);
    let plan = at.plan_changes().await;
    says(&plan.text, "takes 4 objects with it when it is replaced");

    at.objects(&[("content", &content), ("space", NAMESPACE)]);
    at.plan_empty().await;
    at.runner.run(&["taint", "k8sconnect_object.space"]).await.unwrap().successful().unwrap();
    says(&at.plan_changes().await.text, "takes 4 objects with it when it is replaced");
    at.runner.run(&["untaint", "k8sconnect_object.space"]).await.unwrap().successful().unwrap();
    at.plan_empty().await;
    says(&at.destroy().await.text, "takes 4 objects with it when it is destroyed");
}

#[tokio::test]
async fn an_empty_namespace_and_one_that_another_state_took_over_take_nothing_along() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("space", NAMESPACE)]).init().await;
    at.apply().await;
    at.plan_empty().await;
    never_says(&plan_destroy(&at, &[]).await, "with it when it is destroyed");

    let own = format!("{}-own", at.namespace.name());
    let rival = at.cluster.act_as("other-state");
    rival
        .create(json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "keys", "namespace": own}}))
        .await
        .unwrap();
    says(&plan_destroy(&at, &[]).await, "takes 1 object with it when it is destroyed");
    let id =
        json!({"metadata": {"annotations": {"k8sconnect.terraform.io/terraform-id": "other"}}});
    let space = Target::new("v1", "Namespace", None, &own);
    rival.merge_patch(&space, id).await.unwrap();
    never_says(&plan_destroy(&at, &[]).await, "with it when it is destroyed");
    says(&at.destroy().await.text, "belongs to another state now and was left alone");
    at.cluster.delete(&space).await.unwrap();
}

#[tokio::test]
async fn the_objects_of_a_kind_are_told_before_its_definition_goes() {
    let at = Workspace::new(Tool::OpenTofu).await;
    let elsewhere = TestNamespace::new(at.cluster).await.unwrap();
    let group = format!("{}.example.com", at.namespace.name());
    let definition = format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.{group}}}
spec:
  group: {group}
  names: {{kind: Widget, plural: widgets, singular: widget}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}
"
    );
    let widget = format!(
        "
apiVersion: {group}/v1
kind: Widget
metadata: {{name: ours, namespace: NS}}
"
    );
    at.objects(&[("definition", &definition), ("widget", &widget)]).init().await;
    at.apply().await;
    at.plan_empty().await;
    let rival = at.cluster.act_as("kubectl");
    for n in 1..=7 {
        let metadata = json!({"name": format!("w{n}"), "namespace": elsewhere.name()});
        let api_version = format!("{group}/v1");
        rival
            .create(json!({"apiVersion": api_version, "kind": "Widget", "metadata": metadata}))
            .await
            .unwrap();
    }
    let text = plan_destroy(&at, &[]).await;
    says(&text, "takes 8 objects with it when it is destroyed");
    says(&text, "7 without a k8sconnect id");
    let names: Vec<_> = (1..=5).map(|n| format!("{elsewhere}/w{n}")).collect();
    says(&text, &format!("Widget.{group} (7): {} and 2 more", names.join(", ")));
    says(&text, &format!("Widget.{group} (1): {}/ours", at.namespace));

    // The scope cannot change, so that the definition is replaced.
    let wide = definition.replace("scope: Namespaced", "scope: Cluster");
    at.objects(&[("definition", &wide), ("widget", &widget)]);
    let plan = at.plan_changes().await;
    says(&plan.text, "must be replaced");
    says(&plan.text, "takes 8 objects with it when it is replaced");

    at.objects(&[("definition", &definition), ("widget", &widget)]);
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn the_volume_of_a_claim_and_its_reclaim_policy_are_told() {
    let at = Workspace::new(Tool::Terraform).await;
    let claim = "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: NS}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: \"\"
  volumeName: NS-disk
  resources: {requests: {storage: 1Gi}}
";
    at.objects(&[("claim", claim)]).init().await;
    at.apply().await;
    let name = format!("{}-disk", at.namespace.name());
    let rival = at.cluster.act_as("storage-admin");
    rival
        .create(json!({
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "",
                // Nobody serves this driver, so that nothing is ever really deleted.
                "csi": {"driver": "disk.example.com", "volumeHandle": name},
                "claimRef": {"namespace": at.namespace.name(), "name": "data"},
            },
        }))
        .await
        .unwrap();
    let target = Target::new("v1", "PersistentVolumeClaim", at.namespace.name(), "data");
    let bound =
        |it: Option<&serde_json::Value>| it.is_some_and(|it| it["status"]["phase"] == "Bound");
    at.cluster.wait_until(&target, PATIENCE, bound).await.unwrap();

    let text = plan_destroy(&at, &[]).await;
    says(&text, "takes its volume with it when it is destroyed");
    says(&text, &format!("bound to PersistentVolume `{name}`"));
    says(&text, "reclaim policy is `Delete`");

    let volume = Target::new("v1", "PersistentVolume", None, &name);
    let retain = json!({"spec": {"persistentVolumeReclaimPolicy": "Retain"}});
    rival.merge_patch(&volume, retain).await.unwrap();
    at.objects(&[("claim", &claim.replace("ReadWriteOnce", "ReadWriteMany"))]);
    let plan = at.plan_changes().await;
    says(&plan.text, "loses its volume when it is replaced");
    says(&plan.text, "reclaim policy is `Retain`");

    at.objects(&[("claim", claim)]);
    at.plan_empty().await;
    at.destroy().await;
    at.cluster.delete(&volume).await.unwrap();
}

#[tokio::test]
async fn what_may_not_be_listed_is_told_as_not_counted() {
    let at = Workspace::new(Tool::Terraform).await;
    let user = format!("user-{}", at.namespace);
    let rbac = "rbac.authorization.k8s.io/v1";
    let rival = at.cluster.act_as("security");
    rival
        .create(json!({"apiVersion": rbac, "kind": "ClusterRole", "metadata": {"name": user},
            "rules": [{"apiGroups": [""], "resources": ["namespaces", "configmaps"],
                       "verbs": ["*"]}]}))
        .await
        .unwrap();
    rival
        .create(json!({"apiVersion": rbac, "kind": "ClusterRoleBinding",
            "metadata": {"name": user},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": user},
            "subjects": [{"kind": "User", "name": user,
                          "apiGroup": "rbac.authorization.k8s.io"}]}))
        .await
        .unwrap();
    at.kubeconfig(&at.cluster.kubeconfig_for(&user, None).unwrap());
    furnish(&at).await;
    let text = plan_destroy(&at, &[]).await;
    says(&text, "takes 1 object with it when it is destroyed");
    says(&text, "ConfigMap (1): settings");
    says(&text, "Not counted:");
    says(&text, "more: listing them is forbidden (HTTP 403)");
    at.destroy().await;
    for kind in ["ClusterRoleBinding", "ClusterRole"] {
        at.cluster.delete(&Target::new(rbac, kind, None, &user)).await.unwrap();
    }
}

#[tokio::test]
async fn a_dead_server_does_not_keep_a_destruction_from_being_planned() {
    let at = Workspace::new(Tool::Terraform).await;
    let proxy = Proxy::before(at.cluster).await.unwrap();
    at.kubeconfig(&proxy.kubeconfig());
    let own = furnish(&at).await;
    proxy.rule(Rule::new(Which::any(), Turn::Every, Fate::ResetBefore));
    let text = plan_destroy(&at, &["-refresh=false"]).await;
    let summary = format!("Namespace `{own}` may take others with it when it is destroyed");
    says(&text, &format!("{summary}: not counted"));
    says(&text, &format!("kubectl get --ignore-not-found -n {own}"));
    proxy.forget_rules();
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn only_kinds_that_take_others_along_are_counted_and_each_list_is_asked_for_once() {
    let at = Workspace::new(Tool::Terraform).await;
    let user = format!("user-{}", at.namespace);
    at.kubeconfig(&at.cluster.kubeconfig_for(&user, Some("system:masters")).unwrap());
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let filter = || Filter::by_user(&user);
    let (_, asked) = at.cluster.count_during(filter(), plan_destroy(&at, &[])).await.unwrap();
    assert!(!asked.is_empty());
    assert!(asked.iter().all(|request| request.verb == "get"), "{asked:?}");
    at.destroy().await;

    let own = furnish(&at).await;
    let counting = plan_destroy(&at, &["-refresh=false"]);
    let (_, asked) = at.cluster.count_during(filter(), counting).await.unwrap();
    let paths = |verb: &str| {
        let mut paths: Vec<_> =
            asked.iter().filter(|it| it.verb == verb).map(|it| it.path().to_owned()).collect();
        paths.sort_unstable();
        paths
    };
    // The namespace itself, and what is served.
    let space = format!("/api/v1/namespaces/{own}");
    assert_eq!(paths("get"), ["/api", &space, "/apis"]);
    let lists = paths("list");
    let mut once = lists.clone();
    once.dedup();
    assert_eq!(lists, once);
    assert!(lists.iter().all(|path| path.contains(&format!("/namespaces/{own}/"))), "{lists:?}");
    for plural in ["pods", "secrets", "configmaps", "persistentvolumeclaims"] {
        assert!(lists.contains(&format!("/api/v1/namespaces/{own}/{plural}")), "{lists:?}");
    }
    assert_eq!(asked.len(), 3 + lists.len(), "{asked:?}");
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn what_is_replaced_along_with_its_namespace_is_made_anew_in_one_run() {
    let at = Workspace::new(Tool::Terraform).await;
    let content = CONFIG_MAP.replace("namespace: NS", "namespace: NS-own");
    let along = "lifecycle { replace_triggered_by = [k8sconnect_object.space.uid] }\n  \
                 depends_on = [k8sconnect_object.space]";
    let main = [at.resource("space", NAMESPACE, ""), at.resource("content", &content, along)];
    at.runner.write("main.tf", &main.join("\n")).unwrap();
    at.init().await;
    at.apply().await;
    let replaced = at.runner.apply_with(&["-replace=k8sconnect_object.space"]).await.unwrap();
    says(&replaced.text, "2 added, 0 changed, 2 destroyed");
    at.plan_empty().await;
    at.destroy().await;
}
