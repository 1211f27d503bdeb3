//! Brings tracked clusters up to date: finds the similar documents of new ones, and the parts of
//! clusters that have lost documents.

use crate::error::Result;
use crate::index::ask::search::SearchPlan;
use crate::index::ask::verify::Margins;
use crate::index::group::buckets::Buckets;
use crate::index::track::cluster_ids::{ClusterEvent, Joins, NewDocs};
use crate::index::track::comparer::Criteria;
use crate::index::track::meeting::{Meeting, SharedBuckets};
use crate::lsh::{WordRange, word};
use crate::sketch::Sketcher;
use crate::store::{
    BandNo, ChunkTable, ClusterRows, DocNo, DocTable, LanesInOrder, RecentLanes, Untracked, View,
    Watch, Writer, parallel, sort_spread,
};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The number of new documents whose buckets are looked up together, which bounds the memory.
const TOGETHER: u64 = 1 << 16;

/// The number of documents in the buckets of a walk that are compared together.
const WALKED: usize = 1 << 14;

/// Brings the tracked clusters of an index up to date with the changes of a transaction. Returns
/// what happened to them. Does nothing if the index tracks no clusters.
pub(crate) fn update_clusters(
    writer: &mut Writer,
    sketcher: &Sketcher,
    margins: &Margins,
    watch: &mut Watch<'_>,
) -> Result<Vec<ClusterEvent>> {
    let mut events = Vec::new();
    loop {
        let Untracked { shrunk, new } = writer.untracked()?;
        if shrunk.is_empty() && new.0 >= new.1 {
            return Ok(events);
        }
        let settings = *writer.engine().settings();
        let verifies = settings.store_text;
        let search_plan = SearchPlan::new(&settings, margins, settings.threshold, verifies);
        // The walk through all buckets costs less than the lookup of many one by one.
        let count = new.1 - new.0;
        let one_by_one = count > TOGETHER || !writer.are_latest(&(new.0..new.1));
        let walks = one_by_one && 2 * count > writer.len();
        let end = if walks { new.1 } else { new.1.min(new.0 + TOGETHER) };
        let numbers = new.0..end;
        let found = writer.track(end, |view, rows| {
            let criteria = Criteria {
                least: search_plan.least,
                sketcher: verifies.then_some(sketcher),
                threshold: settings.threshold.get(),
            };
            let new = number(numbers.start)..number(numbers.end);
            let mut joins = Joins::new(new_docs(view, new.clone())?);
            for &cluster in &shrunk {
                let members = rows.members(cluster)?;
                members.iter().for_each(|doc| joins.loosen(*doc, cluster));
            }
            let mut recent = view.state.recent_lanes.clone();
            // A large commit has more new documents than are kept. The latest come last.
            let keeps = recent.is_before(numbers.start);
            let lanes = match recent.all_of(numbers.clone()) {
                Some(lanes) => lanes,
                None if numbers.end - numbers.start <= TOGETHER => {
                    if !keeps {
                        recent = RecentLanes::default();
                    }
                    let read = view.lanes_of(new)?.into_iter();
                    let keep = |(numbers, lanes)| {
                        recent.push(numbers, Arc::clone(&lanes));
                        lanes
                    };
                    read.map(keep).collect()
                }
                None => Vec::new(),
            };
            let meeting = Meeting::new(view, criteria, joins, &recent);
            let mut update = Update { view, search_plan, meeting, watch };
            update.rejoin(&shrunk, rows)?;
            if walks {
                update.walk(&numbers, rows)?;
            } else {
                update.look_up(&numbers, &lanes, rows)?;
            }
            Ok((update.meeting.into_joins().write(rows, &shrunk)?, keeps.then_some(recent)))
        })?;
        if let Some((found, recent)) = found {
            events.extend(found);
            if let Some(recent) = recent {
                writer.keep_lanes(recent);
            }
        }
    }
}

/// The new documents with these numbers.
fn new_docs<P: ChunkTable, D: DocTable>(
    view: &View<'_, P, D>,
    numbers: Range<u32>,
) -> Result<NewDocs> {
    /// The numbers for each document of the index from which on few of them have one.
    const SPARSE: u64 = 4;
    let (count, documents) = (numbers.len() as u64, view.state.counters.documents);
    if count > TOGETHER.max(SPARSE * documents) {
        Ok(NewDocs::Listed(view.numbers_among(numbers)?))
    } else {
        Ok(NewDocs::Range(DocNo(numbers.start), count as u32))
    }
}

