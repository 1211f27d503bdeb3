//! Reads many buckets of one band together.

use crate::error::Result;
use crate::lsh::WordRange;
use crate::store::bytes::chunk::Entry;
use crate::store::bytes::schema::{BandNo, DocNo, posting_key};
use crate::store::read::bucket::Bucket;
use crate::store::read::lookups::BucketSearch;
use crate::store::read::view::View;
use crate::store::runs::filter::Occurrence;
use crate::store::runs::run::{BandRun, Run};
use crate::store::storage_error::guard;
use std::ops::Range;

/// A document of a run, and the place of its bucket among those that are read.
type Found = (u32, DocNo);

impl View<'_> {
    /// For each of these buckets of a band that has more than one live document, calls `visit` with
    /// them. The words of the buckets ascend and do not overlap.
    ///
    /// Filters, columns and chunks have the order of words, so that memory is read in order and
    /// each chunk is opened once. Looking up 10,000 buckets one by one takes twice as long.
    pub(crate) fn read_shared_buckets(
        &self,
        band: BandNo,
        buckets: &[WordRange],
        visit: impl FnMut(&[DocNo]),
    ) -> Result<()> {
        let segments = self.state.tail.segments().iter().filter_map(|segment| segment.column(band));
        let mut segments: Vec<_> = segments.map(|column| (column, 0)).collect();
        let in_tail = |words: WordRange, docs: &mut Vec<DocNo>| {
            for (column, end) in &mut segments {
                docs.extend_from_slice(column.next_within(end, words));
            }
        };
        self.visit_buckets(band, buckets, in_tail, visit)
    }

    /// For each bucket of a band that has more than one live document, of which one has one of
    /// these numbers, calls `visit` with them. Passes through the whole tail, which has all
    /// documents with these numbers. `bucket` maps a word to its bucket.
    pub(crate) fn read_buckets_of_latest(
        &self,
        band: BandNo,
        numbers: &Range<u64>,
        bucket: impl Fn(u64) -> WordRange,
        visit: impl FnMut(&[DocNo]),
    ) -> Result<()> {
        let entries = self.state.tail.sorted(band, |doc| self.is_live(doc));
        let has_runs = self.state.manifest.with_band(band).next().is_some();
        let is_wanted = |entries: &&[Entry]| {
            (has_runs || entries.len() > 1)
                && entries.iter().any(|(_, doc)| numbers.contains(&u64::from(doc.0)))
        };
        let groups = entries.chunk_by(|one, next| next.0 <= bucket(one.0).last).filter(is_wanted);
        let groups: Vec<&[Entry]> = groups.collect();
        let words = |group: &&[Entry]| group.first().map(|(word, _)| bucket(*word));
        let buckets: Vec<WordRange> = groups.iter().filter_map(words).collect();
        let mut groups = groups.into_iter();
        let in_tail = |_: WordRange, docs: &mut Vec<DocNo>| {
            docs.extend(groups.next().unwrap_or_default().iter().map(|(_, doc)| *doc));
        };
        self.visit_buckets(band, &buckets, in_tail, visit)
    }

    /// Calls `visit` with the live documents of each of these buckets that has more than one.
    /// `in_tail` appends those that the tail has, and is called for each bucket in turn.
    fn visit_buckets(
        &self,
        band: BandNo,
        buckets: &[WordRange],
        mut in_tail: impl FnMut(WordRange, &mut Vec<DocNo>),
        mut visit: impl FnMut(&[DocNo]),
    ) -> Result<()> {
        let found = guard(self.fixed.path, || self.found_in_runs(band, buckets))?;
        let mut found = found.into_iter().peekable();
        let mut docs = Vec::new();
        for (place, words) in (0..).zip(buckets) {
            docs.clear();
            while let Some((_, doc)) = found.next_if(|(of, _)| *of == place) {
                docs.push(doc);
            }
            in_tail(*words, &mut docs);
            if docs.len() > 1 && !self.state.tombstones.is_empty() {
                docs.retain(|doc| self.is_live(*doc));
            }
            if docs.len() > 1 {
                visit(&docs);
            }
        }
        Ok(())
    }

    /// The documents that the runs have in these buckets, removed ones included, by bucket.
    fn found_in_runs(&self, band: BandNo, buckets: &[WordRange]) -> Result<Vec<Found>> {
        let runs: Vec<_> = self.state.manifest.with_band(band).collect();
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let mut likely: Vec<Vec<u32>> = vec![Vec::new(); runs.len()];
        for (place, words) in (0..).zip(buckets) {
            let search = BucketSearch::new(self.fixed.layout, Bucket { band, words: *words });
            for ((run, content), likely) in runs.iter().zip(&mut likely) {
                if search.occurrence_in(content) != Occurrence::Never {
                    likely.push(place);
                    if search.filter.is_some() {
                        self.build_filter_if_due(band, run, content)?;
                    }
                }
            }
        }
        let mut found = Vec::new();
        for ((run, content), likely) in runs.iter().zip(likely) {
            self.sweep(band, run, content, buckets, &likely, &mut found)?;
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Appends the documents that a run has in the buckets at these places, which ascend.
    fn sweep(
        &self,
        band: BandNo,
        run: &Run,
        content: &BandRun,
        buckets: &[WordRange],
        places: &[u32],
        found: &mut Vec<Found>,
    ) -> Result<()> {
        let shift = self.fixed.layout.fence_shift(band);
        let first_chunk = |words: WordRange| content.first_chunk((words.first >> shift) as u32);
        let mut rest = places.iter().filter_map(|at| Some((*at, *buckets.get(*at as usize)?)));
        let mut bucket = rest.next();
        let mut number = 0;
        while let Some((_, words)) = bucket {
            number = first_chunk(words).max(number);
            if number >= content.chunks() {
                break;
            }
            self.with_chunk(posting_key(run.number, band, number), |chunk| {
                let last = chunk.len().checked_sub(1).map_or(0, |last| chunk.word(last));
                while let Some((place, words)) = bucket {
                    let entries = chunk.lower_bound(words.first)..chunk.len();
                    let entries = entries.take_while(|entry| chunk.word(*entry) <= words.last);
                    found.extend(entries.map(|entry| (place, chunk.doc(entry))));
                    if last <= words.last {
                        // The next chunk may have more.
                        number += 1;
                        break;
                    }
                    bucket = rest.next();
                    if bucket.is_some_and(|(_, words)| first_chunk(words) > number) {
                        break;
                    }
                }
            })?;
        }
        Ok(())
    }
}
