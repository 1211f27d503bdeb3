//! Documents on their way into an index, and what an index knows of them afterwards.

use crate::error::{Error, Result};
use crate::hash::text_hash;
use crate::params::MAX_ID_BYTES;
use crate::sketch::{Signature, Sketcher};
pub use crate::store::Document;
use crate::store::{DocumentRecord, Settings};
use std::sync::Arc;

impl Document {
    /// Sketches a text with the sketcher of the index it is meant for. An index that stores texts
    /// needs [`with_text`](Self::with_text) too, or [`Index::prepare`](crate::Index::prepare) instead.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes; [`Error::NotWeights`] for a text
    /// that stands for no weighted set, from the sketcher of an index of such.
    pub fn sketch(id: impl Into<String>, text: &str, sketcher: &Sketcher) -> Result<Self> {
        Ok(Self {
            id: valid(id.into())?,
            signature: sketcher.signature_of_text(text)?,
            text_hash: text_hash(text.as_bytes()),
            text_length: text.len() as u64,
            text: None,
            inserted: None,
        })
    }

    /// Sketches a text for an index with these settings, and keeps the text if it is to be stored. As
    /// [`Index::prepare`](crate::Index::prepare), for a thread that has no index at hand.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes.
    pub fn prepare(
        id: impl Into<String>,
        text: &str,
        sketcher: &Sketcher,
        settings: &Settings,
    ) -> Result<Self> {
        let mut document = Self::sketch(id, text, sketcher)?;
        if settings.store_text {
            document.text = Some(text.into());
        }
        Ok(document)
    }

    /// A document of which only the signature is known. Inserting it again with an equal signature
    /// leaves it unchanged; its text counts as empty in length.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes. A signature with another
    /// number of lanes than the index has is refused when it is inserted.
    pub fn from_signature(id: impl Into<String>, signature: Signature) -> Result<Self> {
        Ok(Self {
            id: valid(id.into())?,
            text_hash: text_hash(&signature.to_bytes()),
            text_length: 0,
            text: None,
            inserted: None,
            signature,
        })
    }

    /// The same document under another id.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes.
    pub fn with_id(self, id: impl Into<String>) -> Result<Self> {
        Ok(Self { id: valid(id.into())?, ..self })
    }

    /// The same document without an id. It is given the next automatic one when it is inserted, or
    /// before that by [`WriteTxn::give_ids`](crate::WriteTxn::give_ids).
    pub fn without_id(self) -> Self {
        Self { id: String::new(), ..self }
    }

    /// The same document with another hash and length in bytes of its text, as another program may
    /// have kept them. By these it is known that a document is inserted again.
    pub fn with_text_hash(self, hash: u64, bytes: u64) -> Self {
        Self { text_hash: hash, text_length: bytes, text: None, ..self }
    }

    /// The same document with its raw text, which an index that stores texts needs and others ignore.
    /// Hash and length become those of the text.
    pub fn with_text(self, text: impl Into<String>) -> Self {
        let text: Arc<str> = text.into().into();
        let (hash, length) = (text_hash(text.as_bytes()), text.len() as u64);
        Self { text_hash: hash, text_length: length, text: Some(text), ..self }
    }

    /// The same document with another time of insertion, in seconds since 1970, than the time at which
    /// it is inserted.
    pub fn inserted_at(self, seconds: i64) -> Self {
        Self { inserted: Some(seconds), ..self }
    }

    /// A document of an index, as it is there.
    pub(crate) fn stored(record: DocumentRecord, signature: Signature) -> Self {
        Self {
            id: record.id,
            signature,
            text_hash: record.text_hash,
            text_length: record.text_length,
            text: None,
            inserted: Some(record.inserted),
        }
    }

    /// The same document with the text that is stored of it.
    pub(crate) fn with_stored(self, text: String) -> Self {
        Self { text: Some(text.into()), ..self }
    }

    /// The id; empty where it has none yet.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The hash of the raw text: XXH3, 64 bits.
    pub fn text_hash(&self) -> u64 {
        self.text_hash
    }

    /// When it was inserted, in seconds since 1970; `None` for one that is new.
    pub fn inserted(&self) -> Option<i64> {
        self.inserted
    }

    /// The raw text, if it is known.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The length of the text in bytes.
    pub fn text_bytes(&self) -> u64 {
        self.text_length
    }

    /// The signature.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }
}

fn valid(id: String) -> Result<String> {
    match (1..=MAX_ID_BYTES).contains(&id.len()) {
        true => Ok(id),
        false => Err(Error::InvalidId { length: id.len(), most: MAX_ID_BYTES }),
    }
}

/// What an index knows of a document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DocumentInfo {
    /// The id.
    pub id: String,
    /// The length of the text in bytes.
    pub text_bytes: u64,
    /// When it was inserted, in seconds since 1970.
    pub inserted: i64,
    /// The number of distinct shingles, with an error below 0.4 %.
    pub shingles: f64,
    /// The signature.
    pub signature: Signature,
}

impl DocumentInfo {
    pub(crate) fn new(record: DocumentRecord, signature: Signature) -> Self {
        Self {
            id: record.id,
            text_bytes: record.text_length,
            inserted: record.inserted,
            shingles: signature.set_size().estimate(),
            signature,
        }
    }
}
