//! Tests every row against the bytes of `docs/format.md`, and damaged rows against errors.
#![expect(clippy::indexing_slicing, reason = "a failing test may panic")]

use super::*;
use crate::hash::TextHash;
use crate::store::bytes::chunk::{Chunk, ChunkBuilder};
use crate::store::bytes::settings_row::StoredSettings;
use crate::store::runs::tombstones::Tombstones;
use crate::store::settings::{SeedRequest, Settings, SettingsRequest};
use crate::text::{Form, Normalization, Shingle, UnicodeVersions, Whitespace};
use std::fmt::Debug;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A row with changed bytes and a valid checksum.
fn resealed(mut bytes: Vec<u8>, table: Table, key: u64, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    bytes.truncate(bytes.len() - 4);
    change(&mut bytes);
    seal(bytes, table, key)
}

/// Checks that a row that is shorter or one byte longer is an error, whether its checksum is valid
/// or not.
fn assert_other_lengths_fail<T: Debug>(
    row: &[u8],
    (table, key): (Table, u64),
    decode: impl Fn(&[u8]) -> Result<T, DecodeError>,
) {
    assert!(decode(row).is_ok());
    for length in 0..row.len() {
        assert!(decode(&row[..length]).is_err(), "{length} bytes of {}", row.len());
    }
    for length in 0..row.len() - 4 {
        let short = resealed(row.to_vec(), table, key, |bytes| bytes.truncate(length));
        assert!(decode(&short).is_err(), "{length} bytes and a valid checksum");
    }
    assert!(decode(&[row, &[0]].concat()).is_err());
    let long = resealed(row.to_vec(), table, key, |bytes| bytes.push(0));
    assert!(decode(&long).is_err(), "one byte more and a valid checksum");
}

const COUNTERS: Counters =
    Counters { commit: 5, documents: 3, auto_ids: 2, next_doc: 7, flushed_upto: 4, next_run: 9 };

#[test]
fn a_state_row_has_its_golden_bytes() {
    let row = COUNTERS.encode();
    assert_eq!(
        hex(&row),
        "0500000000000000030000000000000002000000000000000700000000000000\
         040000000000000009000000f47adbbd"
    );
    assert_eq!(Counters::decode(&row), Ok(COUNTERS));
    assert_other_lengths_fail(&row, (Table::Meta, 0), Counters::decode);
}

#[test]
fn a_state_row_with_inconsistent_counters_is_refused() {
    let unordered = Counters { flushed_upto: 8, ..COUNTERS };
    assert!(Counters::decode(&unordered.encode()).is_err());
    let full = Counters { next_doc: 1 << 32, flushed_upto: 1 << 32, ..COUNTERS };
    assert_eq!(Counters::decode(&full.encode()), Ok(full));
    let beyond = Counters { next_doc: (1 << 32) + 1, ..COUNTERS };
    assert!(Counters::decode(&beyond.encode()).is_err());
}

const RUN: RunNo = RunNo(9);
const BAND: BandNo = BandNo(16);

#[test]
fn a_run_row_has_its_golden_bytes() {
    let run = RunRow {
        tier: 2,
        first: DocNo(0x1_0000),
        last: DocNo(0x2_FFFF),
        entries: 131_000,
        chunks: 240,
    };
    let row = run.encode(RUN, BAND);
    assert_eq!(hex(&row), "0200000100ffff0200b8ff010000000000f00000002b336c38");
    let decode = |row: &[u8]| RunRow::decode(row, RUN, BAND);
    assert_eq!(decode(&row), Ok(run));
    assert_other_lengths_fail(&row, (Table::Runs, run_row_key(RUN, BAND)), decode);
    assert!(RunRow::decode(&row, RunNo(8), BAND).is_err(), "another run's");
    assert!(RunRow::decode(&row, RUN, BandNo(15)).is_err(), "another band's");
}

