//! The arguments of every command, with their help.

use crate::index::IndexOptions;
use crate::input::{Fields, Format, Inputs};
use crate::text::{Normalization, Shingle};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Keep an index of documents on disk and find near duplicates in it.
#[derive(Debug, Parser)]
#[command(
    name = "twindex",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  twindex add pages.twx pages.jsonl          index {\"id\", \"text\"} records
  twindex query pages.twx --text 'some text' who is similar to this?
  twindex pairs pages.twx --threshold 0.9    all near-duplicate pairs

Exit status: 0 done or found; 1 nothing found, or violations; 2 any error."
)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Global {
    /// Print results, and the summary, as JSON objects, one a line
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print no summary and no progress, only results and errors
    #[arg(long, short, global = true)]
    pub(super) quiet: bool,
    /// Show no progress bar
    #[arg(long, global = true)]
    pub(super) no_progress: bool,
    /// Threads that parse and sketch [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) threads: Option<u16>,
    /// Wait so long, at the most, while another process has the index open [default: 0]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub(super) wait: Option<Duration>,
    /// Say more on standard error: every commit, settings of new indexes
    #[arg(long, short, global = true)]
    pub(super) verbose: bool,
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or("expected a number of seconds, as 10 or 0.5")
}

/// A number of bytes, with K, M or G for their 1,024s.
fn size(text: &str) -> Result<usize, &'static str> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => Some(1),
        "K" | "k" => Some(1 << 10),
        "M" | "m" => Some(1 << 20),
        "G" | "g" => Some(1 << 30),
        _ => None,
    };
    let bytes = digits.parse::<usize>().ok().zip(unit).and_then(|(n, unit)| n.checked_mul(unit));
    bytes.filter(|bytes| *bytes > 0).ok_or("expected a number of bytes, as 100000, 64K, 128M or 2G")
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create an empty index
    Create(Create),
    /// Add documents to an index, creating it if there is none
    Add(Add),
    /// Remove documents by id
    Remove(Remove),
    /// Print all ids, in order of insertion
    List(IndexPath),
    /// Print what is known of one document
    Get(Get),
    /// Find the documents similar to given texts
    Query(Query),
    /// Print every pair of similar documents
    Pairs(Pairs),
    /// Print settings, counts and sizes of an index
    Info(IndexPath),
    /// Verify every invariant of the file, and repair it
    Check(Check),
    /// Merge everything, purge what was removed, shrink the file
    Compact(IndexPath),
}

