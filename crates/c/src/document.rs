//! What a document is given as, and what an index tells of one.

use crate::border::free;
use crate::error::Failure;
use crate::view::{View, nul_terminated};
use std::time::{SystemTime, UNIX_EPOCH};
use twindex::{Content, Settings, Snapshot, Weights};

/// A text as the content that an index takes.
pub(crate) enum Given<'a> {
    Text(&'a str),
    Weights(Weights),
}

impl<'a> Given<'a> {
    pub(crate) fn new(text: &'a str, settings: &Settings) -> Result<Self, Failure> {
        if settings.weighted {
            Ok(Self::Weights(Weights::from_export(text)?))
        } else {
            Ok(Self::Text(text))
        }
    }

    pub(crate) fn content(&self) -> Content<'_> {
        match self {
            Self::Text(text) => Content::Text(text),
            Self::Weights(weights) => Content::Weights(weights),
        }
    }
}

/// What an index tells of a document. Later versions may add fields at the end, so use it through
/// the pointer that the library gives.
#[repr(C)]
pub struct DocumentStruct {
    /// The id.
    pub id: View,
    /// The text, if the index stores texts; else empty.
    pub text: View,
    /// The signature: a byte for each lane, then 4 for the size of the set. These are bytes, not
    /// UTF-8.
    pub signature: View,
    /// The length of the text in bytes, whether it is stored or not.
    pub text_bytes: u64,
    /// When it was inserted, in seconds since 1970.
    pub inserted: i64,
    /// The number of its distinct shingles, by estimate.
    pub shingles: f64,
}

/// A document with the bytes that its structure points to. The structure comes first, so that a
/// pointer to it is one to the whole.
#[repr(C)]
pub(crate) struct Document {
    fields: DocumentStruct,
    _bytes: [Vec<u8>; 3],
}

impl Document {
    /// The document with this id; `None` if there is none.
    pub(crate) fn find(snapshot: &Snapshot, id: &str) -> Result<Option<Box<Self>>, Failure> {
        let Some(info) = snapshot.get(id)? else { return Ok(None) };
        let settings = snapshot.settings();
        let text = match (settings.store_text, settings.weighted) {
            (false, _) => None,
            (true, false) => snapshot.text(id)?,
            (true, true) => snapshot.weights(id)?.map(|weights| weights.to_export()),
        };
        let text = text.unwrap_or_default().into_bytes();
        let bytes = [info.id.into_bytes(), text, info.signature.to_bytes()].map(nul_terminated);
        let [id, text, signature] =
            [&bytes[0], &bytes[1], &bytes[2]].map(|of| View::of_terminated(of));
        let fields = DocumentStruct {
            id,
            text,
            signature,
            text_bytes: info.text_bytes,
            inserted: seconds(info.inserted),
            shingles: info.shingles,
        };
        Ok(Some(Box::new(Self { fields, _bytes: bytes })))
    }

    pub(crate) fn into_raw(document: Box<Self>) -> *const DocumentStruct {
        Box::into_raw(document).cast()
    }
}

fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs() as i64,
        Err(before) => -(before.duration().as_secs() as i64),
    }
}

/// Frees a document that twindex_snapshot_get gave. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_document_free(document: *const DocumentStruct) {
    if !document.is_null() {
        // SAFETY: the pointer comes from `Document::into_raw`, and the caller gives it back once.
        free(Some(unsafe { Box::from_raw(document.cast_mut().cast::<Document>()) }));
    }
}
