//! Streams of every kind of shingle, in pieces of any length, against the whole text.

use super::*;
use crate::text::Whitespace;
use proptest::prelude::*;

const KINDS: [&str; 14] = [
    "char:1", "char:2", "char:5", "char:30", "word:1", "word:2", "word:7", "line:1", "line:3",
    "token", "kmer:1", "kmer:3", "kmer:8", "kmer:32",
];

/// The sorted hashes of a text in pieces of these lengths, which are repeated in turn.
fn streamed(shingler: &Shingler, text: &[u8], lengths: &[usize], most: usize) -> Result<Vec<u64>> {
    let mut stream = ShingleStream::new(shingler, most);
    let mut out = Vec::new();
    let mut rest = text;
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (some, later) = rest.split_at((*length).min(rest.len()));
        stream.take(some, &mut |hashes| out.extend_from_slice(hashes))?;
        rest = later;
    }
    stream.end(&mut |hashes| out.extend_from_slice(hashes))?;
    out.sort_unstable();
    Ok(out)
}

/// Shinglers of a kind with all normalisations.
fn shinglers(kind: &str) -> impl Iterator<Item = Shingler> {
    let kind: Shingle = kind.parse().expect("a kind");
    let normalizations = match kind {
        Shingle::Kmers(_) => vec![Normalization::NONE],
        _ => Normalization::all(),
    };
    normalizations
        .into_iter()
        .map(move |normalization| Shingler::new(kind, normalization, false, 7).expect("valid"))
}

