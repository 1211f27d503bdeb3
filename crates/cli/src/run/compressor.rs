//! Compresses an output file whose name ends in `.gz` or `.zst`.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::mem::take;
use std::path::Path;

/// Compresses what is written, in members (gzip) or frames (zstd) that end when asked to. Any
/// number of them in a row is one compressed file.
pub struct Compressor {
    method: Method,
    member: Option<Member>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Gzip,
    Zstd,
}

enum Member {
    Gzip(Box<GzEncoder<Vec<u8>>>),
    Zstd(zstd::Encoder<'static, Vec<u8>>),
}

impl Compressor {
    /// The compressor for a file of this name; `None` if the name asks for none.
    pub fn of(path: &Path) -> Option<Self> {
        Some(Self { method: Method::of(path)?, member: None })
    }

    /// Compresses bytes. Returns the compressed bytes that are ready.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let member = match self.member.take() {
            Some(member) => member,
            None => self.method.begin()?,
        };
        let member = self.member.insert(member);
        match member {
            Member::Gzip(encoder) => {
                encoder.write_all(bytes)?;
                Ok(take(encoder.get_mut()))
            }
            Member::Zstd(encoder) => {
                encoder.write_all(bytes)?;
                Ok(take(encoder.get_mut()))
            }
        }
    }

    /// Ends the member, so that everything written so far can be decompressed. Returns the rest of
    /// the compressed bytes. `is_empty` says whether the file is empty so far: if nothing was
    /// written, one member stands for no bytes then.
    pub fn end(&mut self, is_empty: bool) -> io::Result<Vec<u8>> {
        let mut rest =
            if is_empty && self.member.is_none() { self.write(b"")? } else { Vec::new() };
        rest.extend(match self.member.take() {
            Some(Member::Gzip(encoder)) => encoder.finish()?,
            Some(Member::Zstd(encoder)) => encoder.finish()?,
            None => Vec::new(),
        });
        Ok(rest)
    }
}

impl Method {
    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*extension {
            "gz" | "gzip" => Some(Self::Gzip),
            "zst" | "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    fn begin(self) -> io::Result<Member> {
        Ok(match self {
            Self::Gzip => {
                Member::Gzip(Box::new(GzEncoder::new(Vec::new(), Compression::default())))
            }
            Self::Zstd => {
                Member::Zstd(zstd::Encoder::new(Vec::new(), zstd::DEFAULT_COMPRESSION_LEVEL)?)
            }
        })
    }
}

/// Reads the bytes of a file of this name as they were before they were compressed.
pub fn decompressed<'r>(path: &Path, bytes: impl Read + 'r) -> io::Result<Box<dyn BufRead + 'r>> {
    Ok(match Method::of(path) {
        None => Box::new(BufReader::new(bytes)),
        Some(Method::Gzip) => Box::new(BufReader::new(flate2::read::MultiGzDecoder::new(bytes))),
        Some(Method::Zstd) => Box::new(BufReader::new(zstd::Decoder::new(bytes)?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_in_members_comes_back_as_one() {
        for name in ["a.gz", "a.jsonl.GZ", "a.zst"] {
            let path = Path::new(name);
            let mut compressor = Compressor::of(path).expect("a compressed file");
            let mut file = Vec::new();
            for piece in ["some text\n", "", "more", " and more"] {
                file.extend(compressor.write(piece.as_bytes()).expect("written"));
                if piece != "more" {
                    file.extend(compressor.end(false).expect("ended"));
                }
            }
            file.extend(compressor.end(false).expect("ended"));
            let mut text = String::new();
            let mut reader = decompressed(path, &*file).expect("compressed");
            reader.read_to_string(&mut text).expect("whole");
            assert_eq!(text, "some text\nmore and more", "{name}");
        }
        assert!(Compressor::of(Path::new("gz")).is_none());
        assert!(Compressor::of(Path::new("a.gz.part")).is_none());
    }

    #[test]
    fn a_file_of_no_bytes_is_compressed_too() {
        for name in ["a.gz", "a.zst"] {
            let mut compressor = Compressor::of(Path::new(name)).expect("a compressed file");
            let file = compressor.end(true).expect("ended");
            assert!(!file.is_empty());
            let mut text = String::new();
            let mut reader = decompressed(Path::new(name), &*file).expect("compressed");
            assert_eq!(reader.read_to_string(&mut text).expect("whole"), 0);
        }
    }
}
