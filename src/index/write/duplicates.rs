//! Finds the document that a new one duplicates: in the index, in others, or in the same batch.

use crate::error::{Error, Result};
use crate::estimate::least_equal_lanes;
use crate::index::ask::exact_text::{ElementCache, ExactText};
use crate::index::ask::matches::{Match, Score};
use crate::index::ask::search::{SearchPlan, Similar, find_similar};
use crate::index::snapshot::Snapshot;
use crate::index::write::batch_buckets::BatchBuckets;
use crate::index::write::crowds;
use crate::index::write::expected::{Expected, Outlook, Rule};
use crate::index::write::kept::Kept;
use crate::index::write::outcome::{Inserted, Outcome};
use crate::params::{Confidence, Threshold};
use crate::sketch::Sketcher;
use crate::store::{
    Asked, Batch, CandidateLimit, DocNo, Document, Entry, Existing, OwnNumbers, WriteView, parallel,
};
use std::path::Path;
use std::sync::Arc;

/// The number of matches remembered for a document. An earlier document of the same batch may
/// replace the best ones.
const BEST: usize = 4;

/// The parameters by which new documents are compared with known ones.
pub(super) struct Comparison<'s> {
    search_plan: SearchPlan,
    /// The elements of texts, if texts are compared after signatures.
    elements: Option<Arc<ElementCache>>,
    threshold: f64,
    /// The least share of a new document that a similar one contains, if one is asked for.
    contained: Option<f64>,
    against: Vec<Against<'s>>,
    /// The numbers of a deduplication run. A document with one of them that comes again is a
    /// duplicate of itself. `None` outside a run.
    own: Option<OwnNumbers>,
}

/// How much of a document a similar one must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shares {
    /// What is asked for, if anything is.
    Enough,
    Any,
}

/// Another index with which documents are compared.
struct Against<'s> {
    snapshot: &'s Snapshot,
    search_plan: SearchPlan,
    /// Whether its documents can be compared exactly.
    exact: bool,
}

impl<'s> Against<'s> {
    fn new(
        snapshot: &'s Snapshot,
        threshold: Threshold,
        verifies: bool,
        limit: CandidateLimit,
    ) -> Self {
        let settings = snapshot.settings();
        let exact = verifies && settings.store_text;
        let search_plan = SearchPlan::new(settings, &snapshot.margins, threshold, exact);
        Self { snapshot, search_plan: search_plan.limited(limit), exact }
    }
}

