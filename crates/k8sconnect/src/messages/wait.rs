//! What is said about waiting, and about waiting in vain.

mod reasons;

use k8sconnect_cluster::Error;
use k8sconnect_core::identity::{Gvk, ObjectKey};
use k8sconnect_core::jsonpath::{JsonPathError, JsonPathProblem};
use k8sconnect_core::readiness::picture::{ConditionSeen, Event, Picture, ReplicaCounts};
use k8sconnect_core::readiness::pods::Pod;
use k8sconnect_core::readiness::{Goal, Sign};
use tfplugin::Diagnostic;

use super::connection::{Explanation, explain};
use super::{data, paragraphs, stuck};
use crate::wait_failure::WaitFailure;
use reasons::{clause, message};

const GOALS: &str = "Set exactly one of `field`, `field_value`, `condition`, `rollout = true`, \
    `ready = true` and `deleted = true`.";

pub(crate) fn no_goal() -> Diagnostic {
    Diagnostic::error(
        "`wait_for` does not say what to wait for",
        paragraphs(["Only its `timeout` or its `fail_when` is set, or nothing at all.", GOALS]),
    )
}

pub(crate) fn several_goals(given: &[&str]) -> Diagnostic {
    let given: Vec<_> = given.iter().map(|name| format!("`{name}`")).collect();
    let advice = format!("{GOALS} To wait for several things, use several `k8sconnect_wait`.");
    Diagnostic::error(
        "`wait_for` says several things to wait for",
        paragraphs([&format!("It sets {}.", given.join(" and ")), &advice]),
    )
}

pub(crate) fn fails_on_nothing() -> Diagnostic {
    Diagnostic::error(
        "`fail_when` does not say on what to fail",
        "It is empty.\n\nSet `condition`, `field` or `field_value` in it, or leave it out.",
    )
}

pub(crate) fn no_rollout(gvk: &Gvk) -> Diagnostic {
    Diagnostic::error(
        format!("A {} does not roll out", gvk.kind),
        format!(
            "`rollout` knows Deployments, StatefulSets and DaemonSets of `apps` and Jobs of \
             `batch`, and this is a `{}` of `{}`.\n\n\
             Wait with `ready = true`, or for a `condition` or a `field` of it.",
            gvk.kind,
            gvk.api_version()
        ),
    )
}

pub(crate) fn no_path(JsonPathError { text, at, problem }: &JsonPathError) -> Diagnostic {
    let problem = match problem {
        JsonPathProblem::Missing(end) => &format!("`{end}` is missing"),
        JsonPathProblem::Trailing => "the path ends, and more text follows",
        JsonPathProblem::Name => "a field name is missing, or must be in quotes, as in `['a,b']`",
        JsonPathProblem::Item => {
            "an item is chosen by index (`[0]`, `[0:2]`, `[*]`), by a filter \
             (`[?(@.type==\"Ready\")]`) or by a quoted key"
        }
        JsonPathProblem::Filter => {
            "a filter is written as in `[?(@.type==\"Ready\")]`, and compares whole values"
        }
        JsonPathProblem::TooDeep => "too many filters are nested",
    };
    let mark = " ".repeat(at.saturating_sub(1));
    Diagnostic::error(
        format!("`{text}` is not a field path"),
        format!(
            "At character {at}, {problem}:\n\n  {text}\n  {mark}^\n\n\
             Paths are written as for kubectl: `status.phase`, \
             `status.loadBalancer.ingress[0].ip`, \
             `status.conditions[?(@.type==\"Ready\")].status`, \
             `metadata.annotations['example.com/x']`."
        ),
    )
}

pub(crate) fn no_value(path: &str) -> Diagnostic {
    Diagnostic::error(
        "A value to wait for is null",
        format!(
            "`{path}` is to have a value, and none is given.\n\n\
             Write the value as text, such as `\"Bound\"`, `\"1\"` or `\"true\"`; to wait until \
             the field has any value, use `field`."
        ),
    )
}

pub(crate) fn no_condition(text: &str) -> Diagnostic {
    Diagnostic::error(
        "This is no condition",
        format!(
            "`{text}` lacks a name or a status.\n\n\
             Write the name of the condition, such as `\"Ready\"`, or name and status, such as \
             `\"Ready=False\"`."
        ),
    )
}

pub(crate) fn empty(name: &str) -> Diagnostic {
    Diagnostic::error(
        format!("`{name}` is empty"),
        format!("Without it nothing can be waited for.\n\nGive `{name}` a value."),
    )
}

/// The object cannot be looked at, which is all that a wait asks for.
pub(crate) fn unanswered(key: &ObjectKey, error: &Error) -> Diagnostic {
    if error.is_interrupt() {
        return stopped(key);
    }
    data::unanswered(&data::Asked::Object(key), error)
}

