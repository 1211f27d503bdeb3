//! A prepared document: an id, a signature, and the properties of the text.

use super::settings::Settings;
use crate::hash::{TextHash, TextKey};
use crate::sketch::{Fingerprints, Signature, SketchSettings, Winnowing};
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
    /// The settings of the sketcher that has made the signature, if they are known.
    pub(crate) sketched_by: Option<SketchSettings>,
    /// The fingerprints of shared passages. An index of passages needs them.
    pub(crate) fingerprints: Option<Fingerprints>,
    /// The rule by which these were selected, if it is known.
    pub(crate) winnowing: Option<Winnowing>,
    pub(crate) text_hash: TextHash,
    pub(crate) text_length: u64,
    /// The raw text. An index that stores texts needs it.
    pub(crate) text: Option<Arc<str>>,
    /// The time of the first insertion, in seconds since 1970. `None` stands for now.
    pub(crate) inserted: Option<i64>,
}

/// The kind of content that a document was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Only the signature is known.
    Unknown,
    /// A text, or a set of tokens.
    Text,
    /// A weighted set.
    Weights,
}

impl Document {
    /// What identifies the text.
    pub(crate) const fn text_key(&self) -> TextKey {
        TextKey { hash: self.text_hash, length: self.text_length }
    }
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
