//! `twindex merge`: merges indexes of equal settings into one. It does not read the original texts.

use crate::commands::info::warn_of_other_unicode;
use crate::commands::insert_batches::{BatchInserter, InsertOptions, PlacedDocument};
use crate::commands::merge_similar::{SimilarJudge, SimilarOptions};
use crate::input::same_file;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::progress_bar::ProgressBar;
use std::path::{Path, PathBuf};
use std::time::Instant;
use twindex::Settings;
use twindex::{Document, Index, IndexOptions, ReadOnlyIndex};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
If DEST does not exist, it is created with the settings of the first SRC. All indexes must have
equal settings. Documents keep their order and their insertion times. A document that is in DEST
with the same text is `unchanged`. Automatic ids (#1, #2, ...) of several indexes are equal, so
they conflict.

With --attach, the sorted runs of a SRC are copied with its documents, instead of inserting one
document after the other. That takes about half the time, and the answers are the same. Each SRC
is one commit. `twindex compact DEST` afterwards makes one run of all.

With --dedup, DEST gets no document that is similar to one it has, by its threshold. Shards that
were deduplicated apart become one index without duplicates. Output columns: id, duplicate_of,
similarity, exact.

Examples:
  twindex merge all.twx monday.twx tuesday.twx
  twindex merge all.twx shard-*.twx --attach
  twindex merge all.twx shard-*.twx --dedup > removed.tsv
  twindex merge all.twx new.twx --on-conflict skip")]
pub(crate) struct Merge {
    /// The index to add documents to
    pub(crate) dest: PathBuf,
    /// The indexes to read
    #[arg(required = true, value_name = "SRC")]
    pub(crate) sources: Vec<PathBuf>,
    /// Copy the runs of each SRC, in one commit: faster for many new documents
    #[arg(long, conflicts_with = "batch", help_heading = "Writing to the index")]
    pub(crate) attach: bool,
    #[command(flatten)]
    pub(crate) similar: SimilarOptions,
    #[command(flatten)]
    pub(crate) insert: InsertOptions,
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
    let judge = SimilarJudge::of(&args.similar, global, index.settings().threshold());
    let mut inserter = BatchInserter::new(&args.insert, global, start).judged_by(judge);
    for path in &args.sources {
        if interrupt::asked() {
            break;
        }
        let source = opening::to_read(global, path)?;
        require_same_settings(&index, &source, path)?;
        if args.attach {
            inserter.attach(&index, &source.snapshot()?, &progress)?;
        } else {
            insert_source(&mut inserter, &index, &source, path, &progress)?;
        }
    }
    progress.finish();
    let ending = inserter.finish(global, &args.dest)?;
    index.close()?;
    Ok(ending)
}

/// Opens the destination and each source, and compares their settings, before anything is inserted.
///
/// Returns the destination and the number of documents in all sources, or `None` if the command was
/// interrupted.
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
            (Some(dest), _) => require_same_settings(dest, &source, path)?,
            (None, Some((settings, first))) => {
                settings.check_same(first, source.settings(), path)?;
            }
            (None, None) => {}
        }
        let (expected, _) = *first.get_or_insert((*source.settings(), path));
        let expected = dest.as_ref().map_or(expected, |dest| *dest.settings());
        warn_of_other_unicode(path, source.settings().unicode, expected.unicode);
        if interrupt::asked() {
            return Ok(None);
        }
    }
    if let (None, Some((settings, _))) = (&dest, &first) {
        let options = IndexOptions::new().with_settings(settings);
        dest = Some(opening::open(global, options, |options| options.open_or_create(&args.dest))?);
    }
    Ok(dest.map(|dest| (dest, documents)))
}

/// Fails unless the destination and the source have equal settings.
fn require_same_settings(dest: &Index, source: &ReadOnlyIndex, path: &Path) -> twindex::Result<()> {
    dest.settings().check_same(dest.path(), source.settings(), path)
}

/// Inserts the documents of a source until its end or until the command is interrupted.
fn insert_source(
    inserter: &mut BatchInserter,
    index: &Index,
    source: &ReadOnlyIndex,
    path: &Path,
    progress: &ProgressBar,
) -> Result<(), Failure> {
    let snapshot = source.snapshot()?;
    let mut documents = snapshot.documents();
    while !interrupt::asked() {
        let locate = |document: Document| {
            let place = format!("{}: {}", path.display(), document.id());
            PlacedDocument { document, place: Some(place) }
        };
        let block = documents.next_block(inserter.block())?;
        let block: Vec<_> = block.into_iter().map(locate).collect();
        if block.is_empty() {
            break;
        }
        let read = block.len() as u64;
        inserter.insert(index, block, progress)?;
        progress.add_documents(read);
    }
    Ok(())
}
