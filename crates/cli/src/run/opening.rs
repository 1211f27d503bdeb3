//! Opening an index for a command, waiting for other processes as long as was asked.

use crate::run::failure::Failure;
use crate::run::global::Global;
use crate::run::interrupt;
use std::path::Path;
use std::time::{Duration, Instant};
use twindex::{Error, Result};
use twindex::{Index, IndexOptions, ReadOnlyIndex};

/// So long at a time the library waits; in between, a signal is noticed.
const SLICE: Duration = Duration::from_millis(200);

pub fn to_write(global: &Global, path: &Path) -> std::result::Result<Index, Failure> {
    open(global, IndexOptions::new(), |options| options.open(path))
}

pub fn to_read(global: &Global, path: &Path) -> std::result::Result<ReadOnlyIndex, Failure> {
    open(global, IndexOptions::new(), |options| options.open_read_only(path))
}

/// Opens with these options, in whichever way.
pub fn open<T>(
    global: &Global,
    options: IndexOptions,
    open: impl Fn(&IndexOptions) -> Result<T>,
) -> std::result::Result<T, Failure> {
    let wait = global.wait.unwrap_or_default();
    let start = Instant::now();
    let mut options = options;
    loop {
        let left = wait.saturating_sub(start.elapsed());
        options = options.wait(left.min(SLICE));
        match open(&options) {
            Err(Error::Locked { path }) => {
                let path = path.display();
                if interrupt::asked() {
                    let error =
                        anyhow::anyhow!("{path}: interrupted while another process had it open");
                    return Err(error.into());
                }
                if left <= SLICE {
                    return Err(in_use(&path, wait));
                }
            }
            opened => return Ok(opened?),
        }
    }
}

/// Whether two paths name one file, also by a link.
pub fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| {
            let found = std::fs::metadata(path).ok()?;
            Some((found.dev(), found.ino()))
        };
        if identity(a).is_some_and(|a| Some(a) == identity(b)) {
            return true;
        }
    }
    a.canonicalize().is_ok_and(|a| Some(a) == b.canonicalize().ok())
}

fn in_use(path: &impl std::fmt::Display, wait: Duration) -> Failure {
    let error = match wait.is_zero() {
        true => anyhow::anyhow!(
            "{path}: in use by another process; run the command again when that has finished, \
             or wait for it with --wait SECONDS"
        ),
        false => anyhow::anyhow!(
            "{path}: in use by another process, also after {} s; run the command again when that \
             has finished, or wait longer",
            wait.as_secs_f64()
        ),
    };
    error.into()
}
