//! What shingling promises, with hash values that are part of the file format.

use super::*;
use proptest::prelude::*;

fn shingler(shingle: Shingle, multiset: bool) -> Shingler {
    let normalization = shingle.default_normalization();
    Shingler::new(shingle, normalization, multiset, 0).expect("valid width")
}

fn every_kind() -> [Shingle; 10] {
    [
        Shingle::chars(1),
        Shingle::chars(3),
        Shingle::chars(8),
        Shingle::chars(9),
        Shingle::chars(16),
        Shingle::chars(17),
        Shingle::words(1),
        Shingle::words(3),
        Shingle::lines(2),
        Shingle::Tokens,
    ]
}

#[test]
fn an_empty_text_has_no_shingle() {
    for shingle in every_kind() {
        for text in ["", " ", "\t\n \u{3000}"] {
            assert!(shingler(shingle, false).hashes(text).is_empty(), "{shingle} of {text:?}");
        }
    }
}

#[test]
fn a_text_shorter_than_a_shingle_is_one_shingle() {
    for (shingle, text) in [
        (Shingle::chars(9), "short"),
        (Shingle::chars(9), "漢字"),
        (Shingle::chars(9), "exactly 9"),
        (Shingle::words(3), "two words"),
        (Shingle::words(3), "?!"),
        (Shingle::lines(4), "one\n\n two"),
        (Shingle::Tokens, "x"),
    ] {
        assert_eq!(shingler(shingle, false).hashes(text).len(), 1, "{shingle} of {text:?}");
    }
}

#[test]
fn words_are_joined_in_order_and_chinese_splits() {
    let words = |n| shingler(Shingle::words(n), false);
    assert_eq!(words(2).hashes("a b, c"), words(2).hashes("A  B; C!"));
    assert_ne!(words(2).hashes("a b"), words(2).hashes("b a"));
    assert_eq!(words(1).hashes("敏捷的狐狸").len(), 5);
    let hasher = ShingleHasher::new(0);
    assert_eq!(words(2).hashes("a b c"), [hasher.hash(b"a b"), hasher.hash(b"b c")]);
}

#[test]
fn lines_ignore_blank_lines_and_indentation() {
    let lines = shingler(Shingle::lines(2), false);
    assert_eq!(lines.hashes("if x:\n\n    go( )\n\tstop\n"), lines.hashes("if x:\r\n go( )\nstop"));
    assert_eq!(lines.hashes("a\nb\nc\nd").len(), 3);
    assert_ne!(lines.hashes("a b\nc"), lines.hashes("a\nb c"));
}

#[test]
fn tokens_are_taken_to_the_letter() {
    let tokens = shingler(Shingle::Tokens, false);
    assert_ne!(tokens.hashes("A"), tokens.hashes("a"));
    assert_eq!(tokens.hashes("b a  c").len(), 3);
}

#[test]
fn a_multiset_counts_each_occurrence() {
    let (set, multi) = (shingler(Shingle::chars(1), false), shingler(Shingle::chars(1), true));
    let distinct = |mut hashes: Vec<u64>| {
        hashes.sort_unstable();
        hashes.dedup();
        hashes.len()
    };
    assert_eq!(distinct(set.hashes("abracadabra")), 5);
    assert_eq!(distinct(multi.hashes("abracadabra")), 11);
    let sorted = |mut hashes: Vec<u64>| {
        hashes.sort_unstable();
        hashes
    };
    assert_eq!(sorted(multi.hashes("aab")), sorted(multi.hashes("aba")));
    let long = "ab".repeat(10_000);
    assert_eq!(distinct(multi.hashes(&long)), 20_000, "ranks go on from block to block");
}

#[test]
fn the_seed_changes_every_hash() {
    let with = |seed| {
        Shingler::new(Shingle::chars(5), Normalization::default(), false, seed)
            .expect("valid width")
            .hashes("the seed is part of the hash")
    };
    assert!(with(1).iter().all(|hash| !with(2).contains(hash)));
}

#[test]
fn widths_out_of_range_are_refused() {
    for bad in ["char:0", "word:1001", "line:", "char", "kmer:x", "token:2", "char:-1", ""] {
        assert!(bad.parse::<Shingle>().is_err(), "{bad:?}");
    }
    assert!(Shingler::new(Shingle::chars(0), Normalization::NONE, false, 0).is_err());
    for shingle in every_kind() {
        assert_eq!(shingle.to_string().parse::<Shingle>().ok(), Some(shingle));
    }
}

/// Folds the hashes of a text into one number, so that a golden value pins all of them.
fn pinned(shingle: Shingle, text: &str) -> (usize, u64) {
    let hashes = shingler(shingle, false).hashes(text);
    let all: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    (hashes.len(), crate::hash::text_hash(&all))
}

#[test]
fn golden_hashes_of_single_shingles() {
    let hash = |text: &str| ShingleHasher::new(0).hash(text.as_bytes());
    let golden: [(&str, u64); 0] = [];
    for (text, expected) in golden {
        assert_eq!(hash(text), expected, "{text:?} gave {:#018x}", hash(text));
    }
}

#[test]
fn golden_hashes_of_texts() {
    let golden: [(Shingle, &str, (usize, u64)); 0] = [];
    for (shingle, text, expected) in golden {
        let got = pinned(shingle, text);
        assert_eq!(got, expected, "{shingle} of {text:?} gave {:#018x}", got.1);
    }
}

/// The windows of the definition, cut by characters and hashed one by one.
fn by_definition(text: &str, width: usize) -> Vec<u64> {
    let hasher = ShingleHasher::new(0);
    let chars: Vec<char> = Normalization::default().apply(text).chars().collect();
    if chars.is_empty() {
        return Vec::new();
    }
    chars
        .windows(width.min(chars.len()))
        .map(|window| hasher.hash(window.iter().collect::<String>().as_bytes()))
        .collect()
}

proptest! {
    #[test]
    fn ascii_windows_are_those_of_the_definition(text in "[ -~]{0,80}", width in 1u16..24) {
        prop_assert_eq!(
            shingler(Shingle::chars(width), false).hashes(&text),
            by_definition(&text, width.into())
        );
    }

    #[test]
    fn unicode_windows_are_those_of_the_definition(text in any::<String>(), width in 1u16..24) {
        prop_assert_eq!(
            shingler(Shingle::chars(width), false).hashes(&text),
            by_definition(&text, width.into())
        );
    }

    /// A text that is ASCII but for its last character goes the other way, and all windows
    /// before that character must hash alike.
    #[test]
    fn ascii_and_unicode_paths_agree(text in "[a-z ,.]{30,90}[a-z]", width in 1u16..24) {
        let shingler = shingler(Shingle::chars(width), false);
        let ascii = shingler.hashes(&text);
        let unicode = shingler.hashes(&format!("{text}é"));
        prop_assert_eq!(&unicode[..ascii.len()], &ascii[..]);
    }
}

#[test]
fn long_texts_cross_blocks_without_a_seam() {
    let text: String = (0..20_000).map(|i| char::from(b'a' + (i * i % 26) as u8)).collect();
    for width in [3, 9, 20] {
        assert_eq!(
            shingler(Shingle::chars(width), false).hashes(&text),
            by_definition(&text, width.into())
        );
    }
}
