//! Rebuilds an index from its stored texts with other settings.

use crate::error::{Error, Result};
use crate::index::document::Document;
use crate::index::handle::Index;
use crate::index::options::IndexOptions;
use crate::store::{Engine, Settings, Watch, Work, parallel, rebuild};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

/// The result of rebuilding an index.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rebuilt {
    /// The number of documents.
    pub documents: u64,
    /// The new settings.
    pub settings: Settings,
}

/// The maximum number of documents that are sketched together and written in one commit.
const DOCUMENTS: usize = 10_000;

impl IndexOptions {
    /// Rebuilds an index that stores texts with other settings. The settings given here change; the
    /// others stay. The new file replaces the old one when it is complete. Until then, and after an
    /// error, the old one is unchanged.
    ///
    /// The new index keeps the documents' ids, texts, insertion times and order. It shingles the
    /// texts with the Unicode tables of this program, and drops the stored progress of interrupted
    /// deduplications. Rebuilding needs free space for a second file, the time and memory of
    /// inserting all texts, and memory for about 64 MiB of texts. Progress counts documents.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let path = folder.path().join("r.twx");
    /// use twindex::{Index, Shingle};
    /// let index = Index::options().store_text(true).create(&path)?;
    /// let mut txn = index.begin_write()?;
    /// txn.insert("a", "It was the best of times, it was the worst of times")?;
    /// txn.commit()?;
    /// drop(index);
    ///
    /// let options = Index::options().shingle(Shingle::words(2)).threshold(0.6);
    /// let rebuilt = options.rebuild(&path).run()?;
    /// assert_eq!(rebuilt.documents, 1);
    /// assert_eq!(Index::open(&path)?.settings().shingle, Shingle::words(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The file is unchanged after an error.
    ///
    /// - [`Error::NoTexts`] if the index stores no texts.
    /// - [`Error::NotWeights`] or [`Error::UnexpectedWeights`] if the new settings turn texts into
    ///   weighted sets or the reverse.
    /// - [`Error::Moved`] if the file was moved, deleted or replaced meanwhile. Nothing is replaced
    ///   then.
    /// - Those of [`open`](Self::open) and [`create`](Self::create).
    /// - [`Error::Interrupted`] if the caller stopped the work.
    pub fn rebuild(&self, path: impl AsRef<Path>) -> Work<'static, Rebuilt> {
        const REBUILDING: (&str, &str) = ("rebuilding", "the index is unchanged");
        let (options, path) = (self.clone(), path.as_ref().to_owned());
        Work::new(move |tell| {
            let tell = RefCell::new(tell);
            options.patience.open_to_write(&path, || {
                let mut tell = tell.borrow_mut();
                let mut watch = Watch::new(&path, REBUILDING, &mut **tell);
                let (request, tuning) = (options.request(), options.tuning());
                let mut rebuilt = None;
                rebuild(&path, request, tuning, &mut watch, |old, new, watch| {
                    rebuilt = Some(fill(old, new, watch)?);
                    Ok(())
                })?;
                rebuilt.ok_or_else(|| Error::NotFound { path: path.clone() })
            })
        })
    }
}

/// Inserts the documents of one index into another.
fn fill(old: &Arc<Engine>, new: &Arc<Engine>, watch: &mut Watch<'_>) -> Result<Rebuilt> {
    let engine = new;
    let (old, new) = (Index::new(Arc::clone(old))?, Index::new(Arc::clone(new))?);
    let source = old.snapshot()?;
    let mut writer = engine.write()?;
    writer.continue_from(source.commit_number());
    writer.commit()?;
    if source.tracks_clusters() {
        new.track_clusters().run()?;
    }
    watch.begin("sketching and inserting texts", source.len())?;
    let (sketcher, settings) = (new.sketcher(), new.settings());
    let again = |document: Document| document.sketched_again(sketcher);
    let mut documents = source.documents();
    loop {
        let batch = documents.next_block(DOCUMENTS)?;
        if batch.is_empty() {
            let (documents, settings) = (new.snapshot()?.len(), *settings);
            return Ok(Rebuilt { documents, settings });
        }
        let count = batch.len() as u64;
        let batch = parallel::map(batch, true, again).into_iter().collect::<Result<_>>()?;
        let mut txn = new.begin_write()?;
        txn.insertion().documents(batch)?;
        txn.commit()?;
        watch.advance(count)?;
        watch.expect(0)?;
    }
}
