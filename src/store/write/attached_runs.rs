//! The runs of another index, copied under higher document numbers. Only the band of ids is made
//! anew, because every index hashes ids with a key of its own.

use crate::error::Result;
use crate::store::bytes::chunk::{Entry, move_chunk};
use crate::store::bytes::schema::{
    BandNo, DocNo, POSTINGS, RunNo, Table, posting_key, posting_keys,
};
use crate::store::parallel;
use crate::store::progress::Watch;
use crate::store::read::tables::Rows;
use crate::store::read::view::View;
use crate::store::runs::build::{BandBuilder, ChunkRow};
use crate::store::runs::cursor::{MergeCursor, Source};
use crate::store::runs::filter::FilterBuilder;
use crate::store::runs::flush::RunWriter;
use crate::store::runs::run::{BandRun, Run};
use crate::store::state::State;
use crate::store::storage_error::{Doing, damaged};
use crate::store::write::writer::Writer;
use rayon::prelude::*;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A run in the making.
pub(super) struct AttachedRun {
    /// The run that is copied; `None` for the tail of the other index, which becomes a run.
    pub(super) from: Option<Arc<Run>>,
    pub(super) number: RunNo,
    pub(super) tier: u8,
    /// The documents that it covers, by their numbers in the other index.
    pub(super) first: DocNo,
    pub(super) last: DocNo,
    /// The band of ids, once it is written.
    pub(super) ids: Option<BandRun>,
}

impl AttachedRun {
    /// Whether the run is to have the band of ids. A run lacks it while a merge goes on.
    pub(super) fn has_ids(&self, ids: BandNo) -> bool {
        self.from.as_ref().is_none_or(|run| run.band(ids).is_some())
    }
}

/// Plans the runs: one for each of the other index, and one for its tail. Returns `None` if run
/// numbers are used up.
pub(super) fn plan(source: &State, own: &mut State) -> Option<Vec<AttachedRun>> {
    let mut runs = source.manifest.runs().to_vec();
    // The sources of an unfinished merge are known by numbers that are lower than the target's.
    runs.sort_by_key(|run| run.number.0);
    let mut planned = Vec::with_capacity(runs.len() + 1);
    for run in runs {
        let number = own.counters.take_run()?;
        let Run { tier, first, last, .. } = *run;
        planned.push(AttachedRun { from: Some(run), number, tier, first, last, ids: None });
    }
    let (from, upto) = (source.counters.flushed_upto, source.counters.next_doc);
    if from < upto {
        let number = own.counters.take_run()?;
        let (first, last) = (DocNo(from as u32), DocNo((upto - 1) as u32));
        planned.push(AttachedRun { from: None, number, tier: 0, first, last, ids: None });
    }
    Some(planned)
}

/// The entries of a band of ids, which come in the order of documents.
#[derive(Default)]
pub(super) struct IdEntries {
    entries: Vec<Entry>,
    /// Sorted entries that were written to runs of their own, to bound memory.
    pieces: Vec<(RunNo, BandRun)>,
}

impl IdEntries {
    /// Adds an entry.
    pub(super) fn push(&mut self, entry: Entry, writer: &mut Writer) -> Result<()> {
        /// The size of a piece in flushes: 4 million entries, 64 MiB.
        const FLUSHES: usize = 64;
        self.entries.push(entry);
        if self.entries.len() >= FLUSHES * writer.engine().tuning().flush_documents {
            self.write_piece(writer)
        } else {
            Ok(())
        }
    }

    fn write_piece(&mut self, writer: &mut Writer) -> Result<()> {
        let number = writer.state_mut().counters.take_run().ok_or_else(|| writer.full())?;
        let piece = self.write(number, false, writer)?;
        self.pieces.push((number, piece));
        Ok(())
    }

    /// Writes the entries that are in memory as the band of a run.
    fn write(&mut self, run: RunNo, filtered: bool, writer: &Writer) -> Result<BandRun> {
        let layout = writer.engine().fixed().layout;
        let mut entries = mem::take(&mut self.entries);
        entries.par_sort_unstable();
        let (ids, count) = (layout.ids(), entries.len() as u64);
        let filter = filtered.then(|| FilterBuilder::at_once(layout, ids, count));
        let mut builder = BandBuilder::new(layout, run, ids, filter);
        entries.into_iter().for_each(|(word, doc)| builder.push(word, doc));
        writer.run_writer()?.append(run, ids, &builder.take_rows())?;
        Ok(builder.into_content())
    }

