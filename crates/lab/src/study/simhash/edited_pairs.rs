//! Pairs of a text and an edited copy of it, with all similarities.

use crate::study::gospel_texts;
use twindex::Overlap;
use twindex::Result;
use twindex::internals::SplitMix;
use twindex::{Normalization, Shingle, Shingler};

/// The most words that are replaced together, like an edited sentence.
const PASSAGE: u64 = 8;

/// On average one pair in so many has unrelated texts, an English one and a French one. Two English
/// texts share phrases of their time.
const UNRELATED: u64 = 10;

/// Draws pairs from the English Gospels, and unrelated texts from the French ones.
pub(super) struct EditedPairs {
    words: Vec<String>,
    french: Vec<String>,
    shingler: Shingler,
    /// The number of words of a text.
    length: usize,
}

/// Two ascending sets of shingles, and their similarity.
pub(super) struct EditedPair {
    pub(super) a: Vec<u64>,
    pub(super) b: Vec<u64>,
    pub(super) similarity: f64,
}

impl EditedPairs {
    /// Pairs of texts of `length` words, in shingles of 9 characters.
    pub(super) fn new(length: usize) -> Result<Self> {
        let shingler = Shingler::new(Shingle::default(), Normalization::default(), false, 0)?;
        let [french, words] = gospel_texts::embedded().map(|translation| {
            let words = translation.texts.iter().flat_map(|text| text.split_whitespace());
            words.map(str::to_owned).collect()
        });
        Ok(Self { words, french, shingler, length })
    }

    /// Draws a pair. Its similarity J is near a uniform random number from 0 to 1. For that, a
    /// share of (1 - J)/(1 + J) of the shingles must be replaced. Replacing a passage changes some
    /// 1.3 times its own shingles, because some reach over its ends. On average every tenth pair is
    /// unrelated.
    pub(super) fn draw(&self, random: &mut SplitMix) -> EditedPair {
        let first = passage(&self.words, random, self.length);
        if random.next().is_multiple_of(UNRELATED) {
            return self.pair(first.iter(), passage(&self.french, random, self.length).iter());
        }
        let aim = share(random);
        let replaced = (1.0 - aim) / (1.0 + aim) / 1.3;
        let mut second = Vec::with_capacity(self.length);
        let mut rest = first;
        while !rest.is_empty() {
            let words = (1 + random.next() % PASSAGE) as usize;
            let (kept, after) = rest.split_at(words.min(rest.len()));
            rest = after;
            if share(random) < replaced {
                second.extend(passage(&self.words, random, kept.len()));
            } else {
                second.extend(kept);
            }
        }
        self.pair(first.iter(), second.into_iter())
    }

    fn pair<'w>(
        &self,
        first: impl Iterator<Item = &'w String>,
        second: impl Iterator<Item = &'w String>,
    ) -> EditedPair {
        let (a, b) = (self.set(first), self.set(second));
        let similarity = Overlap::of_sets(&a, &b).similarity();
        EditedPair { a, b, similarity }
    }

    fn set<'w>(&self, words: impl Iterator<Item = &'w String>) -> Vec<u64> {
        let words: Vec<&str> = words.map(String::as_str).collect();
        let mut set = self.shingler.hashes(&words.join(" "));
        set.sort_unstable();
        set.dedup();
        set
    }
}

/// A random run of `length` words.
fn passage<'w>(words: &'w [String], random: &mut SplitMix, length: usize) -> &'w [String] {
    let most = words.len().saturating_sub(length);
    let start = (share(random) * most as f64) as usize;
    words.get(start..start + length).unwrap_or(words)
}

/// A uniform random number from 0 to 1.
fn share(random: &mut SplitMix) -> f64 {
    (random.next() >> 11) as f64 * 2.0_f64.powi(-53)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_all_similarities_and_depend_on_the_seed_alone() {
        let pairs = EditedPairs::new(120).expect("valid settings");
        let draw = |seed| -> Vec<f64> {
            let mut random = SplitMix::new(seed);
            (0..120).map(|_| pairs.draw(&mut random).similarity).collect()
        };
        let all = draw(1);
        assert_eq!(all, draw(1));
        assert_ne!(all, draw(2));
        for from in [0.0, 0.2, 0.4, 0.6, 0.8] {
            let inside = all.iter().filter(|j| (from..=from + 0.2).contains(*j)).count();
            assert!((8..60).contains(&inside), "{inside} of 120 from {from}");
        }
    }
}
