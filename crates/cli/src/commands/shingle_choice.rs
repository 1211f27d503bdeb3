//! Which shingle suits texts: tried out on a sample of them.

use crate::input::share;
use crate::run::failure::Failure;
use crate::terminal::output::similarity;
use serde_json::Value;
use twindex::{Overlap, Shingle, Shingler};

/// The shingles that are tried.
const CHARS: [u16; 8] = [3, 4, 5, 6, 7, 9, 12, 15];
const WORDS: [u16; 5] = [1, 2, 3, 4, 5];

/// Texts are unrelated if the widest shingles of characters have a lower similarity than this.
const WIDEST: u16 = CHARS[CHARS.len() - 1];
const RELATED: f64 = 0.2;

/// The number of pairs of different texts that are compared.
const PAIRS: usize = 1000;

/// What a shingle does to texts.
pub(crate) struct ShingleChoice {
    shingle: Shingle,
    /// The median similarity of a text to itself with one character changed.
    one_change: f64,
    /// The mean similarity of two unrelated texts, and what one pair of a hundred reaches; `None`
    /// if all texts are related.
    background: Option<f64>,
    high_background: Option<f64>,
    /// Whether a changed character leaves most texts similar, and the background lies far below.
    suits: bool,
}

impl ShingleChoice {
    /// Whether there are unrelated texts to compare.
    pub(crate) fn has_background(&self) -> bool {
        self.background.is_some()
    }

    pub(crate) fn fields(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("shingle", self.shingle.to_string().into()),
            ("one_change", similarity(self.one_change)),
            ("background", self.background.map_or(Value::Null, similarity)),
            ("high_background", self.high_background.map_or(Value::Null, similarity)),
            ("suits", self.suits.into()),
        ]
    }
}

/// The one that suits and is nearest to the usual one.
pub(crate) fn suggested(choices: &[ShingleChoice]) -> Option<Shingle> {
    let usual = Shingle::default();
    let of_kind = |wanted: fn(Shingle) -> Option<u16>| {
        let width = wanted(usual).unwrap_or_default();
        let suiting = choices.iter().filter(|choice| choice.suits);
        let widths = suiting.filter_map(|choice| Some((wanted(choice.shingle)?, choice.shingle)));
        // Of two that are equally far, the wider one tells more texts apart.
        widths.min_by_key(|(other, _)| (other.abs_diff(width), u16::MAX - other))
    };
    let chars = of_kind(|shingle| match shingle {
        Shingle::Chars(width) => Some(width),
        _ => None,
    });
    let words = || of_kind(|shingle| if let Shingle::Words(n) = shingle { Some(n) } else { None });
    chars.or_else(words).map(|(_, shingle)| shingle)
}

/// Tries shingles on texts, for duplicates from this threshold on.
pub(crate) fn try_on(texts: &[String], threshold: f64) -> Result<Vec<ShingleChoice>, Failure> {
    if texts.len() < 2 {
        return Ok(Vec::new());
    }
    let changed: Vec<String> = texts.iter().map(|text| with_a_change(text)).collect();
    let chars = CHARS.map(Shingle::Chars);
    let words = WORDS.map(Shingle::Words);
    // Near duplicates, whatever the shingle, are no background.
    let sets = sets_of(texts, Shingle::Chars(WIDEST))?;
    let is_unrelated =
        |(a, b): &(usize, usize)| Overlap::of_sets(&sets[*a], &sets[*b]).similarity() < RELATED;
    let pairs: Vec<_> = pairs(texts.len()).filter(is_unrelated).collect();
    let choices = chars.into_iter().chain(words).map(|shingle| {
        let (own, changed) = (sets_of(texts, shingle)?, sets_of(&changed, shingle)?);
        let similar = |a: &Vec<u64>, b: &Vec<u64>| Overlap::of_sets(a, b).similarity();
        let one_change =
            middle(own.iter().zip(&changed).map(|(a, b)| similar(a, b)).collect(), 0.5);
        let pairs: Vec<f64> = pairs.iter().map(|(a, b)| similar(&own[*a], &own[*b])).collect();
        let is_known = !pairs.is_empty();
        let background = is_known.then(|| pairs.iter().sum::<f64>() / pairs.len() as f64);
        let high_background = is_known.then(|| middle(pairs, 0.99));
        let lies_below = high_background.is_some_and(|high| high <= threshold / 2.0);
        let suits = one_change >= threshold && lies_below;
        Ok(ShingleChoice { shingle, one_change, background, high_background, suits })
    });
    choices.collect()
}

