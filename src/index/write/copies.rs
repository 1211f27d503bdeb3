//! Copies documents from one index to another.

use crate::error::Result;
use crate::index::document::Document;
use crate::index::snapshot::Snapshot;
use crate::index::write::insertion::Insertion;
use crate::index::write::outcome::{Inserted, OnConflict, Outcome};
use crate::index::write::transaction::WriteTxn;
use crate::sketch::Signature;
use crate::store::{Attached, DocNo, Tell, Watch, Work};
use std::collections::VecDeque;

/// An iterator over the documents of a snapshot, in order of insertion, with all their stored data.
///
/// Holds 1,024 documents and one text in memory.
#[derive(Debug)]
pub struct Documents<'s> {
    snapshot: &'s Snapshot,
    /// The number from which to read the next block; `None` after the end or an error.
    next: Option<DocNo>,
    block: VecDeque<(DocNo, Document)>,
    seen: u64,
}

impl Snapshot {
    /// Iterates over all documents in order of insertion. They can be inserted into another index
    /// with equal settings.
    pub fn documents(&self) -> Documents<'_> {
        Documents::new(self)
    }
}

impl<'s> Documents<'s> {
    fn new(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, next: Some(DocNo(0)), block: VecDeque::new(), seen: 0 }
    }

    fn read(&mut self, from: DocNo) -> Result<()> {
        const BLOCK: usize = 1024;
        let view = self.snapshot.view();
        let records = view.documents_from(from, BLOCK)?;
        let last = records.last().map(|(doc, _)| *doc);
        self.seen += records.len() as u64;
        if last.is_none() {
            return self.snapshot.reader().expect_count(self.seen);
        }
        for (doc, record) in records {
            let signature =
                view.with_signature(doc, |lanes, size| Signature::new(lanes.into(), size))?;
            let settings = self.snapshot.settings();
            self.block.push_back((doc, Document::stored(record, signature, settings)));
        }
        self.next = last.and_then(|doc| doc.0.checked_add(1)).map(DocNo);
        match self.next {
            Some(_) => Ok(()),
            None => self.snapshot.reader().expect_count(self.seen),
        }
    }
}

impl Documents<'_> {
    /// Adds what may be large to a document.
    fn complete(&self, doc: DocNo, document: Document) -> Result<Document> {
        let view = self.snapshot.view();
        let document = Document { fingerprints: view.fingerprints(doc)?, ..document };
        if view.has_texts() { Ok(document.with_stored(view.text(doc)?)) } else { Ok(document) }
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Document>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.block.is_empty() {
            let from = self.next.take()?;
            if let Err(error) = self.read(from) {
                self.block.clear();
                return Some(Err(error));
            }
        }
        let (doc, document) = self.block.pop_front()?;
        Some(self.complete(doc, document))
    }
}

impl Documents<'_> {
    /// Returns the next documents, at most `most`. Returns fewer once their texts reach 64 MiB, and
    /// none at the end.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io) if the file
    /// cannot be read.
    pub fn next_block(&mut self, most: usize) -> Result<Vec<Document>> {
        /// The size of the texts that ends a block, in bytes.
        const BYTES: u64 = 64 << 20;
        let (mut block, mut bytes) = (Vec::new(), 0);
        while bytes < BYTES && block.len() < most {
            let Some(document) = self.next().transpose()? else { break };
            bytes += document.stored_text().map_or(0, |text| text.len() as u64);
            block.push(document);
        }
        Ok(block)
    }
}

/// The result of merging another index into this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The number of documents whose ids were new.
    pub added: u64,
    /// The number of documents that replaced a document with the same id and another text.
    pub replaced: u64,
    /// The number of documents that were already in the index with the same id and text.
    pub unchanged: u64,
    /// The number of documents left out because the index has their id with another text.
    pub skipped: u64,
    /// The number of documents left out because they are similar to a known one, or because too
    /// much of them is known: if the insertion asks for it.
    pub duplicates: u64,
    /// How many of all these documents have no shingles.
    pub empty: u64,
    /// The bytes of the texts of all these documents.
    pub text_bytes: u64,
}

