//! What is typed before and between the commands: the list of commands, and the options that all have.

use super::add::Add;
use super::backup::Backup;
use super::export::Export;
use super::import::Import;
use super::inspect::Get;
use super::maintain::{Check, Create};
use super::merge::Merge;
use super::pairs::Pairs;
use super::query::Query;
use super::remove::Remove;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
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

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create an empty index
    Create(Create),
    /// Add documents to an index, creating it if there is none
    Add(Add),
    /// Remove documents by id or age
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
    /// Copy an index to a new file
    Backup(Backup),
    /// Put the documents of other indexes into one
    Merge(Merge),
    /// Write an index as JSON Lines
    Export(Export),
    /// Put the JSON Lines of an export into an index
    Import(Import),
}

#[derive(Debug, ClapArgs)]
pub(super) struct IndexPath {
    /// The index file
    pub(super) index: PathBuf,
}

/// What to do with a record whose id is in the index with another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Conflict {
    /// The record replaces it
    Replace,
    /// The record is left out
    Skip,
    /// The record is left out and counts as failed
    Error,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_arguments_is_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}
