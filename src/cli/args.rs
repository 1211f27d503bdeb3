//! What is typed before and between the commands: the list of commands, and the options that all have.

use super::add::Add;
use super::backup::Backup;
use super::clusters::Clusters;
use super::color::When;
use super::compare::Compare;
use super::dedup::Dedup;
use super::explain::Explain;
use super::export::Export;
use super::import::Import;
use super::info::Info;
use super::inspect::{Get, List};
use super::maintain::{Check, Compact, Create};
use super::merge::Merge;
use super::packaging::{Completions, Man};
use super::pairs::Pairs;
use super::plan::Plan;
use super::query::Query;
use super::rebuild::Rebuild;
use super::remove::Remove;
use super::study::Study;
use clap::{Args as ClapArgs, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::time::Duration;

/// Keep an index of documents on disk and find near duplicates in it.
#[derive(Debug, Parser)]
#[command(
    name = "twindex",
    version,
    max_term_width = 100,
    after_help = "\
Exit status: 0 done or found; 1 nothing found, violations, or below a threshold; 2 any error.

Examples:
  twindex add pages.twx pages.jsonl            index {\"id\", \"text\"} records
  twindex query pages.twx --text 'some text'   who is similar to this?
  twindex pairs pages.twx --threshold 0.9      all near-duplicate pairs
  twindex dedup seen.twx new.jsonl -o kept.jsonl  what is not known yet?
  twindex clusters pages.twx                   which documents belong together?
  twindex plan --threshold 0.7                 what would an index find and take?"
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
    /// When to use colour; auto: on a terminal, unless NO_COLOR is set or TERM is dumb
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    pub(super) color: When,
    /// Say more on standard error: every commit, settings of new indexes
    #[arg(long, short, global = true)]
    pub(super) verbose: bool,
}

/// What was typed. Ends the process where that is a question for help, or wrong.
pub(super) fn parse() -> Args {
    let color = When::typed(std::env::args_os()).hold();
    let matches = Args::command().color(color).get_matches();
    Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
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
    /// Keep what is similar to nothing known, and remember it
    Dedup(Box<Dedup>),
    /// Remove documents by id or age
    Remove(Remove),
    /// Print all ids, in order of insertion
    List(List),
    /// Print what is known of one document
    Get(Get),
    /// Find the documents similar to given texts
    Query(Query),
    /// Print every pair of similar documents
    Pairs(Pairs),
    /// Print clusters of similar documents, or which of them may go
    Clusters(Clusters),
    /// Print settings, counts and sizes of an index
    Info(Info),
    /// Verify every invariant of the file, and repair it
    Check(Check),
    /// Merge everything, purge what was removed, shrink the file
    Compact(Compact),
    /// Make an index again from its texts, under other settings
    Rebuild(Rebuild),
    /// Copy an index to a new file
    Backup(Backup),
    /// Put the documents of other indexes into one
    Merge(Merge),
    /// Write an index as JSON Lines
    Export(Export),
    /// Put the JSON Lines of an export into an index
    Import(Import),
    /// Compare two texts, exactly and by estimate; no index
    Compare(Compare),
    /// Show the passages that two documents of an index share
    Explain(Explain),
    /// Print what a threshold and a recall will find, miss and take; no index
    Plan(Plan),
    /// Run an experiment of the literature anew, and draw it; no index
    Study(Box<Study>),
    /// Print the completion script of a shell
    Completions(Completions),
    /// Write the manual pages
    Man(Man),
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
#[path = "help_tests.rs"]
mod tests;
