//! What is said of an object whose kind is not served where it was.

use k8sconnect_core::identity::{Gvk, ObjectKey};
use k8sconnect_core::import_id;
use k8sconnect_core::manifest::Manifest;
use tfplugin::{AttributePath, Diagnostic};

use super::refusal::on_body;

/// Nothing can be told.
pub(crate) fn kind_unserved(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} cannot be looked at"),
        format!(
            "The API server does not serve `{}` of `{}` at the moment, which does not mean that \
             the object is gone: its definition exists, or cannot be asked about.\n\n\
             State keeps the object. See that the version is served, or that the extension \
             server behind it is up, and run again. If the kind never comes back, have state \
             forget the object with `terraform state rm ADDRESS`.",
            key.gvk.kind,
            key.gvk.api_version()
        ),
    )
}

/// The kind was found a moment ago, and the path of the object is not known.
pub(crate) fn path_unknown(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("{key} cannot be looked at"),
        format!(
            "The API server lists `{}` of `{}`, and then answered as if it knew no such path: \
             something before it, or a server behind it, is not in order.\n\n\
             Nothing was changed. Check what stands between here and the API server, and that the \
             extension server of this kind is up, and run again.",
            key.gvk.kind,
            key.gvk.api_version()
        ),
    )
}

/// The version of a body is served no more, and the object is there in another.
pub(crate) fn has_moved(desired: &Manifest, served: &Gvk) -> Diagnostic {
    let detail = ways_on(desired, served, "it is looked at and can be deleted, but not changed");
    on_body(desired, Diagnostic::warning(summary(desired.key()), detail))
}

/// The same where the body is to change.
pub(crate) fn cannot_change(desired: &Manifest, served: &Gvk) -> Diagnostic {
    let detail = ways_on(desired, served, "it cannot be changed through the old one");
    on_body(desired, Diagnostic::error(summary(desired.key()), detail))
}

fn ways_on(desired: &Manifest, served: &Gvk, so: &str) -> String {
    let now = ObjectKey { gvk: served.clone(), ..desired.key().clone() };
    let version = served.api_version();
    format!(
        "The API server serves the kind as `{version}` now. The object is still there; {so}.\n\n\
         Write `apiVersion: {version}` in `yaml_body`: the plan then deletes the object and creates \
         it again. To keep it instead, have state forget it first, and import it as what it is \
         now:\n\n  \
         terraform state rm ADDRESS\n  \
         terraform import ADDRESS '{}'",
        import_id::of(&now)
    )
}

/// The same of the target of a patch.
pub(crate) fn target_moved(key: &ObjectKey, served: &Gvk) -> Diagnostic {
    let version = served.api_version();
    Diagnostic::error(
        summary(key),
        format!(
            "The API server serves the kind as `{version}` now, and the patch was made in the old \
             version: it can neither be looked at nor be taken back there.\n\n\
             Have state forget the patch with `terraform state rm ADDRESS`, write `api_version = \
             \"{version}\"` in `target`, and set `adopt = true`, which takes over what the patch has \
             left on the object."
        ),
    )
    .at(AttributePath::root("target"))
}

fn summary(key: &ObjectKey) -> String {
    format!("{key} is not served in `{}` any more", key.gvk.api_version())
}
