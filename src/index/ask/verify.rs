//! Exact similarities, from the texts that an index stores.

use crate::error::Result;
use crate::estimate::{Overlap, weighted_jaccard};
use crate::hash::fmix64;
use crate::index::ask::search::Scored;
use crate::index::snapshot::Snapshot;
use crate::lsh::{Margin, Probe};
use crate::params::{Recall, Threshold};
use crate::sketch::Sketcher;
use crate::store::{ChunkTable, DocNo, DocTable, Settings, View};
use crate::text::Content;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What a text is made of, ready to be compared.
///
/// Two shingles with one hash of 64 bits would count as the same: in a million pairs of texts of a
/// million shingles that is to be expected once or never.
#[derive(Debug, PartialEq)]
pub(crate) enum Elements {
    /// The hashes of its shingles, ascending, each once. Of a multiset every occurrence has a hash of
    /// its own, so that sets of them are enough.
    Set(Vec<u64>),
    /// Tokens with their weights, by ascending hash.
    Weighted(Vec<(u64, f64)>),
}

impl Elements {
    /// Of content that is asked about.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`](crate::Error::NotWeights),
    /// [`Error::UnexpectedWeights`](crate::Error::UnexpectedWeights) or
    /// [`Error::UnexpectedTokens`](crate::Error::UnexpectedTokens) for content of another kind.
    pub(crate) fn of(content: Content<'_>, sketcher: &Sketcher) -> Result<Self> {
        sketcher.takes(content)?;
        match content {
            Content::Weights(weights) => Ok(Self::Weighted(sketcher.shingler().weights(weights))),
            text => Ok(Self::of_set(&text.stored(), sketcher)),
        }
    }

    /// Of a document on its way in, that is given by its stored text.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`](crate::Error::NotWeights) for a text that is not that of a weighted set,
    /// from a sketcher of these.
    pub(crate) fn of_stored(text: &str, sketcher: &Sketcher) -> Result<Self> {
        match sketcher.is_weighted() {
            true => Ok(Self::Weighted(sketcher.shingler().stored_weights(text)?)),
            false => Ok(Self::of_set(text, sketcher)),
        }
    }

    /// Of a document of an index, from the text that is stored of it.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged), also for a text that is not what the index stores;
    /// [`Error::Io`](crate::Error::Io).
    pub(crate) fn read<P: ChunkTable, D: DocTable>(
        view: &View<'_, P, D>,
        sketcher: &Sketcher,
        doc: DocNo,
    ) -> Result<Self> {
        Self::of_stored(&view.text(doc)?, sketcher)
            .map_err(|_| view.damaged_text(doc, "not the text of a weighted set"))
    }

    fn of_set(text: &str, sketcher: &Sketcher) -> Self {
        let mut hashes = sketcher.shingler().hashes(text);
        hashes.sort_unstable();
        hashes.dedup();
        hashes.shrink_to_fit();
        Self::Set(hashes)
    }

    /// The similarity to others of the same index, and the share of these that the others contain.
    pub(crate) fn compare(&self, other: &Self) -> Comparison {
        match (self, other) {
            (Self::Set(a), Self::Set(b)) => {
                let overlap = Overlap::of_sets(a, b);
                Comparison { similarity: overlap.similarity(), share: overlap.a_in_b() }
            }
            (Self::Weighted(a), Self::Weighted(b)) => {
                let similarity = weighted_jaccard(a, b);
                let sum = |weights: &[(u64, f64)]| weights.iter().map(|(_, w)| w).sum::<f64>();
                let (of_a, of_b) = (sum(a), sum(b));
                // The sum of the lesser weights, m, from J = m / (a + b - m).
                let share = (1.0 + of_b / of_a) * similarity / (1.0 + similarity);
                Comparison { similarity, share: if of_a > 0.0 { share.min(1.0) } else { 0.0 } }
            }
            _ => Comparison { similarity: 0.0, share: 0.0 },
        }
    }

    /// A hash of all of them.
    fn fingerprint(&self) -> u64 {
        let chained = |hash: u64, element: u64| fmix64(hash ^ element);
        match self {
            Self::Set(hashes) => hashes.iter().copied().fold(hashes.len() as u64, chained),
            Self::Weighted(weights) => weights
                .iter()
                .flat_map(|(hash, weight)| [*hash, weight.to_bits()])
                .fold(weights.len() as u64, chained),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Set(hashes) => size_of_val(&hashes[..]),
            Self::Weighted(weights) => size_of_val(&weights[..]),
        }
    }
}

/// How two texts compare, exactly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    pub(crate) similarity: f64,
    /// The share of the first that the second contains.
    pub(crate) share: f64,
}

