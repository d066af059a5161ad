//! Fields whose holders write them in another API version, where they have another path.

use serde_json::{Value as Json, json};
use testkit::{Filter, Target};
use tfplugin::harness::State;
use tfplugin::{Data, Value};

use super::replan;
use crate::patch::{object, refused, said};
use crate::unserved::definition;
use crate::world::{OBJECT, World};

/// An autoscaler that `chart` applies as `autoscaling/v1`, where `spec.metrics` is one number, and we
/// as `autoscaling/v2`.
struct Autoscaler {
    world: World,
}

impl Autoscaler {
    async fn new() -> Self {
        Self { world: World::new().await }
    }

    fn body(&self, version: &str, spec: Json) -> Json {
        let ns = self.world.namespace.name();
        let mut body = object(version, "HorizontalPodAutoscaler", "web", ns);
        body["spec"] = spec;
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
        body["spec"]["scaleTargetRef"] = target;
        body
    }

    async fn chart(&self, spec: Json) {
        let body = self.body("autoscaling/v1", spec);
        self.world.cluster.act_as("chart").force().apply(&body).await.unwrap();
    }

    fn target(&self) -> Target {
        Target::of(&self.body("autoscaling/v2", json!({}))).unwrap()
    }

    async fn live(&self) -> Json {
        self.world.cluster.read(&self.target()).await.unwrap().unwrap()
    }

    fn config(&self, spec: Json) -> Value {
        self.config_with(spec, true, &[])
    }

    fn config_with(&self, spec: Json, force: bool, ignored: &[&str]) -> Value {
        let body = self.body("autoscaling/v2", spec).to_string();
        let ignored = ignored.iter().copied().map(Value::from).collect();
        self.world.config_with([
            ("yaml_body", Value::from(body.as_str())),
            ("adopt", Value::from(true)),
            ("force_conflicts", Value::from(force)),
            ("ignore_fields", Value::Known(Data::List(ignored))),
        ])
    }

    async fn adopt(&self, spec: Json) -> State {
        self.world.core().create(OBJECT, &self.config(spec)).await.unwrap()
    }

    async fn told(&self, spec: Json, state: &State) -> String {
        said(&replan(&self.world, &self.config(spec), state).await.unwrap().diagnostics)
    }
}

fn v1(percent: u32) -> Json {
    json!({"maxReplicas": 5, "targetCPUUtilizationPercentage": percent})
}

fn v2(percent: u32) -> Json {
    let target = json!({"type": "Utilization", "averageUtilization": percent});
    json!({"maxReplicas": 5,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]})
}

fn edited(mut spec: Json, field: &str, value: Json) -> Json {
    spec[field] = value;
    spec
}

#[tokio::test]
async fn what_is_taken_from_an_owner_in_another_version_is_listed_with_its_own_path() {
    let hpa = Autoscaler::new().await;
    hpa.chart(v1(50)).await;
    let plan = hpa.world.core().plan(OBJECT, &hpa.config(v2(80)), None).await.unwrap();
    let state = hpa.adopt(v2(50)).await;
    let edit = hpa.told(v2(80), &state).await;
    for told in [said(&plan.diagnostics), edit] {
        assert!(told.contains("1 field will be taken from other managers"), "{told}");
        let field =
            "spec.targetCPUUtilizationPercentage, as `autoscaling/v1` has it held by `chart`";
        assert!(told.contains(field), "{told}");
    }
    // The same where the path is the same, and where it is a whole in `autoscaling/v1`.
    let told = hpa.told(edited(v2(50), "maxReplicas", json!(6)), &state).await;
    assert!(
        told.contains("spec.maxReplicas, as `autoscaling/v1` has it held by `chart`"),
        "{told}"
    );
    let mut body = hpa.body("autoscaling/v2", v2(50));
    body["spec"]["scaleTargetRef"]["name"] = json!("other");
    let config = hpa.world.config(&body.to_string());
    let told = said(&replan(&hpa.world, &config, &state).await.unwrap().diagnostics);
    let field = "spec.scaleTargetRef, as `autoscaling/v1` has it held by `chart` (Apply, ";
    assert!(told.contains(field), "{told}");
    assert!(told.contains("1 field will be taken"), "{told}");
}

