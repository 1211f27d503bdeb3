//! Finds the document that a new one duplicates: in the index, in others, or in the same batch.
//!
//! What was there before the batch is searched for all of its documents at once, on all threads
//! (`nearest`). Then the documents are judged in order, and two things may have changed meanwhile:
//! the batch has replaced documents that were found, so some more than the best are remembered, and
//! the search is repeated if none of them is left (`best_in_index`); and the batch has added
//! documents, which are compared apart (`kept`). `expected` has compared the texts of those that
//! will probably be kept beforehand. It changes no result: what it does not cover is compared then.

use crate::error::Result;
use crate::index::ask::matches::Match;
use crate::index::ask::score::Score;
use crate::index::ask::search::{SearchPlan, find_similar};
use crate::index::write::batch_buckets::BatchBuckets;
use crate::index::write::crowds;
use crate::index::write::duplicate_rule::{DuplicateRule, Shares};
use crate::index::write::expected::{Expected, Outlook};
use crate::index::write::kept::{InBatch, Kept, KeptDocument};
use crate::index::write::nearest::{Nearest, NewDocument};
use crate::index::write::outcome::{Inserted, Outcome};
use crate::params::Confidence;
use crate::store::{Asked, Batch, DocNo, Document, Entry, Existing, View, parallel};

/// The number of matches remembered for a document. An earlier document of the same batch may
/// replace the best ones.
const BEST: usize = 4;

/// Decides for each document of a batch, in order, whether it is a duplicate.
pub(super) struct Judge<'c> {
    rule: &'c DuplicateRule<'c>,
    /// The earlier matches of the documents still to be judged.
    nearest: std::vec::IntoIter<Nearest>,
    /// The number of documents that were judged.
    judged: usize,
    buckets: BatchBuckets,
    kept: Kept,
    /// The first number that the documents of the batch get.
    first: u64,
    /// The documents that are no duplicate of the candidates they were compared with, but had more.
    limited: u64,
}

impl<'c> Judge<'c> {
    /// Compares the documents of a batch with those known before it, on all threads. `writes`
    /// returns whether a document would be written if it is no duplicate.
    pub(super) fn compare_batch(
        batch: &mut Batch<'_>,
        rule: &'c DuplicateRule<'_>,
        writes: impl Fn(Existing) -> bool + Sync + Send,
    ) -> Result<Self> {
        // In a batch of one, no earlier document can replace the best match.
        let most = if batch.len() == 1 { 1 } else { BEST };
        let SearchPlan { plan, probe, .. } = rule.search_plan;
        batch.keep_lanes();
        let (buckets, nearest, expected) = batch.read(|view, documents| {
            let all: Vec<&Document> = documents.iter().map(|(document, _)| *document).collect();
            let buckets = BatchBuckets::find(&all, plan, probe);
            let searched = documents.into_iter().map(|(document, existing)| {
                let is_searched = !document.signature.is_empty() && writes(existing);
                is_searched.then_some(NewDocument { document, same_id: existing.number() })
            });
            let searched: Vec<Option<NewDocument<'_>>> = searched.collect();
            let nearest = find_nearest(view, &searched, &buckets, rule, most)?;
            let outlook = searched.iter().zip(&nearest).map(|(searched, nearest)| match searched {
                Some(_) if nearest.is_none() => Outlook::Open,
                Some(_) => Outlook::Duplicate,
                None => Outlook::Ignored,
            });
            let expected = match rule.of_batch() {
                // What fails here and matters fails again when the document is judged.
                Some(rule) => Expected::compare(&all, &outlook.collect::<Vec<_>>(), &buckets, rule)
                    .unwrap_or_else(|_| Expected::nothing()),
                None => Expected::nothing(),
            };
            Ok((buckets, nearest.into_iter(), expected))
        })?;
        let kept = Kept::new(buckets.shared_count(), expected);
        let first = batch.next_number();
        Ok(Self { rule, nearest, judged: 0, buckets, kept, first, limited: 0 })
    }

    /// Judges the next document of the batch. Returns the outcome if more is to be said of it than
    /// the effect of its insertion; its own former version does not count as similar. A document
    /// that is written joins those with which later documents are compared.
    pub(super) fn judge(
        &mut self,
        entry: &mut Entry<'_, '_>,
        inserted: Inserted,
    ) -> Result<Option<Outcome>> {
        let mut nearest = self.nearest.next().unwrap_or_default();
        let place = self.judged;
        self.judged += 1;
        if let Existing::Same(doc) = entry.existing() {
            let of = || self.itself(entry.document());
            let again = self.rule.is_of_run(doc);
            return Ok(again.then(|| Outcome::Duplicate { of: of(), against: None }));
        }
        if entry.document().signature.is_empty() || !inserted.writes() {
            return Ok(None);
        }
        let limited = nearest.limited;
        let spared = nearest.spared.take();
        if let Some((of, against)) = self.similar(entry, place, nearest, Shares::Enough)? {
            return Ok(Some(Outcome::Duplicate { of, against }));
        }
        self.limited += u64::from(limited);
        let spared = if self.rule.asks_for_share() {
            // Without it, what contained enough was replaced meanwhile.
            let spared = spared.map_or_else(Nearest::not_searched, |spared| *spared);
            self.similar(entry, place, spared, Shares::Any)?
        } else {
            None
        };
        if entry.later() > 0 {
            let shared = self.buckets.shared_by(place);
            let document = InBatch { place, document: entry.document(), shared };
            self.kept.add(document, entry.number());
        }
        Ok(spared.map(|(of, against)| Outcome::Spared { inserted, of, against }))
    }

