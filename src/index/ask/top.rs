//! Top-k search: reads the deepest buckets first, then shallower ones until the recall is reached.

use crate::error::Result;
use crate::estimate::{Agreement, equal_lanes};
use crate::index::ask::excluded::Excluded;
use crate::index::ask::score::Candidate;
use crate::index::ask::search::{SearchResult, buckets};
use crate::index::ask::verify::Similarities;
use crate::lsh::{BandPlan, Margin, Probe};
use crate::params::{Lanes, Recall, Threshold};
use crate::store::{Asked, CandidateLimit, DocNo, View};
use rustc_hash::FxHashSet;

/// The parameters of a top-k search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Top<'q> {
    /// The number of documents wanted.
    pub(crate) count: usize,
    /// The minimum similarity.
    pub(crate) floor: Threshold,
    /// The minimum number of equal lanes of a candidate.
    pub(crate) least: usize,
    pub(crate) recall: Recall,
    /// The documents to leave out.
    pub(crate) excluded: &'q Excluded,
    /// How many candidates are compared; the documents to leave out do not count.
    pub(crate) limit: Option<CandidateLimit>,
}

/// Ranks the candidates of a top-k search, by estimates or by texts.
pub(crate) trait Ranking {
    /// The similarity of the last document wanted; `None` if fewer were found so far.
    fn last(&mut self, scored: &mut Vec<Candidate>) -> Result<Option<f64>>;

    /// A lower bound on the probability that one of these probes finds a document of this
    /// similarity.
    fn promised(&self, done: &[Probe], similarity: f64) -> f64;
}

/// Finds the most similar documents, and perhaps some more. Returns with them the probability that
/// a document as similar as the last one wanted was found or, if fewer were found, a document at
/// the floor.
///
/// The search goes on to shallower buckets until that probability reaches the recall, until the
/// probe of the floor is done, or until the limit leaves out candidates. Each candidate is compared
/// once. The decision to go on depends on the results and the settings alone, never on measured
/// cost, so results are reproducible.
pub(crate) fn search_top(
    view: &View<'_>,
    lanes: &[u8],
    plan: BandPlan,
    top: Top<'_>,
    ranking: &mut impl Ranking,
) -> Result<(SearchResult, f64)> {
    let mut found = SearchResult::default();
    let mut compared = FxHashSet::default();
    let mut last = top.floor.get();
    let mut done: Vec<Probe> = Vec::new();
    for probe in Probe::deepening(plan, top.floor, top.recall) {
        let mut new = Vec::new();
        let counts = |doc| top.limit.is_none() || !top.excluded.contains(doc);
        let is_new = |doc| counts(doc) && !compared.contains(&doc);
        let buckets = buckets(lanes, plan, probe);
        let limit = top.limit.map(|limit| limit.less(compared.len()));
        let asked = Asked::Buckets(&buckets);
        found.limited = view.candidates_among(asked, limit, is_new, |doc, other| {
            new.push(doc);
            let equal = equal_lanes(lanes, other);
            if equal >= top.least && !top.excluded.contains(doc) {
                found.scored.push((equal, doc));
            }
        })?;
        let wanted = new.iter().filter(|doc| !top.excluded.contains(**doc));
        found.candidates += wanted.count() as u64;
        compared.extend(new);
        done.push(probe);
        if let Some(similarity) = ranking.last(&mut found.scored)? {
            last = similarity;
            if ranking.promised(&done, last) >= top.recall.get() {
                break;
            }
        }
        if found.limited {
            break;
        }
    }
    Ok((found, ranking.promised(&done, last)))
}

/// Ranks by estimated similarity.
pub(crate) struct ByEstimate {
    pub(crate) count: usize,
    pub(crate) lanes: Lanes,
}

impl Ranking for ByEstimate {
    fn last(&mut self, scored: &mut Vec<Candidate>) -> Result<Option<f64>> {
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

/// Ranks by exact similarity. Verifies candidates in the order of their estimates, and stops when
/// the rest are unlikely to be as similar as the last document wanted.
pub(crate) struct ByText<'a> {
    similarities: Similarities<'a>,
    top: Top<'a>,
    /// The verified documents at or above the floor, the most similar first.
    pub(crate) verified: Vec<(f64, DocNo)>,
    /// The candidates with too few equal lanes to be worth reading so far, the best one last.
    waiting: Vec<Candidate>,
    /// The number of equal lanes from which on every candidate was verified.
    least: usize,
}

/// The part of the tolerated misses that unread candidates may cause; buckets may cause the rest.
const SHARE: f64 = 0.1;

impl<'a> ByText<'a> {
    pub(crate) fn new(similarities: Similarities<'a>, top: Top<'a>) -> Self {
        Self { similarities, top, verified: Vec::new(), waiting: Vec::new(), least: top.least }
    }

    fn nth(&self) -> Option<f64> {
        let at = self.top.count.checked_sub(1)?;
        self.verified.get(at).map(|(similarity, _)| *similarity)
    }

    /// The number of equal lanes below which a candidate is unlikely to reach this similarity.
    fn worth_reading(&self, similarity: f64) -> Result<usize> {
        // Rounding may leave no misses.
        let recall = Recall::new(1.0 - SHARE * (1.0 - self.top.recall.get()));
        let recall = recall.unwrap_or(Recall::CERTAIN);
        let margin =
            Margin::of_scan(self.similarities.lanes(), Threshold::new(similarity)?, recall);
        Ok(margin.least.max(self.top.least))
    }
}

impl Ranking for ByText<'_> {
    fn last(&mut self, scored: &mut Vec<Candidate>) -> Result<Option<f64>> {
        self.waiting.append(scored);
        // The loop pops from the end: the most equal lanes first, ties by ascending number.
        self.waiting.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        let (mut nth, mut level) = (None, None);
        while let Some((equal, doc)) = self.waiting.pop() {
            // Candidates with equal estimates are all read or all skipped, so that the result does
            // not depend on their numbers.
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
            let similarity = self.similarities.of(doc)?;
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
        let lanes = self.similarities.lanes();
        let keeps = |probe: &Probe| Margin::keeps(*probe, lanes, similarity, self.least);
        done.iter().map(keeps).fold(0.0, f64::max)
    }
}
