//! Inserts new documents: writes their rows and lets them wait for a segment.

use crate::error::Result;
use crate::store::bytes::schema::{DOCUMENT_NUMBERS, DocNo, Table};
use crate::store::document::Document;
use crate::store::parallel;
use crate::store::read::recent_lanes::LanesInOrder;
use crate::store::runs::segment::TailDocument;
use crate::store::storage_error::damaged;
use crate::store::write::encode::{NewRows, RowSettings, append};
use crate::store::write::writer::Writer;
use std::ops::Range;
use std::sync::Arc;

impl Writer {
    /// Inserts documents. Their ids must be distinct and free, which
    /// [`Batch`](super::batch::Batch) ensures.
    pub(super) fn insert_all(&mut self, documents: Vec<Document>) -> Result<()> {
        if documents.is_empty() {
            return Ok(());
        }
        self.change(|writer| writer.insert_rows(documents))
    }

    fn insert_rows(&mut self, mut documents: Vec<Document>) -> Result<()> {
        let engine = Arc::clone(self.engine());
        let first = self.next_number();
        let last = first + documents.len() as u64 - 1;
        if last >= DOCUMENT_NUMBERS {
            return Err(self.full());
        }
        let (fixed, now) = (engine.fixed(), self.now());
        if fixed.texts {
            self.learn_dictionary(&documents)?;
        }
        let (id_key, texts, passages) = (fixed.id_key, fixed.texts, fixed.layout.passages);
        let dictionary = self.state().dictionary.as_deref();
        let settings = RowSettings { id_key, now, texts, passages, dictionary };
        let shared = documents.len() >= parallel::MIN_DOCUMENTS;
        // Few documents may be long, so the number of pieces matters, too.
        let piece = (documents.len() / 64).clamp(1, 64);
        let numbers = (first..).step_by(piece).map(|number| DocNo(number as u32));
        let pieces: Vec<_> = numbers.zip(documents.chunks_mut(piece)).collect();
        let encode = |(first, documents)| NewRows::encode(documents, first, settings);
        let rows = parallel::map(pieces, shared, encode)
            .into_iter()
            .collect::<std::result::Result<Vec<NewRows>, _>>()
            .map_err(|(doc, fault)| damaged(engine.path(), Table::Documents, doc, fault))?;
        append(self.txn()?, engine.path(), &rows.iter().flat_map(NewRows::rows), shared)?;
        let (count, waiting) = (documents.len(), self.fresh.len() + documents.len());
        self.state_mut().counters.next_doc += count as u64;
        // From this number on, a lookup in a segment is as fast as one in a map.
        const SEGMENT_FROM: usize = 1 << 10;
        let settles = count >= SEGMENT_FROM || waiting >= self.batch_size();
        if !settles {
            let ids = documents.iter_mut().map(|document| std::mem::take(&mut document.id));
            self.fresh_ids.extend(ids.zip((first..).map(|number| DocNo(number as u32))));
        }
        let new = self.fresh.len();
        let mut without_rows = documents.iter_mut();
        for rows in rows {
            self.wait_for_segment(rows.into_fresh(without_rows.by_ref()));
        }
        parallel::free(documents);
        self.keep_lanes_from(new, first..last + 1);
        if settles {
            self.settle();
            if self.has_full_tail() {
                self.flush()?;
                self.merge_on()?;
            }
        }
        Ok(())
    }

    /// Counts documents whose rows are written, and lets them wait for a segment.
    pub(super) fn wait_for_segment(&mut self, fresh: impl Iterator<Item = TailDocument>) {
        let first = self.fresh.len();
        self.fresh.extend(fresh);
        let fresh = self.fresh.get(first..).unwrap_or_default();
        let added = fresh.len() as u64;
        let words: usize = fresh.iter().map(|new| new.fingerprints.len()).sum();
        self.state_mut().counters.documents += added;
        self.touch(added);
        let bands = u64::from(self.engine().fixed().layout.bands);
        self.added += added * (bands + 1) + words as u64;
    }

    /// Keeps the lanes of the documents that wait at this position and behind it, which are those
    /// with these numbers, if they are compared with others.
    fn keep_lanes_from(&mut self, first: usize, numbers: Range<u64>) {
        if !self.keeps_lanes && !self.tracks_clusters() {
            return;
        }
        let fresh = self.fresh.get(first..).unwrap_or_default();
        let mut kept = LanesInOrder::with_room(self.engine().fixed().lanes, fresh.len());
        for TailDocument { doc, lanes, .. } in fresh {
            if let Some(lanes) = lanes {
                kept.push(*doc, lanes);
            }
        }
        self.state_mut().recent_lanes.push(numbers, Arc::new(kept));
    }
}
