//! Tests of the study with small settings, and of the pair that it measures.

use super::findings::{falls, little_gained};
use super::*;

#[test]
fn the_similarity_of_both_passages_is_exactly_6_tenths() {
    let text = ShingledText::new(SHINGLE, 20_000).expect("valid");
    for keys in RowKeys::ALL {
        let (of_text, _) = text.keys(keys);
        for length in [60, 200, 800] {
            let places = passages(&of_text, length).expect("long enough");
            let [a, b] = places.map(|places| set(&of_text[places]));
            let shared = a.iter().filter(|key| b.binary_search(key).is_ok()).count();
            assert_eq!(5 * shared, 3 * (a.len() + b.len() - shared), "{length} of {keys:?}");
        }
    }
    assert!(passages(&[1, 2, 3], 800).is_none());
}

fn small() -> PrecisionSettings {
    PrecisionSettings { runs: 40, hashes: 128, passage: 80, characters: 2_000 }
}

#[test]
fn few_runs_show_the_bias_of_modular_hashing() {
    let report = run(&small(), &StudyContext::unwatched(1)).expect("valid settings");
    assert_eq!(report.findings.len(), 3, "200 functions are not reached");
    for finding in &report.findings {
        assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
    }
    let numbers = GRID.iter().filter(|k| **k <= 128).count();
    assert_eq!(report.table.rows.len(), 3 * 8 - 1);
    assert_eq!(report.data.rows.len(), numbers * (3 * 8 - 1));
    assert_eq!(report.figure.panels.len(), 4);
}

#[test]
fn a_seed_gives_the_same_points_and_another_gives_others() {
    let settings = PrecisionSettings { runs: 2, hashes: 10, ..small() };
    let points =
        |seed| run(&settings, &StudyContext::unwatched(seed)).expect("valid settings").data.rows;
    assert_eq!(points(3), points(3));
    assert_ne!(points(3), points(4));
}

#[test]
fn findings_are_left_out_if_runs_or_functions_are_too_few() {
    for (runs, hashes) in [(3, 10), (2, 20), (2, 128), (2, 400)] {
        for seed in 0..6 {
            let settings = PrecisionSettings { runs, hashes, ..small() };
            let report = run(&settings, &StudyContext::unwatched(seed)).expect("valid settings");
            for finding in &report.findings {
                assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
                assert!(!finding.seen.contains("NaN") && finding.seen.len() < 300);
            }
            assert_eq!(report.findings.len(), 1, "{runs} runs of {hashes}");
        }
    }
}

/// Estimates with errors of a given size for each number of functions.
fn with_errors(grid: &[usize], error: impl Fn(usize) -> f64) -> FamilyEstimates {
    let estimates = grid.iter().map(|k| vec![truth() + error(*k); 400]).collect();
    FamilyEstimates {
        keys: RowKeys::Hashed,
        functions: DrawnFunctions::Of(Family::Xxh3),
        estimates,
    }
}

#[test]
fn errors_that_do_not_fall_as_1_over_the_root_are_detected() {
    let grid: Vec<usize> = GRID.into_iter().filter(|k| *k <= 400).collect();
    for (power, holds) in [(-0.5, true), (-0.3, false), (0.0, false), (-1.0, false)] {
        let one = with_errors(&grid, |k| 0.3 * (k as f64).powf(power));
        assert!((one.slope(&grid).expect("a slope") - power).abs() < 1e-9, "{power}");
        assert_eq!(falls(&[&one], &grid).expect("enough").holds, holds, "{power}");
    }
    let much = with_errors(&grid, |k| 2.0 * law(k));
    assert!(!little_gained(&[&much], &grid).expect("enough").holds);
    let little = with_errors(&grid, law);
    let finding = little_gained(&[&little], &grid).expect("enough");
    assert!(finding.holds && finding.seen.contains("29 % less"), "{}", finding.seen);
}

/// Compares the theoretical error of the slope with the deviation of simulated slopes.
#[test]
fn slopes_deviate_as_in_theory() {
    let grid: Vec<usize> = GRID.into_iter().filter(|k| *k <= 128).collect();
    let from = sloped(&grid).expect("enough");
    let (mut random, mut slopes) = (SplitMix::new(1), Vec::new());
    for _ in 0..200 {
        let mut estimates = vec![Vec::new(); grid.len()];
        for _ in 0..20 {
            let mut equal = 0;
            for k in 1..=128 {
                equal += usize::from(random.next() % 5 < 3);
                if let Some(at) = grid.iter().position(|number| *number == k) {
                    estimates[at].push(equal as f64 / k as f64);
                }
            }
        }
        let one = FamilyEstimates {
            keys: RowKeys::Hashed,
            functions: DrawnFunctions::Printed,
            estimates,
        };
        slopes.push(one.slope(&grid).expect("a slope"));
    }
    let mean = slopes.iter().sum::<f64>() / 200.0;
    let variance = slopes.iter().map(|slope| (slope - mean).powi(2)).sum::<f64>() / 199.0;
    let ratio = variance.sqrt() / slope_error(&grid[from..], 20);
    // The standard error is a twentieth, and the logarithm of so few runs deviates slightly more.
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
    assert!((mean + 0.5).abs() < 0.05, "{mean}");
}

#[test]
fn settings_out_of_range_are_refused() {
    for settings in [
        PrecisionSettings { runs: 1, ..small() },
        PrecisionSettings { hashes: 9, ..small() },
        PrecisionSettings { hashes: 5_000, ..small() },
        PrecisionSettings { passage: 2_000, ..small() },
        PrecisionSettings { characters: 5, ..small() },
    ] {
        assert!(run(&settings, &StudyContext::unwatched(0)).is_err(), "{settings:?}");
    }
}
