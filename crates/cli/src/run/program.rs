//! A whole program: arguments in, exit status out.

use super::ending::Ending;
use super::failure::{self, Failure, message};
use super::global::Global;
use crate::terminal::color::When;
use clap::Parser;
use std::process::ExitCode;

/// What was typed. Prints help, or what is wrong with it, and ends the process where that is due.
pub fn parse<A: Parser>() -> A {
    let color = When::typed(std::env::args_os()).hold();
    let matches = A::command().color(color).get_matches();
    A::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Runs a program of this name, whose messages begin with it. A panic becomes one line.
pub fn run(
    name: &'static str,
    global: &Global,
    work: impl FnOnce() -> Result<Ending, Failure> + std::panic::UnwindSafe,
) -> ExitCode {
    failure::name_program(name);
    failure::hush_panics();
    let limited = || {
        limit_threads(global)?;
        work()
    };
    let ended = std::panic::catch_unwind(limited).unwrap_or_else(|_| Err(failure::panicked()));
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

fn limit_threads(global: &Global) -> Result<(), Failure> {
    if let Some(threads) = global.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .map_err(|error| anyhow::anyhow!("--threads {threads}: {error}"))?;
    }
    Ok(())
}
