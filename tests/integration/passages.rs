//! Shared passages: every one is found, and nothing else is reported.

use crate::support::{Place, Random, assert_clean, tiny};
use std::collections::{BTreeMap, HashSet};
use twindex::{Error, Index, OnConflict, PassageMatches, Shingle, Snapshot, Tokens};

/// The length of the passages to find.
const N: usize = 24;

/// The units of a text, as the documentation defines them.
fn units(snapshot: &Snapshot, text: &str) -> Vec<String> {
    let normalization = snapshot.settings().normalization;
    match snapshot.settings().shingle {
        Shingle::Chars(_) => normalization.apply(text).chars().map(String::from).collect(),
        Shingle::Lines(_) => {
            let lines = text.lines().map(|line| normalization.apply(line));
            lines.filter(|line| !line.is_empty()).collect()
        }
        _ => normalization.apply(text).split_whitespace().map(str::to_owned).collect(),
    }
}

/// Brute force: the maximal stretches of `a` of at least `least` units that occur in `b`, from the
/// lengths of the common stretches that begin at each two places.
fn stretches(a: &[String], b: &[String], least: usize) -> Vec<(usize, usize)> {
    let mut longest = vec![0; a.len()];
    let mut after = vec![0; b.len() + 1];
    for at in (0..a.len()).rev() {
        let common =
            |(place, unit): (usize, &String)| if a[at] == *unit { after[place + 1] + 1 } else { 0 };
        let mut here: Vec<usize> = b.iter().enumerate().map(common).collect();
        longest[at] = here.iter().copied().max().unwrap_or(0);
        here.push(0);
        after = here;
    }
    let mut last = 0;
    let ends = longest.iter().enumerate().filter(|(_, length)| **length >= least);
    let ends = ends.map(|(start, length)| (start, start + length));
    let mut reaches_further = |end: usize| {
        let further = end > last;
        last = last.max(end);
        further
    };
    ends.filter(|(_, end)| reaches_further(*end)).collect()
}

fn covered(stretches: &[(usize, usize)]) -> usize {
    let mut units: HashSet<usize> = HashSet::new();
    stretches.iter().for_each(|(start, end)| units.extend(*start..*end));
    units.len()
}

/// Stretches of text from all kinds of writing, some of which normalisation changes.
fn piece(random: &mut Random, length: usize) -> String {
    let alphabet: &[&str] = match random.below(6) {
        0 => &["a"],
        1 => &["ab", "ab", "ab", "ba"],
        2 => &["漢", "字", "か", "な", "、"],
        3 => &["e\u{301}", "É", "ü", "u\u{308}", "o", " "],
        4 => &["x", "Y", " ", "  ", "\n", "\t", "z", "Σ"],
        _ => &["a", "b", "C", "d", "e", "F", "g", "h", " ", "i", "k", "l", "m"],
    };
    (0..length).map(|_| alphabet[random.below(alphabet.len() as u64) as usize]).collect()
}

/// Documents that share stretches of many lengths, by their ids.
fn documents(random: &mut Random, count: usize) -> BTreeMap<String, String> {
    let shared: Vec<String> = (0..count / 2).map(|_| piece(random, 240)).collect();
    let mut document = || {
        let mut text = piece(random, 80);
        for _ in 0..random.below(4) {
            let from: Vec<char> =
                shared[random.below(shared.len() as u64) as usize].chars().collect();
            let start = random.below(from.len() as u64 / 2) as usize;
            let length = N / 2 + random.below(from.len() as u64 - start as u64) as usize;
            text.extend(&from[start..from.len().min(start + length)]);
            text.push_str(&piece(random, 40));
        }
        text
    };
    (0..count).map(|number| (format!("d{number:03}"), document())).collect()
}

