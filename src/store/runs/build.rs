//! Builds one band of a run from sorted entries: chunks, their fence keys, a filter.

use crate::store::bytes::chunk::ChunkBuilder;
use crate::store::bytes::schema::{BandNo, DocNo, Layout, RunNo, posting_key};
use crate::store::runs::filter::FilterBuilder;
use crate::store::runs::run::BandRun;

/// Builds a band of a run, in one step or several.
#[derive(Clone, Debug)]
pub(crate) struct BandBuilder {
    pub(crate) run: RunNo,
    pub(crate) band: BandNo,
    shift: u32,
    chunk: ChunkBuilder,
    content: BandRun,
    filter: Option<FilterBuilder>,
    rows: Vec<ChunkRow>,
}

/// The key of a chunk and the sealed chunk.
pub(crate) type ChunkRow = (u64, Vec<u8>);

impl BandBuilder {
    /// A builder that also builds this filter, if the band has filters.
    pub(crate) fn new(
        layout: Layout,
        run: RunNo,
        band: BandNo,
        filter: Option<FilterBuilder>,
    ) -> Self {
        Self {
            run,
            band,
            shift: layout.fence_shift(band),
            chunk: ChunkBuilder::default(),
            content: BandRun::default(),
            filter: filter.filter(|_| layout.has_filters(band)),
            rows: Vec::new(),
        }
    }

    /// The number of chunks so far, those of earlier steps included.
    pub(crate) fn chunks(&self) -> u32 {
        self.content.chunks()
    }

    /// Adds the next entry in order.
    #[inline]
    pub(crate) fn push(&mut self, word: u64, doc: DocNo) {
        if self.chunk.is_full(word, doc) {
            self.close_chunk();
        }
        self.chunk.push(word, doc);
    }

    fn close_chunk(&mut self) {
        if let Some(filter) = &mut self.filter {
            filter.insert_all(self.chunk.entries(), self.shift);
        }
        if let Some(chunk) = self.chunk.finish() {
            let key = posting_key(self.run, self.band, self.content.chunks());
            self.content.fences.push((chunk.first_word >> self.shift) as u32);
            self.content.entries += chunk.entries;
            self.rows.push((key, chunk.seal(key)));
        }
    }

    /// Ends a step and returns its chunks. The last chunk may be short: the next step does not
    /// add to it.
    pub(crate) fn take_rows(&mut self) -> Vec<ChunkRow> {
        self.close_chunk();
        std::mem::take(&mut self.rows)
    }

    /// The band's number of entries, fence keys and filter, once all its rows were taken.
    pub(crate) fn into_content(self) -> BandRun {
        if let Some(filter) = self.filter {
            self.content.filter.set(filter.into_filter());
        }
        self.content
    }
}
