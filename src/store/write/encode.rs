//! Encodes the rows of a document: in `documents`, in `signatures`, and in `texts` and
//! `fingerprints` if the index keeps them.

use crate::error::Result;
use crate::hash::id_hash;
use crate::sketch::Fingerprints;
use crate::store::bytes::codec::DecodeError;
use crate::store::bytes::fingerprints::encode_fingerprints;
use crate::store::bytes::record::{DocumentRecord, append_signature};
use crate::store::bytes::schema::{DOCUMENTS, DocNo, FINGERPRINTS, SIGNATURES, TEXTS};
use crate::store::bytes::texts::{Dictionary, encode_text};
use crate::store::document::Document;
use crate::store::parallel;
use crate::store::runs::segment::TailDocument;
use crate::store::storage_error::Doing;
use redb::{TableDefinition, WriteTransaction};
use std::ops::Bound;
use std::path::Path;

/// The encoded rows of a document.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    doc: DocNo,
    record: &'a [u8],
    signature: &'a [u8],
    text: Option<&'a [u8]>,
    fingerprints: Option<&'a [u8]>,
}

impl<'a> Rows<'a> {
    /// The rows of a document in a buffer: where the record begins, and where record, signature,
    /// text and fingerprints end. A row that the index does not keep is empty.
    pub(super) fn within(bytes: &'a [u8], doc: DocNo, bounds: [usize; 5]) -> Self {
        let [start, record, signature, text, end] = bounds;
        let row = |from: usize, to: usize| bytes.get(from..to).unwrap_or_default();
        Self {
            doc,
            record: row(start, record),
            signature: row(record, signature),
            text: Some(row(signature, text)).filter(|row| !row.is_empty()),
            fingerprints: Some(row(text, end)).filter(|row| !row.is_empty()),
        }
    }
}

/// A document of a damaged file, with its rows.
pub(crate) struct MovedDocument {
    pub(crate) record: Vec<u8>,
    pub(crate) signature: Vec<u8>,
    pub(crate) text: Option<Vec<u8>>,
    pub(crate) fingerprints: Option<Vec<u8>>,
    pub(crate) fresh: TailDocument,
}

impl MovedDocument {
    pub(super) fn rows(&self) -> Rows<'_> {
        Rows {
            doc: self.fresh.doc,
            record: &self.record,
            signature: &self.signature,
            text: self.text.as_deref(),
            fingerprints: self.fingerprints.as_deref(),
        }
    }
}

/// What the rows of new documents depend on.
#[derive(Clone, Copy)]
pub(super) struct RowSettings<'a> {
    pub(super) id_key: u64,
    /// The time of insertion of documents that have none.
    pub(super) now: i64,
    pub(super) texts: bool,
    pub(super) passages: bool,
    pub(super) dictionary: Option<&'a Dictionary>,
}

/// The encoded rows of new documents with consecutive numbers, all in one buffer. An allocation for
/// each record and each signature would take longer than encoding it.
pub(super) struct NewRows {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

/// The rows of a document in the buffer, and what else is computed from it.
struct Place {
    doc: DocNo,
    /// The bounds of its rows, as in [`Rows::within`].
    bounds: [usize; 5],
    id_hash: u64,
    /// The distinct fingerprints.
    words: Box<[u32]>,
}

impl NewRows {
    /// Encodes the rows of documents, which get the numbers from `first` on. Takes their texts and
    /// fingerprints, which are not needed afterwards.
    pub(super) fn encode(
        documents: &mut [Document],
        first: DocNo,
        settings: RowSettings<'_>,
    ) -> std::result::Result<Self, (u32, DecodeError)> {
        /// What the rows of a document usually take beside its lanes.
        const USUAL: usize = 128;
        let lanes = documents.first().map_or(0, |document| document.signature.lanes().len());
        let bytes = Vec::with_capacity(documents.len() * (lanes + USUAL));
        let mut rows = Self { bytes, places: Vec::with_capacity(documents.len()) };
        for (number, document) in (first.0..=u32::MAX).zip(documents) {
            rows.push(document, DocNo(number), settings).map_err(|fault| (number, fault))?;
        }
        Ok(rows)
    }

