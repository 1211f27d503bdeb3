//! The write transaction: insertions and removals, seen by itself at once and by others at commit.

use crate::error::{Error, Result};
use crate::sketch::Signature;
use crate::store::bytes::schema::{
    DEAD, DOCUMENTS, DocNo, META, POSTINGS, SIGNATURES, STATE_ROW, TEXTS, Table,
};
use crate::store::bytes::texts::encode_text;
use crate::store::engine::{Engine, now};
use crate::store::parallel;
use crate::store::read::view::View;
use crate::store::runs::segment::TailDocument;
use crate::store::state::State;
use crate::store::storage_error::{Doing, abandon, damaged, drop_catching_panics};
use crate::store::write::encode::{Rows, append};
use redb::WriteTransaction;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// A document that is ready to be inserted.
#[derive(Clone, Debug)]
pub(crate) struct NewDocument {
    pub(crate) id: String,
    pub(crate) signature: Signature,
    pub(crate) text_hash: u64,
    pub(crate) text_length: u64,
    /// The raw text, which an index that stores texts must be given.
    pub(crate) text: Option<Arc<str>>,
    /// Seconds since 1970 when it was inserted first; `None` for now.
    pub(crate) inserted: Option<i64>,
}

type WriteTable<'t, K> = redb::Table<'t, K, &'static [u8]>;
type WriteView<'v, 't> = View<'v, WriteTable<'t, u64>, WriteTable<'t, u32>>;

/// The one write transaction of an index. Dropping it undoes everything.
pub(crate) struct Writer<'e> {
    pub(crate) engine: &'e Engine,
    /// Taken by commit; present otherwise.
    txn: Option<WriteTransaction>,
    /// The state as it was, to see what has changed.
    before: Arc<State>,
    pub(crate) state: State,
    /// Documents that are in no segment yet.
    fresh: Vec<TailDocument>,
    /// Their ids, which others choose: a hash without a key could be made slow by them.
    pub(crate) fresh_ids: HashMap<String, DocNo>,
    /// Documents that were removed and have rows still.
    removed: Vec<DocNo>,
    pub(crate) changes: u64,
    pub(crate) added: u64,
    /// Seconds since 1970 when the transaction began.
    pub(crate) now: i64,
    /// Set when a change fails, and for good: nothing of this transaction is whole any more.
    failed: bool,
}

impl<'e> Writer<'e> {
    pub(crate) fn new(engine: &'e Engine, txn: WriteTransaction, state: Arc<State>) -> Self {
        Self {
            engine,
            txn: Some(txn),
            state: State::clone(&state),
            before: state,
            fresh: Vec::new(),
            fresh_ids: HashMap::new(),
            removed: Vec::new(),
            changes: 0,
            added: 0,
            now: now(),
            failed: false,
        }
    }

