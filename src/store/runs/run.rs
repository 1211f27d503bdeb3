//! Sorted runs on disk, and the manifest that lists them.
//!
//! The runs of a band cover disjoint ranges of document numbers (invariant 8). A merge replaces
//! its sources band by band: while it goes on, the target has the bands that are done, and the
//! sources have the others.

use crate::store::bytes::schema::{BandNo, DocNo, Layout, RunNo};
use crate::store::runs::filter::{Filter, LazyFilter};
use std::sync::Arc;

/// One band of one run: the number of its entries, and the fence key of each chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct BandRun {
    pub(crate) entries: u64,
    /// The top bytes of the first word of each chunk (`Layout::fence_shift`).
    pub(crate) fences: Vec<u32>,
    pub(crate) filter: LazyFilter,
}

impl BandRun {
    /// The first chunk that can hold a word with this fence or a greater one.
    pub(crate) fn first_chunk(&self, fence: u32) -> u32 {
        // A chunk with a smaller fence may end in words with this fence, so the search begins
        // one chunk earlier.
        self.fences.partition_point(|other| *other < fence).saturating_sub(1) as u32
    }

    pub(crate) fn chunks(&self) -> u32 {
        self.fences.len() as u32
    }
}

/// A run with its bands. A run lacks bands while a merge writes or replaces it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) number: RunNo,
    pub(crate) tier: u8,
    pub(crate) first: DocNo,
    pub(crate) last: DocNo,
    bands: Vec<Option<Arc<BandRun>>>,
}

impl Run {
    pub(crate) fn new(number: RunNo, tier: u8, first: DocNo, last: DocNo, bands: usize) -> Self {
        Self { number, tier, first, last, bands: vec![None; bands] }
    }

    pub(crate) fn band(&self, band: BandNo) -> Option<&Arc<BandRun>> {
        self.bands.get(usize::from(band.0))?.as_ref()
    }

    /// Sets or removes a band. Returns `None` if the index has no such band.
    pub(crate) fn set(&mut self, band: BandNo, content: Option<Arc<BandRun>>) -> Option<()> {
        *self.bands.get_mut(usize::from(band.0))? = content;
        Some(())
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.bands.iter().all(Option::is_some)
    }

    fn is_empty(&self) -> bool {
        self.bands.iter().all(Option::is_none)
    }

    fn contains(&self, other: &Run) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

/// All runs, ordered by the documents they cover. The target of a merge precedes its sources.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifest {
    runs: Vec<Arc<Run>>,
}

impl Manifest {
    pub(crate) fn runs(&self) -> &[Arc<Run>] {
        &self.runs
    }

    /// The bands of all runs.
    pub(crate) fn bands(&self) -> impl Iterator<Item = &Arc<BandRun>> {
        self.runs.iter().flat_map(|run| run.bands.iter().flatten())
    }

    /// The number of chunks of all runs.
    pub(crate) fn chunks(&self) -> u64 {
        self.bands().map(|band| u64::from(band.chunks())).sum()
    }

    /// Whether a band with this many entries should have a filter.
    ///
    /// The id band always has one. Lane bands share this many bytes, and the smallest runs have
    /// precedence, because there are most of them. The runs in `except` do not count.
    pub(crate) fn deserves_filter(
        &self,
        (layout, bytes): (Layout, u64),
        band: BandNo,
        entries: u64,
        except: &[RunNo],
    ) -> bool {
        let others = self
            .with_band(band)
            .filter(|(run, _)| !except.contains(&run.number))
            .map(|(_, content)| content)
            .filter(|other| other.entries < entries || other.filter.get().is_some());
        let total = entries + others.map(|other| other.entries).sum::<u64>();
        band == layout.ids() || Filter::bytes(total) * u64::from(layout.bands) <= bytes
    }

    pub(crate) fn get(&self, number: RunNo) -> Option<&Arc<Run>> {
        self.runs.iter().find(|run| run.number == number)
    }

    /// Adds a run at its position in the order.
    pub(crate) fn add(&mut self, run: Run) {
        let key = |run: &Run| (run.first, std::cmp::Reverse(run.tier));
        let at = self.runs.partition_point(|other| key(other) <= key(&run));
        self.runs.insert(at, Arc::new(run));
    }

    /// Sets or removes a band of a run. A run that loses its last band is dropped.
    pub(crate) fn set(&mut self, number: RunNo, band: BandNo, content: Option<Arc<BandRun>>) {
        if let Some(run) = self.runs.iter_mut().find(|run| run.number == number) {
            let known = Arc::make_mut(run).set(band, content);
            debug_assert!(known.is_some(), "no band {band:?}");
        }
        self.runs.retain(|run| !run.is_empty());
    }

    /// Sets the tier of a run that no merge concerns.
    pub(crate) fn set_tier(&mut self, number: RunNo, tier: u8) {
        if let Some(run) = self.runs.iter_mut().find(|run| run.number == number) {
            Arc::make_mut(run).tier = tier;
        }
    }

    /// The runs that have this band.
    pub(crate) fn with_band(
        &self,
        band: BandNo,
    ) -> impl Iterator<Item = (&Arc<Run>, &Arc<BandRun>)> {
        self.runs.iter().filter_map(move |run| Some((run, run.band(band)?)))
    }

    /// The sources of an unfinished merge target: the runs with lower numbers within its range.
    /// The numbers matter if a single run is compacted, because source and target then cover the
    /// same documents.
    pub(crate) fn sources_of(&self, target: &Run) -> Vec<RunNo> {
        self.runs
            .iter()
            .filter(|run| run.number < target.number && target.contains(run))
            .map(|run| run.number)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::runs::filter::FilterBuilder;
    use crate::store::tuning::Tuning;

    const LAYOUT: Layout = Layout { bands: 16, depth: 6, passages: false };

    /// A manifest of runs with these numbers of entries in band 0, each with a filter.
    fn manifest(entries: &[u64]) -> Manifest {
        let mut manifest = Manifest::default();
        for (number, entries) in (0..).zip(entries) {
            let covers = DocNo(10 * number);
            let mut run = Run::new(RunNo(number), 0, covers, covers, LAYOUT.count());
            let content = BandRun { entries: *entries, ..BandRun::default() };
            content.filter.set(FilterBuilder::at_once(LAYOUT, BandNo(0), 1).into_filter());
            run.set(BandNo(0), Some(Arc::new(content)));
            manifest.add(run);
        }
        manifest
    }

    #[test]
    fn filters_stay_within_their_memory_for_any_sizes_of_runs() {
        let million = 1_000_000;
        let least = Tuning { cache_bytes: 1, ..Tuning::default() }.filter_bytes();
        let limit = least * 8 / 10 / 16;
        assert!(limit > 13 * million && limit < 14 * million, "{limit} entries a band");
        let three = manifest(&[4 * million; 3]);
        let deserves = |manifest: &Manifest, entries, except: &[RunNo]| {
            manifest.deserves_filter((LAYOUT, least), BandNo(0), entries, except)
        };
        assert!(deserves(&three, million, &[]), "13 million");
        assert!(!deserves(&three, 4 * million, &[]), "16 million, with no smaller run");
        assert!(deserves(&three, 4 * million, &[RunNo(0)]), "one run is merged away");
        let twice = Tuning { cache_bytes: 512 << 20, ..Tuning::default() }.filter_bytes();
        assert!(three.deserves_filter((LAYOUT, twice), BandNo(0), 4 * million, &[]), "more room");
        assert!(three.deserves_filter((LAYOUT, 0), LAYOUT.ids(), u64::MAX >> 8, &[]), "id band");
    }
}