/// At apply everything must be known.
pub(crate) fn still_unknown() -> Diagnostic {
    Diagnostic::error(
        "What to wait for is not known",
        "Something in `object_ref`, `wait_for` or `cluster` is still unknown at apply.\n\n\
         This is a bug, in this provider or in Terraform; please report it.",
    )
}

pub(crate) fn stopped(key: &ObjectKey) -> Diagnostic {
    Diagnostic::error(
        format!("Waiting for {key} was interrupted"),
        "You asked Terraform to stop. The object is as it is, and stays in state; the next apply \
         waits again.",
    )
}

pub(crate) fn no_kind(key: &ObjectKey, nearest: Option<&str>, timeout: &str) -> Diagnostic {
    let meant = nearest.map(|it| format!(" Did you mean `{it}`?")).unwrap_or_default();
    Diagnostic::error(
        format!("{key}: its kind did not appear within {timeout}"),
        format!(
            "The API server does not serve `{}` of `{}`.{meant}\n\n\
             If this configuration installs its definition, let this resource `depends_on` that: \
             Terraform works on ten resources at a time, and those that wait may keep the one that \
             is waited for from its turn. Otherwise install it first, or set a longer `timeout`.",
            key.gvk.kind,
            key.gvk.api_version()
        ),
    )
}

/// What was to be gone cannot be there, since its kind is not; but perhaps another was meant.
pub(crate) fn gone_with_its_kind(key: &ObjectKey, nearest: Option<&str>) -> Diagnostic {
    let meant = nearest.map(|it| format!(" Did you mean `{it}`?")).unwrap_or_default();
    Diagnostic::warning(
        format!("{key} counts as gone, since its kind is not there"),
        format!(
            "The API server does not serve `{}` of `{}`, and no definition of it is installed: there \
             can be no such object, and nothing was waited for.{meant}\n\n\
             If the definition was removed before, all is well. Otherwise check `api_version` and \
             `kind` in `object_ref`.",
            key.gvk.kind,
            key.gvk.api_version()
        ),
    )
}

/// What was handed on is no longer there.
pub(crate) fn it_is_lost(key: &ObjectKey, goal: &Goal) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} no longer has {}", named(goal)),
        "It was waited for and had a value then; now it has none. The plan waits for it again, and \
         what uses `result` is known after that.",
    )
}

/// Another object has its name.
pub(crate) fn recreated(key: &ObjectKey) -> Diagnostic {
    Diagnostic::warning(
        format!("{key} was recreated after the wait"),
        "The object has another UID than the one that was waited for. The plan waits for the new \
         object.",
    )
}

/// A `moved` block names a resource of another type.
pub(crate) fn not_moved(from: &str) -> Diagnostic {
    Diagnostic::error(
        format!("`{from}` cannot become `k8sconnect_wait`"),
        format!(
            "A wait stands for no object, so that nothing of a `{from}` could be carried over to \
             it.\n\n\
             Remove the `moved` block, and let Terraform make the wait. To keep what the `{from}` \
             stands for, take it out of state by a `removed` block with `destroy = false`."
        ),
    )
}

/// A wait came to nothing.
pub(crate) fn failed(
    key: &ObjectKey,
    goal: &Goal,
    timeout: &str,
    failure: &WaitFailure,
    around: &Picture,
) -> Diagnostic {
    let summary = match failure {
        WaitFailure::Never(_) => format!("{key} {}", hopeless(goal)),
        _ => format!("{key} {} within {timeout}", missed(goal)),
    };
    let look = format!("To look further:\n  kubectl describe {}", stuck::spelt(key));
    let (why, look, advice) = match failure {
        WaitFailure::TimeIsUp(why) => (
            format!("Last seen: {}.", clause(why)),
            look.as_str(),
            "Only the wait has failed: the object stays as it is, in the cluster and in state, and \
             the next apply waits again. If it is merely slow, set a longer `timeout` in `wait_for`.",
        ),
        WaitFailure::NotFound => (
            "There is no such object.".into(),
            "",
            "Check `object_ref`. If this configuration makes the object, take `object_ref` from the \
             resource that does, or let this one `depends_on` it. If others make it later than \
             that, set a longer `timeout` in `wait_for`. The next apply waits again.",
        ),
        WaitFailure::Deleted => (
            "It was there, and was deleted while it was waited for.".into(),
            "",
            "Find out who deletes it: its owner, a controller, somebody else's apply. The next apply \
             waits again.",
        ),
        WaitFailure::NoNamespace(name) => (
            format!("There is no such object, and no namespace `{name}`."),
            "",
            "Check `object_ref.namespace` and the cluster. If this configuration makes the \
             namespace, let this resource `depends_on` what makes the object in it. The next apply \
             waits again.",
        ),
        WaitFailure::NoAnswer { seen, error } => {
            let Explanation { summary, cause, advice } = explain(error);
            let before = format!("Seen before that: {}.", clause(seen));
            let why = format!("The API server stopped answering meanwhile. {summary}. {cause}");
            (paragraphs([&why, &before]), "", &*format!("{advice} The next apply waits again."))
        }
        WaitFailure::Never(why) => (
            format!("Waiting longer would not help: {}.", clause(why)),
            look.as_str(),
            "Only the wait has failed: the object stays as it is, in the cluster and in state. Fix \
             the cause and apply; that waits again. To create an object again that has failed for \
             good, as a Job does, use `-replace` with its address.",
        ),
    };
    Diagnostic::error(summary, paragraphs([&why, &pictured(around), look, advice]))
}

