//! Compares texts, many pairs at a time.

use crate::error::Result;
use crate::index::ask::exact_text::ElementCache;
use crate::index::ask::verify::{Comparison, Elements, LARGE_BATCH, TextKey, text_key};
use crate::index::snapshot::Snapshot;
use crate::store::{DocNo, parallel};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Where the texts of documents come from.
pub(crate) trait Texts: Sync {
    /// What identifies the text of a document.
    fn key(&self, doc: DocNo) -> Result<TextKey>;

    /// The elements of the text of a document.
    fn elements(&self, doc: DocNo) -> Result<Elements>;

    /// The memory for elements that were compared recently, in bytes.
    fn room(&self) -> usize;
}

impl Texts for &Snapshot {
    fn key(&self, doc: DocNo) -> Result<TextKey> {
        text_key(&self.view(), doc)
    }

    fn elements(&self, doc: DocNo) -> Result<Elements> {
        Elements::read(&self.view(), self.sketcher(), doc)
    }

    fn room(&self) -> usize {
        self.reader().engine().cache_bytes()
    }
}

/// Compares documents exactly, on all threads. Elements that are being compared take up to a quarter
/// of the room, besides those that the cache keeps.
pub(crate) struct Verifier<T> {
    source: T,
    cache: Arc<ElementCache>,
}

/// Two different texts of documents to compare, and the places in the answer that wait for it.
struct Comparing {
    texts: [(TextKey, DocNo); 2],
    places: Vec<usize>,
}

impl<'s> Verifier<&'s Snapshot> {
    /// Compares documents of a snapshot. The cache is as large as that of the index.
    pub(crate) fn of(snapshot: &'s Snapshot) -> Self {
        Self::new(snapshot, Arc::new(ElementCache::of_bytes(snapshot.room())))
    }
}

impl<T: Texts> Verifier<T> {
    pub(crate) fn new(source: T, cache: Arc<ElementCache>) -> Self {
        Self { source, cache }
    }

