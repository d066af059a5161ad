//! Objects and fields that others have already.

use serde_json::json;
use testkit::owners::managers_of;
use testkit::{Target, Tool};

use crate::workspace::{CONFIG_MAP, Workspace, says};

fn settings(at: &Workspace) -> Target {
    Target::new("v1", "ConfigMap", at.namespace.name(), "settings")
}

fn theirs(at: &Workspace) -> serde_json::Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": at.namespace.name()},
        "data": {"greeting": "theirs", "other": "kept"},
    })
}

#[tokio::test]
async fn without_force_a_field_of_others_is_a_plan_error_with_both_values() {
    let at = Workspace::new(Tool::Terraform).await;
    at.object_with("settings", CONFIG_MAP, "force_conflicts = false").init().await;
    at.apply().await;
    at.plan_empty().await;
    let edit = json!({"data": {"greeting": "theirs"}});
    at.cluster.act_as("kubectl-edit").merge_patch(&settings(&at), edit).await.unwrap();
    let plan = at.plan_fails().await;
    says(&plan.text, "1 field held by other managers");
    says(&plan.text, "data.greeting");
    says(&plan.text, "held by `kubectl-edit` (Update, ");
    says(&plan.text, "is now theirs");
    says(&plan.text, "yours hello");
    // Both ways out that the message names work.
    at.object_with(
        "settings",
        CONFIG_MAP,
        "force_conflicts = false\n  ignore_fields = [\"data.greeting\"]",
    );
    at.apply().await;
    at.plan_empty().await;
    at.object_with("settings", CONFIG_MAP, "force_conflicts = true");
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(live["data"]["greeting"], "hello");
    at.destroy().await;
}

#[tokio::test]
async fn a_plan_whose_body_is_not_known_names_what_others_changed() {
    let at = Workspace::new(Tool::Terraform).await;
    let main = |input: &str| {
        let body = CONFIG_MAP.replace("hello", "${terraform_data.late.output}");
        let resource = at.resource("settings", &body, "");
        let late = format!("resource \"terraform_data\" \"late\" {{\n  input = \"{input}\"\n}}\n");
        at.runner.write("main.tf", &format!("{late}{resource}")).unwrap();
    };
    main("one");
    at.init().await.apply().await;
    let rival = at.cluster.act_as("rival");
    rival.merge_patch(&settings(&at), json!({"data": {"greeting": "theirs"}})).await.unwrap();
    main("two");
    let plan = at.plan_changes().await;
    says(&plan.text, "1 field changed by others may be set back");
    says(&plan.text, "held by `rival` (Update, ");
    at.runner.apply_planned().await.unwrap().successful().unwrap();
    at.plan_empty().await;
    at.destroy().await;
}

#[tokio::test]
async fn adopt_takes_an_object_over_without_making_it_anew() {
    let at = Workspace::new(Tool::Terraform).await;
    let before = at.cluster.act_as("helm").apply(theirs(&at)).await.unwrap();
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    let plan = at.plan_fails().await;
    says(&plan.text, "exists already");
    says(&plan.text, "adopt = true");

    at.object_with("settings", CONFIG_MAP, "adopt = true");
    let plan = at.plan_changes().await;
    says(&plan.text, "exists already and will be taken over");
    says(&plan.text, "held by `helm`");
    says(&plan.text, "1 field will be taken from other managers");
    at.apply().await;
    at.plan_empty().await;
    let after = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["data"]["greeting"], "hello");
    assert_eq!(after["data"]["other"], "kept", "what we do not write stays helm's");
    at.destroy().await;
}

