//! What must be true after each apply.

use std::collections::BTreeSet;

use k8sconnect_core::field::walk::{at, at_written};
use k8sconnect_core::field::{FieldPath, FieldSet, PathElement};
use k8sconnect_core::owners::{Manager, Owners};
use serde_json::{Value as Json, json};
use testkit::twins::{differences, values};
use tfplugin::harness::{Action, PlanOutcome, State};
use tfplugin::{Data, Diagnostic, Diagnostics, Value};

use super::run::MANAGER;

/// What went wrong. Two faults with the same name are taken for the same fault.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) name: &'static str,
    pub(super) facts: String,
}

pub(super) fn fault(name: &'static str, facts: impl Into<String>) -> Result<(), Fault> {
    Err(Fault { name, facts: facts.into() })
}

/// The warnings, without the one that a credential is in state, which the tests cause themselves.
pub(super) fn warnings(diagnostics: &Diagnostics) -> Vec<&Diagnostic> {
    diagnostics.iter().filter(|one| !one.summary.contains("puts a credential into state")).collect()
}

pub(super) fn text(diagnostics: &Diagnostics) -> String {
    let text: Vec<_> = warnings(diagnostics)
        .iter()
        .map(|one| format!("{}\n{}", one.summary, one.detail))
        .collect();
    text.join("\n---\n")
}

/// The twins have the same values and the same owners. After a plan without changes the items of a list
/// may have the order of another manager.
pub(super) fn twins_are_equal(ours: &Json, theirs: &Json, action: Action) -> Result<(), Fault> {
    let fields = all_fields(&read(theirs));
    let [our_values, their_values] = [ours, theirs].map(|it| match action {
        Action::NoOp => sorted(&without_nulls(values(it)), &fields),
        _ => without_nulls(values(it)),
    });
    let of_values = differences(&our_values, &their_values);
    let (held, wanted) = (visible_owners(ours), visible_owners(theirs));
    let only_ours = held.iter().filter(|it| !wanted.contains(it));
    let only_theirs = wanted.iter().filter(|it| !held.contains(it));
    let of_owners: Vec<_> = only_ours
        .map(|it| format!("provider {it}"))
        .chain(only_theirs.map(|it| format!("kubectl  {it}")))
        .collect();
    match (of_values.is_empty(), of_owners.is_empty()) {
        (true, true) => Ok(()),
        (false, _) => fault("values differ", [of_values, of_owners].concat().join("\n")),
        (true, false) if action == Action::NoOp => {
            fault("owners differ without a change", of_owners.join("\n"))
        }
        (true, false) => fault("owners differ", of_owners.join("\n")),
    }
}

/// The owners of the fields that have a value. If null or an empty list was written, only the entry of the
/// owner shows it.
fn visible_owners(object: &Json) -> Vec<Json> {
    let mut owners = read(object);
    let all = all_fields(&owners);
    for owner in &mut owners.0 {
        let mut fields = owner.fields.members();
        fields.retain(|path| is_visible(object, &all, path));
        owner.fields = fields.into_iter().collect();
        owner.manager.time = None;
    }
    owners.0.retain(|owner| !owner.fields.is_empty());
    let mut entries: Vec<_> = owners.to_managed_fields().as_array().cloned().unwrap_or_default();
    entries.sort_by_key(Json::to_string);
    entries
}

/// Whether the object shows a field that a manager owns: it has a value of its own, not only fields below
/// it that others own.
fn is_visible(object: &Json, all: &FieldSet, path: &FieldPath) -> bool {
    let is_leaf = || all.below(path).is_some_and(FieldSet::is_leaf);
    match at(object, path) {
        None | Some(Json::Null) => false,
        Some(Json::Object(map)) => map.is_empty() || is_leaf(),
        Some(Json::Array(list)) => list.is_empty() || is_leaf(),
        Some(_) => true,
    }
}

