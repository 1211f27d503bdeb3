//! Finds candidates: the documents in some buckets.

use crate::error::Result;
use crate::lsh::{WordRange, word};
use crate::store::bytes::schema::{BandNo, DocNo, Layout, posting_key};
use crate::store::read::view::{ChunkTable, DocTable, View};
use crate::store::runs::cursor::Source;
use crate::store::runs::filter::{Filter, FilterKey, Occurrence};
use crate::store::runs::run::{BandRun, Run};
use crate::store::state::State;
use crate::store::storage_error::guard;
use std::sync::Arc;

/// A bucket: the documents whose words of one band lie in a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    pub(crate) band: BandNo,
    pub(crate) words: WordRange,
}

/// A search of runs for a bucket.
struct BucketSearch {
    bucket: Bucket,
    /// The fence of the first word.
    fence: u32,
    /// The key to look up in filters; `None` if the words of the bucket have several fences.
    filter: Option<FilterKey>,
}

impl BucketSearch {
    fn new(layout: Layout, bucket: Bucket) -> Self {
        let WordRange { first, last } = bucket.words;
        let shift = layout.fence_shift(bucket.band);
        let fence = (first >> shift) as u32;
        let single = (last >> shift) as u32 == fence && layout.has_filters(bucket.band);
        Self { bucket, fence, filter: single.then(|| FilterKey::new(fence)) }
    }

    /// How often the fence occurs in a band of a run, as far as its filter tells.
    fn occurrence_in(&self, content: &BandRun) -> Occurrence {
        match (&self.filter, content.filter.get()) {
            (Some(key), Some(filter)) => filter.occurrence(key),
            _ => Occurrence::Unknown,
        }
    }
}

/// Whether a document may have an id with this hash. Reads memory only, so it can err on the side
/// of yes.
pub(crate) fn may_have_id(state: &State, layout: Layout, hash: u64) -> bool {
    let bucket = Bucket { band: layout.ids(), words: WordRange::only(hash) };
    let search = BucketSearch::new(layout, bucket);
    state.tail.segments().iter().any(|segment| !segment.bucket(bucket).is_empty())
        || state
            .manifest
            .with_band(bucket.band)
            .any(|(_, content)| search.occurrence_in(content) != Occurrence::Never)
}

/// A candidate whose lanes were read before all buckets were searched.
struct EarlyCandidate {
    doc: DocNo,
    lanes: Box<[u8]>,
}

/// The number of candidates that are read early: enough for a document without similar ones, or
/// with a few.
const EARLY_CANDIDATES: usize = 8;

