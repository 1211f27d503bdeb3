//! Documents from someone who knows the hashes and wants to hide or to slow down others.

use crate::support::{Place, Random};
use std::time::{Duration, Instant};
use twindex::{Error, Index, Inserted, Outcome, Shingle, WriteTxn};

/// Two texts of one XXH3 hash and one length. XXH3 multiplies words of 32 bits that its secret was
/// mixed into; two words of these texts become 0, so that what they are multiplied with, "aaa" and
/// "zzz", counts in the sum alone and can be exchanged.
fn texts_of_one_xxh3_hash() -> [String; 2] {
    ["aaazzz", "zzzaaa"].map(|letters| {
        let mut text = vec![b'.'; 1200];
        text[46..52].copy_from_slice(&[b'x', 0xC2, 0xB8, 0x08, 0x46, 0x74]);
        text[624..629].copy_from_slice(&[0xC8, 0x9F, 0x7E, 0xC9, 0x80]);
        text[53..56].copy_from_slice(&letters.as_bytes()[..3]);
        text[629..632].copy_from_slice(&letters.as_bytes()[3..]);
        String::from_utf8(text).expect("UTF-8")
    })
}

#[test]
fn a_text_with_the_xxh3_hash_of_another_replaces_it() {
    let [one, other] = texts_of_one_xxh3_hash();
    let xxh3 = |text: &str| xxhash_rust::xxh3::xxh3_64(text.as_bytes());
    assert_eq!(xxh3(&one), xxh3(&other));
    let place = Place::new();
    let index = Index::options().store_text(true).create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    assert_eq!(txn.insert("page", &one).expect("inserted"), Inserted::Added);
    assert_eq!(txn.insert("page", &one).expect("inserted"), Inserted::Unchanged);
    assert_eq!(txn.insert("page", &other).expect("inserted"), Inserted::Replaced);
    txn.commit().expect("committed");
    let text = index.snapshot().expect("a snapshot").text("page").expect("readable");
    assert_eq!(text.as_deref(), Some(other.as_str()));
}

/// Texts that share a prefix of 60 of their 78 words: any two are similar by some 0.6, so that each
/// shares one or two of seven buckets with every other.
fn with_shared_prefix(number: u64) -> String {
    let words = |seed: u64, count: usize| {
        let mut random = Random(seed);
        let word = |_| (0..7).map(|_| (b'a' + random.below(26) as u8) as char).collect::<String>();
        (0..count).map(word).collect::<Vec<String>>().join(" ")
    };
    format!("{} {}", words(7, 60), words(1000 + number, 18))
}

fn insert(txn: &mut WriteTxn, id: &str, text: &str, candidates: usize) -> Outcome {
    let texts = [(id, text)];
    let insertion = txn.insertion().unless_similar(0.8).max_candidates(candidates);
    insertion.contents(&texts).expect("inserted").pop().expect("one outcome")
}

#[test]
fn a_duplicate_is_found_in_crowded_buckets_although_few_candidates_are_compared() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    for number in 0..400 {
        let text = with_shared_prefix(number);
        let outcome = insert(&mut txn, &number.to_string(), &text, usize::MAX);
        assert_eq!(outcome, Outcome::Inserted(Inserted::Added), "{number}");
    }
    assert_eq!(txn.limited(), 0, "nothing was left out");
    txn.commit().expect("committed");

    let mut txn = index.begin_write().expect("begun");
    for number in 0..400 {
        let copy = with_shared_prefix(number).replacen('e', "ee", 1);
        match insert(&mut txn, &format!("copy {number}"), &copy, 8) {
            Outcome::Duplicate { of, .. } => assert_eq!(of.id, number.to_string()),
            outcome => panic!("copy {number}: {outcome:?}"),
        }
    }
    assert_eq!(txn.limited(), 0, "all are duplicates");
    let outcome = insert(&mut txn, "400", &with_shared_prefix(400), 8);
    assert_eq!(outcome, Outcome::Inserted(Inserted::Added));
    assert_eq!(txn.limited(), 1, "it was not compared with all of its candidates");
}

#[test]
fn no_candidates_at_all_is_an_error() {
    let place = Place::new();
    let index = Index::create(place.index()).expect("created");
    let mut txn = index.begin_write().expect("begun");
    let insertion = txn.insertion().unless_similar(0.8).max_candidates(0);
    let error = insertion.contents(&[("a", "a text")]).expect_err("refused");
    assert!(matches!(error, Error::InvalidSetting { setting: "max_candidates", .. }), "{error}");
}

/// Both texts repeat a short line, so that some 30,000 places of the one have a fingerprint that
/// 30,000 places of the other have. Comparing each with each took a minute.
#[test]
fn texts_that_repeat_one_line_are_searched_for_passages_in_linear_time() {
    let place = Place::new();
    let options = Index::options().shingle(Shingle::Tokens).store_text(true).passages(10);
    let index = options.create(place.index()).expect("created");
    let line = "a ".repeat(11);
    let mut txn = index.begin_write().expect("begun");
    txn.insert("known", &format!("{line}b ").repeat(30_000)).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");
    let begin = Instant::now();
    let asked = format!("{line}c ").repeat(30_000);
    let found = snapshot.passages().places(false).by_text(&asked).expect("answered");
    assert_eq!(found.first().map(|found| (&*found.id, found.shared)), Some(("known", 330_000)));
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}
