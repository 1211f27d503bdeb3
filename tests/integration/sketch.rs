//! The statistics of the sketch: no bias, at most the error of independent hashes, and bands that
//! collide with the probability of the formula.

use crate::support::Random;
use twindex::{Agreement, Normalization, Shingle, Shingler, Sketcher, candidate_probability};

fn sketcher(lanes: usize, seed: u64) -> Sketcher {
    let shingler = Shingler::new(Shingle::chars(9), Normalization::default(), false, seed)
        .expect("a valid shingle");
    Sketcher::new(shingler, lanes, seed).expect("valid lanes")
}

/// Two sets of `size` random hashes each, whose similarity is as near as possible to the given one,
/// and their true similarity.
fn two_sets(random: &mut Random, size: usize, similarity: f64) -> (Vec<u64>, Vec<u64>, f64) {
    let common = (2.0 * size as f64 * similarity / (1.0 + similarity)).round() as usize;
    let shared: Vec<u64> = (0..common).map(|_| random.next()).collect();
    let mut with_own = || {
        let mut set = shared.clone();
        set.extend((common..size).map(|_| random.next()));
        set
    };
    let (a, b) = (with_own(), with_own());
    (a, b, common as f64 / (2 * size - common) as f64)
}

/// The tested sizes, each with the similarities that sets of that size can have.
fn cases() -> Vec<(usize, f64)> {
    let mut cases = Vec::new();
    for size in [2, 5, 20, 100, 1_000, 10_000] {
        for similarity in [0.2, 0.5, 0.8, 0.95] {
            let (_, _, real) = two_sets(&mut Random(0), size, similarity);
            if (real - similarity).abs() < 0.15 && real < 1.0 && real > 0.0 {
                cases.push((size, similarity));
            }
        }
    }
    cases
}

#[test]
fn full_lanes_agree_without_bias_and_no_worse_than_independent_hashes() {
    let mut random = Random(2026);
    for lanes in [64, 256] {
        for (size, similarity) in cases() {
            // The standard error of the ratio of two root mean squares is about 1/sqrt(2 runs).
            let runs = if size >= 10_000 { 500 } else { 3_000 };
            let (mut sum, mut squares, mut real) = (0.0, 0.0, 0.0);
            for run in 0..runs {
                let sketcher = sketcher(lanes, run);
                let (a, b, truth) = two_sets(&mut random, size, similarity);
                let a = sketcher.sketch_of_hashes(&a).expect("not empty");
                let b = sketcher.sketch_of_hashes(&b).expect("not empty");
                let equal = a.lanes().iter().zip(b.lanes()).filter(|(x, y)| x == y).count();
                let error = equal as f64 / lanes as f64 - truth;
                (sum, squares, real) = (sum + error, squares + error * error, truth);
            }
            let binomial = (real * (1.0 - real) / lanes as f64).sqrt();
            let standard_error = binomial / (runs as f64).sqrt();
            let (bias, rms) = (sum / runs as f64, (squares / runs as f64).sqrt());
            let what = format!("{lanes} lanes, {size} elements, J = {real:.3}");
            assert!(bias.abs() < 4.0 * standard_error, "{what}: bias {bias}");
            assert!(rms <= 1.05 * binomial, "{what}: error {:.3} of binomial", rms / binomial);
        }
    }
}

#[test]
fn stored_lanes_give_an_unbiased_estimate_with_the_variance_of_the_formula() {
    let mut random = Random(7);
    let (lanes, runs) = (256, 4_000);
    for similarity in [0.2, 0.5, 0.8, 0.95] {
        let (mut sum, mut squares, mut real) = (0.0, 0.0, 0.0);
        for run in 0..runs {
            let sketcher = sketcher(lanes, run);
            let (a, b, truth) = two_sets(&mut random, 1_000, similarity);
            let (a, b) = (sketcher.signature_of_hashes(&a), sketcher.signature_of_hashes(&b));
            let error = a.similarity(&b).expect("neither is empty").similarity - truth;
            (sum, squares, real) = (sum + error, squares + error * error, truth);
        }
        let expected = Agreement::variance(real, lanes).sqrt();
        let (bias, rms) = (sum / runs as f64, (squares / runs as f64).sqrt());
        assert!(bias.abs() < 4.0 * expected / (runs as f64).sqrt(), "J = {real}: bias {bias}");
        assert!(rms <= 1.05 * expected, "J = {real}: error {rms}, formula {expected}");
    }
}