#[test]
fn a_fence_row_has_its_golden_bytes() {
    let fences = [0x0102_0304, 0xFFFF_FFFE];
    let row = encode_fences(&fences, RUN, BAND);
    assert_eq!(hex(&row), "04030201feffffff710a6e2b");
    assert_eq!(decode_fences(&row, RUN, BAND).as_deref(), Ok(&fences[..]));
    assert!(decode_fences(&row, RUN, BandNo(15)).is_err(), "another band's");
    for extra in 1..4 {
        let odd = resealed(row.clone(), Table::Fences, run_row_key(RUN, BAND), |bytes| {
            bytes.extend(std::iter::repeat_n(0, extra));
        });
        assert!(decode_fences(&odd, RUN, BAND).is_err(), "{extra} bytes more");
    }
    for length in 0..row.len() {
        assert!(decode_fences(&row[..length], RUN, BAND).is_err());
    }
}

#[test]
fn a_signature_row_has_its_golden_bytes() {
    let doc = DocNo(0x0102_0304);
    let size = SetSize::from_zeros(19, 65_500);
    let signature = Signature::new((0..64).collect(), size);
    let row = encode_signature(&signature, doc);
    assert_eq!(
        hex(&row),
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\
         202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f\
         dcff000c31a3572e"
    );
    let decode =
        |row: &[u8]| decode_signature(row, doc, 64).map(|(lanes, size)| (lanes.to_vec(), size));
    assert_eq!(decode(&row), Ok((signature.lanes().to_vec(), size)));
    assert_other_lengths_fail(&row, (Table::Signatures, 0x0102_0304), decode);
    assert!(decode_signature(&row, DocNo(1), 64).is_err(), "another document's");
    assert!(decode_signature(&row, doc, 128).is_err(), "another number of lanes");
}

#[test]
fn a_set_size_out_of_range_is_refused() {
    let doc = DocNo(1);
    let row = encode_signature(&Signature::new(vec![7; 64].into(), SetSize::EMPTY), doc);
    let with_size = |size: u32| {
        let row = resealed(row.clone(), Table::Signatures, 1, |bytes| {
            bytes.truncate(64);
            bytes.extend_from_slice(&size.to_le_bytes());
        });
        decode_signature(&row, doc, 64).map(|(_, size)| size)
    };
    assert_eq!(with_size(1 << 16), Ok(SetSize::EMPTY));
    assert!(with_size((1 << 16) + 1).is_err(), "more zeros than bits");
    assert!(with_size(8 << 26).is_ok(), "a full map of the largest size");
    assert!(with_size(9 << 26).is_err(), "a map beyond the largest size");
    assert!(with_size(u32::MAX).is_err());
}

fn document(text_hash: TextHash) -> DocumentRecord {
    let id = "naïve.txt".to_owned();
    DocumentRecord { id, text_hash, text_length: 4096, inserted: 1_700_000_000 }
}

const XXH3: TextHash = TextHash::Xxh3(0x1122_3344_5566_7788);
const BLAKE3: TextHash = TextHash::Blake3(*b"sixteen bytes...");

/// The record of version 2 of the document with [`BLAKE3`].
const WIDE: &str = "020a000000000000006e61c3af76652e7478747369787465656e2062797465732e2e2e001000\
     000000000000f153650000000053a85ac9";

#[test]
fn a_document_record_has_its_golden_bytes() {
    for (hash, golden) in [
        (BLAKE3, "03802080c49fd50c7369787465656e2062797465732e2e2e6e61c3af76652e74787440fa5e93"),
        (
            XXH3,
            "010a000000000000006e61c3af76652e747874887766554433221100100000000000\
             0000f15365000000009d0d632d",
        ),
    ] {
        let (record, doc) = (document(hash), DocNo(7));
        let row = record.encode(doc).unwrap();
        assert_eq!(hex(&row), golden);
        let decode = |row: &[u8]| DocumentRecord::decode(row, doc);
        assert_eq!(decode(&row), Ok(record.clone()));
        match hash {
            // The id is the rest of the row, so that a valid checksum makes any length valid.
            TextHash::Blake3(_) => {
                let lengths = 0..row.len();
                lengths.for_each(|length| assert!(decode(&row[..length]).is_err(), "{length}"));
                let rest = row.len() - record.id.len() - 4;
                for length in 0..rest {
                    let cut = |bytes: &mut Vec<u8>| bytes.truncate(length);
                    let short = resealed(row.clone(), Table::Documents, 7, cut);
                    assert!(decode(&short).is_err(), "{length} bytes and a valid checksum");
                }
            }
            TextHash::Xxh3(_) => assert_other_lengths_fail(&row, (Table::Documents, 7), decode),
        }
        assert!(DocumentRecord::decode(&row, DocNo(8)).is_err(), "another document's");
    }
}

