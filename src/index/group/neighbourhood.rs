//! Finds the documents that share a bucket with a document and come later in an order of
//! preference, for many documents of one snapshot.

use crate::error::Result;
use crate::estimate::equal_lanes_from;
use crate::index::ask::search::buckets;
use crate::index::doc_map::{DocMap, NO_DOC};
use crate::index::group::buckets::Buckets;
use crate::index::group::crowd::Crowd;
use crate::index::group::linkage::{Job, in_order_of};
use crate::index::group::order::Order;
use crate::index::group::signature_cache::SignatureCache;
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::store::DocNo;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// A document that may be similar to another one: the number of equal lanes, and the document.
pub(crate) type Neighbour = (usize, DocNo);

/// Tells which later documents share a bucket with a document.
///
/// Signatures are held in memory up to the cache size of the index, and so are buckets if all of
/// them fit. Otherwise each question reads its buckets from the file, where opening a chunk of
/// entries takes some microseconds.
pub(crate) struct Neighbourhood<'s> {
    snapshot: &'s Snapshot,
    probe: Probe,
    /// The minimum number of equal lanes.
    least: usize,
    /// The place in the order of each document that shares a bucket.
    places: DocMap,
    signatures: SignatureCache,
    buckets: Option<BucketLists>,
}

impl<'s> Neighbourhood<'s> {
    /// Walks through all buckets of a job. Also returns the documents that share one, in the order
    /// of preference.
    pub(crate) fn read(job: &mut Job<'s, '_>, preference: &Order) -> Result<(Self, Vec<DocNo>)> {
        let snapshot = job.snapshot;
        let view = snapshot.view();
        let budget = snapshot.reader().engine().cache_bytes();
        let mut walk = Buckets::new(snapshot.settings().plan, job.probe);
        let mut places = DocMap::new(NO_DOC);
        let mut lists = Some(BucketLists::new(job.probe.bands()));
        while walk.next(&view)? {
            job.watch.advance(walk.take_passed())?;
            walk.docs().iter().for_each(|doc| places.set(*doc, 0));
            lists = lists.filter(|lists| lists.has_room(walk.docs().len(), budget));
            if let Some(lists) = &mut lists {
                lists.push(walk.band(), walk.docs());
            }
        }
        let mut order: Vec<DocNo> = places.iter().map(|(doc, _)| doc).collect();
        in_order_of(preference, &mut order, job)?;
        order.iter().zip(0..).for_each(|(doc, place)| places.set(*doc, place));
        lists = lists.filter(|lists| lists.bytes_with(order.len()) <= budget);
        if let Some(lists) = &mut lists {
            lists.assign(&places, order.len());
        }
        let lanes = snapshot.settings().lanes.get();
        let signatures = SignatureCache::read(&view, lanes, snapshot.len(), budget)?;
        let (probe, least) = (job.probe, job.least);
        if let Some(lists) = &mut lists {
            let left = budget.saturating_sub(lists.bytes_with(order.len()));
            lists.find_crowds(&places, least, &signatures, left, || job.watch.advance_now(0))?;
        }
        Ok((Self { snapshot, probe, least, places, signatures, buckets: lists }, order))
    }

    /// The free documents that come later in the order, share a bucket with a document and have
    /// enough equal lanes, by number.
    pub(crate) fn later(
        &self,
        doc: DocNo,
        is_free: impl Fn(DocNo) -> bool,
    ) -> Result<Vec<Neighbour>> {
        let view = self.snapshot.view();
        let mut lanes = Vec::new();
        self.signatures.append(&view, doc, &mut lanes)?;
        let docs = match &self.buckets {
            Some(lists) => lists.later(doc, &self.places, is_free),
            None => {
                let place = self.places.get(doc);
                let is_wanted = |other: DocNo| self.places.get(other) > place && is_free(other);
                let plan = self.snapshot.settings().plan;
                view.documents_among(&buckets(&lanes, plan, self.probe), is_wanted)?
            }
        };
        let mut found = Vec::new();
        for other in docs {
            let compare = |theirs: &[u8]| equal_lanes_from(&lanes, theirs, self.least);
            let equal = match self.signatures.get(other) {
                Some(theirs) => compare(theirs),
                None => view.with_signature(other, |theirs, _| compare(theirs))?,
            };
            found.extend(equal.map(|equal| (equal, other)));
        }
        Ok(found)
    }
}

/// All buckets of a probe that hold several documents.
struct BucketLists {
    bands: usize,
    /// The documents of one bucket after the other.
    docs: Vec<DocNo>,
    /// Where each bucket begins in `docs`, and its band.
    starts: Vec<(u32, u8)>,
    /// The bucket of each document in each band: first those of the document at place 0.
    buckets: Vec<u32>,
    /// The buckets that are too large for their documents to be compared one by one.
    crowds: FxHashMap<u32, Crowd>,
}

