//! Texts as units and fingerprints, which many comparisons need again.

use crate::error::Result;
use crate::index::ask::prints::Prints;
use crate::sketch::Fingerprints;
use crate::store::{ChunkTable, DocNo, DocTable, View};
use crate::text::{Shingle, Shingler, UnitNumbers};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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

    /// The memory that it takes with its characters.
    fn bytes(&self) -> usize {
        /// The memory of an entry besides its text.
        const ENTRY_BYTES: u64 = 128;
        let bytes = self.prints.bytes() as u64 + ENTRY_BYTES;
        let characters = self.prints.shingles().saturating_mul(size_of::<u32>() as u64);
        usize::try_from(bytes.saturating_add(characters)).unwrap_or(usize::MAX)
    }
}

/// Recently used texts, up to some memory. All threads share it.
///
/// A number never gets another document, so a cache serves all states of an index that one
/// snapshot or one transaction sees.
pub(crate) struct TextCache {
    shards: Vec<Mutex<Shard>>,
    /// The memory of a shard in bytes.
    most: usize,
}

/// When `young` fills half the memory, it replaces `old`.
#[derive(Default)]
struct Shard {
    young: FxHashMap<DocNo, Arc<CachedText>>,
    old: FxHashMap<DocNo, Arc<CachedText>>,
    /// The size of `young` in bytes.
    bytes: usize,
}

impl Default for TextCache {
    fn default() -> Self {
        /// The usual memory of a cache.
        const BYTES: usize = 64 << 20;
        Self::new(BYTES)
    }
}

impl fmt::Debug for TextCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextCache").field("most", &self.most).finish_non_exhaustive()
    }
}

impl TextCache {
    /// A cache of this many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        const SHARDS: usize = 64;
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, most: bytes / SHARDS }
    }

    /// The text of a live document.
    pub(crate) fn get<P: ChunkTable, D: DocTable>(
        &self,
        view: &View<'_, P, D>,
        doc: DocNo,
    ) -> Result<Arc<CachedText>> {
        let shard = &self.shards[doc.0 as usize % self.shards.len()];
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = lock().find(doc, self.most) {
            return Ok(cached);
        }
        let cached = Arc::new(CachedText::new(&view.fingerprints(doc)?.unwrap_or_default()));
        lock().add(doc, Arc::clone(&cached), self.most);
        Ok(cached)
    }
}

impl Shard {
    fn find(&mut self, doc: DocNo, most: usize) -> Option<Arc<CachedText>> {
        if let Some(cached) = self.young.get(&doc) {
            return Some(Arc::clone(cached));
        }
        let cached = self.old.remove(&doc)?;
        self.add(doc, Arc::clone(&cached), most);
        Some(cached)
    }

    fn add(&mut self, doc: DocNo, cached: Arc<CachedText>, most: usize) {
        let bytes = cached.bytes();
        if bytes > most / 2 {
            // One long text would take the place of all others.
            return;
        }
        self.bytes += bytes;
        if 2 * self.bytes > most {
            self.old = std::mem::take(&mut self.young);
            self.bytes = bytes;
        }
        self.young.insert(doc, cached);
    }
}