fn missed(goal: &Goal) -> String {
    match goal {
        Goal::Rollout => "has not rolled out".into(),
        Goal::Ready => "did not become ready".into(),
        Goal::Deleted => "did not go".into(),
        Goal::Shows(_) => format!("did not get {}", named(goal)),
    }
}

fn hopeless(goal: &Goal) -> String {
    match goal {
        Goal::Rollout => "cannot roll out".into(),
        Goal::Ready => "cannot become ready".into(),
        Goal::Deleted => "will not go".into(),
        Goal::Shows(_) => format!("will not get {}", named(goal)),
    }
}

fn named(goal: &Goal) -> String {
    match goal {
        Goal::Shows(Sign::Field(path)) => format!("`{}`", path.text()),
        Goal::Shows(Sign::Values(values)) => match values.as_slice() {
            [(path, _)] => format!("the awaited `{}`", path.text()),
            _ => "the awaited values".into(),
        },
        Goal::Shows(Sign::Condition { kind, status }) if status == "True" => {
            format!("condition `{kind}`")
        }
        Goal::Shows(Sign::Condition { kind, status }) => format!("condition `{kind}={status}`"),
        Goal::Rollout | Goal::Ready | Goal::Deleted => "what was awaited".into(),
    }
}

fn pictured(around: &Picture) -> String {
    let replicas = around.replicas.as_ref().map(replicas);
    let listed = |head: &str, lines: Vec<String>| {
        if lines.is_empty() { String::new() } else { format!("{head}:\n{}", lines.join("\n")) }
    };
    let pods = match around.further_pods {
        0 => "Pods".to_owned(),
        1 => "Its worst pods (1 more is not shown)".to_owned(),
        many => format!("Its worst pods ({many} more are not shown)"),
    };
    let parts = [
        replicas.unwrap_or_default(),
        listed("Conditions", around.conditions.iter().map(condition).collect()),
        listed(&pods, around.pods.iter().map(pod).collect()),
        listed("Last events", around.events.iter().map(event).collect()),
    ];
    paragraphs(parts.each_ref().map(String::as_str))
}

fn replicas(ReplicaCounts { wanted, counts }: &ReplicaCounts) -> String {
    let counts = counts.iter().map(|(name, count)| {
        let state = match *name {
            "replicas" => "there",
            name => name.trim_end_matches("Replicas").trim_end_matches("NumberScheduled"),
        };
        format!("{count} {}", state.trim_start_matches("number").to_lowercase())
    });
    let counts: Vec<_> = counts.collect();
    format!("Replicas: {wanted} wanted, {}.", counts.join(", "))
}

fn condition(one: &ConditionSeen) -> String {
    let said = [one.reason.as_str(), one.message.as_str()];
    let said: Vec<_> = said.into_iter().filter(|text| !text.is_empty()).collect();
    format!("  {}={}  {}", one.kind, one.status, said.join(": ")).trim_end().to_owned()
}

fn pod(one: &Pod) -> String {
    let container = one.container.as_ref().map(|it| format!(", container {it}"));
    let restarts = match one.restarts {
        0 => String::new(),
        1 => ", 1 restart".into(),
        many => format!(", {many} restarts"),
    };
    let said = match message(&one.message).as_str() {
        "" => String::new(),
        said => format!(": {said}"),
    };
    format!("  {}  {}{}{restarts}{said}", one.name, one.state, container.unwrap_or_default())
}

fn event(one: &Event) -> String {
    let times = if one.times > 1 { format!(", {} times", one.times) } else { String::new() };
    format!(
        "  {}  {}  {}{times}: {}",
        one.kind,
        one.reason,
        one.about.replace('`', ""),
        one.message
    )
}
