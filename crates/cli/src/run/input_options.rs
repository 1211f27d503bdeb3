//! The options that say what inputs hold and how to read them.

use crate::input::{
    Fields, Format, Inputs, STANDARD_INPUT, WANTS_WEIGHTS, WalkOptions, check_glob, encoding,
};
use crate::remote::is_remote;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::resume_key::ResumeKey;
use crate::terminal::messages::note;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use encoding_rs::{Encoding, UTF_8};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use twindex::Shingle;

/// How to read inputs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputOptions {
    /// The format of inputs; auto goes by name and content. Any input may be compressed with gzip
    /// or zstd
    #[arg(long, value_enum, default_value_t = InputFormat::Auto)]
    format: InputFormat,
    /// Read every input as FASTA and make each record a document, whose id is the first word behind
    /// >; without it each file is one document
    #[arg(long)]
    per_record: bool,
    /// The field of a JSON record, or the column of a table, that holds the id. If it is given, a
    /// record without it is bad; else a record without an id is named by its file and line
    /// [default: id]
    #[arg(long, value_name = "NAME")]
    id_field: Option<String>,
    /// The field of a JSON record, or the column of a table, that holds the text
    /// [default: text, or weights for an index of weights]
    #[arg(long, value_name = "NAME")]
    text_field: Option<String>,
    /// Records of standard input without an id get the id P:LINE instead of #1, #2, ...
    #[arg(long, value_name = "P", value_parser = NonEmptyStringValueParser::new())]
    id_prefix: Option<String>,
    /// The encoding of texts, such as latin1, utf-16le or shift_jis; a byte order mark decides
    /// between UTF-8 and UTF-16. Bytes that it does not have become U+FFFD [default: utf-8]
    #[arg(long, value_name = "NAME", value_parser = encoding_of)]
    encoding: Option<&'static Encoding>,
    /// The most bytes of a record, after decompression; longer ones are reported and left out,
    /// without being held in memory. A record is a line, a record of a table or of FASTA, a text
    /// file, or standard input as one text
    #[arg(long, value_name = "SIZE", default_value = LONGEST, value_parser = size)]
    max_record: usize,
    /// In directories, also read hidden files and folders
    #[arg(long)]
    hidden: bool,
    /// In directories, read only files that match; with ! in front, only those that do not
    /// (repeatable)
    #[arg(long, short = 'g', value_name = "GLOB", value_parser = glob)]
    glob: Vec<String>,
    /// In directories, follow symbolic links
    #[arg(long)]
    follow: bool,
}

/// What names the documents that a command writes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct NamingOptions {
    /// What names a record
    #[arg(long, value_enum, value_name = "RULE", default_value_t = IdRule::Field)]
    id: IdRule,
}

impl NamingOptions {
    /// Whether a hash of its text names a document.
    pub fn is_hash(&self) -> bool {
        self.id == IdRule::Hash
    }

    /// Sets the rule for these inputs. Unless `quiet`, they report what a user may not expect.
    pub fn apply(&self, inputs: &mut Inputs, quiet: bool) {
        (inputs.id_hash, inputs.quiet) = (self.is_hash(), quiet);
        if inputs.id_hash && !inputs.id_required {
            // What stands in the place of an id is nobody's concern then.
            inputs.fields.id = None;
        }
    }
}

/// Says on a terminal that standard input is read, so that nobody waits for what waits for them.
pub fn announce_standard_input(global: &GlobalOptions, paths: &[PathBuf]) {
    let reads_it = paths.iter().any(|path| path.as_os_str() == STANDARD_INPUT);
    if reads_it && !global.quiet && io::stdin().is_terminal() {
        note("reading standard input; end it with Ctrl-D, or stop with Ctrl-C and name files");
    }
}

/// Whether a path is there for a second reading: no pipe and no device.
pub fn can_be_read_again(path: &Path) -> bool {
    let is_there = || path.metadata().is_ok_and(|found| found.is_file() || found.is_dir());
    path.as_os_str() != STANDARD_INPUT && (is_remote(path) || is_there())
}