#[test]
fn shingles_of_real_text_do_not_bias_the_sketch() {
    let verses = include_str!("../../crates/lab/data/gospels/en_kjv_luke.txt");
    let words: Vec<&str> = verses.split_whitespace().collect();
    // Two parts of natural text that overlap by half, so their shingles are not random hashes.
    let (a, b) = (words[..3_000].join(" "), words[1_500..4_500].join(" "));
    for shingle in [Shingle::chars(5), Shingle::chars(9), Shingle::chars(12), Shingle::words(3)] {
        let set = |text: &str| -> std::collections::BTreeSet<u64> {
            let shingler = Shingler::new(shingle, Normalization::default(), false, 0);
            shingler.expect("a valid shingle").hashes(text).into_iter().collect()
        };
        let (x, y) = (set(&a), set(&b));
        let common = x.intersection(&y).count() as f64;
        let truth = common / ((x.len() + y.len()) as f64 - common);
        let runs = 400;
        let mut sum = 0.0;
        for seed in 0..runs {
            let shingler = Shingler::new(shingle, Normalization::default(), false, seed);
            let sketcher =
                Sketcher::new(shingler.expect("a valid shingle"), 256, seed).expect("valid");
            let estimate = sketcher
                .signature(&a)
                .expect("a text")
                .similarity(&sketcher.signature(&b).expect("a text"));
            sum += estimate.expect("neither is empty").similarity - truth;
        }
        let bias = sum / runs as f64;
        let standard_error = (Agreement::variance(truth, 256) / runs as f64).sqrt();
        assert!(bias.abs() < 4.0 * standard_error, "{shingle}: J = {truth}, bias {bias}");
    }
}

#[test]
fn bands_collide_as_often_as_the_formula_says() {
    let mut random = Random(99);
    let runs = 6_000;
    for (similarity, depth, bands) in
        [(0.5, 2, 17), (0.6, 3, 20), (0.7, 5, 26), (0.8, 6, 16), (0.9, 6, 7), (0.8, 6, 10)]
    {
        let (mut met, mut real) = (0, 0.0);
        for run in 0..runs {
            let sketcher = sketcher(256, run);
            let (a, b, truth) = two_sets(&mut random, 500, similarity);
            let (a, b) = (sketcher.signature_of_hashes(&a), sketcher.signature_of_hashes(&b));
            met += usize::from(crate::support::meet(&a, &b, bands, depth));
            real = truth;
        }
        let share = met as f64 / runs as f64;
        let formula = candidate_probability(real, depth as u32, bands);
        assert!((share - formula).abs() < 0.02, "{similarity} {depth} {bands}: {share} {formula}");
    }
}

#[test]
fn order_and_repetition_do_not_matter() {
    let mut random = Random(4);
    for lanes in [64, 128, 256, 512] {
        let sketcher = sketcher(lanes, 1);
        for size in [1, 3, 50, 700, 70_000] {
            let set: Vec<u64> = (0..size).map(|_| random.next()).collect();
            let mut shuffled = set.clone();
            shuffled.reverse();
            shuffled.extend_from_slice(&set[..size / 2]);
            shuffled.rotate_left(size / 3);
            assert_eq!(sketcher.sketch_of_hashes(&set), sketcher.sketch_of_hashes(&shuffled));
            assert_eq!(sketcher.signature_of_hashes(&set), sketcher.signature_of_hashes(&shuffled));
        }
    }
    assert!(sketcher(256, 0).sketch_of_hashes(&[]).is_none());
}

#[test]
fn the_merged_sketch_is_the_sketch_of_the_union() {
    let mut random = Random(5);
    for lanes in [64, 128, 256, 512] {
        let sketcher = sketcher(lanes, 3);
        for (first, second) in [(1, 1), (1, 400), (10, 10), (300, 20), (5_000, 5_000)] {
            let a: Vec<u64> = (0..first).map(|_| random.next()).collect();
            let mut b: Vec<u64> = (0..second).map(|_| random.next()).collect();
            b.extend_from_slice(&a[..first / 2]);
            let mut merged = sketcher.sketch_of_hashes(&a).expect("not empty");
            merged.merge(&sketcher.sketch_of_hashes(&b).expect("not empty"));
            let union = [a, b].concat();
            assert_eq!(Some(merged), sketcher.sketch_of_hashes(&union), "{first} and {second}");
        }
    }
}

#[test]
fn a_text_and_its_hashes_give_one_signature() {
    for (text, shingle) in [
        ("short", Shingle::chars(9)),
        ("a somewhat longer text with a few words in it", Shingle::chars(4)),
        ("one two three four five six seven", Shingle::words(2)),
    ] {
        let shingler = Shingler::new(shingle, Normalization::default(), false, 0);
        let shingler = shingler.expect("a valid shingle");
        let hashes = shingler.hashes(text);
        let sketcher = Sketcher::new(shingler, 256, 0).expect("valid");
        assert_eq!(
            sketcher.signature(text).expect("a text"),
            sketcher.signature_of_hashes(&hashes)
        );
    }
}
