//! Stored texts, each compressed on its own. Short texts share a dictionary (`docs/format.md`,
//! sections "Text row" and "Dictionary row").

use crate::error::Result;
use crate::store::bytes::codec::{DecodeError, NO_MEMORY, reseal, seal, unseal};
use crate::store::bytes::schema::{DICTIONARY_ROW, DocNo, META, Table};
use crate::store::storage_error::{Doing, damaged};
use redb::ReadTransaction;
use std::cell::RefCell;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use zstd::zstd_safe::{CCtx, CDict, DCtx, DDict, compress_bound, get_frame_content_size};

/// The compression level: zstd's default.
const LEVEL: i32 = 3;

/// The encodings of a text row, in its last byte before the checksum.
const PLAIN: u8 = 0;
const COMPRESSED: u8 = 1;
const WITH_DICTIONARY: u8 = 2;

/// The key of the dictionary row, as its checksum uses it.
pub(crate) const DICTIONARY_KEY: u64 = 4;

thread_local! {
    static COMPRESSOR: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// A zstd dictionary: strings that many texts of the index contain. It makes short texts smaller.
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
    /// The fewest texts to train with: fewer say too little about the texts to come.
    pub(crate) const MIN_TEXTS: usize = 512;
    /// The greatest mean length of texts that gain from a dictionary. At 3.5 KB a dictionary
    /// saves an eighth of the space.
    const MAX_MEAN_BYTES: usize = 4 << 10;
    /// The greatest size of a dictionary. A larger one saves little more, and every process that
    /// opens the index loads it.
    const MAX_BYTES: usize = 32 << 10;
    /// The most bytes of text to train with.
    const SAMPLE_BYTES: usize = 2 << 20;

    fn new(bytes: Vec<u8>) -> Option<Self> {
        let compress = CDict::try_create(&bytes, LEVEL)?;
        let expand = DDict::try_create(&bytes)?;
        Some(Self { bytes: bytes.into(), compress, expand })
    }

    /// The contents of the dictionary row.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Trains a dictionary. Returns `None` if the texts are few or long, or have too little in
    /// common.
    pub(crate) fn train(texts: &[&str]) -> Option<Self> {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        if texts.len() < Self::MIN_TEXTS || bytes > Self::MAX_MEAN_BYTES * texts.len() {
            return None;
        }
        // The sample spreads over all texts, because neighbours are often of one kind.
        let step = bytes.div_ceil(Self::SAMPLE_BYTES).max(1);
        let sample: Vec<&[u8]> = texts.iter().step_by(step).map(|text| text.as_bytes()).collect();
        Self::new(zstd::dict::from_samples(&sample, Self::MAX_BYTES).ok()?)
    }

    /// The dictionary of an index, if it has one.
    pub(crate) fn load(txn: &ReadTransaction, path: &Path) -> Result<Option<Arc<Self>>> {
        let action = "reading the dictionary";
        let meta = txn.open_table(META).doing(path, action)?;
        let Some(row) = meta.get(DICTIONARY_ROW).doing(path, action)? else { return Ok(None) };
        let fault = |detail| damaged(path, Table::Meta, DICTIONARY_ROW, detail);
        Self::decode(row.value()).map(Some).map_err(fault)
    }

    /// Decodes the dictionary row.
    pub(crate) fn decode(row: &[u8]) -> Result<Arc<Self>, DecodeError> {
        let bytes = unseal(row, Table::Meta, DICTIONARY_KEY)?;
        Self::new(bytes.to_vec()).map(Arc::new).ok_or("it is not a zstd dictionary")
    }
}

/// Encodes a text row: the text, its encoding, the checksum.
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
    let encoding = match (done, dictionary) {
        (Some(bytes), Some(_)) if bytes < text.len() => WITH_DICTIONARY,
        (Some(bytes), None) if bytes < text.len() => COMPRESSED,
        _ => {
            row.clear();
            row.extend_from_slice(text.as_bytes());
            PLAIN
        }
    };
    row.push(encoding);
    row.shrink_to(row.len() + 4);
    seal(row, Table::Texts, u64::from(doc.0))
}

/// Verifies a text row, and appends it sealed for another document. Encodes the text anew if the
/// row needs the first dictionary, and the second one is another.
pub(crate) fn move_text(
    bytes: &mut Vec<u8>,
    sealed: &[u8],
    (from, theirs): (DocNo, Option<&Dictionary>),
    (to, own): (DocNo, Option<&Dictionary>),
) -> Result<(), DecodeError> {
    let row = unseal(sealed, Table::Texts, u64::from(from.0))?;
    let is_other = || theirs.map(Dictionary::bytes) != own.map(Dictionary::bytes);
    if row.last() == Some(&WITH_DICTIONARY) && is_other() {
        bytes.extend(encode_text(&decode_text(sealed, from, theirs)?, to, own));
    } else {
        reseal(bytes, sealed, Table::Texts, u64::from(from.0), u64::from(to.0))?;
    }
    Ok(())
}

