//! Compares the texts of a batch before its documents are judged, on all threads.
//!
//! Documents are judged one after the other, because those that are kept decide about later ones.
//! Estimates foretell which are kept. Where they are wrong, the judge compares texts itself, so
//! they change no result.

use crate::error::Result;
use crate::estimate::equal_lanes;
use crate::hash::TextKey;
use crate::index::ask::exact_text::ElementCache;
use crate::index::ask::verifier::{Texts, Verifier};
use crate::index::ask::verify::{Comparison, Elements};
use crate::index::write::batch_buckets::BatchBuckets;
use crate::index::write::members::Members;
use crate::sketch::Sketcher;
use crate::store::{Document, Grouped};
use std::sync::Arc;

/// The comparisons that a judge is expected to ask for.
pub(super) struct Expected {
    /// The earlier documents that each document was compared with, ascending, by their places in
    /// the batch.
    compared: Grouped<(u32, Comparison)>,
    /// Whether each document is expected to be kept; `None` if it was not compared. The last ones
    /// may be missing.
    kept: Vec<Option<bool>>,
}

/// A document of a batch, as far as it is known before the batch is judged.
#[derive(Clone, Copy)]
pub(super) enum Outlook {
    /// It is not compared with others.
    Ignored,
    /// It duplicates a document that was there before.
    Duplicate,
    /// It is kept if no earlier document of the batch is similar.
    Open,
}

/// By what documents are compared.
#[derive(Clone, Copy)]
pub(super) struct Rule<'c> {
    /// The number of equal lanes from which on texts are compared.
    pub(super) least: usize,
    /// The number of equal lanes from which on documents are similar by estimate.
    pub(super) similar: usize,
    pub(super) sketcher: &'c Sketcher,
    pub(super) elements: &'c Arc<ElementCache>,
}

/// The place of a document in its batch, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place(u32);

/// The texts of a batch, by places in it.
struct BatchTexts<'b> {
    documents: &'b [&'b Document],
    rule: Rule<'b>,
}

impl Texts for BatchTexts<'_> {
    type Number = Place;

    fn key(&self, place: Place) -> Result<TextKey> {
        let document = self.documents.get(place.0 as usize);
        let key = document.map(|document| document.text_key());
        Ok(key.unwrap_or_else(|| TextKey::of("")))
    }

    fn elements(&self, place: Place) -> Result<Elements> {
        let document = self.documents.get(place.0 as usize);
        let text = document.and_then(|document| document.text.as_deref()).unwrap_or_default();
        Elements::of_stored(text, self.rule.sketcher)
    }
}

impl Expected {
    /// Nothing.
    pub(super) fn nothing() -> Self {
        Self { compared: Grouped::new(Vec::new(), 0), kept: Vec::new() }
    }

    /// Compares the documents of a batch, which has these buckets, with those that will probably be
    /// kept.
    pub(super) fn compare(
        documents: &[&Document],
        outlook: &[Outlook],
        buckets: &BatchBuckets,
        rule: Rule<'_>,
    ) -> Result<Self> {
        let (pairs, kept) = pairs(documents, outlook, buckets, rule);
        /// The number of pairs that are compared together.
        const TOGETHER: usize = 4096;
        let verifier = Verifier::new(BatchTexts { documents, rule }, Arc::clone(rule.elements));
        let mut compared = Vec::with_capacity(pairs.len());
        for together in pairs.chunks(TOGETHER) {
            let results = verifier.compare(together)?;
            let with_places = together.iter().zip(results);
            compared
                .extend(with_places.map(|((later, first), result)| (later.0, (first.0, result))));
        }
        Ok(Self { compared: Grouped::new(compared, kept.len()), kept })
    }

    /// The documents that the one at this place was compared with, and the results.
    pub(super) fn compared(&self, place: usize) -> &[(u32, Comparison)] {
        self.compared.of(place as u32)
    }

    /// Whether nothing is left to compare between the document at a place and an earlier one: they
    /// were compared, or share no bucket, or have too few equal lanes.
    pub(super) fn covers(&self, place: usize, earlier: usize) -> bool {
        let kept = |place: usize| self.kept.get(place).copied().flatten();
        kept(place).is_some() && kept(earlier) == Some(true)
    }
}

/// The pairs to compare: the place of a document, and that of an earlier one that is expected to be
/// kept. Also whether each document is expected to be kept; `None` if it is not compared. Both
/// lists end early if there are many pairs.
fn pairs(
    documents: &[&Document],
    outlook: &[Outlook],
    buckets: &BatchBuckets,
    rule: Rule<'_>,
) -> (Vec<(Place, Place)>, Vec<Option<bool>>) {
    /// The number of pairs, of 40 bytes with their results, from which on no more are looked for.
    const MOST: usize = 1 << 19;
    let (mut pairs, mut kept) = (Vec::new(), Vec::new());
    // The places of documents that will be kept, in the order in which they became members.
    let mut members = Members::new(buckets.shared_count());
    let mut leaders: Vec<usize> = Vec::new();
    for (place, (document, outlook)) in documents.iter().zip(outlook).enumerate() {
        if pairs.len() >= MOST {
            break;
        }
        if document.text.is_none() || matches!(outlook, Outlook::Ignored) {
            kept.push(None);
            continue;
        }
        let shared = buckets.shared_by(place);
        let (mut keeps, before) = (matches!(outlook, Outlook::Open), pairs.len());
        for leader in members.of(shared).filter_map(|member| leaders.get(member as usize)) {
            let Some(earlier) = documents.get(*leader) else { continue };
            let equal = equal_lanes(document.signature.lanes(), earlier.signature.lanes());
            keeps &= equal < rule.similar;
            if equal >= rule.least {
                pairs.push((Place(place as u32), Place(*leader as u32)));
            }
        }
        pairs.get_mut(before..).unwrap_or_default().sort_unstable();
        kept.push(Some(keeps));
        if keeps && !shared.is_empty() {
            members.add(shared);
            leaders.push(place);
        }
    }
    (pairs, kept)
}
