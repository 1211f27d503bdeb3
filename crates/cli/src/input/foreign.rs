//! Recognizes inputs that are no text by their first bytes: what they are, and what to do.

use super::format::Format;
use super::json;
use std::cmp::Ordering;
use std::io::{self, Read};

/// The number of first bytes that are looked at. The magic number of tar ends at byte 262.
const LOOKED_AT: usize = 512;

/// The least bytes that are taken for UTF-16: fewer may be a short text with a NUL.
const LEAST_UTF16: usize = 4;

/// A format that is not read: its first bytes, its name, and what to do.
struct Foreign {
    /// Where the magic number begins.
    at: usize,
    magic: &'static [u8],
    /// Whether a text may begin with the magic number, so that only other bytes decide.
    printable: bool,
    name: &'static str,
    advice: &'static str,
}

const fn foreign(magic: &'static [u8], name: &'static str, advice: &'static str) -> Foreign {
    Foreign { at: 0, magic, printable: false, name, advice }
}

/// A format whose magic number consists of letters.
const fn lettered(magic: &'static [u8], name: &'static str, advice: &'static str) -> Foreign {
    Foreign { printable: true, ..foreign(magic, name, advice) }
}

const CONVERT: &str = "convert it to JSON Lines or CSV first";
const UNPACK: &str = "unpack it and name the folder";
const UNPACK_ONCE: &str = "decompress it once: `gzip -dc FILE | twindex ... -`, or `zstd -dc`";
const EXTRACT: &str = "extract its text first";
const LEAVE_OUT: &str = "only texts can be read; leave it out";