/// Compares a stream with the whole text under all normalisations. Skips a normalisation under
/// which the text does not fit the limit. Returns the number of comparisons.
fn agrees(
    kind: &str,
    text: &str,
    lengths: &[usize],
    most: usize,
) -> std::result::Result<usize, TestCaseError> {
    let mut compared = 0;
    for shingler in shinglers(kind) {
        let mut whole = shingler.hashes(text);
        whole.sort_unstable();
        match streamed(&shingler, text.as_bytes(), lengths, most) {
            Ok(hashes) => {
                let settings = format!("{} {}", shingler.shingle, shingler.normalization);
                prop_assert!(
                    hashes == whole,
                    "{settings}: {} of {} hashes, {text:?}",
                    hashes.len(),
                    whole.len()
                );
                compared += 1;
            }
            Err(Error::PieceTooLong { .. }) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
    Ok(compared)
}

/// Characters that matter to some rule of case, composition, white space, words, elements or FASTA.
fn tricky() -> impl Strategy<Value = String> {
    let letters = "aAzZbb  \t\n\r.'0,:;_\"<>é ÉİıßΣσςΌᾼ\u{301}\u{308}\u{345}\u{327}\u{338}\
        ℌÅﬁ¨①\u{fdfa}가각각क्षिหน\u{200d}ℹ👩🇫🇷🅰\
        漢字かか\u{3099}カ\u{ff9e}\u{3000}\u{85}\u{a0}\u{1f}אב\"׳ְ\u{ad}\u{feff}ACGTn;>";
    let choices: Vec<char> = letters.chars().collect();
    let wild = proptest::collection::vec(proptest::sample::select(choices), 0..30)
        .prop_map(|chars| chars.into_iter().collect::<String>());
    let part = prop_oneof![
        4 => wild,
        2 => "[a-zA-Z]{1,12}[ .,\n]",
        1 => "[ \t\n\r\u{3000}]{1,4}",
        1 => "[ΑΣασ]{1,5}[ .']?[ΑΣασ]{0,3}",
        1 => "[АБВабвё]{2,9} ",
        1 => "[漢字書類]{2,9}。?",
        1 => "[0-9.,']{1,9}",
        1 => "(>[a-z]{0,3}\n)?[ACGTNacgtu]{1,40}[\r\n]{1,2}",
        1 => "\\PC{0,6}",
    ];
    proptest::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// The limit is small, so that the text is cut in many places.
    #[test]
    fn a_text_in_any_pieces_has_the_shingles_of_the_whole_text(
        kind in proptest::sample::select(&KINDS[..]),
        text in tricky(),
        lengths in proptest::collection::vec(1_usize..24, 1..6),
        most in 24_usize..200,
    ) {
        agrees(kind, &text, &lengths, most)?;
    }

    #[test]
    fn every_text_within_the_limit_is_compared(
        kind in proptest::sample::select(&KINDS[..]),
        text in tricky(),
        lengths in proptest::collection::vec(1_usize..24, 1..6),
    ) {
        // Bytes are processed 300 at a time, and nothing is longer than the limit.
        let compared = agrees(kind, &text, &lengths, 2_400)?;
        prop_assert_eq!(compared, shinglers(kind).count());
    }
}

/// The number of random cases. The environment variable `TWINDEX_CASES` sets another one.
fn cases() -> u32 {
    std::env::var("TWINDEX_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(150)
}

fn shingler(kind: &str, normalization: &str) -> Shingler {
    let (kind, normalization) = (kind.parse().expect("a kind"), normalization.parse());
    Shingler::new(kind, normalization.expect("settings"), false, 0).expect("valid")
}

/// At least `bytes` bytes of words, lines and punctuation of several scripts.
fn long_text(bytes: usize) -> String {
    let mut random = crate::hash::SplitMix::new(5);
    let words = [
        "the",
        "ΣΟΦΟΣ",
        "e\u{301}te\u{301}",
        "漢字漢字",
        "слово",
        "L'an",
        "3.14",
        ".",
        "é",
        "\u{301}x",
    ];
    let mut text = String::new();
    while text.len() < bytes {
        text.push_str(words[random.next() as usize % words.len()]);
        text.push_str([" ", " ", "\r\n", "  ", ", ", "\u{3000}"][random.next() as usize % 6]);
    }
    text
}

#[test]
fn texts_longer_than_the_limit_have_the_shingles_of_the_whole_text() {
    let text = long_text(8_000);
    for shingler in KINDS.into_iter().flat_map(shinglers) {
        let mut whole = shingler.hashes(&text);
        whole.sort_unstable();
        let hashes = streamed(&shingler, text.as_bytes(), &[300], 1_024);
        let drops = shingler.normalization.whitespace == Whitespace::Drop;
        let one_token = drops && matches!(shingler.shingle, Shingle::Tokens);
        match hashes {
            Ok(hashes) => {
                assert!(hashes == whole, "{} {}", shingler.shingle, shingler.normalization);
            }
            Err(error) => {
                assert!(one_token, "{} {}: {error}", shingler.shingle, shingler.normalization);
            }
        }
    }
}

#[test]
fn a_word_longer_than_the_limit_is_cut_if_possible_and_an_error_otherwise() {
    let most = 4_096;
    let word = "abcdefghij".repeat(5_000);
    let default = shingler("char:9", "lower,nfc,space");
    let mut whole = default.hashes(&word);
    whole.sort_unstable();
    assert_eq!(streamed(&default, word.as_bytes(), &[999], most).expect("cut"), whole);

    let endless = "\u{301}".repeat(50_000);
    for (kind, normalization, text, words) in [
        ("char:9", "lower,nfc,space", &endless, "a stretch without white space of more than 4096"),
        ("char:9", "minword=3", &word, "a stretch without white space of more"),
        ("word:2", "lower,nfc,space", &word, "a word of more than 4096 bytes"),
        ("token", "none", &word, "a token of more than"),
        ("line:1", "lower,nfc,space", &word, "a line of more than"),
    ] {
        let error = streamed(&shingler(kind, normalization), text.as_bytes(), &[999], most);
        let error = error.expect_err("no room").to_string();
        assert!(error.contains(words) && error.contains("give more memory"), "{error}");
    }
}

#[test]
fn a_shingle_of_too_many_long_lines_is_an_error() {
    let text = format!("{}\n", "x".repeat(1_000)).repeat(900);
    let error = streamed(&shingler("line:1000", "none"), text.as_bytes(), &[999], 4_096);
    assert!(error.expect_err("no room").to_string().starts_with("a shingle of more than 32768"));
}

#[test]
fn a_limit_may_be_as_large_as_any_text() {
    for shingler in KINDS.into_iter().flat_map(shinglers) {
        for text in ["", " \n", "one", "one two, three\nfour five"] {
            let mut whole = shingler.hashes(text);
            whole.sort_unstable();
            let got = streamed(&shingler, text.as_bytes(), &[3], usize::MAX);
            assert_eq!(got.ok(), Some(whole), "{} of {text:?}", shingler.shingle);
        }
    }
}

#[test]
fn a_first_element_longer_than_the_limit_is_an_error() {
    let tokens = shingler("token", "none");
    for (before, is_error) in [(100, false), (9_000, true)] {
        let text = "ab ".repeat(before / 3) + "\u{1F}";
        let got = streamed(&tokens, text.as_bytes(), &[77], 4_096);
        assert_eq!(got.is_err(), is_error, "{before}");
    }
}

#[test]
fn a_first_element_as_long_as_the_limit_is_taken() {
    let tokens = shingler("token", "none");
    for length in [511, 512, 513, 1_000, 4_095, 4_096] {
        let text = "x ".repeat(length).split_at(length).0.to_owned() + "\u{1F}y\u{1F}";
        for piece in [1, 77, 10_000] {
            let got = streamed(&tokens, text.as_bytes(), &[piece], 4_096);
            let mut whole = tokens.hashes(&text);
            whole.sort_unstable();
            assert_eq!(got.ok(), Some(whole), "{length} bytes in pieces of {piece}");
        }
    }
}

#[test]
fn a_text_without_words_is_one_shingle() {
    let shingler = shingler("word:3", "lower,nfc,space");
    let signs = "... !!! ".repeat(300);
    assert_eq!(
        streamed(&shingler, signs.as_bytes(), &[7], 8_192).ok(),
        Some(shingler.hashes(&signs))
    );
    let error = streamed(&shingler, signs.repeat(9).as_bytes(), &[7], 8_192).expect_err("no room");
    assert!(error.to_string().contains("without any word"), "{error}");
    let late = signs.repeat(9) + "word";
    assert_eq!(
        streamed(&shingler, late.as_bytes(), &[7], 8_192).ok(),
        Some(shingler.hashes(&late))
    );
}

#[test]
fn an_error_about_bad_bytes_names_their_position() {
    let good = "naïve text,\n".repeat(1_000);
    let place = good.len() + 3;
    for tail in [&b"abc\xFFdef"[..], b"abc\xE2\x82", b"abc\xE2\x82 more"] {
        let bytes = [good.as_bytes(), tail].concat();
        for kind in KINDS {
            let normalization = if kind.starts_with("kmer") { "none" } else { "lower,nfc,space" };
            let got = streamed(&shingler(kind, normalization), &bytes, &[5, 1, 9], 4_096);
            match got {
                Err(Error::NotUtf8 { at }) => assert_eq!(at, place as u64 + 1, "{kind}"),
                other => panic!("{kind}: {other:?}"),
            }
        }
    }
}
