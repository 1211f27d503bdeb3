//! Takes over the documents of another index together with its runs, instead of inserting one
//! document after the other (`docs/format.md`, section "Life of a run").

use crate::error::Result;
use crate::store::bytes::schema::{BandNo, DOCUMENT_NUMBERS, DocNo, Table};
use crate::store::parallel;
use crate::store::progress::Watch;
use crate::store::read::view::View;
use crate::store::runs::merge::MergeTask;
use crate::store::runs::run::Run;
use crate::store::runs::tombstones::Tombstones;
use crate::store::storage_error::damaged;
use crate::store::write::attached_rows::{AttachedBlock, AttachedDocument, Destination, read_all};
use crate::store::write::attached_runs::{AttachedRun, IdEntries, copy_band, plan, write_tail};
use crate::store::write::encode::append;
use crate::store::write::lookup::Known;
use crate::store::write::writer::Writer;
use std::mem::take;
use std::sync::Arc;

/// What became of the documents of the other index.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attached {
    pub(crate) added: u64,
    pub(crate) replaced: u64,
    pub(crate) unchanged: u64,
    pub(crate) skipped: u64,
    /// The number of all documents that have no shingles.
    pub(crate) empty: u64,
    /// The bytes of the texts of all documents.
    pub(crate) text_bytes: u64,
}

impl Attached {
    /// The number of documents that were written.
    fn written(&self) -> u64 {
        self.added + self.replaced
    }
}

/// The bands of ids in the making, in the order of documents.
struct IdBands {
    /// The places in the plan of the runs that are to have such a band.
    places: std::vec::IntoIter<usize>,
    /// The run whose documents are being read.
    at: Option<usize>,
    entries: IdEntries,
}

impl Writer {
    /// Takes over all documents of another index of equal settings. A document whose id the index
    /// has with another text replaces it if `replaces`, and is left out otherwise.
    ///
    /// If it fails or is stopped, the transaction cannot be committed.
    pub(crate) fn attach(
        &mut self,
        source: &View<'_>,
        replaces: bool,
        watch: &mut Watch<'_>,
    ) -> Result<Attached> {
        let mut attached = Attached::default();
        self.change(|writer| {
            watch.expect(source.state.counters.documents)?;
            // What comes in gets numbers above those of the tail, and is not part of the tail.
            writer.flush()?;
            attached = writer.attach_all(source, replaces, watch)?;
            Ok(())
        })?;
        Ok(attached)
    }

    fn attach_all(
        &mut self,
        source: &View<'_>,
        replaces: bool,
        watch: &mut Watch<'_>,
    ) -> Result<Attached> {
        let (own, theirs) = (self.state().counters, source.state.counters);
        let end = own.next_doc + theirs.next_doc;
        let offset = u32::try_from(own.next_doc).ok().filter(|_| end <= DOCUMENT_NUMBERS);
        let Some(offset) = offset else {
            return if theirs.next_doc == 0 { Ok(Attached::default()) } else { Err(self.full()) };
        };
        if let (None, Some(dictionary)) = (&self.state().dictionary, &source.state.dictionary) {
            self.take_dictionary(Arc::clone(dictionary))?;
        }
        let mut runs = plan(source.state, self.state_mut()).ok_or_else(|| self.full())?;
        let (attached, left_out) = self.attach_rows(source, offset, &mut runs, replaces, watch)?;
        if attached.written() == 0 {
            return Ok(attached);
        }
        for run in &mut runs {
            self.attach_run(source, run, offset, &left_out, watch)?;
        }
        let state = self.state_mut();
        let flushed = |doc: &DocNo| u64::from(doc.0) < theirs.flushed_upto;
        for doc in source.state.tombstones.iter().chain(left_out.iter()).filter(flushed) {
            state.tombstones.insert(DocNo(doc.0 + offset));
        }
        state.counters.documents += attached.written();
        state.counters.next_doc = end;
        state.counters.flushed_upto = end;
        let resumed = runs
            .iter()
            .filter_map(|run| state.manifest.get(run.number))
            .filter(|run| !run.is_complete() && !state.manifest.sources_of(run).is_empty());
        let resumed = resumed.map(|run| MergeTask::resume(run, &state.manifest, &state.tombstones));
        let resumed: Vec<MergeTask> = resumed.collect();
        state.merges.extend(resumed);
        self.touch(attached.written());
        self.set_attached();
        self.raise_tiers(runs.iter().map(|run| run.tier).max().unwrap_or(0))?;
        Ok(attached)
    }

    /// Writes the rows of the documents and the bands of their ids. Returns also which documents
    /// were left out, by their numbers in the other index.
    fn attach_rows(
        &mut self,
        source: &View<'_>,
        offset: u32,
        runs: &mut [AttachedRun],
        replaces: bool,
        watch: &mut Watch<'_>,
    ) -> Result<(Attached, Tombstones)> {
        let ids = self.engine().fixed().layout.ids();
        let mut places: Vec<usize> = (0..runs.len()).collect();
        places.retain(|place| runs.get(*place).is_some_and(|run| run.has_ids(ids)));
        places.sort_by_key(|place| runs.get(*place).map(|run| run.first));
        let mut places = places.into_iter();
        let at = places.next();
        let mut bands = IdBands { places, at, entries: IdEntries::default() };
        let (mut attached, mut left_out) = (Attached::default(), Tombstones::default());
        let dictionary = self.state().dictionary.clone();
        let destination = Destination { offset, id_key: self.engine().fixed().id_key, dictionary };
        let mut read = 0;
        let write = |mut block: AttachedBlock| {
            let count = block.documents.len() as u64;
            read += count;
            let documents = take(&mut block.documents);
            let wanted = self.decide(source, documents, replaces, &mut attached, &mut left_out)?;
            for document in &wanted {
                self.reach(source, document.from, &mut bands, runs, watch)?;
                bands.entries.push((document.id_hash, document.to), self)?;
            }
            let shared = wanted.len() >= parallel::MIN_DOCUMENTS;
            block.documents = wanted;
            append(self.txn()?, self.path(), &block.rows(), shared)?;
            watch.advance_now(count)
        };
        parallel::read_ahead(|take| read_all(source, &destination, take), write)?;
        while let Some(at) = bands.at {
            self.end_ids(at, &mut bands, runs, watch)?;
        }
        let expected = source.state.counters.documents;
        if read != expected {
            let detail = format!("it has {read} rows instead of {expected}");
            return Err(damaged(source.fixed.path, Table::Documents, "all", detail));
        }
        Ok((attached, left_out))
    }