#[tokio::test]
async fn a_field_taken_over_from_kubectl_really_goes_when_it_is_removed() {
    let at = Workspace::new(Tool::Terraform).await;
    // As `kubectl apply` records it: by Update, under its own name.
    let mut body = theirs(&at);
    body["data"]["greeting"] = json!("hello");
    at.cluster.act_as("kubectl-client-side-apply").create(body).await.unwrap();
    at.object_with("settings", CONFIG_MAP, "adopt = true").init().await;
    at.apply().await;
    at.plan_empty().await;
    let adopted = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(
        managers_of(&adopted, &["f:data", "f:greeting"]),
        ["k8sconnect".to_owned()].into(),
        "ours alone now"
    );
    at.object_with("settings", &CONFIG_MAP.replace("  greeting: hello\n", ""), "adopt = true");
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(live["data"].get("greeting"), None, "it went");
    assert_eq!(live["data"]["other"], "kept", "kubectl's own field stayed");
    at.destroy().await;
}

#[tokio::test]
async fn taking_over_from_another_state_says_what_goes() {
    let at = Workspace::new(Tool::Terraform).await;
    at.objects(&[("settings", CONFIG_MAP)]).init().await;
    at.apply().await;
    let uid = at.cluster.read(&settings(&at)).await.unwrap().unwrap()["metadata"]["uid"].clone();
    // The state is lost; the object is not.
    at.runner.state(&["rm", "k8sconnect_object.settings"]).await.unwrap().successful().unwrap();
    at.object_with("settings", &CONFIG_MAP.replace("  greeting: hello\n", ""), "adopt = true");
    let plan = at.plan_changes().await;
    says(&plan.text, "It bears the k8sconnect id");
    says(&plan.text, "1 field will be deleted by your next write");
    says(&plan.text, "data.greeting");
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(live["metadata"]["uid"], uid);
    at.destroy().await;
}

