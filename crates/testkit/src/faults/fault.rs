//! What can go wrong with one request.

use std::path::Path;
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::json;

use super::operation::Place;
use crate::audit::Persistence;
use crate::control_plane::ControlPlane;
use crate::proxy::{Action, Fate, Recorded, Reply, Rule, Turn, Which};
use crate::terraform::kill_providers;

/// Whose write comes between two requests. See [`Fault::Meddled`].
pub const RIVAL: &str = "rival";
/// What it leaves.
pub const RIVALS_MARK: &str = "rival.example.com/was-here";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    Delayed,
    /// 429 with `Retry-After`.
    Busy,
    /// 500.
    Failing,
    /// 503.
    Unavailable,
    /// The connection is reset, and the server never heard of it.
    ResetBefore,
    /// The connection is reset when the server has answered.
    ResetAfter,
    Truncated,
    GoAway,
    /// The connection is wound up, and the request is not taken.
    TurnedAway,
    /// 401, once.
    Unauthorized,
    /// 401 to everything from there on: a token that ran out.
    TokenExpired,
    /// 500 to everything from there on.
    Broken,
    /// A watch from a point that is forgotten: 410 in the stream.
    WatchExpired,
    /// 410 instead of a stream.
    WatchGone,
    /// A watch that ends before it brought anything.
    WatchClosed,
    /// Another client writes to the object right before the request.
    Meddled,
    /// Another client writes to the object when the server has answered.
    MeddledAfter,
    /// The server carries a write out, and from then on cannot be reached.
    Severed,
    /// The provider is killed (-9); the server never hears of the request.
    KilledBefore,
    /// The provider is killed (-9) when the server has answered.
    KilledAfter,
    /// 500 when the server has carried it out: its store took too long to say so.
    FailingAfter,
    /// 404, once, in words that are not Kubernetes': a gateway that lost its way.
    Lost,
    /// 404 to everything from there on: discovery of a group that is not served any more.
    Unserved,
    /// An admission webhook does not answer in time.
    WebhookHangs,
    /// An admission webhook that cannot be asked about a dry-run.
    WebhookRefusesDryRuns,
}

impl Fault {
    pub const ALL: [Self; 25] = [
        Self::Delayed,
        Self::Busy,
        Self::Failing,
        Self::Unavailable,
        Self::ResetBefore,
        Self::ResetAfter,
        Self::Truncated,
        Self::GoAway,
        Self::TurnedAway,
        Self::Unauthorized,
        Self::TokenExpired,
        Self::Broken,
        Self::WatchExpired,
        Self::WatchGone,
        Self::WatchClosed,
        Self::Meddled,
        Self::MeddledAfter,
        Self::Severed,
        Self::KilledBefore,
        Self::KilledAfter,
        Self::FailingAfter,
        Self::Lost,
        Self::Unserved,
        Self::WebhookHangs,
        Self::WebhookRefusesDryRuns,
    ];

    /// In short, for tables and for naming a case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delayed => "delay",
            Self::Busy => "429",
            Self::Failing => "500",
            Self::Unavailable => "503",
            Self::ResetBefore => "reset-before",
            Self::ResetAfter => "reset-after",
            Self::Truncated => "truncated",
            Self::GoAway => "goaway",
            Self::TurnedAway => "goaway-refused",
            Self::Unauthorized => "401-once",
            Self::TokenExpired => "401-on",
            Self::Broken => "500-on",
            Self::WatchExpired => "watch-expired",
            Self::WatchGone => "watch-410",
            Self::WatchClosed => "watch-closed",
            Self::Meddled => "meddled-before",
            Self::MeddledAfter => "meddled-after",
            Self::Severed => "severed",
            Self::KilledBefore => "killed-before",
            Self::KilledAfter => "killed-after",
            Self::FailingAfter => "500-after",
            Self::Lost => "404-once",
            Self::Unserved => "404-on",
            Self::WebhookHangs => "webhook-timeout",
            Self::WebhookRefusesDryRuns => "webhook-no-dry-run",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// Whether it can happen to such a request.
    pub fn concerns(self, request: &Recorded) -> bool {
        match self {
            Self::WatchExpired | Self::WatchGone | Self::WatchClosed => request.is_watch(),
            Self::Severed => {
                request.method != Method::GET && request.persistence() == Persistence::Real
            }
            Self::WebhookHangs => request.method != Method::GET,
            Self::WebhookRefusesDryRuns => {
                request.method != Method::GET && request.persistence() == Persistence::DryRun
            }
            _ => true,
        }
    }

