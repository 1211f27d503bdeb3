//! Reads the entries of a band in order, from several runs and segments at once.

use crate::error::Result;
use crate::store::bytes::chunk::Entry;
use crate::store::bytes::schema::{BandNo, RunNo, posting_key};
use crate::store::read::tables::{Rows, with_chunk};
use crate::store::runs::run::{BandRun, Run};
use crate::store::runs::segment::Segment;
use crate::store::runs::spread::sort_spread;
use std::path::Path;
use std::sync::Arc;

/// A band of a run or of a segment, read one block of entries at a time.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Run { run: RunNo, band: BandNo, content: Arc<BandRun>, next_chunk: u32 },
    Segment { segment: Arc<Segment>, band: BandNo, next: usize },
}

impl Source {
    pub(crate) fn run(run: &Run, band: BandNo, content: &Arc<BandRun>) -> Self {
        Self::Run { run: run.number, band, content: Arc::clone(content), next_chunk: 0 }
    }

    /// Appends the next block of entries, or nothing at the end.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        postings: &dyn Rows<u64>,
        out: &mut Vec<Entry>,
    ) -> Result<()> {
        match self {
            Self::Run { run, band, content, next_chunk } => {
                // Sorting costs less for each entry of a long block.
                const CHUNKS_PER_BLOCK: u32 = 4;
                let end = content.chunks().min(*next_chunk + CHUNKS_PER_BLOCK);
                for number in *next_chunk..end {
                    let key = posting_key(*run, *band, number);
                    with_chunk(path, postings, key, |chunk| out.extend(chunk.entries()))?;
                }
                *next_chunk = end;
            }
            Self::Segment { segment, band, next } => {
                const ENTRIES_PER_BLOCK: usize = 2048;
                if let Some(column) = segment.column(*band) {
                    out.extend(column.entries().skip(*next).take(ENTRIES_PER_BLOCK));
                    *next += ENTRIES_PER_BLOCK;
                }
            }
        }
        Ok(())
    }
}

/// A source and the entries that were read from it but not merged yet.
#[derive(Clone, Debug)]
struct BufferedSource {
    source: Source,
    entries: Vec<Entry>,
    ended: bool,
}

impl BufferedSource {
    fn new(source: Source) -> Self {
        Self { source, entries: Vec::new(), ended: false }
    }
}

/// Merges sorted sources into one sorted sequence. It keeps its position between calls, so a long
/// merge can continue in a later transaction.
#[derive(Clone, Debug)]
pub(crate) struct MergeCursor {
    inputs: Vec<BufferedSource>,
    /// Memory for sorting.
    spare: Spare,
}

/// Memory that is used again and again. A clone has none.
#[derive(Debug, Default)]
struct Spare(Vec<Entry>);

impl Clone for Spare {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl MergeCursor {
    pub(crate) fn new(sources: Vec<Source>) -> Self {
        let inputs = sources.into_iter().map(BufferedSource::new).collect();
        Self { inputs, spare: Spare::default() }
    }

    /// Adds a source, before anything is read.
    pub(crate) fn add(&mut self, source: Source) {
        self.inputs.push(BufferedSource::new(source));
    }

    /// Appends the next entries in order, or nothing at the end.
    ///
    /// Memory holds one block of each source. Take the last entry of each block: no unread entry
    /// is less than the least of them. So all entries up to it are complete. They are appended
    /// and sorted.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        postings: &dyn Rows<u64>,
        out: &mut Vec<Entry>,
    ) -> Result<()> {
        for input in &mut self.inputs {
            if input.entries.is_empty() && !input.ended {
                input.source.read(path, postings, &mut input.entries)?;
                input.ended = input.entries.is_empty();
            }
        }
        self.inputs.retain(|input| !input.ended);
        let lasts = self.inputs.iter().filter_map(|input| input.entries.last());
        let Some(bound) = lasts.min().copied() else { return Ok(()) };
        let start = out.len();
        for input in &mut self.inputs {
            let count = input.entries.partition_point(|entry| *entry <= bound);
            out.extend(input.entries.drain(..count));
        }
        if let (Some(new), true) = (out.get_mut(start..), self.inputs.len() > 1) {
            sort_spread(new, &mut self.spare.0, |(word, _)| *word);
        }
        Ok(())
    }
}
