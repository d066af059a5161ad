//! The one driver of all waits: it follows the object and judges every sighting, until the goal is
//! met, cannot be met, or the time is up.
//!
//! The object is watched. Its pods are looked at from time to time, while the goal depends on them:
//! what keeps a pod from starting is written nowhere in the workload itself. The same look judges
//! the object again, since some verdicts come with time alone.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use k8sconnect_cluster::{
    Cluster, Error, Found, Location, NotYet, Placed, Scope, Seen, Served, Verb,
};
use k8sconnect_core::identity::{DEFAULT_NAMESPACE, Gvk};
use k8sconnect_core::readiness::picture::Picture;
use k8sconnect_core::readiness::pods::{Pod, Standing, look};
use k8sconnect_core::readiness::{Goal, Reason, Verdict, judge};
use serde_json::Value as Json;
use tfplugin::{AttributePath, Diagnostics};
use tokio::time::{Instant, sleep_until};

use super::surroundings;
use super::terms::WaitTerms;
use crate::messages;
use crate::wait_failure::WaitFailure;

/// How often the pods are looked at: at first soon, since the worst mistakes show at once.
const FIRST_LOOK: Duration = Duration::from_secs(1);
const LONGEST_BETWEEN: Duration = Duration::from_secs(5);
/// A server that stumbles over a read may have lost its store for a moment.
const AFTER_TROUBLE: Duration = Duration::from_secs(1);
/// What is seen at the very end may be long out of date where the server has gone silent meanwhile,
/// so that it is asked once more.
const LAST_LOOK: Duration = Duration::from_secs(5);
/// How long an image may fail to be pulled. Registries have bad moments, and an image is sometimes
/// pushed a little later than the object that names it.
const PULLING: Duration = Duration::from_secs(60);

/// Waits; brings back the object as it was when the goal was met, `None` if it was to be gone.
pub(crate) async fn wait(
    cluster: &Cluster,
    asked: &WaitTerms,
    notices: &mut Diagnostics,
) -> Result<Option<Json>, Diagnostics> {
    let deadline = Instant::now() + asked.timeout;
    let mut vigil = Vigil {
        cluster: cluster.clone(),
        patient: cluster.until(deadline),
        asked,
        deadline,
        last: None,
        first_uid: None,
        unpulled: BTreeMap::new(),
    };
    match vigil.keep().await {
        Ok(WaitEnd::Met) => Ok(vigil.last),
        Ok(WaitEnd::NeverKnown(nearest)) => {
            notices.push(messages::wait::gone_with_its_kind(&asked.key, nearest.as_deref()));
            Ok(None)
        }
        Ok(WaitEnd::NoKind(nearest)) => {
            Err(messages::wait::no_kind(&asked.key, nearest.as_deref(), &asked.timeout_text).into())
        }
        Ok(WaitEnd::Failed(failure)) => {
            let around = match failure {
                WaitFailure::NoAnswer { .. } => Picture::default(),
                _ => surroundings::look(cluster, vigil.last.as_ref()).await,
            };
            let (goal, timeout) = (&asked.goal, &asked.timeout_text);
            Err(messages::wait::failed(&asked.key, goal, timeout, &failure, &around).into())
        }
        Err(problem) => Err(problem),
    }
}

/// Whether an error means that nobody answers, whatever was asked.
fn is_silence(error: &Error) -> bool {
    matches!(error, Error::Timeout { .. } | Error::Unreachable { .. } | Error::NotReady { .. })
}

fn silence(error: &Error, seen: Vec<Reason>) -> WaitEnd {
    WaitEnd::Failed(WaitFailure::NoAnswer { seen, error: error.clone() })
}

enum WaitEnd {
    Met,
    /// It was to be gone, and its kind is not there either; perhaps another was meant.
    NeverKnown(Option<String>),
    NoKind(Option<String>),
    Failed(WaitFailure),
}

struct Vigil<'a> {
    cluster: Cluster,
    /// Repeats what may be repeated until the time is up.
    patient: Cluster,
    asked: &'a WaitTerms,
    deadline: Instant,
    last: Option<Json>,
    /// Of the first object seen. Another one under its name is proof that it went.
    first_uid: Option<String>,
    /// Pods whose image fails to be pulled, by uid, and since when.
    unpulled: BTreeMap<String, Instant>,
}

