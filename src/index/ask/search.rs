//! Similarity search over a view: collects candidates from buckets and compares their lanes.

use crate::error::Result;
use crate::estimate::{equal_lanes, least_equal_lanes};
use crate::index::ask::matches::Score;
use crate::index::ask::verify::{Elements, Margins, best};
use crate::lsh::{BandPlan, Probe, word};
use crate::params::Threshold;
use crate::sketch::Sketcher;
use crate::store::{BandNo, Bucket, ChunkTable, DocNo, DocTable, Settings, View};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// A compared document: its number of equal lanes and its number.
pub(crate) type Candidate = (usize, DocNo);

/// The source of candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sources {
    /// The buckets of a probe.
    Buckets(BandPlan, Probe),
    /// All documents.
    Everything,
}

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct SearchResult {
    /// Documents with at least the required number of equal lanes, in no order.
    pub(crate) scored: Vec<Candidate>,
    /// The number of documents that were compared.
    pub(crate) candidates: u64,
}

/// Compares candidates with the lanes of a non-empty document and keeps those with at least
/// `least` lanes equal.
pub(crate) fn search<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    lanes: &[u8],
    sources: Sources,
    least: usize,
) -> Result<SearchResult> {
    let mut found = SearchResult::default();
    let mut compare = |doc: DocNo, other: &[u8]| {
        found.candidates += 1;
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
        Sources::Buckets(plan, probe) => view.candidates(&buckets(lanes, plan, probe), compare)?,
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

/// A text to compare exactly, and the minimum similarity.
#[derive(Clone, Copy)]
pub(crate) struct ExactText<'a> {
    pub(crate) text: &'a str,
    pub(crate) sketcher: &'a Sketcher,
    pub(crate) threshold: f64,
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
}

impl SearchPlan {
    /// The search that these settings imply for a threshold; `exact` if texts are compared.
    pub(crate) fn new(
        settings: &Settings,
        margins: &Margins,
        threshold: Threshold,
        exact: bool,
    ) -> Self {
        let Settings { plan, recall, lanes, .. } = *settings;
        let probe = Probe::of(plan, threshold, recall);
        match exact {
            true => {
                let margin = margins.of(settings, threshold, recall, false);
                Self { plan, probe, least: margin.least, recall: margin.recall }
            }
            false => {
                let least = least_equal_lanes(threshold.get(), lanes.get());
                Self { plan, probe, least, recall: probe.recall() }
            }
        }
    }
}

/// Finds at most `most` documents, the most similar first and ties by number. Considers only the
/// documents for which `counts` is true.
pub(crate) fn find_similar<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    lanes: &[u8],
    search_plan: SearchPlan,
    exact: Option<ExactText<'_>>,
    most: usize,
    counts: impl Fn(DocNo) -> bool,
) -> Result<Vec<(Score, DocNo)>> {
    let SearchPlan { plan, probe, least, .. } = search_plan;
    let Some(ExactText { text, sketcher, threshold }) = exact else {
        let found = most_equal_lanes(view, lanes, (plan, probe), least, most, counts)?;
        return Ok(found.into_iter().map(Score::estimated).collect());
    };
    let mut candidates = search(view, lanes, Sources::Buckets(plan, probe), least)?.scored;
    candidates.retain(|(_, doc)| counts(*doc));
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    candidates.sort_unstable_by_key(|(equal, doc)| (Reverse(*equal), *doc));
    let asked = Elements::of_stored(text, sketcher)?;
    let found = best(view, sketcher, &asked, &candidates, (threshold, most))?;
    Ok(found.into_iter().map(Score::exact).collect())
}

/// Finds at most `most` documents in a probe's buckets that have at least `least` equal lanes, the
/// most equal lanes first and ties by number. Considers only documents for which `counts` is true.
fn most_equal_lanes<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    lanes: &[u8],
    (plan, probe): (BandPlan, Probe),
    least: usize,
    most: usize,
    counts: impl Fn(DocNo) -> bool,
) -> Result<Vec<Candidate>> {
    let best: RefCell<Vec<Candidate>> = RefCell::default();
    // Once `most` documents agree in all lanes, a document with a higher number cannot displace
    // them. Skipping it here saves the read of its signature in a large cluster of copies.
    let is_wanted = |doc: DocNo| {
        let best = best.borrow();
        let full = best.last().filter(|_| best.len() >= most);
        counts(doc) && full.is_none_or(|last| last.0 < lanes.len() || doc < last.1)
    };
    view.candidates_among(&buckets(lanes, plan, probe), is_wanted, |doc, other| {
        let equal = equal_lanes(lanes, other);
        if equal >= least {
            let mut best = best.borrow_mut();
            let key = |scored: &Candidate| (Reverse(scored.0), scored.1);
            let at = best.partition_point(|scored| key(scored) < (Reverse(equal), doc));
            best.insert(at, (equal, doc));
            best.truncate(most);
        }
    })?;
    Ok(best.into_inner())
}
