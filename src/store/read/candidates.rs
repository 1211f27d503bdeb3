//! Which documents share a bucket with something that is looked for.

use crate::error::Result;
use crate::lsh::{WordRange, word};
use crate::store::bytes::schema::{BandNo, DocNo, Layout, posting_key};
use crate::store::read::view::{ChunkTable, DocTable, View};
use crate::store::runs::cursor::Source;
use crate::store::runs::filter::{Filter, FilterKey, Occurs};
use crate::store::runs::run::{BandRun, Run};
use crate::store::state::State;
use crate::store::storage_error::guard;
use std::sync::Arc;

/// The documents of a band whose words lie in a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    pub(crate) band: BandNo,
    pub(crate) words: WordRange,
}

/// A bucket as runs are searched for it.
struct Wanted {
    bucket: Bucket,
    /// The fence of its first word.
    fence: u32,
    /// What to ask filters; `None` where the bucket has words of several fences.
    filter: Option<FilterKey>,
}

impl Wanted {
    fn new(layout: Layout, bucket: Bucket) -> Self {
        let WordRange { first, last } = bucket.words;
        let shift = layout.fence_shift(bucket.band);
        let fence = (first >> shift) as u32;
        let single = (last >> shift) as u32 == fence && layout.has_filters(bucket.band);
        Self { bucket, fence, filter: single.then(|| FilterKey::new(fence)) }
    }

    /// How often the fence occurs in a band of a run, as far as its filter tells.
    fn occurs_in(&self, content: &BandRun) -> Occurs {
        match (&self.filter, content.filter.get()) {
            (Some(key), Some(filter)) => filter.occurs(key),
            _ => Occurs::Unknown,
        }
    }
}

/// Whether there may be a document with an id of this hash, as far as memory tells.
pub(crate) fn may_have_id(state: &State, layout: Layout, hash: u64) -> bool {
    let bucket = Bucket { band: layout.ids(), words: WordRange::only(hash) };
    let wanted = Wanted::new(layout, bucket);
    state.tail.segments().iter().any(|segment| !segment.bucket(bucket).is_empty())
        || state
            .manifest
            .with_band(bucket.band)
            .any(|(_, content)| wanted.occurs_in(content) != Occurs::Never)
}

/// A candidate whose lanes were read before all buckets were searched.
struct Met {
    doc: DocNo,
    lanes: Box<[u8]>,
}

/// So many candidates are read early: a document that is alone, or in a small cluster.
const MET_EARLY: usize = 8;

