//! A folder of kept records: a file for each file of the input.

use crate::commands::outputs::delivery::Delivery;
use crate::commands::outputs::folder_state::{FolderState, content_of, state_path};
use crate::commands::outputs::kept_file::{self, KeptFile};
use crate::commands::outputs::kept_output::OutputRecord;
use crate::commands::outputs::partial_file::{
    LengthAndHash, PartialFile, changed_error, create_folders, partial_path,
};
use crate::commands::outputs::shards::ShardFolder;
use crate::input::is_there;
use crate::run::failure::Failure;
use crate::run::records::Source;
use anyhow::{Context, anyhow};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

/// The folder that receives the kept records.
///
/// Only one file is written at a time: input files are read one after the other. A file gets its
/// name after the commit that says it is complete, so that a resumed run never writes to it again.
pub(crate) struct KeptFolder {
    folder: ShardFolder,
    state: FolderState,
    /// The shard that the last records came from.
    at: Option<usize>,
    /// What is written of it; `None` if it is complete, or its input cannot be read.
    current: Option<KeptFile>,
    /// The shard that an interrupted run was writing, until its first records come.
    resumed: Option<(usize, KeptFile)>,
    /// Shards that are complete but for their names. They are closed, as there may be many.
    sealed: Vec<usize>,
}

impl KeptFolder {
    /// Starts an output.
    pub(crate) fn create(folder: &ShardFolder) -> Result<Self, Failure> {
        let state = state_path(&folder.path);
        create_folders(&state)?;
        Ok(Self::new(folder, FolderState::create(&state)?, None))
    }

    /// Continues the output of an interrupted run, if it is as that run has stored it.
    pub(crate) fn resume(
        folder: &ShardFolder,
        content: LengthAndHash,
    ) -> Result<Option<Self>, Failure> {
        let Some(state) = FolderState::resume(&state_path(&folder.path), content)? else {
            return Ok(None);
        };
        complete_all(folder, &state)?;
        let mut resumed = None;
        if let Some((name, content)) = state.current() {
            let path = folder.path.join(name);
            let changed = || changed_error(&partial_path(&path));
            let Some(at) = folder.shards.iter().position(|shard| shard.name == *name) else {
                return Err(anyhow!(
                    "{}: its input is not there any more; run with the same input to go on, or \
                     with --restart to start over",
                    path.display()
                )
                .into());
            };
            resumed = Some((at, KeptFile::resume(&path, *content)?.ok_or_else(changed)?));
        }
        Ok(Some(Self::new(folder, state, resumed)))
    }

    fn new(folder: &ShardFolder, state: FolderState, resumed: Option<(usize, KeptFile)>) -> Self {
        let (at, current, sealed) = (None, None, Vec::new());
        Self { folder: folder.clone(), state, at, current, resumed, sealed }
    }

    /// Goes on with the shard of the next records. Completes those before it.
    pub(crate) fn begin(&mut self, source: &Source) -> Result<(), Failure> {
        let Some(file) = &source.file else { return Ok(()) };
        let Some(next) = self.folder.shard_at(file, self.at.unwrap_or_default()) else {
            if source.unread {
                return Ok(());
            }
            let file = file.display();
            let error =
                anyhow!("{file}: was not there when the run began; run the same command again");
            return Err(error.into());
        };
        if self.at != Some(next) {
            self.end_before(next)?;
            self.at = Some(next);
        }
        if self.is_done(next) {
            return Ok(());
        }
        if self.current.is_none() {
            self.current = match self.resumed.take_if(|(at, _)| *at == next) {
                Some((_, kept)) => Some(kept),
                // Nothing is known of the records, so the shard stays absent.
                None if source.unread => return Ok(()),
                None => Some(self.create_shard(next)?),
            };
        }
        match (&mut self.current, &source.head) {
            (Some(kept), Some(head)) => {
                kept.follow(source);
                kept.begin_table(head)
            }
            _ => Ok(()),
        }
    }

    /// Whether a run before this one has dealt with a shard.
    fn is_done(&self, at: usize) -> bool {
        let is_before = self.resumed.as_ref().is_some_and(|(resumed, _)| at < *resumed);
        is_before || self.state.is_complete(&self.folder.shards[at].name)
    }

    /// Creates a shard and the folders above it.
    fn create_shard(&self, at: usize) -> Result<KeptFile, Failure> {
        let path = self.path_of(at);
        create_folders(&path)?;
        KeptFile::create(&path)
    }

    fn path_of(&self, at: usize) -> PathBuf {
        self.folder.path.join(&self.folder.shards[at].name)
    }

    /// Seals the shard that is being written, and writes those that had no records up to another.
    fn end_before(&mut self, next: usize) -> Result<(), Failure> {
        if let (Some(at), Some(kept)) = (self.at, self.current.take()) {
            self.seal(at, kept)?;
        }
        for at in self.at.map_or(0, |at| at + 1)..next {
            let shard = &self.folder.shards[at];
            // Parquet and Arrow without rows still have columns, and come before this.
            if !self.is_done(at) && !shard.is_columns() && is_there(&shard.input) {
                let empty = self.create_shard(at)?;
                self.seal(at, empty)?;
            }
        }
        Ok(())
    }

