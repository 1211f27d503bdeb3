//! Texts as units and fingerprints, which many comparisons need again.

use crate::error::Result;
use crate::sketch::Fingerprints;
use crate::store::{ChunkTable, DocNo, DocTable, View};
use crate::text::{Shingle, Shingler, UnitNumbers};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A text to compare with others.
pub(super) struct CachedText {
    pub(super) fingerprints: Fingerprints,
    /// Its characters; `None` if its units are others, whose numbers depend on what they are
    /// compared with.
    pub(super) characters: Option<Vec<u32>>,
}

/// Recently used texts, up to some memory. All threads share it.
pub(super) struct TextCache {
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

impl TextCache {
    /// A cache of this many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        const SHARDS: usize = 64;
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, most: bytes / SHARDS }
    }

    /// The text of a live document.
    pub(super) fn get<P: ChunkTable, D: DocTable>(
        &self,
        view: &View<'_, P, D>,
        shingler: &Shingler,
        doc: DocNo,
    ) -> Result<Arc<CachedText>> {
        let shard = &self.shards[doc.0 as usize % self.shards.len()];
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = lock().find(doc, self.most) {
            return Ok(cached);
        }
        let characters = match shingler.shingle() {
            Shingle::Chars(_) => {
                Some(shingler.renumbered(&view.text(doc)?, &UnitNumbers::default()))
            }
            _ => None,
        };
        let fingerprints = view.fingerprints(doc)?.unwrap_or_default();
        let cached = Arc::new(CachedText { fingerprints, characters });
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
        /// The memory of an entry besides its text.
        const ENTRY_BYTES: usize = 128;
        let characters = cached.characters.as_ref().map_or(0, |units| size_of_val(&units[..]));
        let bytes = cached.fingerprints.as_bytes().len() + characters + ENTRY_BYTES;
        if 2 * bytes > most {
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
