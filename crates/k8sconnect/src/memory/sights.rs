//! What was read for resources, the latest of it.
//!
//! The very latest lie open, since they are asked for next. Those before are folded into text, a
//! tenth of the size: after a refresh nobody asks for them.

use std::collections::{BTreeMap, VecDeque};

use k8sconnect_core::plan::Condition;
use serde_json::Value;

/// Far more than Terraform reads at once unless told otherwise.
const LATEST: usize = 128;

/// More than Terraform reads at once unless told otherwise.
const OPEN: usize = 16;

/// An object as it was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) live: Value,
    /// What the read made of it; [`Condition::Otherwise`] where it made nothing.
    pub(crate) condition: Condition,
}

#[derive(Default)]
pub(super) struct Sights {
    of: BTreeMap<String, Sight>,
    order: VecDeque<String>,
}

struct Sight {
    live: Live,
    condition: Condition,
}

enum Live {
    Open(Value),
    Folded(Box<[u8]>),
}

impl Sights {
    pub(super) fn keep(&mut self, id: &str, Seen { live, condition }: Seen) {
        let sight = Sight { live: Live::Open(live), condition };
        if self.of.insert(id.to_owned(), sight).is_some() {
            self.order.retain(|kept| kept != id);
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > LATEST
            && let Some(oldest) = self.order.pop_front()
        {
            self.of.remove(&oldest);
        }
        let earlier = self.order.len().checked_sub(OPEN + 1);
        if let Some(sight) = earlier.and_then(|at| self.of.get_mut(&self.order[at])) {
            sight.live.fold();
        }
    }

    pub(super) fn take(&mut self, id: &str) -> Option<Seen> {
        let Sight { live, condition } = self.of.remove(id)?;
        self.order.retain(|kept| kept != id);
        let live = match live {
            Live::Open(live) => live,
            Live::Folded(text) => serde_json::from_slice(&text).ok()?,
        };
        Some(Seen { live, condition })
    }

    /// What stays here.
    pub(super) fn get(&self, id: &str) -> Option<Value> {
        match &self.of.get(id)?.live {
            Live::Open(live) => Some(live.clone()),
            Live::Folded(text) => serde_json::from_slice(text).ok(),
        }
    }
}

impl Live {
    fn fold(&mut self) {
        if let Self::Open(live) = self
            && let Ok(text) = serde_json::to_vec(live)
        {
            *self = Self::Folded(text.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn open(sights: &Sights) -> usize {
        sights.of.values().filter(|sight| matches!(sight.live, Live::Open(_))).count()
    }

    fn seen(live: Value) -> Seen {
        Seen { live, condition: Condition::AsLeft }
    }

    #[test]
    fn the_latest_come_back_whole_and_all_before_are_forgotten() {
        let mut sights = Sights::default();
        for n in 0..LATEST + 10 {
            sights.keep(&n.to_string(), seen(json!({ "n": n })));
        }
        assert_eq!((sights.of.len(), open(&sights)), (LATEST, OPEN));
        for n in 0..LATEST + 10 {
            let live = (n >= 10).then(|| json!({ "n": n }));
            assert_eq!(sights.get(&n.to_string()), live, "{n}");
            assert_eq!(sights.take(&n.to_string()), live.map(seen), "{n}");
            assert_eq!(sights.take(&n.to_string()), None, "{n} twice");
        }
        assert!(sights.order.is_empty());
    }

    #[test]
    fn what_is_read_again_is_what_was_read_last() {
        let mut sights = Sights::default();
        for round in 0..2 {
            for n in 0..OPEN * 2 {
                sights.keep(&n.to_string(), seen(json!(round)));
            }
        }
        assert_eq!((sights.order.len(), open(&sights)), (OPEN * 2, OPEN));
        assert!((0..OPEN * 2).all(|n| sights.get(&n.to_string()) == Some(json!(1))));
    }
}