fn assert_finds_all(snapshot: &Snapshot, documents: &BTreeMap<String, String>, query: &str) {
    let found = snapshot.passages().by_text(query).expect("an answer");
    let asked = units(snapshot, query);
    assert_eq!(found.units, asked.len(), "{query:?}");
    let ids: HashSet<&str> = found.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(ids.len(), found.len(), "each document once");
    let exact = snapshot.settings().store_text;
    for (id, text) in documents {
        let of_document = units(snapshot, text);
        let expected = stretches(&asked, &of_document, N);
        let Some(found) = found.iter().find(|found| found.id == *id) else {
            assert!(expected.is_empty(), "{id} is missing: {expected:?} of {query:?} in {text:?}");
            continue;
        };
        let count = covered(&expected);
        assert!(found.shared <= found.most && count <= found.most, "{id}: {found:?} {count}");
        if !exact {
            let grams =
                stretches(&asked, &of_document, snapshot.settings().winnowing.expect("on").gram());
            assert!(found.shared <= covered(&grams), "{id}: {found:?}");
            continue;
        }
        assert_eq!((found.shared, found.most), (count, count), "{id}: {query:?} {text:?}");
        let lengths: Vec<usize> = expected.iter().map(|(start, end)| end - start).collect();
        assert_eq!(found.passages.iter().map(|one| one.units).collect::<Vec<_>>(), lengths);
        for (passage, (start, end)) in found.passages.iter().zip(expected) {
            let document = passage.document.expect("a text");
            let (a, b) = (&query[passage.query.bytes()], &text[document.bytes()]);
            let plain = |text: &str| units(snapshot, text).concat().replace(['σ', 'ς', ' '], "s");
            assert!(
                plain(a).contains(&asked[start..end].concat().trim().replace(['σ', 'ς', ' '], "s")),
                "{a:?}"
            );
            assert!(
                plain(b).contains(&asked[start..end].concat().trim().replace(['σ', 'ς', ' '], "s")),
                "{b:?}"
            );
            let chars = |bytes: usize, text: &str| text[..bytes].chars().count();
            assert_eq!(chars(document.end, text), document.char_end);
            assert_eq!(chars(passage.query.start, query), passage.query.char_start);
        }
    }
}

#[test]
fn every_planted_passage_is_found_over_all_changes_of_an_index() {
    for (seed, store_text) in [(1, true), (2, false), (3, true)] {
        let mut random = Random(seed);
        let mut model = documents(&mut random, 60);
        let place = Place::new();
        let options = tiny().passages(N).store_text(store_text);
        let index = options.create(place.index()).expect("created");
        for batch in model.iter().collect::<Vec<_>>().chunks(7) {
            let mut txn = index.begin_write().expect("begun");
            for (id, text) in batch {
                txn.insert(id, text.as_str()).expect("inserted");
            }
            txn.commit().expect("committed");
        }
        let queries: Vec<String> = documents(&mut random, 12).into_values().collect();
        let ask = |index: &Index, model: &BTreeMap<String, String>| {
            let snapshot = index.snapshot().expect("a snapshot");
            assert_clean(&snapshot.check().run().expect("checked"));
            for query in queries.iter().chain(model.values().step_by(9)) {
                assert_finds_all(&snapshot, model, query);
            }
        };
        ask(&index, &model);
        let mut txn = index.begin_write().expect("begun");
        for id in model.keys().step_by(3).cloned().collect::<Vec<_>>() {
            assert!(txn.remove(&id).expect("removed"));
            model.remove(&id);
        }
        let (id, text) = (model.keys().next().expect("some").clone(), piece(&mut random, 200));
        txn.insert(&id, &text).expect("replaced");
        model.insert(id, text);
        txn.commit().expect("committed");
        ask(&index, &model);
        drop(index);
        let mut index = options.open(place.index()).expect("opened");
        ask(&index, &model);
        index.compact().run().expect("compacted");
        ask(&index, &model);
    }
}