impl<P: ChunkTable, D: DocTable> View<'_, P, D> {
    /// The live documents of a bucket.
    pub(crate) fn bucket(&self, bucket: Bucket) -> Result<Vec<DocNo>> {
        let search = BucketSearch::new(self.fixed.layout, bucket);
        let mut docs = Vec::new();
        for segment in self.state.tail.segments() {
            docs.extend_from_slice(segment.bucket(bucket));
        }
        guard(self.fixed.path, || {
            for (run, content) in self.state.manifest.with_band(bucket.band) {
                if search.occurrence_in(content) != Occurrence::Never {
                    self.search_run(run, &search, content, &mut docs)?;
                }
            }
            Ok(())
        })?;
        docs.retain(|doc| self.is_live(*doc));
        Ok(docs)
    }

    /// Visits every live document of some buckets of lane bands once, with its lanes, in no
    /// particular order.
    ///
    /// Memory makes some page reads unnecessary. If a filter says that a fence occurs at most once
    /// in a band of a run, and a candidate found earlier has this fence, the bucket has no other
    /// document in the run. A document of the index is usually alone in all its buckets; a query
    /// for it then reads one page instead of one page per band.
    pub(crate) fn candidates(
        &self,
        buckets: &[Bucket],
        visit: impl FnMut(DocNo, &[u8]),
    ) -> Result<()> {
        self.candidates_among(buckets, |_| true, visit)
    }

    /// Like [`candidates`](Self::candidates), for the documents that `is_wanted` accepts. The
    /// signatures of the others are not read.
    ///
    /// All candidates but the first few are visited in order of their numbers. `is_wanted` may
    /// depend on the documents visited before.
    pub(crate) fn candidates_among(
        &self,
        buckets: &[Bucket],
        is_wanted: impl Fn(DocNo) -> bool,
        mut visit: impl FnMut(DocNo, &[u8]),
    ) -> Result<()> {
        let layout = self.fixed.layout;
        let mut found = UniqueDocs::default();
        for segment in self.state.tail.segments() {
            for bucket in buckets {
                let docs = segment.bucket(*bucket).iter().copied();
                found.docs.extend(docs.filter(|doc| is_wanted(*doc)));
                found.compact();
            }
        }
        let searches: Vec<BucketSearch> =
            buckets.iter().map(|bucket| BucketSearch::new(layout, *bucket)).collect();
        // All filters are queried before the first page is read, so their cache misses overlap.
        let mut lookups = Vec::with_capacity(2 * searches.len());
        for search in &searches {
            let runs = self.state.manifest.with_band(search.bucket.band);
            lookups.extend(runs.filter_map(|(run, content)| {
                let occurrence = search.occurrence_in(content);
                (occurrence != Occurrence::Never).then_some((search, run, content, occurrence))
            }));
        }
        let mut early: Vec<EarlyCandidate> = Vec::new();
        for (search, run, content, occurrence) in lookups {
            let Bucket { band, words } = search.bucket;
            let has_entry = |candidate: &EarlyCandidate| {
                let word = word(&candidate.lanes, usize::from(band.0), u32::from(layout.depth));
                (run.first..=run.last).contains(&candidate.doc) && words.contains(word)
            };
            if occurrence == Occurrence::AtMostOnce && early.iter().any(has_entry) {
                continue;
            }
            let start = found.docs.len();
            guard(self.fixed.path, || self.search_run(run, search, content, &mut found.docs))?;
            let new = found.docs.split_off(start);
            let few = new.len() <= EARLY_CANDIDATES;
            for doc in new.into_iter().filter(|doc| is_wanted(*doc)) {
                let known = few && early.iter().any(|candidate| candidate.doc == doc);
                if !few || early.len() >= EARLY_CANDIDATES {
                    found.docs.push(doc);
                } else if !known && self.is_live(doc) {
                    self.with_signature(doc, |lanes, _| {
                        early.push(EarlyCandidate { doc, lanes: lanes.into() });
                    })?;
                }
            }
            found.compact();
        }
        early.iter().for_each(|candidate| visit(candidate.doc, &candidate.lanes));
        let mut docs = found.into_docs();
        docs.retain(|doc| {
            self.is_live(*doc) && !early.iter().any(|candidate| candidate.doc == *doc)
        });
        self.for_each_signature_of(&docs, is_wanted, visit)
    }

    /// Appends the documents that a run has in a bucket, removed ones included.
    fn search_run(
        &self,
        run: &Run,
        search: &BucketSearch,
        content: &Arc<BandRun>,
        out: &mut Vec<DocNo>,
    ) -> Result<()> {
        let Bucket { band, words } = search.bucket;
        if search.filter.is_some() && content.filter.get().is_none() {
            self.build_filter_if_due(band, run, content)?;
        }
        for number in content.first_chunk(search.fence)..content.chunks() {
            let key = posting_key(run.number, band, number);
            let more = self.with_chunk(key, |chunk| {
                for entry in chunk.lower_bound(words.first)..chunk.len() {
                    if chunk.word(entry) > words.last {
                        return false;
                    }
                    out.push(chunk.doc(entry));
                }
                true
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Builds the filter of a band of a run if the band was searched often enough.
    fn build_filter_if_due(&self, band: BandNo, run: &Run, content: &Arc<BandRun>) -> Result<()> {
        let layout = self.fixed.layout;
        let manifest = &self.state.manifest;
        if !content.filter.is_worth_building(content.chunks())
            || !manifest.deserves_filter(layout, band, content.entries, &[run.number])
        {
            return Ok(());
        }
        let shift = layout.fence_shift(band);
        let mut filter = Filter::new(content.entries);
        let (mut source, mut entries) = (Source::run(run, band, content), Vec::new());
        loop {
            source.read(self.fixed.path, self.postings, &mut entries)?;
            if entries.is_empty() {
                break;
            }
            entries.drain(..).for_each(|(word, _)| filter.insert((word >> shift) as u32));
        }
        content.filter.set(filter);
        Ok(())
    }
}

/// Documents found in several buckets. A large cluster of near-duplicates is in every bucket, so
/// repeated numbers are dropped each time the list has doubled.
#[derive(Default)]
struct UniqueDocs {
    docs: Vec<DocNo>,
    /// The length of the list after numbers were last dropped.
    unique: usize,
}

impl UniqueDocs {
    /// Drops repeated numbers if the list is long enough.
    fn compact(&mut self) {
        const MIN_LENGTH: usize = 1 << 12;
        if self.docs.len() >= MIN_LENGTH.max(2 * self.unique) {
            // The numbers of each bucket ascend for the most part, which this sort makes use of.
            self.docs.sort();
            self.docs.dedup();
            self.unique = self.docs.len();
        }
    }

    /// The documents, each once, in order of their numbers.
    fn into_docs(mut self) -> Vec<DocNo> {
        self.docs.sort();
        self.docs.dedup();
        self.docs
    }
}