#[tokio::test]
async fn a_quantity_in_another_spelling_does_not_strip_a_co_owner() {
    let at = Workspace::new(Tool::Terraform).await;
    let quota = "
apiVersion: v1
kind: ResourceQuota
metadata: {name: quota, namespace: NS}
spec:
  hard: {cpu: 1000m, pods: \"10\"}
";
    at.objects(&[("quota", quota)]).init().await;
    at.apply().await;
    let same = json!({
        "apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "quota", "namespace": at.namespace.name()},
        "spec": {"hard": {"cpu": "1"}},
    });
    at.cluster.act_as("flux").apply(same).await.unwrap();
    at.plan_empty().await;
    // A change elsewhere must leave the shared field shared.
    at.objects(&[("quota", &quota.replace("\"10\"", "\"11\""))]);
    at.apply().await;
    at.plan_empty().await;
    let target = Target::new("v1", "ResourceQuota", at.namespace.name(), "quota");
    let live = at.cluster.read(&target).await.unwrap().unwrap();
    let held = managers_of(&live, &["f:spec", "f:hard", "f:cpu"]);
    assert_eq!(held, ["flux".to_owned(), "k8sconnect".to_owned()].into());
    at.destroy().await;
}

#[tokio::test]
async fn what_only_means_the_same_as_another_ones_value_stays_shared_however_it_comes_to_be_written()
 {
    let at = Workspace::new(Tool::Terraform).await;
    let quota = |hard: &str| {
        format!(
            "{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: quota, namespace: NS}}, \
             spec: {{hard: {{{hard}}}}}}}"
        )
    };
    let theirs = json!({
        "apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "quota", "namespace": at.namespace.name()},
        "spec": {"hard": {"cpu": "1", "memory": "1Gi"}},
    });
    at.cluster.act_as("flux").apply(theirs).await.unwrap();
    let target = Target::new("v1", "ResourceQuota", at.namespace.name(), "quota");
    let shared = async |field: &str| {
        let live = at.cluster.read(&target).await.unwrap().unwrap();
        let held = managers_of(&live, &["f:spec", "f:hard", field]);
        assert_eq!(held, ["flux".to_owned(), "k8sconnect".to_owned()].into(), "{field}");
    };
    // Taken over, then written anew, respelt, and added; nothing of it by force.
    at.object_with("quota", &quota("cpu: 1000m"), "adopt = true\nforce_conflicts = false");
    at.init().await;
    at.apply().await;
    at.plan_empty().await;
    shared("f:cpu").await;
    for (hard, field) in [
        ("cpu: 1000m, memory: 1024Mi", "f:memory"),
        ("cpu: 1, memory: 1048576Ki, pods: 5", "f:cpu"),
        ("cpu: 1.0, memory: 1024Mi, pods: 6", "f:memory"),
    ] {
        for arguments in ["adopt = true", "adopt = true\nforce_conflicts = false"] {
            at.object_with("quota", &quota(hard), arguments);
            let plan = at.plan_changes().await;
            assert!(!plan.text.contains("taken"), "{hard}: {}", plan.text);
        }
        at.apply().await;
        at.plan_empty().await;
        shared(field).await;
        shared("f:cpu").await;
    }
    // Only respelt: nothing to do, and nothing to tell.
    let respelt = quota("cpu: 1000m, memory: 1Gi, pods: 6");
    at.object_with("quota", &respelt, "adopt = true\nforce_conflicts = false");
    let plan = at.plan_empty().await;
    assert!(!plan.text.contains("Warning: ResourceQuota"), "{}", plan.text);
    at.destroy().await;
}

#[tokio::test]
async fn an_address_that_destroys_what_another_has_is_stopped_and_moved_does_it() {
    let mut at = Workspace::new(Tool::Terraform).await;
    let kubeconfig = at.runner.directory().join("kubeconfig");
    at.runner.env("KUBECONFIG", kubeconfig.to_str().unwrap());
    at.objects(&[("old", CONFIG_MAP)]).init().await;
    at.apply().await;
    let uid = at.cluster.read(&settings(&at)).await.unwrap().unwrap()["metadata"]["uid"].clone();
    let import = "import {\n  to = k8sconnect_object.new\n  id = \"NS/configmap/settings\"\n}\n";
    let import = import.replace("NS", at.namespace.name());
    for (arguments, import) in [("adopt = true", ""), ("", import.as_str())] {
        at.object_with("new", CONFIG_MAP, arguments).runner.write("import.tf", import).unwrap();
        let plan = at.plan_fails().await;
        says(&plan.text, "is to be destroyed and made by two addresses in the same run");
        says(&plan.text, "moved {");
    }
    at.runner.write("import.tf", "").unwrap();

    at.runner
        .write(
            "moved.tf",
            "moved {\n  from = k8sconnect_object.old\n  to = k8sconnect_object.new\n}\n",
        )
        .unwrap();
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(live["metadata"]["uid"], uid);
    at.destroy().await;
}

#[tokio::test]
async fn a_renamed_key_of_for_each_neither_loses_nor_remakes_the_object() {
    let at = Workspace::new(Tool::Terraform).await;
    let keyed = |key: &str| {
        let main = at.resource("it", CONFIG_MAP, &format!("for_each = toset([\"{key}\"])"));
        at.runner.write("main.tf", &main).unwrap();
    };
    keyed("old");
    at.init().await;
    at.apply().await;
    let uid = at.cluster.read(&settings(&at)).await.unwrap().unwrap()["metadata"]["uid"].clone();
    keyed("new");
    let plan = at.plan_fails().await;
    says(&plan.text, "is to be destroyed and made by two addresses in the same run");
    says(&plan.text, "moved {");
    let moved = "moved {\n  from = k8sconnect_object.it[\"old\"]\n  \
                 to = k8sconnect_object.it[\"new\"]\n}\n";
    at.runner.write("moved.tf", moved).unwrap();
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&settings(&at)).await.unwrap().unwrap();
    assert_eq!(live["metadata"]["uid"], uid);
    // One address that makes an object anew is no contradiction, and neither is its end.
    let address = "k8sconnect_object.it[\"new\"]";
    at.runner.run(&["taint", address]).await.unwrap().successful().unwrap();
    at.plan_changes().await;
    at.destroy().await;
}

