//! The arguments of the command: its subcommands and their options.

use crate::commands::add::Add;
use crate::commands::backup::Backup;
use crate::commands::changes::Changes;
use crate::commands::clusters::Clusters;
use crate::commands::compare::Compare;
use crate::commands::dedup::options::Dedup;
use crate::commands::explain::Explain;
use crate::commands::export::Export;
use crate::commands::import::Import;
use crate::commands::info::Info;
use crate::commands::inspect::{Get, List};
use crate::commands::maintain::{Check, Compact, Create};
use crate::commands::merge::Merge;
use crate::commands::packaging::{Completions, Man};
use crate::commands::pairs::Pairs;
use crate::commands::passages::Passages;
use crate::commands::plan::Plan;
use crate::commands::query::Query;
use crate::commands::rebuild::Rebuild;
use crate::commands::remove::Remove;
use crate::commands::report::Report;
use crate::commands::screen::Screen;
use crate::commands::track::Track;
use crate::run::global_options::GlobalOptions;
use clap::{Parser, Subcommand};

/// Keep an index of documents on disk and find near duplicates in it.
#[derive(Debug, Parser)]
#[command(
    name = "twindex",
    version,
    disable_help_flag = true,
    max_term_width = 100,
    after_help = "\
Exit status: 0 done or found; 1 nothing found, violations, or below a threshold; 2 any error.

Examples:
  twindex add pages.twx pages.jsonl            index {\"id\", \"text\"} records
  twindex query pages.twx --text 'some text'   which documents are similar to this?
  twindex pairs pages.twx --threshold 0.9      all near-duplicate pairs
  twindex dedup seen.twx new.jsonl -o kept.jsonl  which of these are new?
  twindex clusters pages.twx                   which documents belong together?
  twindex plan --threshold 0.7                 what would an index find, and at what cost?"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create an empty index
    Create(Create),
    /// Add documents to an index, creating it if there is none
    Add(Add),
    /// Keep the records that are similar to none seen before, and remember them
    Dedup(Box<Dedup>),
    /// Remove documents by id or age
    Remove(Remove),
    /// Print all ids in insertion order
    List(List),
    /// Print what the index stores about one document
    Get(Get),
    /// Find the documents similar to given texts
    Query(Query),
    /// Print every pair of similar documents
    Pairs(Pairs),
    /// Print the passages that occur at two or more places
    Passages(Passages),
    /// Keep the passages of an index, such as an evaluation set, out of a corpus
    Screen(Screen),
    /// Print clusters of similar documents, or the documents to drop
    Clusters(Clusters),
    /// Keep the clusters of an index under ids that stay, from now on
    Track(Track),
    /// Print what changed about the tracked clusters since a commit
    Changes(Changes),
    /// Write a page about the similar documents of an index, for a browser
    Report(Report),
    /// Print settings, counts and sizes of an index
    Info(Info),
    /// Verify every invariant of the file, or repair it
    Check(Check),
    /// Merge all runs, purge removed documents, shrink the file
    Compact(Compact),
    /// Rebuild an index from its stored texts with other settings
    Rebuild(Rebuild),
    /// Copy an index to a new file
    Backup(Backup),
    /// Add the documents of other indexes to an index
    Merge(Merge),
    /// Write an index as JSON Lines
    Export(Export),
    /// Add the JSON Lines of an export to an index
    Import(Import),
    /// Compare two texts, exactly and by estimate, without an index
    Compare(Compare),
    /// Show the passages that two documents of an index share
    Explain(Explain),
    /// Predict what a threshold and a recall find, miss and cost, without an index
    Plan(Plan),
    /// Print the completion script of a shell
    Completions(Completions),
    /// Write the manual pages
    Man(Man),
}

#[cfg(test)]
#[path = "help_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "args_tests.rs"]
mod own_tests;
