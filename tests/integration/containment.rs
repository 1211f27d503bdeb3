//! Compares containment queries with brute force over sets of shingles of real text.

use crate::recall::assert_promised;
use crate::support::{Place, Random, all_ids, estimate, tiny};
use std::collections::HashSet;
use twindex::{
    Containment, Index, IndexOptions, Matches, Overlap, Settings, Shingler, Snapshot, Weights,
    WriteTxn,
};

/// The four Gospels of the King James Version, one verse per line, with the number of verses in
/// each chapter.
const GOSPELS: [(&str, &str, &[usize]); 4] = [
    (
        "Matthew",
        include_str!("../../crates/lab/data/gospels/en_kjv_matthew.txt"),
        &[
            25, 23, 17, 25, 48, 34, 29, 34, 38, 42, 30, 50, 58, 36, 39, 28, 27, 35, 30, 34, 46, 46,
            39, 51, 46, 75, 66, 20,
        ],
    ),
    (
        "Mark",
        include_str!("../../crates/lab/data/gospels/en_kjv_mark.txt"),
        &[45, 28, 35, 41, 43, 56, 37, 38, 50, 52, 33, 44, 37, 72, 47, 20],
    ),
    (
        "Luke",
        include_str!("../../crates/lab/data/gospels/en_kjv_luke.txt"),
        &[
            80, 52, 38, 44, 39, 49, 50, 56, 62, 42, 54, 59, 35, 35, 32, 31, 37, 43, 48, 47, 38, 71,
            56, 53,
        ],
    ),
    (
        "John",
        include_str!("../../crates/lab/data/gospels/en_kjv_john.txt"),
        &[51, 25, 36, 54, 47, 71, 53, 59, 41, 42, 57, 50, 38, 31, 27, 33, 26, 40, 42, 31, 25],
    ),
];

/// The chapters of all Gospels, each with the number of its Gospel.
fn chapters() -> Vec<(usize, String)> {
    let mut all = Vec::new();
    for (gospel, (_, text, verses)) in GOSPELS.iter().enumerate() {
        let mut lines = text.lines();
        for count in *verses {
            let chapter: Vec<&str> = lines.by_ref().take(*count).collect();
            all.push((gospel, chapter.join("\n")));
        }
        assert_eq!(lines.next(), None, "chapters and verses");
    }
    all
}

fn insert(index: &Index, documents: impl IntoIterator<Item = (String, String)>) -> Snapshot {
    let mut txn: WriteTxn = index.begin_write().expect("begun");
    for (id, text) in documents {
        txn.insert(&id, &text).expect("inserted");
    }
    txn.commit().expect("committed");
    index.snapshot().expect("a snapshot")
}

