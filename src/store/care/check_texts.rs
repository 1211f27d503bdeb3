//! Checks invariant 12, on stored texts.

use crate::error::Result;
use crate::store::bytes::codec::NO_MEMORY;
use crate::store::bytes::record::DocumentRecord;
use crate::store::bytes::schema::{DOCUMENTS, DocNo, TEXTS, Table};
use crate::store::bytes::texts::decode_text;
use crate::store::care::check_report::{CheckReport, Invariant};
use crate::store::progress::Watch;
use crate::store::read::reader::Reader;
use crate::store::storage_error::{Doing, damaged};
use redb::{AccessGuard, ReadableTable};

/// Checks that every document has its text, and that there are no other texts.
pub(crate) fn check_texts(
    reader: &Reader,
    report: &mut CheckReport,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let view = reader.view();
    let (path, action) = (view.fixed.path, "checking the texts");
    let mut violation = |doc: u32, detail: &str| {
        report.add(Invariant::Texts, format!("texts {doc}"), detail);
    };
    let texts = reader.txn.open_table(TEXTS).doing(path, action)?;
    let documents = reader.txn.open_table(DOCUMENTS).doing(path, action)?;
    if !view.has_texts() {
        if let Some((first, _)) = texts.first().doing(path, action)? {
            violation(first.value(), "this index stores no texts");
        }
        return Ok(());
    }
    watch.begin("checking texts", 0)?;
    let mut records = documents.iter().doing(path, action)?.peekable();
    for item in texts.iter().doing(path, action)? {
        let (number, row) = item.doing(path, action)?;
        let doc = DocNo(number.value());
        watch.advance(1)?;
        while let Some(Ok((other, _))) = records.peek() {
            if other.value() >= doc.0 {
                break;
            }
            violation(other.value(), "the document has no text row");
            records.next();
        }
        let of_doc = |next: &Result<_, _>| match next {
            Ok((other, _)) => AccessGuard::value(other) == doc.0,
            Err(_) => true,
        };
        let Some(record) = records.next_if(of_doc) else {
            violation(doc.0, "there is no such document");
            continue;
        };
        let (_, record) = record.doing(path, action)?;
        // A damaged record is reported as a violation of invariant 5.
        let Ok(record) = DocumentRecord::decode(record.value(), doc) else { continue };
        match decode_text(row.value(), doc, reader.state.dictionary.as_deref()) {
            Err(NO_MEMORY) => return Err(damaged(path, Table::Texts, doc.0, NO_MEMORY)),
            Err(fault) => violation(doc.0, fault),
            Ok(text) => {
                let is_same = text.len() as u64 == record.text_length
                    && record.text_hash.is_of(text.as_bytes());
                if !is_same {
                    violation(doc.0, "the text does not have the document's hash and length");
                }
            }
        }
    }
    for record in records {
        violation(record.doing(path, action)?.0.value(), "the document has no text row");
    }
    Ok(())
}