    pub(crate) fn txn(&self) -> Result<&WriteTransaction> {
        self.txn.as_ref().ok_or_else(|| Error::Storage {
            path: self.engine.path().to_owned(),
            action: "writing",
            detail: "the transaction has ended".into(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.engine.path()
    }

    /// Documents that wait for a segment at the most: sorting more at once gains nothing.
    pub(crate) fn batch(&self) -> usize {
        self.engine.tuning().flush_documents.min(1 << 14)
    }

    /// Lets nothing of this transaction be committed.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    /// Makes a change; if it fails, or panics on damage, nothing can be committed.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let engine = self.engine;
        engine.guard_write(|| change(self)).inspect_err(|_| self.failed = true)
    }

    pub(crate) fn full(&self) -> Error {
        Error::Full { path: self.engine.path().to_owned() }
    }

    /// Live documents, this transaction's changes included.
    pub(crate) fn len(&self) -> u64 {
        self.state.counters.documents
    }

    /// The number that the next document gets.
    pub(crate) fn next_number(&self) -> u64 {
        self.state.counters.next_doc
    }

    /// Whether a document that was there has not been removed.
    pub(crate) fn is_live(&self, doc: DocNo) -> bool {
        !self.state.tombstones.contains(doc)
    }

    /// The next automatic id.
    pub(crate) fn auto_id(&mut self) -> String {
        self.state.counters.auto_ids = self.state.counters.auto_ids.wrapping_add(1);
        self.changes += 1;
        format!("#{}", self.state.counters.auto_ids)
    }

    /// Reads the state with this transaction's own changes, all of them in segments.
    pub(crate) fn read<T>(
        &mut self,
        read: impl FnOnce(&WriteView<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        self.settle();
        self.remove_rows()?;
        self.view(read)
    }

    /// Reads the state but for documents that wait in `fresh`.
    pub(crate) fn view<T>(&self, read: impl FnOnce(&WriteView<'_, '_>) -> Result<T>) -> Result<T> {
        let (txn, path) = (self.txn()?, self.engine.path());
        self.engine.guard_write(|| {
            let action = "opening the tables";
            let postings = txn.open_table(POSTINGS).doing(path, action)?;
            let signatures = txn.open_table(SIGNATURES).doing(path, action)?;
            let documents = txn.open_table(DOCUMENTS).doing(path, action)?;
            let texts = match self.engine.fixed().texts {
                true => Some(txn.open_table(TEXTS).doing(path, action)?),
                false => None,
            };
            read(&View {
                fixed: self.engine.fixed(),
                state: &self.state,
                postings: &postings,
                signatures: &signatures,
                documents: &documents,
                texts: texts.as_ref(),
            })
        })
    }

    /// Puts the waiting documents into a segment.
    pub(crate) fn settle(&mut self) {
        if !self.fresh.is_empty() {
            self.state.tail.push(self.engine.fixed().layout, &self.fresh);
            self.fresh.clear();
            self.fresh_ids.clear();
        }
    }

    /// Inserts a document whose id is free.
    pub(crate) fn insert(&mut self, document: NewDocument) -> Result<()> {
        self.insert_all(vec![document])
    }

    /// Inserts documents whose ids are free and differ, at most [`batch`](Self::batch) of them.
    pub(crate) fn insert_all(&mut self, documents: Vec<NewDocument>) -> Result<()> {
        if documents.is_empty() {
            return Ok(());
        }
        self.change(|writer| writer.insert_rows(documents))
    }

    fn insert_rows(&mut self, documents: Vec<NewDocument>) -> Result<()> {
        let path = self.engine.path();
        let key = self.engine.fixed().id_key;
        let first = self.state.counters.next_doc;
        let last = first + documents.len() as u64 - 1;
        u32::try_from(last).map_err(|_| self.full())?;
        let (now, stores_texts) = (self.now, self.engine.fixed().texts);
        if stores_texts {
            self.learn_dictionary(&documents)?;
        }
        let dictionary = self.state.dictionary.as_deref();
        let prepare = |(doc, mut new): (DocNo, NewDocument)| {
            let text = new.text.take().filter(|_| stores_texts);
            let text = text.map(|text| encode_text(&text, doc, dictionary));
            Rows::new(doc, new, text, key, now)
        };
        let shared = documents.len() >= parallel::MIN_DOCUMENTS;
        let numbered: Vec<_> =
            (first..).map(|number| DocNo(number as u32)).zip(documents).collect();
        let rows = parallel::map(numbered, shared, prepare);
        let rows = rows
            .into_iter()
            .collect::<std::result::Result<Vec<Rows>, _>>()
            .map_err(|(doc, fault)| damaged(path, Table::Documents, doc, fault))?;
        append(self.txn()?, path, &rows)?;
        let added = rows.len() as u64;
        self.state.counters.next_doc += added;
        self.state.counters.documents += added;
        self.changes += added;
        self.added += added;
        // Many at once are found in a segment as soon as in a map.
        const MANY: usize = 1 << 10;
        let waiting = self.fresh.len() + rows.len();
        let settles = rows.len() >= MANY || waiting >= self.batch();
        for Rows { id, fresh, .. } in rows {
            if !settles {
                self.fresh_ids.insert(id, fresh.doc);
            }
            self.fresh.push(fresh);
        }
        if settles {
            self.settle();
            if self.state.tail.documents() >= self.engine.tuning().flush_documents {
                self.flush()?;
                self.merge_on()?;
            }
        }
        Ok(())
    }

    /// Takes documents over whose rows are written already, and the number of the next one.
    pub(crate) fn take_over(&mut self, fresh: Vec<TailDocument>, next_doc: u64) {
        let added = fresh.len() as u64;
        self.state.counters.next_doc = next_doc;
        self.state.counters.documents += added;
        self.changes += added;
        self.added += added;
        self.fresh.extend(fresh);
        self.settle();
    }

    /// Makes the next commit write even if nothing else has changed.
    pub(crate) fn touch(&mut self) {
        self.changes += 1;
    }

    /// Removes the document with this id; returns whether there was one.
    pub(crate) fn remove(&mut self, id: &str) -> Result<bool> {
        let Some(doc) = self.number_of(id)? else { return Ok(false) };
        self.fresh_ids.remove(id);
        self.remove_number(doc);
        Ok(true)
    }

    /// Removes a live document. Its rows go later, with others in the order of their numbers:
    /// nothing looks at the rows of the dead.
    pub(crate) fn remove_number(&mut self, doc: DocNo) {
        self.removed.push(doc);
        self.state.tombstones.insert(doc);
        // A count that is too small is for `check` to name; one below 0 could not be read again.
        let documents = &mut self.state.counters.documents;
        *documents = documents.saturating_sub(1);
        self.changes += 1;
    }

    /// Removes the rows of removed documents.
    fn remove_rows(&mut self) -> Result<()> {
        if self.removed.is_empty() {
            return Ok(());
        }
        let mut removed = std::mem::take(&mut self.removed);
        removed.sort_unstable();
        self.change(|writer| {
            let (txn, path, action) = (writer.txn()?, writer.engine.path(), "removing documents");
            let texts = writer.engine.fixed().texts.then_some(TEXTS);
            for table in [SIGNATURES, DOCUMENTS].into_iter().chain(texts) {
                let mut table = txn.open_table(table).doing(path, action)?;
                for doc in &removed {
                    table.remove(doc.0).doing(path, action)?;
                }
            }
            Ok(())
        })
    }

    /// Makes all changes durable and visible. Without changes nothing is written.
    ///
    /// # Errors
    ///
    /// Where an insertion or removal of this transaction failed, nothing of it can be committed.
    pub(crate) fn commit(mut self) -> Result<()> {
        if self.failed {
            return Err(Error::Storage {
                path: self.engine.path().to_owned(),
                action: "committing",
                detail: "a change of this transaction failed".into(),
            });
        }
        self.settle();
        self.remove_rows()?;
        if self.state.tail.documents() >= self.engine.tuning().flush_documents {
            self.flush()?;
        }
        self.merge_on()?;
        if self.changes > 0 {
            if !self.engine.is_tidy() {
                self.change(|writer| writer.delete_abandoned())?;
            }
            self.change(Self::write_state)?;
        }
        let Some(mut txn) = self.txn.take() else { return Ok(()) };
        if self.changes == 0 {
            return txn.abort().doing(self.engine.path(), "ending a transaction");
        }
        txn.set_quick_repair(self.changes >= self.engine.tuning().quick_repair_from);
        self.engine.publish(txn, std::mem::take(&mut self.state))
    }
}

impl Writer<'_> {
    /// Writes what the next commit says of itself.
    fn write_state(&mut self) -> Result<()> {
        self.state.counters.commit = self.state.counters.commit.wrapping_add(1);
        let (txn, path, action) = (self.txn()?, self.engine.path(), "writing the state");
        let mut dead = txn.open_table(DEAD).doing(path, action)?;
        for (number, row) in self.state.tombstones.changed_rows(&self.before.dead) {
            match row {
                Some(row) => dead.insert(number, &row[..]).doing(path, action)?,
                None => dead.remove(number).doing(path, action)?,
            };
        }
        let mut meta = txn.open_table(META).doing(path, action)?;
        meta.insert(STATE_ROW, &self.state.counters.encode()[..]).doing(path, action)?;
        Ok(())
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        // The storage's transaction ends before the next may start.
        if self.engine.is_broken() {
            abandon(self.txn.take());
        } else if !drop_catching_panics(self.txn.take()) {
            self.engine.set_broken();
        }
        self.engine.end_write();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::Signature;
    use crate::store::sim::testing::{filled, open};

    fn document(id: &str) -> NewDocument {
        let signature = Signature::from_lanes(vec![7; 64], 10);
        NewDocument {
            id: id.to_owned(),
            signature,
            text_hash: 1,
            text_length: 1,
            text: None,
            inserted: None,
        }
    }

    #[test]
    fn a_transaction_that_failed_stays_failed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 50);
        let mut writer = engine.write().expect("begun");
        assert!(writer.remove("1").expect("removed"));
        writer.fail();
        writer.insert(document("new")).expect("a later change goes well");
        writer.read(|_| Ok(())).expect("and what was removed goes");
        let error = writer.commit().expect_err("refused");
        assert!(matches!(error, Error::Storage { action: "committing", .. }), "{error}");
        drop(engine);
        let reader = open(&folder).read().expect("a reader");
        assert!(reader.view().find("1").expect("readable").is_some(), "nothing was lost");
        assert!(reader.view().find("new").expect("readable").is_none());
    }

    #[test]
    fn everyone_who_waits_is_told_that_the_index_is_broken() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 50);
        let writer = engine.write().expect("begun");
        std::thread::scope(|scope| {
            let waiting = [0; 3].map(|_| scope.spawn(|| engine.write().map(|_| ()).is_err()));
            std::thread::sleep(std::time::Duration::from_millis(50));
            engine.set_broken();
            drop(writer);
            assert!(
                waiting.map(|thread| thread.join().expect("no panic")).iter().all(|told| *told)
            );
        });
    }
}
