//! A provider walked through by the harness, as Terraform would walk it.

use tfplugin::harness::{Action, Core, Failure, State};
use tfplugin::{Capabilities, Data, Severity, Value};

use crate::shop::{Fault, Shelves, Shop};

const GOOD: &str = "shop_good";

fn core(shelves: &Shelves, fault: Fault) -> Core {
    Core::new(Shop { shelves: shelves.clone(), fault })
}

fn good(name: impl Into<Value>, price: impl Into<Value>) -> Value {
    Value::Known(Data::object([("name", name.into()), ("price", price.into())]))
}

fn broken(failure: Failure) -> String {
    match failure {
        Failure::Broken(text) => text,
        Failure::Refused { diagnostics, .. } => panic!("refused instead: {diagnostics:?}"),
    }
}

async fn created(core: &Core) -> State {
    core.create(GOOD, &good("tea", 3)).await.unwrap()
}

#[tokio::test]
async fn creates_and_then_plans_nothing() {
    let shelves = Shelves::default();
    let core = core(&shelves, Fault::None);
    core.configure(Data::object::<String>([])).await.unwrap();
    let state = created(&core).await;
    assert_eq!(state.attribute("id"), &Value::from("good-0"));
    assert_eq!(state.private.get::<i64>("discount").unwrap(), Some(0));
    let read = core.read(GOOD, &state).await.unwrap().present().unwrap();
    assert_eq!(read, state);
    let plan = core.plan(GOOD, &good("tea", 3), Some(&read)).await.unwrap();
    assert_eq!(plan.action, Action::NoOp);
}

#[tokio::test]
async fn updates_in_place_and_keeps_what_it_remembered() {
    let shelves = Shelves::default();
    let core = core(&shelves, Fault::None);
    let state = created(&core).await;
    let updated = core.update(GOOD, &good("tea", 4), &state).await.unwrap();
    assert_eq!(updated.attribute("id"), state.attribute("id"));
    assert_eq!(updated.private.get::<i64>("discount").unwrap(), Some(0));
    assert_eq!(shelves.0.lock().unwrap()["good-0"].1, 4);
}

