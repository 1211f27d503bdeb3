//! Reads the live entries of a band in order.

use crate::error::Result;
use crate::store::bytes::chunk::Entry;
use crate::store::bytes::schema::BandNo;
use crate::store::read::view::View;
use crate::store::runs::cursor::{MergeCursor, Source};
use crate::store::storage_error::guard;
use std::sync::Arc;

/// The live entries of one band, ordered by word and then by document.
pub(crate) struct BandEntries {
    cursor: MergeCursor,
    /// Entries that were read, in reverse order: `pop` takes the next one.
    block: Vec<Entry>,
}

impl BandEntries {
    pub(crate) fn new(view: &View<'_>, band: BandNo) -> Self {
        let mut entries = Self::runs_only(view, band);
        let segments = view.state.tail.segments().iter();
        segments.for_each(|segment| {
            entries.cursor.add(Source::Segment { segment: Arc::clone(segment), band, next: 0 });
        });
        entries
    }

    /// The live entries that are in runs.
    pub(crate) fn runs_only(view: &View<'_>, band: BandNo) -> Self {
        let runs = view.state.manifest.with_band(band);
        let sources = runs.map(|(run, content)| Source::run(run, band, content));
        Self { cursor: MergeCursor::new(sources.collect()), block: Vec::new() }
    }

    pub(crate) fn next(&mut self, view: &View<'_>) -> Result<Option<Entry>> {
        while self.block.is_empty() {
            guard(view.fixed.path, || {
                self.cursor.read(view.fixed.path, view.postings, &mut self.block)
            })?;
            if self.block.is_empty() {
                return Ok(None);
            }
            self.block.retain(|(_, doc)| view.is_live(*doc));
            self.block.reverse();
        }
        Ok(self.block.pop())
    }
}
