//! How many characters a shingle should have for texts of a given length.

use super::Shingle;

/// Characters that a text is taken to be written with, all equally often (Leskovec, Rajaraman, Ullman, *Mining
/// of massive datasets*, section 3.2.2): fewer than an alphabet has, as letters differ in frequency.
const LETTERS: u64 = 20;

/// How many more shingles there must be than places in the text.
const SPARSE: u64 = 100;

impl Shingle {
    /// The least number of characters by the textbook's rule for texts of so many characters: 20^N, about as many
    /// shingles as there are, is well above the length, so that a given shingle is in a given text by chance at
    /// most once in a hundred (*Mining of massive datasets*, section 3.2.2; Bergillos, Rambla, Cabeza 2018, section 3.1).
    ///
    /// Shorter shingles make texts similar that have nothing in common but their language; longer ones let fewer of them
    /// survive an edit. The rule counts letters as if each came by itself: real text is more predictable, so that
    /// some characters more do no harm. The default of 9 is for texts of any length.
    ///
    /// ```
    /// use twindex::Shingle;
    /// assert_eq!(Shingle::chars_for_length(2_000), Shingle::chars(5)); // an email
    /// assert_eq!(Shingle::chars_for_length(50_000), Shingle::chars(6));
    /// assert_eq!(Shingle::chars_for_length(4_000_000_000), Shingle::chars(9));
    /// ```
    pub fn chars_for_length(characters: u64) -> Self {
        let wanted = u128::from(characters) * u128::from(SPARSE);
        let mut width = 1;
        let mut shingles = u128::from(LETTERS);
        while shingles < wanted {
            shingles *= u128::from(LETTERS);
            width += 1;
        }
        Self::Chars(width)
    }

    /// The probability by the same rule that a given shingle of so many characters is at any of the places of a
    /// text, at most: its length over 20^N, and 1 where that is more.
    ///
    /// ```
    /// let chance = twindex::Shingle::chance_by_length(3, 70_000);
    /// assert_eq!(chance, 1.0); // 70,000 places for 8000 shingles
    /// assert_eq!(twindex::Shingle::chance_by_length(6, 64_000), 0.001);
    /// ```
    pub fn chance_by_length(width: u16, characters: u64) -> f64 {
        (characters as f64 / (LETTERS as f64).powi(width.into())).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_the_least_that_keeps_shingles_rare() {
        let lengths = (0..64).flat_map(|bits| [1_u64 << bits, (1 << bits) - 1, 3 << (bits / 2)]);
        for length in lengths.chain([u64::MAX, 80, 81, 1600, 1601]) {
            let Shingle::Chars(width) = Shingle::chars_for_length(length) else {
                panic!("characters");
            };
            assert!(Shingle::chance_by_length(width, length) <= 0.01 * (1.0 + 1e-12), "{length}");
            assert!(width == 1 || Shingle::chance_by_length(width - 1, length) > 0.01, "{length}");
        }
        assert_eq!(Shingle::chars_for_length(0), Shingle::Chars(1));
        assert_eq!(Shingle::chars_for_length(80), Shingle::Chars(3));
        assert_eq!(Shingle::chars_for_length(81), Shingle::Chars(4));
        assert_eq!(Shingle::chance_by_length(1000, u64::MAX), 0.0);
    }
}
