//! Which plan of a change this is. Terraform plans a change for the user to see, and once more right
//! before it applies it, as a rule in another process that reads nothing.
//!
//! Terraform 1.16 and later hands the planned private state of the first plan to the second one. That
//! tells the two apart, and carries a [`PlanRecord`]: what the first plan has reported, which the apply
//! does not repeat. The record is in the plan file only. The plan of the apply takes it out, so that it
//! never reaches state.
//!
//! Other clients hand over nothing. Then the only evidence is a read: a process that has read the object
//! plans for the user. A process that has not read it applies, or plans with `-refresh=false`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tfplugin::{Diagnostic, Diagnostics, PlannedPrivate, Private};

use crate::resource::private_state::{get, set};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlanPhase {
    /// The user sees this plan.
    Plan,
    /// Terraform is about to apply the plan that left this record.
    ApplyReplan(PlanRecord),
    /// An apply, or a plan without a refresh.
    Unknown,
}

impl PlanPhase {
    pub(crate) fn is_apply(&self) -> bool {
        matches!(self, Self::ApplyReplan(_))
    }
}

/// What a plan has reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlanRecord {
    /// The version of the object whose owners were compared; none if nothing could be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compared: Option<String>,
    /// What the plan of a creation found under the name of its object; none if it could not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found: Option<Found>,
    /// Digests of the warnings, once the plan is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warnings: Option<BTreeSet<String>>,
}

/// What there is under the name of an object that state does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Found {
    Nothing,
    /// The object with this uid.
    Object(String),
}

/// Where planned private state holds the record.
const RECORD: &str = "plan";

/// One request to plan, between what an earlier plan handed over and what this one hands over.
pub(crate) struct Handover {
    pub(crate) phase: PlanPhase,
    planned: PlannedPrivate,
}

impl Handover {
    /// `was_read` says whether this process has read the object, or for a creation any object of the
    /// state.
    pub(crate) fn of(planned: PlannedPrivate, was_read: bool) -> Result<Self, Diagnostics> {
        let phase = match &planned {
            PlannedPrivate::Present(private) => {
                PlanPhase::ApplyReplan(PlanRecord::load(private)?.unwrap_or_default())
            }
            PlannedPrivate::Absent => PlanPhase::Plan,
            PlannedPrivate::Unsupported if was_read => PlanPhase::Plan,
            PlannedPrivate::Unsupported => PlanPhase::Unknown,
        };
        Ok(Self { phase, planned })
    }

    /// Hands over what the plan has reported, or leaves out what the plan before this apply has
    /// reported.
    pub(crate) fn end(
        &self,
        private: &mut Private,
        notices: &mut Diagnostics,
    ) -> Result<(), Diagnostics> {
        let record = PlanRecord::load(private)?;
        if self.planned == PlannedPrivate::Absent {
            let mut record = record.unwrap_or_default();
            // Terraform hands the second half of a replacement what the first half returned, and shows
            // the warnings of the first half alone.
            record.warnings.get_or_insert_with(|| notices.iter().map(digest).collect());
            return set(private, RECORD, record);
        }
        if record.is_some() {
            private.remove(RECORD);
        }
        if let PlanPhase::ApplyReplan(PlanRecord { warnings: Some(shown), .. }) = &self.phase {
            let all = std::mem::take(notices).into_iter();
            *notices = all.filter(|warning| !shown.contains(&digest(warning))).collect();
        }
        Ok(())
    }
}

impl PlanRecord {
    /// Notes which version of the object the plan has compared.
    pub(crate) fn note_compared(
        private: &mut Private,
        version: Option<String>,
    ) -> Result<(), Diagnostics> {
        set(private, RECORD, Self { compared: version, ..Self::default() })
    }

    /// Notes what the plan of a creation found, beside what the first half of a replacement noted.
    pub(crate) fn note_found(
        private: &mut Private,
        found: Option<Found>,
    ) -> Result<(), Diagnostics> {
        let record = Self::load(private)?.unwrap_or_default();
        set(private, RECORD, Self { found, ..record })
    }

    /// Whether the plan may have shown that this object is taken over.
    pub(crate) fn may_have_found(&self, uid: &str) -> bool {
        match &self.found {
            Some(Found::Object(found)) => found == uid,
            Some(Found::Nothing) => false,
            None => true,
        }
    }

    /// Whether the plan has compared this version.
    pub(crate) fn has_compared(&self, version: Option<&str>) -> bool {
        version.is_some() && self.compared.as_deref() == version
    }

    fn load(private: &Private) -> Result<Option<Self>, Diagnostics> {
        get(private, RECORD)
    }
}

/// Stands for a warning that is only ever compared.
fn digest(warning: &Diagnostic) -> String {
    let text = format!("{}\n{}", warning.summary, warning.detail);
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(summaries: &[&str]) -> Diagnostics {
        summaries.iter().map(|summary| Diagnostic::warning(*summary, "")).collect()
    }

    /// What a plan hands over that has compared a version and warned of something.
    fn handed_over(planned: &PlannedPrivate) -> Private {
        let mut private = Private::default();
        PlanRecord::note_compared(&mut private, Some("7".to_owned())).unwrap();
        let handover = Handover::of(planned.clone(), true).unwrap();
        handover.end(&mut private, &mut warnings(&["drift"])).unwrap();
        private
    }

    #[test]
    fn a_client_that_hands_nothing_over_is_known_by_reads_alone() {
        let unsupported = &PlannedPrivate::Unsupported;
        assert_eq!(Handover::of(unsupported.clone(), true).unwrap().phase, PlanPhase::Plan);
        assert_eq!(Handover::of(unsupported.clone(), false).unwrap().phase, PlanPhase::Unknown);
        assert!(handed_over(unsupported).is_empty());
    }

    #[test]
    fn an_apply_is_known_by_what_its_plan_handed_over_and_repeats_none_of_it() {
        let planned = PlannedPrivate::Present(handed_over(&PlannedPrivate::Absent));
        // Also where the same process has planned.
        for was_read in [true, false] {
            let handover = Handover::of(planned.clone(), was_read).unwrap();
            let PlanPhase::ApplyReplan(record) = &handover.phase else {
                panic!("this is an apply");
            };
            assert!(record.has_compared(Some("7")));
            assert!(!record.has_compared(Some("8")) && !record.has_compared(None));
            let mut private = Private::default();
            PlanRecord::note_compared(&mut private, Some("8".to_owned())).unwrap();
            let mut notices = warnings(&["drift", "news"]);
            handover.end(&mut private, &mut notices).unwrap();
            assert_eq!(notices, warnings(&["news"]));
            assert!(private.is_empty(), "nothing of it reaches state");
        }
    }

    #[test]
    fn the_second_half_of_a_replacement_hands_over_what_the_first_half_has_shown() {
        let first = handed_over(&PlannedPrivate::Absent);
        let mut second = first.clone();
        let handover = Handover::of(PlannedPrivate::Absent, false).unwrap();
        assert_eq!(handover.phase, PlanPhase::Plan);
        handover.end(&mut second, &mut warnings(&["never shown"])).unwrap();
        assert_eq!(second, first);
    }
}
