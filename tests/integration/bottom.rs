//! Bottom-k sketches: bias, error and intervals over many sets, and over shingles of real text.

use crate::support::Random;
use rayon::prelude::*;
use std::collections::BTreeSet;
use twindex::{BottomK, Estimate, Normalization, Shingle, Shingler};

/// A trial's error and whether its interval held the truth.
type Trial = (f64, bool);

/// The mean error, the root mean square error, and the share of intervals that held the truth.
fn summary(trials: u64, trial: impl Fn(u64) -> Trial + Sync) -> (f64, f64, f64) {
    let all: Vec<Trial> = (0..trials).into_par_iter().map(&trial).collect();
    let mean = |of: &dyn Fn(&Trial) -> f64| all.iter().map(of).sum::<f64>() / trials as f64;
    let (bias, square) = (mean(&|(error, _)| *error), mean(&|(error, _)| error * error));
    (bias, square.sqrt(), mean(&|(_, held)| f64::from(u8::from(*held))))
}

fn sketch(size: usize, hashes: &[u64]) -> BottomK {
    BottomK::from_hashes(size, hashes.iter().copied()).expect("a valid size")
}

#[test]
fn similarity_and_containment_have_the_error_of_a_sample() {
    let (size, union, trials) = (128, 2_560, 2_000);
    for similarity in [0.1, 0.5, 0.8, 0.95] {
        // The number of shared elements gives the similarity; the second set is the smaller one.
        let shared = (union as f64 * similarity) as usize;
        let of_a = shared + 3 * (union - shared) / 4;
        let sketches = |trial: u64| {
            let mut random = Random(trial << 20 | shared as u64);
            let all: Vec<u64> = (0..union).map(|_| random.next()).collect();
            (sketch(size, &all[..of_a]), sketch(size, &all[of_a - shared..]))
        };
        let estimates: Vec<[Estimate; 2]> = (0..trials)
            .into_par_iter()
            .map(sketches)
            .map(|(a, b)| [a.similarity(&b), a.containment(&b)])
            .collect();
        for (at, from) in [union, of_a].into_iter().enumerate() {
            let truth = shared as f64 / from as f64;
            let (bias, error, held) = summary(trials, |trial| {
                let got = estimates[trial as usize][at];
                (got.similarity - truth, got.low <= truth && truth <= got.high)
            });
            // The number of the k smallest hashes that belong to the set of which the share is
            // taken.
            let drawn = (size * from) as f64 / union as f64;
            let deviation = (truth * (1.0 - truth) / drawn).sqrt();
            let what = format!("a share of {truth:.3} of {from}");
            assert!(bias.abs() < 4.0 * deviation / (trials as f64).sqrt(), "{what}: bias {bias}");
            // Sampling without replacement errs a little less than the binomial law.
            let ratio = error / deviation;
            assert!((0.91..1.05).contains(&ratio), "{what}: error {ratio} of the binomial");
            assert!((0.93..=0.985).contains(&held), "{what}: held {held}");
        }
    }
}

#[test]
fn a_count_is_unbiased_and_has_the_error_of_its_law() {
    let trials = 2_000;
    for (size, elements) in [(3, 1_000), (16, 1_000), (64, 2_000), (256, 8_000)] {
        let truth = elements as f64;
        let (bias, error, held) = summary(trials, |trial| {
            let mut random = Random(trial << 20 | elements as u64);
            let hashes: Vec<u64> = (0..elements).map(|_| random.next()).collect();
            let got = sketch(size, &hashes).cardinality();
            (got.count / truth - 1.0, got.low <= truth && truth <= got.high)
        });
        let deviation = 1.0 / (size as f64 - 2.0).sqrt();
        let what = format!("{elements} by {size}");
        assert!(bias.abs() < 4.0 * error / (trials as f64).sqrt(), "{what}: bias {bias}");
        // With 3 hashes, the variance of the error is too large for a sample to estimate.
        if size > 3 {
            let ratio = error / deviation;
            assert!((0.93..1.06).contains(&ratio), "{what}: error {ratio} of the law");
        }
        assert!((0.93..=0.985).contains(&held), "{what}: held {held}");
    }
}

#[test]
fn intervals_are_conservative_for_sets_not_much_larger_than_the_sketch() {
    let truth = 0.5;
    let (_, error, held) = summary(2_000, |trial| {
        let mut random = Random(trial);
        let all: Vec<u64> = (0..400).map(|_| random.next()).collect();
        let got = sketch(256, &all[..300]).similarity(&sketch(256, &all[100..]));
        (got.similarity - truth, got.low <= truth && truth <= got.high)
    });
    // 256 of 400 are drawn: the hypergeometric correction for a finite population applies.
    let expected = (0.25_f64 / 256.0 * (400.0 - 256.0) / 399.0).sqrt();
    assert!((0.95..1.05).contains(&(error / expected)), "{error}, not {expected}");
    assert!(held > 0.99, "{held}");
}

#[test]
fn shingles_of_real_text_do_not_bias_the_sketch() {
    let luke = include_str!("../../crates/lab/data/gospels/en_kjv_luke.txt");
    let words: Vec<&str> = luke.split_whitespace().collect();
    let (a, b) = (words[..2_000].join(" "), words[1_000..3_000].join(" "));
    let runs = 200;
    for shingle in [Shingle::chars(5), Shingle::chars(12), Shingle::words(2)] {
        let shingler = |seed| {
            let shingler = Shingler::new(shingle, Normalization::default(), false, seed);
            shingler.expect("a valid shingle")
        };
        let set = |text: &str| shingler(0).hashes(text).into_iter().collect::<BTreeSet<u64>>();
        let (x, y) = (set(&a), set(&b));
        let truth = x.intersection(&y).count() as f64 / x.union(&y).count() as f64;
        let (of_similarity, of_count) = (0..runs)
            .into_par_iter()
            .map(|seed| {
                let of = |text| BottomK::of_text(128, &shingler(seed), text).expect("valid");
                let (a, b) = (of(&a), of(&b));
                let count = a.cardinality().count / x.len() as f64 - 1.0;
                (a.similarity(&b).similarity - truth, count)
            })
            .reduce(|| (0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let errors = [(truth * (1.0 - truth) / 128.0).sqrt(), 1.0 / 126_f64.sqrt()];
        for (sum, deviation) in [of_similarity, of_count].into_iter().zip(errors) {
            let (bias, error) = (sum / runs as f64, deviation / (runs as f64).sqrt());
            assert!(bias.abs() < 4.0 * error, "{shingle}, J = {truth}: bias {bias}");
        }
    }
}

#[test]
fn a_text_and_its_hashes_give_one_sketch() {
    for multiset in [false, true] {
        let shingler = Shingler::new(Shingle::chars(3), Normalization::default(), multiset, 5);
        let shingler = shingler.expect("a valid shingle");
        for text in ["", "ab", "abcabcabcabc and so on, and so on", &"many words ".repeat(3_000)] {
            let hashes = shingler.hashes(text);
            let of_text = BottomK::of_text(16, &shingler, text).expect("a valid size");
            assert_eq!(of_text, sketch(16, &hashes), "{text:.20}");
            let distinct = hashes.into_iter().collect::<BTreeSet<u64>>().len();
            assert_eq!(of_text.is_whole(), distinct <= 16, "{text:.20}");
        }
    }
}
