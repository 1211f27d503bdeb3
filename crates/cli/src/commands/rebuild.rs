//! `twindex rebuild`: indexes the stored texts again with other settings.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::index_settings::IndexSettings;
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::output::{bytes, count, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use anyhow::Context;
use clap::Arg;
use clap::builder::StyledStr;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Settings that are not given keep their values. With another shingle, a normalisation that is the
default of the old shingle becomes the default of the new one. The new file replaces the old one
when it is complete; after Ctrl-C or a kill, the index is unchanged. The index must have been
created with --store-text, and there must be space for a second file.

Examples:
  twindex rebuild pages.twx --shingle word:3
  twindex rebuild pages.twx --threshold 0.6 --recall 0.95
  twindex rebuild pages.twx --no-multiset --normalize lower,nfkc,nospace",
    mut_args(stays)
)]
pub(crate) struct Rebuild {
    /// The index file
    index: PathBuf,
    #[command(flatten)]
    settings: IndexSettings,
    /// Count every shingle once, although the index counts repeated shingles as often as they occur
    #[arg(long, conflicts_with = "multiset")]
    no_multiset: bool,
}

/// Says in the help of a setting that it stays as it is. Options of other kinds have no default in
/// their help.
fn stays(option: Arg) -> Arg {
    let said = |help: &StyledStr| {
        let help = help.to_string();
        let (said, default) = help.split_once("[default: ")?;
        let (_, after) = default.split_once(']')?;
        Some(format!("{said}[default: unchanged]{after}"))
    };
    let short = option.get_help().and_then(said);
    let long = option.get_long_help().and_then(said);
    let option = short.into_iter().fold(option, Arg::help);
    long.into_iter().fold(option, Arg::long_help)
}

pub(crate) fn run(global: &GlobalOptions, args: &Rebuild) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let size = || {
        let file = std::fs::metadata(&args.index);
        file.map(|file| file.len()).with_context(|| args.index.display().to_string())
    };
    let mut options = args.settings.options();
    if args.no_multiset {
        options = options.multiset(false);
    }
    let progress = ProgressBar::of_parts(global);
    let before = size().unwrap_or(0);
    let rebuilt = opening::open(global, options, |options| {
        options.rebuild(&args.index).watch(progress.watch())
    });
    progress.finish();
    let rebuilt = rebuilt?;
    let (after, seconds) = (size()?, start.elapsed().as_secs_f64());
    let fields = [
        ("documents", rebuilt.documents.into()),
        ("before_bytes", before.into()),
        ("bytes", after.into()),
        ("seconds", whole_millis(seconds)),
    ];
    let sentence = format!(
        "{}: rebuilt from {} in {seconds:.1} s: {} before, {} after",
        args.index.display(),
        count(rebuilt.documents, "document"),
        bytes(before),
        bytes(after)
    );
    summary(global, &fields, &sentence);
    Ok(Ending::Done)
}