#[test]
fn a_document_record_of_the_last_number_and_a_time_before_1970_has_its_golden_bytes() {
    let doc = DocNo(u32::MAX);
    let text_hash = TextHash::Xxh3(0);
    let record = DocumentRecord { id: "x".into(), text_hash, text_length: 0, inserted: -1 };
    let row = record.encode(doc).unwrap();
    assert_eq!(
        hex(&row),
        "0101000000000000007800000000000000000000000000000000ffffffffffffffff07242241"
    );
    assert_eq!(DocumentRecord::decode(&row, doc), Ok(record));
}

#[test]
fn a_document_record_of_version_2_is_read() {
    let bytes: Vec<u8> = (0..WIDE.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&WIDE[at..at + 2], 16).unwrap())
        .collect();
    let decode = |row: &[u8]| DocumentRecord::decode(row, DocNo(7));
    assert_eq!(decode(&bytes), Ok(document(BLAKE3)));
    assert_other_lengths_fail(&bytes, (Table::Documents, 7), decode);
}

#[test]
fn all_numbers_are_stored_and_read() {
    let numbers = [0, 1, 63, 64, 127, 128, 16_383, 16_384, 1_700_000_000, u64::MAX / 2, u64::MAX];
    for text_length in numbers {
        for inserted in numbers.map(|number| number as i64).into_iter().flat_map(|n| [n, !n]) {
            let record = DocumentRecord { text_length, inserted, ..document(BLAKE3) };
            let row = record.encode(DocNo(7)).unwrap();
            assert_eq!(DocumentRecord::decode(&row, DocNo(7)), Ok(record));
        }
    }
    let record = DocumentRecord { id: "0123456789abcdef".into(), ..document(BLAKE3) };
    assert_eq!(record.encode(DocNo(7)).unwrap().len(), 44, "an id of 16 bytes, a text of 4 KiB");
}

#[test]
fn the_longest_id_is_stored_and_read() {
    let id = "é".repeat(crate::MAX_ID_BYTES / 2);
    let record = DocumentRecord { id, text_hash: BLAKE3, text_length: 2, inserted: 3 };
    let row = record.encode(DocNo(0)).unwrap();
    assert_eq!(row.len(), 23 + crate::MAX_ID_BYTES);
    assert_eq!(DocumentRecord::decode(&row, DocNo(0)), Ok(record));
}

#[test]
fn a_document_record_with_invalid_fields_is_refused() {
    let row = document(XXH3).encode(DocNo(7)).unwrap();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        DocumentRecord::decode(&resealed(row.clone(), Table::Documents, 7, change), DocNo(7))
    };
    assert!(with(&|_| ()).is_ok());
    assert!(with(&|bytes| bytes[0] = 0).is_err(), "version 0");
    assert!(with(&|bytes| bytes[0] = 2).is_err(), "a version with a longer hash");
    assert!(with(&|bytes| bytes[0] = 4).is_err(), "a later version");
    assert!(with(&|bytes| bytes[1] = 11).is_err(), "an id that takes a byte of the hash");
    assert!(with(&|bytes| bytes[8] = 0xFF).is_err(), "an id longer than memory");
    assert!(with(&|bytes| bytes[11] = 0xFF).is_err(), "an id that is not UTF-8");

    let row = document(BLAKE3).encode(DocNo(7)).unwrap();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        DocumentRecord::decode(&resealed(row.clone(), Table::Documents, 7, change), DocNo(7))
    };
    assert!(with(&|_| ()).is_ok());
    assert!(with(&|bytes| bytes[1..11].fill(0xFF)).is_err(), "a length without an end");
    assert!(with(&|bytes| *bytes.last_mut().unwrap() = 0xFF).is_err(), "an id that is not UTF-8");
}