/// All formats that are recognized by a magic number.
const FOREIGN: &[Foreign] = &[
    lettered(b"PARE", "encrypted Parquet", CONVERT),
    lettered(b"FEA1", "a Feather file of version 1", "write it again as version 2"),
    lettered(b"Obj\x01", "Avro", CONVERT),
    foreign(
        &twindex::FILE_MAGIC,
        "an index of twindex",
        "take its documents over with `twindex merge`",
    ),
    lettered(b"SQLite format 3\0", "a SQLite database", "export its texts as CSV first"),
    foreign(b"\x89HDF\r\n\x1a\n", "HDF5", CONVERT),
    foreign(b"\x93NUMPY", "a NumPy array", CONVERT),
    foreign(b"\x1F\x8B\x08", "compressed twice", UNPACK_ONCE),
    foreign(b"\x28\xB5\x2F\xFD", "compressed twice", UNPACK_ONCE),
    foreign(b"\xFD7zXZ\0", "compressed with xz", "decompress it: `xz -dc FILE | twindex ... -`"),
    lettered(b"BZh", "compressed with bzip2", "decompress it: `bzip2 -dc FILE | twindex ... -`"),
    foreign(
        b"\x04\x22\x4D\x18",
        "compressed with lz4",
        "decompress it: `lz4 -dc FILE | twindex ... -`",
    ),
    foreign(
        b"\x1F\x9D",
        "compressed with compress",
        "decompress it: `gzip -dc FILE | twindex ... -`",
    ),
    foreign(
        b"\xFF\x06\0\0sNaPpY",
        "compressed with snappy",
        "decompress it and give it by a pipe, as `-`",
    ),
    lettered(b"LZIP", "compressed with lzip", "decompress it: `lzip -dc FILE | twindex ... -`"),
    lettered(b"PK\x03\x04", "a zip archive (also .docx, .xlsx, .epub, .jar)", UNPACK),
    lettered(b"PK\x05\x06", "an empty zip archive", LEAVE_OUT),
    foreign(b"7z\xBC\xAF\x27\x1C", "a 7z archive", UNPACK),
    lettered(b"Rar!\x1A\x07", "a RAR archive", UNPACK),
    Foreign { at: 257, magic: b"ustar", printable: false, name: "a tar archive", advice: UNPACK },
    foreign(b"%PDF-", "PDF", "extract its text first, for instance with `pdftotext`"),
    foreign(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an old Office document", EXTRACT),
    foreign(b"\x89PNG\r\n\x1a\n", "a PNG image", LEAVE_OUT),
    foreign(b"\xFF\xD8\xFF", "a JPEG image", LEAVE_OUT),
    lettered(b"GIF87a", "a GIF image", LEAVE_OUT),
    lettered(b"GIF89a", "a GIF image", LEAVE_OUT),
    lettered(b"BM", "a BMP image", LEAVE_OUT),
    lettered(b"II*\0", "a TIFF image", LEAVE_OUT),
    lettered(b"MM\0*", "a TIFF image", LEAVE_OUT),
    lettered(b"RIFF", "a RIFF file (WebP, WAV or AVI)", LEAVE_OUT),
    lettered(b"ID3", "an MP3 file", LEAVE_OUT),
    lettered(b"OggS", "an Ogg file", LEAVE_OUT),
    lettered(b"fLaC", "a FLAC file", LEAVE_OUT),
    Foreign { at: 4, ..lettered(b"ftyp", "an MP4 file", LEAVE_OUT) },
    lettered(b"\x7FELF", "an ELF program", LEAVE_OUT),
    lettered(b"MZ", "a Windows program", LEAVE_OUT),
    lettered(b"\0asm", "a WebAssembly program", LEAVE_OUT),
    foreign(b"\xCA\xFE\xBA\xBE", "a Java class or a macOS program", LEAVE_OUT),
    foreign(b"\xCF\xFA\xED\xFE", "a macOS program", LEAVE_OUT),
];

/// The tables by columns, which are read: their first bytes, and their names.
const TABLES: [(&[u8], Format, &str); 2] =
    [(b"PAR1", Format::Parquet, "Parquet"), (b"ARROW1", Format::Arrow, "Arrow")];

/// The first bytes of a stream of Arrow. The length of its schema follows.
const ARROW_STREAM: [u8; 4] = [0xFF; 4];

/// The most bytes that such a schema may have.
const LONGEST_SCHEMA: i32 = 1 << 26;

/// The first bytes of an export, which is text.
const EXPORT: &[u8] = b"{\"twindex_export\":";

/// The first bytes of WARC, which is text. A digit and a point follow.
const WARC: &[u8] = b"WARC/";

/// Reads some first bytes and returns an error that names the format if they are those of a format
/// that is no text. The bytes that were read stay in `start`.
pub(super) fn refuse(input: &mut impl Read, start: &mut Vec<u8>) -> io::Result<()> {
    let found = look(input, start, false)?;
    check(Format::Text, found).map(|_| ())
}

/// Does the same for an input whose lines are no documents, which cannot be a table.
pub(super) fn refuse_for_lines(input: &mut impl Read, start: &mut Vec<u8>) -> io::Result<()> {
    let Some(table) = look(input, start, false)?.filter(|found| found.is_columns()) else {
        return Ok(());
    };
    let cause = format!(
        "is {}, and lines are read here; `list -o FILE.tsv` writes ids and `export -o FILE.jsonl` \
         an index as lines",
        name_of(table)
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, cause))
}

/// The name of a format of tables by columns.
fn name_of(table: Format) -> &'static str {
    TABLES.iter().find(|(_, format, _)| *format == table).map_or("", |(_, _, name)| *name)
}

/// The format of an input that is read as `format` and begins like `found`.
pub(super) fn check(format: Format, found: Option<Format>) -> io::Result<Format> {
    let cause = match (format, found) {
        (Format::Auto, Some(found)) => return Ok(found),
        // It may be a text about WARC.
        (format, Some(Format::Warc)) if !format.is_columns() => return Ok(format),
        (format, Some(found)) if format == found => return Ok(format),
        (format, _) if format.is_columns() => format!("is no {}", name_of(format)),
        (format, None) => return Ok(format),
        (_, Some(table)) => {
            let name = name_of(table);
            format!(
                "is {name} and read here as a text; `add`, `dedup`, `query` and others read its \
                 rows if its name ends in .{0}, or with --format {0}",
                name.to_lowercase()
            )
        }
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, cause))
}

