//! Bad input in bulk: configurations that are wrong in one place, made from the schemas that the
//! provider serves, each to be answered by an error that points there.
//!
//! Every attribute of every block is broken in turn: by a value of another type, by null where it
//! is required, by any value where only the provider sets it, and by texts that can mean nothing
//! there ([`meaning`]). What goes with what is broken by hand ([`pairs`]). All begins from
//! configurations that are accepted, so that nothing is refused for another reason.
//!
//! Left out: "exactly one of" with none of them, where there is no place but the block; the
//! selectors of `k8sconnect_objects`, which only the server reads; and `uid`, which is compared and
//! never sent.

mod meaning;
mod pairs;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tfplugin::harness::{Block, Core, Failure, Sort};
use tfplugin::{Attribute, AttributePath, Data, Mode, Nesting, Shape, Step, Type, Value};

use k8sconnect::K8sConnect;

/// One configuration that is wrong in one place.
struct Case {
    block: Block,
    /// What is wrong with it.
    what: String,
    config: Value,
    /// The type that it is sent as.
    ty: Type,
    stage: Stage,
    expected: Expected,
}

/// When the fault can be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Validate,
    /// At the plan, the read or the opening: files, folders and the provider block.
    Proceed,
}

enum Expected {
    /// An error at this attribute, above or below it.
    At(AttributePath),
    /// An error that names the attribute and does not point at it, for then Terraform would print
    /// what may be a secret.
    Hidden(String),
}

type Entries = BTreeMap<String, Value>;

fn object(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Known(Data::object(entries))
}

fn texts(texts: &[&str]) -> Value {
    Value::Known(Data::List(texts.iter().map(|text| Value::from(*text)).collect()))
}

fn map(entries: &[(&str, Value)]) -> Value {
    let entry = |(key, value): &(&str, Value)| ((*key).to_owned(), value.clone());
    Value::Known(Data::Map(entries.iter().map(entry).collect()))
}

const KUBECONFIG: &str = "\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: here, context: {cluster: c, user: u}}]
current-context: here
";

const BODY: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

/// A way into a cluster that nobody answers for.
fn cluster() -> Value {
    object([("host", Value::from("https://127.0.0.1:1")), ("token", Value::from("t"))])
}

/// A configuration of this block with nothing wrong in it.
fn good(block: &Block) -> Value {
    let text = |text: &str| Value::from(text);
    let of = |kind: &str| {
        let named = [("api_version", text("v1")), ("kind", text(kind)), ("name", text("a"))];
        named.into_iter().collect::<Vec<_>>()
    };
    let own = match (block.sort, block.name.as_str()) {
        (Sort::Provider, _) => {
            let named = map(&[("east", cluster())]);
            return object([("cluster", cluster()), ("clusters", named)]);
        }
        (Sort::Resource, "k8sconnect_object") => vec![("yaml_body", text(BODY))],
        (Sort::Resource, "k8sconnect_patch") => {
            vec![("target", object(of("ConfigMap"))), ("patch", text("data: {a: b}"))]
        }
        (Sort::Resource, "k8sconnect_wait") => {
            let wait_for = object([("field", text("data.a"))]);
            vec![("object_ref", object(of("ConfigMap"))), ("wait_for", wait_for)]
        }
        (Sort::DataSource | Sort::Ephemeral, "k8sconnect_object") => of("ConfigMap"),
        (Sort::DataSource, "k8sconnect_objects") => of("ConfigMap").drain(..2).collect(),
        (Sort::Ephemeral, "k8sconnect_token") => vec![("service_account", text("a"))],
        (Sort::DataSource, "k8sconnect_yaml_split" | "k8sconnect_yaml_scoped") => {
            return object([("content", text(BODY))]);
        }
        (sort, name) => panic!("{sort:?} `{name}` is new: say what is right in it"),
    };
    object(own.into_iter().chain([("cluster", cluster())]))
}

/// The same with another value in one place; objects on the way are made.
fn with(value: &Value, steps: &[Step], new: Value) -> Value {
    let Some((step, rest)) = steps.split_first() else {
        return new;
    };
    let (Step::Attribute(name) | Step::Key(name)) = step else {
        panic!("no list is entered");
    };
    let mut entries: Entries = match value {
        Value::Known(Data::Object(entries) | Data::Map(entries)) => entries.clone(),
        _ => Entries::new(),
    };
    let inner = with(entries.get(name).unwrap_or(&Value::Null), rest, new);
    entries.insert(name.clone(), inner);
    Value::Known(match step {
        Step::Key(_) => Data::Map(entries),
        _ => Data::Object(entries),
    })
}