/// The same value with the items of each list in an order of their own, where the server merges items.
fn sorted(value: &Json, fields: &FieldSet) -> Json {
    match value {
        Json::Array(items) if fields.children().next().is_some() => {
            let below = fields.children().fold(FieldSet::default(), |all, (_, it)| all.union(it));
            let mut items: Vec<_> = items.iter().map(|item| sorted(item, &below)).collect();
            items.sort_by_key(Json::to_string);
            Json::Array(items)
        }
        Json::Object(map) => {
            let none = FieldSet::default();
            let child = |name: &str| fields.child(&PathElement::field(name)).unwrap_or(&none);
            map.iter().map(|(name, value)| (name.clone(), sorted(value, child(name)))).collect()
        }
        other => other.clone(),
    }
}

/// The fields of all managers.
fn all_fields(owners: &Owners) -> FieldSet {
    owners.0.iter().fold(FieldSet::default(), |all, it| all.union(&it.fields))
}

/// Whether a field has a value: null and an empty list are as good as no field.
fn is_something(value: &Json) -> bool {
    !value.is_null() && *value != json!([])
}

fn without_nulls(value: Json) -> Json {
    match value {
        Json::Object(map) => {
            let fields = map.into_iter().filter(|(_, value)| !value.is_null());
            fields.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        other => other,
    }
}

/// One apply: the object before and after it, and what the plan of it said.
pub(super) struct Applied<'a> {
    pub(super) body: &'a Json,
    pub(super) before: &'a Json,
    pub(super) after: &'a Json,
    pub(super) prior: Option<&'a State>,
    pub(super) plan: &'a PlanOutcome,
}

impl Applied<'_> {
    pub(super) fn is_announced(&self) -> Result<(), Fault> {
        self.changes_are_shown()?;
        let lost = self.lost();
        self.losers_are_named(&lost)?;
        self.takeovers_are_real(&lost)
    }

    /// Each field of ours whose value the apply changed is another one in the planned projection.
    fn changes_are_shown(&self) -> Result<(), Fault> {
        let before =
            projection(self.prior.map(|prior| prior.attribute("managed_state_projection")));
        let after = projection(self.plan.planned.attribute("managed_state_projection"));
        let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
        let ours = |object: &Json| read(object).applied_by(MANAGER);
        let fields = ours(self.before).union(&ours(self.after));
        for path in fields.leaves() {
            let value = |object| at(object, &path).filter(|it| is_something(it));
            // A field written as null is in no projection: what stands there is a default.
            let is_null = at_written(self.body, &path).is_some_and(Json::is_null);
            if value(self.before) == value(self.after) || is_mark(&path) || is_null {
                continue;
            }
            let mut place = path.clone();
            if place.names_its_item() {
                place.pop();
            }
            let shown = place.shown();
            let is_near = |(entry, _): &&(String, String)| {
                entry.starts_with(&shown) || shown.starts_with(entry.as_str())
            };
            let near = |all: &[(String, String)]| -> Vec<_> {
                all.iter().filter(is_near).cloned().collect()
            };
            if near(&before) == near(&after) && !self.is_listed(&shown) {
                let values = [self.before, self.after].map(|it| at(it, &path).cloned());
                return fault(
                    "a change is not shown",
                    format!("{shown}: {values:?}, in the projection {:?}", near(&after)),
                );
            }
        }
        Ok(())
    }

    /// Whether a warning lists a field, on a line of its own.
    fn is_listed(&self, path: &str) -> bool {
        text(&self.plan.diagnostics).contains(&format!("  {path}\n"))
    }

    /// Who owns which leaf no more, apart from us.
    fn lost(&self) -> Vec<(Manager, FieldPath)> {
        // A Secret has the entry of who wrote `stringData` for ever, and the value in `data`.
        let stands = |path: &FieldPath| at(self.before, path) == at(self.after, path);
        let before = read(self.before).with_string_data_as_data();
        let after = read(self.after).with_string_data_where(stands);
        let mut lost = Vec::new();
        for owner in before.others(MANAGER) {
            let now = after.0.iter().find(|now| now.manager.is(&owner.manager));
            let now = now.map_or_else(FieldSet::default, |now| now.fields.clone());
            for path in owner.fields.leaves() {
                if now.below(&path).is_none() {
                    lost.push((owner.manager.clone(), path));
                }
            }
        }
        lost
    }

    fn losers_are_named(&self, lost: &[(Manager, FieldPath)]) -> Result<(), Fault> {
        let warnings = text(&self.plan.diagnostics);
        let all = all_fields(&read(self.before));
        let is_visible = |(_, path): &&(Manager, FieldPath)| is_visible(self.before, &all, path);
        for (manager, path) in lost.iter().filter(is_visible) {
            // A warning may list what the field is in, or what is in the field.
            let shown = path.shown();
            let is_near = |line: &str| {
                let listed = line.strip_prefix("  ").filter(|path| !path.starts_with(' '));
                listed.is_some_and(|it| shown.starts_with(it) || it.starts_with(&shown))
            };
            let is_named =
                warnings.contains(&format!("`{}`", manager.name)) && warnings.lines().any(is_near);
            if !is_named {
                let lost = format!("`{}` loses {path} ({:?})", manager.name, manager.operation);
                return fault("a loss is not reported", format!("{lost}\n{warnings}"));
            }
        }
        Ok(())
    }

    /// Each takeover that the plan announced happened.
    fn takeovers_are_real(&self, lost: &[(Manager, FieldPath)]) -> Result<(), Fault> {
        let lost: BTreeSet<_> =
            lost.iter().map(|(manager, path)| (manager.name.clone(), path.shown())).collect();
        for (path, manager) in announced(&self.plan.diagnostics) {
            let is_near = |of: &str| of.starts_with(&path) || path.starts_with(of);
            if !lost.iter().any(|(name, of)| *name == manager && is_near(of)) {
                let warnings = text(&self.plan.diagnostics);
                let facts = format!("{path} of `{manager}`; lost is {lost:?}\n{warnings}");
                return fault("a takeover did not happen", facts);
            }
        }
        Ok(())
    }
}

