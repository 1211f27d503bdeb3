//! What is typed, and what is run for it.

use super::compare::Compare;
use super::study::Study;
use super::{compare, study};
use clap::{Parser, Subcommand};
use std::process::ExitCode;
use twindex_cli::run::ending::Ending;
use twindex_cli::run::failure::Failure;
use twindex_cli::run::global_options::GlobalOptions;
use twindex_cli::run::program;

/// Try the literature's methods of comparing texts, and its experiments.
#[derive(Debug, Parser)]
#[command(
    name = "twindex-lab",
    version,
    max_term_width = 100,
    after_help = "\
Exit status: 0 done; 1 below a threshold, or a study did not show what it should; 2 any error.

Examples:
  twindex-lab compare old.txt new.txt --method all   every method, side by side
  twindex-lab study gospels                          the experiment of a paper
  twindex-lab study all pictures                     all experiments, drawn"
)]
struct Args {
    #[command(flatten)]
    global: GlobalOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare two texts by the methods of the literature
    Compare(Compare),
    /// Run an experiment of the literature anew, and draw it
    Study(Box<Study>),
}

/// Runs the command with the arguments of the process. The exit status is 0 when done, 1 when two
/// texts are below a threshold or a study did not show what it should, 2 after any error.
pub fn main() -> ExitCode {
    let args: Args = program::parse();
    program::run("twindex-lab", &args.global, || run(&args))
}

fn run(args: &Args) -> Result<Ending, Failure> {
    match &args.command {
        Command::Compare(command) => compare::run(&args.global, command),
        Command::Study(command) => study::run(&args.global, command),
    }
}
