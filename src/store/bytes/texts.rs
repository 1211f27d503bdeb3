//! Stored texts: each compressed by itself, what short ones have in common in a dictionary.

use crate::error::Result;
use crate::store::bytes::codec::{Fault, seal, unseal};
use crate::store::bytes::schema::{DICTIONARY_ROW, DocNo, META, Table};
use crate::store::storage_error::{Doing, damaged};
use redb::ReadTransaction;
use std::cell::RefCell;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use zstd::zstd_safe::{CCtx, CDict, DCtx, DDict, compress_bound, get_frame_content_size};

/// How hard the compressor tries: zstd's own default.
const LEVEL: i32 = 3;

/// What a text row ends in, before its checksum.
const PLAIN: u8 = 0;
const COMPRESSED: u8 = 1;
const WITH_DICTIONARY: u8 = 2;

/// The key of the dictionary row for its checksum.
pub(crate) const DICTIONARY_PLACE: u64 = 4;

thread_local! {
    static COMPRESSOR: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static EXPANDER: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// What the texts of an index have in common, so that a short one need not say it again.
pub(crate) struct Dictionary {
    bytes: Box<[u8]>,
    compress: CDict<'static>,
    expand: DDict<'static>,
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl Dictionary {
    /// Texts that are learnt from at once, at least: fewer say too little of those to come.
    pub(crate) const LEAST: usize = 512;
    /// The mean length up to which texts gain from one: an eighth less space at 3.5 KB.
    const SHORT: usize = 4 << 10;
    /// Beyond this it gains little and costs every process that opens the index.
    const BYTES: usize = 32 << 10;
    /// What is learnt from, at most.
    const SAMPLE: usize = 2 << 20;

    fn new(bytes: Vec<u8>) -> Option<Self> {
        let compress = CDict::try_create(&bytes, LEVEL)?;
        let expand = DDict::try_create(&bytes)?;
        Some(Self { bytes: bytes.into(), compress, expand })
    }

    /// What a dictionary row holds.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Learns from texts, if they are many and short and have anything in common.
    pub(crate) fn learn(texts: &[&str]) -> Option<Self> {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        if texts.len() < Self::LEAST || bytes > Self::SHORT * texts.len() {
            return None;
        }
        // From all over: neighbours are often of one kind.
        let step = bytes.div_ceil(Self::SAMPLE).max(1);
        let sample: Vec<&[u8]> = texts.iter().step_by(step).map(|text| text.as_bytes()).collect();
        Self::new(zstd::dict::from_samples(&sample, Self::BYTES).ok()?)
    }

    /// The dictionary of an index, if it has one.
    pub(crate) fn load(txn: &ReadTransaction, path: &Path) -> Result<Option<Arc<Self>>> {
        let action = "reading the dictionary";
        let fault = |detail| damaged(path, Table::Meta, DICTIONARY_ROW, detail);
        let meta = txn.open_table(META).doing(path, action)?;
        let Some(row) = meta.get(DICTIONARY_ROW).doing(path, action)? else { return Ok(None) };
        let bytes = unseal(row.value(), Table::Meta, DICTIONARY_PLACE).map_err(fault)?;
        let dictionary = Self::new(bytes.to_vec()).ok_or_else(|| fault("it is none"))?;
        Ok(Some(Arc::new(dictionary)))
    }
}

/// A text row: the text, how it is compressed, the checksum.
pub(crate) fn encode_text(text: &str, doc: DocNo, dictionary: Option<&Dictionary>) -> Vec<u8> {
    let mut row = Vec::with_capacity(compress_bound(text.len()) + 8);
    let done = COMPRESSOR.with_borrow_mut(|compressor| {
        let compressor = match compressor {
            Some(compressor) => compressor,
            none => none.insert(CCtx::try_create()?),
        };
        let done = match dictionary {
            Some(dictionary) => {
                compressor.compress_using_cdict(&mut row, text.as_bytes(), &dictionary.compress)
            }
            None => compressor.compress(&mut row, text.as_bytes(), LEVEL),
        };
        done.ok()
    });
    let how = match (done, dictionary) {
        (Some(bytes), Some(_)) if bytes < text.len() => WITH_DICTIONARY,
        (Some(bytes), None) if bytes < text.len() => COMPRESSED,
        _ => {
            row.clear();
            row.extend_from_slice(text.as_bytes());
            PLAIN
        }
    };
    row.push(how);
    row.shrink_to(row.len() + 4);
    seal(row, Table::Texts, u64::from(doc.0))
}

/// The text of a text row.
pub(crate) fn decode_text(
    sealed: &[u8],
    doc: DocNo,
    dictionary: Option<&Dictionary>,
) -> Result<String, Fault> {
    let row = unseal(sealed, Table::Texts, u64::from(doc.0))?;
    let (how, packed) = row.split_last().ok_or("cut short")?;
    let dictionary = match *how {
        PLAIN => return String::from_utf8(packed.to_vec()).map_err(|_| NOT_TEXT),
        COMPRESSED => None,
        WITH_DICTIONARY => Some(dictionary.ok_or("its dictionary is missing")?),
        _ => return Err("compressed in an unknown way"),
    };
    let bad = "it cannot be decompressed";
    let length = get_frame_content_size(packed).ok().flatten().ok_or(bad)?;
    let length = usize::try_from(length).map_err(|_| bad)?;
    let mut text = Vec::new();
    text.try_reserve_exact(length).map_err(|_| "there is no memory for it")?;
    let done = EXPANDER.with_borrow_mut(|expander| {
        let expander = match expander {
            Some(expander) => expander,
            none => none.insert(DCtx::try_create()?),
        };
        let done = match dictionary {
            Some(dictionary) => {
                expander.decompress_using_ddict(&mut text, packed, &dictionary.expand)
            }
            None => expander.decompress(&mut text, packed),
        };
        done.ok()
    });
    match done {
        Some(bytes) if bytes == length => String::from_utf8(text).map_err(|_| NOT_TEXT),
        _ => Err(bad),
    }
}

const NOT_TEXT: Fault = "it is no UTF-8";

#[cfg(test)]
mod tests {
    use super::*;

    const DOC: DocNo = DocNo(7);

    fn notes(count: u32) -> Vec<String> {
        let note =
            |n| format!("Note {n}: the matter of item {} was put off until day {}.", n % 7, n * n);
        (0..count).map(note).collect()
    }

    #[test]
    fn texts_come_back_as_they_were() {
        let notes = notes(600);
        let texts: Vec<&str> = notes.iter().map(String::as_str).collect();
        let dictionary = Dictionary::learn(&texts).expect("something in common");
        let long = "all work and no play ".repeat(10_000);
        for text in ["", "a", "日本語", "\0\u{1f}", texts.first().expect("notes"), &long] {
            for dictionary in [None, Some(&dictionary)] {
                let row = encode_text(text, DOC, dictionary);
                assert_eq!(decode_text(&row, DOC, dictionary).as_deref(), Ok(text));
            }
        }
    }

    #[test]
    fn a_dictionary_takes_a_third_off_short_texts_that_are_alike() {
        let notes = notes(600);
        let texts: Vec<&str> = notes.iter().map(String::as_str).collect();
        let dictionary = Dictionary::learn(&texts).expect("something in common");
        let size = |dictionary| -> usize {
            texts.iter().map(|text| encode_text(text, DOC, dictionary).len()).sum()
        };
        assert!(3 * size(Some(&dictionary)) < 2 * size(None));
    }

    #[test]
    fn a_dictionary_is_not_learned_from_few_or_long_texts() {
        let few = vec!["one and the same"; 100];
        assert!(Dictionary::learn(&few).is_none());
        let long = "a long text ".repeat(500);
        assert!(Dictionary::learn(&vec![long.as_str(); 600]).is_none());
    }

    #[test]
    fn damage_is_named_and_asks_for_no_memory() {
        let sealed = |row: &[u8]| seal(row.to_vec(), Table::Texts, 7);
        let of = |row: &[u8]| decode_text(&sealed(row), DOC, None);
        assert_eq!(of(&[]), Err("cut short"));
        assert_eq!(of(&[0xff, PLAIN]), Err(NOT_TEXT));
        assert_eq!(of(&[1, 2, 3, COMPRESSED]), Err("it cannot be decompressed"));
        assert_eq!(of(&[1, 2, 3, WITH_DICTIONARY]), Err("its dictionary is missing"));
        assert_eq!(of(&[1, 9]), Err("compressed in an unknown way"));
        // A frame that claims 2^62 bytes: magic, descriptor, eight bytes of content size.
        let mut huge = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
        huge.extend_from_slice(&(1_u64 << 62).to_le_bytes());
        huge.extend_from_slice(&[1, 0, 0, COMPRESSED]);
        assert!(of(&huge).is_err());
        let mut row = encode_text("some text, some text, some text, some text", DOC, None);
        *row.last_mut().expect("a checksum") ^= 1;
        assert_eq!(decode_text(&row, DOC, None), Err("its checksum does not match"));
    }
}
