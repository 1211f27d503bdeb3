//! Insertion times: renews them, and removes old documents.

use crate::error::Result;
use crate::store::bytes::record::DocumentRecord;
use crate::store::bytes::schema::{DOCUMENTS, DocNo, Table};
use crate::store::storage_error::{Doing, damaged};
use crate::store::write::writer::Writer;
use redb::ReadableTable;

impl Writer {
    /// Removes documents that were inserted before a time, starting at number `from`, until the
    /// transaction is large enough to commit. Returns how many, and the number from which to
    /// continue; `None` at the end.
    pub(crate) fn remove_inserted_before(
        &mut self,
        seconds: i64,
        from: DocNo,
    ) -> Result<(u64, Option<DocNo>)> {
        /// The maximum number of documents examined in one transaction: about a second, during
        /// which no other transaction can begin.
        const EXAMINED: usize = 1_000_000;
        /// The maximum number of documents removed in one transaction.
        const REMOVED: usize = 100_000;
        // Rows of removed documents are deleted first: a merge may have purged their tombstones.
        let (old, next) = self.read(|view| {
            let (path, action) = (view.fixed.path, "searching for old documents");
            let mut old = Vec::new();
            let rows = view.documents.range(from.0..).doing(path, action)?;
            for (row, examined) in rows.zip(1..) {
                let (number, row) = row.doing(path, action)?;
                let doc = DocNo(number.value());
                let record = DocumentRecord::decode(row.value(), doc)
                    .map_err(|fault| damaged(path, Table::Documents, doc.0, fault))?;
                if record.inserted < seconds && view.is_live(doc) {
                    old.push(doc);
                }
                if old.len() == REMOVED || examined == EXAMINED {
                    return Ok((old, doc.0.checked_add(1).map(DocNo)));
                }
            }
            Ok((old, None))
        })?;
        old.iter().for_each(|doc| self.remove_number(*doc));
        Ok((old.len() as u64, next))
    }

    /// Sets the insertion time of the documents with these ids to the time of this transaction.
    /// Returns how many there were. Never makes a document older, even if the clock went back.
    pub(crate) fn renew_all(&mut self, ids: &[&str]) -> Result<u64> {
        let mut docs = self.numbers_of(ids)?;
        docs.sort_unstable();
        let (now, mut renewed) = (self.now(), false);
        self.change(|writer| {
            let (txn, path) = (writer.txn()?, writer.path());
            let action = "renewing documents";
            let mut table = txn.open_table(DOCUMENTS).doing(path, action)?;
            for doc in &docs {
                let fault = |detail| damaged(path, Table::Documents, doc.0, detail);
                let mut record = {
                    let row = table.get(doc.0).doing(path, action)?;
                    let row = row.ok_or_else(|| fault("its row is missing"))?;
                    DocumentRecord::decode(row.value(), *doc).map_err(fault)?
                };
                if record.inserted < now {
                    record.inserted = now;
                    let row = record.encode(*doc).map_err(fault)?;
                    table.insert(doc.0, &row[..]).doing(path, action)?;
                    renewed = true;
                }
            }
            drop(table);
            if renewed {
                writer.touch(1);
            }
            Ok(())
        })?;
        Ok(docs.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use crate::hash::TextHash;
    use crate::sketch::Signature;
    use crate::store::document::Kind;
    use crate::store::sim::testing::{filled, insert_into, open};
    use crate::store::{Document, Engine};
    use std::sync::Arc;

    fn insert(engine: &Arc<Engine>, id: &str, inserted: i64) {
        let signature = Signature::from_lanes(vec![7; 64], 10);
        let id = id.to_owned();
        let inserted = Some(inserted);
        let document = Document {
            id,
            kind: Kind::Text,
            signature,
            sketched_by: None,
            fingerprints: None,
            winnowing: None,
            text_hash: TextHash::Xxh3(1),
            text_length: 1,
            text: None,
            inserted,
        };
        let mut writer = engine.write().expect("begun");
        insert_into(&mut writer, document);
        writer.commit().expect("committed");
    }

    #[test]
    fn renewing_sets_the_time_of_the_transaction_and_changes_no_other_document() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 20);
        insert(&engine, "old", 1_000);
        insert(&engine, "older", -5);
        insert(&engine, "of tomorrow", i64::MAX);
        let mut writer = engine.write().expect("begun");
        let ids = ["old", "of tomorrow", "unknown", "old"];
        assert_eq!(writer.renew_all(&ids).expect("renewed"), 2);
        let now = writer.now();
        writer.commit().expect("committed");
        drop(engine);
        let reader = open(&folder).read().expect("a reader");
        let found = |id| reader.view().find(id).expect("readable").expect("there").1.inserted;
        assert_eq!(["old", "older", "of tomorrow"].map(found), [now, -5, i64::MAX]);
        assert!(crate::store::check(&reader).expect("walked").is_clean());
    }

    #[test]
    fn a_removed_document_is_not_renewed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 20);
        let mut writer = engine.write().expect("begun");
        assert!(writer.remove("3").expect("removed"));
        assert_eq!(writer.renew_all(&["3", "4"]).expect("renewed"), 1);
        writer.commit().expect("committed");
    }
}