    fn push(
        &mut self,
        document: &mut Document,
        doc: DocNo,
        settings: RowSettings<'_>,
    ) -> std::result::Result<(), DecodeError> {
        let bytes = &mut self.bytes;
        let Document { text_hash, text_length, .. } = *document;
        let (id, inserted) = (&*document.id, document.inserted.unwrap_or(settings.now));
        let id_hash = id_hash(id, settings.id_key);
        let start = bytes.len();
        DocumentRecord { id, text_hash, text_length, inserted }.append_to(bytes, doc)?;
        let record = bytes.len();
        append_signature(bytes, &document.signature, doc);
        let signature = bytes.len();
        if let Some(text) = document.text.take().filter(|_| settings.texts) {
            bytes.extend(encode_text(&text, doc, settings.dictionary));
        }
        let text = bytes.len();
        let fingerprints = document.fingerprints.take().filter(|_| settings.passages);
        if let Some(fingerprints) = &fingerprints {
            bytes.extend(encode_fingerprints(fingerprints, doc));
        }
        let bounds = [start, record, signature, text, bytes.len()];
        let words = fingerprints.as_ref().map(Fingerprints::words).unwrap_or_default();
        self.places.push(Place { doc, bounds, id_hash, words });
        Ok(())
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Rows<'_>> + Clone {
        self.places.iter().map(|place| Rows::within(&self.bytes, place.doc, place.bounds))
    }

    /// What the bands need of the documents, given in the same order. Takes their lanes.
    pub(super) fn into_fresh<'d>(
        self,
        documents: impl Iterator<Item = &'d mut Document>,
    ) -> impl Iterator<Item = TailDocument> {
        self.places.into_iter().zip(documents).map(|(place, document)| {
            let Place { doc, id_hash, words: fingerprints, .. } = place;
            let signature = &mut document.signature;
            let lanes = (!signature.is_empty()).then(|| signature.take_lanes());
            TailDocument { doc, id_hash, lanes, fingerprints }
        })
    }
}

/// Appends rows in the order of their numbers, which must be greater than all numbers in the
/// tables. Each row therefore goes to the end of its table. Two threads write the tables if
/// `shared`; signatures take about as long as all the rest.
pub(crate) fn append<'a>(
    txn: &WriteTransaction,
    path: &Path,
    rows: &(impl Iterator<Item = Rows<'a>> + Clone + Sync),
    shared: bool,
) -> Result<()> {
    let others = || {
        append_to(txn, path, DOCUMENTS, rows.clone().map(|row| (row.doc, row.record)))?;
        let texts = rows.clone().filter_map(|row| Some((row.doc, row.text?)));
        append_to(txn, path, TEXTS, texts)?;
        let fingerprints = rows.clone().filter_map(|row| Some((row.doc, row.fingerprints?)));
        append_to(txn, path, FINGERPRINTS, fingerprints)
    };
    let signatures = || {
        let signatures = rows.clone().map(|row| (row.doc, row.signature));
        append_to(txn, path, SIGNATURES, signatures)
    };
    parallel::all(vec![Box::new(others), Box::new(signatures)], shared)
}

/// Appends rows to a table, which is only opened if there are any: not every index uses it.
fn append_to<'a>(
    txn: &WriteTransaction,
    path: &Path,
    table: TableDefinition<'_, u32, &'static [u8]>,
    rows: impl Iterator<Item = (DocNo, &'a [u8])>,
) -> Result<()> {
    let action = "writing documents";
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let mut table = txn.open_table(table).doing(path, action)?;
    let mut table = table.upper_bound_mut(Bound::<u32>::Unbounded).doing(path, action)?;
    for (doc, row) in rows {
        table.insert_before(doc.0, row).doing(path, action)?;
    }
    table.close().doing(path, action)
}
