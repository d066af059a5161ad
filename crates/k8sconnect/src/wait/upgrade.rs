//! State of the Go provider of this name, brought into our form on first use.
//!
//! Its versions differ in the name of the cluster. What it kept as the result is taken if it has
//! our form, and found anew by the next read if it has not.

use tfplugin::{Diagnostics, RawState};

use super::model::WaitModel;
use super::schema;
use crate::resource::go_state;

pub(crate) fn upgrade(version: i64, raw: &RawState) -> Result<WaitModel, Diagnostics> {
    let decode = |computed: &[&str]| go_state::decode(version, raw, &schema::schema(), computed);
    decode(&[]).or_else(|_| decode(&["result"]))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn state() -> Json {
        json!({
            "id": "6f1c2a34-0000-4000-8000-000000000000",
            "object_ref": {"api_version": "v1", "kind": "Service", "name": "web",
                "namespace": "shop"},
            "wait_for": {"field": "status.loadBalancer.ingress", "field_value": null,
                "condition": null, "rollout": null, "timeout": "5m"},
            "cluster": {"host": null, "kubeconfig": "some text", "context": "prod"},
            "result": {
                "type": ["object", {"status": ["object", {"n": "number"}]}],
                "value": {"status": {"n": 3}},
            },
        })
    }

    fn upgraded(version: i64, state: &Json) -> WaitModel {
        upgrade(version, &RawState::new(state.to_string())).unwrap()
    }

    #[test]
    fn all_that_both_providers_have_is_carried_over() {
        let model = upgraded(2, &state());
        assert_eq!(model.id.as_str(), state()["id"].as_str());
        assert_eq!(model.object_ref.known().unwrap().name.as_str(), Some("web"));
        let wait_for = model.wait_for.known().unwrap();
        assert_eq!(wait_for.field.as_str(), Some("status.loadBalancer.ingress"));
        assert_eq!(wait_for.timeout.as_str(), Some("5m"));
        assert!(wait_for.ready.is_null() && model.triggers.is_null());
        let cluster = model.cluster.known().unwrap();
        assert_eq!(cluster.kubeconfig.as_str(), Some("some text"));
        assert!(model.result.is_known());
    }

    #[test]
    fn the_oldest_version_called_the_cluster_otherwise() {
        let mut old = state();
        old["cluster_connection"] = old["cluster"].take();
        old.as_object_mut().unwrap().remove("cluster");
        assert_eq!(upgraded(0, &old), upgraded(2, &state()));
    }

    #[test]
    fn a_result_of_another_form_is_left_to_the_next_read() {
        let mut odd = state();
        odd["result"] = json!("what older releases kept");
        odd["status"] = json!({"loadBalancer": {}});
        let model = upgraded(1, &odd);
        assert!(model.result.is_null());
        assert_eq!(model.object_ref, upgraded(2, &state()).object_ref);
    }

    #[test]
    fn a_version_that_nobody_wrote_is_refused() {
        let refused = upgrade(3, &RawState::new(state().to_string())).unwrap_err();
        assert!(refused.iter().any(|one| one.summary.contains("does not know the form")));
    }
}