#[tokio::test]
async fn replaces_what_cannot_be_changed() {
    let shelves = Shelves::default();
    let core = core(&shelves, Fault::None);
    let state = created(&core).await;
    let plan = core.plan(GOOD, &good("coffee", 3), Some(&state)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    assert_eq!(plan.requires_replace[0].to_string(), "name");
    assert_eq!(plan.diagnostics.iter().next().unwrap().severity, Severity::Warning);
    assert_eq!(plan.planned.attribute("id"), Some(&Value::Unknown));
    let outcome = core.apply(GOOD, &good("coffee", 3), Some(&state), &plan).await.unwrap();
    assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
    assert_eq!(shelves.0.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn plans_in_one_process_and_applies_in_another() {
    let shelves = Shelves::default();
    let (planner, applier) = (core(&shelves, Fault::None), core(&shelves, Fault::None));
    let plan = planner.plan(GOOD, &good("tea", Value::Unknown), None).await.unwrap();
    let state = applier.apply(GOOD, &good("tea", 5), None, &plan).await.unwrap().present().unwrap();
    assert_eq!(state.attribute("price"), &Value::from(5));
}

#[tokio::test]
async fn what_a_plan_hands_over_reaches_its_apply_and_is_not_stored() {
    let shelves = Shelves::default();
    let newer = Capabilities { store_planned_private: true, ..Capabilities::default() };
    let planner = core(&shelves, Fault::None).with_capabilities(newer);
    let applier = core(&shelves, Fault::None).with_capabilities(newer);
    let told = |told: &tfplugin::Diagnostics| -> Vec<String> {
        told.iter().map(|one| one.summary.clone()).collect()
    };
    let plan = planner.plan(GOOD, &good("tea", 3), None).await.unwrap();
    assert_eq!(told(&plan.diagnostics), Vec::<String>::new());
    let made = applier.apply(GOOD, &good("tea", 3), None, &plan).await.unwrap();
    assert_eq!(told(&made.diagnostics), ["Offered at 3"]);
    let state = made.present().unwrap();
    assert!(!state.private.contains("offer"));
    // Also what replaces something else, which the second of two plans hands over.
    let plan = planner.plan(GOOD, &good("coffee", 4), Some(&state)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let made = applier.apply(GOOD, &good("coffee", 4), Some(&state), &plan).await.unwrap();
    assert_eq!(told(&made.diagnostics), ["Offered at 4"]);
}

#[tokio::test]
async fn uses_write_only_values_and_stores_none() {
    let shelves = Shelves::default();
    let core = core(&shelves, Fault::None);
    let config = Data::object([
        ("name", Value::from("tea")),
        ("price", Value::from(3)),
        ("coupon", Value::from("half")),
    ]);
    let state = core.create(GOOD, &Value::Known(config.clone())).await.unwrap();
    assert_eq!(state.attribute("coupon"), &Value::Null);
    assert_eq!(state.private.get::<i64>("discount").unwrap(), Some(1));
    let old = core.with_capabilities(Capabilities::default());
    let refused = old.validate(GOOD, &Value::Known(config)).await.unwrap_err();
    assert_eq!(refused.diagnostics().len(), 1);
}

#[tokio::test]
async fn plans_to_create_what_is_gone() {
    let shelves = Shelves::default();
    let core = core(&shelves, Fault::None);
    let state = created(&core).await;
    shelves.0.lock().unwrap().clear();
    assert_eq!(core.read(GOOD, &state).await.unwrap().state, None);
}

#[tokio::test]
async fn imports_and_reads() {
    let shelves = Shelves::default();
    let core = core(&shelves, Fault::None);
    let state = created(&core).await;
    let imported = core.import(GOOD, "good-0").await.unwrap();
    assert_eq!(imported.value, state.value);
    let missing = core.import(GOOD, "good-7").await.unwrap_err();
    assert_eq!(broken(missing), "Cannot import non-existent remote object");
}

#[tokio::test]
async fn destroys() {
    let shelves = Shelves::default();
    let core = core(&shelves, Fault::None);
    let state = created(&core).await;
    let told = core.destroy(GOOD, &state).await.unwrap();
    assert!(told.is_empty());
    assert!(shelves.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn keeps_the_state_of_what_could_not_be_deleted() {
    let core = core(&Shelves::default(), Fault::None);
    let state = core.create(GOOD, &good("glued", 3)).await.unwrap();
    let failure = core.destroy(GOOD, &state).await.unwrap_err();
    assert_eq!(failure.stored(), Some(&state));
    let told = failure.diagnostics();
    assert_eq!(told.iter().next().unwrap().path.as_ref().unwrap().to_string(), "name");
}

#[tokio::test]
async fn taints_what_failed_half_way_and_replaces_it_without_its_private_state() {
    let shelves = Shelves::default();
    let failing = core(&shelves, Fault::FailsHalfWay);
    let failure = failing.create(GOOD, &good("tea", 3)).await.unwrap_err();
    let stored = failure.stored().unwrap().clone();
    assert!(stored.tainted);
    let core = core(&shelves, Fault::None);
    let plan = core.plan(GOOD, &good("tea", 3), Some(&stored)).await.unwrap();
    assert_eq!(plan.action, Action::Replace);
    let outcome = core.apply(GOOD, &good("tea", 3), Some(&stored), &plan).await.unwrap();
    assert_eq!(outcome.diagnostics.iter().next().unwrap().summary, "Forgotten");
}

#[tokio::test]
async fn shows_what_validation_refuses() {
    let core = core(&Shelves::default(), Fault::None);
    let failure = core.plan(GOOD, &good("tea", -1), None).await.unwrap_err();
    assert_eq!(failure.diagnostics().iter().next().unwrap().summary, "A price below zero");
    core.validate(GOOD, &good("tea", Value::Unknown)).await.unwrap();
    let owner = |owner: &str| Data::object([("owner", Value::from(owner))]);
    assert!(core.configure(owner("")).await.is_err());
    assert_eq!(core.configure(owner("anonymous")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn finds_a_plan_that_contradicts_the_configuration() {
    let core = core(&Shelves::default(), Fault::InventsAPrice);
    let problem = broken(core.plan(GOOD, &good("tea", 3), None).await.unwrap_err());
    assert!(problem.starts_with("Provider produced invalid plan"), "{problem}");
    assert!(problem.contains(".price: planned value"), "{problem}");
}

#[tokio::test]
async fn finds_a_result_that_contradicts_the_plan() {
    let core = core(&Shelves::default(), Fault::SellsAtAnotherPrice);
    let problem = broken(core.create(GOOD, &good("tea", 3)).await.unwrap_err());
    assert!(problem.starts_with("Provider produced inconsistent result after apply"), "{problem}");
    assert!(problem.contains(".price: was"), "{problem}");
}

#[tokio::test]
async fn finds_a_second_plan_that_contradicts_the_first() {
    let core = core(&Shelves::default(), Fault::CannotDecide);
    let problem = broken(core.create(GOOD, &good("tea", 3)).await.unwrap_err());
    assert!(problem.starts_with("Provider produced inconsistent final plan"), "{problem}");
    assert!(problem.contains(".shelf: was"), "{problem}");
}

#[tokio::test]
async fn reads_data_and_calls_functions() {
    let core = core(&Shelves::default(), Fault::None);
    created(&core).await;
    let config = Value::Known(Data::object([("name", Value::from("tea"))]));
    let (data, _) = core.read_data("shop_price", &config).await.unwrap();
    assert_eq!(data.attribute("prices"), Some(&Value::Known(Data::Set(vec![3.into()]))));
    let result = core.call_function("shout", vec!["more".into(), "tea".into()]).await.unwrap();
    assert_eq!(result, Ok(Value::from("MORE TEA")));
    let result = core.call_function("shout", vec!["more".into(), "".into()]).await.unwrap();
    assert_eq!(result.unwrap_err().argument, Some(1));
}
