//! The rows and letters of a text before and after normalisation (Dembele, Lo 2015, table 5).

use crate::study::gospel_texts::NORMALIZATION;

/// The size of a text before and after words of fewer than three letters are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextSize {
    /// The lines of the file.
    pub(super) rows_before: u64,
    /// The lines of which at least one word remains.
    pub(super) rows_after: u64,
    /// The characters of the lines, white space included.
    pub(super) letters_before: u64,
    /// The characters of the normalised text, spaces included.
    pub(super) letters_after: u64,
}

impl TextSize {
    pub(super) fn of(text: &str) -> Self {
        let letters = |text: &str| text.chars().count() as u64;
        let remains = |line: &&str| !NORMALIZATION.apply(line).is_empty();
        Self {
            rows_before: text.lines().count() as u64,
            rows_after: text.lines().filter(remains).count() as u64,
            letters_before: text.lines().map(letters).sum(),
            letters_after: letters(&NORMALIZATION.apply(text)),
        }
    }

    /// The number of shingles of three characters: n - 2 for n letters.
    pub(super) fn shingles(&self) -> u64 {
        self.letters_after.saturating_sub(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::gospel_texts::embedded;

    #[test]
    fn a_small_text_has_its_rows_and_letters() {
        let size = TextSize::of("In the BEGINNING\nit is\nl'été,  was\n");
        let expected =
            TextSize { rows_before: 3, rows_after: 2, letters_before: 32, letters_after: 21 };
        assert_eq!(size, expected);
        assert_eq!(size.shingles(), 19);
        assert_eq!(TextSize::of("").shingles(), 0);
    }

    /// Drops short words without the library: words are runs of letters and digits.
    #[test]
    fn letters_of_the_gospels_are_those_of_plain_splitting() {
        for text in embedded().iter().flat_map(|translation| &translation.texts) {
            let lower = text.to_lowercase();
            let words = lower.split(|c: char| !c.is_alphanumeric());
            let long: Vec<&str> = words.filter(|word| word.chars().count() >= 3).collect();
            let size = TextSize::of(text);
            assert_eq!(size.letters_after, long.join(" ").chars().count() as u64);
            assert!(size.rows_after <= size.rows_before);
            assert!(size.letters_after < size.letters_before);
        }
    }
}