#[test]
fn backups_merges_and_attached_indexes_find_what_their_sources_find() {
    for store_text in [false, true] {
        let place = Place::new();
        let options = tiny().passages(N).store_text(store_text);
        let model = documents(&mut Random(9), 40);
        let fill = |name: &str, half: usize| {
            let index = options.create(place.path(name)).expect("created");
            let mut txn = index.begin_write().expect("begun");
            for (id, text) in model.iter().skip(half).step_by(2) {
                txn.insert(id, text.as_str()).expect("inserted");
            }
            txn.commit().expect("committed");
            index
        };
        let (one, other) = (fill("one.twx", 0), fill("other.twx", 1));
        let merged = options.create(place.path("merged.twx")).expect("created");
        let attached = options.create(place.path("attached.twx")).expect("created");
        for source in [&one, &other] {
            let source = source.snapshot().expect("a snapshot");
            let mut txn = merged.begin_write().expect("begun");
            txn.merge(&source, OnConflict::Replace).run().expect("merged");
            txn.commit().expect("committed");
            let mut txn = attached.begin_write().expect("begun");
            txn.attach(&source, OnConflict::Replace).run().expect("attached");
            txn.commit().expect("committed");
        }
        let backup = place.path("backup.twx");
        attached.snapshot().expect("a snapshot").backup(&backup).run().expect("copied");
        for index in [merged, attached, Index::open(backup).expect("opened")] {
            let snapshot = index.snapshot().expect("a snapshot");
            assert_clean(&snapshot.check().run().expect("checked"));
            model.values().step_by(5).for_each(|text| assert_finds_all(&snapshot, &model, text));
        }
        let plain = tiny().store_text(store_text).create(place.path("plain.twx")).expect("created");
        let mut txn = plain.begin_write().expect("begun");
        let merged = txn.merge(&one.snapshot().expect("a snapshot"), OnConflict::Replace).run();
        let message = merged.expect_err("other settings").to_string();
        assert!(message.contains("its passages is 24"), "{message}");
    }
}

#[test]
fn a_rebuild_adds_fingerprints_and_takes_them_away() {
    let place = Place::new();
    let model = documents(&mut Random(4), 30);
    let index = tiny().store_text(true).create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    for (id, text) in &model {
        txn.insert(id, text).expect("inserted");
    }
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let refused = snapshot.passages().by_text("some text").expect_err("no fingerprints");
    assert!(matches!(refused, Error::NoPassages { .. }), "{refused}");
    drop((snapshot, index));
    tiny().passages(N).rebuild(place.index()).run().expect("rebuilt");
    {
        let index = tiny().passages(N).open_read_only(place.index()).expect("opened");
        let snapshot = index.snapshot().expect("a snapshot");
        model.values().step_by(4).for_each(|text| assert_finds_all(&snapshot, &model, text));
        let other = tiny().passages(N + 1).open_read_only(place.index()).expect_err("refused");
        assert!(matches!(other, Error::SettingMismatch { setting: "passages", .. }), "{other}");
    }
    tiny().passages(0).rebuild(place.index()).run().expect("rebuilt");
    let index = Index::open(place.index()).expect("opened");
    assert_eq!(index.settings().winnowing, None);
    assert_clean(&index.check().run().expect("checked"));
}

#[test]
fn passages_of_words_lines_and_tokens_are_found() {
    for (shingle, separator) in [("word:2", " "), ("line:2", "\n"), ("token", " ")] {
        let place = Place::new();
        let options = tiny().shingle(shingle.parse().expect("a shingle")).store_text(true);
        let index = options.passages(N).create(place.index()).expect("created");
        let mut random = Random(3);
        let mut words = |count: usize| {
            let word = |_| format!("w{}", random.below(30));
            (0..count).map(word).collect::<Vec<_>>().join(separator)
        };
        let shared: Vec<String> = (0..5).map(|n| words(N + 9 * n)).collect();
        let mut model = BTreeMap::new();
        for number in 0..20 {
            let parts = [words(30), shared[number % 5].clone(), words(20)];
            model.insert(number.to_string(), parts.join(separator));
        }
        let mut txn = index.begin_write().expect("begun");
        for (id, text) in &model {
            txn.insert(id, text).expect("inserted");
        }
        txn.commit().expect("committed");
        let snapshot = index.snapshot().expect("a snapshot");
        for text in model.values() {
            assert_finds_all(&snapshot, &model, text);
        }
        if shingle == "token" {
            let tokens = Tokens::new(shared[0].split(' ')).expect("tokens");
            let found = snapshot.passages().by_content(&tokens).expect("an answer");
            assert_eq!(found.len(), 4, "a ready set is a sequence, too");
        }
    }
}

