//! The single path by which documents enter an index: one lookup for all, decisions in order, and
//! one write for all.

use crate::error::Result;
use crate::hash::TextKey;
use crate::store::bytes::schema::DocNo;
use crate::store::document::Document;
use crate::store::parallel;
use crate::store::read::view::View;
use crate::store::write::lookup::{Former, Known};
use crate::store::write::writer::Writer;
use rustc_hash::FxHashSet;
use std::mem::take;
use std::vec;

/// The document that the index has under the id of a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// Nothing.
    Absent,
    /// A document with the same text.
    Same(DocNo),
    /// A document with another text.
    Other(DocNo),
}

impl Existing {
    /// Compares what was found under an id with a text.
    pub(super) fn new(former: Option<Former>, text: TextKey) -> Self {
        match former {
            None => Self::Absent,
            Some(former) if former.text == text => Self::Same(former.doc),
            Some(former) => Self::Other(former.doc),
        }
    }

    fn of(known: Known, document: &Document) -> Self {
        Self::new(known.former(), document.text_key())
    }

    /// The number of the document, if there is one.
    pub(crate) fn number(self) -> Option<DocNo> {
        match self {
            Self::Absent => None,
            Self::Same(doc) | Self::Other(doc) => Some(doc),
        }
    }
}

/// A batch of documents to insert, with the same result as inserting them one at a time.
///
/// The batch looks up all ids once, when it begins. The result stays valid because the batch
/// borrows the transaction until it ends. [`next`](Self::next) returns each document as an
/// [`Entry`], which the caller inserts or skips. [`finish`](Self::finish) writes the documents that
/// still wait. If a batch that has inserted a document is dropped before that, the transaction
/// cannot be committed.
pub(crate) struct Batch<'w> {
    writer: &'w mut Writer,
    /// The documents still to be decided.
    rest: vec::IntoIter<Document>,
    /// The results of looking up their ids.
    known: vec::IntoIter<Known>,
    /// Inserted documents that are not written yet. Their ids are distinct and free.
    waiting: Vec<Document>,
    /// The numbers of documents that this batch has replaced.
    replaced: FxHashSet<DocNo>,
    /// Whether the batch has inserted a document and has not finished.
    unfinished: bool,
}

impl Writer {
    /// Begins a batch. [`batch_size`](Self::batch_size) is the best number of documents.
    pub(crate) fn batch(&mut self, documents: Vec<Document>) -> Result<Batch<'_>> {
        let known = match &*documents {
            // Looking up a single id is faster without building a segment of waiting documents.
            [document] => vec![self.known_under(&document.id)?],
            _ => {
                let ids: Vec<&str> = documents.iter().map(|document| &*document.id).collect();
                self.known(&ids)?
            }
        };
        Ok(Batch {
            writer: self,
            rest: documents.into_iter(),
            known: known.into_iter(),
            waiting: Vec::new(),
            replaced: FxHashSet::default(),
            unfinished: false,
        })
    }
}

impl<'w> Batch<'w> {
    /// Keeps the lanes of inserted documents in memory, as many as there is room for, because later
    /// ones are compared with them.
    pub(crate) fn keep_lanes(&mut self) {
        self.writer.keeps_lanes = true;
    }

    /// The number of documents still to be decided.
    pub(crate) fn len(&self) -> usize {
        self.rest.len()
    }

    /// The number that the next document to be inserted gets.
    pub(crate) fn next_number(&self) -> u64 {
        self.writer.next_number() + self.waiting.len() as u64
    }