/// A document number as the tables have it.
fn number(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// An update: what it reads, and what it has found.
struct Update<'v, 'w, P, D> {
    view: &'v View<'v, P, D>,
    search_plan: SearchPlan,
    meeting: Meeting<'v, P, D>,
    watch: &'v mut Watch<'w>,
}

impl<P: ChunkTable + Sync, D: DocTable + Sync> Update<'_, '_, P, D> {
    /// Compares what is left of clusters that have lost documents. Only documents of the same
    /// cluster can be similar.
    fn rejoin(&mut self, shrunk: &BTreeSet<u64>, rows: &ClusterRows<'_>) -> Result<()> {
        let SearchPlan { plan, probe, .. } = self.search_plan;
        for &cluster in shrunk {
            let members = rows.members(cluster)?;
            let mut docs = Vec::with_capacity(members.len());
            // For each document, the first words of its buckets.
            let mut words: Vec<u64> = Vec::with_capacity(members.len() * probe.bands());
            let read = |doc, lanes: &[u8]| {
                let word = |band| word(lanes, band, plan.depth());
                docs.push(doc);
                words.extend((0..probe.bands()).map(|band| probe.bucket(word(band), plan).first));
            };
            self.view.for_each_signature_of(&members, |_| true, read)?;
            for band in 0..probe.bands() {
                let of_band = words.iter().skip(band).step_by(probe.bands()).copied();
                let mut of_band: Vec<(u64, DocNo)> = of_band.zip(docs.iter().copied()).collect();
                of_band.sort_unstable();
                let mut shared = SharedBuckets::default();
                for equal in of_band.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1) {
                    shared.push(equal.iter().map(|(_, doc)| *doc));
                }
                self.meeting.meet(&[shared], |_| true, rows, self.watch)?;
            }
        }
        Ok(())
    }

    /// Walks through all buckets of the index, for new documents with these numbers.
    fn walk(&mut self, new: &Range<u64>, rows: &ClusterRows<'_>) -> Result<()> {
        let SearchPlan { plan, probe, .. } = self.search_plan;
        let is_new = |doc: DocNo| new.contains(&u64::from(doc.0));
        let mut all = Buckets::new(plan, probe);
        let entries = self.view.state.counters.documents.saturating_mul(probe.bands() as u64);
        self.watch.begin("comparing documents", entries)?;
        let mut shared = SharedBuckets::default();
        while all.next(self.view)? {
            self.watch.advance(all.take_passed())?;
            if all.docs().iter().any(|doc| is_new(*doc)) {
                shared.push(all.docs().iter().copied());
            }
            if shared.documents() >= WALKED {
                let shared = [std::mem::take(&mut shared)];
                self.meeting.meet(&shared, is_new, rows, self.watch)?;
            }
        }
        self.meeting.meet(&[shared], is_new, rows, self.watch)
    }

    /// Looks up the buckets of the new documents with these numbers. All their lanes are among
    /// these.
    fn look_up(
        &mut self,
        new: &Range<u64>,
        lanes: &[Arc<LanesInOrder>],
        rows: &ClusterRows<'_>,
    ) -> Result<()> {
        let is_new = |doc: DocNo| new.contains(&u64::from(doc.0));
        let shared = if self.view.state.are_latest(new) {
            self.shared_with_tail(new)
        } else {
            self.shared_by_words(new, lanes)
        };
        self.meeting.meet(&shared?, is_new, rows, self.watch)
    }

    /// The buckets that new documents share, by a pass through the tail. All new documents are in
    /// it.
    fn shared_with_tail(&self, new: &Range<u64>) -> Result<Vec<SharedBuckets>> {
        let (view, SearchPlan { plan, probe, .. }) = (self.view, self.search_plan);
        let of_band = |band: usize| {
            let mut shared = SharedBuckets::default();
            let bucket = |word| probe.bucket(word, plan);
            view.read_buckets_of_latest(BandNo(band as u8), new, bucket, |docs| {
                shared.push_before(new.end, docs);
            })?;
            Ok(shared)
        };
        let bands = (0..probe.bands()).collect();
        parallel::map(bands, true, of_band).into_iter().collect()
    }

    /// The buckets that new documents share, by a lookup of the words of each. All their lanes are
    /// among these.
    fn shared_by_words(
        &self,
        new: &Range<u64>,
        lanes: &[Arc<LanesInOrder>],
    ) -> Result<Vec<SharedBuckets>> {
        let (view, SearchPlan { plan, probe, .. }) = (self.view, self.search_plan);
        // The lanes of a document are read once, not once for each band.
        let mut words: Vec<Vec<u64>> = vec![Vec::new(); probe.bands()];
        for (doc, lanes) in lanes.iter().flat_map(|lanes| lanes.iter()) {
            if new.contains(&u64::from(doc.0)) && view.is_live(doc) {
                for (band, words) in words.iter_mut().enumerate() {
                    words.push(word(lanes, band, plan.depth()));
                }
            }
        }
        let of_band = |(band, mut words): (usize, Vec<u64>)| {
            sort_spread(&mut words, &mut Vec::new(), |word| *word);
            let mut buckets: Vec<WordRange> = Vec::with_capacity(words.len());
            for word in words {
                // A bucket may hold several words, which follow each other.
                if buckets.last().is_none_or(|bucket| word > bucket.last) {
                    buckets.push(probe.bucket(word, plan));
                }
            }
            let mut shared = SharedBuckets::default();
            view.read_shared_buckets(BandNo(band as u8), &buckets, |docs| {
                shared.push_before(new.end, docs);
            })?;
            Ok(shared)
        };
        let bands = words.into_iter().enumerate().collect();
        parallel::map(bands, true, of_band).into_iter().collect()
    }
}
