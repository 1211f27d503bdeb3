//! The invariant of stored texts.

use crate::error::Result;
use crate::hash::text_hash;
use crate::store::bytes::record::DocumentRecord;
use crate::store::bytes::schema::{DOCUMENTS, DocNo, TEXTS};
use crate::store::bytes::texts::decode_text;
use crate::store::care::check::{CheckReport, Invariant};
use crate::store::progress::Watch;
use crate::store::read::reader::Reader;
use crate::store::storage_error::Doing;
use redb::{AccessGuard, ReadableTable};

/// Checks that every document has its text, and nothing else has one.
pub(crate) fn check_texts(
    reader: &Reader,
    report: &mut CheckReport,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let view = reader.view();
    let (path, action) = (view.fixed.path, "checking the texts");
    let mut wrong = |doc: u32, detail: &str| {
        report.add(Invariant::Texts, format!("texts {doc}"), detail);
    };
    let texts = reader.txn.open_table(TEXTS).doing(path, action)?;
    let documents = reader.txn.open_table(DOCUMENTS).doing(path, action)?;
    if !view.has_texts() {
        if let Some((first, _)) = texts.first().doing(path, action)? {
            wrong(first.value(), "this index stores no texts");
        }
        return Ok(());
    }
    let mut records = documents.iter().doing(path, action)?.peekable();
    for item in texts.iter().doing(path, action)? {
        let (number, row) = item.doing(path, action)?;
        let doc = DocNo(number.value());
        watch.advance(1)?;
        while let Some(Ok((other, _))) = records.peek() {
            if other.value() >= doc.0 {
                break;
            }
            wrong(other.value(), "the document has none");
            records.next();
        }
        let of_doc = |next: &Result<_, _>| match next {
            Ok((other, _)) => AccessGuard::value(other) == doc.0,
            Err(_) => true,
        };
        let Some(record) = records.next_if(of_doc) else {
            wrong(doc.0, "there is no such document");
            continue;
        };
        let (_, record) = record.doing(path, action)?;
        // A record that cannot be read is reported as such.
        let Ok(record) = DocumentRecord::decode(record.value(), doc) else { continue };
        match decode_text(row.value(), doc, reader.state.dictionary.as_deref()) {
            Err(fault) => wrong(doc.0, fault),
            Ok(text) => {
                let found = (text_hash(text.as_bytes()), text.len() as u64);
                if found != (record.text_hash, record.text_length) {
                    wrong(doc.0, "it is another text than the document's");
                }
            }
        }
    }
    for record in records {
        wrong(record.doing(path, action)?.0.value(), "the document has none");
    }
    Ok(())
}