/// Reads some first bytes and tells whether they are those of a table by columns or of WARC. They
/// stay in `start`. Returns an error that names the format if it is one that is not read; UTF-16 is
/// read if the input `is_encoded`.
///
/// Reads no more than is needed to tell: a stream that begins with a line of text is not waited for
/// beyond that line, unless the line begins like another format.
pub(super) fn look(
    input: &mut impl Read,
    start: &mut Vec<u8>,
    is_encoded: bool,
) -> io::Result<Option<Format>> {
    let mut buffer = [0; LOOKED_AT];
    while may_be_foreign(start) {
        let room = LOOKED_AT - start.len();
        match input.read(&mut buffer[..room]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(0) => break,
            Ok(read) => start.extend_from_slice(&buffer[..read]),
        }
    }
    let is = |(magic, ..): &&(&[u8], Format, &str)| start.starts_with(magic);
    if is_warc(start) {
        return Ok(Some(Format::Warc));
    }
    if is_arrow_stream(start) {
        return Ok(Some(Format::Arrow));
    }
    if let Some((_, table, _)) = TABLES.iter().find(is).filter(|_| !is_like_text(start)) {
        return Ok(Some(*table));
    }
    match recognized(start, is_encoded) {
        Some(cause) => Err(io::Error::new(io::ErrorKind::InvalidData, cause)),
        None => Ok(None),
    }
}

/// Whether these are the first bytes of an export.
pub(super) fn is_export(start: &[u8]) -> bool {
    start.starts_with(EXPORT)
}

/// Whether more bytes decide whether [`refuse_data`] refuses an input.
pub(super) fn may_be_data(first: &[u8]) -> bool {
    let is_array = first.strip_prefix(b"[").is_some_and(|rest| rest.trim_ascii().is_empty());
    is_array || EXPORT.starts_with(first) && first.len() < EXPORT.len()
}

/// Refuses records that are an export, or one JSON array of objects, if only the name of the input
/// tells its format. `first` are its bytes from the first character on.
pub(super) fn refuse_data(first: &[u8]) -> io::Result<()> {
    let cause = match first {
        _ if is_export(first) => {
            "is an export of twindex, which is not read as texts; use `twindex import`"
        }
        _ if json::is_array(first) => {
            "is a JSON array, which is not read; `jq -c '.[]' FILE` makes JSON Lines of it"
        }
        _ => return Ok(()),
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, cause))
}

fn is_warc(start: &[u8]) -> bool {
    let version = start.strip_prefix(WARC).unwrap_or_default();
    matches!(version, [digit, b'.', ..] if digit.is_ascii_digit())
}

fn is_arrow_stream(start: &[u8]) -> bool {
    let length = start.strip_prefix(&ARROW_STREAM).and_then(|rest| rest.first_chunk());
    length.is_some_and(|length| (1..=LONGEST_SCHEMA).contains(&i32::from_le_bytes(*length)))
}

/// Whether more bytes could show a format that is not read.
fn may_be_foreign(start: &[u8]) -> bool {
    if start.len() >= LOOKED_AT {
        return false;
    }
    let begins = FOREIGN.iter().any(|foreign| foreign.at == 0 && foreign.magic.starts_with(start))
        || TABLES.iter().any(|(magic, ..)| magic.starts_with(start));
    // Whether it is a text shows in what follows, however many bytes come at once.
    let is_printable = |foreign: &Foreign| {
        let found = start.get(foreign.at..).is_some_and(|rest| rest.starts_with(foreign.magic));
        foreign.printable && found
    };
    let is_undecided = FOREIGN.iter().any(is_printable)
        || TABLES.iter().any(|(magic, ..)| start.starts_with(magic));
    begins || is_undecided || !start.contains(&b'\n') || !is_like_text(start)
}

/// What these first bytes are, and what to do; `None` for a text.
fn recognized(start: &[u8], is_encoded: bool) -> Option<String> {
    let is = |foreign: &&Foreign| {
        let found = start.get(foreign.at..).is_some_and(|rest| rest.starts_with(foreign.magic));
        let is_text = is_like_text(start) || is_encoded && !start.contains(&0);
        found && !(foreign.printable && is_text)
    };
    if let Some(Foreign { name, advice, .. }) = FOREIGN.iter().find(is) {
        return Some(format!("is {name}, which is not read; {advice}"));
    }
    let encoding = unicode(start).filter(|_| !is_encoded)?;
    Some(format!(
        "is text in {encoding} and not in UTF-8; convert it with `iconv -f {encoding} -t UTF-8`"
    ))
}

