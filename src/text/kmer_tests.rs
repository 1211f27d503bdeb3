//! K-mers against their definition, with hash values that are part of the file format.

use crate::hash::{ShingleHasher, SplitMix, fmix64};
use crate::text::{Normalization, Shingle, Shingler, fuzz};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn shingler(k: u16, multiset: bool) -> Shingler {
    Shingler::new(Shingle::kmers(k), Normalization::NONE, multiset, 0).expect("a valid width")
}

fn set(k: u16, text: &str) -> BTreeSet<u64> {
    shingler(k, false).hashes(text).into_iter().collect()
}

/// A sequence of random letters.
fn sequence(length: usize, seed: u64) -> String {
    let mut words = SplitMix::new(seed);
    (0..length).map(|_| char::from(b"ACGT"[(words.next() >> 62) as usize])).collect()
}

fn reverse_complement(sequence: &str) -> String {
    let complement = |letter| match letter {
        'A' => 'T',
        'C' => 'G',
        'G' => 'C',
        _ => 'A',
    };
    sequence.chars().rev().map(complement).collect()
}

#[test]
fn a_kmer_is_hashed_as_the_smaller_code_of_both_strands() {
    let hasher = ShingleHasher::new(0);
    let code = |code: u64| hasher.hash(&code.to_le_bytes());
    // AAC is 000001, its reverse complement GTT is 101111.
    assert_eq!(shingler(3, false).hashes("AAC"), [code(1)]);
    assert_eq!(shingler(3, false).hashes("GTT"), [code(1)]);
    assert_eq!(shingler(4, false).hashes("ACGT"), [code(0b_00_01_10_11)], "its own complement");
    assert_eq!(shingler(1, false).hashes("ACGT"), [code(0), code(1), code(1), code(0)]);
}

#[test]
fn both_strands_have_the_same_kmers() {
    for k in 1..=32 {
        let forward = sequence(500, k.into());
        assert_eq!(set(k, &forward), set(k, &reverse_complement(&forward)), "kmer:{k}");
    }
}

#[test]
fn a_substitution_changes_exactly_the_kmers_that_hold_it() {
    for k in [11, 21, 32] {
        let before = sequence(1000, 5);
        let mut after = before.clone();
        after.replace_range(500..501, if &before[500..501] == "A" { "C" } else { "A" });
        let (a, b) = (set(k, &before), set(k, &after));
        let all = 1001 - usize::from(k);
        assert_eq!((a.len(), b.len()), (all, all), "no k-mer comes twice by chance");
        assert_eq!(a.intersection(&b).count(), all - usize::from(k), "kmer:{k}");
    }
}

#[test]
fn headers_comments_case_and_line_breaks_do_not_change_the_kmers() {
    let plain = "ACGTTGCAAGGCT";
    for same in [
        "acgttGCAAggct",
        "ACGUUGCAAGGCU",
        ">one ACGTACGTACGT\nACGTTG\nCAAGGCT\n",
        "\u{FEFF}>one ACGTACGTACGT\r\nACGTTG\r\nCAAGGCT",
        ";GGGGGGGGG\n>one\n;AAAAAAAAA\nACGTTG\n\n;CCCCCCCC\nCAAGGCT*\n",
        ">one\rACGTTG\rCAAGGCT\r",
        "ACGTTGCAAG\tGC T",
    ] {
        let kmers = shingler(5, false).hashes(same);
        assert_eq!(kmers, shingler(5, false).hashes(plain), "{same:?}");
    }
}

#[test]
fn no_kmer_crosses_another_letter_or_the_end_of_a_record() {
    for broken in
        ["ACGTNCGTA", "ACGT-CGTA", "ACGT>CGTA", "ACGT\n>two\nCGTA", "ACGTéCGTA", "ACGT1CGTA"]
    {
        assert_eq!(shingler(4, false).hashes(broken).len(), 2, "{broken:?}");
        assert_eq!(shingler(5, false).hashes(broken).len(), 0, "{broken:?}");
    }
}

#[test]
fn a_sequence_without_a_kmer_is_empty() {
    for text in ["ACGT", ">a header of ACGTACGTACGT", "NNNNNNNNNNNN", ">a\nACG\n>b\nACG\n", ""] {
        assert!(shingler(5, true).hashes(text).is_empty(), "{text:?}");
    }
}

#[test]
fn a_multiset_counts_a_kmer_on_either_strand() {
    let hashes = shingler(3, true).hashes("AACNGTTNAAC");
    assert_eq!(hashes.iter().collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(shingler(3, false).hashes("AACNGTT").into_iter().collect::<BTreeSet<_>>().len(), 1);
}

#[test]
fn kmers_are_not_normalised() {
    let refused = Shingler::new(Shingle::kmers(21), Normalization::default(), false, 0);
    let error = refused.expect_err("refused").to_string();
    assert!(error.contains("lower,nfc,space with kmer:21"), "{error}");
}

/// Folds the hashes of a text into one number, so that a golden value pins all of them.
fn pinned(k: u16, text: &str) -> (usize, u64) {
    let hashes = shingler(k, false).hashes(text);
    (hashes.len(), hashes.iter().fold(0, |all, hash| fmix64(all ^ hash)))
}

/// An independent program computed these values from the definition in `docs/format.md`.
#[test]
fn kmers_have_their_golden_hashes() {
    let text = ">x\nACGTTGCAAGGCTNNTTGACCATGCATTGACCAGATACCAGATTACAGGAC\n\
        >y\nGATTACAGATTACAGATTACAGATTACAGATTACA\n";
    let golden: [(u16, (usize, u64)); 5] = [
        (1, (84, 0xe997_838e_4d5d_c4e7)),
        (4, (75, 0x6b88_7fd7_1918_defd)),
        (21, (31, 0xbbd8_54c0_1f63_0451)),
        (31, (11, 0x7175_fe6c_acad_23f9)),
        (32, (9, 0xa9f4_156c_092e_9301)),
    ];
    for (k, expected) in golden {
        let got = pinned(k, text);
        assert_eq!(got, expected, "kmer:{k} gave {}, {:#018x}", got.0, got.1);
    }
    let hash = shingler(21, false).hashes("GATTACAGATTACAGATTACA");
    assert_eq!(hash, [0xb5f5_28a5_4565_8f73], "{hash:#018x?}");
}

#[test]
fn long_sequences_have_the_kmers_of_the_definition() {
    let mut text = sequence(5000, 1);
    text.replace_range(2500..2501, "N");
    let input = |k: u8| [&[0, 192, k, 0][..], text.as_bytes()].concat();
    [1, 8, 21, 32].iter().for_each(|k| fuzz::text(&input(*k)));
}

proptest! {
    #[test]
    fn sequences_have_the_kmers_of_the_definition(
        text in "[ACGTacgtuN>;\r\n \u{e9}]{0,200}", k in 0u8..34,
    ) {
        // 192 is a set of k-mers, 255 a multiset.
        for kind in [192, 255] {
            fuzz::text(&[&[0, kind, k, 0][..], text.as_bytes()].concat());
        }
    }

    #[test]
    fn any_text_has_the_kmers_of_the_definition(text in any::<String>(), k in 0u8..34) {
        fuzz::text(&[&[0, 192, k, 0][..], text.as_bytes()].concat());
    }
}
