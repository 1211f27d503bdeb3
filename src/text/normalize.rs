//! Normalisation: makes texts equal that differ only in what the user says does not matter.

use super::fold::{fold, is_ascii_space};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// The Unicode normalisation form (UAX #15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Form {
    /// Characters stay as they are.
    Unchanged,
    /// Canonical composition: `e` and a combining acute accent become `é`.
    #[default]
    Nfc,
    /// Compatibility composition: also `ﬁ` becomes `fi` and `①` becomes `1`.
    Nfkc,
}

/// What becomes of white space (the Unicode property `White_Space`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Whitespace {
    /// It stays as it is.
    Keep,
    /// Each run becomes one space; at both ends it is trimmed.
    #[default]
    Fold,
    /// It is dropped.
    Drop,
}

/// How a text is normalised before it is cut into shingles: lower case, then the Unicode form,
/// then short words dropped, then white space. Doing it twice is doing it once.
///
/// Its text form is a list, as in the command's `--normalize`: `lower,nfc,space` is the default;
/// `nfkc` and `nospace` are the other choices, `minword=3` drops words shorter than 3 characters,
/// and `none` changes nothing.
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
    /// Whether letters become lower case (full Unicode mapping, final sigma included).
    pub lower: bool,
    /// The Unicode normalisation form.
    pub form: Form,
    /// What becomes of white space.
    pub whitespace: Whitespace,
    /// Words with fewer characters are dropped, and the others joined by one space; 0 keeps the
    /// text as it is. A word here is a longest run of letters, digits and combining marks.
    pub min_word: u16,
}

impl Default for Normalization {
    fn default() -> Self {
        Self { lower: true, ..Self::NONE_BUT_FORM_AND_SPACE }
    }
}

impl Normalization {
    /// Leaves every text as it is.
    pub const NONE: Normalization = Normalization {
        lower: false,
        form: Form::Unchanged,
        whitespace: Whitespace::Keep,
        min_word: 0,
    };

    const NONE_BUT_FORM_AND_SPACE: Normalization =
        Normalization { lower: false, form: Form::Nfc, whitespace: Whitespace::Fold, min_word: 0 };

    /// The normalised text.
    pub fn apply(&self, text: &str) -> String {
        let mut out = String::new();
        self.apply_into(text, &mut out);
        out
    }

