//! What was found out about the documents, and how it is shown.

use std::time::Duration;

use crate::screen::{Ink, heading, line, paint, seconds};

/// Where in its life a document failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Reading,
    Applying,
    PlanAfterApply,
    PlanRespelled,
    Editing,
    ApplyingEdit,
    PlanAfterEdit,
    Destroying,
}

impl Stage {
    fn said(self) -> &'static str {
        match self {
            Self::Reading => "read",
            Self::Applying => "apply",
            Self::PlanAfterApply => "plan after apply",
            Self::PlanRespelled => "plan respelled",
            Self::Editing => "plan of an edit",
            Self::ApplyingEdit => "apply of an edit",
            Self::PlanAfterEdit => "plan after edit",
            Self::Destroying => "destroy",
        }
    }
}

#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) applied: usize,
    pub(crate) edited: usize,
    failures: Vec<(String, Stage, String)>,
    skipped: Vec<(String, String)>,
    unedited: Vec<(String, String)>,
}

impl Ledger {
    pub(crate) fn fail(&mut self, document: &str, stage: Stage, reason: &str) {
        line(&format!("{} {document}: {}", paint(Ink::Red, "✗"), stage.said()));
        self.failures.push((document.to_owned(), stage, reason.to_owned()));
    }

    pub(crate) fn skip(&mut self, document: &str, reason: &str) {
        self.skipped.push((document.to_owned(), reason.to_owned()));
    }

    /// No edit was found that the server takes in place: no fault of anybody's.
    pub(crate) fn leave_unedited(&mut self, document: &str, reason: &str) {
        self.unedited.push((document.to_owned(), reason.to_owned()));
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.failures.is_empty()
    }

    pub(crate) fn print(&self, time: Duration) {
        show_pairs("Skipped", &self.skipped);
        show_pairs("Without an edit that the server takes in place", &self.unedited);
        if !self.failures.is_empty() {
            heading("Failed");
            let width = self.failures.iter().map(|(name, ..)| name.chars().count()).max();
            let width = width.unwrap_or_default();
            for (document, stage, reason) in &self.failures {
                line(&format!("{document:width$}  {:16}", stage.said()));
                for part in reason.lines().filter(|part| !part.trim().is_empty()).take(12) {
                    line(&format!("    {part}"));
                }
            }
        }
        heading(&format!(
            "{} applied, {} edited, {} skipped, {} failed, in {}",
            self.applied,
            self.edited,
            self.skipped.len(),
            self.failures.len(),
            seconds(time)
        ));
    }
}

fn show_pairs(title: &str, pairs: &[(String, String)]) {
    if pairs.is_empty() {
        return;
    }
    heading(title);
    for (document, reason) in pairs {
        line(&format!("{document}: {}", reason.lines().next().unwrap_or_default()));
    }
}
