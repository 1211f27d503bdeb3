//! Settings: how an index is created and opened.

use crate::border::text;
use crate::error::Failure;
use crate::structs::{self, Growing};
use crate::view::TWINDEX_NUL;
use std::ffi::{CString, c_char};
use std::ptr;
use std::time::Duration;
use twindex::{IndexOptions, Settings};

/// Yes, for a field that is a choice.
pub const TWINDEX_YES: u32 = 1;
/// No, for a field that is a choice.
pub const TWINDEX_NO: u32 = 2;

/// How an index is created and opened. Set all bytes to zero, then `size`; a field that is zero has
/// its default in a new index, and any value in an existing one. A choice is TWINDEX_YES or
/// TWINDEX_NO, so that 0 is neither: compare it, and do not use it as a condition.
///
///     twindex_settings settings = {.size = sizeof settings};
///     settings.threshold = 0.9;
///     settings.store_text = TWINDEX_YES;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SettingsStruct {
    /// sizeof(twindex_settings).
    pub size: usize,
    /// The similarity from which on documents count as similar: above 0, at most 1. Default 0.8.
    pub threshold: f64,
    /// The least probability with which a pair at the threshold is found: above 0, below 1.
    /// Default 0.99.
    pub recall: f64,
    /// What documents are cut into: "char:9", "word:3", "line:2", "token" or "kmer:21". Default
    /// "char:9". NUL-terminated.
    pub shingle: *const c_char,
    /// What is made equal before: a list of "lower", "nfc", "nfkc", "space", "nospace" and
    /// "minword=N", or "none". Default "lower,nfc,space". NUL-terminated.
    pub normalization: *const c_char,
    /// The seed of all hashes. Default 0.
    pub seed: u64,
    /// TWINDEX_YES: draws a seed that nobody can guess.
    pub random_seed: u32,
    /// The number of lanes of a signature: 64, 128, 256 or 512. Default 256.
    pub lanes: u32,
    /// Whether repeated shingles count as often as they occur: TWINDEX_YES or TWINDEX_NO. Default
    /// no.
    pub multiset: u32,
    /// Whether documents are weighted sets: TWINDEX_YES or TWINDEX_NO. Default no. A text is then
    /// a list of tokens and weights, each followed by U+001F.
    pub weighted: u32,
    /// Whether the index stores texts, so that answers are exact: TWINDEX_YES or TWINDEX_NO.
    /// Default no.
    pub store_text: u32,
    /// How long opening waits for another process that writes, in milliseconds. Default 0.
    pub wait_ms: u32,
    /// The memory for pages of the file, in bytes. Default 64 MiB. Filters may take as much again,
    /// or 256 MiB if that is more.
    pub cache_bytes: u64,
    /// How many documents are kept in memory before they become a sorted run. Default 65,536.
    pub flush_documents: u64,
    /// How many runs of one size are merged into one. Default 8.
    pub merge_runs: u64,
    /// The length of the passages that are found wherever they were copied, in characters, words,
    /// lines or tokens, as the shingle says. Default: none are.
    pub passages: u64,
}

// SAFETY: the size is first, and the six fields of 4 bytes fill whole words.
unsafe impl Growing for SettingsStruct {
    const NAME: &'static str = "twindex_settings";
    const FIRST: usize = 96;
    const ZERO: Self = Self {
        size: size_of::<Self>(),
        threshold: 0.0,
        recall: 0.0,
        shingle: ptr::null(),
        normalization: ptr::null(),
        seed: 0,
        random_seed: 0,
        lanes: 0,
        multiset: 0,
        weighted: 0,
        store_text: 0,
        wait_ms: 0,
        cache_bytes: 0,
        flush_documents: 0,
        merge_runs: 0,
        passages: 0,
    };
}

/// A choice; `None` for the default.
pub(crate) fn choice(field: &str, value: u32) -> Result<Option<bool>, Failure> {
    match value {
        0 => Ok(None),
        TWINDEX_YES => Ok(Some(true)),
        TWINDEX_NO => Ok(Some(false)),
        _ => Err(Failure::invalid(format_args!(
            "{field} {value}: expected 0, TWINDEX_YES or TWINDEX_NO"
        ))),
    }
}

/// A number; `None` for the default, which is 0.
pub(crate) fn number<T: Default + PartialEq>(value: T) -> Option<T> {
    Some(value).filter(|value| *value != T::default())
}

