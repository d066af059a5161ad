//! Whether what is planned to be made follows on something that state holds.
//!
//! A replacement is planned twice, first as a change and then as a creation, and no request says that
//! it is the second half; of a tainted resource only that half is planned. What was planned of the
//! ids that state holds tells them apart.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::Memory;

/// How long a patch that state holds is waited for to be planned. Terraform plans each right after
/// it has read it, unless there is nothing left to plan of it.
const PLANNED_SOON: Duration = Duration::from_secs(2);

/// What is planned of the resources that state holds, by id.
#[derive(Default)]
pub(super) struct Plans {
    planned: BTreeMap<String, String>,
}

/// How what is planned to be made may follow on something that state holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Succession {
    None,
    /// This is the second half of a replacement, of which the other was planned before.
    Replaced,
    /// Nothing else is planned of it.
    Tainted,
}

impl Memory {
    /// Notes what is planned for the resource with this id, which state holds.
    pub(crate) fn note_planned(&self, id: &str, what: &str) {
        self.content().plans.planned.insert(id.to_owned(), what.to_owned());
        self.planned.notify_waiters();
    }

    /// Whether the resource with this id may be the one that this plan replaces: state holds it,
    /// and the plan of it is the first half of this one, or there is none. A replacement is planned
    /// as a creation, and of a tainted resource nothing else is; one that another address has may
    /// be planned a moment later.
    pub(crate) async fn succession(&self, id: &str, what: &str) -> Succession {
        if !self.has_read(id) {
            return Succession::None;
        }
        match self.plan_of(id).await {
            None => Succession::Tainted,
            Some(planned) if planned == what => Succession::Replaced,
            Some(_) => Succession::None,
        }
    }

    /// What is planned for the resource with this id, which may be told a moment later.
    async fn plan_of(&self, id: &str) -> Option<String> {
        let deadline = Instant::now() + PLANNED_SOON;
        loop {
            let noted = self.planned.notified();
            tokio::pin!(noted);
            noted.as_mut().enable();
            if let Some(planned) = self.content().plans.planned.get(id) {
                return Some(planned.clone());
            }
            if timeout_at(deadline, noted).await.is_err() {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn only_what_state_holds_and_nobody_else_plans_can_be_replaced() {
        let memory = Memory::default();
        let may = async || memory.succession("a", "x").await;
        assert_eq!(may().await, Succession::None, "it is in another state");
        memory.keep_target("a", json!(1));
        assert_eq!(may().await, Succession::Tainted, "nothing is planned of it");
        let soon = async {
            tokio::time::sleep(PLANNED_SOON / 40).await;
            memory.note_planned("a", "y");
        };
        let (other, ()) = tokio::join!(may(), soon);
        assert_eq!(other, Succession::None, "another address has it");
        memory.note_planned("a", "x");
        assert_eq!(may().await, Succession::Replaced);
    }
}
