//! Finds candidates: the documents in some buckets.

use crate::error::Result;
use crate::lsh::word;
use crate::store::bytes::schema::{BandNo, DocNo};
use crate::store::read::bucket::Bucket;
use crate::store::read::foretold::Foretold;
use crate::store::read::found_docs::{CandidateLimit, FoundDocs};
use crate::store::read::lookups::{BucketSearch, Lookup};
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

impl View<'_> {
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

    /// Visits the live documents of some buckets of lane bands that `is_wanted` accepts, each once,
    /// with its lanes. The signatures of the others are not read. All candidates but the first few
    /// are visited in order of their numbers. `is_wanted` may depend on the documents visited
    /// before.
    ///
    /// With a limit, some candidates may be left out; returns whether any were.
    ///
    /// Memory makes some page reads unnecessary. If a filter says that a fence occurs at most once
    /// in a band of a run, and a candidate found earlier has this fence, the bucket has no other
    /// document in the run. A document of the index is usually alone in all its buckets; a query
    /// for it then reads one page instead of one page per band.
    pub(crate) fn candidates_among(
        &self,
        asked: Asked<'_>,
        limit: Option<CandidateLimit>,
        is_wanted: impl Fn(DocNo) -> bool,
        visit: impl FnMut(DocNo, &[u8]),
    ) -> Result<bool> {
        let known = asked.known();
        let limit = limit.map(|limit| limit.less(known.len()));
        let mut search = CandidateSearch {
            view: self,
            is_wanted,
            found: FoundDocs::new(limit),
            early: Vec::new(),
        };
        let lookups = self.lookups(asked, |band, docs| search.take_tail(band, docs));
        for lookup in lookups {
            search.look_up(lookup)?;
        }
        search.visit(known, visit)
    }

    /// Passes on what the tail has in the buckets, and returns the lookups in runs.
    fn lookups<'l>(
        &'l self,
        asked: Asked<'l>,
        mut in_tail: impl FnMut(BandNo, &[DocNo]),
    ) -> Vec<Lookup<'l>> {
        let mut lookups = Vec::new();
        match asked {
            Asked::Buckets(buckets) => {
                for segment in self.state.tail.segments() {
                    buckets.iter().for_each(|bucket| in_tail(bucket.band, segment.bucket(*bucket)));
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
        lookups
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

/// A search for candidates, and what it has found so far.
struct CandidateSearch<'v, W> {
    view: &'v View<'v>,
    is_wanted: W,
    found: FoundDocs,
    early: Vec<EarlyCandidate>,
}

impl<W: Fn(DocNo) -> bool> CandidateSearch<'_, W> {
    /// Takes the documents that a segment of the tail has in a bucket.
    fn take_tail(&mut self, band: BandNo, docs: &[DocNo]) {
        let docs = self.found.admit(band, docs);
        self.found.docs.extend(docs.iter().copied().filter(|doc| (self.is_wanted)(*doc)));
        self.found.compact();
    }

    /// Takes the documents that a run has in a bucket, unless memory tells that it has no others
    /// than those found before.
    fn look_up(&mut self, lookup: Lookup<'_>) -> Result<()> {
        if let Some(only) = self.only_one_of(&lookup) {
            if self.found.counts() {
                self.found.docs.push(only);
            }
            return Ok(());
        }
        let (view, Lookup { bucket, run, content, .. }) = (self.view, lookup);
        let room = self.found.room_in(bucket.band);
        let mut new = Vec::new();
        let search = BucketSearch::new(view.fixed.layout, bucket);
        guard(view.fixed.path, || view.search_run(run, &search, content, room, &mut new))?;
        new.truncate(self.found.admit(bucket.band, &new).len());
        let few = new.len() <= EARLY_CANDIDATES;
        for doc in new {
            if (self.is_wanted)(doc) {
                self.take(doc, few)?;
            }
        }
        self.found.compact();
        Ok(())
    }

    /// The early candidate that is the only document which a run can have in a bucket.
    fn only_one_of(&self, lookup: &Lookup<'_>) -> Option<DocNo> {
        let Lookup { bucket, run, occurrence, .. } = lookup;
        let depth = u32::from(self.view.fixed.layout.depth);
        let has_entry = |candidate: &EarlyCandidate| {
            let word = word(&candidate.lanes, usize::from(bucket.band.0), depth);
            (run.first..=run.last).contains(&candidate.doc) && bucket.words.contains(word)
        };
        if *occurrence != Occurrence::AtMostOnce {
            return None;
        }
        self.early.iter().find(|candidate| has_entry(candidate)).map(|candidate| candidate.doc)
    }

    /// Takes a document of a run. Its lanes are read early if it is one of few and there is room.
    fn take(&mut self, doc: DocNo, is_one_of_few: bool) -> Result<()> {
        self.found.docs.push(doc);
        let has_room = self.early.len() < EARLY_CANDIDATES;
        if is_one_of_few && has_room && !is_among(&self.early, doc) && self.view.is_live(doc) {
            self.view.with_lanes(doc, |lanes| {
                self.early.push(EarlyCandidate { doc, lanes: lanes.into() });
            })?;
        }
        Ok(())
    }

    /// Visits what was found, and the documents that are candidates anyway. Returns whether others
    /// were left out.
    fn visit(self, known: &[DocNo], mut visit: impl FnMut(DocNo, &[u8])) -> Result<bool> {
        let Self { view, is_wanted, mut found, early } = self;
        found.docs.retain(|doc| view.is_live(*doc));
        let (mut docs, limited) = found.into_docs();
        if !known.is_empty() {
            docs.extend(known);
            docs.sort_unstable();
            docs.dedup();
        }
        let is_compared = |candidate: &&EarlyCandidate| docs.binary_search(&candidate.doc).is_ok();
        let compared = early.iter().filter(is_compared);
        compared.for_each(|candidate| visit(candidate.doc, &candidate.lanes));
        docs.retain(|doc| !is_among(&early, *doc));
        view.for_each_signature_of(&docs, is_wanted, visit)?;
        Ok(limited)
    }
}

fn is_among(early: &[EarlyCandidate], doc: DocNo) -> bool {
    early.iter().any(|candidate| candidate.doc == doc)
}
