//! The study of the Gospels as a whole, with few runs.

use super::*;
use crate::study::Cell;

fn quick(sample: usize) -> Report {
    let settings = Settings { runs: 3, sample, ..Settings::default() };
    run(&settings, &Work::unwatched(1)).expect("a report")
}

#[test]
fn all_that_must_be_seen_is_seen_in_few_runs() {
    let report = quick(2000);
    assert_eq!(report.findings.len(), 7);
    for finding in &report.findings {
        assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
    }
    assert_eq!(report.table.rows.len(), 12);
    assert_eq!(report.data.rows.len(), 12 * 14);
    assert_eq!(report.figure.panels.len(), 4);
}
