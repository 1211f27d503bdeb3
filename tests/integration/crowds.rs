//! Crowds: very many near copies, and very many equal ones.

use crate::support::{Place, Random, estimate, meet, probe, text, tiny};
use twindex::{Document, Index, Inserted, Outcome, Signature};

/// Signatures that agree with one of them in most lanes, so that large buckets have many groups.
fn near_copies(count: usize) -> Vec<Signature> {
    let mut random = Random(5);
    let base: Vec<u8> = (0..64).map(|_| random.next() as u8).collect();
    let copy = |_| {
        let mut lanes = base.clone();
        for _ in 0..random.below(5) {
            lanes[random.below(64) as usize] = random.next() as u8;
        }
        Signature::from_lanes(lanes, 1000)
    };
    (0..count).map(copy).collect()
}

#[test]
fn every_pair_of_a_bucket_of_several_squares_is_reported_once() {
    let place = Place::new();
    let index = Index::options().lanes(64).create(place.index()).expect("created");
    let signatures = near_copies(2_500);
    let document = |(number, signature): (usize, &Signature)| {
        Document::from_signature(number.to_string(), signature.clone()).expect("a document")
    };
    let documents: Vec<Document> = signatures.iter().enumerate().map(document).collect();
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().documents(documents).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for pair in snapshot.pairs(0.8).expect("a threshold") {
        let pair = pair.expect("readable");
        let number = |id: &str| id.parse::<usize>().expect("a number");
        let (a, b) = (number(&pair.a), number(&pair.b));
        pairs.push((a.min(b), a.max(b)));
    }
    pairs.sort_unstable();
    let (bands, depth) = probe(snapshot.settings(), 0.8);
    let mut expected = Vec::new();
    for (a, left) in signatures.iter().enumerate() {
        for (b, right) in signatures.iter().enumerate().skip(a + 1) {
            if estimate(left, right) >= 0.8 && meet(left, right, bands, depth) {
                expected.push((a, b));
            }
        }
    }
    assert!(expected.len() > 2_000_000, "{} pairs", expected.len());
    assert!(pairs == expected, "{} pairs, expected {}", pairs.len(), expected.len());
}

/// The document that a new one duplicates.
fn duplicated(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Duplicate { of, .. } => &of.id,
        outcome => panic!("no duplicate: {outcome:?}"),
    }
}

#[test]
fn a_copy_of_a_crowd_is_a_duplicate_of_the_first_one_that_is_left() {
    let copy = text(1, 0, 40);
    for store_text in [false, true] {
        let place = Place::new();
        let index = tiny().store_text(store_text).create(place.index()).expect("created");
        let mut txn = index.begin_write().expect("begun");
        for number in 0..300 {
            // Every fifth text is similar, and every seventh has the same shingles.
            let text = match number {
                number if number % 5 == 1 => text(1, 4 * number + 1, 40),
                number if number % 7 == 0 => copy.replace(' ', "  "),
                _ => copy.clone(),
            };
            txn.insert(&number.to_string(), &text).expect("inserted");
        }
        txn.commit().expect("committed");
        let mut expected = vec![0, 2, 3, 4, 5, 7, 8];
        while let Some(first) = expected.first().map(u32::to_string) {
            let mut txn = index.begin_write().expect("begun");
            let texts = [("new", &copy), ("and again", &copy)];
            let outcomes = txn.insertion().unless_similar(0.8).contents(&texts).expect("judged");
            assert_eq!(outcomes.iter().map(duplicated).collect::<Vec<_>>(), [&first, &first]);
            // What is replaced by an earlier document of the same batch is no match any more.
            let other = text(2, 0, 40);
            let texts = [(&*first, &other), ("new", &copy)];
            let outcomes = txn.insertion().unless_similar(0.8).contents(&texts).expect("judged");
            expected.remove(0);
            assert_eq!(outcomes[0], Outcome::Inserted(Inserted::Replaced));
            if let Some(next) = expected.first() {
                assert_eq!(duplicated(&outcomes[1]), next.to_string());
            }
            txn.remove(&first).expect("removed");
            txn.commit().expect("committed");
        }
    }
}

/// Commits copies with these ids.
fn add_copies(index: &Index, ids: &[String], copy: &str) {
    let mut txn = index.begin_write().expect("begun");
    for id in ids {
        txn.insert(id, copy).expect("inserted");
    }
    txn.commit().expect("committed");
}

/// What a copy is said to duplicate.
fn first_copy(index: &Index, copy: &str) -> String {
    let mut txn = index.begin_write().expect("begun");
    let outcomes = txn.insertion().unless_similar(0.8).contents(&[("new", copy)]).expect("judged");
    duplicated(&outcomes[0]).to_owned()
}

#[test]
fn a_copy_in_a_run_comes_before_a_crowd_in_the_tail() {
    let copy = text(1, 0, 40);
    let place = Place::new();
    let index = Index::options().flush_documents(100).create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    txn.insert("first", &copy).expect("inserted");
    for number in 0..99 {
        txn.insert(&format!("other {number}"), &text(100 + number, 0, 40)).expect("inserted");
    }
    txn.commit().expect("committed");
    let ids: Vec<String> = (0..90).map(|number| format!("copy {number}")).collect();
    add_copies(&index, &ids, &copy);
    assert_eq!(first_copy(&index, &copy), "first");
}

