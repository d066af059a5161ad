//! The schema of `k8sconnect_wait`. Its attributes stand in the model.

use tfplugin::Schema;

use super::model::WaitModel;
use crate::connect;

/// Versions below 10 belong to the Go provider of this name.
pub(crate) const VERSION: i64 = 10;

pub(crate) fn schema() -> Schema {
    connect::attributes(Schema::of::<WaitModel>(VERSION)).describe(
        "Waits until an object is as it should be, and hands on what was waited for. It writes \
         nothing to the cluster, and its failure leaves the object as it is, in the cluster and in \
         state.",
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_keeps_terraforms_rules() {
        assert_eq!(super::schema().check(), []);
    }
}
