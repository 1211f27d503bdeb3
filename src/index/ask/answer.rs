//! Runs a query: chooses the search, verifies what it finds, and names the matches.

use crate::error::Result;
use crate::estimate::least_equal_lanes;
use crate::index::ask::containment::ContainmentRequest;
use crate::index::ask::copies::{first_copies, most_compared};
use crate::index::ask::excluded::Excluded;
use crate::index::ask::matches::{Match, Matches};
use crate::index::ask::passage_search::PassageSearch;
use crate::index::ask::query::Query;
use crate::index::ask::ranks::named_first;
use crate::index::ask::score::Score;
use crate::index::ask::search::{SearchResult, Sources, search};
use crate::index::ask::top::{ByEstimate, ByText, Top, search_top};
use crate::index::ask::verify::{AskedText, Similarities, verified};
use crate::lsh::Probe;
use crate::params::{Confidence, Recall, Threshold};
use crate::sketch::Signature;
use crate::store::DocNo;
use std::cmp::Ordering;

/// What a search has found.
struct Answer {
    found: Vec<(Score, DocNo)>,
    /// The number of documents that were compared.
    candidates: u64,
    /// Whether candidates were left out.
    limited: bool,
    recall: f64,
}

impl Answer {
    /// What a search has found, as it is ranked.
    fn of_search(found: Vec<(Score, DocNo)>, search: &SearchResult, recall: f64) -> Self {
        let SearchResult { candidates, limited, .. } = *search;
        Self { found, candidates, limited, recall }
    }
}

impl Query<'_> {
    /// The numbers of the query; an error if one is out of range.
    pub(super) fn checked(&self) -> Result<(Threshold, Recall, Confidence)> {
        let settings = self.snapshot.settings();
        Ok((
            self.threshold.map_or(Ok(settings.threshold), Threshold::new)?,
            self.recall.map_or(Ok(settings.recall), Recall::new)?,
            self.confidence.map_or(Ok(Confidence::DEFAULT), Confidence::new)?,
        ))
    }

    /// Runs the query. Verifies candidates if a text is given.
    pub(super) fn ask(
        &self,
        signature: &Signature,
        text: Option<&AskedText>,
        passages: Option<&PassageSearch<'_>>,
    ) -> Result<Matches> {
        let settings = self.snapshot.settings();
        let (threshold, recall, confidence) = self.checked()?;
        let view = self.snapshot.view();
        let excluded = &Excluded::of(&view, &self.excluded)?;
        let limit = self.candidate_limit()?;
        if self.containment {
            let asked = ContainmentRequest {
                signature,
                text,
                threshold,
                recall,
                confidence,
                excluded,
                limit,
            };
            return match passages {
                Some(search) => self.containing_passages(asked, search),
                None => self.containing(asked),
            };
        }
        let probe = Probe::of(settings.plan, threshold, recall);
        let met = if self.scan { 1.0 } else { probe.recall() };
        let (least, promised) = match text {
            Some(_) => {
                let margin = self.snapshot.margins.of(settings, threshold, recall, self.scan);
                (margin.least, margin.recall)
            }
            None if self.all_candidates => (0, met),
            None => (least_equal_lanes(threshold.get(), settings.lanes.get()), met),
        };
        if signature.is_empty() {
            return Ok(Matches { recall: promised, ..Matches::default() });
        }
        let lanes = signature.lanes();
        if let (Some(count), false) = (self.top, self.scan) {
            let top = Top { count, floor: threshold, least, recall, excluded, limit };
            return self.name(self.nearest(lanes, text, top)?, confidence);
        }
        let sources = if self.scan {
            Sources::Everything
        } else {
            Sources::Buckets(settings.plan, probe, limit)
        };
        let found = search(&view, lanes, sources, least, |doc| !excluded.contains(doc))?;
        let SearchResult { mut scored, candidates, limited } = found;
        scored.retain(|(_, doc)| !excluded.contains(*doc));
        let found = match text {
            Some(text) => {
                let sketcher = self.snapshot.sketcher();
                verified(&view, sketcher, text, &scored, threshold.get())?
                    .into_iter()
                    .map(Score::exact)
                    .collect()
            }
            None => scored.into_iter().map(Score::estimated).collect(),
        };
        self.name(Answer { found, candidates, limited, recall: promised }, confidence)
    }

    /// Finds the most similar documents, and perhaps some more.
    fn nearest(&self, lanes: &[u8], text: Option<&AskedText>, mut top: Top<'_>) -> Result<Answer> {
        let Top { count, excluded, limit, .. } = top;
        let (view, settings) = (self.snapshot.view(), self.snapshot.settings());
        let mut texts = text.map(|text| Similarities::new(&view, self.snapshot.sketcher(), text));
        // One more tells whether there are more.
        let most = count.saturating_add(1);
        let counts = |doc| !excluded.contains(doc);
        let is_copy = |doc| match &mut texts {
            Some(texts) => Ok(texts.of(doc)? >= 1.0),
            None => Ok(true),
        };
        let mut compared = 0;
        if limit.is_none_or(|limit| limit.compared >= most_compared(most)) {
            let first = first_copies(&view, lanes, settings.plan, most, counts, is_copy)?;
            compared = first.compared;
            if let Some(docs) = first.docs {
                let score = match text {
                    Some(_) => Score::Exact(1.0),
                    None => Score::Estimated(lanes.len()),
                };
                let found = docs.into_iter().map(|doc| (score, doc)).collect();
                let candidates = compared as u64;
                return Ok(Answer { found, candidates, limited: false, recall: 1.0 });
            }
        }
        top.limit = limit.map(|limit| limit.less(compared));
        if let Some(texts) = texts {
            let mut ranking = ByText::new(texts, top);
            let (found, recall) = search_top(&view, lanes, settings.plan, top, &mut ranking)?;
            let exact = ranking.verified.into_iter().map(Score::exact).collect();
            return Ok(Answer::of_search(exact, &found, recall));
        }
        let mut ranking = ByEstimate { count, lanes: settings.lanes };
        let (found, recall) = search_top(&view, lanes, settings.plan, top, &mut ranking)?;
        let estimated = found.scored.iter().copied().map(Score::estimated).collect();
        Ok(Answer::of_search(estimated, &found, recall))
    }

    /// Sorts what was found, and reads the ids of what is reported.
    fn name(&self, answer: Answer, confidence: Confidence) -> Result<Matches> {
        let Answer { found, candidates, limited, recall } = answer;
        let lanes = self.snapshot.settings().lanes.get();
        let (matches, left_out) = self.reported(
            found,
            |a, b| b.0.order(a.0),
            |found| found.1,
            |found, id| found.0.named(id, lanes, confidence),
        )?;
        Ok(Matches { matches, recall, candidates, limited, left_out, sizes: None })
    }

    /// The matches for what was found, and how many the limit leaves out.
    pub(super) fn reported<F>(
        &self,
        found: Vec<F>,
        order: impl Fn(&F, &F) -> Ordering,
        doc: impl Fn(&F) -> DocNo,
        named: impl Fn(&F, String) -> Match,
    ) -> Result<(Vec<Match>, u64)> {
        let limit = self.limit.unwrap_or(usize::MAX).min(self.top.unwrap_or(usize::MAX));
        let (first, left_out) = named_first(&self.snapshot.view(), found, limit, order, doc)?;
        Ok((first.into_iter().map(|(found, id)| named(&found, id)).collect(), left_out))
    }
}