/// The default settings, with the Unicode versions of the golden bytes.
fn settings(request: &SettingsRequest) -> Settings {
    let unicode =
        UnicodeVersions { case: (17, 0, 0), normalization: (16, 1, 0), segmentation: (15, 0, 1) };
    Settings { unicode, ..request.resolve().unwrap() }
}

fn every_setting() -> SettingsRequest {
    SettingsRequest {
        threshold: Some(0.5),
        recall: Some(0.9),
        lanes: Some(512),
        shingle: Some(Shingle::lines(300)),
        normalization: Some(Normalization {
            lower: false,
            form: Form::Nfkc,
            whitespace: Whitespace::Drop,
            min_word: 3,
        }),
        multiset: Some(true),
        weighted: Some(false),
        store_text: Some(true),
        passages: None,
        seed: Some(SeedRequest::Fixed(0xFEDC_BA98_7654_3210)),
        unicode: None,
    }
}

#[test]
fn a_settings_row_has_its_golden_bytes() {
    let settings = settings(&SettingsRequest::default());
    let stored = StoredSettings::new(&settings, 0x0123_4567_89AB_CDEF, 1_700_000_000);
    let row = stored.encode().unwrap();
    assert_eq!(
        hex(&row),
        "01009a9999999999e93fae47e17a14aeef3f0001000900010101000000000000\
         00000000000010061100001001000f0001efcdab896745230100f15365000000\
         006e4ce6df"
    );
    assert_eq!(StoredSettings::decode(&row), Ok(stored.clone()));
    assert_eq!(stored.settings(), Ok(settings));
    assert_other_lengths_fail(&row, (Table::Meta, 1), StoredSettings::decode);
}

#[test]
fn a_settings_row_without_a_default_has_its_golden_bytes() {
    let settings = settings(&every_setting());
    let stored = StoredSettings::new(&settings, 0, -1);
    let row = stored.encode().unwrap();
    assert_eq!(
        hex(&row),
        "0100000000000000e03fcdccccccccccec3f0002022c01000202030001011032\
         547698badcfe24041100001001000f00010000000000000000ffffffffffffff\
         ff9c4d821e"
    );
    assert_eq!(StoredSettings::decode(&row).unwrap().settings(), Ok(settings));
}

#[test]
fn a_settings_row_with_invalid_fields_is_refused() {
    let stored = StoredSettings::new(&settings(&SettingsRequest::default()), 1, 2);
    let row = stored.encode().unwrap();
    let with = |at: usize, field: &[u8]| {
        let row = resealed(row.clone(), Table::Meta, 1, |bytes| {
            bytes[at..at + field.len()].copy_from_slice(field);
        });
        StoredSettings::decode(&row).and_then(|stored| stored.settings())
    };
    assert!(with(0, &[1, 0]).is_ok());
    let number = |number: f64| number.to_le_bytes();
    for (at, field, what) in [
        (0, &[0, 0][..], "version 0"),
        (0, &[2, 0], "a later version"),
        (2, &number(0.0), "threshold 0"),
        (2, &number(1.1), "threshold above 1"),
        (2, &number(f64::NAN), "no threshold"),
        (10, &number(0.0), "recall 0"),
        (10, &number(1.0), "recall 1"),
        (18, &[100, 0], "100 lanes"),
        (18, &[0, 4], "1024 lanes"),
        (20, &[5], "an unknown kind of shingle"),
        (20, &[4], "k-mers that are normalised"),
        (20, &[4, 33, 0, 0, 0, 0], "k-mers of 33 letters"),
        (20, &[3], "tokens with a width"),
        (21, &[0, 0], "width 0"),
        (21, &[0xE9, 3], "width 1001"),
        (23, &[2], "neither lower nor not"),
        (24, &[3], "an unknown form"),
        (25, &[3], "an unknown rule for white space"),
        (28, &[3], "an unknown kind"),
        (28, &[2], "weights of characters"),
        (29, &[2], "neither stored texts nor none"),
        (38, &[0], "no band"),
        (38, &[33], "more bands than lanes hold"),
        (39, &[1], "depth 1"),
        (39, &[7], "depth 7"),
    ] {
        assert!(with(at, field).is_err(), "{what}");
    }
    for (at, field) in [
        (20, &[3, 0, 0][..]),
        (20, &[4, 32, 0, 0, 0, 0]),
        (21, &[0xE8, 3]),
        (23, &[0]),
        (38, &[32]),
        (39, &[2]),
    ] {
        assert!(with(at, field).is_ok(), "{field:?} at {at}");
    }
}

