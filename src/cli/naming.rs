//! Ids for documents that come without one.

use super::failure::Failure;
use crate::index::{Document, WriteTxn};
use std::collections::HashSet;

/// Gives the documents that are not `named` the next automatic ids, in their order.
pub(super) fn complete(
    txn: &mut WriteTxn<'_>,
    documents: impl Iterator<Item = (Document, bool)>,
) -> Result<Vec<Document>, Failure> {
    let documents: Vec<(Document, bool)> = documents.collect();
    // Ids of this batch that look like automatic ones and are not in the index yet.
    let given: HashSet<String> = documents
        .iter()
        .filter(|(document, named)| *named && document.id().starts_with('#'))
        .map(|(document, _)| document.id().to_owned())
        .collect();
    let complete = documents.into_iter().map(|(document, named)| match named {
        true => Ok(document),
        false => Ok(document.with_id(automatic(txn, &given)?)?),
    });
    complete.collect()
}

fn automatic(txn: &mut WriteTxn<'_>, given: &HashSet<String>) -> Result<String, Failure> {
    loop {
        let id = txn.auto_id()?;
        if !given.contains(&id) {
            return Ok(id);
        }
    }
}
