//! Finds candidates: the documents in some buckets.

use crate::error::Result;
use crate::lsh::word;
use crate::store::bytes::schema::{BandNo, DocNo, posting_key};
use crate::store::read::bucket::Bucket;
use crate::store::read::foretold::Foretold;
use crate::store::read::lookups::{BucketSearch, Lookup};
use crate::store::read::tables::{ChunkTable, DocTable};
use crate::store::read::view::View;
use crate::store::runs::cursor::Source;
use crate::store::runs::filter::{FilterBuilder, Occurrence};
use crate::store::runs::run::{BandRun, Run};
use crate::store::storage_error::guard;
use std::cmp::Reverse;
use std::sync::Arc;

/// The buckets in which candidates are searched.
#[derive(Clone, Copy)]
pub(crate) enum Asked<'a> {
    Buckets(&'a [Bucket]),
    /// The buckets of one of the documents that were looked up in memory together.
    Foretold(&'a Foretold<'a>, usize),
}

impl<'a> Asked<'a> {
    /// Documents that are candidates, whichever buckets are searched.
    fn known(self) -> &'a [DocNo] {
        match self {
            Self::Buckets(_) => &[],
            Self::Foretold(foretold, document) => foretold.wanted(document),
        }
    }

    /// Whether it is known that the first bucket has fewer documents than this.
    pub(crate) fn has_fewer(self, least: usize) -> bool {
        match self {
            Self::Buckets(_) => false,
            Self::Foretold(foretold, document) => foretold.has_fewer(document, least),
        }
    }
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
        let mut docs = Vec::new();
        self.read_bucket(bucket, &mut docs)?;
        Ok(docs)
    }

    /// Reads the live documents of a bucket in place of what `docs` holds.
    pub(crate) fn read_bucket(&self, bucket: Bucket, docs: &mut Vec<DocNo>) -> Result<()> {
        self.read_bucket_within(bucket, usize::MAX, docs)?;
        docs.retain(|doc| self.is_live(*doc));
        Ok(())
    }

    /// The live documents of a bucket, or `None` if it has more than `most`, removed ones included.
    pub(crate) fn bucket_within(&self, bucket: Bucket, most: usize) -> Result<Option<Vec<DocNo>>> {
        let mut docs = Vec::new();
        self.read_bucket_within(bucket, most, &mut docs)?;
        if docs.len() > most {
            return Ok(None);
        }
        docs.retain(|doc| self.is_live(*doc));
        Ok(Some(docs))
    }

    /// Reads the documents of a bucket, removed ones included, in place of what `docs` holds, until
    /// there are more than `most`.
    fn read_bucket_within(&self, bucket: Bucket, most: usize, docs: &mut Vec<DocNo>) -> Result<()> {
        let search = BucketSearch::new(self.fixed.layout, bucket);
        docs.clear();
        for segment in self.state.tail.segments() {
            docs.extend_from_slice(segment.bucket(bucket));
        }
        guard(self.fixed.path, || {
            for (run, content) in self.state.manifest.with_band(bucket.band) {
                if docs.len() <= most && search.occurrence_in(content) != Occurrence::Never {
                    self.search_run(run, &search, content, most, docs)?;
                }
            }
            Ok(())
        })
    }

    /// The live documents of some buckets that `is_wanted` accepts, each once, in the order of
    /// their numbers.
    pub(crate) fn documents_among(
        &self,
        buckets: &[Bucket],
        is_wanted: impl Fn(DocNo) -> bool,
    ) -> Result<Vec<DocNo>> {
        let (mut found, mut docs) = (FoundDocs::new(None), Vec::new());
        for bucket in buckets {
            self.read_bucket(*bucket, &mut docs)?;
            found.docs.extend(docs.iter().copied().filter(|doc| is_wanted(*doc)));
            found.compact();
        }
        Ok(found.into_docs().0)
    }

    /// The first documents of a bucket of one word, by number and without a gap: at least `most` if
    /// it has so many, removed ones included. `None` if it has fewer than `least`. Reads no page if
    /// memory alone tells that.
    pub(crate) fn crowd(
        &self,
        bucket: Bucket,
        least: usize,
        most: usize,
    ) -> Result<Option<Vec<DocNo>>> {
        let search = BucketSearch::new(self.fixed.layout, bucket);
        let runs = self.state.manifest.with_band(bucket.band).filter_map(|(run, content)| {
            let occurrence = search.occurrence_in(content);
            (occurrence != Occurrence::Never).then_some((run, content, occurrence))
        });
        let runs: Vec<_> = runs.collect();
        let segments = self.state.tail.segments().iter();
        let in_tail = segments.flat_map(|segment| segment.bucket(bucket)).copied();
        let are_single = runs.iter().all(|(.., told)| *told == Occurrence::AtMostOnce);
        if are_single && runs.len() + in_tail.clone().take(least).count() < least {
            return Ok(None);
        }
        let mut docs = Vec::new();
        guard(self.fixed.path, || {
            for (run, content, _) in runs {
                if docs.len() < most {
                    self.search_run(run, &search, content, most, &mut docs)?;
                }
            }
            Ok(())
        })?;
        // The last run may have more that come before those of the tail.
        if docs.len() < most {
            docs.extend(in_tail.take(most));
        }
        Ok((docs.len() >= least).then_some(docs))
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
        self.candidates_among(Asked::Buckets(buckets), None, |_| true, visit)?;
        Ok(())
    }

    /// Like [`candidates`](Self::candidates), for the documents that `is_wanted` accepts. The
    /// signatures of the others are not read.
    ///
    /// All candidates but the first few are visited in order of their numbers. `is_wanted` may
    /// depend on the documents visited before.
    ///
    /// With a limit, some candidates may be left out; returns whether any were.
    pub(crate) fn candidates_among(
        &self,
        asked: Asked<'_>,
        limit: Option<CandidateLimit>,
        is_wanted: impl Fn(DocNo) -> bool,
        mut visit: impl FnMut(DocNo, &[u8]),
    ) -> Result<bool> {
        let layout = self.fixed.layout;
        let known = asked.known();
        let limit = limit.map(|limit| limit.less(known.len()));
        let mut found = FoundDocs::new(limit);
        let mut in_tail = |band: BandNo, docs: &[DocNo]| {
            let docs = found.admit(band, docs);
            found.docs.extend(docs.iter().copied().filter(|doc| is_wanted(*doc)));
            found.compact();
        };
        let mut lookups: Vec<Lookup<'_>> = Vec::new();
        match asked {
            Asked::Buckets(buckets) => {
                for segment in self.state.tail.segments() {
                    let docs = buckets.iter().map(|bucket| (bucket.band, segment.bucket(*bucket)));
                    docs.for_each(|(band, docs)| in_tail(band, docs));
                }
                lookups.reserve(2 * buckets.len());
                let buckets = buckets.iter().copied();
                self.for_each_lookup(buckets, |_, lookup| lookups.push(lookup));
            }
            Asked::Foretold(foretold, document) => {
                for (band, tail, runs) in foretold.of(document) {
                    tail.iter().for_each(|docs| in_tail(band, docs));
                    lookups.extend(runs);
                }
            }
        }
        let mut early: Vec<EarlyCandidate> = Vec::new();
        for Lookup { bucket, run, content, occurrence } in lookups {
            let Bucket { band, words } = bucket;
            let has_entry = |candidate: &EarlyCandidate| {
                let word = word(&candidate.lanes, usize::from(band.0), u32::from(layout.depth));
                (run.first..=run.last).contains(&candidate.doc) && words.contains(word)
            };
            if occurrence == Occurrence::AtMostOnce && early.iter().any(has_entry) {
                continue;
            }
            let room = found.room_in(band);
            let mut new = Vec::new();
            let search = BucketSearch::new(layout, bucket);
            guard(self.fixed.path, || self.search_run(run, &search, content, room, &mut new))?;
            new.truncate(found.admit(band, &new).len());
            let few = new.len() <= EARLY_CANDIDATES;
            for doc in new.into_iter().filter(|doc| is_wanted(*doc)) {
                let known = few && early.iter().any(|candidate| candidate.doc == doc);
                if !few || early.len() >= EARLY_CANDIDATES {
                    found.docs.push(doc);
                } else if !known && self.is_live(doc) {
                    self.with_lanes(doc, |lanes| {
                        early.push(EarlyCandidate { doc, lanes: lanes.into() });
                    })?;
                }
            }
            found.compact();
        }
        early.iter().for_each(|candidate| visit(candidate.doc, &candidate.lanes));
        found.docs.retain(|doc| {
            self.is_live(*doc) && !early.iter().any(|candidate| candidate.doc == *doc)
        });
        let (mut docs, limited) = found.into_docs();
        if !known.is_empty() {
            let is_early = |doc: &DocNo| early.iter().any(|candidate| candidate.doc == *doc);
            docs.extend(known.iter().filter(|doc| !is_early(doc)));
            docs.sort_unstable();
            docs.dedup();
        }
        self.for_each_signature_of(&docs, is_wanted, visit)?;
        Ok(limited)
    }

    /// Appends the documents that a run has in a bucket, removed ones included, until `out` has
    /// more than `room`.
    pub(super) fn search_run(
        &self,
        run: &Run,
        search: &BucketSearch,
        content: &Arc<BandRun>,
        room: usize,
        out: &mut Vec<DocNo>,
    ) -> Result<()> {
        self.visit_run(run, search, content, |doc| {
            let has_room = out.len() <= room;
            if has_room {
                out.push(doc);
            }
            has_room
        })
    }

    /// Visits the documents that a run has in a bucket, removed ones included, by word and number,
    /// until `visit` returns false.
    pub(super) fn visit_run(
        &self,
        run: &Run,
        search: &BucketSearch,
        content: &Arc<BandRun>,
        mut visit: impl FnMut(DocNo) -> bool,
    ) -> Result<()> {
        let Bucket { band, words } = search.bucket;
        if search.filter.is_some() {
            self.build_filter_if_due(band, run, content)?;
        }
        for number in content.first_chunk(search.fence)..content.chunks() {
            let key = posting_key(run.number, band, number);
            let more = self.with_chunk(key, |chunk| {
                let entries = chunk.lower_bound(words.first)..chunk.len();
                let mut entries = entries.take_while(|entry| chunk.word(*entry) <= words.last);
                let all = entries.by_ref().all(|entry| visit(chunk.doc(entry)));
                all && chunk.len().checked_sub(1).is_none_or(|last| chunk.word(last) <= words.last)
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Builds the filter of a band of a run if there is none and the band was searched often
    /// enough.
    pub(super) fn build_filter_if_due(
        &self,
        band: BandNo,
        run: &Run,
        content: &Arc<BandRun>,
    ) -> Result<()> {
        let layout = self.fixed.layout;
        let manifest = &self.state.manifest;
        if content.filter.get().is_some()
            || !content.filter.is_worth_building(content.chunks())
            || !manifest.deserves_filter(
                (layout, self.fixed.filter_bytes),
                band,
                content.entries,
                &[run.number],
            )
        {
            return Ok(());
        }
        let shift = layout.fence_shift(band);
        let mut filter = FilterBuilder::at_once(layout, band, content.entries);
        let (mut source, mut entries) = (Source::run(run, band, content), Vec::new());
        loop {
            source.read(self.fixed.path, self.postings, &mut entries)?;
            if entries.is_empty() {
                break;
            }
            filter.insert_all(&entries, shift);
            entries.clear();
        }
        content.filter.set(filter.into_filter());
        Ok(())
    }
}

/// How many candidates a search compares, so that buckets which someone has crowded on purpose
/// take bounded time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CandidateLimit {
    /// The number of candidates to compare: those that share the most buckets.
    pub(crate) compared: usize,
}

impl CandidateLimit {
    /// The number of documents to read from one bucket. Reading one costs some nanoseconds, a
    /// comparison some ten times as much.
    pub(crate) const READ: usize = 1 << 17;

    /// The limit if this many candidates are compared anyway.
    fn less(self, known: usize) -> Self {
        Self { compared: self.compared.saturating_sub(known) }
    }
}

/// Documents found in several buckets, each as often as it was found.
struct FoundDocs {
    docs: Vec<DocNo>,
    limit: Option<CandidateLimit>,
    /// The length of the list after repeated numbers were last dropped.
    unique: usize,
    /// The number of documents read in the bucket of each band. Empty without a limit, and before
    /// the first document.
    read: Vec<usize>,
    /// Whether a bucket has more documents than are read.
    cut: bool,
}

impl FoundDocs {
    fn new(limit: Option<CandidateLimit>) -> Self {
        Self { docs: Vec::new(), limit, unique: 0, read: Vec::new(), cut: false }
    }

    /// The number of documents that are still read in the bucket of a band.
    fn room_in(&self, band: BandNo) -> usize {
        let read = self.read.get(usize::from(band.0)).copied().unwrap_or(0);
        self.limit.map_or(usize::MAX, |_| CandidateLimit::READ.saturating_sub(read))
    }

    /// Counts documents of a bucket. Returns those for which there is room.
    fn admit<'d>(&mut self, band: BandNo, docs: &'d [DocNo]) -> &'d [DocNo] {
        let admitted = docs.get(..self.room_in(band)).unwrap_or(docs);
        self.cut |= admitted.len() < docs.len();
        if self.read.is_empty() && self.limit.is_some() && !admitted.is_empty() {
            self.read.resize(usize::from(u8::MAX) + 1, 0);
        }
        if let Some(read) = self.read.get_mut(usize::from(band.0)) {
            *read += admitted.len();
        }
        admitted
    }

    /// Drops repeated numbers if the list is long enough. A large cluster of near-duplicates is in
    /// every bucket, so this is done each time the list has doubled. With a limit repetitions are
    /// kept, because they tell how many buckets a document shares.
    fn compact(&mut self) {
        const MIN_LENGTH: usize = 1 << 12;
        if self.limit.is_none() && self.docs.len() >= MIN_LENGTH.max(2 * self.unique) {
            // The numbers of each bucket ascend for the most part, which this sort makes use of.
            self.docs.sort();
            self.docs.dedup();
            self.unique = self.docs.len();
        }
    }

    /// The documents to compare, each once, in order of their numbers, and whether others were left
    /// out. Of documents that share equally many buckets, those with the lowest numbers remain.
    fn into_docs(mut self) -> (Vec<DocNo>, bool) {
        self.docs.sort();
        let most = self.limit.map_or(usize::MAX, |limit| limit.compared);
        if self.docs.len() <= most {
            self.docs.dedup();
            return (self.docs, self.cut);
        }
        let equal = self.docs.chunk_by(|a, b| a == b);
        let mut counted: Vec<(Reverse<usize>, DocNo)> =
            equal.filter_map(|equal| Some((Reverse(equal.len()), *equal.first()?))).collect();
        let limited = counted.len() > most;
        if limited {
            counted.select_nth_unstable(most);
            counted.truncate(most);
        }
        let mut docs: Vec<DocNo> = counted.into_iter().map(|(_, doc)| doc).collect();
        docs.sort();
        (docs, self.cut || limited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(numbers: &[u32]) -> Vec<DocNo> {
        numbers.iter().copied().map(DocNo).collect()
    }

    #[test]
    fn documents_that_share_the_most_buckets_are_compared() {
        let mut found = FoundDocs::new(Some(CandidateLimit { compared: 3 }));
        for (band, bucket) in [&[1, 2, 5, 9][..], &[2, 7, 9], &[2, 7, 8]].iter().enumerate() {
            let bucket = docs(bucket);
            assert_eq!(found.admit(BandNo(band as u8), &bucket), bucket);
            found.docs.extend(bucket);
            found.compact();
        }
        assert_eq!(found.into_docs(), (docs(&[2, 7, 9]), true));
    }

    #[test]
    fn a_bucket_is_read_up_to_the_limit() {
        let bucket = docs(&vec![3; CandidateLimit::READ]);
        let mut found = FoundDocs::new(Some(CandidateLimit { compared: 3 }));
        assert_eq!(found.admit(BandNo(1), &docs(&[3; 10])).len(), 10);
        assert_eq!(found.room_in(BandNo(1)), CandidateLimit::READ - 10);
        assert_eq!(found.admit(BandNo(1), &bucket).len(), CandidateLimit::READ - 10);
        assert!(found.cut && found.room_in(BandNo(1)) == 0);
        assert_eq!(found.room_in(BandNo(2)), CandidateLimit::READ);
    }

    #[test]
    fn without_a_limit_every_document_is_compared() {
        let mut found = FoundDocs::new(None);
        for band in 0..9 {
            let bucket = docs(&(0..3000).collect::<Vec<u32>>());
            let admitted = found.admit(BandNo(band), &bucket);
            found.docs.extend(admitted);
            found.compact();
        }
        assert!(found.docs.len() <= 9000, "repetitions are dropped");
        assert_eq!(found.into_docs(), (docs(&(0..3000).collect::<Vec<u32>>()), false));
    }
}
