//! The schema of `k8sconnect_patch`. Its attributes stand in the model.

use tfplugin::Schema;

use super::model::PatchModel;
use crate::connect;

/// Versions below 10 belong to the Go provider of this name.
pub(crate) const VERSION: i64 = 10;

pub(crate) fn schema() -> Schema {
    connect::attributes(Schema::of::<PatchModel>(VERSION)).describe(
        "Some fields of an object that somebody else owns: a cloud's DaemonSet, an operator's \
         object, a field under an autoscaler. The plan tells from whom each field is taken, and \
         destroying the patch gives each back to its own former owner, with its value untouched. \
         The object itself is never created and never deleted.",
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(super::schema().check(), []);
    }
}
