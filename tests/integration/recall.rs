//! The promised recall: similar documents become candidates with the requested probability.

use crate::support::{Place, Random, estimate, meet, probe};
use statrs::distribution::{Binomial, DiscreteCDF};
use twindex::{Document, Index, IndexOptions, Signature, Sketcher};

/// The signatures of two sets whose similarity is the smallest possible not below `similarity`.
pub fn pair(sketcher: &Sketcher, random: &mut Random, similarity: f64) -> (Signature, Signature) {
    let (size, union) = (400.0, 400.0 * 2.0 / (1.0 + similarity));
    let common = (similarity * union).ceil() as usize;
    let size = size as usize;
    let shared: Vec<u64> = (0..common).map(|_| random.next()).collect();
    let mut set = || {
        let mut set = shared.clone();
        set.extend((common..size).map(|_| random.next()));
        sketcher.signature_of_hashes(&set)
    };
    (set(), set())
}

/// Fills an index with one signature of each pair and queries for the other.
fn share_of_candidates(options: &IndexOptions, threshold: f64, ask_at: f64, pairs: usize) -> usize {
    let place = Place::new();
    let index = options.create(place.index()).expect("created");
    let mut random = Random((threshold * 1000.0) as u64 + 17);
    let mut asked = Vec::with_capacity(pairs);
    let mut documents = Vec::with_capacity(pairs);
    for number in 0..pairs {
        let (stored, other) = pair(index.sketcher(), &mut random, ask_at);
        let document = Document::from_signature(format!("{number}"), stored);
        documents.push(document.expect("a valid id"));
        asked.push(other);
    }
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().documents(documents).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let met = |(number, signature): (usize, &Signature)| {
        let query = snapshot.query().threshold(ask_at).all_candidates(true);
        let candidates = query.by_signature(signature).expect("an answer");
        candidates.iter().any(|candidate| candidate.id == number.to_string())
    };
    asked.iter().enumerate().map(met).filter(|met| *met).count()
}

/// A one-sided test. It fails if the probability of so few candidates is below 1 in 10,000.
pub fn assert_promised(found: usize, pairs: usize, recall: f64, what: &str) {
    let law = Binomial::new(recall, pairs as u64).expect("a probability");
    let chance = law.cdf(found as u64);
    assert!(chance > 1e-4, "{what}: {found} of {pairs} for a recall of {recall}");
}

#[test]
fn pairs_at_the_threshold_become_candidates_with_the_promised_recall() {
    let pairs = 2_000;
    for threshold in [0.5, 0.6, 0.7, 0.8, 0.9] {
        for recall in [0.9, 0.95, 0.99] {
            let options = Index::options().threshold(threshold).recall(recall).cache_bytes(4 << 20);
            let found = share_of_candidates(&options, threshold, threshold, pairs);
            let what = format!("threshold {threshold}");
            assert_promised(found, pairs, recall, &what);
        }
    }
}

#[test]
fn the_promise_holds_for_thresholds_other_than_the_index_threshold() {
    let options = Index::options().threshold(0.8).recall(0.95);
    for ask_at in [0.6, 0.7, 0.9] {
        let found = share_of_candidates(&options, 0.8, ask_at, 1_000);
        assert_promised(found, 1_000, 0.95, &format!("0.8 asked at {ask_at}"));
    }
}

#[test]
fn the_reported_recall_holds_for_a_threshold_that_is_too_low() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let snapshot = index.snapshot().expect("a snapshot");
    let matches = snapshot.query().threshold(0.2).by_text("some text").expect("an answer");
    let bands = snapshot.settings().plan.bands() as f64;
    let expected = 1.0 - (1.0 - 0.2_f64 * 0.2).powf(bands);
    assert!((matches.recall - expected).abs() < 1e-12, "{}", matches.recall);
    let scanned = snapshot.query().threshold(0.2).scan(true).by_text("some text");
    assert_eq!(scanned.expect("an answer").recall, 1.0);
}

/// Sets around a few centres, so that all similarities occur.
fn clusters(sketcher: &Sketcher, count: usize) -> Vec<Signature> {
    let mut random = Random(31);
    let mut out = Vec::with_capacity(count);
    for number in 0..count {
        let mut centre = Random(number as u64 / 20);
        let own = random.below(300) as usize;
        let set: Vec<u64> = (0..300)
            .map(|at| {
                let shared = centre.next();
                if at < own { random.next() } else { shared }
            })
            .collect();
        out.push(sketcher.signature_of_hashes(&set));
    }
    out
}

