//! Weighted sets: the statistics of their sketch, and indexes of them compared with brute force.

use crate::found::similar_pairs;
use crate::support::{Place, Random, assert_clean, estimate};
use std::collections::BTreeMap;
use twindex::{
    Agreement, Document, Error, Index, Normalization, Outcome, Shingle, Shingler, Sketcher, Tokens,
    Weights,
};

type Set = BTreeMap<String, f64>;

fn sketcher(lanes: usize, seed: u64) -> Sketcher {
    let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, false, seed);
    Sketcher::weighted(shingler.expect("valid"), lanes, seed).expect("tokens")
}

fn weights(set: &Set) -> Weights {
    Weights::new(set.clone()).expect("valid weights")
}

/// The sum of minima over the sum of maxima.
fn similarity(a: &Set, b: &Set) -> f64 {
    let of = |set: &Set, token: &String| set.get(token).copied().unwrap_or(0.0);
    let all: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let minima: f64 = all.iter().map(|token| of(a, token).min(of(b, token))).sum();
    minima / all.iter().map(|token| of(a, token).max(of(b, token))).sum::<f64>()
}

/// A random number from 0 to 1.
fn share(random: &mut Random) -> f64 {
    random.below(1 << 50) as f64 / (1_u64 << 50) as f64
}

/// A random weight from 1e-3 to 1e6, uniform in its logarithm.
fn weight(random: &mut Random) -> f64 {
    10.0_f64.powf(9.0 * share(random) - 3.0)
}

/// The way in which the second set differs from the first.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// All weights are multiplied by this factor.
    Scaled(f64),
    /// This share of the tokens has another weight.
    Drawn(f64),
    /// This share of the tokens is missing in one of the sets.
    Missing(f64),
}

fn two_sets(random: &mut Random, size: usize, change: Change) -> (Set, Set) {
    let (mut a, mut b) = (Set::new(), Set::new());
    for token in 0..size {
        let token = token.to_string();
        let first = weight(random);
        let (first, second) = match change {
            Change::Scaled(factor) => (first, first * factor),
            Change::Drawn(part) if share(random) < part => (first, weight(random)),
            Change::Missing(part) if share(random) < part && random.below(2) == 0 => (first, 0.0),
            Change::Missing(part) if share(random) < part => (0.0, first),
            Change::Drawn(_) | Change::Missing(_) => (first, first),
        };
        a.insert(token.clone(), first);
        b.insert(token, second);
    }
    (a, b)
}

#[test]
fn lanes_agree_without_bias_like_independent_ones_over_nine_powers_of_ten() {
    let mut random = Random(2020);
    let cases = [
        (1, Change::Scaled(0.5)),
        (3, Change::Scaled(0.05)),
        (40, Change::Scaled(0.95)),
        (40, Change::Scaled(1e-6)),
        (100, Change::Drawn(0.1)),
        (100, Change::Missing(0.2)),
        (300, Change::Drawn(1.0)),
        (1_000, Change::Missing(0.1)),
    ];
    for lanes in [64, 256] {
        for (size, change) in cases {
            let runs = if size >= 300 { 200 } else { 1_000 };
            let (mut sum, mut squares, mut variance, mut mean) = (0.0, 0.0, 0.0, 0.0);
            let (mut stored, mut stored_variance) = (0.0, 0.0);
            for run in 0..runs {
                let sketcher = sketcher(lanes, run);
                let (a, b) = two_sets(&mut random, size, change);
                let truth = similarity(&a, &b);
                let full = |set: &Set| {
                    let sketch = sketcher.sketch(&weights(set)).expect("weights");
                    sketch.expect("not empty")
                };
                let (x, y) = (full(&a), full(&b));
                let equal = x.lanes().iter().zip(y.lanes()).filter(|(x, y)| x == y).count();
                let error = equal as f64 / lanes as f64 - truth;
                (sum, squares) = (sum + error, squares + error * error);
                variance += truth * (1.0 - truth) / lanes as f64;
                mean += truth / runs as f64;
                let (x, y) = (x.truncated(), y.truncated());
                let equal = x.iter().zip(&y).filter(|(x, y)| x == y).count();
                // Not clamped to 0, because that would bias the mean.
                let agreed = equal as f64 / lanes as f64;
                stored += (agreed - 1.0 / 256.0) / (1.0 - 1.0 / 256.0) - truth;
                stored_variance += Agreement::variance(truth, lanes);
            }
            let what = format!("{lanes} lanes, {size} tokens, {change:?}, mean J {mean:.3}");
            assert!(sum.abs() < 4.0 * variance.sqrt() + 1e-9, "{what}: bias {}", sum / runs as f64);
            let bias = stored / runs as f64;
            assert!(stored.abs() < 4.0 * stored_variance.sqrt(), "{what}: bias of bytes {bias}");
            // The standard error of the ratio is about 1/sqrt(2 runs), and larger if most runs are
            // equal.
            let ratio = (squares / variance).sqrt();
            assert!(mean < 0.01 || ratio <= 1.05 + 1.0 / (runs as f64).sqrt(), "{what}: {ratio}");
        }
    }
}