/// A short text that ends in a NUL; `None` for a null pointer.
///
/// # Safety
///
/// A pointer that is not null points to a text with a NUL at its end.
pub(crate) unsafe fn name<'a>(
    field: &str,
    given: *const c_char,
) -> Result<Option<&'a str>, Failure> {
    match given.is_null() {
        true => Ok(None),
        // SAFETY: the caller promises a NUL.
        false => unsafe { text(field, given, TWINDEX_NUL) }.map(Some),
    }
}

/// A count that the library has as `usize`.
fn count(field: &str, value: u64) -> Result<Option<usize>, Failure> {
    let fits = |value: u64| {
        let too_great = |_| Failure::invalid(format_args!("{field} {value}: too great"));
        usize::try_from(value).map_err(too_great)
    };
    number(value).map(fits).transpose()
}

/// The options of the library for these settings.
///
/// # Safety
///
/// That of [`structs::read`]; its texts end in a NUL.
pub(crate) unsafe fn options(given: *const SettingsStruct) -> Result<IndexOptions, Failure> {
    // SAFETY: the caller promises the same.
    let given = unsafe { structs::read(given) }?;
    let mut options = IndexOptions::new();
    if let Some(threshold) = number(given.threshold) {
        options = options.threshold(threshold);
    }
    if let Some(recall) = number(given.recall) {
        options = options.recall(recall);
    }
    if let Some(lanes) = number(given.lanes) {
        options = options.lanes(lanes as usize);
    }
    // SAFETY: the caller promises a NUL.
    if let Some(shingle) = unsafe { name("shingle", given.shingle) }? {
        options = options.shingle(shingle.parse()?);
    }
    // SAFETY: the caller promises a NUL.
    if let Some(normalization) = unsafe { name("normalization", given.normalization) }? {
        options = options.normalization(normalization.parse()?);
    }
    if let Some(multiset) = choice("multiset", given.multiset)? {
        options = options.multiset(multiset);
    }
    if let Some(weighted) = choice("weighted", given.weighted)? {
        options = options.weighted(weighted);
    }
    if let Some(store_text) = choice("store_text", given.store_text)? {
        options = options.store_text(store_text);
    }
    if let Some(seed) = number(given.seed) {
        options = options.seed(seed);
    }
    if choice("random_seed", given.random_seed)? == Some(true) {
        options = options.random_seed();
    }
    if let Some(bytes) = count("cache_bytes", given.cache_bytes)? {
        options = options.cache_bytes(bytes);
    }
    if let Some(documents) = count("flush_documents", given.flush_documents)? {
        options = options.flush_documents(documents);
    }
    if let Some(runs) = count("merge_runs", given.merge_runs)? {
        options = options.merge_runs(runs);
    }
    if let Some(length) = count("passages", given.passages)? {
        options = options.passages(length);
    }
    Ok(options.wait(Duration::from_millis(given.wait_ms.into())))
}

/// The texts of an index's settings, for structures that point to them.
pub(crate) struct SettingsTexts {
    settings: Settings,
    shingle: CString,
    normalization: CString,
}

impl SettingsTexts {
    pub(crate) fn new(settings: &Settings) -> Self {
        // Neither text form has a NUL.
        let text = |text: String| CString::new(text).unwrap_or_default();
        Self {
            settings: *settings,
            shingle: text(settings.shingle.to_string()),
            normalization: text(settings.normalization.to_string()),
        }
    }

    /// Fills a structure with the settings.
    ///
    /// # Safety
    ///
    /// That of [`structs::write`].
    pub(crate) unsafe fn fill(&self, given: *mut SettingsStruct) -> Result<(), Failure> {
        let yes_or_no = |yes| if yes { TWINDEX_YES } else { TWINDEX_NO };
        let settings = &self.settings;
        let value = SettingsStruct {
            threshold: settings.threshold(),
            recall: settings.recall(),
            shingle: self.shingle.as_ptr(),
            normalization: self.normalization.as_ptr(),
            seed: settings.seed,
            lanes: settings.lanes() as u32,
            multiset: yes_or_no(settings.multiset),
            weighted: yes_or_no(settings.weighted),
            store_text: yes_or_no(settings.store_text),
            passages: settings.winnowing.map_or(0, |winnowing| winnowing.length() as u64),
            ..SettingsStruct::ZERO
        };
        // SAFETY: the caller promises the same.
        unsafe { structs::write(given, &value) }
    }
}
