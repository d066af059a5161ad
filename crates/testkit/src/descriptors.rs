//! The open file descriptors of this process: whether what was done has closed all that it opened.
//! It counts for the whole process, so that nothing else may open any meanwhile.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Sockets are closed by tasks that run when those who waited for them have gone on.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many descriptors were open at some moment, by what they are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptors(BTreeMap<String, usize>);

impl Descriptors {
    pub fn now() -> Result<Self> {
        let mut open = BTreeMap::new();
        for entry in fs::read_dir("/dev/fd")? {
            // The descriptor that lists the others is gone by the time that it is looked at.
            let Ok(target) = fs::read_link(entry?.path()) else { continue };
            let target = target.to_string_lossy();
            // `socket:[4711]`, `pipe:[4711]`, `anon_inode:[eventfd]`, or a path.
            let kind = target.split(":[").next().unwrap_or_default();
            *open.entry(kind.to_owned()).or_default() += 1;
        }
        Ok(Self(open))
    }

    pub fn count(&self) -> usize {
        self.0.values().sum()
    }

    /// Waits until no more are open than at that moment. The error says of which kind there are more.
    pub async fn are_back(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = Self::now()?;
            if now.count() <= self.count() {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!(
                    "{} file descriptors are open, and {} were before: {}",
                    now.count(),
                    self.count(),
                    now.more_than(self)
                );
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn more_than(&self, earlier: &Self) -> String {
        let kinds = self.0.iter().filter_map(|(kind, count)| {
            let more = count.saturating_sub(earlier.0.get(kind).copied().unwrap_or_default());
            (more > 0).then(|| format!("{more} more of `{kind}`"))
        });
        kinds.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_of_which_kind_there_are_more() {
        let of = |sockets, pipes| {
            let counts = [("socket", sockets), ("pipe", pipes)];
            Descriptors(counts.map(|(kind, count)| (kind.to_owned(), count)).into())
        };
        assert_eq!(of(7, 2).more_than(&of(3, 2)), "4 more of `socket`");
        assert_eq!(
            of(7, 3).more_than(&Descriptors(BTreeMap::new())),
            "3 more of `pipe`, 7 more of `socket`"
        );
        assert_eq!(of(3, 2).more_than(&of(7, 2)), "");
    }

    #[test]
    fn an_open_socket_counts_as_one() {
        // Other tests of this process open and close their own; a thousand they do not.
        let before = Descriptors::now().unwrap().count();
        let sockets: Vec<_> =
            (0..1000).map(|_| std::net::UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
        let open = Descriptors::now().unwrap();
        assert!(open.count().abs_diff(before + sockets.len()) < 200, "{before}, then {open:?}");
    }
}
