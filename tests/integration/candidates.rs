//! Queries that compare only some candidates.

use crate::support::{Place, meet, probe, text, tiny};
use std::cmp::Reverse;
use twindex::{Error, Index, IndexOptions, Matches, Outcome, PassageMatches, Signature, Snapshot};

/// Near copies of one text, and a few of another one.
fn filled(place: &Place, options: &IndexOptions) -> Snapshot {
    let index = options.create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    for number in 0..300 {
        txn.insert(&format!("{number:03}"), &text(1, number, 60)).expect("inserted");
    }
    for number in 0..5 {
        txn.insert(&format!("other {number}"), &text(2, number, 60)).expect("inserted");
    }
    txn.commit().expect("committed");
    index.snapshot().expect("a snapshot")
}

fn ids(matches: &Matches) -> Vec<&str> {
    matches.iter().map(|found| &*found.id).collect()
}

#[test]
fn those_that_share_the_most_buckets_are_compared() {
    // With few documents in a run, candidates are read before all buckets are known.
    for options in [Index::options(), tiny(), tiny().flush_documents(64)] {
        assert_compares_those_with_the_most_buckets(&options);
    }
}

fn assert_compares_those_with_the_most_buckets(options: &IndexOptions) {
    let place = Place::new();
    let snapshot = filled(&place, options);
    let asked = text(1, 3, 60);
    let signature = |text: &str| snapshot.sketcher().signature(text).expect("a text");
    let ours = signature(&asked);
    let (bands, depth) = probe(snapshot.settings(), 0.8);
    let shared = |other: &Signature| {
        let lanes = |of: &Signature, band: usize| of.lanes()[8 * band..8 * band + depth].to_vec();
        (0..bands).filter(|band| lanes(&ours, *band) == lanes(other, *band)).count()
    };
    let mut by_buckets: Vec<(Reverse<usize>, String)> = Vec::new();
    for number in 0..300 {
        let other = signature(&text(1, number, 60));
        if meet(&ours, &other, bands, depth) {
            by_buckets.push((Reverse(shared(&other)), format!("{number:03}")));
        }
    }
    by_buckets.sort();
    for most in [1, 2, 50, 100, by_buckets.len() - 1, by_buckets.len()] {
        let query = snapshot.query().threshold(0.8).all_candidates(true).max_candidates(most);
        let found = query.by_text(&asked).expect("an answer");
        let mut expected: Vec<&str> = by_buckets.iter().take(most).map(|(_, id)| &**id).collect();
        expected.sort_unstable();
        let mut found_ids = ids(&found);
        found_ids.sort_unstable();
        assert_eq!(found_ids, expected, "{most} candidates");
        assert_eq!(found.candidates, most as u64);
        assert_eq!(found.limited, most < by_buckets.len(), "{most} of {}", by_buckets.len());
    }
}

#[test]
fn every_kind_of_query_is_bounded_and_says_so() {
    for (store_text, options) in
        [(false, tiny()), (true, tiny()), (false, Index::options()), (true, Index::options())]
    {
        let place = Place::new();
        let snapshot = filled(&place, &options.store_text(store_text));
        let crowded = text(1, 1, 60);
        let alone = text(2, 1, 60);
        let kinds = [
            snapshot.query(),
            snapshot.query().estimate(true),
            snapshot.query().top(200),
            snapshot.query().threshold(0.3).top(200),
            snapshot.query().threshold(0.9).containment(true),
        ];
        for (kind, query) in kinds.into_iter().enumerate() {
            let what = format!("query {kind}, texts {store_text}");
            let all = query.clone().by_text(&crowded).expect("an answer");
            assert!(!all.limited && all.candidates >= 150, "{what}: {all:?}");
            let scanned = all.sizes.map_or(0, |sizes| sizes.documents_scanned);
            for most in [1, 7, 20] {
                let some = query.clone().max_candidates(most);
                let found = some.by_text(&crowded).expect("an answer");
                assert!(found.limited && !found.is_empty(), "{what}, {most}: {found:?}");
                assert_eq!(found.candidates, most as u64 + scanned, "{what}");
                let (all, found) = (ids(&all), ids(&found));
                assert!(found.iter().all(|id| all.contains(id)), "{what}, {most}");
            }
            let few = query.clone().max_candidates(100).by_text(&alone).expect("an answer");
            let expected = query.by_text(&alone).expect("an answer");
            assert!(!few.limited, "{what}");
            assert_eq!(ids(&few), ids(&expected), "{what}");
        }
    }
}

