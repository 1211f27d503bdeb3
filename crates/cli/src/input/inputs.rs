//! The inputs of a command, and how to read them.

use super::format::Format;
use super::json::Fields;
use super::walk::WalkOptions;
use encoding_rs::Encoding;
use std::path::{Path, PathBuf};

/// The name of standard input among paths.
pub const STANDARD_INPUT: &str = "-";

/// The inputs to read, and how to read them.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Files, directories, or [`STANDARD_INPUT`].
    pub paths: Vec<PathBuf>,
    /// The format of all inputs.
    pub format: Format,
    /// Whether texts are sequences of DNA. Then [`Format::Auto`] recognizes FASTA.
    pub sequences: bool,
    /// The names of the fields that are read.
    pub fields: Fields,
    /// Whether a record of JSON or of a table must have an id, because its field was named.
    pub id_required: bool,
    /// The encoding of texts, if it is not UTF-8.
    pub encoding: Option<&'static Encoding>,
    /// The field that names a record of WARC, if it is not its own id.
    pub warc_id: Option<String>,
    /// Whether the id of each record is a hash of its text.
    pub id_hash: bool,
    /// Whether nothing is said about how inputs are read, except errors.
    pub quiet: bool,
    /// Whether rows are written again, so that all columns of a table are read.
    pub whole_rows: bool,
    /// The prefix of ids for records of standard input that have none; their line follows it.
    pub id_prefix: Option<String>,
    /// The most bytes of a record, after decompression. A record is a line, a file, a record of a
    /// table, or all of standard input as one text.
    pub most: usize,
    /// Which files of directories are read.
    pub walking: WalkOptions,
    /// The index and the output of the command. They are left out of directories.
    pub leave_out: Vec<PathBuf>,
}

/// Whether a path names standard input.
pub(super) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}
