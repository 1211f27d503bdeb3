//! Repeated passages: all of them are found, beside brute force and beside a suffix array.

use crate::support::{Place, Random, tiny};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use twindex::{Error, Index, Snapshot};

/// The length of the passages to find.
const N: usize = 12;

/// Documents by their ids, in order of insertion.
type Documents = Vec<(String, String)>;

/// The repeated passages of each first document of its text: the range of units, the number of
/// documents that have it, and whether another document does.
type Expected = BTreeMap<String, Vec<(usize, usize, u64)>>;

fn made_up(random: &mut Random, count: usize) -> Documents {
    let letters = |random: &mut Random, most: u64, kinds: u64| {
        let length = random.below(most);
        let letter = |random: &mut Random| char::from(b'a' + random.below(kinds) as u8);
        (0..length).map(|_| letter(random)).collect::<String>()
    };
    let shared: Vec<String> = (0..count / 3).map(|_| letters(random, 60, 20)).collect();
    let mut document = |number: usize| {
        let mut text = letters(random, 30, 20);
        for _ in 0..random.below(4) {
            text += &shared[random.below(shared.len() as u64) as usize];
            let kinds = 1 + random.below(3);
            text += &letters(random, 25, kinds);
        }
        (format!("d{number}"), text)
    };
    let mut documents: Documents = (0..count).map(&mut document).collect();
    let copies = documents[..count / 8].to_vec();
    documents.extend(copies.into_iter().map(|(id, text)| (format!("copy of {id}"), text)));
    documents
}

/// Brute force, from the length of the longest common stretch at each two places.
fn brute_force(documents: &Documents) -> Expected {
    let texts: Vec<Vec<char>> = documents.iter().map(|(_, text)| text.chars().collect()).collect();
    let mut expected = Expected::new();
    for (number, own) in texts.iter().enumerate() {
        if texts[..number].contains(own) {
            continue;
        }
        let mut longest = vec![0; own.len()];
        for (other_number, other) in texts.iter().enumerate() {
            let mut after = vec![0; other.len() + 1];
            for at in (0..own.len()).rev() {
                let mut here = vec![0; other.len() + 1];
                for place in 0..other.len() {
                    let is_other = number != other_number || at != place;
                    if is_other && own[at] == other[place] {
                        here[place] = after[place + 1] + 1;
                        longest[at] = longest[at].max(here[place]);
                    }
                }
                after = here;
            }
        }
        let (mut end, mut found) = (0, Vec::new());
        for (start, length) in longest.into_iter().enumerate() {
            if length >= N && start + length > end {
                end = start + length;
                let passage = &own[start..end];
                let has = |text: &&Vec<char>| text.windows(length).any(|window| window == passage);
                found.push((start, end, texts.iter().filter(has).count() as u64));
            }
        }
        if !found.is_empty() {
            expected.insert(documents[number].0.clone(), found);
        }
    }
    expected
}

/// What the index tells, in the same form.
fn found(snapshot: &Snapshot) -> Expected {
    let mut all = Expected::new();
    for document in snapshot.repeats().expect("an index of passages") {
        let document = document.expect("readable");
        assert_eq!(snapshot.text(&document.id).expect("readable"), Some(document.text.clone()));
        let passages = document.passages.iter().map(|passage| {
            assert_eq!(passage.units, passage.span.char_end - passage.span.char_start);
            assert_eq!(passage.other.is_some(), passage.documents > 1, "{passage:?}");
            if let Some(other) = &passage.other {
                let other = snapshot.text(other).expect("readable").expect("a text");
                assert!(other.contains(&document.text[passage.span.bytes()]));
            }
            (passage.span.char_start, passage.span.char_end, passage.documents)
        });
        all.insert(document.id, passages.collect());
    }
    all
}

fn indexed(place: &Place, documents: &Documents) -> Index {
    let options = tiny().passages(N).shingle(twindex::Shingle::chars(4)).store_text(true);
    let index = options.normalization(twindex::Normalization::NONE).create(place.index());
    let index = index.expect("created");
    for batch in documents.chunks(11) {
        let mut txn = index.begin_write().expect("begun");
        for (id, text) in batch {
            txn.insert(id, text).expect("inserted");
        }
        txn.commit().expect("committed");
    }
    index
}

#[test]
fn the_repeats_are_those_of_brute_force() {
    for seed in 0..6 {
        let documents = made_up(&mut Random(seed), 40);
        let place = Place::new();
        let index = indexed(&place, &documents);
        let snapshot = index.snapshot().expect("a snapshot");
        assert_eq!(found(&snapshot), brute_force(&documents), "seed {seed}");
    }
}

