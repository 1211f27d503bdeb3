//! Searches a run for a bucket, and builds the filters that make this unnecessary.

use crate::error::Result;
use crate::store::bytes::schema::{BandNo, DocNo, posting_key};
use crate::store::read::bucket::Bucket;
use crate::store::read::lookups::BucketSearch;
use crate::store::read::view::View;
use crate::store::runs::cursor::Source;
use crate::store::runs::filter::FilterBuilder;
use crate::store::runs::run::{BandRun, Run};
use std::sync::Arc;

impl View<'_> {
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