#[test]
fn the_merged_sketch_is_that_of_the_greater_weights() {
    let mut random = Random(6);
    let sketcher = sketcher(128, 0);
    for size in [1, 20, 500] {
        let (a, b) = two_sets(&mut random, size, Change::Drawn(0.5));
        let greater: Set = a.iter().map(|(token, x)| (token.clone(), x.max(b[token]))).collect();
        let sketch =
            |set: &Set| sketcher.sketch(&weights(set)).expect("weights").expect("not empty");
        let mut merged = sketch(&a);
        merged.merge(&sketch(&b));
        assert_eq!(merged, sketch(&greater), "{size}");
    }
}

#[test]
fn the_size_of_a_weighted_set_is_its_number_of_tokens() {
    let mut random = Random(8);
    for size in [1, 50, 3_000] {
        let (set, _) = two_sets(&mut random, size, Change::Scaled(1.0));
        let signature = sketcher(64, 0).signature(&weights(&set)).expect("weights");
        let counted = signature.set_size().estimate();
        assert!((counted / size as f64 - 1.0).abs() < 0.01, "{counted} of {size}");
    }
}

#[test]
fn pairs_in_an_index_of_weights_agree_with_brute_force() {
    let mut random = Random(31);
    let place = Place::new();
    let index = Index::options().weighted(true).create(place.index()).expect("created");
    let mut sets: Vec<Set> = Vec::new();
    for family in 0..60 {
        let first: Set = (0..60).map(|n| (format!("{family}-{n}"), weight(&mut random))).collect();
        for member in 0_u32..5 {
            // Similarity falls with distance, down to about 0.6.
            let spread = f64::from(member) * 0.12;
            let changed = first.iter().map(|(token, weight)| {
                (token.clone(), weight * (1.0 - spread * share(&mut random)))
            });
            sets.push(changed.collect());
        }
    }
    let mut txn = index.begin_write().expect("a transaction");
    for (number, set) in sets.iter().enumerate() {
        txn.insert(&format!("{number:03}"), &weights(set)).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let found = similar_pairs(&snapshot, 0.8);
    let signature = |id: &str| snapshot.get(id).expect("read").expect("there").signature;
    let (mut above, mut missed) = (0, 0);
    let signatures: Vec<_> = (0..sets.len()).map(|n| signature(&format!("{n:03}"))).collect();
    for (i, a) in sets.iter().enumerate() {
        for (j, b) in sets.iter().enumerate().skip(i + 1) {
            // Sets of different families share nothing.
            let truth = if i / 5 == j / 5 { similarity(a, b) } else { 0.0 };
            let (a, b) = (format!("{i:03}"), format!("{j:03}"));
            let near = estimate(&signatures[i], &signatures[j]);
            let error = if truth > 0.0 { Agreement::variance(truth, 256).sqrt() } else { 0.01 };
            assert!((near - truth).abs() < 5.0 * error + 1e-9, "{a} {b}: {near}, truly {truth}");
            let pair = found.get(&(a, b)).copied();
            assert!(pair.is_none_or(|pair| (pair - near).abs() < 1e-9));
            if near >= 0.8 {
                above += 1;
                missed += u32::from(pair.is_none());
            } else {
                assert_eq!(pair, None);
            }
        }
    }
    // The promised recall is 0.99 at the threshold, and most of these pairs are above it.
    assert!(above > 200 && missed <= above / 100, "{missed} of {above} missed");
    for (i, set) in sets.iter().enumerate() {
        let matches = snapshot.query().by_content(&weights(set)).expect("asked");
        assert_eq!(matches.first().map(|first| first.similarity), Some(1.0), "{i}");
    }
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn weights_that_a_known_document_contains_wholly_are_removed_and_others_spared() {
    let mut random = Random(97);
    let place = Place::new();
    let options = Index::options().weighted(true).store_text(true).threshold(0.5);
    let index = options.create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("a transaction");
    let mut judge = |id: &str, set: &Set| {
        let document = index.prepare(id, &weights(set)).expect("prepared");
        txn.insertion().unless_similar(0.5).if_contained(1.0).document(document).expect("judged")
    };
    for family in 0..50 {
        // The sums of the last families are greater than any double.
        let scale = if family < 40 { 1.0 } else { f64::MAX };
        let mut weight = || (0.5 + 0.5 * share(&mut random)) * scale;
        let whole: Set = (0..9).map(|n| (format!("{family}-{n}"), weight())).collect();
        let part: Set = whole.iter().skip(1).map(|(token, w)| (token.clone(), *w)).collect();
        let mut other = whole.clone();
        other.insert("another".to_owned(), weight());
        let of_whole = judge(&format!("{family} whole"), &whole);
        assert!(matches!(of_whole, Outcome::Inserted(_)), "{family}: {of_whole:?}");
        let of_part = judge(&format!("{family} part"), &part);
        assert!(matches!(of_part, Outcome::Duplicate { .. }), "{family}: {of_part:?}");
        let of_other = judge(&format!("{family} other"), &other);
        assert!(matches!(of_other, Outcome::Spared { .. }), "{family}: {of_other:?}");
    }
}

#[test]
fn the_kind_of_an_index_never_changes() {
    let place = Place::new();
    let weighted = || Index::options().weighted(true);
    weighted().create(place.index()).expect("created");
    let stored = *Index::open(place.index()).expect("opened").settings();
    assert!(stored.weighted && !stored.multiset && stored.shingle == Shingle::Tokens);
    assert_eq!(stored.normalization, Normalization::NONE);
    assert!(weighted().open(place.index()).is_ok());
    for other in [Index::options().weighted(false), Index::options().multiset(true)] {
        let refused = other.open(place.index());
        assert!(matches!(refused, Err(Error::SettingMismatch { .. })), "{other:?}");
    }
    for impossible in [weighted().multiset(true), weighted().shingle(Shingle::chars(9))] {
        let refused = impossible.create(place.path("other.twx"));
        assert!(matches!(refused, Err(Error::InvalidSetting { setting: "weighted", .. })));
    }
}

#[test]
fn inserting_a_text_into_an_index_of_weights_is_an_error() {
    let place = Place::new();
    let index = Index::options().weighted(true).create(place.index()).expect("created");
    let tokens = Tokens::new(["sea", "ship"]).expect("tokens");
    let stored = Weights::new([("sea", 1.5)]).expect("weights").to_export();
    let mut txn = index.begin_write().expect("a transaction");
    // Even the stored form of weights is refused if it is passed as a text.
    for text in ["some text", "", stored.as_str()] {
        assert!(matches!(txn.insert("a", text), Err(Error::NotWeights)));
        assert!(matches!(txn.insert_unless_similar("a", text), Err(Error::NotWeights)));
        assert!(matches!(index.prepare("a", text), Err(Error::NotWeights)));
        assert!(matches!(index.sketcher().signature(text), Err(Error::NotWeights)));
        assert!(matches!(index.sketcher().sketch(text), Err(Error::NotWeights)));
    }
    assert!(matches!(txn.insert("a", &tokens), Err(Error::NotWeights)));
    let bare = index.sketcher().signature(&Weights::default()).expect("an empty set");
    let document = Document::from_signature("a", bare).expect("a valid id");
    let document = document.with_content("some text");
    let refused = txn.insertion().document(document);
    assert!(matches!(refused, Err(Error::NotWeights)));
    txn.insert("empty", &Weights::default()).expect("a set without tokens");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    assert!(matches!(snapshot.query().by_text("some text"), Err(Error::NotWeights)));
    assert!(matches!(snapshot.query().by_text(""), Err(Error::NotWeights)));
    assert!(matches!(snapshot.query().by_content(&tokens), Err(Error::NotWeights)));
    assert!(snapshot.query().by_content(&Weights::default()).expect("asked").is_empty());
}

#[test]
fn weights_and_tokens_are_refused_by_an_index_of_texts() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let tokens = Tokens::new(["sea", "ship"]).expect("tokens");
    let weights = Weights::new([("sea", 1.5)]).expect("weights");
    let mut txn = index.begin_write().expect("a transaction");
    assert!(matches!(txn.insert("a", &weights), Err(Error::UnexpectedWeights)));
    let refused = txn.insert_unless_similar("a", &weights);
    assert!(matches!(refused, Err(Error::UnexpectedWeights)));
    assert!(matches!(index.prepare("a", &weights), Err(Error::UnexpectedWeights)));
    assert!(matches!(index.sketcher().signature(&weights), Err(Error::UnexpectedWeights)));
    let hashed = index.sketcher().signature_of_weights(&[(1, 1.0)]);
    assert!(matches!(hashed, Err(Error::UnexpectedWeights)));
    let document = index.prepare("a", "some text of words").expect("prepared");
    let refused = txn.insertion().document(document.with_content(&weights));
    assert!(matches!(refused, Err(Error::UnexpectedWeights)));
    assert!(matches!(txn.insert("a", &tokens), Err(Error::UnexpectedTokens { .. })));
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    assert!(matches!(snapshot.query().by_content(&weights), Err(Error::UnexpectedWeights)));
    assert!(matches!(snapshot.query().by_content(&tokens), Err(Error::UnexpectedTokens { .. })));
}

#[test]
fn weights_are_stored_and_read_as_weights() {
    let (place, sea) = (Place::new(), Weights::new([("sea", 2.5), ("ship", 0.5)]).expect("valid"));
    let options = Index::options().weighted(true).store_text(true);
    let index = options.create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("a transaction");
    txn.insert("a", &sea).expect("inserted");
    txn.insertion()
        .contents(&[("b", Weights::new([("sea", 5.0), ("ship", 1.0)]).expect("valid"))])
        .expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    assert_eq!(snapshot.weights("a").expect("read"), Some(sea.clone()));
    assert_eq!(snapshot.text("a").expect("read"), None);
    assert_eq!(snapshot.weights("none").expect("read"), None);
    let documents: Vec<Document> = snapshot.documents().map(|read| read.expect("read")).collect();
    assert_eq!(documents[0].weights().expect("weights"), Some(sea.clone()));
    assert_eq!((documents[0].text(), documents.len()), (None, 2));
    let found = snapshot.query().threshold(0.5).by_content(&sea).expect("asked");
    let found: Vec<_> = found.iter().map(|m| (m.id.as_str(), m.similarity)).collect();
    assert_eq!(found, [("a", 1.0), ("b", 0.5)]);
    drop((snapshot, index));
    // Weights cannot become texts, nor texts weights.
    let refused = Index::options().weighted(false).rebuild(place.index()).run();
    let is_refused = matches!(refused, Err(Error::SettingMismatch { setting: "weighted", .. }));
    assert!(is_refused, "{refused:?}");
    let rebuilt = Index::options().threshold(0.6).rebuild(place.index()).run().expect("rebuilt");
    assert_eq!(rebuilt.documents, 2);
}

#[test]
fn hashed_weights_have_the_signature_of_their_set() {
    let sketcher = sketcher(128, 3);
    let set = Weights::new([("sea", 2.5), ("ship", 0.5), ("shore", 1e-9)]).expect("valid");
    let mut hashed = sketcher.shingler().weights(&set);
    let signature = sketcher.signature(&set).expect("weights");
    assert_eq!(sketcher.signature_of_weights(&hashed).expect("weights"), signature);
    // The order of tokens and absent tokens make no difference.
    hashed.reverse();
    hashed.push((12, 0.0));
    assert_eq!(sketcher.signature_of_weights(&hashed).expect("weights"), signature);
    assert!(sketcher.signature_of_weights(&[]).expect("an empty set").is_empty());
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = sketcher.signature_of_weights(&[(7, bad)]);
        assert!(matches!(refused, Err(Error::InvalidWeight { .. })), "{bad}");
    }
}
