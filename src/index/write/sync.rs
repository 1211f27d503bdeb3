//! Making an index follow a source: it takes what is new or changed and removes what is gone.

use crate::error::Result;
use crate::hash::TextKey;
use crate::index::document::Document;
use crate::index::write::outcome::Inserted;
use crate::index::write::transaction::WriteTxn;
use crate::store::{Existing, Followed, parallel};
use crate::text::Content;
use std::fmt;

/// The result of making an index follow a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Synced {
    /// The number of documents whose ids were new.
    pub added: u64,
    /// The number of documents that replaced a document with the same id and another text.
    pub replaced: u64,
    /// The number of documents that were in the index already, with the same id and text.
    pub unchanged: u64,
    /// The number of documents that were removed, because the source did not give their ids.
    pub removed: u64,
}

/// Makes an index follow a source: afterwards it has exactly the documents that the source gave.
/// Made by [`WriteTxn::sync`].
///
/// Give it all documents of the source, in any number of calls, then [`finish`](Self::finish) it
/// and commit the transaction. Only new and changed documents are sketched, so an unchanged source
/// costs little more than reading it. An id that the source gives twice has its last text.
///
/// Until the commit, others see the index as it was. A run that is dropped instead of finished
/// removes nothing; what it inserted stays in the transaction.
///
/// Memory: the contents of one call, and at most 2 bits for each document of the index.
///
/// ```
/// # fn main() -> twindex::Result<()> {
/// # let folder = tempfile::tempdir().expect("a temporary folder");
/// # let index = twindex::Index::create(folder.path().join("s.twx"))?;
/// let mut txn = index.begin_write()?;
/// txn.insert("1", "a text that stays as it is")?;
/// txn.insert("2", "a text that is going to change")?;
/// txn.insert("3", "a text that the source deletes")?;
///
/// let mut sync = txn.sync();
/// sync.contents(&[("1", "a text that stays as it is"), ("2", "a text that has changed")])?;
/// sync.contents(&[("4", "a text that is new")])?;
/// let synced = sync.finish()?;
/// txn.commit()?;
/// assert_eq!((synced.added, synced.replaced, synced.unchanged, synced.removed), (1, 1, 1, 1));
/// # Ok(())
/// # }
/// ```
#[must_use = "a run that is not finished removes nothing"]
pub struct SyncRun<'t> {
    txn: &'t mut WriteTxn,
    followed: Followed,
    synced: Synced,
}

impl fmt::Debug for SyncRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncRun").field("synced", &self.synced).finish_non_exhaustive()
    }
}

impl WriteTxn {
    /// Begins to make the index follow a source: a table of a database, a folder, a feed. See
    /// [`SyncRun`].
    pub fn sync(&mut self) -> SyncRun<'_> {
        let followed = self.writer().followed();
        SyncRun { txn: self, followed, synced: Synced::default() }
    }
}

impl SyncRun<'_> {
    /// Takes the next documents of the source: pairs of an id and a text,
    /// [`Weights`](crate::Weights) or [`Tokens`](crate::Tokens). Some thousand at once are fastest.
    ///
    /// # Errors
    ///
    /// - [`Error::RefusedDocument`](crate::Error::RefusedDocument) for the first content that
    ///   [`Index::prepare`](crate::Index::prepare) refuses; its source is the error of that method.
    ///   None of the call's documents is inserted then, and none counts as given.
    /// - Those of [`Insertion::documents`](crate::Insertion::documents).
    pub fn contents<I, T>(&mut self, contents: &[(I, T)]) -> Result<()>
    where
        I: AsRef<str> + Sync,
        T: Sync,
        for<'c> &'c T: Into<Content<'c>>,
    {
        let rows = parallel::map(contents.iter().collect(), true, hashed);
        let existing = self.txn.writer_mut().follow(&rows)?;
        let same = |existing: &Option<Existing>| matches!(existing, Some(Existing::Same(_)));
        let changed = contents.iter().enumerate().zip(&existing);
        let changed = changed.filter(|(_, existing)| !same(existing));
        let changed: Vec<(usize, &(I, T))> = changed.map(|(row, _)| row).collect();
        let unchanged = contents.len() - changed.len();
        let sketcher = self.txn.shared_sketcher();
        let settings = self.txn.settings();
        let prepare = |(place, (id, content)): (usize, &(I, T))| {
            let document = Document::prepare(id.as_ref(), content, &sketcher, settings);
            document.map_err(|error| error.of_document(place, id.as_ref()))
        };
        let documents = parallel::map(changed, true, prepare);
        let documents = documents.into_iter().collect::<Result<_>>()?;
        self.followed.add(&existing);
        for outcome in self.txn.insertion().documents(documents)? {
            match outcome.inserted() {
                Some(Inserted::Added) => self.synced.added += 1,
                Some(Inserted::Replaced) => self.synced.replaced += 1,
                // Nothing is skipped or a duplicate: the insertion has no such options.
                Some(Inserted::Unchanged | Inserted::Skipped) | None => self.synced.unchanged += 1,
            }
        }
        self.synced.unchanged += unchanged as u64;
        Ok(())
    }

    /// Removes the documents that the source has not given, and ends the run.
    ///
    /// Reads the list of all documents, unless nothing is to be removed.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged), [`Error::Io`](crate::Error::Io) or
    /// [`Error::Storage`](crate::Error::Storage) if reading fails. Nothing was removed then.
    pub fn finish(self) -> Result<Synced> {
        let removed = self.txn.writer_mut().remove_unfollowed(&self.followed)?;
        Ok(Synced { removed, ..self.synced })
    }
}

/// The id of a row, with what identifies its text.
fn hashed<I, T>((id, content): &(I, T)) -> (&str, TextKey)
where
    I: AsRef<str>,
    for<'c> &'c T: Into<Content<'c>>,
{
    let content: Content<'_> = content.into();
    let stored = content.stored();
    (id.as_ref(), TextKey::of(&stored))
}
