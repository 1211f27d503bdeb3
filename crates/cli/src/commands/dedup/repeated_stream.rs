//! Recognizes a stream without ids that was deduplicated into the same index before.

use std::collections::HashMap;
use twindex::Outcome;

/// The most distances that are counted. A repeated stream has one, and some more at its beginning.
const DISTANCES: usize = 1 << 10;

/// Whether the records so far repeat an earlier stream.
///
/// An index numbers records without an id in order, duplicates included. If the same stream comes a
/// second time, nothing is kept, and every record that was kept the first time is an exact
/// duplicate of its first copy. The numbers of all those pairs have the same distance.
#[derive(Debug, Default)]
pub(crate) struct Repetition {
    /// How often each distance occurred between a record and a first copy that lies behind all
    /// those before. A repeated stream may begin with duplicates of still earlier documents, but
    /// its own first copies have greater numbers than those.
    distances: HashMap<u64, u64>,
    /// The sum of all counts, also of distances that are not counted.
    copies: u64,
    /// The greatest number of a first copy.
    greatest: u64,
    /// Whether a record was kept, or has an id of its own.
    refuted: bool,
}

impl Repetition {
    /// Takes account of the next record, which has this id.
    pub(crate) fn add(&mut self, id: &str, outcome: &Outcome) {
        if self.refuted {
            return;
        }
        let (Some(copied), Some(number)) = (copied(outcome), number_of(id)) else {
            self.refuted = true;
            self.distances = HashMap::new();
            return;
        };
        let Some(copied) = copied.filter(|copied| (self.greatest + 1..number).contains(copied))
        else {
            return;
        };
        self.greatest = copied;
        self.copies += 1;
        let distance = number - copied;
        if self.distances.len() < DISTANCES || self.distances.contains_key(&distance) {
            *self.distances.entry(distance).or_default() += 1;
        }
    }

    /// Whether the records repeat an earlier stream: most of the copies have the same distance.
    pub(crate) fn is_found(&self) -> bool {
        let most = self.distances.values().max().copied().unwrap_or_default();
        !self.refuted && 2 * most > self.copies
    }
}

/// The number of the document that a record is a copy of, if it has a number; `None` for a record
/// that was kept.
fn copied(outcome: &Outcome) -> Option<Option<u64>> {
    match outcome {
        Outcome::Duplicate { of, against } => {
            Some(number_of(&of.id).filter(|_| against.is_none() && of.similarity >= 1.0))
        }
        Outcome::Covered(known) => Some(match known.passages() {
            [whole] if whole.units == known.units => number_of(&whole.of),
            _ => None,
        }),
        _ => None,
    }
}

/// The number in an automatic id.
fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix('#')?.parse().ok()
}
