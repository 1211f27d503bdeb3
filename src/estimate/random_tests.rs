//! Random subsets against exact fractions and reference values that were computed with 60 digits.

use super::*;

fn subsets(a: u64, b: u64, universe: u64) -> RandomSubsets {
    RandomSubsets::new(a, b, universe).expect("sets that fit")
}

#[test]
fn the_mean_agrees_with_reference_values() {
    for (a, b, universe, mean) in [
        (1, 1, 2, 0.5),
        (3, 5, 10, 0.248_412_698_412_698_42),
        (5, 5, 10, 0.350_403_124_212_648),
        (7, 2, 1_000, 0.001_751_501_501_501_501_5),
        (100, 100, 200, 0.334_079_042_720_732_8),
        (127, 134, 261, 0.333_583_014_567_435_17),
        (900, 1_000, 2_500, 0.233_838_193_688_934_6),
        (1_000, 10, 2_999, 0.003_314_560_707_006_344_3),
        (1_000, 1_000, 1_000_000, 0.000_500_500_124_937_500_1),
        (500_000, 500_000, 1_000_000, 0.333_333_481_481_679),
        (300_000, 700_000, 1_000_000, 0.265_822_874_255_473_74),
        (999_999, 500_000, 1_000_000, 0.499_999_750_000_25),
        (123_456, 1_000_000, 4_000_000, 0.028_248_441_424_105_392),
        (9_999_999, 9_999_999, 20_000_000, 0.333_333_296_296_299),
        (10_000_000, 10_000_000, 20_000_000, 0.333_333_340_740_741_2),
        (10_000_000, 5, 1_000_000_000_000, 4.999_998_000_020_8e-12),
        (1_000_000_000, 3_000_000_000, 1_000_000_000_000, 0.000_750_562_922_378_815_1),
        (4, 6, 1_000_000_000_000_000, 2.666_666_666_666_671_6e-15),
        (10_000_000, 10_000_000, 1_000_000_000_000_000_000, 5.000_000_250_025_012e-12),
    ] {
        let got = subsets(a, b, universe).expected_similarity();
        assert!((got / mean - 1.0).abs() < 1e-11, "{a}, {b} of {universe}: {got}, not {mean}");
    }
}

/// The values are from `tests/scripts/chance.py chance`, which uses exact ratios and 60 digits.
#[test]
fn the_mean_for_a_million_elements_agrees_with_reference_values() {
    let check = |a, b, universe, mean: f64| {
        for (a, b) in [(a, b), (b, a)] {
            let got = subsets(a, b, universe).expected_similarity();
            assert!((got / mean - 1.0).abs() < 1e-11, "{a}, {b} of {universe}: {got}, not {mean}");
        }
    };
    for (a, b, mean) in [
        (1, 1, 1e-06),
        (1, 999_999, 1e-06),
        (1, 1_000_000, 1e-06),
        (2, 3, 1.500_001_000_001e-06),
        (10, 10, 5.263_181_579_060_217e-06),
        (10, 999_990, 9.999_999_999_099_991e-06),
        (1_000, 1_000, 0.000_500_500_124_937_500_1),
        (1_000, 999_000, 0.000_999_999_000_000_999),
        (50_000, 110_000, 0.035_598_907_251_595_28),
        (72_018, 112_950, 0.046_000_727_411_341_32),
        (400_000, 600_000, 0.315_789_604_898_836_84),
        (500_000, 500_000, 0.333_333_481_481_679),
        (500_001, 500_000, 0.333_333_925_925_679),
        (777_777, 333_333, 0.304_347_498_151_134_54),
        (999_000, 999_000, 0.998_001_998_003_992),
        (999_999, 999_999, 0.999_998_000_002),
        (1_000_000, 999_999, 0.999_999),
        (1_000_000, 1_000_000, 1.0),
    ] {
        check(a, b, 1_000_000, mean);
    }
    // The universe of Dembele, Lo 2017 has as many elements as both subsets together.
    for (a, b, mean) in [
        (50_000, 50_000, 0.333_334_814_834_568_1),
        (50_000, 110_000, 0.273_632_436_814_913_95),
        (110_000, 110_000, 0.333_334_006_738_088),
        (1, 1, 0.5),
        (1, 2, 0.333_333_333_333_333_3),
        (1, 999_999, 1e-06),
    ] {
        check(a, b, a + b, mean);
    }
}