/// Compares what is asked about with a document.
pub(crate) fn compare<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    sketcher: &Sketcher,
    asked: &Elements,
    doc: DocNo,
) -> Result<Comparison> {
    Ok(asked.compare(&Elements::read(view, sketcher, doc)?))
}

/// A text takes some 10 us and more to be read and compared. From so many on it is worth to look for equal
/// ones first, and to call other threads.
const MANY: usize = 16;

/// What tells equal texts: their hash and length.
type TextKey = (u64, u64);

fn text_key<P: ChunkTable, D: DocTable>(view: &View<'_, P, D>, doc: DocNo) -> Result<TextKey> {
    let record = view.document(doc)?;
    Ok((record.text_hash, record.text_length))
}

/// Those of the candidates whose exact similarity is at least the threshold, in their order.
pub(crate) fn verified<P: ChunkTable + Sync, D: DocTable + Sync>(
    view: &View<'_, P, D>,
    sketcher: &Sketcher,
    asked: &Elements,
    candidates: &[Scored],
    threshold: f64,
) -> Result<Vec<(f64, DocNo)>> {
    let exact = |doc: DocNo| Ok(compare(view, sketcher, asked, doc)?.similarity);
    let mut found: Vec<(f64, DocNo)> = if candidates.len() < MANY {
        candidates.iter().map(|(_, doc)| Ok((exact(*doc)?, *doc))).collect::<Result<_>>()?
    } else {
        let keys = candidates.par_iter().map(|(_, doc)| Ok((text_key(view, *doc)?, *doc)));
        let keys = keys.collect::<Result<Vec<(TextKey, DocNo)>>>()?;
        let texts: FxHashMap<TextKey, DocNo> = keys.iter().copied().collect();
        let of_text = texts.par_iter().map(|(key, doc)| Ok((*key, exact(*doc)?)));
        let of_text = of_text.collect::<Result<FxHashMap<TextKey, f64>>>()?;
        keys.iter().filter_map(|(key, doc)| Some((*of_text.get(key)?, *doc))).collect()
    };
    found.retain(|(similarity, _)| *similarity >= threshold);
    Ok(found)
}

/// The most similar of the candidates, among equals the one with the least number; none below the
/// threshold. Candidates come with the most equal lanes first, then by number.
pub(crate) fn best<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    sketcher: &Sketcher,
    asked: &Elements,
    candidates: &[Scored],
    (threshold, most): (f64, usize),
) -> Result<Vec<(f64, DocNo)>> {
    let mut best: Vec<(f64, DocNo)> = Vec::new();
    let mut of_text: FxHashMap<TextKey, f64> = FxHashMap::default();
    for &(_, doc) in candidates {
        // What is equal has all lanes equal and so comes first, by number.
        if best.len() >= most && best.iter().all(|(similarity, _)| *similarity >= 1.0) {
            break;
        }
        let exact = || Ok(compare(view, sketcher, asked, doc)?.similarity);
        let similarity = match candidates.len() {
            0..MANY => exact()?,
            _ => once(&mut of_text, text_key(view, doc)?, exact)?,
        };
        if similarity >= threshold {
            let at = best.partition_point(|(other, number)| {
                *other > similarity || (*other == similarity && *number < doc)
            });
            best.insert(at, (similarity, doc));
            best.truncate(most);
        }
    }
    Ok(best)
}

/// The similarity of a text, found out when it is met first.
fn once(
    of_text: &mut FxHashMap<TextKey, f64>,
    key: TextKey,
    exact: impl FnOnce() -> Result<f64>,
) -> Result<f64> {
    if let Some(similarity) = of_text.get(&key) {
        return Ok(*similarity);
    }
    let similarity = exact()?;
    of_text.insert(key, similarity);
    Ok(similarity)
}

/// The margins of what was asked last: each takes some 0.1 ms to find, and questions come in rows.
#[derive(Debug, Default)]
pub(crate) struct Margins(Mutex<Option<(Asked, Margin)>>);

/// What a margin depends on beside the settings of the index.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    threshold: Threshold,
    recall: Recall,
    scan: bool,
}

impl Margins {
    /// Which candidates of a threshold are to be verified.
    pub(crate) fn of(
        &self,
        settings: &Settings,
        threshold: Threshold,
        recall: Recall,
        scan: bool,
    ) -> Margin {
        let asked = Asked { threshold, recall, scan };
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *last {
            Some((before, margin)) if before == asked => margin,
            _ => {
                let probe = Probe::of(settings.plan, threshold, recall);
                let margin = match scan {
                    true => Margin::of_scan(settings.lanes, threshold, recall),
                    false => Margin::of_probe(probe, settings.lanes, threshold, recall),
                };
                last.insert((asked, margin)).1
            }
        }
    }
}

