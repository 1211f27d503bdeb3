//! Checks the invariants of `docs/format.md` and reports violations by number.

use crate::error::Result;
use crate::hash::{fmix64, id_hash, xxh3};
use crate::lsh::word;
use crate::store::bytes::chunk::{Chunk, Entry};
use crate::store::bytes::codec::DecodeError;
use crate::store::bytes::record::{DocumentRecord, decode_signature};
use crate::store::bytes::schema::{
    BandNo, DOCUMENTS, DocNo, FENCES, META, POSTINGS, RunNo, SIGNATURES, posting_key, posting_owner,
};
use crate::store::care::check_clusters::check_clusters;
use crate::store::care::check_fingerprints::{check_fingerprints, explain_fingerprints};
use crate::store::care::check_report::{CheckReport, Invariant};
use crate::store::care::check_texts::check_texts;
use crate::store::progress::Watch;
use crate::store::read::reader::Reader;
use crate::store::runs::run::{BandRun, Run};
use crate::store::storage_error::{Doing, guard};
use crate::store::write::dedup_row;
use redb::ReadableTable;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A sum over the hashes of entries, which does not depend on their order.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EntrySum {
    pub(super) count: u64,
    sum: u64,
}

impl EntrySum {
    pub(super) fn add(&mut self, (word, doc): Entry) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(fmix64(word ^ fmix64(u64::from(doc.0) + 1)));
    }
}

/// Checks the reader's commit.
#[cfg(test)]
pub(crate) fn check(reader: &Reader) -> Result<CheckReport> {
    let path = reader.engine().path();
    check_watching(reader, &mut Watch::new(path, CHECKING, &mut crate::store::unwatched))
}

/// The action and the outcome of an interrupted check, for its message.
pub(crate) const CHECKING: (&str, &str) = ("checking", "nothing was changed");

/// Checks the reader's commit and reports progress by document and chunk. It reads all tables once,
/// in order, and needs some 16 bytes of memory per document for the ids.
pub(crate) fn check_watching(reader: &Reader, watch: &mut Watch<'_>) -> Result<CheckReport> {
    guard(reader.engine().path(), || walk(reader, watch))
}

fn walk(reader: &Reader, watch: &mut Watch<'_>) -> Result<CheckReport> {
    let texts = if reader.view().has_texts() { reader.len() } else { 0 };
    watch.begin("verifying pages", reader.len() + texts + reader.state.manifest.chunks())?;
    reader.engine().verify_pages(reader.commit(), watch)?;
    watch.begin("checking documents", 0)?;
    let mut check = Check { reader, report: CheckReport::default(), watch };
    let mut expected = check.check_documents()?;
    if let Some(band) = reader.view().fixed.layout.fingerprints() {
        let sum = check_fingerprints(reader, &mut check.report, check.watch)?;
        expected.get_mut(usize::from(band.0)).into_iter().for_each(|expected| *expected = sum);
    }
    check.check_ranges();
    check.watch.begin("checking band entries", 0)?;
    let found = check.check_runs()?;
    for (band, (expected, found)) in expected.iter().zip(&found).enumerate() {
        if expected != found {
            check.explain_difference(BandNo(band as u8), *expected, *found)?;
        }
    }
    check.check_dedup_rows()?;
    check_texts(reader, &mut check.report, check.watch)?;
    check_clusters(reader, &mut check.report, check.watch)?;
    check.check_unlisted()?;
    Ok(check.report)
}

const NOT_BELOW_NEXT: &str = "its number is not below the next document number";

/// A check in progress.
struct Check<'r, 'w, 't> {
    reader: &'r Reader,
    report: CheckReport,
    watch: &'w mut Watch<'t>,
}

