//! Reads what Terraform said and what the server holds. It knows nothing of projections or
//! field sets: it is the referee.

use std::collections::BTreeMap;

use serde_json::Value;
use testkit::Run;

use super::{Error, Said};

/// The lines of a run with `-json` that are of this type.
fn messages(run: &Run, of_type: &str) -> Vec<Value> {
    run.stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["type"] == of_type)
        .collect()
}

pub(super) fn errors(run: &Run) -> Said {
    let mut said = Said::new();
    for message in messages(run, "diagnostic") {
        let diagnostic = &message["diagnostic"];
        let text = |name: &str| diagnostic[name].as_str().unwrap_or_default().to_owned();
        // A provider that is blamed may be blamed in a warning.
        if diagnostic["severity"] == "error" || text("summary").starts_with("Provider produced") {
            let error = Error { summary: text("summary"), detail: text("detail") };
            // Terraform's own complaints about a provider name the resource in their text.
            let named = || error.detail.split_whitespace().find(|word| word.contains("_object."));
            let address = match text("address") {
                none if none.is_empty() => named().unwrap_or_default().to_owned(),
                address => address,
            };
            let address = address.trim_end_matches([',', ':', '.']).to_owned();
            said.entry(address).or_default().push(error);
        }
    }
    said
}

/// What a plan would do, by resource.
pub(super) fn planned(run: &Run) -> BTreeMap<String, String> {
    let changes = messages(run, "planned_change").into_iter().map(|message| {
        let change = &message["change"];
        let address = change["resource"]["addr"].as_str().unwrap_or_default().to_owned();
        (address, change.to_string())
    });
    changes.collect()
}

impl Error {
    pub(super) fn shown(&self) -> String {
        format!("{}\n{}", self.summary, self.detail)
    }
}

/// One of ours names the object first, and says why and what to do in paragraphs of their own.
pub(super) fn is_ours(error: &Error, key: &str) -> bool {
    error.summary.starts_with(key) && error.detail.trim().split("\n\n").count() >= 2
}

/// Whether an object is the one that was made, with what its maker wrote.
pub(super) fn is_untouched(made: Option<&Value>, live: Option<&Value>) -> bool {
    let (Some(made), Some(live)) = (made, live) else {
        return false;
    };
    ["/metadata/uid", "/metadata/labels", "/metadata/annotations", "/spec", "/data"]
        .iter()
        .all(|place| made.pointer(place) == live.pointer(place))
}

/// That every leaf of `part` is in `whole`, and every item of its lists, wherever it stands.
pub(super) fn covers(whole: &Value, part: &Value) -> Result<(), String> {
    match part {
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            covers(&whole[name], value).map_err(|why| format!("{name} . {why}"))
        }),
        Value::Array(items) => items.iter().try_for_each(|item| {
            let mut live = whole.as_array().into_iter().flatten();
            let found = live.any(|live| covers(live, item).is_ok());
            found.then_some(()).ok_or_else(|| format!("no item {item} in {whole}"))
        }),
        // The server keeps what others put where null was applied.
        Value::Null => Ok(()),
        scalar if whole == scalar => Ok(()),
        scalar => Err(format!("{whole} instead of {scalar}")),
    }
}
