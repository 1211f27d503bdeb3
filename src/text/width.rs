//! The number of characters of a shingle that suits texts of a given length.

use super::Shingle;

/// The number of different characters that the rule assumes, all equally frequent (Leskovec,
/// Rajaraman, Ullman, *Mining of massive datasets*, section 3.2.2). It is below the size of an
/// alphabet because letters differ in frequency.
const LETTERS: u64 = 20;

/// The least ratio of possible shingles to positions in the text.
const SPARSE: u64 = 100;

impl Shingle {
    /// Returns the least number of characters that the textbook rule gives for texts of
    /// `characters` characters.
    ///
    /// The rule assumes about 20^N possible shingles of N characters, and takes the least N for
    /// which a given shingle is in a given text by chance with a probability of at most 1 in 100
    /// (Leskovec, Rajaraman, Ullman, *Mining of massive datasets*, section 3.2.2; Bergillos,
    /// Rambla, Cabeza 2018, section 3.1).
    ///
    /// With shorter shingles, unrelated texts of the same language are similar. With longer ones,
    /// fewer shingles survive an edit. The rule treats letters as independent. Real text is more
    /// predictable, so somewhat longer shingles do no harm. The default of 9 suits texts of any
    /// length.
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

    /// Returns an upper bound, by the same rule, of the probability that a given shingle of `width`
    /// characters occurs in a text of `characters` characters. The bound is
    /// `characters` / 20^`width`, or 1 if that is less.
    ///
    /// ```
    /// let chance = twindex::Shingle::chance_by_length(3, 70_000);
    /// assert_eq!(chance, 1.0); // 70,000 positions for 8000 possible shingles
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
