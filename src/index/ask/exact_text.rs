//! Compares the text of a new document with documents of an index.

use crate::error::Result;
use crate::hash::TextKey;
use crate::index::ask::cache::Cache;
use crate::index::ask::score::{Candidate, Score};
use crate::index::ask::verify::{Comparison, Elements, text_key};
use crate::sketch::Sketcher;
use crate::store::{DocNo, View};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The elements of texts that were compared recently.
pub(crate) type ElementCache = Cache<TextKey, Elements>;

impl ElementCache {
    /// A cache of this many bytes. Threads look it up once for each text that they read or compare,
    /// so they share a single shard, which keeps texts of up to half its size.
    pub(crate) fn of_bytes(bytes: usize) -> Self {
        Self::new(bytes, 1)
    }
}

/// A text to compare exactly, and the minimum similarity.
#[derive(Clone, Copy)]
pub(crate) struct ExactText<'a> {
    pub(crate) text: &'a str,
    /// What identifies it.
    pub(crate) key: TextKey,
    pub(crate) sketcher: &'a Sketcher,
    pub(crate) threshold: f64,
    /// The least share of the text that a similar document contains, if one is asked for.
    pub(crate) contained: Option<f64>,
    pub(crate) elements: &'a ElementCache,
}

impl ExactText<'_> {
    /// The score of a document that is compared with the text, if it is similar enough and contains
    /// enough of it.
    pub(crate) fn score(&self, comparison: Comparison) -> Option<Score> {
        let Comparison { similarity, share } = comparison;
        let contains = self.contained.is_none_or(|least| share >= least);
        let score = || match self.contained {
            Some(_) => Score::Contained { similarity, share },
            None => Score::Exact(similarity),
        };
        (similarity >= self.threshold && contains).then(score)
    }

    /// Compares the text with another one, whose elements `theirs` makes. `ours` are those of this
    /// text, made on first use: the cache may have no room for them.
    pub(crate) fn compare(
        &self,
        ours: &mut Option<Arc<Elements>>,
        key: TextKey,
        theirs: impl FnOnce() -> Result<Elements>,
    ) -> Result<Comparison> {
        if key == self.key {
            return Ok(Comparison::OF_EQUALS);
        }
        let ours = match ours {
            Some(ours) => ours,
            None => {
                let make = || Elements::of_stored(self.text, self.sketcher);
                ours.insert(self.elements.get_or(self.key, make)?)
            }
        };
        Ok(ours.compare(&*self.elements.get_or(key, theirs)?))
    }

    /// Whether the text of a document has the same elements. `ours` is that of [`Self::compare`].
    pub(crate) fn equals(
        &self,
        ours: &mut Option<Arc<Elements>>,
        view: &View<'_>,
        doc: DocNo,
    ) -> Result<bool> {
        let theirs = || Elements::read(view, self.sketcher, doc);
        Ok(self.compare(ours, text_key(view, doc)?, theirs)?.similarity >= 1.0)
    }

    /// The `most` candidates with the highest exact similarity, ties by number. The caller passes
    /// candidates with the most equal lanes first, then by number.
    pub(crate) fn best(
        &self,
        view: &View<'_>,
        candidates: &[Candidate],
        most: usize,
    ) -> Result<Vec<(Score, DocNo)>> {
        let (mut best, mut ours): (Vec<(Score, DocNo)>, _) = (Vec::new(), None);
        let mut of_text: FxHashMap<TextKey, Comparison> = FxHashMap::default();
        for &(_, doc) in candidates {
            // Equal documents agree in all lanes, so they come first and in the order of their
            // numbers.
            if best.len() >= most && best.iter().all(|(score, _)| score.similarity(0) >= 1.0) {
                break;
            }
            let key = text_key(view, doc)?;
            let comparison = match of_text.get(&key) {
                Some(known) => *known,
                None => {
                    let theirs = || Elements::read(view, self.sketcher, doc);
                    *of_text.entry(key).or_insert(self.compare(&mut ours, key, theirs)?)
                }
            };
            if let Some(score) = self.score(comparison) {
                let at = best.partition_point(|(other, number)| {
                    other.order(score).is_gt() || (other.order(score).is_eq() && *number < doc)
                });
                best.insert(at, (score, doc));
                best.truncate(most);
            }
        }
        Ok(best)
    }
}
