//! The documents of a batch with which later ones of the batch are compared.

use crate::error::Result;
use crate::estimate::equal_lanes;
use crate::hash::TextKey;
use crate::index::ask::exact_text::ExactText;
use crate::index::ask::score::Score;
use crate::index::ask::search::SearchPlan;
use crate::index::ask::verify::Elements;
use crate::index::write::expected::Expected;
use crate::index::write::members::Members;
use crate::store::{DocNo, Document};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::sync::Arc;

/// The documents of a batch that were not duplicates so far.
pub(super) struct Kept {
    /// Those that share a bucket with another document of the batch. No other is ever compared.
    documents: Vec<KeptDocument>,
    /// Positions in `documents`.
    members: RefCell<Members>,
    /// What was compared before.
    expected: Expected,
}

/// A document of the batch.
#[derive(Clone, Copy)]
pub(super) struct InBatch<'d> {
    /// Its place in the batch.
    pub(super) place: usize,
    pub(super) document: &'d Document,
    /// The buckets that it shares with others of the batch.
    pub(super) shared: &'d [u32],
}

/// A document of the batch that was kept.
pub(super) struct KeptDocument {
    /// The place in the batch.
    place: usize,
    pub(super) number: DocNo,
    pub(super) id: String,
    lanes: Box<[u8]>,
    text: Option<Arc<str>>,
    /// What identifies the text.
    key: TextKey,
}

impl Kept {
    /// Nothing yet of a batch with this many shared buckets.
    pub(super) fn new(shared_buckets: usize, expected: Expected) -> Self {
        let members = RefCell::new(Members::new(shared_buckets));
        Self { documents: Vec::new(), members, expected }
    }

    /// Adds a document, which gets this number.
    pub(super) fn add(&mut self, added: InBatch<'_>, number: u64) {
        let InBatch { place, document, shared } = added;
        if shared.is_empty() {
            return;
        }
        self.members.get_mut().add(shared);
        self.documents.push(KeptDocument {
            place,
            // Writing the document fails if the number does not fit.
            number: DocNo(number.try_into().unwrap_or(u32::MAX)),
            id: document.id.clone(),
            lanes: document.signature.lanes().into(),
            text: document.text.clone(),
            key: document.text_key(),
        });
    }

    /// The most similar of the kept documents for which `is_wanted` is true, ties by number, to a
    /// document of the batch.
    pub(super) fn best(
        &self,
        asking: InBatch<'_>,
        search_plan: SearchPlan,
        exact: Option<ExactText<'_>>,
        is_wanted: impl Fn(DocNo) -> bool,
    ) -> Result<Option<(Score, &KeptDocument)>> {
        let InBatch { place, document, shared } = asking;
        let lanes = document.signature.lanes();
        let mut members = self.members.borrow_mut();
        let candidates = members
            .of(shared)
            .filter_map(|at| self.documents.get(at as usize))
            .filter(|kept| !self.expected.covers(place, kept.place) && is_wanted(kept.number))
            .map(|kept| (equal_lanes(lanes, &kept.lanes), kept))
            .filter(|(equal, _)| *equal >= search_plan.least);
        let Some(exact) = exact else {
            let best = candidates.min_by_key(|(equal, kept)| (Reverse(*equal), kept.number));
            return Ok(best.map(|(equal, kept)| (Score::Estimated(equal), kept)));
        };
        let compared = self.expected.compared(place).iter();
        let compared = compared.filter_map(|(earlier, result)| {
            let kept = self.at_place(*earlier as usize).filter(|kept| is_wanted(kept.number))?;
            Some((exact.score(*result)?, kept))
        });
        let (mut best, mut ours) = (compared.reduce(better), None);
        for (_, kept) in candidates {
            let Some(text) = kept.text.as_deref() else { continue };
            let theirs = || Elements::of_stored(text, exact.sketcher);
            let comparison = exact.compare(&mut ours, kept.key, theirs)?;
            let Some(score) = exact.score(comparison) else { continue };
            best = Some(best.map_or((score, kept), |best| better(best, (score, kept))));
        }
        Ok(best)
    }

    /// The kept document at a place in the batch. Documents are kept in the order of their places.
    fn at_place(&self, place: usize) -> Option<&KeptDocument> {
        let at = self.documents.binary_search_by_key(&place, |kept| kept.place).ok()?;
        self.documents.get(at)
    }
}

/// The better one of two matches: the more similar one, or the one that came first.
fn better<'k>(
    a: (Score, &'k KeptDocument),
    b: (Score, &'k KeptDocument),
) -> (Score, &'k KeptDocument) {
    let order = b.0.order(a.0).then(a.1.number.cmp(&b.1.number));
    if order.is_gt() { b } else { a }
}
