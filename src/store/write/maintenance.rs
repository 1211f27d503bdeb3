//! Maintenance inside a write transaction: flushes the tail (the memtable) and merges runs.

use crate::error::Result;
use crate::store::bytes::schema::DocNo;
use crate::store::runs::flush::{PackedBand, RunWriter, pack_tail};
use crate::store::runs::merge::MergeContext;
use crate::store::runs::merges;
use crate::store::runs::run::Run;
use crate::store::write::writer::Writer;
use std::sync::Arc;

impl Writer {
    pub(super) fn run_writer(&self) -> Result<RunWriter<'_>> {
        let fixed = self.engine().fixed();
        Ok(RunWriter { path: self.engine().path(), txn: self.txn()?, layout: fixed.layout })
    }

    /// Writes the tail as a run. Removed documents of the tail are left out, so their tombstones
    /// are dropped.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.settle();
        self.change(Self::flush_tail)
    }

    fn flush_tail(&mut self) -> Result<()> {
        let counters = self.state().counters;
        let (from, upto) = (counters.flushed_upto, counters.next_doc);
        if from == upto {
            return Ok(());
        }
        let (first, last) = (DocNo(from as u32), DocNo((upto - 1) as u32));
        let layout = self.engine().fixed().layout;
        let number = self.state_mut().counters.take_run().ok_or_else(|| self.full())?;
        let mut run = Run::new(number, 0, first, last, layout.count());
        for packed in pack_tail(layout, number, &self.state().tail, &self.state().tombstones) {
            let PackedBand { band, rows, content } = packed;
            let writer = self.run_writer()?;
            writer.append(number, band, &rows)?;
            writer.list(&run, band, &content)?;
            run.set(band, Some(Arc::new(content)));
        }
        let state = self.state_mut();
        state.manifest.add(run);
        state.counters.flushed_upto = upto;
        state.tail.clear();
        let flushed = state.tombstones.clone();
        state.tombstones.delete(&flushed, first, last);
        self.touch(1);
        Ok(())
    }

    /// Continues merging at a pace of two entries merged for each entry added, so that merges keep
    /// up with insertions.
    pub(super) fn merge_on(&mut self) -> Result<()> {
        let added = self.take_added();
        if added > 0 {
            let state = self.state_mut();
            state.merge_pace = 2 * added;
            state.merge_credit += state.merge_pace;
        }
        let most = self.engine().tuning().merge_runs;
        /// Attached runs are merged at once if there are more than this factor times the runs that
        /// a merge takes, because each of them slows down every query.
        const PATIENCE: usize = 4;
        let runs = self.state().manifest.runs().len();
        if !self.has_attached() || runs > PATIENCE * most {
            merges::start_due(self.state_mut(), most).ok_or_else(|| self.full())?;
        }
        if self.state().merges.is_empty() {
            self.state_mut().merge_credit = 0;
        } else if self.state().merge_credit >= self.engine().tuning().merge_step {
            let credit = std::mem::take(&mut self.state_mut().merge_credit);
            self.merge_step(credit)?;
        }
        Ok(())
    }

    /// Advances every running merge by `budget` entries. Uses the step that the background thread
    /// has prepared, if there is one.
    pub(in crate::store) fn merge_step(&mut self, budget: u64) -> Result<()> {
        // If the background thread failed, this thread prepares the step and meets the same error.
        let prepared = self.engine().merged_ahead().unwrap_or_default();
        self.touch(budget.max(1));
        self.change(|writer| {
            let mut state = std::mem::take(writer.state_mut());
            let context =
                MergeContext { fixed: writer.engine().fixed(), writer: writer.run_writer()? };
            let stepped = merges::step_all(context, &mut state, prepared, budget);
            *writer.state_mut() = state;
            stepped
        })
    }

    /// Flushes a tail that is large enough to slow down the next opening.
    pub(crate) fn flush_for_close(&mut self) -> Result<()> {
        self.settle();
        if self.has_small_tail() { Ok(()) } else { self.flush() }
    }

    /// Whether the tail is so small that it does not slow down opening.
    fn has_small_tail(&self) -> bool {
        /// A tail of at most the flush size divided by this is small.
        const SHARE: usize = 16;
        self.state().tail.documents() <= self.engine().tuning().flush_documents / SHARE
    }

    /// Flushes the tail and starts a merge of all runs into one, whatever their tiers. Returns the
    /// number of the entries that are merged. A small tail that is the whole index stays, because
    /// the entries of a tail take no space in the file.
    pub(crate) fn begin_compaction(&mut self) -> Result<u64> {
        self.settle();
        let state = self.state();
        let is_only_tail = state.manifest.runs().is_empty() && state.tombstones.is_empty();
        if !(is_only_tail && self.has_small_tail()) {
            self.flush()?;
        }
        let entries = self.state().manifest.bands().map(|band| band.entries).sum();
        let runs = self.state().manifest.runs().to_vec();
        let single = runs.len() == 1 && self.state().tombstones.is_empty();
        let merges = !single && !runs.is_empty();
        if merges {
            let flushed = self.state().counters.flushed_upto;
            let tuning = self.engine().tuning();
            let runs_of_flush = flushed / tuning.flush_documents.max(1) as u64;
            let tier = runs_of_flush.max(1).ilog(tuning.merge_runs.max(2) as u64) + 1;
            merges::start(self.state_mut(), tier as u8, &runs).ok_or_else(|| self.full())?;
            self.touch(1);
        }
        Ok(if merges { entries } else { 0 })
    }

    /// Advances all running merges by one step. Returns the most entries that the step merges, or
    /// `None` if there is no merge.
    pub(crate) fn merge_some(&mut self) -> Result<Option<u64>> {
        // A step takes about an eighth of a second and writes about 15 MiB.
        const STEP: u64 = 2 << 20;
        if self.state().merges.is_empty() {
            return Ok(None);
        }
        self.state_mut().merge_pace = STEP;
        self.merge_step(STEP)?;
        let most = self.engine().tuning().merge_runs;
        merges::start_due(self.state_mut(), most).ok_or_else(|| self.full())?;
        Ok(Some(STEP))
    }

    /// Deletes the chunks that unfinished merges of an earlier process left behind.
    pub(super) fn delete_abandoned(&mut self) -> Result<()> {
        for (run, band) in merges::abandoned(self.txn()?, self.path(), self.state())? {
            self.run_writer()?.delete_chunks(run, band)?;
        }
        Ok(())
    }
}
