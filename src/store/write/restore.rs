//! Copies the rows and counters of an old file into a new one.

use crate::error::Result;
use crate::store::bytes::record::Counters;
use crate::store::write::encode::{MovedDocument, append};
use crate::store::write::writer::Writer;

impl Writer {
    /// Inserts documents with their rows, unchanged. Their numbers must be greater than all numbers
    /// in the index; gaps between them stay unused.
    pub(crate) fn restore(&mut self, documents: &[MovedDocument]) -> Result<()> {
        let Some(last) = documents.last() else { return Ok(()) };
        let next = u64::from(last.fresh.doc.0) + 1;
        let rows = documents.iter().map(MovedDocument::rows);
        self.change(|writer| append(writer.txn()?, writer.path(), &rows, false))?;
        self.state_mut().counters.next_doc = next;
        self.wait_for_segment(documents.iter().map(|moved| moved.fresh.clone()));
        self.settle();
        Ok(())
    }

    /// Numbers the commits of a new index from that of an old one on, so that whoever has read the
    /// changes of the old one does not take those of this one for later ones.
    pub(crate) fn continue_from(&mut self, commit: u64) {
        let counters = &mut self.state_mut().counters;
        counters.commit = counters.commit.max(commit);
        self.touch(1);
    }

    /// Flushes the tail, and copies the counters that do not follow from the documents.
    pub(crate) fn restore_counters(&mut self, old: Counters) -> Result<()> {
        self.flush()?;
        let counters = &mut self.state_mut().counters;
        counters.auto_ids = old.auto_ids;
        counters.next_doc = counters.next_doc.max(old.next_doc);
        counters.flushed_upto = counters.next_doc;
        counters.commit = counters.commit.max(old.commit);
        self.touch(1);
        Ok(())
    }
}
