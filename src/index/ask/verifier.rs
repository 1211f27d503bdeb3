//! Compares texts, many pairs at a time.

use crate::error::Result;
use crate::hash::TextKey;
use crate::index::ask::exact_text::ElementCache;
use crate::index::ask::verify::{Comparison, Elements, LARGE_BATCH, text_key};
use crate::index::snapshot::Snapshot;
use crate::store::{DocNo, parallel};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::Hash;
use std::sync::Arc;

/// Where the texts of documents come from.
pub(crate) trait Texts: Sync {
    /// The number of a document there.
    type Number: Copy + Ord + Hash + Send + Sync;

    /// What identifies the text of a document.
    fn key(&self, doc: Self::Number) -> Result<TextKey>;

    /// The elements of the text of a document.
    fn elements(&self, doc: Self::Number) -> Result<Elements>;
}

impl Texts for &Snapshot {
    type Number = DocNo;

    fn key(&self, doc: DocNo) -> Result<TextKey> {
        text_key(&self.view(), doc)
    }

    fn elements(&self, doc: DocNo) -> Result<Elements> {
        Elements::read(&self.view(), self.sketcher(), doc)
    }
}

/// Compares documents exactly, on all threads. Elements that are being compared take up to a
/// quarter of the room of the cache besides.
pub(crate) struct Verifier<T> {
    source: T,
    cache: Arc<ElementCache>,
}

/// The distinct texts of some documents. They are numbered from 0 on.
struct Numbered<D> {
    texts: Vec<(TextKey, D)>,
    /// The number of the text of each document.
    of: FxHashMap<D, usize>,
}

impl<D: Copy> Numbered<D> {
    /// The text with a number.
    fn text(&self, number: usize) -> Option<(TextKey, D)> {
        self.texts.get(number).copied()
    }
}

impl<'s> Verifier<&'s Snapshot> {
    /// Compares documents of a snapshot. The cache is as large as that of the index.
    pub(crate) fn of(snapshot: &'s Snapshot) -> Self {
        let bytes = snapshot.reader().engine().cache_bytes();
        Self::new(snapshot, Arc::new(ElementCache::of_bytes(bytes)))
    }
}

impl<T: Texts> Verifier<T> {
    pub(crate) fn new(source: T, cache: Arc<ElementCache>) -> Self {
        Self { source, cache }
    }

