//! Tests of the study of the law, with few runs.

use super::*;
use crate::study::{Cell, SeriesKind};

fn quick() -> LawSettings {
    LawSettings { runs: 150, rows: 40, ..LawSettings::default() }
}

#[test]
fn all_findings_hold() {
    let report = run(&quick(), &StudyContext::unwatched(3)).expect("a report");
    assert_eq!(report.findings.len(), 11);
    for finding in &report.findings {
        assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
    }
    assert_eq!(report.figure.panels.len(), 6);
    let points = report.figure.panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
    assert!(points.clone().all(|p| p.x.is_finite() && p.y.is_finite()));
    assert_eq!(points.count(), report.data.rows.len());
    // The coverage of Wilson's interval at J = 0.8, from `tests/scripts/chance.py coverage`.
    let Cell::Share(share) = report.table.rows[2][2] else { panic!("no share") };
    assert!((share - 0.954_031_106_434_734_9).abs() < 1e-9, "{share}");
}

/// With many runs some estimates are rarer than 1 in 10,000.
#[test]
fn every_simulated_estimate_is_drawn() {
    let settings = LawSettings { similarity: 0.5, functions: 40, rows: 4, runs: 30_000 };
    let part = simulated_estimates::run(&settings, &StudyContext::unwatched(0)).expect("a part");
    let dots = part.panels[0].series.iter().filter(|series| series.kind == SeriesKind::Dots);
    let sums: Vec<f64> =
        dots.map(|series| series.points.iter().map(|point| point.y).sum()).collect();
    assert_eq!(sums.len(), 2);
    assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-9), "{sums:?}");
}

#[test]
fn chi_square_detects_a_wrong_law() {
    let law = EstimateLaw::new(20, 0.5).expect("a law");
    let counts = |j: f64| -> Vec<f64> {
        let law = EstimateLaw::new(20, j).expect("a law");
        law.probabilities().iter().map(|p| p * 2_000.0).collect()
    };
    let (right, freedom) = simulated_estimates::chi_square(&counts(0.5), law, 2_000);
    let (wrong, _) = simulated_estimates::chi_square(&counts(0.53), law, 2_000);
    assert!(right < 1e-9 && freedom > 5, "{right}, {freedom}");
    assert!(wrong > 100.0, "{wrong}");
}

#[test]
fn the_ends_of_all_settings_are_safe() {
    for (similarity, functions, rows) in [(0.0, 1, 2), (1.0, 1, 2), (0.5, 2, 3), (1.0, 128, 5)] {
        let settings = LawSettings { similarity, functions, rows, runs: 100 };
        let report = run(&settings, &StudyContext::unwatched(0)).expect("a report");
        let points = report.figure.panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
        assert!(points.into_iter().all(|p| p.x.is_finite() && p.y.is_finite()), "{settings:?}");
    }
    for similarity in [-0.1, 1.5, f64::NAN] {
        let settings = LawSettings { similarity, ..quick() };
        assert!(run(&settings, &StudyContext::unwatched(0)).is_err(), "{similarity}");
    }
}
