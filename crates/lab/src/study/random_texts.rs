//! Random texts: random orders of one text, as in the papers' measurements, and random words.

use twindex::internals::SplitMix;

/// Fifty words of placeholder text. Bergillos, Rambla, Cabeza 2018, section 7.1, measure random
/// orders of fifty such words, but do not name the words.
pub(crate) const FIFTY_WORDS: &str = "\
Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut \
labore et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris \
nisi ut aliquip ex ea commodo consequat. Duis aute irure dolor in reprehenderit in voluptate \
velit esse cillum dolore eu fugiat.";

/// The words of a text in a random order, separated by spaces. Every order is equally likely.
pub(crate) fn random_order(text: &str, random: &mut SplitMix) -> String {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    for last in (1..words.len()).rev() {
        words.swap(last, below(random, last as u64 + 1) as usize);
    }
    words.join(" ")
}

/// A random number below `bound`, which must be above 0. Some numbers are more likely by at most
/// bound / 2^64, which is negligible here.
pub(crate) fn below(random: &mut SplitMix, bound: u64) -> u64 {
    ((u128::from(random.next()) * u128::from(bound)) >> 64) as u64
}

/// Random words of two to four syllables.
pub(crate) fn vocabulary(count: usize, random: &mut SplitMix) -> Vec<String> {
    let syllable = |random: &mut SplitMix| {
        let consonant = b"bcdfghjklmnprstvwz"[below(random, 18) as usize];
        let vowel = b"aeiou"[below(random, 5) as usize];
        [char::from(consonant), char::from(vowel)]
    };
    let word = |random: &mut SplitMix| {
        (0..2 + below(random, 3)).flat_map(|_| syllable(random)).collect::<String>()
    };
    (0..count).map(|_| word(random)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_words_are_fifty_words() {
        assert_eq!(FIFTY_WORDS.split_whitespace().count(), 50);
    }

    #[test]
    fn all_orders_of_the_words_are_equally_likely() {
        let mut random = SplitMix::new(3);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            *seen.entry(random_order("a  b\nc", &mut random)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6, "{seen:?}");
        // Four standard deviations of a binomial count.
        let most = 4.0 * (6000.0_f64 * (1.0 / 6.0) * (5.0 / 6.0)).sqrt();
        assert!(seen.values().all(|count| (f64::from(*count) - 1000.0).abs() < most), "{seen:?}");
    }
}
