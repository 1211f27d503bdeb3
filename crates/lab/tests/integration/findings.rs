//! The findings that a study prints, and the exit status that must follow from them.

use crate::command::Done;
use serde_json::Value;

/// The findings of a study that ran with `--json`.
pub fn findings(done: &Done) -> Vec<Value> {
    done.json().into_iter().filter(|line| line["holds"].is_boolean()).collect()
}

/// Asserts that the study printed findings, and that its status is 0 if all hold and 1 otherwise.
#[track_caller]
pub fn assert_status_follows_from_findings(done: &Done) {
    let findings = findings(done);
    assert!(!findings.is_empty(), "no findings: {done:?}");
    let all_hold = findings.iter().all(|finding| finding["holds"] == true);
    assert_eq!(done.status, i32::from(!all_hold), "{done:?}");
}
