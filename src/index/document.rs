//! Documents to insert into an index, and the facts that an index stores about them.

use crate::error::{Error, Result};
use crate::hash::TextHash;
use crate::params::MAX_ID_BYTES;
use crate::sketch::{Fingerprints, Signature, Sketched, Sketcher};
pub use crate::store::Document;
use crate::store::{DocumentRecord, Kind, Settings, seconds_of, time_of};
use crate::text::{Content, Weights};
use std::sync::Arc;
use std::time::SystemTime;

impl Document {
    /// Makes a document from content, with the sketcher of the target index.
    ///
    /// The document does not keep its content. An index that stores texts refuses it; use
    /// [`with_content`](Self::with_content) as well, or [`Index::prepare`](crate::Index::prepare)
    /// instead.
    ///
    /// # Errors
    ///
    /// - [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes.
    /// - [`Error::NotWeights`], [`Error::UnexpectedWeights`] or [`Error::UnexpectedTokens`] for
    ///   content of a kind that the sketcher does not take.
    pub fn sketch<'c>(
        id: impl Into<String>,
        content: impl Into<Content<'c>>,
        sketcher: &Sketcher,
    ) -> Result<Self> {
        Self::new(id.into(), content.into(), sketcher, false)
    }

    /// Makes a document for an index with these settings, and keeps the content if that index
    /// stores texts. Does the same as [`Index::prepare`](crate::Index::prepare), for a thread
    /// without access to the index.
    ///
    /// # Errors
    ///
    /// Those of [`sketch`](Self::sketch).
    pub fn prepare<'c>(
        id: impl Into<String>,
        content: impl Into<Content<'c>>,
        sketcher: &Sketcher,
        settings: &Settings,
    ) -> Result<Self> {
        Self::new(id.into(), content.into(), sketcher, settings.store_text)
    }

    fn new(id: String, content: Content<'_>, sketcher: &Sketcher, keep: bool) -> Result<Self> {
        let (id, sketched) = (valid(id)?, sketcher.sketched(content)?);
        let stored = content.stored();
        Ok(Self {
            id,
            kind: Kind::of(content),
            signature: sketched.signature,
            sketched_by: Some(sketcher.settings()),
            fingerprints: sketched.fingerprints,
            winnowing: sketcher.winnower().map(|winnower| winnower.winnowing),
            text_hash: TextHash::of(stored.as_bytes()),
            text_length: stored.len() as u64,
            text: keep.then(|| stored.into()),
            inserted: None,
        })
    }

    /// Sketches the stored text again with another sketcher. Id and insertion time stay.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`] if the document is a text and the sketcher takes weighted sets;
    /// [`Error::UnexpectedWeights`] in the opposite case.
    pub(crate) fn sketched_again(self, sketcher: &Sketcher) -> Result<Self> {
        match (self.kind, sketcher.is_weighted()) {
            (Kind::Weights, false) => return Err(Error::UnexpectedWeights),
            (Kind::Text, true) => return Err(Error::NotWeights),
            _ => {}
        }
        let text = self.text.as_deref().unwrap_or_default();
        let Sketched { signature, fingerprints } = sketcher.sketched_stored(text)?;
        Ok(Self {
            signature,
            sketched_by: Some(sketcher.settings()),
            fingerprints,
            winnowing: sketcher.winnower().map(|winnower| winnower.winnowing),
            text_hash: TextHash::of(text.as_bytes()),
            text_length: text.len() as u64,
            ..self
        })
    }

    /// Replaces the text, which an index stores.
    pub(crate) fn with_text(self, text: &str, sketcher: &Sketcher) -> Result<Self> {
        Self { text: Some(text.into()), ..self }.sketched_again(sketcher)
    }

    /// Makes a document from a signature alone, without its text.
    ///
    /// Nothing in a signature tells its shingle or its seed: one that was made with others than
    /// those of the index gives wrong answers without an error. Make it with the index's own
    /// sketcher ([`Index::sketcher`](crate::Index::sketcher)).
    ///
    /// Its text hash is a hash of the signature, so inserting the same id with an equal signature
    /// again leaves the stored document unchanged. Its text length is 0.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes. The insertion fails if the
    /// signature has another number of lanes than the index.
    pub fn from_signature(id: impl Into<String>, signature: Signature) -> Result<Self> {
        Ok(Self {
            id: valid(id.into())?,
            text_hash: TextHash::of(&signature.to_bytes()),
            text_length: 0,
            text: None,
            inserted: None,
            signature,
            sketched_by: None,
            fingerprints: None,
            winnowing: None,
            kind: Kind::Unknown,
        })
    }

    /// Replaces the id.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidId`] for an id of 0 or more than 4,096 bytes.
    pub fn with_id(self, id: impl Into<String>) -> Result<Self> {
        Ok(Self { id: valid(id.into())?, ..self })
    }

    /// Removes the id. The document gets the next automatic id when it is inserted, or earlier from
    /// [`WriteTxn::give_ids`](crate::WriteTxn::give_ids).
    pub fn without_id(self) -> Self {
        Self { id: String::new(), ..self }
    }

    /// Replaces the text hash and the text length in bytes, for instance by values that another
    /// program has stored, and drops the text. An insertion recognises an unchanged document by
    /// these two values.
    pub fn with_text_hash(self, hash: TextHash, bytes: u64) -> Self {
        Self { text_hash: hash, text_length: bytes, text: None, ..self }
    }

    /// Adds the content, which an index that stores texts requires and other indexes ignore. Text
    /// hash and length become those of the content.
    pub fn with_content<'c>(self, content: impl Into<Content<'c>>) -> Self {
        let content = content.into();
        let text: Arc<str> = content.stored().into();
        let (hash, length) = (TextHash::of(text.as_bytes()), text.len() as u64);
        let kind = Kind::of(content);
        Self { kind, text_hash: hash, text_length: length, text: Some(text), ..self }
    }

    /// Sets the insertion time. By default it is the time at which the document is inserted.
    ///
    /// The index stores whole seconds, rounded down, also before 1970. A time more than 2^63
    /// seconds from 1970 is clamped.
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
        Self { inserted: Some(seconds_of(time)), ..self }
    }

    /// The fingerprints of the text, in the form in which an index stores them; `None` if the
    /// document was not made for an index of [passages](crate::IndexOptions::passages).
    pub fn fingerprints(&self) -> Option<&[u8]> {
        self.fingerprints.as_ref().map(Fingerprints::as_bytes)
    }

    /// Adds the fingerprints that [`fingerprints`](Self::fingerprints) has returned. An index of
    /// passages requires them of a document that is made from a signature alone.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidFingerprints`] if the bytes are not in that form.
    pub fn with_fingerprints(self, bytes: &[u8]) -> Result<Self> {
        let read = Fingerprints::from_bytes(bytes);
        let fingerprints = read.map_err(|detail| Error::InvalidFingerprints { detail })?;
        Ok(Self { fingerprints: Some(fingerprints), winnowing: None, ..self })
    }

    /// Makes a document from its record and signature in an index with these settings.
    pub(crate) fn stored(
        record: DocumentRecord,
        signature: Signature,
        settings: &Settings,
    ) -> Self {
        Self {
            kind: Kind::in_index(settings),
            id: record.id,
            signature,
            sketched_by: Some(settings.of_sketches()),
            fingerprints: None,
            winnowing: settings.winnowing,
            text_hash: record.text_hash,
            text_length: record.text_length,
            text: None,
            inserted: Some(record.inserted),
        }
    }

    /// Adds the stored text.
    pub(crate) fn with_stored(self, text: String) -> Self {
        Self { text: Some(text.into()), ..self }
    }

    /// Checks that the document was made from content that an index with these settings takes, and
    /// by a sketcher with the same settings.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`], [`Error::UnexpectedWeights`] or [`Error::SketchedOtherwise`].
    pub(crate) fn check_made_for(&self, settings: &Settings) -> Result<()> {
        match (self.kind, Kind::in_index(settings)) {
            (Kind::Text, Kind::Weights) => return Err(Error::NotWeights),
            (Kind::Weights, Kind::Text) => return Err(Error::UnexpectedWeights),
            _ => {}
        }
        let own = settings.of_sketches();
        let Some(other) = self.sketched_by.filter(|other| *other != own) else { return Ok(()) };
        let seed_of = |(shingles, lanes): (u64, u64)| {
            if shingles == lanes {
                lanes.to_string()
            } else {
                format!("{shingles} of shingles and {lanes} of lanes")
            }
        };
        let (setting, expected, got) = if other.shingle != own.shingle {
            ("shingle", own.shingle.to_string(), other.shingle.to_string())
        } else if other.normalization != own.normalization {
            ("normalization", own.normalization.to_string(), other.normalization.to_string())
        } else if other.multiset != own.multiset {
            ("multiset", own.multiset.to_string(), other.multiset.to_string())
        } else {
            ("seed", seed_of(own.seeds), seed_of(other.seeds))
        };
        Err(Error::SketchedOtherwise { id: self.id.clone(), setting, expected, got })
    }

    /// The id; empty if the document has none yet.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The hash of the content, by which equal contents are recognised.
    pub fn text_hash(&self) -> TextHash {
        self.text_hash
    }

    /// The insertion time in whole seconds; `None` for a new document without one.
    pub fn inserted(&self) -> Option<SystemTime> {
        self.inserted.map(time_of)
    }

    /// The raw text; `None` if the document does not hold it, and for weights.
    pub fn text(&self) -> Option<&str> {
        self.stored_text().filter(|_| self.kind != Kind::Weights)
    }

    /// The weights; `None` if the document does not hold them, and for a text.
    ///
    /// # Errors
    ///
    /// [`Error::NotWeights`] if the document comes from a damaged index and its stored text is not
    /// the form of a weighted set.
    pub fn weights(&self) -> Result<Option<Weights>> {
        let text = self.stored_text().filter(|_| self.kind == Kind::Weights);
        text.map(Weights::from_stored).transpose()
    }

    /// The text in its stored form, for texts and weights alike.
    pub(crate) fn stored_text(&self) -> Option<&str> {
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
    if (1..=MAX_ID_BYTES).contains(&id.len()) {
        Ok(id)
    } else {
        Err(Error::InvalidId { length: id.len(), most: MAX_ID_BYTES })
    }
}

/// The facts that an index stores about a document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DocumentInfo {
    /// The id.
    pub id: String,
    /// The length of the text in bytes.
    pub text_bytes: u64,
    /// The insertion time in whole seconds, rounded down.
    pub inserted: SystemTime,
    /// The number of distinct shingles, with a standard error below 0.4 %. Fewer than 100 are
    /// nearly always exact.
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