#[test]
fn a_crowd_in_the_tail_comes_after_one_in_a_run_that_has_lost_its_first_copies() {
    let copy = text(1, 0, 40);
    let place = Place::new();
    let index = Index::options().flush_documents(200).create(place.index()).expect("created");
    let ids: Vec<String> = (0..290).map(|number| number.to_string()).collect();
    let (in_run, in_tail) = ids.split_at(200);
    add_copies(&index, in_run, &copy);
    add_copies(&index, in_tail, &copy);
    let mut txn = index.begin_write().expect("begun");
    for id in &ids[..150] {
        txn.remove(id).expect("removed");
    }
    txn.commit().expect("committed");
    assert_eq!(first_copy(&index, &copy), "150");
}

/// The ids and similarities of matches.
fn named(matches: &twindex::Matches) -> Vec<(&str, f64)> {
    matches.iter().map(|found| (found.id.as_str(), found.similarity)).collect()
}

#[test]
fn the_most_similar_ones_to_a_copy_of_a_crowd_are_those_of_a_scan() {
    let (copy, similar) = (text(1, 0, 40), text(1, 3, 40));
    let kinds = [(false, true), (false, false), (true, true), (true, false)];
    for ((store_text, all_copies), multiset) in
        kinds.iter().flat_map(|kind| [(kind, false), (kind, true)])
    {
        let (store_text, all_copies) = (*store_text, *all_copies);
        let place = Place::new();
        let options = tiny().store_text(store_text).multiset(multiset);
        let mut index = options.create(place.index()).expect("created");
        let id = |number: usize| format!("{:03}", number * 7 % 400);
        for some in (0..400).collect::<Vec<usize>>().chunks(90) {
            let mut txn = index.begin_write().expect("begun");
            for &number in some {
                // Another spelling has the same shingles.
                let text = match number % 5 {
                    _ if all_copies => copy.clone(),
                    1 => similar.clone(),
                    2 => copy.replace(' ', "  "),
                    _ => copy.clone(),
                };
                txn.insert(&id(number), &text).expect("inserted");
            }
            txn.commit().expect("committed");
        }
        for round in 0..3 {
            let snapshot = index.snapshot().expect("a snapshot");
            let compared = |query: twindex::Query<'_>, count: usize| {
                let ask = |scan: bool| query.clone().top(count).scan(scan).by_text(&copy);
                let (found, all) = (ask(false).expect("asked"), ask(true).expect("asked"));
                assert_eq!(named(&found), named(&all), "{store_text} {all_copies} {round}");
                assert_eq!(found.left_out > 0, all.left_out > 0);
                assert!(found.recall >= 0.99);
                found.candidates
            };
            for count in [0, 1, 3, 20, 100, 1000] {
                for (excluded, estimate) in [(300, false), (301, false), (302, true)] {
                    let query = snapshot.query().estimate(estimate).excluding(id(excluded));
                    let candidates = compared(query, count);
                    if all_copies && count < 200 {
                        assert_eq!(candidates, count as u64 + 1);
                    } else if count < 50 {
                        assert!(candidates < 200, "{candidates} of {}", snapshot.len());
                    }
                }
            }
            drop(snapshot);
            // Nearly all of the first copies go, and then everything is merged.
            let mut txn = index.begin_write().expect("begun");
            for number in (0..120).filter(|number| number % 50 != 8) {
                txn.remove(&id(number)).expect("removed");
            }
            txn.commit().expect("committed");
            if round == 1 {
                index.compact().run().expect("compacted");
            }
        }
    }
}

/// Documents that agree in the first 30 of 64 lanes, so that all of them share buckets. Every
/// fourth is similar to the one 700 before it, and every tenth has its id.
fn half_alike(numbers: std::ops::Range<u64>) -> Vec<Document> {
    let document = |number: u64| {
        let lanes = |seed: u64| {
            let mut random = Random(seed);
            let mut lanes = [7; 64];
            lanes[30..].fill_with(|| random.next() as u8);
            lanes
        };
        let (mut own, mut id) = (lanes(number), number.to_string());
        if let Some(before) = number.checked_sub(700) {
            if number.is_multiple_of(4) {
                own = lanes(before);
                own[30..30 + number as usize % 14].fill(number as u8);
            }
            if number.is_multiple_of(10) {
                id = before.to_string();
            }
        }
        let signature = Signature::from_lanes(own, 1000);
        Document::from_signature(id, signature).expect("a document")
    };
    numbers.map(document).collect()
}

#[test]
fn a_batch_in_a_crowd_is_judged_like_its_documents_one_by_one() {
    let judged = |together: usize, candidates: usize| {
        let place = Place::new();
        let index = Index::options().lanes(64).flush_documents(1000).create(place.index());
        let index = index.expect("created");
        let mut txn = index.begin_write().expect("begun");
        txn.insertion().documents(half_alike(0..1200)).expect("inserted");
        txn.commit().expect("committed");
        let mut txn = index.begin_write().expect("begun");
        let (mut outcomes, mut new) = (Vec::new(), half_alike(1200..1800));
        while !new.is_empty() {
            let later = new.split_off(together.min(new.len()));
            let insertion = txn.insertion().unless_similar(0.8).max_candidates(candidates);
            outcomes.extend(insertion.documents(new).expect("judged"));
            new = later;
        }
        (outcomes, txn.limited())
    };
    let (alone, limited) = judged(1, usize::MAX);
    assert_eq!(limited, 0);
    let duplicates = alone.iter().filter(|outcome| matches!(outcome, Outcome::Duplicate { .. }));
    let duplicates = duplicates.count();
    assert_eq!(duplicates, 40, "those of 1200 to 1400 that do not replace what they are like");
    assert_eq!(judged(600, usize::MAX), (alone.clone(), 0));
    // Strangers are ruled out together, so they do not count towards the limit.
    assert_eq!(judged(600, 50), (alone, 0));
    assert!(judged(1, 50).1 > 100, "one by one they count");
}
