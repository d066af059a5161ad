//! Whose turn it is: noticing that a run waits for something that it keeps from happening itself.
//!
//! Terraform works on ten resources at a time, and a provider cannot hand a turn back. Where ten
//! resources wait for a kind or a namespace that an eleventh of the same configuration creates, the
//! eleventh has no turn until one of them gives up. This process sees all of its own operations, so
//! it can tell: as many as Terraform runs at once, and every one of them waits.
//!
//! It cannot tell what others do, nor how many Terraform was told to run. So it gives up only where
//! there are exactly ten and there were never more, only after a standstill that is long for a
//! server and short for a person, one at a time, and never for a resource that says itself how long
//! it will wait.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How many resources Terraform and OpenTofu work on at a time unless told otherwise.
pub(crate) const AT_ONCE: usize = 10;

/// How long all of them must have waited together before the first gives up.
const STANDSTILL: Duration = Duration::from_secs(30);

/// The pause until the next may give up, in which whoever gets the turn can show what he is.
const BETWEEN: Duration = Duration::from_millis(250);

#[derive(Default)]
pub(crate) struct Turns(Mutex<Content>);

#[derive(Default)]
struct Content {
    working: usize,
    /// The most that ever worked at once.
    most: usize,
    waiting: BTreeSet<u64>,
    next: u64,
    /// Since when nothing has moved: all wait, or have made room in vain.
    standstill: Option<Instant>,
    gave_up: Option<Instant>,
}

/// An operation that Terraform gave a turn to.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    ending: Ending,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Moved,
    GaveUp,
}

/// Waiting would be in vain: those who wait hold every turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoTurns;

impl Turns {
    pub(crate) fn begin(&self) -> Turn<'_> {
        let mut content = self.content();
        content.working += 1;
        content.most = content.most.max(content.working);
        Turn { turns: self, ending: Ending::Moved }
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Waits for something that is not there yet.
    pub(crate) async fn wait<T>(&mut self, arrival: impl Future<Output = T>) -> Result<T, NoTurns> {
        let place = self.turns.content().wait(Instant::now());
        let _left = Leaving { turns: self.turns, place };
        tokio::select! {
            arrived = arrival => {
                self.turns.content().standstill = None;
                Ok(arrived)
            }
            () = self.turns.run_dry(place) => {
                self.ending = Ending::GaveUp;
                Err(NoTurns)
            }
        }
    }
}

impl Turns {
    /// Comes back when this one is to make room.
    async fn run_dry(&self, place: u64) {
        loop {
            sleep(BETWEEN).await;
            if self.content().makes_room(place, Instant::now()) {
                return;
            }
        }
    }
}

impl Content {
    fn wait(&mut self, now: Instant) -> u64 {
        self.next += 1;
        self.waiting.insert(self.next);
        if self.all_wait() && self.standstill.is_none() {
            self.standstill = Some(now);
        }
        self.next
    }

    fn all_wait(&self) -> bool {
        self.most == AT_ONCE && self.working == AT_ONCE && self.waiting.len() == AT_ONCE
    }

    /// Whether it is for this one to give up now. The one that has waited longest does.
    fn makes_room(&mut self, place: u64, now: Instant) -> bool {
        let long_enough =
            |since: Option<Instant>, time| since.is_some_and(|since| now >= since + time);
        let due = self.all_wait()
            && self.waiting.first() == Some(&place)
            && long_enough(self.standstill, STANDSTILL)
            && (self.gave_up.is_none() || long_enough(self.gave_up, BETWEEN));
        if due {
            self.gave_up = Some(now);
        }
        due
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut content = self.turns.content();
        content.working -= 1;
        if self.ending == Ending::Moved {
            content.standstill = None;
        }
    }
}

/// A place among those who wait, left however the waiting ends.
struct Leaving<'a> {
    turns: &'a Turns,
    place: u64,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.turns.content().waiting.remove(&self.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(turns: &Turns, count: usize, since: Instant) -> (Vec<Turn<'_>>, Vec<u64>) {
        let held = (0..count).map(|_| turns.begin()).collect();
        (held, (0..count).map(|_| turns.content().wait(since)).collect())
    }

    #[test]
    fn gives_up_one_at_a_time_when_all_ten_have_waited_long_enough() {
        let (turns, start) = (Turns::default(), Instant::now());
        let (_held, places) = waiting(&turns, AT_ONCE, start);
        let asked = |place: usize, after: Duration| {
            turns.content().makes_room(places[place], start + after)
        };
        assert!(!asked(0, STANDSTILL - BETWEEN), "too early");
        assert!(!asked(1, STANDSTILL), "another has waited longer");
        assert!(asked(0, STANDSTILL));
        assert!(!asked(0, STANDSTILL), "one at a time");
        assert!(asked(0, STANDSTILL + BETWEEN));
    }

    #[test]
    fn never_gives_up_where_terraform_may_have_turns_left() {
        let late = Instant::now() + 10 * STANDSTILL;
        for count in [AT_ONCE - 1, AT_ONCE + 1] {
            let turns = Turns::default();
            let (_held, places) = waiting(&turns, count, Instant::now());
            assert!(!turns.content().makes_room(places[0], late), "{count}");
        }
        let turns = Turns::default();
        let (mut held, mut places) = waiting(&turns, AT_ONCE + 1, Instant::now());
        held.pop();
        turns.content().waiting.remove(&places.pop().unwrap());
        assert!(!turns.content().makes_room(places[0], late), "there were more than ten once");
    }

    #[test]
    fn whatever_moves_starts_the_patience_anew_and_making_room_does_not() {
        let (turns, start) = (Turns::default(), Instant::now());
        let (mut held, places) = waiting(&turns, AT_ONCE, start);
        let mut first = held.pop().unwrap();
        first.ending = Ending::GaveUp;
        drop(first);
        turns.content().waiting.remove(&places[0]);
        held.push(turns.begin());
        turns.content().wait(start + STANDSTILL);
        assert!(turns.content().makes_room(places[1], start + STANDSTILL + BETWEEN));

        drop(held.pop());
        assert_eq!(turns.content().standstill, None);
    }

    #[tokio::test]
    async fn what_arrives_is_handed_over_and_leaves_nobody_waiting() {
        let turns = Turns::default();
        assert_eq!(turns.begin().wait(async { 7 }).await, Ok(7));
        assert!(turns.content().waiting.is_empty());
        assert_eq!(turns.content().working, 0);
    }
}
