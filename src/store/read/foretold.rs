//! Looks up the buckets of many documents in memory, in the order of words.

use crate::lsh::WordRange;
use crate::store::bytes::schema::{BandNo, DocNo};
use crate::store::grouped::Grouped;
use crate::store::parallel;
use crate::store::read::bucket::Bucket;
use crate::store::read::lookups::Lookup;
use crate::store::read::view::View;
use crate::store::runs::filter::Occurrence;

/// The buckets of many documents in one band.
#[derive(Debug)]
pub(crate) struct BandBuckets {
    /// The distinct buckets, in the order of their words.
    pub(crate) buckets: Vec<WordRange>,
    /// The place of each document's bucket among them; [`NOWHERE`](Self::NOWHERE) for a document
    /// without lanes.
    pub(crate) of: Vec<u32>,
}

impl BandBuckets {
    /// The place of the bucket of a document without lanes.
    pub(crate) const NOWHERE: u32 = u32::MAX;
}

/// What memory tells about the buckets of many documents: what the tail has in them, and which runs
/// may have more.
///
/// Memory is read in the order of words, so what is read lies close together. To look up all
/// buckets of one document after the other takes several times as long: nearly every lookup waits
/// for memory then.
pub(crate) struct Foretold<'v> {
    bands: Vec<BandForetold<'v>>,
    replaced: Option<Replaced>,
}

/// Buckets whose documents are known to be of no use to most of those that ask for them.
pub(crate) struct Replaced {
    /// For each band, whether a bucket is one of them, by its place.
    pub(crate) buckets: Vec<Vec<bool>>,
    /// Whether a document passes over these buckets.
    pub(crate) passing: Vec<bool>,
    /// The documents of these buckets that each of the passing ones wants nevertheless.
    pub(crate) wanted: Grouped<DocNo>,
}

struct BandForetold<'v> {
    band: BandNo,
    buckets: &'v BandBuckets,
    /// The documents that each segment of the tail has in a bucket, if it has any.
    tail: Grouped<&'v [DocNo]>,
    lookups: Grouped<Lookup<'v>>,
}

impl View<'_> {
    /// Looks up the buckets of the first bands in memory, on all threads.
    pub(crate) fn foretell<'v>(&'v self, bands: &'v [BandBuckets]) -> Foretold<'v> {
        let numbered = (0..).map(BandNo).zip(bands).collect();
        let bands =
            parallel::map(numbered, true, |(band, buckets)| self.foretell_in(band, buckets));
        Foretold { bands, replaced: None }
    }

    fn foretell_in<'v>(&'v self, band: BandNo, buckets: &'v BandBuckets) -> BandForetold<'v> {
        let all =
            || (0..).zip(&buckets.buckets).map(|(at, words)| (at, Bucket { band, words: *words }));
        let mut tail = Vec::new();
        for segment in self.state.tail.segments() {
            let docs = all().map(|(at, bucket)| (at, segment.bucket(bucket)));
            tail.extend(docs.filter(|(_, docs)| !docs.is_empty()));
        }
        let mut lookups = Vec::new();
        let each = buckets.buckets.iter().map(|words| Bucket { band, words: *words });
        self.for_each_lookup(each, |at, lookup| lookups.push((at, lookup)));
        let count = buckets.buckets.len();
        let (tail, lookups) = (Grouped::new(tail, count), Grouped::new(lookups, count));
        BandForetold { band, buckets, tail, lookups }
    }
}

impl Foretold<'_> {
    /// Passes over buckets from now on.
    pub(crate) fn replace(&mut self, replaced: Replaced) {
        self.replaced = Some(replaced);
    }

    /// The wanted documents of the buckets that a document passes over.
    pub(super) fn wanted(&self, document: usize) -> &[DocNo] {
        self.replaced.as_ref().map_or(&[], |replaced| replaced.wanted.of(document as u32))
    }

    /// Whether memory tells that the first bucket of a document has fewer documents than this.
    pub(super) fn has_fewer(&self, document: usize, least: usize) -> bool {
        self.all_of(document).next().is_none_or(|(_, tail, runs, is_passed)| {
            let in_tail: usize = tail.iter().map(|docs| docs.len()).sum();
            let are_single = runs.iter().all(|run| run.occurrence == Occurrence::AtMostOnce);
            !is_passed && are_single && in_tail + runs.len() < least
        })
    }

    /// The buckets of a document in each band, without those that it passes over: what the tail has
    /// in them, segment by segment, and the lookups in runs.
    pub(super) fn of(
        &self,
        document: usize,
    ) -> impl Iterator<Item = (BandNo, &[&[DocNo]], &[Lookup<'_>])> {
        let all = self.all_of(document).filter(|(.., is_passed)| !is_passed);
        all.map(|(band, tail, runs, _)| (band, tail, runs))
    }

    /// All buckets of a document, and whether it passes over each.
    fn all_of(
        &self,
        document: usize,
    ) -> impl Iterator<Item = (BandNo, &[&[DocNo]], &[Lookup<'_>], bool)> {
        let replaced = self.replaced.as_ref();
        let replaced =
            replaced.filter(|replaced| replaced.passing.get(document).is_some_and(|is| *is));
        self.bands.iter().filter_map(move |foretold| {
            let BandForetold { band, buckets, tail, lookups } = foretold;
            let bucket = *buckets.of.get(document)?;
            let is_passed = replaced
                .and_then(|replaced| {
                    replaced.buckets.get(usize::from(band.0))?.get(bucket as usize)
                })
                .is_some_and(|is| *is);
            Some((*band, tail.of(bucket), lookups.of(bucket), is_passed))
        })
    }
}