#[tokio::test]
async fn nothing_is_said_of_owners_in_another_version_that_lose_nothing() {
    let hpa = Autoscaler::new().await;
    hpa.chart(v1(50)).await;
    let state = hpa.adopt(edited(v2(50), "minReplicas", json!(2))).await;
    assert_eq!(hpa.told(edited(v2(50), "minReplicas", json!(3)), &state).await, "");
    let bare = Autoscaler::new().await;
    bare.chart(json!({"maxReplicas": 5})).await;
    let state = bare.adopt(v2(50)).await;
    for spec in [v2(60), edited(v2(50), "minReplicas", json!(3))] {
        assert_eq!(bare.told(spec, &state).await, "");
    }
}

#[tokio::test]
async fn a_removed_field_that_stays_is_reported_with_the_owners_in_another_version() {
    let hpa = Autoscaler::new().await;
    hpa.chart(v1(50)).await;
    let state = hpa.adopt(v2(50)).await;
    let rest = json!({"maxReplicas": 5});
    let told = hpa.told(rest.clone(), &state).await;
    assert!(told.contains("1 removed field will stay"), "{told}");
    assert!(told.contains("spec.metrics held by nobody in this API version"), "{told}");
    let field = "spec.targetCPUUtilizationPercentage, as `autoscaling/v1` has it held by `chart`";
    assert!(told.contains(field), "{told}");
    let core = hpa.world.core();
    let read = core.read(OBJECT, &state).await.unwrap().present().unwrap();
    core.update(OBJECT, &hpa.config(rest), &read).await.unwrap();
    let metric = &hpa.live().await["spec"]["metrics"][0];
    assert_eq!(metric["resource"]["target"]["averageUtilization"], 50);
}

#[tokio::test]
async fn a_plan_asks_no_more_where_owners_wrote_in_another_version() {
    let hpa = Autoscaler::new().await;
    hpa.chart(v1(50)).await;
    let state = hpa.adopt(edited(v2(50), "minReplicas", json!(1))).await;
    let config = hpa.config(v2(50));
    let plan = replan(&hpa.world, &config, &state);
    let asked = Filter::by_user(&hpa.world.user);
    let (plan, asked) = hpa.world.cluster.count_during(asked, plan).await.unwrap();
    plan.unwrap();
    let objects: Vec<_> =
        asked.iter().filter(|it| it.uri.contains("horizontalpodautoscalers")).collect();
    assert_eq!(objects.len(), 2, "the refresh and the dry-run: {asked:#?}");
    assert!(asked.iter().all(|request| !request.writes()), "{asked:#?}");
}

#[tokio::test]
async fn drift_that_was_written_in_another_version_is_reported_with_that_path() {
    let hpa = Autoscaler::new().await;
    let state = hpa.adopt(v2(80)).await;
    hpa.chart(v1(50)).await;
    let told = hpa.told(v2(80), &state).await;
    assert!(told.contains("1 field changed outside"), "{told}");
    assert!(told.contains("spec.metrics held by nobody in this API version"), "{told}");
    let field = "spec.targetCPUUtilizationPercentage, as `autoscaling/v1` has it held by `chart`";
    assert!(told.contains(field), "{told}");
    let unknown = hpa.world.config_with([("yaml_body", Value::Unknown)]);
    let told = said(&replan(&hpa.world, &unknown, &state).await.unwrap().diagnostics);
    assert!(told.contains("spec.metrics held by nobody in this API version"), "{told}");
}

#[tokio::test]
async fn without_force_a_field_of_another_version_is_listed_as_that_and_the_advice_works() {
    let hpa = Autoscaler::new().await;
    hpa.chart(v1(50)).await;
    let state = hpa.adopt(v2(50)).await;
    let plan = async |spec: Json, ignored: &[&str]| {
        replan(&hpa.world, &hpa.config_with(spec, false, ignored), &state).await
    };
    let told = refused(plan(v2(80), &[]).await);
    let field = "spec.targetCPUUtilizationPercentage, as `autoscaling/v1` has it held by `chart`";
    assert!(told.contains(field), "{told}");
    assert!(!told.contains("(absent)"), "{told}");
    plan(v2(80), &["spec.metrics"]).await.unwrap();
    plan(json!({"maxReplicas": 5}), &[]).await.unwrap();
}

