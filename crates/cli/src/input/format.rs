//! The formats of inputs, and how they are recognized by name and content.

use super::compression;
use super::foreign;
use super::json;
use super::record::BYTE_ORDER_MARK;
use memchr::memchr;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::Path;

/// The format of inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Recognized by name and content.
    #[default]
    Auto,
    /// Each file is one text.
    Text,
    /// Each line is one text.
    Lines,
    /// Each line is one JSON object.
    JsonLines,
    /// A table with commas, whose first record names the columns.
    Csv,
    /// A table with tabs, whose first record names the columns.
    Tsv,
    /// Each line is an id, a tab, and the elements of a set.
    Tokens,
    /// Each file is FASTA and one text.
    Fasta,
    /// Each record of FASTA is one text.
    FastaRecords,
    /// Each row of a Parquet file.
    Parquet,
    /// Each row of an Arrow IPC file or stream.
    Arrow,
    /// Each record of WARC that holds a text.
    Warc,
}

impl Format {
    /// Whether records have named fields, of which one is the id.
    pub(super) const fn has_fields(self) -> bool {
        matches!(self, Self::JsonLines | Self::Csv | Self::Tsv | Self::Warc) || self.is_columns()
    }

    /// Whether it is a table by columns.
    pub const fn is_columns(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Whether its texts are always UTF-8, or say themselves what they are.
    pub(super) const fn names_its_encoding(self) -> bool {
        self.is_columns() || matches!(self, Self::Warc)
    }

    /// Whether a file holds records instead of being one text.
    pub(super) const fn is_data(self) -> bool {
        !matches!(self, Self::Text | Self::Fasta)
    }
}

/// The format by the extension of a path, without an extension of compressed files.
/// [`Format::Auto`] if the extension tells nothing.
pub(super) fn by_name(path: &Path) -> Format {
    match extension(path).as_ref().map(|extension| extension.to_str()) {
        Some(Some("jsonl" | "ndjson")) => Format::JsonLines,
        Some(Some("csv")) => Format::Csv,
        Some(Some("tsv")) => Format::Tsv,
        Some(Some("parquet" | "pq")) => Format::Parquet,
        Some(Some("arrow" | "arrows" | "feather" | "ipc")) => Format::Arrow,
        Some(Some("warc" | "wet")) => Format::Warc,
        Some(Some("fa" | "fasta" | "fna" | "ffn" | "frn")) => Format::Fasta,
        None | Some(Some("json")) => Format::Auto,
        Some(_) => Format::Text,
    }
}

/// The same for a file that was found in a directory: one without an extension is a text.
pub(super) fn by_name_in_directory(path: &Path) -> Format {
    if extension(path).is_some() { by_name(path) } else { Format::Text }
}

/// The extension in lower case, without that of a compressed file.
fn extension(path: &Path) -> Option<OsString> {
    let stem = path.file_stem().map(Path::new).filter(|_| compression::is_named(path));
    stem.unwrap_or(path).extension().map(OsStr::to_ascii_lowercase)
}

/// Refuses an input that holds records which are not read. The bytes that were read stay in
/// `start`.
pub(super) fn refuse_data(
    input: &mut impl Read,
    start: &mut Vec<u8>,
    most: usize,
) -> io::Result<()> {
    let Some((first, _)) = first_place(input, start, most)? else { return Ok(()) };
    while foreign::may_be_data(&start[first..]) && start.len() <= most && read_more(input, start)? {
    }
    foreign::refuse_data(&start[first..])
}

/// Whether the first line of an input is a complete JSON object, so that it holds JSON Lines. The
/// bytes that were read stay in `start`: about `most`, the most bytes of a record, or fewer.
pub(super) fn begins_with_an_object(
    input: &mut impl Read,
    start: &mut Vec<u8>,
    most: usize,
) -> io::Result<bool> {
    let Some((first, b'{')) = first_place(input, start, most)? else { return Ok(false) };
    let mut searched = first;
    loop {
        if let Some(end) = memchr(b'\n', &start[searched..]) {
            return Ok(json::is_object(&start[first..searched + end]));
        }
        if start.len() > most {
            return Ok(false);
        }
        searched = start.len();
        if !read_more(input, start)? {
            return Ok(json::is_object(&start[first..]));
        }
    }
}

/// Whether the first line of an input is a complete JSON object, and another one seems to follow.
/// The bytes that were read stay in `start`.
pub(super) fn begins_with_objects(
    input: &mut impl Read,
    start: &mut Vec<u8>,
    most: usize,
) -> io::Result<bool> {
    if !begins_with_an_object(input, start, most)? {
        return Ok(false);
    }
    let first = memchr(b'{', start).unwrap_or(start.len());
    let Some(length) = memchr(b'\n', &start[first..]) else { return Ok(false) };
    let next = first + length + 1;
    Ok((next < start.len() || read_more(input, start)?) && start[next] == b'{')
}

/// Reads up to the first byte that is neither white space nor a byte order mark, and returns it if
/// it comes within the most bytes of a record. The bytes that were read stay in `start`.
pub(super) fn first_character(
    input: &mut impl Read,
    start: &mut Vec<u8>,
    most: usize,
) -> io::Result<Option<u8>> {
    Ok(first_place(input, start, most)?.map(|(_, first)| first))
}

/// The place and the value of the byte that [`first_character`] returns.
fn first_place(
    input: &mut impl Read,
    start: &mut Vec<u8>,
    most: usize,
) -> io::Result<Option<(usize, u8)>> {
    while start.len() < BYTE_ORDER_MARK.len()
        && BYTE_ORDER_MARK.starts_with(start)
        && read_more(input, start)?
    {}
    let mut searched = if start.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    loop {
        let rest = start.iter().copied().enumerate().skip(searched);
        let first = rest.into_iter().find(|(_, byte)| !byte.is_ascii_whitespace());
        searched = start.len();
        if first.is_some() || start.len() > most || !read_more(input, start)? {
            return Ok(first);
        }
    }
}

/// Appends a piece; returns whether there was one.
fn read_more(input: &mut impl Read, start: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0; 8 << 10];
    loop {
        match input.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(read) => {
                start.extend_from_slice(&buffer[..read]);
                return Ok(read > 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_file_holds() {
        for (name, format) in [
            ("a.jsonl", Format::JsonLines),
            ("d.x/a.NDJSON.gz", Format::JsonLines),
            ("a.csv", Format::Csv),
            ("a.csv.gz", Format::Csv),
            ("a.tsv.zst", Format::Tsv),
            ("a.json", Format::Auto),
            ("a.json.zstd", Format::Auto),
            ("README", Format::Auto),
            ("/dev/fd/63", Format::Auto),
            ("dump.gz", Format::Auto),
            ("a.txt", Format::Text),
            ("a.txt.gz", Format::Text),
            ("a.csv.old", Format::Text),
            ("a.fa", Format::Fasta),
            ("genome.FASTA.gz", Format::Fasta),
            ("a.fna.zst", Format::Fasta),
            ("a.faa", Format::Text),
            ("train-00000-of-00010.parquet", Format::Parquet),
            ("a.PQ.gz", Format::Parquet),
            ("a.arrow", Format::Arrow),
            ("a.feather.zst", Format::Arrow),
            ("CC-MAIN-2026.warc.wet.gz", Format::Warc),
            ("a.warc", Format::Warc),
        ] {
            assert_eq!(by_name(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn the_first_character_is_that_behind_a_byte_order_mark() {
        for (text, first) in [
            ("\u{feff}>a", Some(b'>')),
            ("\u{feff} \n{", Some(b'{')),
            (" \u{feff}{", Some(0xEF)),
            ("\u{fefe}{", Some(0xEF)),
            ("\u{feff}", None),
            ("\n", None),
        ] {
            // One byte at a time, as from a slow pipe.
            let bytes = text.as_bytes().chunks(1);
            let mut input: Box<dyn Read> =
                bytes.fold(Box::new(io::empty()), |before, byte| Box::new(before.chain(byte)));
            let found = first_character(&mut input, &mut Vec::new(), 100);
            assert_eq!(found.expect("memory can be read"), first, "{text:?}");
        }
    }

    #[test]
    fn the_first_line_says_whether_it_is_json_lines() {
        let long = format!("{{\"text\":\"{}\"}}", "x".repeat(5_000));
        for (text, is) in [
            ("{\"a\":1}\nmore", true),
            (" \n\n{\"a\":1}", true),
            ("\u{feff}{\"a\":1}\nmore", true),
            ("\u{feff}\r\n{\"a\":1}", true),
            ("\u{feff}{\n\"a\":1}\n", false),
            ("\n\u{feff}{\"a\":1}\n", false),
            ("\u{feff}\u{feff}{\"a\":1}\n", false),
            ("\u{feff}", false),
            ("{\n\"a\":1}\n", false),
            ("{ text }\n", false),
            ("text {}", false),
            ("", false),
            (&long, true),
            (&long[1..], false),
        ] {
            let mut start = Vec::new();
            let mut rest = text.as_bytes();
            let found = begins_with_an_object(&mut rest, &mut start, 10_000);
            assert_eq!(found.expect("memory can be read"), is, "{text}");
            assert_eq!([&start, rest].concat(), text.as_bytes());
        }
        let mut start = Vec::new();
        let found = begins_with_an_object(&mut io::repeat(b'{'), &mut start, 100_000);
        assert!(!found.expect("memory can be read") && start.len() < 300_000);
    }
}