#[test]
fn a_query_by_id_leaves_the_document_out_and_limits_are_counted() {
    let place = Place::new();
    let index = tiny().passages(N).store_text(true).create(place.index()).expect("created");
    let text = "a passage that is long enough to be found again";
    let mut txn = index.begin_write().expect("begun");
    for (id, before) in [("a", "first "), ("b", "then "), ("c", "and ")] {
        txn.insert(id, &format!("{before}{text}")).expect("inserted");
    }
    txn.insert("d", &format!("only {}", &text[..30])).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let ids = |found: &PassageMatches| found.iter().map(|m| m.id.clone()).collect::<Vec<_>>();
    let found = snapshot.passages().by_id("b").expect("an answer").expect("known");
    assert_eq!(ids(&found), ["a", "c", "d"]);
    let found = snapshot.passages().limit(1).by_text(text).expect("an answer");
    assert_eq!((ids(&found), found.left_out, found.candidates), (vec!["a".into()], 3, 4));
    assert_eq!(found.share(found.first().expect("one")), (1.0, 1.0));
    let most = snapshot.passages().threshold(0.8).places(false).by_text(text).expect("an answer");
    assert_eq!(ids(&most), ["a", "b", "c"]);
    assert!(most.iter().all(|found| found.passages.is_empty()));
    assert_eq!(snapshot.passages().by_id("none").expect("an answer"), None);
    assert!(snapshot.passages().by_text("short").expect("an answer").is_empty());
}

#[test]
fn hot_passages_take_bounded_time_and_hide_nothing() {
    for store_text in [false, true] {
        let place = Place::new();
        let index = tiny().flush_documents(1 << 12).passages(100).store_text(store_text);
        let index = index.create(place.index()).expect("created");
        let mut txn = index.begin_write().expect("begun");
        let copy = "one text of which there are many copies, each of them the same. ".repeat(4);
        let documents: Vec<(String, String)> =
            (0..5_000).map(|number| (format!("copy {number}"), copy.clone())).collect();
        txn.insertion().contents(&documents).expect("inserted");
        txn.insert("run", &"a".repeat(1 << 20)).expect("inserted");
        txn.insert("periodic", &"abc".repeat(1 << 18)).expect("inserted");
        txn.commit().expect("committed");
        let snapshot = index.snapshot().expect("a snapshot");
        let asked = |text: &str| {
            let found = snapshot.passages().places(false).by_text(text).expect("an answer");
            (found.len(), found.first().map(|first| first.id.clone()))
        };
        assert_eq!(asked(&"a".repeat(1 << 19)), (1, Some("run".into())));
        assert_eq!(asked(&"cab".repeat(1 << 16)), (1, Some("periodic".into())));
        assert_eq!(asked(&copy).0, 5_000);
        let mixed = format!("{copy}{}{}", "a".repeat(300), "bca".repeat(100));
        assert_eq!(asked(&mixed).0, 5_002);
        assert_clean(&snapshot.check().run().expect("checked"));
    }
}