/// A widget of two versions, which we write as `v1` and `rival` as `v2`.
struct Widget {
    world: World,
    definition: Json,
}

impl Widget {
    async fn defined(by: impl FnOnce(&mut Json)) -> Self {
        let world = World::new().await;
        let mut definition =
            definition(&world, "Namespaced", &[("v1", true, true), ("v2", true, false)]);
        by(&mut definition["spec"]["versions"]);
        world.cluster.act_as("admin").apply(&definition).await.unwrap();
        world.await_served(&definition).await;
        Self { world, definition }
    }

    fn body(&self, version: &str, spec: Json) -> Json {
        let ns = self.world.namespace.name();
        let mut body = object(&format!("{ns}.example.com/{version}"), "Widget", "it", ns);
        body["spec"] = spec;
        body
    }

    async fn create(&self, spec: Json) -> State {
        self.world.create(&self.body("v1", spec).to_string()).await.unwrap()
    }

    async fn rival(&self, spec: Json) {
        let rival = self.world.cluster.act_as("rival").force();
        rival.apply(&self.body("v2", spec)).await.unwrap();
    }

    async fn told(&self, spec: Json, state: &State) -> String {
        let config = self.world.config(&self.body("v1", spec).to_string());
        said(&replan(&self.world, &config, state).await.unwrap().diagnostics)
    }

    async fn end(self) {
        let target = Target::of(&self.definition).unwrap();
        self.world.cluster.delete(&target).await.unwrap();
    }
}

#[tokio::test]
async fn versions_that_have_the_same_fields_are_not_matched_either() {
    let widget = Widget::defined(|_| {}).await;
    let state = widget.create(json!({"a": 1, "b": 1, "m": {"k": 1}})).await;
    widget.rival(json!({"a": 1, "n": {"own": 1}, "off": false, "none": {}})).await;
    assert_eq!(widget.told(json!({"a": 1, "b": 2, "m": {"k": 2}}), &state).await, "");
    assert_eq!(widget.told(json!({"a": 1, "b": 1, "m": {"l": 1}}), &state).await, "");
    let taken = widget.told(json!({"a": 2, "b": 2, "m": {"k": 1}}), &state).await;
    assert!(taken.contains("1 field will be taken"), "{taken}");
    assert!(taken.contains("spec.a, as `"), "{taken}");
    assert!(taken.contains("/v2` has it held by `rival`"), "{taken}");
    widget.end().await;
}

#[tokio::test]
async fn a_map_that_is_a_whole_in_another_version_is_listed_as_that() {
    let widget = Widget::defined(|versions| {
        let text = json!({"type": "string"});
        let mut map = json!({"type": "object", "additionalProperties": text});
        for (place, kind) in [(0, "granular"), (1, "atomic")] {
            map["x-kubernetes-map-type"] = json!(kind);
            let spec = json!({"type": "object", "properties": {"a": text, "m": map}});
            let schema = json!({"type": "object", "properties": {"spec": spec}});
            versions[place]["schema"] = json!({"openAPIV3Schema": schema});
        }
    })
    .await;
    let both = json!({"a": "1", "m": {"k": "1", "l": "1"}});
    let state = widget.create(both.clone()).await;
    widget.rival(json!({"m": both["m"]})).await;
    assert_eq!(widget.told(both.clone(), &state).await, "");
    for map in [json!({"k": "2", "l": "1"}), json!({"k": "1", "l": "1", "n": "1"})] {
        let told = widget.told(json!({"a": "2", "m": map}), &state).await;
        assert!(told.contains("1 field will be taken"), "{told}");
        assert!(told.contains("spec.m, as `"), "{told}");
    }
    let told = widget.told(json!({"a": "2", "m": {"l": "1"}}), &state).await;
    assert!(told.contains("1 removed field will stay"), "{told}");
    assert!(told.contains("spec.m.k held by nobody in this API version"), "{told}");
    widget.rival(json!({"m": {"k": "3", "l": "1"}})).await;
    let told = widget.told(both, &state).await;
    assert!(told.contains("1 field changed outside"), "{told}");
    assert!(told.contains("spec.m, as `"), "{told}");
    widget.end().await;
}