impl<'s> Comparison<'s> {
    /// Compares by `search_plan` in an index, and with other indexes of comparable signatures;
    /// texts too if it is given a cache for their elements.
    pub(super) fn new(
        search_plan: SearchPlan,
        elements: Option<Arc<ElementCache>>,
        threshold: Threshold,
        against: &[&'s Snapshot],
        limit: CandidateLimit,
    ) -> Self {
        let (others, verifies) = (against.iter(), elements.is_some());
        let against = others.map(|other| Against::new(other, threshold, verifies, limit)).collect();
        let search_plan = search_plan.limited(limit);
        let threshold = threshold.get();
        Self { search_plan, elements, threshold, contained: None, against, own: None }
    }

    /// Makes a repeated document a duplicate of itself if the run that inserted `own` inserted it.
    pub(super) fn of_run(self, own: Option<OwnNumbers>) -> Self {
        Self { own, ..self }
    }

    /// Takes a document for a duplicate only if the similar one contains this share of it. `path`
    /// is that of the index.
    pub(super) fn if_contained(self, share: f64, path: &Path) -> Result<Self> {
        let wrong =
            |setting, got: String, expected| Err(Error::InvalidSetting { setting, got, expected });
        if !(share > 0.0 && share <= 1.0) {
            return wrong("if_contained", share.to_string(), "a share above 0, at most 1");
        }
        let others = self.against.iter().map(|other| other.snapshot);
        let without = others.filter(|other| !other.settings().store_text).map(Snapshot::path);
        match without.chain(self.elements.is_none().then_some(path)).next() {
            Some(path) => Err(Error::NoTexts { path: path.to_owned() }),
            None => Ok(Self { contained: Some(share), ..self }),
        }
    }

    /// A lower bound on the probability that a document at the threshold is found.
    pub(super) fn recall(&self) -> f64 {
        let others = self.against.iter().map(|other| other.search_plan.recall);
        others.fold(self.search_plan.recall, f64::min)
    }

    /// How the texts of a batch are compared with each other, if they are.
    fn rule<'r>(&'r self, sketcher: &'r Sketcher) -> Option<Rule<'r>> {
        let (least, elements) = (self.search_plan.least, self.elements.as_ref()?);
        let similar = least_equal_lanes(self.threshold, sketcher.lanes());
        Some(Rule { least, similar, sketcher, elements })
    }

    /// The text of a document if texts are compared: with those that contain enough of it, or with
    /// all that are similar.
    fn exact<'d>(
        &'d self,
        document: &'d Document,
        sketcher: &'d Sketcher,
        shares: Shares,
    ) -> Option<ExactText<'d>> {
        let (elements, text) = (self.elements.as_deref()?, document.text.as_deref()?);
        let key = (document.text_hash, document.text_length);
        let contained = match shares {
            Shares::Enough => self.contained,
            Shares::Any => self.contained.map(|_| 0.0),
        };
        Some(ExactText { text, key, sketcher, threshold: self.threshold, contained, elements })
    }
}

/// The documents known before the batch that are most similar to a new one.
#[derive(Default)]
struct Nearest {
    /// The best matches in the index, by descending similarity, then by number.
    own: Vec<(Score, DocNo)>,
    /// The id of the first match in `own`.
    first_id: Option<String>,
    /// Whether the index has more matches than `own`.
    more: bool,
    /// The best match in another index: its score, the index, and its number there.
    other: Option<(Score, usize, DocNo)>,
    /// Whether a search left out candidates.
    limited: bool,
    /// What is similar but contains too little of the document, if nothing contains enough.
    spared: Option<Box<Nearest>>,
}

