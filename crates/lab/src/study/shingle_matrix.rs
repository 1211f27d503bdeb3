//! The matrix of a real text: the row numbers of its shingles, in each possible order of rows.

use super::gospel_texts;
use std::collections::{BTreeSet, HashMap, HashSet};
use twindex::Result;
use twindex::{Normalization, Shingle, Shingler};

/// The key that represents a shingle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKeys {
    /// Its row number, with rows in the order of first appearance in the text.
    TextOrder,
    /// Its row number, with rows in alphabetical order.
    Alphabetical,
    /// Its hash.
    Hashed,
}

impl RowKeys {
    pub(super) const ALL: [RowKeys; 3] =
        [RowKeys::TextOrder, RowKeys::Alphabetical, RowKeys::Hashed];

    pub(super) const fn name(self) -> &'static str {
        match self {
            RowKeys::TextOrder => "rows in the order of the text",
            RowKeys::Alphabetical => "rows in alphabetical order",
            RowKeys::Hashed => "hashed shingles",
        }
    }
}

/// The shingles of the beginning of a text (Mark in English), in order.
pub(super) struct ShingledText {
    shingles: Vec<String>,
    hashes: Vec<u64>,
}

impl ShingledText {
    /// The shingles of `size` characters in the first `characters` characters of the text.
    ///
    /// # Errors
    ///
    /// Those of [`Shingler::new`] for a size out of range.
    pub(super) fn new(size: u16, characters: usize) -> Result<Self> {
        let [_, english] = gospel_texts::embedded();
        let [_, _, mark, _] = english.texts;
        // This is the default normalisation; the text needs no Unicode composition.
        let words: Vec<String> = mark.split_whitespace().map(str::to_lowercase).collect();
        let text: String = words.join(" ").chars().take(characters).collect();
        let shingler = Shingler::new(Shingle::chars(size), Normalization::NONE, false, 0)?;
        let characters: Vec<char> = text.chars().collect();
        let shingles = characters.windows(size.into()).map(|window| window.iter().collect());
        Ok(Self { shingles: shingles.collect(), hashes: shingler.hashes(&text) })
    }

    /// The keys of the shingles, in the order of the text with repetitions, and the number of rows
    /// of the matrix. Rows are numbered from 1, because multiplicative hashing maps 0 to 0.
    pub(super) fn keys(&self, keys: RowKeys) -> (Vec<u64>, u64) {
        let mut numbers: HashMap<&str, u64> = HashMap::new();
        match keys {
            RowKeys::TextOrder => {
                for shingle in &self.shingles {
                    let next = numbers.len() as u64 + 1;
                    numbers.entry(shingle).or_insert(next);
                }
            }
            RowKeys::Alphabetical => {
                let ordered: BTreeSet<&str> = self.shingles.iter().map(String::as_str).collect();
                numbers.extend(ordered.into_iter().zip(1..));
            }
            RowKeys::Hashed => {
                let distinct: HashSet<u64> = self.hashes.iter().copied().collect();
                return (self.hashes.clone(), distinct.len() as u64);
            }
        }
        let keys = self.shingles.iter().filter_map(|s| numbers.get(s.as_str()).copied());
        (keys.collect(), numbers.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shingles_have_equal_keys_in_every_order() {
        let text = ShingledText::new(4, 3_000).expect("valid");
        let [(first, rows), (sorted, of_sorted), (hashes, of_hashes)] =
            RowKeys::ALL.map(|keys| text.keys(keys));
        assert_eq!((rows, rows), (of_sorted, of_hashes));
        let mut seen = 0;
        for (at, row) in first.iter().enumerate() {
            assert!(*row <= seen + 1, "rows are numbered as they come");
            seen = seen.max(*row);
            for before in at.saturating_sub(300)..at {
                let equal = text.shingles[before] == text.shingles[at];
                assert_eq!(equal, first[before] == *row);
                assert_eq!(equal, hashes[before] == hashes[at]);
                assert_eq!(
                    text.shingles[before].cmp(&text.shingles[at]),
                    sorted[before].cmp(&sorted[at])
                );
            }
        }
        assert_eq!(seen, rows);
    }
}
