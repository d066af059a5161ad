//! Functions, called as Terraform calls them. No cluster is asked.

use std::path::Path;
use std::time::Duration;

use k8sconnect::K8sConnect;
use k8sconnect_core::documents::{Source, split};
use k8sconnect_core::yaml::parse_stream;
use nix::time::{ClockId, clock_gettime};
use testkit::specimens::Exhibit;
use tfplugin::harness::Core;
use tfplugin::{Data, FunctionError, Number, Value};

use crate::coverage::normalised;

async fn call(name: &str, argument: Value) -> Result<Value, FunctionError> {
    Core::new(K8sConnect::default()).call_function(name, vec![argument]).await.unwrap()
}

async fn text_of(name: &str, argument: Value) -> String {
    match call(name, argument).await.unwrap() {
        Value::Known(Data::String(text)) => text,
        other => panic!("{other:?}"),
    }
}

/// The one argument is at fault, and this is said of it.
async fn refusal(name: &str, argument: &str) -> String {
    let error = call(name, argument.into()).await.unwrap_err();
    assert_eq!(error.argument, Some(0), "{}", error.text);
    error.text
}

#[tokio::test]
async fn every_kind_is_decoded_and_encoded_to_the_same_object() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kinds");
    let kinds = Exhibit::gather(&folder, "shop").unwrap();
    assert!(kinds.len() > 40);
    for kind in kinds {
        let decoded = call("manifest_decode", Value::from(kind.text.as_str())).await.unwrap();
        let encoded = text_of("manifest_encode", decoded).await;
        let whole = normalised(&kind.value);
        assert_eq!(parse_stream(&encoded).unwrap()[0].value, whole, "{}", kind.name);
    }
}

#[tokio::test]
async fn decoding_reads_as_kubectl_reads() {
    let yaml = "a: on\nb: 0644\nc: 18446744073709551615\nd: \"on\"\ne: 1.0\nf: ~\n";
    let decoded = call("manifest_decode", yaml.into()).await.unwrap();
    let Value::Known(Data::Dynamic(_, value)) = decoded else { panic!("{decoded:?}") };
    let number = |text: &str| Value::Known(Data::Number(Number::parse(text).unwrap()));
    for (name, expected) in [
        ("a", true.into()),
        ("b", number("420")),
        ("c", number("18446744073709551615")),
        ("d", "on".into()),
        ("e", number("1")),
        ("f", Value::Null),
    ] {
        assert_eq!(value.attribute(name), Some(&expected), "{name}");
    }
}

#[tokio::test]
async fn encoding_quotes_what_kubectl_would_take_for_something_else() {
    let data = Data::object([("mode", "0644".into()), ("switch", "on".into())]);
    let manifest = Data::object([
        ("data", Value::Known(data)),
        ("kind", "ConfigMap".into()),
        ("apiVersion", "v1".into()),
    ]);
    assert_eq!(
        text_of("manifest_encode", Value::Known(manifest)).await,
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  mode: \"0644\"\n  switch: \"on\"\n"
    );
    let later = Data::object([("data", Value::Unknown)]);
    assert_eq!(call("manifest_encode", Value::Known(later)).await, Ok(Value::Unknown));
}

#[tokio::test]
async fn a_bad_argument_is_told_with_its_line() {
    for (function, argument, words) in [
        ("manifest_decode", "a: 1\n---\nb: 2\n", "2 documents, the second at line 3"),
        ("manifest_decode", "- a\n", "a mapping"),
        ("manifest_decode", "a: [\n", "line 1, column 4"),
        ("manifest_decode", "# x\n", "blanks and comments"),
        ("manifest_encode", "text", "and this is none"),
        ("yaml_split", "", "blanks, comments and empty lists"),
        ("yaml_split", "apiVersion: v1\nkind: List\nitems: []\n", "no object in it"),
        ("yaml_scoped", "apiVersion: v1\nkind: List\nitems:\n", "no object in it"),
        ("yaml_split", "---\nkind: Pod\n", "document 1, line 2: `apiVersion` is missing"),
        ("yaml_scoped", "a: 1\na: 2\n", "document 1, line 2: the mapping already has the key `a`"),
    ] {
        let said = refusal(function, argument).await;
        assert!(said.contains(words), "{function}({argument:?}): {said}");
        assert!(!said.ends_with('.'), "Terraform ends the sentence: {said}");
    }
}

/// The time that this thread was given. All that is asked of a provider in process runs on it.
async fn cost(work: impl AsyncFn()) -> Duration {
    let now =
        || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("it is counted"));
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let started = now();
        work().await;
        least = least.min(now() - started);
    }
    least
}

/// Ten megabytes are read in a fraction of a second; what is around that must not be the most of it,
/// be there few large documents or many small ones.
#[tokio::test]
async fn a_call_costs_little_more_than_reading_the_text() {
    for (documents, lines) in [(4_000, 1), (40, 300)] {
        let data: String = (0..lines).map(|at| format!("  key-{at}: value {at}\n")).collect();
        let document = |at| {
            format!(
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n{at}}}\ndata:\n{data}"
            )
        };
        let text: String = (0..documents).map(document).collect();
        let source = Source { name: None, text: &text };
        let core = Core::new(K8sConnect::default());
        let alone = cost(async || drop(split([source]).unwrap())).await;
        let function = cost(async || {
            let given = vec![Value::from(text.as_str())];
            drop(core.call_function("yaml_split", given).await.unwrap().unwrap());
        });
        let config = Value::Known(Data::object([("content", Value::from(text.as_str()))]));
        let data =
            cost(async || drop(core.read_data("k8sconnect_yaml_split", &config).await.unwrap()));
        for (what, took) in [("the function", function.await), ("the data source", data.await)] {
            assert!(took < alone * 3, "{documents} documents: {alone:?} alone, {took:?} by {what}");
        }
    }
}
