//! Similarity search over a view: collects candidates from buckets and compares their lanes.

use crate::error::Result;
use crate::estimate::{equal_lanes, least_equal_lanes};
use crate::index::ask::copies::{CROWD, first_copies};
use crate::index::ask::exact_text::ExactText;
use crate::index::ask::score::{Candidate, Score};
use crate::index::ask::verify::{Comparison, Margins};
use crate::lsh::{BandPlan, Probe, word};
use crate::params::Threshold;
use crate::store::{Asked, BandNo, Bucket, CandidateLimit, DocNo, Settings, View};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// The source of candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sources {
    /// The buckets of a probe. With a limit, some of their documents may be left out.
    Buckets(BandPlan, Probe, Option<CandidateLimit>),
    /// All documents.
    Everything,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct SearchResult {
    /// Documents with at least the required number of equal lanes, in no order.
    pub(crate) scored: Vec<Candidate>,
    /// The number of documents that were compared, without those that are not wanted.
    pub(crate) candidates: u64,
    /// Whether a limit left out candidates.
    pub(crate) limited: bool,
}

/// Compares candidates with the lanes of a non-empty document and keeps those with at least
/// `least` lanes equal. Those for which `is_wanted` is false do not count, nor towards a limit.
pub(crate) fn search(
    view: &View<'_>,
    lanes: &[u8],
    sources: Sources,
    least: usize,
    is_wanted: impl Fn(DocNo) -> bool,
) -> Result<SearchResult> {
    let mut found = SearchResult::default();
    let mut compare = |doc: DocNo, other: &[u8]| {
        found.candidates += u64::from(is_wanted(doc));
        let equal = equal_lanes(lanes, other);
        if equal >= least {
            found.scored.push((equal, doc));
        }
    };
    match sources {
        Sources::Everything => view.for_each_signature(|doc, other, size| {
            if !size.is_empty() {
                compare(doc, other);
            }
            ControlFlow::Continue(())
        })?,
        Sources::Buckets(plan, probe, limit) => {
            let buckets = buckets(lanes, plan, probe);
            let asked = Asked::Buckets(&buckets);
            // A document that is left out, but found first, makes the reads of others unnecessary.
            let is_wanted = |doc| limit.is_none() || is_wanted(doc);
            found.limited = view.candidates_among(asked, limit, is_wanted, compare)?;
        }
    }
    Ok(found)
}

/// The buckets in which a probe searches for these lanes.
pub(crate) fn buckets(lanes: &[u8], plan: BandPlan, probe: Probe) -> Vec<Bucket> {
    let bucket = |band: usize| Bucket {
        band: BandNo(band as u8),
        words: probe.bucket(word(lanes, band, plan.depth()), plan),
    };
    (0..probe.bands()).map(bucket).collect()
}

/// Which buckets a search reads, and how many equal lanes a candidate needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchPlan {
    pub(crate) plan: BandPlan,
    pub(crate) probe: Probe,
    pub(crate) least: usize,
    /// A lower bound on the probability that a document at the threshold becomes a candidate; if
    /// texts are compared, on the probability that it is found.
    pub(crate) recall: f64,
    /// How many candidates are compared.
    pub(crate) limit: Option<CandidateLimit>,
}

impl SearchPlan {
    /// The search that these settings imply for a threshold; `exact` if texts are compared. Every
    /// candidate is compared.
    pub(crate) fn new(
        settings: &Settings,
        margins: &Margins,
        threshold: Threshold,
        exact: bool,
    ) -> Self {
        let Settings { plan, recall, lanes, .. } = *settings;
        let probe = Probe::of(plan, threshold, recall);
        if exact {
            let margin = margins.of(settings, threshold, recall, false);
            let (least, recall) = (margin.least, margin.recall);
            Self { plan, probe, least, recall, limit: None }
        } else {
            let least = least_equal_lanes(threshold.get(), lanes.get());
            Self { plan, probe, least, recall: probe.recall(), limit: None }
        }
    }

    /// Compares at most this many candidates.
    pub(crate) fn limited(self, limit: CandidateLimit) -> Self {
        Self { limit: Some(limit), ..self }
    }
}

/// The documents that a search of a new one has found.
pub(crate) struct Similar {
    /// The most similar first, ties by number.
    pub(crate) found: Vec<(Score, DocNo)>,
    /// Whether the plan's limit left out candidates.
    pub(crate) limited: bool,
}

