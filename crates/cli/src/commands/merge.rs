//! `twindex merge`: indexes of equal settings become one, without the texts.

use crate::commands::info::warn_of_other_unicode;
use crate::commands::insert_batches::{Found, Intake, Taking};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::opening::same_file;
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::progress_bar::ProgressBar;
use std::path::{Path, PathBuf};
use std::time::Instant;
use twindex::Settings;
use twindex::{Document, Index, IndexOptions, ReadOnlyIndex};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A missing DEST is created with the settings of the first SRC. All must have equal settings.
Documents keep their order and their times of insertion; one that is in DEST with the same text
is `unchanged`. Automatic ids (#1, #2, ...) of several indexes are the same, and so conflicts.

Examples:
  twindex merge all.twx monday.twx tuesday.twx
  twindex merge all.twx new.twx --on-conflict skip")]
pub(crate) struct Merge {
    /// The index that documents go into
    pub(crate) dest: PathBuf,
    /// Indexes that are read
    #[arg(required = true, value_name = "SRC")]
    pub(crate) sources: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) taking: Taking,
}

pub(crate) fn run(global: &GlobalOptions, args: &Merge) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    if let Some(same) = args.sources.iter().find(|source| same_file(source, &args.dest)) {
        let (same, dest) = (same.display(), args.dest.display());
        return Err(anyhow::anyhow!(
            "{same}: is {dest} itself, which cannot be merged into itself; leave it out"
        )
        .into());
    }
    let Some((index, documents)) = open_all(global, args)? else {
        return Err(
            anyhow::anyhow!("{}: interrupted; nothing was changed", args.dest.display()).into()
        );
    };
    let progress = ProgressBar::of_documents(global, documents);
    let mut intake = Intake::new(&index, &args.taking, start)?;
    for path in &args.sources {
        if interrupt::asked() {
            break;
        }
        let source = opening::to_read(global, path)?;
        agree(&index, &source, path)?;
        intake = take(intake, &source, path, &progress)?;
    }
    progress.finish();
    let ending = intake.finish(global, &args.dest)?;
    index.close()?;
    Ok(ending)
}

/// Opens every source, and the destination, before anything is written to it; returns that and how
/// many documents there are to take in. `None` if the command was asked to end.
fn open_all(global: &GlobalOptions, args: &Merge) -> Result<Option<(Index, u64)>, Failure> {
    let mut dest = match args.dest.symlink_metadata() {
        Ok(_) => Some(opening::to_write(global, &args.dest)?),
        Err(_) => None,
    };
    let mut first: Option<(Settings, &Path)> = None;
    let mut documents = 0;
    for path in &args.sources {
        let source = opening::to_read(global, path)?;
        documents += source.snapshot()?.len();
        match (&dest, &first) {
            (Some(dest), _) => agree(dest, &source, path)?,
            (None, Some((settings, first))) => settings.same(first, source.settings(), path)?,
            (None, None) => {}
        }
        let (like, _) = *first.get_or_insert((*source.settings(), path));
        let like = dest.as_ref().map_or(like, |dest| *dest.settings());
        warn_of_other_unicode(path, source.settings().unicode, like.unicode);
        if interrupt::asked() {
            return Ok(None);
        }
    }
    if let (None, Some((settings, _))) = (&dest, &first) {
        let options = IndexOptions::new().like(settings);
        dest = Some(opening::open(global, options, |options| options.open_or_create(&args.dest))?);
    }
    Ok(dest.map(|dest| (dest, documents)))
}

fn agree(dest: &Index, source: &ReadOnlyIndex, path: &Path) -> twindex::Result<()> {
    dest.settings().same(dest.path(), source.settings(), path)
}

/// Takes in all documents of a source, as far as the command is not asked to end.
fn take<'i>(
    mut intake: Intake<'i>,
    source: &ReadOnlyIndex,
    path: &Path,
    progress: &ProgressBar,
) -> Result<Intake<'i>, Failure> {
    let snapshot = source.snapshot()?;
    let mut documents = snapshot.documents();
    while !interrupt::asked() {
        let found = |document: Document| {
            let place = format!("{}: {}", path.display(), document.id());
            Found { document, place }
        };
        let block: Vec<Found> = documents.block(intake.block())?.into_iter().map(found).collect();
        if block.is_empty() {
            break;
        }
        let read = block.len() as u64;
        intake = intake.take(block, progress)?;
        progress.add_documents(read);
    }
    Ok(intake)
}
