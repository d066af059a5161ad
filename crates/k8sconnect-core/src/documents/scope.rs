//! Which kinds live in no namespace, as far as that can be told without a server.
//!
//! Kubernetes' own kinds are known by heart; custom ones by their definitions, where those are at
//! hand. A kind that is in neither is not guessed at.

use serde_json::Value;

use crate::identity::{Gvk, LivesIn, ObjectKey};

/// Kubernetes' own kinds without a namespace, those of past releases among them, each with its
/// group. A test compares the table with what a real server serves.
const CLUSTER_SCOPED: [(&str, &str); 39] = [
    ("", "ComponentStatus"),
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("authentication.k8s.io", "SelfSubjectReview"),
    ("authentication.k8s.io", "TokenReview"),
    ("authorization.k8s.io", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "SelfSubjectRulesReview"),
    ("authorization.k8s.io", "SubjectAccessReview"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("certificates.k8s.io", "ClusterTrustBundle"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("internal.apiserver.k8s.io", "StorageVersion"),
    ("networking.k8s.io", "IPAddress"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("node.k8s.io", "RuntimeClass"),
    ("policy", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("resource.k8s.io", "DeviceClass"),
    ("resource.k8s.io", "DeviceTaintRule"),
    ("resource.k8s.io", "ResourceSlice"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("storage.k8s.io", "VolumeAttributesClass"),
    ("storagemigration.k8s.io", "StorageVersionMigration"),
];

/// Where the objects of one of Kubernetes' own kinds live; `None` for a custom kind.
pub fn lives_in(gvk: &Gvk) -> Option<LivesIn> {
    let known = (gvk.group.as_str(), gvk.kind.as_str());
    if CLUSTER_SCOPED.contains(&known) {
        Some(LivesIn::Cluster)
    } else if gvk.may_still_appear() {
        None
    } else {
        Some(LivesIn::Namespace)
    }
}

pub(super) fn is_definition(gvk: &Gvk) -> bool {
    gvk.group == "apiextensions.k8s.io" && gvk.kind == "CustomResourceDefinition"
}

/// Group and kind that a definition defines, and where they live.
pub(super) fn defined_by(object: &ObjectKey, value: &Value) -> Option<((String, String), LivesIn)> {
    if !is_definition(&object.gvk) {
        return None;
    }
    let spec = &value["spec"];
    let lives_in = match spec["scope"].as_str()? {
        "Cluster" => LivesIn::Cluster,
        _ => LivesIn::Namespace,
    };
    let kind = spec["names"]["kind"].as_str()?;
    Some(((spec["group"].as_str()?.to_owned(), kind.to_owned()), lives_in))
}
