//! The documents of a batch with which later ones of the batch are compared.

use crate::error::Result;
use crate::estimate::equal_lanes;
use crate::index::ask::matches::Score;
use crate::index::ask::search::{ExactText, SearchPlan};
use crate::index::ask::verify::Elements;
use crate::index::write::batch_buckets::BatchBuckets;
use crate::store::{DocNo, Document};
use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::sync::Arc;

/// The documents of a batch that were not duplicates so far.
pub(super) struct Kept {
    /// Those that share a bucket with another document of the batch. No other is ever compared.
    documents: Vec<KeptDocument>,
    /// Positions in `documents`, by the number of the shared bucket.
    buckets: Vec<Vec<u32>>,
    /// Which documents the search under way has met.
    met: RefCell<Met>,
    /// The size of all remembered elements in bytes, and the most that it may be.
    remembered: Cell<usize>,
    room: usize,
}

/// The kept documents that one search has met. Starting the next search takes constant time.
#[derive(Default)]
struct Met {
    /// The last search that met each document.
    last: Vec<u32>,
    search: u32,
}

impl Met {
    /// Forgets what the last search has met. A batch has fewer than 2^32 searches.
    fn start(&mut self) {
        self.search += 1;
    }

    /// Whether this search meets the document at this position for the first time.
    fn is_first(&mut self, at: u32) -> bool {
        let last = self.last.get_mut(at as usize);
        last.is_some_and(|last| std::mem::replace(last, self.search) != self.search)
    }
}

pub(super) struct KeptDocument {
    pub(super) number: DocNo,
    pub(super) id: String,
    lanes: Box<[u8]>,
    text: Option<Arc<str>>,
    /// The elements of the text, remembered after its first comparison.
    elements: OnceCell<Elements>,
}

impl Kept {
    /// Nothing yet of a batch with these buckets. The elements of its texts take at most `room`
    /// bytes.
    pub(super) fn new(buckets: &BatchBuckets, room: usize) -> Self {
        Self {
            documents: Vec::new(),
            buckets: vec![Vec::new(); buckets.shared_count()],
            met: RefCell::default(),
            remembered: Cell::new(0),
            room,
        }
    }

    /// Remembers the elements of a text while there is room.
    fn remember(&self, kept: &KeptDocument, elements: Elements) {
        let bytes = self.remembered.get() + elements.bytes();
        if bytes <= self.room && kept.elements.set(elements).is_ok() {
            self.remembered.set(bytes);
        }
    }

    /// Adds a document that gets this number, with the shared buckets that it is in.
    pub(super) fn add(&mut self, number: u64, document: &Document, shared: &[u32]) {
        if shared.is_empty() {
            return;
        }
        let lanes: Box<[u8]> = document.signature.lanes().into();
        let at = self.documents.len() as u32;
        for bucket in shared {
            if let Some(bucket) = self.buckets.get_mut(*bucket as usize) {
                bucket.push(at);
            }
        }
        // Writing the document fails if the number does not fit.
        let number = DocNo(number.try_into().unwrap_or(u32::MAX));
        let (id, text) = (document.id.clone(), document.text.clone());
        self.met.get_mut().last.push(0);
        self.documents.push(KeptDocument { number, id, lanes, text, elements: OnceCell::new() });
    }

    /// The most similar of the kept documents for which `counts` is true, ties by number, to a
    /// document that is in these shared buckets.
    pub(super) fn best(
        &self,
        document: &Document,
        shared: &[u32],
        search_plan: SearchPlan,
        exact: Option<ExactText<'_>>,
        counts: impl Fn(DocNo) -> bool,
    ) -> Result<Option<(Score, &KeptDocument)>> {
        let lanes = document.signature.lanes();
        let buckets = shared.iter().filter_map(|bucket| self.buckets.get(*bucket as usize));
        let mut met = self.met.borrow_mut();
        met.start();
        // A crowded bucket has thousands of documents that are in all other buckets too.
        let places = buckets.flatten().copied().filter(|at| met.is_first(*at));
        let candidates = places
            .filter_map(|at| self.documents.get(at as usize))
            .filter(|document| counts(document.number))
            .map(|document| (equal_lanes(lanes, &document.lanes), document))
            .filter(|(equal, _)| *equal >= search_plan.least);
        let Some(exact) = exact else {
            let best = candidates.min_by_key(|(equal, kept)| (Reverse(*equal), kept.number));
            return Ok(best.map(|(equal, kept)| (Score::Estimated(equal), kept)));
        };
        let mut asked = None;
        let mut best: Option<(Score, &KeptDocument)> = None;
        for (_, kept) in candidates {
            if asked.is_none() {
                asked = Some(Elements::of_stored(exact.text, exact.sketcher)?);
            }
            let Some(asked) = &asked else { continue };
            let Some(text) = kept.text.as_deref() else { continue };
            let comparison = match kept.elements.get() {
                Some(theirs) => asked.compare(theirs),
                None => {
                    let theirs = Elements::of_stored(text, exact.sketcher)?;
                    let comparison = asked.compare(&theirs);
                    self.remember(kept, theirs);
                    comparison
                }
            };
            let Some(score) = exact.score(comparison) else { continue };
            let is_better = best.is_none_or(|(most, first)| {
                let order = score.order(most);
                order.is_gt() || (order.is_eq() && kept.number < first.number)
            });
            if is_better {
                best = Some((score, kept));
            }
        }
        Ok(best)
    }
}
