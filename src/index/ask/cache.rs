//! What was made recently and is needed again, up to some memory.

use crate::error::Result;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A value that a cache keeps.
pub(crate) trait Cached {
    /// The memory that it takes, in bytes.
    fn bytes(&self) -> usize;
}

impl Cached for String {
    fn bytes(&self) -> usize {
        self.capacity()
    }
}

/// Recently used values, up to some memory. All threads share it.
pub(crate) struct Cache<K, V> {
    shards: Vec<Mutex<Shard<K, V>>>,
    /// The memory of a shard in bytes.
    most: usize,
}

/// When `young` fills half the memory, it replaces `old`.
struct Shard<K, V> {
    young: FxHashMap<K, Arc<V>>,
    old: FxHashMap<K, Arc<V>>,
    /// The size of `young` in bytes.
    bytes: usize,
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("most", &self.most).finish_non_exhaustive()
    }
}

impl<K: Copy + Eq + Hash, V: Cached> Cache<K, V> {
    /// A cache of this many bytes. More shards let more threads use it at once. A value that takes
    /// more than half a shard is not kept: it would take the place of all others.
    pub(crate) fn new(bytes: usize, shards: usize) -> Self {
        let shards = shards.max(1);
        let empty = || Shard { young: FxHashMap::default(), old: FxHashMap::default(), bytes: 0 };
        Self { shards: (0..shards).map(|_| Mutex::new(empty())).collect(), most: bytes / shards }
    }

    /// The memory for values, in bytes.
    pub(crate) fn room(&self) -> usize {
        self.most * self.shards.len()
    }

    /// The value of a key, which `make` makes if it is not there. Two threads may make the same one
    /// at once.
    pub(crate) fn get_or(&self, key: K, make: impl FnOnce() -> Result<V>) -> Result<Arc<V>> {
        if let Some(value) = self.shard(key).find(key, self.most) {
            return Ok(value);
        }
        let value = Arc::new(make()?);
        self.shard(key).add(key, Arc::clone(&value), self.most);
        Ok(value)
    }

    fn shard(&self, key: K) -> MutexGuard<'_, Shard<K, V>> {
        // The hash table of a shard takes the lower bits.
        let place = (FxBuildHasher.hash_one(key) >> 32) as usize % self.shards.len();
        self.shards[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash, V: Cached> Shard<K, V> {
    fn find(&mut self, key: K, most: usize) -> Option<Arc<V>> {
        if let Some(value) = self.young.get(&key) {
            return Some(Arc::clone(value));
        }
        let value = self.old.remove(&key)?;
        self.add(key, Arc::clone(&value), most);
        Some(value)
    }

    fn add(&mut self, key: K, value: Arc<V>, most: usize) {
        /// The memory of an entry besides its value.
        const ENTRY_BYTES: usize = 128;
        let bytes = value.bytes().saturating_add(ENTRY_BYTES);
        if bytes > most / 2 {
            return;
        }
        self.bytes += bytes;
        if 2 * self.bytes > most {
            self.old = std::mem::take(&mut self.young);
            self.bytes = bytes;
        }
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    struct Block(usize);

    impl Cached for Block {
        fn bytes(&self) -> usize {
            self.0
        }
    }

    /// Whether the cache has the block of a key, of this size. It is added if there is room.
    fn had(cache: &Cache<u32, Block>, key: u32, bytes: usize) -> bool {
        let mut made = false;
        let block = cache.get_or(key, || {
            made = true;
            Ok(Block(bytes))
        });
        assert_eq!(block.expect("a block").0, bytes);
        !made
    }

    #[test]
    fn what_is_used_stays_and_what_is_not_used_goes() {
        let cache = Cache::new(64 * 1024, 1);
        assert!(!had(&cache, 0, 1000));
        for key in 1..1000 {
            assert!(!had(&cache, key, 1000), "{key}");
            assert!(had(&cache, 0, 1000), "after {key}");
        }
        assert!(had(&cache, 990, 1000));
        assert!(!had(&cache, 1, 1000));
        let kept: usize = cache
            .shards
            .iter()
            .map(|shard| {
                let shard = shard.lock().expect("no panic");
                shard
                    .young
                    .values()
                    .chain(shard.old.values())
                    .map(|block| block.bytes())
                    .sum::<usize>()
            })
            .sum();
        assert!((30_000..=64 * 1024).contains(&kept), "{kept}");
    }

    #[test]
    fn a_value_that_would_take_the_place_of_all_others_is_not_kept() {
        let cache = Cache::new(64 * 1024, 4);
        assert!(!had(&cache, 1, 100));
        assert!(!had(&cache, 2, 10_000));
        assert!(!had(&cache, 2, 10_000));
        assert!(had(&cache, 1, 100));
        let none = Cache::new(0, 0);
        assert!(!had(&none, 1, 0) && !had(&none, 1, 0));
    }

    #[test]
    fn a_failure_is_not_remembered() {
        let cache: Cache<u32, Block> = Cache::new(1 << 20, 2);
        let failed = cache.get_or(7, || Err(Error::NotFound { path: "x".into() }));
        assert!(failed.is_err());
        assert!(!had(&cache, 7, 10));
        assert!(had(&cache, 7, 10));
    }
}
