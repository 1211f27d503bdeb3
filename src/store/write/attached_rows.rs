//! The rows of another index, verified and sealed for their new numbers.

use crate::error::Result;
use crate::hash::{TextHash, id_hash};
use crate::store::bytes::codec::{DecodeError, reseal};
use crate::store::bytes::record::{DocumentRecord, decode_signature};
use crate::store::bytes::schema::{DocNo, Table};
use crate::store::bytes::texts::{Dictionary, move_text};
use crate::store::read::view::{ChunkTable, DocTable, View};
use crate::store::runs::segment::TailDocument;
use crate::store::storage_error::{Doing, damaged, guard};
use crate::store::write::encode::MovedDocument;
use redb::Range;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// The most rows that are passed on together, and the bytes of their texts from which on fewer are.
const BLOCK: usize = 1 << 12;
const BLOCK_BYTES: usize = 8 << 20;

/// One document, for the index that it comes to.
pub(super) struct AttachedDocument {
    /// Its number in the index that it comes from.
    pub(super) from: DocNo,
    pub(super) text_hash: TextHash,
    pub(super) text_length: u64,
    /// Whether it has no shingles.
    pub(super) is_empty: bool,
    pub(super) moved: MovedDocument,
}

/// What the rows of an index depend on.
pub(super) struct Destination {
    /// What is added to document numbers.
    pub(super) offset: u32,
    pub(super) id_key: u64,
    pub(super) dictionary: Option<Arc<Dictionary>>,
}

/// Passes the rows of all documents on, in the order of their numbers, until `take` breaks.
pub(super) fn read_all<P: ChunkTable, D: DocTable>(
    source: &View<'_, P, D>,
    destination: &Destination,
    mut take: impl FnMut(Vec<AttachedDocument>) -> ControlFlow<()>,
) -> Result<()> {
    let (path, action) = (source.fixed.path, "reading documents");
    guard(path, || {
        let mut signatures = source.signatures.iter().doing(path, action)?;
        let texts = source.texts.map(|texts| texts.iter()).transpose();
        let mut texts = texts.doing(path, action)?;
        let fingerprints = source.fingerprints.map(|fingerprints| fingerprints.iter());
        let mut fingerprints = fingerprints.transpose().doing(path, action)?;
        let (mut block, mut bytes) = (Vec::with_capacity(BLOCK), 0);
        for row in source.documents.iter().doing(path, action)? {
            let (number, record) = row.doing(path, action)?;
            let from = DocNo(number.value());
            let fault = |table| move |detail| damaged(path, table, from.0, detail);
            let moved = from.0.checked_add(destination.offset).map(DocNo);
            let to = moved.ok_or("its number is out of range").map_err(fault(Table::Documents))?;
            let DocumentRecord { id, text_hash, text_length, .. } =
                DocumentRecord::decode(record.value(), from).map_err(fault(Table::Documents))?;
            let (old, new) = (u64::from(from.0), u64::from(to.0));
            let record = reseal(record.value(), Table::Documents, old, new)
                .map_err(fault(Table::Documents))?;
            let mut is_empty = false;
            let signature = moved_row(&mut signatures, from, path, Table::Signatures, |row| {
                is_empty = decode_signature(row, from, source.fixed.lanes)?.1.is_empty();
                reseal(row, Table::Signatures, old, new)
            })?;
            let text = texts.as_mut().map(|texts| {
                moved_row(texts, from, path, Table::Texts, |row| {
                    let theirs = source.state.dictionary.as_deref();
                    move_text(row, (from, theirs), (to, destination.dictionary.as_deref()))
                })
            });
            let text = text.transpose()?;
            let prints = fingerprints.as_mut().map(|fingerprints| {
                moved_row(fingerprints, from, path, Table::Fingerprints, |row| {
                    reseal(row, Table::Fingerprints, old, new)
                })
            });
            let prints = prints.transpose()?;
            bytes += text.as_ref().map_or(0, Vec::len) + prints.as_ref().map_or(0, Vec::len);
            let id_hash = id_hash(&id, destination.id_key);
            // Lanes and fingerprints have their entries in the runs already.
            let fingerprints = Box::default();
            let fresh = TailDocument { doc: to, id_hash, lanes: None, fingerprints };
            let moved = MovedDocument { id, record, signature, text, fingerprints: prints, fresh };
            block.push(AttachedDocument { from, text_hash, text_length, is_empty, moved });
            if block.len() == BLOCK || bytes >= BLOCK_BYTES {
                bytes = 0;
                if take(std::mem::replace(&mut block, Vec::with_capacity(BLOCK))).is_break() {
                    return Ok(());
                }
            }
        }
        if !block.is_empty() {
            // Nothing follows, whatever it answers.
            let _ = take(block);
        }
        Ok(())
    })
}

/// The next row of a table, which must be that of this document, after `change`.
fn moved_row(
    rows: &mut Range<'_, u32, &'static [u8]>,
    doc: DocNo,
    path: &Path,
    table: Table,
    change: impl FnOnce(&[u8]) -> std::result::Result<Vec<u8>, DecodeError>,
) -> Result<Vec<u8>> {
    let fault = |detail| damaged(path, table, doc.0, detail);
    let next = rows.next().transpose().doing(path, "reading documents")?;
    let row = next.filter(|(number, _)| number.value() == doc.0);
    let (_, row) = row.ok_or_else(|| fault("its row is missing, or one too many is before it"))?;
    change(row.value()).map_err(fault)
}
