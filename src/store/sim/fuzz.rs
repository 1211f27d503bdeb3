//! Fuzzes stored rows: decoding any bytes does not panic, and encoding the result gives the same
//! bytes.

use crate::sketch::Signature;
use crate::store::bytes::chunk::{Chunk, ChunkBuilder};
use crate::store::bytes::codec::{DecodeError, seal};
use crate::store::bytes::fingerprints::{decode_fingerprints, encode_fingerprints};
use crate::store::bytes::record::{
    Counters, DocumentRecord, RunRow, decode_fences, decode_signature, encode_fences,
    encode_signature,
};
use crate::store::bytes::schema::{
    BandNo, DEAD, DOCUMENTS, DocNo, FENCES, MAGIC, META, POSTINGS, RUNS, RunNo, SETTINGS_ROW,
    SIGNATURES, Table, posting_owner, run_row_key,
};
use crate::store::bytes::settings_row::StoredSettings;
use crate::store::bytes::texts::{Dictionary, decode_text, encode_text};
use crate::store::load::version_of;
use crate::store::runs::tombstones::Tombstones;
use crate::store::sim::testing::{filled, insert};
use redb::{Key, ReadableTable, ReadableTableMetadata, TableDefinition, WriteTransaction};
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The number of kinds of rows that [`records`] decodes.
const KINDS: u8 = 11;

/// Decodes a row. The first byte of the input is the kind of row, the next eight are the key, and
/// the others are the row, which is decoded as it is and with a valid checksum.
pub fn records(input: &[u8]) {
    let Some((&[kind, ref key @ ..], content)) = input.split_first_chunk::<9>() else { return };
    let key = u64::from_le_bytes(*key);
    let (doc, piece) = (DocNo(key as u32), key as u16);
    let (run, band) = posting_owner(key);
    let number = u64::from(doc.0);
    match kind % KINDS {
        0 => assert_round_trip(content, Table::Meta, 0, |row| Ok(Counters::decode(row)?.encode())),
        1 => assert_round_trip(content, Table::Meta, 1, settings),
        2 => assert_round_trip(content, Table::Signatures, number, |row| {
            let (lanes, size) = decode_signature(row, doc, 64 << (key >> 62))?;
            Ok(encode_signature(&Signature::new(lanes.into(), size), doc))
        }),
        3 => assert_round_trip(content, Table::Documents, number, |row| {
            let record = DocumentRecord::decode(row, doc)?;
            let encoded = record.encode(doc)?;
            // A record of an older version becomes one of the newest.
            assert_eq!(DocumentRecord::decode(&encoded, doc)?, record);
            Ok(if row.first() == encoded.first() { encoded } else { row.to_vec() })
        }),
        4 => assert_round_trip(content, Table::Runs, run_row_key(run, band), |row| {
            Ok(RunRow::decode(row, run, band)?.encode(run, band))
        }),
        5 => assert_round_trip(content, Table::Fences, run_row_key(run, band), |row| {
            Ok(encode_fences(&decode_fences(row, run, band)?, run, band))
        }),
        6 => chunk(content, key),
        7 => tombstones(content, piece),
        8 => {
            if let Some(version) = version_of(content) {
                assert_eq!([&MAGIC[..], &version.to_le_bytes()].concat(), content);
            }
        }
        9 => {
            let _ = decode_fingerprints(content, doc);
            let row = seal(content.to_vec(), Table::Fingerprints, u64::from(doc.0));
            if let Ok(found) = decode_fingerprints(&row, doc) {
                assert_eq!(encode_fingerprints(&found, doc), row);
                assert!(found.words().len() <= content.len());
            }
        }
        _ => text(content, doc),
    }
}

/// Checks that decoding a row and encoding the result gives the same bytes: a value has one
/// encoding.
fn assert_round_trip(
    content: &[u8],
    table: Table,
    key: u64,
    decode_and_encode: impl Fn(&[u8]) -> Result<Vec<u8>, DecodeError>,
) {
    for row in [content.to_vec(), seal(content.to_vec(), table, key)] {
        if let Ok(encoded) = decode_and_encode(&row) {
            assert_eq!(encoded, row);
        }
    }
}

fn settings(row: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let stored = StoredSettings::decode(row)?;
    assert_eq!(stored.encode()?, row);
    let settings = stored.settings()?;
    assert!(settings.sketcher().is_ok());
    StoredSettings::new(&settings, stored.id_key, stored.created).encode()
}

/// A set of entries has several encodings as a chunk, so only the entries are compared.
fn chunk(content: &[u8], key: u64) {
    let sealed = seal(content.to_vec(), Table::Postings, key);
    for row in [content, &sealed] {
        let Ok(chunk) = Chunk::open(row, key) else { continue };
        let entries: Vec<_> = chunk.entries().collect();
        assert_eq!(entries.len(), chunk.len());
        if !entries.is_sorted() {
            // `check` reports this (invariant 10). A search must end all the same.
            assert!(entries.iter().all(|(word, _)| chunk.lower_bound(*word) <= chunk.len()));
            continue;
        }
        let mut builder = ChunkBuilder::default();
        for &(word, doc) in &entries {
            assert_eq!(chunk.lower_bound(word), entries.partition_point(|other| other.0 < word));
            builder.push(word, doc);
        }
        let again = builder.finish().map(|packed| packed.seal(key)).unwrap_or_default();
        let again = Chunk::open(&again, key).map(|chunk| chunk.entries().collect());
        assert_eq!(again, Ok(entries));
    }
}

