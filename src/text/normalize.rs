//! Normalisation: makes texts equal that differ only in ways the settings declare irrelevant.

use super::ascii::is_ascii_space;
use super::fold::fold;
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// The Unicode normalisation form (UAX #15) that a text is converted to.
///
/// ```
/// use twindex::{Form, Normalization};
/// let nfkc = Normalization { form: Form::Nfkc, ..Normalization::NONE };
/// assert_eq!(nfkc.apply("ﬁn ①"), "fin 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Form {
    /// No conversion.
    Unchanged,
    /// Canonical composition: `e` and a combining acute accent become `é`.
    #[default]
    Nfc,
    /// Compatibility composition: in addition, `ﬁ` becomes `fi` and `①` becomes `1`.
    Nfkc,
}

impl Form {
    /// The most bytes that this form makes of one byte of a text.
    pub const fn most_growth(self) -> usize {
        match self {
            Self::Unchanged => 1,
            Self::Nfc => 3,
            Self::Nfkc => 11,
        }
    }

    /// The length in bytes of this form of a text; `None` if it is more than `most`.
    ///
    /// A form may be longer than the text: NFKC makes 33 bytes of the 3 bytes of U+FDFA. This
    /// converts one character after the other, keeps none of them, and stops at the limit, so a
    /// text of a stranger can be refused before it takes memory.
    ///
    /// ```
    /// use twindex::Form;
    /// assert_eq!(Form::Nfc.length_within("\u{FDFA}", 100), Some(3));
    /// assert_eq!(Form::Nfkc.length_within("\u{FDFA}", 100), Some(33));
    /// assert_eq!(Form::Nfkc.length_within("\u{FDFA}", 32), None);
    /// ```
    pub fn length_within(self, text: &str, most: usize) -> Option<usize> {
        let mut length = 0;
        let mut ends_above = |c: char| {
            length += c.len_utf8();
            length > most
        };
        let above = match self {
            Self::Unchanged => text.chars().any(&mut ends_above),
            Self::Nfc => text.nfc().any(&mut ends_above),
            Self::Nfkc => text.nfkc().any(&mut ends_above),
        };
        (!above).then_some(length)
    }
}

/// The treatment of white space (the Unicode property `White_Space`).
///
/// ```
/// use twindex::{Normalization, Whitespace};
/// let with = |whitespace| Normalization { whitespace, ..Normalization::NONE };
/// assert_eq!(with(Whitespace::Fold).apply(" a \n b "), "a b");
/// assert_eq!(with(Whitespace::Drop).apply(" a \n b "), "ab");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Whitespace {
    /// White space stays unchanged.
    Keep,
    /// Each run becomes one space, and both ends are trimmed.
    #[default]
    Fold,
    /// All white space is removed.
    Drop,
}

/// How a text is normalised before it is cut into shingles.
///
/// The steps are, in this order: lower case, Unicode form, removal of short words, white space.
/// Normalisation is idempotent: normalising a text twice gives the same as normalising it once.
///
/// The text form is a comma-separated list. `lower,nfc,space` is the default. `nfkc` replaces
/// `nfc`, `nospace` replaces `space`, `minword=3` removes words shorter than 3 characters, and
/// `none` alone changes nothing.
///
/// ```
/// use twindex::Normalization;
/// let normalization: Normalization = "lower,nfc,space".parse()?;
/// assert_eq!(normalization, Normalization::default());
/// assert_eq!(normalization.apply("  Tabula\n RASA "), "tabula rasa");
/// # Ok::<(), twindex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Normalization {
    /// Whether letters become lower case (full Unicode mapping, including the final sigma).
    pub lower: bool,
    /// The Unicode normalisation form.
    pub form: Form,
    /// The treatment of white space.
    pub whitespace: Whitespace,
    /// The least number of characters of a word. Shorter words are removed, and the others are
    /// joined by one space. With 0, this step is left out. A word is a maximal run of letters,
    /// digits and combining marks.
    pub min_word: u16,
}

impl Default for Normalization {
    fn default() -> Self {
        Self { lower: true, ..Self::NFC_AND_FOLD }
    }
}

impl Normalization {
    /// Leaves every text unchanged.
    pub const NONE: Normalization = Normalization {
        lower: false,
        form: Form::Unchanged,
        whitespace: Whitespace::Keep,
        min_word: 0,
    };

    const NFC_AND_FOLD: Normalization =
        Normalization { lower: false, form: Form::Nfc, whitespace: Whitespace::Fold, min_word: 0 };

    /// Returns the normalised text.
    ///
    /// The time is linear in the length of the text. ASCII text is the fastest.
    pub fn apply(&self, text: &str) -> String {
        let mut out = String::new();
        self.apply_into(text, &mut out);
        out
    }