    /// Compares pairs of documents. Returns the results in their order.
    pub(crate) fn compare(&self, pairs: &[(DocNo, DocNo)]) -> Result<Vec<Comparison>> {
        let mut results = vec![Comparison::OF_EQUALS; pairs.len()];
        let comparings = self.distinct(pairs)?;
        let mut rest = &comparings[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.fitting(rest, |comparing| comparing.texts));
            let elements = self.elements(now.iter().flat_map(|comparing| comparing.texts))?;
            let compared = parallel::map(now.iter().collect(), pays(now.len()), |comparing| {
                let [a, b] = comparing.texts.map(|(key, _)| elements.get(&key));
                a.zip(b).map_or(Comparison::OF_STRANGERS, |(a, b)| a.compare(b))
            });
            for (comparing, result) in now.iter().zip(compared) {
                comparing.places.iter().for_each(|place| results[*place] = result);
            }
            rest = later;
        }
        Ok(results)
    }

    /// Splits documents into parts with equal elements, as [`split_all`](Self::split_all).
    pub(crate) fn split_by_content(&self, docs: &[DocNo]) -> Result<Vec<Vec<DocNo>>> {
        Ok(self.split_all(&[docs])?.pop().unwrap_or_default())
    }

    /// Splits each group of documents into parts with equal elements. The order of the parts
    /// depends on the elements, not on the numbers. Reads each distinct text once.
    pub(crate) fn split_all<G: AsRef<[DocNo]>>(
        &self,
        groups: &[G],
    ) -> Result<Vec<Vec<Vec<DocNo>>>> {
        let large = groups.iter().map(AsRef::as_ref).filter(|docs| docs.len() > 1);
        let keys = self.keys(large.flatten().copied().collect())?;
        let distinct: FxHashMap<TextKey, DocNo> =
            keys.iter().map(|(doc, key)| (*key, *doc)).collect();
        let texts: Vec<(TextKey, DocNo)> = distinct.into_iter().collect();
        let mut prints: FxHashMap<TextKey, u64> = FxHashMap::default();
        let mut rest = &texts[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.fitting(rest, |text| [*text]));
            let elements = self.elements(now.iter().copied())?;
            prints.extend(elements.iter().map(|(key, elements)| (*key, elements.fingerprint())));
            rest = later;
        }
        let print = |doc: &DocNo| Some((*prints.get(keys.get(doc)?)?, *doc));
        let split = |docs: &[DocNo]| {
            if let [_] = docs {
                return vec![docs.to_vec()];
            }
            let mut parts: Vec<(u64, DocNo)> = docs.iter().filter_map(print).collect();
            parts.sort_unstable();
            let parts = parts.chunk_by(|a, b| a.0 == b.0);
            parts.map(|part| part.iter().map(|(_, doc)| *doc).collect()).collect()
        };
        Ok(groups.iter().map(|docs| split(docs.as_ref())).collect())
    }

    /// The pairs with different texts, each pair of texts once.
    fn distinct(&self, pairs: &[(DocNo, DocNo)]) -> Result<Vec<Comparing>> {
        let keys = self.keys(pairs.iter().flat_map(|(a, b)| [*a, *b]).collect())?;
        let mut comparings: Vec<Comparing> = Vec::with_capacity(pairs.len());
        let mut known: FxHashMap<[TextKey; 2], usize> = FxHashMap::default();
        for (place, &(a, b)) in pairs.iter().enumerate() {
            let (Some(&of_a), Some(&of_b)) = (keys.get(&a), keys.get(&b)) else { continue };
            if of_a == of_b {
                continue;
            }
            let at = *known.entry([of_a, of_b]).or_insert(comparings.len());
            match comparings.get_mut(at) {
                Some(comparing) => comparing.places.push(place),
                None => {
                    let texts = [(of_a, a), (of_b, b)];
                    comparings.push(Comparing { texts, places: vec![place] });
                }
            }
        }
        Ok(comparings)
    }

    /// What identifies the texts of documents.
    fn keys(&self, mut docs: Vec<DocNo>) -> Result<FxHashMap<DocNo, TextKey>> {
        docs.sort_unstable();
        docs.dedup();
        let shared = pays(docs.len());
        let keyed = parallel::map(docs, shared, |doc| Ok((doc, self.source.key(doc)?)));
        keyed.into_iter().collect()
    }

    /// The number of items, at least one, whose elements a quarter of the room holds.
    fn fitting<I, const N: usize>(
        &self,
        items: &[I],
        texts: impl Fn(&I) -> [(TextKey, DocNo); N],
    ) -> usize {
        let most = self.source.room() as u64 / 4;
        let (mut counted, mut bytes) = (FxHashSet::default(), 0_u64);
        let fits = |item: &&I| {
            for (key, _) in texts(item) {
                if counted.insert(key) {
                    // A text has hardly more shingles than bytes.
                    bytes = bytes.saturating_add(key.1.saturating_mul(size_of::<u64>() as u64));
                }
            }
            bytes <= most
        };
        items.iter().take_while(fits).count().max(1)
    }

    /// The elements of texts, from the cache or from the source.
    fn elements(
        &self,
        texts: impl IntoIterator<Item = (TextKey, DocNo)>,
    ) -> Result<FxHashMap<TextKey, Arc<Elements>>> {
        let texts: FxHashMap<TextKey, DocNo> = texts.into_iter().collect();
        let shared = pays(texts.len());
        let read = parallel::map(texts.into_iter().collect(), shared, |(key, doc)| {
            Ok((key, self.cache.get_or(key, || self.source.elements(doc))?))
        });
        read.into_iter().collect()
    }
}

/// Whether this many texts are worth the distribution over threads.
fn pays(texts: usize) -> bool {
    texts >= LARGE_BATCH
}
