//! The units of a text as a sequence of numbers, so that stretches of two texts can be compared.

use super::kind::Shingle;
use super::shingle::{PADDING, Scratch, Shingler};
use std::collections::HashMap;

/// The numbers of the units of a text: of characters their code points, of other units their order
/// of appearance. Equal numbers are equal units, without any hash.
#[derive(Debug, Default)]
pub(crate) struct UnitNumbers {
    /// Strangers choose the units, so the map needs a keyed hash.
    known: HashMap<Box<str>, u32>,
}

impl UnitNumbers {
    /// The number of a unit that the first text does not have.
    pub(crate) const UNKNOWN: u32 = u32::MAX;
}

impl Shingler {
    /// The units of a text. Gives a number to those that have none.
    pub(crate) fn numbered(&self, text: &str, numbers: &mut UnitNumbers) -> Vec<u32> {
        self.sequence(text, |unit| match numbers.known.get(unit) {
            Some(number) => *number,
            None => {
                let number = numbers.known.len() as u32;
                numbers.known.insert(unit.into(), number);
                number
            }
        })
    }

    /// The units of a text to compare with one that was numbered before. Units that it does not
    /// have are all [`UNKNOWN`](UnitNumbers::UNKNOWN).
    pub(crate) fn renumbered(&self, text: &str, numbers: &UnitNumbers) -> Vec<u32> {
        let number = |unit: &str| numbers.known.get(unit).copied();
        self.sequence(text, |unit| number(unit).unwrap_or(UnitNumbers::UNKNOWN))
    }

    fn sequence(&self, text: &str, number: impl FnMut(&str) -> u32) -> Vec<u32> {
        let mut scratch = Scratch::default();
        self.prepare_plain(text, &mut scratch);
        match self.shingle {
            Shingle::Chars(_) | Shingle::Kmers(_) => {
                let text = scratch.text.strip_suffix(PADDING).unwrap_or(&scratch.text);
                text.chars().map(u32::from).collect()
            }
            _ => scratch.units.iter().map(number).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Normalization;

    #[test]
    fn a_sequence_has_the_units_of_the_shingles() {
        let numbers = |shingle: &str, texts: [&str; 2]| {
            let shingle = shingle.parse().expect("a shingle");
            let normalization = Normalization::default();
            let shingler = Shingler::new(shingle, normalization, false, 0).expect("in range");
            let mut numbers = UnitNumbers::default();
            let first = shingler.numbered(texts[0], &mut numbers);
            let located = shingler.locate(texts[0]).expect("located");
            assert_eq!(located.unit_count(), first.len(), "{shingle:?}");
            (first, shingler.renumbered(texts[1], &numbers))
        };
        const NONE: u32 = UnitNumbers::UNKNOWN;
        let (a, b) = (97, 98);
        assert_eq!(numbers("char:3", [" A  b", "BÉ"]), (vec![a, 32, b], vec![b, 0xE9]));
        let words = (vec![0, 1, 0, 2], vec![2, NONE, 1]);
        assert_eq!(numbers("word:2", ["one two, one three", "Three four two"]), words);
        assert_eq!(numbers("line:1", ["x\n\n y \nx", "y\nz"]), (vec![0, 1, 0], vec![1, NONE]));
        assert_eq!(numbers("token", ["x y x", "y z"]), (vec![0, 1, 0], vec![1, NONE]));
        assert_eq!(numbers("token", ["x y\u{1f}x\u{1f}", "x\u{1f}"]), (vec![0, 1], vec![1]));
    }
}
