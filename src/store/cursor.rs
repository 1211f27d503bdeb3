//! Reading a band's entries in order, from several runs and segments at once.

use super::chunk::Entry;
use super::fault::guard;
use super::run::{BandRun, Run};
use super::schema::{BandNo, RunNo, posting_key};
use super::segment::Segment;
use super::view::{ChunkTable, DocTable, View, with_chunk};
use crate::error::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;

/// Walks the entries of one band of one run, a chunk in memory at a time.
#[derive(Clone, Debug)]
pub(super) struct RunCursor {
    run: RunNo,
    band: BandNo,
    content: Arc<BandRun>,
    next_chunk: u32,
    /// The entries of the current chunk that are still to come, last first.
    pending: Vec<Entry>,
}

impl RunCursor {
    pub(super) fn new(run: &Run, band: BandNo, content: &Arc<BandRun>) -> Self {
        let content = Arc::clone(content);
        Self { run: run.number, band, content, next_chunk: 0, pending: Vec::new() }
    }

    pub(super) fn next(
        &mut self,
        path: &Path,
        postings: &impl ChunkTable,
    ) -> Result<Option<Entry>> {
        if self.pending.is_empty() && self.next_chunk < self.content.chunks() {
            let key = posting_key(self.run, self.band, self.next_chunk);
            with_chunk(path, postings, key, |chunk| {
                self.pending.extend(chunk.entries());
                self.pending.reverse();
            })?;
            self.next_chunk += 1;
        }
        Ok(self.pending.pop())
    }
}

/// Where entries come from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Run(RunCursor),
    Segment { segment: Arc<Segment>, band: BandNo, next: usize },
}

impl Source {
    fn next(&mut self, path: &Path, postings: &impl ChunkTable) -> Result<Option<Entry>> {
        match self {
            Self::Run(cursor) => cursor.next(path, postings),
            Self::Segment { segment, band, next } => {
                *next += 1;
                Ok(segment.column(*band).and_then(|column| column.get(*next - 1)))
            }
        }
    }
}

/// Merges sorted sources into one order. It keeps its place between calls, so that a long merge
/// can go on in a later transaction.
#[derive(Clone, Debug)]
pub(super) struct MergeCursor {
    sources: Vec<Source>,
    /// The next entry of each source that has one, the least on top.
    heads: BinaryHeap<Reverse<(Entry, usize)>>,
    started: bool,
}

impl MergeCursor {
    pub(super) fn new(sources: Vec<Source>) -> Self {
        Self { sources, heads: BinaryHeap::new(), started: false }
    }

    pub(super) fn next(
        &mut self,
        path: &Path,
        postings: &impl ChunkTable,
    ) -> Result<Option<Entry>> {
        if !self.started {
            for (number, source) in self.sources.iter_mut().enumerate() {
                if let Some(entry) = source.next(path, postings)? {
                    self.heads.push(Reverse((entry, number)));
                }
            }
            self.started = true;
        }
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((entry, number)) = *head;
        let following = match self.sources.get_mut(number) {
            Some(source) => source.next(path, postings)?,
            None => None,
        };
        match following {
            Some(following) => *head = Reverse((following, number)),
            None => {
                std::collections::binary_heap::PeekMut::pop(head);
            }
        }
        Ok(Some(entry))
    }
}

/// The live entries of one band, ordered by word and then by document.
pub(crate) struct BandEntries {
    cursor: MergeCursor,
}

impl BandEntries {
    pub(crate) fn new<P: ChunkTable, D: DocTable>(view: &View<'_, P, D>, band: BandNo) -> Self {
        let runs = view
            .state
            .manifest
            .with_band(band)
            .map(|(run, content)| Source::Run(RunCursor::new(run, band, content)));
        let segments = view.state.tail.segments().iter().map(|segment| Source::Segment {
            segment: Arc::clone(segment),
            band,
            next: 0,
        });
        Self { cursor: MergeCursor::new(runs.chain(segments).collect()) }
    }

    /// The live entries that are in runs.
    pub(super) fn runs_only<P: ChunkTable, D: DocTable>(
        view: &View<'_, P, D>,
        band: BandNo,
    ) -> Self {
        let runs = view
            .state
            .manifest
            .with_band(band)
            .map(|(run, content)| Source::Run(RunCursor::new(run, band, content)));
        Self { cursor: MergeCursor::new(runs.collect()) }
    }

    pub(crate) fn next<P: ChunkTable, D: DocTable>(
        &mut self,
        view: &View<'_, P, D>,
    ) -> Result<Option<Entry>> {
        guard(view.fixed.path, || {
            while let Some(entry) = self.cursor.next(view.fixed.path, view.postings)? {
                if view.is_live(entry.1) {
                    return Ok(Some(entry));
                }
            }
            Ok(None)
        })
    }
}