    /// The number of documents that were not found to be duplicates, and were compared with only
    /// some of their candidates.
    pub(super) fn limited(&self) -> u64 {
        self.limited
    }

    /// The most similar document to the one at this place in the batch, and the other index that
    /// has it, if one does. `shares` says how much of the document it must contain.
    ///
    /// Of equally similar ones, one in the index comes before one in the batch, and that before one
    /// in another index.
    fn similar(
        &self,
        entry: &mut Entry<'_, '_>,
        place: usize,
        mut nearest: Nearest,
        shares: Shares,
    ) -> Result<Option<(Match, Option<usize>)>> {
        let in_index = self.best_in_index(entry, &mut nearest, shares)?;
        let in_batch = self.best_in_batch(entry, place, shares)?;
        let lanes = entry.document().signature.lanes().len();
        let similarity = |score: Score| score.similarity(lanes);
        let is_more = |score: Score, than: Option<Score>| {
            than.is_none_or(|than| similarity(score) > similarity(than))
        };
        let named = |id: String, score: Score| score.named(id, lanes, Confidence::DEFAULT);
        let mut best = in_index.map(|(score, _)| score);
        let in_batch = in_batch.filter(|(score, _)| is_more(*score, best));
        best = in_batch.map(|(score, _)| score).or(best);
        if let Some(elsewhere) = nearest.elsewhere.filter(|match_| is_more(match_.score, best))
            && let Some(other) = self.rule.others.get(elsewhere.index)
        {
            let id = other.snapshot.view().document(elsewhere.doc)?.id;
            return Ok(Some((named(id, elsewhere.score), Some(elsewhere.index))));
        }
        let (id, score) = match (in_batch, in_index) {
            (Some((score, kept)), _) => (kept.id.clone(), score),
            (None, Some((score, doc))) => {
                (nearest.id_of(doc).map_or_else(|| entry.id_of(doc), Ok)?, score)
            }
            (None, None) => return Ok(None),
        };
        Ok(Some((named(id, score), None)))
    }

    /// The most similar document of the index that the batch has not replaced.
    fn best_in_index(
        &self,
        entry: &mut Entry<'_, '_>,
        nearest: &mut Nearest,
        shares: Shares,
    ) -> Result<Option<(Score, DocNo)>> {
        let same_id = entry.existing().number();
        let best = |entry: &Entry<'_, '_>, nearest: &Nearest| {
            let is_wanted = |doc: DocNo| Some(doc) != same_id && !entry.was_replaced(doc);
            nearest.in_index.iter().find(|(_, doc)| is_wanted(*doc)).copied()
        };
        let found = best(entry, nearest);
        if found.is_some() || !nearest.may_have_more() {
            return Ok(found);
        }
        // The batch has replaced every remembered match, so this searches again.
        let Self { rule, first, .. } = *self;
        let similar = entry.read(|view, document| {
            let is_wanted = |doc: DocNo| u64::from(doc.0) < first && Some(doc) != same_id;
            let lanes = document.signature.lanes();
            let exact = rule.exact(document, shares);
            find_similar(view, lanes, None, rule.search_plan, exact, 1, is_wanted)
        })?;
        nearest.replace_in_index(similar.found);
        Ok(best(entry, nearest))
    }

    /// The most similar of the documents before this one in the batch that were kept.
    fn best_in_batch(
        &self,
        entry: &Entry<'_, '_>,
        place: usize,
        shares: Shares,
    ) -> Result<Option<(Score, &KeptDocument)>> {
        let same_id = entry.existing().number();
        let is_wanted = |doc: DocNo| Some(doc) != same_id && !entry.was_replaced(doc);
        let document = entry.document();
        let exact = self.rule.exact(document, shares);
        let asking = InBatch { place, document, shared: self.buckets.shared_by(place) };
        self.kept.best(asking, self.rule.search_plan, exact, is_wanted)
    }

    /// Makes a match of a document with itself.
    fn itself(&self, document: &Document) -> Match {
        let lanes = document.signature.lanes().len();
        let score = match self.rule.exact(document, Shares::Any) {
            Some(_) => Score::Exact(1.0),
            None => Score::Estimated(lanes),
        };
        score.named(document.id.clone(), lanes, Confidence::DEFAULT)
    }
}

/// Finds what is most similar to each document of a batch that is searched for, on all threads.
fn find_nearest(
    view: &View<'_>,
    searched: &[Option<NewDocument<'_>>],
    buckets: &BatchBuckets,
    rule: &DuplicateRule<'_>,
    most: usize,
) -> Result<Vec<Nearest>> {
    let is_large = searched.len() >= parallel::MIN_DOCUMENTS;
    let mut foretold = is_large.then(|| view.foretell(buckets.bands()));
    if let Some(foretold) = &mut foretold {
        let documents = searched.iter().map(|new| new.map(|new| new.document));
        let documents: Vec<Option<&Document>> = documents.collect();
        crowds::replace(view, foretold, buckets, &documents, rule.search_plan)?;
    }
    let numbered = searched.iter().enumerate().collect();
    let nearest = parallel::map(numbered, searched.len() > 1, |(at, new)| {
        let Some(new) = *new else { return Ok(Nearest::default()) };
        let asked = foretold.as_ref().map(|foretold| Asked::Foretold(foretold, at));
        Nearest::find(view, new, asked, rule, most)
    });
    nearest.into_iter().collect()
}
