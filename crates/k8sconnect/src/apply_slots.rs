//! Detects that every slot of an apply waits for something that none of them creates.
//!
//! Terraform works on ten resources at a time, and a provider cannot give a slot back. If ten
//! resources wait for a CRD or a namespace that another resource of the configuration creates, that
//! resource starts only after one of the ten fails. One process sees all of its own operations, so
//! it counts them: how many slots are taken, and how many of these wait.
//!
//! The count says nothing about slots of other providers, nor about `-parallelism`. So an operation
//! gives up only if exactly ten slots are taken, never more were taken, and all have waited for 30
//! seconds. A resource with its own `apply_timeout` never gives up.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The default of Terraform and OpenTofu for `-parallelism`.
const SLOTS: usize = 10;

/// How long all slots must have waited before the first operation gives up.
const PATIENCE: Duration = Duration::from_secs(30);

const POLL: Duration = Duration::from_millis(250);

#[derive(Default)]
pub(crate) struct ApplySlots(Mutex<Count>);

#[derive(Default)]
struct Count {
    taken: usize,
    most_taken: usize,
    waiting: usize,
    /// Since when all slots have waited. An operation that gives up does not change it.
    stuck_since: Option<Instant>,
}

/// The slot of one operation.
pub(crate) struct Slot<'a> {
    slots: &'a ApplySlots,
    gave_up: bool,
}

/// All slots wait, so that nothing can create what this operation waits for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SlotsExhausted;

impl ApplySlots {
    pub(crate) fn take(&self) -> Slot<'_> {
        let mut count = self.count();
        count.taken += 1;
        count.most_taken = count.most_taken.max(count.taken);
        Slot { slots: self, gave_up: false }
    }

    fn count(&self) -> MutexGuard<'_, Count> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn exhausted(&self) {
        while !self.count().is_exhausted(Instant::now()) {
            sleep(POLL).await;
        }
    }
}

impl Slot<'_> {
    /// Waits for something that does not exist yet.
    pub(crate) async fn wait<T>(
        &mut self,
        arrival: impl Future<Output = T>,
    ) -> Result<T, SlotsExhausted> {
        let _waiting = Waiting::start(self.slots);
        tokio::select! {
            arrived = arrival => {
                self.slots.count().stuck_since = None;
                Ok(arrived)
            }
            () = self.slots.exhausted() => {
                self.gave_up = true;
                Err(SlotsExhausted)
            }
        }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut count = self.slots.count();
        count.taken -= 1;
        if !self.gave_up {
            count.stuck_since = None;
        }
    }
}

impl Count {
    fn all_wait(&self) -> bool {
        [self.taken, self.most_taken, self.waiting] == [SLOTS; 3]
    }

    fn is_exhausted(&self, now: Instant) -> bool {
        self.all_wait() && self.stuck_since.is_some_and(|since| now >= since + PATIENCE)
    }
}

/// Counts an operation as waiting, also if its request is cancelled.
struct Waiting<'a>(&'a ApplySlots);

impl<'a> Waiting<'a> {
    fn start(slots: &'a ApplySlots) -> Self {
        let mut count = slots.count();
        count.waiting += 1;
        if count.all_wait() {
            count.stuck_since.get_or_insert_with(Instant::now);
        }
        drop(count);
        Self(slots)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.count().waiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(slots: &ApplySlots, number: usize) -> (Vec<Slot<'_>>, Vec<Waiting<'_>>) {
        let taken = (0..number).map(|_| slots.take()).collect();
        (taken, (0..number).map(|_| Waiting::start(slots)).collect())
    }

    fn is_exhausted(slots: &ApplySlots, after: Duration) -> bool {
        slots.count().is_exhausted(Instant::now() + after)
    }

    #[test]
    fn one_operation_gives_up_when_all_ten_have_waited_long_enough() {
        let slots = ApplySlots::default();
        let (mut taken, mut waits) = waiting(&slots, SLOTS);
        assert!(!is_exhausted(&slots, PATIENCE / 2), "too early");
        assert!(is_exhausted(&slots, PATIENCE));
        drop(waits.pop());
        assert!(!is_exhausted(&slots, PATIENCE), "one gave up, and its slot is not taken again");
        let mut first = taken.pop().unwrap();
        first.gave_up = true;
        drop(first);
        taken.push(slots.take());
        assert!(!is_exhausted(&slots, PATIENCE), "the next operation works");
        waits.push(Waiting::start(&slots));
        assert!(is_exhausted(&slots, PATIENCE), "the next operation waits too");
        drop(taken.pop());
        assert_eq!(slots.count().stuck_since, None, "an operation has ended");
    }

    #[test]
    fn no_operation_gives_up_where_terraform_may_have_slots_left() {
        for number in [SLOTS - 1, SLOTS + 1] {
            let slots = ApplySlots::default();
            let _all = waiting(&slots, number);
            assert!(!is_exhausted(&slots, 10 * PATIENCE), "{number}");
        }
        let slots = ApplySlots::default();
        let (mut taken, mut waits) = waiting(&slots, SLOTS + 1);
        drop((taken.pop(), waits.pop()));
        assert!(!is_exhausted(&slots, 10 * PATIENCE), "eleven slots were taken once");
    }

    #[tokio::test]
    async fn what_arrives_is_returned_and_no_operation_is_left_waiting() {
        let slots = ApplySlots::default();
        assert_eq!(slots.take().wait(async { 7 }).await, Ok(7));
        let count = slots.count();
        assert_eq!((count.taken, count.waiting), (0, 0));
    }
}
