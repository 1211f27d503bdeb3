//! A reader of one commit, which can be held for any time and on any thread.

use crate::error::{Error, Result};
use crate::store::bytes::schema;
use crate::store::bytes::schema::{
    DOCUMENTS, FINGERPRINTS, POSTINGS, SIGNATURES, STATE_ROW, TEXTS,
};
use crate::store::bytes::time::time_of;
use crate::store::engine::Engine;
use crate::store::file::{File, Pinned};
use crate::store::held::{SnapshotMark, Snapshots};
use crate::store::load;
use crate::store::pages::header::Slot;
use crate::store::read::view::View;
use crate::store::state::State;
use crate::store::storage_error::{Doing, damaged, guard, io_error};
use crate::store::usage::{self, Usage};
use redb::{ReadOnlyTable, ReadTransaction, ReadableTableMetadata};
use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

type Table<K> = ReadOnlyTable<K, &'static [u8]>;

/// The tables and the in-memory state of one commit. It keeps the file open.
pub(crate) struct Reader {
    postings: Table<u64>,
    signatures: Table<u32>,
    documents: Table<u32>,
    texts: Option<Table<u32>>,
    fingerprints: Option<Table<u32>>,
    pub(crate) txn: ReadTransaction,
    /// redb's commit, if the file is open for reading only.
    commit: Option<Slot>,
    pub(crate) state: Arc<State>,
    engine: Arc<Engine>,
    /// Tells other processes that there is this reader.
    _mark: Option<SnapshotMark>,
}

/// The outcome of a read that was not begun, because the file has lost its name.
const REPLACED: &str = "open the index again to read the file that has the name now";

impl Engine {
    /// Makes a reader of the last commit, without waiting for a running one.
    pub(crate) fn read(self: &Arc<Self>) -> Result<Reader> {
        let mark = self.snapshots().map(Snapshots::mark);
        guard(self.path(), || Ok(self.read_published()?.marked(mark)))
    }

    fn read_published(self: &Arc<Self>) -> Result<Reader> {
        if let File::ReadOnly(_) = self.file {
            return self.read_following();
        }
        // The states prevent publishing, so the file shows the current state or, if a commit has
        // just finished, the next one.
        let states = self.published.states();
        let (pinned, commit) = self.pin()?;
        let state = states.of(commit).ok_or_else(|| self.changed(commit))?;
        drop(states);
        Reader::new(Arc::clone(self), pinned, state)
    }

    /// Makes a reader of the last commit of any process.
    fn read_following(self: &Arc<Self>) -> Result<Reader> {
        // Nobody commits to a file that has lost its name.
        self.named().map_or(Ok(()), |named| named.check(REPLACED))?;
        let (pinned, commit) = self.pin()?;
        let current = self.published.current();
        if current.counters.commit == commit {
            return Reader::new(Arc::clone(self), pinned, current);
        }
        drop(pinned);
        let following = self.published.follow();
        // Another thread may have brought the state up to date, so a newer commit is read. It is at
        // least as new as a state that was published before.
        let current = self.published.current();
        let (pinned, commit) = self.pin()?;
        let state = match current.counters.commit.cmp(&commit) {
            Ordering::Equal => current,
            Ordering::Greater => return Err(self.changed(commit)),
            Ordering::Less => {
                let state = Arc::new(load::refresh(&pinned.txn, self.fixed(), &current)?);
                self.published.set(Arc::clone(&state));
                state
            }
        };
        drop(following);
        Reader::new(Arc::clone(self), pinned, state)
    }

    /// Begins a read transaction on the last commit, and returns our number of it.
    fn pin(&self) -> Result<(Pinned, u64)> {
        let pinned = self.file.pin(self.path())?;
        let commit = load::counters(&pinned.txn, self.path())?.commit;
        Ok((pinned, commit))
    }

    fn changed(&self, commit: u64) -> Error {
        let detail = format!("commit {commit} came from another program");
        damaged(self.path(), schema::Table::Meta, STATE_ROW, detail)
    }
}

