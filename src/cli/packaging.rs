//! `twindex completions` and `twindex man`: what packages of the command bring along.

use super::Ending;
use super::args::{Args, Global};
use super::failure::Failure;
use super::output::{count, summary};
use anyhow::Context;
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The script goes to standard output.

Examples:
  twindex completions bash > /usr/share/bash-completion/completions/twindex
  twindex completions zsh > /usr/share/zsh/site-functions/_twindex
  twindex completions fish > ~/.config/fish/completions/twindex.fish")]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes twindex.1 and a page for each command, as twindex-add.1, over those that are there.

Examples:
  twindex man /usr/share/man/man1
  twindex man pages && man pages/twindex-add.1")]
pub(super) struct Man {
    /// The directory to write to; made if it is not there
    directory: PathBuf,
}

pub(super) fn completions(args: &Completions) -> Result<Ending, Failure> {
    let shell = match args.shell {
        Kind::Bash => Shell::Bash,
        Kind::Zsh => Shell::Zsh,
        Kind::Fish => Shell::Fish,
    };
    // Written at once, so that a reader who leaves early is no panic in there.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "twindex", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Ending::Done)
}

pub(super) fn man(global: &Global, args: &Man) -> Result<Ending, Failure> {
    let place = || args.directory.display().to_string();
    std::fs::create_dir_all(&args.directory).with_context(place)?;
    let command = Args::command();
    let pages = 1 + command.get_subcommands().count() as u64;
    clap_mangen::generate_to(command, &args.directory).with_context(place)?;
    let sentence = format!("{}: {} written", place(), count(pages, "page"));
    summary(global, &[("pages", pages.into())], &sentence);
    Ok(Ending::Done)
}