    /// Replaces the content of `out` by the normalised text.
    pub(crate) fn apply_into(&self, text: &str, out: &mut String) {
        out.clear();
        let folds = self.whitespace == Whitespace::Fold && self.form != Form::Nfkc;
        if self.min_word == 0 && (folds || text.is_ascii()) {
            return self.fast(text, out);
        }
        self.unicode(text, out);
        if !self.settles_at_once() {
            // Removing white space can bring a letter and an accent together, and NFKC can produce
            // capitals. Each pass only composes, lowers or removes, so the loop ends after few
            // passes.
            let mut again = String::new();
            loop {
                again.clear();
                self.unicode(out, &mut again);
                if *out == again {
                    break;
                }
                std::mem::swap(out, &mut again);
            }
        }
    }

    /// Whether one pass is enough for every text: a second one would change nothing.
    pub(super) fn settles_at_once(&self) -> bool {
        match self.form {
            Form::Unchanged => true,
            Form::Nfc => self.whitespace == Whitespace::Fold && self.min_word == 0,
            Form::Nfkc => false,
        }
    }

    /// Normalises in one pass over the bytes. The text must be ASCII, which no form changes, unless
    /// white space is folded.
    fn fast(&self, text: &str, out: &mut String) {
        let lower = |byte: u8| if self.lower { byte.to_ascii_lowercase() } else { byte };
        let mut bytes = std::mem::take(out).into_bytes();
        match self.whitespace {
            Whitespace::Keep => bytes.extend(text.bytes().map(lower)),
            Whitespace::Drop => {
                bytes.extend(text.bytes().filter(|&b| !is_ascii_space(b)).map(lower));
            }
            Whitespace::Fold => fold(text, self.lower, self.form == Form::Nfc, &mut bytes),
        }
        // Only whole characters were written, so the check cannot fail.
        *out = String::from_utf8(bytes).unwrap_or_default();
    }

    /// Appends the result of one pass over a text.
    pub(super) fn unicode(&self, text: &str, out: &mut String) {
        let text = if self.lower { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) };
        let text = match self.form {
            Form::Unchanged => text,
            Form::Nfc if is_nfc_quick(text.chars()) == IsNormalized::Yes => text,
            Form::Nfc => Cow::Owned(text.nfc().collect()),
            Form::Nfkc if is_nfkc_quick(text.chars()) == IsNormalized::Yes => text,
            Form::Nfkc => Cow::Owned(text.nfkc().collect()),
        };
        let text = match self.min_word {
            0 => text,
            least => Cow::Owned(long_words(&text, usize::from(least))),
        };
        match self.whitespace {
            Whitespace::Keep => out.push_str(&text),
            Whitespace::Fold => {
                for word in text.split_whitespace() {
                    if !out.is_empty() {
                        out.push(' ');
                    }
                    out.push_str(word);
                }
            }
            Whitespace::Drop => out.extend(text.split_whitespace()),
        }
    }
}

/// Joins the words of at least `least` characters by one space.
fn long_words(text: &str, least: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(|c| !is_in_word(c)) {
        if word.chars().nth(least - 1).is_some() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out
}

/// Whether a character is part of a word, in the sense of [`Normalization::min_word`].
pub(super) fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c)
}

impl fmt::Display for Normalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<Cow<'_, str>> = Vec::new();
        if self.lower {
            parts.push("lower".into());
        }
        match self.form {
            Form::Unchanged => {}
            Form::Nfc => parts.push("nfc".into()),
            Form::Nfkc => parts.push("nfkc".into()),
        }
        match self.whitespace {
            Whitespace::Keep => {}
            Whitespace::Fold => parts.push("space".into()),
            Whitespace::Drop => parts.push("nospace".into()),
        }
        if self.min_word > 0 {
            parts.push(format!("minword={}", self.min_word).into());
        }
        if parts.is_empty() { f.write_str("none") } else { f.write_str(&parts.join(",")) }
    }
}

