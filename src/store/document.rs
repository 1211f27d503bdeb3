//! A document on its way into an index: an id, a signature, and what is known of the text.

use super::settings::Settings;
use crate::sketch::Signature;
use crate::text::Content;
use std::sync::Arc;

/// A document that is sketched and ready to be inserted.
///
/// Sketching is the costly part of an insertion and needs no transaction, so a program with
/// many threads prepares documents on all of them ([`Index::prepare`](crate::Index::prepare)) and
/// inserts them on one.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) signature: Signature,
    pub(crate) text_hash: u64,
    pub(crate) text_length: u64,
    /// The raw text, which an index that stores texts must be given.
    pub(crate) text: Option<Arc<str>>,
    /// Seconds since 1970 when it was inserted first; `None` for now.
    pub(crate) inserted: Option<i64>,
}

/// What kind of content a document was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Only its signature is known.
    Unknown,
    /// A text, or a set of tokens.
    Text,
    /// A weighted set.
    Weights,
}

impl Kind {
    pub(crate) fn of(content: Content<'_>) -> Self {
        match content {
            Content::Text(_) | Content::Tokens(_) => Self::Text,
            Content::Weights(_) => Self::Weights,
        }
    }

    /// The kind of all documents of an index.
    pub(crate) fn in_index(settings: &Settings) -> Self {
        if settings.weighted { Self::Weights } else { Self::Text }
    }
}
