//! `twindex backup`: copies an index to a new file.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::output::{bytes, count, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use anyhow::Context;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The copy has everything that the index has, packed. Every record is verified while it is copied.
The copy appears under its name when it is complete. To restore one, put it in the place of the
index while no process has that open: cp pages-monday.twx pages.new && mv pages.new pages.twx

Examples:
  twindex backup pages.twx /mnt/backup/pages-monday.twx
  twindex backup pages.twx copy.twx --wait 60")]
pub(crate) struct Backup {
    /// The index file
    pub(crate) index: PathBuf,
    /// The new file, which must not exist
    pub(crate) dest: PathBuf,
}

pub(crate) fn run(global: &GlobalOptions, args: &Backup) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let index = opening::to_read(global, &args.index)?;
    let snapshot = index.snapshot()?;
    let progress = ProgressBar::of_parts(global);
    let copied = snapshot.backup(&args.dest).watch(progress.watch());
    progress.finish();
    copied?;
    let size =
        std::fs::metadata(&args.dest).with_context(|| args.dest.display().to_string())?.len();
    let seconds = start.elapsed().as_secs_f64();
    let fields = [
        ("documents", snapshot.len().into()),
        ("bytes", size.into()),
        ("seconds", whole_millis(seconds)),
    ];
    let sentence = format!(
        "{}: {} copied in {seconds:.1} s: {}",
        args.dest.display(),
        count(snapshot.len(), "document"),
        bytes(size)
    );
    summary(global, &fields, &sentence);
    Ok(Ending::Done)
}
