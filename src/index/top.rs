//! Finding the most similar documents: from the deepest buckets to shallower ones, until there are enough.

use super::search::{Found, buckets};
use crate::error::Result;
use crate::estimate::{Agreement, equal_lanes};
use crate::lsh::{BandPlan, Probe};
use crate::params::{Recall, Threshold};
use crate::store::{ChunkTable, DocNo, DocTable, View};
use rustc_hash::FxHashSet;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Top {
    /// How many documents.
    pub(super) count: usize,
    /// The least similarity.
    pub(super) floor: Threshold,
    /// The least equal lanes to be found.
    pub(super) least: usize,
    pub(super) recall: Recall,
    /// A document that does not count.
    pub(super) excluded: Option<DocNo>,
}

/// Finds the most similar documents, and perhaps some more, with the probability that one as
/// similar as the last of them was compared; with that at the floor where there are fewer.
///
/// Goes on to shallower buckets until a document as similar as the last one would have been met with
/// the recall, or the probe of the floor is done. Each candidate is compared once. Whether it goes on
/// depends on what was found and on settings, not on what anything costs.
pub(super) fn search_top<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    lanes: &[u8],
    plan: BandPlan,
    top: Top,
) -> Result<(Found, f64)> {
    let mut found = Found::default();
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
        if top.count > 0 && found.scored.len() >= top.count {
            let (_, nth, _) =
                found.scored.select_nth_unstable_by(top.count - 1, |a, b| b.0.cmp(&a.0));
            last = Agreement::new(nth.0, lanes.len()).similarity();
            if promised(&done, last) >= top.recall.get() {
                break;
            }
        }
    }
    Ok((found, promised(&done, last)))
}

/// The probability that one of the probes finds a document of this similarity, at least.
fn promised(done: &[Probe], similarity: f64) -> f64 {
    done.iter().map(|probe| probe.finds(similarity)).fold(0.0, f64::max)
}
