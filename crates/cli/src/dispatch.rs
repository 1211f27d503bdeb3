//! The command `twindex`: runs the subcommand that was typed and returns its exit status.

use crate::args::{Args, Command};
use crate::commands::{
    add, backup, changes, clusters, compare, dedup, explain, export, import, info, inspect,
    maintain, merge, packaging, pairs, passages, plan, query, rebuild, remove, report, screen,
    track,
};
use crate::near_misses::NEAR_MISSES;
use crate::run::ending::Ending;
use crate::run::failure::Failure;
use crate::run::program;
use clap::CommandFactory;
use std::ffi::OsString;

/// Runs the command with these arguments, of which the first is its name, and returns its exit
/// status. Wrong arguments and `--help` end the process.
///
/// Only result lines go to standard output; summaries, progress and messages go to standard error.
/// The exit status is 0 when done or found, 1 when nothing was found, `check` found violations or
/// `compare` is below its threshold, 2 after any error.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let args: Args = program::parse(&args, NEAR_MISSES);
    program::run("twindex", &args.global, || dispatch(&args))
}

fn dispatch(args: &Args) -> Result<Ending, Failure> {
    let global = &args.global;
    match &args.command {
        Command::Create(command) => maintain::create(global, command),
        Command::Add(command) => add::run(global, command),
        Command::Dedup(command) => dedup::command::run(global, command),
        Command::Remove(command) => remove::run(global, command),
        Command::List(command) => inspect::list(global, command),
        Command::Get(command) => inspect::get(global, command),
        Command::Query(command) => query::run(global, command),
        Command::Pairs(command) => pairs::run(global, command),
        Command::Passages(command) => passages::run(global, command),
        Command::Screen(command) => screen::run(global, command),
        Command::Clusters(command) => clusters::run(global, command),
        Command::Track(command) => track::run(global, command),
        Command::Changes(command) => changes::run(global, command),
        Command::Report(command) => report::run(global, command),
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
        Command::Completions(command) => packaging::completions(Args::command(), command),
        Command::Man(command) => packaging::man(Args::command(), global, command),
    }
}