impl<'t> Insertion<'t> {
    /// Inserts all documents of another index in their order, with their signatures and insertion
    /// times, by the options of this insertion. `told` is called with the id of each document and
    /// what became of it, in order. A text that is cut gets a new signature.
    ///
    /// With [`unless_similar`](Self::unless_similar), indexes that were deduplicated apart become
    /// one without near duplicates: a document is left out if it is similar to one that is there or
    /// to one that came before it. All documents go into one transaction. Progress counts
    /// documents. Do not compare [`against`](Self::against) `source` itself: each of its documents
    /// would be a duplicate of itself.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let (one, other) = (folder.path().join("1.twx"), folder.path().join("2.twx"));
    /// use twindex::{Index, Outcome};
    /// let (one, other) = (Index::create(one)?, Index::create(other)?);
    /// for (index, id) in [(&one, "a"), (&other, "b")] {
    ///     let mut txn = index.begin_write()?;
    ///     txn.insert(id, "A text that is in both indexes, under two ids.")?;
    ///     txn.commit()?;
    /// }
    /// let mut txn = one.begin_write()?;
    /// let shard = other.snapshot()?;
    /// let tell = |id: &str, outcome: Outcome| {
    ///     if let Outcome::Duplicate { of, .. } = outcome {
    ///         println!("{id} is a duplicate of {}", of.id);
    ///     }
    /// };
    /// let merged = txn.insertion().unless_similar(0.8).merge(&shard, tell).run()?;
    /// txn.commit()?;
    /// assert_eq!((merged.added, merged.duplicates), (0, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`Error::UnequalSettings`](crate::Error::UnequalSettings) if the settings of the two
    ///   indexes differ. Nothing was inserted then.
    /// - Those of [`documents`](Self::documents), and those of reading the other index.
    /// - [`Error::Interrupted`](crate::Error::Interrupted) if the caller stopped the work. The
    ///   transaction then has a part of the documents.
    pub fn merge<'w>(
        mut self,
        source: &'w Snapshot,
        mut told: impl FnMut(&str, Outcome) + Send + 'w,
    ) -> Work<'w, Merged>
    where
        't: 'w,
    {
        Work::new(move |tell| self.merge_telling(source, &mut told, tell))
    }

    fn merge_telling(
        &mut self,
        source: &Snapshot,
        told: &mut dyn FnMut(&str, Outcome),
        tell: &mut Tell<'_>,
    ) -> Result<Merged> {
        const MERGING: (&str, &str) =
            ("merging", "the transaction has a part of the documents, drop it or commit that part");
        self.txn.check_source(source)?;
        // The options are checked even if there is nothing to insert.
        self.insert(Vec::new())?;
        let path = self.txn.path().to_owned();
        let mut watch = Watch::new(&path, MERGING, tell);
        watch.expect(source.len())?;
        let mut merged = Merged::default();
        let mut documents = source.documents();
        loop {
            let block = documents.next_block(self.txn.batch_size())?;
            if block.is_empty() {
                return Ok(merged);
            }
            let mut ids: Vec<String> = Vec::with_capacity(block.len());
            for document in &block {
                merged.empty += u64::from(document.signature().is_empty());
                merged.text_bytes = merged.text_bytes.saturating_add(document.text_bytes());
                ids.push(document.id().to_owned());
            }
            for (id, outcome) in ids.iter().zip(self.insert(block)?) {
                match outcome.inserted() {
                    Some(Inserted::Added) => merged.added += 1,
                    Some(Inserted::Replaced) => merged.replaced += 1,
                    Some(Inserted::Unchanged) => merged.unchanged += 1,
                    Some(Inserted::Skipped) => merged.skipped += 1,
                    None => merged.duplicates += 1,
                }
                told(id, outcome);
            }
            watch.advance(ids.len() as u64)?;
        }
    }
}

