//! Encodes and decodes the rows of documents, runs, fences and the state (`docs/format.md`, section
//! "Records").

use crate::hash::{TextHash, TextKey};
use crate::sketch::{SetSize, Signature, push_varint};
use crate::store::bytes::chunk::MAX_ENTRIES;
use crate::store::bytes::codec::{
    CHECKSUM_BYTES, DecodeError, NumberReader, seal, seal_from, unseal,
};
use crate::store::bytes::schema::{BandNo, DocNo, MAX_CHUNKS, RunNo, Table, run_row_key};
use bincode::Options;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The encoding of settings rows and of older document records: fixed-width little-endian numbers
/// without trailing bytes. The limit prevents that a damaged length allocates much memory.
fn bincode() -> impl Options {
    const LIMIT: u64 = 64 << 10;
    bincode::DefaultOptions::new()
        .with_fixint_encoding()
        .with_little_endian()
        .with_limit(LIMIT)
        .reject_trailing_bytes()
}

/// Encodes and seals a settings row or a document record.
pub(crate) fn encode(
    record: &impl Serialize,
    table: Table,
    key: u64,
) -> Result<Vec<u8>, DecodeError> {
    let fault = |_| "a field is too long";
    let size = bincode().serialized_size(record).map_err(fault)? as usize;
    let mut bytes = Vec::with_capacity(size + CHECKSUM_BYTES);
    bincode().serialize_into(&mut bytes, record).map_err(fault)?;
    Ok(seal(bytes, table, key))
}

/// Opens and decodes a settings row or a document record.
pub(crate) fn decode<T: DeserializeOwned>(
    sealed: &[u8],
    table: Table,
    key: u64,
) -> Result<T, DecodeError> {
    let record = unseal(sealed, table, key)?;
    bincode().deserialize(record).map_err(|_| "its fields cannot be read")
}

/// The version of document records with XXH3, the only one in files of format 1.
const WITH_XXH3: u8 = 1;
/// The version of document records in files of the formats 2 to 4.
const WIDE: u8 = 2;
/// The version of new document records.
const VERSION: u8 = 3;

/// The record of a document: all that the index stores about it, except signature and text
/// (`docs/format.md`, section "Document record").
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentRecord<I = String> {
    pub(crate) id: I,
    /// The hash of the raw text.
    pub(crate) text_hash: TextHash,
    /// The length of the raw text in bytes.
    pub(crate) text_length: u64,
    /// Seconds since 1970 when it was inserted.
    pub(crate) inserted: i64,
}

/// The fields of a document record of version 1 or 2, in their order. The version tells the kind of
/// hash.
#[derive(Serialize, Deserialize)]
struct WideRecord<I, H> {
    version: u8,
    id: I,
    text_hash: H,
    text_length: u64,
    inserted: i64,
}

impl<H> WideRecord<String, H> {
    fn into_record(self, text_hash: impl FnOnce(H) -> TextHash) -> DocumentRecord {
        let Self { id, text_length, inserted, .. } = self;
        DocumentRecord { id, text_hash: text_hash(self.text_hash), text_length, inserted }
    }
}

impl<I> DocumentRecord<I> {
    /// What identifies the text.
    pub(crate) const fn text_key(&self) -> TextKey {
        TextKey { hash: self.text_hash, length: self.text_length }
    }
}

impl<I: AsRef<str>> DocumentRecord<I> {
    /// Encodes the record, with the checksum that it has under this number.
    pub(crate) fn encode(&self, doc: DocNo) -> Result<Vec<u8>, DecodeError> {
        let mut record = Vec::with_capacity(self.id.as_ref().len() + 40);
        self.append_to(&mut record, doc)?;
        Ok(record)
    }

