//! Decompression of streams, which are recognized as gzip or zstd by their first bytes.

use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::path::Path;

/// The largest window of a zstd frame, which is held in memory: 128 MiB, the default limit of the
/// program `zstd`.
const WINDOW_LOG: u32 = 27;

/// The number of compressed bytes that are read at a time.
const BUFFER_BYTES: usize = 256 << 10;

const GZIP: &[u8] = &[0x1F, 0x8B];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
/// The rest of the magic number of a skippable frame, after a byte from 0x50 to 0x5F.
const ZSTD_SKIPPABLE: &[u8] = &[0x2A, 0x4D, 0x18];

/// A stream after decompression. Its first bytes may have been read already.
pub(super) struct Decompressed<R> {
    /// The first bytes, which were read to recognize the compression.
    pub(super) start: Vec<u8>,
    /// The bytes after them.
    pub(super) rest: DecompressedRest<R>,
}

impl<R> Decompressed<R> {
    /// Whether the stream is compressed.
    pub(super) const fn is_packed(&self) -> bool {
        matches!(self.rest, DecompressedRest::Packed(_))
    }
}

/// The bytes after the first ones.
pub(super) enum DecompressedRest<R> {
    Plain(R),
    Packed(Box<Decompressor<R>>),
}

impl<R: Read> Read for DecompressedRest<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(out),
            Self::Packed(stream) => stream.read(out),
        }
    }
}

/// Opens a stream and recognizes its compression. `named` says whether its name has the extension
/// of a compressed file: then an empty stream, or one that ends within a magic number, is an error.
pub(super) fn open<R: Read>(mut stream: R, named: bool) -> io::Result<Decompressed<R>> {
    let mut start = Vec::new();
    let mut buffer = [0; 4];
    let mut ended = false;
    while may_become_packed(&start) && !ended {
        let room = buffer.len() - start.len();
        match stream.read(&mut buffer[..room]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(read) => {
                start.extend_from_slice(&buffer[..read]);
                ended = read == 0;
            }
        }
    }
    let method = match codec(&start) {
        None if named && ended && may_become_packed(&start) => return Err(cut_short("")),
        method => method,
    };
    let Some(method) = method else {
        return Ok(Decompressed { start, rest: DecompressedRest::Plain(stream) });
    };
    let packed = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(start).chain(stream));
    let decoder = match method {
        Codec::Gzip => Decoder::Gzip(Box::new(MultiGzDecoder::new(packed))),
        Codec::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(packed)?;
            decoder.window_log_max(WINDOW_LOG)?;
            Decoder::Zstd(decoder)
        }
    };
    let rest = DecompressedRest::Packed(Box::new(Decompressor { decoder, failed: None }));
    Ok(Decompressed { start: Vec::new(), rest })
}

/// Whether a path has the extension of a compressed file.
pub(super) fn is_named(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["gz", "gzip", "zst", "zstd"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

#[derive(Clone, Copy)]
enum Codec {
    Gzip,
    Zstd,
}

fn codec(start: &[u8]) -> Option<Codec> {
    match start {
        _ if start.starts_with(GZIP) => Some(Codec::Gzip),
        _ if start.starts_with(ZSTD) => Some(Codec::Zstd),
        [0x50..=0x5F, rest @ ..] if rest.starts_with(ZSTD_SKIPPABLE) => Some(Codec::Zstd),
        _ => None,
    }
}

/// Whether these bytes may be the beginning of a magic number.
fn may_become_packed(start: &[u8]) -> bool {
    let whole = codec(start).is_some();
    !whole
        && match start {
            [0x50..=0x5F, rest @ ..] => ZSTD_SKIPPABLE.starts_with(rest),
            _ => GZIP.starts_with(start) || ZSTD.starts_with(start),
        }
}

/// A stream that is being decompressed.
pub(super) struct Decompressor<R> {
    decoder: Decoder<R>,
    /// An error to report after the bytes that were read before it.
    failed: Option<io::Error>,
}

/// The compressed bytes, whose first ones were read already.
type Packed<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

enum Decoder<R> {
    Gzip(Box<MultiGzDecoder<Packed<R>>>),
    Zstd(zstd::Decoder<'static, Packed<R>>),
}

impl<R: Read> Decoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = match self {
            Self::Gzip(decoder) => decoder.read(out),
            Self::Zstd(decoder) => decoder.read(out),
        };
        read.map_err(|error| self.explained(error))
    }

    /// Whether more compressed bytes are in the buffer, so that reading need not wait.
    fn has_more_at_hand(&self) -> bool {
        let packed = match self {
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Zstd(decoder) => decoder.get_ref(),
        };
        !packed.buffer().is_empty()
    }

    /// The error in words that name the compression.
    fn explained(&self, error: io::Error) -> io::Error {
        let method = match self {
            Self::Gzip(_) => "gzip ",
            Self::Zstd(_) => "zstd ",
        };
        if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
            return error;
        }
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return cut_short(method);
        }
        let said = error.to_string();
        let cause = match (self, &*said) {
            (Self::Zstd(_), said) if said.contains("too much memory") => {
                "its zstd window is larger than 128 MiB; compress it again with --long=27 or less"
                    .to_owned()
            }
            (Self::Gzip(_), "invalid gzip header") => {
                "corrupt: the bytes after the gzip data are no gzip data".to_owned()
            }
            _ => format!("corrupt {method}data: {said}"),
        };
        io::Error::new(io::ErrorKind::InvalidData, cause)
    }
}

