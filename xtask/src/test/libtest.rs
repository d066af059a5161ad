//! Reads what a test binary printed: how many tests passed, which failed, what they said.

use std::process::ExitStatus;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) ignored: usize,
    /// What the failing tests said; empty if all passed.
    pub(crate) complaint: String,
}

impl Tally {
    pub(crate) fn of(stdout: &str, stderr: &str, status: ExitStatus) -> Self {
        let mut tally = Self::read(stdout);
        // A binary that crashed, or whose doc tests do not compile, has counted nothing.
        if !status.success() && tally.failed == 0 {
            tally.failed = 1;
            tally.complaint = format!("ended with {status}\n{stdout}{stderr}");
        }
        tally
    }

    fn read(stdout: &str) -> Self {
        let mut tally = Self::default();
        for line in stdout.lines() {
            let Some(summary) = line.strip_prefix("test result: ") else {
                continue;
            };
            let count = |what: &str| {
                summary
                    .split([';', '.'])
                    .filter_map(|part| part.trim().strip_suffix(what))
                    .find_map(|number| number.trim().parse::<usize>().ok())
                    .unwrap_or(0)
            };
            tally.passed += count("passed");
            tally.failed += count("failed");
            tally.ignored += count("ignored");
        }
        if tally.failed > 0 {
            tally.complaint = failures(stdout);
        }
        tally
    }
}

/// From the first `failures:` on: the output of each, then the names.
fn failures(stdout: &str) -> String {
    stdout
        .lines()
        .skip_while(|line| *line != "failures:")
        .filter(|line| !line.starts_with("test result: "))
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    const FAILED: &str = "
running 3 tests
test a ... ok
test b ... FAILED
test c ... ignored

failures:

---- b stdout ----
thread 'b' panicked: 1 is not 2


failures:
    b

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.00s
";

    #[test]
    fn counts_what_the_summary_says_and_keeps_what_failing_tests_said() {
        let tally = Tally::of(FAILED, "", ExitStatus::from_raw(101 << 8));
        assert_eq!((tally.passed, tally.failed, tally.ignored), (1, 1, 1));
        assert!(tally.complaint.contains("1 is not 2"));
        assert!(tally.complaint.ends_with("    b"));
    }

    #[test]
    fn adds_up_the_summaries_of_several_runs() {
        let one = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        let tally = Tally::of(&format!("{one}\n\n{one}\n"), "", ExitStatus::from_raw(0));
        assert_eq!((tally.passed, tally.failed), (4, 0));
        assert_eq!(tally.complaint, "");
    }

    #[test]
    fn a_crash_is_a_failure_and_not_zero_tests() {
        let tally = Tally::of("running 3 tests\n", "stack overflow", ExitStatus::from_raw(6));
        assert_eq!(tally.failed, 1);
        assert!(tally.complaint.contains("stack overflow"));
    }
}
