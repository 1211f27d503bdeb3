//! Compares estimates for multisets with the sum of minima over the sum of maxima.

use crate::found::similar_pairs;
use crate::support::Place;
use std::collections::BTreeMap;
use twindex::{Agreement, Index, Normalization, Shingle, Shingler, Sketcher};

/// A text full of repeated words.
fn words() -> Vec<&'static str> {
    include_str!("../../crates/lab/data/gospels/en_kjv_luke.txt").split_whitespace().collect()
}

fn counted<'a>(words: &[&'a str]) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    words.iter().for_each(|word| *counts.entry(*word).or_default() += 1);
    counts
}

fn similarity(a: &BTreeMap<&str, usize>, b: &BTreeMap<&str, usize>) -> f64 {
    let minima: usize = a.iter().map(|(word, n)| *n.min(b.get(word).unwrap_or(&0))).sum();
    // The maximum of two numbers is their sum less their minimum.
    minima as f64 / (a.values().sum::<usize>() + b.values().sum::<usize>() - minima) as f64
}

#[test]
fn estimates_for_repetitive_text_are_unbiased_with_the_expected_error() {
    let words = words();
    for (a, b) in [(0..2_000, 200..2_200), (0..2_000, 2_000..4_000), (0..300, 0..900)] {
        let (a, b) = (&words[a], &words[b]);
        let truth = similarity(&counted(a), &counted(b));
        let (a, b) = (a.join(" "), b.join(" "));
        let (runs, mut sum, mut squares) = (400, 0.0, 0.0);
        for seed in 0..runs {
            let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, true, seed);
            let sketcher = Sketcher::new(shingler.expect("valid"), 256, seed).expect("valid");
            let estimate = sketcher
                .signature(&a)
                .expect("a text")
                .similarity(&sketcher.signature(&b).expect("a text"));
            let error = estimate.expect("neither is empty").similarity - truth;
            (sum, squares) = (sum + error, squares + error * error);
        }
        let expected = Agreement::variance(truth, 256).sqrt();
        let (bias, rms) = (sum / runs as f64, (squares / runs as f64).sqrt());
        assert!(bias.abs() < 4.0 * expected / (runs as f64).sqrt(), "J = {truth}: bias {bias}");
        // This number of runs measures the error to about 3.5 %.
        assert!(rms <= 1.1 * expected, "J = {truth}: error {rms}, formula {expected}");
    }
}

#[test]
fn pairs_and_queries_in_an_index_of_multisets_agree_with_brute_force() {
    let words = words();
    let place = Place::new();
    let options = Index::options().multiset(true).shingle(Shingle::Tokens);
    let index = options.create(place.index()).expect("created");
    // Each shares 95 % of its words with the next, 90 % with the one after it, and so on.
    let documents: Vec<&[&str]> = (0..100).map(|n| &words[30 * n..30 * n + 600]).collect();
    let counts: Vec<_> = documents.iter().map(|document| counted(document)).collect();
    let mut txn = index.begin_write().expect("a transaction");
    for (number, document) in documents.iter().enumerate() {
        txn.insert(&format!("{number:03}"), &document.join(" ")).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let found = similar_pairs(&snapshot, 0.8);
    let mut well_above = 0;
    for (i, a) in documents.iter().enumerate() {
        for (j, b) in counts.iter().enumerate().skip(i + 1) {
            let truth = similarity(&counts[i], b);
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
            let pair =
                if own < other.id { (own, other.id.clone()) } else { (other.id.clone(), own) };
            assert_eq!(found.get(&pair), Some(&other.similarity), "{pair:?}");
        }
    }
    assert!(well_above >= 80, "{well_above} pairs are well above the threshold");
}