/// The same type with another in one place.
fn retyped(ty: &Type, steps: &[Step], new: &Type) -> Type {
    match (steps.split_first(), ty) {
        (None, _) => new.clone(),
        (Some((Step::Attribute(name), rest)), Type::Object(attributes)) => {
            let mut attributes = attributes.clone();
            let inner = retyped(&attributes[name], rest, new);
            attributes.insert(name.clone(), inner);
            Type::Object(attributes)
        }
        (Some((_, rest)), Type::Map(element)) => Type::map(retyped(element, rest, new)),
        (Some((step, _)), ty) => panic!("{step:?} leads nowhere in {ty:?}"),
    }
}

/// Values of other types than the attribute's.
fn of_other_types(ty: &Type) -> Vec<(Value, Type)> {
    let words = || (texts(&["x"]), Type::list(Type::String));
    let word = || (Value::from("maybe"), Type::String);
    let yes = || (Value::from(true), Type::Bool);
    match ty {
        Type::String => {
            vec![words(), yes(), (map(&[("a", Value::from("b"))]), Type::map(Type::String))]
        }
        Type::Bool => vec![words(), word()],
        Type::Number => vec![words(), word(), yes()],
        Type::List(_) => vec![word(), yes(), (texts_of_bools(), Type::list(Type::Bool))],
        Type::Map(_) => vec![word(), yes(), words()],
        _ => vec![word(), yes(), words()],
    }
}

fn texts_of_bools() -> Value {
    Value::Known(Data::List(vec![Value::from(true)]))
}

/// A value that fits a type.
fn some(ty: &Type) -> Value {
    match ty {
        Type::String => Value::from("x"),
        Type::Bool => Value::from(true),
        Type::Number => Value::from(1),
        Type::Dynamic => Value::Known(Data::Dynamic(Type::String, Box::new(Value::from("x")))),
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => Value::Known(Data::List(Vec::new())),
        Type::Map(_) => Value::Known(Data::Map(Entries::new())),
        Type::Object(_) => Value::Known(Data::Object(Entries::new())),
    }
}

/// Makes the cases of one block.
struct Maker<'a> {
    block: &'a Block,
    cases: Vec<Case>,
}

impl Maker<'_> {
    fn add(&mut self, what: String, config: Value, stage: Stage, expected: Expected) {
        let (block, ty) = (self.block.clone(), self.block.schema.value_type());
        self.cases.push(Case { block, what, config, ty, stage, expected });
    }

    fn walk(&mut self, attributes: &BTreeMap<String, Attribute>, above: &AttributePath) {
        for (name, attribute) in attributes {
            let path = above.clone().attribute(name.clone());
            self.attribute(attribute, &path);
            if let Shape::Nested(nesting, inner) = attribute.shape()
                && attribute.mode() != Some(Mode::Computed)
            {
                match nesting {
                    Nesting::Map => self.walk(inner, &path.key("east")),
                    _ => self.walk(inner, &path),
                }
            }
        }
    }

    fn attribute(&mut self, attribute: &Attribute, path: &AttributePath) {
        let ty = attribute.value_type();
        let base = meaning::ready_for(&good(self.block), path);
        let at = || Expected::At(path.clone());
        let config = |value| with(&base, path.steps(), value);
        for (value, other) in of_other_types(&ty) {
            if ty == Type::Dynamic {
                continue;
            }
            self.add(format!("{path} as {other:?}"), config(value), Stage::Validate, at());
            if let Some(case) = self.cases.last_mut() {
                case.ty = retyped(&case.ty, path.steps(), &other);
            }
        }
        match attribute.mode() {
            Some(Mode::Computed) => {
                return self.add(format!("{path} set"), config(some(&ty)), Stage::Validate, at());
            }
            Some(Mode::Required) => {
                self.add(format!("{path} null"), config(Value::Null), Stage::Validate, at());
            }
            _ => {}
        }
        for (value, stage) in meaning::senseless(self.block, path) {
            let shown = format!("{value:?}");
            let shown: String = shown.chars().take(120).collect();
            self.add(format!("{path} = {shown}"), config(value.clone()), stage, at());
            // What is not known yet excuses nothing that is.
            if stage == Stage::Validate && above_all(path) != "cluster" {
                let open =
                    with(&config(value), &[Step::Attribute("cluster".into())], Value::Unknown);
                let has_cluster = self.block.schema.attributes().contains_key("cluster");
                if has_cluster {
                    let what = format!("{path} = {shown} and an unknown cluster");
                    self.add(what, open, stage, at());
                }
            }
        }
        for (value, stage) in meaning::secretive(path) {
            let what = format!("{path} = {value:?}");
            let name = above_all(path).to_owned();
            self.add(what, config(value), stage, Expected::Hidden(name));
        }
    }
}

