//! Ids for documents that come without one.

use crate::run::failure::Failure;
use std::collections::HashSet;
use twindex::{Document, WriteTxn};

/// Gives the documents that are not `named` the next automatic ids, in their order.
pub fn complete(
    txn: &mut WriteTxn<'_>,
    documents: impl Iterator<Item = (Document, bool)>,
) -> Result<Vec<Document>, Failure> {
    // Ids that look like automatic ones and may not be in the index yet. Only documents before this
    // one count, so that the result does not depend on how documents are batched.
    let mut given: HashSet<String> = HashSet::new();
    let complete = documents.map(|(document, named)| {
        if !named {
            return Ok(document.with_id(automatic(txn, &given)?)?);
        }
        if document.id().starts_with('#') {
            given.insert(document.id().to_owned());
        }
        Ok(document)
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
