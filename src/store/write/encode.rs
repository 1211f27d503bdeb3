//! Encodes the rows of a document: in `documents`, in `signatures`, and in `texts` if it has a
//! text.

use crate::error::Result;
use crate::hash::id_hash;
use crate::store::bytes::codec::DecodeError;
use crate::store::bytes::record::{DocumentRecord, encode_signature};
use crate::store::bytes::schema::{DOCUMENTS, DocNo, SIGNATURES, TEXTS};
use crate::store::document::Document;
use crate::store::runs::segment::TailDocument;
use crate::store::storage_error::Doing;
use redb::WriteTransaction;
use std::ops::Bound;
use std::path::Path;

/// The encoded rows of a document.
pub(crate) struct Rows {
    pub(crate) id: String,
    pub(crate) record: Vec<u8>,
    pub(crate) signature: Vec<u8>,
    pub(crate) text: Option<Vec<u8>>,
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
        let Document { id, signature, text_hash, text_length, inserted, .. } = document;
        let id_hash = id_hash(&id, id_key);
        let inserted = inserted.unwrap_or(now);
        let record = DocumentRecord { id, text_hash, text_length, inserted };
        let encoded = record.encode(doc).map_err(|fault| (doc.0, fault))?;
        let row = encode_signature(&signature, doc);
        let lanes = (!signature.is_empty()).then(|| signature.into_lanes());
        let fresh = TailDocument { doc, id_hash, lanes };
        Ok(Self { id: record.id, record: encoded, signature: row, text, fresh })
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
    if rows.iter().all(|row| row.text.is_none()) {
        return Ok(());
    }
    let mut texts = txn.open_table(TEXTS).doing(path, action)?;
    let mut texts = texts.upper_bound_mut(end).doing(path, action)?;
    for row in rows {
        if let Some(text) = &row.text {
            texts.insert_before(row.fresh.doc.0, &text[..]).doing(path, action)?;
        }
    }
    texts.close().doing(path, action)
}