#[test]
fn containment_is_the_share_of_the_query_in_shared_passages() {
    for store_text in [true, false] {
        let place = Place::new();
        let index = tiny().passages(N).store_text(store_text).create(place.index());
        let index = index.expect("created");
        let model = documents(&mut Random(5), 40);
        let mut txn = index.begin_write().expect("begun");
        for (id, text) in &model {
            txn.insert(id, text).expect("inserted");
        }
        txn.commit().expect("committed");
        let snapshot = index.snapshot().expect("a snapshot");
        for (name, text) in model.iter().step_by(3) {
            let chars: Vec<char> = text.chars().collect();
            let excerpt: String = chars[chars.len() / 3..].iter().take(90).collect();
            let query = || snapshot.query().containment(true).threshold(0.3);
            let found = query().by_text(&excerpt).expect("an answer");
            assert_eq!((found.recall, found.sizes), (1.0, None));
            let asked = units(&snapshot, &excerpt);
            let mut expected = 0;
            for (id, text) in &model {
                let share = covered(&stretches(&asked, &units(&snapshot, text), N)) as f64;
                let share = share / asked.len() as f64;
                let containment = found.iter().find(|found| found.id == *id);
                let containment = containment.and_then(|found| found.containment);
                match (store_text, containment) {
                    (true, found) if share >= 0.3 => {
                        expected += 1;
                        assert_eq!(found.map(|found| found.share), Some(share), "{name} in {id}");
                    }
                    (false, Some(found)) => assert!(share <= found.high, "{name} in {id}"),
                    (false, None) => assert!(share < 0.3, "{name} in {id}: {share}"),
                    _ => {}
                }
            }
            assert!(!store_text || found.len() == expected);
            assert!(found.iter().all(|found| found.exact == store_text));
            if store_text {
                let of_document = query().by_id(name).expect("an answer").expect("known");
                assert_eq!(of_document.sizes, None);
            }
        }
        let short = snapshot.query().containment(true).by_text("a b c d e f").expect("an answer");
        assert!(short.sizes.is_some(), "shorter than a passage: by shingles");
    }
}

#[test]
fn a_document_that_shares_exactly_the_threshold_is_reported() {
    let place = Place::new();
    let options = tiny().shingle(Shingle::words(1)).passages(5).store_text(true);
    let index = options.create(place.index()).expect("created");
    let words = |name: &str, count: usize| -> String {
        (0..count).map(|n| format!("{name}{n} ")).collect()
    };
    let mut txn = index.begin_write().expect("begun");
    for shared in 5..100 {
        txn.insert(&shared.to_string(), &words("q", shared)).expect("inserted");
    }
    txn.commit().expect("committed");
    let (snapshot, query) = (index.snapshot().expect("a snapshot"), words("q", 100));
    for shared in 5..100 {
        let share = shared as f64 / 100.0;
        let found = snapshot.passages().threshold(share).by_text(&query).expect("searched");
        assert_eq!(found.len(), 100 - shared, "{share}");
    }
}

#[test]
fn texts_shorter_than_a_passage_share_none() {
    for (shingle, length) in [("word:3", 4), ("char:9", 10), ("token", 2)] {
        for store_text in [false, true] {
            let place = Place::new();
            let options = tiny().shingle(shingle.parse().expect("a shingle")).passages(length);
            let index = options.store_text(store_text).create(place.index()).expect("created");
            let mut txn = index.begin_write().expect("begun");
            for (id, text) in [("a", "hello"), ("b", "hello"), ("c", ""), ("d", "")] {
                txn.insert(id, text).expect("inserted");
            }
            txn.commit().expect("committed");
            let snapshot = index.snapshot().expect("a snapshot");
            let found = snapshot.passages().by_text("hello").expect("an answer");
            let units = if shingle == "char:9" { 5 } else { 1 };
            assert_eq!((found.len(), found.units), (0, units), "{shingle}");
            if store_text {
                assert_eq!(snapshot.repeats().expect("an index of passages").count(), 0);
            }
        }
    }
    for (shingle, length) in [(Shingle::words(3), 3), (Shingle::chars(9), 9), (Shingle::Tokens, 1)]
    {
        let refused = Index::options().shingle(shingle).passages(length).settings();
        assert!(matches!(refused, Err(Error::InvalidSetting { .. })), "{refused:?}");
    }
}

