//! Compares the law of the estimate with sums of exact fractions and with all permutations.

use super::*;
use crate::estimate::{clopper_pearson, wald};
use twindex::{normal_quantile, wilson};

fn law(k: u32, similarity: f64) -> EstimateLaw {
    EstimateLaw::new(k, similarity).expect("a valid law")
}

/// From `tests/scripts/chance.py law`: sums of exact fractions, where J is the exact value of the
/// double.
#[test]
fn it_agrees_with_sums_of_fractions() {
    for (k, j, equal, probability, tail) in GOLDEN {
        let law = law(k, j);
        let (got, got_tail) = (law.probability(equal), law.at_least(equal));
        let what = format!("{equal} of {k} at {j}");
        assert!((got / probability - 1.0).abs() < 2e-12, "{what}: {got}, not {probability}");
        assert!((got_tail / tail - 1.0).abs() < 2e-12, "{what}: {got_tail}, not {tail}");
        let below = law.at_most(equal.saturating_sub(1));
        assert!(equal == 0 || (below + got_tail - 1.0).abs() < 1e-14, "{what}: {below}");
    }
}

const GOLDEN: [(u32, f64, u32, f64, f64); 15] = [
    (1, 0.5, 1, 0.5, 0.5),
    (2, 0.3, 1, 0.42, 0.51),
    (15, 0.8, 12, 0.250_138_895_319_04, 0.648_162_104_573_952_2),
    (16, 0.8, 16, 0.028_147_497_671_065_624, 0.028_147_497_671_065_624),
    (128, 0.8, 102, 0.087_011_053_488_200_89, 0.587_066_060_160_733_9),
    (128, 0.8, 128, 3.940_200_619_639_476e-13, 3.940_200_619_639_476e-13),
    (128, 0.8, 60, 8.452_131_862_280_052e-17, 1.0),
    (128, 0.99, 126, 0.229_096_373_335_289_15, 0.862_521_914_423_373_1),
    (128, 1e-06, 3, 3.413_333_306_455_554_6e-13, 3.413_439_975_873_441e-13),
    (1_000, 0.05, 90, 4.678_975_316_136_377e-08, 9.743_965_305_003_968e-08),
    (1_000, 0.5, 500, 0.025_225_018_178_360_8, 0.512_612_509_089_180_4),
    (4_000, 0.9, 3_500, 4.425_255_165_628_556_6e-08, 0.999_999_851_401_576_7),
    (100_000, 0.8, 80_200, 0.000_904_181_676_808_616_2, 0.057_240_419_442_555_37),
    (100_000, 0.8, 78_500, 3.171_006_851_417_97e-33, 1.0),
    (100_000, 0.001, 120, 0.005_553_274_978_522_51, 0.028_167_005_850_853_22),
];

#[test]
fn probabilities_sum_to_one_and_have_the_mean_and_the_variance() {
    for k in [1, 2, 15, 16, 17, 128, 1_000, 20_000] {
        for j in [0.0, 1e-9, 0.003, 0.2, 0.5, 0.8, 0.999_999, 1.0] {
            let law = law(k, j);
            let all = law.probabilities();
            let (mut sum, mut mean, mut square) = (0.0, 0.0, 0.0);
            for (equal, weight) in all.iter().enumerate() {
                let off = equal as f64 / f64::from(k) - j;
                (sum, mean, square) =
                    (sum + weight, mean + weight * off, square + weight * off * off);
            }
            assert!((sum - 1.0).abs() < 1e-11, "{k} at {j}: {sum}");
            assert!(mean.abs() < 1e-11, "{k} at {j}: {mean}");
            assert!((square - law.variance()).abs() < 1e-11 * law.variance() + 1e-18, "{k} at {j}");
        }
    }
}

#[test]
fn the_probability_within_a_distance_agrees_with_sums_and_bounds() {
    for k in [1, 10, 128, 5_000] {
        for j in [0.0, 0.1, 0.5, 0.8, 1.0] {
            let (law, mut last) = (law(k, j), 0.0);
            for distance in [0.0, 0.003, 0.02, 0.1, 0.3, 1.0] {
                let within = law.within(distance);
                let plain = |(equal, _): &(usize, f64)| {
                    (*equal as f64 / f64::from(k) - j).abs() <= distance + 1e-12
                };
                let sum = law.probabilities().into_iter().enumerate().filter(plain);
                let sum: f64 = sum.map(|(_, weight)| weight).sum();
                assert!(
                    (within - sum).abs() < 1e-12,
                    "{k} at {j}, {distance}: {within}, not {sum}"
                );
                assert!(within >= last && within <= 1.0);
                assert!(1.0 - law.within(distance - 1e-9) <= law.chebyshev(distance) + 1e-12);
                let normal = law.normal_within(distance);
                let error = 1.0 / (f64::from(k) * (j * (1.0 - j)).max(1e-9)).sqrt();
                assert!((normal - within).abs() < error, "{k} at {j}, {distance}: {normal}");
                last = within;
            }
        }
    }
    assert_eq!(law(9, 0.5).within(-0.1), 0.0);
}

/// Error functions at z/√2, computed by mpmath with 30 digits.
#[test]
fn the_normal_law_agrees_with_reference_values() {
    for (z, probability) in [
        (0.0, 0.0),
        (1e-9, 7.978_845_608_028_654e-10),
        (0.674_489_750_196_081_7, 0.5),
        (1.959_963_984_540_054, 0.95),
        (3.290_526_731_491_894_5, 0.999),
        (4.891_638_475_692_932, 0.999_999),
        (40.0, 1.0),
        (f64::INFINITY, 1.0),
    ] {
        let got = normal_within(z);
        assert!((got - probability).abs() <= 2e-15 * probability, "{z}: {got}");
    }
}