    /// Appends the encoded record to these bytes.
    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>, doc: DocNo) -> Result<(), DecodeError> {
        let (table, key) = (Table::Documents, u64::from(doc.0));
        let (start, id) = (bytes.len(), self.id.as_ref());
        let Self { text_length, inserted, .. } = *self;
        match self.text_hash {
            TextHash::Blake3(hash) => {
                bytes.push(VERSION);
                push_varint(bytes, text_length);
                push_varint(bytes, zigzag(inserted));
                bytes.extend_from_slice(&hash);
                bytes.extend_from_slice(id.as_bytes());
                seal_from(bytes, start, table, key);
            }
            TextHash::Xxh3(text_hash) => {
                let version = WITH_XXH3;
                let record = WideRecord { version, id, text_hash, text_length, inserted };
                bytes.extend(encode(&record, table, key)?);
            }
        }
        Ok(())
    }
}

impl DocumentRecord {
    pub(crate) fn decode(sealed: &[u8], doc: DocNo) -> Result<Self, DecodeError> {
        let (table, key) = (Table::Documents, u64::from(doc.0));
        match sealed.first() {
            Some(&VERSION) => Self::decode_record(unseal(sealed, table, key)?),
            Some(&WIDE) => decode::<WideRecord<_, _>>(sealed, table, key)
                .map(|record| record.into_record(TextHash::Blake3)),
            Some(&WITH_XXH3) => decode::<WideRecord<_, _>>(sealed, table, key)
                .map(|record| record.into_record(TextHash::Xxh3)),
            _ => unseal(sealed, table, key).and(Err("its version is unknown")),
        }
    }

    fn decode_record(record: &[u8]) -> Result<Self, DecodeError> {
        let mut numbers = NumberReader(record);
        numbers.u8()?;
        let text_length = numbers.varint()?;
        let inserted = from_zigzag(numbers.varint()?);
        let text_hash = TextHash::Blake3(numbers.take()?);
        let id = std::str::from_utf8(numbers.0).map_err(|_| "its id is not UTF-8")?;
        Ok(Self { id: id.to_owned(), text_hash, text_length, inserted })
    }
}

/// Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ..., so that numbers near 0 have few digits.
const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

const fn from_zigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Appends a signature row to these bytes: the lanes, the packed set size, the checksum.
pub(crate) fn append_signature(bytes: &mut Vec<u8>, signature: &Signature, doc: DocNo) {
    let start = bytes.len();
    signature.append_to(bytes);
    seal_from(bytes, start, Table::Signatures, u64::from(doc.0));
}

/// Encodes a signature row.
#[cfg(any(test, fuzzing))]
pub(crate) fn encode_signature(signature: &Signature, doc: DocNo) -> Vec<u8> {
    let mut row = Vec::new();
    append_signature(&mut row, signature, doc);
    row
}

/// Decodes a signature row as its lanes and its set size.
pub(crate) fn decode_signature(
    sealed: &[u8],
    doc: DocNo,
    lanes: usize,
) -> Result<(&[u8], SetSize), DecodeError> {
    let row = unseal(sealed, Table::Signatures, u64::from(doc.0))?;
    let (row, size) = row.split_last_chunk::<4>().ok_or("cut short")?;
    let size = SetSize::unpack(u32::from_le_bytes(*size)).ok_or("its set size is out of range")?;
    if row.len() == lanes {
        Ok((row, size))
    } else {
        Err("its number of lanes is not that of the index")
    }
}

/// A run row, which lists one band of one run (`docs/format.md`, section "Run row").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunRow {
    pub(crate) tier: u8,
    /// The run covers the documents from `first` to `last`.
    pub(crate) first: DocNo,
    pub(crate) last: DocNo,
    pub(crate) entries: u64,
    pub(crate) chunks: u32,
}

impl RunRow {
    pub(crate) fn encode(&self, run: RunNo, band: BandNo) -> Vec<u8> {
        let mut row = vec![self.tier];
        row.extend_from_slice(&self.first.0.to_le_bytes());
        row.extend_from_slice(&self.last.0.to_le_bytes());
        row.extend_from_slice(&self.entries.to_le_bytes());
        row.extend_from_slice(&self.chunks.to_le_bytes());
        seal(row, Table::Runs, run_row_key(run, band))
    }

