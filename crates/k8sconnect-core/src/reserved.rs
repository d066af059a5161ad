//! Names in `metadata` that no user may write: those of k8sconnect, and those of the server.

/// How the key of every annotation of ours begins. Annotations and labels with such a key are reserved:
/// no user may write, patch or ignore one.
pub const RESERVED_PREFIX: &str = "k8sconnect.terraform.io/";

/// Whether the key of an annotation or label is reserved for k8sconnect.
pub fn is_reserved(key: &str) -> bool {
    key.starts_with(RESERVED_PREFIX)
}

/// Metadata that only the server writes.
pub(crate) const SERVER_METADATA: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];
