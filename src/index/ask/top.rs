//! Finding the most similar documents: from the deepest buckets to shallower ones, until there are enough.

use crate::error::Result;
use crate::estimate::{Agreement, equal_lanes};
use crate::index::ask::search::{Scored, SearchResult, buckets};
use crate::index::ask::verify::{Elements, compare};
use crate::lsh::{BandPlan, Margin, Probe};
use crate::params::{Lanes, Recall, Threshold};
use crate::sketch::Sketcher;
use crate::store::{ChunkTable, DocNo, DocTable, View};
use rustc_hash::FxHashSet;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Top {
    /// How many documents.
    pub(crate) count: usize,
    /// The least similarity.
    pub(crate) floor: Threshold,
    /// The least equal lanes to be found.
    pub(crate) least: usize,
    pub(crate) recall: Recall,
    /// A document that does not count.
    pub(crate) excluded: Option<DocNo>,
}

/// How similar what was found is.
pub(crate) trait Ranking {
    /// The similarity of the last of as many as are asked for; `None` where there are fewer.
    fn last(&mut self, scored: &mut Vec<Scored>) -> Result<Option<f64>>;

    /// The probability that one of the probes finds a document of this similarity, at least.
    fn promised(&self, done: &[Probe], similarity: f64) -> f64;
}

/// Finds the most similar documents, and perhaps some more, with the probability that one as
/// similar as the last of them was found; with that at the floor where there are fewer.
///
/// Goes on to shallower buckets until a document as similar as the last one would have been found with
/// the recall, or the probe of the floor is done. Each candidate is compared once. Whether it goes on
/// depends on what was found and on settings, not on what anything costs.
pub(crate) fn search_top<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    lanes: &[u8],
    plan: BandPlan,
    top: Top,
    ranking: &mut impl Ranking,
) -> Result<(SearchResult, f64)> {
    let mut found = SearchResult::default();
    let mut compared = FxHashSet::default();
    let mut last = top.floor.get();
    let mut done: Vec<Probe> = Vec::new();
    for probe in Probe::deepening(plan, top.floor, top.recall) {
        let mut new = Vec::new();
        let is_new = |doc| !compared.contains(&doc);
        view.candidates_among(&buckets(lanes, plan, probe), is_new, |doc, other| {
            new.push(doc);
            let equal = equal_lanes(lanes, other);
            if equal >= top.least && Some(doc) != top.excluded {
                found.scored.push((equal, doc));
            }
        })?;
        found.candidates += new.len() as u64;
        compared.extend(new);
        done.push(probe);
        if let Some(similarity) = ranking.last(&mut found.scored)? {
            last = similarity;
            if ranking.promised(&done, last) >= top.recall.get() {
                break;
            }
        }
    }
    Ok((found, ranking.promised(&done, last)))
}

/// By estimates.
pub(crate) struct ByEstimate {
    pub(crate) count: usize,
    pub(crate) lanes: Lanes,
}

impl Ranking for ByEstimate {
    fn last(&mut self, scored: &mut Vec<Scored>) -> Result<Option<f64>> {
        if self.count == 0 || scored.len() < self.count {
            return Ok(None);
        }
        let (_, nth, _) = scored.select_nth_unstable_by(self.count - 1, |a, b| b.0.cmp(&a.0));
        Ok(Some(Agreement::new(nth.0, self.lanes.get()).similarity()))
    }

    fn promised(&self, done: &[Probe], similarity: f64) -> f64 {
        done.iter().map(|probe| probe.finds(similarity)).fold(0.0, f64::max)
    }
}

/// By the texts: candidates are verified in the order of their estimates, until those that are left are
/// hardly as similar as the last of as many as are asked for.
pub(crate) struct ByText<'a, P, D> {
    view: &'a View<'a, P, D>,
    sketcher: &'a Sketcher,
    asked: &'a Elements,
    top: Top,
    /// Documents that are at least as similar as the floor, the most similar first.
    pub(crate) verified: Vec<(f64, DocNo)>,
    /// Candidates that have less equal lanes than are worth reading so far, the most equal ones last.
    waiting: Vec<Scored>,
    /// Candidates with at least so many equal lanes were verified.
    least: usize,
}

/// What of the misses that are tolerated is spent on candidates that are not read.
const SHARE: f64 = 0.1;

impl<'a, P: ChunkTable, D: DocTable> ByText<'a, P, D> {
    pub(crate) fn new(
        view: &'a View<'a, P, D>,
        sketcher: &'a Sketcher,
        asked: &'a Elements,
        top: Top,
    ) -> Self {
        let least = top.least;
        Self { view, sketcher, asked, top, verified: Vec::new(), waiting: Vec::new(), least }
    }

    fn nth(&self) -> Option<f64> {
        let at = self.top.count.checked_sub(1)?;
        self.verified.get(at).map(|(similarity, _)| *similarity)
    }

    /// Candidates with fewer equal lanes are hardly as similar as this.
    fn worth_reading(&self, similarity: f64) -> Result<usize> {
        let recall = Recall::new(1.0 - SHARE * (1.0 - self.top.recall.get()))?;
        let margin = Margin::of_scan(self.sketcher.width(), Threshold::new(similarity)?, recall);
        Ok(margin.least.max(self.top.least))
    }
}

impl<P: ChunkTable, D: DocTable> Ranking for ByText<'_, P, D> {
    fn last(&mut self, scored: &mut Vec<Scored>) -> Result<Option<f64>> {
        self.waiting.append(scored);
        // By number among equals, from the end.
        self.waiting.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        let (mut nth, mut level) = (None, None);
        while let Some((equal, doc)) = self.waiting.pop() {
            // Of equal estimates all are read or none, so that their numbers do not matter.
            if level != Some(equal) {
                level = Some(equal);
                if self.nth() != nth {
                    nth = self.nth();
                    self.least = nth.map_or(Ok(self.top.least), |nth| self.worth_reading(nth))?;
                }
                if nth.is_some() && equal < self.least {
                    self.waiting.push((equal, doc));
                    break;
                }
            }
            let similarity = compare(self.view, self.sketcher, self.asked, doc)?.similarity;
            if similarity >= self.top.floor.get() {
                let at = self.verified.partition_point(|(other, _)| *other >= similarity);
                self.verified.insert(at, (similarity, doc));
            }
        }
        if let Some(nth) = self.nth() {
            self.least = self.worth_reading(nth)?;
        }
        Ok(self.nth())
    }

    fn promised(&self, done: &[Probe], similarity: f64) -> f64 {
        let lanes = self.sketcher.width();
        let keeps = |probe: &Probe| Margin::keeps(*probe, lanes, similarity, self.least);
        done.iter().map(keeps).fold(0.0, f64::max)
    }
}