    pub(crate) fn decode(sealed: &[u8], run: RunNo, band: BandNo) -> Result<Self, DecodeError> {
        let mut numbers = NumberReader(unseal(sealed, Table::Runs, run_row_key(run, band))?);
        let row = Self {
            tier: numbers.u8()?,
            first: DocNo(numbers.u32()?),
            last: DocNo(numbers.u32()?),
            entries: numbers.u64()?,
            chunks: numbers.u32()?,
        };
        numbers.end()?;
        if row.first > row.last {
            return Err("its first document is after its last");
        }
        // Filters allocate memory by the number of entries, so a number that the chunks cannot
        // hold is rejected.
        let capacity = u64::from(row.chunks) * MAX_ENTRIES;
        if row.chunks > MAX_CHUNKS || !(u64::from(row.chunks)..=capacity).contains(&row.entries) {
            return Err("its entries do not fit its chunks");
        }
        Ok(row)
    }
}

/// Encodes a fence row: the fence of each chunk of a band of a run.
pub(crate) fn encode_fences(fences: &[u32], run: RunNo, band: BandNo) -> Vec<u8> {
    let row = fences.iter().flat_map(|fence| fence.to_le_bytes()).collect();
    seal(row, Table::Fences, run_row_key(run, band))
}

pub(crate) fn decode_fences(
    sealed: &[u8],
    run: RunNo,
    band: BandNo,
) -> Result<Vec<u32>, DecodeError> {
    let row = unseal(sealed, Table::Fences, run_row_key(run, band))?;
    let (fences, rest) = row.as_chunks::<4>();
    if rest.is_empty() {
        Ok(fences.iter().map(|fence| u32::from_le_bytes(*fence)).collect())
    } else {
        Err("cut short")
    }
}

/// The counters of an index, stored in the state row (`docs/format.md`, section "State row").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// The number of this commit.
    pub(crate) commit: u64,
    /// Live documents.
    pub(crate) documents: u64,
    /// Automatic ids assigned so far.
    pub(crate) auto_ids: u64,
    /// The number of the next document.
    pub(crate) next_doc: u64,
    /// Documents below this number are in runs, the others in the tail.
    pub(crate) flushed_upto: u64,
    /// The number of the next run.
    pub(crate) next_run: u32,
}

impl Counters {
    /// Takes the next run number. Returns `None` if all are used up.
    pub(crate) fn take_run(&mut self) -> Option<RunNo> {
        let number = RunNo(self.next_run);
        self.next_run = self.next_run.checked_add(1)?;
        Some(number)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut row = Vec::with_capacity(48);
        for number in [self.commit, self.documents, self.auto_ids, self.next_doc, self.flushed_upto]
        {
            row.extend_from_slice(&number.to_le_bytes());
        }
        row.extend_from_slice(&self.next_run.to_le_bytes());
        seal(row, Table::Meta, 0)
    }

    pub(crate) fn decode(sealed: &[u8]) -> Result<Self, DecodeError> {
        let mut numbers = NumberReader(unseal(sealed, Table::Meta, 0)?);
        let counters = Self {
            commit: numbers.u64()?,
            documents: numbers.u64()?,
            auto_ids: numbers.u64()?,
            next_doc: numbers.u64()?,
            flushed_upto: numbers.u64()?,
            next_run: numbers.u32()?,
        };
        numbers.end()?;
        let limit = 1 << 32;
        if counters.flushed_upto > counters.next_doc || counters.next_doc > limit {
            return Err("its document numbers are out of order");
        }
        if counters.documents > counters.next_doc {
            return Err("it has more documents than numbers");
        }
        Ok(counters)
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
