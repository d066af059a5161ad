//! What is said about an object that is marked for deletion and does not go.

use k8sconnect_core::identity::ObjectKey;
use serde_json::Value;

use super::count;

/// Who usually serves a finalizer. Only a hint: the name is all that is known of it.
const SERVED_BY: [(&str, &str); 12] = [
    ("foregroundDeletion", "the garbage collector, once what the object owns is gone"),
    ("orphan", "the garbage collector"),
    ("kubernetes.io/pvc-protection", "kube-controller-manager, once no pod uses the claim"),
    ("kubernetes.io/pv-protection", "kube-controller-manager, once no claim is bound to it"),
    (
        "customresourcecleanup.apiextensions.k8s.io",
        "the API server, once every custom resource of the kind is gone",
    ),
    ("service.kubernetes.io/load-balancer-cleanup", "the cloud's controller manager"),
    ("batch.kubernetes.io/job-tracking", "the job controller"),
    ("resources-finalizer.argocd.argoproj.io", "Argo CD"),
    ("finalizers.fluxcd.io", "Flux"),
    ("service.k8s.aws/resources", "the AWS load balancer controller"),
    ("ingress.k8s.aws/resources", "the AWS load balancer controller"),
    ("finalizer.acme.cert-manager.io", "cert-manager"),
];

/// What keeps an object that is marked for deletion from going, as far as the object tells.
pub(super) fn what_holds(live: &Value) -> String {
    let finalizers: Vec<_> = live["metadata"]["finalizers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|finalizer| finalizer.as_str())
        .map(|name| format!("  {name}\n    served by  {}", server(name)))
        .collect();
    if !finalizers.is_empty() {
        return format!(
            "It is marked for deletion, but waits for whoever serves {}:\n{}",
            count(finalizers.len(), "finalizer"),
            finalizers.join("\n")
        );
    }
    let remaining = remaining(live);
    if !remaining.is_empty() {
        return format!(
            "It is marked for deletion, but not empty yet. The API server said:\n{}",
            remaining.join("\n")
        );
    }
    if live["kind"] == "Namespace" {
        return "It is marked for deletion, and waits to be emptied by the namespace controller."
            .into();
    }
    "It is marked for deletion, and no finalizer holds it; its dependents may.".into()
}

pub(super) fn server(finalizer: &str) -> String {
    let known = SERVED_BY.iter().find(|(name, _)| *name == finalizer);
    match (known, finalizer.split_once('/')) {
        (Some((_, who)), _) => (*who).to_owned(),
        (None, Some((domain, _))) => format!("most likely a controller of `{domain}`"),
        (None, None) => "a controller of that name, most likely".to_owned(),
    }
}

/// What the conditions of a Namespace say is left inside.
fn remaining(live: &Value) -> Vec<String> {
    live["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|condition| live["kind"] == "Namespace" && condition["status"] == "True")
        .filter_map(|condition| Some(format!("  {}", condition["message"].as_str()?)))
        .collect()
}

/// An object as kubectl takes it: `deployment web -n shop`.
pub(super) fn spelt(key: &ObjectKey) -> String {
    let within = key.namespace.as_ref().map(|it| format!(" -n {it}")).unwrap_or_default();
    format!("{} {}{within}", key.gvk.kind.to_lowercase(), key.name)
}

/// The commands that show more.
pub(super) fn commands(key: &ObjectKey) -> String {
    let mut lines = vec![format!("  kubectl get {} -o yaml", spelt(key))];
    if key.gvk.kind == "Namespace" {
        lines.push(format!(
            "  kubectl api-resources --verbs=list --namespaced -o name | xargs -n 1 kubectl get \
             --ignore-not-found --show-kind -n {}",
            key.name
        ));
    }
    format!("To look further:\n{}", lines.join("\n"))
}