#[derive(Debug, ClapArgs)]
pub(super) struct IndexPath {
    /// The index file
    pub(super) index: PathBuf,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Output columns (fields of violations with --json): invariant, place, detail; the invariants are
numbered as in docs/format.md. The exit status is 1 if anything is wrong.

With --repair all pages are verified too. If anything is wrong, a new file is made from the
documents that can be read and takes the place of the old one. Documents that cannot be read are
counted, and listed by id as far as they are known: add them again. In that case the old file is
kept beside, as INDEX.damaged, and the exit status is 1.

Examples:
  twindex check pages.twx
  twindex check pages.twx --repair")]
pub(super) struct Check {
    /// The index file
    pub(super) index: PathBuf,
    /// Make a new file from what can be read, if anything is wrong
    #[arg(long)]
    pub(super) repair: bool,
}

/// Settings of a new index. For an index that exists they must be those it was created with.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Settings of a new index")]
pub(super) struct Settings {
    /// Least Jaccard similarity that counts as similar, above 0, at most 1 [default: 0.8]
    #[arg(long, value_name = "T")]
    threshold: Option<f64>,
    /// Least probability that a pair at the threshold becomes a candidate [default: 0.99]
    #[arg(long, value_name = "P")]
    recall: Option<f64>,
    /// What a shingle is: char:N, word:N, line:N or token [default: char:9]
    #[arg(long, value_name = "KIND")]
    shingle: Option<Shingle>,
    /// Lanes of a signature, a byte each: 64, 128, 256 or 512 [default: 256]
    #[arg(long, value_name = "K")]
    lanes: Option<usize>,
    /// Of lower, nfc or nfkc, space or nospace, minword=N; or none [default: lower,nfc,space]
    #[arg(long, value_name = "LIST")]
    normalize: Option<Normalization>,
    /// Count repeated shingles as often as they occur
    #[arg(long)]
    multiset: bool,
    /// Seed of all hashes [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Settings {
    pub(super) fn options(&self) -> IndexOptions {
        let mut options = IndexOptions::new();
        if let Some(threshold) = self.threshold {
            options = options.threshold(threshold);
        }
        if let Some(recall) = self.recall {
            options = options.recall(recall);
        }
        if let Some(shingle) = self.shingle {
            options = options.shingle(shingle);
        }
        if let Some(lanes) = self.lanes {
            options = options.lanes(lanes);
        }
        if let Some(normalization) = self.normalize {
            options = options.normalization(normalization);
        }
        if self.multiset {
            options = options.multiset(true);
        }
        if let Some(seed) = self.seed {
            options = options.seed(seed);
        }
        options
    }
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  twindex create pages.twx
  twindex create code.twx --shingle line:3 --threshold 0.7
  twindex create sets.twx --shingle token --recall 0.95")]
pub(super) struct Create {
    /// The index file
    pub(super) index: PathBuf,
    #[command(flatten)]
    pub(super) settings: Settings,
}

/// What documents are read from.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Input")]
pub(super) struct Input {
    /// What inputs hold; auto goes by name, and for standard input by its first character
    #[arg(long, value_enum, default_value_t = InputFormat::Auto)]
    format: InputFormat,
    /// The field of a JSON record that holds its id
    #[arg(long, value_name = "NAME", default_value = "id")]
    id_field: String,
    /// The field of a JSON record that holds its text
    #[arg(long, value_name = "NAME", default_value = "text")]
    text_field: String,
    /// Name records of standard input that have no id P:LINE, not #1, #2, ...
    #[arg(long, value_name = "P", value_parser = NonEmptyStringValueParser::new())]
    id_prefix: Option<String>,
    /// The most bytes of a record; longer ones are reported and left out, without being held
    /// in memory. A record is a line, a text file, or standard input as one text
    #[arg(long, value_name = "SIZE", default_value = "128M", value_parser = size)]
    max_record: usize,
}

impl Input {
    pub(super) fn of(&self, paths: &[PathBuf], index: &Path) -> Inputs {
        Inputs {
            paths: paths.to_vec(),
            format: match self.format {
                InputFormat::Auto => Format::Auto,
                InputFormat::Text => Format::Text,
                InputFormat::Lines => Format::Lines,
                InputFormat::Jsonl => Format::JsonLines,
            },
            fields: Fields { id: self.id_field.clone(), text: self.text_field.clone() },
            id_prefix: self.id_prefix.clone(),
            most: self.max_record,
            index: index.to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InputFormat {
    /// .jsonl and .ndjson files are jsonl, other files text, standard input jsonl or lines
    Auto,
    /// Each file is one document; its id is its path
    Text,
    /// Each line is one document; its id is path:line
    Lines,
    /// Each line is a JSON object with an id and a text
    Jsonl,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Directories are walked in order of names; hidden files and what .gitignore names are left out.
A record that cannot be read is reported and counted, the rest goes on, and the exit status is 2.
Killed and run again, documents that are in already are `unchanged`.

Examples:
  twindex add pages.twx pages.jsonl more.jsonl
  twindex add pages.twx docs/                       one document a file
  twindex add verses.twx --format lines kjv.txt     one document a line
  generate | twindex add pages.twx -                JSON Lines or lines")]
pub(super) struct Add {
    /// The index file
    pub(super) index: PathBuf,
    /// Files, directories, or - for standard input
    #[arg(default_value = "-")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) input: Input,
    /// What to do with a record whose id is in the index with another text
    #[arg(long, value_enum, default_value_t = Conflict::Replace)]
    pub(super) on_conflict: Conflict,
    /// Documents in one commit
    #[arg(long, value_name = "DOCS", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) batch: u32,
    #[command(flatten)]
    pub(super) settings: Settings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Conflict {
    /// The record replaces it
    Replace,
    /// The record is left out
    Skip,
    /// The record is left out and counts as failed
    Error,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Ids that are not in the index are counted as missing, which is no error.

Examples:
  twindex remove pages.twx page-1 page-2
  grep spam ids.txt | twindex remove pages.twx --ids-from -")]
pub(super) struct Remove {
    /// The index file
    pub(super) index: PathBuf,
    /// Ids of documents
    #[arg(required_unless_present = "ids_from")]
    pub(super) ids: Vec<String>,
    /// Read ids from a file, one a line; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(super) ids_from: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Get {
    /// The index file
    pub(super) index: PathBuf,
    /// The id of the document
    pub(super) id: String,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
A record whose id is in the index never matches itself. Output columns (fields with --json):
query, id, similarity, low, high, exact; low and high are the 95 % interval.

Examples:
  twindex query pages.twx --text 'the quick brown fox'
  twindex query pages.twx --id page-1
  twindex query pages.twx new/*.txt --threshold 0.9
  twindex query pages.twx --json - < new.jsonl")]
pub(super) struct Query {
    /// The index file
    pub(super) index: PathBuf,
    /// Files, directories, or - for standard input
    #[arg(required_unless_present_any = ["text", "id"])]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) input: Input,
    /// Ask about this text
    #[arg(long, value_name = "STR")]
    pub(super) text: Option<String>,
    /// Ask about the document with this id
    #[arg(long)]
    pub(super) id: Option<String>,
    /// Least similarity to report [default: the index's own]
    #[arg(long, value_name = "T")]
    pub(super) threshold: Option<f64>,
    /// Compare with every document: finds all, at any threshold
    #[arg(long)]
    pub(super) scan: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Output columns (fields with --json): a, b, similarity, low, high, exact; a is the smaller id.

Examples:
  twindex pairs pages.twx
  twindex pairs pages.twx --threshold 0.95 --json")]
pub(super) struct Pairs {
    /// The index file
    pub(super) index: PathBuf,
    /// Least similarity to report [default: the index's own]
    #[arg(long, value_name = "T")]
    pub(super) threshold: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_arguments_is_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        for (text, bytes) in [("1", 1), ("64K", 65_536), ("128m", 134_217_728), ("3G", 3 << 30)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "0", "0K", "K", "-1", "1.5M", "1 K", "1KB", "99999999999G", "1é"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
