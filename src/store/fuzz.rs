//! Any bytes as any stored row: no panic, and what is read is written as it was.

use super::chunk::{Chunk, ChunkBuilder};
use super::codec::{Fault, seal};
use super::dead::DeadSet;
use super::load::format_version;
use super::record::{
    Counters, DocumentRecord, RunRow, decode_fences, decode_signature, encode_fences,
    encode_signature,
};
use super::schema::{DocNo, MAGIC, Table, posting_owner, run_place};
use super::settings::StoredSettings;
use crate::sketch::Signature;

/// Reads a row of the kind that the first byte names, under the key of the next eight; as it is,
/// and under a checksum that is right.
pub fn records(input: &[u8]) {
    let Some((&[kind, ref key @ ..], content)) = input.split_first_chunk::<9>() else { return };
    let key = u64::from_le_bytes(*key);
    let (doc, piece) = (DocNo(key as u32), key as u16);
    let (run, band) = posting_owner(key);
    let number = u64::from(doc.0);
    match kind % 9 {
        0 => written_as_read(content, Table::Meta, 0, |row| Ok(Counters::decode(row)?.encode())),
        1 => written_as_read(content, Table::Meta, 1, settings),
        2 => written_as_read(content, Table::Signatures, number, |row| {
            let (lanes, size) = decode_signature(row, doc, 64 << (key >> 62))?;
            Ok(encode_signature(&Signature::new(lanes.into(), size), doc))
        }),
        3 => written_as_read(content, Table::Documents, number, |row| {
            DocumentRecord::decode(row, doc)?.encode(doc)
        }),
        4 => written_as_read(content, Table::Runs, run_place(run, band), |row| {
            Ok(RunRow::decode(row, run, band)?.encode(run, band))
        }),
        5 => written_as_read(content, Table::Fences, run_place(run, band), |row| {
            Ok(encode_fences(&decode_fences(row, run, band)?, run, band))
        }),
        6 => chunk(content, key),
        7 => dead(content, piece),
        _ => {
            if let Some(version) = format_version(content) {
                assert_eq!([&MAGIC[..], &version.to_le_bytes()].concat(), content);
            }
        }
    }
}

/// A value has one row: what `read` makes of a row and writes again is the same bytes.
fn written_as_read(
    content: &[u8],
    table: Table,
    key: u64,
    read: impl Fn(&[u8]) -> Result<Vec<u8>, Fault>,
) {
    for row in [content.to_vec(), seal(content.to_vec(), table, key)] {
        if let Ok(written) = read(&row) {
            assert_eq!(written, row);
        }
    }
}

fn settings(row: &[u8]) -> Result<Vec<u8>, Fault> {
    let stored = StoredSettings::decode(row)?;
    assert_eq!(stored.encode()?, row);
    let settings = stored.settings()?;
    assert!(settings.sketcher().is_ok());
    StoredSettings::new(&settings, stored.id_key, stored.created).encode()
}

/// Entries have many chunks, of which the builder writes the least.
fn chunk(content: &[u8], key: u64) {
    let sealed = seal(content.to_vec(), Table::Postings, key);
    for row in [content, &sealed] {
        let Ok(chunk) = Chunk::open(row, key) else { continue };
        let entries: Vec<_> = chunk.entries().collect();
        assert_eq!(entries.len(), chunk.len());
        if !entries.is_sorted() {
            // For `check` to say; searching must end nevertheless.
            assert!(entries.iter().all(|(word, _)| chunk.lower_bound(*word) <= chunk.len()));
            continue;
        }
        let mut builder = ChunkBuilder::default();
        for &(word, doc) in &entries {
            assert_eq!(chunk.lower_bound(word), entries.partition_point(|other| other.0 < word));
            builder.push(word, doc);
        }
        let least = builder.finish().map(|packed| packed.seal(key)).unwrap_or_default();
        assert!(least.len() <= row.len(), "{} bytes instead of {}", least.len(), row.len());
        let again = Chunk::open(&least, key).map(|chunk| chunk.entries().collect());
        assert_eq!(again, Ok(entries));
    }
}

/// Numbers have several rows in the format of Roaring bitmaps, of which one is written.
fn dead(content: &[u8], piece: u16) {
    let sealed = seal(content.to_vec(), Table::Dead, u64::from(piece));
    for row in [content, &sealed] {
        let mut dead = DeadSet::default();
        if dead.add_row(piece, row).is_err() {
            assert!(dead.is_empty());
            continue;
        }
        let numbers: Vec<DocNo> = dead.iter().collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "out of order");
        assert_eq!(dead.len(), numbers.len() as u64);
        assert!(numbers.iter().all(|doc| (doc.0 >> 16) as u16 == piece && dead.contains(*doc)));
        let mut again = DeadSet::default();
        for (piece, row) in dead.changed_rows(&again) {
            assert_eq!(again.add_row(piece, &row.unwrap_or_default()), Ok(()));
        }
        assert!(again.iter().eq(numbers.iter().copied()), "written as other numbers");
        let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else {
            panic!("a row without a number");
        };
        if first < last {
            again.forget(&dead, first, DocNo(last.0 - 1));
        }
        assert!(again.iter().eq([last]), "one is left");
    }
}