/// Exact similarities of the documents of a snapshot. Elements that were needed lately are kept, as
/// many as the cache of the index has room for.
pub(crate) struct Verifier<'s> {
    snapshot: &'s Snapshot,
    /// Those that were needed lately, and those that were needed before them.
    young: FxHashMap<DocNo, Arc<Elements>>,
    old: FxHashMap<DocNo, Arc<Elements>>,
    /// What the young ones take.
    bytes: usize,
}

impl<'s> Verifier<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, young: FxHashMap::default(), old: FxHashMap::default(), bytes: 0 }
    }

    /// The exact similarity of two documents.
    pub(crate) fn similarity(&mut self, a: DocNo, b: DocNo) -> Result<f64> {
        let (a, b) = (self.elements(a)?, self.elements(b)?);
        Ok(a.compare(&b).similarity)
    }

    /// Keeps those of the others that are similar to a document, or are itself.
    pub(crate) fn retain_similar(
        &mut self,
        doc: DocNo,
        others: &mut Vec<DocNo>,
        threshold: f64,
    ) -> Result<()> {
        let mut of_text: FxHashMap<TextKey, f64> = FxHashMap::default();
        let (many, mut kept) = (others.len() >= MANY, 0);
        for at in 0..others.len() {
            let other = others[at];
            let similar = other == doc || {
                let similarity = match many {
                    true => {
                        let key = text_key(&self.snapshot.view(), other)?;
                        once(&mut of_text, key, || self.similarity(doc, other))?
                    }
                    false => self.similarity(doc, other)?,
                };
                similarity >= threshold
            };
            others[kept] = other;
            kept += usize::from(similar);
        }
        others.truncate(kept);
        Ok(())
    }

    /// Parts documents into those whose elements are all the same, in an order that is theirs, not
    /// that of their numbers. Equal texts are read once.
    pub(crate) fn alike(&mut self, docs: &[DocNo]) -> Result<Vec<Vec<DocNo>>> {
        if let [_] = docs {
            return Ok(vec![docs.to_vec()]);
        }
        let mut of_text: FxHashMap<TextKey, u64> = FxHashMap::default();
        let mut parts: Vec<(u64, DocNo)> = Vec::with_capacity(docs.len());
        for &doc in docs {
            let text = text_key(&self.snapshot.view(), doc)?;
            let fingerprint = match of_text.get(&text) {
                Some(fingerprint) => *fingerprint,
                None => {
                    let fingerprint = self.elements(doc)?.fingerprint();
                    of_text.insert(text, fingerprint);
                    fingerprint
                }
            };
            parts.push((fingerprint, doc));
        }
        parts.sort_unstable();
        let parts = parts.chunk_by(|a, b| a.0 == b.0);
        Ok(parts.map(|part| part.iter().map(|(_, doc)| *doc).collect()).collect())
    }

    fn elements(&mut self, doc: DocNo) -> Result<Arc<Elements>> {
        if let Some(elements) = self.young.get(&doc) {
            return Ok(Arc::clone(elements));
        }
        let elements = match self.old.remove(&doc) {
            Some(elements) => elements,
            None => {
                let sketcher = self.snapshot.sketcher();
                Arc::new(Elements::read(&self.snapshot.view(), sketcher, doc)?)
            }
        };
        /// What a document takes beside its elements.
        const BESIDE: usize = 64;
        self.bytes += elements.bytes() + BESIDE;
        if 2 * self.bytes > self.snapshot.reader().engine().cache_bytes() {
            self.old = std::mem::take(&mut self.young);
            self.bytes = elements.bytes() + BESIDE;
        }
        self.young.insert(doc, Arc::clone(&elements));
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::index::Index;
    use crate::text::Weights;

    #[test]
    fn a_stored_text_that_is_no_weighted_set_is_damage() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = Index::options().weighted(true).store_text(true).threshold(0.5);
        let index = options.create(folder.path().join("weights.twx")).expect("created");
        let weights = Weights::new([("sea", 2.5), ("ship", 0.5)]).expect("weights");
        let mut document = index.prepare("a", &weights).expect("prepared");
        document.text = Some("no weights".into());
        let mut txn = index.begin_write().expect("begun");
        txn.insertion().document(document).expect("inserted");
        let checked = txn.insert_unless_similar("b", &weights);
        assert!(matches!(checked, Err(Error::Damaged { table: "texts", .. })), "{checked:?}");
        txn.commit().expect("committed");
        let snapshot = index.snapshot().expect("a snapshot");
        for error in [
            snapshot.query().by_content(&weights).expect_err("damage"),
            snapshot.query().by_id("a").expect_err("damage"),
            snapshot.weights("a").expect_err("damage"),
        ] {
            assert!(matches!(error, Error::Damaged { table: "texts", .. }), "{error}");
        }
    }
}
