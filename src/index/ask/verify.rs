//! Exact similarities, computed from the texts that an index stores.

use crate::error::Result;
use crate::estimate::{Overlap, WeightedOverlap};
use crate::hash::{TextKey, fmix64};
use crate::index::ask::cache::Cached;
use crate::index::ask::score::Candidate;
use crate::lsh::{Margin, Probe};
use crate::params::{Lanes, Recall, Threshold};
use crate::sketch::Sketcher;
use crate::store::{DocNo, Settings, View, parallel};
use crate::text::Content;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};

/// The elements of a document: its shingles or its weighted tokens, as hashes.
///
/// Two different shingles with the same 64-bit hash count as equal. Among a million pairs of texts
/// with a million shingles each, at most about one such collision is expected.
#[derive(Debug, PartialEq)]
pub(crate) enum Elements {
    /// The distinct hashes of the shingles, ascending. Each occurrence of an element in a multiset
    /// has its own hash, so this form serves multisets too.
    Set(Vec<u64>),
    /// The hashes of the tokens with their weights, by ascending hash.
    Weighted(Vec<(u64, f64)>),
}

impl Elements {
    /// The elements of a query's content.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`](crate::Error::NotWeights),
    /// [`Error::UnexpectedWeights`](crate::Error::UnexpectedWeights) or
    /// [`Error::UnexpectedTokens`](crate::Error::UnexpectedTokens) for content of a kind that the
    /// sketcher does not take.
    pub(crate) fn of(content: Content<'_>, sketcher: &Sketcher) -> Result<Self> {
        sketcher.check_content(content)?;
        match content {
            Content::Weights(weights) => Ok(Self::Weighted(sketcher.shingler().weights(weights))),
            text => Ok(Self::Set(sketcher.shingler().set(&text.stored()))),
        }
    }

    /// The elements of a document that is given in its stored form.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`](crate::Error::NotWeights) if the sketcher takes weighted sets and the
    /// text is not the stored form of one.
    pub(crate) fn of_stored(text: &str, sketcher: &Sketcher) -> Result<Self> {
        if sketcher.is_weighted() {
            Ok(Self::Weighted(sketcher.shingler().stored_weights(text)?))
        } else {
            Ok(Self::Set(sketcher.shingler().set(text)))
        }
    }

    /// The elements of a document of the index, from its stored text.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged), also if the text is not of the kind that the
    /// index stores, or [`Error::Io`](crate::Error::Io).
    pub(crate) fn read(view: &View<'_>, sketcher: &Sketcher, doc: DocNo) -> Result<Self> {
        Self::of_stored(&view.text(doc)?, sketcher)
            .map_err(|_| view.damaged_text(doc, "not the stored form of a weighted set"))
    }

    /// The Jaccard similarity, and the share of these elements that `other` contains. Elements of
    /// different kinds have nothing in common.
    pub(crate) fn compare(&self, other: &Self) -> Comparison {
        match (self, other) {
            (Self::Set(a), Self::Set(b)) => {
                let overlap = Overlap::of_ascending(a, b);
                Comparison { similarity: overlap.similarity(), share: overlap.a_in_b() }
            }
            (Self::Weighted(a), Self::Weighted(b)) => {
                let overlap = WeightedOverlap::of_ascending(a, b);
                Comparison { similarity: overlap.similarity(), share: overlap.a_in_b() }
            }
            _ => Comparison::OF_STRANGERS,
        }
    }

    /// A hash of all elements.
    pub(crate) fn hash_of_all(&self) -> u64 {
        let chained = |hash: u64, element: u64| fmix64(hash ^ element);
        match self {
            Self::Set(hashes) => hashes.iter().copied().fold(hashes.len() as u64, chained),
            Self::Weighted(weights) => weights
                .iter()
                .flat_map(|(hash, weight)| [*hash, weight.to_bits()])
                .fold(weights.len() as u64, chained),
        }
    }
}

impl Cached for Elements {
    fn bytes(&self) -> usize {
        match self {
            Self::Set(hashes) => hashes.capacity() * size_of::<u64>(),
            Self::Weighted(weights) => weights.capacity() * size_of::<(u64, f64)>(),
        }
    }
}

/// The exact result of comparing two documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    pub(crate) similarity: f64,
    /// The share of the first that the second contains.
    pub(crate) share: f64,
}

impl Comparison {
    /// The result for equal texts.
    pub(crate) const OF_EQUALS: Self = Self { similarity: 1.0, share: 1.0 };

    /// The result for texts that have nothing in common.
    pub(crate) const OF_STRANGERS: Self = Self { similarity: 0.0, share: 0.0 };
}

/// The text of a query, for comparisons with stored texts.
#[derive(Debug)]
pub(crate) struct AskedText {
    elements: Elements,
    key: TextKey,
}

impl AskedText {
    /// The text of this content, of a kind that the sketcher takes.
    ///
    /// # Errors
    ///
    /// Those of [`Elements::of`].
    pub(crate) fn of(content: Content<'_>, sketcher: &Sketcher) -> Result<Self> {
        let elements = Elements::of(content, sketcher)?;
        let stored = content.stored();
        Ok(Self { elements, key: TextKey::of(&stored) })
    }

    /// The text of a document of the index.
    ///
    /// # Errors
    ///
    /// Those of [`Elements::read`].
    pub(crate) fn read(view: &View<'_>, sketcher: &Sketcher, doc: DocNo) -> Result<Self> {
        Ok(Self { elements: Elements::read(view, sketcher, doc)?, key: text_key(view, doc)? })
    }