impl Check<'_, '_, '_> {
    /// Checks the dedup rows (invariant 5).
    fn check_dedup_rows(&mut self) -> Result<()> {
        let path = self.reader.engine().path();
        let meta = self.reader.txn.open_table(META).doing(path, "checking the dedup rows")?;
        let report = &mut self.report;
        dedup_row::for_each(&meta, path, |name, decoded| {
            if let Err(fault) = decoded {
                report.add(Invariant::Records, format!("meta {name}"), fault);
            }
        })
    }

    /// Reads signatures and documents side by side (invariants 3 to 7). Returns the sum
    /// that each band should have.
    fn check_documents(&mut self) -> Result<Vec<EntrySum>> {
        let view = self.reader.view();
        let path = view.fixed.path;
        let action = "checking the documents";
        let signatures = self.reader.txn.open_table(SIGNATURES).doing(path, action)?;
        let documents = self.reader.txn.open_table(DOCUMENTS).doing(path, action)?;
        let mut records = documents.iter().doing(path, action)?.peekable();
        let mut bands = vec![EntrySum::default(); view.fixed.layout.count()];
        let mut ids: FxHashMap<u64, DocNo> = FxHashMap::default();
        for item in signatures.iter().doing(path, action)? {
            let (number, signature) = item.doing(path, action)?;
            let doc = DocNo(number.value());
            while let Some(Ok((other, _))) = records.peek()
                && other.value() < doc.0
            {
                self.report_lone_row("documents", other.value());
                records.next();
            }
            let is_there = matches!(records.peek(), Some(Ok((other, _))) if other.value() == doc.0);
            let Some(record) = is_there.then(|| records.next()).flatten() else {
                self.report_lone_row("signatures", doc.0);
                continue;
            };
            let (_, record) = record.doing(path, action)?;
            self.report.documents += 1;
            self.watch.advance(1)?;
            self.check_number(doc);
            self.check_record(doc, record.value(), &mut ids, &mut bands)?;
            self.check_signature(doc, signature.value(), &mut bands);
        }
        for record in records {
            self.report_lone_row("documents", record.doing(path, action)?.0.value());
        }
        self.check_count();
        Ok(bands)
    }

    /// Reports a row of one of the two tables whose number the other one lacks (invariant 3).
    fn report_lone_row(&mut self, table: &str, number: u32) {
        let lacks = match table {
            "documents" => "it has no signature row",
            _ => "it has no document record",
        };
        self.report.add(Invariant::SameRows, format!("{table} {number}"), lacks);
    }

    /// Checks that a document with rows is not removed, and has a number that was given.
    fn check_number(&mut self, doc: DocNo) {
        if self.reader.state.tombstones.contains(doc) {
            let place = format!("dead {}", doc.0);
            self.report.add(Invariant::Dead, place, "the document still has rows");
        }
        if u64::from(doc.0) >= self.reader.state.counters.next_doc {
            let place = format!("signatures {}", doc.0);
            self.report.add(Invariant::Counters, place, NOT_BELOW_NEXT);
        }
    }

    /// Checks a record and its id. Adds the id to its band if the document is in a run.
    fn check_record(
        &mut self,
        doc: DocNo,
        record: &[u8],
        ids: &mut FxHashMap<u64, DocNo>,
        bands: &mut [EntrySum],
    ) -> Result<()> {
        let record = match DocumentRecord::decode(record, doc) {
            Ok(record) => record,
            Err(fault) => {
                self.report.add(Invariant::Records, format!("documents {}", doc.0), fault);
                return Ok(());
            }
        };
        self.check_id(doc, &record.id, ids)?;
        let fixed = self.reader.view().fixed;
        let band = bands.get_mut(usize::from(fixed.layout.ids().0));
        if let (true, Some(band)) = (self.is_flushed(doc), band) {
            band.add((id_hash(&record.id, fixed.id_key), doc));
        }
        Ok(())
    }

    /// Checks a signature. Adds its words to their bands if the document is in a run.
    fn check_signature(&mut self, doc: DocNo, row: &[u8], bands: &mut [EntrySum]) {
        let fixed = self.reader.view().fixed;
        match decode_signature(row, doc, fixed.lanes) {
            Err(fault) => {
                self.report.add(Invariant::Records, format!("signatures {}", doc.0), fault);
            }
            Ok((lanes, size)) if self.is_flushed(doc) && !size.is_empty() => {
                let depth = u32::from(fixed.layout.depth);
                let count = usize::from(fixed.layout.bands);
                for (band, sum) in bands.iter_mut().take(count).enumerate() {
                    sum.add((word(lanes, band, depth), doc));
                }
            }
            Ok(_) => {}
        }
    }

    /// Whether the entries of a document are in runs.
    fn is_flushed(&self, doc: DocNo) -> bool {
        u64::from(doc.0) < self.reader.state.counters.flushed_upto
    }

    /// Checks the number of documents, and the numbers of those that were removed.
    fn check_count(&mut self) {
        let counters = self.reader.state.counters;
        let documents = self.report.documents;
        if documents != counters.documents {
            let detail =
                format!("it counts {} documents instead of {documents}", counters.documents);
            self.report.add(Invariant::Counters, "meta state", detail);
        }
        for doc in self.reader.state.tombstones.iter() {
            if u64::from(doc.0) >= counters.next_doc {
                let place = format!("dead {}", doc.0);
                self.report.add(Invariant::Dead, place, NOT_BELOW_NEXT);
            }
        }
    }

    /// Checks the length of an id, and that no earlier document has it (invariant 7).
    fn check_id(&mut self, doc: DocNo, id: &str, ids: &mut FxHashMap<u64, DocNo>) -> Result<()> {
        if id.is_empty() || id.len() > crate::params::MAX_ID_BYTES {
            let detail = format!("its id has {} bytes", id.len());
            self.report.add(Invariant::Ids, format!("documents {}", doc.0), detail);
        }
        // The map has 64-bit hashes: unlike the 40-bit id hashes of the band, they hardly ever
        // collide, so few records are read.
        if let Some(other) = ids.insert(xxh3(id.as_bytes()), doc)
            && self.reader.view().document(other).is_ok_and(|record| record.id == id)
        {
            let detail = format!("it has the id of document {}", other.0);
            self.report.add(Invariant::Ids, format!("documents {}", doc.0), detail);
        }
        Ok(())
    }

    /// Checks the ranges and numbers of runs (invariants 3 and 8).
    fn check_ranges(&mut self) {
        let state = &self.reader.state;
        let layout = self.reader.view().fixed.layout;
        for band in layout.all() {
            let mut next = 0_u64;
            for (run, _) in state.manifest.with_band(band) {
                let place = format!("run {} band {}", run.number.0, band.0);
                if u64::from(run.first.0) < next || run.last < run.first {
                    self.report.add(Invariant::Ranges, &place, "its range overlaps another run's");
                }
                next = u64::from(run.last.0) + 1;
                if next > state.counters.flushed_upto {
                    self.report.add(Invariant::Ranges, &place, "its range reaches into the tail");
                }
            }
        }
        for run in state.manifest.runs() {
            if run.number.0 >= state.counters.next_run {
                let place = format!("run {}", run.number.0);
                let detail = "its number is not below the next run number";
                self.report.add(Invariant::Counters, place, detail);
            }
        }
    }

    /// Reads all listed chunks (invariants 5, 9 and 10). Returns the sum of each band's
    /// entries of live documents.
    fn check_runs(&mut self) -> Result<Vec<EntrySum>> {
        let layout = self.reader.view().fixed.layout;
        let mut bands = Vec::new();
        for band in layout.all() {
            let mut sum = EntrySum::default();
            let runs: Vec<(Arc<Run>, Arc<BandRun>)> = self
                .reader
                .state
                .manifest
                .with_band(band)
                .map(|(run, content)| (Arc::clone(run), Arc::clone(content)))
                .collect();
            for (run, content) in runs {
                self.check_band(&run, band, &content, &mut |entry| sum.add(entry))?;
            }
            bands.push(sum);
        }
        Ok(bands)
    }

    /// Reads the chunks of one band of a run. Calls `visit_live` with the entries of live
    /// documents.
    fn check_band(
        &mut self,
        run: &Run,
        band: BandNo,
        content: &BandRun,
        visit_live: &mut dyn FnMut(Entry),
    ) -> Result<()> {
        let view = self.reader.view();
        let path = view.fixed.path;
        let shift = view.fixed.layout.fence_shift(band);
        let place = format!("run {} band {}", run.number.0, band.0);
        let (mut entries, mut previous): (u64, Option<Entry>) = (0, None);
        for (number, fence) in content.fences.iter().enumerate() {
            self.watch.advance(1)?;
            let key = posting_key(run.number, band, number as u32);
            let row = view.postings.get(key).doing(path, "checking the runs")?;
            let Some(row) = row else {
                self.report.add(Invariant::Chunks, &place, format!("chunk {number} is missing"));
                continue;
            };
            let chunk = match Chunk::open(row.value(), key) {
                Ok(chunk) => chunk,
                Err(fault) => {
                    let fault: DecodeError = fault;
                    let place = format!("postings {key:#018x}");
                    self.report.add(Invariant::Records, place, fault);
                    continue;
                }
            };
            if (chunk.word(0) >> shift) as u32 != *fence {
                let detail = format!("the fence of chunk {number} is not that of its first word");
                self.report.add(Invariant::Order, &place, detail);
            }
            for entry in chunk.entries() {
                if previous.is_some_and(|previous| previous >= entry) {
                    let detail = format!("chunk {number} has entries out of order");
                    self.report.add(Invariant::Order, &place, detail);
                }
                if entry.1 < run.first || entry.1 > run.last {
                    let detail = format!("document {} is outside the run's range", entry.1.0);
                    self.report.add(Invariant::Order, &place, detail);
                }
                previous = Some(entry);
                if view.is_live(entry.1) {
                    visit_live(entry);
                }
            }
            entries += chunk.len() as u64;
        }
        if entries != content.entries {
            let detail = format!("its row counts {} entries instead of {entries}", content.entries);
            self.report.add(Invariant::Chunks, &place, detail);
        }
        self.report.entries += entries;
        Ok(())
    }

    /// Finds the entries that make a band differ from its documents (invariant 11).
    fn explain_difference(
        &mut self,
        band: BandNo,
        expected: EntrySum,
        found: EntrySum,
    ) -> Result<()> {
        let view = self.reader.view();
        let ids = band == view.fixed.layout.ids();
        if Some(band) == view.fixed.layout.fingerprints() {
            return explain_fingerprints(self.reader, band, expected, found, &mut self.report);
        }
        let place = format!("band {}", band.0);
        let detail =
            format!("{} entries of live documents instead of {}", found.count, expected.count);
        self.report.add(Invariant::Entries, &place, detail);
        let mut seen = roaring::RoaringBitmap::new();
        let mut entries = crate::store::BandEntries::runs_only(&view, band);
        while let Ok(Some((stored, doc))) = entries.next(&view) {
            let correct = if ids {
                view.document(doc).map(|record| view.id_hash(&record.id))
            } else {
                let depth = u32::from(view.fixed.layout.depth);
                view.with_signature(doc, |lanes, _| word(lanes, usize::from(band.0), depth))
            };
            let fault = match correct {
                Err(_) => Some("has an entry but no row"),
                Ok(correct) if correct != stored => Some("has an entry under a wrong word"),
                Ok(_) if !seen.insert(doc.0) => Some("has two entries"),
                Ok(_) => None,
            };
            if let Some(fault) = fault {
                self.report.add(Invariant::Entries, &place, format!("document {} {fault}", doc.0));
            }
        }
        let mut missing = Vec::new();
        let flushed = self.reader.state.counters.flushed_upto;
        view.for_each_signature(|doc, _, size| {
            let due = u64::from(doc.0) < flushed && (ids || !size.is_empty());
            if due && !seen.contains(doc.0) {
                missing.push(doc);
            }
            ControlFlow::Continue(())
        })
        .unwrap_or_default();
        for doc in missing {
            self.report.add(Invariant::Entries, &place, format!("document {} has no entry", doc.0));
        }
        Ok(())
    }

    /// Looks for fences and chunks of bands that are not listed (invariant 9). Unlisted chunks of
    /// an unfinished merge are counted, but are no violation.
    fn check_unlisted(&mut self) -> Result<()> {
        let path = self.reader.engine().path();
        let action = "checking the tables";
        let fences = self.reader.txn.open_table(FENCES).doing(path, action)?;
        for item in fences.iter().doing(path, action)? {
            let (run, band) = item.doing(path, action)?.0.value();
            let content =
                self.reader.state.manifest.get(RunNo(run)).and_then(|run| run.band(BandNo(band)));
            if content.is_none_or(|content| content.chunks() == 0) {
                let place = format!("fences run {run} band {band}");
                self.report.add(Invariant::Chunks, place, "the run has no chunks in this band");
            }
        }
        let postings = self.reader.txn.open_table(POSTINGS).doing(path, action)?;
        for item in postings.iter().doing(path, action)? {
            let key = item.doing(path, action)?.0.value();
            let (run, band) = posting_owner(key);
            let chunk = (key & 0xFF_FFFF) as u32;
            let content = self.reader.state.manifest.get(run).and_then(|run| run.band(band));
            match content {
                Some(content) if chunk >= content.chunks() => {
                    let place = format!("postings {key:#018x}");
                    self.report.add(Invariant::Chunks, place, "it is beyond the chunks of its run");
                }
                Some(_) => {}
                None => self.report.unlisted_chunks += 1,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