/// Finds at most `most` documents. Considers only those for which `is_wanted` is true. `asked` are
/// the buckets of the plan, if they are known.
pub(crate) fn find_similar(
    view: &View<'_>,
    lanes: &[u8],
    asked: Option<Asked<'_>>,
    search_plan: SearchPlan,
    exact: Option<ExactText<'_>>,
    most: usize,
    is_wanted: impl Fn(DocNo) -> bool,
) -> Result<Similar> {
    if !asked.is_some_and(|asked| asked.has_fewer(CROWD))
        && let Some(found) = copies(view, lanes, search_plan, exact, most, &is_wanted)?
    {
        return Ok(Similar { found, limited: false });
    }
    let all;
    let asked = match asked {
        Some(asked) => asked,
        None => {
            all = buckets(lanes, search_plan.plan, search_plan.probe);
            Asked::Buckets(&all)
        }
    };
    let Some(exact) = exact else {
        let (found, limited) = most_equal_lanes(view, lanes, asked, search_plan, most, is_wanted)?;
        return Ok(Similar { found: found.into_iter().map(Score::estimated).collect(), limited });
    };
    let SearchPlan { least, limit, .. } = search_plan;
    let mut candidates: Vec<Candidate> = Vec::new();
    let limited = view.candidates_among(asked, limit, is_wanted, |doc, other| {
        let equal = equal_lanes(lanes, other);
        if equal >= least {
            candidates.push((equal, doc));
        }
    })?;
    if candidates.is_empty() {
        return Ok(Similar { found: Vec::new(), limited });
    }
    candidates.sort_unstable_by_key(|(equal, doc)| (Reverse(*equal), *doc));
    let found = exact.best(view, &candidates, most)?;
    Ok(Similar { found, limited })
}

/// The first documents that nothing can be more similar than, if there is a crowd of them.
fn copies(
    view: &View<'_>,
    lanes: &[u8],
    search_plan: SearchPlan,
    exact: Option<ExactText<'_>>,
    most: usize,
    is_wanted: impl Fn(DocNo) -> bool,
) -> Result<Option<Vec<(Score, DocNo)>>> {
    let mut ours = None;
    let is_copy = |doc| exact.map_or(Ok(true), |exact| exact.equals(&mut ours, view, doc));
    let score = match exact {
        Some(exact) => exact.score(Comparison::OF_EQUALS),
        None => Some(Score::Estimated(lanes.len())),
    };
    let Some(score) = score else { return Ok(None) };
    let found = first_copies(view, lanes, search_plan.plan, most, is_wanted, is_copy)?;
    Ok(found.docs.map(|docs| docs.into_iter().map(|doc| (score, doc)).collect()))
}

/// Finds at most `most` documents in these buckets of a plan that have enough equal lanes, the most
/// equal lanes first and ties by number. Considers only documents for which `is_wanted` is true.
/// Returns also whether the plan's limit left out candidates.
fn most_equal_lanes(
    view: &View<'_>,
    lanes: &[u8],
    asked: Asked<'_>,
    search_plan: SearchPlan,
    most: usize,
    is_wanted: impl Fn(DocNo) -> bool,
) -> Result<(Vec<Candidate>, bool)> {
    let SearchPlan { least, limit, .. } = search_plan;
    let best: RefCell<Vec<Candidate>> = RefCell::default();
    // Once `most` documents agree in all lanes, a document with a higher number cannot displace
    // them. Skipping it here saves the read of its signature in a large cluster of copies.
    let is_wanted = |doc: DocNo| {
        let best = best.borrow();
        let full = best.last().filter(|_| best.len() >= most);
        is_wanted(doc) && full.is_none_or(|last| last.0 < lanes.len() || doc < last.1)
    };
    let limited = view.candidates_among(asked, limit, is_wanted, |doc, other| {
        let equal = equal_lanes(lanes, other);
        if equal >= least {
            let mut best = best.borrow_mut();
            let key = |scored: &Candidate| (Reverse(scored.0), scored.1);
            let at = best.partition_point(|scored| key(scored) < (Reverse(equal), doc));
            best.insert(at, (equal, doc));
            best.truncate(most);
        }
    })?;
    Ok((best.into_inner(), limited))
}