/// Whether the bytes are UTF-8, which may be cut off within its last character, without a NUL.
fn is_like_text(start: &[u8]) -> bool {
    let utf8 = match std::str::from_utf8(start) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    utf8 && !start.contains(&0)
}

/// The encoding of texts with more than one byte a character, by their byte order mark or by where
/// their NULs are: in UTF-16, one of the two bytes of every Latin letter, digit and space is NUL.
/// Texts in other scripts have fewer of these, so all their characters must be likely ones.
fn unicode(start: &[u8]) -> Option<&'static str> {
    if start.len() < LEAST_UTF16 {
        return None;
    }
    match start {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Some("UTF-32"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => return Some("UTF-16"),
        _ => {}
    }
    let pairs = start.len() / 2;
    let nul_in = |parity: usize| start.iter().skip(parity).step_by(2).filter(|b| **b == 0).count();
    match (nul_in(0), nul_in(1)) {
        (0, low) if 2 * low > pairs => Some("UTF-16LE"),
        (high, 0) if 2 * high > pairs => Some("UTF-16BE"),
        _ => {
            let (low, high) =
                (latin_of(start, u16::from_le_bytes), latin_of(start, u16::from_be_bytes));
            match low.cmp(&high) {
                Ordering::Greater => Some("UTF-16LE"),
                Ordering::Less => Some("UTF-16BE"),
                Ordering::Equal => None,
            }
        }
    }
}