    /// Writes all entries as the band of a run.
    pub(super) fn finish(
        mut self,
        run: RunNo,
        writer: &mut Writer,
        watch: &mut Watch<'_>,
    ) -> Result<BandRun> {
        if self.pieces.is_empty() {
            return self.write(run, true, writer);
        }
        self.write_piece(writer)?;
        let (layout, path) = (writer.engine().fixed().layout, writer.path());
        let (ids, to) = (layout.ids(), writer.run_writer()?);
        let count = self.pieces.iter().map(|(_, piece)| piece.entries).sum();
        let pieces: Vec<RunNo> = self.pieces.iter().map(|(run, _)| *run).collect();
        let sources = self.pieces.into_iter().map(|(run, piece)| Source::Run {
            run,
            band: ids,
            content: Arc::new(piece),
            next_chunk: 0,
        });
        let mut cursor = MergeCursor::new(sources.collect());
        let filter = FilterBuilder::at_once(layout, ids, count);
        let mut builder = BandBuilder::new(layout, run, ids, Some(filter));
        let mut block = Vec::new();
        loop {
            let action = "writing a run";
            let postings = to.txn.open_table(POSTINGS).doing(path, action)?;
            read_block(&mut cursor, &postings, writer, &mut block)?;
            drop(postings);
            if block.is_empty() {
                break;
            }
            block.drain(..).for_each(|(word, doc)| builder.push(word, doc));
            to.append(run, ids, &builder.take_rows())?;
            watch.advance_now(0)?;
        }
        for piece in pieces {
            to.delete_chunks(piece, ids)?;
        }
        Ok(builder.into_content())
    }
}

/// Reads many entries at once: the last chunk that is made of them may be short.
fn read_block(
    cursor: &mut MergeCursor,
    postings: &dyn Rows<u64>,
    writer: &Writer,
    block: &mut Vec<Entry>,
) -> Result<()> {
    const ENTRIES: usize = 1 << 18;
    loop {
        let before = block.len();
        cursor.read(writer.path(), postings, block)?;
        if block.len() == before || block.len() >= ENTRIES {
            return Ok(());
        }
    }
}

/// Copies a band of a run. Returns the same list of chunks.
pub(super) fn copy_band(
    source: &View<'_>,
    (from, band): (&Run, BandNo),
    to: (RunNo, u32),
    writer: RunWriter<'_>,
    watch: &mut Watch<'_>,
) -> Result<Option<BandRun>> {
    let Some(content) = from.band(band) else { return Ok(None) };
    let read = |take: &mut dyn FnMut(Vec<ChunkRow>) -> ControlFlow<()>| {
        read_band(source, (from, band, content), to, take)
    };
    parallel::read_ahead(read, |batch| {
        writer.append(to.0, band, &batch)?;
        watch.advance_now(0)
    })?;
    // A filter is made when searches are worth it, within the limit of this index.
    let (entries, fences) = (content.entries, content.fences.clone());
    Ok(Some(BandRun { entries, fences, ..BandRun::default() }))
}

/// Passes the chunks of a band on as those of another run, until `take` breaks.
fn read_band(
    source: &View<'_>,
    (from, band, content): (&Run, BandNo, &BandRun),
    (number, offset): (RunNo, u32),
    take: &mut dyn FnMut(Vec<ChunkRow>) -> ControlFlow<()>,
) -> Result<()> {
    /// The chunks that are passed on together.
    const BATCH: usize = 1 << 10;
    let (path, action) = (source.fixed.path, "reading postings");
    let mut rows = source.postings.range(posting_keys(from.number, band)).doing(path, action)?;
    let mut batch = Vec::with_capacity(BATCH.min(content.chunks() as usize));
    for chunk in 0..content.chunks() {
        let key = posting_key(from.number, band, chunk);
        let fault = |detail| damaged(path, Table::Postings, format!("{key:#018x}"), detail);
        let row = rows.next().transpose().doing(path, action)?;
        let row = row.filter(|(found, _)| found.value() == key);
        let (_, row) = row.ok_or_else(|| fault("its row is missing"))?;
        let moved_key = posting_key(number, band, chunk);
        let moved = move_chunk(row.value(), key, moved_key, offset).map_err(fault)?;
        batch.push((moved_key, moved));
        if batch.len() == BATCH
            && take(mem::replace(&mut batch, Vec::with_capacity(BATCH))).is_break()
        {
            return Ok(());
        }
    }
    // Nothing follows, whatever it answers.
    let _ = take(batch);
    Ok(())
}

/// Writes a band of the tail of another index as that of a run, without the documents that are not
/// wanted.
pub(super) fn write_tail(
    source: &State,
    band: BandNo,
    (number, offset): (RunNo, u32),
    writer: RunWriter<'_>,
    is_wanted: impl Fn(DocNo) -> bool,
) -> Result<BandRun> {
    let layout = writer.layout;
    let entries = source.tail.sorted(band, is_wanted);
    let filter = FilterBuilder::at_once(layout, band, entries.len() as u64);
    let mut builder = BandBuilder::new(layout, number, band, Some(filter));
    for (word, doc) in entries {
        builder.push(word, DocNo(doc.0 + offset));
    }
    writer.append(number, band, &builder.take_rows())?;
    Ok(builder.into_content())
}
