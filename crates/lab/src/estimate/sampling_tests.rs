//! Compares samples with enumeration, closed forms, and another program.

use super::*;
use proptest::prelude::*;

/// Two multisets that partly overlap: every number three times, and every number twice.
fn multisets() -> (Vec<u64>, Vec<u64>) {
    ((0..300).map(|i| i / 3).collect(), (60..300).map(|i| i / 2).collect())
}

fn independent(a: usize, b: usize, runs: u32) -> Sampling {
    Sampling::independent(a, b, runs).expect("valid")
}

fn coordinated(share: f64, runs: u32) -> Sampling {
    Sampling::coordinated(share, runs).expect("valid")
}

/// All ways to draw `number` elements.
fn choices(elements: &[u64], number: usize) -> Vec<Vec<u64>> {
    (0..1_u32 << elements.len())
        .filter(|bits| bits.count_ones() as usize == number)
        .map(|bits| {
            (0..elements.len()).filter(|i| bits >> i & 1 == 1).map(|i| elements[i]).collect()
        })
        .collect()
}

/// Whether a mean is within 4 standard errors of its expected value.
fn is_near(sampled: &Sampled, expected: f64) -> bool {
    let error = sampled.standard_error().expect("more than one run");
    (sampled.mean - expected).abs() <= 4.0 * error
}

/// The expected values are from a Python program with SplitMix64, Floyd's choice in a `set`, and
/// `Counter`.
#[test]
fn samples_agree_with_another_program() {
    let elements: Vec<u64> = (0..200).collect();
    let sample = random_sample(&elements, 12, 7);
    assert_eq!(sample, [13, 48, 51, 53, 62, 93, 104, 120, 137, 147, 182, 183]);

    let (a, b) = multisets();
    let of = |shares: [(f64, f64); 3]| Sampled::of(shares.iter().map(|(part, all)| part / all));
    let expected = of([(6.0, 84.0), (6.0, 84.0), (11.0, 79.0)]);
    assert_eq!(independent(50, 40, 3).similarity(&a, &b, 5), expected);
    let expected = of([(46.0, 108.0), (37.0, 118.0), (41.0, 100.0)]);
    assert_eq!(coordinated(0.25, 3).similarity(&a, &b, 5), expected);
}

#[test]
fn every_choice_is_equally_likely() {
    let elements: Vec<u64> = (0..7).collect();
    let choices = choices(&elements, 3);
    let mut seen = vec![0_u32; choices.len()];
    let mut random = SplitMix::new(3);
    const EACH: u32 = 400;
    for _ in 0..EACH * choices.len() as u32 {
        let sample = draw(&elements, 3, &mut random);
        seen[choices.iter().position(|choice| *choice == sample).expect("a choice of 3")] += 1;
    }
    let squares = seen.iter().map(|n| (f64::from(*n) - f64::from(EACH)).powi(2) / f64::from(EACH));
    // Chi-square with 34 degrees of freedom exceeds 72 once in 7000 times.
    assert!(squares.sum::<f64>() < 72.0, "{seen:?}");
}

/// The limit follows from the mean number of common elements, here summed over all choices.
#[test]
fn the_limit_agrees_with_the_mean_over_all_choices() {
    let (a, b) = ([1, 1, 1, 2, 3, 3, 8], [1, 1, 2, 3, 3, 3, 9, 9]);
    for (from_a, from_b) in [(1, 1), (3, 2), (4, 7), (6, 6), (7, 3), (7, 8), (100, 100)] {
        let (of_a, of_b) = (choices(&a, from_a.min(7)), choices(&b, from_b.min(8)));
        let mut common = 0.0;
        for x in &of_a {
            common += of_b.iter().map(|y| Overlap::of_multisets(x, y).shared as f64).sum::<f64>();
        }
        common /= (of_a.len() * of_b.len()) as f64;
        let expected = common / ((from_a.min(7) + from_b.min(8)) as f64 - common);
        let limit = independent(from_a, from_b, 1).limit(&a, &b);
        assert!(
            (limit - expected).abs() < 1e-12,
            "{from_a} of a, {from_b} of b: {limit} {expected}"
        );
    }
}

#[test]
fn the_share_of_common_elements_falls_with_the_product_of_the_shares_drawn() {
    let (a, b): (Vec<u64>, Vec<u64>) = ((0..5000).collect(), (1000..5000).collect());
    let overlap = Overlap::of_sets(&a, &b);
    for (from_a, from_b, f, g) in
        [(500, 400, 0.1, 0.1), (2500, 400, 0.5, 0.1), (5000, 4000, 1.0, 1.0)]
    {
        let common = f * g * overlap.shared as f64;
        let expected = common / ((from_a + from_b) as f64 - common);
        assert!(
            (independent(from_a, from_b, 1).limit(&a, &b) - expected).abs() < 1e-12,
            "{from_a}"
        );
    }
    let half = independent(2500, 2000, 1).limit(&a, &b);
    assert!((half - 0.5 * overlap.dice() / (2.0 - 0.5 * overlap.dice())).abs() < 1e-12);
}

#[test]
fn independent_samples_tend_to_their_limit_and_not_to_the_similarity() {
    let sets: (Vec<u64>, Vec<u64>) = ((0..4000).collect(), (800..4800).collect());
    for (a, b) in [sets, multisets()] {
        let sampling = independent(a.len() / 4, b.len() / 4, 400);
        let sampled = sampling.similarity(&a, &b, 11);
        // The convexity of c/(n - c) raises the mean of these samples by less than one standard
        // error.
        assert!(is_near(&sampled, sampling.limit(&a, &b)), "{sampled:?}");
        assert!(sampled.greatest < Overlap::of_multisets(&a, &b).similarity(), "{sampled:?}");
    }
}