/// The shingles of each text.
fn sets_of(texts: &[String], shingle: Shingle) -> Result<Vec<Vec<u64>>, Failure> {
    let shingler = Shingler::new(shingle, shingle.default_normalization(), false, 0)?;
    Ok(share::map(texts.iter().collect(), |text| shingler.set(text)))
}

/// The text with its middle letter replaced, as a typing error does.
fn with_a_change(text: &str) -> String {
    let middle = text.chars().count() / 2;
    let letters = text.char_indices().enumerate();
    let mut rest = letters.skip_while(|(number, _)| *number < middle);
    let found = rest.find(|(_, (_, letter))| letter.is_alphanumeric());
    let Some((_, (at, letter))) = found else { return format!("{text}x") };
    let other = if letter.eq_ignore_ascii_case(&'x') { 'y' } else { 'x' };
    format!("{}{other}{}", &text[..at], &text[at + letter.len_utf8()..])
}

/// Pairs of different texts, all of them if there are few.
fn pairs(texts: usize) -> impl Iterator<Item = (usize, usize)> {
    let all = texts * (texts - 1) / 2;
    let pairs =
        (1..texts).flat_map(move |apart| (0..texts - apart).map(move |at| (at, at + apart)));
    pairs.step_by(all.div_ceil(PAIRS).max(1))
}

/// The value at this share of all values in order.
fn middle(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len() as f64 * share) as usize;
    values.get(at.min(values.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_one_letter_in_the_middle() {
        assert_eq!(with_a_change("abcde"), "abxde");
        assert_eq!(with_a_change("abXde"), "abyde");
        assert_eq!(with_a_change("ab  ée"), "ab  xe");
        assert_eq!(with_a_change("..."), "...x");
    }

    #[test]
    fn pairs_are_of_different_texts() {
        assert_eq!(pairs(3).collect::<Vec<_>>(), [(0, 1), (1, 2), (0, 2)]);
        let many: Vec<_> = pairs(300).collect();
        assert!((900..=1000).contains(&many.len()), "{}", many.len());
        assert!(many.iter().all(|(a, b)| a < b && *b < 300));
    }

    #[test]
    fn short_texts_suit_narrow_shingles_and_long_ones_the_usual() {
        let words: Vec<String> =
            (0..4000).map(|n: u64| format!("{:05x}", n * 7_919 % 99_991)).collect();
        let texts = |length: usize| -> Vec<String> {
            (0..40).map(|n| words[n * length..(n + 1) * length].join(" ")).collect()
        };
        let long = try_on(&texts(100), 0.8).ok().expect("tried");
        assert_eq!(suggested(&long), Some(Shingle::default()));
        let short = try_on(&texts(10), 0.8).ok().expect("tried");
        let Some(Shingle::Chars(width)) = suggested(&short) else { panic!("characters") };
        assert!(width < 9, "{width}");
        // A change of one letter leaves L - w of L + w shingles.
        let nine = long.iter().find(|choice| choice.shingle == Shingle::Chars(9)).expect("tried");
        let shingles = 599.0 - 8.0;
        assert!((nine.one_change - (shingles - 9.0) / (shingles + 9.0)).abs() < 0.01);
        assert!(suggested(&try_on(&texts(1), 0.9).ok().expect("tried")).is_none());
    }
}