impl Reader {
    fn new(engine: Arc<Engine>, Pinned { txn, commit }: Pinned, state: Arc<State>) -> Result<Self> {
        let action = "starting a read";
        Ok(Self {
            postings: txn.open_table(POSTINGS).doing(engine.path(), action)?,
            signatures: txn.open_table(SIGNATURES).doing(engine.path(), action)?,
            documents: txn.open_table(DOCUMENTS).doing(engine.path(), action)?,
            texts: if engine.settings().store_text {
                Some(txn.open_table(TEXTS).doing(engine.path(), action)?)
            } else {
                None
            },
            fingerprints: match engine.settings().winnowing {
                Some(_) => Some(txn.open_table(FINGERPRINTS).doing(engine.path(), action)?),
                None => None,
            },
            txn,
            commit,
            state,
            engine,
            _mark: None,
        })
    }

    /// Keeps a mark as long as the reader lives.
    fn marked(self, mark: Option<SnapshotMark>) -> Self {
        Self { _mark: mark, ..self }
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// redb's commit, if the file is open for reading only.
    pub(crate) fn commit(&self) -> Option<&Slot> {
        self.commit.as_ref()
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            fixed: self.engine.fixed(),
            state: &self.state,
            postings: &self.postings,
            signatures: &self.signatures,
            documents: &self.documents,
            texts: self.texts.as_ref().map(|texts| texts as _),
            fingerprints: self.fingerprints.as_ref().map(|fingerprints| fingerprints as _),
        }
    }

    /// The number of live documents.
    pub(crate) fn len(&self) -> u64 {
        self.state.counters.documents
    }

    /// Checks that the number of documents that were read is right: damage can hide rows.
    pub(crate) fn expect_count(&self, seen: u64) -> Result<()> {
        let expected = self.len();
        if seen == expected {
            return Ok(());
        }
        let detail = format!("it has {seen} rows instead of {expected}");
        Err(damaged(self.engine.path(), schema::Table::Documents, "all", detail))
    }

    pub(crate) fn usage(&self) -> Result<Usage> {
        let path = self.engine.path();
        guard(path, || self.measure(path))
    }

    fn measure(&self, path: &Path) -> Result<Usage> {
        // redb reads all pages of a table to tell how many they are.
        let sizes = self.engine.table_bytes(self.commit())?;
        let pages = |table: schema::Table, rows: &dyn ReadableTableMetadata| match &sizes {
            Some(sizes) => {
                let of_table = sizes.iter().find(|(name, _)| *name == table.name());
                Ok(of_table.map_or(0, |(_, bytes)| *bytes))
            }
            None => rows.stats().doing(path, "measuring the tables").map(|it| usage::pages(&it)),
        };
        let failed = |source| io_error(path, "measuring the file", source);
        let (file_bytes, held) = match self.engine.snapshots() {
            Some(snapshots) => {
                (snapshots.file_bytes().map_err(failed)?, snapshots.held().map_err(failed)?)
            }
            None => (std::fs::metadata(path).map_err(failed)?.len(), None),
        };
        let held = held.filter(|held| held.bytes > 0);
        Ok(Usage {
            file_bytes,
            signature_bytes: pages(schema::Table::Signatures, &self.signatures)?,
            document_bytes: pages(schema::Table::Documents, &self.documents)?,
            posting_bytes: pages(schema::Table::Postings, &self.postings)?,
            text_bytes: match &self.texts {
                Some(texts) => pages(schema::Table::Texts, texts)?,
                None => 0,
            },
            fingerprint_bytes: match &self.fingerprints {
                Some(fingerprints) => pages(schema::Table::Fingerprints, fingerprints)?,
                None => 0,
            },
            cluster_bytes: match self.clusters()? {
                Some(clusters) => {
                    pages(schema::Table::Clusters, &clusters.clusters)?
                        + pages(schema::Table::Members, &clusters.members)?
                        + pages(schema::Table::ClusterChanges, &clusters.changes)?
                }
                None => 0,
            },
            documents: self.state.counters.documents,
            dead: self.state.tombstones.len(),
            tail: self.state.tail.documents() as u64,
            runs: self.state.manifest.runs().len() as u64,
            commits: self.state.counters.commit,
            held_bytes: held.map_or(0, |held| held.bytes),
            held_since: held.map(|held| time_of(held.since)),
        })
    }
}
