//! Signatures and similarities without an index.

use crate::border::{call, free, give, needed, place, text};
use crate::document::Given;
use crate::error::{ErrorHandle, Failure};
use crate::index::IndexHandle;
use crate::query::signature_at;
use crate::settings::{SettingsStruct, number, options};
use crate::status::Status;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr;
use twindex::{Overlap, Settings, Sketcher};

/// Turns texts into signatures, under the settings of an index or others.
///
/// Threads: any number may use it at once.
pub struct SketcherHandle {
    sketcher: Sketcher,
    settings: Settings,
}

/// Makes a sketcher from settings; null is all defaults.
///
/// Ownership: the caller frees `*sketcher` with twindex_sketcher_free. It is null after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_sketcher_new(
    settings: *const SettingsStruct,
    sketcher: Option<&mut MaybeUninit<Option<Box<SketcherHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = place(sketcher, "sketcher")?;
        // SAFETY: the caller promises settings.
        let settings = unsafe { options(settings) }?.settings()?;
        let sketcher = settings.sketcher()?;
        *place = Some(Box::new(SketcherHandle { sketcher, settings }));
        Ok(())
    })
}

/// Makes the sketcher of an index, whose signatures that index takes.
///
/// Ownership: the caller frees `*sketcher` with twindex_sketcher_free. It is null after an error.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_sketcher_of(
    index: Option<&IndexHandle>,
    sketcher: Option<&mut MaybeUninit<Option<Box<SketcherHandle>>>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let place = place(sketcher, "sketcher")?;
        let (sketcher, settings) = needed(index, "index")?
            .opened(|opened| Ok((opened.sketcher().clone(), *opened.settings())))?;
        *place = Some(Box::new(SketcherHandle { sketcher, settings }));
        Ok(())
    })
}

/// The length of a signature in bytes: a byte for each lane, and 4 for the size of the set. 0 for a
/// null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_sketcher_signature_length(sketcher: Option<&SketcherHandle>) -> usize {
    sketcher.map_or(0, |sketcher| sketcher.sketcher.lanes() + 4)
}

/// Makes the signature of a text. `signature` has room for `capacity` bytes, at least
/// twindex_sketcher_signature_length. The bytes are those that an index stores (docs/format.md); a
/// program can keep them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_sketch(
    sketcher: Option<&SketcherHandle>,
    data: *const c_char,
    length: usize,
    signature: *mut u8,
    capacity: usize,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let SketcherHandle { sketcher, settings } = needed(sketcher, "sketcher")?;
        // SAFETY: the caller promises a text.
        let text = unsafe { text("text", data, length) }?;
        let made = sketcher.signature(Given::new(text, settings)?.content())?.to_bytes();
        if signature.is_null() {
            return Err(Failure::null("signature"));
        }
        if capacity < made.len() {
            let needed = made.len();
            return Err(Failure::misuse(format_args!(
                "signature: room for {capacity} bytes, but a signature has {needed}"
            )));
        }
        // SAFETY: the caller promises room for `capacity` bytes.
        unsafe { ptr::copy_nonoverlapping(made.as_ptr(), signature, made.len()) };
        Ok(())
    })
}

/// Estimates the Jaccard similarity of the documents of two signatures, with its interval at a
/// confidence, such as 0.95; 0 is that. All are 0 if a document has no shingles. Results whose
/// pointers are null are left out. They are not set after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_signature_similarity(
    a: *const u8,
    a_length: usize,
    b: *const u8,
    b_length: usize,
    confidence: f64,
    similarity: Option<&mut MaybeUninit<f64>>,
    low: Option<&mut MaybeUninit<f64>>,
    high: Option<&mut MaybeUninit<f64>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        // SAFETY: the caller promises two signatures.
        let (a, b) = unsafe { (signature_at("a", a, a_length)?, signature_at("b", b, b_length)?) };
        if a.lanes().len() != b.lanes().len() {
            return Err(Failure::invalid("the signatures have different numbers of lanes"));
        }
        let confidence = number(confidence).unwrap_or(twindex::DEFAULT_CONFIDENCE);
        let estimate = a.similarity_at(&b, confidence)?;
        give(similarity, estimate.map_or(0.0, |estimate| estimate.similarity));
        give(low, estimate.map_or(0.0, |estimate| estimate.low));
        give(high, estimate.map_or(0.0, |estimate| estimate.high));
        Ok(())
    })
}

/// Compares two texts exactly: the Jaccard similarity of their shingles, the share of a that is in
/// b, and the share of b that is in a. An empty text is similar to nothing. Not for weighted sets.
/// Results whose pointers are null are left out. They are not set after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn twindex_compare(
    sketcher: Option<&SketcherHandle>,
    a: *const c_char,
    a_length: usize,
    b: *const c_char,
    b_length: usize,
    similarity: Option<&mut MaybeUninit<f64>>,
    a_in_b: Option<&mut MaybeUninit<f64>>,
    b_in_a: Option<&mut MaybeUninit<f64>>,
    error: *mut ErrorHandle,
) -> Status {
    call(error, || {
        let SketcherHandle { sketcher, settings } = needed(sketcher, "sketcher")?;
        // SAFETY: the caller promises two texts.
        let (a, b) = unsafe { (text("a", a, a_length)?, text("b", b, b_length)?) };
        if settings.weighted {
            return Err(Failure::invalid("twindex_compare does not compare weighted sets"));
        }
        let shingler = sketcher.shingler();
        let overlap = Overlap::of_sets(&shingler.set(a), &shingler.set(b));
        give(similarity, overlap.similarity());
        give(a_in_b, overlap.a_in_b());
        give(b_in_a, overlap.b_in_a());
        Ok(())
    })
}

/// Frees a sketcher. Null is fine.
#[unsafe(no_mangle)]
pub extern "C" fn twindex_sketcher_free(sketcher: Option<Box<SketcherHandle>>) {
    free(sketcher);
}