impl<P: ChunkTable, D: DocTable> View<'_, P, D> {
    /// The live documents of a bucket.
    pub(crate) fn bucket(&self, bucket: Bucket) -> Result<Vec<DocNo>> {
        let wanted = Wanted::new(self.fixed.layout, bucket);
        let mut docs = Vec::new();
        for segment in self.state.tail.segments() {
            docs.extend_from_slice(segment.bucket(bucket));
        }
        guard(self.fixed.path, || {
            for (run, content) in self.state.manifest.with_band(bucket.band) {
                if wanted.occurs_in(content) != Occurs::Never {
                    self.search_run(run, &wanted, content, &mut docs)?;
                }
            }
            Ok(())
        })?;
        docs.retain(|doc| self.is_live(*doc));
        Ok(docs)
    }

    /// Hands over every live document of some buckets of lanes once, with its lanes, in no order.
    ///
    /// A page is not read where memory tells what is in it: a filter knows whether a fence occurs
    /// once in a band of a run, and if a document that was met before has it, there is no other.
    /// Most documents are alone in all their buckets, so one page is read instead of one a band.
    pub(crate) fn candidates(
        &self,
        buckets: &[Bucket],
        visit: impl FnMut(DocNo, &[u8]),
    ) -> Result<()> {
        self.candidates_among(buckets, |_| true, visit)
    }

    /// As [`candidates`](Self::candidates), of those documents only that are wanted: the signatures
    /// of the others are not read. All but the first few are visited by number, and what is wanted
    /// may depend on what was visited.
    pub(crate) fn candidates_among(
        &self,
        buckets: &[Bucket],
        is_wanted: impl Fn(DocNo) -> bool,
        mut visit: impl FnMut(DocNo, &[u8]),
    ) -> Result<()> {
        let layout = self.fixed.layout;
        let mut found = Gathered::default();
        for segment in self.state.tail.segments() {
            for bucket in buckets {
                let docs = segment.bucket(*bucket).iter().copied();
                found.docs.extend(docs.filter(|doc| is_wanted(*doc)));
                found.tidy();
            }
        }
        let wanted: Vec<Wanted> =
            buckets.iter().map(|bucket| Wanted::new(layout, *bucket)).collect();
        // All filters are asked before the first page is read: they wait for memory together.
        let mut places = Vec::with_capacity(2 * wanted.len());
        for wanted in &wanted {
            let runs = self.state.manifest.with_band(wanted.bucket.band);
            places.extend(runs.filter_map(|(run, content)| {
                let occurs = wanted.occurs_in(content);
                (occurs != Occurs::Never).then_some((wanted, run, content, occurs))
            }));
        }
        let mut met: Vec<Met> = Vec::new();
        for (wanted, run, content, occurs) in places {
            let Bucket { band, words } = wanted.bucket;
            let is_it = |met: &Met| {
                let word = word(&met.lanes, usize::from(band.0), u32::from(layout.depth));
                (run.first..=run.last).contains(&met.doc) && words.contains(word)
            };
            if occurs == Occurs::Once && met.iter().any(is_it) {
                continue;
            }
            let start = found.docs.len();
            guard(self.fixed.path, || self.search_run(run, wanted, content, &mut found.docs))?;
            let new = found.docs.split_off(start);
            let few = new.len() <= MET_EARLY;
            for doc in new.into_iter().filter(|doc| is_wanted(*doc)) {
                let known = few && met.iter().any(|met| met.doc == doc);
                if !few || met.len() >= MET_EARLY {
                    found.docs.push(doc);
                } else if !known && self.is_live(doc) {
                    self.with_signature(doc, |lanes, _| {
                        met.push(Met { doc, lanes: lanes.into() });
                    })?;
                }
            }
            found.tidy();
        }
        met.iter().for_each(|met| visit(met.doc, &met.lanes));
        for doc in found.once() {
            let known = met.iter().any(|met| met.doc == doc);
            if self.is_live(doc) && !known && is_wanted(doc) {
                self.with_signature(doc, |lanes, _| visit(doc, lanes))?;
            }
        }
        Ok(())
    }

    /// Appends what a run has of a bucket, dead documents included.
    fn search_run(
        &self,
        run: &Run,
        wanted: &Wanted,
        content: &Arc<BandRun>,
        out: &mut Vec<DocNo>,
    ) -> Result<()> {
        let Bucket { band, words } = wanted.bucket;
        if wanted.filter.is_some() && content.filter.get().is_none() {
            self.consider_filter(band, run, content)?;
        }
        for number in content.first_chunk(wanted.fence)..content.chunks() {
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

    /// Builds the filter of a band of a run that was searched often enough.
    fn consider_filter(&self, band: BandNo, run: &Run, content: &Arc<BandRun>) -> Result<()> {
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

/// Documents found in several buckets. A cluster of near copies is in every one of them: what is
/// gathered is made unique each time it has doubled.
#[derive(Default)]
struct Gathered {
    docs: Vec<DocNo>,
    unique: usize,
}

impl Gathered {
    fn tidy(&mut self) {
        const LEAST: usize = 1 << 12;
        if self.docs.len() >= LEAST.max(2 * self.unique) {
            self.docs.sort_unstable();
            self.docs.dedup();
            self.unique = self.docs.len();
        }
    }

    fn once(mut self) -> Vec<DocNo> {
        self.docs.sort_unstable();
        self.docs.dedup();
        self.docs
    }
}
