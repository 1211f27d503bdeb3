//! Multisets from end to end: estimates beside the sum of minima over the sum of maxima.

use crate::support::Place;
use std::collections::BTreeMap;
use twindex::{Agreement, Index, Lanes, Normalization, Shingle, Shingler, Sketcher};

/// A text full of repeated words.
fn words() -> Vec<&'static str> {
    include_str!("../../data/gospels/en_kjv_luke.txt").split_whitespace().collect()
}

fn similarity(a: &[&str], b: &[&str]) -> f64 {
    let mut counts = BTreeMap::<&str, [usize; 2]>::new();
    a.iter().for_each(|word| counts.entry(word).or_default()[0] += 1);
    b.iter().for_each(|word| counts.entry(word).or_default()[1] += 1);
    let minima: usize = counts.values().map(|[a, b]| a.min(b)).sum();
    minima as f64 / counts.values().map(|[a, b]| a.max(b)).sum::<usize>() as f64
}

#[test]
fn estimates_of_repetitive_text_have_no_bias_and_the_error_of_the_law() {
    let words = words();
    for (a, b) in [(0..3_000, 300..3_300), (0..3_000, 3_000..6_000), (0..500, 0..1_500)] {
        let (a, b) = (&words[a], &words[b]);
        let truth = similarity(a, b);
        let (a, b) = (a.join(" "), b.join(" "));
        let (runs, mut sum, mut squares) = (600, 0.0, 0.0);
        for seed in 0..runs {
            let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, true, seed);
            let sketcher = Sketcher::new(shingler.expect("valid"), Lanes::DEFAULT, seed);
            let estimate = sketcher.signature(&a).similarity(&sketcher.signature(&b));
            let error = estimate.expect("neither is empty").similarity - truth;
            (sum, squares) = (sum + error, squares + error * error);
        }
        let expected = Agreement::variance(truth, 256).sqrt();
        let (bias, rms) = (sum / runs as f64, (squares / runs as f64).sqrt());
        assert!(bias.abs() < 4.0 * expected / (runs as f64).sqrt(), "J = {truth}: bias {bias}");
        // So few runs know the error to some 3 %.
        assert!(rms <= 1.08 * expected, "J = {truth}: error {rms}, formula {expected}");
    }
}

#[test]
fn pairs_and_queries_of_an_index_of_multisets_are_those_of_brute_force() {
    let words = words();
    let place = Place::new();
    let options = Index::options().multiset(true).shingle(Shingle::Tokens);
    let index = options.create(place.index()).expect("created");
    // Each shares 93 % of its words with the next, 86 % with the one after it, and so on.
    let documents: Vec<&[&str]> = (0..150).map(|n| &words[70 * n..70 * n + 1_000]).collect();
    let mut txn = index.begin_write().expect("a transaction");
    for (number, document) in documents.iter().enumerate() {
        txn.insert(&format!("{number:03}"), &document.join(" ")).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let found: BTreeMap<(String, String), f64> = snapshot
        .pairs(0.8)
        .expect("a threshold")
        .map(|pair| pair.map(|pair| ((pair.a, pair.b), pair.similarity)).expect("a pair"))
        .collect();
    let mut well_above = 0;
    for (i, a) in documents.iter().enumerate() {
        for (j, b) in documents.iter().enumerate().skip(i + 1) {
            let truth = similarity(a, b);
            let error = Agreement::variance(truth, 256).sqrt();
            let pair = found.get(&(format!("{i:03}"), format!("{j:03}")));
            match pair {
                Some(near) => assert!((near - truth).abs() < 5.0 * error, "{near}, truly {truth}"),
                None => assert!(truth < 0.8 + 5.0 * error, "{i} {j}: {truth} is missed"),
            }
            well_above += usize::from(truth >= 0.8 + 5.0 * error);
        }
        let matches = snapshot.query().by_text(&a.join(" ")).expect("asked");
        for other in matches.iter().filter(|other| other.id != format!("{i:03}")) {
            let own = format!("{i:03}");
            let pair = if own < other.id { (own, other.id.clone()) } else { (other.id.clone(), own) };
            assert_eq!(found.get(&pair), Some(&other.similarity), "{pair:?}");
        }
    }
    assert!(well_above >= 100, "{well_above} pairs are well above the threshold");
}