/// The elements of a text in order, as the index has them.
fn elements(settings: &Settings, text: &str) -> Vec<u64> {
    let Settings { shingle, normalization, multiset, seed, .. } = *settings;
    let shingler = Shingler::new(shingle, normalization, multiset, seed).expect("valid");
    let mut hashes = shingler.hashes(text);
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

fn ids(matches: &Matches) -> HashSet<&str> {
    matches.iter().map(|found| found.id.as_str()).collect()
}

/// Uses passages as documents and as queries. Many are contained in others of 1 to 1.5 times their
/// length, which bands can find.
#[test]
fn documents_at_the_threshold_become_candidates_with_the_promised_recall() {
    let all: Vec<char> = GOSPELS.iter().flat_map(|(_, text, _)| text.chars()).collect();
    let passage = |first: usize, count: usize| all[first..first + count].iter().collect::<String>();
    for (options, share) in [
        (Index::options().threshold(0.5).recall(0.9), 0.8),
        (Index::options().threshold(0.5).recall(0.95), 0.9),
        (Index::options().threshold(0.5).recall(0.9).multiset(true), 0.8),
    ] {
        let place = Place::new();
        let index = options.create(place.index()).expect("created");
        // A document begins up to 800 characters before or after the query of 4,000 characters.
        let mut documents = Vec::new();
        let mut questions = Vec::new();
        for (at, first) in (1000..all.len() - 8000).step_by(5000).enumerate() {
            questions.push(passage(first, 4000));
            documents.push(passage(first + 800 - 400 * (at % 5), 4000 + 100 * (at % 16)));
        }
        let named = documents.iter().enumerate().map(|(at, text)| (at.to_string(), text.clone()));
        let snapshot = insert(&index, named);
        let settings = snapshot.settings();
        let sets: Vec<_> = documents.iter().map(|text| elements(settings, text)).collect();

        let (mut pairs, mut met, mut probed) = (0, 0, 0);
        for question in &questions {
            let set = elements(settings, question);
            let query = snapshot.query().threshold(share).containment(true).all_candidates(true);
            let found = query.by_text(question).expect("an answer");
            assert!(found.recall >= settings.recall());
            probed += found.sizes.expect("sizes").probed;
            assert_eq!(found.sizes.expect("sizes").scanned, 0, "{:?}", found.sizes);
            let found = ids(&found);
            for (at, other) in sets.iter().enumerate() {
                if Overlap::of_sets(&set, other).a_in_b() >= share {
                    pairs += 1;
                    met += usize::from(found.contains(at.to_string().as_str()));
                }
            }
        }
        assert!(pairs > 40 && probed > questions.len(), "{pairs} pairs of {}", questions.len());
        assert_promised(met, pairs, settings.recall(), &format!("{options:?} at {share}"));
    }
}

/// Gospels are 8 to 70 times as long as their chapters: no band finds them, and estimates are
/// coarse.
#[test]
fn every_chapter_is_compared_with_its_gospel_and_intervals_hold_what_is_reported() {
    let place = Place::new();
    let index = Index::options().lanes(512).create(place.index()).expect("created");
    let documents = GOSPELS.iter().map(|(name, text, _)| ((*name).to_owned(), (*text).to_owned()));
    let snapshot = insert(&index, documents);
    let settings = snapshot.settings();
    let gospels: Vec<_> =
        GOSPELS.iter().map(|(name, text, _)| (*name, elements(settings, text))).collect();
    let (mut within, mut pairs) = (0, 0);
    for (threshold, least) in [(0.3, 0.8), (0.9, 0.4)] {
        let (mut own_found, mut reported, mut held) = (0, 0, 0);
        for (own, text) in chapters() {
            let set = elements(settings, &text);
            let query = || snapshot.query().threshold(threshold).containment(true);
            let all = query().all_candidates(true).by_text(&text).expect("an answer");
            assert!(ids(&all).contains(GOSPELS[own].0), "a chapter of {}", GOSPELS[own].0);
            assert_eq!(all.recall, 1.0);
            let found = query().by_text(&text).expect("an answer");
            own_found += usize::from(ids(&found).contains(GOSPELS[own].0));
            for (name, other) in &gospels {
                let truth = Overlap::of_sets(&set, other).a_in_b();
                let estimated = all.iter().find(|found| found.id == *name);
                let Containment { low, high, .. } =
                    estimated.and_then(|found| found.containment).expect("compared");
                pairs += 1;
                // Errors of the estimated sizes may move the ends of the interval.
                let holds = low - 0.004 <= truth && truth <= high + 0.004;
                within += usize::from(holds);
                if let Some(found) = found.iter().find(|found| found.id == *name) {
                    let Containment { share, low, .. } = found.containment.expect("asked for");
                    assert!(share >= threshold && low > 0.0, "{found:?}");
                    reported += 1;
                    held += usize::from(holds);
                }
            }
        }
        let rate = own_found as f64 / chapters().len() as f64;
        assert!(rate > least, "{threshold}: {rate} of the chapters are found");
        // 51 to 300 are reported, so 95 % have a standard error of up to 3 %.
        assert!(held * 100 >= 88 * reported, "{threshold}: {held} of {reported} hold the share");
    }
    assert!(within * 100 >= 93 * pairs, "{within} of {pairs} intervals hold the share");
}

/// The symptom: among thousands of documents that are much larger than the query, some have as many
/// equal lanes by chance as one that contains it. They were reported with a share of 1.
#[test]
fn documents_that_share_nothing_with_an_excerpt_are_not_told_to_contain_it() {
    let verses: Vec<&str> = GOSPELS.iter().flat_map(|(_, text, _)| text.lines()).collect();
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let mut random = Random(16);
    let mut document = || {
        let drawn: Vec<&str> =
            (0..40).map(|_| verses[random.below(verses.len() as u64) as usize]).collect();
        drawn.join("\n")
    };
    let documents: Vec<String> = (0..2000).map(|_| document()).collect();
    let named = documents.iter().enumerate().map(|(at, text)| (at.to_string(), text.clone()));
    let snapshot = insert(&index, named);
    let settings = snapshot.settings();
    let sets: Vec<_> = documents.iter().map(|text| elements(settings, text)).collect();
    let (mut reported, mut held, mut vain) = (0_u32, 0_u32, 0_u32);
    for text in documents.iter().step_by(10) {
        let excerpt: String = text.chars().skip(300).take(120).collect();
        let set = elements(settings, &excerpt);
        let query = snapshot.query().threshold(0.5).containment(true);
        for one in query.by_text(&excerpt).expect("an answer") {
            let truth = Overlap::of_sets(&set, &sets[one.id.parse::<usize>().expect("a number")]);
            let Containment { share, low, high } = one.containment.expect("asked for");
            assert!(share >= 0.5 && low > 0.0 && low <= share && share <= high, "{one:?}");
            reported += 1;
            held += u32::from(low - 0.004 <= truth.a_in_b() && truth.a_in_b() <= high + 0.004);
            vain += u32::from(truth.a_in_b() < 0.05);
        }
    }
    assert!(reported > 200, "{reported}");
    let rate = f64::from(held) / f64::from(reported);
    assert!(rate >= 0.93, "{held} of {reported} intervals hold the share");
    assert!(vain * 100 <= 3 * reported, "{vain} of {reported} have nothing of the excerpt");
}

/// With stored texts, every reported document contains the share, and no more are missed than the
/// recall allows. Covers buckets and scans, with documents up to ten times the size of the query.
#[test]
fn stored_texts_make_answers_exact() {
    let all: Vec<char> = GOSPELS[2].1.chars().collect();
    let passage = |first: usize, count: usize| all[first..first + count].iter().collect::<String>();
    let place = Place::new();
    let options = Index::options().threshold(0.5).recall(0.95).store_text(true);
    let index = options.create(place.index()).expect("created");
    let documents: Vec<String> = (0..100)
        .map(|at| passage(1000 * at, 2500 + 250 * (13 * at % 10) * (at % 3) + 200 * (at % 20)))
        .collect();
    let named = documents.iter().enumerate().map(|(at, text)| (at.to_string(), text.clone()));
    let snapshot = insert(&index, named);
    let settings = snapshot.settings();
    let sets: Vec<_> = documents.iter().map(|text| elements(settings, text)).collect();
    let (mut pairs, mut met, mut probed, mut scanned) = (0, 0, 0, 0);
    for at in 0..60 {
        let question = passage(1500 * at + 333, 2000);
        let set = elements(settings, &question);
        let query = || snapshot.query().threshold(0.7).containment(true);
        let found = query().by_text(&question).expect("an answer");
        assert!(found.recall >= 0.95);
        probed += found.sizes.expect("sizes").probed;
        scanned += found.sizes.expect("sizes").scanned;
        for one in &found {
            let other = &sets[one.id.parse::<usize>().expect("a number")];
            let exact = Overlap::of_sets(&set, other);
            let share = exact.a_in_b();
            assert!(one.exact && share >= 0.7);
            assert_eq!(one.containment, Some(Containment { share, low: share, high: share }));
            assert_eq!([one.low, one.similarity, one.high], [exact.similarity(); 3]);
        }
        pairs += sets.iter().filter(|other| Overlap::of_sets(&set, other).a_in_b() >= 0.7).count();
        met += found.len();
        let estimated = query().estimate(true).by_text(&question).expect("an answer");
        assert!(estimated.iter().all(|one| !one.exact));
    }
    assert!(pairs > 100 && probed > 60 && scanned > 60, "{pairs}, {probed}, {scanned}");
    assert_promised(met, pairs, 0.95, "exact answers");
}

#[test]
fn stored_texts_find_every_chapter_in_its_gospel_alone() {
    let place = Place::new();
    let index = Index::options().store_text(true).create(place.index()).expect("created");
    let documents = GOSPELS.iter().map(|(name, text, _)| ((*name).to_owned(), (*text).to_owned()));
    let snapshot = insert(&index, documents);
    let chapters = chapters();
    let mut met = 0;
    for (own, text) in &chapters {
        let found = snapshot.query().threshold(0.9).containment(true).by_text(text);
        let found = found.expect("an answer");
        assert!(found.iter().all(|one| one.id == GOSPELS[*own].0), "{:?}", found.first());
        met += found.len();
    }
    assert_promised(met, chapters.len(), 0.99, "chapters");
}

fn mixed(options: &IndexOptions, place: &Place) -> (Index, Vec<String>) {
    let verses: Vec<&str> = GOSPELS[1].1.lines().collect();
    let index = options.create(place.index()).expect("created");
    let mut texts = vec![String::new(), " \n".to_owned(), "And".to_owned()];
    for (at, first) in (0..500).step_by(9).enumerate() {
        texts.push(verses[first..first + 5 + 3 * (17 * at % 50)].join("\n"));
    }
    (index, texts)
}

/// Buckets report what a scan reports, with the same scores, except what the recall allows to miss.
#[test]
fn buckets_report_nothing_that_a_scan_does_not() {
    let place = Place::new();
    let (index, texts) = mixed(&tiny().threshold(0.5), &place);
    let named = texts.iter().enumerate().map(|(at, text)| (format!("{at:03}"), text.clone()));
    let snapshot = insert(&index, named);
    let (mut reported, mut expected) = (0, 0);
    for text in &texts {
        let ask = |scan| {
            let query = snapshot.query().threshold(0.7).containment(true).scan(scan);
            query.by_text(text).expect("an answer")
        };
        let (found, all) = (ask(false), ask(true));
        let sizes = found.sizes.expect("sizes");
        assert!(found.candidates >= sizes.documents_scanned);
        assert!(found.candidates <= all.candidates);
        let all: Vec<_> = all.into_iter().collect();
        assert!(all.is_sorted_by(|a, b| {
            let rank = |m: &twindex::Match| m.containment.map(|c| (c.low, c.share));
            rank(a) > rank(b) || (rank(a) == rank(b) && a.id < b.id)
        }));
        expected += all.len();
        reported += found.len();
        assert!(found.iter().all(|one| all.contains(one)));
    }
    assert!(expected > 100, "{expected}");
    assert_promised(reported, expected, 0.99, "reports of a scan");
}

#[test]
fn shares_are_those_of_the_documented_formula() {
    let place = Place::new();
    let (index, texts) = mixed(&tiny(), &place);
    let named = texts.iter().enumerate().map(|(at, text)| (format!("{at:03}"), text.clone()));
    let snapshot = insert(&index, named);
    let asked = index.sketcher().signature(&texts[20]).expect("a text");
    let size = asked.set_size().estimate();
    let query = snapshot.query().containment(true).scan(true).all_candidates(true);
    let all = query.by_signature(&asked).expect("an answer");
    // All except the two empty documents.
    assert_eq!((all.len(), all.candidates), (texts.len() - 2, texts.len() as u64 - 2));
    let mut within_reach = 0;
    for found in &all {
        let document = snapshot.get(&found.id).expect("read").expect("it is there");
        let similarity = estimate(&asked, &document.signature);
        let share = similarity * (size + document.shingles) / (size * (1.0 + similarity));
        let share = share.min(document.shingles / size).min(1.0);
        let got = found.containment.expect("asked for");
        assert!(got.low <= got.share && got.share <= got.high, "{got:?}");
        assert!(got.high <= (document.shingles / size).min(1.0) + 1e-12, "{got:?}");
        // Larger documents may be out of the reach of bands, where the others are the prior.
        if document.shingles <= size {
            within_reach += 1;
            assert!((got.share - share).abs() < 1e-12, "{}: {got:?}, not {share}", found.id);
        }
        assert!((found.similarity - similarity).abs() < 1e-12);
    }
    assert!(within_reach > 5, "{within_reach}");
}

#[test]
fn the_matches_with_the_highest_containment_are_kept_and_the_others_counted() {
    let place = Place::new();
    let (index, texts) = mixed(&tiny(), &place);
    let named = texts.iter().enumerate().map(|(at, text)| (format!("{at:03}"), text.clone()));
    let snapshot = insert(&index, named);
    let ask = || snapshot.query().threshold(0.2).containment(true);
    let all: Vec<_> =
        ask().by_id("010").expect("an answer").expect("it is there").into_iter().collect();
    assert!(all.len() > 4 && all.iter().all(|found| found.id != "010"));
    for count in [0, 1, 3] {
        let top = ask().top(count).by_id("010").expect("an answer").expect("it is there");
        assert_eq!(top.left_out, (all.len() - count) as u64);
        assert_eq!(top.into_iter().collect::<Vec<_>>(), all[..count]);
        let limited = ask().limit(count).excluding("010").by_text(&texts[10]).expect("an answer");
        assert_eq!(limited.into_iter().collect::<Vec<_>>(), all[..count]);
    }
}

#[test]
fn repetitions_count_in_an_index_of_multisets() {
    let line = "And the Lord said unto him, Go thy way; and he went his way.\n";
    for multiset in [false, true] {
        let place = Place::new();
        let index = Index::options().multiset(multiset).create(place.index()).expect("created");
        let snapshot = insert(&index, [("once".to_owned(), line.to_owned())]);
        let set = |text: &str| elements(snapshot.settings(), text);
        let share = Overlap::of_sets(&set(&line.repeat(4)), &set(line)).a_in_b();
        assert!(if multiset { share < 0.3 } else { share > 0.8 }, "multiset {multiset}: {share}");
        let query = snapshot.query().threshold(0.1).containment(true);
        let found = query.by_text(&line.repeat(4)).expect("an answer");
        let Containment { low, high, .. } =
            found.first().and_then(|m| m.containment).expect("found");
        assert!(low <= share && share <= high, "multiset {multiset}: {share} in {low} to {high}");
    }
}

#[test]
fn an_empty_text_contains_nothing_and_is_contained_in_nothing() {
    let place = Place::new();
    let (index, texts) = mixed(&tiny(), &place);
    let named = texts.iter().enumerate().map(|(at, text)| (format!("{at:03}"), text.clone()));
    let snapshot = insert(&index, named);
    assert_eq!(all_ids(&snapshot).len(), texts.len());
    let ask = || snapshot.query().threshold(0.01).containment(true).all_candidates(true);
    assert!(ask().by_text("").expect("an answer").is_empty());
    let found = ask().scan(true).by_text(&texts[30]).expect("an answer");
    assert!(!ids(&found).contains("000") && !ids(&found).contains("001"));
}

#[test]
fn an_index_of_weights_refuses_containment_queries() {
    let place = Place::new();
    let index = Index::options().weighted(true).create(place.index()).expect("created");
    let weights = Weights::new([("sea", 1.5)]).expect("weights");
    let mut txn = index.begin_write().expect("a transaction");
    txn.insert("a", &weights).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    assert!(snapshot.query().by_content(&weights).is_ok_and(|found| found.len() == 1));
    let error = snapshot.query().containment(true).by_content(&weights).expect_err("no sums");
    assert!(error.to_string().starts_with("containment of weights: expected"), "{error}");
}

#[test]
fn a_share_out_of_range_is_an_error() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let snapshot = index.snapshot().expect("a snapshot");
    for bad in [0.0, 1.1, f64::NAN] {
        assert!(snapshot.query().threshold(bad).containment(true).by_text("some text").is_err());
    }
}
