//! Fuzz target: compares normalisation and shingling with a direct implementation of
//! `docs/format.md`.

use super::{Form, Normalization, Shingle, Shingler, Whitespace};
use crate::hash::ShingleHasher;
use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::str::FromStr;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// Settings of a shingler, decoded from four bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutting {
    normalization: Normalization,
    shingle: Shingle,
    multiset: bool,
    seed: u64,
}

/// The least value of the shingle byte that stands for k-mers.
const KMERS: u8 = 192;

impl Cutting {
    pub(crate) fn of(&[normalization, kind, width, least]: &[u8; 4]) -> Self {
        let seed = u64::from(kind / 8);
        let multiset = kind & 4 != 0;
        if kind >= KMERS {
            let shingle = Shingle::kmers(u16::from(width % 34));
            return Self { normalization: Normalization::NONE, shingle, multiset, seed };
        }
        let width = u16::from(width % 32);
        Self {
            normalization: Normalization {
                lower: normalization & 1 == 0,
                form: match normalization / 2 % 3 {
                    0 => Form::Nfc,
                    1 => Form::Nfkc,
                    _ => Form::Unchanged,
                },
                whitespace: match normalization / 8 % 3 {
                    0 => Whitespace::Fold,
                    1 => Whitespace::Drop,
                    _ => Whitespace::Keep,
                },
                min_word: u16::from(least),
            },
            shingle: match kind % 4 {
                0 => Shingle::chars(width),
                1 => Shingle::words(width),
                2 => Shingle::lines(width),
                _ => Shingle::Tokens,
            },
            multiset,
            seed,
        }
    }

    /// A shingler with these settings; `None` if they are not valid.
    pub(crate) fn shingler(&self) -> Option<Shingler> {
        Shingler::new(self.shingle, self.normalization, self.multiset, self.seed).ok()
    }

    /// The hashes of a text's shingles as `docs/format.md` defines them.
    fn hashes(&self, text: &str) -> Vec<u64> {
        let hasher = ShingleHasher::new(self.seed);
        let mut ranks = BTreeMap::new();
        let shingles: Vec<Vec<u8>> = match self.shingle {
            Shingle::Kmers(width) => kmers(text, width.into()),
            shingle => {
                let all = shingles(shingle, &self.normalization, text);
                all.into_iter().map(String::into_bytes).collect()
            }
        };
        let hashes = shingles.into_iter().map(|shingle| {
            let hash = hasher.hash(&shingle);
            let rank = ranks.entry(hash).or_insert(0);
            let ranked = hasher.ranked(hash, if self.multiset { *rank } else { 0 });
            *rank += 1;
            ranked
        });
        hashes.collect()
    }
}

/// Normalises and cuts a text under the settings that the first four bytes give.
pub fn text(input: &[u8]) {
    let Some((cutting, text)) = input.split_first_chunk() else { return };
    let (cutting, text) = (Cutting::of(cutting), String::from_utf8_lossy(text));
    parses_back(&cutting.normalization);
    parse::<Normalization>(&text);
    parse::<Shingle>(&text);

    let once = cutting.normalization.apply(&text);
    assert_eq!(once, normalised(&cutting.normalization, &text), "{cutting:?}");
    assert_eq!(once, cutting.normalization.apply(&once), "{cutting:?}");
    match cutting.shingler() {
        Some(shingler) => {
            let hashes = shingler.hashes(&text);
            assert_eq!(hashes, cutting.hashes(&text), "{cutting:?}");
            // K-mers have no places.
            let Ok(places) = shingler.places(&text) else { return };
            assert_eq!(places.len(), hashes.len(), "{cutting:?}");
            assert!(places.into_iter().all(|place| text.get(place).is_some()), "{cutting:?}");
        }
        None => assert!(cutting.shingle.validate().is_err()),
    }
}

fn parse<T: FromStr + Display + Debug + PartialEq>(text: &str) {
    text.parse::<T>().iter().for_each(parses_back);
}

fn parses_back<T: FromStr + Display + Debug + PartialEq>(value: &T) {
    assert_eq!(value.to_string().parse::<T>().ok().as_ref(), Some(value));
}

