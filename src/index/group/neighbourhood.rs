//! Finds the documents that share a bucket with a document, for many documents of one snapshot.

use crate::error::Result;
use crate::estimate::equal_lanes_from;
use crate::index::ask::search::buckets;
use crate::index::group::buckets::Buckets;
use crate::index::group::crowd::Crowd;
use crate::index::group::doc_map::DocMap;
use crate::index::group::linkage::{Job, NO_DOC};
use crate::index::group::signature_cache::SignatureCache;
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::store::DocNo;

/// A document that may be similar to another one: the number of equal lanes, and the document.
pub(crate) type Neighbour = (usize, DocNo);

/// Tells which documents share a bucket with a document.
///
/// Signatures are held in memory up to the cache size of the index, and so are buckets if all of
/// them fit. Otherwise each question reads its buckets from the file, where opening a chunk of
/// entries takes some microseconds.
pub(crate) struct Neighbourhood<'s> {
    snapshot: &'s Snapshot,
    probe: Probe,
    /// The minimum number of equal lanes.
    least: usize,
    signatures: SignatureCache,
    buckets: Option<BucketLists>,
}

impl<'s> Neighbourhood<'s> {
    /// Walks through all buckets of a job. Also returns the documents that share one, by number.
    pub(crate) fn read(job: &mut Job<'s, '_>) -> Result<(Self, Vec<DocNo>)> {
        let snapshot = job.snapshot;
        let view = snapshot.view();
        let budget = snapshot.reader().engine().cache_bytes();
        let mut walk = Buckets::new(snapshot.settings().plan, job.probe);
        let mut sharing = DocMap::new(NO_DOC);
        let mut lists = Some(BucketLists::new(job.probe.bands()));
        while walk.next(&view)? {
            job.watch.advance(walk.take_passed())?;
            walk.docs().iter().for_each(|doc| sharing.set(*doc, doc.0));
            lists = lists.filter(|lists| lists.has_room(walk.docs().len(), budget));
            if let Some(lists) = &mut lists {
                lists.push(walk.band(), walk.docs());
            }
        }
        let docs: Vec<DocNo> = sharing.iter().map(|(doc, _)| doc).collect();
        lists = lists.filter(|lists| lists.bytes_with(docs.len()) <= budget);
        if let Some(lists) = &mut lists {
            lists.assign(&docs, sharing);
        }
        let lanes = snapshot.settings().lanes.get();
        let signatures = SignatureCache::read(&view, lanes, snapshot.len(), budget)?;
        let (probe, least) = (job.probe, job.least);
        if let Some(lists) = &mut lists {
            let left = budget.saturating_sub(lists.bytes_with(docs.len()));
            lists.find_crowd(least, &signatures, left, || job.watch.advance_now(0))?;
        }
        Ok((Self { snapshot, probe, least, signatures, buckets: lists }, docs))
    }

