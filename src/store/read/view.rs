//! Reads one consistent state: the tables of a transaction and the in-memory state of its commit.

use crate::error::{Error, Result};
use crate::hash::id_hash;
use crate::lsh::WordRange;
use crate::sketch::{Fingerprints, SetSize};
use crate::store::bytes::chunk::Chunk;
use crate::store::bytes::fingerprints::decode_fingerprints;
use crate::store::bytes::record::{DocumentRecord, decode_signature};
use crate::store::bytes::schema::{DocNo, Table};
use crate::store::bytes::texts::decode_text;
use crate::store::parallel;
use crate::store::read::bucket::Bucket;
use crate::store::read::fixed::Fixed;
use crate::store::read::recent_lanes::{LanesInOrder, NumberedLanes};
use crate::store::read::tables::{Rows, with_chunk};
use crate::store::state::State;
use crate::store::storage_error::{Doing, damaged, guard};
use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// One consistent state of an index.
pub(crate) struct View<'a> {
    pub(crate) fixed: Fixed<'a>,
    pub(crate) state: &'a State,
    pub(crate) postings: &'a dyn Rows<u64>,
    pub(crate) signatures: &'a dyn Rows<u32>,
    pub(crate) documents: &'a dyn Rows<u32>,
    /// `None` if the index stores no texts.
    pub(crate) texts: Option<&'a dyn Rows<u32>>,
    /// `None` if the index finds no passages.
    pub(crate) fingerprints: Option<&'a dyn Rows<u32>>,
}

