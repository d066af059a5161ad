//! The projection as state holds it, and what becomes of it at apply.

use std::collections::BTreeMap;

use k8sconnect_core::plan::Decision;
use k8sconnect_core::projection::{ABSENT, ConcealmentKey, Projection, Texts};
use tfplugin::Value;

/// Leaves by path, both as text.
pub(crate) type ProjectionMap = BTreeMap<String, Value<String>>;

/// The projection as state holds it. A leaf that cannot be shown before there is a key is unknown.
pub(crate) fn map(projection: &Projection, key: Option<&ConcealmentKey>) -> ProjectionMap {
    projection
        .0
        .iter()
        .map(|(path, leaf)| {
            let text = leaf.text(path, key).map_or(Value::Unknown, Value::Known);
            (path.shown(), text)
        })
        .collect()
}

/// The same as it is planned. A leaf that the server will fill in is unknown until it has.
pub(crate) fn planned(decision: &Decision, key: Option<&ConcealmentKey>) -> ProjectionMap {
    let mut map = map(&decision.projection, key);
    for path in &decision.open {
        map.insert(path.shown(), Value::Unknown);
    }
    map
}

/// The texts of a map that holds no unknown.
pub(crate) fn texts(map: &Value<ProjectionMap>) -> Option<BTreeMap<String, String>> {
    let text =
        |(path, text): (&String, &Value<String>)| Some((path.clone(), text.known()?.clone()));
    map.known()?.iter().map(text).collect()
}

/// A leaf that came out otherwise than planned.
pub(crate) struct Surprise {
    pub(crate) path: String,
    pub(crate) planned: Option<String>,
    pub(crate) answered: Option<String>,
}

/// What state is told after a write, and what was not as planned.
pub(crate) struct Told {
    pub(crate) map: ProjectionMap,
    pub(crate) surprises: Vec<Surprise>,
}

/// The planned text where one was planned, the answered one elsewhere: Terraform holds us to what
/// the plan said.
pub(crate) fn reconcile(planned: &Value<ProjectionMap>, answered: &Texts) -> Told {
    let mut answers: BTreeMap<_, _> =
        answered.iter().map(|(path, text)| (path.shown(), text.clone())).collect();
    let Value::Known(planned) = planned else {
        let map = answers.into_iter().map(|(path, text)| (path, Value::Known(text))).collect();
        return Told { map, surprises: Vec::new() };
    };
    let mut told = Told { map: ProjectionMap::new(), surprises: Vec::new() };
    for (path, planned) in planned {
        let answered = answers.remove(path);
        let shown = match planned.known() {
            Some(planned) => {
                if answered.as_ref() != Some(planned) {
                    let (path, planned) = (path.clone(), Some(planned.clone()));
                    told.surprises.push(Surprise { path, planned, answered });
                }
                planned.clone()
            }
            None => answered.unwrap_or_else(|| ABSENT.to_owned()),
        };
        told.map.insert(path.clone(), Value::Known(shown));
    }
    told.surprises.extend(answers.into_iter().map(|(path, text)| Surprise {
        path,
        planned: None,
        answered: Some(text),
    }));
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(entries: &[(&str, &str)]) -> Texts {
        entries.iter().map(|(path, text)| (path.parse().unwrap(), (*text).to_owned())).collect()
    }

    fn planned(entries: &[(&str, Value<String>)]) -> Value<ProjectionMap> {
        Value::Known(entries.iter().map(|(p, text)| ((*p).to_owned(), text.clone())).collect())
    }

    #[test]
    fn state_is_told_what_was_planned_whatever_the_server_made_of_it() {
        let plan = planned(&[("a", Value::Known("1".into()))]);
        let told = reconcile(&plan, &answered(&[("a", "2")]));
        assert_eq!(Value::Known(told.map), plan);
        assert_eq!(told.surprises[0].answered.as_deref(), Some("2"));
    }

    #[test]
    fn a_leaf_that_was_not_known_at_plan_is_filled_in() {
        let plan = planned(&[("data.a", Value::Unknown), ("data.b", Value::Unknown)]);
        let told = reconcile(&plan, &answered(&[("data.a", "(sensitive, hash 1)")]));
        assert_eq!(told.map["data.a"].as_str(), Some("(sensitive, hash 1)"));
        assert_eq!(told.map["data.b"].as_str(), Some(ABSENT));
        assert!(told.surprises.is_empty());
    }

    #[test]
    fn a_leaf_that_nobody_planned_is_told_and_not_shown() {
        let told = reconcile(&planned(&[]), &answered(&[("a", "2")]));
        assert!(told.map.is_empty());
        assert_eq!(told.surprises.len(), 1);
    }
}
