//! Why an object is not as it is waited for, as a clause that ends a sentence about it.

use k8sconnect_core::readiness::picture::ConditionSeen;
use k8sconnect_core::readiness::pods::{Pod, PodMessage, Standing};
use k8sconnect_core::readiness::{End, NotReady, Reason};

pub(super) fn clause(reasons: &[Reason]) -> String {
    reasons.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn one(reason: &Reason) -> String {
    match reason {
        Reason::Absent => "it does not exist".into(),
        Reason::NotServed => "its kind is not served at the moment".into(),
        Reason::FailWhen(shown) => format!("`fail_when` holds: {}", clause(shown)),
        Reason::Final { end, lacks } => format!("{}, and {}", ended(end), clause(lacks)),
        Reason::Ended(end) => ended(end),
        Reason::Field(path) => format!("`{path}` is there"),
        Reason::NoField(path) => format!("`{path}` is not there"),
        Reason::EmptyField(path) => format!("`{path}` is empty"),
        Reason::Value { path, value: Some(value) } => format!("`{path}` is `{value}`"),
        Reason::Value { path, value: None } => format!("`{path}` has that value"),
        Reason::OtherValue { path, values: Some([found, wanted]) } => {
            format!("`{path}` is `{found}`, not `{wanted}`")
        }
        Reason::OtherValue { path, values: None } => format!("`{path}` has another value"),
        Reason::Condition(seen) => {
            format!("condition `{}` is `{}`{}", seen.kind, seen.status, because(seen))
        }
        Reason::NoCondition(kind) => format!("condition `{kind}` is not there"),
        Reason::OldCondition(kind) => format!("condition `{kind}` is of an older generation"),
        Reason::OldGeneration { generation, observed } => format!(
            "its controller has not seen the last change yet (generation {generation}, observed \
             {observed})"
        ),
        Reason::NotDeleted => "it still exists, and nobody has asked for its deletion".into(),
        Reason::Terminating { finalizers } if finalizers.is_empty() => {
            "it is marked for deletion and still there".into()
        }
        Reason::Terminating { finalizers } => {
            format!("it is marked for deletion and held by {}", quoted(finalizers))
        }
        Reason::NotReady(why) => not_ready(why),
        Reason::NoRollout => {
            "a rollout is known of Deployments, StatefulSets, DaemonSets and Jobs only".into()
        }
        Reason::Image(pod) => image(pod),
    }
}

fn not_ready(why: &NotReady) -> String {
    match why {
        NotReady::Unobserved => "its controller has not seen it yet".into(),
        NotReady::Replicas { count, wanted: 1, state } => {
            format!("{count} of 1 replica is {state}")
        }
        NotReady::Replicas { count, wanted, state } => {
            format!("{count} of {wanted} replicas are {state}")
        }
        NotReady::TooManyReplicas(many) => format!("{many} replicas too many are still there"),
        NotReady::OldReplicas(many) => format!("{many} of the former replicas are still there"),
        NotReady::Paused { updated, wanted } => {
            format!("it is paused, with {updated} of {wanted} replicas updated")
        }
        NotReady::ProgressDeadline(seen) => {
            format!("it made no progress within its deadline{}", because(seen))
        }
        NotReady::NewReplicaSet => "its new ReplicaSet is not available yet".into(),
        NotReady::Unavailable => "it is not available yet".into(),
        NotReady::ReplicaFailure => "its pods could not all be created or deleted".into(),
        NotReady::OldRevision => "its pods are not all of the new revision yet".into(),
        NotReady::Completions { succeeded, wanted, failed } => {
            let failures = match failed {
                0 => String::new(),
                1 => ", and 1 pod has failed".into(),
                many => format!(", and {many} pods have failed"),
            };
            format!("{succeeded} of {wanted} completions are done{failures}")
        }
        NotReady::Suspended => "it is suspended".into(),
        NotReady::NotStarted => "it has not started".into(),
        NotReady::Unready => "it runs and is not ready".into(),
        NotReady::Crashing(names) => format!("its containers keep crashing: {}", quoted(names)),
        NotReady::Unscheduled(seen) => format!("no node takes it{}", because(seen)),
        NotReady::Phase(Some(phase)) => format!("its phase is `{phase}`"),
        NotReady::Phase(None) => "it has no phase yet".into(),
        NotReady::NoAddress => "it has no address yet".into(),
        NotReady::Installing => "it is being installed".into(),
    }
}

fn ended(end: &End) -> String {
    match end {
        End::JobFailed(seen) => {
            format!("the Job has failed{}", seen.as_ref().map_or(String::new(), because))
        }
        End::JobComplete => "the Job is complete".into(),
        End::PodFailed => "the Pod has failed".into(),
        End::PodSucceeded => "the Pod has run to its end".into(),
    }
}

/// A pod whose image cannot be pulled.
fn image(pod: &Pod) -> String {
    let what = match pod.standing {
        Standing::Hopeless => "cannot be pulled as it is written",
        _ => "cannot be pulled",
    };
    let container = pod.container.as_deref().unwrap_or_default();
    let said = match message(&pod.message).as_str() {
        "" => String::new(),
        said => format!(": {said}"),
    };
    format!(
        "the image of container `{container}` in pod `{}` {what} ({}{said})",
        pod.name, pod.state
    )
}

/// What is known of a pod, as a clause; empty where nothing is.
pub(super) fn message(message: &PodMessage) -> String {
    match message {
        PodMessage::Said(words) => words.clone(),
        PodMessage::ContainersNotReady => "it runs, and its readiness probes do not succeed".into(),
        PodMessage::NotReady { reason, message } => {
            format!("it runs, and is not ready{}", in_brackets(reason, message))
        }
        PodMessage::Exit(code) => format!("it ended with exit code {code}"),
        PodMessage::LastExit { code, reason } => {
            format!("it last ended with exit code {code}{}", in_brackets(reason, ""))
        }
    }
}

fn because(seen: &ConditionSeen) -> String {
    in_brackets(&seen.reason, &seen.message)
}

fn in_brackets(reason: &str, message: &str) -> String {
    match (reason, message) {
        ("", "") => String::new(),
        (words, "") | ("", words) => format!(" ({words})"),
        (reason, message) => format!(" ({reason}: {message})"),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_a_clause_about_the_object() {
        let seen = |message: &str| ConditionSeen {
            kind: "Ready".into(),
            status: "False".into(),
            reason: "Why".into(),
            message: message.into(),
        };
        let failed = || End::JobFailed(Some(seen("too often")));
        let text = |text: &str| text.to_owned();
        let reasons: [(Reason, &str); 8] = [
            (Reason::Condition(seen("because")), "condition `Ready` is `False` (Why: because)"),
            (
                Reason::FailWhen(vec![Reason::Value { path: text("a"), value: Some(text("b")) }]),
                "`fail_when` holds: `a` is `b`",
            ),
            (
                Reason::Final { end: failed(), lacks: vec![Reason::NoField(text("a"))] },
                "the Job has failed (Why: too often), and `a` is not there",
            ),
            (
                Reason::OldGeneration { generation: 2, observed: 1 },
                "its controller has not seen the last change yet (generation 2, observed 1)",
            ),
            (
                NotReady::Replicas { count: 0, wanted: 1, state: "updated" }.into(),
                "0 of 1 replica is updated",
            ),
            (
                NotReady::Completions { succeeded: 1, wanted: 3, failed: 2 }.into(),
                "1 of 3 completions are done, and 2 pods have failed",
            ),
            (NotReady::Unscheduled(seen("")).into(), "no node takes it (Why)"),
            (
                NotReady::Crashing(vec![text("app"), text("log")]).into(),
                "its containers keep crashing: `app`, `log`",
            ),
        ];
        for (reason, words) in reasons {
            assert_eq!(clause(&[reason]), words);
        }
    }

    #[test]
    fn a_readiness_gate_is_not_blamed_on_probes() {
        assert!(message(&PodMessage::ContainersNotReady).contains("readiness probes"));
        let (reason, why) = ("ReadinessGatesNotReady".to_owned(), "as the kubelet says".to_owned());
        assert_eq!(
            message(&PodMessage::NotReady { reason, message: why }),
            "it runs, and is not ready (ReadinessGatesNotReady: as the kubelet says)"
        );
    }
}
