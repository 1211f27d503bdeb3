//! Writes runs: packs the tail as a run, and writes chunks and their lists to the tables
//! (`docs/format.md`, section "Life of a run").

use crate::error::{Error, Result};
use crate::store::bytes::record::{RunRow, encode_fences};
use crate::store::bytes::schema::{
    BandNo, FENCES, Layout, MAX_CHUNKS, POSTINGS, RUNS, RunNo, posting_key, posting_keys,
};
use crate::store::parallel;
use crate::store::runs::build::{BandBuilder, ChunkRow};
use crate::store::runs::filter::FilterBuilder;
use crate::store::runs::run::{BandRun, Run};
use crate::store::runs::segment::Tail;
use crate::store::runs::tombstones::Tombstones;
use crate::store::storage_error::Doing;
use redb::WriteTransaction;
use std::ops::Bound;
use std::path::Path;

/// A band of the tail, sorted and packed into chunks.
pub(crate) struct PackedBand {
    pub(crate) band: BandNo,
    pub(crate) rows: Vec<ChunkRow>,
    pub(crate) content: BandRun,
}

/// Packs the tail as the bands of a run, without the entries of removed documents.
pub(crate) fn pack_tail(
    layout: Layout,
    run: RunNo,
    tail: &Tail,
    tombstones: &Tombstones,
) -> Vec<PackedBand> {
    let pack = |band: BandNo| {
        let entries = tail.sorted(band, |doc| !tombstones.contains(doc));
        let filter = FilterBuilder::at_once(layout, band, entries.len() as u64);
        let mut builder = BandBuilder::new(layout, run, band, Some(filter));
        for (word, doc) in entries {
            builder.push(word, doc);
        }
        let rows = builder.take_rows();
        PackedBand { band, rows, content: builder.into_content() }
    };
    parallel::map(layout.all().collect(), tail.documents() >= parallel::MIN_DOCUMENTS, pack)
}

/// Writes the bands of runs in one transaction.
#[derive(Clone, Copy)]
pub(crate) struct RunWriter<'a> {
    pub(crate) path: &'a Path,
    pub(crate) txn: &'a WriteTransaction,
    pub(crate) layout: Layout,
}

impl RunWriter<'_> {
    /// Appends chunks to a band that has all the chunks before them. Readers see them once the
    /// band is listed.
    pub(crate) fn append(&self, run: RunNo, band: BandNo, rows: &[ChunkRow]) -> Result<()> {
        let Some((first, _)) = rows.first() else { return Ok(()) };
        let action = "writing a run";
        if rows.iter().any(|(key, _)| *key > posting_key(run, band, MAX_CHUNKS - 1)) {
            return Err(Error::Full { path: self.path.to_owned() });
        }
        let mut postings = self.txn.open_table(POSTINGS).doing(self.path, action)?;
        let mut cursor =
            postings.upper_bound_mut(Bound::Excluded(*first)).doing(self.path, action)?;
        for (key, chunk) in rows {
            cursor.insert_before(*key, &chunk[..]).doing(self.path, action)?;
        }
        cursor.close().doing(self.path, action)
    }

    /// Lists a complete band: writes its fence row, if it has chunks, and its run row.
    pub(crate) fn list(&self, run: &Run, band: BandNo, content: &BandRun) -> Result<()> {
        let action = "writing a run";
        let key = (run.number.0, band.0);
        if content.chunks() > 0 {
            let mut fences = self.txn.open_table(FENCES).doing(self.path, action)?;
            let row = encode_fences(&content.fences, run.number, band);
            fences.insert(key, &row[..]).doing(self.path, action)?;
        }
        self.list_run(run, band, content)
    }

    /// Writes the run row of a band.
    pub(crate) fn list_run(&self, run: &Run, band: BandNo, content: &BandRun) -> Result<()> {
        let action = "writing a run";
        let key = (run.number.0, band.0);
        let mut runs = self.txn.open_table(RUNS).doing(self.path, action)?;
        let row = RunRow {
            tier: run.tier,
            first: run.first,
            last: run.last,
            entries: content.entries,
            chunks: content.chunks(),
        };
        runs.insert(key, &row.encode(run.number, band)[..]).doing(self.path, action)?;
        Ok(())
    }

    /// Deletes a listed band: its run row, its fence row and its chunks.
    pub(crate) fn delete(&self, run: RunNo, band: BandNo) -> Result<()> {
        let action = "deleting a merged run";
        let key = (run.0, band.0);
        self.txn.open_table(RUNS).doing(self.path, action)?.remove(key).doing(self.path, action)?;
        self.txn
            .open_table(FENCES)
            .doing(self.path, action)?
            .remove(key)
            .doing(self.path, action)?;
        self.delete_chunks(run, band)
    }

    /// Deletes the chunks of an unlisted band.
    pub(crate) fn delete_chunks(&self, run: RunNo, band: BandNo) -> Result<()> {
        let action = "deleting a merged run";
        let mut postings = self.txn.open_table(POSTINGS).doing(self.path, action)?;
        postings.retain_in(posting_keys(run, band), |_, _| false).doing(self.path, action)
    }
}
