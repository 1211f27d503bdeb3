//! Reading a band's entries in order, from several runs and segments at once.

use crate::error::Result;
use crate::store::bytes::chunk::Entry;
use crate::store::bytes::schema::{BandNo, RunNo, posting_key};
use crate::store::read::view::{ChunkTable, DocTable, View, with_chunk};
use crate::store::runs::run::{BandRun, Run};
use crate::store::runs::segment::Segment;
use crate::store::storage_error::guard;
use std::path::Path;
use std::sync::Arc;

/// Where entries come from: one band of a run or of a segment, a block of entries at a time.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Run { run: RunNo, band: BandNo, content: Arc<BandRun>, next_chunk: u32 },
    Segment { segment: Arc<Segment>, band: BandNo, next: usize },
}

impl Source {
    pub(crate) fn run(run: &Run, band: BandNo, content: &Arc<BandRun>) -> Self {
        Self::Run { run: run.number, band, content: Arc::clone(content), next_chunk: 0 }
    }

    /// Appends the next block; nothing where there is no more.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        postings: &impl ChunkTable,
        out: &mut Vec<Entry>,
    ) -> Result<()> {
        match self {
            Self::Run { run, band, content, next_chunk } => {
                // Several, so that stretches are long enough for the sort to find them.
                const BLOCK: u32 = 4;
                let end = content.chunks().min(*next_chunk + BLOCK);
                for number in *next_chunk..end {
                    let key = posting_key(*run, *band, number);
                    with_chunk(path, postings, key, |chunk| out.extend(chunk.entries()))?;
                }
                *next_chunk = end;
            }
            Self::Segment { segment, band, next } => {
                const BLOCK: usize = 2048;
                if let Some(column) = segment.column(*band) {
                    out.extend(column.entries().skip(*next).take(BLOCK));
                    *next += BLOCK;
                }
            }
        }
        Ok(())
    }
}

/// A source with the entries that were read from it and not handed on.
#[derive(Clone, Debug)]
struct Stretch {
    source: Source,
    entries: Vec<Entry>,
    ended: bool,
}

/// Merges sorted sources into one order. It keeps its place between calls, so that a long merge
/// can go on in a later transaction.
#[derive(Clone, Debug)]
pub(crate) struct MergeCursor {
    stretches: Vec<Stretch>,
}

impl MergeCursor {
    pub(crate) fn new(sources: Vec<Source>) -> Self {
        let stretch = |source| Stretch { source, entries: Vec::new(), ended: false };
        Self { stretches: sources.into_iter().map(stretch).collect() }
    }

    /// Appends the next entries in order; nothing at the end.
    ///
    /// A block of each source is in memory. The least of their last entries bounds what can still
    /// come, so everything up to it is put together and sorted: the standard sort finds the
    /// sorted stretches and merges them.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        postings: &impl ChunkTable,
        out: &mut Vec<Entry>,
    ) -> Result<()> {
        for stretch in &mut self.stretches {
            if stretch.entries.is_empty() && !stretch.ended {
                stretch.source.read(path, postings, &mut stretch.entries)?;
                stretch.ended = stretch.entries.is_empty();
            }
        }
        self.stretches.retain(|stretch| !stretch.ended);
        let lasts = self.stretches.iter().filter_map(|stretch| stretch.entries.last());
        let Some(bound) = lasts.min().copied() else { return Ok(()) };
        let start = out.len();
        for stretch in &mut self.stretches {
            let count = stretch.entries.partition_point(|entry| *entry <= bound);
            out.extend(stretch.entries.drain(..count));
        }
        if let (Some(new), true) = (out.get_mut(start..), self.stretches.len() > 1) {
            new.sort();
        }
        Ok(())
    }
}

/// The live entries of one band, ordered by word and then by document.
pub(crate) struct BandEntries {
    cursor: MergeCursor,
    /// Entries that were read, the next one last.
    block: Vec<Entry>,
}

impl BandEntries {
    pub(crate) fn new<P: ChunkTable, D: DocTable>(view: &View<'_, P, D>, band: BandNo) -> Self {
        let mut entries = Self::runs_only(view, band);
        let segments = view.state.tail.segments().iter();
        entries.cursor.stretches.extend(segments.map(|segment| Stretch {
            source: Source::Segment { segment: Arc::clone(segment), band, next: 0 },
            entries: Vec::new(),
            ended: false,
        }));
        entries
    }

    /// The live entries that are in runs.
    pub(crate) fn runs_only<P: ChunkTable, D: DocTable>(
        view: &View<'_, P, D>,
        band: BandNo,
    ) -> Self {
        let runs = view.state.manifest.with_band(band);
        let sources = runs.map(|(run, content)| Source::run(run, band, content));
        Self { cursor: MergeCursor::new(sources.collect()), block: Vec::new() }
    }

    pub(crate) fn next<P: ChunkTable, D: DocTable>(
        &mut self,
        view: &View<'_, P, D>,
    ) -> Result<Option<Entry>> {
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
