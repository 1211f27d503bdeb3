//! Texts as units and fingerprints, which many comparisons need again.

use crate::error::Result;
use crate::index::ask::cache::{Cache, Cached};
use crate::index::ask::prints::Prints;
use crate::sketch::Fingerprints;
use crate::store::{ChunkTable, DocNo, DocTable, View};
use crate::text::{Shingle, Shingler, UnitNumbers};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// A text to compare with others.
pub(crate) struct CachedText {
    pub(super) prints: Prints,
    /// Its characters, once they are asked for.
    characters: OnceLock<Vec<u32>>,
}

impl CachedText {
    pub(crate) fn new(fingerprints: &Fingerprints) -> Self {
        Self { prints: Prints::new(fingerprints), characters: OnceLock::new() }
    }

    /// The units of the text, to compare with one whose units have these numbers. Characters are
    /// computed once; the numbers of other units depend on what they are compared with. `read`
    /// gives the text.
    pub(crate) fn units<T: AsRef<str>>(
        &self,
        shingler: &Shingler,
        numbers: &UnitNumbers,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Cow<'_, [u32]>> {
        if let Some(characters) = self.characters.get() {
            return Ok(Cow::Borrowed(characters));
        }
        let units = shingler.renumbered(read()?.as_ref(), numbers);
        Ok(match shingler.shingle() {
            Shingle::Chars(_) => Cow::Borrowed(self.characters.get_or_init(|| units)),
            _ => Cow::Owned(units),
        })
    }
}

impl Cached for CachedText {
    /// The memory that it takes with its characters.
    fn bytes(&self) -> usize {
        let characters = self.prints.shingles().saturating_mul(size_of::<u32>() as u64);
        let bytes = (self.prints.bytes() as u64).saturating_add(characters);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }
}

/// Recently used texts. A number never gets another document, so a cache serves all states of an
/// index that one snapshot or one transaction sees.
pub(crate) type TextCache = Cache<DocNo, CachedText>;

impl Default for TextCache {
    fn default() -> Self {
        /// The usual memory of a cache.
        const BYTES: usize = 64 << 20;
        Self::of_bytes(BYTES)
    }
}

impl TextCache {
    /// A cache of this many bytes.
    pub(crate) fn of_bytes(bytes: usize) -> Self {
        const SHARDS: usize = 64;
        Self::new(bytes, SHARDS)
    }

    /// The text of a live document.
    pub(crate) fn get<P: ChunkTable, D: DocTable>(
        &self,
        view: &View<'_, P, D>,
        doc: DocNo,
    ) -> Result<Arc<CachedText>> {
        self.get_or(doc, || Ok(CachedText::new(&view.fingerprints(doc)?.unwrap_or_default())))
    }
}
