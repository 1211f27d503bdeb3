//! Asks the filters which runs may have a bucket.

use crate::lsh::WordRange;
use crate::store::bytes::schema::Layout;
use crate::store::read::bucket::Bucket;
use crate::store::read::view::View;
use crate::store::runs::filter::{FilterKey, FilterPlace, Occurrence};
use crate::store::runs::run::{BandRun, Run};
use std::sync::Arc;

/// A search of runs for a bucket.
pub(super) struct BucketSearch {
    pub(super) bucket: Bucket,
    /// The fence of the first word.
    pub(super) fence: u32,
    /// The key to look up in filters; `None` if the words of the bucket have several fences.
    pub(super) filter: Option<FilterKey>,
}

impl BucketSearch {
    pub(super) fn new(layout: Layout, bucket: Bucket) -> Self {
        let WordRange { first, last } = bucket.words;
        let shift = layout.fence_shift(bucket.band);
        let fence = (first >> shift) as u32;
        let single = (last >> shift) as u32 == fence && layout.has_filters(bucket.band);
        Self { bucket, fence, filter: single.then(|| FilterKey::new(fence)) }
    }

    /// The place of the fence in the filter of a band of a run. Reads nothing of the filter.
    fn place_in<'a>(&'a self, content: &'a BandRun) -> FilterPlace<'a> {
        match (&self.filter, content.filter.get()) {
            (Some(key), Some(filter)) => filter.place(key),
            _ => FilterPlace::Nowhere,
        }
    }

    /// How often the fence occurs in a band of a run, as far as its filter tells.
    pub(super) fn occurrence_in(&self, content: &BandRun) -> Occurrence {
        self.place_in(content).occurrence()
    }
}

/// A lookup of a bucket in a run that may have it.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'v> {
    pub(super) bucket: Bucket,
    pub(super) run: &'v Run,
    pub(super) content: &'v Arc<BandRun>,
    /// How often the fence of the bucket occurs, as far as the filter tells.
    pub(super) occurrence: Occurrence,
}

impl View<'_> {
    /// Passes on the lookups of buckets in the runs that may have them, by what memory tells, each
    /// with the position of its bucket.
    ///
    /// The places in the filters are computed first, then all are read, and nothing is decided by
    /// what one holds before the next is read. So the processor waits for many of them at once.
    pub(super) fn for_each_lookup<'v>(
        &'v self,
        mut buckets: impl Iterator<Item = Bucket>,
        mut pass: impl FnMut(u32, Lookup<'v>),
    ) {
        /// The buckets that are looked up together. What is computed for them stays in the cache.
        const TOGETHER: usize = 128;
        let (layout, manifest) = (self.fixed.layout, &self.state.manifest);
        let mut at = 0;
        loop {
            let together = buckets.by_ref().take(TOGETHER);
            let searches: Vec<BucketSearch> =
                together.map(|bucket| BucketSearch::new(layout, bucket)).collect();
            if searches.is_empty() {
                break;
            }
            let mut places = Vec::with_capacity(searches.len() * manifest.runs().len());
            for search in &searches {
                let runs = manifest.with_band(search.bucket.band);
                places.extend(runs.map(|(_, content)| search.place_in(content)));
            }
            let told: Vec<Occurrence> = places.iter().map(FilterPlace::occurrence).collect();
            let mut told = told.into_iter();
            for BucketSearch { bucket, .. } in &searches {
                for ((run, content), occurrence) in manifest.with_band(bucket.band).zip(&mut told) {
                    if occurrence != Occurrence::Never {
                        pass(at, Lookup { bucket: *bucket, run, content, occurrence });
                    }
                }
                at += 1;
            }
        }
    }
}
