//! Finding the documents that are similar to given lanes, in any state: candidates, then estimates.

use crate::error::Result;
use crate::estimate::equal_lanes;
use crate::lsh::{BandPlan, Probe, word};
use crate::store::{BandNo, Bucket, ChunkTable, DocNo, DocTable, View};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// A document that was compared, with the number of lanes that are equal.
pub(super) type Scored = (usize, DocNo);

/// Where candidates come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sources {
    /// The buckets that a probe looks at.
    Buckets(BandPlan, Probe),
    /// All documents.
    Everything,
}

/// What a search found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Documents with at least the required number of equal lanes, in no order.
    pub(super) scored: Vec<Scored>,
    /// How many documents were compared.
    pub(super) candidates: u64,
}

/// Compares candidates with the lanes of a non-empty document and keeps those with at least
/// `least` lanes equal.
pub(super) fn search<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    lanes: &[u8],
    sources: Sources,
    least: usize,
) -> Result<Found> {
    let mut found = Found::default();
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
pub(super) fn buckets(lanes: &[u8], plan: BandPlan, probe: Probe) -> Vec<Bucket> {
    let bucket = |band: usize| Bucket {
        band: BandNo(band as u8),
        words: probe.bucket(word(lanes, band, plan.depth()), plan),
    };
    (0..probe.bands()).map(bucket).collect()
}

/// The buckets that any of some probes looks at, one a band: the shallowest holds the deeper ones.
pub(super) fn merged_buckets(lanes: &[u8], plan: BandPlan, probes: &[Probe]) -> Vec<Bucket> {
    let bucket = |band: usize| {
        let reaching = probes.iter().filter(|probe| band < probe.bands());
        let shallowest = reaching.min_by_key(|probe| probe.depth())?;
        let words = shallowest.bucket(word(lanes, band, plan.depth()), plan);
        Some(Bucket { band: BandNo(band as u8), words })
    };
    (0..plan.bands()).filter_map(bucket).collect()
}

/// The documents of a probe's buckets that are most similar, as many as `most`: with at least
/// `least` lanes equal, the most similar first, among equals by number. Only of those that count.
pub(super) fn nearest<P: ChunkTable, D: DocTable>(
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
