//! The arguments of the command, and the function that runs it.

use super::compare::CompareArgs;
use super::study::StudyArgs;
use super::{compare, study};
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;
use twindex_cli::run::ending::Ending;
use twindex_cli::run::failure::Failure;
use twindex_cli::run::global_options::GlobalOptions;
use twindex_cli::run::program;

/// Try the literature's methods of comparing texts, and repeat its experiments
#[derive(Debug, Parser)]
#[command(
    name = "twindex-lab",
    version,
    disable_help_flag = true,
    max_term_width = 100,
    after_help = "\
Exit status: 0 success; 1 below a threshold, or a finding of a study does not hold; 2 error.

Examples:
  twindex-lab compare old.txt new.txt --method all   every method, side by side
  twindex-lab study gospels                          the experiment of a paper
  twindex-lab study all pictures                     all experiments, with pictures"
)]
struct Args {
    #[command(flatten)]
    global: GlobalOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare two texts by the literature's methods
    Compare(CompareArgs),
    /// Repeat an experiment of the literature, and draw it
    Study(Box<StudyArgs>),
}

/// Runs the command with the arguments of the process. The exit status is 0 on success, 1 if two
/// texts are below the threshold or a finding of a study does not hold, and 2 after an error.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let args: Args = program::parse(&args, &[]);
    program::run("twindex-lab", &args.global, || run(&args)).into()
}

fn run(args: &Args) -> Result<Ending, Failure> {
    match &args.command {
        Command::Compare(command) => compare::run(&args.global, command),
        Command::Study(command) => study::run(&args.global, command),
    }
}

#[cfg(test)]
#[path = "../../../cli/src/help_tests.rs"]
mod help_tests;
