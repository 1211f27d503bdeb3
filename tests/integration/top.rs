//! Compares top-k queries, and queries below the threshold of the index, with brute force.

use crate::recall::{assert_promised, pair};
use crate::support::{Place, Random, estimate, tiny};
use twindex::{Document, Index, Signature, Snapshot};

/// Inserts documents named after their numbers.
fn snapshot_of(index: &Index, signatures: &[Signature]) -> Snapshot {
    for (batch, some) in signatures.chunks(400).enumerate() {
        let document = |(at, signature): (usize, &Signature)| {
            let id = format!("{:05}", 400 * batch + at);
            Document::from_signature(id, signature.clone()).expect("valid")
        };
        let mut txn = index.begin_write().expect("begun");
        let documents = some.iter().enumerate().map(document).collect();
        txn.insertion().documents(documents).expect("inserted");
        txn.commit().expect("committed");
    }
    index.snapshot().expect("a snapshot")
}

/// Sets of 400 elements that share different numbers with the centre of their family, and the
/// centres.
fn families(index: &Index, count: usize, size: usize) -> (Vec<Signature>, Vec<Signature>) {
    let mut random = Random(41);
    let (mut members, mut centres) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let centre: Vec<u64> = (0..400).map(|_| random.next()).collect();
        for _ in 0..size {
            let own = random.below(330) as usize;
            let mut set = centre.clone();
            set[..own].fill_with(|| random.next());
            members.push(index.sketcher().signature_of_hashes(&set));
        }
        centres.push(index.sketcher().signature_of_hashes(&centre));
    }
    (members, centres)
}

/// The most similar documents, by brute force: similarity, then id.
fn nearest(asked: &Signature, all: &[Signature], floor: f64) -> Vec<(String, f64)> {
    let similarity = |(at, other)| (format!("{at:05}"), estimate(asked, other));
    let mut found: Vec<_> = all.iter().enumerate().map(similarity).collect();
    found.retain(|(_, similarity)| *similarity >= floor);
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    found
}

fn named(matches: twindex::Matches) -> Vec<(String, f64)> {
    matches.into_iter().map(|found| (found.id, found.similarity)).collect()
}

#[test]
fn the_most_similar_are_found_with_the_promised_recall() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let (members, centres) = families(&index, 100, 12);
    let snapshot = snapshot_of(&index, &members);
    let truth: Vec<_> = centres.iter().map(|asked| nearest(asked, &members, 0.3)).collect();
    for (floor, recall) in [(0.3, 0.9), (0.3, 0.99), (0.5, 0.95), (0.8, 0.99)] {
        for count in [1, 4, 10] {
            let (mut wanted, mut met, mut least) = (0, 0, 1.0_f64);
            for (asked, truth) in centres.iter().zip(&truth) {
                let query = snapshot.query().threshold(floor).recall(recall).top(count);
                let found = query.by_signature(asked).expect("an answer");
                assert!(found.len() <= count);
                least = least.min(found.recall);
                let found = named(found);
                let truly = truth.iter().take(count).filter(|one| one.1 >= floor);
                wanted += truly.clone().count();
                met += truly.filter(|one| found.contains(one)).count();
            }
            assert_promised(met, wanted, least, &format!("{count} from {floor} on at {recall}"));
        }
    }
}

#[test]
fn the_promised_recall_is_the_requested_one_if_enough_documents_are_found() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let (members, centres) = families(&index, 30, 12);
    let snapshot = snapshot_of(&index, &members);
    for asked in &centres {
        let found = snapshot.query().threshold(0.05).top(1).by_signature(asked).expect("an answer");
        let best = found.first().expect("a similar one").similarity;
        assert!(found.recall >= 0.99 || best < 0.6, "{best} {}", found.recall);
    }
}

#[test]
fn a_scan_gives_exactly_the_most_similar() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let (members, centres) = families(&index, 20, 12);
    let snapshot = snapshot_of(&index, &members);
    for asked in &centres {
        let all = nearest(asked, &members, 0.2);
        let query = snapshot.query().threshold(0.2).top(3).scan(true);
        let found = query.by_signature(asked).expect("an answer");
        assert_eq!((found.recall, found.left_out), (1.0, all.len().saturating_sub(3) as u64));
        assert_eq!(named(found), all[..all.len().min(3)]);
    }
}

#[test]
fn the_first_inserted_ones_win_among_equally_similar_ones() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let same = index.sketcher().signature("one and the same text").expect("a text");
    let mut txn = index.begin_write().expect("begun");
    for number in (0..30).rev() {
        let document = Document::from_signature(format!("{number:02}"), same.clone());
        txn.insertion().document(document.expect("valid")).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    for query in [snapshot.query().top(3), snapshot.query().limit(3)] {
        let found = query.by_signature(&same).expect("an answer");
        assert_eq!(found.left_out, 27);
        assert_eq!(named(found), ["27", "28", "29"].map(|id| (id.to_owned(), 1.0)));
    }
    let others = snapshot.query().top(2).by_id("28").expect("an answer").expect("it is there");
    assert_eq!(others.left_out, 27);
    assert_eq!(named(others), ["27", "29"].map(|id| (id.to_owned(), 1.0)));
}

#[test]
fn the_most_similar_do_not_depend_on_batches_and_merges() {
    let ask = |options: twindex::IndexOptions, compact: bool| {
        let place = Place::new();
        let mut index = options.create(place.index()).expect("created");
        let (members, centres) = families(&index, 40, 12);
        drop(snapshot_of(&index, &members));
        if compact {
            index.compact().run().expect("compacted");
        }
        let snapshot = index.snapshot().expect("a snapshot");
        let ask = |asked: &Signature| {
            let found = snapshot.query().threshold(0.3).top(5).by_signature(asked);
            let found = found.expect("an answer");
            (found.recall, found.candidates, found.left_out, named(found))
        };
        centres.iter().map(ask).collect::<Vec<_>>()
    };
    let expected = ask(Index::options(), false);
    assert_eq!(ask(tiny(), false), expected);
    assert_eq!(ask(tiny(), true), expected);
}

#[test]
fn every_threshold_finds_documents_with_the_reported_recall() {
    for (made_for, recall) in [(0.8, 0.99), (0.9, 0.95)] {
        let options = Index::options().threshold(made_for).recall(recall);
        for similarity in [0.15, 0.3, 0.5, 0.7] {
            let place = Place::new();
            let index = options.create(place.index()).expect("created");
            let mut random = Random((similarity * 1000.0) as u64);
            let pairs: Vec<_> =
                (0..800).map(|_| pair(index.sketcher(), &mut random, similarity)).collect();
            let (stored, asked): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let snapshot = snapshot_of(&index, &stored);
            let (mut met, mut promised) = (0, 1.0);
            for (number, signature) in asked.iter().enumerate() {
                let query = snapshot.query().threshold(similarity).all_candidates(true);
                let found = query.by_signature(signature).expect("an answer");
                promised = found.recall;
                met += usize::from(found.iter().any(|found| found.id == format!("{number:05}")));
            }
            assert_promised(met, asked.len(), promised, &format!("{similarity} of {made_for}"));
        }
    }
}