#[test]
fn the_tail_agrees_with_reference_values() {
    for ((a, b, universe), shared, log) in [
        ((1, 2, 3), 1, -0.176_091_259_055_681_24),
        ((3, 4, 9), 2, -0.392_800_369_019_626_56),
        ((5, 5, 10), 5, -2.401_400_540_781_544),
        ((7, 2, 1_000), 1, -1.855_178_114_124_045_5),
        ((100, 100, 200), 50, -0.254_762_934_570_241),
        ((100, 100, 200), 70, -7.937_356_649_240_441),
        ((127, 134, 261), 112, -33.189_821_449_332_165),
        ((900, 1_000, 2_500), 360, -0.286_809_183_649_536_45),
        ((1_000, 1_000, 2_500), 999, -722.748_830_146_422_2),
        ((1_000, 1_000, 1_000_000), 1, -0.198_947_366_773_575_2),
        ((1_000, 1_000, 1_000_000), 1_000, -3_432.178_353_374_139_5),
        ((500_000, 500_000, 1_000_000), 250_000, -0.300_337_514_832_369_5),
        ((500_000, 500_000, 1_000_000), 251_000, -4.495_674_577_206_371),
        ((500_000, 500_000, 1_000_000), 400_000, -83_710.559_572_37),
        ((300_000, 700_000, 1_000_000), 209_500, -0.003_747_633_448_814_567),
        ((999_999, 400_000, 1_000_000), 400_000, -0.221_848_749_616_356_37),
        ((1_000_000_000, 1_000_000_000, 2_000_000_000_000), 500_100, -0.352_686_561_266_732_87),
        ((1_000_000_000, 1_000_000_000, 2_000_000_000_000), 490_000, -2.070_415_146_544_581e-46),
        ((1_000_000_000, 1_000_000_000, 2_000_000_000_000), 1_000_000_000, -3_735_215_880.947_647),
        (
            (100_000_000_000, 300_000_000_000, 1_000_000_000_000),
            30_000_300_000,
            -1.837_186_144_077_917_8,
        ),
    ] {
        let got = subsets(a, b, universe).tail_log10(shared);
        // 1e-9 of the probability or of its complement, plus the rounding error of the logarithm.
        let allowed = 4e-10 * f64::min(1.0, -log) - 1e-15 * log;
        let what = format!("{shared} of {a}, {b} of {universe}");
        assert!((got - log).abs() < allowed, "{what}: {got}, not {log}");
    }
}

/// The binomial coefficient.
fn choices(of: u64, some: u64) -> u64 {
    (0..some).fold(1, |product, at| product * (of - at) / (at + 1))
}

#[test]
fn small_universes_agree_with_exhaustive_counting() {
    for universe in 0..12 {
        for (a, b) in (0..=universe).flat_map(|a| (0..=universe).map(move |b| (a, b))) {
            let chance = subsets(a, b, universe);
            let possible = (a + b).saturating_sub(universe)..=a.min(b);
            let ways = |j: u64| (choices(a, j) * choices(universe - a, b - j)) as f64;
            let all: f64 = possible.clone().map(ways).sum();
            let share = |j: u64| if j == 0 { 0.0 } else { j as f64 / (a + b - j) as f64 };
            let mean = possible.clone().map(|j| share(j) * ways(j)).sum::<f64>() / all;
            let got = chance.expected_similarity();
            assert!((got - mean).abs() < 1e-14, "{a}, {b} of {universe}: {got}, not {mean}");
            for seen in 0..=universe {
                let tail = possible.clone().filter(|j| *j >= seen).map(ways).sum::<f64>() / all;
                let got = 10_f64.powf(chance.tail_log10(seen));
                let what = format!("{seen} of {a}, {b} of {universe}");
                assert!((got - tail).abs() < 1e-13, "{what}: {got}, not {tail}");
            }
        }
    }
}

#[test]
fn empty_and_full_subsets_have_certain_results() {
    for n in [1, 2, 1_000_000, 1 << 40, u64::MAX] {
        assert_eq!(subsets(0, n, n).expected_similarity(), 0.0, "nothing and all of {n}");
        assert_eq!(subsets(0, n, n).tail_log10(0), 0.0);
        assert_eq!(subsets(0, 0, n).tail_log10(1), f64::NEG_INFINITY);
        let all = subsets(n, n, n);
        assert!((all.expected_similarity() - 1.0).abs() < 1e-15, "all of {n}");
        assert_eq!(all.tail_log10(n), 0.0);
        let part = subsets(n, 1, n);
        assert!((part.expected_similarity() * n as f64 - 1.0).abs() < 1e-15, "one of {n}");
        assert_eq!(part.tail_log10(1), 0.0);
        // Two single elements are the same with probability 1/n.
        let log = -(n as f64).log10();
        assert!((subsets(1, 1, n).tail_log10(1) - log).abs() <= 1e-14 * -log, "{n}");
    }
}

#[test]
fn halves_of_a_universe_have_an_expected_similarity_of_one_third() {
    for size in [50, 1_000, 100_000, 20_000_000, 1 << 60] {
        let mean = subsets(size, size, 2 * size).expected_similarity();
        assert!((mean - 1.0 / 3.0).abs() < 0.1 / size as f64 + 1e-15, "{size}: {mean}");
    }
}

#[test]
fn a_universe_too_small_for_its_subsets_is_an_error() {
    for (a, b, universe) in [(2, 1, 1), (1, 2, 1), (1, 0, 0)] {
        assert!(RandomSubsets::new(a, b, universe).is_err(), "{a}, {b} of {universe}");
    }
    let seen = Overlap { a: 3, b: 4, shared: 2 };
    assert!(RandomSubsets::with_sizes_of(seen, 4).is_err());
    assert_eq!(RandomSubsets::with_sizes_of(seen, 5).expect("they fit"), subsets(3, 4, 5));
}