#[test]
fn equal_passages_have_equal_hashes_and_a_limit_is_counted() {
    let place = Place::new();
    let passage = "a passage of some length";
    let documents = (0..30).map(|n| (n.to_string(), format!("{n}: {passage} - {n}"))).collect();
    let index = indexed(&place, &documents);
    let snapshot = index.snapshot().expect("a snapshot");
    let mut repeats = snapshot.repeats().expect("an index of passages");
    let mut hashes: HashMap<String, u64> = HashMap::new();
    for document in repeats.by_ref() {
        let document = document.expect("readable");
        for found in document.passages {
            let text = document.text[found.span.bytes()].to_owned();
            assert_eq!(*hashes.entry(text).or_insert(found.hash), found.hash);
        }
    }
    assert_eq!(repeats.limited(), 0);
    let mut limited = snapshot.repeats().expect("an index of passages").max_texts(1);
    assert_eq!(limited.by_ref().count(), 0);
    assert!(limited.limited() > 0);
    let plain = tiny().store_text(true).create(place.path("plain.twx")).expect("created");
    let refused = plain.snapshot().expect("a snapshot").repeats().expect_err("no fingerprints");
    assert!(matches!(refused, Error::NoPassages { .. }), "{refused}");
    let textless = tiny().passages(N).create(place.path("textless.twx")).expect("created");
    let refused = textless.snapshot().expect("a snapshot").repeats().expect_err("no texts");
    assert!(matches!(refused, Error::NoTexts { .. }), "{refused}");
}

/// The length of the longest stretch at each place that occurs at another place, by a suffix array
/// that prefix doubling makes (Manber, Myers 1993). No stretch holds a separator: all are distinct.
fn longest_repeats(text: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..text.len() as u32).collect();
    let mut rank: Vec<u32> = text.to_vec();
    let mut width = 0;
    loop {
        let key = |place: &u32| {
            let at = *place as usize;
            let next = if width == 0 { 0 } else { rank.get(at + width).map_or(0, |rank| rank + 1) };
            (rank[at], next)
        };
        order.par_sort_unstable_by_key(key);
        let mut next = vec![0; text.len()];
        let mut name = 0;
        for pair in order.windows(2) {
            name += u32::from(key(&pair[0]) != key(&pair[1]));
            next[pair[1] as usize] = name;
        }
        rank = next;
        if name as usize + 1 >= text.len() {
            break;
        }
        width = if width == 0 { 1 } else { 2 * width };
    }
    let mut lengths = vec![0_u32; text.len()];
    let mut shared = 0;
    for place in 0..text.len() {
        let at = rank[place] as usize;
        let Some(before) = at.checked_sub(1) else {
            shared = 0;
            continue;
        };
        let before = order[before] as usize;
        let pairs = text[place + shared..].iter().zip(&text[before + shared..]);
        shared += pairs.take_while(|(x, y)| x == y).count();
        for one in [place, before] {
            lengths[one] = lengths[one].max(shared as u32);
        }
        shared = shared.saturating_sub(1);
    }
    lengths
}

#[test]
#[ignore = "takes minutes: TWINDEX_CORPUS names a file of JSON Lines with texts"]
fn the_repeats_of_ten_megabytes_are_those_of_a_suffix_array() {
    const LENGTH: usize = 100;
    let path = std::env::var("TWINDEX_CORPUS").expect("a file of JSON Lines");
    let most = std::env::var("TWINDEX_BYTES").map_or(10_000_000, |n| n.parse().expect("a number"));
    let place = Place::new();
    let index = Index::options().passages(LENGTH).store_text(true).create(place.index());
    let index = index.expect("created");
    let lines = std::fs::read_to_string(path).expect("readable");
    let (mut bytes, mut documents) = (0, Vec::new());
    for (number, line) in lines.lines().enumerate() {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let text = record["text"].as_str().expect("a text").to_owned();
        bytes += text.len();
        documents.push((number.to_string(), text));
        if bytes > most {
            break;
        }
    }
    let mut txn = index.begin_write().expect("begun");
    txn.insertion().contents(&documents).expect("inserted");
    txn.commit().expect("committed");
    let snapshot = index.snapshot().expect("a snapshot");

    let normalization = snapshot.settings().normalization;
    let (mut all, mut starts) = (Vec::new(), Vec::new());
    for (number, (_, text)) in documents.iter().enumerate() {
        starts.push(all.len());
        all.extend(normalization.apply(text).chars().map(u32::from));
        all.push(0x11_0000 + number as u32);
    }
    let lengths = longest_repeats(&all);
    let mut first_of: HashMap<&str, usize> = HashMap::new();
    let mut expected: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, start) in starts.iter().enumerate() {
        if *first_of.entry(&documents[number].1).or_insert(number) != number {
            continue;
        }
        let end = starts.get(number + 1).copied().unwrap_or(all.len());
        let mut covered = 0;
        for (at, length) in lengths[*start..end].iter().enumerate() {
            let length = *length as usize;
            if length >= LENGTH && at + length > covered {
                covered = at + length;
                expected.entry(number).or_default().push(length);
            }
        }
    }
    let mut count = 0;
    for document in snapshot.repeats().expect("an index of passages") {
        let document = document.expect("readable");
        let number: usize = document.id.parse().expect("a number");
        let units: Vec<usize> = document.passages.iter().map(|passage| passage.units).collect();
        count += units.len();
        assert_eq!(Some(units), expected.remove(&number), "document {number}");
    }
    assert!(expected.is_empty(), "{} documents are missing", expected.len());
    assert!(count > 0, "no repeated passage in {bytes} bytes");
}
