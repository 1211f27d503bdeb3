//! Random texts with planted near copies, so that all similar pairs are known.

use super::random_texts::{below, vocabulary};
use twindex::internals::SplitMix;

/// Words in a text, as in the papers.
const WORDS: usize = 50;

/// The size of the vocabulary. Two texts share one or two of their fifty words.
const VOCABULARY: usize = 2000;

/// One in each group of so many texts is a copy of another one in the group.
const GROUP: usize = 10;

/// The most words replaced in a copy. Replacing 6 of 50 leaves a similarity of about two thirds.
const REPLACED: u64 = 6;

/// Texts, and the pairs of a text and its copy.
pub(crate) struct PlantedTexts {
    pub(crate) texts: Vec<String>,
    /// The numbers of a text and of its copy, which comes after it, in ascending order of the copy.
    pub(crate) copies: Vec<(u32, u32)>,
}

impl PlantedTexts {
    /// Creates `count` texts. A longer collection with the same seed begins with the same texts.
    pub(crate) fn new(count: usize, seed: u64) -> Self {
        let mut random = SplitMix::new(seed);
        let words = vocabulary(VOCABULARY, &mut random);
        let word =
            |random: &mut SplitMix| words[below(random, VOCABULARY as u64) as usize].as_str();
        let (mut texts, mut copies) = (Vec::with_capacity(count), Vec::new());
        for number in 0..count {
            if number % GROUP + 1 < GROUP {
                let text: Vec<&str> = (0..WORDS).map(|_| word(&mut random)).collect();
                texts.push(text.join(" "));
                continue;
            }
            let original = number - 1 - below(&mut random, GROUP as u64 - 1) as usize;
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
    fn one_text_in_ten_is_a_copy_with_a_few_words_replaced() {
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