impl FromStr for Normalization {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self> {
        let bad = || Error::InvalidSetting {
            setting: "normalization",
            got: list.to_owned(),
            expected: "`none`, or a list of lower, nfc or nfkc, space or nospace, minword=N \
                       with N up to 65535",
        };
        let mut out = Self::NONE;
        if list == "none" {
            return Ok(out);
        }
        for part in list.split(',') {
            match part {
                "lower" => out.lower = true,
                "nfc" if out.form == Form::Unchanged => out.form = Form::Nfc,
                "nfkc" if out.form == Form::Unchanged => out.form = Form::Nfkc,
                "space" if out.whitespace == Whitespace::Keep => out.whitespace = Whitespace::Fold,
                "nospace" if out.whitespace == Whitespace::Keep => {
                    out.whitespace = Whitespace::Drop;
                }
                _ => {
                    let number = part.strip_prefix("minword=").filter(|_| out.min_word == 0);
                    out.min_word = number.ok_or_else(bad)?.parse().map_err(|_| bad())?;
                }
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
impl Normalization {
    /// Every choice of settings, with and without dropping short words.
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for lower in [false, true] {
            for form in [Form::Unchanged, Form::Nfc, Form::Nfkc] {
                for whitespace in [Whitespace::Keep, Whitespace::Fold, Whitespace::Drop] {
                    for min_word in [0, 3] {
                        all.push(Self { lower, form, whitespace, min_word });
                    }
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn settings_parse_back_from_their_text_form() {
        for settings in Normalization::all() {
            assert_eq!(settings.to_string().parse::<Normalization>().ok(), Some(settings));
        }
        let twice = ["nfc,nfkc", "space,nospace", "minword=3,minword=4"];
        let others = ["", "upper", "minword=", "minword=x", "minword=65536", "lower,"];
        for bad in twice.into_iter().chain(others) {
            assert!(bad.parse::<Normalization>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn white_space_is_folded_removed_or_kept() {
        let text = "\u{3000}A\u{a0}\t b\r\n\u{2028}c ";
        let with = |list: &str| list.parse::<Normalization>().map(|n| n.apply(text));
        assert_eq!(with("space").ok().as_deref(), Some("A b c"));
        assert_eq!(with("nospace").ok().as_deref(), Some("Abc"));
        assert_eq!(with("none").ok().as_deref(), Some(text));
        assert_eq!(with("minword=2").ok().as_deref(), Some(""));
    }

    #[test]
    fn short_words_are_removed_and_apostrophes_split_words() {
        let normalization = Normalization { min_word: 3, ..Normalization::default() };
        assert_eq!(normalization.apply("L\u{2019}homme, il est né."), "homme est");
        assert_eq!(normalization.apply("हिन्दी में"), "हिन्दी में");
    }

    #[test]
    fn normalising_any_single_character_is_idempotent() {
        for settings in Normalization::all() {
            // The other planes are for private use, or hold no character that a form or lower case
            // changes.
            for c in ('\0'..='\u{33FFF}').chain('\u{E0000}'..='\u{E0FFF}') {
                let once = settings.apply(c.encode_utf8(&mut [0; 4]));
                assert_eq!(settings.apply(&once), once, "{settings} on {c:?}");
            }
        }
    }

    /// Composition works on pairs, and each pair that composes is the decomposition of a character.
    #[test]
    fn normalising_any_decomposed_character_is_idempotent() {
        let settings = Normalization::default();
        for c in '\0'..=char::MAX {
            let apart: String = std::iter::once(c).nfd().collect();
            let once = settings.apply(&apart);
            assert_eq!(settings.apply(&once), once, "{c:?}");
        }
    }

    #[test]
    fn the_growth_of_each_form_is_that_of_its_longest_character() {
        for form in [Form::Unchanged, Form::Nfc, Form::Nfkc] {
            let growth = ('\0'..=char::MAX).map(|c| {
                let length = form.length_within(c.encode_utf8(&mut [0; 4]), usize::MAX);
                length.map_or(0, |length| length.div_ceil(c.len_utf8()))
            });
            assert_eq!(growth.max(), Some(form.most_growth()), "{form:?}");
        }
    }

    #[test]
    fn the_length_of_a_form_is_that_of_the_text_in_it() {
        for text in ["", "a", "\u{FDFA}x\u{FDFA}", "e\u{301}", "\u{1D160}\u{958}", "각Å"] {
            for form in [Form::Unchanged, Form::Nfc, Form::Nfkc] {
                let length = Normalization { form, ..Normalization::NONE }.apply(text).len();
                for most in 0..2 * length + 2 {
                    let expected = (length <= most).then_some(length);
                    assert_eq!(form.length_within(text, most), expected, "{text:?} {most}");
                }
            }
        }
    }

    fn tricky() -> impl Strategy<Value = String> {
        let letters = "aAzZ  \t\n.'0éÉİıßΣσςΌᾼ\u{301}\u{308}\u{345}\u{327}\
            ℌÅﬁ¨①가각각क्षिหน\u{200d}👩漢字\u{3000}\u{85}";
        let choices: Vec<char> = letters.chars().collect();
        proptest::collection::vec(proptest::sample::select(choices), 0..24)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn normalising_tricky_text_is_idempotent(text in tricky()) {
            for settings in Normalization::all() {
                let once = settings.apply(&text);
                prop_assert_eq!(settings.apply(&once), once, "{}", settings);
            }
        }

        #[test]
        fn normalising_any_text_is_idempotent(text in any::<String>()) {
            for settings in Normalization::all() {
                let once = settings.apply(&text);
                prop_assert_eq!(settings.apply(&once), once, "{}", settings);
            }
        }

        #[test]
        fn the_ascii_and_unicode_paths_agree(text in "[ -~\t\n\r\x0b\x0c]{0,60}") {
            for settings in Normalization::all() {
                let mut slow = String::new();
                settings.unicode(&text, &mut slow);
                prop_assert_eq!(settings.apply(&text), slow, "{}", settings);
            }
        }
    }
}