    /// Compares it with the text of a document.
    pub(crate) fn compare(
        &self,
        view: &View<'_>,
        sketcher: &Sketcher,
        doc: DocNo,
    ) -> Result<Comparison> {
        Ok(self.elements.compare(&Elements::read(view, sketcher, doc)?))
    }

    /// Compares it with the text of a document, which this key identifies. Does not read it if the
    /// texts are equal.
    fn similarity(
        &self,
        view: &View<'_>,
        sketcher: &Sketcher,
        key: TextKey,
        doc: DocNo,
    ) -> Result<f64> {
        if key == self.key {
            Ok(Comparison::OF_EQUALS.similarity)
        } else {
            Ok(self.compare(view, sketcher, doc)?.similarity)
        }
    }
}

/// The similarities of a text to those of documents. Each text is read and compared once.
pub(crate) struct Similarities<'a> {
    view: &'a View<'a>,
    sketcher: &'a Sketcher,
    asked: &'a AskedText,
    of_text: FxHashMap<TextKey, f64>,
}

impl<'a> Similarities<'a> {
    pub(crate) fn new(view: &'a View<'a>, sketcher: &'a Sketcher, asked: &'a AskedText) -> Self {
        Self { view, sketcher, asked, of_text: FxHashMap::default() }
    }

    pub(crate) fn lanes(&self) -> Lanes {
        self.sketcher.width()
    }

    /// The exact similarity of a document.
    pub(crate) fn of(&mut self, doc: DocNo) -> Result<f64> {
        let key = text_key(self.view, doc)?;
        match self.of_text.entry(key) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(unknown) => {
                let exact = self.asked.similarity(self.view, self.sketcher, key, doc)?;
                Ok(*unknown.insert(exact))
            }
        }
    }
}

/// The number of texts from which on it pays to detect equal texts first and to use more threads.
/// Reading and comparing one text takes 10 us or more.
pub(crate) const LARGE_BATCH: usize = 16;

pub(crate) fn text_key(view: &View<'_>, doc: DocNo) -> Result<TextKey> {
    Ok(view.document(doc)?.text_key())
}

/// The candidates whose exact similarity is at least the threshold, in the given order.
pub(crate) fn verified(
    view: &View<'_>,
    sketcher: &Sketcher,
    asked: &AskedText,
    candidates: &[Candidate],
    threshold: f64,
) -> Result<Vec<(f64, DocNo)>> {
    let exact = |key: TextKey, doc: DocNo| asked.similarity(view, sketcher, key, doc);
    let mut found: Vec<(f64, DocNo)> = if candidates.len() < LARGE_BATCH {
        let exact = |&(_, doc): &Candidate| Ok((exact(text_key(view, doc)?, doc)?, doc));
        candidates.iter().map(exact).collect::<Result<_>>()?
    } else {
        let key = |(_, doc): &Candidate| Ok((text_key(view, *doc)?, *doc));
        let keys = parallel::try_map(candidates.iter().collect(), key)?;
        let texts: FxHashMap<TextKey, DocNo> = keys.iter().copied().collect();
        let exact = |(key, doc)| Ok((key, exact(key, doc)?));
        let of_text = parallel::try_map(texts.into_iter().collect(), exact)?;
        let of_text: FxHashMap<TextKey, f64> = of_text.into_iter().collect();
        keys.iter().filter_map(|(key, doc)| Some((*of_text.get(key)?, *doc))).collect()
    };
    found.retain(|(similarity, _)| *similarity >= threshold);
    Ok(found)
}

/// The margin of the last query. Computing one takes about 0.1 ms, and successive queries mostly
/// use the same parameters.
#[derive(Debug, Default)]
pub(crate) struct Margins(Mutex<Option<(MarginKey, Margin)>>);

/// What a margin depends on besides the settings of the index.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MarginKey {
    threshold: Threshold,
    recall: Recall,
    scan: bool,
}

impl Margins {
    /// The margin that decides which candidates must be verified for a threshold.
    pub(crate) fn of(
        &self,
        settings: &Settings,
        threshold: Threshold,
        recall: Recall,
        scan: bool,
    ) -> Margin {
        let asked = MarginKey { threshold, recall, scan };
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *last {
            Some((before, margin)) if before == asked => margin,
            _ => {
                let probe = Probe::of(settings.plan, threshold, recall);
                let margin = if scan {
                    Margin::of_scan(settings.lanes, threshold, Recall::CERTAIN)
                } else {
                    Margin::of_probe(probe, settings.lanes, threshold, recall)
                };
                last.insert((asked, margin)).1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::index::Index;
    use crate::text::Weights;

    #[test]
    fn a_stored_text_that_is_not_a_weighted_set_is_reported_as_damage() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let options = Index::options().weighted(true).store_text(true).threshold(0.5);
        let index = options.create(folder.path().join("weights.twx")).expect("created");
        let weights = Weights::new([("sea", 2.5), ("ship", 0.5)]).expect("weights");
        let mut document = index.prepare("a", &weights).expect("prepared");
        document.text = Some("no weights".into());
        let mut txn = index.begin_write().expect("begun");
        txn.insertion().document(document).expect("inserted");
        let others = Weights::new([("sea", 2.5), ("ship", 0.75)]).expect("weights");
        let checked = txn.insert_unless_similar("b", &others);
        assert!(matches!(checked, Err(Error::Damaged { table: "texts", .. })), "{checked:?}");
        txn.commit().expect("committed");
        let snapshot = index.snapshot().expect("a snapshot");
        for error in [
            snapshot.query().by_content(&others).expect_err("damage"),
            snapshot.query().by_id("a").expect_err("damage"),
            snapshot.weights("a").expect_err("damage"),
        ] {
            assert!(matches!(error, Error::Damaged { table: "texts", .. }), "{error}");
        }
    }
}