    /// Completes a shard but for its name.
    fn seal(&mut self, at: usize, mut kept: KeptFile) -> Result<(), Failure> {
        // A shard that fails here is discarded with the others.
        self.sealed.push(at);
        if let Some(content) = kept.sync(true)? {
            self.state.complete(&self.folder.shards[at].name, content)?;
        }
        Ok(())
    }

    /// Checks that a record can be written beside those before it.
    pub(crate) fn admit(&mut self, written: &OutputRecord, place: &str) -> Result<(), Failure> {
        self.current.as_mut().map_or(Ok(()), |kept| kept.admit(written, place))
    }

    /// Writes a record that [`Self::admit`] has accepted.
    pub(crate) fn write(&mut self, written: &OutputRecord) -> Result<(), Failure> {
        match (&mut self.current, self.at) {
            (Some(kept), _) => kept.write(written),
            (None, at) => {
                let shard = at.and_then(|at| self.folder.shards.get(at));
                Err(anyhow!(
                    "{}: has records that the interrupted run did not have; --restart starts over",
                    shard.map(|shard| shard.input.display().to_string()).unwrap_or_default()
                )
                .into())
            }
        }
    }

    /// Makes the written records durable. Returns the length and hash of the folder's state. After
    /// the last record, all shards are complete but for their names.
    pub(crate) fn sync(&mut self, last: bool) -> Result<LengthAndHash, Failure> {
        if last {
            let all = self.folder.shards.len();
            self.end_before(all)?;
            self.at = Some(all);
        }
        if let (Some(at), Some(kept)) = (self.at, &mut self.current)
            && let Some(content) = kept.sync(false)?
        {
            self.state.write_current(&self.folder.shards[at].name, content)?;
        }
        self.state.sync()
    }

    /// Whether a complete shard without its name would replace a file with another content, or one
    /// of another length behind an address.
    pub(crate) fn replaces_shards(&self, delivery: Option<&Delivery>) -> Result<bool, Failure> {
        for (name, content) in self.state.all_complete() {
            let replaces = if let Some(delivery) = delivery {
                delivery.holds_another(name, content)?
            } else {
                let named = PartialFile::content_of(&self.folder.path.join(name))?;
                named.is_some_and(|named| named.0 > 0 && named != content)
            };
            if replaces {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives the complete shards their names.
    pub(crate) fn committed(&mut self) -> Result<(), Failure> {
        for at in std::mem::take(&mut self.sealed) {
            kept_file::name(&self.path_of(at))?;
        }
        Ok(())
    }

    /// Deletes what was written and has no name yet.
    pub(crate) fn discard(self) -> Result<(), Failure> {
        for at in &self.sealed {
            let partial = partial_path(&self.path_of(*at));
            // A table that could not be completed has only its rows.
            if partial.exists() {
                fs::remove_file(&partial).with_context(|| partial.display().to_string())?;
            }
            kept_file::forget_rows(&self.path_of(*at))?;
        }
        let resumed = self.resumed.map(|(_, kept)| kept);
        self.current.into_iter().chain(resumed).try_for_each(KeptFile::discard)?;
        self.state.into_file().discard()
    }

    /// Gives the last shards their names, and returns the content of the folder. The state stays
    /// until the run has ended.
    pub(crate) fn finish(mut self) -> Result<LengthAndHash, Failure> {
        self.committed()?;
        Ok(self.state.content())
    }
}

/// Completes the folder of an interrupted run that has judged all its records, and returns its
/// content. Returns `None` if its state is not as that run has left it.
pub(crate) fn complete(
    folder: &ShardFolder,
    content: LengthAndHash,
) -> Result<Option<LengthAndHash>, Failure> {
    let Some(state) = FolderState::resume(&state_path(&folder.path), content)? else {
        return Ok(None);
    };
    complete_all(folder, &state)?;
    Ok(Some(state.content()))
}

/// Whether the shards of a folder have this content.
pub(crate) fn is_complete(folder: &ShardFolder, content: LengthAndHash) -> Result<bool, Failure> {
    let files = folder.shards.iter().map(|shard| (&shard.name, folder.path.join(&shard.name)));
    let files: BTreeMap<_, _> = files.collect();
    let lengths = files.values().filter_map(|file| fs::metadata(file).ok());
    if lengths.map(|found| found.len()).sum::<u64>() != content.0 {
        return Ok(false);
    }
    let mut found = Vec::new();
    for (name, file) in files {
        found.extend(PartialFile::content_of(&file)?.map(|content| (name, content)));
    }
    Ok(content_of(found) == content)
}

/// Gives the shards that are complete their names, unless they have them already. Fails if one is
/// not as it was left.
fn complete_all(folder: &ShardFolder, state: &FolderState) -> Result<(), Failure> {
    for (name, content) in state.all_complete() {
        let path = folder.path.join(name);
        if partial_path(&path).exists() {
            if !kept_file::complete(&path, content)? {
                return Err(changed_error(&partial_path(&path)));
            }
            continue;
        }
        // It is not read again: the shards of a long run are many and large.
        match fs::metadata(&path) {
            Ok(found) if found.len() == content.0 => kept_file::forget_rows(&path)?,
            Ok(_) => return Err(changed_error(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(anyhow!(
                    "{}: is gone; a run that goes on needs its complete shards where it has left \
                     them; --restart starts over",
                    path.display()
                )
                .into());
            }
            Err(error) => return Err(anyhow!("{}: {error}", path.display()).into()),
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "kept_folder_tests.rs"]
mod tests;