#[test]
fn a_document_brings_the_fingerprints_that_its_index_has() {
    let place = Place::new();
    let create = |name: &str, length: usize| {
        tiny().passages(length).create(place.path(name)).expect("created")
    };
    let (plain, short, long) = (create("0.twx", 0), create("20.twx", 20), create("50.twx", 50));
    let of = |index: &Index| index.prepare("a", "a text of some length for its own").expect("made");
    let insert = |index: &Index, document| {
        let mut txn = index.begin_write().expect("begun");
        let inserted = txn.insertion().document(document).map(|_| ());
        inserted.and_then(|()| txn.commit())
    };
    let refused = insert(&short, of(&long)).expect_err("another length");
    assert!(matches!(refused, Error::InvalidFingerprints { .. }), "{refused}");
    let refused = insert(&short, of(&plain)).expect_err("none");
    assert!(matches!(refused, Error::MissingFingerprints { .. }), "{refused}");
    insert(&plain, of(&short)).expect("an index without passages needs none");
    let stored = of(&short).fingerprints().expect("made").to_vec();
    let again = of(&plain).with_fingerprints(&stored).expect("readable");
    insert(&short, again).expect("those of the same length");
    assert!(of(&plain).with_fingerprints(&[9, 200, 1]).is_err());
    for index in [plain, short, long] {
        assert_clean(&index.check().run().expect("checked"));
    }
}

#[test]
fn the_usual_length_is_that_of_the_shingle_of_the_index() {
    let place = Place::new();
    let words = tiny().shingle(Shingle::words(3)).store_text(true);
    drop(words.create(place.index()).expect("created"));
    Index::options().usual_passages().rebuild(place.index()).run().expect("rebuilt");
    let index = Index::options().usual_passages().open(place.index()).expect("opened");
    assert_eq!(index.settings().winnowing.map(|winnowing| winnowing.length()), Some(20));
    drop(index);
    tiny().passages(30).rebuild(place.index()).run().expect("rebuilt");
    drop(Index::options().usual_passages().open(place.index()).expect("of any length"));
    let plain = place.path("plain.twx");
    drop(Index::create(&plain).expect("created"));
    let refused = Index::options().usual_passages().open(&plain).expect_err("none");
    assert!(matches!(refused, Error::SettingMismatch { .. }), "{refused}");
}

#[test]
fn a_text_that_repeats_itself_has_few_passages() {
    let place = Place::new();
    let index = Index::options().passages(100).store_text(true).create(place.index());
    let index = index.expect("created");
    let mut txn = index.begin_write().expect("a transaction");
    let (long, short) = ("-".repeat(30_000), "-".repeat(15_000));
    txn.insert("long", &format!("before {long} after")).expect("inserted");
    txn.insert("short", &format!("other {short} words")).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");

    let found = snapshot.passages().by_id("long").expect("answered").expect("a document");
    let first = found.first().expect("a match");
    assert!(first.shared >= 30_000, "{}", first.shared);
    assert!(first.passages.len() <= 5, "{} passages", first.passages.len());
    let covered = first.passages.iter().map(|passage| passage.query.bytes().end).max();
    assert!(covered >= Some(7 + 30_000), "{covered:?}");
    for passage in &first.passages {
        let (query, of) = (passage.query.bytes().len(), passage.document.expect("a place"));
        assert_eq!((query, of.bytes().len()), (passage.units, passage.units));
    }

    let repeats: Vec<_> =
        snapshot.repeats().expect("a walk").map(|one| one.expect("read")).collect();
    assert_eq!(repeats.iter().map(|one| &*one.id).collect::<Vec<_>>(), ["long", "short"]);
    for document in &repeats {
        assert!(document.passages.len() <= 5, "{} passages", document.passages.len());
    }
}
