//! A provider with a world of its own: goods in a shop that several processes can see.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tfplugin::{
    Applied, ApplyFailure, Attribute, AttributePath, Context, Create, Data, DataSource, Delete,
    Diagnostic, Diagnostics, Function, FunctionError, Import, Imported, Parameter, Plan, Planned,
    PlannedPrivate, Private, Provider, Read, ReadAnswer, Registry, Resource, Schema, Signature,
    Type, Update, Value,
};

/// What is on the shelves, by id: name, and price.
#[derive(Clone, Default)]
pub(crate) struct Shelves(pub(crate) Arc<Mutex<BTreeMap<String, (String, i64)>>>);

/// How the provider breaks core's rules.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Plans another price than the configured one.
    InventsAPrice,
    /// Creates with another price than the planned one.
    SellsAtAnotherPrice,
    /// Plans a shelf that the next plan puts elsewhere.
    CannotDecide,
    /// Creates the good and then fails.
    FailsHalfWay,
}

pub(crate) struct Shop {
    pub(crate) shelves: Shelves,
    pub(crate) fault: Fault,
}

tfplugin::model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct ShopConfig { pub(crate) owner: Value<String> }
}

impl Provider for Shop {
    type Config = ShopConfig;

    fn schema(&self) -> Schema {
        Schema::new(0).attribute("owner", Attribute::string().optional().describe("Who owns it."))
    }