#[test]
fn every_answer_is_in_the_scan_and_guaranteed_pairs_are_found() {
    let place = Place::new();
    let index = Index::options().flush_documents(300).create(place.index()).expect("created");
    let signatures = clusters(index.sketcher(), 1_000);
    let mut txn = index.begin_write().expect("begun");
    for (number, signature) in signatures.iter().enumerate() {
        let document = Document::from_signature(format!("{number:04}"), signature.clone());
        txn.insertion().document(document.expect("a valid id")).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    for threshold in [0.5, 0.7, 0.8, 0.95] {
        let (bands, depth) = probe(snapshot.settings(), threshold);
        for asked in signatures.iter().step_by(7) {
            let answer = |scan| {
                let query = snapshot.query().threshold(threshold).scan(scan);
                let matches = query.by_signature(asked).expect("an answer");
                matches.into_iter().map(|m| (m.id, m.similarity)).collect::<Vec<_>>()
            };
            let (found, scanned) = (answer(false), answer(true));
            assert!(found.iter().all(|m| scanned.contains(m)), "an answer not in the scan");
            for (id, similarity) in &scanned {
                let other = &signatures[id.parse::<usize>().expect("a number")];
                assert!((estimate(asked, other) - similarity).abs() < 1e-12);
                let unequal = asked.lanes().iter().zip(other.lanes()).filter(|(x, y)| x != y);
                let certain = unequal.count() < bands || meet(asked, other, bands, depth);
                let reported = found.iter().any(|m| m.0 == *id);
                assert!(!certain || reported, "{id} must meet in {bands} bands of {depth}");
            }
        }
    }
}

/// Signatures in small clusters. The lanes of each cluster are those of its first signature with
/// some of them changed; different clusters are unrelated.
fn clustered(count: usize, lanes: usize) -> Vec<Signature> {
    let mut random = Random(23);
    let mut base = Vec::new();
    let clustered = |number: usize| number.is_multiple_of(3) || number.is_multiple_of(7);
    (0..count)
        .map(|number| {
            if base.is_empty() || !clustered(number) {
                base = (0..lanes).map(|_| random.next() as u8).collect();
            }
            let mut own = base.clone();
            for _ in 0..random.below(40) {
                own[random.below(lanes as u64) as usize] = random.next() as u8;
            }
            Signature::from_lanes(own, 1000)
        })
        .collect()
}

#[test]
fn exactly_the_documents_that_share_a_bucket_are_candidates() {
    let place = Place::new();
    let options = Index::options().flush_documents(600).merge_runs(3);
    let mut index = options.create(place.index()).expect("created");
    let signatures = clustered(4_000, index.settings().lanes());
    let mut stored = Vec::new();
    for (batch, some) in signatures.chunks(450).enumerate() {
        let mut txn = index.begin_write().expect("begun");
        let document = |(at, signature): (usize, &Signature)| {
            Document::from_signature((450 * batch + at).to_string(), signature.clone())
        };
        let documents: Result<Vec<_>, _> = some.iter().enumerate().map(document).collect();
        txn.insertion().documents(documents.expect("valid")).expect("inserted");
        if batch % 2 == 1 {
            let gone: Vec<String> = (0..40).map(|n| (450 * batch + 11 * n).to_string()).collect();
            txn.remove_batch(&gone).expect("removed");
        }
        txn.commit().expect("committed");
    }
    for round in ["as loaded, filters there", "opened again, filters built on the way", "compacted"]
    {
        let snapshot = index.snapshot().expect("a snapshot");
        stored.clear();
        for id in snapshot.ids() {
            let id = id.expect("readable");
            stored.push((snapshot.get(&id).expect("readable").expect("there").signature, id));
        }
        let (bands, depth) = probe(snapshot.settings(), 0.8);
        for (at, asked) in signatures.iter().enumerate().step_by(10) {
            let query = snapshot.query().threshold(0.8).all_candidates(true);
            let found = query.by_signature(asked).expect("an answer");
            let mut found: Vec<&str> = found.iter().map(|found| found.id.as_str()).collect();
            let mut expected: Vec<&str> = stored
                .iter()
                .filter(|(other, _)| meet(asked, other, bands, depth))
                .map(|(_, id)| id.as_str())
                .collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{round}: those of {at}");
        }
        drop(snapshot);
        match round {
            "opened again, filters built on the way" => index.compact().run().expect("compacted"),
            _ => {
                drop(index);
                index = options.open(place.index()).expect("opened");
            }
        }
    }
}