    /// Replaces `out` by the normalised text.
    pub(crate) fn apply_into(&self, text: &str, out: &mut String) {
        out.clear();
        let folds = self.whitespace == Whitespace::Fold && self.form != Form::Nfkc;
        if self.min_word == 0 && (folds || text.is_ascii()) {
            return self.at_once(text, out);
        }
        self.unicode(text, out);
        if !self.settles_at_once() {
            // Dropping white space can join a letter with an accent, and NFKC can bring forth
            // capitals. Each pass only composes, lowers or drops, so this ends soon.
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

    /// Whether one pass over any text gives what further passes would leave alone.
    pub(super) fn settles_at_once(&self) -> bool {
        match self.form {
            Form::Unchanged => true,
            Form::Nfc => self.whitespace == Whitespace::Fold && self.min_word == 0,
            Form::Nfkc => false,
        }
    }

    /// In one pass: any text where white space is folded, else ASCII, which no form changes.
    fn at_once(&self, text: &str, out: &mut String) {
        let lower = |byte: u8| match self.lower {
            true => byte.to_ascii_lowercase(),
            false => byte,
        };
        let mut bytes = std::mem::take(out).into_bytes();
        match self.whitespace {
            Whitespace::Keep => bytes.extend(text.bytes().map(lower)),
            Whitespace::Drop => {
                bytes.extend(text.bytes().filter(|&b| !is_ascii_space(b)).map(lower));
            }
            Whitespace::Fold => fold(text, self.lower, self.form == Form::Nfc, &mut bytes),
        }
        // Whole characters were written, so the check cannot fail.
        *out = String::from_utf8(bytes).unwrap_or_default();
    }

    /// Appends what one pass makes of a text.
    pub(super) fn unicode(&self, text: &str, out: &mut String) {
        let text = match self.lower {
            true => Cow::Owned(text.to_lowercase()),
            false => Cow::Borrowed(text),
        };
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

/// The words of at least `least` characters, joined by one space.
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

/// Whether words, as far as their length is asked for, are made of this.
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
        match parts.is_empty() {
            true => f.write_str("none"),
            false => f.write_str(&parts.join(",")),
        }
    }
}

impl FromStr for Normalization {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self> {
        let bad = || Error::InvalidSetting {
            setting: "normalization",
            got: list.to_owned(),
            expected: "`none`, or a list of lower, nfc or nfkc, space or nospace, minword=N",
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
                    let number = part.strip_prefix("minword=").ok_or_else(bad)?;
                    out.min_word = number.parse().map_err(|_| bad())?;
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
    fn settings_survive_being_written_and_read() {
        for settings in Normalization::all() {
            assert_eq!(settings.to_string().parse::<Normalization>().ok(), Some(settings));
        }
        for bad in ["", "upper", "nfc,nfkc", "space,nospace", "minword=", "minword=x", "lower,"] {
            assert!(bad.parse::<Normalization>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn white_space_is_folded_dropped_or_kept() {
        let text = "\u{3000}A\u{a0}\t b\r\n\u{2028}c ";
        let with = |list: &str| list.parse::<Normalization>().map(|n| n.apply(text));
        assert_eq!(with("space").ok().as_deref(), Some("A b c"));
        assert_eq!(with("nospace").ok().as_deref(), Some("Abc"));
        assert_eq!(with("none").ok().as_deref(), Some(text));
        assert_eq!(with("minword=2").ok().as_deref(), Some(""));
    }

    #[test]
    fn short_words_go_and_apostrophes_split() {
        let normalization = Normalization { min_word: 3, ..Normalization::default() };
        assert_eq!(normalization.apply("L\u{2019}homme, il est né."), "homme est");
        assert_eq!(normalization.apply("हिन्दी में"), "हिन्दी में");
    }

    #[test]
    fn one_character_normalised_twice_is_normalised_once() {
        for settings in Normalization::all() {
            // Beyond this are planes without letters that any form or case changes, and the two
            // of private use.
            for c in ('\0'..='\u{33FFF}').chain('\u{E0000}'..='\u{E0FFF}') {
                let once = settings.apply(c.encode_utf8(&mut [0; 4]));
                assert_eq!(settings.apply(&once), once, "{settings} on {c:?}");
            }
        }
    }

    /// Composition works on pairs, and each composed pair is one character's decomposition.
    #[test]
    fn composed_pairs_of_lowered_characters_stay_lower() {
        let settings = Normalization::default();
        for c in '\0'..=char::MAX {
            let apart: String = std::iter::once(c).nfd().collect();
            let once = settings.apply(&apart);
            assert_eq!(settings.apply(&once), once, "{c:?}");
        }
    }

    fn tricky() -> impl Strategy<Value = String> {
        let letters = "aAzZ  \t\n.'0éÉİıßΣσςΌᾼ\u{301}\u{308}\u{345}\u{327}ℌÅﬁ¨①가각각क्षिหน\u{200d}👩漢字\u{3000}\u{85}";
        let choices: Vec<char> = letters.chars().collect();
        proptest::collection::vec(proptest::sample::select(choices), 0..24)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn normalising_is_idempotent(text in tricky()) {
            for settings in Normalization::all() {
                let once = settings.apply(&text);
                prop_assert_eq!(settings.apply(&once), once, "{}", settings);
            }
        }

        #[test]
        fn any_text_normalises_idempotently(text in any::<String>()) {
            for settings in Normalization::all() {
                let once = settings.apply(&text);
                prop_assert_eq!(settings.apply(&once), once, "{}", settings);
            }
        }

        #[test]
        fn ascii_and_unicode_paths_agree(text in "[ -~\t\n\r\x0b\x0c]{0,60}") {
            for settings in Normalization::all() {
                let mut slow = String::new();
                settings.unicode(&text, &mut slow);
                prop_assert_eq!(settings.apply(&text), slow, "{}", settings);
            }
        }
    }
}