fn above_all(path: &AttributePath) -> &str {
    match path.steps().first() {
        Some(Step::Attribute(name)) => name,
        _ => "",
    }
}

fn on_one_line(one: &AttributePath, other: &AttributePath) -> bool {
    let (one, other) = (one.steps(), other.steps());
    !one.is_empty() && !other.is_empty() && (one.starts_with(other) || other.starts_with(one))
}

/// What is wrong with the answer, if anything is.
fn judged(case: &Case, answer: Result<impl Sized, Failure>) -> Option<String> {
    let told = match answer {
        Ok(_) => return Some("it was swallowed".to_owned()),
        Err(Failure::Broken(rule)) => return Some(rule),
        Err(Failure::Refused { diagnostics, .. }) => diagnostics,
    };
    let errors: Vec<_> = told.iter().filter(|one| one.is_error()).collect();
    let said = || format!("{errors:#?}");
    if errors.iter().any(|one| one.detail.contains("panicked")) {
        return Some(said());
    }
    let is_own_type = case.ty == case.block.schema.value_type();
    if is_own_type && errors.iter().any(|one| one.detail.contains("bug in the provider")) {
        return Some(format!("the user is told of a bug: {}", said()));
    }
    let met = match &case.expected {
        Expected::At(path) => {
            errors.iter().any(|one| one.path.as_ref().is_some_and(|it| on_one_line(it, path)))
        }
        Expected::Hidden(name) => errors.iter().any(|one| {
            one.path.is_none() && format!("{} {}", one.summary, one.detail).contains(name.as_str())
        }),
    };
    (!met).then(|| format!("it points elsewhere: {}", said()))
}

/// Calls that are wrong in their only argument.
async fn functions(core: &Core, wrong: &mut Vec<String>) -> usize {
    let mut count = 0;
    for (name, signature) in core.functions() {
        for (at, parameter) in signature.parameters.iter().enumerate() {
            for value in meaning::arguments(&name, &parameter.name) {
                count += 1;
                let answer = core.call_function(&name, vec![value.clone()]).await;
                match answer {
                    Ok(Err(error)) if error.argument == Some(at as i64) => {}
                    other => wrong.push(format!("{name}({value:?}): {other:?}")),
                }
            }
        }
    }
    count
}

#[tokio::test]
async fn every_malformed_configuration_is_answered_at_the_place_that_is_wrong() {
    const LEAST: usize = 500;
    let core = Core::new(K8sConnect::default());
    let (mut pointed, mut wrong) = (0, Vec::new());
    let start = Instant::now();
    for block in core.blocks() {
        let fine = core.examine(&block, &good(&block), &block.schema.value_type()).await;
        assert!(fine.is_ok(), "{:?} `{}`: {fine:?}", block.sort, block.name);
        let mut maker = Maker { block: &block, cases: Vec::new() };
        maker.walk(block.schema.attributes(), &AttributePath::default());
        pairs::add(&mut maker);
        for case in maker.cases {
            let began = Instant::now();
            let asked = async {
                match case.stage {
                    Stage::Validate => core.examine(&case.block, &case.config, &case.ty).await,
                    Stage::Proceed => core.proceed(&case.block, &case.config).await,
                }
            };
            let problem = match tokio::time::timeout(Duration::from_secs(3), asked).await {
                Ok(answer) => judged(&case, answer),
                Err(_) => Some("no answer in 3 seconds".to_owned()),
            };
            let problem = problem
                .or((began.elapsed() > Duration::from_secs(3)).then(|| "it took long".to_owned()));
            if let Some(problem) = problem {
                let name = format!("{:?} {}", block.sort, block.name);
                wrong.push(format!("{name}: {}: {problem}", case.what));
            } else if matches!(case.expected, Expected::At(_)) {
                pointed += 1;
            }
        }
    }
    let called = functions(&core, &mut wrong).await;
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
    assert!(pointed + called >= LEAST, "only {pointed} configurations and {called} calls");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
