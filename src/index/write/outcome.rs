//! What became of a document that was passed to an insertion.

use crate::index::ask::known::KnownPassages;
use crate::index::ask::matches::Match;
use crate::store::Existing;

/// The effect of inserting a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inserted {
    /// The id was new, and the document was added.
    Added,
    /// The document replaced one with the same id and another text.
    Replaced,
    /// The index already has the document with the same id and text. Nothing was written.
    Unchanged,
    /// The index has the id with another text and keeps that document ([`OnConflict::Skip`]).
    Skipped,
}

impl Inserted {
    pub(super) fn new(existing: Existing, on_conflict: OnConflict) -> Self {
        match existing {
            Existing::Absent => Self::Added,
            Existing::Same(_) => Self::Unchanged,
            Existing::Other(_) if on_conflict == OnConflict::Skip => Self::Skipped,
            Existing::Other(_) => Self::Replaced,
        }
    }

    /// Whether the insertion writes the document.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Added | Self::Replaced)
    }
}

/// The policy for a document whose id is in the index with another text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnConflict {
    /// The new document replaces the one in the index.
    #[default]
    Replace,
    /// The new document is left out.
    Skip,
}

/// The outcome for a document that was passed to an insertion.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The document is not a duplicate, or the insertion did not search for duplicates.
    Inserted(Inserted),
    /// The document is similar to a known one, which does not contain enough of it, so it was
    /// inserted ([`Insertion::if_contained`](crate::Insertion::if_contained)).
    Spared {
        /// The effect of the insertion.
        inserted: Inserted,
        /// The most similar document, with the share of the new one that it contains.
        of: Match,
        /// The place of the index that has that document among those of
        /// [`Insertion::against`](crate::Insertion::against); `None` if it is in this index.
        against: Option<usize>,
    },
    /// Known passages were cut out of the document, and the rest was inserted
    /// ([`Insertion::without_passages`](crate::Insertion::without_passages)).
    Cut {
        /// The effect of inserting the rest.
        inserted: Inserted,
        /// The passages.
        known: KnownPassages,
        /// The rest of the text.
        text: String,
    },
    /// Too much of the document is known, so it was not inserted
    /// ([`Insertion::unless_covered`](crate::Insertion::unless_covered)), or nothing would have
    /// been left of it.
    Covered(KnownPassages),
    /// The document is similar to a known one and was not inserted.
    Duplicate {
        /// The most similar document. Ties go to this index before the others, to the others in
        /// their order, and to the document that was inserted first.
        of: Match,
        /// The position in [`Insertion::against`](crate::Insertion::against) of the index that has
        /// the document, from 0; `None` for this index.
        against: Option<usize>,
    },
}

impl Outcome {
    /// The effect of the insertion; `None` for a document that was left out.
    pub fn inserted(&self) -> Option<Inserted> {
        match self {
            Self::Inserted(inserted)
            | Self::Spared { inserted, .. }
            | Self::Cut { inserted, .. } => Some(*inserted),
            Self::Duplicate { .. } | Self::Covered(_) => None,
        }
    }
}
