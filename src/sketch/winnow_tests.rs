//! Tests of winnowing, beside its definition and golden bytes of a script.

use super::*;
use crate::sketch::fingerprints::PrintRun;
use crate::text::{Normalization, Shingler};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn winnower(length: usize, shingle: Shingle) -> (Winnower, Shingler) {
    let winnowing = Winnowing::new(length, shingle).expect("in range");
    let shingler = Shingler::new(shingle, Normalization::NONE, false, 0).expect("in range");
    (Winnower::new(winnowing, shingle), shingler)
}

/// All fingerprints, one by one.
fn all(fingerprints: &Fingerprints) -> Vec<(u64, u32)> {
    let each = |run: PrintRun| (0..run.count).map(move |n| (run.first + n * run.gap, run.hash));
    fingerprints.runs().flat_map(each).collect()
}

/// The definition: the last of the least grams of every window.
fn defined(winnower: &Winnower, shingles: &[u64]) -> Vec<(u64, u32)> {
    let mut grams = Vec::new();
    winnower.hash_grams(shingles, &mut grams);
    let mut found = BTreeSet::new();
    for (start, window) in grams.windows(winnower.winnowing.window()).enumerate() {
        let least = window.iter().map(|gram| gram >> 32).min();
        let place = window.iter().rposition(|gram| Some(gram >> 32) == least).expect("a window");
        found.insert(((start + place) as u64, window[place] as u32));
    }
    found.into_iter().collect()
}

#[test]
fn a_gram_has_a_quarter_of_a_passage_and_at_least_a_shingle() {
    let of = |length, shingle| Winnowing::new(length, shingle).map(|w| (w.gram(), w.window())).ok();
    assert_eq!(of(100, Shingle::chars(9)), Some((25, 76)));
    assert_eq!(of(20, Shingle::chars(9)), Some((9, 12)));
    assert_eq!(of(10, Shingle::chars(9)), Some((9, 2)));
    assert_eq!(of(9, Shingle::chars(9)), None);
    assert_eq!(of(2, Shingle::Tokens), Some((1, 2)));
    assert_eq!(of(10_000, Shingle::words(3)), Some((32, 9969)));
    assert_eq!(of(10_001, Shingle::words(3)), None);
    assert_eq!(of(1, Shingle::Tokens), None);
    assert_eq!(of(50, Shingle::kmers(21)), None);
}

proptest! {
    #[test]
    fn the_least_gram_of_every_window_is_a_fingerprint_whatever_the_blocks(
        text in "[ab]{0,60}[a-d ]{0,300}(ab){0,80}a{0,90}",
        length in 5_usize..60,
        width in 1_u16..5,
        cuts in proptest::collection::vec(1_usize..70, 1..9),
    ) {
        let (winnower, shingler) = winnower(length, Shingle::chars(width));
        let shingles = shingler.hashes(&text);
        let expected = defined(&winnower, &shingles);
        let whole = winnower.fingerprints(&shingles);
        prop_assert_eq!(all(&whole), &expected[..]);
        prop_assert_eq!(whole.shingles(), shingles.len() as u64);
        let mut selection = Selection::default();
        let (mut rest, mut cuts) = (&shingles[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let cut = rest.len().min(*cuts.next().expect("endless"));
            selection.push(&winnower, &rest[..cut]);
            rest = &rest[cut..];
        }
        let in_blocks = selection.finish();
        prop_assert_eq!(&in_blocks, &whole);
        prop_assert_eq!(Fingerprints::from_bytes(whole.as_bytes()), Ok(whole.clone()));
        let words: BTreeSet<u32> = expected.iter().map(|(_, hash)| *hash).collect();
        prop_assert_eq!(&*whole.words(), words.into_iter().collect::<Vec<u32>>());
    }

    #[test]
    fn texts_that_share_a_passage_share_a_fingerprint_of_it(
        before in ("[a-c ]{0,80}", "[a-c ]{0,80}"),
        passage in prop_oneof!["[a-e ]{30,90}", "(ab){15,40}", "a{30,50}"],
        after in ("[a-c ]{0,80}", "[a-c ]{0,80}"),
    ) {
        let (winnower, shingler) = winnower(30, Shingle::chars(4));
        let of = |before: &str, after: &str| {
            let text = format!("{before}{passage}{after}");
            let found = winnower.fingerprints(&shingler.hashes(&text));
            let start = before.len() as u64;
            let inside = |at: &u64| (start..start + passage.len() as u64).contains(at);
            let own = all(&found).into_iter().filter(|(at, _)| inside(at));
            own.map(|(at, hash)| (at - start, hash)).collect::<BTreeSet<_>>()
        };
        let (one, other) = (of(&before.0, &after.0), of(&before.1, &after.1));
        prop_assert!(one.intersection(&other).next().is_some(), "{one:?} {other:?}");
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(found) = Fingerprints::from_bytes(&bytes) {
            let last = found.runs().last().map(|run| run.first + (run.count - 1) * run.gap);
            prop_assert!(last.is_none_or(|last| last < found.shingles()));
        }
    }
}

#[test]
fn random_text_has_a_fingerprint_in_half_a_window() {
    let (winnower, shingler) = winnower(100, Shingle::chars(9));
    let mut words = crate::hash::SplitMix::new(7);
    let text: String = (0..400_000).map(|_| char::from(b'a' + (words.next() % 26) as u8)).collect();
    let found = all(&winnower.fingerprints(&shingler.hashes(&text))).len() as f64;
    let law = 2.0 / 77.0;
    assert!((found / 400_000.0 / law - 1.0).abs() < 0.02, "{found}");
}

#[test]
fn a_text_of_one_letter_takes_a_few_bytes() {
    let (winnower, shingler) = winnower(100, Shingle::chars(9));
    for unit in ["a", "ab", "abcdefg"] {
        let found = winnower.fingerprints(&shingler.hashes(&unit.repeat(300_000)));
        assert!(found.as_bytes().len() < 600, "{unit}: {} bytes", found.as_bytes().len());
        assert!(found.words().len() < 80, "{unit}: {}", found.words().len());
    }
}

/// A script has computed these from the format alone.
#[test]
fn fingerprints_have_their_golden_bytes() {
    for (length, golden) in [
        (12, "1f022d93806401df25678c0a70df42570319b38ed7032d34230607ab0990c5"),
        (20, "1f0fad37eb9605b4a109db"),
    ] {
        let (winnower, shingler) = winnower(length, Shingle::chars(3));
        let found = winnower.fingerprints(&shingler.hashes("the quick brown fox jumps over it"));
        let hex: String = found.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, golden, "{length}");
    }
}
