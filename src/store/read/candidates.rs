//! Finds candidates: the documents in some buckets.

use crate::error::Result;
use crate::lsh::word;
use crate::store::bytes::schema::{BandNo, DocNo};
use crate::store::read::bucket::Bucket;
use crate::store::read::foretold::Foretold;
use crate::store::read::found_docs::{CandidateLimit, FoundDocs};
use crate::store::read::lookups::{BucketSearch, Lookup};
use crate::store::read::tables::{ChunkTable, DocTable};
use crate::store::read::view::View;
use crate::store::runs::filter::Occurrence;
use crate::store::storage_error::guard;

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
}
