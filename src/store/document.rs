//! A document on its way into an index: an id, a signature, and what is known of the text.

use crate::sketch::Signature;
use std::sync::Arc;

/// A document that is sketched and ready to be inserted.
///
/// Sketching is the costly part of an insertion and needs no transaction, so a program with
/// many threads prepares documents on all of them ([`Index::prepare`](crate::Index::prepare)) and
/// inserts them on one.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) id: String,
    pub(crate) signature: Signature,
    pub(crate) text_hash: u64,
    pub(crate) text_length: u64,
    /// The raw text, which an index that stores texts must be given.
    pub(crate) text: Option<Arc<str>>,
    /// Seconds since 1970 when it was inserted first; `None` for now.
    pub(crate) inserted: Option<i64>,
}
