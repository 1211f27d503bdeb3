//! Texts that have little in common, with near copies planted among them: every similar pair is
//! known.

use super::random_texts::{below, vocabulary};
use twindex::internals::SplitMix;

/// Words of a text, as many as in the sources' texts.
const WORDS: usize = 50;

/// Different words there are: two texts share one or two of their fifty.
const VOCABULARY: usize = 2000;

/// One of so many texts is a copy of another of them, so that the beginning of a collection has its
/// share of copies.
const TEN: usize = 10;

/// The most words that are replaced in a copy: 6 of 50 leave a similarity of about two thirds.
const REPLACED: u64 = 6;

/// Texts, and which of them are copies of which.
pub(crate) struct PlantedTexts {
    pub(crate) texts: Vec<String>,
    /// Numbers of a text and of its copy, which comes after it; ascending by the copy.
    pub(crate) copies: Vec<(u32, u32)>,
}

impl PlantedTexts {
    /// So many texts, of which a longer collection of the same seed has the same first ones.
    pub(crate) fn new(count: usize, seed: u64) -> Self {
        let mut random = SplitMix::new(seed);
        let words = vocabulary(VOCABULARY, &mut random);
        let word =
            |random: &mut SplitMix| words[below(random, VOCABULARY as u64) as usize].as_str();
        let (mut texts, mut copies) = (Vec::with_capacity(count), Vec::new());
        for number in 0..count {
            if number % TEN + 1 < TEN {
                let text: Vec<&str> = (0..WORDS).map(|_| word(&mut random)).collect();
                texts.push(text.join(" "));
                continue;
            }
            let original = number - 1 - below(&mut random, TEN as u64 - 1) as usize;
            let text: &String = &texts[original];
            let mut copy: Vec<&str> = text.split(' ').collect();
            for _ in 0..1 + below(&mut random, REPLACED) {
                copy[below(&mut random, WORDS as u64) as usize] = word(&mut random);
            }
            let copy = copy.join(" ");
            texts.push(copy);
            copies.push((original as u32, number as u32));
        }
        Self { texts, copies }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_ten_is_a_copy_with_a_few_words_replaced() {
        let planted = PlantedTexts::new(1000, 3);
        assert_eq!((planted.texts.len(), planted.copies.len()), (1000, 100));
        for (original, copy) in &planted.copies {
            assert_eq!((original / 10, copy % 10), (copy / 10, 9));
            let words = |number: u32| planted.texts[number as usize].split(' ');
            let changed = words(*original).zip(words(*copy)).filter(|(a, b)| a != b).count();
            assert!(changed <= 6, "{changed}");
        }
        let changed = planted
            .copies
            .iter()
            .filter(|(a, b)| planted.texts[*a as usize] != planted.texts[*b as usize]);
        assert_eq!(changed.count(), 100);
    }

    #[test]
    fn a_longer_collection_begins_with_a_shorter_one() {
        let (short, long) = (PlantedTexts::new(45, 1), PlantedTexts::new(90, 1));
        assert_eq!(short.texts[..], long.texts[..45]);
        assert_eq!(short.copies[..], long.copies[..4]);
        assert_ne!(short.texts, PlantedTexts::new(45, 2).texts);
    }
}
