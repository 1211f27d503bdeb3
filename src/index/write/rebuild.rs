//! Making an index again from its texts, under other settings.

use crate::error::{Error, Result};
use crate::index::document::Document;
use crate::index::handle::Index;
use crate::index::options::IndexOptions;
use crate::store::{Engine, Progress, Settings, Watch, rebuild, unwatched};
use rayon::prelude::*;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// What rebuilding made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rebuilt {
    /// Documents of the index.
    pub documents: u64,
    /// What it was created with now.
    pub settings: Settings,
}

/// Documents that are sketched together and written in one commit, at most.
const DOCUMENTS: usize = 10_000;

impl IndexOptions {
    /// Makes an index that stores texts again, under other settings: those named here are changed,
    /// the others stay. The new file takes the place of the old one when it is complete; until
    /// then, and if anything goes wrong, the old one is as it was.
    ///
    /// Ids, texts and times of insertion are taken over, in their order. Texts are cut with the
    /// Unicode tables of this program. How far an interrupted deduplication has come is forgotten.
    /// Needs the space of a second file, takes as long as adding all texts, and the memory of that
    /// and of some 64 MiB of texts.
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
    /// let rebuilt = Index::options().shingle(Shingle::words(2)).threshold(0.6).rebuild(&path)?;
    /// assert_eq!(rebuilt.documents, 1);
    /// assert_eq!(Index::open(&path)?.settings().shingle, Shingle::words(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoTexts`] where the index stores no texts; those of [`open`](Self::open) and
    /// [`create`](Self::create).
    pub fn rebuild(&self, path: impl AsRef<Path>) -> Result<Rebuilt> {
        self.rebuild_watched(path, unwatched)
    }

    /// As [`rebuild`](Self::rebuild), telling how far it is, in documents, and stops when it is told to.
    ///
    /// # Errors
    ///
    /// Those of [`rebuild`](Self::rebuild). [`Error::Interrupted`]: the file is as it was.
    pub fn rebuild_watched(
        &self,
        path: impl AsRef<Path>,
        watch: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rebuilt> {
        let (path, watch) = (path.as_ref(), RefCell::new(watch));
        self.patiently(|| {
            let mut tell = |progress| (watch.borrow_mut())(progress);
            let mut watch = Watch::new(path, ("rebuilding", "the index is as it was"), &mut tell);
            let mut rebuilt = None;
            rebuild(path, self.request(), self.tuning(), &mut watch, |old, new, watch| {
                rebuilt = Some(fill(old, new, watch)?);
                Ok(())
            })?;
            rebuilt.ok_or_else(|| Error::NotFound { path: path.to_owned() })
        })
    }
}

/// Puts the documents of one index into another.
fn fill(old: &Arc<Engine>, new: &Arc<Engine>, watch: &mut Watch<'_>) -> Result<Rebuilt> {
    let (old, new) = (Index::new(Arc::clone(old))?, Index::new(Arc::clone(new))?);
    let source = old.snapshot()?;
    watch.expect(source.len())?;
    let (sketcher, settings) = (new.sketcher(), new.settings());
    let again = |document: Document| {
        let text = document.text().unwrap_or_default();
        let fresh = Document::sketch(document.id(), text, sketcher)?;
        Ok(Document { text: document.text, inserted: document.inserted, ..fresh })
    };
    let mut documents = source.documents();
    loop {
        let batch = documents.block(DOCUMENTS)?;
        if batch.is_empty() {
            let (documents, settings) = (new.snapshot()?.len(), *settings);
            return Ok(Rebuilt { documents, settings });
        }
        let count = batch.len() as u64;
        let batch = batch.into_par_iter().map(again).collect::<Result<Vec<Document>>>()?;
        let mut txn = new.begin_write()?;
        txn.insertion().documents(batch)?;
        txn.commit()?;
        watch.advance(count)?;
        watch.expect(0)?;
    }
}