fn cut_short(method: &str) -> io::Error {
    let cause = format!("cut short: the compressed {method}data is incomplete");
    io::Error::new(io::ErrorKind::UnexpectedEof, cause)
}

impl<R: Read> Read for Decompressor<R> {
    /// Fills as much of the buffer as is possible without waiting. A decoder returns little at
    /// once, which would make the blocks of lines small.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut filled = 0;
        while filled < out.len() {
            match self.decoder.read(&mut out[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if filled == 0 => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
            if !self.decoder.has_more_at_hand() {
                break;
            }
        }
        Ok(filled)
    }
}

/// Compressing, for tests.
#[cfg(any(test, fuzzing))]
pub(super) mod packing {
    use std::io::Write;

    pub(in crate::input) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory can be written")
    }

    pub(in crate::input) fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 1).expect("memory can be read")
    }
}

#[cfg(test)]
mod tests {
    use super::packing::{gzip, zstd};
    use super::*;
    use std::io::Write;

    fn skippable(size: u8) -> Vec<u8> {
        [&[0x53][..], ZSTD_SKIPPABLE, &[size, 0, 0, 0], &vec![7; size.into()]].concat()
    }

    fn unpacked(bytes: &[u8], named: bool) -> io::Result<Vec<u8>> {
        let mut content = open(bytes, named)?;
        let mut out = content.start;
        content.rest.read_to_end(&mut out)?;
        Ok(out)
    }

    fn texts() -> [Vec<u8>; 4] {
        let long =
            (0..100_000_u32).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 16).to_le_bytes());
        [Vec::new(), b"a".to_vec(), b"some text\n".repeat(50_000), long.collect()]
    }

    #[test]
    fn what_was_compressed_comes_back() {
        for text in texts() {
            for packed in [
                gzip(&text),
                zstd(&text),
                [skippable(3), zstd(&text), skippable(0)].concat(),
                [gzip(&text[..text.len() / 2]), gzip(&text[text.len() / 2..]), gzip(b"")].concat(),
                [zstd(b""), zstd(&text[..text.len() / 2]), zstd(&text[text.len() / 2..])].concat(),
            ] {
                let out = unpacked(&packed, false).expect("whole");
                assert!(out == text, "{} bytes became {}", text.len(), out.len());
            }
        }
        assert_eq!(unpacked(&skippable(200), true).expect("whole"), b"");
    }

    #[test]
    fn what_is_not_compressed_stays_as_it_is() {
        for text in [&b""[..], b"(", b"P*M", b"(\xb5/", b"\x1f", b"text", b"P*Mx", b"\x1f\x8a rest"]
        {
            assert_eq!(unpacked(text, false).expect("plain"), text);
        }
        assert_eq!(unpacked(b"(text)", true).expect("plain"), b"(text)");
    }

    #[test]
    fn what_ends_too_early_is_an_error_at_every_byte() {
        let text = b"some text, and some more text".repeat(20);
        let two = |pack: fn(&[u8]) -> Vec<u8>| [pack(&text), pack(&text)].concat();
        for packed in [two(gzip), two(zstd), [skippable(9), zstd(&text)].concat()] {
            for length in 0..packed.len() {
                let at_a_frame = length == packed.len() / 2 || length == 17;
                let error = match unpacked(&packed[..length], true) {
                    Ok(_) if at_a_frame => continue,
                    Ok(_) => panic!("{length} of {} bytes are not whole", packed.len()),
                    Err(error) => error,
                };
                assert!(error.to_string().contains("cut short"), "{length}: {error}");
            }
        }
    }

    #[test]
    fn other_bytes_after_the_end_are_an_error() {
        for tail in [&b"\0\0\0\0\0\0\0\0\0\0\0\0"[..], b"some other bytes"] {
            for packed in [gzip(b"text"), zstd(b"text")] {
                let error = unpacked(&[&packed, tail].concat(), false).expect_err("a tail");
                assert!(error.to_string().contains("corrupt"), "{error}");
            }
        }
    }

    #[test]
    fn a_window_above_the_limit_is_an_error() {
        for (log, taken) in [(WINDOW_LOG, true), (WINDOW_LOG + 1, false)] {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
            encoder.window_log(log).expect("a window");
            encoder.write_all(b"some text").expect("memory can be written");
            let packed = encoder.finish().expect("memory can be written");
            match unpacked(&packed, false) {
                Ok(text) => assert!(taken && text == b"some text"),
                Err(error) => {
                    assert!(!taken && error.to_string().contains("128 MiB"), "{log}: {error}");
                }
            }
        }
    }
}