/// A text has several encodings, with and without a dictionary, so only the text is compared.
fn text(content: &[u8], doc: DocNo) {
    static DICTIONARY: OnceLock<Option<Dictionary>> = OnceLock::new();
    let dictionary = DICTIONARY.get_or_init(|| {
        let texts: Vec<String> =
            (0..1000).map(|n| format!("a note about the number {n}")).collect();
        Dictionary::train(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    });
    for dictionary in [None, dictionary.as_ref()] {
        let _ = decode_text(content, doc, dictionary);
        let sealed = seal(content.to_vec(), Table::Texts, u64::from(doc.0));
        let Ok(text) = decode_text(&sealed, doc, dictionary) else { continue };
        let again = encode_text(&text, doc, dictionary);
        assert_eq!(decode_text(&again, doc, dictionary), Ok(text));
    }
}

/// A Roaring bitmap has several encodings, so only the tombstones are compared.
fn tombstones(content: &[u8], piece: u16) {
    let sealed = seal(content.to_vec(), Table::Dead, u64::from(piece));
    for row in [content, &sealed] {
        let mut decoded = Tombstones::default();
        if decoded.add_row(piece, row).is_err() {
            assert!(decoded.is_empty());
            continue;
        }
        let numbers: Vec<DocNo> = decoded.iter().collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "out of order");
        assert_eq!(decoded.len(), numbers.len() as u64);
        assert!(numbers.iter().all(|doc| (doc.0 >> 16) as u16 == piece && decoded.contains(*doc)));
        let mut again = Tombstones::default();
        for (piece, row) in decoded.changed_rows(&again) {
            assert_eq!(again.add_row(piece, &row.unwrap_or_default()), Ok(()));
        }
        assert!(again.iter().eq(numbers.iter().copied()), "encoded as other numbers");
        let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else {
            panic!("a row without a number");
        };
        if first < last {
            again.delete(&decoded, first, DocNo(last.0 - 1));
        }
        assert!(again.iter().eq([last]), "one is left");
    }
}

/// An index with damaged rows under valid checksums. The input describes the damage, six bytes a
/// change. The index has two runs of 50 documents, of which every fifth is removed, and ten
/// documents in the tail.
pub(crate) fn damaged(input: &[u8]) -> (TempDir, PathBuf) {
    static UNDAMAGED: OnceLock<Vec<u8>> = OnceLock::new();
    let undamaged = UNDAMAGED.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let engine = filled(&folder, 100);
        insert(&engine, 100..110);
        drop(engine);
        fs::read(folder.path().join("x.twx")).expect("a readable file")
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.twx");
    fs::write(&path, undamaged).expect("a copy");
    let database = redb::Database::open(&path).expect("opened");
    let txn = database.begin_write().expect("begun");
    for &[table, row, ref edit @ ..] in input.as_chunks::<6>().0 {
        let of_doc = |doc: u32| u64::from(doc);
        let of_run = |(run, band): (u32, u8)| run_row_key(RunNo(run), BandNo(band));
        match table % 7 {
            0 => change(&txn, META, Table::Meta, row, edit, |name| u64::from(name == SETTINGS_ROW)),
            1 => change(&txn, SIGNATURES, Table::Signatures, row, edit, of_doc),
            2 => change(&txn, DOCUMENTS, Table::Documents, row, edit, of_doc),
            3 => change(&txn, RUNS, Table::Runs, row, edit, of_run),
            4 => change(&txn, FENCES, Table::Fences, row, edit, of_run),
            5 => change(&txn, POSTINGS, Table::Postings, row, edit, |key| key),
            _ => change(&txn, DEAD, Table::Dead, row, edit, u64::from),
        }
    }
    txn.commit().expect("committed");
    drop(database);
    (folder, path)
}

/// Changes bytes of a row and renews its checksum, or deletes the row.
fn change<K: Key + 'static>(
    txn: &WriteTransaction,
    table: TableDefinition<'_, K, &'static [u8]>,
    tag: Table,
    row: u8,
    &[how, at, first, second]: &[u8; 4],
    checksum_key: impl Fn(K::SelfType<'_>) -> u64,
) {
    let mut table = txn.open_table(table).expect("a table");
    let rows = table.len().expect("counted").max(1);
    let (key, mut content) = {
        let mut all = table.iter().expect("readable");
        let Some(found) = all.nth((u64::from(row) % rows) as usize) else { return };
        let (key, row) = found.expect("readable");
        (K::as_bytes(&key.value()).as_ref().to_vec(), row.value().to_vec())
    };
    content.truncate(content.len().saturating_sub(4));
    let at = usize::from(at) % content.len().max(1);
    match how % 6 {
        0 => content.iter_mut().skip(at).take(1).for_each(|byte| *byte = first),
        1 => content.iter_mut().skip(at).zip([first, second]).for_each(|(byte, new)| *byte ^= new),
        // Greatest possible numbers.
        2 => content.iter_mut().skip(at).take(usize::from(first % 9)).for_each(|byte| *byte = 255),
        3 => content.truncate(at),
        4 => content.extend_from_slice(&[first, second]),
        _ => {
            table.remove(K::from_bytes(&key)).expect("removed");
            return;
        }
    }
    let sealed = seal(content, tag, checksum_key(K::from_bytes(&key)));
    table.insert(K::from_bytes(&key), &sealed[..]).expect("written");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_kind_of_row_has_an_input() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/records");
        let inputs = fs::read_dir(folder).expect("a folder").map(|input| {
            let input = fs::read(input.expect("an entry").path()).expect("a readable input");
            input.first().expect("a kind") % KINDS
        });
        assert_eq!(inputs.collect::<BTreeSet<u8>>(), (0..KINDS).collect());
    }
}
