//! Fingerprints and characters of texts, which many comparisons need again.

use crate::error::Result;
use crate::index::ask::cache::{Cache, Cached};
use crate::index::ask::prints::Prints;
use crate::store::{DocNo, Settings, View};
use crate::text::{Shingle, UnitSequence};
use std::sync::Arc;

impl Cached for UnitSequence {
    fn bytes(&self) -> usize {
        match self {
            Self::Ascii(characters) => size_of_val(&characters[..]),
            Self::Numbers(numbers) => size_of_val(&numbers[..]),
        }
    }
}

/// What was recently used of texts. A number never gets another document, so a cache serves all
/// states of an index that one snapshot or one transaction sees.
#[derive(Debug)]
pub(crate) struct TextCache {
    prints: Cache<DocNo, Prints>,
    characters: Cache<DocNo, UnitSequence>,
}

impl TextCache {
    /// The usual memory of a cache, in bytes.
    pub(crate) const USUAL_BYTES: usize = 64 << 20;

    /// A cache of this many bytes for the texts of an index.
    pub(crate) fn new(bytes: usize, settings: &Settings) -> Self {
        const SHARDS: usize = 64;
        let of_prints = match settings.shingle {
            // There is a fingerprint of 8 bytes for some 40 characters, and many texts are compared
            // by their fingerprints alone.
            Shingle::Chars(_) => bytes / 4,
            _ => bytes,
        };
        Self {
            prints: Cache::new(of_prints, SHARDS),
            characters: Cache::new(bytes - of_prints, SHARDS),
        }
    }

    /// The fingerprints of a live document.
    pub(crate) fn prints(&self, view: &View<'_>, doc: DocNo) -> Result<Arc<Prints>> {
        let read = || Ok(Prints::new(&view.fingerprints(doc)?.unwrap_or_default()));
        self.prints.get_or(doc, read)
    }

    /// The characters of a document, which `read` reads. A cache for other units keeps none.
    pub(crate) fn characters(
        &self,
        doc: DocNo,
        read: impl FnOnce() -> Result<UnitSequence>,
    ) -> Result<Arc<UnitSequence>> {
        self.characters.get_or(doc, read)
    }
}