/// Remark E of the paper, checked with all 720 permutations of 6 rows.
#[test]
fn maxima_agree_as_often_as_minima_over_all_permutations() {
    let mut permutations: Vec<Vec<u64>> = vec![Vec::new()];
    for value in 1..=6 {
        let grown = permutations.iter().flat_map(|shorter| {
            (0..=shorter.len()).map(move |at| {
                let mut longer = shorter.clone();
                longer.insert(at, value);
                longer
            })
        });
        permutations = grown.collect();
    }
    assert_eq!(permutations.len(), 720);
    for (a, b) in (1_u32..64).flat_map(|a| (1_u32..64).map(move |b| (a, b))) {
        let of = |permutation: &Vec<u64>, set: u32, greatest: bool| {
            let values = (0..6).filter(|row| set >> row & 1 == 1).map(|row| permutation[row]);
            if greatest { values.max() } else { values.min() }
        };
        let equal = |greatest: bool| {
            let same = |p: &&Vec<u64>| of(p, a, greatest) == of(p, b, greatest);
            permutations.iter().filter(same).count()
        };
        // The share of the permutations with equal minima is J.
        let expected = 720 * (a & b).count_ones() / (a | b).count_ones();
        assert_eq!((equal(false), equal(true)), (expected as usize, expected as usize), "{a} {b}");
    }
}

#[test]
fn a_quantile_is_the_least_number_that_reaches_it() {
    for (k, j) in [(1, 0.5), (128, 0.8), (1_000, 0.01)] {
        let law = law(k, j);
        for probability in [0.0, 0.025, 0.5, 0.975, 1.0 - 1e-9] {
            let at = law.quantile(probability);
            assert!(law.at_most(at) >= probability);
            assert!(at == 0 || law.at_most(at - 1) < probability, "{k} at {j}, {probability}");
        }
    }
}

#[test]
fn intervals_cover_as_exact_summation_says() {
    let z = normal_quantile(0.95).expect("valid");
    let of = |j: f64, interval: &dyn Fn(u32) -> (f64, f64)| law(128, j).coverage(interval);
    let score = |equal| wilson(equal, 128, z);
    let plain = |equal| wald(equal, 128, z);
    let exact = |equal| clopper_pearson(equal, 128, 0.95).expect("valid");
    for (j, by_score, by_wald) in COVERAGE {
        assert!((of(j, &score) - by_score).abs() < 1e-9, "{j}: {}", of(j, &score));
        assert!((of(j, &plain) - by_wald).abs() < 1e-9, "{j}: {}", of(j, &plain));
        assert!(of(j, &exact) >= 0.95, "{j}: {}", of(j, &exact));
    }
}

/// From `tests/scripts/chance.py coverage`: J and the coverage of Wilson's and Wald's intervals.
const COVERAGE: [(f64, f64, f64); 7] = [
    (0.05, 0.961_946_224_089_441_1, 0.882_346_111_907_438_3),
    (0.5, 0.958_361_716_160_497_3, 0.936_991_217_391_665_8),
    (0.8, 0.954_031_106_434_734_9, 0.950_693_959_227_357_2),
    (0.9, 0.946_726_933_998_769, 0.940_753_918_496_261_6),
    (0.91, 0.938_800_588_866_967_2, 0.937_727_526_090_424_9),
    (0.95, 0.961_946_224_089_441, 0.882_346_111_907_438_6),
    (0.99, 0.959_714_315_232_283_8, 0.721_827_416_498_433_4),
];

#[test]
fn a_distance_that_is_not_a_number_gives_no_number() {
    for j in [0.0, 0.5, 1.0] {
        let law = law(128, j);
        for told in [law.within(f64::NAN), law.normal_within(f64::NAN), law.chebyshev(f64::NAN)] {
            assert!(told.is_nan(), "{told} at {j}");
        }
    }
    assert!(normal_within(f64::NAN).is_nan());
}

#[test]
fn the_ends_of_all_ranges_are_safe() {
    for k in [1, 2, 128, u32::MAX] {
        for (j, sure) in [(0.0, 0), (1.0, k)] {
            let law = law(k, j);
            assert_eq!((law.mean(), law.variance()), (j, 0.0));
            for equal in [0, 1, k - 1, k, u32::MAX] {
                let expected = f64::from(u8::from(equal == sure));
                assert_eq!(law.probability(equal), expected, "{equal} of {k} at {j}");
                assert_eq!(law.at_least(equal), f64::from(u8::from(equal <= sure)));
                assert_eq!(law.at_most(equal), f64::from(u8::from(equal >= sure)));
            }
            for distance in [0.0, 0.1, 1.0, f64::INFINITY] {
                assert_eq!((law.within(distance), law.normal_within(distance)), (1.0, 1.0));
            }
            assert_eq!((law.chebyshev(0.0), law.chebyshev(0.1)), (1.0, 0.0));
        }
        let half = law(k, 0.5);
        for equal in [0, 1, k / 2, k, u32::MAX] {
            for probability in [half.probability(equal), half.at_least(equal), half.at_most(equal)]
            {
                assert!((0.0..=1.0).contains(&probability), "{equal} of {k}: {probability}");
            }
        }
        assert_eq!((half.within(f64::INFINITY), half.normal_within(f64::INFINITY)), (1.0, 1.0));
        assert_eq!(half.chebyshev(f64::INFINITY), 0.0);
        for below in [-0.1, f64::NEG_INFINITY] {
            assert_eq!((half.within(below), half.normal_within(below)), (0.0, 0.0));
            assert_eq!(half.chebyshev(below), 1.0);
        }
    }
    for j in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(EstimateLaw::new(5, j).is_err(), "{j}");
    }
    assert!(EstimateLaw::new(0, 0.5).is_err());
}