/// The fewest documents of a bucket that are worth an order of their own.
const CROWDED: usize = 1 << 8;

/// Stands for "no bucket with other documents".
const NO_BUCKET: u32 = u32::MAX;

impl BucketLists {
    fn new(bands: usize) -> Self {
        let (docs, starts, buckets) = (Vec::new(), Vec::new(), Vec::new());
        Self { bands, docs, starts, buckets, crowds: FxHashMap::default() }
    }

    /// Whether the lists stay within a budget in bytes if a bucket of this many documents is added.
    fn has_room(&self, documents: usize, budget: usize) -> bool {
        let docs = self.docs.len() + documents;
        u32::try_from(docs).is_ok()
            && size_of::<DocNo>() * docs + size_of::<(u32, u8)>() * (self.starts.len() + 1)
                <= budget
    }

    /// The size in bytes of the complete lists of this many documents.
    fn bytes_with(&self, documents: usize) -> usize {
        let places = size_of::<u32>() * documents * (self.bands + 1);
        size_of_val(&*self.docs) + size_of_val(&*self.starts) + places
    }

    /// Appends a bucket of a band.
    fn push(&mut self, band: usize, docs: &[DocNo]) {
        self.starts.push((self.docs.len() as u32, band as u8));
        self.docs.extend_from_slice(docs);
    }

    /// Notes in which buckets each document is, given the places of this many.
    fn assign(&mut self, places: &DocMap, documents: usize) {
        let mut buckets = vec![NO_BUCKET; documents * self.bands];
        for (number, (_, band)) in self.starts.iter().enumerate() {
            for doc in self.bucket(number) {
                let at = places.get(*doc) as usize * self.bands + usize::from(*band);
                if let Some(bucket) = buckets.get_mut(at) {
                    *bucket = number as u32;
                }
            }
        }
        self.buckets = buckets;
    }

    /// Orders the documents of large buckets by their lanes, where that leaves fewer pairs to
    /// compare, the largest first and as long as there is room in a budget in bytes.
    fn find_crowds(
        &mut self,
        places: &DocMap,
        least: usize,
        signatures: &SignatureCache,
        mut budget: usize,
        mut go_on: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        let sizes = (0..self.starts.len()).map(|number| (self.bucket(number).len(), number));
        let mut crowded: Vec<(usize, usize)> = sizes.filter(|(size, _)| *size >= CROWDED).collect();
        crowded.sort_unstable_by_key(|(size, number)| (Reverse(*size), *number));
        for (_, number) in crowded {
            let ranked = self.bucket(number).iter().map(|doc| (places.get(*doc), *doc));
            let mut ranked: Vec<(u32, DocNo)> = ranked.collect();
            ranked.sort_unstable();
            if let Some(crowd) = Crowd::order(ranked, least, signatures, budget, &mut go_on)? {
                budget = budget.saturating_sub(crowd.bytes());
                self.crowds.insert(number as u32, crowd);
            }
        }
        Ok(())
    }

    /// The documents of a bucket.
    fn bucket(&self, number: usize) -> &[DocNo] {
        let start = |number: usize| self.starts.get(number).map(|(start, _)| *start as usize);
        let end = start(number + 1).unwrap_or(self.docs.len());
        start(number).and_then(|start| self.docs.get(start..end)).unwrap_or_default()
    }

    /// The free documents that share a bucket with a document and have later places, each once, by
    /// number.
    fn later(&self, doc: DocNo, places: &DocMap, is_free: impl Fn(DocNo) -> bool) -> Vec<DocNo> {
        /// The length from which on repetitions are dropped each time the list has doubled, because
        /// near copies meet in every bucket. With this much room, a list seldom has to grow.
        const MANY: usize = 1 << 12;
        let place = places.get(doc);
        let buckets = self.buckets_of(place);
        let (mut docs, mut distinct) = (Vec::with_capacity(MANY), 0);
        for number in buckets.iter().filter(|number| **number != NO_BUCKET) {
            let bucket = self.bucket(*number as usize);
            let crowd = if bucket.len() < CROWDED { None } else { self.crowds.get(number) };
            match crowd {
                Some(crowd) => crowd.visit_later(place, |other| {
                    if is_free(other) {
                        docs.push(other);
                    }
                }),
                None => {
                    let is_wanted = |other: &DocNo| places.get(*other) > place && is_free(*other);
                    docs.extend(bucket.iter().copied().filter(is_wanted));
                }
            }
            if docs.len() >= MANY.max(2 * distinct) {
                docs.sort_unstable();
                docs.dedup();
                distinct = docs.len();
            }
        }
        docs.sort_unstable();
        docs.dedup();
        docs
    }

    /// The bucket in each band of the document at a place.
    fn buckets_of(&self, place: u32) -> &[u32] {
        let at = place as usize * self.bands;
        self.buckets.get(at..at + self.bands).unwrap_or_default()
    }
}