impl WriteTxn {
    /// Inserts all documents of another index in their order, with their signatures and insertion
    /// times. The texts are not needed.
    ///
    /// All documents go into this one transaction. To commit in between, use
    /// [`Snapshot::documents`] and [`insertion`](Self::insertion) instead. To leave out near
    /// duplicates, use [`Insertion::merge`]. Progress counts documents.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let (one, other) = (folder.path().join("1.twx"), folder.path().join("2.twx"));
    /// use twindex::{Index, OnConflict};
    /// let (one, other) = (Index::create(one)?, Index::create(other)?);
    /// let mut txn = other.begin_write()?;
    /// txn.insert("a", "some text")?;
    /// txn.commit()?;
    ///
    /// let mut txn = one.begin_write()?;
    /// let merged = txn.merge(&other.snapshot()?, OnConflict::Replace).run()?;
    /// txn.commit()?;
    /// assert_eq!(merged.added, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`Error::UnequalSettings`](crate::Error::UnequalSettings) if the settings of the two
    ///   indexes differ. Nothing was inserted then.
    /// - Those of [`Insertion::documents`](crate::Insertion::documents), and those of reading the
    ///   other index.
    /// - [`Error::Interrupted`](crate::Error::Interrupted) if the caller stopped the work. The
    ///   transaction then has a part of the documents.
    pub fn merge<'w>(
        &'w mut self,
        source: &'w Snapshot,
        on_conflict: OnConflict,
    ) -> Work<'w, Merged> {
        self.insertion().on_conflict(on_conflict).merge(source, |_, _| ())
    }

    /// Takes over all documents of another index together with its sorted runs, instead of
    /// inserting one document after the other as [`merge`](Self::merge) does. The index gives the
    /// same answers as after a merge. It takes about half the time: rows and runs are copied, and
    /// only the ids are sorted anew. It is no faster for stored texts, which have to be compressed
    /// anew if the two indexes compress by different dictionaries.
    ///
    /// The index has more runs afterwards, until later commits or
    /// [`compact`](crate::Index::compact) merge them. Prefer `merge` if most documents are in the
    /// index already: those that are left out use up document numbers, of which an index has
    /// 2^32 - 1, and their entries stay until the next merge.
    ///
    /// Memory: the [cache](crate::IndexOptions::cache_bytes), some blocks of rows, and 64 MiB to
    /// sort ids. Progress counts documents; the runs are copied after the last of them.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let (one, other) = (folder.path().join("1.twx"), folder.path().join("2.twx"));
    /// use twindex::{Index, OnConflict};
    /// let (all, shard) = (Index::create(one)?, Index::create(other)?);
    /// let mut txn = shard.begin_write()?;
    /// txn.insert("a", "some text")?;
    /// txn.commit()?;
    ///
    /// let mut txn = all.begin_write()?;
    /// let attached = txn.attach(&shard.snapshot()?, OnConflict::Replace).run()?;
    /// txn.commit()?;
    /// assert_eq!(attached.added, 1);
    /// assert!(all.snapshot()?.get("a")?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`Error::UnequalSettings`](crate::Error::UnequalSettings) if the settings of the two
    ///   indexes differ. Nothing was changed then.
    /// - [`Error::Full`](crate::Error::Full) if both indexes together have used up the document
    ///   numbers.
    /// - [`Error::Damaged`](crate::Error::Damaged), [`Error::Io`](crate::Error::Io) or
    ///   [`Error::Storage`](crate::Error::Storage) if reading or writing fails.
    /// - [`Error::Interrupted`](crate::Error::Interrupted) if the caller stopped the work.
    ///
    /// After all but the first, the transaction cannot be committed.
    pub fn attach<'w>(
        &'w mut self,
        source: &'w Snapshot,
        on_conflict: OnConflict,
    ) -> Work<'w, Merged> {
        Work::new(move |tell| self.attach_telling(source, on_conflict, tell))
    }

    fn attach_telling(
        &mut self,
        source: &Snapshot,
        on_conflict: OnConflict,
        tell: &mut Tell<'_>,
    ) -> Result<Merged> {
        const ATTACHING: (&str, &str) =
            ("attaching", "the transaction cannot be committed; the index is as before it");
        self.check_source(source)?;
        let path = self.path().to_owned();
        let mut watch = Watch::new(&path, ATTACHING, tell);
        let replaces = on_conflict == OnConflict::Replace;
        let attached = self.writer_mut().attach(&source.view(), replaces, &mut watch)?;
        let Attached { added, replaced, unchanged, skipped, empty, text_bytes } = attached;
        Ok(Merged { added, replaced, unchanged, skipped, duplicates: 0, empty, text_bytes })
    }
}