#[test]
fn a_copy_among_documents_that_share_little_is_found() {
    for store_text in [false, true] {
        let place = Place::new();
        let options = Index::options().threshold(0.5).flush_documents(500).store_text(store_text);
        let index = options.create(place.index()).expect("created");
        let asked = text(1, 0, 60);
        let words: Vec<&str> = asked.split(' ').collect();
        let mut txn = index.begin_write().expect("begun");
        for number in 0..2000 {
            // A third of the words are others.
            let other = text(2 + number, 0, 20);
            let similar = format!("{} {other}", words[..40].join(" "));
            txn.insert(&number.to_string(), &similar).expect("inserted");
        }
        txn.insert("copy", &asked).expect("inserted");
        txn.commit().expect("committed");
        let snapshot = index.snapshot().expect("a snapshot");
        for most in 1..12 {
            let query = snapshot.query().threshold(0.5).max_candidates(most);
            for query in [query.clone(), query.clone().top(1), query.estimate(true)] {
                let found = query.by_text(&asked).expect("an answer");
                assert_eq!(found.first().map(|found| &*found.id), Some("copy"), "{most}");
                assert!(found.candidates <= most as u64 && found.limited, "{most}");
            }
        }
        let mut txn = index.begin_write().expect("begun");
        let insertion = txn.insertion().unless_similar(0.9).max_candidates(1);
        let outcomes = insertion.contents(&[("new", &asked)]).expect("judged");
        assert!(
            matches!(&outcomes[0], Outcome::Duplicate { of, .. } if of.id == "copy"),
            "{outcomes:?}"
        );
    }
}

#[test]
fn a_crowd_of_copies_keeps_the_limit() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let copy = text(1, 0, 60);
    let mut txn = index.begin_write().expect("begun");
    for number in 0..2000 {
        txn.insert(&format!("{number:04}"), &copy).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    for (top, most) in [(1, 1), (1, 500), (10, 5), (10, 200), (1000, 10)] {
        let query = snapshot.query().top(top).max_candidates(most);
        let found = query.by_text(&copy).expect("an answer");
        assert!(found.candidates <= most as u64, "{top} of {most}: {}", found.candidates);
        let expected: Vec<String> =
            (0..top.min(most)).map(|number| format!("{number:04}")).collect();
        assert_eq!(ids(&found), expected);
        // With enough of them, the first copies are all that is needed.
        assert_eq!(found.limited, most <= top, "{top} of {most}");
    }
}

#[test]
fn documents_that_are_left_out_do_not_count() {
    for options in [tiny(), Index::options()] {
        let place = Place::new();
        let snapshot = filled(&place, &options.store_text(true));
        let query = snapshot.query().max_candidates(1);
        let found = query.clone().by_id("004").expect("an answer").expect("it is there");
        // Every fourth text is the same.
        assert_eq!((found.first().map(|found| found.similarity), found.limited), (Some(1.0), true));
        assert_eq!(found.candidates, 1);
        let others = query.clone().excluding("000").excluding("other 1");
        let found = others.by_text(&text(1, 0, 60)).expect("an answer");
        assert_eq!((ids(&found), found.candidates), (vec!["004"], 1));
        let found = query.top(1).excluding("000").by_id("004").expect("an answer").expect("there");
        assert_eq!(
            (ids(&found), found.first().map(|found| found.similarity)),
            (vec!["008"], Some(1.0))
        );
    }
}