impl Vigil<'_> {
    async fn keep(&mut self) -> Result<WaitEnd, Diagnostics> {
        let key = &self.asked.key;
        let unanswered = |error: Error| Diagnostics::from(messages::wait::unanswered(key, &error));
        let kind = match self.cluster.place(&key.gvk).await.map_err(unanswered)? {
            Placed::At(kind) => kind,
            Placed::NotYet(NotYet::Kind { nearest, .. }) if !key.gvk.may_still_appear() => {
                let asked = messages::data::Asked::Object(key);
                let told = messages::data::no_such_kind(&asked, &key.gvk, nearest.as_deref());
                return Err(told.at(AttributePath::root("object_ref")).into());
            }
            Placed::NotYet(not_yet) => {
                let nearest = match not_yet {
                    NotYet::Kind { nearest, .. } => nearest,
                    _ => None,
                };
                if self.kind_is_gone().await? {
                    return Ok(WaitEnd::NeverKnown(nearest));
                }
                let arrived = self.cluster.await_kind(&key.gvk, self.deadline).await;
                match arrived.map_err(unanswered)? {
                    Some(kind) => kind,
                    None => return Ok(WaitEnd::NoKind(nearest)),
                }
            }
        };
        if !self.cluster.offers(&key.gvk, Verb::Get).await.map_err(unanswered)? {
            let told = messages::data::unreadable(&messages::data::Asked::Object(key), &key.gvk);
            return Err(told.at(AttributePath::root("object_ref")).into());
        }
        let at = Location { kind, namespace: key.namespace.clone(), name: key.name.clone() };
        self.watch(&at).await
    }

    async fn watch(&mut self, at: &Location) -> Result<WaitEnd, Diagnostics> {
        let patient = self.patient.clone();
        let mut follow = patient.follow(at);
        let mut why = None;
        let mut between = FIRST_LOOK;
        let mut next_look = Instant::now() + between;
        loop {
            // One sighting is waited for through any number of looks around: begun anew at each of
            // them, it might never come.
            let next = follow.next();
            tokio::pin!(next);
            let seen = loop {
                tokio::select! {
                    seen = &mut next => break seen,
                    () = sleep_until(next_look) => {
                        if let Some(why) = self.look_around().await {
                            return Ok(WaitEnd::Failed(WaitFailure::Never(why)));
                        }
                        between = (between * 2).min(LONGEST_BETWEEN);
                        next_look = Instant::now() + between;
                    }
                }
            };
            match seen {
                Ok(None) => return self.last_word(at, why).await,
                Ok(Some(Seen::NotServed(_))) if self.kind_is_gone().await? => {
                    return Ok(WaitEnd::Met);
                }
                Ok(Some(seen)) => match self.judge(seen) {
                    Verdict::Met => return Ok(WaitEnd::Met),
                    Verdict::NotYet(news) => why = Some(news),
                    Verdict::Never(why) => return Ok(WaitEnd::Failed(WaitFailure::Never(why))),
                },
                Err(error) if error.code().is_some_and(|code| code >= 500) => {
                    sleep_until(self.deadline.min(Instant::now() + AFTER_TROUBLE)).await;
                }
                Err(error) => {
                    return match why {
                        // It was asked again until there was no time left for another try.
                        Some(seen) if is_silence(&error) => Ok(silence(&error, seen)),
                        _ => Err(messages::wait::unanswered(&self.asked.key, &error).into()),
                    };
                }
            }
        }
    }

    /// The time is up. It may have been too short for a first look, which is then taken: a timeout
    /// of nothing asks how things are.
    async fn last_word(
        &mut self,
        at: &Location,
        why: Option<Vec<Reason>>,
    ) -> Result<WaitEnd, Diagnostics> {
        let found = match &why {
            None => self.cluster.get(at).await,
            Some(_) => self.cluster.until(Instant::now() + LAST_LOOK).get(at).await,
        };
        let seen = match (found, why) {
            (Ok(Found::Object(answer)), _) => Seen::Present(answer.object),
            (Ok(Found::Absent(_)), _) => Seen::Absent,
            (Ok(Found::NotServed(status)), _) => Seen::NotServed(status),
            (Err(error), Some(seen)) if is_silence(&error) => return Ok(silence(&error, seen)),
            (Err(error), _) => {
                return Err(messages::wait::unanswered(&self.asked.key, &error).into());
            }
        };
        match self.judge(seen) {
            Verdict::Met => Ok(WaitEnd::Met),
            Verdict::Never(why) => Ok(WaitEnd::Failed(WaitFailure::Never(why))),
            Verdict::NotYet(why) => Ok(WaitEnd::Failed(match &self.last {
                None if self.asked.goal != Goal::Deleted => self.why_not_there(at).await,
                _ => WaitFailure::TimeIsUp(why),
            })),
        }
    }

    /// How an object that is not there may have come to that.
    async fn why_not_there(&self, at: &Location) -> WaitFailure {
        if self.first_uid.is_some() {
            return WaitFailure::Deleted;
        }
        let cluster = self.cluster.until(Instant::now() + LAST_LOOK);
        let spaces = match (at.kind.scope, cluster.kind(&Gvk::new("v1", "Namespace")).await) {
            (Scope::Namespaced, Ok(Served::Yes(kind))) => kind,
            _ => return WaitFailure::NotFound,
        };
        let name = at.namespace.clone().unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
        let at = Location { kind: spaces, namespace: None, name: name.clone() };
        match cluster.get(&at).await {
            Ok(Found::Absent(_)) => WaitFailure::NoNamespace(name),
            // Who may not look at namespaces is told less.
            _ => WaitFailure::NotFound,
        }
    }

    /// Whether an object that was to go has gone with its kind.
    async fn kind_is_gone(&self) -> Result<bool, Diagnostics> {
        let key = &self.asked.key;
        if self.asked.goal != Goal::Deleted || !key.gvk.may_still_appear() {
            return Ok(false);
        }
        let defined = self.cluster.is_defined(&key.gvk).await;
        Ok(!defined.map_err(|error| messages::wait::unanswered(key, &error))?)
    }

    fn judge(&mut self, seen: Seen) -> Verdict {
        self.last = match seen {
            Seen::Present(object) => Some(object),
            Seen::Absent => None,
            Seen::NotServed(_) => {
                return Verdict::NotYet(vec![Reason::NotServed]);
            }
        };
        let uid = self.last.as_ref().and_then(|object| object["metadata"]["uid"].as_str());
        if self.first_uid.is_none() {
            self.first_uid = uid.map(ToOwned::to_owned);
        } else if self.asked.goal == Goal::Deleted && uid != self.first_uid.as_deref() {
            return Verdict::Met;
        }
        self.verdict()
    }

    fn verdict(&self) -> Verdict {
        judge(&self.asked.goal, &self.asked.fail_when, self.last.as_ref(), SystemTime::now())
    }

    /// Judges what was last seen by the present time, and by its pods: why it is in vain, if it
    /// is.
    async fn look_around(&mut self) -> Option<Vec<Reason>> {
        if !self.asked.goal.depends_on_pods() {
            return None;
        }
        let object = self.last.as_ref()?;
        if let Verdict::Never(why) = self.verdict() {
            return Some(why);
        }
        let limit = self.deadline.min(Instant::now() + LONGEST_BETWEEN);
        // Who may not list pods waits without knowing them.
        let pods = surroundings::pods(&self.cluster.until(limit), object).await.ok()?;
        let pods: Vec<_> = pods.last.iter().map(look).collect();
        self.judge_pods(&pods, Instant::now())
    }

    fn judge_pods(&mut self, pods: &[Pod], now: Instant) -> Option<Vec<Reason>> {
        let unpulled = pods.iter().filter(|pod| pod.standing == Standing::Unpulled);
        let since = unpulled
            .map(|pod| (pod.uid.clone(), self.unpulled.get(&pod.uid).copied().unwrap_or(now)));
        self.unpulled = since.collect();
        let patience = PULLING.min(self.asked.timeout / 4);
        let lost = pods.iter().find(|pod| match pod.standing {
            Standing::Hopeless => true,
            _ => self.unpulled.get(&pod.uid).is_some_and(|since| now >= *since + patience),
        })?;
        Some(vec![Reason::Image(Box::new(lost.clone()))])
    }
}