    /// Decides which documents are written, and returns them. Those that they replace are removed.
    fn decide(
        &mut self,
        source: &View<'_>,
        documents: Vec<AttachedDocument>,
        replaces: bool,
        attached: &mut Attached,
        left_out: &mut Tombstones,
    ) -> Result<Vec<AttachedDocument>> {
        let ids: Vec<&str> = documents.iter().map(|document| &*document.id).collect();
        let known = self.known(&ids)?;
        let mut wanted = Vec::with_capacity(documents.len());
        for (document, known) in documents.into_iter().zip(known) {
            attached.empty += u64::from(document.is_empty);
            attached.text_bytes = attached.text_bytes.saturating_add(document.text.length);
            match known {
                Known::Absent => attached.added += 1,
                Known::Document(former) if former.text == document.text => {
                    attached.unchanged += 1;
                    left_out.insert(document.from);
                    continue;
                }
                Known::Document(former) if replaces => {
                    attached.replaced += 1;
                    self.remove_number(former.doc);
                }
                Known::Document(_) => {
                    attached.skipped += 1;
                    left_out.insert(document.from);
                    continue;
                }
                Known::Repeated => {
                    let (path, id) = (source.fixed.path, "another document has its id");
                    return Err(damaged(path, Table::Documents, document.from.0, id));
                }
            }
            wanted.push(document);
        }
        Ok(wanted)
    }

    /// Ends the bands of ids of the runs before this document.
    fn reach(
        &mut self,
        source: &View<'_>,
        doc: DocNo,
        bands: &mut IdBands,
        runs: &mut [AttachedRun],
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        loop {
            let run = bands.at.and_then(|at| runs.get(at));
            match (bands.at, run) {
                (_, Some(run)) if (run.first..=run.last).contains(&doc) => return Ok(()),
                (Some(at), Some(run)) if run.last < doc => self.end_ids(at, bands, runs, watch)?,
                _ => {
                    let detail = "no run covers the document";
                    return Err(damaged(source.fixed.path, Table::Documents, doc.0, detail));
                }
            }
        }
    }

    /// Writes the band of ids of a run, and goes on to the next run.
    fn end_ids(
        &mut self,
        at: usize,
        bands: &mut IdBands,
        runs: &mut [AttachedRun],
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        if let Some(run) = runs.get_mut(at) {
            run.ids = Some(take(&mut bands.entries).finish(run.number, self, watch)?);
        }
        bands.at = bands.places.next();
        Ok(())
    }

    /// Writes the bands of a run, and adds it to the manifest.
    fn attach_run(
        &mut self,
        source: &View<'_>,
        new: &mut AttachedRun,
        offset: u32,
        left_out: &Tombstones,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let (layout, writer) = (self.engine().fixed().layout, self.run_writer()?);
        let (first, last) = (DocNo(new.first.0 + offset), DocNo(new.last.0 + offset));
        let mut run = Run::new(new.number, new.tier, first, last, layout.count());
        let is_wanted = |doc| !source.state.tombstones.contains(doc) && !left_out.contains(doc);
        for band in layout.all() {
            let to = (new.number, offset);
            let content = match &new.from {
                _ if band == layout.ids() => new.ids.take(),
                Some(from) => copy_band(source, (from, band), to, writer, watch)?,
                None => Some(write_tail(source.state, band, to, writer, is_wanted)?),
            };
            if let Some(content) = content {
                writer.list(&run, band, &content)?;
                run.set(band, Some(Arc::new(content)));
            }
        }
        self.state_mut().manifest.add(run);
        Ok(())
    }

    /// Raises the tier of all runs below this one, except those of merges. Merges take neighbours
    /// of one tier, and small runs between large ones would never find any.
    fn raise_tiers(&mut self, tier: u8) -> Result<()> {
        let bands: Vec<BandNo> = self.engine().fixed().layout.all().collect();
        let state = self.state();
        let is_merged = |run: &Run| state.merges.iter().any(|task| task.reads(run.number));
        let low = state.manifest.runs().iter();
        let low = low.filter(|run| run.tier < tier && run.is_complete() && !is_merged(run));
        let low: Vec<Arc<Run>> = low.cloned().collect();
        for run in low {
            let mut raised = Run::clone(&run);
            raised.tier = tier;
            for band in &bands {
                if let Some(content) = run.band(*band) {
                    self.run_writer()?.list_run(&raised, *band, content)?;
                }
            }
            self.state_mut().manifest.set_tier(run.number, tier);
        }
        Ok(())
    }
}
