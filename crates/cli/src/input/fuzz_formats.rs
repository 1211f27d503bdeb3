//! Fuzzing: any bytes in any format of records, read in pieces of any size.

use super::batch::Sharing;
use super::drip::Drip;
use super::format::Format;
use super::inputs::Inputs;
use super::json::Fields;
use super::record::{Body, RecordName};
use std::io::Cursor;
use std::sync::Once;

/// A record, or why it is bad, and where it was read.
type Taken = Result<(String, RecordName, Body<'static>), (String, String)>;

const FORMATS: [Format; 10] = [
    Format::JsonLines,
    Format::Csv,
    Format::Tsv,
    Format::Tokens,
    Format::Fasta,
    Format::FastaRecords,
    Format::Warc,
    Format::Arrow,
    Format::Parquet,
    Format::Auto,
];

/// Reads a stream. Three bytes before it choose the format and whether sets have weights, the bytes
/// of a read, and the most bytes of a record. However it comes in pieces, the records are the same.
pub fn formats(input: &[u8]) {
    static ONCE: Once = Once::new();
    ONCE.call_once(let_readers_panic);
    let Some((&[how, drip, longest], bytes)) = input.split_first_chunk() else { return };
    let format = FORMATS[usize::from(how) % FORMATS.len()];
    let weighted = usize::from(how) / FORMATS.len() % 2 == 1 && format == Format::JsonLines;
    let text = if weighted { "weights" } else { "text" };
    let inputs = Inputs {
        format,
        sequences: true,
        fields: Fields { id: Some("id".into()), text: text.into(), weighted },
        most: if longest == 0 { 1 << 20 } else { longest.into() },
        ..Inputs::default()
    };
    let whole = read(&inputs, bytes, usize::MAX);
    let pieces = read(&inputs, bytes, usize::from(drip) + 1);
    assert_same(&pieces, &whole);
    for (place, name, body) in whole.into_iter().flatten() {
        assert!(place.starts_with("stream"), "{place}");
        let text = body.text().map_or(0, str::len);
        assert!(text <= inputs.most.max(bytes.len()) || format.is_columns(), "{name:?}: {text}");
    }
}

/// Checks that both ways of reading gave the same records. What comes before the damage of a
/// compressed stream, and is then an error of its own, depends on how much is read at once.
fn assert_same(pieces: &[Taken], whole: &[Taken]) {
    let is_damage = |cause: &str| cause.starts_with("corrupt");
    if let (Some((Err(one), before)), Some((Err(other), earlier))) =
        (pieces.split_last(), whole.split_last())
        && one.0 == "stream"
        && other.0 == "stream"
        && (one == other || is_damage(&one.1) || is_damage(&other.1))
    {
        assert!(before.starts_with(earlier) || earlier.starts_with(before));
        return;
    }
    assert_eq!(pieces, whole);
}

/// Lets panics of the crates that read tables pass, which are caught and become errors: libFuzzer
/// would take them for a crash.
fn let_readers_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let file = info.location().map_or("", |location| location.file());
        if !["/arrow-", "/parquet-", "/flatbuffers-"].iter().any(|crates| file.contains(crates)) {
            before(info);
        }
    }));
}

/// All records of a stream that is read so many bytes at a time.
fn read(inputs: &Inputs, bytes: &[u8], size: usize) -> Vec<Taken> {
    let drip = Drip::interrupted(Cursor::new(bytes.to_vec()), size);
    let mut all = Vec::new();
    let mut open = match inputs.open_stream(Box::new(drip), "stream") {
        Ok(open) => open,
        Err(bad) => return vec![Err((bad.place, bad.cause))],
    };
    loop {
        let batch = match open.next() {
            Ok(Some(batch)) => batch,
            Ok(None) => return all,
            Err(bad) => {
                all.push(Err((bad.place, bad.cause)));
                return all;
            }
        };
        let records = batch.parse(Sharing::Batches, |record| {
            Ok((record.place, record.name, record.body.into_owned()))
        });
        all.extend(records.into_iter().map(|record| record.map_err(|bad| (bad.place, bad.cause))));
    }
}
