//! What shows, before a record is read, whether a run may be one that has finished.

use crate::commands::dedup::command::Dedup;
use crate::commands::outputs::targets::{Target, Targets};
use crate::input::{Finding, Inputs};
use crate::remote::is_remote;
use crate::run::resume_key::ResumeKey;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use xxhash_rust::xxh3::Xxh3;

/// The circumstances of a run to a file or folder.
#[derive(Clone, Default)]
pub(crate) struct Circumstances {
    /// A hash of the paths and lengths of all files of the input. `None` if it cannot be read
    /// twice.
    pub(crate) files: Option<u64>,
    /// What decides the result besides the key of the run and its records. `None` if the run is not
    /// remembered when it has finished: its input cannot be read twice or lies behind an address,
    /// or its output is a folder behind one.
    pub(crate) key: Option<ResumeKey>,
}

impl Circumstances {
    /// Looks at the files of the input, and at the other indexes.
    pub(crate) fn of(args: &Dedup, targets: &Targets, inputs: Inputs) -> Self {
        if targets.output_file().is_none() {
            return Self::default();
        }
        let files = files(inputs);
        Self { files, key: files.and_then(|files| key(args, targets, files)) }
    }
}

/// Hashes the paths and lengths of all files.
fn files(inputs: Inputs) -> Option<u64> {
    let mut hash = Xxh3::new();
    for found in Finding::new(Arc::new(inputs)) {
        let (path, length) = match found {
            Ok(found) => (found.path.into_os_string().into_encoded_bytes(), found.size?),
            // It is read when it can be.
            Err(bad) => (bad.place.into_bytes(), u64::MAX),
        };
        for number in [path.len() as u64, length] {
            hash.update(&number.to_le_bytes());
        }
        hash.update(&path);
    }
    Some(hash.digest())
}

fn key(args: &Dedup, targets: &Targets, files: u64) -> Option<ResumeKey> {
    match (&targets.out, &targets.delivery) {
        _ if args.paths.iter().any(|path| is_remote(path)) => return None,
        (Some(Target::File(_)), _) | (Some(Target::Folder(_)), None) => {}
        _ => return None,
    }
    let mut key = ResumeKey::default().with("files", files.to_le_bytes());
    for path in &args.against {
        let found = std::fs::metadata(path).ok()?;
        let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        key = key.with("against bytes", found.len().to_le_bytes());
        key = key.with("against changed", changed.as_nanos().to_le_bytes());
    }
    Some(key)
}