    /// Compares pairs of documents. Returns the results in their order.
    pub(crate) fn compare(&self, pairs: &[(T::Number, T::Number)]) -> Result<Vec<Comparison>> {
        let texts = self.numbered(pairs.iter().flat_map(|(a, b)| [*a, *b]).collect())?;
        // Each pair of texts is compared once.
        let mut distinct: Vec<[usize; 2]> = Vec::with_capacity(pairs.len());
        let mut known = FxHashMap::with_capacity_and_hasher(pairs.len(), FxBuildHasher);
        let mut place = |(a, b): &(T::Number, T::Number)| {
            let both = [*texts.of.get(a)?, *texts.of.get(b)?];
            (both[0] != both[1]).then(|| {
                *known.entry(both).or_insert_with(|| {
                    distinct.push(both);
                    distinct.len() - 1
                })
            })
        };
        let places: Vec<Option<usize>> = pairs.iter().map(&mut place).collect();
        let mut results = Vec::with_capacity(distinct.len());
        let mut rest = &distinct[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.fitting(&texts, rest));
            let elements = self.elements(&texts, now.as_flattened())?;
            results.extend(parallel::map(now.to_vec(), pays(now.len()), |both| {
                let [a, b] = both.map(|text| elements.get(&text));
                a.zip(b).map_or(Comparison::OF_STRANGERS, |(a, b)| a.compare(b))
            }));
            rest = later;
        }
        let result = |place: Option<usize>| place.and_then(|place| results.get(place).copied());
        Ok(places.into_iter().map(|place| result(place).unwrap_or(Comparison::OF_EQUALS)).collect())
    }

    /// Splits documents into parts with equal elements, as [`split_all`](Self::split_all).
    pub(crate) fn split_by_content(&self, docs: &[T::Number]) -> Result<Vec<Vec<T::Number>>> {
        Ok(self.split_all(&[docs])?.pop().unwrap_or_default())
    }

    /// Splits each group of documents into parts with equal elements. The order of the parts
    /// depends on the elements, not on the numbers. Reads each distinct text once, and none of a
    /// group whose texts are all equal.
    pub(crate) fn split_all<G: AsRef<[T::Number]>>(
        &self,
        groups: &[G],
    ) -> Result<Vec<Vec<Vec<T::Number>>>> {
        let large = groups.iter().map(AsRef::as_ref).filter(|docs| docs.len() > 1);
        let texts = self.numbered(large.flatten().copied().collect())?;
        let number = |doc: &T::Number| texts.of.get(doc).copied();
        let is_mixed =
            |docs: &&[T::Number]| docs.windows(2).any(|two| number(&two[0]) != number(&two[1]));
        let mixed = groups.iter().map(AsRef::as_ref).filter(is_mixed);
        let mut numbers: Vec<[usize; 1]> =
            mixed.flatten().filter_map(|doc| number(doc).map(|number| [number])).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut prints: FxHashMap<usize, u64> = FxHashMap::default();
        let mut rest = &numbers[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.fitting(&texts, rest));
            let elements = self.elements(&texts, now.as_flattened())?;
            prints.extend(elements.iter().map(|(text, elements)| (*text, elements.hash_of_all())));
            rest = later;
        }
        let print = |doc: &T::Number| Some((*prints.get(texts.of.get(doc)?)?, *doc));
        let split = |docs: &[T::Number]| {
            if !is_mixed(&docs) {
                return vec![docs.to_vec()];
            }
            let mut parts: Vec<(u64, T::Number)> = docs.iter().filter_map(print).collect();
            parts.sort_unstable();
            let parts = parts.chunk_by(|a, b| a.0 == b.0);
            parts.map(|part| part.iter().map(|(_, doc)| *doc).collect()).collect()
        };
        Ok(groups.iter().map(|docs| split(docs.as_ref())).collect())
    }

    /// The texts of documents.
    fn numbered(&self, mut docs: Vec<T::Number>) -> Result<Numbered<T::Number>> {
        docs.sort_unstable();
        docs.dedup();
        let shared = pays(docs.len());
        let keyed = parallel::map(docs, shared, |doc| Ok((self.source.key(doc)?, doc)));
        let keyed = keyed.into_iter().collect::<Result<Vec<(TextKey, T::Number)>>>()?;
        let with_room = |length| FxHashMap::with_capacity_and_hasher(length, FxBuildHasher);
        let mut numbered = Numbered { texts: Vec::new(), of: with_room(keyed.len()) };
        let mut known: FxHashMap<TextKey, usize> =
            FxHashMap::with_capacity_and_hasher(keyed.len(), FxBuildHasher);
        for (key, doc) in keyed {
            let number = *known.entry(key).or_insert_with(|| {
                numbered.texts.push((key, doc));
                numbered.texts.len() - 1
            });
            numbered.of.insert(doc, number);
        }
        Ok(numbered)
    }

    /// How many of the first of these groups of texts have elements that fit into a quarter of the
    /// room of the cache; at least one.
    fn fitting<const N: usize>(&self, texts: &Numbered<T::Number>, groups: &[[usize; N]]) -> usize {
        let most = self.cache.room() as u64 / 4;
        let (mut counted, mut bytes) = (FxHashSet::default(), 0_u64);
        let fits = |group: &&[usize; N]| {
            for number in *group {
                if counted.insert(*number) {
                    // A text has hardly more shingles than bytes.
                    let length = texts.text(*number).map_or(0, |(text, _)| text.length);
                    bytes = bytes.saturating_add(length.saturating_mul(size_of::<u64>() as u64));
                }
            }
            bytes <= most
        };
        groups.iter().take_while(fits).count().max(1)
    }

    /// The elements of texts with these numbers, from the cache or from the source.
    fn elements(
        &self,
        texts: &Numbered<T::Number>,
        numbers: &[usize],
    ) -> Result<FxHashMap<usize, Arc<Elements>>> {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        let texts = numbers.into_iter().filter_map(|number| Some((number, texts.text(number)?)));
        let texts: Vec<(usize, (TextKey, T::Number))> = texts.collect();
        let shared = pays(texts.len());
        let read = parallel::map(texts, shared, |(number, (key, doc))| {
            Ok((number, self.cache.get_or(key, || self.source.elements(doc))?))
        });
        read.into_iter().collect()
    }
}

/// Whether this many texts are worth the distribution over threads.
fn pays(texts: usize) -> bool {
    texts >= LARGE_BATCH
}