fn sealed_chunk(entries: &[(u64, u32)], key: u64) -> Vec<u8> {
    let mut builder = ChunkBuilder::default();
    for (word, doc) in entries {
        assert!(!builder.is_full(*word, DocNo(*doc)));
        builder.push(*word, DocNo(*doc));
    }
    builder.finish().unwrap().seal(key)
}

#[test]
fn chunks_have_their_golden_bytes() {
    let narrow = [(10, 7), (11, 5), (13, 6)];
    let row = sealed_chunk(&narrow, 99);
    assert_eq!(hex(&row), "03000202050000000a000000000000003412c6fdcd5e");
    let wide =
        [(0x0102_0304_0506_0708, u32::MAX), (0x0102_0304_0506_0709, 3), (0xF102_0304_0506_0708, 3)];
    let row = sealed_chunk(&wide, 5);
    assert_eq!(
        hex(&row),
        "030040200300000008070605040302010000000000000000010000000000000000000000\
         000000f0fcffffff00000000000000000f6331f5"
    );
    let back: Vec<_> = Chunk::open(&row, 5).unwrap().entries().collect();
    assert_eq!(back, wide.map(|(word, doc)| (word, DocNo(doc))));
}

#[test]
fn a_chunk_with_an_invalid_header_is_refused() {
    let row = sealed_chunk(&[(10, 7), (11, 5), (13, 6)], 99);
    let with = |at: usize, value: u8| {
        let row = resealed(row.clone(), Table::Postings, 99, |bytes| bytes[at] = value);
        Chunk::open(&row, 99).map(|chunk| chunk.len())
    };
    assert_eq!(with(0, 3), Ok(3));
    assert!(with(0, 0).is_err(), "no entry");
    assert!(with(0, 9).is_err(), "more entries than there are bytes");
    assert!(with(1, 1).is_err(), "256 entries more");
    assert!(with(2, 65).is_err(), "words of 65 bits");
    assert!(with(3, 33).is_err(), "documents of 33 bits");
}

#[test]
fn a_dead_row_has_its_golden_bytes() {
    let mut tombstones = Tombstones::default();
    tombstones.insert(DocNo(0x1_0000));
    tombstones.insert(DocNo(0x1_1234));
    let rows = tombstones.changed_rows(&Tombstones::default());
    let [(1, Some(row))] = &rows[..] else { panic!("one row of piece 1, not {rows:?}") };
    assert_eq!(hex(row), "3a30000001000000010001001000000000003412be2e855f");
    let mut back = Tombstones::default();
    back.add_row(1, row).unwrap();
    assert_eq!(back.iter().collect::<Vec<_>>(), [DocNo(0x1_0000), DocNo(0x1_1234)]);
    for length in 0..row.len() {
        assert!(back.add_row(1, &row[..length]).is_err());
    }
    let content = row[..row.len() - 4].to_vec();
    assert!(back.add_row(2, row).is_err(), "another piece's");
    assert!(back.add_row(2, &seal(content, Table::Dead, 2)).is_err(), "numbers of another piece");
    let empty = vec![0x3A, 0x30, 0, 0, 0, 0, 0, 0];
    assert!(back.add_row(1, &seal(empty, Table::Dead, 1)).is_err(), "no tombstone");
}