/// An input as messages name it.
pub fn shown(path: &Path) -> String {
    if path.as_os_str() == STANDARD_INPUT {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

impl InputOptions {
    /// Adds every option that decides which records are read, and how.
    pub fn add_to(&self, key: ResumeKey) -> ResumeKey {
        let Self {
            format,
            per_record,
            id_field,
            text_field,
            id_prefix,
            encoding,
            max_record,
            hidden,
            glob,
            follow,
        } = self;
        let format = format.to_possible_value();
        let key = key
            .with_option("format", format.as_ref().map(|format| format.get_name()))
            .with_flag("per-record", *per_record)
            .with_option("id-field", id_field.as_ref())
            .with_option("text-field", text_field.as_ref())
            .with_option("id-prefix", id_prefix.as_ref())
            .with_option("encoding", encoding.map(Encoding::name))
            .with("max-record", (*max_record as u64).to_le_bytes())
            .with_flag("hidden", *hidden)
            .with_flag("follow", *follow);
        glob.iter().fold(key, |key, glob| key.with("glob", glob))
    }

    /// The field of an id.
    pub fn id_field(&self) -> &str {
        self.id_field.as_deref().unwrap_or(ID_FIELD)
    }

    /// The field of a text.
    pub fn text_field(&self) -> &str {
        self.text_field.as_deref().unwrap_or(TEXT_FIELD)
    }

    /// The inputs to read from these paths. The index itself is left out of directories.
    pub fn of(&self, paths: &[PathBuf], index: &Path, weighted: bool) -> Inputs {
        let text = if weighted { "weights" } else { TEXT_FIELD };
        Inputs {
            paths: paths.to_vec(),
            format: match self.format {
                _ if self.per_record => Format::FastaRecords,
                InputFormat::Fasta => Format::Fasta,
                InputFormat::Auto => Format::Auto,
                InputFormat::Text => Format::Text,
                InputFormat::Lines => Format::Lines,
                InputFormat::Jsonl => Format::JsonLines,
                InputFormat::Csv => Format::Csv,
                InputFormat::Tsv => Format::Tsv,
                InputFormat::Tokens => Format::Tokens,
                InputFormat::Parquet => Format::Parquet,
                InputFormat::Arrow => Format::Arrow,
                InputFormat::Warc => Format::Warc,
            },
            sequences: false,
            // A decoder would replace bytes that are not UTF-8, which are errors.
            encoding: self.encoding.filter(|encoding| *encoding != UTF_8),
            warc_id: self.id_field.clone(),
            id_hash: false,
            quiet: true,
            whole_rows: false,
            fields: Fields {
                id: Some(self.id_field().to_owned()),
                text: self.text_field.clone().unwrap_or_else(|| text.to_owned()),
                weighted,
            },
            id_required: self.id_field.is_some(),
            id_prefix: self.id_prefix.clone(),
            most: self.max_record,
            walking: WalkOptions {
                hidden: self.hidden,
                follow: self.follow,
                globs: self.glob.clone(),
            },
            leave_out: vec![index.to_owned()],
        }
    }

    /// Refuses a format that the index cannot take, once instead of at every record: sets or
    /// sequences for an index with another shingle, and anything but JSON for one of weights.
    pub fn check(&self, shingle: Shingle, weighted: bool, index: &Path) -> Result<(), Failure> {
        if weighted && !matches!(self.format, InputFormat::Auto | InputFormat::Jsonl) {
            return Err(anyhow::anyhow!("{}: {WANTS_WEIGHTS}", index.display()).into());
        }
        let format = self.format;
        if self.per_record && !matches!(format, InputFormat::Auto | InputFormat::Fasta) {
            let error = anyhow::anyhow!("--per-record is for FASTA; leave out the other --format");
            return Err(error.into());
        }
        let fasta = self.per_record || format == InputFormat::Fasta;
        if fasta && shingle.kmer_width().is_none() {
            let option = if self.per_record { "--per-record" } else { "--format fasta" };
            let error = anyhow::anyhow!(
                "{}: {option} reads sequences, but this index cuts texts by {shingle}; create one \
                 with --shingle kmer:21",
                index.display()
            );
            return Err(error.into());
        }
        if format == InputFormat::Tokens && shingle != Shingle::Tokens {
            let index = index.display();
            let error = anyhow::anyhow!(
                "{index}: --format tokens reads ready sets, but this index cuts texts by \
                 {shingle}; create one with --shingle token"
            );
            return Err(error.into());
        }
        Ok(())
    }
}

/// The field of the id, unless another one is named.
const ID_FIELD: &str = "id";

/// The field of texts, unless another is named.
const TEXT_FIELD: &str = "text";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InputFormat {
    /// Files by extension: .jsonl, .ndjson, .csv, .tsv, .parquet, .arrow, .feather, .warc, .wet,
    /// also before .gz or .zst; others are text, but a file without extension, or with .json, is
    /// jsonl if its first line is a JSON object, and a file that is named itself is parquet or
    /// arrow if it begins so. Directories: by extension. Standard input: parquet, arrow, warc or
    /// jsonl if it begins so, else lines. For --shingle kmer:N also fasta: .fa, .fasta, .fna,
    /// .ffn, .frn, and standard input that begins with >
    Auto,
    /// Each file is one document; its id is its path
    Text,
    /// Each line is one document; its id is path:line
    Lines,
    /// Each line is a JSON object with an id and a text, an array of tokens, or weights
    Jsonl,
    /// A table with a header, by RFC 4180
    Csv,
    /// A table with a header and tabs instead of commas
    Tsv,
    /// Each line is an id, a tab, and tokens separated by spaces; for --shingle token
    Tokens,
    /// A Parquet file, each row with an id and a text
    Parquet,
    /// An Arrow IPC file (Feather) or stream, likewise
    Arrow,
    /// A WARC or WET archive: each record that holds a text, named by its WARC-Record-ID or the
    /// field of --id-field
    Warc,
    /// Each file is one document of FASTA, see --per-record; for --shingle kmer:N
    Fasta,
}

/// What names a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum IdRule {
    /// Its id; if it has none, its file and the number of its line or row: PATH:ROW
    Field,
    /// A hash of its text: equal texts are one document, whatever file they come from and in
    /// whatever order
    Hash,
}

/// An encoding by its name.
fn encoding_of(name: &str) -> Result<&'static Encoding, &'static str> {
    encoding(name).ok_or("expected the name of an encoding, such as latin1, utf-16le or shift_jis")
}

/// A pattern of file names, as ripgrep takes it.
fn glob(text: &str) -> Result<String, String> {
    check_glob(text).map(|()| text.to_owned())
}

/// The default for the most bytes of a record: the longest texts that people index on purpose.
pub const LONGEST: &str = "128M";

/// Parses a number of bytes. K, M and G (or KiB, MiB, GiB) are powers of 1,024.
pub fn size(text: &str) -> Result<usize, &'static str> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => Some(1),
        "K" | "k" | "KiB" => Some(1 << 10),
        "M" | "m" | "MiB" => Some(1 << 20),
        "G" | "g" | "GiB" => Some(1 << 30),
        _ => None,
    };
    let bytes = digits.parse::<usize>().ok().zip(unit).and_then(|(n, unit)| n.checked_mul(unit));
    bytes
        .filter(|bytes| *bytes > 0)
        .ok_or("expected a number of bytes, such as 100000, 64K, 128M or 2G")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        for (text, bytes) in
            [("1", 1), ("64K", 65_536), ("128m", 134_217_728), ("3G", 3 << 30), ("64MiB", 64 << 20)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "0", "0K", "K", "-1", "1.5M", "1 K", "1KB", "99999999999G", "1é"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
