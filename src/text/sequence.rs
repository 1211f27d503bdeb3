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

/// The units of a text as numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UnitSequence {
    /// Characters of which all are ASCII, a byte each.
    Ascii(Vec<u8>),
    Numbers(Vec<u32>),
}

impl Shingler {
    /// The units of a text. Gives a number to those that have none.
    pub(crate) fn numbered(&self, text: &str, numbers: &mut UnitNumbers) -> Vec<u32> {
        let number = |unit: &str| match numbers.known.get(unit) {
            Some(number) => *number,
            None => {
                let number = numbers.known.len() as u32;
                numbers.known.insert(unit.into(), number);
                number
            }
        };
        match self.sequence(text, number) {
            UnitSequence::Ascii(characters) => characters.into_iter().map(u32::from).collect(),
            UnitSequence::Numbers(numbers) => numbers,
        }
    }

    /// The units of a text to compare with one that was numbered before. Units that it does not
    /// have are all [`UNKNOWN`](UnitNumbers::UNKNOWN).
    pub(crate) fn renumbered(&self, text: &str, numbers: &UnitNumbers) -> UnitSequence {
        let number = |unit: &str| numbers.known.get(unit).copied();
        self.sequence(text, |unit| number(unit).unwrap_or(UnitNumbers::UNKNOWN))
    }

    fn sequence(&self, text: &str, number: impl FnMut(&str) -> u32) -> UnitSequence {
        let mut scratch = Scratch::default();
        self.prepare_plain(text, &mut scratch);
        match self.shingle {
            Shingle::Chars(_) | Shingle::Kmers(_) => {
                let text = scratch.text.strip_suffix(PADDING).unwrap_or(&scratch.text);
                if text.is_ascii() {
                    UnitSequence::Ascii(text.as_bytes().to_vec())
                } else {
                    UnitSequence::Numbers(text.chars().map(u32::from).collect())
                }
            }
            _ => UnitSequence::Numbers(scratch.units.iter().map(number).collect()),
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
        let expected = |first: &[u32], second: &[u32]| {
            (first.to_vec(), UnitSequence::Numbers(second.to_vec()))
        };
        const NONE: u32 = UnitNumbers::UNKNOWN;
        let (a, b) = (97, 98);
        assert_eq!(numbers("char:3", [" A  b", "BÉ"]), expected(&[a, 32, b], &[b, 0xE9]));
        let ascii = (vec![0xE9, b], UnitSequence::Ascii(b"b a".to_vec()));
        assert_eq!(numbers("char:3", ["Éb", "B  A"]), ascii);
        let words = expected(&[0, 1, 0, 2], &[2, NONE, 1]);
        assert_eq!(numbers("word:2", ["one two, one three", "Three four two"]), words);
        assert_eq!(numbers("line:1", ["x\n\n y \nx", "y\nz"]), expected(&[0, 1, 0], &[1, NONE]));
        assert_eq!(numbers("token", ["x y x", "y z"]), expected(&[0, 1, 0], &[1, NONE]));
        assert_eq!(numbers("token", ["x y\u{1f}x\u{1f}", "x\u{1f}"]), expected(&[0, 1], &[1]));
    }
}