/// A plan without changes announces no takeover.
pub(super) fn nothing_is_announced(plan: &PlanOutcome) -> Result<(), Fault> {
    match announced(&plan.diagnostics).is_empty() {
        true => Ok(()),
        false => fault("a takeover without a change", text(&plan.diagnostics)),
    }
}

/// The fields that a plan says will be taken, and from whom. This is the one place that knows how the
/// warning is written.
fn announced(diagnostics: &Diagnostics) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let takes = |one: &&Diagnostic| one.summary.contains("will be taken from other managers");
    for one in diagnostics.iter().filter(takes) {
        let mut path = "";
        for line in one.detail.lines() {
            if let Some(owners) = line.strip_prefix("    held by  ") {
                let names = owners.split('`').skip(1).step_by(2);
                found.extend(
                    names
                        .filter(|it| *it != "status" && *it != "scale")
                        .map(|name| (path.to_owned(), name.to_owned())),
                );
            } else if let Some(field) = line.strip_prefix("  ") {
                path = field;
            }
        }
    }
    found
}

fn is_mark(path: &FieldPath) -> bool {
    path.shown().contains("k8sconnect.terraform.io/")
}

fn read(object: &Json) -> Owners {
    Owners::of_object(object).unwrap()
}

/// The entries; `None` while they are unknown.
fn projection<'a>(value: impl Into<Option<&'a Value>>) -> Option<Vec<(String, String)>> {
    match value.into().and_then(Value::known) {
        Some(Data::Map(entries)) => {
            let text = |value: &Value| format!("{value:?}");
            Some(entries.iter().map(|(path, value)| (path.to_string(), text(value))).collect())
        }
        _ => None,
    }
}
