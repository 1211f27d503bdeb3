//! The write transaction. It sees its own changes at once; others see them after the commit.

use crate::error::{Error, Result};
use crate::store::bytes::schema::{
    DEAD, DOCUMENTS, DocNo, FINGERPRINTS, FORMAT_ROW, FORMAT_VERSION, META, POSTINGS, SIGNATURES,
    STATE_ROW, TEXTS, format_row,
};
use crate::store::bytes::time::now;
use crate::store::engine::Engine;
use crate::store::parallel;
use crate::store::read::view::View;
use crate::store::runs::segment::TailDocument;
use crate::store::state::State;
use crate::store::storage_error::{Doing, abandon, drop_catching_panics};
use crate::store::write::turn::Turn;
use redb::WriteTransaction;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a transaction was committed. Clones tell it of the same transaction, and outlive it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Committed(Arc<AtomicBool>);

impl Committed {
    /// Whether the commit has succeeded.
    pub(crate) fn is_so(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Whether both are of one transaction.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The one write transaction of an index. Dropping it undoes everything.
///
/// Two kinds of work are put off, because they cost less for many documents at once:
///
/// - Documents in `fresh` have their rows and their numbers, but no band entries, so no bucket and
///   no id leads to them. [`settle`](Self::settle) gives them entries; `fresh_ids` finds them until
///   then.
/// - Documents in `removed` have a tombstone, but still their rows. A flush or a merge may delete
///   the tombstone, with the entries, before [`remove_rows`](Self::remove_rows) deletes the rows.
///   So who goes by entries may use [`view`](Self::view), but who walks through the rows of a table
///   needs [`read`](Self::read), which does both kinds of work first.
pub(crate) struct Writer {
    engine: Arc<Engine>,
    /// The transaction of the storage engine; `None` after the commit has taken it.
    txn: Option<WriteTransaction>,
    /// The state at the start, from which the commit computes the changes.
    before: Arc<State>,
    state: State,
    /// Documents that are in no segment yet.
    pub(super) fresh: Vec<TailDocument>,
    /// The ids of `fresh`. Users choose ids, so the map needs a keyed hash against collisions.
    pub(super) fresh_ids: HashMap<String, DocNo>,
    /// Removed documents whose rows still exist.
    removed: Vec<DocNo>,
    /// Tracked clusters that have lost documents.
    pub(super) shrunk: BTreeSet<u64>,
    /// The number of changed rows. A commit without changes writes nothing.
    changes: u64,
    /// The number of band entries of the documents inserted since the last merge step.
    pub(super) added: u64,
    /// Whether runs of another index came in, whose merges can wait.
    attached: bool,
    /// Whether the lanes of new documents are kept in memory.
    pub(super) keeps_lanes: bool,
    /// The start of the transaction, in seconds since 1970.
    now: i64,
    /// Set for good when a change fails, because the transaction is then incomplete.
    failed: bool,
    /// Set when the transaction is committed.
    committed: Committed,
    /// Declared last, so that it is dropped after the transaction of the storage engine.
    turn: Turn,
}

impl Writer {
    pub(super) fn new(
        engine: Arc<Engine>,
        turn: Turn,
        txn: WriteTransaction,
        state: Arc<State>,
    ) -> Self {
        Self {
            engine,
            txn: Some(txn),
            state: State::clone(&state),
            before: state,
            fresh: Vec::new(),
            fresh_ids: HashMap::new(),
            removed: Vec::new(),
            shrunk: BTreeSet::new(),
            changes: 0,
            added: 0,
            attached: false,
            keeps_lanes: false,
            now: now(),
            failed: false,
            committed: Committed::default(),
            turn,
        }
    }

    /// Records that this thread holds the transaction.
    pub(crate) fn note_use(&self) {
        self.turn.note_use();
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The state with this transaction's changes, except documents that wait for a segment.
    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// The state, for changes. The caller must also call [`touch`](Self::touch).
    pub(super) fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// The start of the transaction, in seconds since 1970.
    pub(super) fn now(&self) -> i64 {
        self.now
    }

    pub(super) fn txn(&self) -> Result<&WriteTransaction> {
        self.txn.as_ref().ok_or_else(|| Error::Storage {
            path: self.engine.path().to_owned(),
            action: "writing",
            detail: "the transaction has ended".into(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.engine.path()
    }

    /// The maximum number of documents that wait for a segment. Sorting more at once gains nothing.
    pub(crate) fn batch_size(&self) -> usize {
        self.engine.tuning().flush_documents.min(1 << 14)
    }

    /// Makes the commit of this transaction fail.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    /// Makes a change. If it fails or panics on damage, the transaction cannot be committed.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let engine = Arc::clone(&self.engine);
        engine.guard_write(|| change(self)).inspect_err(|_| self.failed = true)
    }

    pub(super) fn full(&self) -> Error {
        Error::Full { path: self.engine.path().to_owned() }
    }

    /// The number of live documents, including this transaction's changes.
    pub(crate) fn len(&self) -> u64 {
        self.state.counters.documents
    }

    /// Whether the documents with these numbers are the latest, as [`State::are_latest`] has it.
    pub(crate) fn are_latest(&self, numbers: &Range<u64>) -> bool {
        self.state.are_latest(numbers)
    }

    /// The number that the next document gets.
    pub(crate) fn next_number(&self) -> u64 {
        self.state.counters.next_doc
    }

    /// The memory that the index has for cached pages, in bytes.
    pub(crate) fn cache_bytes(&self) -> usize {
        self.engine.cache_bytes()
    }

    /// Tells whether this transaction was committed, also after its end.
    pub(crate) fn committed(&self) -> &Committed {
        &self.committed
    }

    /// The number of the commit that ends this transaction.
    pub(crate) fn next_commit(&self) -> u64 {
        self.state.counters.commit.wrapping_add(1)
    }

    /// The next automatic id.
    pub(crate) fn auto_id(&mut self) -> String {
        self.state.counters.auto_ids = self.state.counters.auto_ids.wrapping_add(1);
        self.changes += 1;
        format!("#{}", self.state.counters.auto_ids)
    }

    /// Reads the state with all changes of this transaction. Puts waiting documents in a segment
    /// first.
    pub(super) fn read<T>(&mut self, read: impl FnOnce(&View<'_>) -> Result<T>) -> Result<T> {
        self.settle();
        self.remove_rows()?;
        self.read_settled(read)
    }

    /// Reads the state without the documents that wait to be put in a segment.
    pub(super) fn read_settled<T>(&self, read: impl FnOnce(&View<'_>) -> Result<T>) -> Result<T> {
        let (txn, path) = (self.txn()?, self.engine.path());
        self.engine.guard_write(|| {
            let action = "opening the tables";
            let postings = txn.open_table(POSTINGS).doing(path, action)?;
            let signatures = txn.open_table(SIGNATURES).doing(path, action)?;
            let documents = txn.open_table(DOCUMENTS).doing(path, action)?;
            let texts = if self.engine.fixed().texts {
                Some(txn.open_table(TEXTS).doing(path, action)?)
            } else {
                None
            };
            let fingerprints = if self.engine.fixed().layout.passages {
                Some(txn.open_table(FINGERPRINTS).doing(path, action)?)
            } else {
                None
            };
            read(&View {
                fixed: self.engine.fixed(),
                state: &self.state,
                postings: &postings,
                signatures: &signatures,
                documents: &documents,
                texts: texts.as_ref().map(|texts| texts as _),
                fingerprints: fingerprints.as_ref().map(|fingerprints| fingerprints as _),
            })
        })
    }

    /// Puts the waiting documents into a segment.
    pub(super) fn settle(&mut self) {
        if !self.fresh.is_empty() {
            self.state.tail.push(self.engine.fixed().layout, &self.fresh);
            parallel::free(std::mem::take(&mut self.fresh));
            self.fresh_ids.clear();
        }
    }

    /// Whether the tail is so large that it is flushed. A document has one entry in most bands, but
    /// a long text has many fingerprints.
    pub(super) fn has_full_tail(&self) -> bool {
        /// The fingerprints that take as much memory as a document.
        const PER_DOCUMENT: usize = 64;
        let (tail, most) = (&self.state.tail, self.engine.tuning().flush_documents);
        let band = self.engine.fixed().layout.fingerprints();
        let fingerprints = band.map_or(0, |band| tail.entries(band));
        tail.documents() >= most || fingerprints >= most.saturating_mul(PER_DOCUMENT)
    }

    /// The number of a document that waits for a segment, by its id.
    pub(super) fn unsettled(&self, id: &str) -> Option<DocNo> {
        self.fresh_ids.get(id).copied()
    }

    /// Counts changed rows, so that the commit writes the state.
    pub(super) fn touch(&mut self, rows: u64) {
        self.changes += rows;
    }

    /// Leaves the merges of runs that came in to later transactions.
    pub(super) fn set_attached(&mut self) {
        self.attached = true;
    }

    /// Whether runs of another index came in.
    pub(super) fn has_attached(&self) -> bool {
        self.attached
    }

    /// The number of band entries of the documents inserted since the last call.
    pub(super) fn take_added(&mut self) -> u64 {
        std::mem::take(&mut self.added)
    }

    /// Removes the document with this id. Returns whether there was one.
    pub(crate) fn remove(&mut self, id: &str) -> Result<bool> {
        let Some(doc) = self.number_of(id)? else { return Ok(false) };
        self.fresh_ids.remove(id);
        self.remove_number(doc);
        Ok(true)
    }

    /// Removes the documents with these ids. Returns how many there were. This is faster than
    /// removing one at a time.
    pub(crate) fn remove_all(&mut self, ids: &[&str]) -> Result<u64> {
        let docs = self.numbers_of(ids)?;
        docs.iter().for_each(|doc| self.remove_number(*doc));
        Ok(docs.len() as u64)
    }

    /// Removes a live document. [`remove_rows`](Self::remove_rows) deletes its rows later, together
    /// with others and in the order of numbers; until then no reader uses them.
    pub(super) fn remove_number(&mut self, doc: DocNo) {
        self.removed.push(doc);
        self.state.tombstones.insert(doc);
        // On a damaged file the count can be too small, which `check` reports. A count below 0
        // could not be stored.
        let documents = &mut self.state.counters.documents;
        *documents = documents.saturating_sub(1);
        self.changes += 1;
    }

    /// Deletes the rows of removed documents.
    pub(super) fn remove_rows(&mut self) -> Result<()> {
        if self.removed.is_empty() {
            return Ok(());
        }
        let mut removed = std::mem::take(&mut self.removed);
        removed.sort_unstable();
        self.change(|writer| {
            writer.leave_clusters(&removed)?;
            let (txn, path, action) = (writer.txn()?, writer.engine.path(), "removing documents");
            let fixed = writer.engine.fixed();
            let texts = fixed.texts.then_some(TEXTS);
            let fingerprints = fixed.layout.passages.then_some(FINGERPRINTS);
            let others = texts.into_iter().chain(fingerprints);
            for table in [SIGNATURES, DOCUMENTS].into_iter().chain(others) {
                let mut table = txn.open_table(table).doing(path, action)?;
                for doc in &removed {
                    table.remove(doc.0).doing(path, action)?;
                }
            }
            Ok(())
        })
    }

    /// Makes all changes durable and visible. Without changes, writes nothing.
    ///
    /// # Errors
    ///
    /// Fails if an earlier change of this transaction failed, or if writing fails.
    pub(crate) fn commit(mut self) -> Result<()> {
        // A panic of a caller's function is passed on, and leaves a change half done as well.
        if self.failed || self.engine.is_broken() {
            return Err(Error::Storage {
                path: self.engine.path().to_owned(),
                action: "committing",
                detail: "a change of this transaction failed".into(),
            });
        }
        self.settle();
        self.remove_rows()?;
        if self.has_full_tail() {
            self.flush()?;
        }
        self.merge_on()?;
        self.check_tracked()?;
        if self.changes > 0 {
            if !self.engine.is_tidy() {
                self.change(|writer| writer.delete_abandoned())?;
            }
            self.change(Self::write_state)?;
        }
        let Some(mut txn) = self.txn.take() else { return Ok(()) };
        if self.changes == 0 {
            txn.abort().doing(self.engine.path(), "ending a transaction")?;
        } else {
            txn.set_quick_repair(self.changes >= self.engine.tuning().quick_repair_from);
            self.engine.publish(txn, std::mem::take(&mut self.state))?;
        }
        self.committed.0.store(true, Ordering::Release);
        Ok(())
    }
}

impl Writer {
    /// Writes the counters and the changed tombstones of the next commit, and the version of the
    /// format if it was an older one.
    fn write_state(&mut self) -> Result<()> {
        let is_older = std::mem::replace(&mut self.state.format, FORMAT_VERSION) < FORMAT_VERSION;
        self.state.counters.commit = self.next_commit();
        let (txn, path, action) = (self.txn()?, self.engine.path(), "writing the state");
        let mut dead = txn.open_table(DEAD).doing(path, action)?;
        for (number, row) in self.state.tombstones.changed_rows(&self.before.tombstones) {
            match row {
                Some(row) => dead.insert(number, &row[..]).doing(path, action)?,
                None => dead.remove(number).doing(path, action)?,
            };
        }
        let mut meta = txn.open_table(META).doing(path, action)?;
        meta.insert(STATE_ROW, &self.state.counters.encode()[..]).doing(path, action)?;
        if is_older {
            meta.insert(FORMAT_ROW, &format_row(FORMAT_VERSION)[..]).doing(path, action)?;
        }
        drop(meta);
        self.write_tracking(self.before.tracking)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The transaction of the storage engine must end before the turn does.
        if self.engine.is_broken() {
            abandon(self.txn.take());
        } else if !drop_catching_panics(self.txn.take()) {
            self.engine.set_broken();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::TextHash;
    use crate::sketch::Signature;
    use crate::store::document::{Document, Kind};
    use crate::store::sim::testing::{filled, insert_into as insert, open};

    fn document(id: &str) -> Document {
        let signature = Signature::from_lanes(vec![7; 64], 10);
        Document {
            kind: Kind::Text,
            id: id.to_owned(),
            signature,
            sketched_by: None,
            fingerprints: None,
            winnowing: None,
            text_hash: TextHash::Xxh3(1),
            text_length: 1,
            text: None,
            inserted: None,
        }
    }

    #[test]
    fn a_failed_transaction_stays_failed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 50);
        let mut writer = engine.write().expect("begun");
        assert!(writer.remove("1").expect("removed"));
        writer.fail();
        insert(&mut writer, document("new"));
        writer.read(|_| Ok(())).expect("and what was removed goes");
        let error = writer.commit().expect_err("refused");
        assert!(matches!(error, Error::Storage { action: "committing", .. }), "{error}");
        drop(engine);
        let reader = open(&folder).read().expect("a reader");
        assert!(reader.view().find("1").expect("readable").is_some(), "nothing was lost");
        assert!(reader.view().find("new").expect("readable").is_none());
    }

    #[test]
    fn all_waiting_threads_get_an_error_when_the_index_breaks() {
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
