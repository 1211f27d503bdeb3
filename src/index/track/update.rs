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
    BandNo, ClusterRows, DocNo, Engine, LanesInOrder, RecentLanes, Untracked, View, Watch, Writer,
    parallel, sort_spread,
};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The number of new documents whose buckets are looked up together, which bounds the memory.
const TOGETHER: u64 = 1 << 16;

/// The number of documents in the buckets of a walk that are compared together.
const WALKED: usize = 1 << 14;

/// Brings the tracked clusters of an index that was filled by other means up to date, in a
/// transaction of its own. Does nothing if the index tracks no clusters.
pub(crate) fn bring_up_to_date(engine: &Arc<Engine>, watch: &mut Watch<'_>) -> Result<()> {
    let sketcher = engine.settings().sketcher()?;
    let mut writer = engine.write()?;
    update_clusters(&mut writer, &sketcher, &Margins::default(), watch)?;
    writer.commit()
}

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
        let untracked = writer.untracked()?;
        if untracked.is_empty() {
            return Ok(events);
        }
        events.extend(update_some(writer, &untracked, sketcher, margins, watch)?);
    }
}

/// Tracks what is left of the clusters that have lost documents, and the first new documents: all,
/// unless they are many.
fn update_some(
    writer: &mut Writer,
    Untracked { shrunk, new }: &Untracked,
    sketcher: &Sketcher,
    margins: &Margins,
    watch: &mut Watch<'_>,
) -> Result<Vec<ClusterEvent>> {
    let settings = *writer.engine().settings();
    let verifies = settings.store_text;
    let search_plan = SearchPlan::new(&settings, margins, settings.threshold, verifies);
    let criteria = Criteria {
        least: search_plan.least,
        sketcher: verifies.then_some(sketcher),
        threshold: settings.threshold.get(),
    };
    let walks = walks_through_all(writer, new);
    let end = if walks { new.end } else { new.end.min(new.start + TOGETHER) };
    let new = new.start..end;
    let found = writer.track(end, |view, rows| {
        let mut joins = Joins::new(new_docs(view, &new)?);
        for &cluster in shrunk {
            let members = rows.members(cluster)?;
            members.iter().for_each(|doc| joins.loosen(*doc, cluster));
        }
        let Lanes { of_new, recent, are_latest } = Lanes::read(view, &new)?;
        let meeting = Meeting::new(view, criteria, joins, &recent);
        let mut update = Update { view, search_plan, meeting, watch };
        update.rejoin(shrunk, rows)?;
        if walks {
            update.walk(&new, rows)?;
        } else {
            update.look_up(&new, &of_new, rows)?;
        }
        let events = update.meeting.into_joins().write(rows, shrunk)?;
        Ok((events, are_latest.then_some(recent)))
    })?;
    let Some((events, recent)) = found else { return Ok(Vec::new()) };
    if let Some(recent) = recent {
        writer.keep_lanes(recent);
    }
    Ok(events)
}

/// Whether the similar documents of these new ones are found by a walk through all buckets. That
/// costs less than the lookup of many one by one.
fn walks_through_all(writer: &Writer, new: &Range<u64>) -> bool {
    let count = new.end - new.start;
    let one_by_one = count > TOGETHER || !writer.are_latest(new);
    one_by_one && 2 * count > writer.len()
}

/// The lanes that an update has in memory.
struct Lanes {
    /// Those of all new documents, perhaps with others; none if they are too many.
    of_new: Vec<Arc<LanesInOrder>>,
    /// Those of the documents that are most likely to be compared.
    recent: RecentLanes,
    /// Whether `recent` is to be kept for the next update. Otherwise later documents are kept
    /// already: a large commit has more new documents than there is room for.
    are_latest: bool,
}

impl Lanes {
    /// Takes the lanes of these new documents from memory, or reads them.
    fn read(view: &View<'_>, new: &Range<u64>) -> Result<Self> {
        let kept = view.state.recent_lanes.clone();
        let are_latest = kept.is_before(new.start);
        if let Some(of_new) = kept.all_of(new.clone()) {
            return Ok(Self { of_new, recent: kept, are_latest });
        }
        if new.end - new.start > TOGETHER {
            return Ok(Self { of_new: Vec::new(), recent: kept, are_latest });
        }
        let mut recent = if are_latest { kept } else { RecentLanes::default() };
        let mut of_new = Vec::new();
        for (numbers, lanes) in view.lanes_of(table_numbers(new))? {
            recent.push(numbers, Arc::clone(&lanes));
            of_new.push(lanes);
        }
        Ok(Self { of_new, recent, are_latest })
    }
}

/// The new documents with these numbers.
fn new_docs(view: &View<'_>, new: &Range<u64>) -> Result<NewDocs> {
    /// The numbers for each document of the index from which on few of them have one.
    const SPARSE: u64 = 4;
    let numbers = table_numbers(new);
    let (count, documents) = (numbers.len() as u64, view.state.counters.documents);
    if count > TOGETHER.max(SPARSE * documents) {
        Ok(NewDocs::Listed(view.numbers_among(numbers)?))
    } else {
        Ok(NewDocs::Range(DocNo(numbers.start), count as u32))
    }
}

/// Document numbers as the tables have them.
fn table_numbers(numbers: &Range<u64>) -> Range<u32> {
    let number = |number| u32::try_from(number).unwrap_or(u32::MAX);
    number(numbers.start)..number(numbers.end)
}

/// An update: what it reads, and what it has found.
struct Update<'v, 'w> {
    view: &'v View<'v>,
    search_plan: SearchPlan,
    meeting: Meeting<'v>,
    watch: &'v mut Watch<'w>,
}

impl Update<'_, '_> {
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
