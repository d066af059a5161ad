//! Refusals that prove nothing: what a new object might be refused for as well costs no object.

use std::time::Duration;

use serde_json::{Value as Json, json};
use testkit::Target;
use tfplugin::Value;
use tfplugin::harness::State;

use crate::entangled::replan;
use crate::patch::{object, refused};
use crate::world::{OBJECT, World};

/// A custom kind of the test's own, whose rules are those of a whole object and of its `spec`.
struct Custom<'a> {
    world: &'a World,
    group: String,
}

impl<'a> Custom<'a> {
    async fn new(world: &'a World, whole: Json, spec: Json) -> Self {
        let custom = Self { world, group: format!("{}.example.com", world.namespace) };
        let definition = custom.definition(whole, spec);
        world.cluster.act_as("kubectl").apply(definition.clone()).await.unwrap();
        world.await_served(&definition).await;
        custom
    }

    fn definition(&self, whole: Json, spec: Json) -> Json {
        let text = json!({"type": "string", "maxLength": 9});
        let spec = json!({"type": "object", "x-kubernetes-validations": spec,
            "properties": {"size": {"type": "integer"}, "x": text, "y": text, "once": text}});
        let status = json!({"type": "object", "properties": {"used": {"type": "integer"}}});
        let schema = json!({"type": "object", "x-kubernetes-validations": whole,
            "properties": {"spec": spec, "status": status}});
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("things.{}", self.group)},
            "spec": {"group": self.group, "scope": "Namespaced",
                "names": {"kind": "Thing", "plural": "things"},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}]}})
    }

    fn thing(&self, name: &str, spec: Json) -> Json {
        json!({"apiVersion": format!("{}/v1", self.group), "kind": "Thing", "spec": spec,
            "metadata": {"name": name, "namespace": self.world.namespace.name()}})
    }

    /// What is said of a change, and that the object is to stay.
    async fn told(&self, name: &str, before: Json, meanwhile: Meanwhile, after: Json) -> String {
        let Self { world, .. } = self;
        let before = self.thing(name, before);
        let state = world.create(&before.to_string()).await.unwrap();
        let target = Target::of(&before).unwrap();
        let rival = world.cluster.act_as("rival");
        match meanwhile {
            Meanwhile::Nothing => {}
            Meanwhile::Reported(status) => {
                let rival = rival.subresource("status");
                rival.merge_patch(&target, json!({"status": status})).await.unwrap();
            }
            Meanwhile::Written(spec) => {
                rival.merge_patch(&target, json!({"spec": spec})).await.unwrap();
            }
        }
        let after = self.thing(name, after).to_string();
        refused(replan(world, &world.config(&after), &state).await)
    }
}

enum Meanwhile {
    Nothing,
    Reported(Json),
    Written(Json),
}

#[tokio::test]
async fn a_definition_is_not_deleted_for_a_group_that_its_name_does_not_have() {
    let world = World::new().await;
    let custom = Custom { world: &world, group: format!("{}.example.com", world.namespace) };
    let definition = custom.definition(json!([]), json!([]));
    let state = world.create(&definition.to_string()).await.unwrap();
    world.await_served(&definition).await;
    let mut other = definition.clone();
    other["spec"]["group"] = json!(format!("other.{}", custom.group));
    let told = refused(replan(&world, &world.config(&other.to_string()), &state).await);
    assert!(told.contains("must be spec.names.plural+\".\"+spec.group"), "{told}");
    assert!(!told.contains("k8sconnect-probe"), "{told}");
    world.core().destroy(OBJECT, &state).await.unwrap();
}

#[tokio::test]
async fn what_is_refused_for_another_reason_without_the_fields_of_others_is_not_proved_immutable() {
    let world = World::new().await;
    let custom = Custom::new(
        &world,
        json!([]),
        json!([
            {"rule": "!has(self.x) || !has(self.y)", "message": "x and y exclude each other"},
            {"rule": "has(self.once) || !has(oldSelf.once)", "message": "once must stay"},
        ]),
    )
    .await;
    let theirs = Meanwhile::Written(json!({"x": "1", "once": "k"}));
    let told = custom.told("it", json!({"size": 1}), theirs, json!({"size": 1, "y": "2"})).await;
    assert!(told.contains("cannot be changed like this"), "{told}");
    assert!(told.contains("x and y exclude each other"), "{told}");
    assert!(told.contains("once must stay"), "{told}");
}