#[tokio::test]
async fn a_count_that_lost_an_item_does_not_make_what_it_destroys() {
    let at = Workspace::new(Tool::Terraform).await;
    let counted = |names: &str| {
        let main = at.resource("it", CONFIG_MAP, &format!("count = length({names})"));
        let main = main.replace("name: settings", &format!("name: ${{{names}[count.index]}}"));
        at.runner.write("main.tf", &main).unwrap();
    };
    counted("[\"a\", \"b\"]");
    at.init().await;
    at.apply().await;
    let stays = Target::new("v1", "ConfigMap", at.namespace.name(), "b");
    let uid = at.cluster.read(&stays).await.unwrap().unwrap()["metadata"]["uid"].clone();
    counted("[\"b\"]");
    let plan = at.plan_fails().await;
    says(&plan.text, "is to be destroyed and made by two addresses in the same run");
    for (from, to) in [("it[0]", "it[2]"), ("it[1]", "it[0]")] {
        let [from, to] = [from, to].map(|it| format!("k8sconnect_object.{it}"));
        at.runner.state(&["mv", &from, &to]).await.unwrap().successful().unwrap();
    }
    says(&at.plan_changes().await.text, "0 to add, 0 to change, 1 to destroy");
    at.apply().await;
    at.plan_empty().await;
    let live = at.cluster.read(&stays).await.unwrap().unwrap();
    assert_eq!(live["metadata"]["uid"], uid);
    at.destroy().await;
}

#[tokio::test]
async fn a_state_split_in_two_loses_nothing() {
    let (one, two) = (Workspace::new(Tool::Terraform).await, Workspace::new(Tool::Terraform).await);
    one.objects(&[("settings", CONFIG_MAP)]).init().await;
    one.apply().await;
    // The second state takes the object of the first over.
    let body = CONFIG_MAP.replace("namespace: NS", &format!("namespace: {}", one.namespace.name()));
    two.object_with("settings", &body, "adopt = true").init().await;
    two.apply().await;
    two.plan_empty().await;
    // What the first destroys now, the second does not lose.
    let destroyed = one.destroy().await;
    says(&destroyed.text, "belongs to another state now and was left alone");
    two.plan_empty().await;
    assert!(one.cluster.read(&settings(&one)).await.unwrap().is_some());
    two.destroy().await;
}

#[tokio::test]
async fn two_states_that_fight_over_an_object_are_told_of_each_other() {
    let (one, two) = (Workspace::new(Tool::Terraform).await, Workspace::new(Tool::Terraform).await);
    one.objects(&[("settings", CONFIG_MAP)]).init().await;
    one.apply().await;
    let smaller = CONFIG_MAP
        .replace("namespace: NS", &format!("namespace: {}", one.namespace.name()))
        .replace("  greeting: hello\n", "");
    two.object_with("settings", &smaller, "adopt = true").init().await;
    two.apply().await;
    let plan = one.plan_changes().await;
    says(&plan.text, "bears the id of another state");
    one.apply().await;
    // The first state's field would go with the next write of the second, which must say so.
    two.object_with("settings", &smaller.replace("workers = 2", "workers = 3"), "adopt = true");
    let plan = two.plan_changes().await;
    says(&plan.text, "bears the id of another state");
    says(&plan.text, "1 field will be deleted by your next write");
    says(&plan.text, "data.greeting");
    two.apply().await;
    two.plan_empty().await;
    two.destroy().await;
}

#[tokio::test]
async fn a_rival_that_writes_string_data_is_named_and_not_robbed() {
    let at = Workspace::new(Tool::Terraform).await;
    let secret = "
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: NS}
stringData: {a: minemine}
";
    at.object_with("keys", secret, "force_conflicts = false").init().await;
    at.apply().await;
    let theirs = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "keys", "namespace": at.namespace.name()},
        "stringData": {"a": "theirs"},
    });
    at.cluster.act_as("flux").force().apply(theirs).await.unwrap();
    let plan = at.plan_fails().await;
    says(&plan.text, "1 field held by other managers");
    says(&plan.text, "`flux` (Apply");
    at.object_with("keys", secret, "");
    let plan = at.plan_changes().await;
    says(&plan.text, "`flux` (Apply");
    at.apply().await;
    at.plan_empty().await;
    at.destroy().await;
}
