//! What the run came to: a line per step as it ends, and at the very end the table, the
//! complaints and the count.

use std::process::ExitCode;
use std::time::Duration;

use super::libtest::Tally;
use crate::screen::{Ink, heading, line, paint, seconds};

pub(crate) struct Step {
    name: String,
    took: Duration,
    tally: Tally,
}

impl Step {
    pub(crate) fn passed(name: &str, took: Duration) -> Self {
        let tally = Tally { passed: 1, ..Tally::default() };
        Self::tallied(name, took, tally)
    }

    pub(crate) fn failed(name: &str, took: Duration, complaint: String) -> Self {
        let tally = Tally { failed: 1, complaint, ..Tally::default() };
        Self::tallied(name, took, tally)
    }

    pub(crate) fn tallied(name: &str, took: Duration, tally: Tally) -> Self {
        Self { name: name.to_owned(), took, tally }
    }

    fn mark(&self) -> String {
        if self.tally.failed == 0 { paint(Ink::Green, "✓") } else { paint(Ink::Red, "✗") }
    }

    fn is_empty(&self) -> bool {
        self.tally.passed + self.tally.failed == 0
    }
}

#[derive(Default)]
pub(crate) struct Report {
    steps: Vec<Step>,
    notes: Vec<String>,
}

impl Report {
    pub(crate) fn add(&mut self, step: Step) {
        if !step.is_empty() {
            line(&format!(
                "{} {}: {} passed, {} failed, {}",
                step.mark(),
                step.name,
                step.tally.passed,
                step.tally.failed,
                seconds(step.took)
            ));
        }
        if step.tally.ignored > 0 {
            self.note(format!(
                "{}: {} tests are marked `ignore` and were not run",
                step.name, step.tally.ignored
            ));
        }
        self.steps.push(step);
    }

    /// Something that was not done: never silently.
    pub(crate) fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    pub(crate) fn is_without_tests(&self) -> bool {
        self.steps.iter().all(Step::is_empty)
    }

    pub(crate) fn print(&self) -> ExitCode {
        for step in self.steps.iter().filter(|step| step.tally.failed > 0) {
            heading(&format!("{} failed", step.name));
            println!("{}", step.tally.complaint.trim_end());
        }
        heading("Summary");
        line(&format!("{:<34}{:>8}{:>8}{:>10}", "step", "passed", "failed", "seconds"));
        for step in self.steps.iter().filter(|step| !step.is_empty()) {
            line(&format!(
                "{:<34}{:>8}{:>8}{:>10.1}  {}",
                step.name,
                step.tally.passed,
                step.tally.failed,
                step.took.as_secs_f64(),
                step.mark()
            ));
        }
        for note in &self.notes {
            line(&format!("note: {note}"));
        }
        let passed: usize = self.steps.iter().map(|step| step.tally.passed).sum();
        let failed: usize = self.steps.iter().map(|step| step.tally.failed).sum();
        println!("\n{passed} passed, {failed} failed");
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
