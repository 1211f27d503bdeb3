//! Opening an index, and waiting for other processes that have it open.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::index_settings::described;
use crate::terminal::interrupt;
use crate::terminal::messages::note;
use std::path::Path;
use std::time::Duration;
use twindex::{Error, Result};
use twindex::{Index, IndexOptions, ReadOnlyIndex, Settings, Shingle};

/// Opens an index for reading and writing.
pub fn to_write(global: &GlobalOptions, path: &Path) -> std::result::Result<Index, Failure> {
    open(global, IndexOptions::new(), |options| options.open(path))
}

/// Opens an index for reading.
pub fn to_read(global: &GlobalOptions, path: &Path) -> std::result::Result<ReadOnlyIndex, Failure> {
    open(global, IndexOptions::new(), |options| options.open_read_only(path))
}

/// Refuses to look for passages in an index that cannot keep any, whatever its settings.
pub fn check_passages(path: &Path, settings: &Settings) -> std::result::Result<(), Failure> {
    let path = path.display();
    let cause = match settings.shingle {
        _ if settings.weighted => "holds weighted sets, which have no order and so no passages",
        Shingle::Kmers(_) => "holds k-mers, which make no passages",
        _ => return Ok(()),
    };
    Err(anyhow::anyhow!("{path}: {cause}").into())
}

/// Creates an index with these settings. If another process has created it since it was looked for,
/// opens it. Returns whether it is new.
pub fn create(
    global: &GlobalOptions,
    path: &Path,
    settings: &Settings,
) -> std::result::Result<(Index, bool), Failure> {
    let options = IndexOptions::new().with_settings(settings);
    let (index, is_new) = open(global, options, |options| match options.create(path) {
        Err(Error::AlreadyExists { .. }) => Ok((options.open(path)?, false)),
        created => Ok((created?, true)),
    })?;
    if global.verbose {
        note(&format!("created {}: {}", path.display(), described(settings)));
    }
    Ok((index, is_new))
}

/// Calls `open` with these options until the index is free or the time to wait is over.
pub fn open<T>(
    global: &GlobalOptions,
    options: IndexOptions,
    open: impl Fn(&IndexOptions) -> Result<T>,
) -> std::result::Result<T, Failure> {
    let wait = global.wait.unwrap_or_default();
    let options = match global.cache {
        Some(bytes) => options.cache_bytes(bytes),
        None => options,
    };
    match open(&options.wait(wait).give_up_if(interrupt::asked)) {
        Err(Error::Locked { path }) if interrupt::asked() => {
            let path = path.display();
            let error = anyhow::anyhow!("{path}: interrupted while another process had it open");
            Err(error.into())
        }
        Err(Error::Locked { path }) => Err(in_use(&path.display(), wait)),
        opened => Ok(opened?),
    }
}

fn in_use(path: &impl std::fmt::Display, wait: Duration) -> Failure {
    let error = if wait.is_zero() {
        anyhow::anyhow!(
            "{path}: in use by another process; run the command again when that has finished, \
             or wait for it with --wait SECONDS"
        )
    } else {
        anyhow::anyhow!(
            "{path}: still in use by another process after {} s; run the command again when that \
             has finished, or wait longer",
            wait.as_secs_f64()
        )
    };
    error.into()
}