/// The number of ASCII characters if the bytes are a likely text in UTF-16, which may be cut off.
///
/// Two bytes of an ASCII text, taken together, are none of the likely characters except those of
/// East Asia. So these are likely only if an eighth of the bytes of such characters are no ASCII.
fn latin_of(start: &[u8], unit: fn([u8; 2]) -> u16) -> usize {
    let mut units: Vec<u16> = start.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
    // The second half of the last character may be missing.
    units.pop_if(|unit| (0xD800..0xDC00).contains(unit));
    let latin = units.iter().filter(|unit| **unit < 0x80).count();
    let is_eastern =
        4 * start.iter().filter(|byte| !byte.is_ascii()).count() >= units.len() - latin;
    let is_likely = |character: char| match character {
        '\t' | '\n' | '\r' | ' '..='~' => true,
        '\u{A0}'..='\u{22FF}' => true,
        '\u{2E80}'..='\u{9FFF}' | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}' => is_eastern,
        '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}' | '\u{FF00}'..='\u{FFEF}' => is_eastern,
        '\u{1F000}'..='\u{1FAFF}' | '\u{20000}'..='\u{323AF}' => is_eastern,
        _ => false,
    };
    let mut characters = char::decode_utf16(units.iter().copied());
    if characters.all(|character| character.is_ok_and(is_likely)) { latin } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> Option<String> {
        // One byte at a time, as from a slow pipe.
        let pieces = bytes.chunks(1);
        let mut input: Box<dyn Read> =
            pieces.fold(Box::new(io::empty()), |before, byte| Box::new(before.chain(byte)));
        let mut start = Vec::new();
        let found = refuse(&mut input, &mut start);
        input.read_to_end(&mut start).expect("memory can be read");
        assert_eq!(start, bytes, "no byte is lost");
        found.err().map(|error| error.to_string())
    }

    #[test]
    fn every_magic_number_is_recognized() {
        for Foreign { at, magic, name, .. } in FOREIGN {
            let bytes = [&vec![b'x'; *at], *magic, b"\0\0\xFF\xFF", &[b'x'; 600]].concat();
            let cause = refused(&bytes).expect("a format that is not read");
            assert!(cause.starts_with(&format!("is {name}")), "{name}: {cause}");
        }
    }

    #[test]
    fn a_first_line_of_text_does_not_hide_a_format_that_comes_in_pieces() {
        for Foreign { at, magic, name, printable, .. } in FOREIGN {
            let line = [&vec![b'x'; *at], *magic, b" and words\n"].concat();
            let bytes = [&line, &b"\0\0\xFF\xFF"[..], &[b'x'; 600]].concat();
            if *printable {
                let cause = refused(&bytes).expect("a format that is not read");
                assert!(cause.starts_with(&format!("is {name}")), "{name}: {cause}");
                assert_eq!(refused(&line).is_none(), is_like_text(&line), "{name}");
            }
        }
    }

    #[test]
    fn utf16_is_recognized_in_every_script() {
        for text in [
            "Съешь же ещё этих мягких французских булок\n",
            "Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία.\n",
            "中文是世界上使用人数最多的语言。\n一二三\n",
            "いろはにほへと ちりぬるを\n",
            "키스의 고유조건은 입술끼리 만나야 하고\n",
            "שלום עולם\n",
            "नमस्ते दुनिया\n",
            "{\"text\": \"Привет\"}\n{\"text\": \"中文😀\"}\n",
        ] {
            for text in [text.to_owned(), text.repeat(40)] {
                let low: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                let high: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
                for (bytes, name) in [(low, "UTF-16LE"), (high, "UTF-16BE")] {
                    let cause = refused(&bytes).expect(&text);
                    assert!(cause.contains(name), "{text}: {cause}");
                }
            }
        }
    }

    #[test]
    fn texts_with_a_few_nuls_are_not_utf16() {
        for text in [
            &b"hello\0world"[..],
            b"abc\0abc\0abc\0abc\0",
            b"./a/b.txt\0./a/c.txt\0./d.txt\0",
            b"id\0text\none\0two\n",
            "Привет\0мир\n".as_bytes(),
            "中文\0中文\n".as_bytes(),
            b"caf\xE9 au lait\0tr\xE8s bon\n",
        ] {
            assert_eq!(refused(text), None, "{text:?}");
        }
    }

    #[test]
    fn utf16_is_recognized_with_and_without_a_mark() {
        let text = "Grüße, a line of text\nand another";
        let low: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let high: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, name) in [
            (low.clone(), "UTF-16LE"),
            (high.clone(), "UTF-16BE"),
            ([&b"\xFF\xFE"[..], &low].concat(), "UTF-16"),
            ([&b"\xFE\xFF"[..], &high].concat(), "UTF-16"),
            (b"\xFF\xFE\0\0a\0\0\0".to_vec(), "UTF-32"),
        ] {
            let cause = refused(&bytes).expect("no UTF-8");
            assert!(cause.contains(&format!("iconv -f {name} -t UTF-8")), "{cause}");
        }
    }

    #[test]
    fn texts_are_texts_whatever_they_begin_with() {
        for text in [
            "",
            "a",
            "text",
            "PAR1 is a magic number",
            "PK is short for something",
            "MZ, BZh, RIFF, ID3, LZIP, OggS and ftyp\n",
            "GIF89a is a format of images",
            "II*",
            "\u{feff}text",
            "a \0 in the middle of a text of some length",
            "a\0",
            "\0\0\0\0",
            "Grüße",
            "日本語の文章。",
            "WARC/ISO 28500 is a standard",
        ] {
            assert_eq!(refused(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(refused(b"\xFF\xFE"), None);
        let kind =
            |bytes: &[u8]| look(&mut &bytes[4..], &mut bytes[..4].to_vec(), false).ok().flatten();
        assert_eq!(kind(b"WARC/1.1\r\n"), Some(Format::Warc));
        assert_eq!(kind(b"\xFF\xFF\xFF\xFF\x10\x01\0\0\x10\0\0\0"), Some(Format::Arrow));
        assert_eq!(kind(&[0xFF; 600]), None);
        assert_eq!(refused(&"é".repeat(600).into_bytes()), None);
    }

    #[test]
    fn a_line_of_text_is_not_waited_for() {
        struct Silent;
        impl Read for Silent {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("it would wait");
            }
        }
        assert!(refuse(&mut Silent, &mut b"a line\nand".to_vec()).is_ok());
        assert!(refuse(&mut b"line\n".chain(Silent), &mut b"a ".to_vec()).is_ok());
    }
}
