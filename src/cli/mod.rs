//! What does a person type? Arguments, commands, and what they print.
//!
//! Only result lines go to standard output; summaries, progress and messages go to standard error.
//! The exit status is 0 when done or found, 1 when nothing was found, `check` found violations or
//! `compare` is below its threshold, 2 after any error.

mod add;
mod ahead;
mod args;
mod audit;
mod backup;
mod clusters;
mod color;
mod column;
mod compare;
mod compare_file;
mod compare_methods;
mod compare_weighted;
mod dedup;
mod escape;
mod explain;
mod export;
mod exported;
mod failure;
mod import;
mod info;
mod inputs;
mod inspect;
mod intake;
mod interrupt;
mod judging;
mod kept;
mod maintain;
mod merge;
mod method;
mod naming;
mod opening;
mod outfile;
mod output;
mod packaging;
mod pairs;
mod part;
mod plan;
mod plot;
mod progress;
mod query;
mod rebuild;
mod records;
mod remove;
mod seconds;
mod settings;
mod side_by_side;
mod study;
mod targets;
mod trial;

use args::{Args, Command};
use failure::{Failure, message};
use std::process::ExitCode;

/// How a command ended that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Done, or something was found.
    Done,
    /// Nothing was found, a check found violations, or two texts are below a threshold.
    Nothing,
    /// Some records were bad; they were reported one by one.
    SomeFailed,
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let args = args::parse();
    failure::hush_panics();
    let ended =
        std::panic::catch_unwind(|| run(&args)).unwrap_or_else(|_| Err(failure::panicked()));
    match ended {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Nothing) => ExitCode::from(1),
        Ok(Ending::SomeFailed) => ExitCode::from(2),
        // Who reads our output has enough of it.
        Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(Failure::Error(error)) => {
            message(&failure::line(&error));
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<Ending, Failure> {
    if let Some(threads) = args.global.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .map_err(|error| anyhow::anyhow!("--threads {threads}: {error}"))?;
    }
    let global = &args.global;
    match &args.command {
        Command::Create(command) => maintain::create(global, command),
        Command::Add(command) => add::run(global, command),
        Command::Dedup(command) => dedup::run(global, command),
        Command::Remove(command) => remove::run(global, command),
        Command::List(command) => inspect::list(global, command),
        Command::Get(command) => inspect::get(global, command),
        Command::Query(command) => query::run(global, command),
        Command::Pairs(command) => pairs::run(global, command),
        Command::Clusters(command) => clusters::run(global, command),
        Command::Info(command) => info::run(global, command),
        Command::Check(command) => maintain::check(global, command),
        Command::Compact(command) => maintain::compact(global, command),
        Command::Rebuild(command) => rebuild::run(global, command),
        Command::Backup(command) => backup::run(global, command),
        Command::Merge(command) => merge::run(global, command),
        Command::Export(command) => export::run(global, command),
        Command::Import(command) => import::run(global, command),
        Command::Compare(command) => compare::run(global, command),
        Command::Explain(command) => explain::run(global, command),
        Command::Plan(command) => plan::run(global, command),
        Command::Study(command) => study::run(global, command),
        Command::Completions(command) => packaging::completions(command),
        Command::Man(command) => packaging::man(global, command),
    }
}
