//! `twindex completions` and `twindex man`: write shell completions and manual pages for packages.

use crate::run::ending::Ending;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::whole_file;
use crate::terminal::output::{count, summary};
use anyhow::{Context, anyhow};
use clap::{Command, ValueEnum};
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
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: SupportedShell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SupportedShell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes twindex.1 and a page for each command, as twindex-add.1, in place of those that are there.

Examples:
  twindex man /usr/share/man/man1
  twindex man pages && man pages/twindex-add.1")]
pub(crate) struct Man {
    /// The directory to write to; created if it does not exist
    directory: PathBuf,
}

/// Prints the completion script of a shell.
pub(crate) fn completions(mut twindex: Command, args: &Completions) -> Result<Ending, Failure> {
    let shell = match args.shell {
        SupportedShell::Bash => Shell::Bash,
        SupportedShell::Zsh => Shell::Zsh,
        SupportedShell::Fish => Shell::Fish,
    };
    // `generate` panics on a write error, such as a closed pipe, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut twindex, "twindex", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Ending::Done)
}

/// Writes a manual page for each command.
pub(crate) fn man(twindex: Command, global: &GlobalOptions, args: &Man) -> Result<Ending, Failure> {
    let place = || args.directory.display().to_string();
    if args.directory.exists() && !args.directory.is_dir() {
        return Err(anyhow!("{}: is no folder; name another one for the pages", place()).into());
    }
    std::fs::create_dir_all(&args.directory).with_context(place)?;
    let mut all = twindex.disable_help_subcommand(true);
    all.build();
    let mut pages = 0_u64;
    let mut waiting = vec![&all];
    while let Some(command) = waiting.pop() {
        waiting.extend(command.get_subcommands().filter(|below| below.get_name() != "help"));
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = args.directory.join(format!("{name}.1"));
        let page = manual_page(command.clone()).context("writing a page")?;
        whole_file::write(&path, &page).with_context(|| path.display().to_string())?;
        pages += 1;
    }
    let sentence = format!("{}: {} written", place(), count(pages, "page"));
    summary(global, &[("pages", pages.into())], &sentence);
    Ok(Ending::Done)
}

/// Renders a manual page. The text after the options of the help becomes its notes and examples.
fn manual_page(command: Command) -> io::Result<Vec<u8>> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (notes, examples) = help.split_once("Examples:\n").unwrap_or((&help, ""));
    let mut page = Vec::new();
    let has_commands = command.has_subcommands();
    let man = clap_mangen::Man::new(command).manual("twindex");
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    if !notes.trim().is_empty() {
        writeln!(page, ".SH NOTES\n{}", escape_roff(notes.trim_end()))?;
    }
    // `.nf` keeps the lines of the examples as they are, however long.
    writeln!(page, ".SH EXAMPLES\n.nf\n{}\n.fi", escape_roff(examples.trim_end()))?;
    Ok(page)
}

/// Escapes the characters of a text that roff would interpret.
fn escape_roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    let line =
        |line: &str| if line.starts_with('.') { format!("\\&{line}") } else { line.to_owned() };
    escaped.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_so_that_roff_reads_no_request_in_it() {
        assert_eq!(escape_roff(".SH\n a 'b' -c \\n"), "\\&.SH\n a \\(aqb\\(aq \\-c \\en");
    }
}
