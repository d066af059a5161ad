//! Destroy: each field back to its own former owners, values untouched, nothing of ours left.

use serde_json::json;

use super::{Clinic, owners, traces};
use crate::workspace::says;

const TAKEN: &str = "
metadata:
  annotations: {example.com/team: red, example.com/new: ours}
spec:
  replicas: 5
  template:
    spec:
      containers:
      - name: app
        image: nginx:2
        env:
        - {name: MODE, value: ours}
        - {name: EXTRA, value: ours}
";

#[tokio::test]
async fn each_field_goes_back_to_its_own_former_owners_and_values_stay() {
    let clinic = Clinic::deployment().await;
    let before = clinic.owners().await;
    clinic.patch("patch", TAKEN).at.init().await;

    let plan = clinic.at.plan_changes().await;
    says(&plan.text, "and 3 more fields will be patched");
    says(
        &plan.text,
        "spec.replicas held by `autoscaler` (Update, through `scale`) is now 3 will be 5",
    );
    says(&plan.text, r#""spec.replicas" = "5""#);
    clinic.at.apply().await;
    clinic.at.plan_empty().await;
    let state = clinic.state().await;
    assert_eq!(state["managed_fields"]["spec.replicas"], "k8sconnect-patch");
    assert_eq!(state["managed_state_projection"]["spec.replicas"], "5");
    let image = "spec.template.spec.containers[name=app].image";
    let former: Vec<_> = state["previous_owners"][image]
        .as_array()
        .unwrap()
        .iter()
        .map(|owner| owner["manager"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(former, ["flux", "helm"], "co-owners are both known");
    assert_eq!(state["previous_owners"][r#"metadata.annotations["example.com/new"]"#], json!([]));
    let marked = state["managed_state_projection"].to_string();
    assert!(!marked.contains("k8sconnect.terraform.io"), "our own mark is no field: {marked}");

    let patched = clinic.live().await;
    let plan = clinic.at.runner.plan_with(&["-destroy"]).await.unwrap();
    says(&plan.text, "spec.replicas returns to `autoscaler` (Update, through `scale`)");
    says(&plan.text, r#"metadata.annotations["example.com/new"] stays as it is, held by nobody"#);
    clinic.at.destroy().await;
    let after = clinic.live().await;
    assert_eq!(owners(&after), before, "as it was, to the leaf, with its times");
    assert_eq!(traces(&after), [""; 0]);
    assert_eq!(after["spec"], patched["spec"], "values stay");
    assert_eq!(after["metadata"]["annotations"]["example.com/new"], "ours");
}

#[tokio::test]
async fn every_form_hands_back_what_it_took() {
    let forms = [
        ("patch", "{metadata: {annotations: {example.com/team: red}}, spec: {replicas: 5}}"),
        ("merge_patch", "{metadata: {annotations: {example.com/team: red}}, spec: {replicas: 5}}"),
        (
            "json_patch",
            r#"[{"op": "replace", "path": "/spec/replicas", "value": 5},
                {"op": "replace", "path": "/metadata/annotations/example.com~1team", "value": "red"},
                {"op": "add", "path": "/spec/template/spec/tolerations/-", "value": {"key": "new", "operator": "Exists"}}]"#,
        ),
    ];
    for (attribute, text) in forms {
        let clinic = Clinic::stateful_set().await;
        let before = clinic.owners().await;
        clinic.patch(attribute, text).at.init().await;
        let plan = clinic.at.plan_changes().await;
        says(&plan.text, "held by `autoscaler` (Update, through `scale`) is now 3 will be 5");
        clinic.at.apply().await;
        clinic.at.plan_empty().await;
        let patched = clinic.live().await;
        assert_eq!(patched["spec"]["replicas"], 5);
        clinic.at.destroy().await;
        let after = clinic.live().await;
        assert_eq!(owners(&after), before, "{attribute}");
        assert_eq!(traces(&after), [""; 0], "{attribute}");
        assert_eq!(after["spec"], patched["spec"], "{attribute}");
        assert_eq!(after["metadata"]["generation"], patched["metadata"]["generation"]);
    }
}

#[tokio::test]
async fn a_field_that_leaves_the_patch_goes_back_and_the_rest_stays() {
    let clinic = Clinic::deployment().await;
    let before = clinic.owners().await;
    clinic.patch("patch", TAKEN).at.init().await;
    clinic.at.apply().await;
    clinic.patch(
        "patch",
        &TAKEN.replace("  replicas: 5\n", "").replace("        - {name: EXTRA, value: ours}\n", ""),
    );
    let plan = clinic.at.plan_changes().await;
    says(&plan.text, "spec.replicas returns to `autoscaler` (Update, through `scale`)");
    clinic.at.apply().await;
    clinic.at.plan_empty().await;
    let live = clinic.live().await;
    assert_eq!(live["spec"]["replicas"], 5, "it stays");
    let env = &live["spec"]["template"]["spec"]["containers"][0]["env"];
    assert_eq!(env[1], json!({"name": "EXTRA", "value": "ours"}), "so does what nobody holds");
    let scaled = owners(&live).into_iter().find(|entry| entry.contains("autoscaler")).unwrap();
    assert!(before.contains(&scaled), "{scaled}");
    let state = clinic.state().await;
    assert!(state["managed_fields"].get("spec.replicas").is_none());
    assert!(state["previous_owners"].get("spec.replicas").is_none());
    clinic.at.destroy().await;
    assert_eq!(clinic.owners().await, before);
}

#[tokio::test]
async fn a_tainted_patch_is_handed_back_without_its_private_state() {
    let clinic = Clinic::deployment().await;
    let before = clinic.owners().await;
    clinic.patch("patch", TAKEN).at.init().await;
    clinic.at.apply().await;
    let taint = clinic.at.runner.run(&["taint", "k8sconnect_patch.it"]).await.unwrap();
    taint.successful().unwrap();
    // What leaves with it is told, though nothing else is planned of the old one.
    clinic.patch("patch", &TAKEN.replace("example.com/team: red, ", ""));
    let plan = clinic.at.plan_changes().await;
    says(&plan.text, "`metadata.annotations[\"example.com/team\"]` will be handed back");
    says(&plan.text, "returns to `kubectl-edit`");
    clinic.at.apply().await;
    clinic.at.plan_empty().await;
    let state = clinic.state().await;
    assert_eq!(state["previous_owners"]["spec.replicas"][0]["manager"], "autoscaler");
    clinic.at.destroy().await;
    assert_eq!(clinic.owners().await, before);
}

#[tokio::test]
async fn a_tainted_patch_that_cannot_be_made_anew_tells_how_it_is_destroyed() {
    let clinic = Clinic::deployment().await;
    let moved = r#"[{"op": "move", "from": "/metadata/annotations/example.com~1team",
                     "path": "/metadata/annotations/example.com~1crew"}]"#;
    clinic.patch("json_patch", moved).at.init().await;
    clinic.at.apply().await;
    let run = async |arguments: &[&str]| clinic.at.runner.run(arguments).await.unwrap();
    run(&["taint", "k8sconnect_patch.it"]).await.successful().unwrap();
    let refused = run(&["destroy", "-auto-approve", "-no-color"]).await;
    says(&refused.text, "destroy with `-refresh=false`");
    run(&["destroy", "-auto-approve", "-no-color", "-refresh=false"]).await.successful().unwrap();
    assert!(clinic.owners().await.iter().all(|entry| !entry.contains("k8sconnect")));
}

#[tokio::test]
async fn without_the_note_on_the_object_state_still_knows_the_former_owners() {
    let clinic = Clinic::deployment().await;
    let before = clinic.owners().await;
    clinic.patch("patch", TAKEN).at.init().await;
    clinic.at.apply().await;
    let id = clinic.state().await["id"].as_str().unwrap().to_owned();
    let note = format!("k8sconnect.terraform.io/patch-{id}");
    let strip = json!({"metadata": {"annotations": {note: null}}});
    clinic.at.cluster.act_as("janitor").merge_patch(&clinic.target, strip).await.unwrap();
    clinic.at.destroy().await;
    assert_eq!(clinic.owners().await, before);
}

#[tokio::test]
async fn another_target_hands_the_old_one_back_and_one_that_is_gone_needs_nothing() {
    let clinic = Clinic::deployment().await;
    let before = clinic.owners().await;
    let mut other = clinic.body();
    other["metadata"]["name"] = json!("other");
    clinic.at.cluster.act_as("helm").apply(&other).await.unwrap();
    clinic.patch("patch", "spec: {replicas: 5}").at.init().await;
    clinic.at.apply().await;
    let text = std::fs::read_to_string(clinic.at.runner.directory().join("main.tf")).unwrap();
    clinic.at.runner.write("main.tf", &text.replace("name = \"web\"", "name = \"other\"")).unwrap();
    let plan = clinic.at.plan_changes().await;
    says(&plan.text, "must be replaced");
    says(&plan.text, "spec.replicas returns to `autoscaler`");
    clinic.at.apply().await;
    assert_eq!(clinic.owners().await, before);
    let target = testkit::Target { name: "other".into(), ..clinic.target.clone() };
    clinic.at.cluster.delete(&target).await.unwrap();
    let destroyed =
        clinic.at.runner.run(&["destroy", "-auto-approve", "-no-color", "-refresh=false"]);
    destroyed.await.unwrap().successful().unwrap();
    assert_eq!(clinic.at.cluster.read(&target).await.unwrap(), None, "and it is not made again");
}
