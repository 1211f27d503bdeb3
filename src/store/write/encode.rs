//! Encodes the rows of a document: in `documents`, in `signatures`, and in `texts` and
//! `fingerprints` if the index keeps them.

use crate::error::Result;
use crate::hash::id_hash;
use crate::sketch::Fingerprints;
use crate::store::bytes::codec::DecodeError;
use crate::store::bytes::fingerprints::encode_fingerprints;
use crate::store::bytes::record::{DocumentRecord, encode_signature};
use crate::store::bytes::schema::{DOCUMENTS, DocNo, FINGERPRINTS, SIGNATURES, TEXTS};
use crate::store::document::Document;
use crate::store::runs::segment::TailDocument;
use crate::store::storage_error::Doing;
use redb::{TableDefinition, WriteTransaction};
use std::ops::Bound;
use std::path::Path;

/// The encoded rows of a document.
pub(crate) struct Rows {
    pub(crate) id: String,
    pub(crate) record: Vec<u8>,
    pub(crate) signature: Vec<u8>,
    pub(crate) text: Option<Vec<u8>>,
    pub(crate) fingerprints: Option<Vec<u8>>,
    pub(crate) fresh: TailDocument,
}

impl Rows {
    pub(crate) fn new(
        doc: DocNo,
        document: Document,
        text: Option<Vec<u8>>,
        id_key: u64,
        now: i64,
    ) -> std::result::Result<Self, (u32, DecodeError)> {
        let Document { id, signature, fingerprints, text_hash, text_length, inserted, .. } =
            document;
        let id_hash = id_hash(&id, id_key);
        let inserted = inserted.unwrap_or(now);
        let record = DocumentRecord { id, text_hash, text_length, inserted };
        let encoded = record.encode(doc).map_err(|fault| (doc.0, fault))?;
        let row = encode_signature(&signature, doc);
        let lanes = (!signature.is_empty()).then(|| signature.into_lanes());
        let words = fingerprints.as_ref().map(Fingerprints::words).unwrap_or_default();
        let fingerprints = fingerprints.map(|found| encode_fingerprints(&found, doc));
        let fresh = TailDocument { doc, id_hash, lanes, fingerprints: words };
        Ok(Self { id: record.id, record: encoded, signature: row, text, fingerprints, fresh })
    }
}

/// Appends rows in the order of their numbers, which must be greater than all numbers in the
/// tables. Each row therefore goes to the end of its table.
pub(crate) fn append(txn: &WriteTransaction, path: &Path, rows: &[Rows]) -> Result<()> {
    let action = "writing documents";
    let mut records = txn.open_table(DOCUMENTS).doing(path, action)?;
    let mut signatures = txn.open_table(SIGNATURES).doing(path, action)?;
    let end = Bound::<u32>::Unbounded;
    let mut records = records.upper_bound_mut(end).doing(path, action)?;
    let mut signatures = signatures.upper_bound_mut(end).doing(path, action)?;
    for row in rows {
        let doc = row.fresh.doc.0;
        records.insert_before(doc, &row.record[..]).doing(path, action)?;
        signatures.insert_before(doc, &row.signature[..]).doing(path, action)?;
    }
    records.close().doing(path, action)?;
    signatures.close().doing(path, action)?;
    append_some(txn, path, TEXTS, rows, |row| row.text.as_deref())?;
    append_some(txn, path, FINGERPRINTS, rows, |row| row.fingerprints.as_deref())
}

/// Appends rows to a table that not every index uses.
fn append_some(
    txn: &WriteTransaction,
    path: &Path,
    table: TableDefinition<'_, u32, &'static [u8]>,
    rows: &[Rows],
    value: impl Fn(&Rows) -> Option<&[u8]>,
) -> Result<()> {
    let action = "writing documents";
    let mut present = rows.iter().filter_map(|row| Some((row.fresh.doc.0, value(row)?))).peekable();
    if present.peek().is_none() {
        return Ok(());
    }
    let mut table = txn.open_table(table).doing(path, action)?;
    let mut table = table.upper_bound_mut(Bound::<u32>::Unbounded).doing(path, action)?;
    for (doc, row) in present {
        table.insert_before(doc, row).doing(path, action)?;
    }
    table.close().doing(path, action)
}