fn normalised(normalization: &Normalization, text: &str) -> String {
    let Normalization { form, whitespace, min_word, .. } = *normalization;
    let folds = whitespace == Whitespace::Fold && min_word == 0;
    let repeats = form == Form::Nfkc || form == Form::Nfc && !folds;
    let mut text = pass(normalization, text);
    loop {
        let again = pass(normalization, &text);
        if !repeats || again == text {
            return text;
        }
        text = again;
    }
}

fn pass(normalization: &Normalization, text: &str) -> String {
    let mut text = if normalization.lower { text.to_lowercase() } else { text.to_owned() };
    text = match normalization.form {
        Form::Unchanged => text,
        Form::Nfc => text.nfc().collect(),
        Form::Nfkc => text.nfkc().collect(),
    };
    if normalization.min_word > 0 {
        let words = text.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c));
        let least = usize::from(normalization.min_word);
        text = words.filter(|word| word.chars().count() >= least).collect::<Vec<_>>().join(" ");
    }
    let words = || text.split_whitespace().collect::<Vec<_>>();
    match normalization.whitespace {
        Whitespace::Keep => text,
        Whitespace::Fold => words().join(" "),
        Whitespace::Drop => words().concat(),
    }
}

fn shingles(shingle: Shingle, normalization: &Normalization, raw: &str) -> Vec<String> {
    let text = normalised(normalization, raw);
    let owned = |unit: &str| unit.to_owned();
    let (units, separator, width): (Vec<String>, _, _) = match shingle {
        Shingle::Chars(width) => (text.chars().map(String::from).collect(), "", width),
        Shingle::Words(width) => {
            let words: Vec<String> = text.unicode_words().map(owned).collect();
            match (words.is_empty(), text.trim()) {
                (false, _) | (true, "") => (words, " ", width),
                (true, signs) => (vec![owned(signs)], " ", width),
            }
        }
        Shingle::Lines(width) => {
            let mut each = *normalization;
            if each.whitespace == Whitespace::Keep {
                each.whitespace = Whitespace::Fold;
            }
            let lines = raw.split('\n').map(|line| normalised(&each, line));
            (lines.filter(|line| !line.is_empty()).collect(), "\n", width)
        }
        Shingle::Tokens if raw.contains('\u{1F}') => {
            let elements = raw.strip_suffix('\u{1F}').unwrap_or(raw).split('\u{1F}');
            let elements = elements.map(|element| (element, normalised(normalization, element)));
            let kept = elements.filter(|(raw, element)| raw.is_empty() || !element.is_empty());
            (kept.map(|(_, element)| element).collect(), " ", 1)
        }
        Shingle::Tokens => (text.split_whitespace().map(owned).collect(), " ", 1),
        Shingle::Kmers(_) => (Vec::new(), "", 1),
    };
    match units.len() {
        0 => Vec::new(),
        few if few <= usize::from(width) => vec![units.join(separator)],
        _ => units.windows(width.into()).map(|window| window.join(separator)).collect(),
    }
}

/// The canonical k-mers of a text. Each is the eight bytes that are hashed.
fn kmers(text: &str, width: usize) -> Vec<Vec<u8>> {
    const LETTERS: &str = "ACGT";
    let mut sequence = String::new();
    for line in text.strip_prefix('\u{FEFF}').unwrap_or(text).split(['\n', '\r']) {
        match line.chars().next() {
            Some('>') => sequence.push('|'),
            Some(';') => {}
            _ => sequence.extend(line.chars().filter_map(|letter| match letter {
                ' ' | '\t' | '\x0C' => None,
                'u' | 'U' => Some('T'),
                _ => {
                    Some(letter.to_ascii_uppercase()).filter(|c| LETTERS.contains(*c)).or(Some('|'))
                }
            })),
        }
    }
    let digit = |letter| LETTERS.find(letter).unwrap_or_default();
    let code = |word: &str| word.chars().fold(0, |code, letter| 4 * code + digit(letter) as u64);
    let mut all = Vec::new();
    for run in sequence.split('|') {
        for start in 0..(run.len() + 1).saturating_sub(width) {
            let word = &run[start..start + width];
            let complement: String =
                word.chars().rev().filter_map(|c| LETTERS.chars().nth(3 - digit(c))).collect();
            all.push(code(word.min(&complement)).to_le_bytes().to_vec());
        }
    }
    all
}
