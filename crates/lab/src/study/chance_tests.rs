//! Tests of the study of chance.

use super::*;

#[test]
fn all_findings_hold() {
    let report = run(&ChanceSettings::default(), &StudyContext::unwatched(0)).expect("a report");
    assert_eq!((report.findings.len(), report.figure.panels.len()), (8, 6));
    for finding in &report.findings {
        assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
    }
    // Three sizes, and six pairs in two translations, as multisets and as sets.
    assert_eq!(report.table.rows.len(), 3 + 24);
    let points = report.figure.panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
    assert!(points.into_iter().all(|p| p.x.is_finite() && p.y.is_finite()));
}

/// Checks the range by summation in small universes.
#[test]
fn the_spread_holds_95_percent_of_all_pairs() {
    for (a, b, universe) in [(3, 5, 10), (5, 5, 10), (1, 4, 9), (8, 8, 12), (20, 30, 200)] {
        let chance = RandomSimilarity::of(a, b, universe).expect("sets that fit");
        let law = RandomSubsets::new(a, b, universe).expect("sets that fit");
        let similarity = |j: u64| j as f64 / (a + b - j) as f64;
        let tail = |j: u64| 10_f64.powf(law.tail_log10(j));
        let possible = 0..=a.min(b);
        let inside = possible.filter(|j| {
            (chance.spread.0 - 1e-12..=chance.spread.1 + 1e-12).contains(&similarity(*j))
        });
        let share: f64 = inside.map(|j| tail(j) - tail(j + 1)).sum();
        assert!(share >= 0.95 - 1e-9, "{a}, {b} of {universe}: {share}");
        assert!(chance.spread.0 <= chance.mean && chance.mean <= chance.spread.1);
    }
}

#[test]
fn the_printed_law_sums_to_the_mean_of_two_reciprocals() {
    // 1/C(8, 3) = 1/C(8, 5) = 1/56, and (1/C(20, 4) + 1/C(20, 7))/2.
    assert!((paper_claims::sum_as_printed((3, 5, 8)) - 1.0 / 56.0).abs() < 1e-15);
    let expected = (1.0 / 4_845.0 + 1.0 / 77_520.0) / 2.0;
    assert!((paper_claims::sum_as_printed((4, 7, 20)) - expected).abs() < 1e-15);
}

#[test]
fn given_sizes_and_a_given_universe_have_their_row() {
    let settings = ChanceSettings { sizes: Some((3_000, 3_000)), universe: Some(27 * 27 * 27) };
    let report = run(&settings, &StudyContext::unwatched(0)).expect("a report");
    let row = &report.table.rows[3];
    assert_eq!(row[1..4], [3_000_u64.into(), 3_000_u64.into(), 6_000_u64.into()]);
    let Cell::Share(there) = row[8] else { panic!("no mean") };
    let expected =
        RandomSubsets::new(3_000, 3_000, 19_683).expect("they fit").expected_similarity();
    assert_eq!(there, expected);
    // The multisets have more shingles than this universe.
    assert_eq!(report.table.rows[4][8], Cell::Empty);
}

/// In a universe of 3,400 shingles two pairs of sets are less similar than by chance; no pair fits
/// in 10.
#[test]
fn a_universe_in_which_pairs_are_not_beyond_chance_is_reported() {
    let last = |universe| {
        let settings = ChanceSettings { sizes: None, universe: Some(universe) };
        run(&settings, &StudyContext::unwatched(0)).expect("a report").findings
    };
    let findings = last(3_400);
    let told = findings.last().expect("findings");
    assert!(findings.len() == 8 && !told.holds, "{}: {}", told.expected, told.seen);
    assert!(told.seen.starts_with("10 of 24 pairs fit"), "{}", told.seen);
    assert!(told.seen.contains("of up to 0.9999; 2 are less similar"), "{}", told.seen);
    let findings = last(10);
    assert_eq!(findings.len(), 7);
    let told = findings.last().expect("findings");
    assert!(told.holds && told.expected.ends_with("the papers' universe"), "{}", told.expected);
    assert!(!told.seen.contains("inf"), "{}", told.seen);
}

#[test]
fn the_ends_of_all_settings_are_safe() {
    for (a, b) in [(0, 0), (0, 5), (1, 1), (u64::MAX / 2, 1)] {
        let chance = RandomSimilarity::of_the_papers(a, b).expect("they fit");
        let (low, high) = chance.spread;
        assert!(0.0 <= low && low <= high && high <= 1.0, "{a}, {b}: {low} to {high}");
        assert!((0.0..=1.0).contains(&chance.mean), "{a}, {b}: {}", chance.mean);
    }
    let settings = ChanceSettings { sizes: Some((5, 6)), universe: Some(5) };
    assert!(run(&settings, &StudyContext::unwatched(0)).is_err());
}

#[test]
fn a_long_computation_ends_when_it_is_told_to() {
    let refused = || twindex::Error::Interrupted {
        path: "chance".into(),
        action: "the study",
        outcome: "nothing was written",
    };
    let asked = std::cell::Cell::new(0);
    let go_on = || {
        asked.set(asked.get() + 1);
        if asked.get() < 3 { Ok(()) } else { Err(refused()) }
    };
    assert!(RandomSimilarity::watched(1_000_000, 1_000_000, 3_000_000, &go_on).is_err());
    assert_eq!(asked.get(), 3);
}
