//! The in-memory state that a commit publishes beside the tables: counters, runs, tail,
//! tombstones. A published state never changes.

use crate::store::bytes::clusters::Tracking;
use crate::store::bytes::record::Counters;
#[cfg(test)]
use crate::store::bytes::schema::Layout;
use crate::store::bytes::texts::Dictionary;
use crate::store::read::recent_lanes::RecentLanes;
use crate::store::runs::merge::MergeTask;
use crate::store::runs::run::Manifest;
use crate::store::runs::segment::Tail;
use crate::store::runs::tombstones::Tombstones;
use std::ops::Range;
use std::sync::Arc;

/// The in-memory state of an index as of one commit. A clone shares its contents.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// The version of the file's format.
    pub(crate) format: u32,
    pub(crate) counters: Counters,
    pub(crate) manifest: Manifest,
    pub(crate) tail: Tail,
    pub(crate) tombstones: Tombstones,
    /// The dictionary that compresses texts, once one was trained.
    pub(crate) dictionary: Option<Arc<Dictionary>>,
    /// How far clusters are tracked; `None` if they are not.
    pub(crate) tracking: Option<Tracking>,
    /// The lanes of the latest documents, if clusters are tracked or new documents were judged.
    pub(crate) recent_lanes: RecentLanes,
    /// Merges in progress, at most one per tier.
    pub(crate) merges: Vec<MergeTask>,
    /// Entries that were added and that no merge step has accounted for yet.
    pub(crate) merge_credit: u64,
    /// The entries that the last commit with additions added to the credit.
    pub(crate) merge_pace: u64,
}

impl State {
    /// Whether the documents with these numbers are all in the tail, and a good part of it. Then
    /// all their buckets are found faster by passing through the tail than one by one.
    pub(crate) fn are_latest(&self, numbers: &Range<u64>) -> bool {
        /// How many entries are passed in the time of one lookup.
        const PASSED_PER_LOOKUP: u64 = 8;
        self.counters.flushed_upto <= numbers.start
            && self.tail.documents() as u64 <= PASSED_PER_LOOKUP * (numbers.end - numbers.start)
    }
}

#[cfg(test)]
impl State {
    /// What a reader notices of the state: equal states give equal answers.
    pub(crate) fn content(&self, layout: Layout) -> String {
        let runs = self.manifest.runs().iter().map(|run| {
            let bands = layout.all().map(|band| run.band(band));
            let bands: Vec<_> =
                bands.map(|band| band.map(|band| (band.entries, band.fences.clone()))).collect();
            format!("{:?} {} {:?} {:?} {bands:?}", run.number, run.tier, run.first, run.last)
        });
        let tail =
            layout.all().map(|band| self.tail.sorted(band, |doc| !self.tombstones.contains(doc)));
        let dictionary = self.dictionary.as_ref().map(|dictionary| dictionary.bytes());
        format!(
            "{:?}\n{} {:?}\n{:?}\n{:?}\n{:?}\n{dictionary:?}",
            self.counters,
            self.format,
            self.tracking,
            runs.collect::<Vec<_>>(),
            tail.collect::<Vec<_>>(),
            self.tombstones.iter().collect::<Vec<_>>()
        )
    }
}