/// Decodes a text row.
pub(crate) fn decode_text(
    sealed: &[u8],
    doc: DocNo,
    dictionary: Option<&Dictionary>,
) -> Result<String, DecodeError> {
    let row = unseal(sealed, Table::Texts, u64::from(doc.0))?;
    let (encoding, packed) = row.split_last().ok_or("cut short")?;
    let dictionary = match *encoding {
        PLAIN => return String::from_utf8(packed.to_vec()).map_err(|_| NOT_UTF8),
        COMPRESSED => None,
        WITH_DICTIONARY => Some(dictionary.ok_or("its dictionary is missing")?),
        _ => return Err("its encoding is unknown"),
    };
    let bad = "it cannot be decompressed";
    let length = get_frame_content_size(packed).ok().flatten().ok_or(bad)?;
    let length = usize::try_from(length).map_err(|_| bad)?;
    let mut text = Vec::new();
    text.try_reserve_exact(length).map_err(|_| NO_MEMORY)?;
    let done = DECOMPRESSOR.with_borrow_mut(|decompressor| {
        let decompressor = match decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(DCtx::try_create().ok_or(NO_MEMORY)?),
        };
        let done = match dictionary {
            Some(dictionary) => {
                decompressor.decompress_using_ddict(&mut text, packed, &dictionary.expand)
            }
            None => decompressor.decompress(&mut text, packed),
        };
        done.map_err(|_| bad)
    });
    match done? {
        bytes if bytes == length => String::from_utf8(text).map_err(|_| NOT_UTF8),
        _ => Err(bad),
    }
}

const NOT_UTF8: DecodeError = "it is not valid UTF-8";

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
    fn decoding_returns_the_encoded_text() {
        let notes = notes(600);
        let texts: Vec<&str> = notes.iter().map(String::as_str).collect();
        let dictionary = Dictionary::train(&texts).expect("something in common");
        let long = "all work and no play ".repeat(10_000);
        for text in ["", "a", "日本語", "\0\u{1f}", texts.first().expect("notes"), &long] {
            for dictionary in [None, Some(&dictionary)] {
                let row = encode_text(text, DOC, dictionary);
                assert_eq!(decode_text(&row, DOC, dictionary).as_deref(), Ok(text));
            }
        }
    }

    #[test]
    fn rows_that_another_program_has_compressed_are_read() {
        // Frames of libzstd 1.5 by way of Python's `zstandard`: "ab" 20 times, and what follows a
        // dictionary.
        let frame: [u8; 17] = [
            0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x28, 0x45, 0x00, 0x00, 0x10, 0x61, 0x62, 0x01, 0x00,
            0x7b, 0x1c, 0x16,
        ];
        let known = "the quick brown fox jumps over the lazy dog, and runs away";
        let with_known: [u8; 22] = [
            0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x40, 0x6d, 0x00, 0x00, 0x30, 0x20, 0x61, 0x67, 0x61,
            0x69, 0x6e, 0x01, 0x00, 0xef, 0xa7, 0x02, 0x02,
        ];
        let dictionary = seal(known.as_bytes().to_vec(), Table::Meta, 4);
        let dictionary = Dictionary::decode(&dictionary).expect("a dictionary");
        let (twenty, again) = ("ab".repeat(20), format!("{known} again"));
        let rows: [(&[u8], u8, &str); 3] =
            [("naïve".as_bytes(), 0, "naïve"), (&frame, 1, &twenty), (&with_known, 2, &again)];
        for (packed, encoding, text) in rows {
            let row = seal([packed, &[encoding]].concat(), Table::Texts, 7);
            assert_eq!(decode_text(&row, DOC, Some(&dictionary)).as_deref(), Ok(text));
        }
        let plain = seal(b"short\0".to_vec(), Table::Texts, 7);
        assert_eq!(encode_text("short", DOC, None), plain);
    }

    #[test]
    fn a_dictionary_saves_a_third_on_short_similar_texts() {
        let notes = notes(600);
        let texts: Vec<&str> = notes.iter().map(String::as_str).collect();
        let dictionary = Dictionary::train(&texts).expect("something in common");
        let size = |dictionary| -> usize {
            texts.iter().map(|text| encode_text(text, DOC, dictionary).len()).sum()
        };
        assert!(3 * size(Some(&dictionary)) < 2 * size(None));
    }

    #[test]
    fn few_or_long_texts_train_no_dictionary() {
        let few = vec!["one and the same"; 100];
        assert!(Dictionary::train(&few).is_none());
        let long = "a long text ".repeat(500);
        assert!(Dictionary::train(&vec![long.as_str(); 600]).is_none());
    }

    #[test]
    fn a_damaged_text_row_is_an_error_that_allocates_no_memory() {
        let sealed = |row: &[u8]| seal(row.to_vec(), Table::Texts, 7);
        let of = |row: &[u8]| decode_text(&sealed(row), DOC, None);
        assert_eq!(of(&[]), Err("cut short"));
        assert_eq!(of(&[0xff, PLAIN]), Err(NOT_UTF8));
        assert_eq!(of(&[1, 2, 3, COMPRESSED]), Err("it cannot be decompressed"));
        assert_eq!(of(&[1, 2, 3, WITH_DICTIONARY]), Err("its dictionary is missing"));
        assert_eq!(of(&[1, 9]), Err("its encoding is unknown"));
        // A frame that declares 2^62 bytes: magic, descriptor, eight bytes of content size.
        let mut huge = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
        huge.extend_from_slice(&(1_u64 << 62).to_le_bytes());
        huge.extend_from_slice(&[1, 0, 0, COMPRESSED]);
        assert!(of(&huge).is_err());
        let mut row = encode_text("some text, some text, some text, some text", DOC, None);
        *row.last_mut().expect("a checksum") ^= 1;
        assert_eq!(decode_text(&row, DOC, None), Err("its checksum does not match"));
    }
}