    /// Whether the provider must be in a process of its own.
    pub fn kills(self) -> bool {
        matches!(self, Self::KilledBefore | Self::KilledAfter)
    }

    /// As rules for the `n`th request from now on. `folder` is where the provider was started.
    pub(super) fn rules(
        self,
        n: u32,
        control_plane: &ControlPlane,
        place: &Place,
        folder: &Path,
    ) -> Vec<Rule> {
        let refusal = |code: StatusCode, reason: &str| {
            Fate::Answer(Reply::refusal(code, reason, "a fault that was put here"))
        };
        let failing = || refusal(StatusCode::INTERNAL_SERVER_ERROR, "InternalError");
        let unauthorized = || refusal(StatusCode::UNAUTHORIZED, "Unauthorized");
        let busy = Reply::refusal(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", "a fault");
        let at = Turn::Nth(n);
        let fates = match self {
            Self::Delayed => vec![(at, Fate::Delay(Duration::from_millis(400)))],
            Self::Busy => vec![(at, Fate::Answer(busy.header("retry-after", "1")))],
            Self::Failing => vec![(at, failing())],
            Self::Unavailable => {
                vec![(at, refusal(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable"))]
            }
            Self::ResetBefore => vec![(at, Fate::ResetBefore)],
            Self::ResetAfter => vec![(at, Fate::ResetAfter)],
            Self::Truncated => vec![(at, Fate::Truncate(25))],
            Self::GoAway => vec![(at, Fate::GoAway)],
            Self::TurnedAway => vec![(at, Fate::TurnAway)],
            Self::Unauthorized => vec![(at, unauthorized())],
            Self::TokenExpired => vec![(Turn::From(n), unauthorized())],
            Self::Broken => vec![(Turn::From(n), failing())],
            Self::WatchExpired => vec![(at, Fate::Answer(Reply::expired_watch()))],
            Self::WatchGone => vec![(at, refusal(StatusCode::GONE, "Expired"))],
            Self::WatchClosed => vec![(at, Fate::Answer(Reply::events(&[])))],
            Self::Meddled => vec![(at, Fate::Before(meddling(control_plane, place)))],
            Self::MeddledAfter => vec![(at, Fate::After(meddling(control_plane, place)))],
            Self::Severed => {
                vec![(at, Fate::ResetAfter), (Turn::From(n + 1), Fate::ResetBefore)]
            }
            Self::KilledBefore => {
                vec![(at, Fate::Before(killing(folder))), (at, Fate::ResetBefore)]
            }
            Self::KilledAfter => vec![(at, Fate::After(killing(folder)))],
            Self::FailingAfter => vec![(
                at,
                Fate::AnswerAfter(Reply::refusal(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "",
                    "etcdserver: request timed out",
                )),
            )],
            Self::Lost => vec![(at, Fate::Answer(Reply::no_such_page()))],
            Self::Unserved => vec![(Turn::From(n), Fate::Answer(Reply::no_such_page()))],
            Self::WebhookHangs => {
                let words = "Internal error occurred: failed calling webhook \"policy.example.com\": \
                             failed to call webhook: Post \"https://policy.example.com/?timeout=1s\": \
                             context deadline exceeded";
                let code = StatusCode::INTERNAL_SERVER_ERROR;
                vec![(at, Fate::Answer(Reply::refusal(code, "InternalError", words)))]
            }
            Self::WebhookRefusesDryRuns => {
                let words = "admission webhook \"policy.example.com\" does not support dry run";
                let code = StatusCode::BAD_REQUEST;
                vec![(at, Fate::Answer(Reply::refusal(code, "BadRequest", words)))]
            }
        };
        fates.into_iter().map(|(turn, fate)| Rule::new(Which::any(), turn, fate)).collect()
    }
}

fn killing(folder: &Path) -> Action {
    let folder = folder.to_owned();
    Action::new(move |_| {
        let folder = folder.clone();
        async move {
            match kill_providers(&folder).await? {
                0 => anyhow::bail!("there is no provider to kill"),
                _ => Ok(()),
            }
        }
    })
}

/// A write of somebody else's, to another field than any of ours; nothing where nothing is.
fn meddling(control_plane: &ControlPlane, place: &Place) -> Action {
    let (rival, target) = (control_plane.act_as(RIVAL), place.target());
    Action::new(move |_| {
        let (rival, target) = (rival.clone(), target.clone());
        let patch = json!({ "metadata": { "annotations": { RIVALS_MARK: "yes" } } });
        async move {
            match rival.merge_patch(&target, patch).await {
                Err(error) if !error.to_string().contains("404") => Err(error),
                _ => Ok(()),
            }
        }
    })
}