    async fn validate(
        &self,
        _: &Context,
        config: ShopConfig,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        match config.owner.as_str() {
            Some("") => Err(Diagnostic::error("No owner", "Name one.")
                .at(AttributePath::root("owner"))
                .into()),
            Some("anonymous") => {
                notices.push(Diagnostic::warning("Unnamed owner", "Name one."));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn configure(
        &self,
        _: &Context,
        _: ShopConfig,
        _: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn register(&self, registry: &mut Registry) {
        registry
            .resource(Good { shelves: self.shelves.clone(), fault: self.fault })
            .data_source(Price(self.shelves.clone()))
            .function(Shout);
    }
}

pub(crate) struct Good {
    shelves: Shelves,
    fault: Fault,
}

tfplugin::model! {
    #[derive(Clone, Debug, PartialEq, Default)]
    pub(crate) struct GoodModel {
        pub(crate) name: Value<String>,
        pub(crate) price: Value<i64>,
        pub(crate) shelf: Value<String>,
        pub(crate) coupon: Value<String>,
        pub(crate) id: Value<String>,
    }
}

impl Resource for Good {
    const TYPE: &'static str = "shop_good";
    type Model = GoodModel;

    fn schema(&self) -> Schema {
        let coupon = Attribute::string().optional().write_only().sensitive();
        Schema::new(0)
            .attribute("name", Attribute::string().required().describe("Its name, for ever."))
            .attribute("price", Attribute::number().required().describe("Its price."))
            .attribute("shelf", Attribute::string().computed().describe("Where it lies."))
            .attribute("coupon", coupon.describe("For a discount."))
            .attribute("id", Attribute::string().computed().describe("Its id."))
    }

    async fn validate(
        &self,
        _: &Context,
        config: GoodModel,
        _: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        match config.price.known() {
            Some(price) if *price < 0 => {
                let path = AttributePath::root("price");
                Err(Diagnostic::error("A price below zero", "Ask for money.").at(path).into())
            }
            _ => Ok(()),
        }
    }

    async fn read(
        &self,
        _: &Context,
        request: Read<GoodModel>,
        _: &mut Diagnostics,
    ) -> Result<ReadAnswer<GoodModel>, Diagnostics> {
        let shelves = self.shelves.0.lock().unwrap();
        let Some((name, price)) = request.state.id.as_str().and_then(|id| shelves.get(id)) else {
            return Ok(ReadAnswer::Gone);
        };
        let state = GoodModel {
            name: Value::Known(name.clone()),
            price: Value::Known(*price),
            shelf: "main".into(),
            ..request.state
        };
        Ok(ReadAnswer::Present { state, private: request.private, identity: None })
    }

    async fn plan(
        &self,
        _: &Context,
        request: Plan<GoodModel>,
        notices: &mut Diagnostics,
    ) -> Result<Planned<GoodModel>, Diagnostics> {
        let mut state = request.proposed;
        let mut requires_replace = Vec::new();
        match &request.prior {
            None => {
                state.id = Value::Unknown;
                state.shelf = Value::Unknown;
            }
            Some(prior) if prior.name != state.name => {
                requires_replace.push(AttributePath::root("name"));
                notices.push(Diagnostic::warning("Renamed", "A new good is made."));
            }
            Some(_) => {}
        }
        match self.fault {
            Fault::InventsAPrice => state.price = Value::Known(1_000),
            Fault::CannotDecide => {
                let mut shelves = self.shelves.0.lock().unwrap();
                let count = shelves.len();
                shelves.insert(format!("undecided {count}"), Default::default());
                state.shelf = Value::Known(format!("shelf {count}"));
            }
            _ => {}
        }
        let mut private = request.private;
        match &request.planned_private {
            PlannedPrivate::Unsupported => {}
            PlannedPrivate::Absent => private.set("offer", &state.price.known().copied()).unwrap(),
            PlannedPrivate::Present(plan) => {
                let offer = plan.get::<i64>("offer").unwrap().unwrap_or_default();
                notices.push(Diagnostic::warning(format!("Offered at {offer}"), ""));
            }
        }
        Ok(Planned { state, private, requires_replace, identity: None })
    }

    async fn create(
        &self,
        _: &Context,
        request: Create<GoodModel>,
        _: &mut Diagnostics,
    ) -> Result<Applied<GoodModel>, ApplyFailure<GoodModel>> {
        let GoodModel { name, price, .. } = request.planned.clone();
        let mut state = request.planned;
        let mut shelves = self.shelves.0.lock().unwrap();
        let id = format!("good-{}", shelves.len());
        let discount = i64::from(request.config.coupon.is_known());
        let price = price.into_known().unwrap_or_default();
        shelves.insert(id.clone(), (name.into_known().unwrap_or_default(), price));
        state.id = Value::Known(id);
        if state.shelf.is_unknown() {
            state.shelf = "main".into();
        }
        if self.fault == Fault::SellsAtAnotherPrice {
            state.price = Value::Known(price + 1);
        }
        let mut private = request.private;
        private.set("discount", &discount).unwrap();
        if self.fault == Fault::FailsHalfWay {
            let diagnostics = Diagnostic::error("Dropped", "It fell off the shelf.").into();
            return Err(ApplyFailure { diagnostics, state: Some((state, private)) });
        }
        Ok(Applied { state, private, identity: None })
    }

    async fn update(
        &self,
        _: &Context,
        request: Update<GoodModel>,
        _: &mut Diagnostics,
    ) -> Result<Applied<GoodModel>, ApplyFailure<GoodModel>> {
        let mut shelves = self.shelves.0.lock().unwrap();
        let id = request.planned.id.as_str().unwrap_or_default();
        let price = request.planned.price.known().copied().unwrap_or_default();
        match shelves.get_mut(id) {
            Some(good) => good.1 = price,
            None => return Err(Diagnostic::error("Sold out", "It is not there.").into()),
        }
        Ok(Applied { state: request.planned, private: Private::default(), identity: None })
    }

    async fn delete(
        &self,
        _: &Context,
        request: Delete<GoodModel>,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        if !request.private.contains("discount") {
            notices.push(Diagnostic::warning("Forgotten", "Nothing is remembered about it."));
        }
        let id = request.prior.id.into_known().unwrap_or_default();
        match self.shelves.0.lock().unwrap().remove(&id) {
            Some((name, _)) if name == "glued" => {
                let path = AttributePath::root("name");
                Err(Diagnostic::error("Stuck", "It does not come off.").at(path).into())
            }
            _ => Ok(()),
        }
    }

    async fn import(
        &self,
        _: &Context,
        request: Import,
        _: &mut Diagnostics,
    ) -> Result<Imported<GoodModel>, Diagnostics> {
        let state = GoodModel { id: request.id.into(), ..GoodModel::default() };
        Ok(Imported { state, private: Private::default(), identity: None })
    }
}

pub(crate) struct Price(Shelves);

impl DataSource for Price {
    const TYPE: &'static str = "shop_price";
    type Model = Data;

    fn schema(&self) -> Schema {
        Schema::new(0)
            .attribute("name", Attribute::string().required().describe("Of which good."))
            .attribute("prices", Attribute::set(Type::Number).computed().describe("Its prices."))
    }

    async fn read(
        &self,
        _: &Context,
        config: Data,
        _: &mut Diagnostics,
    ) -> Result<Data, Diagnostics> {
        let wanted = config.attribute("name").and_then(|name| name.known()?.as_str());
        let shelves = self.0.0.lock().unwrap();
        let prices = shelves.values().filter(|(name, _)| Some(name.as_str()) == wanted);
        let prices = Data::List(prices.map(|(_, price)| Value::from(*price)).collect());
        let name = config.attribute("name").cloned().unwrap_or_default();
        Ok(Data::object([("name", name), ("prices", prices.into())]))
    }
}

pub(crate) struct Shout;

impl Function for Shout {
    const NAME: &'static str = "shout";

    fn signature(&self) -> Signature {
        Signature::returning(Type::String)
            .parameter(Parameter::new("word", Type::String))
            .variadic(Parameter::new("more", Type::String))
            .summary("Says it loudly.")
    }

    async fn call(&self, _: &Context, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let words: Vec<_> = arguments.iter().filter_map(|word| word.known()?.as_str()).collect();
        match words.iter().position(|word| word.is_empty()) {
            Some(at) => Err(FunctionError::argument(at as i64, "There is nothing to shout.")),
            None => Ok(Value::from(words.join(" ").to_uppercase())),
        }
    }
}