#[test]
fn coordinated_samples_have_the_similarity_of_the_whole_on_average() {
    let sets: (Vec<u64>, Vec<u64>) = ((0..1000).collect(), (200..1200).collect());
    for (a, b) in [sets, multisets()] {
        let exact = Overlap::of_multisets(&a, &b).similarity();
        for share in [0.05, 0.3] {
            let sampling = coordinated(share, 400);
            let sampled = sampling.similarity(&a, &b, 5);
            assert!(is_near(&sampled, exact), "{share}: {sampled:?}");
            assert_eq!(sampling.limit(&a, &b), exact);
            // The standard error of a share among the kept elements of the union, with the
            // correction for drawing without replacement.
            let kept = share * (a.len() + b.len()) as f64 / (1.0 + exact);
            let error = (exact * (1.0 - exact) * (1.0 - share) / kept).sqrt();
            let spread = sampled.spread.expect("many runs");
            assert!((0.85..1.15).contains(&(spread / error)), "{share}: {spread} {error}");
        }
    }
}

#[test]
fn samples_of_everything_are_exact() {
    let (a, b) = multisets();
    let exact = Overlap::of_multisets(&a, &b).similarity();
    for sampling in [independent(10_000, 10_000, 3), coordinated(1.0, 3)] {
        let sampled = sampling.similarity(&a, &b, 0);
        let whole =
            Sampled { mean: exact, spread: Some(0.0), least: exact, greatest: exact, runs: 3 };
        assert_eq!(sampled, whole);
        assert!((sampling.limit(&a, &b) - exact).abs() < 1e-12);
    }
}

#[test]
fn nothing_is_similar_to_an_empty_set() {
    let none = Sampled { mean: 0.0, spread: None, least: 0.0, greatest: 0.0, runs: 1 };
    for sampling in [independent(5, 5, 1), coordinated(0.5, 1), coordinated(f64::MIN_POSITIVE, 1)] {
        for (a, b) in [(&[][..], &[][..]), (&[1, 2][..], &[][..]), (&[][..], &[1][..])] {
            assert_eq!(sampling.similarity(a, b, 0), none);
            assert_eq!(sampling.limit(a, b), 0.0);
        }
    }
    assert!(random_sample(&[], 3, 0).is_empty() && random_sample(&[1, 2], 0, 0).is_empty());
    assert_eq!(none.standard_error(), None);
}

#[test]
fn settings_out_of_range_are_refused() {
    let text = |sampling: Result<Sampling>| sampling.err().map(|error| error.to_string());
    let expected = "sample size 0: expected a whole number from 1 on";
    assert_eq!(text(Sampling::independent(0, 1, 1)).as_deref(), Some(expected));
    assert_eq!(text(Sampling::independent(1, 0, 1)).as_deref(), Some(expected));
    let expected = "runs 0: expected a whole number from 1 on";
    assert_eq!(text(Sampling::independent(1, 1, 0)).as_deref(), Some(expected));
    for share in [0.0, -0.1, 1.5, f64::NAN] {
        assert!(Sampling::coordinated(share, 1).is_err(), "{share}");
    }
}

#[test]
#[should_panic(expected = "elements in ascending order")]
fn elements_out_of_order_are_refused() {
    coordinated(0.5, 1).similarity(&[2, 1], &[1], 0);
}

#[test]
fn the_spread_agrees_with_the_textbook_formula() {
    let sampled = Sampled::of([0.2, 0.4, 0.9]);
    // The deviations 0.3, 0.1 and 0.4 have the sum of squares 0.26, over 2.
    assert!((sampled.mean - 0.5).abs() < 1e-15 && (sampled.least, sampled.greatest) == (0.2, 0.9));
    assert!((sampled.spread.expect("three") - 0.13_f64.sqrt()).abs() < 1e-15);
    assert!((sampled.standard_error().expect("three") - (0.13_f64 / 3.0).sqrt()).abs() < 1e-15);
}

proptest! {
    /// If one set keeps an occurrence, the other set keeps it too.
    #[test]
    fn both_samples_keep_the_same_occurrences(
        mut a in proptest::collection::vec(0_u64..12, 0..40),
        mut b in proptest::collection::vec(0_u64..12, 0..40),
        share in 0.01..1.0_f64,
        key in any::<u64>(),
    ) {
        a.sort_unstable();
        b.sort_unstable();
        let both = kept_of_both(&a, &b, share, key);
        // Compared with itself, a set shares everything it keeps.
        let (of_a, of_b) = (kept_of_both(&a, &a, share, key), kept_of_both(&b, &b, share, key));
        prop_assert_eq!((both.a, both.b), (of_a.shared, of_b.shared));
        // The shared occurrences are those kept of the common part.
        let mut common = Vec::new();
        for x in 0..12 {
            let of = |elements: &[u64]| elements.iter().filter(|y| **y == x).count();
            common.extend(std::iter::repeat_n(x, of(&a).min(of(&b))));
        }
        prop_assert_eq!(both.shared, kept_of_both(&common, &common, share, key).a);
    }

    #[test]
    fn a_sample_is_a_part_of_its_elements(
        mut elements in proptest::collection::vec(0_u64..30, 0..200),
        number in 0_usize..250,
        seed in any::<u64>(),
    ) {
        elements.sort_unstable();
        let sample = random_sample(&elements, number, seed);
        prop_assert_eq!(sample.len(), number.min(elements.len()));
        prop_assert_eq!(Overlap::of_multisets(&sample, &elements).shared as usize, sample.len());
    }
}
