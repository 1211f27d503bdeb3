//! Begins the one write transaction of an open index.

use crate::error::{Error, Result};
use crate::store::engine::Engine;
use crate::store::file::File;
use crate::store::progress::Watch;
use crate::store::storage_error::Doing;
use crate::store::write::turn::Turn;
use crate::store::write::writer::Writer;
use redb::Database;
use std::sync::Arc;
use std::time::Instant;

/// The outcome of a write that was not begun, because the file has lost its name.
const UNCHANGED: &str = "nothing was written; open the index again";

impl Engine {
    /// Starts a write transaction. Waits until the current one ends.
    pub(crate) fn write(self: &Arc<Self>) -> Result<Writer> {
        let database = self.database()?;
        // Without a deadline, the wait has no other end.
        let turn = self.turns.wait(None)?.ok_or(Error::WriteInProgress)?;
        self.begin(database, turn)
    }

    /// Starts a write transaction. Returns `None` if the current one has not ended at the deadline.
    pub(crate) fn write_until(self: &Arc<Self>, deadline: Instant) -> Result<Option<Writer>> {
        let database = self.database()?;
        self.turns.wait(Some(deadline))?.map(|turn| self.begin(database, turn)).transpose()
    }

    /// Starts a write transaction if there is none.
    pub(crate) fn try_write(self: &Arc<Self>) -> Result<Option<Writer>> {
        let database = self.database()?;
        self.turns.take().map(|turn| self.begin(database, turn)).transpose()
    }

    /// The database, if the file was opened for writing.
    fn database(&self) -> Result<&Database> {
        match &self.file {
            File::Writable(database, _) => Ok(database),
            _ => Err(Error::Storage {
                path: self.path().to_owned(),
                action: "writing",
                detail: "the index was opened for reading only".into(),
            }),
        }
    }

    fn begin(self: &Arc<Self>, database: &Database, turn: Turn) -> Result<Writer> {
        self.named().map_or(Ok(()), |named| named.check(UNCHANGED))?;
        if self.is_broken() {
            return Err(Error::Storage {
                path: self.path().to_owned(),
                action: "starting a write",
                detail: "an earlier write failed".into(),
            });
        }
        let begin = || database.begin_write().doing(self.path(), "starting a write");
        let txn = self.guard_write(begin)?;
        let state = self.published.current();
        Ok(Writer::new(Arc::clone(self), turn, txn, state))
    }

    /// Finishes all running merges, with a commit after each step, unless the watch stops it.
    pub(crate) fn finish_merges(self: &Arc<Self>, watch: &mut Watch<'_>) -> Result<()> {
        loop {
            let mut writer = self.write()?;
            let merged = writer.merge_some()?;
            writer.commit()?;
            match merged {
                Some(entries) => watch.advance(entries)?,
                None => return Ok(()),
            }
        }
    }
}
