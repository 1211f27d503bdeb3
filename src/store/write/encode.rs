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
use crate::store::parallel;
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
    let shared = rows.len() >= parallel::MIN_DOCUMENTS;
    let append =
        |table, value: fn(&Rows) -> Option<&[u8]>| append_to(txn, path, table, rows, value);
    // A transaction takes rows of several tables at the same time.
    let (signatures, others) = parallel::join(
        shared,
        || append(SIGNATURES, |row| Some(&row.signature)),
        || {
            append(DOCUMENTS, |row| Some(&row.record))?;
            append(TEXTS, |row| row.text.as_deref())?;
            append(FINGERPRINTS, |row| row.fingerprints.as_deref())
        },
    );
    signatures.and(others)
}

/// Appends rows to one table, which not every index uses.
fn append_to(
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