impl View<'_> {
    /// Whether a document that has a band entry is live: entries of removed documents remain until
    /// a merge drops them.
    pub(crate) fn is_live(&self, doc: DocNo) -> bool {
        !self.state.tombstones.contains(doc)
    }

    pub(crate) fn with_chunk<T>(&self, key: u64, read: impl FnOnce(&Chunk<'_>) -> T) -> Result<T> {
        with_chunk(self.fixed.path, self.postings, key, read)
    }

    /// The keyed hash of an id, which is its word in the id band.
    pub(crate) fn id_hash(&self, id: &str) -> u64 {
        id_hash(id, self.fixed.id_key)
    }

    /// The live document with this id, if there is one.
    pub(crate) fn find(&self, id: &str) -> Result<Option<(DocNo, DocumentRecord)>> {
        self.find_among(id, &self.with_id_hash(self.id_hash(id))?)
    }

    /// The live documents whose ids have this hash.
    pub(crate) fn with_id_hash(&self, hash: u64) -> Result<Vec<DocNo>> {
        self.bucket(Bucket { band: self.fixed.layout.ids(), words: WordRange::only(hash) })
    }

    /// The document among `docs` that has the id, if there is one. All must be live.
    pub(crate) fn find_among(
        &self,
        id: &str,
        docs: &[DocNo],
    ) -> Result<Option<(DocNo, DocumentRecord)>> {
        for &doc in docs {
            let record = self.document(doc)?;
            if record.id == id {
                return Ok(Some((doc, record)));
            }
        }
        Ok(None)
    }

    /// The record of a live document.
    pub(crate) fn document(&self, doc: DocNo) -> Result<DocumentRecord> {
        let path = self.fixed.path;
        let fault = |detail| damaged(path, Table::Documents, doc.0, detail);
        guard(path, || {
            let row = self.documents.get(doc.0).doing(path, "reading documents")?;
            let row = row.ok_or_else(|| fault("its row is missing"))?;
            DocumentRecord::decode(row.value(), doc).map_err(fault)
        })
    }

    /// Whether the index stores texts.
    pub(crate) fn has_texts(&self) -> bool {
        self.texts.is_some()
    }

    /// The text of a live document.
    pub(crate) fn text(&self, doc: DocNo) -> Result<String> {
        let path = self.fixed.path;
        let Some(texts) = self.texts else {
            return Err(Error::NoTexts { path: path.to_owned() });
        };
        let fault = |detail| damaged(path, Table::Texts, doc.0, detail);
        guard(path, || {
            let row = texts.get(doc.0).doing(path, "reading texts")?;
            let row = row.ok_or_else(|| fault("its row is missing"))?;
            decode_text(row.value(), doc, self.state.dictionary.as_deref()).map_err(fault)
        })
    }

    /// The fingerprints of a live document; `None` if the index keeps none.
    pub(crate) fn fingerprints(&self, doc: DocNo) -> Result<Option<Fingerprints>> {
        let Some(table) = self.fingerprints else { return Ok(None) };
        let path = self.fixed.path;
        let fault = |detail| damaged(path, Table::Fingerprints, doc.0, detail);
        guard(path, || {
            let row = table.get(doc.0).doing(path, "reading fingerprints")?;
            let row = row.ok_or_else(|| fault("its row is missing"))?;
            decode_fingerprints(row.value(), doc).map(Some).map_err(fault)
        })
    }

    /// The error of a stored text that is not of the kind that the index stores.
    pub(crate) fn damaged_text(&self, doc: DocNo, detail: &str) -> Error {
        damaged(self.fixed.path, Table::Texts, doc.0, detail)
    }

    /// Calls `read` with the lanes and the set size of a live document.
    pub(crate) fn with_signature<T>(
        &self,
        doc: DocNo,
        read: impl FnOnce(&[u8], SetSize) -> T,
    ) -> Result<T> {
        let path = self.fixed.path;
        let fault = |detail| damaged(path, Table::Signatures, doc.0, detail);
        guard(path, || {
            let row = self.signatures.get(doc.0).doing(path, "reading signatures")?;
            let row = row.ok_or_else(|| fault("its row is missing"))?;
            let (lanes, size) = self.signature_in(row.value(), doc)?;
            Ok(read(lanes, size))
        })
    }

    /// The lanes and the set size in the row of a document.
    pub(super) fn signature_in<'r>(
        &self,
        row: &'r [u8],
        doc: DocNo,
    ) -> Result<(&'r [u8], SetSize)> {
        let path = self.fixed.path;
        decode_signature(row, doc, self.fixed.lanes)
            .map_err(|fault| damaged(path, Table::Signatures, doc.0, fault))
    }

    /// Reads the lanes of a live document, from memory if it is one of the latest.
    pub(crate) fn with_lanes<T>(&self, doc: DocNo, read: impl FnOnce(&[u8]) -> T) -> Result<T> {
        match self.state.recent_lanes.get(doc) {
            Some(lanes) => Ok(read(lanes)),
            None => self.with_signature(doc, |lanes, _| read(lanes)),
        }
    }

    /// Calls `visit` with the lanes of live documents, given in ascending order. `is_wanted` is
    /// asked about each document right before its signature is read, and can refuse it.
    ///
    /// Neighbours are read in one pass over their rows: a tenth of the time of looking up each.
    pub(crate) fn for_each_signature_of(
        &self,
        docs: &[DocNo],
        is_wanted: impl Fn(DocNo) -> bool,
        mut visit: impl FnMut(DocNo, &[u8]),
    ) -> Result<()> {
        /// How many documents are read together, and in how many rows they must lie.
        const TOGETHER: usize = 64;
        const ROWS: u32 = 4 * TOGETHER as u32;
        let path = self.fixed.path;
        for docs in docs.chunks(TOGETHER) {
            let (Some(first), Some(last)) = (docs.first(), docs.last()) else { continue };
            let are_recent = self.state.recent_lanes.get(*first).is_some();
            if are_recent || docs.len() < TOGETHER || last.0 - first.0 >= ROWS {
                for &doc in docs.iter().filter(|doc| is_wanted(**doc)) {
                    self.with_lanes(doc, |lanes| visit(doc, lanes))?;
                }
                continue;
            }
            guard(path, || {
                let fault = |doc: DocNo, detail| damaged(path, Table::Signatures, doc.0, detail);
                let rows = self.signatures.range(first.0..=last.0);
                let mut rows = rows.doing(path, "reading signatures")?;
                for &doc in docs {
                    let row = loop {
                        let row = rows.next().ok_or_else(|| fault(doc, "its row is missing"))?;
                        let (number, row) = row.doing(path, "reading signatures")?;
                        match number.value().cmp(&doc.0) {
                            Ordering::Less => {}
                            Ordering::Equal => break row,
                            Ordering::Greater => return Err(fault(doc, "its row is missing")),
                        }
                    };
                    if is_wanted(doc) {
                        let (lanes, _) = self.signature_in(row.value(), doc)?;
                        visit(doc, lanes);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Calls `visit` with the lanes and the set size of every live document, in order of their
    /// numbers, until it returns `Break`.
    pub(crate) fn for_each_signature(
        &self,
        mut visit: impl FnMut(DocNo, &[u8], SetSize) -> ControlFlow<()>,
    ) -> Result<()> {
        let path = self.fixed.path;
        guard(path, || {
            for row in self.signatures.iter().doing(path, "reading signatures")? {
                let (number, row) = row.doing(path, "reading signatures")?;
                let doc = DocNo(number.value());
                let (lanes, size) = self.signature_in(row.value(), doc)?;
                if visit(doc, lanes, size).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// The lanes of the live documents with these numbers, without those of documents that have no
    /// shingles, in parts whose numbers ascend from one to the next. Reads on all threads.
    pub(crate) fn lanes_of(&self, numbers: Range<u32>) -> Result<Vec<NumberedLanes>> {
        let part = numbers.len().div_ceil(rayon::current_num_threads()).max(1);
        let starts: Vec<u32> = numbers.clone().step_by(part).collect();
        let shared = numbers.len() >= parallel::MIN_DOCUMENTS;
        let end = |start: u32| start.saturating_add(part as u32).min(numbers.end);
        let lanes = |start: u32| {
            let numbers = start..end(start);
            let lanes = self.lanes_in(numbers.clone())?;
            Ok((u64::from(numbers.start)..u64::from(numbers.end), Arc::new(lanes)))
        };
        parallel::map(starts, shared, lanes).into_iter().collect()
    }

    fn lanes_in(&self, numbers: Range<u32>) -> Result<LanesInOrder> {
        let room = numbers.len();
        let (path, width) = (self.fixed.path, self.fixed.lanes);
        guard(path, || {
            let rows = self.signatures.range(numbers).doing(path, "reading signatures")?;
            let mut found = LanesInOrder::with_room(width, room);
            for row in rows {
                let (number, row) = row.doing(path, "reading signatures")?;
                let doc = DocNo(number.value());
                let (lanes, size) = self.signature_in(row.value(), doc)?;
                if !size.is_empty() {
                    found.push(doc, lanes);
                }
            }
            Ok(found)
        })
    }

    /// Those of these numbers that live documents have, in order.
    pub(crate) fn numbers_among(&self, numbers: Range<u32>) -> Result<Vec<DocNo>> {
        let (path, action) = (self.fixed.path, "reading documents");
        guard(path, || {
            let rows = self.documents.range(numbers).doing(path, action)?;
            rows.map(|row| Ok(DocNo(row.doing(path, action)?.0.value()))).collect()
        })
    }

    /// The records of up to `count` live documents, from number `from` on, in order.
    pub(crate) fn documents_from(
        &self,
        from: DocNo,
        count: usize,
    ) -> Result<Vec<(DocNo, DocumentRecord)>> {
        let path = self.fixed.path;
        guard(path, || {
            self.documents
                .range(from.0..)
                .doing(path, "reading documents")?
                .take(count)
                .map(|row| {
                    let (number, row) = row.doing(path, "reading documents")?;
                    let doc = DocNo(number.value());
                    let record = DocumentRecord::decode(row.value(), doc)
                        .map_err(|fault| damaged(path, Table::Documents, doc.0, fault))?;
                    Ok((doc, record))
                })
                .collect()
        })
    }
}