#[tokio::test]
async fn a_rule_that_goes_by_the_status_or_the_name_is_no_reason_to_delete_the_object() {
    let world = World::new().await;
    let custom = Custom::new(
        &world,
        json!([
            {"rule": "!has(self.status) || !has(self.status.used) || self.spec.size >= self.status.used",
                "message": "smaller than what is used"},
            {"rule": "!has(self.status) || self.spec.size % 2 == 0"},
            {"rule": "self.metadata.name != 'single' || self.spec.size == 10", "message": "only ten"},
            {"rule": "!self.metadata.name.startsWith('prod-') || self.spec.size > 6",
                "message": "production is larger", "fieldPath": ".spec.size"},
            {"rule": "!has(oldSelf.spec.x) || self.spec.x == oldSelf.spec.x", "message": "x is fixed"},
        ]),
        json!([]),
    )
    .await;
    let ten = || json!({"size": 10});
    let used = || Meanwhile::Reported(json!({"used": 8}));
    for (name, meanwhile, size, words) in [
        ("used", used(), 6, "smaller than what is used"),
        ("odd", used(), 9, "may depend on the status"),
        ("single", Meanwhile::Nothing, 12, "only ten"),
        ("prod-a", Meanwhile::Nothing, 4, "production is larger"),
    ] {
        let told = custom.told(name, ten(), meanwhile, json!({"size": size})).await;
        assert!(told.contains(words), "{name}: {told}");
        assert!(!told.contains("must be replaced"), "{name}: {told}");
    }
    // Nor is it deleted where the user asked for a replacement: a new object is refused by its name.
    let single = custom.thing("single", json!({"size": 12})).to_string();
    let made = custom.thing("single", ten()).to_string();
    let adopting = [("yaml_body", Value::from(made.as_str())), ("adopt", Value::from(true))];
    let state = world.core().create(OBJECT, &world.config_with(adopting)).await.unwrap();
    let tainted = State { tainted: true, ..state };
    let told = refused(replan(&world, &world.config(&single), &tainted).await);
    assert!(told.contains("could not be created again") && told.contains("only ten"), "{told}");
    // Which fields a rule of the whole object reads is not known, so its refusal is no proof.
    let before = custom.thing("fixed", json!({"size": 10, "x": "1"}));
    let state = world.create(&before.to_string()).await.unwrap();
    let target = Target::of(&before).unwrap();
    let rival = world.cluster.act_as("rival").subresource("status");
    rival.merge_patch(&target, json!({"status": {"used": 8}})).await.unwrap();
    let after = custom.thing("fixed", json!({"x": "2", "size": 10})).to_string();
    let told = refused(replan(&world, &world.config(&after), &state).await);
    assert!(told.contains("x is fixed") && told.contains("terraform taint"), "{told}");
}

#[tokio::test]
async fn a_claim_is_not_deleted_to_make_it_smaller() {
    let world = World::new().await;
    let ns = world.namespace.name();
    let claim = |size: &str| {
        let mut claim = object("v1", "PersistentVolumeClaim", "data", ns);
        claim["spec"] = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": "manual",
            "resources": {"requests": {"storage": size}}});
        claim
    };
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "metadata": {"name": "manual"}, "provisioner": "disk.example.com"});
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": ns},
        "spec": {"capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"],
            "storageClassName": "manual", "claimRef": {"namespace": ns, "name": "data"},
            // Nobody serves this driver, so that nothing is ever really deleted.
            "csi": {"driver": "disk.example.com", "volumeHandle": ns}}});
    for made in [class, volume] {
        world.cluster.act_as("kubectl").apply(made).await.unwrap();
    }
    let state = world.create(&claim("2Gi").to_string()).await.unwrap();
    let target = Target::of(&claim("2Gi")).unwrap();
    let bound = |it: Option<&Json>| it.is_some_and(|it| it["status"]["phase"] == "Bound");
    world.cluster.wait_until(&target, Duration::from_secs(30), bound).await.unwrap();
    let told = refused(replan(&world, &world.config(&claim("1Gi").to_string()), &state).await);
    assert!(told.contains("field can not be less than status.capacity"), "{told}");
    assert!(told.contains("cannot be changed like this"), "{told}");
}
