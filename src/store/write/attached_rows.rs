//! The rows of another index, verified and sealed for their new numbers.

use crate::error::Result;
use crate::hash::{TextKey, id_hash};
use crate::store::bytes::codec::{DecodeError, reseal};
use crate::store::bytes::record::{DocumentRecord, decode_signature};
use crate::store::bytes::schema::{DocNo, Table};
use crate::store::bytes::texts::{Dictionary, move_text};
use crate::store::read::view::View;
use crate::store::storage_error::{Doing, damaged, guard};
use crate::store::write::encode::Rows;
use redb::Range;
use std::mem::replace;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// The most rows that are passed on together, and the bytes of all rows from which on fewer are.
const BLOCK: usize = 1 << 12;
const BLOCK_BYTES: usize = 8 << 20;

/// Documents for the index that they come to. Their rows are in one buffer: an allocation for each
/// would take longer than sealing it.
#[derive(Default)]
pub(super) struct AttachedBlock {
    pub(super) documents: Vec<AttachedDocument>,
    bytes: Vec<u8>,
}

pub(super) struct AttachedDocument {
    /// Its number in the index that it comes from.
    pub(super) from: DocNo,
    /// Its number in the index that it comes to, and the hash of its id there.
    pub(super) to: DocNo,
    pub(super) id_hash: u64,
    pub(super) id: String,
    pub(super) text: TextKey,
    /// Whether it has no shingles.
    pub(super) is_empty: bool,
    /// The bounds of its rows in the buffer, as in [`Rows::within`].
    bounds: [usize; 5],
}

impl AttachedBlock {
    /// An empty block with room for as much as another one has.
    fn as_large_as(other: &Self) -> Self {
        let documents = Vec::with_capacity(other.documents.len());
        Self { documents, bytes: Vec::with_capacity(other.bytes.len()) }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Rows<'_>> + Clone {
        let rows = |document: &AttachedDocument| (document.to, document.bounds);
        self.documents.iter().map(rows).map(|(doc, bounds)| Rows::within(&self.bytes, doc, bounds))
    }
}

/// What the rows of an index depend on.
pub(super) struct Destination {
    /// What is added to document numbers.
    pub(super) offset: u32,
    pub(super) id_key: u64,
    pub(super) dictionary: Option<Arc<Dictionary>>,
}

/// Passes the rows of all documents on, in the order of their numbers, until `pass_on` breaks.
pub(super) fn read_all(
    source: &View<'_>,
    destination: &Destination,
    pass_on: &mut dyn FnMut(AttachedBlock) -> ControlFlow<()>,
) -> Result<()> {
    let (path, action) = (source.fixed.path, "reading documents");
    guard(path, || {
        let mut signatures = source.signatures.iter().doing(path, action)?;
        let texts = source.texts.map(|texts| texts.iter()).transpose();
        let mut texts = texts.doing(path, action)?;
        let fingerprints = source.fingerprints.map(|fingerprints| fingerprints.iter());
        let mut fingerprints = fingerprints.transpose().doing(path, action)?;
        let mut block = AttachedBlock::default();
        for row in source.documents.iter().doing(path, action)? {
            let (number, record) = row.doing(path, action)?;
            let from = DocNo(number.value());
            let fault = |table| move |detail| damaged(path, table, from.0, detail);
            let moved = from.0.checked_add(destination.offset).map(DocNo);
            let to = moved.ok_or("its number is out of range").map_err(fault(Table::Documents))?;
            let document =
                DocumentRecord::decode(record.value(), from).map_err(fault(Table::Documents))?;
            let (text, id) = (document.text_key(), document.id);
            let (old, new) = (u64::from(from.0), u64::from(to.0));
            let bytes = &mut block.bytes;
            let mut bounds = [bytes.len(); 5];
            let [_, record_end, signature_end, text_end, end] = &mut bounds;
            reseal(bytes, record.value(), Table::Documents, old, new)
                .map_err(fault(Table::Documents))?;
            *record_end = bytes.len();
            let mut is_empty = false;
            move_row(&mut signatures, from, path, Table::Signatures, |row| {
                is_empty = decode_signature(row, from, source.fixed.lanes)?.1.is_empty();
                reseal(bytes, row, Table::Signatures, old, new)
            })?;
            *signature_end = bytes.len();
            if let Some(texts) = &mut texts {
                move_row(texts, from, path, Table::Texts, |row| {
                    let theirs = source.state.dictionary.as_deref();
                    move_text(bytes, row, (from, theirs), (to, destination.dictionary.as_deref()))
                })?;
            }
            *text_end = bytes.len();
            if let Some(fingerprints) = &mut fingerprints {
                move_row(fingerprints, from, path, Table::Fingerprints, |row| {
                    reseal(bytes, row, Table::Fingerprints, old, new)
                })?;
            }
            *end = bytes.len();
            let id_hash = id_hash(&id, destination.id_key);
            let document = AttachedDocument { from, to, id_hash, id, text, is_empty, bounds };
            block.documents.push(document);
            if block.documents.len() == BLOCK || block.bytes.len() >= BLOCK_BYTES {
                let next = AttachedBlock::as_large_as(&block);
                if pass_on(replace(&mut block, next)).is_break() {
                    return Ok(());
                }
            }
        }
        if !block.documents.is_empty() {
            // Nothing follows, whatever it answers.
            let _ = pass_on(block);
        }
        Ok(())
    })
}

/// Moves the next row of a table, which must be that of this document.
fn move_row(
    rows: &mut Range<'_, u32, &'static [u8]>,
    doc: DocNo,
    path: &Path,
    table: Table,
    move_it: impl FnOnce(&[u8]) -> std::result::Result<(), DecodeError>,
) -> Result<()> {
    let fault = |detail| damaged(path, table, doc.0, detail);
    let next = rows.next().transpose().doing(path, "reading documents")?;
    let row = next.filter(|(number, _)| number.value() == doc.0);
    let (_, row) = row.ok_or_else(|| fault("its row is missing, or one too many is before it"))?;
    move_it(row.value()).map_err(fault)
}
