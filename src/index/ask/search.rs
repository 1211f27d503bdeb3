//! Finding the documents that are similar to given lanes, in any state: candidates, then estimates.

use crate::error::Result;
use crate::estimate::{equal_lanes, least_equal_lanes};
use crate::index::ask::matches::Likeness;
use crate::index::ask::verify::{Elements, Margins, best};
use crate::lsh::{BandPlan, Probe, word};
use crate::params::Threshold;
use crate::sketch::Sketcher;
use crate::store::{BandNo, Bucket, ChunkTable, DocNo, DocTable, Settings, View};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// A document that was compared, with the number of lanes that are equal.
pub(crate) type Scored = (usize, DocNo);

/// Where candidates come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sources {
    /// The buckets that a probe looks at.
    Buckets(BandPlan, Probe),
    /// All documents.
    Everything,
}

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct SearchResult {
    /// Documents with at least the required number of equal lanes, in no order.
    pub(crate) scored: Vec<Scored>,
    /// How many documents were compared.
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

/// The buckets that a probe looks at.
pub(crate) fn buckets(lanes: &[u8], plan: BandPlan, probe: Probe) -> Vec<Bucket> {
    let bucket = |band: usize| Bucket {
        band: BandNo(band as u8),
        words: probe.bucket(word(lanes, band, plan.depth()), plan),
    };
    (0..probe.bands()).map(bucket).collect()
}

/// The text of a document that is to be compared exactly, and from which similarity on.
#[derive(Clone, Copy)]
pub(crate) struct Exact<'a> {
    pub(crate) text: &'a str,
    pub(crate) sketcher: &'a Sketcher,
    pub(crate) threshold: f64,
}

/// Where and for how many equal lanes candidates are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) plan: BandPlan,
    pub(crate) probe: Probe,
    pub(crate) least: usize,
    /// The probability with which a document at the threshold becomes a candidate, at least; with
    /// texts to compare, with which it is found.
    pub(crate) recall: f64,
}

impl Look {
    /// Where an index with these settings looks, and for what: `exact` where texts decide.
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

/// The most similar documents, as many as `most`, the most similar first, among equals by number. Only of
/// those that count.
pub(crate) fn near<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    lanes: &[u8],
    look: Look,
    exact: Option<Exact<'_>>,
    most: usize,
    counts: impl Fn(DocNo) -> bool,
) -> Result<Vec<(Likeness, DocNo)>> {
    let Look { plan, probe, least, .. } = look;
    let Some(Exact { text, sketcher, threshold }) = exact else {
        let found = nearest(view, lanes, (plan, probe), least, most, counts)?;
        return Ok(found.into_iter().map(Likeness::estimated).collect());
    };
    let mut candidates = search(view, lanes, Sources::Buckets(plan, probe), least)?.scored;
    candidates.retain(|(_, doc)| counts(*doc));
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    candidates.sort_unstable_by_key(|(equal, doc)| (Reverse(*equal), *doc));
    let asked = Elements::of_stored(text, sketcher)?;
    let found = best(view, sketcher, &asked, &candidates, (threshold, most))?;
    Ok(found.into_iter().map(Likeness::exact).collect())
}

/// The documents of a probe's buckets that are most similar, as many as `most`: with at least
/// `least` lanes equal, the most similar first, among equals by number. Only of those that count.
fn nearest<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    lanes: &[u8],
    (plan, probe): (BandPlan, Probe),
    least: usize,
    most: usize,
    counts: impl Fn(DocNo) -> bool,
) -> Result<Vec<Scored>> {
    let best: RefCell<Vec<Scored>> = RefCell::default();
    // Where as many are equal in all lanes, later ones are not looked at: a cluster of copies costs
    // its numbers, not its signatures.
    let is_wanted = |doc: DocNo| {
        let best = best.borrow();
        let full = best.last().filter(|_| best.len() >= most);
        counts(doc) && full.is_none_or(|last| last.0 < lanes.len() || doc < last.1)
    };
    view.candidates_among(&buckets(lanes, plan, probe), is_wanted, |doc, other| {
        let equal = equal_lanes(lanes, other);
        if equal >= least {
            let mut best = best.borrow_mut();
            let key = |scored: &Scored| (Reverse(scored.0), scored.1);
            let at = best.partition_point(|scored| key(scored) < (Reverse(equal), doc));
            best.insert(at, (equal, doc));
            best.truncate(most);
        }
    })?;
    Ok(best.into_inner())
}
