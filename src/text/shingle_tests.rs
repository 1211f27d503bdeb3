//! The promises of shingling, with hash values that are part of the file format.

use super::*;
use proptest::prelude::*;

fn shingler(shingle: Shingle, multiset: bool) -> Shingler {
    let normalization = shingle.default_normalization();
    Shingler::new(shingle, normalization, multiset, 0).expect("valid width")
}

fn every_kind() -> [Shingle; 12] {
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
        Shingle::kmers(1),
        Shingle::kmers(32),
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
fn words_are_joined_in_order_and_chinese_is_split() {
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
fn tokens_are_not_normalised_by_default() {
    let tokens = shingler(Shingle::Tokens, false);
    assert_ne!(tokens.hashes("A"), tokens.hashes("a"));
    assert_eq!(tokens.hashes("b a  c").len(), 3);
}

#[test]
fn elements_that_end_in_001f_keep_their_white_space() {
    let tokens = shingler(Shingle::Tokens, false);
    let hasher = ShingleHasher::new(0);
    let hashes = |elements: &[&str]| -> Vec<u64> {
        elements.iter().map(|element| hasher.hash(element.as_bytes())).collect()
    };
    assert_eq!(tokens.hashes("a b\u{1f}\u{1f} c\u{1f}"), hashes(&["a b", "", " c"]));
    assert_eq!(tokens.hashes("a\u{1f}b\u{1f}"), tokens.hashes("a b"));
    assert_eq!(tokens.hashes("a b\u{1f}c"), hashes(&["a b", "c"]), "the last end may be missing");
    assert_eq!(tokens.hashes("\u{1f}"), hashes(&[""]));
}

#[test]
fn normalisation_neither_joins_elements_nor_makes_their_order_matter() {
    for list in ["lower,nfc,space", "nfkc,nospace", "nospace", "minword=1", "lower,nfkc,minword=2"]
    {
        let normalization: Normalization = list.parse().expect("a list");
        let tokens = Shingler::new(Shingle::Tokens, normalization, false, 0).expect("valid");
        let sorted = |text: &str| {
            let mut hashes = tokens.hashes(text);
            hashes.sort_unstable();
            hashes
        };
        let (one, other) = (" Ab c\u{1f}de \u{1f}", "de \u{1f} Ab c\u{1f}");
        assert_eq!(sorted(one).len(), 2, "{list}");
        assert_eq!(sorted(one), sorted(other), "{list}");
    }
}

#[test]
fn an_element_that_normalisation_empties_is_dropped_but_an_empty_one_is_kept() {
    let normalization = "minword=3".parse().expect("a list");
    let tokens = Shingler::new(Shingle::Tokens, normalization, false, 0).expect("valid");
    assert_eq!(tokens.hashes("ab\u{1f}abc\u{1f}\u{1f} \u{1f}").len(), 2);
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
    assert_eq!(distinct(multi.hashes(&long)), 20_000, "ranks continue from block to block");
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
    for bad in [
        "char:0",
        "word:1001",
        "line:",
        "char",
        "kmer:x",
        "kmer:0",
        "kmer:33",
        "kmer",
        "token:2",
        "char:-1",
        "",
    ] {
        assert!(bad.parse::<Shingle>().is_err(), "{bad:?}");
    }
    assert!(Shingler::new(Shingle::chars(0), Normalization::NONE, false, 0).is_err());
    for shingle in every_kind() {
        assert_eq!(shingle.to_string().parse::<Shingle>().ok(), Some(shingle));
    }
}

const ENGLISH: &str = "The quick brown fox jumps over the lazy dog.";
const ACCENTS: &str = "Le café est très chaud";
const ACCENTS_APART: &str = "Le cafe\u{301} est tre\u{300}s chaud";
const HINDI: &str = "हिन्दी में लिखा हुआ एक वाक्य";
const CHINESE: &str = "敏捷的棕色狐狸跳过了懒狗的背";
const EMOJI: &str = "👩\u{200d}👩\u{200d}👧\u{200d}👦 A family, an astronaut 👩\u{1f3fd}\u{200d}🚀";
const MARKS: &str = "Z\u{351}\u{36b}a\u{308}\u{334}l\u{327}go\u{301} text";
const CODE: &str = "fn main() {\n\n    let name = \"Zoé\";\r\n\tprint(name)\n}\n";
const LINES: &str = "हिन्दी\n敏捷 的\n\u{3000}\nCafe\u{301}  noir";
/// 248 bytes.
const LONG: &str = "a shingle of more than two hundred and forty bytes \
    goes through the longest of the three \
    paths of XXH3, as its inputs of up to 16, 128 and 240 bytes have ways of their own, and so \
    it takes a good many words to get there, which this one does at last";

/// Folds the hashes of a text into one number, so that a golden value pins all of them.
fn pinned(shingle: Shingle, text: &str) -> (usize, u64) {
    let hashes = shingler(shingle, false).hashes(text);
    let all: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    (hashes.len(), crate::hash::xxh3(&all))
}

#[test]
fn single_shingles_have_their_golden_hashes() {
    let hash = |text: &str| ShingleHasher::new(0).hash(text.as_bytes());
    let golden: [(&str, u64); 18] = [
        ("a", 0x8ba2_8ad5_803f_9efa),
        ("z", 0xbc2d_e9b4_07f1_7d0b),
        ("ab", 0x8e5f_26af_f3b4_5c6f),
        ("seven b", 0xe5ac_40b1_6fe2_90bf),
        ("eight by", 0xae5e_6f0a_d292_4e21),
        ("nine byte", 0x6bd3_466e_f5b4_e103),
        ("twelve bytes", 0xad13_5ca7_d303_01bd),
        ("sixteen bytes ok", 0xcb90_96f3_16dd_46fb),
        ("seventeen bytes o", 0x955a_4bdf_2e1c_0df6),
        (LONG, 0x1dba_8ece_d22e_64fe),
        ("é", 0x5c39_98ce_8e48_4fd8),
        ("हि", 0x2e26_e43a_45f5_742c),
        ("हिन्दी", 0x1114_3212_1592_798f),
        ("敏捷的", 0x4f89_1572_a739_5d20),
        ("漢字仮名交", 0x50e3_723d_e641_10b1),
        ("👩\u{200d}👧", 0x5073_08cf_6ab1_c5fe),
        ("e\u{301}", 0x8ca4_1918_cb9d_0431),
        ("naïve fiancé", 0x002d_ba71_8a7b_13ad),
    ];
    for (text, expected) in golden {
        assert_eq!(hash(text), expected, "{text:?} gave {:#018x}", hash(text));
    }
}

#[test]
fn texts_have_their_golden_hashes() {
    let golden: [(Shingle, &str, (usize, u64)); 24] = [
        (Shingle::chars(9), ENGLISH, (36, 0x31db_ba62_9d67_32a8)),
        (Shingle::chars(9), ACCENTS, (14, 0x38ea_786e_4659_e633)),
        (Shingle::chars(9), ACCENTS_APART, (14, 0x38ea_786e_4659_e633)),
        (Shingle::chars(9), HINDI, (20, 0x8898_63be_0dad_018e)),
        (Shingle::chars(9), CHINESE, (6, 0xa4c4_0ba7_5df3_0739)),
        (Shingle::chars(9), EMOJI, (27, 0x867c_1289_7f42_bfa8)),
        (Shingle::chars(9), MARKS, (5, 0x39f1_8490_faf1_fd60)),
        (Shingle::chars(3), ENGLISH, (42, 0x9cd8_c5e5_b780_e39e)),
        (Shingle::chars(3), ACCENTS, (20, 0x40e3_4a0a_3221_3a9e)),
        (Shingle::chars(3), ACCENTS_APART, (20, 0x40e3_4a0a_3221_3a9e)),
        (Shingle::chars(3), HINDI, (26, 0xcf9b_f67d_f7aa_9955)),
        (Shingle::chars(3), CHINESE, (12, 0x19d1_8776_3741_dcfa)),
        (Shingle::chars(3), EMOJI, (33, 0x5c8e_72f8_1176_eee5)),
        (Shingle::chars(3), MARKS, (11, 0xff4d_7b7a_2e1a_923e)),
        (Shingle::words(2), "It can't be: 3.5 ounces!", (4, 0xde2e_a00d_8126_5ed6)),
        (Shingle::words(2), ACCENTS, (4, 0x5457_6f39_f62c_8de9)),
        (Shingle::words(2), ACCENTS_APART, (4, 0x5457_6f39_f62c_8de9)),
        (Shingle::words(2), HINDI, (5, 0x5710_4196_2f9b_fd3b)),
        (Shingle::words(2), CHINESE, (13, 0xe664_d178_f891_d699)),
        (Shingle::words(2), EMOJI, (3, 0x8c81_2eea_bac7_3179)),
        (Shingle::words(2), "?! 🎉", (1, 0xdf95_ab0e_93c0_217a)),
        (Shingle::lines(2), CODE, (3, 0x8b0e_6091_41bd_4293)),
        (Shingle::lines(2), LINES, (2, 0x61d2_22cb_4610_ab8e)),
        (
            Shingle::Tokens,
            "user:2 User:1\tZoé  Zoe\u{301}\n漢字 user:2",
            (6, 0xb906_6dcb_03aa_b09d),
        ),
    ];
    for (shingle, text, expected) in golden {
        let got = pinned(shingle, text);
        assert_eq!(got, expected, "{shingle} of {text:?} gave {:#018x}", got.1);
    }
}

#[test]
fn occurrences_under_a_seed_have_their_golden_hashes() {
    let seed = 0x0123_4567_89AB_CDEF;
    let shingler = Shingler::new(Shingle::chars(2), Normalization::default(), true, seed);
    let hashes = shingler.expect("valid width").hashes("abab abab");
    let golden: [u64; 8] = [
        0x5ae2_5e43_d330_d0cb,
        0xb4d9_2f22_f25e_804f,
        0x62f4_3499_bf91_b9a9,
        0xf546_8709_483e_3a73,
        0xe36b_2f02_38e3_529b,
        0xa0a7_331e_2fa5_aedc,
        0xd24c_f13f_ac4e_eb3d,
        0xfabc_e3f5_a3de_2618,
    ];
    assert_eq!(hashes, golden, "{hashes:#018x?}");
    let hasher = ShingleHasher::new(seed);
    assert_eq!(hasher.hash(b"nine byte"), 0xb867_8cf8_86a7_4185);
    assert_eq!(hasher.hash(b"seventeen bytes o"), 0xa076_40d4_2b26_d361);
}

/// The definition: windows cut by characters and hashed one by one.
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
    fn ascii_text_has_the_shingles_of_the_definition(text in "[ -~]{0,80}", width in 1u16..24) {
        prop_assert_eq!(
            shingler(Shingle::chars(width), false).hashes(&text),
            by_definition(&text, width.into())
        );
    }

    #[test]
    fn any_text_has_the_shingles_of_the_definition(text in any::<String>(), width in 1u16..24) {
        prop_assert_eq!(
            shingler(Shingle::chars(width), false).hashes(&text),
            by_definition(&text, width.into())
        );
    }

    #[test]
    fn mixed_text_has_the_shingles_of_the_definition(
        parts in proptest::collection::vec("[a-z ]{0,70}[é漢👩]?", 1..8), width in 1u16..40
    ) {
        let text = parts.concat();
        prop_assert_eq!(
            shingler(Shingle::chars(width), false).hashes(&text),
            by_definition(&text, width.into())
        );
    }

    /// A last character beyond ASCII changes the path, but must not change the windows before it.
    #[test]
    fn the_ascii_and_unicode_paths_agree(text in "[a-z ,.]{30,90}[a-z]", width in 1u16..24) {
        let shingler = shingler(Shingle::chars(width), false);
        let ascii = shingler.hashes(&text);
        let unicode = shingler.hashes(&format!("{text}é"));
        prop_assert_eq!(&unicode[..ascii.len()], &ascii[..]);
    }
}

#[test]
fn long_texts_have_the_shingles_of_the_definition() {
    let text: String = (0..20_000).map(|i| char::from(b'a' + (i * i % 26) as u8)).collect();
    for width in [3, 9, 20] {
        assert_eq!(
            shingler(Shingle::chars(width), false).hashes(&text),
            by_definition(&text, width.into())
        );
    }
}

#[test]
fn ranking_by_counting_and_by_sorting_gives_the_same_multiset() {
    let (set, multi) = (shingler(Shingle::chars(2), false), shingler(Shingle::chars(2), true));
    // This is longer than the longest text that is ranked by counting.
    let long: String = (0_u64..300_000).map(|n| (b'a' + (n * n % 89 % 26) as u8) as char).collect();
    let mut counts = std::collections::BTreeMap::<u64, u32>::new();
    let mut ranked: Vec<u64> = Vec::new();
    for hash in set.hashes(&long) {
        let rank = counts.entry(hash).or_default();
        ranked.push(ShingleHasher::new(0).ranked(hash, *rank));
        *rank += 1;
    }
    let mut got = multi.hashes(&long);
    ranked.sort_unstable();
    got.sort_unstable();
    assert_eq!(got, ranked);
}
