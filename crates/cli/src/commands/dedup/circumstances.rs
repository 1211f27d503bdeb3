//! What shows without reading records whether a run may be one that has finished.

use crate::commands::dedup::request::Request;
use crate::commands::outputs::targets::Target;
use crate::input::Finding;
use crate::remote::is_remote;
use crate::run::resume_key::ResumeKey;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use xxhash_rust::xxh3::Xxh3;

/// The circumstances of a run to a file or folder, as they are now.
pub(crate) struct Circumstances {
    /// A hash of the lengths of all files of the input that are not empty. `None` if it cannot be
    /// read twice.
    pub(crate) lengths: Option<u64>,
    /// What decides the result besides the key of the run and its records. `None` if the run is not
    /// remembered when it has finished: its input cannot be read twice or lies behind an address,
    /// or its output is a folder behind one.
    pub(crate) key: Option<ResumeKey>,
}

impl Circumstances {
    /// Looks at all files of the input, and at the other indexes.
    pub(crate) fn gather(request: &Request<'_>) -> Self {
        let found = if request.written_targets.can_resume() { files(request) } else { None };
        match found {
            Some((files, lengths)) => Self { lengths: Some(lengths), key: key(request, files) },
            None => Self { lengths: None, key: None },
        }
    }
}

/// A hash of the paths and lengths of all files, and one of the lengths of those that are not
/// empty.
fn files(request: &Request<'_>) -> Option<(u64, u64)> {
    let (mut files, mut lengths) = (Xxh3::new(), Xxh3::new());
    let inputs = request.args.inputs(request.named_targets, &request.settings);
    for found in Finding::new(Arc::new(inputs)) {
        let (path, length) = match found {
            Ok(found) => (found.path.into_os_string().into_encoded_bytes(), found.size?),
            // It is read when it can be.
            Err(bad) => (bad.place.into_bytes(), 0),
        };
        for number in [path.len() as u64, length] {
            files.update(&number.to_le_bytes());
        }
        files.update(&path);
        if length > 0 {
            lengths.update(&length.to_le_bytes());
        }
    }
    Some((files.digest(), lengths.digest()))
}

fn key(request: &Request<'_>, files: u64) -> Option<ResumeKey> {
    let Request { args, written_targets: targets, .. } = *request;
    match (&targets.out, &targets.delivery) {
        _ if args.paths.iter().any(|path| is_remote(path)) => return None,
        (Target::File(_), _) | (Target::Folder(_), None) => {}
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
