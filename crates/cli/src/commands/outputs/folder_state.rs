//! The file that tells a later run what a folder of outputs holds so far.

use crate::commands::outputs::partial_file::{LengthAndHash, PartialFile, partial_path};
use crate::run::failure::Failure;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// The path of the state of a folder. It never has this name; see [`partial_path`].
pub(crate) fn state_path(folder: &Path) -> PathBuf {
    folder.join(".twindex-dedup")
}

/// Deletes the state of a folder, which no later run needs.
pub(crate) fn forget_state(folder: &Path) -> Result<(), Failure> {
    let left = partial_path(&state_path(folder));
    match std::fs::remove_file(&left) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(anyhow::anyhow!("{}: {error}", left.display()).into())
        }
        _ => Ok(()),
    }
}

/// The content of a folder of these shards, in the order of their names: the sum of their lengths,
/// and a hash of their names, lengths and hashes.
pub(crate) fn content_of<S: AsRef<str>>(
    shards: impl IntoIterator<Item = (S, LengthAndHash)>,
) -> LengthAndHash {
    let (mut total, mut hash) = (0, Xxh3::new());
    for (name, (length, content)) in shards {
        let name = name.as_ref();
        total += length;
        for number in [name.len() as u64, length, content] {
            hash.update(&number.to_le_bytes());
        }
        hash.update(name.as_bytes());
    }
    (total, hash.digest())
}

/// A line of the state: a shard as it was at a commit.
#[derive(Debug, Deserialize, Serialize)]
struct Line {
    shard: String,
    bytes: u64,
    hash: u64,
    complete: bool,
}

/// The state of a folder: a line for each shard that is complete, and at each commit one for the
/// shard that is being written.
///
/// The index stores the length and hash of this file, and so knows the state of any number of
/// shards.
pub(crate) struct FolderState {
    file: PartialFile,
    complete: BTreeMap<String, LengthAndHash>,
    current: Option<(String, LengthAndHash)>,
}

impl FolderState {
    /// Starts with no shards.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let file = PartialFile::create(path)?;
        Ok(Self { file, complete: BTreeMap::new(), current: None })
    }

    /// Reads the state that an interrupted run has left; `None` if it has changed.
    pub(crate) fn resume(path: &Path, content: LengthAndHash) -> Result<Option<Self>, Failure> {
        let Some(file) = PartialFile::resume(path, content)? else { return Ok(None) };
        let mut state = Self { file, complete: BTreeMap::new(), current: None };
        let (mut complete, mut current) = (BTreeMap::new(), None);
        state.file.read_back(|lines| {
            for line in lines.lines() {
                let place = || partial_path(path).display().to_string();
                let line = line.with_context(place)?;
                let line: Line = serde_json::from_str(&line).with_context(place)?;
                let content = (line.bytes, line.hash);
                current = if line.complete {
                    complete.insert(line.shard, content);
                    None
                } else {
                    Some((line.shard, content))
                };
            }
            Ok(())
        })?;
        (state.complete, state.current) = (complete, current);
        Ok(Some(state))
    }

    /// Whether a shard is complete.
    pub(crate) fn is_complete(&self, shard: &str) -> bool {
        self.complete.contains_key(shard)
    }

    /// The shards that are complete.
    pub(crate) fn all_complete(&self) -> impl Iterator<Item = (&String, LengthAndHash)> {
        self.complete.iter().map(|(shard, content)| (shard, *content))
    }

    /// The content of the whole folder, if all its shards are complete.
    pub(crate) fn content(&self) -> LengthAndHash {
        content_of(self.all_complete())
    }

    /// The shard that was being written when the state was synced last.
    pub(crate) fn current(&self) -> Option<&(String, LengthAndHash)> {
        self.current.as_ref()
    }

    /// Notes that a shard is complete.
    pub(crate) fn complete(&mut self, shard: &str, content: LengthAndHash) -> Result<(), Failure> {
        self.complete.insert(shard.to_owned(), content);
        self.write(shard, content, true)
    }

    /// Notes how far a shard is written.
    pub(crate) fn write_current(
        &mut self,
        shard: &str,
        content: LengthAndHash,
    ) -> Result<(), Failure> {
        self.write(shard, content, false)
    }

    fn write(
        &mut self,
        shard: &str,
        (bytes, hash): LengthAndHash,
        complete: bool,
    ) -> Result<(), Failure> {
        let line = Line { shard: shard.to_owned(), bytes, hash, complete };
        let line = serde_json::to_string(&line).context("the state of a folder")? + "\n";
        self.file.write(line.as_bytes())
    }

    /// Makes the state durable. Returns its length and hash.
    pub(crate) fn sync(&mut self) -> Result<LengthAndHash, Failure> {
        self.file.sync()
    }

    /// The file of the state.
    pub(crate) fn into_file(self) -> PartialFile {
        self.file
    }
}
