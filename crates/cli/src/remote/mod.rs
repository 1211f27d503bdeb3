//! Files that are not on this machine: in object stores, and behind HTTP.
//!
//! Without the feature `remote` their names are recognised, and every use is an error that says so.

#[cfg(not(feature = "remote"))]
mod absent;
mod names;
#[cfg(feature = "remote")]
mod object;
#[cfg(feature = "remote")]
mod store;
#[cfg(feature = "remote")]
mod upload;

#[cfg(not(feature = "remote"))]
pub use absent::{RemoteFile, check_writable, look, seen, upload};
pub use names::{is_at_or_below, is_same_address};
#[cfg(feature = "remote")]
pub use object::{RemoteFile, look, seen};
#[cfg(feature = "remote")]
pub use upload::{check_writable, upload};

use std::path::{Path, PathBuf};

/// What an address leads to.
pub enum Looked {
    /// One file.
    File(RemoteFile),
    /// All files below it, in the order of their names.
    Folder(Vec<(PathBuf, RemoteFile)>),
}

/// The bytes that are asked for at once when a file is read at any place, and how many such blocks
/// of a file are kept.
pub const BLOCK: u64 = 4 << 20;
pub const BLOCKS: usize = 8;

/// What is told of an address that may hold an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A file of so many bytes.
    File(u64),
    /// There is none.
    Nothing,
    /// Who may only write is not told.
    Denied,
}

/// The schemes of addresses.
const SCHEMES: [&str; 12] =
    ["s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "http", "https", "ftp", "hdfs"];

/// The address that a path is, such as `s3://bucket/file`; `None` for a path on this machine.
pub fn address(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, rest) = text.split_once("://")?;
    let known = SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    (known && !rest.is_empty()).then_some(text)
}

/// Whether a path is the address of a file that is not on this machine.
pub fn is_remote(path: &Path) -> bool {
    address(path).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        for name in ["s3://bucket/a b", "gs://bucket", "HTTPS://example.com/a.jsonl", "az://c/"] {
            assert!(is_remote(Path::new(name)), "{name}");
        }
        for name in ["s3:/bucket/a", "s3", "docs/s3://a", "file:///a", "c://a", "s3://", "-"] {
            assert!(!is_remote(Path::new(name)), "{name}");
        }
    }
}