    /// Reads all written documents, given those that are still to be decided. For the second
    /// document with the same id, what exists is absent.
    pub(crate) fn read<T>(
        &mut self,
        read: impl FnOnce(&View<'_>, Vec<(&Document, Existing)>) -> Result<T>,
    ) -> Result<T> {
        let rest = self.rest.as_slice().iter().zip(self.known.as_slice());
        let rest = rest.map(|(document, known)| (document, Existing::of(*known, document)));
        let rest = rest.collect();
        self.writer.read(|view| read(view, rest))
    }

    /// Calls `ask` for each document still to be decided, on all threads. The view contains all
    /// written documents. For the second document with the same id, `existing` is absent.
    pub(crate) fn ask<T: Send>(
        &mut self,
        ask: impl Fn(&View<'_>, &Document, Existing) -> Result<T> + Sync + Send,
    ) -> Result<Vec<T>> {
        self.read(|view, rest| {
            let shared = rest.len() > 1;
            let ask = |(document, existing)| ask(view, document, existing);
            parallel::map(rest, shared, ask).into_iter().collect()
        })
    }

    /// If the ids of the documents still to be decided are distinct and none is in the index,
    /// inserts them all and returns their number. Otherwise inserts none. This is faster than
    /// deciding each of them.
    pub(crate) fn insert_if_new(&mut self) -> Result<usize> {
        if self.known.as_slice().iter().any(|known| *known != Known::Absent) {
            return Ok(0);
        }
        self.write()?;
        self.known = vec::IntoIter::default();
        let new: Vec<Document> = take(&mut self.rest).collect();
        let count = new.len();
        self.writer.insert_all(new)?;
        Ok(count)
    }

    /// The next document to be decided; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Entry<'_, 'w>>> {
        let next = self.rest.next().zip(self.known.next());
        let Some((document, known)) = next else { return Ok(None) };
        let known = match known {
            Known::Repeated => {
                self.write()?;
                self.writer.known_under(&document.id)?
            }
            known => known,
        };
        let existing = Existing::of(known, &document);
        Ok(Some(Entry { batch: self, document, existing }))
    }

    /// Writes the waiting documents.
    fn write(&mut self) -> Result<()> {
        self.writer.insert_all(take(&mut self.waiting))
    }

    /// Ends the batch after all documents were decided.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.write()?;
        self.unfinished = self.rest.len() > 0;
        Ok(())
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if self.unfinished {
            // The replacement of a removed document may not be written yet.
            self.writer.fail();
        }
    }
}

/// A document to be decided by [`insert`](Self::insert) or [`skip`](Self::skip).
#[must_use = "a document that is dropped is skipped"]
pub(crate) struct Entry<'b, 'w> {
    batch: &'b mut Batch<'w>,
    document: Document,
    existing: Existing,
}

impl Entry<'_, '_> {
    pub(crate) fn document(&self) -> &Document {
        &self.document
    }

    pub(crate) fn existing(&self) -> Existing {
        self.existing
    }

    /// The number that the document gets if it is inserted.
    pub(crate) fn number(&self) -> u64 {
        self.batch.next_number()
    }

    /// The number of documents in the batch after this one.
    pub(crate) fn later(&self) -> usize {
        self.batch.len()
    }

    /// Whether the batch has replaced any document.
    pub(crate) fn has_replaced(&self) -> bool {
        !self.batch.replaced.is_empty()
    }

    /// Whether the batch has replaced this document.
    pub(crate) fn was_replaced(&self, doc: DocNo) -> bool {
        self.batch.replaced.contains(&doc)
    }

    /// The id of a written document.
    pub(crate) fn id_of(&self, doc: DocNo) -> Result<String> {
        self.batch.writer.read_settled(|view| Ok(view.document(doc)?.id))
    }