#[test]
fn a_number_out_of_range_and_a_bounded_scan_are_refused() {
    let place = Place::new();
    let snapshot = filled(&place, &tiny().passages(30));
    let asked = text(1, 1, 60);
    let query = snapshot.query();
    let errors = [
        query.clone().max_candidates(0).by_text(&asked).expect_err("none"),
        query.clone().scan(true).max_candidates(9).by_text(&asked).expect_err("a scan"),
        query.clone().containment(true).max_candidates(0).by_text(&asked).expect_err("none"),
        query.max_candidates(0).by_id("unknown").expect_err("none"),
        snapshot.passages().max_candidates(0).by_text(&asked).expect_err("none"),
        snapshot.passages().max_candidates(0).by_id("unknown").expect_err("none"),
    ];
    for error in errors {
        assert!(
            matches!(error, Error::InvalidSetting { setting: "max_candidates", .. }),
            "{error}"
        );
    }
}

#[test]
fn the_documents_with_the_most_fingerprints_are_searched_for_passages() {
    for store_text in [false, true] {
        let place = Place::new();
        let index = tiny().passages(30).store_text(store_text).create(place.index());
        let index = index.expect("created");
        let long = text(5, 0, 80);
        let mut txn = index.begin_write().expect("begun");
        for number in 0..200_usize {
            // Each has more of the text than the one before.
            let shared = long.get(..80 + number).expect("letters");
            txn.insert(&format!("{number:03}"), shared).expect("inserted");
        }
        txn.commit().expect("committed");
        let snapshot = index.snapshot().expect("a snapshot");
        let ids = |found: &PassageMatches| {
            found.iter().map(|found| found.id.clone()).collect::<Vec<String>>()
        };
        let all = snapshot.passages().by_text(&long).expect("an answer");
        assert_eq!((all.len(), all.candidates, all.limited), (200, 200, false));
        for most in [1, 10, 199, 200] {
            let some = snapshot.passages().max_candidates(most);
            let found = some.by_text(&long).expect("an answer");
            assert_eq!((found.candidates, found.limited), (most as u64, most < 200));
            // Documents whose last characters add no fingerprint have equally many.
            let least = all.iter().nth(most - 1).map(|found| found.shared).expect("a match");
            assert_eq!(found.len(), most);
            assert!(found.iter().all(|found| found.shared + 30 > least), "{:?}", ids(&found));
        }
        let query = snapshot.passages().max_candidates(5).excluding("199").excluding("198");
        let found = query.by_text(&long).expect("an answer");
        assert!(found.limited && !ids(&found).iter().any(|id| *id == "199" || *id == "198"));
        assert_eq!(found.len(), 5, "{:?}", ids(&found));
        // Containment is told by passages.
        let query = snapshot.query().containment(true).threshold(0.01).max_candidates(7);
        let found = query.by_text(&long).expect("an answer");
        assert_eq!((found.len(), found.candidates, found.limited), (7, 7, true));
    }
}

/// A query by id compares a document with the others, so it counts one less than by its text.
#[test]
fn what_is_left_out_is_no_candidate_without_a_limit() {
    let place = Place::new();
    let snapshot = filled(&place, &Index::options().store_text(true));
    let query = snapshot.query();
    for query in [
        query.clone(),
        query.clone().estimate(true),
        query.clone().scan(true),
        query.clone().top(20),
        query.clone().top(20).estimate(true),
        query.clone().containment(true),
        query.containment(true).scan(true),
    ] {
        let all = query.clone().by_text(&text(2, 1, 60)).expect("an answer");
        let twice = query.clone().excluding("other 1").excluding("other 2");
        let found = twice.by_id("other 1").expect("an answer").expect("it is there");
        assert_eq!(found.candidates + 2, all.candidates, "{query:?}");
        if let Some(sizes) = found.sizes {
            assert!(sizes.documents_scanned <= found.candidates, "{query:?}");
        }
    }
}
