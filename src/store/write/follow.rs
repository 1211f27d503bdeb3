//! Makes an index follow a source: compares what it has with what the source gives, and removes
//! what the source no longer has.

use crate::error::Result;
use crate::hash::TextKey;
use crate::store::bytes::schema::DocNo;
use crate::store::storage_error::Doing;
use crate::store::write::batch::Existing;
use crate::store::write::lookup::Known;
use crate::store::write::writer::Writer;
use roaring::RoaringBitmap;

/// The documents that a source has given: the numbers under which the index has them, or had them
/// before they were replaced.
#[derive(Debug)]
pub(crate) struct Followed {
    /// The first number of a document that was inserted since the beginning.
    first: u64,
    /// The number of documents at the beginning.
    documents: u64,
    given: RoaringBitmap,
}

impl Followed {
    /// Remembers that the source has given these documents.
    pub(crate) fn add(&mut self, given: &[Option<Existing>]) {
        let numbers = given.iter().flatten().filter_map(|existing| existing.number());
        let first = self.first;
        self.given.extend(numbers.map(|doc| doc.0).filter(|doc| u64::from(*doc) < first));
    }
}

impl Writer {
    /// Begins to follow a source.
    pub(crate) fn followed(&self) -> Followed {
        let (first, documents) = (self.next_number(), self.len());
        Followed { first, documents, given: RoaringBitmap::new() }
    }

    /// What the index has under each of these ids, compared with a text. `None` for an id that
    /// repeats an earlier one of the list.
    pub(crate) fn follow(&mut self, rows: &[(&str, TextKey)]) -> Result<Vec<Option<Existing>>> {
        let ids: Vec<&str> = rows.iter().map(|(id, _)| *id).collect();
        let compare = |(known, (_, text)): (Known, &(&str, TextKey))| match known {
            Known::Repeated => None,
            known => Some(Existing::new(known.former(), *text)),
        };
        Ok(self.known(&ids)?.into_iter().zip(rows).map(compare).collect())
    }

    /// Removes the documents that were there at the beginning and that the source has not given.
    /// Returns how many there were.
    pub(crate) fn remove_unfollowed(&mut self, followed: &Followed) -> Result<u64> {
        if followed.given.len() == followed.documents {
            return Ok(0);
        }
        // Rows of removed documents are deleted first: a merge may have purged their tombstones.
        let gone = self.read(|view| {
            let (path, action) = (view.fixed.path, "searching for documents to remove");
            let mut gone = Vec::new();
            for row in view.documents.iter().doing(path, action)? {
                let doc = DocNo(row.doing(path, action)?.0.value());
                if u64::from(doc.0) >= followed.first {
                    break;
                }
                if view.is_live(doc) && !followed.given.contains(doc.0) {
                    gone.push(doc);
                }
            }
            Ok(gone)
        })?;
        gone.iter().for_each(|doc| self.remove_number(*doc));
        Ok(gone.len() as u64)
    }
}