    /// Reads the written documents. Some earlier ones of the batch may be among them, but not those
    /// that still wait.
    pub(crate) fn read<T>(
        &mut self,
        read: impl FnOnce(&View<'_>, &Document) -> Result<T>,
    ) -> Result<T> {
        let Self { batch, document, .. } = self;
        batch.writer.read(|view| read(view, document))
    }

    /// Writes the documents of the batch that were inserted before this one, and reads all.
    pub(crate) fn read_with_batch<T>(
        &mut self,
        read: impl FnOnce(&View<'_>, &Document) -> Result<T>,
    ) -> Result<T> {
        self.batch.write()?;
        self.read(read)
    }

    /// Replaces the document by another version of it.
    pub(crate) fn change(
        &mut self,
        change: impl FnOnce(Document) -> Result<Document>,
    ) -> Result<()> {
        let document = self.document.clone();
        self.document = change(document)?;
        Ok(())
    }

    /// Whether a written document has this text.
    pub(crate) fn has_text(&self, doc: DocNo, text: &str) -> Result<bool> {
        let record = self.batch.writer.read_settled(|view| view.document(doc))?;
        Ok(record.text_key() == TextKey::of(text))
    }

    /// Inserts the document, and replaces the one with the same id.
    pub(crate) fn insert(self) -> Result<()> {
        let Self { batch, document, existing } = self;
        batch.unfinished = true;
        if let Some(doc) = existing.number() {
            batch.writer.remove_number(doc);
            batch.replaced.insert(doc);
        }
        batch.waiting.push(document);
        if batch.waiting.len() >= batch.writer.batch_size() { batch.write() } else { Ok(()) }
    }

    /// Leaves the document out.
    pub(crate) fn skip(self) {}
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a failing test may panic")]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::store::sim::testing::{documents, filled, open};
    use crate::store::write::writer::Writer;

    fn insert_all(writer: &mut Writer, documents: Vec<Document>) -> Vec<Existing> {
        let mut batch = writer.batch(documents).expect("looked up");
        let mut existing = Vec::new();
        while let Some(entry) = batch.next().expect("looked up") {
            existing.push(entry.existing());
            match entry.existing() {
                Existing::Same(_) => entry.skip(),
                Existing::Absent | Existing::Other(_) => entry.insert().expect("inserted"),
            }
        }
        batch.finish().expect("written");
        existing
    }

    fn with_text(number: &str, document: &Document) -> Document {
        Document { id: number.to_owned(), ..document.clone() }
    }

    #[test]
    fn a_second_document_with_the_same_id_finds_the_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 20);
        let all = documents(&engine, 100..103);
        let batch = ["new", "1", "new", "new", "1"].into_iter().zip([0, 1, 0, 2, 1]);
        let batch = batch.map(|(id, text)| with_text(id, &all[text])).collect();
        let mut writer = engine.write().expect("begun");
        let existing = insert_all(&mut writer, batch);
        let [old, first, second] = [1, 20, 21].map(DocNo);
        let [absent, replaced] = [Existing::Absent, Existing::Other(old)];
        let again = [Existing::Same(first), Existing::Other(first), Existing::Same(second)];
        assert_eq!(existing, [&[absent, replaced], &again[..]].concat());
        writer.commit().expect("committed");
        let reader = engine.read().expect("a reader");
        assert_eq!(reader.view().find("new").expect("readable").expect("there").0, DocNo(22));
        assert!(crate::store::check(&reader).expect("walked").is_clean());
    }

    #[test]
    fn documents_are_inserted_together_once_all_others_are_decided() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 20);
        let all = documents(&engine, 100..104);
        let batch = ["new", "1", "newer", "newest"].into_iter().zip(&all);
        let batch = batch.map(|(id, document)| with_text(id, document)).collect();
        let mut writer = engine.write().expect("begun");
        let mut batch = writer.batch(batch).expect("looked up");
        for _ in 0..2 {
            assert_eq!(batch.insert_if_new().expect("none"), 0);
            batch.next().expect("looked up").expect("a document").insert().expect("inserted");
        }
        assert_eq!(batch.insert_if_new().expect("inserted"), 2);
        assert!(batch.next().expect("no error").is_none());
        batch.finish().expect("written");
        let again = all.iter().map(|document| with_text("newest", document)).collect();
        let mut batch = writer.batch(again).expect("looked up");
        assert_eq!(batch.insert_if_new().expect("none"), 0, "the id is known, and repeated");
        drop(batch);
        let repeated = vec![with_text("a", &all[0]), with_text("a", &all[1])];
        let mut batch = writer.batch(repeated).expect("looked up");
        assert_eq!(batch.insert_if_new().expect("none"), 0, "the id is repeated");
        drop(batch);
        writer.commit().expect("committed");
        let reader = engine.read().expect("a reader");
        let number = |id| reader.view().find(id).expect("readable").expect("there").0;
        assert_eq!(["new", "1", "newer", "newest"].map(number), [20, 21, 22, 23].map(DocNo));
        assert!(crate::store::check(&reader).expect("walked").is_clean());
    }

    #[test]
    fn an_unfinished_batch_fails_its_transaction() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 20);
        let new = documents(&engine, 100..102);
        let mut writer = engine.write().expect("begun");
        let mut batch = writer.batch(vec![with_text("1", &new[0]), new[1].clone()]).expect("begun");
        let entry = batch.next().expect("looked up").expect("a document");
        entry.insert().expect("waits");
        drop(batch);
        let error = writer.commit().expect_err("refused");
        assert!(matches!(error, Error::Storage { action: "committing", .. }), "{error}");
        drop(engine);
        let reader = open(&folder).read().expect("a reader");
        assert!(reader.view().find("1").expect("readable").is_some(), "nothing was lost");
    }
}
