//! Documents on their way into an index, and what an index knows of them afterwards.

use crate::error::{Error, Result};
use crate::hash::text_hash;
use crate::params::MAX_ID_BYTES;
use crate::sketch::{Signature, Sketcher};
use crate::store::{DocumentRecord, NewDocument, Settings, seconds_of, time_of};
use std::sync::Arc;
use std::time::SystemTime;

/// A document that is sketched and ready to be inserted.
///
/// Sketching is the costly part of an insertion and needs no transaction, so a program with
/// many threads prepares documents on all of them ([`Index::prepare`](crate::Index::prepare)) and
/// inserts them on one.
#[derive(Clone, Debug)]
pub struct Document(pub(crate) NewDocument);

impl Document {
    /// Sketches a text with the sketcher of the index it is meant for. An index that stores texts
    /// needs [`with_text`](Self::with_text) too, or [`Index::prepare`](crate::Index::prepare) instead.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes; [`Error::NotWeights`] for a text
    /// that stands for no weighted set, from the sketcher of an index of such.
    pub fn sketch(id: impl Into<String>, text: &str, sketcher: &Sketcher) -> Result<Self> {
        Ok(Self(NewDocument {
            id: valid(id.into())?,
            signature: sketcher.signature_of_text(text)?,
            text_hash: text_hash(text.as_bytes()),
            text_length: text.len() as u64,
            text: None,
            inserted: None,
        }))
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
            document.0.text = Some(text.into());
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
        Ok(Self(NewDocument {
            id: valid(id.into())?,
            text_hash: text_hash(&signature.to_bytes()),
            text_length: 0,
            text: None,
            inserted: None,
            signature,
        }))
    }

    /// The same document under another id.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes.
    pub fn with_id(self, id: impl Into<String>) -> Result<Self> {
        Ok(Self(NewDocument { id: valid(id.into())?, ..self.0 }))
    }

    /// The same document with another hash and length in bytes of its text, as another program may
    /// have kept them. By these it is known that a document is inserted again.
    pub fn with_text_hash(self, hash: u64, bytes: u64) -> Self {
        Self(NewDocument { text_hash: hash, text_length: bytes, text: None, ..self.0 })
    }

    /// The same document with its raw text, which an index that stores texts needs and others ignore.
    /// Hash and length become those of the text.
    pub fn with_text(self, text: impl Into<String>) -> Self {
        let text: Arc<str> = text.into().into();
        let (hash, length) = (text_hash(text.as_bytes()), text.len() as u64);
        Self(NewDocument { text_hash: hash, text_length: length, text: Some(text), ..self.0 })
    }

    /// The same document with another time of insertion than the time at which it is inserted.
    ///
    /// An index stores whole seconds, rounded down, also before 1970. A time that is more than
    /// 2^63 seconds away is stored as the nearest that is not.
    ///
    /// ```
    /// # fn main() -> twindex::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let index = twindex::Index::create(folder.path().join("t.twx"))?;
    /// use std::time::{Duration, UNIX_EPOCH};
    /// let document = index.prepare("a", "some text")?;
    /// let document = document.inserted_at(UNIX_EPOCH + Duration::from_millis(1_700_000_000_900));
    /// assert_eq!(document.inserted(), Some(UNIX_EPOCH + Duration::from_secs(1_700_000_000)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn inserted_at(self, time: SystemTime) -> Self {
        Self(NewDocument { inserted: Some(seconds_of(time)), ..self.0 })
    }

    /// A document of an index, as it is there.
    pub(crate) fn stored(record: DocumentRecord, signature: Signature) -> Self {
        Self(NewDocument {
            id: record.id,
            signature,
            text_hash: record.text_hash,
            text_length: record.text_length,
            text: None,
            inserted: Some(record.inserted),
        })
    }

    /// The same document with the text that is stored of it.
    pub(crate) fn with_stored(self, text: String) -> Self {
        Self(NewDocument { text: Some(text.into()), ..self.0 })
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The hash of the raw text: XXH3, 64 bits.
    pub fn text_hash(&self) -> u64 {
        self.0.text_hash
    }

    /// When it was inserted, in whole seconds; `None` for one that is new.
    pub fn inserted(&self) -> Option<SystemTime> {
        self.0.inserted.map(time_of)
    }

    /// The raw text, if it is known.
    pub fn text(&self) -> Option<&str> {
        self.0.text.as_deref()
    }

    /// The length of the text in bytes.
    pub fn text_bytes(&self) -> u64 {
        self.0.text_length
    }

    /// The signature.
    pub fn signature(&self) -> &Signature {
        &self.0.signature
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
    /// When it was inserted, in whole seconds, rounded down.
    pub inserted: SystemTime,
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
            inserted: time_of(record.inserted),
            shingles: signature.set_size().estimate(),
            signature,
        }
    }
}