/// Decides for each document of a batch, in order, whether it is a duplicate.
pub(super) struct Judge<'c> {
    comparison: &'c Comparison<'c>,
    sketcher: &'c Sketcher,
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
    pub(super) fn of(
        batch: &mut Batch<'_>,
        comparison: &'c Comparison<'_>,
        sketcher: &'c Sketcher,
        writes: impl Fn(Existing) -> bool + Sync + Send,
    ) -> Result<Self> {
        // In a batch of one, no earlier document can replace the best match.
        let most = if batch.len() == 1 { 1 } else { BEST };
        let SearchPlan { plan, probe, .. } = comparison.search_plan;
        batch.keep_lanes();
        let of_one = |view: &WriteView<'_, '_>,
                      asked: Option<Asked<'_>>,
                      (document, existing): (&Document, Existing)| {
            if searched(document, existing, &writes).is_none() {
                return Ok(Nearest::default());
            }
            let new = |shares| {
                let exact = comparison.exact(document, sketcher, shares);
                Nearest::new(view, asked, document, existing.number(), comparison, exact, most)
            };
            let mut nearest = new(Shares::Enough)?;
            if comparison.contained.is_some() && nearest.is_none() {
                nearest.spared = Some(Box::new(new(Shares::Any)?));
            }
            Ok(nearest)
        };
        let (buckets, nearest, expected) = batch.read(|view, documents| {
            let alone: Vec<&Document> = documents.iter().map(|(document, _)| *document).collect();
            let is_asked =
                documents.iter().map(|(document, of)| searched(document, *of, &writes).is_some());
            let is_asked: Vec<bool> = is_asked.collect();
            let buckets = BatchBuckets::of(&alone, plan, probe);
            let is_large = documents.len() >= parallel::MIN_DOCUMENTS;
            let nearest: Result<Vec<Nearest>> = {
                let mut foretold = is_large.then(|| view.foretell(buckets.bands()));
                if let Some(foretold) = &mut foretold {
                    let each = documents.iter();
                    let each = each.map(|(document, of)| searched(document, *of, &writes));
                    let each: Vec<Option<&Document>> = each.collect();
                    crowds::replace(view, foretold, &buckets, &each, comparison.search_plan)?;
                }
                let numbered = documents.into_iter().enumerate().collect();
                let nearest = parallel::map(numbered, alone.len() > 1, |(at, document)| {
                    let foretold = foretold.as_ref();
                    let asked = foretold.map(|foretold| Asked::Foretold(foretold, at));
                    of_one(view, asked, document)
                });
                nearest.into_iter().collect()
            };
            let nearest = nearest?;
            let outlook = nearest.iter().zip(is_asked).map(|(nearest, is_asked)| match is_asked {
                true if nearest.is_none() => Outlook::Open,
                true => Outlook::Duplicate,
                false => Outlook::Ignored,
            });
            let expected = match comparison.rule(sketcher) {
                // What fails here and matters fails again when the document is judged.
                Some(rule) => Expected::of(&alone, &outlook.collect::<Vec<_>>(), &buckets, rule)
                    .unwrap_or_else(|_| Expected::nothing()),
                None => Expected::nothing(),
            };
            Ok((buckets, nearest.into_iter(), expected))
        })?;
        let kept = Kept::new(buckets.shared_count(), expected);
        let first = batch.next_number();
        Ok(Self { comparison, sketcher, nearest, judged: 0, buckets, kept, first, limited: 0 })
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
            let (number, own) = (u64::from(doc.0), self.comparison.own.as_ref());
            let again = own.is_some_and(|own| own.contains(number));
            let duplicate =
                || Outcome::Duplicate { of: self.itself(entry.document()), against: None };
            return Ok(again.then(duplicate));
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
        let spared = match self.comparison.contained {
            Some(_) => {
                // What contained enough was replaced meanwhile, so this searches again.
                let again = || Nearest { more: true, ..Nearest::default() };
                let spared = spared.map_or_else(again, |spared| *spared);
                self.similar(entry, place, spared, Shares::Any)?
            }
            None => None,
        };
        if entry.later() > 0 {
            let shared = self.buckets.shared_by(place);
            self.kept.add(place, entry.number(), entry.document(), shared);
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
    fn similar(
        &mut self,
        entry: &mut Entry<'_, '_>,
        place: usize,
        mut nearest: Nearest,
        shares: Shares,
    ) -> Result<Option<(Match, Option<usize>)>> {
        let Self { comparison, sketcher, .. } = *self;
        let own = entry.existing().number();
        let is_wanted =
            |entry: &Entry<'_, '_>, doc: DocNo| Some(doc) != own && !entry.was_replaced(doc);
        let is_cut = nearest.more || nearest.limited && !nearest.own.is_empty();
        if is_cut && !nearest.own.iter().any(|(_, doc)| is_wanted(entry, *doc)) {
            // The batch has replaced every remembered match, so this searches again.
            let first = self.first;
            let nearest_own = entry.read(|view, document| {
                let is_wanted = |doc: DocNo| u64::from(doc.0) < first && Some(doc) != own;
                let lanes = document.signature.lanes();
                let exact = comparison.exact(document, sketcher, shares);
                find_similar(view, lanes, None, comparison.search_plan, exact, 1, is_wanted)
            })?;
            nearest.own = nearest_own.found;
            nearest.first_id = None;
        }
        let mine = nearest.own.iter().position(|(_, doc)| is_wanted(entry, *doc));
        let mine = mine.and_then(|at| nearest.own.get(at).map(|scored| (*scored, at)));
        let document = entry.document();
        let exact = comparison.exact(document, sketcher, shares);
        let (plan, shared) = (comparison.search_plan, self.buckets.shared_by(place));
        let is_wanted = |doc: DocNo| is_wanted(entry, doc);
        let fresh = self.kept.best(place, document, shared, plan, exact, is_wanted)?;
        let score = mine.map(|((score, _), _)| score);
        let lanes = document.signature.lanes().len();
        let named = |id: String, score: Score| score.named(id, lanes, Confidence::DEFAULT);
        let is_more = |other: Score, than: Option<Score>| {
            let similarity = |score: Score| score.similarity(lanes);
            than.is_none_or(|than| similarity(other) > similarity(than))
        };
        let (best, score) = match (mine, fresh) {
            (_, Some((more, kept))) if is_more(more, score) => {
                (Some(named(kept.id.clone(), more)), Some(more))
            }
            (Some(((score, doc), at)), _) => {
                let first = if at == 0 { nearest.first_id } else { None };
                let id = first.map_or_else(|| entry.id_of(doc), Ok)?;
                (Some(named(id, score)), Some(score))
            }
            (None, _) => (None, None),
        };
        if let Some((more, against, doc)) = nearest.other
            && is_more(more, score)
            && let Some(Against { snapshot, .. }) = comparison.against.get(against)
        {
            let id = snapshot.view().document(doc)?.id;
            return Ok(Some((named(id, more), Some(against))));
        }
        Ok(best.map(|of| (of, None)))
    }

    /// Makes a match of a document with itself.
    fn itself(&self, document: &Document) -> Match {
        let lanes = document.signature.lanes().len();
        let score = match self.comparison.exact(document, self.sketcher, Shares::Any) {
            Some(_) => Score::Exact(1.0),
            None => Score::Estimated(lanes),
        };
        score.named(document.id.clone(), lanes, Confidence::DEFAULT)
    }
}

/// A document of a batch, if its similar ones are searched for.
fn searched(
    document: &Document,
    existing: Existing,
    writes: impl Fn(Existing) -> bool,
) -> Option<&Document> {
    (!document.signature.is_empty() && writes(existing)).then_some(document)
}

impl Nearest {
    /// Whether nothing was found.
    fn is_none(&self) -> bool {
        self.own.is_empty() && self.other.is_none()
    }

    /// Finds the `most` best matches in the index, without the document `own` that has the same id,
    /// and the best match in the other indexes. `asked` are the buckets of the document, if they
    /// were looked up in memory.
    fn new(
        view: &WriteView<'_, '_>,
        asked: Option<Asked<'_>>,
        document: &Document,
        own: Option<DocNo>,
        comparison: &Comparison<'_>,
        exact: Option<ExactText<'_>>,
        most: usize,
    ) -> Result<Self> {
        let lanes = document.signature.lanes();
        // One extra result shows whether there are more. A batch of one does not need to know.
        let wanted = if most > 1 { most + 1 } else { most };
        let is_wanted = |doc: DocNo| Some(doc) != own;
        let Similar { mut found, mut limited } =
            find_similar(view, lanes, asked, comparison.search_plan, exact, wanted, is_wanted)?;
        let more = found.len() > most;
        found.truncate(most);
        let first_id = match found.first() {
            Some((_, doc)) => Some(view.document(*doc)?.id),
            None => None,
        };
        let mut other: Option<(Score, usize, DocNo)> = None;
        let similarity = |score: Score| score.similarity(lanes.len());
        for (number, against) in comparison.against.iter().enumerate() {
            let exact = exact.filter(|_| against.exact);
            let view = against.snapshot.view();
            let similar =
                find_similar(&view, lanes, None, against.search_plan, exact, 1, |_| true)?;
            limited |= similar.limited;
            if let Some((score, doc)) = similar.found.into_iter().next()
                && other.is_none_or(|best| similarity(score) > similarity(best.0))
            {
                other = Some((score, number, doc));
            }
        }
        Ok(Self { own: found, first_id, more, other, limited, spared: None })
    }
}
