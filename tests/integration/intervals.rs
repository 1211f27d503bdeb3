//! The coverage of intervals, measured with real sketches of sets of known similarity.

use crate::support::{Random, text};
use rayon::prelude::*;
use twindex::{Index, Normalization, Shingle, Shingler, Sketcher, equal_lanes, wilson};

/// Two sets of `size` random hashes each, whose similarity is as near as possible to the given one,
/// and their true similarity.
fn two_sets(random: &mut Random, size: usize, similarity: f64) -> (Vec<u64>, Vec<u64>, f64) {
    let common = (2.0 * size as f64 * similarity / (1.0 + similarity)).round() as usize;
    let all: Vec<u64> = (0..2 * size - common).map(|_| random.next()).collect();
    let (a, b) = (all[..size].to_vec(), all[size - common..].to_vec());
    (a, b, common as f64 / all.len() as f64)
}

/// The share of trials in which the 95 % interval held the similarity of two sets.
fn coverage(lanes: usize, size: usize, similarity: f64, trials: u64) -> f64 {
    let held = |trial: u64| {
        let mut random = Random(trial << 32 | (size as f64 * 1000.0 * similarity) as u64);
        let (a, b, truth) = two_sets(&mut random, size, similarity);
        let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, false, trial);
        let sketcher =
            Sketcher::new(shingler.expect("a valid shingle"), lanes, trial).expect("valid");
        let (a, b) = (sketcher.signature_of_hashes(&a), sketcher.signature_of_hashes(&b));
        let estimate = a.similarity(&b).expect("neither is empty");
        u64::from(estimate.low <= truth && truth <= estimate.high)
    };
    (0..trials).into_par_iter().map(held).sum::<u64>() as f64 / trials as f64
}

#[test]
fn intervals_hold_the_truth_between_93_and_98_5_percent_of_the_time() {
    // The sets have many more elements than lanes, so the law of the error applies.
    for (lanes, size) in [(64, 512), (64, 1_536), (128, 1_024), (256, 2_048), (512, 4_096)] {
        for similarity in [0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.99] {
            // The standard error of the share is 0.0056.
            let held = coverage(lanes, size, similarity, 1_500);
            let what = format!("{lanes} lanes, {size} elements, J = {similarity}");
            assert!((0.93..=0.985).contains(&held), "{what}: {held}");
        }
    }
}

#[test]
fn intervals_of_small_sets_hold_more_often() {
    for size in [20, 100, 300] {
        for similarity in [0.2, 0.5, 0.8] {
            let held = coverage(256, size, similarity, 2_000);
            assert!(held >= 0.96, "{size} elements, J = {similarity}: {held}");
        }
    }
}

#[test]
fn a_confidence_changes_the_interval_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = Index::create(folder.path().join("c.twx")).expect("a new index");
    let (a, b) = (text(1, 0, 100), text(1, 1, 100));
    let mut txn = index.begin_write().expect("a transaction");
    txn.insert("a", &a).expect("inserted");
    txn.insert("b", &b).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let equal = equal_lanes(
        snapshot.get("a").expect("readable").expect("there").signature.lanes(),
        snapshot.get("b").expect("readable").expect("there").signature.lanes(),
    );
    for (confidence, z) in [(0.5, 0.674_489_750_196_082), (0.99, 2.575_829_303_548_901)] {
        let (low, high) = wilson(equal as u32, 256, z);
        let expected = [low, high].map(|share| (share * 256.0 - 1.0) / 255.0);
        let query = snapshot.query().confidence(confidence).excluding("a").by_text(&a);
        let found = query.expect("an answer").into_iter().next().expect("a match");
        let mut pairs = snapshot.pairs(0.5).expect("pairs").confidence(confidence).expect("valid");
        let pair = pairs.next().expect("a pair").expect("readable");
        for (got, what) in [([found.low, found.high], "query"), ([pair.low, pair.high], "pairs")] {
            let near = got.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-12);
            assert!(near, "{what} at {confidence}: {got:?}, not {expected:?}");
        }
        assert_eq!(found.similarity, pair.similarity);
    }
    assert!(snapshot.query().confidence(1.0).by_text(&a).is_err());
    assert!(snapshot.pairs(0.5).expect("pairs").confidence(0.0).is_err());
}
