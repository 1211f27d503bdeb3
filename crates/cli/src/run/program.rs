//! The frame of a program: it parses arguments, runs the work and returns an exit status.

use super::ending::Ending;
use super::failure::{self, Failure};
use super::file_size_limit;
use super::global_options::GlobalOptions;
use crate::terminal::color::ColorMode;
use crate::terminal::messages::{message, name_program};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Parser, ValueHint};
use std::ffi::OsString;
use std::io::{self, Write};
use std::process;

/// Parses arguments, of which the first is the name of the program. Ends the process if they ask
/// for help or are wrong.
///
/// `near_misses` are names that are no commands, with the commands that are meant.
pub fn parse<A: Parser>(args: &[OsString], near_misses: &[(&str, &str)]) -> A {
    let color = ColorMode::typed(args.iter().cloned()).set();
    let command = with_negative_numbers(A::command()).color(color);
    let matches = command.try_get_matches_from(args);
    let parsed = matches.and_then(|matches| A::from_arg_matches(&matches));
    parsed.unwrap_or_else(|error| end(&suggest(error, near_misses)))
}

/// Takes a negative number behind an option as its value, so that the error is about the number
/// and not about an option `-1`. No path is taken for a number.
fn with_negative_numbers(command: Command) -> Command {
    let takes_value = |arg: &Arg| {
        let is_option = !arg.is_positional() && arg.get_action().takes_values();
        is_option && !is_optional(arg) && arg.get_value_hint() != ValueHint::AnyPath
    };
    command
        .mut_args(|arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(with_negative_numbers)
}

/// Whether an option may stand without its value.
fn is_optional(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|values| values.min_values() == 0)
}

/// Prints a help text or what is wrong with the arguments, and ends the process. Help that cannot
/// be written is an error, unless its reader has left.
fn end(error: &clap::Error) -> ! {
    let printed = error.print().and_then(|()| io::stdout().flush());
    let status = match printed {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            message(&format!("standard output: {cause}"));
            2
        }
        _ => error.exit_code(),
    };
    process::exit(status)
}

/// Adds to an error what is meant: the command for a name that is none, or the number for a
/// percentage.
fn suggest(mut error: clap::Error, near_misses: &[(&str, &str)]) -> clap::Error {
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) {
        let typed = typed.to_ascii_lowercase();
        if let Some((_, meant)) = near_misses.iter().find(|(name, _)| *name == typed) {
            let meant = ContextValue::Strings(vec![(*meant).to_owned()]);
            error.insert(ContextKind::SuggestedSubcommand, meant);
        }
    } else if let (ErrorKind::ValueValidation, Some(ContextValue::String(typed))) =
        (error.kind(), error.get(ContextKind::InvalidValue))
        && let Some(share) = share(typed)
    {
        let tip = format!("{typed} as a number is {share}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// The number that a percentage is, if it is one.
fn share(typed: &str) -> Option<f64> {
    let percent: f64 = typed.strip_suffix('%')?.trim_end().parse().ok()?;
    Some((percent * 1e4).round() / 1e6)
}

/// Runs a program whose messages begin with this name, and returns its exit status. A panic becomes
/// one line.
pub fn run(
    name: &'static str,
    global: &GlobalOptions,
    work: impl FnOnce() -> Result<Ending, Failure> + std::panic::UnwindSafe,
) -> u8 {
    name_program(name);
    failure::hush_panics();
    let limited = || {
        file_size_limit::catch()?;
        limit_threads(global)?;
        work()
    };
    let ended = std::panic::catch_unwind(limited).unwrap_or_else(|_| Err(failure::panicked()));
    match ended {
        Ok(Ending::Done) => 0,
        Ok(Ending::Nothing) => 1,
        Ok(Ending::SomeFailed) => 2,
        // The reader of the output wants no more of it, which is no error.
        Err(Failure::BrokenPipe) => 0,
        Err(Failure::Error(error)) => {
            message(&failure::line(&error));
            2
        }
    }
}

fn limit_threads(global: &GlobalOptions) -> Result<(), Failure> {
    if let Some(threads) = global.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .map_err(|error| anyhow::anyhow!("--threads {threads}: {error}"))?;
    }
    Ok(())
}