    /// The other wanted documents that share a bucket with a document and have enough equal lanes,
    /// by number.
    pub(crate) fn of(
        &self,
        doc: DocNo,
        is_wanted: impl Fn(DocNo) -> bool,
    ) -> Result<Vec<Neighbour>> {
        let view = self.snapshot.view();
        let mut lanes = Vec::new();
        self.signatures.append(&view, doc, &mut lanes)?;
        let is_wanted = |other: DocNo| other != doc && is_wanted(other);
        let docs = match &self.buckets {
            Some(lists) => lists.documents_among(doc, is_wanted),
            None => {
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
    /// The place of each document among those that share a bucket.
    places: DocMap,
    /// The bucket of each document in each band: first those of the document at place 0.
    buckets: Vec<u32>,
    /// The documents of buckets that are too large to be read one by one.
    crowd: Option<Crowd>,
}

/// Whether a bucket has so many documents that they are worth an order of their own.
fn is_crowded(bucket: &[DocNo]) -> bool {
    bucket.len() >= 1 << 10
}

/// Stands for "no bucket with other documents".
const NO_BUCKET: u32 = u32::MAX;

impl BucketLists {
    fn new(bands: usize) -> Self {
        let (docs, starts, buckets) = (Vec::new(), Vec::new(), Vec::new());
        Self { bands, docs, starts, places: DocMap::new(NO_DOC), buckets, crowd: None }
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

    /// Notes in which buckets each document is. `places` has the given documents and becomes the
    /// map of their places.
    fn assign(&mut self, docs: &[DocNo], mut places: DocMap) {
        docs.iter().zip(0..).for_each(|(doc, place)| places.set(*doc, place));
        let mut buckets = vec![NO_BUCKET; docs.len() * self.bands];
        for (number, (_, band)) in self.starts.iter().enumerate() {
            for doc in self.bucket(number) {
                let at = places.get(*doc) as usize * self.bands + usize::from(*band);
                if let Some(bucket) = buckets.get_mut(at) {
                    *bucket = number as u32;
                }
            }
        }
        (self.places, self.buckets) = (places, buckets);
    }

    /// Orders the documents of large buckets by their lanes, if that leaves fewer pairs to compare
    /// and stays within a budget in bytes.
    fn find_crowd(
        &mut self,
        least: usize,
        signatures: &SignatureCache,
        budget: usize,
        go_on: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        let buckets = (0..self.starts.len()).map(|number| self.bucket(number));
        let crowded: Vec<&[DocNo]> = buckets.filter(|bucket| is_crowded(bucket)).collect();
        let pairs = crowded.iter().map(|bucket| (bucket.len() as f64).powi(2)).sum();
        let entries: usize = crowded.iter().map(|bucket| bucket.len()).sum();
        if entries == 0 || entries.saturating_mul(size_of::<DocNo>()) > budget {
            return Ok(());
        }
        let mut docs = crowded.concat();
        docs.sort_unstable();
        docs.dedup();
        docs.shrink_to_fit();
        self.crowd = Crowd::of(docs, pairs, least, signatures, budget, go_on)?;
        Ok(())
    }

    /// The documents of a bucket.
    fn bucket(&self, number: usize) -> &[DocNo] {
        let start = |number: usize| self.starts.get(number).map(|(start, _)| *start as usize);
        let end = start(number + 1).unwrap_or(self.docs.len());
        start(number).and_then(|start| self.docs.get(start..end)).unwrap_or_default()
    }

    /// The wanted documents that share a bucket with a document, each once, by number.
    fn documents_among(&self, doc: DocNo, is_wanted: impl Fn(DocNo) -> bool) -> Vec<DocNo> {
        /// The length from which on repetitions are dropped each time the list has doubled, because
        /// near copies meet in every bucket.
        const MANY: usize = 1 << 12;
        let buckets = self.buckets_of(doc);
        let (mut docs, mut distinct, mut crowded) = (Vec::new(), 0, false);
        for bucket in buckets.iter().filter(|bucket| **bucket != NO_BUCKET) {
            let bucket = self.bucket(*bucket as usize);
            if self.crowd.is_some() && is_crowded(bucket) {
                crowded = true;
                continue;
            }
            docs.extend(bucket.iter().copied().filter(|other| is_wanted(*other)));
            if docs.len() >= MANY.max(2 * distinct) {
                docs.sort_unstable();
                docs.dedup();
                distinct = docs.len();
            }
        }
        if let Some(crowd) = self.crowd.as_ref().filter(|_| crowded) {
            crowd.visit(doc, |other| {
                if is_wanted(other) && self.share_bucket(buckets, other) {
                    docs.push(other);
                }
            });
        }
        docs.sort_unstable();
        docs.dedup();
        docs
    }

    /// The bucket of a document in each band.
    fn buckets_of(&self, doc: DocNo) -> &[u32] {
        let at = self.places.get(doc) as usize * self.bands;
        self.buckets.get(at..at + self.bands).unwrap_or_default()
    }

    /// Whether a document is in one of these buckets.
    fn share_bucket(&self, buckets: &[u32], doc: DocNo) -> bool {
        let both = buckets.iter().zip(self.buckets_of(doc));
        both.into_iter().any(|(one, other)| one == other && *one != NO_BUCKET)
    }
}
